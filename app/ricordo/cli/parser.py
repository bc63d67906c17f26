"""The parser of a command line, which tells a mistake like every other error."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import NoReturn

from ricordo.errors import WrongUsage


class Parser(ArgumentParser):
    """Raises WrongUsage instead of printing its usage and ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise WrongUsage."""
        raise WrongUsage(f"{message[:1].upper()}{message[1:]}. `{self.prog} --help` says more.")
