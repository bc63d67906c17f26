"""A command of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from ricordo.services.workspace.environment import Environment


class Command(NamedTuple):
    """What a module of commands offers for each of them."""

    summary: str
    """One sentence for `--help` and the page of the commands."""
    add_arguments: Callable[[ArgumentParser], None]
    """Declares the arguments of the command."""
    run: Callable[[Namespace, Environment], int]
    """Runs the command and returns its exit code."""
