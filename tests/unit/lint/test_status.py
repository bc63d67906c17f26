"""Status claims that git refutes, and notes that refute themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.lint.finding import Finding, Severity
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from tests.support.builders import note_text, write_memory
from tests.unit.machine import git

from .conftest import Lint, note

DAYS = ("2026-09-01", "2026-09-10", "2026-10-01", "2026-10-20")


class Repository:
    """A project in git, with a memory beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = write_memory(folder / "project", {"tide/tables.py": "STEP_MINUTES = 10\n"})
        git(self.root, "init", "--quiet", "--initial-branch=main")
        self.commit("begin", DAYS[0])

    def commit(self, subject: str, day: str, **files: str) -> None:
        write_memory(self.root, {name.replace("__", "/"): text for name, text in files.items()})
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "-m", subject, at=f"{day}T09:00:00Z")

    def judge(self, body: str, *, written: str = "2026-09-20") -> tuple[Finding, ...]:
        """Return the findings on a note of `body`, last changed on the day `written`."""
        text = note_text("x", f"{body}\n").replace("  type:", f"  modified: {written}\n  type:")
        root = write_memory(self.folder / "memory", {"MEMORY.md": "- [x](x.md)\n", "x.md": text})
        environment = load_environment(
            {"HOME": str(self.folder), "PATH": os.environ["PATH"]},
            state=str(self.folder / "state"),
            now="2026-11-20T12:00:00+00:00",
        )._replace(project=str(self.root))
        names = frozenset(("status-claim", "missing-symbol", "changed-since", "missing-path"))
        opened = Notebook(find_memory(str(root), environment), environment, Settings(), names)
        findings = opened.read_snapshot_with_evidence().findings
        return tuple(it for it in findings if it.severity > Severity.INFO)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.parametrize(
    ("subject", "claim"),
    [
        ("feat(tide): read tables of a year (#12)", "PR #12 is open, waiting for review."),
        ("Merge pull request #12 from ana/year", "The tables of a year are in PR #12 (open)."),
        ("Merge pull request #12 from ana/year", "Work is on branch `year`, not merged yet."),
        ("feat(tide): year tables (#12)", "Branch `feat/year-tables` is not pushed."),
        ("feat(tide): year tables (#12)", "Der Branch `feat/year-tables` ist noch nicht gemergt."),
        ("feat(tide): year tables (#12)", "PR #12 尚未合并。"),
        ("feat(tide): year tables (#12)", "PR #12 ещё не влит."),
        ("feat(tide): year tables (#12)", "Based on the unmerged #12."),
    ],
)
def test_a_merge_refutes_that_work_is_open(
    repository: Repository, subject: str, claim: str
) -> None:
    assert repository.judge(claim) == (), "nothing is decided before the merge"
    repository.commit(subject, DAYS[2])
    (finding,) = repository.judge(claim)
    assert finding.rule == "status-claim"
    assert subject in finding.evidence[0]
    assert "2026-10-01" in finding.evidence[0]


@pytest.mark.parametrize(
    "claim",
    [
        "PR #12 is merged.",
        "PR #13 is open.",
        "Ask Ana when PR #12 is open.",
        "PR #12 is merged, PR #13 is open.",
        "## Log 2026-09-20\n\nPR #12 is open.",
        "Work is on branch `month`, not merged yet.",
        "- 2026-09-20: PR #12 is open.",
    ],
)
def test_other_subjects_rules_and_dated_records_are_not_reported(
    repository: Repository, claim: str
) -> None:
    repository.commit("feat(tide): read tables of a year (#12)", DAYS[2])
    assert repository.judge(claim) == ()


def test_a_tag_refutes_that_a_version_is_not_released(repository: Repository) -> None:
    claim = "Next is v1.2.0, not released yet."
    assert repository.judge(claim) == ()
    git(repository.root, "tag", "v1.2.0")
    (finding,) = repository.judge(claim)
    assert finding.evidence[0].startswith("git: tagged: ")


def test_what_came_after_the_note_refutes_that_it_is_not_written(repository: Repository) -> None:
    claims = "`tide/years.py` is not written yet. `read_year()` is not implemented yet."
    assert repository.judge(claims) == ()
    repository.commit("years", DAYS[2], **{"tide__years.py": "def read_year(path): ...\n"})
    assert len(repository.judge(claims)) == 2
    assert repository.judge(claims, written="2026-10-10") == (), "it was there when it was written"


