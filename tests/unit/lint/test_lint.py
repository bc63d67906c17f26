"""The linter: masking, caching and findings as values."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.memory import Memory
from tests.support.builders import note_of, note_text, open_memory

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_quotes_in_findings_contain_no_secret(root: Path) -> None:
    line = "password: hunter2-secretXY9 stands in [the note](gone.md)"
    memory = open_memory(root, {"MEMORY.md": "- [A](a.md)\n", "a.md": note_text("a", f"{line}\n")})
    found = Linter({}, frozenset({"dead-link"})).run(memory, RuleContext(NOW, memory.layout))
    assert [finding.rule for finding in found] == ["dead-link"]
    assert "hunter2-secretXY9" not in repr((found[0].message, found[0].evidence))


PATHS = ("MEMORY.md", "deploy_day.md", "deploy_old.md", "team/deploy_day.md", "team/MEMORY.md")
LINES = st.sampled_from(
    [
        "- [Day](deploy_day.md) — we deploy on Fridays at nine",
        "- [Old](deploy_old.md) — we deploy on Mondays at nine",
        "- [Again](deploy_day.md)",
        "- [Gone](gone.md) — nobody knows",
        "This corrects [[deploy_old]]: it is wrong.",
        "[[Deploy-Day]] [[deploy_dya]] [[wanted]]",
        "[Out](../../out.md) [Dead](dead.md) [Old](deploy_old.md)",
        "Text of the index.",
        *("Line of the index." + " " * width for width in range(40)),
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    head = {
        "name": draw(st.sampled_from(["deploy_day", "deploy-old", "third"])),
        "description": draw(st.sampled_from(["We deploy on Fridays", "We deploy on Mondays", ""])),
        "modified": draw(st.sampled_from(["2026-01-01", "2026-02-02", ""])),
        "type": draw(st.sampled_from(["project", "projetc"])),
        "protected": draw(st.sampled_from(["true", ""])),
        "sources": draw(st.sampled_from(["[deploy_old.md]", ""])),
    }
    lines = [f"{key}: {value}" for key, value in head.items() if value]
    body = draw(st.lists(LINES, max_size=5))
    # most of a long index
    body += ["Filler."] * draw(st.sampled_from([0, 210])) + draw(st.lists(LINES, max_size=4))
    plain = "\n".join(body) + "\n"
    return plain if draw(st.booleans()) else "\n".join(["---", *lines, "---", "", plain])


@given(
    st.dictionaries(st.sampled_from(PATHS), texts()),
    st.lists(st.dictionaries(st.sampled_from(PATHS), st.none() | texts(), max_size=2), max_size=3),
)
def test_linting_after_a_change_equals_linting_from_scratch(
    before: dict[str, str], changes: list[dict[str, str | None]]
) -> None:
    files = sorted((note_of(text, path) for path, text in before.items()), key=lambda it: it.path)
    memory = Memory("/memory", AUTO_MEMORY, tuple(files))
    context = RuleContext(NOW, AUTO_MEMORY)
    linter = Linter({})
    linter.run(memory, context)
    for change in changes:
        memory = memory.with_files(
            {path: note_of(text, path) if text else None for path, text in change.items()}
        )
        fresh = Memory("/memory", AUTO_MEMORY, memory.files)
        assert linter.run(memory, context) == Linter({}).run(fresh, context)
