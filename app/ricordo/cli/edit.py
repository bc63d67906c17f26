"""`ricordo new`, `rename`, `retire`; and what all commands that change a memory share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ricordo.cli.change import list_changed, print_change, render_edits, render_merged
from ricordo.cli.output import note_change, print_errors, print_messages
from ricordo.cli.parser import Command, add_memory_and_json
from ricordo.cli.workspace import open_notebook
from ricordo.errors import WrongUsage
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Collection

    from ricordo.lint.conventions import Conventions
    from ricordo.memory.change import Change, ChangeSet, Create
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


def begin_change(notebook: Notebook) -> Memory:
    """Return the memory, recorded and ready for changes; messages go to stderr."""
    from ricordo.services.history.recovery import read_and_record

    memory, notices = read_and_record(notebook)
    print_messages(notices)
    return memory


def begin_display(notebook: Notebook) -> Memory:
    """Return the memory, recorded if possible; messages go to stderr."""
    from ricordo.services.history.recovery import read_and_try_to_record

    memory, notices = read_and_try_to_record(notebook)
    print_messages(notices)
    return memory


def apply_change(
    options: Namespace, notebook: Notebook, memory: Memory, change: Change, done: str, path: str
) -> None:
    """Apply one change to the note at `path`, and print `done` and the files that it touched."""
    from ricordo.services.edits.change import build_change_set

    change_set = build_change_set(notebook, memory, [change])
    apply_change_set(options, notebook, change_set, done, path=path)


def apply_change_set(
    options: Namespace, notebook: Notebook, change_set: ChangeSet, done: str, **more: Any
) -> None:
    """Apply a change set and print `done` and the files that it touched; `more` is for the JSON
    document. Raises EditRefused.
    """
    from ricordo.services.edits.change import apply_merging

    _, merged = apply_merging(notebook, change_set, by_hand=True)
    note_change(done)
    details = [line for line in render_edits(change_set.edits) if line.strip() != done]
    details += render_merged(merged)
    details += [f"  {warning}" for warning in change_set.warnings]
    print_change(
        options,
        done,
        list_changed(change_set.edits, notebook.place.root),
        details=[*details, "`ricordo undo` reverts this."],
        merged=merged,
        warnings=change_set.warnings,
        **more,
    )


NEW_SUMMARY = """Create a note from the template of its type, or from text on stdin.

