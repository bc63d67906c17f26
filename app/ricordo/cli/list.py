"""`ricordo list`: every memory on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import tell

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from ricordo.agents.place import Place
    from ricordo.disk.last_seen import Summary
    from ricordo.health.finding import Severity
    from ricordo.notebook.open import Look
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Every memory on this machine: agent, project, notes, load, findings."

_GAP = "   "


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `list`."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument(
        "--short", action="store_true", help="print one line from what was last seen, at once"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Look at every memory, print the table, and keep the numbers for `--short`."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.disk.last_seen import recall
    from ricordo.notebook.describe import describe_load, describe_summary
    from ricordo.notebook.seen import counted

    if options.short:
        from ricordo.cli.short import line_here

        print_lines([line_here(surroundings.state)])
        return 0
    looks = list(_looks(surroundings))
    before = recall(surroundings.state)
    _remember(looks, surroundings.state)
    counts = {
        look.memory.root: counted(look, before.get(look.memory.root, {})) for _, look in looks
    }
    if not options.json:
        print_lines(_table(looks, counts, surroundings.agent_home))
        tell(_remarks(before.get(look.memory.root, {}) for _, look in looks))
        return 0
    print_json(
        {
            "memories": [
                {
                    "path": look.memory.root,
                    "agent": place.layout.agent,
                    "kind": place.layout.kind.value,
                    "project": place.project or None,
                    "notes": len(look.memory.notes),
                    "load": describe_load(look.memory, with_text=False),
                    "findings": describe_summary(counts[look.memory.root]),
                }
                for place, look in looks
            ]
        }
    )
    return 0


def _looks(surroundings: Surroundings) -> Iterator[tuple[Place, Look]]:
    from ricordo.errors import MemoryNotFound, MemoryUnreadable
    from ricordo.notebook.find import all_memories
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.settle import load_settings

    settings, remarks = load_settings(surroundings)
    tell(map(str, remarks))
    for place in all_memories(surroundings):
        try:
            yield place, Notebook(place, surroundings, settings).look()
        except (MemoryNotFound, MemoryUnreadable) as error:
            tell([error.message])


def _remember(looks: list[tuple[Place, Look]], state: str) -> None:
    from ricordo.disk.last_seen import remember_all
    from ricordo.errors import StateUnusable
    from ricordo.notebook.seen import summary

    try:
        remember_all(state, {look.memory.root: summary(place, look) for place, look in looks})
    except StateUnusable as error:
        tell([error.message])


def _remarks(before: Iterable[Summary]) -> list[str]:
    """Say of how many memories the numbers are those of the notes alone."""
    from ricordo.notebook.seen import has_evidence

    unknown = sum(not has_evidence(summary) for summary in before)
    if not unknown:
        return []
    which = "One memory is" if unknown == 1 else f"{unknown} memories are"
    return [
        f"{which} counted by the notes alone: what project and transcripts tell counts once "
        "`ricordo lint` or the notebook has looked."
    ]


def _table(
    looks: list[tuple[Place, Look]], counts: Mapping[str, Mapping[Severity, int]], home: str
) -> list[str]:
    if not looks:
        return ["No agent keeps a memory on this machine yet, and none was opened by its path."]
    rows = [_row(place, look, counts[look.memory.root], home) for place, look in looks]
    head = ("agent", "project", "notes", "load", "errors", "warnings")
    return _aligned([head, *rows])


def _row(place: Place, look: Look, counts: Mapping[Severity, int], home: str) -> tuple[str, ...]:
    from ricordo.health.finding import Severity
    from ricordo.text import one_line

    load = look.memory.load
    return (
        place.layout.agent or place.layout.kind.value,
        one_line(_from_home(place.project or place.root, home)),
        str(len(look.memory.notes)),
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
