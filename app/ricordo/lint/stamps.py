"""Digests of what results of judging depend on, as the keys of caches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from hashlib import blake2b

from ricordo.memory.layout import Layout
from ricordo.memory.note import Note
from ricordo.storage.cache_file import compute_code_stamp


def compute_stamp(layout: Layout, parts: Iterable[object]) -> str:
    """Return a digest of the code, of the kind of a memory, and of `parts`, by their repr."""
    of_layout = (
        (field.name, sorted(value) if isinstance(value, frozenset) else value)
        for field in fields(layout)
        for value in (getattr(layout, field.name),)
    )
    known = (compute_code_stamp(), *of_layout, *parts)
    return compute_digest_of("\0".join(map(repr, known)).encode("utf-8", "surrogatepass"))


def compute_key(file: Note) -> str:
    """Return a digest of all that rules on one file, and checks of its claims, use of the file."""
    path = file.path.encode("utf-8", "surrogateescape")
    facts = b"%b\0%d\0%b\0" % (path, file.facts.size, file.read_error.encode())
    return compute_digest_of(facts, file.raw)


def compute_digest_of(*parts: bytes) -> str:
    """Return a digest of bytes."""
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
