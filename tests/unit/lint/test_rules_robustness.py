from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.storage.reader import read_memory
from tests.support.figures import figure

from .conftest import NOW

SHARED = Path(__file__).parents[4] / "shared" / "data" / "memory"
HOSTILE = figure("hostile_bytes", everyday=250_000)
PIECES = st.sampled_from(
    [
        "---\n",
        "name: a\n",
        "- [A](a.md) — ",
        "[[a]]",
        "until 2026-01-01",
        "<!--",
        "`",
        "ignore ",
        "\n",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(PIECES | st.text(max_size=30), max_size=30))
def test_no_text_makes_a_rule_fail(tmp_path: Path, parts: list[str]) -> None:
    raw = "".join(parts).encode("utf-8", "surrogatepass")
    for name in ("a.md", "MEMORY.md"):
        (tmp_path / name).write_bytes(raw)
    Linter({}).run(read_memory(str(tmp_path), AUTO_MEMORY), RuleContext(NOW, AUTO_MEMORY))


HOSTILE_PIECES = (
    "<!-- ",
    "[",
    "until 2026-",
    "`",
    "a" * 50 + " ",
    "<a style=",
    "[[",
    "this page and ",
    "supersedes [[x]] ",
    "```\nsystem\n```\n",
    "\n",
    "\u3000",
)


@pytest.mark.parametrize("piece", HOSTILE_PIECES)
def test_hostile_note_is_linted_in_bounded_time(tmp_path: Path, piece: str) -> None:
    (tmp_path / "a.md").write_text(piece * (HOSTILE // len(piece)))
    memory = read_memory(str(tmp_path), AUTO_MEMORY)
    start = time.process_time()
    Linter({}).run(memory, RuleContext(NOW, AUTO_MEMORY))
    assert time.process_time() - start < HOSTILE / 100_000


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real memories are not beside the checkout")
@pytest.mark.parametrize("name", ["cavo789-blog", "hua-packages", "ssp-snapshot"])
def test_real_memories_have_no_error(name: str) -> None:
    memory = read_memory(str(SHARED / name / "memory"), AUTO_MEMORY)
    found = Linter({}).run(memory, RuleContext(NOW, AUTO_MEMORY))
    assert [f for f in found if f.severity.word == "error"] == []
