"""Update links and frontmatter of a draft after notes were moved, renamed or retired. What cannot
be updated is reported in warnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from ricordo.errors import ChangeRefused
from ricordo.memory.draft import MemoryDraft
from ricordo.memory.frontmatter import parser
from ricordo.memory.frontmatter.parser import Value
from ricordo.memory.link_text import (
    find_changed_links,
    find_links_to,
    relative_path,
    remove_links,
    retarget_link,
    rewrite_links,
)
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory, link_from_item
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.text import make_visible


def format_item(memory: Memory, source: str, to: str, old: str) -> str:
    """Return the frontmatter item by which the file `source` can name the one at `to`, in the
    style of the item `old`; "" if there is none.
    """
    return next(
        (
            item
            for item in _candidate_items(memory, source, to, old)
            if memory.names.resolve(source, link_from_item(item)).path == to
        ),
        "",
    )


def replace_item(text: str, old: str, new: str) -> str | None:
    """Return a note's `text` with the frontmatter item `old` replaced by `new`; None if it does
    not occur there exactly once, or more than that would change.
    """
    before = parser.read_frontmatter(text)
    item = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w./-])")
    places = list(item.finditer(text[: before.end]))
    if not (old and new) or len(places) != 1 or before.error is not None:
        return None
    start, end = places[0].span()
    edited = text[:start] + new + text[end:]
    after = parser.read_frontmatter(edited)
    expected = {key: _replace_in(value, item, new) for key, value in before.fields.items()}
    is_clean = after.error is None and after.fields == expected and after.fields != before.fields
    return edited if is_clean and edited[after.end :] == text[before.end :] else None


def _candidate_items(memory: Memory, source: str, to: str, old: str) -> Iterator[str]:
    ending = ".md" if old.endswith(".md") else ""
    if "/" not in old:
        yield from (
            f"{name}{ending}" for name in (memory.by_path[to].name, memory.by_path[to].stem)
        )
    if old.startswith("."):
        yield relative_path(to, source).removesuffix(".md") + ending
    yield to.removesuffix(".md") + ending
    yield to


def _replace_in(value: Value, item: re.Pattern[str], new: str) -> Value:
    if isinstance(value, str):
        return item.sub(lambda _: new, value)
    if isinstance(value, tuple):
        return tuple(_replace_in(part, item, new) for part in value)
    if value is None:
        return None
    return {key: _replace_in(part, item, new) for key, part in value.items()}


def update_links(
    draft: MemoryDraft,
    before: Memory,
    after: Memory,
    moved: Mapping[str, str],
    rewritten: Collection[str] = (),
) -> list[str]:
    """Update links so that those of `before` keep their targets after files `moved` to new paths
    or got other names, as in `after`; return warnings.

    In the draft the files must have their text of `before`, except the paths in `rewritten`,
    whose links are not changed.
    """
    warnings: list[str] = []
    if not moved and after.names is before.names:
        return warnings
    for source, targets in find_changed_links(before, after, moved):
        if source.path in rewritten:
            continue
        path = moved.get(source.path, source.path)

        def retarget(
            link: Link, old: str, path: str = path, targets: Mapping[Link, str] = targets
        ) -> str:
            return retarget_link(link, old, path, targets[link], after)

        warnings += _rewrite(
            draft, path, partial(rewrite_links, links=tuple(targets), rewrite=retarget)
        )
    for source in before.files:
        if source.path not in rewritten and source.frontmatter.fields:
            warnings += _rename_in_frontmatter(draft, before, after, moved, source)
    return warnings


def convert_links_to_text(draft: MemoryDraft, path: str, within: str = "") -> list[str]:
    """Turn the links to the file at `path` into text, in the file `within` or, if "", in all
    others; return warnings.
    """
    warnings: list[str] = []
    memory = draft.memory
    for source, links in find_links_to(memory, path):
        if within in ("", source.path):
            warnings += _rewrite(draft, source.path, partial(remove_links, links=links))
    for other in memory.backlinks.get(path, ()):
        if within in ("", other) and path in memory.named_in_frontmatter(memory.by_path[other]):
            warnings.append(
                f"The frontmatter of {make_visible(other)} still names {make_visible(path)}."
            )
    return warnings


def _rewrite(draft: MemoryDraft, path: str, rewrite: Callable[[str], str]) -> list[str]:
    """Replace the text of the file at `path` by `rewrite` of it; return a warning if refused."""
    try:
        text = draft.get_text(path)
    except ChangeRefused as refused:
        return [f"Link not updated: {refused.message}"]
    draft.set_text(path, rewrite(text))
    return []


def _rename_in_frontmatter(
    draft: MemoryDraft, before: Memory, after: Memory, moved: Mapping[str, str], source: Note
) -> list[str]:
    """Rename in the frontmatter of `source` the files that it names; return warnings."""
    warnings: list[str] = []
    path = moved.get(source.path, source.path)
    for item in before.resolve_frontmatter_links(source):
        to = moved.get(item.path, item.path)
        if (
            item.target_kind is not TargetKind.NOTE
            or after.names.resolve(path, item.link).path == to
        ):
            continue
        if to == path and item.path != source.path:
            # a successor that named the note which is now merged into it
            continue
        text, old = draft.get_file(path).text, item.link.target
        current_items = after.resolve_frontmatter_links(draft.get_file(path))
        if item.link.label not in (current.link.label for current in current_items):
            # it was written as a link, which has been updated
            continue
        edited = replace_item(text, old, format_item(after, path, to, old))
        try:
            if edited is None:
                raise ChangeRefused("its place is ambiguous.")
            draft.get_text(path)
            draft.set_text(path, edited)
        except ChangeRefused as refused:
            warnings.append(
                f"The frontmatter of {make_visible(path)} still names {make_visible(old)}: "
                f"{refused.message}"
            )
    return warnings
