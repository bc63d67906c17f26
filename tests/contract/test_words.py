"""Code, screens, messages and pages use the words of docs/adr/0001-words.md."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app" / "ricordo"

PHRASES = re.compile(
    r"""\b(?:
        mend(?:s|ed|ing|able)? | anew | t(?:ake|akes|aken|aking|ook)\ (?:\w+\ )?back | kept\ back |
        cannot\ (?:both\ )?hold | lead(?:s|ing)?\ nowhere | bear(?:s|ing)?\ (?:up)?on |
        (?:stand|stands|stood|standing)(?!-|\ (?:for|alone|in\ for|out)\b) |
        want(?:s)?\ you | need(?:s)?\ you | of\ our\ own | what\ waits |
        what\ leaves | is\ no\ longer\ so | be\ told | the\ person(?:'s)? | surroundings
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
IDENTIFIERS = frozenset(
    (
        *("Hands", "Doers", "Said", "Told", "Kept", "Left", "Known", "Seen", "Look", "Wish"),
        *("Temper", "Life", "Courtesy", "Carrier", "Door", "Desk", "Storm", "Mishap", "Trouble"),
        *("Remark", "surroundings"),
    )
)
GERUNDS = re.compile(r"\w+(?:ing|ed)")
NOUNS_IN_ING = frozenset(("listing", "rendering", "setting", "ranking"))
PAGES = sorted(
    path
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"))
    if path.name != "0001-words.md"
)
QUOTATION = re.compile(r"“[^”\n]*”|`[^`\n]*`|^```.*?^```", re.MULTILINE | re.DOTALL)


class Text(NamedTuple):
    """A piece of text that people read, or a name."""

    place: str
    text: str


def tokens_of(path: Path) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)


def texts_of(path: Path) -> Iterator[Text]:
    """Yield comments, docstrings and other strings of a module; strings that may be shown."""
    for token in tokens_of(path):
        kind = tokenize.tok_name[token.type]
        if kind in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            yield Text(f"{path.relative_to(ROOT)}:{token.start[0]}", token.string)


def banned_in(texts: Iterator[Text]) -> list[str]:
    return [
        f"{place}: {found[0]}"
        for place, text in texts
        for found in PHRASES.finditer(QUOTATION.sub(" ", text))
    ]


def modules() -> list[Path]:
    return sorted(APP.rglob("*.py"))


def test_no_text_of_the_program_uses_a_word_that_was_replaced() -> None:
    assert [it for path in modules() for it in banned_in(texts_of(path))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.name)
def test_no_page_uses_a_word_that_was_replaced(page: Path) -> None:
    text = QUOTATION.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), page.read_text("utf-8"))
    lines = enumerate(text.split("\n"), 1)
    assert banned_in(Text(f"{page.name}:{n}", line) for n, line in lines) == []


def test_no_identifier_is_a_word_that_was_replaced() -> None:
    used = [
        f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string}"
        for path in modules()
        for token in tokens_of(path)
        if token.type == tokenize.NAME and token.string in IDENTIFIERS
    ]
    assert used == []


def test_modules_are_nouns() -> None:
    stems = {path.stem for path in modules()}
    assert {stem for stem in stems if GERUNDS.fullmatch(stem)} - NOUNS_IN_ING == set()


@pytest.mark.parametrize(
    "text",
    [
        "Nothing was taken back.",
        "What stands in the note.",
        "An error of our own.",
        "38 want you",
        "The link leads nowhere.",
        "Made anew by the person.",
    ],
)
def test_replaced_words_are_found(text: str) -> None:
    assert banned_in(iter([Text("", text)]))


@pytest.mark.parametrize("text", ["I understand.", "It stands for a note.", "`kept back`", "anew1"])
def test_other_words_are_not(text: str) -> None:
    assert not banned_in(iter([Text("", text)]))
