"""`ricordo review`: opens the notebook on today's review; without a terminal prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory, add_project, memory_path, with_project
from ricordo.cli.changing import begin_shown
from ricordo.cli.opening import look_reported, open_notebook
from ricordo.cli.streams import can_show_screen
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.review import Item, Queue
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """The few notes that are worth a look today: what speaks against them, then those that
nobody has confirmed for long, then what is new. Opens the notebook on them."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `review`."""
    add_memory(parser)
    add_json(parser)
    add_project(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Open the notebook on the review, or print it where no person sits at a terminal."""
    surroundings = with_project(options, surroundings)
    if not options.json and can_show_screen():
        from ricordo.tui.start import start

        return start(memory_path(options), surroundings, opens_review=True)
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe import describe_review
    from ricordo.notebook.review import review

    notebook = open_notebook(options, surroundings)
    begin_shown(notebook)
    queue = review(notebook, look_reported(notebook))
    if options.json:
        print_json(describe_review(queue))
    else:
        print_lines(_lines(queue))
    return 0


def _lines(queue: Queue) -> list[str]:
    """Return the queue as a person reads it in a pipe."""
    if not queue.items:
        return [f"Nothing is to be reviewed today. {_next(queue)}"]
    lines = [f"{len(queue.items)} to review today"]
    for item in queue.items:
        lines += ["", *_item(item)]
    more = f"{queue.more} more are due. " if queue.more else ""
    return [*lines, "", f"{more}{_next(queue)}"]


def _item(item: Item) -> list[str]:
    share = f"  retention {item.retention.share:.2f}" if item.retention else ""
    new = "  new" if item.why.name == "NEW" else ""
    lines = [f"{one_line(item.note.path)}{share}{new}"]
    lines += [f"  {it.rule}: {one_line(it.message)}" for it in item.doubts]
    return lines + [f"  {reason}" for reason in (item.retention.reasons if item.retention else ())]


def _next(queue: Queue) -> str:
    day = queue.next_due
    return f"The next one comes up on {day:%-d %B %Y}." if day else "No other one is to come up."
