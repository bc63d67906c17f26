from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.lint.finding import Finding
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.layout import Layout
from ricordo.storage.reader import read_memory

NOW = datetime(2026, 11, 21, tzinfo=UTC)

Lint = Callable[..., tuple[Finding, ...]]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """Write the files into a folder and return the findings of the rules."""

    def run(
        files: Mapping[str, str | bytes], *rules: str, layout: Layout = AUTO_MEMORY
    ) -> tuple[Finding, ...]:
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        memory = read_memory(str(tmp_path), layout)
        return Linter({}, frozenset(rules)).run(memory, RuleContext(NOW, layout))

    return run


def note(body: str, name: str = "x", **fields: str) -> str:
    given = {"description": "what it says", "type": "project", **fields}
    head = "".join(f"{key}: {value}\n" for key, value in given.items())
    return f"---\nname: {name}\n{head}---\n\n{body}\n"
