"""Running the rules: what comes out of it besides what each rule finds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ricordo.health.lint import Linter
from ricordo.health.rule import Context
from tests.builders import note_text, open_memory

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_what_a_rule_quotes_holds_no_credential(root: Path) -> None:
    line = "password: hunter2-secretXY9 stands in [the note](gone.md)"
    memory = open_memory(root, {"MEMORY.md": "- [A](a.md)\n", "a.md": note_text("a", f"{line}\n")})
    found = Linter({}, frozenset({"dead-link"})).run(memory, Context(NOW, memory.layout))
    assert [finding.rule for finding in found] == ["dead-link"]
    assert "hunter2-secretXY9" not in repr((found[0].message, found[0].evidence))
