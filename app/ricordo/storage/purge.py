"""Removing a value from every version in the history, so that no byte of it stays in the file."""

from __future__ import annotations

import codecs
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from ricordo.errors import Busy
from ricordo.storage.database import DATABASE, Database, transaction
from ricordo.storage.foreign_file import read_json, read_plain_file
from ricordo.storage.history import History
from ricordo.storage.lock import state_lock
from ricordo.storage.state_file import replace_state_file

MASK = "█" * 8
"""What stands in the place of the value from then on."""
PATIENCE = 5.0
"""Seconds for which a program is waited for that reads the history meanwhile."""
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252")
"""In which notes are written that Ricordo can read, or turn into such."""
_OF_NO_FILE = " AND subject NOT IN (SELECT path FROM head)"
"""Decisions on a file that is there count under its path."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge removed."""

    contents: int
    """Kept contents that held the value."""
    told: int
    """Reasons, subjects and paths that held it."""


def purge(database: Database, value: str) -> Purged:
    """Replace `value` by a mask in every kept content, reason and path, and overwrite what held
    it. The path of a file that is still there stays.

    Versions keep their place in the history, only the value is gone from them. Raises
    StateUnusable, and Busy where another program reads the history; a value that was masked
    already leaves the file when it is purged again.
    """
    if not database.exists:
        return Purged(0, 0)
    with state_lock(database.state), database.opened() as connection:
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            contents = _purge_contents(connection, forms(value))
            told = _purge_acts(connection, value) + _purge_paths(connection, value)
        if not _is_overwritten(connection):
            raise Busy(
                "Another program is reading the history, so its file could not be written anew: "
                "end that program and purge again.",
                changed=f"{contents} texts, {told} reasons and paths were masked; the bytes of the "
                "value are still in the file.",
            )
    return Purged(contents, told)


def forms(value: str) -> dict[bytes, bytes]:
    """Return the bytes that `value` has in every encoding of a note, each with its mask."""
    found: dict[bytes, bytes] = {}
    for encoding in _ENCODINGS:
        try:
            form = value.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            continue
        found.setdefault(form, MASK.encode(encoding, "replace"))
    return found


def holds(content: bytes, forms: dict[bytes, bytes]) -> bool:
    """Say whether `content` holds the value in one of its `forms`."""
    return any(form in content for form in forms)


def _masked(content: bytes, forms: dict[bytes, bytes]) -> bytes:
    ordered = list(forms.items())
    if content.startswith(codecs.BOM_UTF16_BE):
        # the other order of bytes would be found too, half a character off
        ordered.reverse()
    for form, mask in ordered:
        content = content.replace(form, mask)
    return content


def _is_overwritten(connection: sqlite3.Connection) -> bool:
    """Write the file anew without what was deleted; say whether that was possible."""
    try:
        connection.execute("VACUUM")
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    return not busy


def _purge_contents(connection: sqlite3.Connection, forms: dict[bytes, bytes]) -> int:
    history = History(connection)
    holding = [
        (sha, content)
        for sha, data in connection.execute("SELECT sha, data FROM blob")
        if holds(content := zlib.decompress(data), forms)
    ]
    for sha, content in holding:
        masked = history.keep(_masked(content, forms))
        for column in ("pre", "post"):
            connection.execute(f"UPDATE op SET {column} = ? WHERE {column} = ?", (masked, sha))
        # the file on disk still holds the value: it is no other one for that
        connection.execute(
            "UPDATE head SET masked = ? WHERE sha = ? OR masked = ?", (masked, sha, sha)
        )
        connection.execute("DELETE FROM masked WHERE sha = ?", (sha,))
        connection.execute("INSERT OR IGNORE INTO masked VALUES (?)", (masked,))
        connection.execute("DELETE FROM blob WHERE sha = ?", (sha,))
    return len(holding)


def _purge_acts(connection: sqlite3.Connection, value: str) -> int:
    changed = 0
    # subjects may be JSON
    for form in dict.fromkeys((value, json.dumps(value)[1:-1])):
        for column, which in (("reason", ""), ("subject", _OF_NO_FILE)):
            cursor = connection.execute(
                f"UPDATE act SET {column} = replace({column}, ?, ?) WHERE instr({column}, ?)"
                + which,
                (form, MASK, form),
            )
            changed += cursor.rowcount
    return changed


def _purge_paths(connection: sqlite3.Connection, value: str) -> int:
    """Mask the value in the paths of files that are gone."""
    standing = set(connection.execute("SELECT root, path FROM head"))
    changed = 0
    for root, path in (("root", "path"), ("from_root", "from_path")):
        for of, name in connection.execute(f"SELECT DISTINCT {root}, {path} FROM op").fetchall():
            masked = _masked_path(name, value)
            if masked == name or (of, name) in standing:
                continue
            cursor = connection.execute(
                f"UPDATE op SET {path} = ? WHERE {root} = ? AND {path} = ?", (masked, of, name)
            )
            changed += cursor.rowcount
    return changed


def _masked_path(path: str | bytes, value: str) -> str | bytes:
    if isinstance(path, str):
        return path.replace(value, MASK)
    return path.replace(value.encode("utf-8", "surrogateescape"), MASK.encode())


_LARGEST = 1 << 30
_LARGEST_DOCUMENT = 64 * 1024 * 1024
_ASIDE = f"{DATABASE}.corrupt-"


def copies_holding(state: str, value: str) -> tuple[str, ...]:
    """Return the files of `state` that hold `value` in one of its forms: what an editor was given,
    above all.
    """
    wanted = forms(value)
    # as JSON has it
    wanted.setdefault(json.dumps(value)[1:-1].encode("ascii"), b"")
    return tuple(
        path for path in _files(state) if holds(read_plain_file(path, _LARGEST) or b"", wanted)
    )


def purge_documents(state: str, value: str) -> int:
    """Mask `value` in the JSON documents of `state`; return in how many it was. Raises OSError."""
    count = 0
    for folder in (state, *(os.path.join(state, name) for name in ("recall", "curation"))):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in (it for it in names if it.endswith(".json")):
            document, _ = read_json(os.path.join(folder, name), _LARGEST_DOCUMENT)
            if (masked := _own_copies_masked(document, value)) != document:
                replace_state_file(folder, name, json.dumps(masked).encode("ascii"))
                count += 1
    return count


def purge_caches(state: str, value: str) -> int:
    """Remove what is kept of projects and of comparisons where a path in it holds `value`; return
    how many files. They are made again when they are needed. Raises OSError.
    """
    holding = [
        path
        for folder in ("projects", "compared")
        for path in copies_holding(os.path.join(state, folder), value)
    ]
    for path in holding:
        os.unlink(path)
    return len(holding)


def _own_copies_masked(document: object, value: str) -> object:
    if isinstance(document, str):
        return document.replace(value, MASK)
    if isinstance(document, list):
        return [_own_copies_masked(it, value) for it in document]
    if isinstance(document, dict):
        return {
            _own_copies_masked(key, value): _own_copies_masked(it, value)
            for key, it in document.items()
        }
    return document


def histories_aside(state: str) -> tuple[str, ...]:
    """Return the damaged histories that were moved aside: nothing can be searched in them."""
    return tuple(path for path in _every(state) if os.path.basename(path).startswith(_ASIDE))


def _files(state: str) -> Iterator[str]:
    return (path for path in _every(state) if not os.path.basename(path).startswith(DATABASE))


def _every(state: str) -> Iterator[str]:
    for folder, _, names in os.walk(state):
        yield from (os.path.join(folder, name) for name in sorted(names))
