"""Fixes of an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.folder import FOLDER
from ricordo.agents.wiki import WIKI
from ricordo.lint.finding import Finding
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from tests.support.builders import open_memory
from tests.unit.lint.apply_fix import apply_fix, find
from tests.unit.lint.conftest import NOW, note

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
MORE = {f"c{n}.md": note("C.", f"c{n}") for n in range(6)}
MORE["MEMORY.md"] = FORGOTTEN["MEMORY.md"] + "".join(f"- [C](c{n}.md) — c\n" for n in range(6))
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
        ({"b.md": note("B.", "b", type="decision")}, False),
        ({"archive/b.md": note("B.", "b")}, False),
        ({"b-draft.md": note("B.", "b")}, False),
        ({"b.md": note("B.", "b", superseded_by="a")}, False),
        # too many to be forgotten
        ({f"{n}{k}.md": note("B.", f"{n}{k}") for n in "mn" for k in "ab"} | MORE, False),
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


def test_a_broken_entry_links_to_the_note_of_its_name_but_for_a_typing_error(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "- [Harbour](harbor_gate.md) — opens\n",
        "harbour_gate.md": note("It opens at six.", "harbour_gate"),
    }
    assert "Did you mean harbour_gate.md?" in find(root, files, "index-missing-file").message
    applied = apply_fix(root, files, "index-missing-file")
    assert applied.texts == {"MEMORY.md": HEAD + "- [Harbour](harbour_gate.md) — opens\n"}
    assert not applied.fix.safe


def test_a_broken_entry_means_no_note_that_has_its_own(root: Path) -> None:
    files = {
        "MEMORY.md": HEAD + "- [Harbor](harbor_gate.md) — x\n- [Harbour](harbour_gate.md) — y\n",
        "harbour_gate.md": note("It opens at six.", "harbour_gate"),
    }
    found = find(root, files, "index-missing-file")
    assert "Did you mean" not in found.message
    assert found.fix.label == "remove the entry"


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
        ("[[old/en/notes_on_a]]", "[[sub/en/notes_on_a]]", WIKI, False),
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
    "second",
    [
        "- [A](a.md) — hook\n",
        "- [a](a.md)\n",
    ],
)
def test_a_second_entry_that_adds_nothing_is_removed(root: Path, second: str) -> None:
    first = HEAD + "- [A](a.md) — hook\n- [B](b.md)\n"
    files = {"MEMORY.md": first + second, "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    applied = apply_fix(root, files, "index-duplicate-entry")
    assert applied.texts == {"MEMORY.md": first + second.partition("- [")[0]}
    assert applied.fix.safe


@pytest.mark.parametrize(
    "second",
    [
        "- [A](a.md) — something else\n",
        "- [Another title](a.md) — hook\n",
        "- [A](a.md) — hook\n  and a line below\n",
        # each section is a list of its own
        "\n## By day\n\n- [A](a.md) — hook\n",
    ],
)
def test_a_second_entry_that_says_more_or_is_in_another_list_stays(root: Path, second: str) -> None:
    first = HEAD + "- [A](a.md) — hook\n- [B](b.md)\n"
    files = {"MEMORY.md": first + second, "a.md": note("A.", "a"), "b.md": note("B.", "b")}
    assert find(root, files, "index-duplicate-entry").fix is None


FULL = "".join(f"- fact {number} {'word ' * 30}\n" for number in range(130))
"""Lines with most of the characters that an agent loads."""
GAUGE = "the gauge is on the east pier, and the office reads it"


@pytest.mark.parametrize(
    ("cut", "body", "is_cut"),
    [
        (f"; {GAUGE} " + "twice a day " * 8, f"Seen: {GAUGE} " + "twice a day " * 8, True),
        # the note does not say it
        (f"; {GAUGE} " + "twice a day " * 8, GAUGE, False),
        # the date ends all entries, the link leads on
        (f"; {GAUGE} " + "twice a day " * 8 + "; 2026-08-06", GAUGE + " 2026-08-06", False),
        ("; " + "twice a day " * 8 + "; see [B](b.md)", "twice a day " * 9, False),
        # no end of a clause
        (" twice a day" * 10, "twice a day " * 10, False),
    ],
)
def test_a_long_entry_loses_whole_clauses_that_its_note_has(
    root: Path, cut: str, body: str, is_cut: bool
) -> None:
    first = "- [A](a.md) — the tide table of Lagos, in metres above chart datum"
    files = {"a.md": note(body, "a"), "b.md": note("B.", "b")}
    files["MEMORY.md"] = f"{HEAD}{first}{cut} {'and so on ' * 4}\n{FULL}"
    files["a.md"] = note(f"{body} {'and so on ' * 4}", "a")
    if not is_cut:
        memory = open_memory(root, files, AUTO_MEMORY)
        assert {it.fix for it in lint_long_entries(memory)} <= {None}
        return
    applied = apply_fix(root, files, "index-long-entry")
    line = str(applied.texts["MEMORY.md"]).splitlines()[2]
    assert line.startswith(first)
    assert len(line) <= 200
    # the agent loads less of it
    assert not applied.fix.safe


def lint_long_entries(memory: Memory) -> tuple[Finding, ...]:
    return Linter({}, frozenset(("index-long-entry",))).run(memory, RuleContext(NOW, memory.layout))


@pytest.mark.parametrize(
    ("name", "filler", "layout", "is_reported"),
    [
        ("MEMORY.md", FULL, AUTO_MEMORY, True),
        # there is room, or no limit
        ("MEMORY.md", "- fact\n", AUTO_MEMORY, False),
        ("MEMORY.md", "- fact\n" * 190, AUTO_MEMORY, False),
        ("index.md", FULL, WIKI, False),
    ],
)
def test_a_long_entry_matters_where_the_text_of_the_index_is_near_its_limit(
    root: Path, name: str, filler: str, layout: Layout, is_reported: bool
) -> None:
    files = {name: f"{HEAD}- [A](a.md) — {'word ' * 60}\n{filler}", "a.md": note("A.", "a")}
    found = lint_long_entries(open_memory(root, files, layout))
    assert bool(found) is is_reported


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


GROUPED = HEAD + "## Habits\n\n{0}\n## Places\n\n{1}"


def test_an_entry_goes_to_the_section_of_its_kind(root: Path) -> None:
    habits = "".join(f"- [Habit {n}](feedback_{n}x.md) — h\n" for n in "ac")
    places = "".join(f"- [Place {n}](place_{n}x.md) — p\n" for n in "acd")
    files = {
        "MEMORY.md": GROUPED.format(habits, places),
        **{f"feedback_{n}x.md": note("A.", f"habit {n}", type="feedback") for n in "abc"},
        **{f"place_{n}x.md": note("A.", f"place {n}", type="reference") for n in "acd"},
    }
    lines = str(apply_fix(root, files, "unindexed-note").texts["MEMORY.md"]).splitlines()
    # below those of its type
    assert [line.partition("]")[0] for line in lines[4:7]][1:] == ["- [Habit c", "- [habit b"]
    assert len(lines) == len(files["MEMORY.md"].splitlines()) + 1


@pytest.mark.parametrize("text", ["Text without a head.\n", note("B.", "b", description='""')])
def test_a_note_without_description_gets_no_entry_among_those_with_one(
    root: Path, text: str
) -> None:
    found = find(root, {**FORGOTTEN, "b.md": text}, "unindexed-note")
    assert found.fix is None
    assert found.evidence == (
        "no automatic entry: it has no description, as the entries of MEMORY.md have",
    )


def test_an_index_that_lists_few_of_its_notes_gets_no_entries(root: Path) -> None:
    files = {**FORGOTTEN, **{f"b{n}.md": note("B.", f"b{n}") for n in range(4)}}
    assert find(root, files, "unindexed-note").fix is None


def test_a_note_that_no_section_is_for_gets_no_entry(root: Path) -> None:
    files = {
        "MEMORY.md": SECTIONS.format("North", "South"),
        "a.md": note("A.", "a"),
        "b.md": note("B.", "b"),
        "c.md": note("C.", "c"),
    }
    found = find(root, files, "unindexed-note")
    assert found.fix is None
    assert found.evidence == (
        "no automatic entry: no section of MEMORY.md lists notes of its folder, type or name",
    )


def test_an_entry_has_the_form_and_order_of_its_section(root: Path) -> None:
    short, log = "- [[delta|Delta Works]]\n", "- [[log-a]]\n"
    entries = "".join(
        f"- [[{stem}|{title}]] — x\n"
        for stem, title in (
            ("alpha", "Alpha Pier"),
            ("beta", "Beta Pier"),
            ("delta", "Delta Works"),
        )
    )
    pages = {
        "alpha": "Alpha Pier",
        "beta": "Beta Pier",
        "delta": "Delta Works",
        "carr": "Carr · Quay",
    }
    files = {
        "index.md": f"# Index\n\n## First\n\n{short}\n## Piers\n\n{entries}\n## Logs\n\n{log}",
        **{f"piers/{stem}.md": note("Text.", title, title=title) for stem, title in pages.items()},
        "logs/log-a.md": note("Text.", "log-a", title="log-a"),
    }
    text = str(apply_fix(root, files, "unindexed-note", layout=WIKI).texts["index.md"])
    piers = text.partition("## Piers")[2].partition("## Logs")[0].split("\n")
    assert [line.partition(" — ")[0] for line in piers if line] == [
        "- [[alpha|Alpha Pier]]",
        "- [[beta|Beta Pier]]",
        "- [[carr|Carr · Quay]]",
        "- [[delta|Delta Works]]",
    ]


def test_text_in_the_index_becomes_a_note_with_an_entry(root: Path) -> None:
    body = "First of all come rules. Then more.\n\n- two\n- three\n- four\n"
    files = {
        "MEMORY.md": HEAD + f"- [A](a.md) — hook\n\n## Rules\n\n{body}\n## End\n",
        "a.md": note("A.", "a", type="feedback"),
    }
    applied = apply_fix(root, files, "index-inline-body")
    head = "---\nname: Rules\ndescription: First of all come rules\ntype: feedback\n---\n"
    assert applied.texts == {
        "MEMORY.md": HEAD
        + "- [A](a.md) — hook\n\n## Rules\n\n- [Rules](rules.md) — First of all come rules\n\n"
        + "## End\n",
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
