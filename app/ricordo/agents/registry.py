"""All agents that Ricordo supports. To support another one, write its `AgentSupport` in a package
beside this module that has the agent's name, and add it to `SUPPORTED`.

`gemini` is the smallest one, `codex` has a memory and transcripts. An agent that keeps transcripts
has `marks.toml` and `tools.toml` in its package, one that takes handoffs `handoff.toml`. Nothing
else names an agent, but for `instruction_files.toml`, with the instruction files that it reads,
`prompt_rules.py`, with what a prompt hook has to know, as that loads next to nothing, and
`llm/programs.toml`, with programs that answer a brief.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.agents.agent import Agent, MemoryPlace
from ricordo.agents.claude.support import CLAUDE
from ricordo.agents.codex.support import CODEX
from ricordo.agents.discovery import Discovery, find_in_folders, list_known_folders
from ricordo.agents.folder import FOLDER, has_notes
from ricordo.agents.gemini import GEMINI
from ricordo.agents.letta import LETTA
from ricordo.agents.opencode.support import OPENCODE
from ricordo.agents.support import AgentSupport, Step, Transcript
from ricordo.agents.transcripts.sources import TranscriptSource, is_line_file
from ricordo.agents.wiki import WIKIS
from ricordo.agents.workplace import PROJECT_FOLDER
from ricordo.errors import WrongUsage
from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.reader import list_names
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.agents.transcripts.checkpoint import Checkpoint
    from ricordo.agents.transcripts.session import Message, MessagePlace

SUPPORTED: tuple[AgentSupport, ...] = (CLAUDE, CODEX, OPENCODE, GEMINI, LETTA, WIKIS)
"""The likeliest memory of a project first. The first agent also takes files of lines that no other
one claims.
"""

INDEX_NAMES = FOLDER.index_names.union(
    *(layout.index_names for support in SUPPORTED for layout in support.layouts)
)
"""Names of index files of all kinds, in lower case."""

_MARKS = sorted(
    (mark for support in SUPPORTED for mark in support.marks), key=lambda mark: -mark.strength
)
_FIRST_PART = 256 * 1024
"""Bytes of a file that show whether it is a transcript."""


def recognise(root: str) -> Layout:
    """Return the layout of the memory in the directory `root`; that of a plain folder where it has
    no mark of another one.
    """
    names = list_names(root)
    return next((mark.layout for mark in _MARKS if mark.fits(root, names)), FOLDER)


def find_support(layout: Layout) -> AgentSupport:
    """Return the support of the agent whose memories have `layout`; one without capabilities for a
    plain folder.
    """
    return next((it for it in SUPPORTED if layout in it.layouts), _NO_AGENT)


_NO_AGENT = AgentSupport()


def find_memories_in(project: str) -> list[MemoryPlace]:
    """Return the memories that lie in the directory of a project, and its memory folder."""
    memories = [place for support in SUPPORTED for place in support.memories_in(project)]
    root = os.path.join(project, PROJECT_FOLDER)
    if has_notes(root):
        why = "the memory folder of the project"
        memories.append(MemoryPlace(root, recognise(root), project, why))
    return [replace(place, is_in_project=True) for place in memories]


def find_known_memories_in(project: str) -> list[MemoryPlace]:
    """Return the memories in the folders of a project that are usual for memories."""
    roots = list_known_folders(project, _list_agent_folders())
    return [_place_in_project(root, project) for root in roots]


def search_project(project: str) -> tuple[list[MemoryPlace], Discovery]:
    """Return the memories in all folders of a project, within limits, and what was searched."""
    discovery = find_in_folders(project, _list_agent_folders())
    return [_place_in_project(root, project) for root in discovery.roots], discovery


def _place_in_project(directory: str, project: str) -> MemoryPlace:
    place = place_from_directory(directory)
    why = f"the folder {os.path.relpath(place.root, project)} of the project"
    return replace(place, project=project, reason=why, is_in_project=True)


def _list_agent_folders() -> list[str]:
    """Return the names of folders in which agents keep their own files in a project, with and
    without the dot that hides them.
    """
    names = {it.agent.name for it in SUPPORTED if it.agent is not None}
    names.update(folder.removeprefix(".") for folder in list_instruction_folders())
    return sorted(name for bare in names for name in (bare, f".{bare}"))


def place_from_directory(directory: str) -> MemoryPlace:
    """Return `directory` as the memory that it is, or the whole one of which it is a part."""
    root = os.path.realpath(directory)
    for support in SUPPORTED:
        root = support.whole_memory(root)
    layout = recognise(root)
    project = find_support(layout).project_of(root, layout)
    return MemoryPlace(root, layout, project, "the directory itself")


def find_agent(name: str) -> Agent:
    """Return the agent with transcripts that is called `name`. Raises ValueError if none is."""
    for support in _with_transcripts():
        if support.agent is not None and support.agent.name == name:
            return support.agent
    raise ValueError(f"no agent is called {name!r}")


def list_handoff_agents() -> list[Agent]:
    """Return the agents for which handoffs are written."""
    return [it.agent for it in SUPPORTED if it.takes_handoffs and it.agent is not None]


def list_instruction_files() -> list[str]:
    """Return the names, without `.md`, of the files in a project that agents load at a start."""
    return [name for support in SUPPORTED for name in support.instruction_files]


def list_instruction_folders() -> list[str]:
    """Return the folders of a project in which agents look for such files too, and for `rules/`."""
    return [support.project_folder for support in SUPPORTED if support.project_folder]


def find_session_around(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the project and the id of the session of the agent that started this process, as far
    as the environment has them; "" for what it has not.
    """
    projects = (environ.get(it.project_variable, "") for it in SUPPORTED if it.project_variable)
    sessions = (environ.get(it.session_variable, "") for it in SUPPORTED if it.session_variable)
    return next(filter(None, projects), ""), next(filter(None, sessions), "")


