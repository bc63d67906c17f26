"""The commands of the command line, and their parser, whose errors are reported like all others."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ricordo.cli.streams import write_out
from ricordo.errors import WrongUsage
from ricordo.patterns import compile_lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ricordo.services.workspace.environment import Environment


_NAME = "\0"
"""Prefix that marks an argument as no option; no argument can contain it."""
_CONDITION = compile_lazily(r'-(?:(?:type|tag|is|has|after|before|in):|[<>"])', re.IGNORECASE)
"""Start of a negated condition of a search; no option starts like this."""
_PLAIN_ERRORS = (
    (r"the following arguments are required: (.+)", "`{prog}` needs {0}"),
    (r"one of the arguments (.+) is required", "`{prog}` needs one of {0}"),
    (r"unrecognized arguments: (.+)", "`{prog}` does not take “{0}”"),
    (r"argument (\S+): expected .*argument.*", "{0} needs a value"),
    (r"argument (\S+): not allowed with argument (.+)", "{0} and {1} cannot be used together"),
    (r"argument (\S+): ignored explicit argument '(.*)'", "{0} takes no value such as “{1}”"),
    (r"argument (\S+): invalid (?:int|float) value: '(.*)'", "{0} expects a number, not “{1}”"),
    (r"argument (\S+): (.+)", "{0} {1}"),
)
"""The messages of argparse, as patterns, and what is reported instead."""


class Parser(ArgumentParser):
    """An ArgumentParser that raises WrongUsage, with a suggestion for a mistyped word, instead of
    printing its usage and exiting.
    """

    _suggestion = ""
    """What may have been meant; "" if nothing is like it."""
    _words: Sequence[str] = ()
    """The words that are parsed, up to `--`."""

    def parse_words(self, words: list[str]) -> Namespace:
        """Return the parsed arguments `words`, options and others in any order; after `--` there
        are no options. Raises WrongUsage.
        """
        if not any(word.startswith("-") and "h" in word for word in words):
            # argparse formats the usage for errors and the help; an error here shows none
            self.usage = ""
        # argparse drops `--` when options and other arguments are intermixed
        end = words.index("--") if "--" in words else len(words)
        self._words = words[:end]
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
        """Raise WrongUsage for a `message` of argparse, in plain words."""
        plain = message.replace(_NAME, "")
        for pattern, form in _PLAIN_ERRORS:
            if match := re.fullmatch(pattern, plain, re.DOTALL):
                plain = form.format(*match.groups(), prog=self.prog)
                break
        self._refuse(plain)

    def _refuse(self, message: str) -> NoReturn:
        hint = self._suggestion or self._hint_at_dash()
        raise WrongUsage(f"{message}.", hint=f"{hint} See `{self.prog} --help`.".lstrip())

    def _hint_at_dash(self) -> str:
        """Return how to write the first word that begins with a dash and is no option; "" if there
        is none, or if it would not be taken either.
        """
        before = ""
        for word in self._words:
            is_option = word.partition("=")[0] in self._option_string_actions
            if len(word) > 1 and word[0] == "-" and not is_option and not _CONDITION.match(word):
                break
            before = word
        else:
            return ""
        option = self._option_string_actions.get(before)
        if option and option.nargs != 0:
            return f"A value that begins with a dash: `{before}={word}`."
        if all(action.option_strings for action in self._actions):
            return ""
        return f"What begins with a dash goes after `--`: `{self.prog} -- {word}`."

    def _suggest_option(self, words: list[str]) -> None:
        from ricordo.suggestions import suggest

        names = [word.partition("=")[0] for word in words if word.startswith("-")]
        if names:
            self._suggestion = suggest(names[0], self._option_string_actions, "`{}`")

    def _check_value(self, action: Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        from ricordo.suggestions import suggest

        word, choices = str(value).removeprefix(_NAME), list(map(str, action.choices))
        self._suggestion = suggest(word, choices)
        taker = action.option_strings[-1] if action.option_strings else f"`{self.prog}`"
        self._refuse(f"{taker} takes one of {', '.join(choices)}, not “{word}”")


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
    changing: Collection[str] = ()
    """Its name if it changes files or decisions, else the words with which it does."""
