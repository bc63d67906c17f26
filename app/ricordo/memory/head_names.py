"""Notes that a head names in its lists (`sources:`, `related:`): writing such an item anew."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.memory import frontmatter
from ricordo.memory.head import Value
from ricordo.memory.memory import Memory, head_link
from ricordo.memory.relink import relative


def item_for(memory: Memory, source: str, to: str, old: str) -> str:
    """Return how the head of the file `source` names the one at `to`, in the manner of the item
    `old`; "" where nothing does.
    """
    return next(
        (
            item
            for item in _choices(memory, source, to, old)
            if memory.names.resolve(source, head_link(item)).path == to
        ),
        "",
    )


def with_item(text: str, old: str, new: str) -> str | None:
    """Return a note's `text` with the item `old` of its head as `new`; None where it does not
    stand there exactly once, or more than that would change.
    """
    head = frontmatter.read(text)
    item = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w./-])")
    places = list(item.finditer(text[: head.end]))
    if not (old and new) or len(places) != 1 or head.fault is not None:
        return None
    start, end = places[0].span()
    edited = text[:start] + new + text[end:]
    now = frontmatter.read(edited)
    wanted = {key: _exchanged(value, item, new) for key, value in head.fields.items()}
    is_clean = now.fault is None and now.fields == wanted and now.fields != head.fields
    return edited if is_clean and edited[now.end :] == text[head.end :] else None


def _choices(memory: Memory, source: str, to: str, old: str) -> Iterator[str]:
    ending = ".md" if old.endswith(".md") else ""
    if "/" not in old:
        yield from (
            f"{name}{ending}" for name in (memory.by_path[to].name, memory.by_path[to].stem)
        )
    if old.startswith("."):
        yield relative(to, source).removesuffix(".md") + ending
    yield to.removesuffix(".md") + ending
    yield to


def _exchanged(value: Value, item: re.Pattern[str], new: str) -> Value:
    if isinstance(value, str):
        return item.sub(lambda _: new, value)
    if isinstance(value, tuple):
        return tuple(_exchanged(part, item, new) for part in value)
    if value is None:
        return None
    return {key: _exchanged(part, item, new) for key, part in value.items()}
