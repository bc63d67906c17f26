from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ricordo.memory.diff import build_rows, compute_hunks, format_unified, revert_hunks
from ricordo.memory.lines import split_lines, strip_line_end

LINES = st.sampled_from(["a", "b", "c", "", " x", "-m", "+p", "@@", "\\ No newline", "é\x85\u2028"])
TEXTS = st.builds(
    lambda lines, end, ended: end.join(lines) + end * (ended and bool(lines)),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\n", "\r\n"]),
    st.booleans(),
)


@given(TEXTS, TEXTS)
def test_all_hunks_make_the_new_text_and_none_leaves_the_old(old: str, new: str) -> None:
    count = len(compute_hunks(old, new))
    assert revert_hunks(old, new, ()) == new
    assert revert_hunks(old, new, range(count)) == old
    assert (count == 0) == (old == new)


@given(TEXTS, TEXTS, st.data())
def test_hunks_that_are_left_out_are_those_that_remain(
    old: str, new: str, data: st.DataObject
) -> None:
    count = len(compute_hunks(old, new))
    left_out = data.draw(st.sets(st.integers(0, max(count - 1, 0)), max_size=count))
    kept = revert_hunks(old, new, left_out)
    taken = [hunk for n, hunk in enumerate(compute_hunks(old, new)) if n not in left_out]
    lines = split_lines(old)
    gone = sum(len(hunk.old) for hunk in taken)
    come = sum(len(hunk.new) for hunk in taken)
    if all(line.endswith("\n") for line in (*lines, *split_lines(new))):
        assert len(split_lines(kept)) == len(lines) - gone + come


@given(TEXTS, TEXTS)
def test_rows_show_every_changed_line_with_its_number(old: str, new: str) -> None:
    shown = build_rows(old, new)
    before, after = split_lines(old), split_lines(new)
    for n, hunk in enumerate(compute_hunks(old, new)):
        mine = [row for row in shown if row.hunk == n]
        assert [row.text for row in mine if row.sign == "-"] == [
            strip_line_end(it) for it in hunk.old
        ]
        assert [row.text for row in mine if row.sign == "+"] == [
            strip_line_end(it) for it in hunk.new
        ]
    for row in shown:
        if row.sign != "@":
            source = before if row.sign == "-" else after
            assert strip_line_end(source[row.number - 1]) == row.text
    numbers = [row.number for row in shown if row.sign in " +"]
    assert numbers == sorted(set(numbers))


def test_a_row_shows_which_line_end_changed() -> None:
    told = [(row.sign, row.ending) for row in build_rows("a\nb\n", "a\r\nb")]
    assert told == [("-", "LF"), ("-", "LF"), ("+", "CRLF"), ("+", "no newline")]
    assert {row.ending for row in build_rows("a\nb\n", "a\nc\n")} == {""}


def test_long_stretches_are_shown_in_one_row() -> None:
    old = "".join(f"{n}\n" for n in range(50))
    shown = build_rows(old, old.replace("\n5\n", "\nx\n").replace("\n40\n", "\ny\n"))
    assert [(row.number, row.text) for row in shown if row.sign == "@"] == [
        (1, "2 lines"),
        (10, "28 lines"),
    ]


PATCHERS = (
    ["patch", "-s", "--binary", "-p1", "-F0"],
    ["git", "apply", "-p1", "--whitespace=nowarn"],
)


@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch program")
@settings(max_examples=40)
@given(TEXTS, TEXTS)
def test_patch_and_git_accept_a_unified_diff(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    text = format_unified(old, new, "a/n.md", "b/n.md")
    assert bool(text) == (old != new)
    if not text:
        return
    folder = tmp_path_factory.mktemp("patch")
    file = folder / "n.md"
    for command in (
        ["patch", "-s", "--binary", "-p1", "-F0"],
        ["git", "apply", "-p1", "--whitespace=nowarn"],
    ):
        if shutil.which(command[0]) is None or "" in (old, new):
            # an empty side is a file that comes or goes, which has headers of its own
            continue
        file.write_bytes(old.encode())
        subprocess.run(command, input=text.encode(), cwd=folder, check=True, timeout=20)
        assert file.read_bytes() == new.encode(), command


def test_a_unified_diff_is_written_as_git_writes_it() -> None:
    assert format_unified("a\n", "b", "x", "y") == (
        "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
    )
    assert format_unified("", "a\nb\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1,2 @@\n+a\n+b\n"


def test_a_hostile_name_does_not_make_lines_of_a_diff() -> None:
    assert format_unified("a\n", "b\n", "x\n+++ y", "z").count("\n") == 5


@pytest.mark.parametrize("kinds", [3, 5000])
def test_a_large_difference_is_found_in_time(kinds: int, tmp_path: Path) -> None:
    old = "".join(f"{n * 7919 % kinds}\n" for n in range(2000))
    new = "".join(f"{n * 104729 % (kinds + 1)}\n" for n in range(1999))
    start = time.perf_counter()
    assert revert_hunks(old, new, ()) == new
    assert time.perf_counter() - start < 10
