"""What mends an index, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.folder import FOLDER
from ricordo.agents.wiki import WIKI
from ricordo.memory.layout import Layout
from tests.unit.lint.conftest import note
from tests.unit.lint.mend import find, mend

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
        # listed by type: it goes where its type is
        (
            {
                "MEMORY.md": SECTIONS.format("Project", "User"),
                "c.md": note("C.", "c", type="user"),
                "b.md": note("B.", "b"),
            },
            True,
        ),
        # the sections go by something else
        ({"MEMORY.md": SECTIONS.format("North", "South"), "b.md": note("B.", "b")}, False),
        # the index may say what belongs into it, or is written by a program
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
        # several on a line
        (
            {
                "MEMORY.md": HEAD + "- [A](a.md) · [C](c.md)\n",
                "b.md": note("B.", "b"),
            },
            False,
        ),
        # the entries stand in an order
        (
            {"MEMORY.md": HEAD + "1. [A](a.md)\n2. [C](c.md)\n", "b.md": note("B.", "b")},
            False,
        ),
        ({"session_2026-10-01.md": note("B.", "b")}, False),
        # its hook would be cut
        ({"b.md": note("B.", "b", description="word " * 60)}, False),
        # another note lists it; one that only names it does not
        ({"b.md": note("B.", "b"), "a.md": note("Parts:\n\n- [[b]] — more", "a")}, False),
        ({"b.md": note("B.", "b"), "a.md": note("See [[b]].", "a")}, True),
        ({"b.md": note("B.", "b", description="as of 2026-10-01")}, True),
        # it is no whole note, in another folder, or put aside
        ({"b.md": "Text without a head.\n"}, False),
        ({"b.md": note("B.", "b", description='""')}, False),
        ({"b.md": note("B.", "b", type="decision")}, False),
        ({"archive/b.md": note("B.", "b")}, False),
        ({"b-draft.md": note("B.", "b")}, False),
        ({"b.md": note("B.", "b", superseded_by="a")}, False),
        # so many are left out on purpose
        ({f"b{n}.md": note("B.", f"b{n}") for n in range(4)}, False),
    ],
)
def test_an_entry_is_added_unseen_only_where_it_was_surely_forgotten(
    root: Path, files: dict[str, str], safe: bool
) -> None:
    found = find(root, {**FORGOTTEN, **files}, "unindexed-note")
    assert found.fix is not None
    assert found.fix.safe is safe


@pytest.mark.parametrize("layout", [WIKI, FOLDER])
def test_a_catalogue_that_no_agent_loads_is_not_added_to_unseen(root: Path, layout: Layout) -> None:
    files = {name.replace("MEMORY", "index"): text for name, text in FORGOTTEN.items()}
    found = find(root, {**files, "b.md": note("B.", "b")}, "unindexed-note", layout=layout)
    assert found.fix is not None
    assert not found.fix.safe


@pytest.mark.parametrize("name", ["README.md", "sub/readme.md", "CHANGELOG.md"])
def test_papers_of_a_folder_get_no_entry(root: Path, name: str) -> None:
    files = {**FORGOTTEN, name: note("This mirrors the memory of another machine.", "readme")}
    assert find(root, files, "unindexed-note").fix is None


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
    ("line", "after", "layout", "safe"),
    [
        # a wiki has rules of its own for links
        ("[A](Notes-On-A.md)", "[A](notes_on_a.md)", WIKI, False),
        ("[[en/notes_on_a]]", "[[sub/en/notes_on_a]]", WIKI, False),
        ("[A](old/notes_on_a.md)", "[A](notes_on_a.md)", AUTO_MEMORY, False),
        # what became of a file that was renamed is known; a wikilink keeps its form
        ("[A](old.md)", "[A](notes_on_a.md)", WIKI, True),
        ("[[old]]", "[[Notes on A]]", WIKI, False),
    ],
)
def test_a_link_is_repaired_unseen_only_where_nothing_else_can_be_meant(
    root: Path, line: str, after: str, layout: Layout, safe: bool
) -> None:
    key = layout.title_keys[0]
    page = f"---\n{key}: Notes on A\ndescription: d\ntype: project\n---\n\nA.\n"
    path = "sub/en/notes_on_a.md" if "en/" in line else "notes_on_a.md"
    name = "MEMORY.md" if layout is AUTO_MEMORY else "index.md"
    files = {name: f"{HEAD}- {line} — hook\n", path: page}
    mended = mend(
        root, files, "index-missing-file", renamed={"old.md": "notes_on_a.md"}, layout=layout
    )
    assert mended.texts == {name: f"{HEAD}- {after} — hook\n"}
    assert mended.fix.safe is safe


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
    assert (fix.label, fix.safe) == ("remove the entry", False)


@pytest.mark.parametrize(
    ("second", "safe"),
    [
        ("- [A](a.md) — hook\n", True),
        ("- [a](a.md)\n", True),
        ("- [A](a.md) — something else\n", False),
        ("- [Another title](a.md) — hook\n", False),
        ("- [A](a.md) — hook\n  and a line below\n", False),
        # a note may be listed in two lists
        ("\n## By day\n\n- [A](a.md) — hook\n", False),
    ],
)
def test_the_second_entry_leaves(root: Path, second: str, safe: bool) -> None:
    first = HEAD + "- [A](a.md) — hook\n- [B](b.md)\n"
    files = {"MEMORY.md": first + second, "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    mended = mend(root, files, "index-duplicate-entry")
    assert mended.texts == {"MEMORY.md": first + second.partition("- [")[0]}
    assert mended.fix.safe is safe


@pytest.mark.parametrize("told", ["word " * 60, "other"])
def test_a_long_entry_is_cut_at_the_end_of_a_word(root: Path, told: str) -> None:
    line = "- [A](a.md) — " + " ".join(["word"] * 60)
    files = {"MEMORY.md": f"{HEAD}{line}\n", "a.md": note("A.", "a", description=told.strip())}
    mended = mend(root, files, "index-long-entry")
    assert mended.texts == {"MEMORY.md": HEAD + "- [A](a.md) — " + " ".join(["word"] * 37) + "…\n"}
    # the agent is given less of it, whatever the note says
    assert not mended.fix.safe


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
