"""Choosing the sessions to hand off, and gathering their facts and the relevant notes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, zip_longest

from ricordo import git
from ricordo.agents.registry import find_named_session, find_sub_agent_transcripts, open_transcript
from ricordo.agents.transcripts.session import Session, Speaker
from ricordo.agents.transcripts.sources import SessionFilter, TranscriptSource
from ricordo.errors import StateUnusable
from ricordo.extraction.sentence import split_text
from ricordo.handoff.document import Handoff, SourceSession
from ricordo.handoff.facts import KEPT, Facts, MessageRef, NoteFact, SummaryFact
from ricordo.handoff.gather.gather import add_notes, add_summaries, gather
from ricordo.handoff.lookup import QuoteLookup
from ricordo.memory.change import compute_digest
from ricordo.patterns import compile_lazily
from ricordo.services.search.recall import RecallResult, open_index, recall
from ricordo.services.sessions.sessions import (
    find_session_filter,
    is_kept_by_agent,
    is_relevant,
    list_sources,
)
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import Database
from ricordo.storage.history import History
from ricordo.storage.hook_files import read_summaries
from ricordo.storage.operation import CHANGE

MAX_NOTES = 5
_MAX_PREVIOUS = 4
"""Sessions that are added to the one that continued them."""
_MAX_HELPERS = 50
_MAX_MESSAGES = 3
"""The latest messages of the user for which notes are recalled, besides the first one."""
_MAX_MESSAGE = 2_000
"""Characters of each of them that are used."""
_MAX_SENTENCES = 12
_NUMBERS = compile_lazily(r"(?<![\w.])v?\d+(?:\.\d+)+(?:-[\w.]*\w)?(?!\w|\.\d)")
"""An address or a version: numbers that are joined by points."""

Step = Callable[[], None]


def gather_facts(notebook: Notebook, project: str, named: Sequence[str], step: Step) -> Facts:
    """Return the facts of the sessions at the paths `named`; without paths, of the latest session
    of the project and those that it continued. Raises WrongUsage where a path is not a transcript,
    and what `step` raises.
    """
    cwd = notebook.environment.cwd
    paths = (os.path.normpath(os.path.join(cwd, path)) for path in named)
    sources = [find_named_session(path) for path in dict.fromkeys(paths)]
    chosen = sorted(sources, key=_find_start) if sources else _find_latest(notebook, project, step)
    facts = gather(chosen, project, step, _list_helpers(chosen))
    sessions = facts.sessions[: len(chosen)]
    facts = add_summaries(facts, _list_kept_summaries(notebook.environment.state, sessions))
    if not notebook.place.layout.has_notes:
        return facts
    return add_notes(facts, notebook.place.root, _find_notes(notebook, facts))


def _list_kept_summaries(state: str, sessions: Sequence[Session]) -> Iterator[SummaryFact]:
    """Yield what hooks kept of the sessions at their compactions."""
    for number, session in enumerate(sessions):
        for at, text in read_summaries(state, session.id):
            day = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
            yield SummaryFact("", MessageRef(number, KEPT, day), text)


def make_quote_lookup(
    environment: Environment, handoff: Handoff, content: bytes, step: Step
) -> QuoteLookup:
    """Return what finds the quotes of a `handoff` with this `content` in transcripts, and in
    summaries that hooks kept.
    """

    def list_kept(session: str) -> list[str]:
        return [text for _, text in read_summaries(environment.state, session)]

    is_known = _find_allowed_transcripts(environment, content)
    return QuoteLookup(handoff, is_known, step, list_kept)


def _list_helpers(sources: Sequence[TranscriptSource]) -> list[TranscriptSource]:
    """Return the sub-agents of some sessions, the last ones, in the order of time."""
    helpers = [helper for source in sources for helper in find_sub_agent_transcripts(source)]
    return sorted(helpers, key=lambda source: (source.changed_at, source.path))[-_MAX_HELPERS:]


def _find_latest(notebook: Notebook, project: str, step: Step) -> list[TranscriptSource]:
    """Return the latest session of the project, after those that it continued; never one of a
    sub-agent. In a repository with several worktrees a session of this worktree is preferred: the
    files of another are not here.
    """
    relevance = find_project_filter(notebook, project)
    candidates = list(list_sources(relevance, notebook.environment))
    candidates.sort(key=lambda source: source.changed_at, reverse=True)
    latest: tuple[TranscriptSource, Session] | None = None
    for source in candidates:
        step()
        session = read_session(source, relevance, step)
        if session is not None:
            is_here = _has_worked_in(project, session)
            latest = (source, session) if is_here or latest is None else latest
            if is_here:
                break
    return _add_previous(*latest, candidates, relevance, step) if latest else []


def _has_worked_in(project: str, session: Session) -> bool:
    """Return whether a session worked in a project, and not in a worktree inside it."""
    inner = f"{project.rstrip('/')}/"
    is_inside = f"{os.path.realpath(session.cwd)}/".startswith(inner)
    return is_inside and not (git.find_top_level(session.cwd) or "").startswith(inner)


def find_project_filter(notebook: Notebook, project: str) -> SessionFilter:
    """Return which sessions are relevant to the work in a project."""
    of_memory = find_session_filter(notebook.place, notebook.environment)
    # sessions of all projects may use a memory without having anything to do with this one
    projects = tuple(dict.fromkeys((*of_memory.projects, project)))
    return replace(of_memory, agents=frozenset(), projects=projects)


def _add_previous(
    source: TranscriptSource,
    session: Session,
    candidates: Sequence[TranscriptSource],
    relevance: SessionFilter,
    step: Step,
) -> list[TranscriptSource]:
    """Return a session after those that it continued, the oldest first."""
    sources_found = [source]
    while session.continues and len(sources_found) <= _MAX_PREVIOUS:
        previous = next(
            (source for source in candidates if _is_of_session(source, session.continues)), None
        )
        previous_session = read_session(previous, relevance, step) if previous is not None else None
        if previous is None or previous_session is None or previous in sources_found:
            break
        sources_found.append(previous)
        session = previous_session
    return sources_found[::-1]


def _is_of_session(source: TranscriptSource, session: str) -> bool:
    """Return whether a transcript is that of a session, by its file name."""
    stem = os.path.basename(source.path).removesuffix(".jsonl")
    return stem == session or stem.endswith(f"-{session}")


def read_session(source: TranscriptSource, relevance: SessionFilter, step: Step) -> Session | None:
    """Return the session of a transcript, as far as its beginning shows; None where the user said
    nothing in it, where it is a sub-agent's or is not relevant to the memory.
    """
    transcript = open_transcript(source, step=step)
    for turn in transcript.messages():
        if turn.is_spoken and turn.who is Speaker.USER:
            session = transcript.session
            return None if session.part_of or not is_relevant(relevance, session) else session
    return None


def _find_start(source: TranscriptSource) -> str:
    """Return when a session began, ISO 8601 in UTC; "" where its transcript has no time."""
    return next((turn.at for turn in open_transcript(source).messages() if turn.at), "")


def _find_notes(notebook: Notebook, facts: Facts) -> Iterator[NoteFact]:
    """Yield the notes that recall finds for the user's first message and the latest ones,
    alternating between them: the latest may be no more than “commit it”.
    """
    messages = [fact.text[:_MAX_MESSAGE] for fact in facts.messages if fact.is_user]
    if not messages:
        return
    index = open_index(notebook.place, notebook.environment)
    memory = notebook.read()

    def recall_notes(message: str) -> list[RecallResult]:
        # the parts of an address or of a version say nothing, only the whole does
        numbers = list(_NUMBERS.finditer(message))
        plain = _NUMBERS.sub(" ", message)
        exact = recall(index, memory, message, notebook.environment, MAX_NOTES) if numbers else []
        naming = filter(None, (_name_whole(result, numbers) for result in exact))
        return [*naming, *recall(index, memory, plain, notebook.environment, MAX_NOTES)]

    first, *last = dict.fromkeys((messages[0], *messages[-_MAX_MESSAGES:][::-1]))
    by_message = [
        recall_notes(first) or _recall_by_sentence(first, recall_notes),
        *map(recall_notes, last),
    ]
    results: dict[str, RecallResult] = {}
    for result in filter(None, chain.from_iterable(zip_longest(*by_message))):
        results.setdefault(result.note.path, result)
    for path, result in list(results.items())[:MAX_NOTES]:
        note, why = result.note, ", ".join(result.why)
        digest = sha256(note.raw).hexdigest()
        yield NoteFact("", path, note.name, note.description, digest, why)


def _name_whole(result: RecallResult, numbers: Iterable[re.Match[str]]) -> RecallResult | None:
    """Return the result with the `numbers` of a message that its note names; None without any."""
    named = dict.fromkeys(it[0] for it in numbers)
    given = [
        it for it in named if re.search(rf"(?<![\w.]){re.escape(it)}(?!\w|\.\d)", result.note.text)
    ]
    return result._replace(why=(f"names {', '.join(given)}",)) if given else None


def _recall_by_sentence(
    message: str, recall_notes: Callable[[str], list[RecallResult]]
) -> list[RecallResult]:
    """Return what recall finds for each sentence of a message: in the whole text the relevant words
    may be too few.
    """
    sentences = split_text(message)[:_MAX_SENTENCES]
    return [result for sentence in sentences for result in recall_notes(sentence.text)]


def _find_allowed_transcripts(
    environment: Environment, content: bytes
) -> Callable[[SourceSession], bool]:
    """Return a function that decides whether a transcript named by a handoff of `content` may be
    opened.
    """
    is_written_here = _is_written_here(Database(environment.state), content)
    return lambda source: is_written_here or is_kept_by_agent(source, environment)


def _is_written_here(database: Database, content: bytes) -> bool:
    if not database.exists:
        return False
    try:
        with database.connect() as connection:
            acts = History(connection).list_entries_producing(compute_digest(content))
    except StateUnusable:
        return False
    return any(act.kind == CHANGE and act.state == "done" for act in acts)
