"""Fixes of an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.folder import FOLDER
from ricordo.agents.wiki import WIKI
from ricordo.memory.layout import Layout
from tests.unit.lint.apply_fix import apply_fix, find
from tests.unit.lint.conftest import note

HEAD = "# Memory\n\n"


def test_note_without_entry_gets_one_in_the_form_of_the_others(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "* [A](a.md): first\n",
        "a.md": note("A.", "a"),
        "b.md": note("B.", "b"),
    }
    applied = apply_fix(root, files, "unindexed-note")
    assert applied.texts == {"MEMORY.md": HEAD + "* [A](a.md): first\n* [b](b.md): what it says\n"}
    assert applied.fix.safe


FORGOTTEN = {
    "MEMORY.md": HEAD + "- [A](a.md) — first\n- [C](c.md) — third\n",
    "a.md": note("A.", "a"),
    "c.md": note("C.", "c"),
}
SECTIONS = HEAD + "## {0}\n\n- [A](a.md) — first\n\n## {1}\n\n- [C](c.md) — third\n"


@pytest.mark.parametrize(
    ("files", "safe"),
    [
        ({"b.md": note("B.", "b")}, True),
        # listed by type
        (
            {
                "MEMORY.md": SECTIONS.format("Project", "User"),
                "c.md": note("C.", "c", type="user"),
                "b.md": note("B.", "b"),
            },
            True,
        ),
        # sections by something else
        ({"MEMORY.md": SECTIONS.format("North", "South"), "b.md": note("B.", "b")}, False),
        # other text: rules on what belongs into it, or a program writes it
        (
            {
                "MEMORY.md": "<!-- made by compact.py -->\n" + FORGOTTEN["MEMORY.md"],
                "b.md": note("B.", "b"),
            },
            False,
        ),
        (
            {
                "MEMORY.md": "Only lasting rules.\n\n" + FORGOTTEN["MEMORY.md"],
                "b.md": note("B.", "b"),
            },
            False,
        ),
        # several entries on a line
        (
            {
                "MEMORY.md": HEAD + "- [A](a.md) · [C](c.md)\n",
                "b.md": note("B.", "b"),
            },
            False,
        ),
        # sorted entries
        (
            {"MEMORY.md": HEAD + "1. [A](a.md)\n2. [C](c.md)\n", "b.md": note("B.", "b")},
            False,
        ),
        ({"session_2026-10-01.md": note("B.", "b")}, False),
        # its hook would be cut
        ({"b.md": note("B.", "b", description="word " * 60)}, False),
        # another note lists it, or only names it
        ({"b.md": note("B.", "b"), "a.md": note("Parts:\n\n- [[b]] — more", "a")}, False),
        ({"b.md": note("B.", "b"), "a.md": note("See [[b]].", "a")}, True),
        ({"b.md": note("B.", "b", description="as of 2026-10-01")}, True),
        # incomplete, in another folder, or archived
        ({"b.md": "Text without a head.\n"}, False),
        ({"b.md": note("B.", "b", description='""')}, False),
        ({"b.md": note("B.", "b", type="decision")}, False),
        ({"archive/b.md": note("B.", "b")}, False),
        ({"b-draft.md": note("B.", "b")}, False),
        ({"b.md": note("B.", "b", superseded_by="a")}, False),
        # too many to be forgotten
        ({f"b{n}.md": note("B.", f"b{n}") for n in range(4)}, False),
    ],
)
def test_adding_an_entry_is_safe_only_where_it_was_forgotten(
    root: Path, files: dict[str, str], safe: bool
) -> None:
    found = find(root, {**FORGOTTEN, **files}, "unindexed-note")
    assert found.fix is not None
    assert found.fix.safe is safe


@pytest.mark.parametrize("layout", [WIKI, FOLDER])
def test_adding_to_an_index_that_no_agent_loads_is_not_safe(root: Path, layout: Layout) -> None:
    files = {name.replace("MEMORY", "index"): text for name, text in FORGOTTEN.items()}
    found = find(root, {**files, "b.md": note("B.", "b")}, "unindexed-note", layout=layout)
    assert found.fix is not None
    assert not found.fix.safe


def test_a_changelog_gets_no_entry(root: Path) -> None:
    files = {**FORGOTTEN, "CHANGELOG.md": note("One line for each change.", "changelog")}
    assert find(root, files, "unindexed-note").fix is None


def test_broken_entry_links_to_note_with_similar_name(root: Path) -> None:
    files = {"MEMORY.md": HEAD + "- [A](Notes-On-A.md) — hook\n", "notes_on_a.md": note("A.", "a")}
    applied = apply_fix(root, files, "index-missing-file")
    assert applied.texts == {"MEMORY.md": HEAD + "- [A](notes_on_a.md) — hook\n"}
    assert applied.fix.safe


def test_broken_entry_links_to_renamed_file(root: Path) -> None:
    files = {"MEMORY.md": HEAD + "- [A](old.md) — hook\n", "new.md": note("A.", "a")}
    applied = apply_fix(root, files, "index-missing-file", renamed={"old.md": "new.md"})
    assert applied.texts == {"MEMORY.md": HEAD + "- [A](new.md) — hook\n"}
    assert applied.fix.safe


@pytest.mark.parametrize(
    ("line", "after", "layout", "safe"),
    [
        # wikis have other rules for links
        ("[A](Notes-On-A.md)", "[A](notes_on_a.md)", WIKI, False),
        ("[[en/notes_on_a]]", "[[sub/en/notes_on_a]]", WIKI, False),
        ("[A](old/notes_on_a.md)", "[A](notes_on_a.md)", AUTO_MEMORY, False),
        # renames are known; a wikilink keeps its form
        ("[A](old.md)", "[A](notes_on_a.md)", WIKI, True),
        ("[[old]]", "[[Notes on A]]", WIKI, False),
    ],
)
def test_link_fix_is_safe_only_where_target_is_certain(
    root: Path, line: str, after: str, layout: Layout, safe: bool
) -> None:
    key = layout.title_keys[0]
    page = f"---\n{key}: Notes on A\ndescription: d\ntype: project\n---\n\nA.\n"
    path = "sub/en/notes_on_a.md" if "en/" in line else "notes_on_a.md"
    name = "MEMORY.md" if layout is AUTO_MEMORY else "index.md"
    files = {name: f"{HEAD}- {line} — hook\n", path: page}
    applied = apply_fix(
        root, files, "index-missing-file", renamed={"old.md": "notes_on_a.md"}, layout=layout
    )
    assert applied.texts == {name: f"{HEAD}- {after} — hook\n"}
    assert applied.fix.safe is safe


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- [Gone](gone.md) — hook\n  more of it\n", ""),
        ("- [Gone](gone.md) and [A](a.md)\n", "- Gone and [A](a.md)\n"),
        ("See [Gone](gone.md) first.\n", "See Gone first.\n"),
    ],
)
def test_broken_entry_without_target_is_removed(root: Path, line: str, after: str) -> None:
    files = {"MEMORY.md": HEAD + "- [A](a.md) — hook\n" + line, "a.md": note("A.", "a")}
    applied = apply_fix(root, files, "index-missing-file")
    assert applied.texts == {"MEMORY.md": HEAD + "- [A](a.md) — hook\n" + after}
    assert not applied.fix.safe


def test_two_possible_targets_count_as_none(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "- [A](The-A.md) — hook\n",
        "the_a.md": note("A.", "a"),
        "sub/the-a.md": note("B.", "b"),
    }
    fix = find(root, files, "index-missing-file").fix
    assert fix is not None
    assert (fix.label, fix.safe) == ("remove the entry", False)


@pytest.mark.parametrize(
    ("second", "safe"),
    [
        ("- [A](a.md) — hook\n", True),
        ("- [a](a.md)\n", True),
        ("- [A](a.md) — something else\n", False),
        ("- [Another title](a.md) — hook\n", False),
        ("- [A](a.md) — hook\n  and a line below\n", False),
        # a note may be in two lists
        ("\n## By day\n\n- [A](a.md) — hook\n", False),
    ],
)
def test_second_entry_is_removed(root: Path, second: str, safe: bool) -> None:
    first = HEAD + "- [A](a.md) — hook\n- [B](b.md)\n"
    files = {"MEMORY.md": first + second, "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    applied = apply_fix(root, files, "index-duplicate-entry")
    assert applied.texts == {"MEMORY.md": first + second.partition("- [")[0]}
    assert applied.fix.safe is safe


@pytest.mark.parametrize("description", ["word " * 60, "other"])
def test_long_entry_is_cut_at_the_end_of_a_word(root: Path, description: str) -> None:
    line = "- [A](a.md) — " + " ".join(["word"] * 60)
    files = {
        "MEMORY.md": f"{HEAD}{line}\n",
        "a.md": note("A.", "a", description=description.strip()),
    }
    applied = apply_fix(root, files, "index-long-entry")
    assert applied.texts == {"MEMORY.md": HEAD + "- [A](a.md) — " + " ".join(["word"] * 37) + "…\n"}
    # the agent loads less of it
    assert not applied.fix.safe


def test_long_entry_with_a_link_at_its_end_stays(root: Path) -> None:
    line = "- [A](a.md) — " + "word " * 50 + "[B](b.md)"
    files = {"MEMORY.md": f"{HEAD}{line}\n", "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    assert find(root, files, "index-long-entry").fix is None


def test_long_entry_without_blanks_is_cut_at_its_limit(root: Path) -> None:
    hook = "修复 A 股决策委员会" + "在盘后仍按分钟刷新缓存的问题，" * 14
    files = {"MEMORY.md": f"{HEAD}- [A](a.md) — {hook}\n", "a.md": note("A.", "a")}
    (line,) = apply_fix(root, files, "index-long-entry").texts["MEMORY.md"].splitlines()[-1:]
    assert 180 < len(line) <= 200
    assert line.endswith("…")
    assert hook.startswith(line.removeprefix("- [A](a.md) — ")[:-1])


def test_long_entry_that_goes_on_below_stays(root: Path) -> None:
    long = f"- [A](a.md) — {'word ' * 50}\n  and more.\n"
    assert find(root, {"MEMORY.md": HEAD + long}, "index-long-entry").fix is None


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ((9, 6, 4, 2), (9, 7, 6, 4, 2)),
        ((2, 4, 6, 9), (2, 4, 6, 7, 9)),
        ((5, 4, 2), (7, 5, 4, 2)),
        ((2, 4, 5), (2, 4, 5, 7)),
        # one entry has no order yet
        ((9,), (9, 7)),
    ],
)
def test_an_entry_of_a_series_takes_its_place_in_the_order(
    root: Path, present: Sequence[int], expected: Sequence[int]
) -> None:
    def line(day: int) -> str:
        return f"- [Log of day {day}](log_2026-06-{day:02}.md) — what was done on day {day}\n"

    files = {f"log_2026-06-{day:02}.md": note("Work.", f"Log of day {day}") for day in expected}
    files["MEMORY.md"] = HEAD + "".join(map(line, present)) + "- [Z](z.md) — another\n"
    files["z.md"] = note("Z.", "Z")
    lines = apply_fix(root, files, "unindexed-note").texts["MEMORY.md"].splitlines()
    days = [int(found[1]) for it in lines if (found := re.search(r"06-(\d\d)\.md", it))]
    assert days == list(expected)


def test_text_in_the_index_becomes_a_note_with_an_entry(root: Path) -> None:
    body = "First of all. Then more.\n\n- two\n- three\n- four\n"
    files = {
        "MEMORY.md": HEAD + f"- [A](a.md) — hook\n\n## Rules\n\n{body}\n## End\n",
        "a.md": note("A.", "a", type="feedback"),
    }
    applied = apply_fix(root, files, "index-inline-body")
    head = "---\nname: Rules\ndescription: First of all\ntype: feedback\n---\n"
    assert applied.texts == {
        "MEMORY.md": HEAD
        + "- [A](a.md) — hook\n\n## Rules\n\n- [Rules](rules.md) — First of all\n\n## End\n",
        "rules.md": head + body,
    }
    assert not applied.fix.safe


@pytest.mark.parametrize(
    "body",
    [
        "one\ntwo\nthree\n```\nfour\n# not a heading\n```\n",
        "one\ntwo\nthree\npassword: Zr8-kLm2-qqP9x\n",
    ],
)
def test_text_in_the_index_that_cannot_be_moved_whole_stays(root: Path, body: str) -> None:
    assert find(root, {"MEMORY.md": HEAD + body}, "index-inline-body").fix is None


def test_correction_moves_up_after_the_entry_it_corrects(root: Path) -> None:
    filler = "".join(f"- fact {number}\n" for number in range(195))
    files = {
        "MEMORY.md": HEAD
        + "- [Cache](cache.md) — Redis\n"
        + filler
        + "- fact\n- fact\n- [Store](store.md) — Redis is gone\n",
        "cache.md": note("Redis.", "cache-redis"),
        "store.md": note("This replaces [[cache-redis]].", "store-sqlite"),
    }
    applied = apply_fix(root, files, "lost-correction")
    text = applied.texts["MEMORY.md"]
    assert text is not None
    assert text.split("\n")[2:4] == [
        "- [Cache](cache.md) — Redis",
        "- [Store](store.md) — Redis is gone",
    ]
    assert sorted(text.split("\n")) == sorted(str(files["MEMORY.md"]).split("\n"))
    assert not applied.fix.safe


def test_correction_that_would_push_another_below_the_cut_stays(root: Path) -> None:
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
