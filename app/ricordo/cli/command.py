"""A command of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from ricordo.services.workspace.environment import Environment


class Command(NamedTuple):
    """A command: its help text, arguments and function."""

    summary: str
    """Description for `--help` and docs/commands.md."""
    add_arguments: Callable[[ArgumentParser], None]
    """Declares the arguments of the command."""
    run: Callable[[Namespace, Environment], int]
    """Runs the command and returns its exit code."""
