"""Apply the fix of one finding in a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.lint.finding import Finding, Fix
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.change import Author, AuthorRole, Change
from ricordo.memory.compose import compose
from ricordo.memory.layout import Layout
from tests.support.builders import open_memory
from tests.unit.lint.conftest import NOW


@dataclass(frozen=True)
class AppliedFix:
    """A fix and the new texts of the files that it changes; None for a removed file."""

    fix: Fix
    texts: Mapping[str, str | None]


def find(
    root: Path,
    files: Mapping[str, str | bytes],
    rule: str,
    *,
    renamed: Mapping[str, str] | None = None,
    layout: Layout = AUTO_MEMORY,
) -> Finding:
    """Return the first finding of `rule` in a memory of `files` under `root`."""
    memory = open_memory(root, files, layout)
    context = RuleContext(NOW, layout, renamed=renamed or {})
    return Linter({}, frozenset((rule,))).run(memory, context)[0]


def apply_fix(
    root: Path,
    files: Mapping[str, str | bytes],
    rule: str,
    *,
    renamed: Mapping[str, str] | None = None,
    layout: Layout = AUTO_MEMORY,
) -> AppliedFix:
    """Make the fix of the first finding of `rule`; fail where it has none, or is still reported."""
    found = find(root, files, rule, renamed=renamed, layout=layout)
    assert found.fix is not None
    changes = [Change(act, "", Author(AuthorRole.RULE, rule)) for act in found.fix.acts]
    edits = compose(open_memory(root, layout=layout), changes).edits
    for edit in edits:
        target = root / edit.path
        if edit.after is None:
            target.unlink()
        else:
            target.write_bytes(edit.after)
    now = open_memory(root, layout=layout)
    context = RuleContext(NOW, layout, renamed=renamed or {})
    left = Linter({}, frozenset((rule,))).run(now, context)
    assert found.id not in {finding.id for finding in left}, "the finding is still reported"
    return AppliedFix(
        found.fix, {edit.path: edit.after.decode() if edit.after else None for edit in edits}
    )
