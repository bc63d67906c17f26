"""What mends an index, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.health.conftest import note
from tests.unit.health.mend import find, mend

HEAD = "# Memory\n\n"


def test_a_note_without_entry_gets_one_in_the_manner_of_the_others(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "* [A](a.md): first\n",
        "a.md": note("A.", "a"),
        "b.md": note("B.", "b"),
    }
    mended = mend(root, files, "unindexed-note")
    assert mended.texts == {"MEMORY.md": HEAD + "* [A](a.md): first\n* [b](b.md): what it says\n"}
    assert mended.fix.safe


def test_a_dead_entry_goes_to_the_note_that_is_spelled_so(root: Path) -> None:
    files = {"MEMORY.md": HEAD + "- [A](Notes-On-A.md) — hook\n", "notes_on_a.md": note("A.", "a")}
    mended = mend(root, files, "index-missing-file")
    assert mended.texts == {"MEMORY.md": HEAD + "- [A](notes_on_a.md) — hook\n"}
    assert mended.fix.safe


def test_a_dead_entry_goes_where_the_file_was_renamed_to(root: Path) -> None:
    files = {"MEMORY.md": HEAD + "- [A](old.md) — hook\n", "new.md": note("A.", "a")}
    mended = mend(root, files, "index-missing-file", renamed={"old.md": "new.md"})
    assert mended.texts == {"MEMORY.md": HEAD + "- [A](new.md) — hook\n"}
    assert mended.fix.safe


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- [Gone](gone.md) — hook\n  more of it\n", ""),
        ("- [Gone](gone.md) and [A](a.md)\n", "- Gone and [A](a.md)\n"),
        ("See [Gone](gone.md) first.\n", "See Gone first.\n"),
    ],
)
def test_a_dead_entry_that_means_nothing_leaves(root: Path, line: str, after: str) -> None:
    files = {"MEMORY.md": HEAD + "- [A](a.md) — hook\n" + line, "a.md": note("A.", "a")}
    mended = mend(root, files, "index-missing-file")
    assert mended.texts == {"MEMORY.md": HEAD + "- [A](a.md) — hook\n" + after}
    assert not mended.fix.safe


def test_two_notes_that_may_be_meant_are_none(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "- [A](The-A.md) — hook\n",
        "the_a.md": note("A.", "a"),
        "sub/the-a.md": note("B.", "b"),
    }
    fix = find(root, files, "index-missing-file").fix
    assert fix is not None
    assert (fix.label, fix.safe) == ("drop the entry", False)


@pytest.mark.parametrize(
    ("second", "safe"),
    [
        ("- [A](a.md) — hook\n", True),
        ("- [a](a.md)\n", True),
        ("- [A](a.md) — something else\n", False),
        ("- [Another title](a.md) — hook\n", False),
        ("- [A](a.md) — hook\n  and a line below\n", False),
    ],
)
def test_the_second_entry_leaves(root: Path, second: str, safe: bool) -> None:
    first = HEAD + "- [A](a.md) — hook\n- [B](b.md)\n"
    files = {"MEMORY.md": first + second, "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    mended = mend(root, files, "index-duplicate-entry")
    assert mended.texts == {"MEMORY.md": first}
    assert mended.fix.safe is safe


@pytest.mark.parametrize(("told", "safe"), [("word " * 60, True), ("other", False)])
def test_a_long_entry_is_cut_at_the_end_of_a_word(root: Path, told: str, safe: bool) -> None:
    line = "- [A](a.md) — " + " ".join(["word"] * 60)
    files = {"MEMORY.md": f"{HEAD}{line}\n", "a.md": note("A.", "a", description=told.strip())}
    mended = mend(root, files, "index-long-entry")
    assert mended.texts == {"MEMORY.md": HEAD + "- [A](a.md) — " + " ".join(["word"] * 37) + "…\n"}
    assert mended.fix.safe is safe


def test_a_long_entry_whose_end_is_a_link_stays(root: Path) -> None:
    line = "- [A](a.md) — " + "word " * 50 + "[B](b.md)"
    files = {"MEMORY.md": f"{HEAD}{line}\n", "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    assert find(root, files, "index-long-entry").fix is None


def test_text_in_the_index_becomes_a_note_with_an_entry(root: Path) -> None:
    body = "First of all. Then more.\n\n- two\n- three\n- four\n"
    files = {
        "MEMORY.md": HEAD + f"- [A](a.md) — hook\n\n## Rules\n\n{body}\n## End\n",
        "a.md": note("A.", "a", type="feedback"),
    }
    mended = mend(root, files, "index-inline-body")
    head = "---\nname: Rules\ndescription: First of all\ntype: feedback\n---\n"
    assert mended.texts == {
        "MEMORY.md": HEAD
        + "- [A](a.md) — hook\n\n## Rules\n\n- [Rules](rules.md) — First of all\n\n## End\n",
        "rules.md": head + body,
    }
    assert not mended.fix.safe


@pytest.mark.parametrize(
    "body",
    [
        "one\ntwo\nthree\n```\nfour\n# not a heading\n```\n",
        "one\ntwo\nthree\npassword: Zr8-kLm2-qqP9x\n",
    ],
)
def test_text_in_the_index_that_cannot_be_moved_whole_stays(root: Path, body: str) -> None:
    assert find(root, {"MEMORY.md": HEAD + body}, "index-inline-body").fix is None


def test_a_correction_is_lifted_behind_what_it_corrects(root: Path) -> None:
    filler = "".join(f"- fact {number}\n" for number in range(195))
    files = {
        "MEMORY.md": HEAD
        + "- [Cache](cache.md) — Redis\n"
        + filler
        + "- fact\n- fact\n- [Store](store.md) — Redis is gone\n",
        "cache.md": note("Redis.", "cache-redis"),
        "store.md": note("This replaces [[cache-redis]].", "store-sqlite"),
    }
    mended = mend(root, files, "lost-correction")
    text = mended.texts["MEMORY.md"]
    assert text is not None
    assert text.split("\n")[2:4] == [
        "- [Cache](cache.md) — Redis",
        "- [Store](store.md) — Redis is gone",
    ]
    assert sorted(text.split("\n")) == sorted(str(files["MEMORY.md"]).split("\n"))
    assert not mended.fix.safe


def test_a_correction_that_would_push_another_below_the_cut_stays(root: Path) -> None:
    filler = "".join(f"- fact {number}\n" for number in range(196))
    files = {
        "MEMORY.md": HEAD
        + "- [Cache](cache.md) — Redis\n"
        + filler
        + "- [Other](other.md) — MySQL\n- [Store](store.md) — SQLite\n",
        "cache.md": note("Redis.", "cache-redis"),
        "other.md": note("This replaces [[cache-redis]].", "other-store"),
        "store.md": note("This replaces [[cache-redis]].", "store-sqlite"),
    }
    assert find(root, files, "lost-correction").fix is None
