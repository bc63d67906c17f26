"""`ricordo [PATH]`: opens the notebook; where the terminal cannot show it, prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.edit import begin_shown
from ricordo.cli.parser import add_json, add_memory, add_project, memory_path, with_project
from ricordo.cli.streams import can_show_screen
from ricordo.cli.workspace import look_reported, open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.services.review import Item, Queue
    from ricordo.services.workspace.environment import Environment

OPEN_SUMMARY = """The terminal notebook for the memory that AI agents keep about you.

Without PATH it opens the memory of the current directory. Commands:
  demo       open a throwaway copy of the sample memory
  list       every memory on this machine
  load       what an agent is given at session start, and what is cut off
  show       one note with all that is known of it
  search     find notes by name and by what they say
  recall     the notes an agent should read for a message
  hook       the same for agents, which call it at every message
  usage      what notes were used for, and searches without results
  lint       what is wrong with a memory; --fix makes the safe fixes
  conflicts  pairs of notes that cannot both hold; --resolve settles one
  curate     propose changes by what you said to agents
  pending    the pending proposals; --apply and --drop decide
  ledger     what curation cost and what it bought
  handoff    write HANDOFF.md: what the next agent needs to go on
  resume     what of a handoff still holds
  inbox      what others changed since the last visit
  review     what is to be looked at today
  new        make a note and its entry in the index
  rename     give a note another name; links and index follow
  retire     take a note out of the memory
  history    the versions of a note, or of all
  undo       take the last act back
  redo       do again what was undone
  restore    bring a version of a note back
  purge      remove a value from the history
  config     show, edit or locate the settings
`ricordo COMMAND --help` says more."""


def add_open_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ricordo` itself."""
    add_memory(parser)


def run_open(options: Namespace, environment: Environment) -> int:
    """Open the notebook, or print it where no person sits at a terminal."""
    path = memory_path(options)
    if can_show_screen():
        from ricordo.tui.app import start

        return start(path, environment)
    from ricordo.cli.output import print_lines
    from ricordo.cli.workspace import look_reported, open_notebook
    from ricordo.services.report import report

    print_lines(report(look_reported(open_notebook(options, environment))))
    return 0


DEMO_SUMMARY = "Open a throwaway copy of the sample memory; nothing of yours is read or changed."


def add_demo_arguments(parser: ArgumentParser) -> None:
    """`demo` takes no words of its own."""
    parser.set_defaults(path=None, memory=None)


def run_demo(options: Namespace, environment: Environment) -> int:
    """Copy the sample memory, open the copy, and remove it afterwards."""
    from ricordo.services.workspace.sample import copied_sample

    with copied_sample(environment) as sample:
        options.path = sample.memory
        return run_open(options, sample.surroundings)


REVIEW_SUMMARY = """The few notes that are worth a look today.

First those that something speaks against, then those that nobody has confirmed for long, then what
is new. Opens the notebook on them."""


def add_review_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `review`."""
    add_memory(parser)
    add_json(parser)
    add_project(parser)


def run_review(options: Namespace, environment: Environment) -> int:
    """Open the notebook on the review, or print it where no person sits at a terminal."""
    environment = with_project(options, environment)
    if not options.json and can_show_screen():
        from ricordo.tui.app import start

        return start(memory_path(options), environment, opens_review=True)
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_review
    from ricordo.services.review import review

    notebook = open_notebook(options, environment)
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


COMMANDS = {
    "open": Command(OPEN_SUMMARY, add_open_arguments, run_open),
    "demo": Command(DEMO_SUMMARY, add_demo_arguments, run_demo),
    "review": Command(REVIEW_SUMMARY, add_review_arguments, run_review),
}
