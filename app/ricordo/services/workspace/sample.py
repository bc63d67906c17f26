"""A throwaway copy of the sample memory, with a home and a state of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ricordo.resources import sample_memory_directory
from ricordo.services.workspace.environment import Environment
from ricordo.storage.private_copy import throwaway_copy


class Sample(NamedTuple):
    """Where the copy lies."""

    memory: str
    """Its memory's directory."""
    surroundings: Environment
    """The caller's, with the copy's home, state and project in the place of their own."""


@contextmanager
def copied_sample(surroundings: Environment) -> Iterator[Sample]:
    """Copy the sample memory to a temporary folder; remove it at the end."""
    with throwaway_copy(sample_memory_directory()) as folder:
        yield Sample(
            os.path.join(folder, "memory"),
            surroundings._replace(
                cwd=os.path.join(folder, "project"),
                agent_home=os.path.join(folder, "home"),
                state=os.path.join(folder, "state"),
                project=os.path.join(folder, "project"),
            ),
        )
