"""The links of a note: `[[wikilinks]]`, `[markdown](links.md)`, images and link definitions.

Fenced code, code spans and comments are no links. Markdown parsers find the same at forty times
the cost, so links are found by one guarded expression.
"""

from __future__ import annotations

import re
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


# Every repetition is possessive or bounded by a line, so that no text makes the search slow.
_TOKEN = re.compile(
    r"""
      ^[ ]{0,3}(?P<fence>`{3,}+(?=[^`\n]*\n)|~{3,}+)[^\n]*\n
      (?:(?![ ]{0,3}(?P=fence)[`~]*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*+.*\n?
    | (?<!`)(?P<ticks>`++)(?:[^`\n]++|\n(?![ \t]*\n)|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)(?!`)
    | <!--(?s:.*?)(?:-->|\Z)
    | \[\[(?P<wiki>[^\[\]\n|\#]*+)(?:\#(?P<heading>[^\[\]\n|]*+))?(?:\|(?P<alias>[^\[\]\n]*+))?\]\]
    | \[(?P<label>(?:[^\[\]\\\n]++|\\.|\[[^\[\]\n]*+\])*+)\]
      \((?P<url>\s*+(?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+))
      (?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'))?\s*+\)
    | ^[ ]{0,3}\[(?P<reflabel>[^\[\]\n^][^\[\]\n]*+)\]:[ \t]+(?P<refurl><[^<>\n]*+>|\S+)
    """,
    re.VERBOSE | re.MULTILINE,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def find_links(text: str) -> tuple[Link, ...]:
    """Return the links of a note's `text` in the order in which they stand."""
    if "[[" not in text and "](" not in text and "]:" not in text:
        return ()
    links: list[Link] = []
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        link = _link(match)
        if link is None:
            continue
        line += text.count("\n", seen, match.start())
        seen = match.start()
        links.append(Link(link[0], link[1], link[2], line, match.start(), match.end(), link[3]))
    return tuple(links)


def is_external(target: str) -> bool:
    """Say whether a link's target is an address (`https:`, `mailto:`) and no file."""
    return bool(_SCHEME.match(target)) and not target.lower().startswith("file:")


def _link(match: re.Match[str]) -> tuple[str, str, str, bool] | None:
    wiki = match["wiki"]
    if wiki is not None:
        target = wiki.rstrip("\\").strip()
        anchor = match["heading"] or ""
        return target, anchor, (match["alias"] or target or anchor).strip(), True
    url = match["url"] or match["refurl"]
    if url is None:
        return None
    label = match["label"] if match["label"] is not None else match["reflabel"]
    written = url.strip().strip("<>")
    if is_external(written):
        return written, "", label, False
    path, _, anchor = written.partition("#")
    return unquote(path.partition("?")[0], errors="surrogateescape"), anchor, label, False
