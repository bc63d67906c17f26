"""Arguments that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings


def add_memory(parser: ArgumentParser) -> None:
    """Add PATH, which every command also takes as `-m PATH`."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="the memory's directory, its index, or a project; without it, that of this directory",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as PATH")


def memory_path(options: Namespace) -> str | None:
    """Return the memory that the words name; None where they name none."""
    path = options.memory or options.path
    return str(path) if path else None


def add_project(parser: ArgumentParser) -> None:
    """Add `--project DIR`."""
    parser.add_argument(
        "--project", metavar="DIR", help="check claims against this directory; else the memory's"
    )


def with_project(options: Namespace, surroundings: Surroundings) -> Surroundings:
    """Return `surroundings` with the project that the words name. Raises WrongUsage where that is
    no directory.
    """
    if options.project is None:
        return surroundings
    import os

    from ricordo.errors import WrongUsage
    from ricordo.text import one_line

    full = os.path.join(surroundings.cwd, options.project)
    if not os.path.isdir(full):
        raise WrongUsage(f"--project: {one_line(full)} is no directory.")
    return surroundings._replace(project=full)


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
