"""Repairing links when notes get other paths or names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from urllib.parse import quote

from ricordo.memory.links import Link, find_links, find_uses, label_of
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note

_TARGET_ENDS = re.compile(r"\\?[#|]")
_NOT_IN_WIKILINK = frozenset("[]|#\n\\`<")
# Where the address stands in a markdown link or a link definition, from the mark after its label.
_ANGLED_URL = re.compile(r"[(:]\s*<([^<>#?\n]*)")
_URL = re.compile(
    r"\(\s*([^\s()<>#?]*(?:\([^\s()<>#?]*\)[^\s()<>#?]*)*) | :[ \t]+([^\s<>#?]*)", re.VERBOSE
)
_KEPT = (Leads.NOTE, Leads.FILE, Leads.OUTSIDE)
"""Links whose aim is known, and stays what it is when their note moves."""


def links_to(memory: Memory, path: str) -> Iterator[tuple[Note, list[Link]]]:
    """Yield every other file with links to the file at `path`, and those links."""
    for source in memory.backlinks.get(path, ()):
        found = [
            resolved.link
            for resolved in memory.links.get(source, ())
            if resolved.leads is Leads.NOTE and resolved.path == path
        ]
        if found:
            yield memory.by_path[source], found


def astray(
    before: Memory, after: Memory, moved: Mapping[str, str]
) -> Iterator[tuple[Note, dict[Link, str]]]:
    """Yield the files of `before` with links that lead elsewhere in `after`, or nowhere, and for
    each link the path to which it should lead. `moved` has the new paths of files by the old ones.
    """
    for source, links in before.links.items():
        now_at = moved.get(source, source)
        wanted = {
            found.link: moved.get(found.path, found.path) for found in links if found.leads in _KEPT
        }
        wrong = {
            link: to for link, to in wanted.items() if after.names.resolve(now_at, link).path != to
        }
        if wrong:
            yield before.by_path[source], wrong


def rewrite_links(text: str, links: Collection[Link], written: Callable[[Link, str], str]) -> str:
    """Return `text` with each of its `links` as `written(link, old)` gives it."""
    for link in sorted(links, key=lambda link: -link.start):
        old = text[link.start : link.end]
        new = written(link, old)
        text = text[: link.start] + new + text[link.end :]
    return text


def pointing_to(link: Link, old: str, source: str, to: str, memory: Memory) -> str:
    """Return the link written as `old` in the file `source`, leading to the file at `to` of
    `memory`, in the manner in which it was written.
    """
    if memory.names.resolve(source, link).path == to:
        return old
    if link.is_wikilink:
        inner = old[2:-2]
        ends = _TARGET_ENDS.search(inner)
        rest = inner[ends.start() :] if ends else ""
        return wikilink(memory, source, to, rest, by_path="/" in link.target) or _as_markdown(
            link, source, to
        )
    after_label = len(link.label) + 2
    address = _ANGLED_URL.match(old, after_label)
    is_angled = address is not None
    address = address or _URL.match(old, after_label)
    if address is None or address.lastindex is None:
        return old
    start, end = address.span(address.lastindex)
    target = relative(to, source)
    if old[start:end].startswith("./") and not target.startswith("../"):
        target = f"./{target}"
    return old[:start] + (_escaped(target, " ()") if is_angled else _escaped(target)) + old[end:]


def wikilink(memory: Memory, source: str, to: str, rest: str = "", *, by_path: bool = False) -> str:
    """Return a wikilink that leads from the file `source` to the file at `to`, by its name if that
    will do and not `by_path`; "" where none can. `rest` is what follows on the target inside it.
    """
    note = memory.by_path.get(to)
    path, near = to.removesuffix(".md"), relative(to, source).removesuffix(".md")
    names = [] if by_path or note is None else [note.name, note.stem]
    for name in (*names, path, near if near.startswith("../") else f"./{near}"):
        link = f"[[{name}{rest}]]"
        found = [] if set(name) & _NOT_IN_WIKILINK else find_links(link)
        if len(found) == 1 and memory.names.resolve(source, found[0]).path == to:
            return link
    return ""


def markdown_link(label: str, source: str, to: str) -> str:
    """Return a markdown link that leads from the file `source` to the file at `to`."""
    return f"[{label}]({_escaped(relative(to, source))})"


def relative(to: str, source: str) -> str:
    """Return the way from the file `source` to the one at `to`, both relative to the memory."""
    folder = posixpath.dirname(source)
    if to.startswith("../"):
        return "../" * len(folder.split("/")) + to if folder else to
    return posixpath.relpath(f"/{to}", f"/{folder}")


def _as_markdown(link: Link, source: str, to: str) -> str:
    heading = f"#{quote(link.anchor)}" if link.anchor else ""
    return f"{markdown_link(link.label, source, to)[:-1]}{heading})"


def _escaped(path: str, also: str = "") -> str:
    """Return `path` as it stands in a markdown link: letters of all scripts as they are."""
    return "".join(
        char
        if char > "\x7f" and char.isprintable()
        else quote(char, safe="/._-~'" + also, errors="surrogateescape")
        for char in path
    )


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
