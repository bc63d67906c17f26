"""A throwaway copy of the sample memory, with its own home and state directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ricordo.resources import sample_memory_directory
from ricordo.services.workspace.environment import Environment
from ricordo.storage.private_copy import temporary_copy


class Sample(NamedTuple):
    """The paths of the copy."""

    memory: str
    """The directory of its memory."""
    environment: Environment
    """The caller's environment with the home, state and project of the copy."""


@contextmanager
def copy_sample(environment: Environment) -> Iterator[Sample]:
    """Copy the sample memory to a temporary folder; delete the copy on exit."""
    with temporary_copy(sample_memory_directory()) as folder:
        yield Sample(
            os.path.join(folder, "memory"),
            environment._replace(
                cwd=os.path.join(folder, "project"),
                agent_home=os.path.join(folder, "home"),
                state=os.path.join(folder, "state"),
                project=os.path.join(folder, "project"),
            ),
        )
