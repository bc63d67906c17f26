"""What is handed off: the sessions that are meant, as facts, with the notes that bear on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain, zip_longest

from ricordo import git
from ricordo.agents.registry import named_session, open_transcript, sub_agent_transcripts
from ricordo.agents.transcripts.session import Session, Who
from ricordo.agents.transcripts.sources import SessionScope, TranscriptSource
from ricordo.errors import StateUnusable
from ricordo.extraction.sentence import written_sentences
from ricordo.handoff.document import SourceSession
from ricordo.handoff.facts import Facts, NoteFound
from ricordo.handoff.gather.gather import gather, with_notes
from ricordo.memory.change import digest
from ricordo.services.search.recall import RecallResult, open_index, recall
from ricordo.services.sessions.sessions import bearing, bears, is_kept_by_agent, sources_of
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.operation import CHANGE

MOST_NOTES = 5
_MOST_BEFORE = 4
"""Sessions that are taken along with the one that went on with them."""
_MOST_HELPERS = 50
_MOST_WISHES = 3
"""Messages of the person, the latest ones, for which notes are recalled, beside the first one."""
_LONGEST_WISH = 2_000
"""Characters of each of them that are looked at."""
_MOST_SENTENCES = 12

Step = Callable[[], None]


def facts_of(notebook: Notebook, project: str, named: Sequence[str], step: Step) -> Facts:
    """Return what the sessions at the paths `named` tell, without one the latest of the project
    with those that it went on with. Raises WrongUsage where a path is no transcript, and what
    `step` raises.
    """
    cwd = notebook.surroundings.cwd
    paths = (os.path.normpath(os.path.join(cwd, path)) for path in named)
    sources = [named_session(path) for path in dict.fromkeys(paths)]
    found = sorted(sources, key=_began) if sources else _latest(notebook, project, step)
    facts = gather(found, project, step, _helpers(found))
    if not notebook.place.layout.holds_notes:
        return facts
    return with_notes(facts, notebook.place.root, _notes(notebook, facts))


def _helpers(sources: Sequence[TranscriptSource]) -> list[TranscriptSource]:
    """The sub-agents of some sessions, those at work last, in the order of time."""
    there = [helper for source in sources for helper in sub_agent_transcripts(source)]
    return sorted(there, key=lambda it: (it.touched, it.path))[-_MOST_HELPERS:]


def _latest(notebook: Notebook, project: str, step: Step) -> list[TranscriptSource]:
    """The session of the project in which something happened last, behind those that it went on
    with; a sub-agent's is none. Of a repository with several worktrees it is one of this worktree,
    where there is one: the files of another are not here.
    """
    own = bearing_on(notebook, project)
    there = sorted(sources_of(own, notebook.surroundings), key=lambda it: it.touched, reverse=True)
    found: tuple[TranscriptSource, Session] | None = None
    for source in there:
        step()
        session = session_of(source, own, step)
        if session is not None:
            is_here = _worked_in(project, session)
            found = (source, session) if is_here or found is None else found
            if is_here:
                break
    return _with_those_before(*found, there, own, step) if found else []


def _worked_in(project: str, session: Session) -> bool:
    """Whether a session worked in a project, and not in a worktree that lies in its folders."""
    inner = f"{project.rstrip('/')}/"
    is_inside = f"{os.path.realpath(session.cwd)}/".startswith(inner)
    return is_inside and not (git.top_level(session.cwd) or "").startswith(inner)


def bearing_on(notebook: Notebook, project: str) -> SessionScope:
    """Return which sessions bear on the work in a project."""
    all_of_memory = bearing(notebook.place, notebook.surroundings)
    # a memory of all projects of an agent bears on work that has nothing to do with this one
    projects = tuple(dict.fromkeys((*all_of_memory.projects, project)))
    return replace(all_of_memory, agents=frozenset(), projects=projects)


def _with_those_before(
    source: TranscriptSource,
    session: Session,
    there: Sequence[TranscriptSource],
    own: SessionScope,
    step: Step,
) -> list[TranscriptSource]:
    """A session behind those that it went on with, the oldest first."""
    found = [source]
    while session.continues and len(found) <= _MOST_BEFORE:
        before = next((it for it in there if _is_of(it, session.continues)), None)
        told = session_of(before, own, step) if before is not None else None
        if before is None or told is None or before in found:
            break
        found.append(before)
        session = told
    return found[::-1]


def _is_of(source: TranscriptSource, session: str) -> bool:
    """Whether a transcript is that of a session: its file is called after it."""
    stem = os.path.basename(source.path).removesuffix(".jsonl")
    return stem == session or stem.endswith(f"-{session}")


def session_of(source: TranscriptSource, own: SessionScope, step: Step) -> Session | None:
    """The session of a transcript, as far as its beginning tells; None where nobody said anything
    in it, where it is a sub-agent's or does not bear on the memory.
    """
    transcript = open_transcript(source, step=step)
    for turn in transcript.turns():
        if turn.is_said and turn.who is Who.PERSON:
            session = transcript.session
            return None if session.part_of or not bears(own, session) else session
    return None


def _began(source: TranscriptSource) -> str:
    """When a session began, ISO 8601 in UTC; "" where its transcript does not tell."""
    return next((turn.at for turn in open_transcript(source).turns() if turn.at), "")


def _notes(notebook: Notebook, facts: Facts) -> Iterator[NoteFound]:
    """Yield the notes of the memory to read for what the person wanted first and wants now, in turn
    the best of each message: the last ones may be no more than “commit it”.
    """
    wanted = [said.text[:_LONGEST_WISH] for said in facts.said if said.is_person]
    if not wanted:
        return
    index = open_index(notebook.place, notebook.surroundings)
    memory = notebook.read()

    def ask(message: str) -> list[RecallResult]:
        return recall(index, memory, message, notebook.surroundings, MOST_NOTES)

    first, *last = dict.fromkeys((wanted[0], *wanted[-_MOST_WISHES:][::-1]))
    by_message = [ask(first) or _by_sentence(first, ask), *map(ask, last)]
    found: dict[str, RecallResult] = {}
    for it in filter(None, chain.from_iterable(zip_longest(*by_message))):
        found.setdefault(it.note.path, it)
    for path, it in list(found.items())[:MOST_NOTES]:
        note, why = it.note, ", ".join(it.why)
        digest = sha256(note.raw).hexdigest()
        yield NoteFound("", path, note.name, note.description, digest, why)


def _by_sentence(message: str, ask: Callable[[str], list[RecallResult]]) -> list[RecallResult]:
    """Return what the sentences of a message find by themselves: among the words of others, those
    that tell may be too few.
    """
    sentences = written_sentences(message)[:_MOST_SENTENCES]
    return [it for sentence in sentences for it in ask(sentence.text)]


def known_transcripts(surroundings: Environment, content: bytes) -> Callable[[SourceSession], bool]:
    """Return what tells whether a transcript may be opened that a handoff of `content` names."""
    is_own = _is_written_here(Database(surroundings.state), content)
    return lambda source: is_own or is_kept_by_agent(source, surroundings)


def _is_written_here(database: Database, content: bytes) -> bool:
    if not database.exists:
        return False
    try:
        with database.opened() as connection:
            acts = History(connection).acts_leading_to(digest(content))
    except StateUnusable:
        return False
    return any(act.kind == CHANGE and act.state == "done" for act in acts)
