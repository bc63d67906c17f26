"""What names a value without telling it, for what is kept and shown."""

from __future__ import annotations

import hashlib

_SIZE = 12
"""Bytes."""


def fingerprint(key: bytes, value: str) -> str:
    """Return what names `value` for those who hold `key`, as 24 characters; without the key no
    guess can be tried against it, however few values there are to guess from.
    """
    raw = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, key=key, digest_size=_SIZE).hexdigest()