def join_agent_names() -> str:
    """Return the names of the agents whose transcripts are read, as a list in words."""
    *names, last = [it.agent.shown for it in _with_transcripts() if it.agent is not None]
    return f"{', '.join(names)} or {last}"


def open_transcript(
    source: TranscriptSource, learnt: Checkpoint | None = None, step: Step = lambda: None
) -> Transcript:
    """Return a transcript for reading, from where `learnt` ends; `step` is called all the while."""
    return _support_for(source.agent).open_transcript(source, learnt, step)


def read_messages_from(source: TranscriptSource, start: MessagePlace) -> Iterator[Message]:
    """Yield the turns of a transcript from `start` on; all where it can only be read as a whole."""
    return _support_for(source.agent).read_messages_from(source, start)


def find_sub_agent_transcripts(source: TranscriptSource) -> Iterator[TranscriptSource]:
    """Yield the transcripts of the sub-agents of a session."""
    return _support_for(source.agent).sub_agent_transcripts(source)


def find_transcript_at(path: str) -> TranscriptSource:
    """Return the transcript in the file of lines at `path`; its name or its first lines show whose
    it is.
    """
    support = next(it for it in reversed(SUPPORTED) if it.is_transcript(path))
    assert support.agent is not None
    return TranscriptSource(support.agent, path)


def find_named_session(name: str) -> TranscriptSource:
    """Return the transcript at the path `name`: a file of lines, a session file, or a database with
    `#` and the id of a session behind it. Raises WrongUsage where there is none.
    """
    path, _, session = name.rpartition("#") if "#" in name else (name, "", "")
    if os.path.lexists(name):
        path, session = name, ""
    raw = read_plain_file(path, _FIRST_PART)
    if raw is None:
        raise _wrong(path, _why_unread(path))
    for support in SUPPORTED:
        if (source := support.find_session(path, session, raw)) is not None:
            return source
    if session or not is_line_file(raw):
        raise _wrong(path, f"is no transcript of {join_agent_names()}")
    return find_transcript_at(path)


def _support_for(agent: Agent) -> AgentSupport:
    return next(it for it in SUPPORTED if it.agent == agent)


def _with_transcripts() -> list[AgentSupport]:
    return [it for it in SUPPORTED if it.has_transcripts]


def _why_unread(path: str) -> str:
    if os.path.isdir(path):
        return "is a directory; name one transcript in it"
    if os.path.lexists(path):
        return "cannot be read as a plain file"
    return "is not there"


def _wrong(path: str, why: str) -> WrongUsage:
    return WrongUsage(f"--session: {make_one_line(path)} {make_one_line(why)}.")
