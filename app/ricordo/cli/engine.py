"""The engine that a curation asks: chosen by words, told of before and after it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import is_at_terminal, is_confirmed, note_change, print_lines, tell
from ricordo.cli.proposals import brief_lines
from ricordo.errors import CuratorFailed, WrongUsage
from ricordo.settings.settings import ENGINE, ENGINES
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.curation.engines.external import Estimate
    from ricordo.llm.program import Program
    from ricordo.llm.redaction import Redacted
    from ricordo.services.curation.curation import Curation
    from ricordo.services.curation.preparation import Prepared
    from ricordo.services.engines.engines import Outside
    from ricordo.services.workspace.notebook import Notebook

_MOST = 20
"""Values that are told one by one."""


def add_letting_out(parser: ArgumentParser) -> None:
    """Declare the words that let a value out, or keep it back again."""
    parser.add_argument(
        "--allow",
        metavar="ID",
        help="let a value leave that is kept back of the brief, in every curation of this memory; "
        "it is named by the id that --brief tells; nobody is asked",
    )
    parser.add_argument(
        "--withhold", metavar="ID", help="keep back again what was let out; nobody is asked"
    )


def decide(options: Namespace, notebook: Notebook, prepared: Prepared) -> int:
    """Do what the words say of a value; return the exit code. Raises WrongUsage, StateUnusable."""
    from ricordo.services.engines.redaction import allow_value, allowed_values, withhold_value

    if options.allow:
        brief = prepared.brief
        _, kept_back = prepared.redaction.foreseen(brief.stable, brief.changing)
        found = next((it for it in kept_back if it.fingerprint == options.allow), None)
        if found is None:
            raise WrongUsage(f"Nothing with the id “{one_line(options.allow)}” is kept back here.")
        allow_value(notebook, found)
        note_change(f"may leave from now on: {_named(found)}")
        print_lines([f"may leave from now on: {_named(found)}"])
    if options.withhold:
        decided = allowed_values(notebook).get(options.withhold)
        if decided is None:
            raise WrongUsage(f"Nothing with the id “{one_line(options.withhold)}” was let out.")
        withhold_value(notebook, options.withhold)
        note_change(f"kept back from now on: {decided.reason}")
        print_lines([f"kept back from now on: {one_line(decided.reason)}"])
    return 0


def let_out_lines(notebook: Notebook) -> Iterator[str]:
    """Yield what was let out of this memory. Raises StateUnusable."""
    from ricordo.services.engines.redaction import allowed_values

    for name, it in allowed_values(notebook).items():
        yield f"let out: {one_line(it.reason)} ({name})"


def kept_back_lines(found: Iterable[Redacted]) -> Iterator[str]:
    """Yield what was kept back, what stands in one note or session together."""
    values = list(found)
    by_places: dict[str, list[Redacted]] = {}
    for it in values[:_MOST]:
        by_places.setdefault(_from(it), []).append(it)
    for places, those in by_places.items():
        yield f"kept back{places}:"
        yield from (f"  {it.kind}, {_times(it)} ({it.fingerprint})" for it in those)
    if len(values) > _MOST:
        yield f"kept back: {len(values) - _MOST} more"


def _named(it: Redacted) -> str:
    return f"{it.kind}{_from(it)}, {_times(it)}"


def _times(it: Redacted) -> str:
    return "once" if it.count == 1 else f"{it.count} times"


def _from(it: Redacted) -> str:
    """Return where a value stands, in a few words; "" where no place is known."""
    from ricordo.services.sessions.quotes import place_in_words

    places = list(dict.fromkeys(map(place_in_words, it.places)))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f" from {places[0]}{more}" if places else ""


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
    from ricordo.services.engines.choice import chosen

    engine, model = options.engine or "", options.model or ""
    outside = chosen(notebook, engine, model, is_automatic=not is_at_terminal())
    if outside is not None and outside.remark:
        tell([outside.remark])
    return outside


def let_run(notebook: Notebook, outside: Outside | None, *, is_meant: bool) -> None:
    """Show the line of a program before its first run, and keep that it may be run where that
    `is_meant` or the person says so. Raises CuratorFailed and StateUnusable.
    """
    from ricordo.services.engines.choice import allow_program, new_program

    environment = notebook.surroundings
    program = new_program(environment, outside)
    if program is None:
        return
    told = new_program_lines(program)
    if is_meant:
        tell(told)
    elif not is_confirmed(told, _CONFIRMATION, "let it run, now and later"):
        raise CuratorFailed(f"{told[0]}. At a terminal you are asked; --yes lets it run.")
    allow_program(environment, program)


def new_program_lines(program: Program) -> list[str]:
    """Return what the person has to see of a program before its first run: its line first."""
    line = f"This program was not run before: {one_line(program.line)}"
    return [line] if program.is_known else [line, _NOT_KNOWN]


def propose_told(notebook: Notebook, prepared: Prepared, outside: Outside | None) -> Curation:
    """Return what the engine proposes, and tell on stderr what that costs and what was kept back.
    Raises CuratorFailed and StateUnusable.
    """
    from ricordo.cli.output import progress_line
    from ricordo.services.curation.curation import propose_prepared
    from ricordo.services.engines.engines import rules
    from ricordo.services.engines.preview import answered, told_of_parts

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
    from ricordo.curation.engines.llm import AskModel
    from ricordo.llm.prices import told
    from ricordo.llm.redaction import shown_address

    ask = outside.ask
    server = shown_address(ask.server.base_url) if isinstance(ask, AskModel) else ""
    who = f"{outside.author.model} at {server}" if server else outside.author.model
    most = told(estimate.usd) if estimate.usd is None else f"at most {told(estimate.usd)}"
    sent, written = f"{estimate.input_tokens:,}", f"{estimate.output_tokens:,}"
    return f"{who} is asked: about {sent} tokens are sent, at most {written} written, {most}"
