"""What agents write under headings that say what it is: “## Next steps”, “7. Pending Tasks:”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ricordo.handoff.composing.words import heading

_FORMS = tuple(
    re.compile(form)
    for form in (
        r"\s*(?P<signs>#{1,6})\s+(?:\d+[.)]\s+)?\**(?P<name>[^:*\n]+?):?\**:?\s*(?P<rest>)",
        r"\s*(?:\d+[.)]\s+)?\*\*(?P<name>[^:*\n]+?)(?::\*\*|\*\*:?)\s*(?P<rest>.*)",
        r"\s*\d+[.)]\s+(?P<name>[^:*\n]+):\s*(?P<rest>.*)",
        r"\s*(?P<name>[^:*\n]+):\s*(?P<rest>.*)",
    )
)
_LONGEST_TEXT = 30_000
"""Characters of a text in which headings are looked for."""
_LONGEST = 120
"""Characters of a line in which a heading stands."""
CHECK = "check"
"""What a heading is about under which it stands how the work is to be checked."""
_PLAIN = 10
"""The rank of what any line with a colon is: it is a heading where its name is known."""


class Headed(NamedTuple):
    """What stands under a heading."""

    about: str
    """What the heading says that it is, by the data file: mostly the value of a section."""
    text: str
    """Word for word, without blank edges."""


class _Heading(NamedTuple):
    start: int
    """Where its line begins."""
    behind: int
    """Where what it is about begins, which may be on the same line."""
    rank: int
    """One of this rank or a smaller one ends the section that it opens."""
    about: str
    """"" where the data file does not know it."""


def headed(text: str) -> Iterator[Headed]:
    """Yield what stands under each heading of `text` that the data file knows; of a long text only
    what stands at its beginning.
    """
    text = text[:_LONGEST_TEXT]
    headings = list(_headings(text))
    for number, it in enumerate(headings):
        if not it.about:
            continue
        following = (after for after in headings[number + 1 :] if _ends(it, after))
        end = next((after.start for after in following), len(text))
        if words := text[it.behind : end].strip():
            yield Headed(it.about, words)


def _ends(heading: _Heading, after: _Heading) -> bool:
    return bool(after.about) or after.rank <= heading.rank < _PLAIN


def _headings(text: str) -> Iterator[_Heading]:
    at = 0
    for line in text.split("\n"):
        head = line[:_LONGEST]
        tried = ((form, pattern.fullmatch(head)) for form, pattern in enumerate(_FORMS))
        found = next(((form, it) for form, it in tried if it), None)
        if found is not None:
            rank, match = _rank(*found), found[1]
            about = heading(match["name"])
            if about or rank < _PLAIN:
                yield _Heading(at, at + match.start("rest"), rank, about)
        at += len(line) + 1


def _rank(form: int, match: re.Match[str]) -> int:
    """Return the number of signs of a heading in Markdown; any other form is below those."""
    return _PLAIN - len(_FORMS) + 1 + form if form else len(match["signs"])
