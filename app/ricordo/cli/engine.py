"""The engine that a curation asks: chosen by words, told of before and after it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.confirm import is_at_terminal, is_confirmed
from ricordo.cli.kept_back import kept_back_lines
from ricordo.cli.output import tell
from ricordo.cli.proposals import brief_lines
from ricordo.errors import CuratorFailed
from ricordo.settings.settings import ENGINE, ENGINES
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.curator.asking import Estimate
    from ricordo.model.programs import Program
    from ricordo.notebook.curate import Curation
    from ricordo.notebook.models import Outside
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.preparing import Prepared

_CONFIRMATION = "run"
_NOT_KNOWN = "Nothing is added to its line: turn off its memory, hooks and tools there."


def add_engine(parser: ArgumentParser, does: str = "proposes") -> None:
    """Declare the words that choose an engine, and say what it does."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"what {does}: the rules need no key and no network; anthropic asks a model; command "
        f"runs the program that is set; without it, the setting engine.use ({ENGINE.use})",
    )
    parser.add_argument(
        "--model",
        metavar="M",
        help=f"which model is asked; without it, the setting engine.model ({ENGINE.model})",
    )


def engine_of(options: Namespace, notebook: Notebook) -> Outside | None:
    """Return the engine that words and settings choose; None for the rules. Raises WrongUsage."""
    from ricordo.notebook.chosen import chosen

    engine, model = options.engine or "", options.model or ""
    outside = chosen(notebook, engine, model, is_automatic=not is_at_terminal())
    if outside is not None and outside.remark:
        tell([outside.remark])
    return outside


def let_run(notebook: Notebook, outside: Outside | None, *, is_meant: bool) -> None:
    """Show the line of a program before its first run, and keep that it may be run where that
    `is_meant` or the person says so. Raises CuratorFailed and StateUnusable.
    """
    from ricordo.notebook.chosen import allow_program, new_program

    surroundings = notebook.surroundings
    program = new_program(surroundings, outside)
    if program is None:
        return
    told = new_program_lines(program)
    if is_meant:
        tell(told)
    elif not is_confirmed(told, _CONFIRMATION, "let it run, now and later"):
        raise CuratorFailed(f"{told[0]}. At a terminal you are asked; --yes lets it run.")
    allow_program(surroundings, program)


def new_program_lines(program: Program) -> list[str]:
    """Return what the person has to see of a program before its first run: its line first."""
    line = f"This program was not run before: {one_line(program.line)}"
    return [line] if program.is_known else [line, _NOT_KNOWN]


def propose_told(notebook: Notebook, prepared: Prepared, outside: Outside | None) -> Curation:
    """Return what the engine proposes, and tell on stderr what that costs and what was kept back.
    Raises CuratorFailed and StateUnusable.
    """
    from ricordo.cli.progress import progress_line
    from ricordo.notebook.before import told_of_parts
    from ricordo.notebook.curate import propose_prepared
    from ricordo.notebook.describe_run import answered
    from ricordo.notebook.engines import rules

    if outside is not None:
        left_out = (line.strip() for line in brief_lines(prepared.brief)[1:])
        estimate = estimate_line(outside, outside.ask.estimate(prepared.brief))
        tell(filter(None, (*left_out, estimate, told_of_parts(outside))))
    try:
        with progress_line() as step:
            curation = propose_prepared(notebook, prepared, step, outside or rules)
    finally:
        # it has left, whatever became of the answer
        tell(kept_back_lines(prepared.redaction.told()))
    if outside is not None:
        tell([answered(curation.run)])
    return curation


def estimate_line(outside: Outside, estimate: Estimate) -> str:
    """Return what a curation may cost."""
    from ricordo.curator.asking_model import AskModel
    from ricordo.model.address import shown_address
    from ricordo.model.prices import told

    ask = outside.ask
    server = shown_address(ask.server.base_url) if isinstance(ask, AskModel) else ""
    who = f"{outside.author.model} at {server}" if server else outside.author.model
    most = told(estimate.usd) if estimate.usd is None else f"at most {told(estimate.usd)}"
    sent, written = f"{estimate.input_tokens:,}", f"{estimate.output_tokens:,}"
    return f"{who} is asked: about {sent} tokens are sent, at most {written} written, {most}"
