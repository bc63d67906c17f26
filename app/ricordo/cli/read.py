"""`ricordo load`: what an agent is given at session start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.output import tell
from ricordo.cli.parser import add_json, add_memory, add_project, with_project
from ricordo.cli.workspace import look_reported, open_notebook

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ricordo.agents.place import MemoryPlace
    from ricordo.lint.finding import Severity
    from ricordo.memory.note import Note
    from ricordo.services.sessions.origin import NoteOrigin
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.storage.last_seen import Summary

LOAD_SUMMARY = "What an agent is given of the memory at session start, and what is cut off."


def add_load_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `load`."""
    add_memory(parser)
    add_json(parser)


def run_load(options: Namespace, environment: Environment) -> int:
    """Print the load."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_load, dropped
    from ricordo.services.report import load_line
    from ricordo.text import one_line, visible

    memory = open_notebook(options, environment).read()
    if options.json:
        print_json(describe_load(memory, with_text=True))
        return 0
    lines = [visible(line.rstrip("\r")) for line in memory.load.text.split("\n")]
    lost = dropped(memory)
    print_lines([*lines, "", f"── {load_line(memory)} ──"])
    print_lines(
        [f"line {line}: {one_line(title)} ({one_line(path)})" for line, title, path in lost]
    )
    return 0


LIST_SUMMARY = "Every memory on this machine: agent, project, notes, load, findings."

_GAP = "   "


def add_list_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `list`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--short", action="store_true", help="print one line from what was last seen, at once"
    )


def run_list(options: Namespace, environment: Environment) -> int:
    """Look at every memory, print the table, and keep the numbers for `--short`."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_load, describe_summary
    from ricordo.services.workspace.notebook import counted
    from ricordo.storage.last_seen import recall

    if options.short:
        from ricordo.cli.short import line_here

        print_lines([line_here(environment.state)])
        return 0
    looks = list(_looks(environment))
    before = recall(environment.state)
    _remember(looks, environment.state)
    counts = {
        snapshot.memory.root: counted(snapshot, before.get(snapshot.memory.root, {}))
        for _, snapshot in looks
    }
    if not options.json:
        print_lines(_table(looks, counts, environment.agent_home))
        tell(_remarks(before.get(snapshot.memory.root, {}) for _, snapshot in looks))
        return 0
    print_json(
        {
            "memories": [
                {
                    "path": snapshot.memory.root,
                    "agent": place.layout.agent,
                    "kind": place.layout.kind.value,
                    "project": place.project or None,
                    "notes": len(snapshot.memory.notes),
                    "load": describe_load(snapshot.memory, with_text=False),
                    "findings": describe_summary(counts[snapshot.memory.root]),
                }
                for place, snapshot in looks
            ]
        }
    )
    return 0


def _looks(environment: Environment) -> Iterator[tuple[MemoryPlace, Snapshot]]:
    from ricordo.errors import MemoryNotFound, MemoryUnreadable
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import all_memories
    from ricordo.services.workspace.settings import load_settings

    settings, remarks = load_settings(environment)
    tell(map(str, remarks))
    for place in all_memories(environment):
        try:
            yield place, Notebook(place, environment, settings).look()
        except (MemoryNotFound, MemoryUnreadable) as error:
            tell([error.message])


