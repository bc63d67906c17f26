"""Where a handoff is written: to the file that is wished, or beside it where somebody else's stands
there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ricordo.disk.plain_file import read_plain_file
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Handoff
from ricordo.handoff.parse import MOST_BYTES, State, parse
from ricordo.text import visible


@dataclass(frozen=True, slots=True)
class Destination:
    """A file to which a handoff may be written."""

    path: str
    """Absolute, its folder without symbolic links."""
    before: bytes | None = None
    """What it holds; None where it is not there."""
    handoff: Handoff | None = None
    """The handoff of ours that it is; None where it is not there."""
    remark: str = ""
    """Why it is not the file that was wished; "" where it is."""


def destination(path: str) -> Destination:
    """Return where the handoff for the file `path` is written. Raises ChangeRefused where neither
    that file nor the one beside it is ours to write.
    """
    folder, name = os.path.split(os.path.abspath(path))
    folder = os.path.realpath(folder)
    stem, extension = os.path.splitext(name)
    beside = f"{stem}.new{extension}"
    own, why = _standing(os.path.join(folder, name))
    if own is not None:
        return own
    other, why_beside = _standing(os.path.join(folder, beside))
    if other is None:
        told = f"{visible(name)} is left alone. {why} So is {visible(beside)}. {why_beside}"
        raise ChangeRefused(f"{told} Name another file with -o.")
    remark = f"{visible(name)} is left alone. {why} The handoff stands beside it."
    return Destination(other.path, other.before, other.handoff, remark)


def _standing(path: str) -> tuple[Destination | None, str]:
    """Return the file at `path` as one to write to; None, and why, where it is not ours."""
    raw = read_plain_file(path, MOST_BYTES + 1)
    if raw is None:
        if os.path.lexists(path):
            return None, "It is no plain file that can be read."
        return Destination(path), ""
    parsed = parse(raw)
    if parsed.state is not State.WHOLE:
        return None, parsed.why
    if not os.stat(path, follow_symlinks=False).st_mode & 0o222:
        return None, "It is read-only."
    return Destination(path, raw, parsed.handoff), ""
