"""`ricordo inbox`: what others changed since the last visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import apply_reported, begin_reported, begin_shown
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.inbox import Arrival, Inbox
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "What agents and others changed since the last visit; looking does not end the visit."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `inbox`."""
    add_memory(parser)
    add_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--revert", metavar="NOTE", help="take back what others did to this note")
    act.add_argument("--keep-all", action="store_true", help="all of it is fine: end the visit")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the inbox, revert one note, or keep all."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.notebook.describe import describe_inbox
    from ricordo.notebook.inbox import close_visit, inbox
    from ricordo.notebook.revert import revert_all
    from ricordo.notebook.writers import learn_writers, with_writers

    notebook = open_notebook(options, surroundings)
    changes = options.revert or options.keep_all
    memory = (begin_reported if changes else begin_shown)(notebook)
    learn_writers(notebook, memory)
    seen = with_writers(notebook, inbox(notebook))
    if options.revert:
        arrival = _pick(seen, options.revert)
        change_set = revert_all(arrival, seen, memory)
        apply_reported(notebook, change_set, f"reverted {one_line(arrival.path)}")
    elif options.keep_all:
        close_visit(notebook, seen)
        note_change(f"kept {len(seen.waiting)}")
        print_lines([f"kept {len(seen.waiting)}; from here on counts as new what comes now"])
    elif options.json:
        print_json(describe_inbox(seen))
    else:
        print_lines(_lines(notebook, seen))
    return 0


def _pick(seen: Inbox, name: str) -> Arrival:
    """Return the arrival that `name` means: by path, file name, or name without ending."""
    from ricordo.errors import AmbiguousNote, NoteNotFound
    from ricordo.memory.note import stem

    found = [it for it in seen.arrivals if name in (it.path, it.origin)] or [
        it for it in seen.arrivals if name.removesuffix(".md") == stem(it.path)
    ]
    paths = sorted({arrival.path for arrival in found})
    if len(paths) > 1:
        raise AmbiguousNote(name, paths)
    if not found:
        raise NoteNotFound(f"Nothing in the inbox is called “{visible(name)}”.")
    return found[-1]


def _state(arrival: Arrival) -> str:
    """Return what was decided of an arrival; "" where nothing was."""
    if arrival.reverted:
        return " (reverted)"
    if arrival.kept:
        return " (kept)"
    return " (later: new again at the next visit)" if arrival.put_off else ""


def _lines(notebook: Notebook, seen: Inbox) -> list[str]:
    from ricordo.memory.diff import rows

    if not seen.arrivals:
        return ["Nothing new since the last visit."]
    lines = [f"{len(seen.waiting)} new since {seen.since[:16].replace('T', ' ') or 'the start'}"]
    for arrival in seen.arrivals:
        origin = f" from {one_line(arrival.origin)}" if arrival.origin else ""
        lines += [
            "",
            f"{arrival.kind} {one_line(arrival.path)}{origin}  {arrival.at[:16].replace('T', ' ')}"
            f"  {one_line(arrival.by)}{_state(arrival)}",
        ]
        changes = [
            f"  {row.sign} {visible(row.text)}{f'  ({row.ending})' if row.ending else ''}"
            for row in rows(arrival.old_text, arrival.new_text)
        ]
        if not changes and arrival.before != arrival.after and arrival.kind == "changed":
            changes = ["  Only the value of a credential changed, which is not printed."]
        lines += changes
    return lines
