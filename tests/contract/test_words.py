"""Code, screens, messages and pages use the words of docs/adr/0001-words.md."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app" / "ricordo"

PHRASES = re.compile(
    r"""\b(?:
        mend(?:s|ed|ing|able)? | anew | t(?:ake|akes|aken|aking|ook)\s(?:\w+\s){0,3}?back |
        kept\sback | cannot\s(?:both\s)?hold | lead(?:s|ing)?\s(?:to\s)?nowhere |
        bear(?:s|ing)?\s(?:up)?on |
        (?:stand|stands|stood|standing)(?!-|\s(?:for|alone|in\sfor|out)\b) |
        wants?\syou | needs?\syou | of\sour\sown | what\swaits | what\sleaves |
        is\sno\slonger\sso | be\stold | it\sis\stold(?!\sto\b) | the\sperson | surroundings
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
NAME = re.compile(r"\w+")
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
GERUNDS = re.compile(r"\w+(?:ing|ed)")
NOUNS_IN_ING = frozenset(
    ("finding", "listing", "meaning", "pending", "ranking", "rendering", "setting")
)

EXEMPT = {
    ("curation/brief.py", "format_message"): "a line of the brief that the prompts explain",
    ("curation/form.py", "_EVIDENCE"): "descriptions for a model, measured with the prompts",
    ("curation/form.py", "_EDIT"): "descriptions for a model, measured with the prompts",
    ("curation/user_decisions.py", "_LEFT_TO_YOU"): "a line of the brief",
    ("handoff/draft.py", "_STATEMENT"): "descriptions for a model, measured with the prompts",
    ("services/conflicts/judgement.py", "_party"): "a word that judge-1.md explains",
    ("storage/decisions.py", "RESTORE"): "a value of the state files",
    ("tui/command_palette.py", "SYNONYMS"): "what users type in the palette",
}
"""The names of modules under app/ricordo/ whose strings may have the words, and why."""
WORD_LISTS = frozenset(
    (
        *("extraction/patterns.toml", "handoff/compose/words.toml", "handoff/gather/phrases.toml"),
        *("lint/rules/dates.toml", "lint/rules/opposition.toml"),
    )
)
"""Data that is searched for in texts of others: only comments are checked."""
HANDOFF_LINES = re.compile(r'^(?:"messages"|added) = .*$', re.MULTILINE)
"""What is in files of users: a heading that is read back, and the line that is put into the
instructions of an agent, which was tried with the agents.
"""

PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), ROOT / "Makefile", *(ROOT / "docs").rglob("*.md"))
    if path.name != "0001-words.md"
)
STYLES = sorted(APP.rglob("*.tcss"))
DATA = sorted((*APP.rglob("*.toml"), *(ROOT / "themes").glob("*.toml"), ROOT / "pyproject.toml"))
MODULES = sorted(APP.rglob("*.py"))
QUOTATION = re.compile(r"“[^”]{0,200}”|`[^`\n]*`|^```.*?^```", re.MULTILINE | re.DOTALL)
LINE_START = re.compile(r"\n[ \t]*(?:[#>*-]+[ \t]+)?")
"""The end of a line with the indentation and the mark of the next one: a phrase may go across."""


class Text(NamedTuple):
    """A piece of text that people read."""

    place: str
    """The file, and where it is known the line."""
    text: str


def banned_in(text: Text) -> list[str]:
    """Return the places of the words, each with the line if `text` is a whole file."""
    plain = QUOTATION.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text.text)
    flowing = LINE_START.sub("\n", plain)
    return [
        f"{text.place}, line {flowing.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for match in PHRASES.finditer(flowing)
    ]


def is_banned(identifier: str) -> bool:
    return identifier in IDENTIFIERS or bool(PHRASES.search(identifier.replace("_", " ")))


def inside(path: Path) -> str:
    return path.relative_to(APP if path.is_relative_to(APP) else ROOT).as_posix()


def comments_of(source: str) -> Iterator[Text]:
    """Yield the comments of a module; lines that follow each other are one."""
    lines: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if lines and token.start[0] != last + 1:
            yield Text(f":{last}", " ".join(lines))
            lines = []
        lines.append(token.string.lstrip("# "))
        last = token.start[0]
    if lines:
        yield Text(f":{last}", " ".join(lines))


