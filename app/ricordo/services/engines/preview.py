"""What a person should know before an engine is asked: nothing was sent, nothing has run yet."""

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

_CHECKING = CurationProgress("looking what may leave")


@dataclass(frozen=True, slots=True)
class Egress:
    """What leaves where a model or a program is asked, and what that may cost."""

    outside: Outside
    text: str
    """The brief as it leaves."""
    estimate: Estimate
    left: RemainingBudget
    """What the caps leave."""
    kept_back: tuple[Redacted, ...]
    """What does not leave."""
    program: Program | None
    """A program that would run for the first time: the person has to see its line."""


@dataclass(frozen=True, slots=True)
class CurationPreview:
    """What is known of a curation before it runs."""

    prepared: Prepared
    room: int
    """How many tokens the brief may have."""
    leaving: Egress | None = None
    """None where nothing leaves."""
    why_not: str = ""
    """Why the engine cannot be asked, and what to do; "" where nothing speaks against it."""


def look_before(
    notebook: Notebook, own: EngineSettings, scope: CurationScope, step: Step = lambda _: None
) -> CurationPreview:
    """Return what is known before the engine that is set as `own` curates in the `scope`. Raises as
    `prepare`.
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
    """Return what leaves where the `texts` that a `brief` is made of are sent, by the redaction
    that they were composed with.
    """
    ask = outside.ask
    text, kept_back = redaction.foreseen(*texts)
    program = new_program(notebook.surroundings, outside)
    return Egress(outside, text, ask.estimate(brief), ask.gate.left(), kept_back, program)


def told_of_parts(outside: Outside) -> str:
    """Return what an engine may cost that has to be asked in parts; "" where it never is."""
    if not isinstance(outside.ask, AskModel):
        return ""
    most = outside.ask.most
    tokens = f"{most.input_tokens + most.output_tokens:,} tokens"
    cost = f"{tokens}, {told(None)}" if most.usd is None else told(most.usd)
    return f"Not taken as a whole, it is asked in parts: at most {cost} in all."


def why_not(leaving: Egress) -> str:
    """Return why an engine cannot be asked, and what to do; "" where nothing speaks against it."""
    ask, estimate = leaving.outside.ask, leaving.estimate
    try:
        ask.check()
        ask.gate.refuse_over(estimate.input_tokens, estimate.output_tokens)
    except CuratorFailed as failed:
        return failed.message
    return ""


def who(run: LedgerRun) -> str:
    """Return who was asked, as a sentence names it."""
    return "the rules" if run.engine == RULES else run.model


def cost_of(*usd: float | None) -> str:
    """Return what costs are in all, in a few words; not known where one of them is not."""
    known = [it for it in usd if it is not None]
    return f"cost {told(sum(known))}" if len(known) == len(usd) else told(None)


def tokens_of(run: LedgerRun) -> str:
    """Return what was sent and written; "" for what costs no tokens."""
    if not run.input_tokens and not run.output_tokens:
        return ""
    return f"{run.input_tokens:,} tokens sent, {run.output_tokens:,} written"


def answered(run: LedgerRun) -> str:
    """Return what an answer cost."""
    return ", ".join(filter(None, (f"{who(run)} answered: {tokens_of(run)}", told(run.usd))))
