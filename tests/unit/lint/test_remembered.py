"""What was found is remembered between runs, and never differs from what a first run finds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ricordo.lint.claims import checker
from ricordo.lint.finding import Finding
from ricordo.lint.rules import dates, safety
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from ricordo.storage import cache_file
from tests.support.builders import note_text, write_memory
from tests.unit.lint.test_claims import PROJECT
from tests.unit.machine import git

NOON = "2026-11-20T12:00:00+00:00"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOTES = {
    "paths.md": "It is `tidepool/loader.py`, `tidepool/local.py` and `tidepool/plan.py:2`.\n",
    "step.md": "The step is `DEFAULT_STEP = 12`, in `tidepool/harmonics.py`.\n",
    "day.md": "The tables are due on 2026-11-22. Call `TideTable` of `tidepool/plan.py`.\n",
    "rules.md": "Run `make check` before every commit and paste its last lines.\n",
    "own.md": "See `.claude/memory/long.md:13` for the harbours.\n",
    "long.md": "one\n\ntwo\n\nthree\n\nfour\n\nfive\n",
    "port.md": "The migration is done and all tests pass.\n",
    "fence.md": "Zero\u200bwidth.\n",
}


class Place:
    """A project with a memory inside of it, which is linted by one new process after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = write_memory(folder / "project", PROJECT)
        notes = {name: note_text(name[:-3], body) for name, body in NOTES.items()}
        index = "".join(f"- [{name}]({name}) — it\n" for name in notes)
        self.memory = write_memory(
            self.project / ".claude" / "memory", {"MEMORY.md": index, **notes}
        )
        git(self.project, "init", "--quiet")
        # unlike those of .gitignore, these may be named by notes
        (self.project / ".git" / "info" / "exclude").write_text("local.py\n")
        self.commit("begin")
        self.now = NOON
        self._fresh = 0

    def commit(self, subject: str) -> None:
        git(self.project, "add", "--all")
        git(self.project, "commit", "--quiet", "-m", subject)

    def lint(self, state: str = "state") -> tuple[Finding, ...]:
        environment = load_environment(
            {"HOME": str(self.folder), "PATH": os.environ["PATH"]},
            state=str(self.folder / state),
            now=self.now,
        )
        place = find_memory(str(self.memory), environment)
        opened = Notebook(place, environment, Settings())
        return opened.read_snapshot_with_evidence().findings

    def lint_fresh(self) -> tuple[Finding, ...]:
        self._fresh += 1
        return self.lint(f"fresh-{self._fresh}")

    def note(self, name: str, body: str) -> None:
        (self.memory / name).write_text(note_text(name[:-3], body))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def excluded_file(place: Place) -> None:
    write_memory(place.project, {"tidepool/local.py": ""})


def changed_code(place: Place) -> None:
    path = place.project / "tidepool" / "harmonics.py"
    path.write_text(path.read_text().replace("= 10", "= 12"))


def renamed_file(place: Place) -> None:
    git(place.project, "mv", "tidepool/plan.py", "tidepool/plans.py")
    place.commit("rename")


def committed_file(place: Place) -> None:
    write_memory(place.project, {"tidepool/loader.py": "class TideTable: ...\n"})
    place.commit("load")


def changed_instructions(place: Place) -> None:
    (place.project / "CLAUDE.md").write_text("# For agents\n\nNothing yet.\n")


def changed_ignores(place: Place) -> None:
    (place.project / ".gitignore").write_text("/tidepool/loader.py\n")


def shorter_own_note(place: Place) -> None:
    place.note("long.md", "one\n")


def new_note(place: Place) -> None:
    place.note("loader.py.md", "The loader, with `sudo rm -rf` and a plan.\n")


def removed_note(place: Place) -> None:
    (place.memory / "long.md").unlink()


def later_day(place: Place) -> None:
    place.now = "2026-11-25T12:00:00+00:00"


def earlier_day(place: Place) -> None:
    place.now = "2026-01-05T12:00:00+00:00"


def leaked_token(place: Place) -> None:
    place.note("port.md", f"The key of `tidepool/{TOKEN}.py` is token: {TOKEN}\n")


def linked_file(place: Place) -> None:
    (place.project / "tidepool" / "loader.py").symlink_to("plan.py")


