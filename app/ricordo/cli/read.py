"""`ricordo load`, `list`, `show`: read memories and notes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_memory_and_json, add_project, with_project
from ricordo.cli.workspace import find_memory_reported, open_notebook, read_snapshot_reported

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ricordo.agents.agent import MemoryPlace
    from ricordo.lint.finding import Severity
    from ricordo.memory.note import Note
    from ricordo.services.sessions.origin import NoteOrigin
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.storage.summary_cache import Summary

LOAD_SUMMARY = "Show what an agent loads of the memory at session start, and what is cut off."


def add_load_arguments(parser: ArgumentParser) -> None:
    """Add PATH, `--json` and `--reveal`: secrets are masked in what is printed of a memory."""
    add_memory_and_json(parser)
    parser.add_argument(
        "--reveal", action="store_true", help="print secrets, which are masked otherwise"
    )


def run_load(options: Namespace, environment: Environment) -> int:
    """Print the load."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.secrets import mask
    from ricordo.services.load_description import (
        describe_load,
        find_unloaded_entries,
        format_load,
        format_other_folder,
    )
    from ricordo.services.workspace.places import is_other_folder
    from ricordo.storage.reader import list_memory, read_memory
    from ricordo.text import make_one_line, make_visible

    place = find_memory_reported(options, environment)
    # what is loaded depends on the index alone; which notes the rest names, on all of them
    memory = list_memory(place.root, place.layout)
    if memory.load.cut_at_line is not None:
        memory = read_memory(place.root, place.layout)
    text = memory.load.text if options.reveal else mask(memory.load.text)
    if options.json:
        print_json({**describe_load(memory), "text": text}, "load")
        return 0
    lines = [make_visible(line.rstrip("\r")) for line in text.split("\n")]
    print_lines([*lines, "", f"── {format_load(memory)} ──"])
    print_lines(
        [
            f"line {line}: {make_one_line(title)} ({make_one_line(path)})"
            for line, title, path in find_unloaded_entries(memory)
        ]
    )
    if is_other_folder(place, environment):
        print_messages([format_other_folder(place.layout.agent)])
    return 0


LIST_SUMMARY = "List every memory on this machine: agent, project, notes, load, findings."

_GAP = "   "


def _add_list_arguments(parser: ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--short", action="store_true", help="print one line from cached numbers, at once"
    )


