"""Handing off: from the sessions of a project to the `HANDOFF.md` that the next agent reads.

`draft` gathers, composes, proves, and keeps what still holds of the handoff that stands there.
Nothing is written: `handing_over.py` does that.
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
from ricordo.agents.workplace import workplace
from ricordo.errors import ChangeRefused, MemoryNotFound
from ricordo.handoff.budget import DEFAULT
from ricordo.handoff.check import NAME, OWN, World, without_own
from ricordo.handoff.compose.compose import compose
from ricordo.handoff.document import (
    ANY_AGENT,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    SourceSession,
    family,
)
from ricordo.handoff.facts import Facts, FileUse, NoteFound
from ricordo.handoff.format import tidied
from ricordo.handoff.lookup import Transcripts
from ricordo.handoff.pickup import HandoffFile, destination
from ricordo.handoff.prove import all_facts, prove, words_of
from ricordo.handoff.redaction import texts_of
from ricordo.handoff.resume import resume
from ricordo.handoff.since import files_now
from ricordo.handoff.update import updated
from ricordo.llm.redaction import Redaction
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.handoff.facts import (
    bearing_on,
    facts_of,
    known_transcripts,
    session_of,
)
from ricordo.services.sessions.sessions import sources_of
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import visible

RULES = "rules"
_VALID_FOR = timedelta(days=7)
_MOST_LEARNT = 4_000_000
"""Characters that are looked through for what tells a secret."""

Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class HandoffOptions:
    """What handoff the person wishes."""

    target: Agent = ANY_AGENT
    budget: int = DEFAULT
    """Tokens."""
    sessions: tuple[str, ...] = ()
    """Paths of transcripts; the latest session of the project, where none is named."""
    path: str = ""
    """The file, or the folder for `HANDOFF.md`; "" for the project."""
    with_messages: bool = False
    """Whether every message of the person is to stand in it."""


@dataclass(frozen=True, slots=True)
class HandoffDraft:
    """A handoff as it could be written, with all that it rests on."""

    facts: Facts
    handoff: Handoff
    """All statements, proved, secrets included: it is for this process alone."""
    destination: HandoffFile
    redaction: Redaction = field(repr=False)
    remarks: tuple[str, ...] = ()
    """What the person should know, a sentence each."""


@dataclass(frozen=True, slots=True)
class Composed:
    """What stands in a handoff, to be proved."""

    statements: tuple[HandoffStatement, ...]
    engine: str = RULES
    """Who put it together."""
    remarks: Sequence[str] = ()
    """What the person should know of that, a sentence each."""


Composer = Callable[[Notebook, Facts, tuple[HandoffStatement, ...]], Composed]
"""Makes a handoff of facts, and of what the rules composed of them."""


def by_rules(_: Notebook, __: Facts, statements: tuple[HandoffStatement, ...]) -> Composed:
    """Return what the rules composed, as it is (`Composer`)."""
    return Composed(statements)


def project_of(notebook: Notebook) -> str:
    """Return the project that is handed off: that of the memory, in the worktree in which the
    person stands, else the one in which they stand. Raises MemoryNotFound where it is not there any
    more.
    """
    surroundings = notebook.surroundings
    named = surroundings.project or notebook.place.project
    if named and not os.path.isdir(named):
        raise MemoryNotFound(f"The project of this memory, {visible(named)}, is not there.")
    here = workplace(surroundings.cwd)
    if named and not surroundings.project and here.root == os.path.realpath(named):
        return here.top
    return os.path.realpath(named or git.top_level(surroundings.cwd) or surroundings.cwd)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a draft rests on: it can be drafted again, otherwise wished, without being gathered."""

    facts: Facts
    destination: HandoffFile


def ground(notebook: Notebook, wish: HandoffOptions, step: Step = lambda: None) -> Ground:
    """Return what a draft of the sessions that are wished rests on.

    `step` is called all the while; what it raises is raised here. Raises WrongUsage where a session
    is named that is none, ChangeRefused where there is nothing to hand off or no file to write to.
    """
    project = project_of(notebook)
    to = destination(_wished(notebook, wish, project))
    facts = facts_of(notebook, project, wish.sessions, step)
    if not facts.sessions:
        raise ChangeRefused("No session of this project was found that could be handed off.")
    own = _own(to, project)
    return Ground(replace(facts, git=facts.git and without_own(facts.git, own)), to)


