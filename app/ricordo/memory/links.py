"""The links of a note: `[[wikilinks]]`, `[markdown](links.md)`, images and link definitions.

What stands in fenced code, in a code span, in a closed comment or behind a backslash is no link; a
comment that nothing closes is text, as it is for the load. Markdown parsers find the same at forty
times the cost, so links are found by guarded expressions.
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


# What is repeated one by one is possessive, and no two alternatives of a repeated group begin
# alike, so that no text makes a match slow. A group is never repeated possessively: Python before
# 3.11.5 gets that wrong (https://github.com/python/cpython/issues/106052).
_LINK = r"""
    \[(?:
        \[(?P<name>[^\[\]\n|\#]*+)(?:\#(?P<heading>[^\[\]\n|]*+))?(?:\|(?P<alias>[^\[\]\n]*+))?\]\]
      | (?P<label>(?:[^\[\]\\\n]++|\\.|\[[^\[\]\n]*+\])*)\]
        \((?P<url>\s*+(?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*))
        (?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'))?\s*+\)
      | (?:(?<=^\[)|(?<=^[ ]\[)|(?<=^[ ]{2}\[)|(?<=^[ ]{3}\[))
        (?P<reflabel>[^\[\]\n^][^\[\]\n]*+)\]:[ \t]+(?P<refurl><[^<>\n]*+>|\S+)
    )
"""
_CODE = r"""
    `(?:(?<=^`)|(?<=^[ ]`)|(?<=^[ ]{2}`)|(?<=^[ ]{3}`))``(?P<ticked>`*+)(?=[^`\n]*\n)[^\n]*\n
      (?:(?![ ]{0,3}```(?P=ticked)`*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*.*\n?
  | `(?<!``)(?P<more>`*+)
      (?:[^`\n]++|\n(?![ \t\r]*\n)|(?!`(?P=more)(?!`))`++)*`(?P=more)(?!`)
"""
_REST = r"""
    \\[\\\[\]`~<!]
  | ~(?:(?<=^~)|(?<=^[ ]~)|(?<=^[ ]{2}~)|(?<=^[ ]{3}~))~~(?P<waved>~*+)[^\n]*\n
      (?:(?![ ]{0,3}~~~(?P=waved)~*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*.*\n?
  | <!--
"""
_LINKS, _CODES, TOKENS = (
    re.compile(pattern, re.VERBOSE | re.MULTILINE)
    for pattern in (_LINK, _CODE, f"{_LINK}|{_CODE}|{_REST}")
)
"""The last: a link, or what hides the brackets in it from being one."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def find_links(text: str) -> tuple[Link, ...]:
    """Return the links of a note's `text` in the order in which they stand."""
    links: list[Link] = []
    line, seen = 1, 0
    for match in _matches(text) if "[" in text else ():
        start = match.start()
        line += text.count("\n", seen, start)
        seen = start
        links.append(_link(match, line))
    return tuple(links)


def _matches(text: str) -> list[re.Match[str]]:
    """Leap from bracket to bracket, which takes a third of a search for all that may hide one.
    Where nothing is written but links and code this finds the same, unless code holds a bracket
    or a link a backtick.
    """
    # one character is looked for much faster than three
    if "\\" in text or ("<" in text and "<!--" in text) or ("~" in text and "~~~" in text):
        return _unhidden(text)
    found = list(_LINKS.finditer(text))
    if not found or "`" not in text:
        return found
    holds_tick = any("`" in link[0] for link in found)
    if holds_tick or any("[" in code[0] for code in _CODES.finditer(text)):
        return _unhidden(text)
    return found


def _unhidden(text: str) -> list[re.Match[str]]:
    """Find the links that stand in no code and no closed comment, and behind no backslash."""
    found: list[re.Match[str]] = []
    last_comment_end = text.rfind("-->")
    tokens = TOKENS.finditer(text)
    while token := next(tokens, None):
        first = text[token.start()]
        if first == "[":
            found.append(token)
        elif first == "<" and token.end() <= last_comment_end:
            tokens = TOKENS.finditer(text, text.index("-->", token.end()) + 3)
    return found


def is_external(target: str) -> bool:
    """Say whether a link's target is an address (`https:`, `mailto:`) and no file."""
    if ":" not in target:
        return False
    return bool(_SCHEME.match(target)) and not target.lower().startswith("file:")


def _link(match: re.Match[str], line: int) -> Link:
    start, end = match.span()
    name, heading, alias, label, url, reflabel, refurl = match.group(1, 2, 3, 4, 5, 6, 7)
    if name is not None:
        target, anchor = name.rstrip("\\").strip(), heading or ""
        return Link(target, anchor, (alias or target or anchor).strip(), line, start, end, True)
    written = (url if refurl is None else refurl).strip().strip("<>")
    shown = label if reflabel is None else reflabel
    if is_external(written):
        return Link(written, "", shown, line, start, end, False)
    path, _, anchor = written.partition("#")
    path = path.partition("?")[0]
    if "%" in path:
        path = unquote(path, errors="surrogateescape")
    return Link(path, anchor, shown, line, start, end, False)


_BEGINS = re.compile(r"\[|(?<!`)`|\\|~~~|<!--")
"""Where a use, or what hides one, may begin."""
_USE = re.compile(
    r"""
    \[(?P<text>(?:[^\[\]\\\n]++|\\.|\n(?![ \t\r]*\n)|\[[^\[\]\n]*+\])*)\]
    (?:\[(?P<label>[^\[\]\n]*+)\])?
    """,
    re.VERBOSE,
)
_BULLET = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+")


class DefinitionUse(NamedTuple):
    """A place at which a definition is used: `[text][label]`, `[label][]` or `[label]`."""

    start: int
    """Offset of its first bracket."""
    text_end: int
    """Offset of the bracket behind the text that is shown."""
    end: int
    label: str
    """The label of the definition, as `label_of` gives it."""


def find_uses(text: str, labels: Collection[str]) -> tuple[DefinitionUse, ...]:
    """Return where `text` uses definitions of `labels`, which are as `label_of` gives them."""
    uses: list[DefinitionUse] = []
    last_comment_end = text.rfind("-->")
    at = 0
    for begins in _BEGINS.finditer(text):
        start = begins.start()
        if start < at:
            continue
        if match := TOKENS.match(text, start):
            at = match.end()
            if text[start] == "<" and at <= last_comment_end:
                at = text.index("-->", at) + 3
        elif (match := _USE.match(text, start)) and not _is_checkbox(text, match):
            label = label_of(match["label"] or match["text"])
            use = DefinitionUse(start, match.end("text"), match.end(), label)
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
