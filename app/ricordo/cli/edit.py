"""What the commands that change a memory share: begin, apply, say what was done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.output import note_change, tell
from ricordo.cli.parser import add_memory
from ricordo.cli.workspace import open_notebook
from ricordo.text import one_line, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable

    from ricordo.memory.change import Change, ChangeSet, Edit
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


def begin_reported(notebook: Notebook) -> Memory:
    """Return the memory, recorded and ready to be changed; notices go to stderr."""
    from ricordo.services.history.maintenance import begin

    memory, notices = begin(notebook)
    tell(notices)
    return memory


def begin_shown(notebook: Notebook) -> Memory:
    """Return the memory, recorded if that can be done; notices go to stderr."""
    from ricordo.services.history.maintenance import begin_to_show

    memory, notices = begin_to_show(notebook)
    tell(notices)
    return memory


def make(notebook: Notebook, memory: Memory, change: Change, done: str) -> None:
    """Apply one change and print `done` and the files that it touched."""
    from ricordo.services.edits.change import put_together

    apply_reported(notebook, put_together(notebook, memory, [change]), done)


def apply_reported(notebook: Notebook, change_set: ChangeSet, done: str) -> None:
    """Apply a change set and print `done` and the files that it touched. Raises Conflict."""
    from ricordo.cli.output import print_lines
    from ricordo.services.edits.change import apply_at_once

    _, merged = apply_at_once(notebook, change_set, by_hand=True)
    note_change(done)
    lines = [done, *told_edits(change_set.edits)]
    lines += [f"  {visible(path)}: merged with what somebody else wrote" for path in merged]
    lines += [f"  {remark}" for remark in change_set.remarks]
    print_lines([*lines, "`ricordo undo` takes it back."])


def told_edits(edits: Iterable[Edit]) -> list[str]:
    """Return what becomes of each file, a line each."""
    return [
        f"  {'created' if edit.before is None else 'removed' if edit.after is None else 'changed'} "
        f"{one_line(edit.path)}"
        for edit in edits
    ]


NEW_SUMMARY = "Make a note from its type's template; its body comes from standard input if piped."


def add_new_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `new`."""
    parser.add_argument("name", metavar="NAME", help="what the note is called")
    add_memory(parser)
    parser.add_argument("--type", metavar="T", default="", help="its type")
    parser.add_argument("--description", metavar="D", default="", help="one line: what it says")


def run_new(options: Namespace, environment: Environment) -> int:
    """Make the note."""
    from ricordo.errors import WrongUsage
    from ricordo.memory.change import Change
    from ricordo.services.edits.note import new_note

    if not options.name.strip():
        raise WrongUsage("A note needs a name.")
    body = None if sys.stdin.isatty() else sys.stdin.read()
    notebook = open_notebook(options, environment)
    types = notebook.place.layout.types
    if options.type and types and options.type not in types:
        known = ", ".join(sorted(types))
        raise WrongUsage(f"This memory has no type “{one_line(options.type)}”, only {known}.")
    memory = begin_reported(notebook)
    act = new_note(memory, options.name, options.type, options.description, body or None)
    make(notebook, memory, Change(act, "made by hand"), f"made {one_line(act.path)}")
    return 0


RENAME_SUMMARY = "Give a note another name or path; links and index follow."


def add_rename_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `rename`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    parser.add_argument("name", metavar="NAME", help="the new name, file name or path")
    add_memory(parser)


def run_rename(options: Namespace, environment: Environment) -> int:
    """Rename the note."""
    from ricordo.memory.change import Change
    from ricordo.services.edits.note import rename_to
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, environment)
    memory = begin_reported(notebook)
    act = rename_to(memory, pick_note(memory, options.note), options.name)
    done = f"renamed {one_line(act.path)} to {one_line(act.to)}"
    make(notebook, memory, Change(act, "renamed by hand"), done)
    return 0


RETIRE_SUMMARY = "Take a note out of the memory; the history keeps it."


def add_retire_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `retire`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    parser.add_argument(
        "--successor", metavar="NOTE", help="the note to which links go from now on"
    )
    parser.add_argument("--reason", default="", help="why it goes")


def run_retire(options: Namespace, environment: Environment) -> int:
    """Retire the note."""
    from ricordo.memory.change import Change, Retire
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, environment)
    memory = begin_reported(notebook)
    note = pick_note(memory, options.note)
    successor = pick_note(memory, options.successor).path if options.successor else ""
    change = Change(Retire(note.path, successor), options.reason or "retired by hand")
    make(notebook, memory, change, f"retired {one_line(note.path)}")
    return 0


COMMANDS = {
    "new": Command(NEW_SUMMARY, add_new_arguments, run_new),
    "rename": Command(RENAME_SUMMARY, add_rename_arguments, run_rename),
    "retire": Command(RETIRE_SUMMARY, add_retire_arguments, run_retire),
}
