"""Findings of a rule that fires everywhere are one, and what harms most comes first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.lint.causes import create_habit_id, list_causes, list_settled_rules
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.memory import Memory
from tests.support.builders import open_memory
from tests.unit.lint.conftest import NOW, note


def found(rule: str, path: str, severity: Severity = Severity.WARNING, line: int = 0) -> Finding:
    return Finding(rule, severity, path, line, f"{path} is wrong.", f"{path} {line}")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    files = {f"{n}.md": note("Text.", str(n)) for n in range(40)}
    return open_memory(tmp_path / "memory", {**files, "MEMORY.md": "# Memory\n"})


@pytest.mark.parametrize(("many", "is_one"), [(8, False), (9, True), (40, True)])
def test_a_rule_that_fires_on_more_than_a_fifth_is_one_finding(
    memory: Memory, many: int, is_one: bool
) -> None:
    findings = [found("missing-path", f"{n}.md") for n in range(many)]
    causes = list_causes(findings, memory)
    assert len(causes) == (1 if is_one else many)
    if is_one:
        (cause,) = causes
        assert cause.message.startswith(f"In {many} of 40 notes: ")
        assert cause.members == tuple(sorted(findings, key=lambda it: it.rank))
        assert cause.evidence[0] == "0.md: 0.md is wrong."
        assert cause.evidence[-1] == f"and {many - 3} more"


def test_entries_of_the_index_count_one_by_one(memory: Memory) -> None:
    findings = [found("index-missing-file", "MEMORY.md", line=n) for n in range(1, 13)]
    (cause,) = list_causes(findings, memory)
    assert cause.message.startswith("12 times in MEMORY.md: ")
    assert (cause.path, cause.line) == ("MEMORY.md", 1)


def test_a_few_files_that_an_index_misses_are_gone_together(memory: Memory) -> None:
    findings = [found("index-missing-file", "MEMORY.md", line=n) for n in range(1, 4)]
    assert len(list_causes(findings, memory)) == 1
    assert len(list_causes(findings[:2], memory)) == 2


@pytest.mark.parametrize(("many", "rows"), [(2, 2), (3, 1)])
def test_broken_links_of_one_file_without_another_target_are_one(
    tmp_path: Path, many: int, rows: int
) -> None:
    text = "".join(f"- [Day {n}](day_{n}.md)\n" for n in range(many))
    memory = open_memory(tmp_path / "old", {"old.md": note(text, "old")})
    findings = Linter({}, frozenset(("dead-link",))).run(memory, RuleContext(NOW, memory.layout))
    assert len(findings) == many
    causes = list_causes(findings, memory)
    assert len(causes) == rows
    if rows == 1:
        assert causes[0].message.endswith(" does not exist. 2 more here have the same cause.")


def test_files_of_one_encoding_are_one_finding_and_blanks_are_no_text(tmp_path: Path) -> None:
    wide = {f"{name}.md": name.encode("utf-16") for name in ("ebb", "flood", "quay")}
    blank = {"a.md": "\r\n".encode("utf-16"), "b.md": b"\xef\xbb\xbf", "c.md": b"\xff\xfe"}
    files = {**wide, **blank, "café.md": "café".encode("cp1252")}
    memory = open_memory(tmp_path / "memory", files)
    rules = frozenset(("empty-note", "unreadable-note"))
    findings = Linter({}, rules).run(memory, RuleContext(NOW, memory.layout))
    assert {it.path for it in findings if it.rule == "empty-note"} == set(blank)
    unreadable = [it for it in list_causes(findings, memory) if it.rule == "unreadable-note"]
    assert [it.message for it in unreadable] == [
        "café.md cannot be read: not UTF-8.",
        "ebb.md cannot be read: UTF-16, not UTF-8. 2 more files have the same cause.",
    ]
    other = open_memory(tmp_path / "other", {f"z{path}": text for path, text in files.items()})
    findings = Linter({}, rules).run(other, RuleContext(NOW, memory.layout))
    # dismissed for all of them
    assert unreadable[1].id in {it.id for it in list_causes(findings, other)}


def test_links_that_lead_out_of_a_memory_to_one_place_are_one_finding(tmp_path: Path) -> None:
    names = ("ebb", "flood", "quay")
    texts = {name: f"See [its source](file:///C:/raw/{name}.txt)." for name in names}
    texts["mole"] = "See [one](file:///C:/raw/1.txt) and [two](file:///C:/raw/2.txt)."
    texts["lamp"] = "See [the hosts](/etc/hosts)."
    files = {f"{name}.md": note(text, name) for name, text in texts.items()}
    memory = open_memory(tmp_path / "memory", files)
    findings = Linter({}, frozenset(("outside-memory",))).run(
        memory, RuleContext(NOW, memory.layout)
    )
    assert sorted(it.message for it in list_causes(findings, memory)) == [
        "Link “its source” points outside the memory: file:///C:/raw/ebb.txt. "
        "4 more in 4 files have the same cause.",
        "Link “the hosts” points outside the memory: /etc/hosts.",
    ]


def test_links_to_one_missing_note_are_one_finding(tmp_path: Path) -> None:
    texts = {"ebb": "See [[harbor-chart]] and [[lamp-lst]].", "flood": "See [[Harbor chart]]."}
    files = {f"{name}.md": note(text, name) for name, text in texts.items()}
    targets = {f"{name}.md": note("Text.", name) for name in ("harbour-chart", "lamp-list")}
    memory = open_memory(tmp_path / "memory", {**files, **targets})
    findings = Linter({}, frozenset(("wanted-note",))).run(memory, RuleContext(NOW, memory.layout))
    assert [it.message for it in list_causes(findings, memory)] == [
        "Link to a note that does not exist: harbor-chart. Did you mean harbour-chart? "
        "1 more file has the same cause.",
        "Link to a note that does not exist: lamp-lst. Did you mean lamp-list?",
    ]


@pytest.mark.parametrize(("count", "is_one"), [(2, False), (3, True)])
def test_links_that_leave_out_one_beginning_of_names_are_one_finding(
    tmp_path: Path, count: int, is_one: bool
) -> None:
    names = ("high-tide", "low-water", "spring-tide")[:count]
    links = {f"{n}.md": note(f"See [[{name}]].", str(n)) for n, name in enumerate(names)}
    targets = {f"feedback_{it}.md": note("Text.", f"feedback-{it}") for it in names}
    memory = open_memory(tmp_path / "memory", {**links, **targets})
    findings = Linter({}, frozenset(("wanted-note",))).run(memory, RuleContext(NOW, memory.layout))
    causes = list_causes(findings, memory)
    assert len(causes) == (1 if is_one else count)
    assert causes[0].message.endswith("2 more files have the same cause.") is is_one


@pytest.mark.parametrize(
    ("rule", "shared", "other"),
    [
        ("changed-since", "go.mod: go 1.4", "2.md: quay.py"),
        ("missing-path", "4f3b60e7", "2.md: tree quays"),
        ("missing-symbol", "4f3b60e7", "0c2d"),
    ],
)
def test_what_one_change_of_the_project_refutes_in_several_notes_is_one_finding(
    memory: Memory, rule: str, shared: str, other: str
) -> None:
    origins = (shared, shared, other)
    findings = [replace(found(rule, f"{n}.md"), origin=origin) for n, origin in enumerate(origins)]
    assert [it.message for it in list_causes(findings, memory)] == [
        "0.md is wrong. 1 more file has the same cause.",
        "2.md is wrong.",
    ]


def test_many_findings_in_few_notes_are_one_too(memory: Memory) -> None:
    findings = [found("dead-link", f"{n % 3}.md", line=n) for n in range(20)]
    assert len(list_causes(findings, memory)) == 1
    assert len(list_causes(findings[:19], memory)) == 19


def test_many_findings_that_one_answer_settles_are_one_in_a_memory_of_any_size(
    tmp_path: Path,
) -> None:
    files = {f"{n}.md": note("Text.", str(n)) for n in range(120)}
    memory = open_memory(tmp_path / "large", files)
    for rule, is_one in (("unindexed-note", True), ("missing-path", False)):
        findings = [found(rule, f"{n}.md") for n in range(20)]
        assert len(list_causes(findings, memory)) == (1 if is_one else 20)


@pytest.mark.parametrize(("many", "is_one"), [(7, False), (8, True)])
def test_what_is_written_alike_in_some_notes_is_one(
    memory: Memory, many: int, is_one: bool
) -> None:
    findings = [found("frontmatter-invalid", f"{n}.md") for n in range(many)]
    assert len(list_causes(findings, memory)) == (1 if is_one else many)


def test_a_fault_of_form_in_a_fifth_of_a_small_memory_is_one(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "small", {f"{n}.md": note("Text.", str(n)) for n in range(9)})
    for rule, is_one in (("frontmatter-invalid", True), ("missing-path", False)):
        findings = [found(rule, f"{n}.md") for n in range(3)]
        assert len(list_causes(findings, memory)) == (1 if is_one else 3)
        assert len(list_causes(findings[:1], memory)) == 1


def test_a_few_findings_on_size_or_age_are_one(memory: Memory) -> None:
    findings = [found("stale", f"{n}.md", Severity.INFO) for n in range(3)]
    assert len(list_causes(findings, memory)) == 1
    assert len(list_causes(findings[:2], memory)) == 2


def test_a_few_notes_that_an_index_lists_twice_are_one(memory: Memory) -> None:
    twice = [found("index-duplicate-entry", "MEMORY.md", line=line) for line in (3, 7, 9)]
    assert len(list_causes(twice, memory)) == 1
    assert len(list_causes(twice[1:], memory)) == 2


def test_every_secret_is_settled_for_itself(memory: Memory) -> None:
    findings = [found("secret", f"{n}.md") for n in range(40)]
    assert len(list_causes(findings, memory)) == 40


def test_the_one_finding_is_as_severe_as_the_worst_and_has_one_id(memory: Memory) -> None:
    quiet = [found("oversized-note", f"{n}.md", Severity.INFO) for n in range(20)]
    (cause,) = list_causes(
        [*quiet, *(found("oversized-note", f"{n}.md") for n in range(20, 23))], memory
    )
    assert (cause.severity, cause.path) == (Severity.WARNING, "20.md")
    assert cause.id == list_causes(quiet, memory)[0].id == create_habit_id("oversized-note")
    assert list_settled_rules([cause.id, "x"]) == {"oversized-note"}
    assert len(list_causes(quiet[:1], memory, frozenset((cause.id,)))) == 1


def test_the_one_finding_tells_of_the_worst_alone(memory: Memory) -> None:
    rule = "index-missing-file"
    less = [found(rule, "MEMORY.md", Severity.INFO, line) for line in (8, 9)]
    for many, count in ((2, 4), (3, 1)):
        worse = [found(rule, "MEMORY.md", Severity.ERROR, line) for line in range(1, many + 1)]
        causes = list_causes([*less, *worse], memory)
        assert len(causes) == count
    assert causes[0].message.startswith("3 times in MEMORY.md: ")
    assert len(causes[0].members) == 5
    assert not any("MEMORY.md:8" in text for text in causes[0].evidence)


def test_a_few_that_are_worse_than_the_habit_stay_apart(memory: Memory) -> None:
    quiet = [found("wanted-note", f"{n}.md", Severity.INFO) for n in range(20)]
    worse = [found("wanted-note", f"{n}.md") for n in (3, 30)]
    causes = list_causes([*quiet, *worse], memory)
    assert causes[:2] == tuple(worse)
    (cause,) = causes[2:]
    assert (cause.severity, len(cause.members)) == (Severity.INFO, 20)
    assert cause.id == create_habit_id("wanted-note")
    (settled,) = list_causes([*quiet, *worse], memory, frozenset((cause.id,)))
    assert len(settled.members) == 22


def test_what_harms_most_comes_first(memory: Memory) -> None:
    rules = ("oversized-note", "duplicate-name", "contradiction", "unindexed-note", "missing-path")
    causes = list_causes([found(rule, "1.md") for rule in rules], memory)
    assert [it.rule for it in causes][:2] == ["contradiction", "missing-path"]
    assert causes[2].rule == "unindexed-note", "content before form"
    loaded = list_causes([found("dead-link", "1.md"), found("dead-link", "MEMORY.md")], memory)
    assert loaded[0].path == "MEMORY.md"


def test_a_few_notes_that_an_index_misses_are_one(memory: Memory) -> None:
    findings = [found("unindexed-note", f"{n}.md") for n in range(3)]
    assert len(list_causes(findings, memory)) == 1
    assert len(list_causes(findings[:2], memory)) == 2


def test_a_field_that_is_written_wrong_in_one_way_is_one_finding(tmp_path: Path) -> None:
    files = {f"{n}.md": f"---\nrelated: [[a]] [[{n}]]\n---\n\nIt ebbs.\n" for n in range(3)}
    files["4.md"] = "---\nname: tides: ebb\n---\n\nIt flows.\n"
    files |= {f"{n}.md": note("It is high.", str(n)) for n in range(5, 25)}
    memory = open_memory(tmp_path / "memory", files)
    rules = frozenset(("frontmatter-invalid",))
    findings = Linter({}, rules).run(memory, RuleContext(NOW, memory.layout))
    assert sorted(len(it.each) for it in list_causes(findings, memory)) == [1, 3]


def test_a_sentence_with_a_passed_date_is_one_finding_in_all_versions_of_a_text(
    tmp_path: Path,
) -> None:
    said = ("Merge freeze until 2026-10-08.", "Merge freeze until 2026-10-08.", "Due 2026-10-07.")
    files = {f"{n}.md": note(text, str(n)) for n, text in enumerate(said)}
    memory = open_memory(tmp_path / "memory", files)
    findings = Linter({}, frozenset(("passed-date",))).run(memory, RuleContext(NOW, memory.layout))
    assert len(findings) == 3
    assert sorted(len(it.each) for it in list_causes(findings, memory)) == [1, 2]