def strings_of(
    tree: ast.AST, names: tuple[str, ...] = ()
) -> Iterator[tuple[Text, tuple[str, ...]]]:
    """Yield the strings of a module, docstrings too, with the names of what they are in."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield Text(f":{tree.lineno}", tree.value), names
    elif isinstance(tree, ast.JoinedStr):
        parts = (it.value if isinstance(it, ast.Constant) else "x" for it in tree.values)
        yield Text(f":{tree.lineno}", "".join(map(str, parts))), names
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = (*names, tree.name)
    elif isinstance(tree, ast.Assign):
        names = (*names, *(it.id for it in tree.targets if isinstance(it, ast.Name)))
    elif isinstance(tree, ast.AnnAssign) and isinstance(tree.target, ast.Name):
        names = (*names, tree.target.id)
    for child in ast.iter_child_nodes(tree):
        # names and values without a string below them are most of a module
        if isinstance(child, ast.Name | ast.expr_context | ast.operator):
            continue
        if isinstance(tree, ast.JoinedStr) and isinstance(child, ast.Constant):
            continue
        yield from strings_of(child, names)


def banned_in_module(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the words in comments and strings, each with the name by which it is exempt, or ""."""
    source = path.read_text("utf-8")
    # to split a module into tokens takes long, and hardly one has such a word at all
    has_any = PHRASES.search(LINE_START.sub("\n", source))
    for text in comments_of(source) if has_any else ():
        yield from ((inside(path) + it, "") for it in banned_in(text))
    for text, names in strings_of(ast.parse(source)):
        exempt = next((name for name in names if (inside(path), name) in EXEMPT), "")
        yield from ((inside(path) + it, exempt) for it in banned_in(text))


def values_of(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from values_of(value)
    elif isinstance(data, list):
        for value in data:
            yield from values_of(value)
    elif isinstance(data, str):
        yield data


def banned_in_data(path: Path) -> list[str]:
    """Return the words in comments, and in values unless they are searched for."""
    source = path.read_text("utf-8")
    comments = re.sub(r"^(?![ \t]*#).*$", "", source, flags=re.MULTILINE)
    texts = [Text(inside(path), comments)]
    if inside(path) not in WORD_LISTS:
        values = tomllib.loads(HANDOFF_LINES.sub("", source))
        texts += (Text(inside(path), value) for value in values_of(values))
    return [it for text in texts for it in banned_in(text)]


def test_only_exempt_texts_of_the_program_use_a_word_that_was_replaced() -> None:
    used = [(path, it, name) for path in MODULES for it, name in banned_in_module(path)]
    assert [it for _, it, name in used if not name] == []
    assert {(inside(path), name) for path, _, name in used} == set(EXEMPT)


@pytest.mark.parametrize("path", [*PAGES, *STYLES], ids=inside)
def test_no_page_and_no_style_uses_a_word_that_was_replaced(path: Path) -> None:
    assert banned_in(Text(inside(path), path.read_text("utf-8"))) == []


@pytest.mark.parametrize("path", DATA, ids=inside)
def test_no_data_file_uses_a_word_that_was_replaced(path: Path) -> None:
    assert banned_in_data(path) == []


def test_no_identifier_is_a_word_that_was_replaced() -> None:
    used = [
        f"{inside(path)}:{token.start[0]}: {token.string}"
        for path in MODULES
        if any(map(is_banned, set(NAME.findall(path.read_text("utf-8")))))
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
        if token.type == tokenize.NAME and is_banned(token.string)
    ]
    assert used == []


def test_no_test_has_the_name_of_a_word_that_was_replaced() -> None:
    names = (
        (path.name, match[1])
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for match in TEST.finditer(path.read_text("utf-8"))
    )
    assert [(file, name) for file, name in names if PHRASES.search(name.replace("_", " "))] == []


def test_modules_are_nouns() -> None:
    stems = {name for path in MODULES for name in (path.stem, path.parent.name)}
    assert {stem for stem in stems if GERUNDS.fullmatch(stem)} - NOUNS_IN_ING == set()


@pytest.mark.parametrize(
    "text",
    [
        "Nothing was taken back.",
        "One key takes all of it back.",
        "What stands in the note.",
        "An error of our own.",
        "A line of\n    our own.",
        "38 want you",
        "The link leads nowhere.",
        "Made anew by the person.",
        "It is told what that costs.",
        "> What is asked of\n> the person.",
    ],
)
def test_replaced_words_are_found(text: str) -> None:
    assert banned_in(Text("", text))


@pytest.mark.parametrize(
    "text",
    [
        "I understand.",
        "It is told to end.",
        "It stands for a note.",
        "`kept back`",
        "“kept\nback”",
        "anew1",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert not banned_in(Text("", text))
