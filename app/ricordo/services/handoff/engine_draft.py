"""Drafting a handoff with an engine: a model, or a program of the user's.

The request goes through the one gate, is redacted as a whole, and its cost is recorded in the
ledger. Without a usable answer the handoff is the one that the rules composed.
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
"""Tokens of facts that are sent at most; the caps may allow fewer."""
_DRAFT_FORM = ModelForm(DRAFT, lambda value: value["statements"])
_MAX_SHOWN = 5
"""Rejected statements that are listed one by one."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """A request to an engine that was not sent yet."""

    outside: Outside
    told: DraftBrief
    estimate: Estimate


def by_engine(
    outside: Outside,
    step: Step = lambda _: None,
    before: Callable[[DraftRequest], None] = lambda _: None,
    after: Callable[[LedgerRun], None] = lambda _: None,
) -> Composer:
    """Return a composer that has `outside` draft a handoff. `before` gets the request and its
    estimated cost, `step` reports progress, and `after` gets the actual cost, with an answer or
    without; what the first two raise is raised by the composer.
    """

    def composer(
        notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
    ) -> Composed:
        request = asked_of(notebook, outside, facts)
        before(request)
        try:
            reply = _ask_engine(notebook, request, step, after)
        except (CuratorFailed, StateUnusable) as error:
            return _fall_back(statements, error.message)
        drafted = draft(statements, facts, request.told, reply.said)
        if not drafted.by_model:
            reason = "No statement of the model's draft is usable."
            return _fall_back(statements, *_list_rejected(drafted), reason)
        author = request.outside.author
        return Composed(
            drafted.statements, f"{author.name} {author.model}", _list_rejected(drafted)
        )

    return composer


def asked_of(notebook: Notebook, outside: Outside, facts: Facts) -> DraftRequest:
    """Return the request to `outside` about `facts`: nothing is sent."""
    prompt = load_prompt(HANDOFF, notebook.surroundings.config)
    engine = replace(outside.ask, prompt=prompt, form=_DRAFT_FORM)
    author = curator(outside.author.name, outside.author.model, prompt.version)
    brief = tell(facts, begin_redaction(notebook), min(engine.room, MOST_SENT))
    return DraftRequest(replace(outside, ask=engine, author=author), brief, engine.estimate(brief))


def _ask_engine(
    notebook: Notebook, request: DraftRequest, step: Step, after: Callable[[LedgerRun], None]
) -> Reply:
    """Send a request, and record its cost, with an answer or without. Raises CuratorFailed,
    StateUnusable, and what `step` raises.
    """
    author, environment = request.outside.author, notebook.surroundings

    def pay(usage: EngineUsage) -> None:
        run = new_run(environment.now.isoformat(), author, usage, 0, 0)
        after(run)
        # an answer matters more than recording its cost
        with suppress(StateUnusable):
            record(environment.state, notebook.place.root, run)

    engine = replace(request.outside.ask, lost=pay)
    reply = engine(Sent(NOTHING.stable, request.told.text), step)
    pay(reply.usage)
    return reply


def _fall_back(statements: tuple[HandoffStatement, ...], *why: str) -> Composed:
    return Composed(statements, RULES, (*why, "The rules composed this handoff instead."))


def _list_rejected(drafted: ModelDraft) -> Sequence[str]:
    rejected = drafted.refused
    lines = [
        f"Rejected from the draft: {refusal.what}: {refusal.why}"
        for refusal in rejected[:_MAX_SHOWN]
    ]
    if len(rejected) > _MAX_SHOWN:
        lines.append(f"Rejected from the draft: {len(rejected) - _MAX_SHOWN} more")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class BeforeDraft:
    """What is known before an engine drafts."""

    leaving: Egress | None = None
    """None where nothing is sent."""
    left_out: int = 0
    """Facts that do not fit into what is sent."""
    why_not: str = ""
    """Why the engine cannot be used, and what to do; "" where it can."""


def look_before_draft(notebook: Notebook, engine: EngineSettings, facts: Facts) -> BeforeDraft:
    """Return what is known before the engine of these settings drafts a handoff of `facts`."""
    try:
        outside = outside_of(notebook.surroundings, engine)
    except WrongUsage as error:
        return BeforeDraft(why_not=error.message)
    if outside is None:
        return BeforeDraft()
    request = asked_of(notebook, outside, facts)
    egress = Egress(
        request.outside,
        request.told.text,
        request.estimate,
        request.outside.ask.gate.left(),
        request.told.redaction.told(),
        new_program(notebook.surroundings, outside),
    )
    return BeforeDraft(egress, request.told.left_out, why_not(egress))
