"""The line of a note that a finding is about, and the part that is marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.lint.excerpt import build_excerpt, find_span
from ricordo.lint.finding import Finding, Severity
from ricordo.memory.note import Note
from tests.support.builders import note_of, note_text, recorded

INDEX = "- [Tides](tides.md) — port\n- [Gone](gone.md) — away\n"
BODY = """
Since yesterday the port is closed.
See [[no-such-note]], [the steps](steps.md) and `src/calls.py`.
\tThe staging password is Zr8kLm2qqP9xW4tV, user ana; see [more](more.md).
A cross\u200b in a circle. The merge freeze starts on 2026-01-09 and will end in May.
The TESTS PASS since this week.
"""
MARKED = {
    ("index-missing-file", "gone.md"),
    ("wanted-note", "no-such-note"),
    ("dead-link", "steps.md"),
    ("dead-link", "more.md"),
    ("secret", "[secret: password]"),
    ("control-characters", "⟨U+200B⟩"),
}


def finding_of(cause: str, message: str, line: int = 1, rule: str = "dead-link") -> Finding:
    return Finding(rule, Severity.ERROR, "note.md", line, message, cause)


def test_what_a_rule_found_is_marked_in_its_line(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "tides.md": note_text("tides", BODY)}
    snapshot = recorded(tmp_path, files).read_snapshot_with_evidence()
    marked: set[tuple[str, str]] = set()
    for finding in snapshot.findings:
        note = snapshot.memory.by_path[finding.path]
        excerpt = build_excerpt(finding, note)
        span = find_span(finding, note)
        if excerpt is None or span is None:
            assert excerpt is span is None
            assert not finding.line
            continue
        assert span[0] + 1 == excerpt.column
        marked.add((finding.rule, excerpt.marked))
        assert "Zr8kLm2qqP9xW4tV" not in "".join(excerpt[1:])
        if finding.rule == "dead-link":
            line = note.text.split("\n")[finding.line - 1]
            assert line[excerpt.column - 1 :].startswith(excerpt.marked)
    assert marked >= MARKED


@pytest.mark.parametrize(
    ("line", "cause", "message", "marked"),
    [
        # a status in the case in which it is written, inside the sentence that was judged
        ("| hook | NOT BUILT | not built |", "| NOT BUILT |", "Status: “not built”.", "NOT BUILT"),
        # a target that the message names, and not a word in it that the message quotes
        ("[[en/bitcoin|Bitcoin]]", "en/bitcoin", "“Bitcoin” leads to en/bitcoin.", "en/bitcoin"),
        # a whole word before a part of one
        ("todays news of today.", "gone", "Relative date “today”: write it.", "today"),
        # a claim and not its kind
        ("the path a/path.py is", "path\0a/path.py", "a/path.py does not exist.", "a/path.py"),
        # the side of a pair that is in this note, and of it the value that differs
        ("It takes 8 days.", "It takes 8 days.\0It takes 9.", "Contradicts b.md:1: 8 vs 9.", "8"),
        ("  - nothing of it  ", "elsewhere", "Something.", "- nothing of it"),
    ],
)
def test_the_marked_part_is_the_smallest_that_the_finding_names(
    line: str, cause: str, message: str, marked: str
) -> None:
    excerpt = build_excerpt(finding_of(cause, message), note_of(f"{line}\n"))
    assert excerpt is not None
    assert excerpt.marked == marked
    assert line[excerpt.column - 1 :].startswith(marked)


def test_a_line_that_is_not_there_has_no_excerpt() -> None:
    note = note_of("One line.\r\n")
    assert build_excerpt(finding_of("x", "x", 7), note) is None
    assert build_excerpt(finding_of("x", "x", 0), note) is None
    assert find_span(finding_of("x", "x", 7), note) is None
    assert find_span(finding_of("x", "x"), None) is None
    shown = build_excerpt(finding_of("x", "x"), note)
    assert shown is not None
    assert "".join(shown[1:]) == "One line."


@given(st.text(max_size=80), st.text(max_size=20), st.text(max_size=20), st.integers(0, 4))
def test_any_text_gives_a_visible_line(text: str, cause: str, message: str, line: int) -> None:
    note: Note = note_of(text.encode("utf-8", "surrogatepass"))
    finding = finding_of(cause, f"“{message}” is wrong.", line, "status-claim")
    excerpt = build_excerpt(finding, note)
    if excerpt is not None:
        assert excerpt.column >= 1
        assert not any(ord(char) < 32 for char in "".join(excerpt[1:]))
