"""Drafting a handoff: from the sessions of a project to the statements of `HANDOFF.md`.

A draft gathers, composes and proves, and keeps the valid statements of an existing handoff. Nothing
is written: `output.py` does that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from ricordo import git
from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.session import Session
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.workplace import find_workplace
from ricordo.errors import ChangeRefused, MemoryNotFound
from ricordo.handoff.budget import DEFAULT_BUDGET
from ricordo.handoff.changes import read_dependencies
from ricordo.handoff.check import HANDOFF_FILES, HANDOFF_NAME, CurrentState, remove_handoff_files
from ricordo.handoff.compose.compose import compose
from ricordo.handoff.document import (
    ANY_AGENT,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    SourceSession,
    load_layout,
)
from ricordo.handoff.facts import Facts, FileUse, NoteFact
from ricordo.handoff.format import normalize
from ricordo.handoff.lookup import QuoteLookup
from ricordo.handoff.pickup import HandoffFile, find_destination
from ricordo.handoff.prove import list_facts, list_quotable_texts, prove
from ricordo.handoff.redaction import list_texts
from ricordo.handoff.resume import recheck
from ricordo.handoff.update import merge_handoffs
from ricordo.llm.redaction import Redaction
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.handoff.facts import (
    find_project_filter,
    gather_facts,
    make_quote_lookup,
    read_session,
)
from ricordo.services.sessions.sessions import list_sources
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import make_visible

RULES_ENGINE = "rules"
_VALID_FOR = timedelta(days=7)
_MAX_LEARNED = 4_000_000
"""Characters that are searched for descriptions of secrets."""

Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class HandoffOptions:
    """The options of a handoff."""

    target: Agent = ANY_AGENT
    budget: int = DEFAULT_BUDGET
    """In tokens."""
    sessions: tuple[str, ...] = ()
    """Paths of transcripts; empty for the latest session of the project."""
    path: str = ""
    """The file, or the folder for `HANDOFF.md`; "" for the project."""
    with_messages: bool = False
    """Whether to include every message of the user."""


@dataclass(frozen=True, slots=True)
class HandoffDraft:
    """A handoff before it is written, with all that it is based on."""

    facts: Facts
    handoff: Handoff
    """All statements, proved, secrets included: never leaves this process."""
    destination: HandoffFile
    redaction: Redaction = field(repr=False)
    warnings: tuple[str, ...] = ()
    """What the user should know, a sentence each."""


@dataclass(frozen=True, slots=True)
class ComposedStatements:
    """The statements of a handoff, not proved yet."""

    statements: tuple[HandoffStatement, ...]
    engine: str = RULES_ENGINE
    """Who composed them."""
    warnings: Sequence[str] = ()
    """What the user should know about them, a sentence each."""


Composer = Callable[[Notebook, Facts, tuple[HandoffStatement, ...]], ComposedStatements]
"""Composes a handoff from facts, and from what the rules composed of them."""


def compose_by_rules(
    _: Notebook, __: Facts, statements: tuple[HandoffStatement, ...]
) -> ComposedStatements:
    """Return the statements of the rules unchanged."""
    return ComposedStatements(statements)


def find_project(notebook: Notebook) -> str:
    """Return the project to hand off: that of the memory, in the worktree of the current directory,
    else that of the current directory. Raises MemoryNotFound where it no longer exists.
    """
    environment = notebook.environment
    project = environment.project or notebook.place.project
    if project and not os.path.isdir(project):
        raise MemoryNotFound(
            f"The project of this memory does not exist: {make_visible(project)}.",
            hint="`ricordo config conventions --set project=FOLDER` names another, `project=learn` "
            "undoes that.",
        )
    here = find_workplace(environment.cwd)
    if project and not environment.project and here.root == os.path.realpath(project):
        return here.top
    return os.path.realpath(project or git.find_top_level(environment.cwd) or environment.cwd)


@dataclass(frozen=True, slots=True)
class DraftInput:
    """The input of a draft: with it a draft can be repeated with other options, without gathering
    again.
    """

    facts: Facts
    destination: HandoffFile


def gather_input(
    notebook: Notebook, options: HandoffOptions, step: Step = lambda: None
) -> DraftInput:
    """Gather the input of a draft of the chosen sessions.

    `step` is called regularly; what it raises is raised here. Raises WrongUsage where a path is not
    a session, ChangeRefused where there is nothing to hand off or no file to write to.
    """
    project = find_project(notebook)
    to = find_destination(_find_path(notebook, options, project))
    facts = gather_facts(notebook, project, options.sessions, step)
    if not facts.sessions:
        raise ChangeRefused(
            f"This project has no session to hand off: {make_visible(project)}.",
            hint="`ricordo handoff --session FILE` names a transcript.",
        )
    handoff_files = _list_handoff_files(to, project)
    return DraftInput(
        replace(facts, git=facts.git and remove_handoff_files(facts.git, handoff_files)), to
    )


def draft_handoff(
    notebook: Notebook,
    options: HandoffOptions,
    step: Step = lambda: None,
    composer: Composer = compose_by_rules,
    draft_input: DraftInput | None = None,
) -> HandoffDraft:
    """Draft a handoff, composed by extraction or by `composer`. Nothing is written. `on` is input
    from an earlier draft; every statement is proved again.

    `step` is called regularly; what it raises is raised here. Raises what gathering raises.
    """
    draft_input = draft_input or gather_input(notebook, options, step)
    facts, to = draft_input.facts, draft_input.destination
    now = notebook.environment.now.timestamp()
    current = CurrentState(
        facts.project, facts.memory, _list_handoff_files(to, facts.project), step, now
    )
    by_rules_only = compose(
        facts, tokens=_find_budget(options), with_messages=options.with_messages
    )
    composed = composer(notebook, facts, by_rules_only)
    statements = prove(composed.statements, facts, current)
    header = _build_header(notebook, draft_input, statements, current, options, composed.engine)
    new = Handoff(header, statements)
    redaction = begin_redaction(notebook)
    redaction.learn(_list_words(facts, step))
    if to.handoff is not None:
        says = make_quote_lookup(notebook.environment, to.handoff, to.content or b"", step)
        new = _update(to.handoff, new, current, says, notebook.environment.now, redaction)
    remarks = (to.warning, _explain_budget(options), *composed.warnings)
    return HandoffDraft(facts, new, to, redaction, tuple(filter(None, remarks)))


def _list_handoff_files(to: HandoffFile, project: str) -> frozenset[str]:
    return HANDOFF_FILES | {os.path.relpath(to.path, project)}


def _find_path(notebook: Notebook, options: HandoffOptions, project: str) -> str:
    """Return the path of the file to write."""
    path = os.path.join(notebook.environment.cwd, options.path) if options.path else project
    return os.path.join(path, HANDOFF_NAME) if os.path.isdir(path) else path


def _find_budget(options: HandoffOptions) -> int:
    """Return the tokens that the handoff may take."""
    return min(options.budget, load_layout(options.target).max_tokens)


def _explain_budget(options: HandoffOptions) -> str:
    most = load_layout(options.target).max_tokens
    warning = f"Budget reduced to {most:,} tokens, the limit for {options.target.name}."
    return warning if options.budget > most else ""


def _build_header(
    notebook: Notebook,
    on: DraftInput,
    statements: Sequence[HandoffStatement],
    current: CurrentState,
    options: HandoffOptions,
    engine: str,
) -> HandoffHeader:
    facts, to = on.facts, on.destination
    now, state = notebook.environment.now, current.git
    return HandoffHeader(
        written=now,
        expires=now + _VALID_FOR,
        target=options.target,
        budget=_find_budget(options),
        engine=engine,
        sources=tuple(SourceSession(item.agent, item.id, item.path) for item in facts.sessions),
        commit=state.commit if state else "",
        branch=state.branch if state else "",
        dirty=state.dirty if state else (),
        files=read_dependencies(statements, facts, current),
        memory=facts.memory,
        project="" if os.path.dirname(to.path) == facts.project else facts.project,
    )


def _list_words(facts: Facts, step: Step) -> Iterator[str]:
    """Yield the texts of the sessions: what identifies a secret need not be in the handoff. Very
    long sessions are cut off.
    """
    room = _MAX_LEARNED
    for fact in list_facts(facts):
        for text in () if isinstance(fact, FileUse | NoteFact) else list_quotable_texts(fact):
            step()
            room -= len(text)
            if room < 0:
                return
            yield text


def _update(
    old: Handoff,
    new: Handoff,
    current: CurrentState,
    says: QuoteLookup,
    now: datetime,
    redaction: Redaction,
) -> Handoff:
    """Return `new` with the statements of the existing handoff that are still valid."""
    rechecked = recheck(old, current, says, now)
    redaction.learn(
        text for statement in normalize(new).statements for text in list_texts(statement)
    )
    merged = merge_handoffs(rechecked, new, lambda text: redaction.redact("", text))
    for statement in merged.statements:
        if statement not in new.statements:
            redaction.adopt(f"{statement.text}\n{statement.quote}")
    return merged


_MAX_SESSIONS = 200
"""The newest transcripts, which are opened."""


def list_sessions(notebook: Notebook, step: Callable[[], None]) -> tuple[Session, ...]:
    """Return the sessions that are relevant to the memory, the latest first. Of an unread session
    only the beginning is read, and the last change of its transcript counts as its end. `step` is
    called regularly; what it raises is raised here. Raises MemoryNotFound where the project does
    not exist.
    """
    relevance = find_project_filter(notebook, find_project(notebook))
    recorded = {
        (recorded.session.path, recorded.session.id): recorded.session
        for recorded in notebook.activity.list_transcripts()
    }
    sessions: list[Session] = []
    sources = list(list_sources(relevance, notebook.environment))
    sources.sort(key=lambda source: source.changed_at, reverse=True)
    for source in sources[:_MAX_SESSIONS]:
        step()
        session = read_session(source, relevance, step)
        if session is not None:
            by_start = replace(session, ended=_find_end(source) or session.ended)
            sessions.append(recorded.get((session.path, session.id), by_start))
    return tuple(sorted(sessions, key=lambda session: session.ended, reverse=True))


def _find_end(source: TranscriptSource) -> str:
    """Return when a transcript was last changed, ISO 8601 in UTC; "" where unknown."""
    at = source.changed_at
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z") if at else ""
