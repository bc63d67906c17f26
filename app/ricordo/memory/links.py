"""The links of a note: `[[wikilinks]]`, `[markdown](links.md)`, images and link definitions.

What stands in fenced code, in a code span, in a closed comment or behind a backslash is no link; a
comment that nothing closes is text, as it is for the load. Markdown parsers find the same at forty
times the cost, so links are found by one guarded expression.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple
from urllib.parse import unquote


class Link(NamedTuple):
    """One link as it is written."""

    target: str
    """Where it points: a name for a wikilink, else a path with escapes resolved."""
    anchor: str
    """The heading after `#`; "" without one."""
    label: str
    """The text that is shown."""
    line: int
    """1-based line of the file."""
    start: int
    """Offset of its first character in the note's text."""
    end: int
    is_wikilink: bool


# Every repetition is possessive or bounded by a line, so that no text makes a match slow; every
# alternative begins with one of `_MARKS`.
_TOKEN = re.compile(
    r"""
      \\[\\\[\]`~<!]
    | `(?:(?<=^`)|(?<=^[ ]`)|(?<=^[ ]{2}`)|(?<=^[ ]{3}`))``(?P<ticked>`*+)(?=[^`\n]*\n)[^\n]*\n
      (?:(?![ ]{0,3}```(?P=ticked)`*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*+.*\n?
    | ~(?:(?<=^~)|(?<=^[ ]~)|(?<=^[ ]{2}~)|(?<=^[ ]{3}~))~~(?P<waved>~*+)[^\n]*\n
      (?:(?![ ]{0,3}~~~(?P=waved)~*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*+.*\n?
    | `(?<!``)(?P<more>`*+)
      (?:[^`\n]++|\n(?![ \t\r]*\n)|(?!`(?P=more)(?!`))`++)*+`(?P=more)(?!`)
    | <!--
    | \[(?:
        \[(?P<wiki>[^\[\]\n|\#]*+)(?:\#(?P<heading>[^\[\]\n|]*+))?(?:\|(?P<alias>[^\[\]\n]*+))?\]\]
      | (?P<label>(?:[^\[\]\\\n]++|\\.|\[[^\[\]\n]*+\])*+)\]
        \((?P<url>\s*+(?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+))
        (?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'))?\s*+\)
      | (?:(?<=^\[)|(?<=^[ ]\[)|(?<=^[ ]{2}\[)|(?<=^[ ]{3}\[))
        (?P<reflabel>[^\[\]\n^][^\[\]\n]*+)\]:[ \t]+(?P<refurl><[^<>\n]*+>|\S+)
      )
    """,
    re.VERBOSE | re.MULTILINE,
)
_MARKS = {
    "[": re.compile(r"\["),
    "`": re.compile("`(?<!``)"),
    "\\": re.compile(r"\\"),
    "~~~": re.compile("~~~"),
    "<!--": re.compile("<!--"),
}
_USE = re.compile(
    r"""
    \[(?P<text>(?:[^\[\]\\\n]++|\\.|\n(?![ \t\r]*\n)|\[[^\[\]\n]*+\])*+)\]
    (?:\[(?P<label>[^\[\]\n]*+)\])?
    """,
    re.VERBOSE,
)
_BULLET = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def find_links(text: str) -> tuple[Link, ...]:
    """Return the links of a note's `text` in the order in which they stand."""
    if "[[" not in text and "](" not in text and "]:" not in text:
        return ()
    links: list[Link] = []
    last_comment_end = text.rfind("-->")
    line, seen, at = 1, 0, 0
    for start in _places(text):
        if start < at or not (match := _TOKEN.match(text, start)):
            continue
        at = match.end()
        first = text[start]
        if first == "[":
            line += text.count("\n", seen, start)
            seen = start
            links.append(_link(match, line))
        elif first == "<" and at <= last_comment_end:
            at = text.index("-->", at) + 3
    return tuple(links)


def _places(text: str) -> list[int]:
    """Where a token may begin, up to the last bracket. One look for each mark takes a fraction of
    what a search for any of them does, for that stops at every character.
    """
    end = text.rfind("[") + 1
    places: list[int] = []
    for mark, pattern in _MARKS.items():
        if mark in text:
            places += [found.start() for found in pattern.finditer(text, 0, end)]
    places.sort()
    return places


class Use(NamedTuple):
    """A place at which a definition is used: `[text][label]`, `[label][]` or `[label]`."""

    start: int
    """Offset of its first bracket."""
    text_end: int
    """Offset of the bracket behind the text that is shown."""
    end: int
    label: str
    """The label of the definition, as `label_of` gives it."""


def find_uses(text: str, labels: Collection[str]) -> tuple[Use, ...]:
    """Return where `text` uses definitions of `labels`, which are as `label_of` gives them."""
    uses: list[Use] = []
    last_comment_end = text.rfind("-->")
    at = 0
    for start in _places(text):
        if start < at:
            continue
        if match := _TOKEN.match(text, start):
            at = match.end()
            if text[start] == "<" and at <= last_comment_end:
                at = text.index("-->", at) + 3
        elif (match := _USE.match(text, start)) and not _is_checkbox(text, match):
            label = label_of(match["label"] or match["text"])
            use = Use(start, match.end("text"), match.end(), label)
            if use.label in labels:
                uses.append(use)
                at = use.end
    return tuple(uses)


def label_of(written: str) -> str:
    """Return a label in the form in which labels are compared."""
    return " ".join(written.split()).casefold()


def _is_checkbox(text: str, match: re.Match[str]) -> bool:
    """Say whether `[x]` is the box of a task that is done."""
    line = text.rfind("\n", 0, match.start()) + 1
    is_box = match["label"] is None and match["text"] in ("x", "X")
    return is_box and _BULLET.fullmatch(text, line, match.start()) is not None


def is_external(target: str) -> bool:
    """Say whether a link's target is an address (`https:`, `mailto:`) and no file."""
    if ":" not in target:
        return False
    return bool(_SCHEME.match(target)) and not target.lower().startswith("file:")


def _link(match: re.Match[str], line: int) -> Link:
    start, end = match.span()
    wiki = match["wiki"]
    if wiki is not None:
        heading, alias = match.group("heading", "alias")
        target, anchor = wiki.rstrip("\\").strip(), heading or ""
        return Link(target, anchor, (alias or target or anchor).strip(), line, start, end, True)
    label, url, reflabel, refurl = match.group("label", "url", "reflabel", "refurl")
    written = (url if refurl is None else refurl).strip().strip("<>")
    shown = label if reflabel is None else reflabel
    if is_external(written):
        return Link(written, "", shown, line, start, end, False)
    path, _, anchor = written.partition("#")
    path = path.partition("?")[0]
    if "%" in path:
        path = unquote(path, errors="surrogateescape")
    return Link(path, anchor, shown, line, start, end, False)
