"""The pages of docs/ and the docstrings of packages say what the code says."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from ricordo.cli.command_page import render_commands_page
from ricordo.cli.main import COMMANDS
from ricordo.cli.man_page import render_man_page
from ricordo.cli.open import OPEN_SUMMARY
from tools.key_page import keys_page
from tools.rule_page import rules_page

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
APP = TESTS.parent / "app" / "ricordo"
MODULE = re.compile(r"`([\w/]+\.py)`")


def test_the_page_of_keys_is_fresh() -> None:
    assert (DOCS / "keys.md").read_text() == keys_page(), "run make docs"


def test_the_page_of_rules_is_fresh() -> None:
    assert (DOCS / "rules.md").read_text("utf-8") == rules_page(), "run make docs"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse words its help otherwise there")
def test_the_page_of_commands_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert (DOCS / "commands.md").read_text() == render_commands_page(), "run make docs"


def test_the_man_page_is_fresh_and_has_every_command() -> None:
    page = (DOCS / "ricordo.1").read_text("ascii")
    assert page == render_man_page(), "run make docs"
    assert [name for name in COMMANDS if f"\n.SS ricordo {name}\n" not in page] == []
    assert "\n.B 130\n" in page


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_command(command: str) -> None:
    assert f"\n  {command} " in OPEN_SUMMARY


def test_every_test_that_the_page_of_reliability_names_is_there() -> None:
    page = (DOCS / "reliability.md").read_text("utf-8")
    named = re.findall(r"`([a-z_/]+\.py)::(test_\w+)`", page)
    assert len(named) > 60
    missing = [
        f"{path}::{name}"
        for path, name in named
        if f"def {name}(" not in (TESTS / path).read_text("utf-8")
    ]
    assert missing == []


@pytest.mark.parametrize("page", ["architecture", "decisions", "privacy", "recall"])
def test_every_module_that_a_page_names_is_there(page: str) -> None:
    named = MODULE.findall((DOCS / f"{page}.md").read_text("utf-8"))
    assert named
    assert [name for name in named if not (APP / name).is_file()] == []


def test_every_package_says_what_it_is_for_and_names_modules_that_are_there() -> None:
    packages = [path.parent for path in sorted(APP.rglob("__init__.py"))]
    texts = [
        ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
        for package in packages
    ]
    sizes = {str(path): len(text.splitlines()) for path, text in zip(packages, texts, strict=True)}
    assert [path for path, size in sizes.items() if not 3 <= size <= 15] == []
    missing = [
        (str(package), name)
        for package, text in zip(packages, texts, strict=True)
        for name in MODULE.findall(text)
        if not any((folder / name).is_file() for folder in (package, APP, TESTS.parent))
    ]
    assert missing == []