def _remember(looks: list[tuple[MemoryPlace, Snapshot]], state: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.services.workspace.notebook import summary
    from ricordo.storage.last_seen import remember_all

    try:
        remember_all(
            state, {snapshot.memory.root: summary(place, snapshot) for place, snapshot in looks}
        )
    except StateUnusable as error:
        tell([error.message])


def _remarks(before: Iterable[Summary]) -> list[str]:
    """Say of how many memories the numbers are those of the notes alone."""
    from ricordo.services.workspace.notebook import has_evidence

    unknown = sum(not has_evidence(summary) for summary in before)
    if not unknown:
        return []
    which = "One memory is" if unknown == 1 else f"{unknown} memories are"
    return [
        f"{which} counted by the notes alone: what project and transcripts tell counts once "
        "`ricordo lint` or the notebook has looked."
    ]


def _table(
    looks: list[tuple[MemoryPlace, Snapshot]],
    counts: Mapping[str, Mapping[Severity, int]],
    home: str,
) -> list[str]:
    if not looks:
        return ["No agent keeps a memory on this machine yet, and none was opened by its path."]
    rows = [_row(place, snapshot, counts[snapshot.memory.root], home) for place, snapshot in looks]
    head = ("agent", "project", "notes", "load", "errors", "warnings")
    return _aligned([head, *rows])


def _row(
    place: MemoryPlace, snapshot: Snapshot, counts: Mapping[Severity, int], home: str
) -> tuple[str, ...]:
    from ricordo.lint.finding import Severity
    from ricordo.text import one_line

    load = snapshot.memory.load
    return (
        place.layout.agent or place.layout.kind.value,
        one_line(_from_home(place.project or place.root, home)),
        str(len(snapshot.memory.notes)),
        f"{load.share:.0%}" if load.limits else "–",
        *(str(counts[severity] or "–") for severity in (Severity.ERROR, Severity.WARNING)),
    )


def _from_home(path: str, home: str) -> str:
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """The two columns of words to the left, those of numbers to the right."""
    from ricordo.text import cells

    widths = [max(cells(text) for text in column) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            text + " " * (width - cells(text)) if at < 2 else " " * (width - cells(text)) + text
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


SHOW_SUMMARY = "One note: text, head, links, findings, origin."


def add_show_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `show`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    add_json(parser)
    add_project(parser)


def run_show(options: Namespace, environment: Environment) -> int:
    """Print the note."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_note
    from ricordo.services.sessions.origin import causes_by_note
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, with_project(options, environment))
    snapshot = look_reported(notebook)
    note = pick_note(snapshot.memory, options.note)
    causes = causes_by_note(
        notebook.activity, snapshot.memory.root, notebook.renamed(snapshot.memory)
    )
    of_note = causes.get(note.path, ())
    if options.json:
        from ricordo.services.history.versions import versions

        print_json(describe_note(snapshot, note, versions(notebook, note.path), of_note))
    else:
        print_lines(_lines(snapshot, note, of_note))
    return 0


def _lines(snapshot: Snapshot, note: Note, causes: Sequence[NoteOrigin]) -> list[str]:
    from ricordo.memory.names import Leads
    from ricordo.services.report import finding_line
    from ricordo.services.sessions.activity_text import reads_in_words
    from ricordo.text import one_line, visible

    memory = snapshot.memory
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
        ("read", reads_in_words(snapshot.evidence, note)),
        *_origin(note, causes),
    ]
    lines = [f"{label:<12} {one_line(value)}" for label, value in facts if value]
    lines += ["", *(visible(line.rstrip("\r")) for line in note.body.strip("\n").split("\n"))]
    findings = snapshot.of_note(note.path)
    if findings:
        lines += ["", *(finding_line(finding) for finding in findings)]
    return lines


def _origin(note: Note, causes: Sequence[NoteOrigin]) -> list[tuple[str, str]]:
    """Return what caused the note and what changed it later, each with a label."""
    if not causes:
        return [("origin", note.head.scalar("originSessionId"))]
    from ricordo.services.sessions.activity_text import cause_in_words, quoted_in_words

    first, *later = causes
    told = [("origin", cause_in_words(first)), ("", quoted_in_words(first))]
    return told + [("changed", cause_in_words(cause)) for cause in later]


COMMANDS = {
    "load": Command(LOAD_SUMMARY, add_load_arguments, run_load),
    "list": Command(LIST_SUMMARY, add_list_arguments, run_list),
    "show": Command(SHOW_SUMMARY, add_show_arguments, run_show),
}