The template has labels alone, no text: `lint` reports the note as empty until it is written.
The body is read from a pipe; `-` after NAME reads it at a terminal too. A text with frontmatter
keeps its fields. With `-` as NAME the text names itself: by its frontmatter, its first heading, or
its first line. NAME may begin with a folder of the memory. Where the notes have descriptions, one
that is not given is the first sentence of the text."""
_STDIN = "-"


def _add_new_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="name of the note; `-`: as the text on stdin says"
    )
    parser.add_argument(
        "stdin", metavar=_STDIN, nargs="?", help="read the text from stdin, at a terminal too"
    )
    add_memory_and_json(parser)
    parser.add_argument("--type", metavar="T", default="", help="type of the note")
    parser.add_argument("--description", metavar="D", default="", help="description, one line")


def run_new(options: Namespace, environment: Environment) -> int:
    """Create the note."""
    from dataclasses import replace

    from ricordo.lint.conventions import list_fields
    from ricordo.memory.change import Change
    from ricordo.memory.draft import apply_edits
    from ricordo.services.edits.change import build_change_set

    if options.stdin not in (None, _STDIN):
        if options.path:
            raise WrongUsage(f"Unexpected argument “{make_one_line(options.path)}” after PATH.")
        options.path, options.stdin = options.stdin, None
    if not options.name.strip():
        raise WrongUsage("A note needs a name.")
    text = _read_text(is_wanted=_STDIN in (options.name, options.stdin))
    notebook = open_notebook(options, environment)
    types = notebook.place.layout.types
    if options.type and types and options.type not in types:
        from ricordo.suggestions import suggest

        hint = f"{suggest(options.type, types)} Types: {', '.join(sorted(types))}.".lstrip()
        raise WrongUsage(f"This memory has no type “{make_one_line(options.type)}”.", hint=hint)
    memory = begin_change(notebook)
    conventions = notebook.learn_conventions(memory)
    act = _build(options, memory, text, list_fields(conventions, memory.layout))
    change_set = build_change_set(notebook, memory, [Change(act, "created by hand")])
    warnings = [] if text else ["It has no text yet: e in the notebook writes it."]
    if missing := _describe_missing(apply_edits(memory, change_set.edits), act.path, conventions):
        warnings.append(missing)
    change_set = replace(change_set, warnings=(*change_set.warnings, *warnings))
    done = f"created {make_one_line(act.path)}"
    apply_change_set(options, notebook, change_set, done, path=act.path)
    return 0


def _describe_missing(memory: Memory, path: str, conventions: Conventions) -> str:
    """Return which fields the new note lacks that the notes of the memory have, and how to give
    them; "" for none.
    """
    from ricordo.lint.conventions import find_missing_fields, find_unmet_demands

    note, layout = memory.by_path[path], memory.layout
    missing = [it for it in find_missing_fields(note, layout) if conventions.expects(it, path)]
    missing += [it for it in find_unmet_demands(note, layout, conventions) if it not in missing]
    if not missing:
        return ""
    fields = ", ".join(map(make_one_line, missing))
    types = f" ({', '.join(sorted(layout.types))})" if layout.types else ""
    return (
        f"It lacks {fields}: `new` takes --type{types} and --description, "
        "E in the notebook sets fields."
    )


def _read_text(*, is_wanted: bool) -> str:
    """Return the text on stdin, of a terminal only if it `is_wanted`; "" for none. Raises
    WrongUsage if there is none though it is wanted.
    """
    if sys.stdin.isatty():
        if not is_wanted:
            return ""
        print_errors(["Enter the note, then press Enter and ctrl+d:"])
    text = sys.stdin.read()
    if is_wanted and not text.strip():
        raise WrongUsage("There is no text on standard input.")
    return text


def _build(options: Namespace, memory: Memory, text: str, fields: Collection[str]) -> Create:
    """Return the act that creates the note; without frontmatter in the text, a description is taken
    from it if that is one of the `fields` of all notes.
    """
    from ricordo.lint.fixes.entries import summarise_text
    from ricordo.memory.frontmatter.parser import read_frontmatter
    from ricordo.services.edits.note import (
        build_note,
        build_written_note,
        choose_folder,
        find_name,
        split_folder,
    )

    if options.name == _STDIN:
        folder, name = "", find_name(text, memory.layout)
    else:
        folder, name = split_folder(memory, options.name)
    if read_frontmatter(text).is_present:
        act = build_written_note(memory, text, name, options.type, options.description)
    else:
        is_missing = text and "description" in fields and not options.description
        description = summarise_text(text) if is_missing else options.description
        act = build_note(memory, name, options.type, description, text or None)
    return choose_folder(memory, act, folder)


RENAME_SUMMARY = "Rename a note or move its file; links and index entries are updated."


def _add_rename_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", help="name, file name or path of the note")
    parser.add_argument("name", metavar="NAME", help="new name, file name or path")
    add_memory_and_json(parser)


def run_rename(options: Namespace, environment: Environment) -> int:
    """Rename the note."""
    from ricordo.memory.change import Change
    from ricordo.services.edits.note import build_rename
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, environment)
    memory = begin_change(notebook)
    act = build_rename(memory, pick_note(memory, options.note), options.name)
    done = f"renamed {make_one_line(act.path)} to {make_one_line(act.to)}"
    apply_change(options, notebook, memory, Change(act, "renamed by hand"), done, act.to)
    return 0


RETIRE_SUMMARY = "Remove a note from the memory; the history keeps it."


def _add_retire_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", help="name, file name or path of the note")
    add_memory_and_json(parser)
    parser.add_argument("--successor", metavar="NOTE", help="point links to this note instead")
    parser.add_argument("--reason", default="", help="reason, for the history")


def run_retire(options: Namespace, environment: Environment) -> int:
    """Retire the note."""
    from ricordo.memory.change import Change, Retire
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, environment)
    memory = begin_change(notebook)
    note = pick_note(memory, options.note)
    successor = pick_note(memory, options.successor).path if options.successor else ""
    change = Change(Retire(note.path, successor), options.reason or "retired by hand")
    done = f"retired {make_one_line(note.path)}"
    apply_change(options, notebook, memory, change, done, note.path)
    return 0


COMMANDS = {
    "new": Command(NEW_SUMMARY, _add_new_arguments, run_new, ("new",)),
    "rename": Command(RENAME_SUMMARY, _add_rename_arguments, run_rename, ("rename",)),
    "retire": Command(RETIRE_SUMMARY, _add_retire_arguments, run_retire, ("retire",)),
}
