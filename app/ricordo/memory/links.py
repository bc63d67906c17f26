"""The links of a note: `[[wikilinks]]`, `[markdown](links.md)`, images and link definitions.

Text in fenced or indented code, in a code span, in a closed comment or after a backslash is not a
link; an unclosed comment is text, as it is for the load. Markdown parsers find the same links in
forty times the time, so guarded expressions find them here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from typing import NamedTuple

from ricordo.patterns import compile_lazily


class Link(NamedTuple):
    """One link as written in a note."""

    target: str
    """The name in a wikilink, else a path with escapes resolved."""
    anchor: str
    """The heading after `#`; "" without one."""
    label: str
    """The displayed text."""
    line: int
    """1-based line of the file."""
    start: int
    """Offset of its first character in the note's text."""
    end: int
    is_wikilink: bool


def is_document(target: str) -> bool:
    """Return whether a path is only a name in capitals, such as `SHIP_PLAN.md`: so projects call
    the documents at their root.
    """
    is_name = target.endswith(".md") and "/" not in target
    return is_name and target.isascii() and target[:-3].isupper()


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
      (?:[^`\n]++|\n(?![ \t\r]*\n|[ ]*(?:[-*+]|1[.)]|\#{1,6})[ ]\S)|(?!`(?P=more)(?!`))`++)*
      `(?P=more)(?!`)
"""
_REST = r"""
    \\[\\\[\]`~<!]
  | ~(?:(?<=^~)|(?<=^[ ]~)|(?<=^[ ]{2}~)|(?<=^[ ]{3}~))~~(?P<waved>~*+)[^\n]*\n
      (?:(?![ ]{0,3}~~~(?P=waved)~*[ \t\r]*(?:\n|\Z)).*+(?:\n|\Z))*.*\n?
  | <!--
"""
_LINKS, _CODES, TOKENS = (
    compile_lazily(pattern, re.VERBOSE | re.MULTILINE)
    for pattern in (_LINK, _CODE, f"{_LINK}|{_CODE}|{_REST}")
)
"""The last matches a link, or a token in which brackets are not links."""
_INDENTS = ("    ", "\t")
_SCHEME = compile_lazily(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\s)")


def find_links(text: str, head: int = 0) -> tuple[Link, ...]:
    """Return the links of a note's `text` in order; its frontmatter ends at `head`."""
    links: list[Link] = []
    line, last_start = 1, 0
    matches = _matches(text) if "[" in text else []
    for match in _leave_out_indented(text, matches):
        start = match.start()
        line += text.count("\n", last_start, start)
        last_start = start
        link = _link(match, line)
        # YAML, between whose quotes a link may be
        if start < head and '\\"' in link.target:
            link = link._replace(target=link.target.replace('\\"', '"'))
        links.append(link)
    return tuple(links)


def _leave_out_indented(text: str, matches: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the matches, in order, that are in no indented code."""
    # few notes have such lines, and hardly any a link in one
    if "\n    " not in text and "\n\t" not in text and not text.startswith(_INDENTS):
        return matches
    if not any(text.startswith(_INDENTS, text.rfind("\n", 0, it.start()) + 1) for it in matches):
        return matches
    code = _find_indented_code(text)
    starts = [start for start, _ in code]
    kept: list[re.Match[str]] = []
    for match in matches:
        at = bisect_right(starts, match.start()) - 1
        if at < 0 or match.start() > code[at][1]:
            kept.append(match)
    return kept


def _find_indented_code(text: str) -> list[tuple[int, int]]:
    """Return where each line of the blocks of code begins and ends that are indented by four blanks
    or a tab: behind a blank line, and in no list, whose items have such paragraphs.
    """
    lines: list[tuple[int, int]] = []
    is_code = is_list = is_below_blank = False
    start = 0
    for line in text.split("\n"):
        if not line.strip():
            is_below_blank = True
        elif line.startswith(_INDENTS):
            is_code = is_code or (is_below_blank and not is_list)
            if is_code:
                lines.append((start, start + len(line)))
            is_below_blank = False
        else:
            is_list = line[0] == " " or _BULLET.match(line) is not None
            is_code = is_below_blank = False
        start += len(line) + 1
    return lines


def _matches(text: str) -> list[re.Match[str]]:
    """Find the link matches, by searching for brackets only where that is safe: it takes a third
    of the time of a search for tokens. The result is the same if the text has only links and
    code, no code contains a bracket, and no link a backtick.
    """
    # searching for one character is much faster than for three
    if "\\" in text or ("<" in text and "<!--" in text) or ("~" in text and "~~~" in text):
        return _match_tokens(text)
    matches = list(_LINKS.finditer(text))
    if not matches or "`" not in text:
        return matches
    has_backtick = any("`" in link[0] for link in matches)
    if has_backtick or any("[" in code[0] for code in _CODES.finditer(text)):
        return _match_tokens(text)
    return matches


def _match_tokens(text: str) -> list[re.Match[str]]:
    """Find the links outside of code and closed comments, and not after a backslash."""
    matches: list[re.Match[str]] = []
    last_comment_end = text.rfind("-->")
    tokens = TOKENS.finditer(text)
    while token := next(tokens, None):
        first = text[token.start()]
        if first == "[":
            matches.append(token)
        elif first == "<" and token.end() <= last_comment_end:
            tokens = TOKENS.finditer(text, text.index("-->", token.end()) + 3)
    return matches


def is_external(target: str) -> bool:
    """Return whether a link's target is an address (`https:`, `mailto:`) and not a file."""
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
        # imported here: few notes need it
        from urllib.parse import unquote

        path = unquote(path, errors="surrogateescape")
    return Link(path, anchor, shown, line, start, end, False)


_TOKEN_START = compile_lazily(r"\[|(?<!`)`|\\|~~~|<!--")
"""The possible start of a use, or of a token in which brackets are not uses."""
_USE = compile_lazily(
    r"""
    \[(?P<text>(?:[^\[\]\\\n]++|\\.|\n(?![ \t\r]*\n)|\[[^\[\]\n]*+\])*)\]
    (?:\[(?P<label>[^\[\]\n]*+)\])?
    """,
    re.VERBOSE,
)
_BULLET = compile_lazily(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+")


class DefinitionUse(NamedTuple):
    """One use of a link definition: `[text][label]`, `[label][]` or `[label]`."""

    start: int
    """Offset of its first bracket."""
    text_end: int
    """Offset of the bracket after the displayed text."""
    end: int
    label: str
    """The label of the definition, as `normalize_label` gives it."""


def find_uses(text: str, labels: Collection[str]) -> tuple[DefinitionUse, ...]:
    """Return the uses in `text` of definitions of `labels`, as normalized by `normalize_label`."""
    uses: list[DefinitionUse] = []
    last_comment_end = text.rfind("-->")
    at = 0
    for token_start in _TOKEN_START.finditer(text):
        start = token_start.start()
        if start < at:
            continue
        if match := TOKENS.match(text, start):
            at = match.end()
            if text[start] == "<" and at <= last_comment_end:
                at = text.index("-->", at) + 3
        elif (match := _USE.match(text, start)) and not _is_checkbox(text, match):
            label = normalize_label(match["label"] or match["text"])
            use = DefinitionUse(start, match.end("text"), match.end(), label)
            if use.label in labels:
                uses.append(use)
                at = use.end
    return tuple(uses)


def normalize_label(written: str) -> str:
    """Return a label normalized for comparison."""
    return " ".join(written.split()).casefold()


def _is_checkbox(text: str, match: re.Match[str]) -> bool:
    """Return whether `[x]` is the checkbox of a completed task."""
    line = text.rfind("\n", 0, match.start()) + 1
    is_box = match["label"] is None and match["text"] in ("x", "X")
    return is_box and _BULLET.fullmatch(text, line, match.start()) is not None
