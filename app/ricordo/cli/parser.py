"""The parser of a command line, which tells a mistake like every other error."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, NoReturn

from ricordo.cli.streams import write_out
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from ricordo.services.workspace.environment import Environment

_NAME = "\0"
"""Stands before a word that is no option, however it begins; no argument can hold it."""
_CONDITION = re.compile(r'-(?:(?:type|is|has|after|before|in):|[<>"])', re.IGNORECASE)
"""The beginning of a condition of a search that must not hold; no option begins so."""


class Parser(ArgumentParser):
    """Raises WrongUsage instead of printing its usage and ending the process."""

    def parse_words(self, words: list[str]) -> Namespace:
        """Return what `words` say, options and others in any order; behind `--` none is an option.
        Raises WrongUsage.
        """
        # argparse itself forgets the `--` where options and others may be mixed
        end = words.index("--") if "--" in words else len(words)
        options = self.parse_intermixed_args(
            [f"{_NAME}{word}" if _CONDITION.match(word) else word for word in words[:end]]
            + [f"{_NAME}{word}" for word in words[end + 1 :]]
        )
        for key, value in vars(options).items():
            if isinstance(value, str):
                setattr(options, key, value.removeprefix(_NAME))
        return options

    def print_help(self, file: object = None) -> None:
        """Print the help on stdout. Raises Unprintable."""
        write_out(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise WrongUsage."""
        told = message.replace(_NAME, "")
        raise WrongUsage(f"{told[:1].upper()}{told[1:]}. `{self.prog} --help` says more.")


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


def with_project(options: Namespace, surroundings: Environment) -> Environment:
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
