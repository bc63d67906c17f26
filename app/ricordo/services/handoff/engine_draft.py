"""Drafting a handoff with an engine: a model, or a program of the user's.

The request goes through the one gate, is redacted as a whole, and its cost is recorded in the
ledger. Without a usable answer the handoff is the one that the rules composed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import EngineUsage, Step
from ricordo.curation.engines.external import EMPTY_BRIEF, EngineReply, Estimate, SealedBrief
from ricordo.curation.form import ModelForm
from ricordo.curation.prompts import HANDOFF, load_prompt
from ricordo.curation.proposal import make_curator
from ricordo.errors import CuratorFailed, StateUnusable, WrongUsage
from ricordo.handoff.document import HandoffStatement
from ricordo.handoff.draft import DRAFT_FORM, DraftBrief, ModelDraft, merge_draft, write_brief
from ricordo.handoff.facts import Facts
from ricordo.services.engines.choice import get_target
from ricordo.services.engines.engines import EngineTarget
from ricordo.services.engines.preview import Egress, find_disabled_reason, preview_egress
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.handoff.handoff import RULES_ENGINE, ComposedStatements, Composer
from ricordo.services.ledger.ledger import LedgerRun, new_run, record_run
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings

MAX_SENT_TOKENS = 40_000
"""Tokens of facts that are sent at most; the caps may allow fewer."""
_DRAFT_FORM = ModelForm(DRAFT_FORM, lambda value: value["statements"])
_MAX_SHOWN = 5
"""Rejected statements that are listed one by one."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """A request to an engine that was not sent yet."""

    target: EngineTarget
    brief: DraftBrief
    estimate: Estimate


def compose_by_engine(
    target: EngineTarget,
    step: Step = lambda _: None,
    before: Callable[[DraftRequest], None] = lambda _: None,
    after: Callable[[LedgerRun], None] = lambda _: None,
) -> Composer:
    """Return a composer that has `target` draft a handoff. `before` gets the request and its
    estimated cost, `step` reports progress, and `after` gets the actual cost, with an answer or
    without; what the first two raise is raised by the composer.
    """

    def composer(
        notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
    ) -> ComposedStatements:
        request = build_request(notebook, target, facts)
        before(request)
        try:
            reply = _ask_engine(notebook, request, step, after)
        except (CuratorFailed, StateUnusable) as error:
            return _fall_back(statements, error.message)
        drafted = merge_draft(statements, facts, request.brief, reply.value)
        if not drafted.model_count:
            reason = "No statement of the model's draft is usable."
            return _fall_back(statements, *_list_rejected(drafted), reason)
        author = request.target.author
        return ComposedStatements(
            drafted.statements, f"{author.name} {author.model}", _list_rejected(drafted)
        )

    return composer


def build_request(notebook: Notebook, target: EngineTarget, facts: Facts) -> DraftRequest:
    """Return the request to `target` about `facts`: nothing is sent."""
    prompt = load_prompt(HANDOFF, notebook.environment.config)
    engine = replace(target.ask, prompt=prompt, form=_DRAFT_FORM)
    author = make_curator(target.author.name, target.author.model, prompt.version)
    brief = write_brief(
        facts, begin_redaction(notebook), min(engine.max_brief_tokens, MAX_SENT_TOKENS)
    )
    return DraftRequest(replace(target, ask=engine, author=author), brief, engine.estimate(brief))


def _ask_engine(
    notebook: Notebook, request: DraftRequest, step: Step, after: Callable[[LedgerRun], None]
) -> EngineReply:
    """Send a request, and record its cost, with an answer or without. Raises CuratorFailed,
    StateUnusable, and what `step` raises.
    """
    author, environment = request.target.author, notebook.environment

    def pay(usage: EngineUsage) -> None:
        run = new_run(environment.now.isoformat(), author, usage, 0, 0)
        after(run)
        # an answer matters more than recording its cost
        with suppress(StateUnusable):
            record_run(environment.state, notebook.place.root, run)

    engine = replace(request.target.ask, record_lost=pay)
    reply = engine(SealedBrief(EMPTY_BRIEF.stable, request.brief.text), step)
    pay(reply.usage)
    return reply


def _fall_back(statements: tuple[HandoffStatement, ...], *why: str) -> ComposedStatements:
    return ComposedStatements(
        statements, RULES_ENGINE, (*why, "The rules composed this handoff instead.")
    )


def _list_rejected(drafted: ModelDraft) -> Sequence[str]:
    rejected = drafted.rejected
    lines = [
        f"Rejected from the draft: {refusal.what}: {refusal.reason}"
        for refusal in rejected[:_MAX_SHOWN]
    ]
    if len(rejected) > _MAX_SHOWN:
        lines.append(f"Rejected from the draft: {len(rejected) - _MAX_SHOWN} more")
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class DraftPreview:
    """What is known before an engine drafts."""

    egress: Egress | None = None
    """None where nothing is sent."""
    left_out: int = 0
    """Facts that do not fit into what is sent."""
    disabled_reason: str = ""
    """Why the engine cannot be used, and what to do; "" where it can."""


def preview_draft(notebook: Notebook, engine: EngineSettings, facts: Facts) -> DraftPreview:
    """Return what is known before the engine of these settings drafts a handoff of `facts`."""
    try:
        target = get_target(notebook.environment, engine)
    except WrongUsage as error:
        return DraftPreview(disabled_reason=error.message)
    if target is None:
        return DraftPreview()
    request = build_request(notebook, target, facts)
    brief = request.brief
    egress = preview_egress(notebook, request.target, brief, brief.redaction, brief.text)
    return DraftPreview(egress, brief.left_out, find_disabled_reason(egress))
