"""Repairing a draft after notes of it moved, got other names or left: links and heads that name
them follow, everything else stays. What cannot follow is told in remarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from ricordo.errors import ChangeRefused
from ricordo.memory.draft import MemoryDraft
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.values import Value
from ricordo.memory.link_text import (
    astray,
    links_to,
    pointing_to,
    relative,
    rewrite_links,
    unlinked,
)
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory, head_link
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
from ricordo.text import visible


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


def keep_links(
    draft: MemoryDraft,
    before: Memory,
    after: Memory,
    moved: Mapping[str, str],
    written_anew: Collection[str] = (),
) -> list[str]:
    """Let all links of `before` lead where they led, now that files have `moved` to new paths or
    have other names, as they do in `after`; return remarks.

    In the draft the files must have the text that they had in `before`, but for those that were
    `written_anew`, whose links are left alone.
    """
    remarks: list[str] = []
    if not moved and after.names is before.names:
        return remarks
    for source, targets in astray(before, after, moved):
        if source.path in written_anew:
            continue
        path = moved.get(source.path, source.path)

        def written(
            link: Link, old: str, path: str = path, targets: Mapping[Link, str] = targets
        ) -> str:
            return pointing_to(link, old, path, targets[link], after)

        remarks += _rewrite(
            draft, path, partial(rewrite_links, links=tuple(targets), written=written)
        )
    for source in before.files:
        if source.path not in written_anew and source.head.fields:
            remarks += _rename_in_head(draft, before, after, moved, source)
    return remarks


def links_become_text(draft: MemoryDraft, path: str, within: str = "") -> list[str]:
    """Let the links that lead to the file at `path` be text, in the file `within` or, without
    one, in all others; return remarks.
    """
    remarks: list[str] = []
    memory = draft.now
    for source, links in links_to(memory, path):
        if within in ("", source.path):
            remarks += _rewrite(draft, source.path, partial(unlinked, links=links))
    for other in memory.backlinks.get(path, ()):
        if within in ("", other) and path in memory.named_in_head(memory.by_path[other]):
            remarks.append(f"The head of {visible(other)} still names {visible(path)}.")
    return remarks


def _rewrite(draft: MemoryDraft, path: str, rewritten: Callable[[str], str]) -> list[str]:
    """Give the file at `path` its text with links `rewritten`; return why that was not possible."""
    try:
        text = draft.text(path)
    except ChangeRefused as refused:
        return [f"A link could not follow: {refused.message}"]
    draft.put(path, rewritten(text))
    return []


def _rename_in_head(
    draft: MemoryDraft, before: Memory, after: Memory, moved: Mapping[str, str], source: Note
) -> list[str]:
    """Let the head of `source` name by their new names the files that it named in `before`."""
    remarks: list[str] = []
    path = moved.get(source.path, source.path)
    for found in before.head_items(source):
        to = moved.get(found.path, found.path)
        if found.leads is not Leads.NOTE or after.names.resolve(path, found.link).path == to:
            continue
        if to == path and found.path != source.path:
            # a successor that named the note which is now part of it
            continue
        text, old = draft.file(path).text, found.link.target
        if found.link.label not in (it.link.label for it in after.head_items(draft.file(path))):
            # it was written as a link, which has followed
            continue
        edited = with_item(text, old, item_for(after, path, to, old))
        try:
            if edited is None:
                raise ChangeRefused("its place in the head is not certain.")
            draft.text(path)
            draft.put(path, edited)
        except ChangeRefused as refused:
            remarks.append(
                f"The head of {visible(path)} still names {visible(old)}: {refused.message}"
            )
    return remarks
