"""Blocks of data in what a model is given. No text inside a block can foretell the word that ends
it, so none can end its block.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

from ricordo.model.redaction import Sealed, framed


def stable_block(text: Sealed) -> Sealed:
    """Return `text` as a block that is the same for the same text, so that a cache can serve it:
    its word is a digest of all that it holds.
    """
    return _block(text, sha256(text.encode("utf-8", "replace")).hexdigest()[:32])


def changing_block(text: Sealed) -> Sealed:
    """Return `text` as a block whose word is drawn by chance each time."""
    return _block(text, secrets.token_hex(16))


def _block(text: Sealed, word: str) -> Sealed:
    return framed(f"<<data {word}\n", (text,), f"data {word}>>\n")
