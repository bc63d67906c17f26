"""The pages of rules: every rule has one, and what its examples show is what the rule does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest

from ricordo.agents.claude.folder import make_slug
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.rule import load_rules
from ricordo.lint.rule_page import Example, RulePage, expand_repeats, load_rule_page
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from tests.support.builders import write_memory
from tests.support.transcripts import Claude

TODAY = date(2026, 11, 20)
"""The day on which examples are judged that do not depend on it."""

Judge = Callable[[RulePage, Example], tuple[Finding, ...]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return what writes an example as Claude Code keeps it, and returns all findings."""

    def run(page: RulePage, example: Example) -> tuple[Finding, ...]:
        project = write_memory(tmp_path / "project", {**example.project, "README.md": "# Tides\n"})
        folder = tmp_path / ".claude" / "projects" / make_slug(str(project))
        memory = write_memory(folder / "memory", list_files(page, example))
        today = example.today or TODAY
        if example.read is not None:
            began = datetime.combine(today, time(9), UTC)
            session = Claude(cwd=str(project), began=began).says("When is high water?")
            for path in example.read:
                session.uses("Read", file_path=str(memory / path))
            session.write(tmp_path, folder.name)
        environment = load_environment(
            {"HOME": str(tmp_path)}, state=str(tmp_path / "state"), now=f"{today}T12:00:00+00:00"
        )
        place = find_memory(str(project), environment)
        assert place.root == str(memory)
        return Notebook(place, environment, Settings()).read_snapshot_with_evidence().findings

    return run


def list_files(page: RulePage, example: Example) -> dict[str, bytes]:
    """Return the files of an example; a good one has those of the bad one, too."""
    texts = {**page.bad.memory, **example.memory}
    encodings = {**page.bad.encodings, **example.encodings}
    return {
        path: expand_repeats(text).encode(encodings.get(path, "utf-8"))
        for path, text in texts.items()
        if path not in example.removed
    }


def place_of(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}" if finding.line else finding.path


@pytest.mark.parametrize("name", load_rules())
def test_the_bad_example_makes_the_rule_report_what_the_page_says(name: str, judge: Judge) -> None:
    page = load_rule_page(name)
    findings = [each for each in judge(page, page.bad) if each.rule == name]
    assert tuple(f"{place_of(each)}: {each.message}" for each in findings) == page.bad.reports
    assert findings


@pytest.mark.parametrize("name", load_rules())
def test_the_good_example_makes_no_rule_report_a_problem(name: str, judge: Judge) -> None:
    page = load_rule_page(name)
    findings = judge(page, page.good)
    assert name not in {each.rule for each in findings}
    assert [each for each in findings if each.severity > Severity.INFO] == []


@pytest.mark.parametrize("name", load_rules())
def test_a_page_says_whether_there_is_a_fix(name: str, judge: Judge) -> None:
    page = load_rule_page(name)
    fixes = [each.fix for each in judge(page, page.bad) if each.rule == name and each.fix]
    assert bool(fixes) == bool(page.fix)
    if "Never safe" in page.fix:
        assert not any(fix.safe for fix in fixes)
    elif page.fix:
        assert "Safe only if" in page.fix or "not by `--fix`" in page.fix
