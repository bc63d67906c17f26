"""Preview of a curation: what would be sent, and what it may cost. Nothing is sent or run yet."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.curation.brief import BUDGET
from ricordo.curation.engine import CurationProgress, Step
from ricordo.curation.engines.external import Estimate, Measured
from ricordo.curation.engines.llm import AskModel
from ricordo.curation.proposal import RULES
from ricordo.errors import CuratorFailed, WrongUsage
from ricordo.llm.gate import RemainingBudget
from ricordo.llm.prices import told
from ricordo.llm.program import Program
from ricordo.llm.redaction import Redacted, Redaction
from ricordo.services.curation.preparation import CurationScope, Prepared
from ricordo.services.engines.choice import new_program, outside_of, prepare_for
from ricordo.services.engines.engines import Outside
from ricordo.services.ledger.ledger import LedgerRun
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings

_CHECKING = CurationProgress("checking what would be sent")


@dataclass(frozen=True, slots=True)
class Egress:
    """What is sent to a model or program, and what that may cost."""

    outside: Outside
    text: str
    """The brief as it is sent."""
    estimate: Estimate
    left: RemainingBudget
    """The remaining budget."""
    kept_back: tuple[Redacted, ...]
    """The redacted values."""
    program: Program | None
    """A program that would run for the first time: the user has to see its command line."""


@dataclass(frozen=True, slots=True)
class CurationPreview:
    """A curation before it runs."""

    prepared: Prepared
    room: int
    """The most tokens of the brief."""
    leaving: Egress | None = None
    """None where nothing is sent."""
    why_not: str = ""
    """Why the engine cannot be asked, and what to do; "" where it can."""


def look_before(
    notebook: Notebook, own: EngineSettings, scope: CurationScope, step: Step = lambda _: None
) -> CurationPreview:
    """Return the preview of a curation of the `scope` by the engine of the settings `own`. Raises
    as `prepare`.
    """
    memory = notebook.read()
    try:
        outside = outside_of(notebook.surroundings, own)
    except WrongUsage as error:
        prepared = prepare_for(None, notebook, memory, scope, step)
        return CurationPreview(prepared, BUDGET, why_not=error.message)
    prepared = prepare_for(outside, notebook, memory, scope, step)
    if outside is None:
        return CurationPreview(prepared, BUDGET)
    step(_CHECKING)
    brief, redaction = prepared.brief, prepared.redaction
    leaving = leaving_of(notebook, outside, brief, redaction, brief.stable, brief.changing)
    return CurationPreview(prepared, outside.ask.room, leaving, why_not(leaving))


def leaving_of(
    notebook: Notebook, outside: Outside, brief: Measured, redaction: Redaction, *texts: str
) -> Egress:
    """Return what is sent with the `texts` of a `brief`, by the redaction that they were composed
    with.
    """
    ask = outside.ask
    text, kept_back = redaction.foreseen(*texts)
    program = new_program(notebook.surroundings, outside)
    return Egress(outside, text, ask.estimate(brief), ask.gate.left(), kept_back, program)


def told_of_parts(outside: Outside) -> str:
    """Return the most that asking in parts may cost, in words; "" for an engine that never does."""
    if not isinstance(outside.ask, AskModel):
        return ""
    most = outside.ask.most
    tokens = f"{most.input_tokens + most.output_tokens:,} tokens"
    cost = f"{tokens}, {told(None)}" if most.usd is None else told(most.usd)
    return f"If rejected as a whole, the brief is sent in parts: at most {cost} in all."


def why_not(leaving: Egress) -> str:
    """Return why an engine cannot be asked, and what to do; "" where it can."""
    ask, estimate = leaving.outside.ask, leaving.estimate
    try:
        ask.check()
        ask.gate.refuse_over(estimate.input_tokens, estimate.output_tokens)
    except CuratorFailed as failed:
        return failed.message
    return ""


def who(run: LedgerRun) -> str:
    """Return the name of a run's engine for a sentence."""
    return "the rules" if run.engine == RULES else run.model


def cost_of(*usd: float | None) -> str:
    """Return the sum of costs in a few words; unknown where one of them is."""
    known = [it for it in usd if it is not None]
    return f"cost {told(sum(known))}" if len(known) == len(usd) else told(None)


def tokens_of(run: LedgerRun) -> str:
    """Return the input and output tokens of a run in words; "" for none."""
    if not run.input_tokens and not run.output_tokens:
        return ""
    return f"{run.input_tokens:,} tokens sent, {run.output_tokens:,} written"


def answered(run: LedgerRun) -> str:
    """Return the cost of an answer in words."""
    return ", ".join(filter(None, (f"{who(run)} answered: {tokens_of(run)}", told(run.usd))))
