"""Repairing links when a note gets another path or leaves."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note

_TARGET_ENDS = re.compile(r"\\?[#|]")
_URL = re.compile(r"(\]\(\s*|\]:[ \t]+)(<?)([^\s<>#?]*)")


def links_to(memory: Memory, path: str) -> Iterator[tuple[Note, list[Link]]]:
    """Yield every file with links to the file at `path`, and those links."""
    for source in memory.backlinks.get(path, ()):
        found = [
            resolved.link
            for resolved in memory.links.get(source, ())
            if resolved.leads is Leads.NOTE and resolved.path == path
        ]
        if found:
            yield memory.by_path[source], found


def rewrite_links(text: str, links: list[Link], written: Callable[[Link, str], str]) -> str:
    """Return `text` with each of its `links` as `written(link, old)` gives it."""
    for link in sorted(links, key=lambda link: -link.start):
        new = written(link, text[link.start : link.end])
        start = link.start
        if new != text[link.start : link.end] and not new.startswith("["):
            # what embedded the note has nothing left to embed
            start -= text[:start].endswith("!")
        text = text[:start] + new + text[link.end :]
    return text


def pointing_to(link: Link, old: str, source: str, to: str, memory: Memory) -> str:
    """Return the link written as `old` in the file `source`, leading to the note at `to` of
    `memory`, in the manner in which it was written.
    """
    if memory.names.resolve(source, link).path == to:
        return old
    if link.is_wikilink:
        return _wikilink(link, old, source, to, memory)
    match = _URL.search(old)
    if match is None:
        return old
    target = posixpath.relpath(to, posixpath.dirname(source) or ".")
    if match[3].startswith("./"):
        target = f"./{target}"
    if not match[2]:
        target = _escaped(target)
    return old[: match.start(3)] + target + old[match.end(3) :]


def as_text(link: Link, old: str) -> str:
    """Return what stays of a link that leads nowhere any more: its text."""
    if link.is_wikilink or old.startswith(f"[{link.label}]("):
        return link.label
    return ""


def _wikilink(link: Link, old: str, source: str, to: str, memory: Memory) -> str:
    inner = old[2:-2]
    ends = _TARGET_ENDS.search(inner)
    rest = inner[ends.start() :] if ends else ""
    note = memory.by_path[to]
    by_path = to[: -len(".md")]
    choices = (by_path,) if "/" in link.target else (note.name, note.stem, by_path)
    for name in choices:
        if _can_be_target(name) and _leads(memory, source, name) == to:
            return f"[[{name}{rest}]]"
    return f"[[{by_path}{rest}]]"


def _leads(memory: Memory, source: str, name: str) -> str:
    return memory.names.resolve(source, Link(name, "", name, 1, 0, 0, True)).path


def _can_be_target(name: str) -> bool:
    return bool(name) and not any(char in name for char in "[]|#\n")


def _escaped(path: str) -> str:
    return "".join(char if char > "\x7f" else quote(char, safe="/._-~'") for char in path)
