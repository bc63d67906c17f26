"""Folders that are thrown away."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def throwaway_copy(folder: str) -> Iterator[str]:
    """Copy `folder` into a temporary one, give its path, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="ricordo-") as temporary:
        copy = os.path.join(temporary, os.path.basename(folder))
        shutil.copytree(folder, copy, symlinks=True)
        yield copy


@contextmanager
def empty_folder() -> Iterator[str]:
    """Make an empty folder for this user only, give its path, and remove it with all that is in it
    by then, as far as that can be removed.
    """
    with tempfile.TemporaryDirectory(prefix="ricordo-run-", ignore_cleanup_errors=True) as folder:
        yield folder
