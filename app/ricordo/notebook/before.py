"""What a person should know before an engine is asked: nothing was sent, nothing has run yet."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.curator.asking import Estimate, Measured
from ricordo.curator.asking_model import AskModel
from ricordo.curator.brief import BUDGET
from ricordo.curator.engine import Progress, Step
from ricordo.errors import CuratorFailed, WrongUsage
from ricordo.model.gate import Left
from ricordo.model.prices import told
from ricordo.model.programs import Program
from ricordo.model.redaction import Redacted, Redaction
from ricordo.notebook.chosen import new_program, outside_of, prepare_for
from ricordo.notebook.models import Outside
from ricordo.notebook.open import Notebook
from ricordo.notebook.preparing import Prepared
from ricordo.notebook.spoken import Scope
from ricordo.settings.settings import EngineSettings

_CHECKING = Progress("looking what may leave")


@dataclass(frozen=True, slots=True)
class Leaving:
    """What leaves where a model or a program is asked, and what that may cost."""

    outside: Outside
    text: str
    """The brief as it leaves."""
    estimate: Estimate
    left: Left
    """What the caps leave."""
    kept_back: tuple[Redacted, ...]
    """What does not leave."""
    program: Program | None
    """A program that would run for the first time: the person has to see its line."""


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of a curation before it runs."""

    prepared: Prepared
    room: int
    """How many tokens the brief may have."""
    leaving: Leaving | None = None
    """None where nothing leaves."""
    why_not: str = ""
    """Why the engine cannot be asked, and what to do; "" where nothing speaks against it."""


def look_before(
    notebook: Notebook, own: EngineSettings, scope: Scope, step: Step = lambda _: None
) -> Before:
    """Return what is known before the engine that is set as `own` curates in the `scope`. Raises as
    `prepare`.
    """
    memory = notebook.read()
    try:
        outside = outside_of(notebook.surroundings, own)
    except WrongUsage as error:
        prepared = prepare_for(None, notebook, memory, scope, step)
        return Before(prepared, BUDGET, why_not=error.message)
    prepared = prepare_for(outside, notebook, memory, scope, step)
    if outside is None:
        return Before(prepared, BUDGET)
    step(_CHECKING)
    brief, redaction = prepared.brief, prepared.redaction
    leaving = leaving_of(notebook, outside, brief, redaction, brief.stable, brief.changing)
    return Before(prepared, outside.ask.room, leaving, why_not(leaving))


def leaving_of(
    notebook: Notebook, outside: Outside, brief: Measured, redaction: Redaction, *texts: str
) -> Leaving:
    """Return what leaves where the `texts` that a `brief` is made of are sent, by the redaction
    that they were composed with.
    """
    ask = outside.ask
    text, kept_back = redaction.foreseen(*texts)
    program = new_program(notebook.surroundings, outside)
    return Leaving(outside, text, ask.estimate(brief), ask.gate.left(), kept_back, program)


def told_of_parts(outside: Outside) -> str:
    """Return what an engine may cost that has to be asked in parts; "" where it never is."""
    if not isinstance(outside.ask, AskModel):
        return ""
    most = outside.ask.most
    tokens = f"{most.input_tokens + most.output_tokens:,} tokens"
    cost = f"{tokens}, {told(None)}" if most.usd is None else told(most.usd)
    return f"Not taken as a whole, it is asked in parts: at most {cost} in all."


def why_not(leaving: Leaving) -> str:
    """Return why an engine cannot be asked, and what to do; "" where nothing speaks against it."""
    ask, estimate = leaving.outside.ask, leaving.estimate
    try:
        ask.check()
        ask.gate.refuse_over(estimate.input_tokens, estimate.output_tokens)
    except CuratorFailed as failed:
        return failed.message
    return ""
