"""The sessions that are relevant to a memory: those of its project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.registry import SUPPORTED, find_support
from ricordo.agents.transcripts.session import Session
from ricordo.agents.transcripts.sources import SessionFilter, TranscriptSource
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import normalize_absolute_path

if TYPE_CHECKING:
    from ricordo.handoff.document import SourceSession


def find_session_filter(place: MemoryPlace, environment: Environment) -> SessionFilter:
    """Return which sessions are relevant to the memory at `place`. May read the newest sessions of
    every project, and ask git where they worked.
    """
    home, environ = environment.agent_home, environment.environ
    projects = [path for path in (environment.project, place.project) if path]
    scope = find_support(place.layout).session_filter(place, projects, home, environ)
    roots = tuple(dict.fromkeys((place.root, os.path.realpath(place.root))))
    return replace(scope, roots=roots, home=home)


def read_filter_stamps(environment: Environment) -> tuple[tuple[str, int], ...]:
    """Return the files that `find_session_filter` depends on, each with the time of its last
    change.
    """
    home, environ = environment.agent_home, environment.environ
    return tuple(
        (path, _changed_at(path))
        for support in SUPPORTED
        for path in support.scope_files(home, environ)
    )


def _changed_at(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def list_sources(
    session_filter: SessionFilter, environment: Environment
) -> Iterator[TranscriptSource]:
    """Yield the transcripts that may match `session_filter`; where one does not show at its
    beginning where it worked, only reading it does.
    """
    for support in SUPPORTED:
        yield from support.transcripts(session_filter, environment.agent_home, environment.environ)


def is_kept_by_agent(source: SourceSession, environment: Environment) -> bool:
    """Say whether an agent keeps the transcript of a session that a handoff names: it is one of its
    files by name and place, and no link. No file is opened but a database.
    """
    path = normalize_absolute_path(source.path)
    real = os.path.realpath(path) if path and not os.path.islink(path) else ""
    return bool(real) and any(
        transcript.path == real and transcript.session in ("", source.id)
        for support in SUPPORTED
        if support.agent == source.agent
        for transcript in support.transcripts_near(
            real, environment.agent_home, environment.environ
        )
    )


def list_watched_folders(session_filter: SessionFilter, environment: Environment) -> Iterator[str]:
    """Yield the folders in which the next transcript that matches `session_filter` may appear."""
    yield from session_filter.folders
    for support in SUPPORTED:
        yield from support.transcript_folders(environment.agent_home, environment.environ)


def is_relevant(session_filter: SessionFilter, session: Session) -> bool:
    """Say whether a session that was read matches `session_filter`."""
    return session_filter.matches(session.agent, session.path, session.cwd)
