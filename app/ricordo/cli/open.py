"""`ricordo [PATH]`, `demo`, `review`: open the notebook, or print it without a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.edit import begin_display
from ricordo.cli.parser import (
    Command,
    add_json,
    add_memory_and_json,
    add_project,
    get_memory_path,
    with_project,
)
from ricordo.cli.streams import can_show_screen
from ricordo.cli.workspace import open_notebook, read_snapshot_reported
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.services.review import ReviewNote, ReviewQueue
    from ricordo.services.workspace.environment import Environment

OPEN_SUMMARY = """The terminal notebook for the memory that AI agents keep about you.

Without PATH it opens the memory of the current directory or its project. Commands:
  demo       open a throwaway copy of the sample memory
  list       list every memory on this machine
  load       show what an agent loads at session start, and what is cut off
  show       show one note with its links, findings and origin
  search     find notes by name and text
  recall     find the notes that an agent should read for a message
  hook       the same for agents, which call it while they work
  usage      show uses of notes, and searches without results
  lint       report findings; --fix applies the safe fixes
  rule       explain a rule of lint, or list all rules
  conflicts  list notes that contradict each other; --resolve resolves one
  curate     propose changes from what you told agents
  pending    show the pending proposals; --apply and --drop decide
  ledger     show cost and benefit of curation
  handoff    write HANDOFF.md: what the next agent needs to continue
  resume     verify a handoff again
  inbox      list what others changed since the last visit
  review     review the notes that are due today
  new        create a note and its index entry
  rename     rename a note; links and index entries are updated
  retire     remove a note from the memory; the history keeps it
  history    list the versions of a note, or of all notes
  undo       undo the last change
  redo       redo what was undone
  restore    restore a version of a note
  purge      remove a value from the history
  connect    connect agents: hooks and MCP server in a folder of their own
  disconnect  remove what connect wrote
  doctor     find what is wrong around the memories of this machine; --fix repairs it
  mcp        serve notes to agents by the Model Context Protocol
  config     show, edit or locate the settings
  completions  print the script that completes command lines in bash, zsh or fish
`ricordo COMMAND --help` explains a command."""


def run_open(options: Namespace, environment: Environment) -> int:
    """Open the notebook, or print a report without a terminal."""
    path = get_memory_path(options)
    if not options.json and can_show_screen():
        from ricordo.tui.app import run_app

        return run_app(path, environment)
    from ricordo.cli.output import print_result
    from ricordo.services.describe import build_report, describe_snapshot

    snapshot = read_snapshot_reported(open_notebook(options, environment))
    print_result(options, lambda: describe_snapshot(snapshot), lambda: build_report(snapshot))
    return 0


DEMO_SUMMARY = (
    "Open a throwaway copy of the sample memory; your files are neither read nor changed."
)


def _add_demo_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `demo`; the sample is its memory."""
    parser.set_defaults(path=None, memory=None)
    add_json(parser)


def run_demo(options: Namespace, environment: Environment) -> int:
    """Copy the sample memory, open the copy, and delete it afterwards."""
    from ricordo.services.workspace.environment import copy_sample

    with copy_sample(environment) as sample:
        options.path = sample.memory
        return run_open(options, sample.environment)


REVIEW_SUMMARY = """Review the few notes that are due today.

First notes with findings, then notes not confirmed for long, then new notes. Opens the notebook at
the review queue."""


def _add_review_arguments(parser: ArgumentParser) -> None:
    add_memory_and_json(parser)
    add_project(parser)


def run_review(options: Namespace, environment: Environment) -> int:
    """Open the notebook at the review queue, or print the queue without a terminal."""
    environment = with_project(options, environment)
    if not options.json and can_show_screen():
        from ricordo.tui.app import run_app

        return run_app(get_memory_path(options), environment, opens_review=True)
    from ricordo.cli.output import print_result
    from ricordo.services.describe import describe_review
    from ricordo.services.review import build_review

    notebook = open_notebook(options, environment)
    begin_display(notebook)
    queue = build_review(notebook, read_snapshot_reported(notebook))
    print_result(options, lambda: describe_review(queue), lambda: _lines(queue))
    return 0


def _lines(queue: ReviewQueue) -> list[str]:
    """Return the queue as lines."""
    if not queue.items:
        return [f"Nothing to review today. {_next_line(queue)}"]
    lines = [f"{len(queue.items)} to review today"]
    for item in queue.items:
        lines += ["", *_item_lines(item)]
    more = f"{queue.more} more are due. " if queue.more else ""
    return [*lines, "", f"{more}{_next_line(queue)}"]


def _item_lines(item: ReviewNote) -> list[str]:
    share = f"  retention {item.retention.share:.2f}" if item.retention else ""
    new = "  new" if item.reason.name == "NEW" else ""
    lines = [f"{make_one_line(item.note.path)}{share}{new}"]
    lines += [f"  {finding.rule}: {make_one_line(finding.message)}" for finding in item.findings]
    return lines + [f"  {reason}" for reason in (item.retention.reasons if item.retention else ())]


def _next_line(queue: ReviewQueue) -> str:
    day = queue.next_due
    return f"Next review: {day:%-d %B %Y}." if day else "No later review is due."


COMMANDS = {
    "open": Command(OPEN_SUMMARY, add_memory_and_json, run_open),
    "demo": Command(DEMO_SUMMARY, _add_demo_arguments, run_demo),
    "review": Command(REVIEW_SUMMARY, _add_review_arguments, run_review),
}
