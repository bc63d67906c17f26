from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.memory.layout import Layout

from .conftest import Lint, note

WIKI = Layout(
    "wiki",
    "",
    frozenset(("_index.md", "index.md")),
    has_nested_indexes=True,
    support_names=frozenset(("log.md", "claude.md")),
    source_folder="raw",
    title_keys=("title", "name"),
    page_folder="wiki",
    has_own_conventions=True,
)
GOOD = "- [A](a.md) — the first\n- [B](b.md) — the second\n"


def test_correct_memory_has_no_findings(lint: Lint) -> None:
    assert lint({"MEMORY.md": GOOD, "a.md": note("One.", "a"), "b.md": note("Two.", "b")}) == ()


BROKEN = [
    ("index-missing-file", {"MEMORY.md": "- [A](gone.md) — x\n"}, "MEMORY.md", 1),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": note("One.")}, "a.md", 0),
    (
        "index-duplicate-entry",
        {"MEMORY.md": "- [A](a.md) — x\n- [Again](a.md) — y\n", "a.md": note("One.")},
        "MEMORY.md",
        2,
    ),
    ("index-over-budget", {"MEMORY.md": "- text\n" * 201}, "MEMORY.md", 201),
    ("index-near-budget", {"MEMORY.md": "- text\n" * 160}, "MEMORY.md", 0),
    ("index-long-entry", {"MEMORY.md": f"- [A](a.md) — {'x' * 200}\n"}, "MEMORY.md", 1),
    ("index-inline-body", {"MEMORY.md": "# M\nOne.\nTwo.\nThree.\nFour.\n"}, "MEMORY.md", 2),
    ("frontmatter-missing", {"a.md": "Only text.\n"}, "a.md", 1),
    ("frontmatter-invalid", {"a.md": "---\nname: a: b: c\n---\nText.\n"}, "a.md", 2),
    ("frontmatter-incomplete", {"a.md": "---\nname: a\n---\nText.\n"}, "a.md", 1),
    ("frontmatter-twice", {"a.md": "---\nname: a\n---\n\n---\ntype: user\n---\nT.\n"}, "a.md", 5),
    ("unknown-type", {"a.md": note("One.", type="bogus")}, "a.md", 4),
    ("duplicate-name", {"a.md": note("One."), "b.md": note("Two.")}, "b.md", 0),
    ("oversized-note", {"a.md": note("word " * 2000)}, "a.md", 0),
    ("empty-note", {"a.md": note("")}, "a.md", 0),
    ("empty-note", {"a.md": note("TODO")}, "a.md", 0),
    ("unreadable-note", {"a.md": b"caf\xe9"}, "a.md", 0),
    ("dead-link", {"a.md": note("See [B](gone.md).")}, "a.md", 7),
    ("wanted-note", {"a.md": note("See [[gone]].")}, "a.md", 7),
    ("orphan-note", {"b.md": note("See [[c]].", "b"), "c.md": note("C.", "c")}, "b.md", 0),
    ("outside-memory", {"a.md": note("See [it](../../docs/x.md).")}, "a.md", 7),
    ("outside-memory", {"a.md": note("See [it](/etc/passwd).")}, "a.md", 7),
]


@pytest.mark.parametrize(("rule", "files", "path", "line"), BROKEN)
def test_finding_is_at_the_broken_place(
    lint: Lint, rule: str, files: dict[str, str | bytes], path: str, line: int
) -> None:
    assert [(f.path, f.line) for f in lint(files, rule)] == [(path, line)]


SOUND = [
    ("unindexed-note", {"a.md": note("One.")}),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": ""}),
    ("index-duplicate-entry", {"MEMORY.md": "- [A](a.md) — x\nSee [A](a.md).\n", "a.md": "x"}),
    ("index-near-budget", {"MEMORY.md": "- text\n" * 150}),
    ("index-inline-body", {"MEMORY.md": "# M\nOne.\nTwo.\nThree.\n"}),
    # the lines of one entry
    ("index-inline-body", {"MEMORY.md": "# M\n- [A](a.md) one\n  two\n  three\n  four\n  five\n"}),
    ("frontmatter-missing", {"a.md": ""}),
    ("frontmatter-incomplete", {"a.md": "---\nname: a\ndescription: b\npinned: true\n---\nT\n"}),
    ("unknown-type", {"a.md": note("One.", type="Feedback")}),
    ("duplicate-name", {"s/a.md": "One.", "t/a.md": "Two."}),
    ("empty-note", {"a.md": note("Yes.")}),
    ("dead-link", {"a.md": note("`[B](gone.md)` and [site](/blog/foo) and [c](src/app.py).")}),
    ("dead-link", {"a.md": note("See [the plan](docs/plan.md) of the project.")}),
    ("outside-memory", {"a.md": note("[site](/blog/foo), [web](https://x.org/a.md)")}),
    ("wanted-note", {"a.md": note("`[[gone]]`")}),
]


@pytest.mark.parametrize(("rule", "files"), SOUND)
def test_lookalikes_are_not_reported(lint: Lint, rule: str, files: dict[str, str | bytes]) -> None:
    assert lint(files, rule) == ()


def test_symlinks_out_are_outside_and_broken_ones_unreadable(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    os.symlink("/etc", tmp_path / "out.md")
    os.symlink("a.md", tmp_path / "inside.md")
    os.symlink("nothing.md", tmp_path / "dangling.md")
    os.mkfifo(tmp_path / "pipe.md")

    found = lint({}, "outside-memory", "unreadable-note")

    assert {(f.rule, f.path) for f in found} == {
        ("outside-memory", "out.md"),
        ("unreadable-note", "dangling.md"),
        ("unreadable-note", "pipe.md"),
    }


def test_circular_symlinks_are_reported(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "a.md").write_text("x")
    round_ = {"itself.md": "itself.md", "one.md": "two.md", "two.md": "one.md", "here": "."}
    for name, target in {
        **round_,
        "below/up": "..",
        "inside.md": "a.md",
        "folder": "below",
    }.items():
        (tmp_path / name).symlink_to(target)
    found = lint({}, "outside-memory", "unreadable-note")
    assert {f.path for f in found} == {*round_, "below/up"}
    assert all("circular" in f.message for f in found)


def test_wiki_types_come_from_its_folders(lint: Lint) -> None:
    files = {
        "raw/gists/a.md": "---\ntype: gist\n---\nText.\n",
        "raw/gists/b.md": "---\ntype: invalid\n---\nText.\n",
        "wiki/a.md": "---\ntype: entity\n---\nText.\n",
    }
    assert [f.path for f in lint(files, "unknown-type", layout=WIKI)] == ["raw/gists/b.md"]


def test_raw_source_without_links_is_an_orphan(lint: Lint) -> None:
    files = {
        "wiki/index.md": "- [P](p.md)\n",
        "wiki/p.md": "---\nsources: [raw/a.md]\n---\nText.\n",
        "raw/a.md": "Read.",
        "raw/b.md": "Unread.",
    }
    found = lint(files, "orphan-note", "unindexed-note", layout=WIKI)
    assert [(f.rule, f.path) for f in found] == [("orphan-note", "raw/b.md")]


def test_finding_id_does_not_depend_on_the_line(lint: Lint) -> None:
    before = lint({"a.md": note("See [B](gone.md).")}, "dead-link")
    after = lint({"a.md": note("\n\nMore.\n\nSee [B](gone.md).")}, "dead-link")
    assert before[0].id == after[0].id
    assert before[0].line != after[0].line