def run_list(options: Namespace, environment: Environment) -> int:
    """Read every memory, print the table, and cache the numbers for `--short`."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_summary
    from ricordo.services.load_description import describe_load
    from ricordo.services.workspace.notebook import count_findings
    from ricordo.storage.summary_cache import load_summaries

    if options.short:
        from ricordo.cli.short import render_line_here

        print_lines([render_line_here(environment.state)])
        return 0
    snapshots = list(_read_all(environment))
    before = load_summaries(environment.state)
    _remember(snapshots, environment.state)
    counts = {
        snapshot.memory.root: count_findings(snapshot, before.get(snapshot.memory.root, {}))
        for _, snapshot in snapshots
    }
    if not options.json:
        print_lines(_table(snapshots, counts, environment.agent_home))
        print_messages(_warnings(before.get(snapshot.memory.root, {}) for _, snapshot in snapshots))
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
                    "load": describe_load(snapshot.memory),
                    "findings": describe_summary(counts[snapshot.memory.root]),
                }
                for place, snapshot in snapshots
            ]
        },
        "list",
    )
    return 0


def _read_all(environment: Environment) -> Iterator[tuple[MemoryPlace, Snapshot]]:
    from ricordo.errors import MemoryNotFound, MemoryUnreadable
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_all_memories
    from ricordo.services.workspace.settings import load_settings

    settings, warnings = load_settings(environment)
    print_messages(map(str, warnings))
    for place in find_all_memories(environment):
        try:
            yield place, Notebook(place, environment, settings).read_snapshot(is_stored=False)
        except (MemoryNotFound, MemoryUnreadable) as error:
            print_messages([error.message])


def _remember(snapshots: list[tuple[MemoryPlace, Snapshot]], state: str) -> None:
    from ricordo.errors import StateUnusable
    from ricordo.services.workspace.notebook import summarize
    from ricordo.storage.summary_cache import save_summaries

    try:
        save_summaries(
            state,
            {snapshot.memory.root: summarize(place, snapshot) for place, snapshot in snapshots},
        )
    except StateUnusable as error:
        print_messages([error.message])


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
    projects = Counter(place.project for place, _ in snapshots)
    rows = [
        _row(
            _format_memory(place, home, is_only=projects[place.project] == 1),
            place,
            snapshot,
            counts[snapshot.memory.root],
        )
        for place, snapshot in snapshots
    ]
    head = ("agent", "project", "notes", "load", "errors", "warnings")
    return _aligned([head, *rows])


def _format_memory(place: MemoryPlace, home: str, *, is_only: bool) -> str:
    """Return the project of a memory; with its folder unless it is the only one of the project."""
    from ricordo.text import make_one_line

    if is_only or not place.project:
        return make_one_line(_from_home(place.project or place.root, home))
    folder = _from_home(place.root.removeprefix(f"{place.project}/"), home)
    return make_one_line(f"{_from_home(place.project, home)}: {folder}")


def _row(
    name: str, place: MemoryPlace, snapshot: Snapshot, counts: Mapping[Severity, int]
) -> tuple[str, ...]:
    from ricordo.lint.finding import Severity

    load = snapshot.memory.load
    return (
        place.layout.agent or place.layout.kind,
        name,
        str(len(snapshot.memory.notes)),
        f"{load.fill_ratio:.0%}" if load.limits else "–",
        *(str(counts[severity] or "–") for severity in (Severity.ERROR, Severity.WARNING)),
    )


def _from_home(path: str, home: str) -> str:
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return `rows` as lines: the first two columns left-aligned, the others right-aligned."""
    from ricordo.text import count_cells

    widths = [max(count_cells(text) for text in column) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            text + " " * (width - count_cells(text))
            if at < 2
            else " " * (width - count_cells(text)) + text
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


SHOW_SUMMARY = "Show one note: frontmatter, text, links, findings, origin."


def _add_show_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", help="name, file name or path of the note")
    add_load_arguments(parser)
    add_project(parser)


def run_show(options: Namespace, environment: Environment) -> int:
    """Print the note."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_note
    from ricordo.services.sessions.origin import load_origins
    from ricordo.services.workspace.note_choice import pick_note

    notebook = open_notebook(options, with_project(options, environment))
    snapshot = read_snapshot_reported(notebook)
    note = pick_note(snapshot.memory, options.note)
    causes = load_origins(
        notebook.activity, snapshot.memory.root, notebook.find_moved(snapshot.memory)
    )
    of_note = causes.get(note.path, ())
    if options.json:
        from ricordo.services.history.versions import list_versions, name_writers

        versions = name_writers(notebook, list_versions(notebook, note.path))
        described = describe_note(snapshot, note, versions, of_note, reveals=options.reveal)
        print_json(described, "show")
    else:
        print_lines(_lines(snapshot, note, of_note, reveals=options.reveal))
    return 0


def _lines(
    snapshot: Snapshot, note: Note, causes: Sequence[NoteOrigin], *, reveals: bool
) -> list[str]:
    """Return the note as lines, with its secrets masked unless it `reveals` them."""
    from ricordo.memory.names import TargetKind
    from ricordo.services.describe import format_finding, show_texts
    from ricordo.services.sessions.activity_text import describe_reads
    from ricordo.text import make_one_line, make_visible

    memory = snapshot.memory
    links = [
        link.path for link in memory.links.get(note.path, ()) if link.target_kind is TargetKind.NOTE
    ]
    name, description, body = show_texts(
        note, (note.name, note.description, note.body), reveals=reveals
    )
    facts = [
        ("file", note.path),
        ("name", name),
        ("description", description),
        ("type", note.type),
        ("stamped", note.stated_date),
        ("error", note.read_error.value),
        ("links", ", ".join(dict.fromkeys(links))),
        ("linked from", ", ".join(memory.backlinks.get(note.path, ()))),
        ("read", describe_reads(snapshot.evidence, note)),
        *_origin(note, causes),
    ]
    lines = [f"{label:<12} {make_one_line(value)}" for label, value in facts if value]
    lines += ["", *(make_visible(line.rstrip("\r")) for line in body.strip("\n").split("\n"))]
    findings = snapshot.findings_of(note.path)
    if findings:
        lines += ["", *(format_finding(finding) for finding in findings)]
    return lines


def _origin(note: Note, causes: Sequence[NoteOrigin]) -> list[tuple[str, str]]:
    """Return the origin of the note and later changes, each with a label."""
    if not causes:
        return [("origin", note.frontmatter.get_text("originSessionId"))]
    from ricordo.services.sessions.activity_text import describe_origin, describe_quote

    first, *later = causes
    origin = [("origin", describe_origin(first)), ("", describe_quote(first))]
    return origin + [("changed", describe_origin(cause)) for cause in later]


COMMANDS = {
    "load": Command(LOAD_SUMMARY, add_load_arguments, run_load),
    "list": Command(LIST_SUMMARY, _add_list_arguments, run_list),
    "show": Command(SHOW_SUMMARY, _add_show_arguments, run_show),
}
