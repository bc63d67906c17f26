"""A throwaway copy of the sample memory, with a home and a state of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ricordo.disk.throwaway import throwaway_copy
from ricordo.notebook.surroundings import Surroundings
from ricordo.resources import sample_memory_directory


class Sample(NamedTuple):
    """Where the copy lies."""

    memory: str
    """Its memory's directory."""
    surroundings: Surroundings
    """The caller's, with the copy's home, state and project in the place of their own."""


@contextmanager
def copied_sample(surroundings: Surroundings) -> Iterator[Sample]:
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
