"""The pages of docs/ say what the code says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ricordo.cli.command_page import render_commands_page
from ricordo.cli.main import COMMANDS
from ricordo.cli.open import OPEN_SUMMARY
from tools.key_page import keys_page

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"


def test_the_page_of_keys_is_fresh() -> None:
    assert (DOCS / "keys.md").read_text() == keys_page(), "run make docs"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse words its help otherwise there")
def test_the_page_of_commands_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert (DOCS / "commands.md").read_text() == render_commands_page(), "run make docs"


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
