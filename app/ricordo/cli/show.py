"""`ricordo show`: one note with all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory, add_project, with_project
from ricordo.cli.opening import look_reported, open_notebook

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.memory.note import Note
    from ricordo.notebook.open import Look
    from ricordo.notebook.origin import Cause
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "One note: text, head, links, findings, origin."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `show`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    add_json(parser)
    add_project(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the note."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe import describe_note
    from ricordo.notebook.origin import causes_by_note
    from ricordo.notebook.pick import pick_note

    notebook = open_notebook(options, with_project(options, surroundings))
    look = look_reported(notebook)
    note = pick_note(look.memory, options.note)
    causes = causes_by_note(notebook.activity, look.memory.root, notebook.renamed(look.memory))
    of_note = causes.get(note.path, ())
    if options.json:
        from ricordo.notebook.versions import versions

        print_json(describe_note(look, note, versions(notebook, note.path), of_note))
    else:
        print_lines(_lines(look, note, of_note))
    return 0


def _lines(look: Look, note: Note, causes: Sequence[Cause]) -> list[str]:
    from ricordo.memory.names import Leads
    from ricordo.notebook.activity_words import reads_in_words
    from ricordo.notebook.report import finding_line
    from ricordo.text import one_line, visible

    memory = look.memory
    links = [link.path for link in memory.links.get(note.path, ()) if link.leads is Leads.NOTE]
    facts = [
        ("file", note.path),
        ("name", note.name),
        ("description", note.description),
        ("type", note.type),
        ("stamped", note.stamped),
        ("trouble", note.trouble.value),
        ("links", ", ".join(dict.fromkeys(links))),
        ("linked from", ", ".join(memory.backlinks.get(note.path, ()))),
        ("read", reads_in_words(look.evidence, note)),
        *_origin(note, causes),
    ]
    lines = [f"{label:<12} {one_line(value)}" for label, value in facts if value]
    lines += ["", *(visible(line.rstrip("\r")) for line in note.body.strip("\n").split("\n"))]
    findings = look.of_note(note.path)
    if findings:
        lines += ["", *(finding_line(finding) for finding in findings)]
    return lines


def _origin(note: Note, causes: Sequence[Cause]) -> list[tuple[str, str]]:
    """Return what caused the note and what changed it later, each with a label."""
    if not causes:
        return [("origin", note.head.scalar("originSessionId"))]
    from ricordo.notebook.activity_words import cause_in_words, quoted_in_words

    first, *later = causes
    told = [("origin", cause_in_words(first)), ("", quoted_in_words(first))]
    return told + [("changed", cause_in_words(cause)) for cause in later]
