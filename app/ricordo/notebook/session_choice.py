"""The sessions that a person can choose from to hand them off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from ricordo.activity.session import Session
from ricordo.activity.sources import Source
from ricordo.notebook.handed_off import bearing_on, session_of, touched
from ricordo.notebook.handing_off import project_of
from ricordo.notebook.open import Notebook
from ricordo.notebook.sessions import sources_of

_MOST = 200
"""The newest transcripts, which are looked into."""


def sessions_to_choose(notebook: Notebook, step: Callable[[], None]) -> tuple[Session, ...]:
    """Return the sessions that bear on the memory, the one in which something happened last first.
    Of one that was not read yet only the beginning is, and it counts as long as its transcript was
    written to. `step` is called all the while; what it raises is raised here. Raises
    MemoryNotFound where the project is not there.
    """
    own = bearing_on(notebook, project_of(notebook))
    known = {(it.session.path, it.session.id): it.session for it in notebook.activity.known()}
    found: list[Session] = []
    sources = sorted(sources_of(own, notebook.surroundings), key=touched, reverse=True)
    for source in sources[:_MOST]:
        step()
        session = session_of(source, own, step)
        if session is not None:
            unread = replace(session, ended=_ended(source) or session.ended)
            found.append(known.get((session.path, session.id), unread))
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))


def _ended(source: Source) -> str:
    """When something was added to a transcript last, ISO 8601 in UTC; "" where nothing tells."""
    at = touched(source)
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z") if at else ""
