"""Engine options of commands, and what is printed before and after an engine is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.output import (
    is_at_terminal,
    is_confirmed,
    note_change,
    print_messages,
)
from ricordo.cli.proposals import render_brief
from ricordo.errors import Unconfirmed, WrongUsage
from ricordo.settings.settings import ENGINE, ENGINES
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.curation.engines.external import Estimate
    from ricordo.llm.program import Program
    from ricordo.llm.redaction import RedactedValue
    from ricordo.services.curation.curation import Curation
    from ricordo.services.curation.preparation import PreparedCuration
    from ricordo.services.engines.engines import EngineTarget
    from ricordo.services.workspace.notebook import Notebook

_MOST = 20
"""Redacted values that are listed one by one."""


def add_redaction_options(parser: ArgumentParser) -> None:
    """Add the options that allow a redacted value, or redact it again."""
    parser.add_argument(
        "--allow",
        metavar="ID",
        help="allow a redacted value to be sent in every curation of this memory; --brief shows "
        "the ids; no engine is asked",
    )
    parser.add_argument(
        "--withhold", metavar="ID", help="redact an allowed value again; no engine is asked"
    )


def decide_redaction(options: Namespace, notebook: Notebook, prepared: PreparedCuration) -> int:
    """Allow or redact a value; return the exit code. Raises WrongUsage and StateUnusable."""
    from ricordo.cli.change import Changed, print_change
    from ricordo.services.engines.redaction import allow_value, allowed_values, withhold_value

    decisions: dict[Changed, str] = {}
    if options.allow:
        brief = prepared.brief
        _, redacted = prepared.redaction.preview(brief.stable, brief.changing)
        value = next((each for each in redacted if each.fingerprint == options.allow), None)
        if value is None:
            raise WrongUsage(f"No redacted value has the id “{make_one_line(options.allow)}”.")
        allow_value(notebook, value)
        done = f"allowed to be sent from now on: {_describe(value)}"
        note_change(done)
        decisions[Changed("allowed", id=options.allow)] = done
    if options.withhold:
        allowed = allowed_values(notebook).get(options.withhold)
        if allowed is None:
            raise WrongUsage(f"No allowed value has the id “{make_one_line(options.withhold)}”.")
        withhold_value(notebook, options.withhold)
        done = f"redacted from now on: {make_one_line(allowed.reason)}"
        note_change(done)
        decisions[Changed("withheld", id=options.withhold)] = done
    print_change(options, "; ".join(decisions.values()), decisions)
    return 0


def describe_redaction(
    notebook: Notebook, redacted: Iterable[RedactedValue]
) -> dict[str, list[dict[str, Any]]]:
    """Return the `redacted` values and those that are allowed to be sent, as `--json` prints them.
    Raises StateUnusable.
    """
    from ricordo.services.engines.redaction import allowed_values

    return {
        "redacted": [
            {
                "id": value.fingerprint,
                "kind": value.kind,
                "places": list(value.places),
                "count": value.count,
            }
            for value in redacted
        ],
        "allowed": [
            {"id": id, "kind": allowed.reason} for id, allowed in allowed_values(notebook).items()
        ],
    }


def render_allowed(notebook: Notebook) -> Iterator[str]:
    """Yield a line for each allowed value of this memory. Raises StateUnusable."""
    from ricordo.services.engines.redaction import allowed_values

    for id, allowed in allowed_values(notebook).items():
        yield f"allowed: {make_one_line(allowed.reason)} ({id})"


def render_redacted(redacted: Iterable[RedactedValue]) -> Iterator[str]:
    """Yield lines on redacted values, grouped by the note or session they are from."""
    values = list(redacted)
    by_source: dict[str, list[RedactedValue]] = {}
    for value in values[:_MOST]:
        by_source.setdefault(_source(value), []).append(value)
    for source, group in by_source.items():
        yield f"redacted{source}:"
        yield from (f"  {value.kind}, {_times(value)} ({value.fingerprint})" for value in group)
    if len(values) > _MOST:
        yield f"redacted: {len(values) - _MOST} more"


def _describe(value: RedactedValue) -> str:
    return f"{value.kind}{_source(value)}, {_times(value)}"


def _times(value: RedactedValue) -> str:
    return "once" if value.count == 1 else f"{value.count} times"


def _source(value: RedactedValue) -> str:
    """Return where a value is from, in a few words; "" if no place is known."""
    from ricordo.services.sessions.quotes import describe_source

    places = list(dict.fromkeys(map(describe_source, value.places)))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f" from {places[0]}{more}" if places else ""


_CONFIRMATION = "run"
_NOT_KNOWN = "Ricordo adds no options to it: turn off its memory, hooks and tools yourself."


def add_engine(parser: ArgumentParser, does: str = "proposes") -> None:
    """Add the options that choose an engine; `does` says what it does."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"what {does}: rules needs no key and no network; anthropic asks a model; command "
        f"runs the configured program (default: the setting engine.use, {ENGINE.use})",
    )
    parser.add_argument(
        "--model",
        metavar="M",
        help=f"model to ask (default: the setting engine.model, {ENGINE.model})",
    )