def test_a_name_is_missing_only_where_the_code_once_had_it(repository: Repository) -> None:
    repository.commit("read", DAYS[1], **{"tide__read.py": "def read_tide(): ...\n"})
    body = "Call `read_tide()` first. Then `write_tide()` of `tide/tables.py`."
    assert repository.judge(body) == ()
    repository.commit("Load instead", DAYS[2], **{"tide__read.py": "def load(): ...\n"})
    (finding,) = repository.judge(body)
    assert finding.message == "Not found in the project: read_tide()."
    assert "Load instead" in finding.evidence[0]


def test_a_value_in_prose_counts_where_the_code_had_it(repository: Repository) -> None:
    body = "| setting | value |\n|---|---|\n| `STEP_MINUTES` | 10 |"
    assert repository.judge(body) == ()
    repository.commit("Finer", DAYS[2], **{"tide__tables.py": "STEP_MINUTES = 5.0\n"})
    (finding,) = repository.judge(body)
    assert finding.rule == "changed-since"
    assert "Finer" in finding.evidence[1]
    assert repository.judge("| `STEP_MINUTES` | 7 |") == (), "the code never had it"
    assert repository.judge("`STEP_MINUTES` is 5 now.") == ()


def test_a_path_that_git_moved_is_reported_in_a_plan_too(repository: Repository) -> None:
    (repository.root / "core").mkdir()
    git(repository.root, "mv", "tide/tables.py", "core/tables.py")
    repository.commit("Core", DAYS[2])
    assert [it.rule for it in repository.judge("## Plan\n\nStart at `tide/tables.py`.")]
    assert repository.judge("## History\n\nIt began in `tide/tables.py`.") == ()
    assert repository.judge("It was moved from `tide/tables.py`.") == ()


@pytest.mark.parametrize(
    ("description", "body"),
    [
        ("The reader, build not started", "**BUILT & shipped** in May."),
        ("Two slices: slice 1 done, slice 2 planned", "One.\n\n**SLICE 2 DONE:** it reads all."),
        ("P7a merged, P7b next", "**P7b — the page: DONE & MERGED.**"),
        ("Iters 2–4 pending", "Iter 1 DONE.\n\n**Iter 3 DONE:** brakes."),
        ("Ready to implement", "Phases.\n\n## Completed (all 4 phases shipped)"),
        ("阶段 2 进行中", "说明。\n\n阶段 2 已完成。"),
        ("Phase 2 in Arbeit", "Zwei Phasen.\n\n**Phase 2: FERTIG**"),
    ],
)
def test_a_description_that_the_text_refutes_is_reported(
    lint: Lint, description: str, body: str
) -> None:
    (finding,) = lint({"a.md": note(body, description=description)}, "inconsistent-note")
    assert "done" in finding.message


@pytest.mark.parametrize(
    ("description", "body"),
    [
        ("Slice 2 planned", "**SLICE 1 DONE:** it reads all."),
        ("Slice 2 planned", "Slice 2 is NOT DONE."),
        ("Nothing pending", "**DONE**"),
        ("Not built for speed", "**DONE** in May."),
        ("The pending review of the port", "The port DONE its part."),
        ("Three rules", "# Three rules\n\n1. One.\n2. Two.\n3. Three."),
        ("Rules", "# 2 weeks later\n\nText.\n\n1. One.\n2. Two.\n3. Three."),
    ],
)
def test_other_parts_and_right_numbers_are_not_reported(
    lint: Lint, description: str, body: str
) -> None:
    text = note(body, description=description)
    assert lint({"a.md": text}, "inconsistent-note") == ()


@pytest.mark.parametrize(
    "body",
    [
        "# Three rules\n\n1. One.\n2. Two.",
        "## 清单（6本）\n\n1. a\n2. b",
        "**Still open:** the second gauge table of the port.\n\nThe second gauge table now BUILT.",
    ],
)
def test_numbers_and_open_items_that_the_text_refutes_are_reported(lint: Lint, body: str) -> None:
    assert [it.rule for it in lint({"a.md": note(body)}, "inconsistent-note")] == [
        "inconsistent-note"
    ]


def test_an_entry_that_its_note_refutes_is_reported(lint: Lint) -> None:
    entries = "- [A](a.md) — alarms (researched, not built)\n- [B](b.md) — plans (not built)\n"
    files = {"MEMORY.md": entries, "a.md": note("**ALL 4 PHASES DONE.**"), "b.md": note("Plans.")}
    (finding,) = lint(files, "index-outdated-entry")
    assert (finding.path, finding.line) == ("MEMORY.md", 1)
    assert finding.evidence == ("a.md:7: **ALL 4 PHASES DONE.**",)