def draft(
    notebook: Notebook,
    wish: HandoffOptions,
    step: Step = lambda: None,
    composer: Composer = by_rules,
    on: Ground | None = None,
) -> HandoffDraft:
    """Return the handoff that is wished, composed by extraction, or as `composer` has it. Nothing
    is written. What it rests `on` may be known already; all is proved anew all the same.

    `step` is called all the while; what it raises is raised here. Raises what `ground` raises.
    """
    on = on or ground(notebook, wish, step)
    facts, to = on.facts, on.destination
    now = notebook.surroundings.now.timestamp()
    world = World(facts.project, facts.memory, _own(to, facts.project), step, now)
    told = compose(facts, tokens=_room(wish), with_messages=wish.with_messages)
    composed = composer(notebook, facts, told)
    statements = prove(composed.statements, facts, world)
    head = _head(notebook, on, statements, world, wish, composed.engine)
    new = Handoff(head, statements)
    redaction = begin_redaction(notebook)
    redaction.learn(_told(facts, step))
    if to.handoff is not None:
        is_known = known_transcripts(notebook.surroundings, to.before or b"")
        says = Transcripts(to.handoff, is_known, step)
        new = _updated(to.handoff, new, world, says, notebook.surroundings.now, redaction)
    remarks = (to.remark, _about_budget(wish), *composed.remarks)
    return HandoffDraft(facts, new, to, redaction, tuple(filter(None, remarks)))


def _own(to: HandoffFile, project: str) -> frozenset[str]:
    return OWN | {os.path.relpath(to.path, project)}


def _wished(notebook: Notebook, wish: HandoffOptions, project: str) -> str:
    """Return the file that is wished."""
    path = os.path.join(notebook.surroundings.cwd, wish.path) if wish.path else project
    return os.path.join(path, NAME) if os.path.isdir(path) else path


def _room(wish: HandoffOptions) -> int:
    """The tokens that the handoff may take."""
    return min(wish.budget, family(wish.target).most_tokens)


def _about_budget(wish: HandoffOptions) -> str:
    most = family(wish.target).most_tokens
    told = f"More than {most:,} tokens do not suit {wish.target.name}: it gets no more."
    return told if wish.budget > most else ""


def _head(
    notebook: Notebook,
    on: Ground,
    statements: Sequence[HandoffStatement],
    world: World,
    wish: HandoffOptions,
    engine: str,
) -> HandoffHeader:
    facts, to = on.facts, on.destination
    now, state = notebook.surroundings.now, world.git
    return HandoffHeader(
        written=now,
        expires=now + _VALID_FOR,
        target=wish.target,
        budget=_room(wish),
        engine=engine,
        sources=tuple(SourceSession(it.agent, it.id, it.path) for it in facts.sessions),
        commit=state.commit if state else "",
        branch=state.branch if state else "",
        dirty=state.dirty if state else (),
        files=files_now(statements, facts, world),
        memory=facts.memory,
        project="" if os.path.dirname(to.path) == facts.project else facts.project,
    )


def _told(facts: Facts, step: Step) -> Iterator[str]:
    """Yield what the sessions say, for what tells a secret need not stand in the handoff; of very
    long ones the rest is passed over.
    """
    room = _MOST_LEARNT
    for it in all_facts(facts):
        for text in () if isinstance(it, FileUse | NoteFound) else words_of(it):
            step()
            room -= len(text)
            if room < 0:
                return
            yield text


def _updated(
    old: Handoff, new: Handoff, world: World, says: Transcripts, now: datetime, redaction: Redaction
) -> Handoff:
    """Return `new` with what still holds of the handoff that stands there."""
    probed = resume(old, world, says, now)
    redaction.learn(text for it in tidied(new).statements for text in texts_of(it))
    both = updated(probed, new, lambda text: redaction.redact("", text))
    for it in both.statements:
        if it not in new.statements:
            redaction.adopt(f"{it.text}\n{it.quote}")
    return both


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
    sources = sorted(
        sources_of(own, notebook.surroundings), key=lambda it: it.touched, reverse=True
    )
    for source in sources[:_MOST]:
        step()
        session = session_of(source, own, step)
        if session is not None:
            unread = replace(session, ended=_ended(source) or session.ended)
            found.append(known.get((session.path, session.id), unread))
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))


def _ended(source: TranscriptSource) -> str:
    """When something was added to a transcript last, ISO 8601 in UTC; "" where nothing tells."""
    at = source.touched
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z") if at else ""