CHANGES = (
    excluded_file,
    changed_code,
    renamed_file,
    committed_file,
    changed_instructions,
    changed_ignores,
    shorter_own_note,
    new_note,
    removed_note,
    later_day,
    earlier_day,
    leaked_token,
    linked_file,
)


@pytest.mark.parametrize("change", CHANGES)
def test_after_any_change_the_same_is_found_as_by_a_first_run(
    change: Callable[[Place], None], place: Place
) -> None:
    before = place.lint()
    assert place.lint() == before == place.lint_fresh()
    change(place)
    after = place.lint()
    assert after == place.lint_fresh()
    assert place.lint() == after
    if change not in (changed_ignores, earlier_day):
        assert after != before


def fail(*_: object, **__: object) -> None:
    raise AssertionError


def test_what_did_not_change_is_not_judged_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place.lint()
    for module, name in (
        (checker, "check_claims"),
        (checker, "find_claims"),
        (safety, "find_secrets"),
        (dates, "find_dates"),
    ):
        monkeypatch.setattr(module, name, fail)
    assert place.lint() == before


def test_what_git_refuses_is_not_asked_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (10, 12):
        write_memory(place.project, {"docs/step.md": f"The step is {step}.\n"})
        place.commit(f"a step of {step}")
    blob = git(place.project, "rev-parse", "HEAD~1:docs/step.md").strip()
    # what commits replaced in pages can no longer be told
    (place.project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    before = place.lint()
    monkeypatch.setattr(checker, "check_claims", fail)
    assert place.lint() == before


def test_one_changed_note_is_the_only_one_that_is_checked_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.lint()
    place.note("port.md", "It is `tidepool/reader.py`.\n")
    checked: list[str] = []
    real = checker.check_claims

    def count(*given: object) -> object:
        checked.append(given[0].path)  # type: ignore[attr-defined]
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checker, "check_claims", count)
    assert any(it.path == "port.md" and it.rule == "missing-path" for it in place.lint())
    assert checked == ["port.md"]


def test_other_code_judges_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.lint()
    monkeypatch.setattr("ricordo.lint.stamps.compute_code_stamp", lambda: "of another version")
    monkeypatch.setattr(safety, "find_secrets", fail)
    with pytest.raises(AssertionError):
        place.lint()


def test_the_code_stamp_changes_with_a_rule_and_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_memory(tmp_path, {"__init__.py": "", "lint/rules/a.py": "1", "lint/rules/a.toml": "a"})
    monkeypatch.setattr(cache_file, "find_data_file", lambda name: str(tmp_path / name))
    compute = cache_file.compute_code_stamp.__wrapped__
    stamps = [compute()]
    for name in ("a.py", "a.toml", "b.py"):
        write_memory(tmp_path, {f"lint/rules/{name}": "and more"})
        stamps.append(compute())
    assert len(set(stamps)) == len(stamps)


def test_no_credential_is_stored_with_what_a_note_claims(place: Place) -> None:
    leaked_token(place)
    place.lint()
    stored = [path.read_bytes() for path in (place.folder / "state" / "judged").iterdir()]
    assert len(stored) == 2
    assert not any(TOKEN.encode() in content for content in stored)
    assert any(b"loader.py" in content for content in stored)


def test_what_rules_did_not_find_is_stored_without_any_text(place: Place) -> None:
    place.lint()
    (quiet,) = (
        document
        for path in (place.folder / "state" / "judged").iterdir()
        if "loud" in (document := json.loads(path.read_text()))
    )
    text = json.dumps(quiet)
    assert not any(word in text for word in ("port.md", "migration", "tidepool", "Zero"))


def test_damage_to_what_is_remembered_is_harmless(place: Place) -> None:
    before = place.lint()
    for path in (place.folder / "state" / "judged").iterdir():
        text = path.read_text()
        for damaged in (text[:-3], "[]", text.replace("[", "{}", 1), text.replace("missing", "7")):
            path.write_text(damaged)
            assert place.lint() == before


def test_a_state_that_cannot_be_written_changes_no_finding(place: Place) -> None:
    before = place.lint_fresh()
    (place.folder / "state").mkdir()
    (place.folder / "state" / "judged").write_text("in the way")
    assert place.lint() == before
