"""Links that become text, because the note to which they led has left."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ricordo.memory.link_uses import find_uses, label_of
from ricordo.memory.links import Link, find_links

_Splice = tuple[int, int, str]
"""What stands from an offset to another becomes a text."""
_REST_OF_DEFINITION = re.compile(
    r"""(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\r?(?:\n|\Z)"""
)


def unlinked(text: str, links: Collection[Link]) -> str:
    """Return `text` with its `links` as the text that they show. A definition shows none: it goes,
    and what uses it becomes text.
    """
    definitions = [link for link in links if not as_text(link, text[link.start : link.end])]
    splices = [_shown(text, link) for link in links if link not in definitions]
    if definitions:
        splices += [_gone(text, definition) for definition in definitions]
        splices += _uses(text, definitions)
    for start, end, new in sorted(splices, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def as_text(link: Link, old: str) -> str:
    """Return what stays of a link, written as `old`, that leads nowhere any more: its text. That
    of a definition stands elsewhere.
    """
    if link.is_wikilink or old.startswith(f"[{link.label}]("):
        return link.label
    return ""


def _shown(text: str, link: Link) -> _Splice:
    shown = as_text(link, text[link.start : link.end])
    return _bang(text, link.start), link.end, shown


def _gone(text: str, definition: Link) -> _Splice:
    rest = _REST_OF_DEFINITION.match(text, definition.end)
    if rest is None:
        # what goes on behind it is read as a sentence
        return definition.start, definition.end, f"{definition.label}:"
    return text.rfind("\n", 0, definition.start) + 1, rest.end(), ""


def _uses(text: str, definitions: Collection[Link]) -> Iterator[_Splice]:
    """Yield how the brackets go of what uses `definitions`: of one label the first one counts."""
    first: dict[str, Link] = {}
    for link in find_links(text):
        if not as_text(link, text[link.start : link.end]):
            first.setdefault(label_of(link.label), link)
    labels = {label for label, definition in first.items() if definition in definitions}
    for use in find_uses(text, labels):
        yield _bang(text, use.start), use.start + 1, ""
        yield use.text_end, use.end, ""


def _bang(text: str, start: int) -> int:
    """Return where a link begins that may embed: what embedded has nothing left to embed."""
    return start - text.startswith("!", start - 1, start) if start else start
