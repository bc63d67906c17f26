"""Find and rewrite the links affected when notes get other paths or names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from urllib.parse import quote

from ricordo.memory.links import Link, find_links, find_uses, normalize_label
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_TARGET_ENDS = compile_lazily(r"\\?[#|]")
_NOT_IN_WIKILINK = frozenset("[]|#\n\\`<")
# The address in a markdown link or a link definition, from the mark after its label.
_ANGLED_URL = compile_lazily(r"[(:]\s*<([^<>#?\n]*)")
_URL = compile_lazily(
    r"\(\s*([^\s()<>#?]*(?:\([^\s()<>#?]*\)[^\s()<>#?]*)*) | :[ \t]+([^\s<>#?]*)", re.VERBOSE
)
_FIXED_TARGETS = (TargetKind.NOTE, TargetKind.FILE, TargetKind.OUTSIDE)
"""Links with a known target, which stays the same when their note moves."""


def find_links_to(memory: Memory, path: str) -> Iterator[tuple[Note, list[Link]]]:
    """Yield every other file with links to the file at `path`, with those links."""
    for source in memory.backlinks.get(path, ()):
        links = [
            resolved.link
            for resolved in memory.links.get(source, ())
            if resolved.target_kind is TargetKind.NOTE and resolved.path == path
        ]
        if links:
            yield memory.by_path[source], links


def find_changed_links(
    before: Memory, after: Memory, moved: Mapping[str, str]
) -> Iterator[tuple[Note, dict[Link, str]]]:
    """Yield the files of `before` with links that have another target, or none, in `after`, and
    for each such link the path of its right target. `moved` maps old paths of files to new ones.
    """
    for source, links in before.links.items():
        new_source = moved.get(source, source)
        expected = {
            resolved.link: moved.get(resolved.path, resolved.path)
            for resolved in links
            if resolved.target_kind in _FIXED_TARGETS
        }
        wrong = {
            link: to
            for link, to in expected.items()
            if after.names.resolve(new_source, link).path != to
        }
        if wrong:
            yield before.by_path[source], wrong


def rewrite_links(text: str, links: Collection[Link], rewrite: Callable[[Link, str], str]) -> str:
    """Return `text` with each of its `links` replaced by `rewrite(link, old)`."""
    for link in sorted(links, key=lambda link: -link.start):
        old = text[link.start : link.end]
        new = rewrite(link, old)
        text = text[: link.start] + new + text[link.end :]
    return text


def retarget_link(link: Link, old: str, source: str, to: str, memory: Memory) -> str:
    """Return the link written as `old` in the file `source` with the file at `to` of `memory` as
    its target, in the style of `old`.
    """
    if memory.names.resolve(source, link).path == to:
        return old
    if link.is_wikilink:
        inner = old[2:-2]
        ends = _TARGET_ENDS.search(inner)
        rest = inner[ends.start() :] if ends else ""
        new = format_wikilink(memory, source, to, rest, by_path="/" in link.target) or _as_markdown(
            link, source, to
        )
        # between the quotes of YAML
        is_quoted = '\\"' in old and '\\"' not in link.target
        return new.replace('\\"', '"').replace('"', '\\"') if is_quoted else new
    after_label = len(link.label) + 2
    address = _ANGLED_URL.match(old, after_label)
    is_angled = address is not None
    address = address or _URL.match(old, after_label)
    if address is None or address.lastindex is None:
        return old
    start, end = address.span(address.lastindex)
    target = relative_path(to, source)
    if old[start:end].startswith("./") and not target.startswith("../"):
        target = f"./{target}"
    return old[:start] + (_escaped(target, " ()") if is_angled else _escaped(target)) + old[end:]


def format_wikilink(
    memory: Memory,
    source: str,
    to: str,
    rest: str = "",
    *,
    by_path: bool = False,
    by_file: bool = False,
) -> str:
    """Return a wikilink from the file `source` to the file at `to`, by its name if that works and
    not `by_path` or by that of its file; "" if none works. `rest` follows the target inside the
    brackets.
    """
    note = memory.by_path.get(to)
    path, near = to.removesuffix(".md"), relative_path(to, source).removesuffix(".md")
    names = [] if by_path or note is None else [note.name, note.stem][by_file:]
    for name in (*names, path, near if near.startswith("../") else f"./{near}"):
        link = f"[[{name}{rest}]]"
        links = [] if set(name) & _NOT_IN_WIKILINK else find_links(link)
        if len(links) == 1 and memory.names.resolve(source, links[0]).path == to:
            return link
    return ""


def format_markdown_link(label: str, source: str, to: str) -> str:
    """Return a markdown link from the file `source` to the file at `to`."""
    return f"[{label}]({_escaped(relative_path(to, source))})"


def relative_path(to: str, source: str) -> str:
    """Return the path of `to` relative to the file `source`; both are relative to the memory."""
    folder = posixpath.dirname(source)
    if to.startswith("../"):
        return "../" * len(folder.split("/")) + to if folder else to
    return posixpath.relpath(f"/{to}", f"/{folder}")


def _as_markdown(link: Link, source: str, to: str) -> str:
    heading = f"#{quote(link.anchor)}" if link.anchor else ""
    return f"{format_markdown_link(link.label, source, to)[:-1]}{heading})"


def _escaped(path: str, also: str = "") -> str:
    """Return `path` percent-encoded for a markdown link; letters of all scripts stay."""
    return "".join(
        char
        if char > "\x7f" and char.isprintable()
        else quote(char, safe="/._-~'" + also, errors="surrogateescape")
        for char in path
    )


_Splice = tuple[int, int, str]
"""Start, end, and the text that replaces this range."""
_REST_OF_DEFINITION = compile_lazily(
    r"""(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\r?(?:\n|\Z)"""
)


def remove_links(text: str, links: Collection[Link]) -> str:
    """Return `text` with its `links` replaced by their labels. A definition is removed, and its
    uses become text.
    """
    definitions = [link for link in links if not get_label(link, text[link.start : link.end])]
    splices = [_replace_by_label(text, link) for link in links if link not in definitions]
    if definitions:
        splices += [_remove_definition(text, definition) for definition in definitions]
        splices += _remove_uses(text, definitions)
    for start, end, new in sorted(splices, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def get_label(link: Link, old: str) -> str:
    """Return the label of a link written as `old`; "" for a definition, whose text is elsewhere."""
    if link.is_wikilink or old.startswith(f"[{link.label}]("):
        return link.label
    return ""


def _replace_by_label(text: str, link: Link) -> _Splice:
    label = get_label(link, text[link.start : link.end])
    return _start_with_bang(text, link.start), link.end, label


def _remove_definition(text: str, definition: Link) -> _Splice:
    rest = _REST_OF_DEFINITION.match(text, definition.end)
    if rest is None:
        # text follows it on the line, so the label stays as part of a sentence
        return definition.start, definition.end, f"{definition.label}:"
    return text.rfind("\n", 0, definition.start) + 1, rest.end(), ""


def _remove_uses(text: str, definitions: Collection[Link]) -> Iterator[_Splice]:
    """Yield the splices that remove the brackets of uses of `definitions`; of several definitions
    of one label the first one counts.
    """
    first: dict[str, Link] = {}
    for link in find_links(text):
        if not get_label(link, text[link.start : link.end]):
            first.setdefault(normalize_label(link.label), link)
    labels = {label for label, definition in first.items() if definition in definitions}
    for use in find_uses(text, labels):
        yield _start_with_bang(text, use.start), use.start + 1, ""
        yield use.text_end, use.end, ""


def _start_with_bang(text: str, start: int) -> int:
    """Return the offset of a link with the `!` before it that makes it an embed."""
    return start - text.startswith("!", start - 1, start) if start else start
