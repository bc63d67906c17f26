"""The commands of the command line, and their parser, whose errors are reported like all others."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ricordo.cli.streams import write_out
from ricordo.errors import WrongUsage
from ricordo.patterns import compile_lazily

if TYPE_CHECKING:
    from collections.abc import Callable

    from ricordo.services.workspace.environment import Environment


_NAME = "\0"
"""Prefix that marks an argument as no option; no argument can contain it."""
_CONDITION = compile_lazily(r'-(?:(?:type|tag|is|has|after|before|in):|[<>"])', re.IGNORECASE)
"""Start of a negated condition of a search; no option starts like this."""


class Parser(ArgumentParser):
    """An ArgumentParser that raises WrongUsage, with a suggestion for a mistyped word, instead of
    printing its usage and exiting.
    """

    _suggestion = ""
    """What may have been meant; "" if nothing is like it."""

    def parse_words(self, words: list[str]) -> Namespace:
        """Return the parsed arguments `words`, options and others in any order; after `--` there
        are no options. Raises WrongUsage.
        """
        if not any(word.startswith("-") and "h" in word for word in words):
            # argparse formats the usage for errors and the help; an error here shows none
            self.usage = ""
        # argparse drops `--` when options and other arguments are intermixed
        end = words.index("--") if "--" in words else len(words)
        options, unknown = self.parse_known_intermixed_args(
            [f"{_NAME}{word}" if _CONDITION.match(word) else word for word in words[:end]]
            + [f"{_NAME}{word}" for word in words[end + 1 :]]
        )
        if unknown:
            self._suggest_option(unknown)
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        for key, value in vars(options).items():
            if isinstance(value, str):
                setattr(options, key, value.removeprefix(_NAME))
            elif isinstance(value, list):
                values = [it.removeprefix(_NAME) if isinstance(it, str) else it for it in value]
                setattr(options, key, values)
        return options

    def print_help(self, file: object = None) -> None:
        """Print the help on stdout. Raises OutputFailed."""
        write_out(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise WrongUsage."""
        plain = message.replace(_NAME, "")
        hint = f"{self._suggestion} See `{self.prog} --help`.".lstrip()
        raise WrongUsage(f"{plain[:1].upper()}{plain[1:]}.", hint=hint)

    def _suggest_option(self, words: list[str]) -> None:
        from ricordo.suggestions import suggest

        names = [word.partition("=")[0] for word in words if word.startswith("-")]
        if names:
            self._suggestion = suggest(names[0], self._option_string_actions, "`{}`")

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from ricordo.suggestions import suggest

            self._suggestion = suggest(str(value).removeprefix(_NAME), map(str, action.choices))
        super()._check_value(action, value)


def add_memory(parser: ArgumentParser) -> None:
    """Add PATH, which every command also takes as `-m PATH`."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="memory directory, index file or project (default: the current directory)",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as PATH")


def get_memory_path(options: Namespace) -> str | None:
    """Return the PATH of the memory; None if none is given."""
    path = options.memory or options.path
    return str(path) if path else None


def add_project(parser: ArgumentParser) -> None:
    """Add `--project DIR`."""
    parser.add_argument(
        "--project",
        metavar="DIR",
        help="check claims against this directory (default: the memory's project)",
    )


def with_project(options: Namespace, environment: Environment) -> Environment:
    """Return `environment` with the project of `--project`. Raises WrongUsage if that is not a
    directory.
    """
    if options.project is None:
        return environment
    import os

    from ricordo.errors import WrongUsage
    from ricordo.text import make_one_line

    full = os.path.join(environment.cwd, options.project)
    if not os.path.isdir(full):
        raise WrongUsage(f"--project: {make_one_line(full)} is not a directory.")
    return environment._replace(project=full)


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_memory_and_json(parser: ArgumentParser) -> None:
    """Add PATH and `--json`: the arguments of commands without any of their own."""
    add_memory(parser)
    add_json(parser)


class Command(NamedTuple):
    """A command: its help text, arguments and function."""

    summary: str
    """Description for `--help` and docs/commands.md."""
    add_arguments: Callable[[ArgumentParser], None]
    """Declares the arguments of the command."""
    run: Callable[[Namespace, Environment], int]
    """Runs the command and returns its exit code."""
