"""Drafting a handoff by an engine outside our code: a model, or a program of the person's.

It is asked through the one gate, of what it is told nothing leaves that is not sealed, and what it
costs stands in the ledger. Where it gives no answer, what the rules composed is the handoff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import EngineUsage, Step
from ricordo.curation.engines.external import NOTHING, Estimate, Reply, Sent
from ricordo.curation.form import ModelForm
from ricordo.curation.prompts import HANDOFF, load_prompt
from ricordo.curation.proposal import curator
from ricordo.errors import CuratorFailed, StateUnusable, WrongUsage
from ricordo.handoff.document import HandoffStatement
from ricordo.handoff.draft import DRAFT, DraftBrief, ModelDraft, draft, tell
from ricordo.handoff.facts import Facts
from ricordo.services.engines.choice import new_program, outside_of
from ricordo.services.engines.engines import Outside
from ricordo.services.engines.preview import Egress, why_not
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.handoff.handoff import RULES, Composed, Composer
from ricordo.services.ledger.ledger import LedgerRun, new_run, record
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings

MOST_SENT = 40_000
"""Tokens of facts that are sent, where the caps have room for more."""
_DRAFTING = ModelForm(DRAFT, lambda value: value["statements"])
_SHOWN = 5
"""Refused statements that are told one by one."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What an engine is asked: nothing was sent yet."""

    outside: Outside
    told: DraftBrief
    estimate: Estimate


def by_engine(
    outside: Outside,
    step: Step = lambda _: None,
    before: Callable[[DraftRequest], None] = lambda _: None,
    after: Callable[[LedgerRun], None] = lambda _: None,
) -> Composer:
    """Return what has a handoff drafted by `outside`. `before` is told what will be asked and what
    it may cost, `step` all the while how far it is, and `after` what it did cost, with an answer or
    without; what the first two raise is raised by the composer.
    """

    def composer(
        notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
    ) -> Composed:
        asked = asked_of(notebook, outside, facts)
        before(asked)
        try:
            reply = _reply(notebook, asked, step, after)
        except (CuratorFailed, StateUnusable) as failed:
            return _by_rules(statements, failed.message)
        drafted = draft(statements, facts, asked.told, reply.said)
        if not drafted.by_model:
            why = "Nothing that the model drafted can be taken."
            return _by_rules(statements, *_told(drafted), why)
        author = asked.outside.author
        return Composed(drafted.statements, f"{author.name} {author.model}", _told(drafted))

    return composer


def asked_of(notebook: Notebook, outside: Outside, facts: Facts) -> DraftRequest:
    """Return what `outside` would be asked about `facts`: nothing is sent."""
    prompt = load_prompt(HANDOFF, notebook.surroundings.config)
    ask = replace(outside.ask, prompt=prompt, form=_DRAFTING)
    author = curator(outside.author.name, outside.author.model, prompt.version)
    told = tell(facts, begin_redaction(notebook), min(ask.room, MOST_SENT))
    return DraftRequest(replace(outside, ask=ask, author=author), told, ask.estimate(told))


def _reply(
    notebook: Notebook, asked: DraftRequest, step: Step, after: Callable[[LedgerRun], None]
) -> Reply:
    """Ask, and record what it cost, with an answer or without. Raises CuratorFailed, StateUnusable,
    and what `step` raises.
    """
    author, surroundings = asked.outside.author, notebook.surroundings

    def pay(usage: EngineUsage) -> None:
        run = new_run(surroundings.now.isoformat(), author, usage, 0, 0)
        after(run)
        # whether there is an answer matters more than that its cost can be told
        with suppress(StateUnusable):
            record(surroundings.state, notebook.place.root, run)

    ask = replace(asked.outside.ask, lost=pay)
    reply = ask(Sent(NOTHING.stable, asked.told.text), step)
    pay(reply.usage)
    return reply


def _by_rules(statements: tuple[HandoffStatement, ...], *why: str) -> Composed:
    return Composed(statements, RULES, (*why, "The rules composed this handoff instead."))


def _told(drafted: ModelDraft) -> Sequence[str]:
    refused = drafted.refused
    lines = [f"Not taken of the draft: {it.what}: {it.why}" for it in refused[:_SHOWN]]
    if len(refused) > _SHOWN:
        lines.append(f"Not taken of the draft: {len(refused) - _SHOWN} more")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class BeforeDraft:
    """What is known before an engine drafts."""

    leaving: Egress | None = None
    """None where nothing leaves."""
    left_out: int = 0
    """Facts for which there is no room in what is sent."""
    why_not: str = ""
    """Why the engine cannot be asked, and what to do; "" where nothing speaks against it."""


def look_before_draft(notebook: Notebook, own: EngineSettings, facts: Facts) -> BeforeDraft:
    """Return what is known before the engine that is set as `own` drafts a handoff of `facts`."""
    try:
        outside = outside_of(notebook.surroundings, own)
    except WrongUsage as error:
        return BeforeDraft(why_not=error.message)
    if outside is None:
        return BeforeDraft()
    asked = asked_of(notebook, outside, facts)
    leaving = Egress(
        asked.outside,
        asked.told.text,
        asked.estimate,
        asked.outside.ask.gate.left(),
        asked.told.redaction.told(),
        new_program(notebook.surroundings, outside),
    )
    return BeforeDraft(leaving, asked.told.left_out, why_not(leaving))
