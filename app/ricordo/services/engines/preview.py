"""Preview of a curation: what would be sent, and what it may cost. Nothing is sent or run yet."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.curation.brief import BUDGET
from ricordo.curation.engine import CurationProgress, Step
from ricordo.curation.engines.external import Estimate, Measured
from ricordo.curation.engines.llm import ModelClient
from ricordo.curation.proposal import RULES
from ricordo.errors import CuratorFailed, WrongUsage
from ricordo.llm.gate import RemainingBudget
from ricordo.llm.prices import format_cost
from ricordo.llm.program import Program
from ricordo.llm.redaction import RedactedValue, Redaction
from ricordo.services.curation.preparation import CurationScope, PreparedCuration
from ricordo.services.engines.choice import find_new_program, get_target, prepare_for
from ricordo.services.engines.engines import EngineTarget
from ricordo.services.ledger.ledger import LedgerRun
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings

_CHECKING = CurationProgress("checking what would be sent")


@dataclass(frozen=True, slots=True)
class Egress:
    """What is sent to a model or program, and what that may cost."""

    target: EngineTarget
    text: str
    """The brief as it is sent."""
    estimate: Estimate
    remaining: RemainingBudget
    redacted: tuple[RedactedValue, ...]
    """The redacted values."""
    program: Program | None
    """A program that would run for the first time: the user has to see its command line."""


@dataclass(frozen=True, slots=True)
class CurationPreview:
    """A curation before it runs."""

    prepared: PreparedCuration
    max_brief_tokens: int
    """The most tokens of the brief."""
    egress: Egress | None = None
    """None where nothing is sent."""
    disabled_reason: str = ""
    """Why the engine cannot be asked, and what to do; "" where it can."""


def preview_curation(
    notebook: Notebook, own: EngineSettings, scope: CurationScope, step: Step = lambda _: None
) -> CurationPreview:
    """Return the preview of a curation of the `scope` by the engine of the settings `own`. Raises
    as `prepare_for`.
    """
    memory = notebook.read()
    try:
        target = get_target(notebook.environment, own, is_check=scope.is_check)
    except WrongUsage as error:
        prepared = prepare_for(None, notebook, memory, scope, step)
        return CurationPreview(prepared, BUDGET, disabled_reason=error.message)
    prepared = prepare_for(target, notebook, memory, scope, step)
    if target is None:
        return CurationPreview(prepared, BUDGET)
    step(_CHECKING)
    brief, redaction = prepared.brief, prepared.redaction
    egress = preview_egress(notebook, target, prepared, redaction, brief.stable, brief.changing)
    return CurationPreview(
        prepared, target.ask.max_brief_tokens, egress, find_disabled_reason(egress)
    )


def preview_egress(
    notebook: Notebook, target: EngineTarget, brief: Measured, redaction: Redaction, *texts: str
) -> Egress:
    """Return what is sent with the `texts` of a `brief`, by the redaction that they were composed
    with.
    """
    ask = target.ask
    text, redacted = redaction.preview(*texts)
    program = find_new_program(notebook.environment, target)
    return Egress(target, text, ask.estimate(brief), ask.gate.read_remaining(), redacted, program)


def describe_parts_cost(target: EngineTarget) -> str:
    """Return the most that asking in parts may cost, in words; "" for an engine that never does."""
    if not isinstance(target.ask, ModelClient):
        return ""
    most = target.ask.max_estimate
    tokens = f"{most.input_tokens + most.output_tokens:,} tokens"
    cost = f"{tokens}, {format_cost(None)}" if most.usd is None else format_cost(most.usd)
    return f"If rejected as a whole, the brief is sent in parts: at most {cost} in all."


def find_disabled_reason(egress: Egress) -> str:
    """Return why an engine cannot be asked, and what to do; "" where it can."""
    ask, estimate = egress.target.ask, egress.estimate
    try:
        ask.check()
        ask.gate.check_budget(estimate.input_tokens, estimate.output_tokens)
    except CuratorFailed as failed:
        return failed.message
    return ""


def name_engine(run: LedgerRun) -> str:
    """Return the name of a run's engine for a sentence."""
    return "the rules" if run.engine == RULES else run.model


def format_costs(*usd: float | None) -> str:
    """Return the sum of costs in a few words; unknown where one of them is."""
    known = [it for it in usd if it is not None]
    return f"cost {format_cost(sum(known))}" if len(known) == len(usd) else format_cost(None)


def format_tokens(run: LedgerRun) -> str:
    """Return the input and output tokens of a run in words; "" for none."""
    if not run.input_tokens and not run.output_tokens:
        return ""
    return f"{run.input_tokens:,} tokens sent, {run.output_tokens:,} written"


def format_answer(run: LedgerRun) -> str:
    """Return the cost of an answer in words."""
    return ", ".join(
        filter(None, (f"{name_engine(run)} answered: {format_tokens(run)}", format_cost(run.usd)))
    )
