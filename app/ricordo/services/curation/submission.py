"""Changes that sessions of agents submit: validated as those of a curation are, and pending until
the user decides. Nothing of a memory is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from ricordo.agents.registry import open_transcript
from ricordo.curation.pending import PendingProposal, make_pending, with_new_id
from ricordo.curation.proposal import EvidenceQuote, ProposedChange, make_curator
from ricordo.curation.user_messages import read_user_messages
from ricordo.curation.validation import ValidationContext, validate
from ricordo.errors import ChangeRefused
from ricordo.memory.change import ChangeOperation, Create
from ricordo.memory.frontmatter.parser import read_frontmatter
from ricordo.memory.memory import Memory
from ricordo.services.curation.pending import (
    CurationState,
    load_curation_state,
    save_curation_state,
)
from ricordo.services.curation.user_decisions import load_user_decisions, parse_moment
from ricordo.services.edits.change import protected_paths
from ricordo.services.ledger.ledger import count_created_lately, count_retired_lately
from ricordo.services.sessions.sessions import find_session_filter, list_sources
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.lock import state_lock

MAX_OF_SESSION = 20
"""Proposals that one session may submit to one memory."""
MAX_OF_DAY = 60
"""Proposals that all sessions together may submit to one memory within 24 hours."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who submits changes."""

    agent: str
    """The name of the agent's program."""
    session: str
    """The id of its session."""


class Submission(NamedTuple):
    """The result of submitting one change."""

    proposal: PendingProposal
    repeats: str = ""
    """What it repeats, as a sentence, for which reason it was not added; "" where it was added."""


def submit(
    notebook: Notebook,
    memory: Memory,
    act: ChangeOperation,
    reason: str,
    quote: str,
    submitter: Submitter,
) -> Submission:
    """Add a change of `memory` to the pending proposals. `quote` are words of the user as evidence;
    they count as found where the transcript of the session has them.

    Raises ChangeRefused where the change is invalid or too many were submitted; StateUnusable and
    Busy.
    """
    environment = notebook.environment
    now = environment.now
    evidence = _find_evidence(notebook, quote, submitter) if quote else ()
    decisions = load_user_decisions(notebook, memory)
    created, retired = count_created_lately(notebook), count_retired_lately(notebook)
    with state_lock(environment.state):
        state = load_curation_state(environment.state, memory.root)
        context = ValidationContext(
            memory,
            {quoted.source: quoted.quote for quoted in evidence if quoted.found},
            make_curator(submitter.agent),
            protected_paths(notebook),
            retired,
            created=created,
            pending_created=[
                it.path for it in state.pending if isinstance(it.change.operation, Create)
            ],
            decisions=decisions,
        )
        result = validate(context, [ProposedChange(act, reason, evidence)])
        if result.rejected:
            raise ChangeRefused(_as_sentence(result.rejected[0].why))
        proposal = make_pending(
            result.proposals[0], memory, at=now.isoformat(), session=submitter.session
        )
        if repeats := _find_repeated(state, memory, proposal):
            return Submission(proposal, repeats)
        _refuse_too_many(state, submitter, notebook)
        if proposal.id in state.applied:
            proposal = with_new_id(proposal)
        others = (it for it in state.proposals if it.id != proposal.id)
        with_it = replace(state, proposals=(*others, proposal))
        save_curation_state(environment.state, memory.root, with_it)
    return Submission(proposal)


def _as_sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:].rstrip('.')}."


def _find_evidence(
    notebook: Notebook, quote: str, submitter: Submitter
) -> tuple[EvidenceQuote, ...]:
    """Return the quote with its message in the transcript of the session; with the session alone
    where it has no such message.
    """
    for source, text in _read_messages(notebook, submitter.session):
        if quote in text:
            return (EvidenceQuote(source, quote, found=True),)
    return (EvidenceQuote(f"session {submitter.session[:8]}", quote),)


def _read_messages(notebook: Notebook, session: str) -> Iterator[tuple[str, str]]:
    """Yield source and text of the user's messages in a session of this memory's project."""
    environment = notebook.environment
    scope = find_session_filter(notebook.place, environment)
    for source in list_sources(scope, environment):
        if session != source.session and session not in source.path.rpartition("/")[2]:
            continue
        transcript = open_transcript(source)
        today = environment.now.date()
        for message in read_user_messages(source.path, transcript.messages(), today):
            yield message.source, message.text


def _find_repeated(state: CurationState, memory: Memory, proposal: PendingProposal) -> str:
    """Return what a proposal repeats, as a sentence; "" for nothing."""
    text = _fold_text(proposal)
    for note in memory.notes if text else ():
        if _fold(note.body) == text:
            return f"The note {note.path} has this text already."
    for other in state.proposals:
        is_same = other.id == proposal.id or bool(text and _fold_text(other) == text)
        if not is_same or other.id in state.applied:
            continue
        if other.id in state.refused:
            day = state.refused[other.id][:10]
            return f"The user refused this on {day} (proposal {other.id})."
        return f"This is pending already (proposal {other.id})."
    if proposal.id in state.dropped:
        return f"This was proposed before and dropped (proposal {proposal.id})."
    return ""


def _fold_text(proposal: PendingProposal) -> str:
    """Return the text of a new note in a form that ignores case, blanks and frontmatter; "" for a
    change of another kind.
    """
    act = proposal.change.operation
    if not isinstance(act, Create):
        return ""
    return _fold(act.text[read_frontmatter(act.text).end :])


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _refuse_too_many(state: CurationState, submitter: Submitter, notebook: Notebook) -> None:
    """Raise ChangeRefused where the session, or all of them within a day, submitted enough."""
    submitted = [it for it in state.proposals if it.session]
    own = sum(it.session == submitter.session for it in submitted)
    if own >= MAX_OF_SESSION:
        raise ChangeRefused(
            f"This session has submitted {own} proposals, limit {MAX_OF_SESSION}.",
            hint="The user decides on them with `ricordo pending`.",
        )
    since = notebook.environment.now - timedelta(days=1)
    times = (parse_moment(it.at) for it in submitted)
    today = sum(moment is not None and moment > since for moment in times)
    if today >= MAX_OF_DAY:
        raise ChangeRefused(
            f"Agents have submitted {today} proposals within a day, limit {MAX_OF_DAY}.",
            hint="The user decides on them with `ricordo pending`.",
        )
