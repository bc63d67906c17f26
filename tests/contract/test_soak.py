"""The soak runs every test that has a figure, and all tests on unusual machines."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import soak
from tests.soak import CHECKOUT, GROUPS
from tests.support.figures import variable
from tests.unit.machine import git

MAKEFILE = """
JOBS ?= usual
test:
	@sh report.sh "$(JOBS)"
"""
REPORT = """
touch made || exit
tell() { printf '<property name="%s" value="%s"/>\\n' "$1" "$2"; }
{
    echo '<testsuites><testsuite tests="7" failures="0" errors="0" skipped="0" time="1">'
    echo '<properties>'
    tell TMPDIR "${TMPDIR-unset}"
    tell HOME "${HOME-unset}"
    tell TZ "${TZ-unset}"
    tell LC_ALL "${LC_ALL-unset}"
    tell JOBS "$1"
    tell user "$(id -u)"
    if touch "${TMPDIR-/tmp}/ricordo-soak-test" && rm "${TMPDIR-/tmp}/ricordo-soak-test"; then
        tell temporary writable
    fi
    echo '</properties></testsuite></testsuites>'
} > "${PYTEST_ADDOPTS#--junitxml=}"
"""
"""Stands for the tests: reports what is unusual about the machine."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of which the soak makes clones."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "report.sh").write_text(REPORT)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    monkeypatch.setattr(soak, "CHECKOUT", folder)
    monkeypatch.setattr(soak, "KEPT", tmp_path / "kept")
    # as where make runs the soak
    monkeypatch.setenv("MAKEFLAGS", " -- JOBS=3")
    monkeypatch.setenv("JOBS", "3")
    return folder


def test_make_test_is_run_on_fresh_clones_of_unusual_machines(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    is_root = os.geteuid() == 0
    assert soak.main(["clones"]) == (0 if is_root else 1)
    kept = json.loads((soak.KEPT / "results.json").read_text())
    told = {name.removeprefix("clone-"): result["recorded"] for name, result in kept.items()}
    assert all(it["temporary"] == "writable" for it in told.values())
    # temporary folders, and what they are after the tests
    short, long = told["short"]["TMPDIR"], told["long"]["TMPDIR"]
    assert len(short) <= len("/tmp/t")
    assert len(long) > 60
    assert " " in long
    assert not Path(short).exists()
    assert not Path(long).exists()
    assert told["clone"]["TMPDIR"] == os.environ.get("TMPDIR", "unset")
    assert (told["long"]["TZ"], told["long"]["LC_ALL"]) == ("Asia/Kolkata", "C")
    assert told["home"]["HOME"] == "unset"
    assert {it["JOBS"] for it in told.values()} == {"usual", "1", "8"}
    assert {it["user"] for name, it in told.items() if name != "user"} == {str(os.geteuid())}
    assert ("user" in told) is is_root
    if is_root:
        assert told["user"]["user"] != "0"
        assert not Path(told["user"]["HOME"]).exists()
    table = capfd.readouterr().out
    assert "TMPDIR " + long in table
    assert is_root or "clone-user  not run: needs root" in table
    # what has passed is not run again, and nothing is left in the checkout
    assert soak.main(["clones"]) == (0 if is_root else 1)
    assert sorted(path.name for path in checkout.iterdir()) == [".git", "Makefile", "report.sh"]


def test_a_clone_that_fails_and_one_that_cannot_be_made_are_told(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout / "report.sh").write_text("exit 7\n")
    assert soak.main(["clone-home"]) != 0
    assert "needs a commit" in capfd.readouterr().out
    git(checkout, "commit", "--quiet", "-a", "-m", "fail")
    assert soak.main(["clone-home"]) != 0
    assert "HOME unset" in capfd.readouterr().out


def test_a_group_whose_program_is_missing_is_not_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(soak.shutil, "which", lambda program: None)
    assert soak.main(["sarif"]) == 1
    assert "sarif       not checked: no npm, no node\n" in capfd.readouterr().out


def test_every_test_of_the_program_belongs_to_a_soak() -> None:
    soaked = [CHECKOUT / path for group in GROUPS for path in group.paths]
    tests = [
        path
        for place in ("unit", "faults", "tui", "shells", "packaging")
        for path in (CHECKOUT / "tests" / place).rglob("test_*.py")
    ]
    assert tests
    assert [it for it in tests if not any(it.is_relative_to(path) for path in soaked)] == []


def test_a_tool_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_some.py").write_text(
        "import pytest\n@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_shell(number):\n    pytest.skip('not checked: no zsh')\n"
    )
    group = soak.Group("some", (str(tmp_path / "test_some.py"),), {})
    monkeypatch.setattr(soak, "GROUPS", (group,))
    monkeypatch.setattr(soak, "CLONES", ())
    monkeypatch.setattr(soak, "KEPT", tmp_path / "kept")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "1")
    # else it removes what earlier runs of all tests left
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path))
    assert soak.main([]) == 0
    assert capsys.readouterr().out.count("not checked: no zsh\n") == 1


def test_of_many_cases_some_are_run_every_day_and_all_in_a_soak() -> None:
    test = "tests/contract/test_exit_codes.py::test_each_code_in_each_command_where_it_can_occur"
    counts = []
    for all_cases in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", test],
            cwd=CHECKOUT,
            env=os.environ | {variable("all_cases"): all_cases},
            capture_output=True,
            text=True,
            check=True,
        )
        counts.append(done.stdout.count(f"{test}["))
    few, all_of_them = counts
    assert all_of_them > 50
    assert few == math.ceil(all_of_them / 2)


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_change_has_to_pass_runs_the_tests_once_in_an_unusual_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    checkout, temporary = tmp_path / "checkout", tmp_path / "t"
    (checkout / ".ci").mkdir(parents=True)
    temporary.mkdir()
    shutil.copy(CHECKOUT / ".ci" / "run", checkout / ".ci")
    (checkout / "Makefile").write_text(
        'test:\n\t@echo "$$TMPDIR|$$TZ" >> told; mkdir "$$TMPDIR/left"; chmod 0 "$$TMPDIR/left"\n'
        f"\t@exit {int(fails)}\nlint wheel-check:\n\t@echo '$@' >> told\n"
    )
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("TZ", "UTC")
    done = subprocess.run([checkout / ".ci" / "run"], check=False, capture_output=True)
    assert (done.returncode != 0) is fails
    tests, *others = (checkout / "told").read_text().splitlines()
    assert others == ([] if fails else ["lint", "wheel-check"])
    folder, zone = tests.split("|")
    assert " " in folder
    assert len(folder) > len(str(temporary)) + 60
    assert zone != "UTC"
    assert not list(temporary.iterdir())
