"""Throwaway copies of a folder."""

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
