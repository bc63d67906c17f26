"""What commands are run for, what their output reports, and which one repeats another."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.handoff.facts import CommandPurpose
from ricordo.handoff.gather.commands import (
    find_decisive,
    find_error_line,
    find_outcome,
    find_purpose,
    list_programs,
)
from ricordo.handoff.gather.limits import BoundedList, RecentDict


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "pytest -q tests/test_alarm.py::test_x",
        "cd app && PYTHONPATH=. python3.11 -m pytest -x 2>&1 | tail -20",
        "/srv/.venv/bin/pytest",
        "uv run --frozen pytest",
        "timeout 60 poetry run pytest",
        "python manage.py test berths",
        "python tests/test_alarm.py",
        "./run_tests.sh fast",
        "bash scripts/integration-test.sh",
        "bash -lc 'cd x && go test ./...'",
        "npm test -- --watch=false",
        "npm run test:unit",
        "npx vitest run",
        "yarn test",
        "pnpm --filter web test",
        "make test",
        "make -j4 check-tests",
        "just e2e",
        "mise run fmt && mise run lint && mise run test:ci",
        "go test -run TestX ./pkg",
        "cargo nextest run",
        "cargo +nightly test",
        "docker compose exec -T app rspec",
        "./gradlew :app:testDebug",
        "mvn -q test",
        "dotnet test",
        "node --test",
        "set -o pipefail; ctest --output-on-failure",
    ],
)
def test_tests_are_known(line: str) -> None:
    assert find_purpose(list_programs(line)) is CommandPurpose.TEST


@pytest.mark.parametrize(
    "line",
    [
        "ruff check . && ruff format --check .",
        "python -m mypy -p ricordo",
        "npx tsc --noEmit",
        "npm run lint",
        "make build",
        "make lint",
        "cargo clippy --all-targets",
        "go vet ./...",
        "golangci-lint run",
        "pre-commit run --all-files",
        "bash -n install.sh",
        "mise run fmt",
        "./scripts/build.sh",
        "terraform validate",
        "docker build .",
    ],
)
def test_checks_and_builds_are_known(line: str) -> None:
    assert find_purpose(list_programs(line)) is CommandPurpose.CHECK


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ls tests",
        "cat tests/test_alarm.py",
        "git commit -m 'test: more'",
        "grep -rn pytest .",
        "pip install pytest",
        "npm install",
        "echo make test",
        "rm -rf build",
        "python alarm.py",
        "git checkout -b test",
        "mkdir -p tests/unit",
        "sed -n 1,20p tests/check.py",
        "vim make",
        "\"pytest'",
    ],
)
def test_other_commands_are_neither(line: str) -> None:
    assert find_purpose(list_programs(line)) is CommandPurpose.OTHER


@pytest.mark.parametrize(
    ("line", "is_masked"),
    [
        ("pytest", False),
        ("cd x && pytest && echo ok", False),
        ("pytest | tail", True),
        ("set -o pipefail; pytest | tail", False),
        ("pytest || true", True),
        ("pytest; echo done", True),
        ("pytest &", True),
        ("pytest\nls", True),
        ("make build | tee log && pytest", False),
    ],
)
def test_whose_exit_code_a_line_has(line: str, is_masked: bool) -> None:
    programs = find_decisive(list_programs(line))
    assert programs is not None
    assert programs.is_masked is is_masked


@pytest.mark.parametrize(
    ("then", "first", "covers"),
    [
        ("pytest", "pytest tests/test_a.py", True),
        ("python -m pytest -q", "pytest -x -v tests/test_a.py -k tide", True),
        ("pytest tests/test_b.py", "pytest tests/test_a.py", False),
        ("pytest tests/test_a.py", "pytest", False),
        ("go test ./...", "go test ./...", True),
        ("npm run lint", "npm run test", False),
        ("make", "cargo build", False),
    ],
)
def test_what_is_done_again(then: str, first: str, covers: bool) -> None:
    assert list_programs(then)[0].covers(list_programs(first)[0]) is covers


@pytest.mark.parametrize(
    ("output", "line", "has_passed"),
    [
        ("....\n===== 12 passed in 3.1s =====", "12 passed in 3.1s", True),
        ("= 2 failed, 10 passed, 1 warning in 3s =", "2 failed, 10 passed, 1 warning in 3s", False),
        ("== 1 error in 0.1s ==", "1 error in 0.1s", False),
        ("Ran 3 tests in 0.1s\n\nOK", "OK", True),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1)", "FAILED (failures=1)", False),
        ("ok  \tpkg/a\t0.1s\nok  \tpkg/b\t(cached)", "ok  \tpkg/b\t(cached)", True),
        ("--- FAIL: TestX\nFAIL\tpkg/a\t0.1s\nok  \tpkg/b\t0.1s", "FAIL\tpkg/a\t0.1s", False),
        ("test result: ok. 3 passed; 0 failed", "test result: ok. 3 passed; 0 failed", True),
        (
            "test result: FAILED. 2 passed; 1 failed",
            "test result: FAILED. 2 passed; 1 failed",
            False,
        ),
        (
            "Tests:       1 failed, 4 passed, 5 total",
            "Tests:       1 failed, 4 passed, 5 total",
            False,
        ),
        ("\x1b[32m Tests  5 passed (5)\x1b[0m", "Tests  5 passed (5)", True),
        ("  3 passing (20ms)\n  1 failing", "1 failing", False),
        ("4 examples, 0 failures", "4 examples, 0 failures", True),
        ("4 examples, 1 failure", "4 examples, 1 failure", False),
        ("All checks passed!", "All checks passed!", True),
        ("Found 3 errors.", "Found 3 errors.", False),
        (
            "Found 1 error in 1 file (checked 3 source files)",
            "Found 1 error in 1 file (checked 3 source files)",
            False,
        ),
        ("✖ 3 problems (1 error, 2 warnings)", "✖ 3 problems (1 error, 2 warnings)", False),
        ("BUILD FAILED in 3s", "BUILD FAILED in 3s", False),
        ("make: *** [Makefile:3: all] Error 1", "make: *** [Makefile:3: all] Error 1", False),
        ("0 failed, 3 passed", "0 failed, 3 passed", True),
        ("it said nothing", "", None),
        ("", "", None),
    ],
)
def test_the_result_line_is_found(output: str, line: str, has_passed: bool | None) -> None:
    assert find_outcome(output) == (line, has_passed)


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "Traceback (most recent call last):\n  File x\nValueError: no tide\n",
            "ValueError: no tide",
        ),
        ("E   assert 1 == 2\nE   + where\n1 failed", "E   assert 1 == 2"),
        (
            '[lint] a.go:7:2: "io" imported and not used\n[lint] ERROR',
            '[lint] a.go:7:2: "io" imported and not used',
        ),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("error[E0382]: borrow of moved value", "error[E0382]: borrow of moved value"),
        ("first\nlast\n\n", "last"),
        ("", ""),
    ],
)
def test_the_line_that_tells_the_error(output: str, line: str) -> None:
    assert find_error_line(output) == line


@given(st.text(alphabet="pytest make|&;'\"\\\n<>()$` -=/.EOF", max_size=80))
def test_any_line_may_be_asked_for_what_it_does(line: str) -> None:
    programs = list_programs(line)
    assert (find_decisive(programs) is None) == (not programs)
    assert all(deed.covers(deed) and deed.program for deed in programs)


@given(st.text(max_size=300))
def test_a_result_line_comes_from_the_output(output: str) -> None:
    plain = re.sub(r"\s+", "", output)
    for line in (find_outcome(output).line, find_error_line(output)):
        assert "\n" not in line
        assert "\x1b" in output or re.sub(r"\s+", "", line) in plain


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(2, 40))
def test_the_first_and_the_last_items_are_kept_within_bounds(items: list[int], most: int) -> None:
    kept: BoundedList[int] = BoundedList(most, lambda item: item)
    for item in items:
        kept.add(item)
    found = list(kept)
    assert sum(found) <= most + 9
    half = len(found) // 2
    assert found == items if sum(items) <= most // 2 else found[-1] == items[-1]
    assert found[:1] == items[:1] or items[0] > most // 2 or half == 0


def test_a_table_forgets_what_was_put_into_it_first() -> None:
    table: RecentDict[str, int] = RecentDict(2)
    for number, name in enumerate("abcab"):
        table[name] = number
    assert dict(table) == {"a": 3, "b": 4}
