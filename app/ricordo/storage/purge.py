"""Remove a value from every version in the history, so that no byte of it stays in the file."""

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
"""The replacement of the value."""
PATIENCE = 5.0
"""Seconds to wait for other programs that read the history."""
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252")
"""The encodings of notes that Ricordo can read or convert."""
_OF_NO_FILE = " AND subject NOT IN (SELECT path FROM head)"
"""Excludes decisions on existing files, whose subject is the path."""


@dataclass(frozen=True, slots=True)
class PurgedValues:
    """The numbers of purged texts."""

    contents: int
    """Stored contents that contained the value."""
    texts: int
    """Reasons, subjects and paths that contained it."""


def purge(database: Database, value: str) -> PurgedValues:
    """Replace `value` by a mask in every stored content, reason and path, and overwrite the old
    bytes. The path of an existing file is not changed.

    Versions stay in the history without the value. Raises StateUnusable, and Busy if another
    program reads the history; then purging again removes the masked value from the file.
    """
    if not database.exists:
        return PurgedValues(0, 0)
    with state_lock(database.state), database.connect() as connection:
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            contents = _purge_contents(connection, encode_forms(value))
            others = _purge_acts(connection, value) + _purge_paths(connection, value)
        if not _overwrite_deleted(connection):
            raise Busy(
                "Another program is reading the history, so its file could not be rewritten. "
                "Close that program and purge again.",
                changed=f"{contents} texts, {others} reasons and paths were masked; the bytes of "
                "the value are still in the file.",
            )
    return PurgedValues(contents, others)


def count_contents(database: Database, value: str) -> int:
    """Return how many stored contents contain `value`. Raises StateUnusable."""
    if not database.exists:
        return 0
    with database.connect() as connection:
        return len(_find_contents(connection, encode_forms(value)))


def encode_forms(value: str) -> dict[bytes, bytes]:
    """Return the bytes of `value` in every encoding of a note, each with its mask."""
    masks: dict[bytes, bytes] = {}
    for encoding in _ENCODINGS:
        try:
            form = value.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            continue
        masks.setdefault(form, MASK.encode(encoding, "replace"))
    return masks


def contains_any(content: bytes, forms: dict[bytes, bytes]) -> bool:
    """Return whether `content` contains the value in one of its `forms`."""
    return any(form in content for form in forms)


def _mask(content: bytes, forms: dict[bytes, bytes]) -> bytes:
    ordered = list(forms.items())
    if content.startswith(codecs.BOM_UTF16_BE):
        # the other byte order would match too, half a character off
        ordered.reverse()
    for form, mask in ordered:
        content = content.replace(form, mask)
    return content


def _overwrite_deleted(connection: sqlite3.Connection) -> bool:
    """Rewrite the file without deleted data; return whether that was possible."""
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
    matching = _find_contents(connection, forms)
    for sha, content in matching:
        masked = history.store_content(_mask(content, forms))
        for column in ("pre", "post"):
            connection.execute(f"UPDATE op SET {column} = ? WHERE {column} = ?", (masked, sha))
        # the file on disk still contains the value, and must not count as changed
        connection.execute(
            "UPDATE head SET masked = ? WHERE sha = ? OR masked = ?", (masked, sha, sha)
        )
        connection.execute("DELETE FROM masked WHERE sha = ?", (sha,))
        connection.execute("INSERT OR IGNORE INTO masked VALUES (?)", (masked,))
        connection.execute("DELETE FROM blob WHERE sha = ?", (sha,))
    return len(matching)


def _find_contents(
    connection: sqlite3.Connection, forms: dict[bytes, bytes]
) -> list[tuple[str, bytes]]:
    """Return the stored contents that contain one of `forms`, each after its SHA-256."""
    return [
        (sha, content)
        for sha, data in connection.execute("SELECT sha, data FROM blob")
        if contains_any(content := zlib.decompress(data), forms)
    ]


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
    """Mask the value in the paths of deleted files."""
    existing = set(connection.execute("SELECT root, path FROM head"))
    changed = 0
    for root, path in (("root", "path"), ("from_root", "from_path")):
        for of, name in connection.execute(f"SELECT DISTINCT {root}, {path} FROM op").fetchall():
            masked = _mask_path(name, value)
            if masked == name or (of, name) in existing:
                continue
            cursor = connection.execute(
                f"UPDATE op SET {path} = ? WHERE {root} = ? AND {path} = ?", (masked, of, name)
            )
            changed += cursor.rowcount
    return changed


def _mask_path(path: str | bytes, value: str) -> str | bytes:
    if isinstance(path, str):
        return path.replace(value, MASK)
    return path.replace(value.encode("utf-8", "surrogateescape"), MASK.encode())


_LARGEST = 1 << 30
_LARGEST_DOCUMENT = 64 * 1024 * 1024
_ASIDE = f"{DATABASE}.corrupt-"


def find_copies(state: str, value: str) -> tuple[str, ...]:
    """Return the files of `state` that contain `value` in one of its forms, such as copies for an
    editor.
    """
    wanted = encode_forms(value)
    # escaped for JSON
    wanted.setdefault(json.dumps(value)[1:-1].encode("ascii"), b"")
    return tuple(
        path
        for path in _list_files(state)
        if contains_any(read_plain_file(path, _LARGEST) or b"", wanted)
    )


def purge_documents(state: str, value: str) -> int:
    """Mask `value` in the JSON documents of `state`; return how many changed. Raises OSError."""
    count = 0
    for folder in (state, *(os.path.join(state, name) for name in ("recall", "curation"))):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for name in (name for name in names if name.endswith(".json")):
            document, _ = read_json(os.path.join(folder, name), _LARGEST_DOCUMENT)
            if (masked := _mask_json(document, value)) != document:
                replace_state_file(folder, name, json.dumps(masked).encode("ascii"))
                count += 1
    return count


def purge_caches(state: str, value: str) -> int:
    """Remove the caches of projects, comparisons and judgements, and what hooks keep of sessions,
    where they contain `value`; return how many files. Raises OSError.
    """
    matching = [
        path
        for folder in ("projects", "compared", "judged", "hook")
        for path in find_copies(os.path.join(state, folder), value)
    ]
    for path in matching:
        os.unlink(path)
    return len(matching)


def _mask_json(document: object, value: str) -> object:
    if isinstance(document, str):
        return document.replace(value, MASK)
    if isinstance(document, list):
        return [_mask_json(item, value) for item in document]
    if isinstance(document, dict):
        return {_mask_json(key, value): _mask_json(item, value) for key, item in document.items()}
    return document


def list_damaged_histories(state: str) -> tuple[str, ...]:
    """Return the paths of damaged histories that were moved aside, which cannot be searched."""
    return tuple(path for path in _list_all(state) if os.path.basename(path).startswith(_ASIDE))


def _list_files(state: str) -> Iterator[str]:
    """Yield the files of `state` except the histories."""
    return (path for path in _list_all(state) if not os.path.basename(path).startswith(DATABASE))


def _list_all(state: str) -> Iterator[str]:
    for folder, _, names in os.walk(state):
        yield from (os.path.join(folder, name) for name in sorted(names))
