"""Every option of the reference is used by a test of its command."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ricordo.cli.main import COMMANDS, OPEN, create_parser, load_command

TESTS = Path(__file__).parents[1]
COMMON = frozenset(
    [
        "--help",
        "--version",
        "--debug",
        "--quiet",
        "--color",
        "-C",
        "--state",
        "--now",
        "--agent-home",
        "--memory",
    ]
)
"""Those that all commands have: other tests try them on all."""


def list_words(path: Path) -> frozenset[str]:
    """Return the words of all texts in a module, options without what `=` gives them."""
    texts = (
        node.value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return frozenset(word.partition("=")[0] for text in texts for word in text.split())


@pytest.fixture(scope="module")
def modules() -> list[frozenset[str]]:
    return [list_words(path) for path in TESTS.rglob("test_*.py") if path != Path(__file__)]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != OPEN])
def test_every_option_is_used_by_a_test_of_its_command(
    name: str, modules: list[frozenset[str]]
) -> None:
    parser = create_parser(name, load_command(name))
    mine = [words for words in modules if name in words]
    unused = [
        action.option_strings
        for action in parser._actions
        if action.option_strings
        and COMMON.isdisjoint(action.option_strings)
        and not any(not words.isdisjoint(action.option_strings) for words in mine)
    ]
    assert unused == []
