"""`ricordo resume`: run the probes of a handoff again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json
from ricordo.cli.output import tell
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.handoff.resume import Resumed
    from ricordo.handoff.since import FileChange
    from ricordo.notebook.resuming import Resumption
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Run the probes of a handoff again: what of it still holds, and what changed since.

Nothing is written, and nothing of the project is run."""

_HOLDS_NOT = 1
"""The exit code where a statement no longer holds."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `resume`."""
    parser.add_argument(
        "handoff",
        metavar="HANDOFF.md",
        nargs="?",
        default="",
        help="the handoff; without it, that of the project of this directory",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the memory whose notes it names")
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Probe, and say what holds."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe_handoff import describe_resumption
    from ricordo.notebook.resuming import resume_handoff

    found = resume_handoff(surroundings, options.handoff, options.memory)
    if options.json:
        print_json(describe_resumption(found))
    else:
        tell(found.remarks)
        print_lines(list(_lines(found)))
    return 0 if found.resumed.holds else _HOLDS_NOT


def _lines(found: Resumption) -> Iterator[str]:
    resumed = found.resumed
    fallen = [it for it in resumed.statements if not it.holds]
    for it in fallen:
        text = it.statement.text or it.statement.quote
        yield f"{it.was.value} → {it.now.value}: {one_line(text)}"
        yield f"    {one_line(it.why)}"
    yield from _changes(resumed)
    head = resumed.handoff.head
    written = f"{one_line(found.path)}, written {head.written:%Y-%m-%d %H:%M}"
    expired = f", expired {head.expires:%Y-%m-%d}" if resumed.has_expired else ""
    yield f"{written}{expired}"
    count = len(resumed.statements)
    yield f"{count - len(fallen)} of {count} statements stand as they are marked"


def _changes(resumed: Resumed) -> Iterator[str]:
    changed = resumed.changed
    if changed.commits:
        yield f"commits since: {len(changed.commits)}"
        yield from (f"  {it.id[:12]} {one_line(it.subject)}" for it in changed.commits)
    yield from _listed("files", changed.files)
    yield from _listed("notes", changed.notes)


def _listed(what: str, changes: Iterable[FileChange]) -> Iterator[str]:
    lines = [
        f"  {it.kind.value} {one_line(it.path)}{f' → {one_line(it.to)}' if it.to else ''}"
        for it in changes
    ]
    if lines:
        yield from (f"{what} since: {len(lines)}", *lines)
