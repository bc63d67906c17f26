"""Telling a renamed note from one that was deleted beside one that was created."""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.recall.likeness import ratio

ENOUGH = 85.0
"""Likeness, of 100, from which on two texts are one note that got another name."""
_MOST = 40
"""Notes gone or arrived at once, up to which texts are compared and not only found equal."""
_LONGEST = 20_000


def pair_renamed(gone: Mapping[str, bytes], arrived: Mapping[str, bytes]) -> dict[str, str]:
    """Return for paths that `arrived` the paths, of those `gone`, from which their notes came:
    first by equal content, then by the likest text.
    """
    by_content: dict[bytes, list[str]] = {}
    for path, raw in gone.items():
        if raw.strip():
            by_content.setdefault(raw, []).append(path)
    origins: dict[str, str] = {}
    for path, raw in arrived.items():
        same = by_content.get(raw)
        if same:
            origins[path] = same.pop(0)
    left = {path: raw for path, raw in gone.items() if path not in origins.values()}
    new = {path: raw for path, raw in arrived.items() if path not in origins}
    if not left or not new or len(left) > _MOST or len(new) > _MOST:
        return origins
    found = sorted(
        (
            (ratio(_text(raw), _text(old)), path, origin)
            for path, raw in new.items()
            for origin, old in left.items()
        ),
        reverse=True,
    )
    for score, path, origin in found:
        if score >= ENOUGH and path not in origins and origin not in origins.values():
            origins[path] = origin
    return origins


def _text(raw: bytes) -> str:
    return raw[:_LONGEST].decode("utf-8", "replace")
