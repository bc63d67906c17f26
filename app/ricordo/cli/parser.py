"""The parser of a command line, which tells a mistake like every other error."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from typing import NoReturn

from ricordo.cli.main import write_out
from ricordo.errors import WrongUsage

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