def choose_engine(
    options: Namespace, notebook: Notebook, *, is_check: bool = False
) -> EngineTarget | None:
    """Return the engine of options and settings, to check notes if `is_check`; None for the rules.
    Raises WrongUsage.
    """
    from ricordo.services.engines.choice import choose_engine

    engine, model = options.engine or "", options.model or ""
    is_automatic = not is_at_terminal()
    target = choose_engine(notebook, engine, model, is_automatic=is_automatic, is_check=is_check)
    if target is not None and target.warning:
        print_messages([target.warning])
    return target


def confirm_program(notebook: Notebook, target: EngineTarget | None, *, is_meant: bool) -> None:
    """Show the command line of a program before its first run, and allow it if `is_meant` or the
    user confirms. Raises Unconfirmed and StateUnusable.
    """
    from ricordo.services.engines.choice import allow_program, find_new_program

    environment = notebook.environment
    program = find_new_program(environment, target)
    if program is None:
        return
    lines = render_new_program(program)
    if is_meant:
        print_messages(lines)
    elif not is_confirmed(lines, _CONFIRMATION, "allow it to run, now and later"):
        raise Unconfirmed(f"{lines[0]}.", hint="Confirm it at a terminal, or allow it with --yes.")
    allow_program(environment, program)


def render_new_program(program: Program) -> list[str]:
    """Return the lines to show before the first run of a program: its command line first."""
    line = f"This program was not run before: {make_one_line(program.line)}"
    return [line] if program.is_known else [line, _NOT_KNOWN]


def propose(
    notebook: Notebook, prepared: PreparedCuration, target: EngineTarget | None
) -> Curation:
    """Return what the engine proposes; print cost and redactions on stderr. Raises CuratorFailed
    and StateUnusable.
    """
    from ricordo.cli.output import show_progress
    from ricordo.services.curation.curation import propose_prepared
    from ricordo.services.engines.engines import make_rules_engine
    from ricordo.services.engines.preview import describe_parts_cost, format_answer

    if target is not None:
        left_out = (line.strip() for line in render_brief(prepared.brief)[1:])
        estimate = render_estimate(target, target.ask.estimate(prepared))
        print_messages(filter(None, (*left_out, estimate, describe_parts_cost(target))))
    try:
        with show_progress() as step:
            curation = propose_prepared(notebook, prepared, step, target or make_rules_engine)
    finally:
        # it was sent, whatever the answer is
        print_messages(render_redacted(prepared.redaction.list_redacted()))
    if target is not None:
        print_messages([format_answer(curation.run)])
    return curation


def render_estimate(target: EngineTarget, estimate: Estimate) -> str:
    """Return a line on what asking an engine may cost."""
    from ricordo.curation.engines.llm import ModelClient
    from ricordo.llm.prices import format_cost
    from ricordo.llm.redaction import mask_address

    ask = target.ask
    server = mask_address(ask.server.base_url) if isinstance(ask, ModelClient) else ""
    model = f"{target.author.model} at {server}" if server else target.author.model
    most = (
        format_cost(estimate.usd)
        if estimate.usd is None
        else f"at most {format_cost(estimate.usd)}"
    )
    sent, written = f"{estimate.input_tokens:,}", f"{estimate.output_tokens:,}"
    return f"asking {model}: about {sent} tokens sent, at most {written} written, {most}"
