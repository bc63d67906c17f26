"""What is kept back of a brief, told by fingerprints and never by values, and what is let out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import note_change, print_lines
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.model.redaction import Redacted
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.preparing import Prepared

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
    from ricordo.notebook.redacting import allow_value, allowed_values, withhold_value

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
    from ricordo.notebook.redacting import allowed_values

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
    from ricordo.notebook.quoted import place_in_words

    places = list(dict.fromkeys(map(place_in_words, it.places)))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f" from {places[0]}{more}" if places else ""
