"""`ricordo load`, `list`, `show`: read memories and notes."""

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

LOAD_SUMMARY = "Show what an agent loads of the memory at session start, and what is cut off."


def add_load_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `load`."""
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
    print_lines([*lines, "", f"── {load_line(memory)} ──"])
    print_lines(
        [
            f"line {line}: {one_line(title)} ({one_line(path)})"
            for line, title, path in dropped(memory)
        ]
    )
    return 0


LIST_SUMMARY = "List every memory on this machine: agent, project, notes, load, findings."

_GAP = "   "


def add_list_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `list`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--short", action="store_true", help="print one line from cached numbers, at once"
    )


def run_list(options: Namespace, environment: Environment) -> int:
    """Read every memory, print the table, and cache the numbers for `--short`."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_load, describe_summary
    from ricordo.services.workspace.notebook import counted
    from ricordo.storage.last_seen import recall

    if options.short:
        from ricordo.cli.short import line_here

        print_lines([line_here(environment.state)])
        return 0
    snapshots = list(_read_all(environment))
    before = recall(environment.state)
    _remember(snapshots, environment.state)
    counts = {
        snapshot.memory.root: counted(snapshot, before.get(snapshot.memory.root, {}))
        for _, snapshot in snapshots
    }
    if not options.json:
        print_lines(_table(snapshots, counts, environment.agent_home))
        tell(_warnings(before.get(snapshot.memory.root, {}) for _, snapshot in snapshots))
        return 0
    print_json(
        {
            "memories": [
                {
                    "path": snapshot.memory.root,
                    "agent": place.layout.agent,
                    "kind": place.layout.kind,
                    "project": place.project or None,
                    "notes": len(snapshot.memory.notes),
                    "load": describe_load(snapshot.memory, with_text=False),
                    "findings": describe_summary(counts[snapshot.memory.root]),
                }
                for place, snapshot in snapshots
            ]
        }
    )
    return 0


def _read_all(environment: Environment) -> Iterator[tuple[MemoryPlace, Snapshot]]:
    from ricordo.errors import MemoryNotFound, MemoryUnreadable
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import all_memories
    from ricordo.services.workspace.settings import load_settings

    settings, warnings = load_settings(environment)
    tell(map(str, warnings))
    for place in all_memories(environment):
        try:
            yield place, Notebook(place, environment, settings).look()
        except (MemoryNotFound, MemoryUnreadable) as error:
            tell([error.message])


def _remember(snapshots: list[tuple[MemoryPlace, Snapshot]], state: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.services.workspace.notebook import summary
    from ricordo.storage.last_seen import remember_all

    try:
        remember_all(
            state, {snapshot.memory.root: summary(place, snapshot) for place, snapshot in snapshots}
        )
    except StateUnusable as error:
        tell([error.message])


def _warnings(before: Iterable[Summary]) -> list[str]:
    """Return a warning on the memories whose findings were counted without evidence."""
    from ricordo.services.workspace.notebook import has_evidence

    unknown = sum(not has_evidence(summary) for summary in before)
    if not unknown:
        return []
    which = "one memory" if unknown == 1 else f"{unknown} memories"
    return [
        f"Findings of {which} are counted without project and transcripts. "
        "Run `ricordo lint` or open the notebook to count all."
    ]


def _table(
    snapshots: list[tuple[MemoryPlace, Snapshot]],
    counts: Mapping[str, Mapping[Severity, int]],
    home: str,
) -> list[str]:
    if not snapshots:
        return ["No memory found on this machine, and none was opened by its path."]
    rows = [
        _row(place, snapshot, counts[snapshot.memory.root], home) for place, snapshot in snapshots
    ]
    head = ("agent", "project", "notes", "load", "errors", "warnings")
    return _aligned([head, *rows])


def _row(
    place: MemoryPlace, snapshot: Snapshot, counts: Mapping[Severity, int], home: str
) -> tuple[str, ...]:
    from ricordo.lint.finding import Severity
    from ricordo.text import one_line

    load = snapshot.memory.load
    return (
        place.layout.agent or place.layout.kind,
        one_line(_from_home(place.project or place.root, home)),
        str(len(snapshot.memory.notes)),
        f"{load.share:.0%}" if load.limits else "–",
        *(str(counts[severity] or "–") for severity in (Severity.ERROR, Severity.WARNING)),
    )


def _from_home(path: str, home: str) -> str:
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return `rows` as lines: the first two columns left-aligned, the others right-aligned."""
    from ricordo.text import cells

    widths = [max(cells(text) for text in column) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            text + " " * (width - cells(text)) if at < 2 else " " * (width - cells(text)) + text
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


SHOW_SUMMARY = "Show one note: frontmatter, text, links, findings, origin."


def add_show_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `show`."""
    parser.add_argument("note", metavar="NOTE", help="name, file name or path of the note")
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
        ("error", note.trouble.value),
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
    """Return the origin of the note and later changes, each with a label."""
    if not causes:
        return [("origin", note.head.scalar("originSessionId"))]
    from ricordo.services.sessions.activity_text import cause_in_words, quoted_in_words

    first, *later = causes
    origin = [("origin", cause_in_words(first)), ("", quoted_in_words(first))]
    return origin + [("changed", cause_in_words(cause)) for cause in later]


COMMANDS = {
    "load": Command(LOAD_SUMMARY, add_load_arguments, run_load),
    "list": Command(LIST_SUMMARY, add_list_arguments, run_list),
    "show": Command(SHOW_SUMMARY, add_show_arguments, run_show),
}
