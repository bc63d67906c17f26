"""`ricordo restore`: bring a version of a note back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.changing import apply_reported, begin_reported
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Bring a version of a note back: the one before, or that named by --at."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `restore`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    parser.add_argument("--at", metavar="ID", default="", help="a version that `history` lists")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Restore the note."""
    from ricordo.cli.output import print_lines
    from ricordo.memory.change_set import digest
    from ricordo.notebook.pick import pick_path
    from ricordo.notebook.restore import restore
    from ricordo.notebook.versions import pick_version, versions

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook)
    path = pick_path(notebook, memory, options.note)
    file = memory.by_path.get(path)
    now = digest(file.raw) if file else None
    found = versions(notebook, path)
    earlier = found if options.at else [version for version in found if version.sha != now]
    version = pick_version(earlier, options.at)
    change_set = restore(notebook, memory, version, path)
    told = f"{one_line(path)} as of {version.at[:16].replace('T', ' ')}"
    if change_set:
        apply_reported(notebook, change_set, f"restored {told}")
    else:
        print_lines([f"{told}: that is what it holds already"])
    return 0
