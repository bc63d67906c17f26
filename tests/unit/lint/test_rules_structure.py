from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.lint.finding import Severity
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.layout import Layout
from ricordo.storage.reader import read_memory

from .conftest import NOW, Lint, note

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


FILED = {"tides/log/a.txt": "x", "tides/a.txt": "x", "piers/a.txt": "x"}
BROKEN = [
    ("index-missing-file", {"MEMORY.md": "- [A](gone.md) — x\n"}, "MEMORY.md", 1),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": note("One.")}, "a.md", 0),
    (
        "unindexed-note",
        {"MEMORY.md": "# M\n", "a.md": note("One.", description="Deprecated calls of the gauge")},
        "a.md",
        0,
    ),
    (
        "unindexed-note",
        {"MEMORY.md": "- [Neap tides](neap.md)\n", "neap-gauges-bay.md": "x"},
        "neap-gauges-bay.md",
        0,
    ),
    ("unindexed-note", {"MEMORY.md": "- ebb and flow\n", "ebb.md": "x"}, "ebb.md", 0),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": "# Deprecated calls\n\nx"}, "a.md", 0),
    # its index lists the notes of the folder
    (
        "unindexed-note",
        {"MEMORY.md": "- `ebb/` — low\n- [A](ebb/a.md)\n", "ebb/a.md": "x", "ebb/b.md": "x"},
        "ebb/b.md",
        0,
    ),
    ("dead-link", {"a.md": note("[Quay](quays\\west.md)"), "quays/east.md": "x"}, "a.md", 7),
    (
        "index-duplicate-entry",
        {"MEMORY.md": "- [A](a.md) — x\n- [Again](a.md) — y\n", "a.md": note("One.")},
        "MEMORY.md",
        2,
    ),
    ("index-over-budget", {"MEMORY.md": "- text\n" * 201}, "MEMORY.md", 201),
    ("index-near-budget", {"MEMORY.md": "- text\n" * 160}, "MEMORY.md", 0),
    ("index-long-entry", {"MEMORY.md": f"- [A](a.md) — {'x' * 19_000}\n"}, "MEMORY.md", 1),
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
    ("empty-note", {"a.md": note("# The gauge\n\n## Readings")}, "a.md", 0),
    ("unreadable-note", {"a.md": b"caf\xe9"}, "a.md", 0),
    ("dead-link", {"a.md": note("See [B](gone.md).")}, "a.md", 7),
    ("wanted-note", {"a.md": note("See [[gone]].")}, "a.md", 7),
    ("orphan-note", {"b.md": note("See [[c]].", "b"), "c.md": note("C.", "c")}, "b.md", 0),
    ("outside-memory", {"a.md": note("See [it](../../docs/x.md).")}, "a.md", 7),
    ("outside-memory", {"a.md": note("See [it](/etc/passwd).")}, "a.md", 7),
    ("empty-note", {"inboxes-of-all.md": ""}, "inboxes-of-all.md", 0),
    # another place has a file of that name, too
    (
        "outside-memory",
        {"a.md": note("See [it](file:///C:/work/tides/a.txt)."), "tides/a.txt": "x"},
        "a.md",
        7,
    ),
    ("inconsistent-note", {"a.md": note("Three ways:\n\n1. Turn.\n2. Row.\n")}, "a.md", 7),
    # the work was merged, not the note
    (
        "unindexed-note",
        {"MEMORY.md": "# M\n", "a.md": "# Locks (merged into main)\n\nx"},
        "a.md",
        0,
    ),
    # a base of all other folders
    (
        "unindexed-note",
        {"MEMORY.md": "```base\nnot:\n  - file.inFolder('tides')\n```\n", "tides/a.md": "x"},
        "tides/a.md",
        0,
    ),
    (
        "unindexed-note",
        {"MEMORY.md": '# M\n\n```dataview\nLIST FROM "tides"\n```\n', "piers/a.md": "x"},
        "piers/a.md",
        0,
    ),
]


@pytest.mark.parametrize(("rule", "files", "path", "line"), BROKEN)
def test_finding_is_at_the_broken_place(
    lint: Lint, rule: str, files: dict[str, str | bytes], path: str, line: int
) -> None:
    assert [(f.path, f.line) for f in lint(files, rule)] == [(path, line)]


SOUND = [
    ("unindexed-note", {"a.md": note("One.")}),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": ""}),
    ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": note("# A\n\nTODO\n")}),
    ("index-duplicate-entry", {"MEMORY.md": "- [A](a.md) — x\nSee [A](a.md).\n", "a.md": "x"}),
    (
        "index-duplicate-entry",
        {"MEMORY.md": "---\nrelated:\n  - [[a]]\n---\n\n- [[a]] — x\n", "a.md": "x"},
    ),
    (
        "index-duplicate-entry",
        {
            "MEMORY.md": "| term | note |\n|---|---|\n| ebb | [[a]] |\n| flow | [[a]] |\n",
            "a.md": "x",
        },
    ),
    ("index-near-budget", {"MEMORY.md": "- text\n" * 150}),
    ("index-inline-body", {"MEMORY.md": "# M\nOne.\nTwo.\nThree.\n"}),
    # the lines of one entry
    ("index-inline-body", {"MEMORY.md": "# M\n- [A](a.md) one\n  two\n  three\n  four\n  five\n"}),
    ("frontmatter-missing", {"a.md": ""}),
    ("frontmatter-incomplete", {"a.md": "---\nname: a\ndescription: b\npinned: true\n---\nT\n"}),
    ("unknown-type", {"a.md": note("One.", type="Feedback")}),
    ("duplicate-name", {"s/a.md": "One.", "t/a.md": "Two."}),
    ("duplicate-name", {"s/a.md": "---\ntype: user\n---\nOne.", "t/a.md": "Two."}),
    ("duplicate-name", {"s/a.md": "One.", "s/b.md": "See [[a]].", "t/a.md": "Two."}),
    ("unknown-type", {f"{name}.md": note("One.", type="runbook") for name in "abc"}),
    ("unindexed-note", {"MEMORY.md": "# M\n", **{f"{it}/report.md": "One." for it in "abc"}}),
    # another note took its place
    *(
        ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": note("One.", description=said)})
        for said in (
            "SUPERSEDED — see tides.md",
            "Replaced by tides.md, which has all of it",
            "Ersetzt durch tides.md",
            "已废弃，见 tides.md",
            "STALE — all of it is done",
        )
    ),
    # a listed note of its name says the same
    (
        "unindexed-note",
        {"MEMORY.md": "- [Pier](s/pier.md)\n", "s/pier.md": note("One."), "t/pier.md": "One.\n"},
    ),
    # it is kept as history
    *(
        ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": f"> {said}\n\n# Locks\n\nText.\n"})
        for said in (
            "⚠️ **[LEGACY / before May]** Of the old harbour office.",
            "Archived: the locks are gone.",
            "**歷史文件**，僅供參考。",
            "_Archiviert_ (2026-05-01)",
        )
    ),
    # an entry that links to no file has all words of its name
    (
        "unindexed-note",
        {"MEMORY.md": "- [Neap tides: gauges of the bay](neap.md)\n", "neap-gauges-bay.md": "x"},
    ),
    # a title that ends by saying that another note took its place
    *(
        ("unindexed-note", {"MEMORY.md": "# M\n", "a.md": f"# {title}\n\nText.\n"})
        for title in ("Phases of the locks *(SUPERSEDED)*", "Calls of the gauge — deprecated")
    ),
    # a query of Obsidian lists its folder
    *(
        ("unindexed-note", {"MEMORY.md": f"# M\n\n```{query}\n```\n", "tides/a.md": "x"})
        for query in (
            'dataview\nTABLE tags\nFROM "tides"\nSORT updated',
            'dataview\nLIST FROM #pier OR "tides"',
            'dataview\nLIST FROM -"old" AND "tides"',
            "base\nfilters:\n  and:\n    - file.inFolder('tides')",
        )
    ),
    # a program lists what links to the index
    (
        "index-duplicate-entry",
        {"MEMORY.md": "- [[a]] — x\n\n## Backlinks\n\n- [[a]]\n", "a.md": "x"},
    ),
    (
        "index-duplicate-entry",
        {"MEMORY.md": "## Backlinks\n\n- [[a]]\n\n## All\n\n- [[a]] — x\n", "a.md": "x"},
    ),
    (
        "inconsistent-note",
        {"a.md": note("Three ways, each marked:\n\n1. Turn.\n2. Row.\n")},
    ),
    # a row that is about it, without a link
    ("unindexed-note", {"MEMORY.md": "| a | b |\n|---|---|\n| ebb | low |\n", "ebb.md": "x"}),
    ("unindexed-note", {"MEMORY.md": "- **ebb** — low water\n", "ebb.md": "x"}),
    ("empty-note", {"a.md": note("Yes.")}),
    ("empty-note", {"a.md": note("###### " + "The gauge is read at noon. " * 5)}),
    ("empty-note", {"tides/tides.md": note("")}),
    ("empty-note", {"order.md": "---\nsorting-spec: |\n  > a-z\n  > by-name\n---\n"}),
    # it is emptied when it was read, or filled in later
    *(
        ("empty-note", {f"{name}.md": ""})
        for name in ("inbox", "Pilots_Inbox", "收件箱", "06-indice", "table-of-contents")
    ),
    # two notes have the name
    (
        "index-duplicate-entry",
        {"MEMORY.md": "- [[ebb]] — a\n- [[ebb]] — b\n", "s/ebb.md": "x", "t/ebb.md": "y"},
    ),
    ("dead-link", {"a.md": note("`[B](gone.md)` and [site](/blog/foo) and [c](src/app.py).")}),
    ("dead-link", {"a.md": note("See [the plan](docs/plan.md) of the project.")}),
    ("dead-link", {"a.md": note("Write “*see also* [X](x.md)” or [Foo](foo.md).")}),
    ("outside-memory", {"a.md": note("[site](/blog/foo), [web](https://x.org/a.md)")}),
    ("outside-memory", {"a.md": note("[all charts](file://charts)")}),
    ("wanted-note", {"a.md": note("`[[gone]]`")}),
    # a path as Windows has it
    ("dead-link", {"a.md": note("See [the quay](quays\\east.md)."), "quays/east.md": "x"}),
    # a folder that is listed as a whole
    ("unindexed-note", {"MEMORY.md": "- `charts/` — of the bay\n", "bay/charts/a.md": "x"}),
    ("unindexed-note", {"MEMORY.md": "- [Charts](charts/)\n", "charts/a.md": "x"}),
    # the end of a path that a generator of sites fills in
    (
        "unindexed-note",
        {"MEMORY.md": "- <a href=\"{{ '/bay/quay' | url }}\">Q</a>\n", "quay.md": "x"},
    ),
    (
        "unindexed-note",
        {"MEMORY.md": "- [B](b.md)\n", "b.md": "x", "a.md": "# DEPRECATED: delete\n"},
    ),
    # another note has its name now
    *(
        ("duplicate-name", {"a.md": note("One."), "b.md": note("Two.", **said)})
        for said in ({"status": "superseded"}, {"superseded_by": "a.md"})
    ),
]


@pytest.mark.parametrize(("rule", "files"), SOUND)
def test_lookalikes_are_not_reported(lint: Lint, rule: str, files: dict[str, str | bytes]) -> None:
    assert lint(files, rule) == ()


@pytest.mark.parametrize(
    "root", ["file:///C:/work/notes/", "/home/ana/notes/", "/Users/ana/notes/"]
)
@pytest.mark.parametrize(
    "paths", [("tides/a.txt", "piers/a.txt", "tides/log/a.txt"), (*sorted(FILED), "piers/gone.txt")]
)
def test_an_absolute_link_to_a_file_of_the_memory_works_only_for_its_writer(
    lint: Lint, root: str, paths: tuple[str, ...]
) -> None:
    text = note("".join(f"[it]({root}{it})\n" for it in paths))
    found = lint({"b/a.md": text, **FILED}, "outside-memory")
    assert {it.severity for it in found} == {Severity.WARNING}
    for finding, path in zip(found, paths, strict=True):
        is_here = path in FILED
        assert finding.message.endswith(
            f"leads to {root}, where its writer seems to have this memory: "
            + (f"here it is {path}." if is_here else f"here is no {path}.")
        )
        assert (finding.fix_label == f"link to {path}") is is_here


def test_symlinks_out_are_outside_and_broken_ones_unreadable(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    os.symlink("/etc", tmp_path / "out.md")
    os.symlink("a.md", tmp_path / "inside.md")
    os.symlink("nothing.md", tmp_path / "dangling.md")
    os.symlink("/etc/nothing.md", tmp_path / "gone.md")
    os.mkfifo(tmp_path / "pipe.md")

    found = lint({}, "outside-memory", "unreadable-note")

    assert {(f.rule, f.path) for f in found} == {
        ("outside-memory", "out.md"),
        ("unreadable-note", "dangling.md"),
        ("unreadable-note", "gone.md"),
        ("unreadable-note", "pipe.md"),
    }
    assert len(found) == 4


@pytest.mark.parametrize(
    ("target", "severity"),
    [
        ("../../../harbour/docs/", "INFO"),
        ("../../../harbour/docs/tides.md", "INFO"),
        ("../../../harbour/CLAUDE.md", "ERROR"),
        ("../../../.ssh/config.md", "ERROR"),
        ("../../../harbour/memory/tides.md", "ERROR"),
        ("../../../../../../../../../../etc/passwd", "ERROR"),
        ("/etc/passwd", "ERROR"),
        ("~/notes.txt", "ERROR"),
    ],
)
def test_a_link_to_a_place_beside_the_checkout_is_intended(
    tmp_path: Path, target: str, severity: str
) -> None:
    root = tmp_path / "checkout" / "docs" / "notes"
    root.mkdir(parents=True)
    (root / "a.md").write_text(note(f"See [it]({target})."))
    memory = read_memory(str(root), AUTO_MEMORY)
    context = RuleContext(NOW, AUTO_MEMORY, around=(str(tmp_path / "checkout"),))
    (finding,) = Linter({}, frozenset(("outside-memory",))).run(memory, context)
    assert finding.severity.name == severity


def test_a_broken_symlink_among_raw_sources_is_information(lint: Lint, tmp_path: Path) -> None:
    for folder in ("raw", "wiki"):
        (tmp_path / folder).mkdir()
        os.symlink("/home/ana/papers", tmp_path / folder / "papers.md")
    found = lint({}, "unreadable-note", layout=WIKI)
    assert [(it.path, it.severity) for it in found] == [
        ("wiki/papers.md", Severity.ERROR),
        ("raw/papers.md", Severity.INFO),
    ]


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


def test_links_into_one_folder_that_is_not_here_are_one_finding(lint: Lint, tmp_path: Path) -> None:
    links = {"a.md": "/nowhere/x/a.md", "b.md": "/nowhere/x/b.md", "c.md": "/nowhere/y/c.md"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    groups = {it.path: it.group_id for it in lint({}, "unreadable-note")}
    assert groups["a.md"] == groups["b.md"] != ""
    assert groups["c.md"] != groups["a.md"]


def test_a_wiki_has_any_type_but_a_misspelt_one(lint: Lint) -> None:
    given = ("harbour",) * 3 + (
        "harbor",
        "glossary",
        "harbours",
        "quay1",
        "quay2",
        "quay2",
        "quay2",
    )
    files = {f"wiki/{n}.md": f"---\ntype: {it}\n---\nText.\n" for n, it in enumerate(given)}
    (found,) = lint(files, "unknown-type", layout=WIKI)
    assert (found.path, found.severity) == ("wiki/3.md", Severity.WARNING)
    assert found.fix
    assert found.fix.label == "set the type to harbour"


def test_a_type_with_other_capitals_blanks_or_hyphens_is_known_to_a_wiki(lint: Lint) -> None:
    given = ("sea-walls",) * 3 + ("Sea Walls", "SEA_WALLS", "sea-wals")
    files = {f"wiki/{n}.md": f"---\ntype: {it}\n---\nText.\n" for n, it in enumerate(given)}
    (found,) = lint(files, "unknown-type", layout=WIKI)
    assert found.path == "wiki/5.md"


@pytest.mark.parametrize(
    ("given", "severity"), [("refrence", Severity.WARNING), ("digest", Severity.INFO)]
)
def test_a_type_of_its_own_does_less_harm_than_a_misspelt_one(
    lint: Lint, given: str, severity: Severity
) -> None:
    (found,) = lint({"a.md": note("One.", type=given)}, "unknown-type")
    assert found.severity is severity


def test_an_empty_raw_source_is_only_worth_knowing(lint: Lint) -> None:
    files = {"raw/quay.md": "", "wiki/quay.md": ""}
    found = {it.path: it.severity for it in lint(files, "empty-note", layout=WIKI)}
    assert found == {"raw/quay.md": Severity.INFO, "wiki/quay.md": Severity.WARNING}


@pytest.mark.parametrize("above", ["<!-- Owner: the harbour\nof Sines -->\n", "> Superseded.\n\n"])
def test_frontmatter_below_something_else_is_not_called_missing(lint: Lint, above: str) -> None:
    (found,) = lint({"a.md": above + note("One.")}, "frontmatter-missing")
    assert found.message == "Frontmatter on line 3: agents look for it on line 1."
    assert found.severity is Severity.WARNING


def test_frontmatter_below_what_a_program_writes_there_is_only_worth_knowing(lint: Lint) -> None:
    above = "<!-- Generated by tides.py. Do not edit. -->\n\n"
    (found,) = lint({"a.md": above + note("One.")}, "frontmatter-missing")
    assert found.message == "Frontmatter on line 3: agents look for it on line 1."
    assert found.severity is Severity.INFO


@pytest.mark.parametrize(
    "text",
    [
        "# Form\n\n```\n---\nname: x\ndescription: y\n---\n```\n",
        "> Quay\n\n---\nheight: 3\nname: quay\n---\n\nText.\n",
    ],
)
def test_a_block_further_below_is_no_frontmatter(lint: Lint, text: str) -> None:
    (found,) = lint({"a.md": text}, "frontmatter-missing")
    assert found.message == "“a” has no frontmatter."


def test_a_file_without_frontmatter_that_the_index_does_not_list_may_be_no_note(lint: Lint) -> None:
    notes = ("a.md", "low-water.md", "feedback_quay.md", "quays/sines.md")
    index = "- [A](a.md) — the first\n- low-water: at noon\n"
    files = {"MEMORY.md": index, "log.md": "Two.\n", **dict.fromkeys(notes, "One.\n")}
    files["quays/faro.md"] = note("One.", "faro")
    found = {it.path: it.severity for it in lint(files, "frontmatter-missing")}
    assert found == {**dict.fromkeys(notes, Severity.WARNING), "log.md": Severity.INFO}


@pytest.mark.parametrize(("headed", "severity"), [(5, Severity.WARNING), (1, Severity.INFO)])
def test_a_folder_of_a_wiki_shows_by_some_pages_that_frontmatter_is_usual_there(
    lint: Lint, headed: int, severity: Severity
) -> None:
    pages = {f"wiki/tides/{n}.md": note("Text.", str(n)) for n in range(9)}
    logs = {f"wiki/logs/{n}.md": note("Text.", str(n)) for n in range(headed)}
    files = {
        "wiki/index.md": "- [[boot]] — began\n",
        "wiki/logs/boot.md": "Text.\n",
        **pages,
        **logs,
    }
    (found,) = lint(files, "frontmatter-missing", layout=replace(WIKI, expects_frontmatter=True))
    assert (found.path, found.severity) == ("wiki/logs/boot.md", severity)


@pytest.mark.parametrize(("copies", "severity"), [(2, Severity.WARNING), (3, Severity.INFO)])
def test_what_is_above_the_frontmatter_of_several_notes_comes_from_a_program(
    lint: Lint, copies: int, severity: Severity
) -> None:
    above = "<!-- Copy of the log of the harbour -->\n\n"
    files = {f"{n}.md": above + note("One.", str(n)) for n in range(copies)}
    files["z.md"] = "\n" + note("Two.", "z")
    found = {it.path: it.severity for it in lint(files, "frontmatter-missing")}
    assert found == {**dict.fromkeys(files, severity), "z.md": Severity.WARNING}


def test_a_blank_line_above_the_frontmatter_of_several_notes_is_a_fault(lint: Lint) -> None:
    files = {f"{n}.md": "\n" + note("One.", str(n)) for n in range(4)}
    found = lint(files, "frontmatter-missing")
    assert [it.severity for it in found] == [Severity.WARNING] * 4


@pytest.mark.parametrize("more", [0, 4])
def test_a_note_that_is_alone_in_its_folder_shows_no_fault(lint: Lint, more: int) -> None:
    files = {f"{n}.md": note("One.", str(n)) for n in range(9)} | {"talks/tides.md": "Two.\n"}
    for number in range(more):
        files[f"pier-{number}/notes.md"] = note("Three.", f"pier {number}")
    (found,) = lint(files, "frontmatter-missing")
    assert found.severity is (Severity.WARNING if more else Severity.INFO)


@pytest.mark.parametrize(("headed", "severity"), [(8, Severity.WARNING), (2, Severity.INFO)])
def test_records_of_days_have_a_form_of_their_own(
    lint: Lint, headed: int, severity: Severity
) -> None:
    plain = ["# Survey of the locks\n\nAll dry.\n"] * 2
    days = [*(note("One.", f"survey {n}") for n in range(headed)), *plain]
    files = {f"survey_2026-05-{n + 1:02}.md": text for n, text in enumerate(days)}
    files |= {f"quay-{n}.md": note("Two.", f"quay {n}") for n in range(20)}
    found = [it.severity for it in lint(files, "frontmatter-missing")]
    assert found == [severity] * 2


@pytest.mark.parametrize(
    "mark", ["> Historical record, not kept up.", "<!-- DEPRECATED 2026-05-18: see the gates -->"]
)
def test_what_is_kept_as_history_needs_no_frontmatter(lint: Lint, mark: str) -> None:
    files = {f"quay-{n}.md": note("Two.", f"quay {n}") for n in range(9)}
    files["locks.md"] = f"{mark}\n\n# Locks\n\nText.\n"
    (finding,) = lint(files, "frontmatter-missing")
    assert finding.severity is Severity.INFO


def test_the_instructions_of_a_skill_are_no_note(lint: Lint) -> None:
    skill = "---\nname: measure\ndescription: Reads a gauge.\n---\n# Measure\n\nSteps.\n"
    files = {"MEMORY.md": GOOD, "a.md": note("One.", "a"), "b.md": note("Two.", "b")}
    assert lint(files | {"skills/measure/SKILL.md": skill}) == ()


def test_raw_source_without_links_is_an_orphan(lint: Lint) -> None:
    files = {
        "wiki/index.md": "- [P](p.md)\n",
        "wiki/p.md": "---\nsources: [raw/a.md]\n---\nText.\n",
        "raw/a.md": "Read.",
        "raw/b.md": "Unread.",
    }
    found = lint(files, "orphan-note", "unindexed-note", layout=WIKI)
    assert [(f.rule, f.path) for f in found] == [("orphan-note", "raw/b.md")]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Source: `raw/low water table.md`", True),
        ("From low water table.md of May.", True),
        ("The low water table has a gap.", False),
        ("From no low water table.md5.", False),
    ],
)
def test_raw_source_that_a_page_names_is_no_orphan(lint: Lint, text: str, is_named: bool) -> None:
    files = {
        "wiki/index.md": "- [P](p.md)\n",
        "wiki/p.md": f"{text}\n",
        "raw/low water table.md": "Its own name is low water table.md here.",
    }
    assert bool(lint(files, "orphan-note", layout=WIKI)) is not is_named


def test_finding_id_does_not_depend_on_the_line(lint: Lint) -> None:
    before = lint({"a.md": note("See [B](gone.md).")}, "dead-link")
    after = lint({"a.md": note("\n\nMore.\n\nSee [B](gone.md).")}, "dead-link")
    assert before[0].id == after[0].id
    assert before[0].line != after[0].line


@pytest.mark.parametrize("between", ["# All", "For all else:", "---", "**All**"])
def test_an_entry_in_two_lists_of_the_index_of_a_wiki_is_no_warning(
    lint: Lint, between: str
) -> None:
    first = f"# First\n\n- [[a]] — x\n- [[b]] — y\n\n{between}\n\n"
    files = {"a.md": "x", "b.md": "y", "c.md": "z"}
    index = {"index.md": f"{first}- [[a]] — x\n- [[b]] — y\n- [[c]] — z\n- [[c]] — z\n"}
    found = lint({**files, **index}, "index-duplicate-entry", layout=WIKI)
    severities = {it.line: it.severity for it in found}
    assert [it.line for it in found if it.fix] == [11]
    assert severities == {8: Severity.INFO, 9: Severity.INFO, 11: Severity.WARNING}
    (found_once,) = lint(
        {**files, "index.md": f"{first}- [[a]] — x\n"}, "index-duplicate-entry", layout=WIKI
    )
    assert found_once.severity is Severity.INFO
    (loaded,) = lint({**files, "MEMORY.md": f"{first}- [[a]] — x\n"}, "index-duplicate-entry")
    assert loaded.severity is Severity.WARNING


@pytest.mark.parametrize("between", ["", "- [[b]] — y\n", "\n1. [[b]]\n", "  goes on\n\n  here\n"])
def test_what_belongs_to_the_items_begins_no_other_list(lint: Lint, between: str) -> None:
    index = f"- [[a]] — x\n{between}- [[a]] — x\n"
    (found,) = lint(
        {"a.md": "x", "b.md": "y", "index.md": index}, "index-duplicate-entry", layout=WIKI
    )
    assert found.fix


@pytest.mark.parametrize(
    ("labels", "severity"),
    [(("details", "details"), Severity.INFO), (("gauges", "details"), Severity.WARNING)],
)
def test_a_label_of_links_to_many_notes_names_none_of_them(
    lint: Lint, labels: tuple[str, str], severity: Severity
) -> None:
    rows = [f"| {said} ([{labels[0]}](a.md)) | x |" for said in ("Gauges fail", "Lamps blink")]
    rows += [f"| Rule {name} ([{labels[1]}]({name}.md)) | x |" for name in "bcd"]
    files = {f"{name}.md": "x" for name in "abcd"}
    index = "\n".join(["| what | seen |", "|---|---|", *rows, ""])
    found = lint({**files, "MEMORY.md": index}, "index-duplicate-entry")
    assert [it.severity for it in found] == [severity]


def test_entries_for_two_topics_of_one_note_are_no_warning(lint: Lint) -> None:
    topics = "- [Tide gauges](a.md) — how they fail\n- [Berth prices](a.md) — summer season only\n"
    again = "- [Tide gauges](a.md) — how they fail\n- [The gauges](a.md) — fail in winter storms\n"
    title = "- [Tide gauges](a.md) — how they fail\n- [Tide gauges](a.md) — prices, new season\n"
    other = "- [Tide gauges](a.md) — how they fail\n- [Gauge prices](a.md) — next summer only\n"
    days = "- [2026-05-01 tides](a.md) — ebb\n- [2026-05-02 tides](a.md) — flow\n"
    for index, severity in (
        (topics, Severity.INFO),
        (again, Severity.WARNING),
        (title, Severity.WARNING),
        (other, Severity.INFO),
        (days, Severity.INFO),
    ):
        (found,) = lint({"MEMORY.md": index, "a.md": "x"}, "index-duplicate-entry")
        assert found.severity is severity


LISTED = "- [Ebb](ebb.md)\n- [Flow](flow.md)\n"
TIDES = ("ebb", "flow", "spring")
RECORDS = tuple(f"log-2026-05-0{day}" for day in range(1, 5))
DAYS = ("days/friday", "days/monday", "days/sunday")


@pytest.mark.parametrize(
    ("index", "names", "expected"),
    [
        (LISTED, TIDES, {"spring": "WARNING"}),
        # of a folder beside others it lists none, half or most
        (LISTED, (*TIDES, "days/monday"), {"days/monday": "INFO", "spring": "WARNING"}),
        (
            f"{LISTED}- [Mon](days/monday.md)\n",
            (*TIDES, *DAYS[1:]),
            {"days/sunday": "INFO", "spring": "WARNING"},
        ),
        (
            f"{LISTED}- [Mon](days/monday.md)\n- [Sun](days/sunday.md)\n",
            (*TIDES, *DAYS),
            {"days/friday": "WARNING", "spring": "WARNING"},
        ),
        # records, of which it lists none or most
        (
            LISTED,
            (*TIDES, *RECORDS),
            {"MEMORY": "INFO", "spring": "WARNING"},
        ),
        (
            f"{LISTED}- [1](log-2026-05-01.md)\n- [2](log-2026-05-02.md)\n",
            (*TIDES, *RECORDS[:3]),
            {"log-2026-05-03": "WARNING", "spring": "WARNING"},
        ),
        # it lists nothing, or less than it lacks
        ("Notes on tides.\n", ("ebb",), {"ebb": "INFO"}),
        ("- [Ebb](ebb.md)\n", TIDES, {"flow": "INFO", "spring": "INFO"}),
        # a program writes it
        (f"Generated by `list.py`.\n\n{LISTED}", TIDES, {"spring": "INFO"}),
        (f"Índice autogenerado por `list.py`.\n\n{LISTED}", TIDES, {"spring": "INFO"}),
    ],
)
def test_an_index_is_judged_by_what_it_lists(
    lint: Lint, index: str, names: tuple[str, ...], expected: dict[str, str]
) -> None:
    files = {f"{name}.md": note("Text.", name, type="feedback") for name in names}
    found = lint({"MEMORY.md": index, **files}, "unindexed-note")
    severities = {it.path.removesuffix(".md"): it.severity.name for it in found}
    assert severities == expected


def test_a_note_on_the_state_of_work_is_missed_less_than_a_rule(lint: Lint) -> None:
    for type_, severity in (
        ("feedback", "WARNING"),
        ("reference", "WARNING"),
        ("project", "INFO"),
        ("draft", "INFO"),
    ):
        files = {f"{name}.md": note("Text.", name, type=type_) for name in TIDES}
        (found,) = lint({"MEMORY.md": LISTED, **files}, "unindexed-note")
        assert found.severity.name == severity


@pytest.mark.parametrize(("head", "severity"), [("---\nname: x\n---\n", "WARNING"), ("", "INFO")])
def test_a_document_beside_notes_with_frontmatter_is_no_note_to_list(
    lint: Lint, head: str, severity: str
) -> None:
    files = {f"{name}.md": note("Text.", name) for name in TIDES}
    index = {"MEMORY.md": f"{LISTED}- [Spring](spring.md)\n", "setup.md": f"{head}Copy it.\n"}
    (found,) = lint({**files, **index}, "unindexed-note")
    assert (found.path, found.severity.name) == ("setup.md", severity)


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("The spring tide gauges are at the pier.", True),
        ("What the Spring_Tide-gauges tell.", True),
        ("See Harbour walls in winter.", True),
        ("See the groyne book.", True),
        ("See [[spring-tide-gauges]] or [walls](<harbour walls.md>).", True),
        ("The spring tide gauging.", False),
        ("- [Harbour walls in winter](ebb.md)", False),
    ],
)
def test_a_note_is_listed_that_the_index_names_by_any_of_its_names(
    lint: Lint, line: str, is_named: bool
) -> None:
    files = {f"{name}.md": note("Text.", name) for name in TIDES}
    head = "---\nname: Harbour walls in winter\naliases: [Groyne book]\n---\n"
    listed = {"MEMORY.md": f"{LISTED}- [Spring](spring.md)\n{line}\n"}
    found = lint({**files, **listed, "spring-tide-gauges.md": f"{head}Text.\n"}, "unindexed-note")
    assert [it.path for it in found] == ["spring-tide-gauges.md"] * (not is_named)


def test_a_line_that_is_meant_as_an_entry_is_not_counted_as_missing(lint: Lint) -> None:
    names = [f"pier {'abcdefgh'[number] * 3}" for number in range(8)]
    lines = "".join(f"- [{name}]({name}.md)\n" for name in names)
    files = {f"{name}.md": note("Text.", name) for name in names}
    found = lint({"MEMORY.md": lines, **files}, "unindexed-note")
    assert {it.message for it in found} == {
        f"Not an entry: its link target “{name}.md” has a blank." for name in names
    }


def test_a_page_that_the_index_leads_to_may_list_a_folder(lint: Lint) -> None:
    names = [f"gauge-{number}" for number in range(9)]
    files = {f"wiki/gauges/{name}.md": "Text.\n" for name in names}
    shown = "".join(f"- [[{name}]]\n" for name in names[:7])
    files["wiki/index.md"] = f"{shown}- [[by-year]]\n"
    files["wiki/by-year.md"] = "".join(f"- [[{name}]]\n" for name in names[3:8])
    found = lint(files, "unindexed-note", layout=WIKI)
    assert [it.path for it in found] == ["wiki/gauges/gauge-8.md"]
    files["wiki/by-year.md"] = "- [[gauge-7]]\n"
    assert len(lint(files, "unindexed-note", layout=WIKI)) == 2


def test_a_page_that_lists_a_folder_lists_names_that_other_folders_have_too(lint: Lint) -> None:
    names = [f"gauge-{number}" for number in range(9)]
    files = {f"wiki/gauges/{name}.md": "Text.\n" for name in names}
    files |= {
        "wiki/a/gauge-1.md": "Of the first.",
        "wiki/index.md": "- [[by-year]]\n- [[a/gauge-1]]",
    }
    files["wiki/by-year.md"] = "".join(f"- [[{name}]]\n" for name in names)
    assert lint(files, "unindexed-note", layout=WIKI) == ()
    files["wiki/by-year.md"] = "".join(f"- [[{name}]]\n" for name in names if name != "gauge-1")
    assert len(lint(files, "unindexed-note", layout=WIKI)) == 1


@pytest.mark.parametrize("path", [".last-run.md", "quays/.state/east.md"])
def test_a_link_to_a_hidden_file_is_not_dead(lint: Lint, path: str) -> None:
    files = {"wiki/index.md": f"- [Last]({path})\n- [Pier](pier.md)\n", "wiki/pier.md": "Text.\n"}
    page = {"wiki/quays/west.md": f"[Last](../{path}), [gone](.gone/east.md)\n"}
    found = lint(
        {**files, **page, f"wiki/{path}": "x"}, "dead-link", "index-missing-file", layout=WIKI
    )
    assert [(it.path, it.cause) for it in found] == [("wiki/quays/west.md", ".gone/east.md")]


def test_pages_beside_the_index_may_list_a_folder_together(lint: Lint) -> None:
    names = [f"gauge-{number}" for number in range(10)]
    files = {f"wiki/gauges/{name}.md": "Text.\n" for name in names}
    for page, shown in (("ebb", names[:4]), ("flow", names[4:8]), ("winds", names[8:9])):
        files[f"wiki/index-{page}.md"] = "".join(f"- [[{name}]]\n" for name in shown)
    index = "- [[index-ebb]]\n- [[index-flow]]\n- [[index-winds]]\n"
    files["wiki/index.md"] = f"{index}- [[gauge-0]]\n"
    (found,) = lint(files, "unindexed-note", layout=WIKI)
    assert (found.path, found.severity) == ("wiki/gauges/gauge-9.md", Severity.WARNING)
    # an index that keeps the folder itself owes the rest, too
    listed = "".join(f"- [[{name}]]\n" for name in names[:6])
    files["wiki/index.md"] = f"{index}{listed}"
    (found,) = lint(files, "unindexed-note", layout=WIKI)
    assert found.message == "The index does not list 4 of 13 notes in wiki/gauges."


def test_a_folder_of_which_an_index_lists_little_is_not_kept_in_it(lint: Lint) -> None:
    names = [f"gauge-2026-05-0{day}" for day in range(1, 6)] + ["ebb-table", "flow-table", "winds"]
    files = {f"wiki/gauges/{name}.md": "Text.\n" for name in names}
    pages = {f"wiki/{name}.md": "Text.\n" for name in TIDES}
    index = "".join(f"- [[{name}]]\n" for name in (*TIDES[:2], "ebb-table", "flow-table"))
    found = lint({**files, **pages, "wiki/index.md": index}, "unindexed-note", layout=WIKI)
    assert {it.path: it.severity for it in found} == {
        "wiki/index.md": Severity.INFO,
        "wiki/spring.md": Severity.WARNING,
    }
    (whole,) = (it for it in found if it.path == "wiki/index.md")
    assert whole.message == "The index does not list 6 of 8 notes in wiki/gauges."


def test_a_log_is_no_note_to_list(lint: Lint) -> None:
    files = {f"{name}.md": note("Text.", name) for name in (*TIDES, "work-session-log")}
    (found,) = lint({"MEMORY.md": f"{LISTED}- [Spring](spring.md)\n", **files}, "unindexed-note")
    assert (found.path, found.severity) == ("work-session-log.md", Severity.INFO)


@pytest.mark.parametrize("text", ["> Moved to [[walls]].", "> ⚠️ **本页已移至 piers/**"])
def test_a_note_whose_banner_names_its_successor_is_no_second_of_its_name(
    lint: Lint, text: str
) -> None:
    pages = {"piers/walls.md": "Text.\n", "quays/walls.md": f"# Walls\n\n{text}\n"}
    linking = {"wiki/index.md": "- [[walls]]\n"}
    files = {**linking, **{f"wiki/{path}": page for path, page in pages.items()}}
    assert lint(files, "duplicate-name", layout=WIKI) == ()
    files["wiki/quays/walls.md"] = "# Walls\n\nText.\n"
    (found,) = lint(files, "duplicate-name", layout=WIKI)
    assert found.severity is Severity.WARNING


def test_names_that_yaml_cuts_off_are_not_the_same(lint: Lint) -> None:
    files = {f"{it}.md": note("Text.", f"Pier walls #{it} in winter") for it in "12"}
    assert lint(files, "duplicate-name") == ()
    plain = {f"{it}.md": note("Text.", "Pier walls") for it in "12"}
    assert len(lint(plain, "duplicate-name")) == 1


@pytest.mark.parametrize(
    ("link", "severity"),
    [
        ("[the walls](walls.md)", Severity.ERROR),
        ("[`quay-book/piers/walls.md`](walls.md)", Severity.INFO),
        ("[the walls](walls.md) (if any)", Severity.INFO),
        ("If any ship waits, read [the walls](walls.md)", Severity.ERROR),
        ("[Gezeiten](walls.md) (falls zutreffend)", Severity.INFO),
    ],
)
def test_a_broken_link_whose_text_says_that_it_is_elsewhere_is_information(
    lint: Lint, link: str, severity: Severity
) -> None:
    (found,) = lint({"a.md": note(f"Read {link}.", "a")}, "dead-link")
    assert found.severity is severity


def test_a_broken_entry_that_a_program_wrote_is_information(lint: Lint) -> None:
    entry = "- [Walls](walls.md)\n- [A](a.md)\n"
    files = {"MEMORY.md": entry, "a.md": note("Text.", "a")}
    (found,) = lint(files, "index-missing-file")
    assert found.severity is Severity.ERROR
    generated = {"MEMORY.md": f"---\ngenerated_at: 2026-05-01\n---\n{entry}"}
    (found,) = lint({**files, **generated}, "index-missing-file")
    assert found.severity is Severity.INFO


def test_a_broken_entry_with_a_placeholder_is_information(lint: Lint) -> None:
    files = {"MEMORY.md": "- [Of a quay]({quay}.md)\n", "a.md": note("Text.", "a")}
    (found,) = lint(files, "index-missing-file")
    assert found.severity is Severity.INFO


def test_the_file_that_a_broken_entry_means_is_suggested(lint: Lint) -> None:
    files = {"MEMORY.md": "- [Walls](quays/walls.md)\n", "piers/walls.md": note("Text.", "w")}
    (found,) = lint(files, "index-missing-file")
    assert found.message.endswith("Did you mean piers/walls.md?")


@pytest.mark.parametrize(
    ("target", "to"),
    [
        ("0035-flat-body.md", "adr/0035-flat-typed-responses.md"),
        ("ADR-12-lamps.md", "adr/adr-12-lights.md"),
        ("0036-flat-body.md", ""),
        ("0041-berths.md", ""),
        ("2026-10-01-flat-body.md", ""),
        ("v10-plans.md", ""),
        ("kay-2020-waves.md", ""),
    ],
)
def test_the_only_file_with_the_number_of_a_broken_link_is_suggested(
    lint: Lint, target: str, to: str
) -> None:
    names = (
        *("0035-flat-typed-responses", "adr-12-lights", "0041-piers", "0041-quays"),
        *("2026-10-01-walls", "v10-notes", "kay-2020-tides"),
    )
    files = {f"adr/{it}.md": note("Text.", it) for it in names}
    files["adr/0050-all.md"] = note(f"See [that]({target}).", "all")
    (found,) = lint(files, "dead-link")
    expected = f" Did you mean {to}?" if to else ""
    assert found.message == f"Broken link “that”: {target} does not exist.{expected}"
    assert not (found.fix and found.fix.safe)


@pytest.mark.parametrize(
    ("variants", "entry", "unlisted"),
    [
        (("tides", "locks", "ferries"), "", ()),
        # two are no habit, nor is what the index has one of
        (("tides", "locks"), "", ("locks", "tides")),
        (("tides", "locks", "ferries"), "tides", ("ferries", "locks")),
    ],
)
def test_variants_of_the_notes_beside_them_are_left_out_on_purpose(
    lint: Lint, variants: tuple[str, ...], entry: str, unlisted: tuple[str, ...]
) -> None:
    names = ("tides", "locks", "ferries", "berths")
    files = {f"{it}.md": note(f"The {it}.", it) for it in names}
    files |= {f"{it}-for-kids.md": note(f"Look: {it}!", f"{it} for kids") for it in variants}
    listed = (*names, *((f"{entry}-for-kids",) if entry else ()))
    files["MEMORY.md"] = "".join(f"- [{it}]({it}.md) — x\n" for it in listed)
    found = lint(files, "unindexed-note")
    assert [it.path for it in found] == [f"{it}-for-kids.md" for it in unlisted]


@pytest.mark.parametrize(
    ("companion", "is_led_to"),
    [
        ("zh/tides-zh", True),
        ("tides-zh", True),
        ("zh/tidesmen", False),
        ("zh/locks-zh", False),
        ("tides-never-fall", False),
    ],
)
def test_a_translation_to_which_its_note_links_needs_no_entry(
    lint: Lint, companion: str, is_led_to: bool
) -> None:
    files = {f"{it}.md": note(f"The {it}.", it) for it in ("locks", "ferries", "berths")}
    files["tides.md"] = note(f"The tides, also [here]({companion}.md).", "tides")
    files[f"{companion}.md"] = note("The same.", "another")
    files["MEMORY.md"] = "".join(f"- [{it}]({it}.md) — x\n" for it in ("tides", "locks", "berths"))
    found = {it.path for it in lint(files, "unindexed-note")}
    assert (f"{companion}.md" in found) is not is_led_to
    assert "ferries.md" in found


@pytest.mark.parametrize(
    ("target", "to"),
    [
        ("sources/2026-07-05_gazette_new-quay", "sources/2026-07-03_gazette_new-quay.md"),
        # two of them, in another folder, of few words, a raw source
        ("sources/2026-07-05_gazette_old-quay", ""),
        ("2026-07-05_gazette_new-quay", ""),
        ("sources/2026-07-05_berths", ""),
        ("sources/2026-06-01_gazette_raw-quay", ""),
    ],
)
def test_the_only_page_of_that_name_but_for_its_day_is_suggested(
    lint: Lint, target: str, to: str
) -> None:
    names = ("2026-07-03_gazette_new-quay", "2026-07-01_gazette_old-quay")
    names += ("2026-07-02_gazette_old-quay", "2026-07-03_berths")
    files = {f"sources/{it}.md": f"# {it}\n\nText.\n" for it in names}
    files["raw/articles/2026-06-01_gazette_raw-quay.md"] = "Text.\n"
    files["index.md"] = f"# Index\n\n- [[{target}]] — the quay\n"
    (found,) = lint(files, "index-missing-file", layout=WIKI)
    assert found.message.endswith(f" Did you mean {to}?" if to else f"a missing file: {target}.")


def test_broken_links_that_mean_one_note_have_one_cause(lint: Lint) -> None:
    link = note("See [a](sea-walls.md) and [b](gone.md).", "x")
    files = {f"quays/{it}.md": link for it in ("one", "two")}
    found = lint({**files, "quays/sea_walls.md": note("Walls.", "w")}, "dead-link")
    meant = [it for it in found if it.cause == "sea-walls.md"]
    assert [it.path for it in meant] == list(files)
    assert len({it.group_id for it in meant} - {""}) == 1
    assert {it.group_id for it in found if it not in meant} == {""}


def test_links_that_climb_too_few_folders_have_one_cause(lint: Lint) -> None:
    files = {f"raw/talks/{it}.md": "Text.\n" for it in ("sluice", "weir")}
    files |= {
        "wiki/quays/east.md": "See [a](../raw/talks/sluice.md) and [b](../raw/talks/gone.md).\n",
        "wiki/quays/west.md": "See [c](../raw/talks/weir.md) and [d](../../raw/talks/weir.md).\n",
    }
    found = {it.cause: it for it in lint(files, "dead-link", layout=WIKI)}
    gone = found.pop("../raw/talks/gone.md")
    assert " Did you mean " not in gone.message
    assert [it.message.rpartition(" Did you mean ")[2] for it in found.values()] == [
        "raw/talks/sluice.md?",
        "raw/talks/weir.md?",
    ]
    assert len({it.group_id for it in found.values()} - {"", gone.group_id}) == 1


def test_links_of_three_files_to_one_that_is_gone_have_one_cause(lint: Lint) -> None:
    names = ("a", "b", "c")
    files = {
        f"{it}.md": note("See [the walls](walls.md) and [b](quays.md).", it) for it in names[:2]
    }
    files["c.md"] = note("The [walls](walls.md) leak.", "c")
    found = lint(files, "dead-link")
    walls = {it.path: it.group_id for it in found if it.cause == "walls.md"}
    assert list(walls) == list(files)
    assert len({*walls.values()} - {""}) == 1
    assert {it.group_id for it in found if it.cause == "quays.md"} == {""}


@pytest.mark.parametrize(
    ("label", "severity"),
    [
        ("data model (planned)", Severity.INFO),
        ("Datenmodell (geplant)", Severity.INFO),
        ("модель данных (пока в резерве)", Severity.INFO),
        ("data model (2026)", Severity.ERROR),
        ("planned data model", Severity.ERROR),
    ],
)
def test_a_label_says_in_brackets_that_its_target_is_to_come(
    lint: Lint, label: str, severity: Severity
) -> None:
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": note(f"See [{label}](data-model.md).", "a")}
    (found,) = lint(files, "dead-link")
    assert found.severity is severity


def test_an_index_of_indexes_is_a_list(lint: Lint) -> None:
    files = {f"wiki/{it}/index.md": f"- [[{it}-1]]\n" for it in "ab"}
    pages = {f"wiki/{it}/{it}-1.md": "Text.\n" for it in "ab"}
    index = {"wiki/index.md": "- [[a/index]]\n- [[b/index]]\n", "wiki/tasks.md": "Text.\n"}
    (found,) = lint({**files, **pages, **index}, "unindexed-note", layout=WIKI)
    assert (found.path, found.severity) == ("wiki/tasks.md", Severity.WARNING)


def test_the_notes_of_a_folder_may_be_listed_in_a_file_there(lint: Lint) -> None:
    days = {f"{name}.md": note("Text.", name) for name in (*DAYS, "days/holiday")}
    listed = "".join(f"- [{name}]({name[5:]}.md)\n" for name in DAYS[1:]) + "See `friday.md`.\n"
    files = {**days, "days/MEMORY.md": listed, "ebb.md": note("Text.", "ebb")}
    found = lint({"MEMORY.md": "- [Ebb](ebb.md)\n", **files}, "unindexed-note")
    assert [it.path for it in found] == ["days/holiday.md"]


def test_raw_sources_that_their_index_lacks_are_no_warning(lint: Lint) -> None:
    files = {"raw/index.md": "- [[ebb]]\n", "raw/ebb.md": "Text.\n", "raw/flow.md": "Text.\n"}
    (found,) = lint(files, "unindexed-note", layout=WIKI)
    assert (found.path, found.severity) == ("raw/flow.md", Severity.INFO)


def test_pages_of_a_captured_site_are_no_index_of_the_wiki(lint: Lint) -> None:
    home = "# Docs\n\n- [Start](start.md)\n- [Gone](gone.md)\n"
    files = {
        "index.md": "- [[wiki/tide]]\n",
        "log.md": "x",
        "wiki/tide.md": note("See [[home]]."),
        "raw/articles/index.md": "- [Site](site/docs/index.md)\n- [Lost](lost.md)\n",
        "raw/articles/site/docs/index.md": home,
        "raw/articles/site/docs/start.md": "The password: kW82mQx7Lr3T\n",
        "raw/articles/site/docs/other.md": "x",
    }
    missing = lint(files, "index-missing-file", layout=WIKI)
    assert [it.path for it in missing] == ["raw/articles/index.md"]
    assert "raw/articles/site/docs/index.md" not in {
        it.path for it in lint(files, "unindexed-note", layout=WIKI)
    }
    (secret,) = lint(files, "secret", layout=WIKI)
    assert secret.severity is Severity.INFO


def test_the_row_of_a_table_is_about_its_first_cell_with_words(lint: Lint) -> None:
    table = "| 1 | [[a]] | x |\n| 2 | [[b]] | y |\n| 3 | [[a]] | z |\n"
    files = {"MEMORY.md": f"| no | of | for |\n|---|---|---|\n{table}", "a.md": "x", "b.md": "y"}
    assert [it.line for it in lint(files, "index-duplicate-entry")] == [5]


def test_an_entry_in_two_sections_of_a_loaded_index_takes_space_twice(lint: Lint) -> None:
    index = "# First\n\n- [[a]] — x\n\n# All\n\n- [[a]] — x\n"
    (found,) = lint({"MEMORY.md": index, "a.md": "x"}, "index-duplicate-entry")
    assert (found.line, found.severity) == (7, Severity.WARNING)


@pytest.mark.parametrize(
    ("also", "severity"),
    [
        ("", Severity.INFO),
        ("[d](d.md)", Severity.ERROR),
        ("[e](tides/a.md)", Severity.ERROR),
        ("[e](../e.md)", Severity.ERROR),
    ],
)
def test_a_page_whose_links_all_lead_on_from_one_other_folder_is_put_there(
    lint: Lint, also: str, severity: Severity
) -> None:
    page = f"# Tides\n\n[a](a.md), [b](b.md), [c](c.md) {also}\n"
    files = {"public/page.md": page, **{f"tides/{it}.md": "Falls." for it in "abc"}, "e.md": "It."}
    found = [it for it in lint(files, "dead-link", layout=WIKI) if "(a.md)" in it.evidence[0]]
    assert {it.severity for it in found} == {severity}


def test_files_of_one_name_are_a_fault_where_a_link_may_mean_any(lint: Lint) -> None:
    files = {"s/a.md": "One.", "t/a.md": "Two.", "u/b.md": "See [[a]]."}
    (found,) = lint(files, "duplicate-name")
    assert found.evidence == ("s/a.md", "t/a.md", "u/b.md:1 links to it")
    beside = {"u/a.md": "---\ntitle: The third\n---\n\nThree."}
    assert lint(files | beside, "duplicate-name") == (), "the one beside it is meant"
    files["u/b.md"] = "# Boats\n\n## Backlinks\n\n- [[a]]\n"
    assert lint(files, "duplicate-name") == ()


def test_no_text_is_missed_in_a_note_that_another_one_took_the_place_of(lint: Lint) -> None:
    (found,) = lint({"a.md": "# DEPRECATED — replaced by tides.md"}, "empty-note")
    assert found.severity is Severity.INFO


def test_the_notes_of_a_series_may_have_one_name(lint: Lint) -> None:
    weeks = {f"digest-2026-05-{day}.md": note("Text.", "Digest") for day in (10, 17, 24)}
    assert [it.severity for it in lint(weeks, "duplicate-name")] == [Severity.INFO]
    (found,) = lint({**weeks, "digest.md": note("Text.", "Digest")}, "duplicate-name")
    assert found.severity is Severity.INFO
    others = lint({"a.md": note("One.", "x"), "b.md": note("Two.", "x")}, "duplicate-name")
    assert [it.severity for it in others] == [Severity.WARNING, Severity.INFO]


def test_folders_that_are_filled_in_alike_have_files_of_one_name(lint: Lint) -> None:
    parts = ("title", "preface")
    books = {f"{book}/{part}.md": note("x", part) for book in ("ebb", "flood") for part in parts}
    found = lint(books, "duplicate-name")
    assert [it.severity for it in found] == [Severity.INFO] * 2
    link = {"index.md": "See [[title]]."}
    found = lint({**books, **link}, "duplicate-name")
    assert [it.severity for it in found] == [Severity.WARNING, Severity.INFO]


def test_one_file_of_a_name_in_each_of_two_folders_is_no_form(lint: Lint) -> None:
    files = {f"{folder}/tides.md": note("x", "Tides") for folder in ("ebb", "flood")}
    (found,) = lint(files, "duplicate-name")
    assert found.severity is Severity.WARNING


def test_a_folder_with_an_underscore_has_no_pages(lint: Lint) -> None:
    files = {f"{folder}/tides.md": note("x", "Tides") for folder in ("ebb", "_extracts")}
    assert lint(files, "duplicate-name") == ()


def test_numbered_files_may_have_one_name(lint: Lint) -> None:
    numbered = {f"{number}-gauge.md": note("Text.", "Gauge") for number in (1312, 1407, 1533)}
    (found,) = lint(numbered, "duplicate-name")
    assert found.severity is Severity.INFO
    (found,) = lint({"2-gauge-of-the-bay.md": note("Text.", "Gauge")}, "duplicate-name")
    assert found.severity is Severity.WARNING


def test_notes_that_file_and_folder_tell_apart_may_share_a_title(lint: Lint) -> None:
    (found,) = lint({"s/a.md": note("One.", "x"), "t/b.md": note("Two.", "x")}, "duplicate-name")
    assert found.severity is Severity.INFO
    severities = {it.severity for it in lint({"s/c.md": note("Three.", "x")}, "duplicate-name")}
    assert severities == {Severity.WARNING}


@pytest.mark.parametrize("kind", ["project", "user"])
def test_pages_of_two_types_in_two_folders_may_share_their_name(lint: Lint, kind: str) -> None:
    files = {"s/a.md": note("One.", "x"), "t/a.md": note("Two.", "x", type=kind)}
    (found,) = lint(files, "duplicate-name")
    assert found.severity is (Severity.WARNING if kind == "project" else Severity.INFO)


def test_the_memories_of_two_agents_may_share_a_name(lint: Lint) -> None:
    (found,) = lint(
        {f"{agent}/x.md": note("One.", "x") for agent in ("pilot", "cook")}, "duplicate-name"
    )
    assert found.severity is Severity.WARNING
    indexes = {f"{agent}/MEMORY.md": "# Memory\n\n- [X](x.md) — x\n" for agent in ("pilot", "cook")}
    (found,) = lint(indexes, "duplicate-name")
    assert found.severity is Severity.INFO


def test_the_pages_that_a_wiki_links_to_by_the_name_of_their_file_are_listed(lint: Lint) -> None:
    files = {
        "wiki/index.md": "- [[Ebb]]\n- [[gauges]]\n- [[Map]]\n",
        "wiki/_index.md": "- [[Quay.canvas]]\n- [[boards/Tide]]\n- [[.md]]\n",
        # a title without letters that a program kept gave it no name
        "wiki/boards/.md": "The quay.\n",
        "wiki/hot.md": "---\ntitle: Ebb\n---\nText.\n",
        "wiki/concepts/Ebb.md": "Text.\n",
        "wiki/notes/gauges.md": "---\ntitle: All gauges\n---\nText.\n",
        "wiki/output/gauges/gauges.md": "Text.\n",
        "Map.canvas": "{}",
        "wiki/boards/Quay.canvas": "{}",
        "wiki/boards/Tide.base": "",
    }
    found = lint(files, "unindexed-note", "index-missing-file", layout=WIKI)
    # of several files of a name, each may be meant
    assert [(it.rule, it.path) for it in found] == [("unindexed-note", "wiki/hot.md")]


@pytest.mark.parametrize(
    ("kind", "others", "missing", "severity"),
    [
        ("project", 3, 1, Severity.WARNING),
        ("project", 20, 2, Severity.WARNING),
        # too few others, or too many that are missing too
        ("project", 2, 1, Severity.INFO),
        ("project", 10, 2, Severity.INFO),
        ("draft", 20, 1, Severity.INFO),
        ("reference", 10, 2, Severity.WARNING),
    ],
)
def test_a_note_on_work_is_missed_where_nearly_all_others_are_listed(
    lint: Lint, kind: str, others: int, missing: int, severity: Severity
) -> None:
    listed = {f"p{n}.md": note("Berths.", f"p{n}", type="project") for n in range(others)}
    lost = {f"m{n}.md": note("Quays.", f"m{n}", type=kind) for n in range(missing)}
    index = "".join(f"- [{path}]({path})\n" for path in listed)
    found = lint({**listed, **lost, "MEMORY.md": index}, "unindexed-note")
    assert [it.severity for it in found] == [severity] * missing


def test_a_block_around_a_raw_source_was_put_there_on_purpose(lint: Lint) -> None:
    text = "---\ntitle: a\n---\n\n---\ntitle: b\n---\nText.\n"
    found = lint({"raw/a.md": text, "wiki/b.md": text}, "frontmatter-twice", layout=WIKI)
    severities = {it.path: it.severity for it in found}
    assert severities == {"raw/a.md": Severity.INFO, "wiki/b.md": Severity.WARNING}


def test_invalid_yaml_that_no_agent_reads_is_no_error(lint: Lint) -> None:
    text = "---\ntitle: a\nrelated: 'b' and c\n---\nText.\n"
    (found,) = lint({"wiki/a.md": text}, "frontmatter-invalid", layout=WIKI)
    assert found.severity is Severity.WARNING
    of_agent = lint({"b.md": text}, "frontmatter-invalid")
    assert {it.severity for it in of_agent} == {Severity.ERROR}


@pytest.mark.parametrize(
    "value",
    [
        "Tides: heights",
        "[[b]], [[c]]",
        "a: `b` is #1: {c}",
        'say "no": always',
        "@x",
        'Tides: heights\nother: "say \\"no\\""',
    ],
)
def test_invalid_yaml_that_its_agent_reads_with_quotes_is_information(
    lint: Lint, value: str
) -> None:
    text = f"---\nname: a\ndescription: {value}\n---\nText.\n"
    (found,) = lint({"a.md": text}, "frontmatter-invalid")
    assert found.severity is Severity.INFO
    assert found.evidence[1].startswith("Claude Code reads such values")


@pytest.mark.parametrize(
    "head",
    [
        '"Quoted" and more',
        "one line\nthat goes on",
        "x\nmetadata:\n  note: Tides: heights",
        "x\nname: b",
    ],
)
def test_invalid_yaml_that_its_agent_reads_nothing_of_is_an_error(lint: Lint, head: str) -> None:
    found = lint(
        {"a.md": f"---\nname: a\ndescription: {head}\n---\nText.\n"}, "frontmatter-invalid"
    )
    assert {it.severity for it in found} == {Severity.ERROR}


def test_in_a_raw_source_only_what_hides_text_is_a_warning(lint: Lint) -> None:
    files = {
        "raw/a.md": "x\x1b]0;red\n",
        "raw/b.md": "x\u202ey\n",
        "wiki/c.md": "x\x1b]0;red\n",
        "wiki/d.md": "x\x1b[31mred\n",  # a colour harms nobody
        "wiki/e.md": "x\u202cy\n",
        "wiki/f.md": "tides of the qu\x1b[2D\x1b[K\n",  # nor does a copied move
        "wiki/h.md": "tides.md â\x86\x90 of the quay\n",  # of another encoding
        "wiki/g.md": "\u2067שלום\u2069\n",  # in its place
        "wiki/i.md": "by \u2068@pilot\u2069 and \u202aquay\u202c\n",  # from left to right anyway
    }
    found = lint(files, "control-characters", layout=WIKI)
    assert {it.path: it.severity for it in found} == {
        "raw/a.md": Severity.INFO,
        "raw/b.md": Severity.WARNING,
        "wiki/c.md": Severity.WARNING,
        "wiki/d.md": Severity.INFO,
        "wiki/e.md": Severity.INFO,
        "wiki/f.md": Severity.INFO,
        "wiki/h.md": Severity.INFO,
        "wiki/g.md": Severity.INFO,
        "wiki/i.md": Severity.INFO,
    }


def test_link_without_the_kind_of_its_note_is_a_warning_with_that_note(lint: Lint) -> None:
    notes = {
        f"feedback_{name}.md": note("One.", f"feedback_{name}")
        for name in ("buoy_light", "pilot_boat", "tide_gate")
    }
    notes["a.md"] = note("See [[pilot-boat]] and [[harbour-chart]].")
    one, other = lint(notes, "wanted-note")
    assert one.message == (
        "Link to a note that does not exist: pilot-boat. Did you mean feedback_pilot_boat?"
    )
    assert (one.severity, other.severity) == (Severity.WARNING, Severity.INFO)
    assert one.fix is not None
    assert other.fix is None


def test_a_link_into_another_folder_means_no_note_of_its_name(lint: Lint) -> None:
    notes = {"charts/pier.md": note("One.", "pier"), "tides/2026-05-17.md": note("Two.", "day")}
    files = {**notes, "a.md": note("See [[sessions/2026-05-17]] and [[old/charts/piers]].", "a")}
    assert {it.message for it in lint(files, "wanted-note")} == {
        "Link to a note that does not exist: sessions/2026-05-17.",
        "Link to a note that does not exist: old/charts/piers. Did you mean pier?",
    }


def test_a_link_into_a_folder_that_is_gone_means_the_note_of_its_name(lint: Lint) -> None:
    notes = {"charts/harbour-lights.md": note("One.", "lights"), "tides/pier.md": note("Two.", "p")}
    text = "See [[maps/harbour-lights]], [[maps/harbour-light-list]] and [[tides/harbour-lights]]."
    found = lint({**notes, "a.md": note(text, "a")}, "wanted-note")
    assert {(it.message, it.severity) for it in found} == {
        (
            "Link to a note that does not exist: maps/harbour-lights. Did you mean harbour-lights?",
            Severity.WARNING,
        ),
        ("Link to a note that does not exist: maps/harbour-light-list.", Severity.INFO),
        ("Link to a note that does not exist: tides/harbour-lights.", Severity.INFO),
    }


def test_a_link_means_neither_its_own_note_nor_one_with_a_longer_name(lint: Lint) -> None:
    files = {
        "feedback_pilots.md": note("See [[feedback_pilot]] and [[harbour-lights]].", "pilots"),
        "harbour-lights-on.md": note("One.", "harbour-lights-on"),
    }
    found = lint(files, "wanted-note")
    assert all(it.severity is Severity.INFO and "Did you mean" not in it.message for it in found)
    assert len(found) == 2


def test_link_with_the_title_of_an_entry_means_its_note(lint: Lint) -> None:
    files = {
        "MEMORY.md": "- [Tables for Ana](letters.md) — how she reads them\n",
        "letters.md": note("One.", "letters"),
        "a.md": note("See [[tables-for-ana]].", "a"),
    }
    (found,) = lint(files, "wanted-note")
    assert found.message.endswith("tables-for-ana. Did you mean letters?")
    assert found.fix is not None


@pytest.mark.parametrize(
    ("field", "is_cut"),
    [
        ("description: Issue #12 stops the gauge", True),
        ("description: The gauge stops, see issue #12", False),
        ("description: The gauge stops (#12, #15).", False),
        ("description: The gauge stops, see #12 and #15", False),
        ("description: gauge #stopped in May", False),
        ("description: Buoys of the bay — PR #12 merged", True),
        ('description: "Buoys of the bay — PR #12 merged"', False),
        ("description: Buoys of the bay # which is ours", False),
        ("description: Buoys of the bay # which is ours, see #12 of May", False),
        ("description: Buoys of the bay, PR#12", False),
        ('description: ["Buoys of the bay", "Minutes of meeting #12 in May"]', False),
        ("description: {bay: 'Minutes of meeting #12 in May'}", False),
    ],
)
def test_text_that_yaml_cuts_off_is_reported(lint: Lint, field: str, is_cut: bool) -> None:
    text = f"---\nname: a\n{field}\ntype: user\n---\n\nText.\n"
    found = lint({"a.md": text}, "frontmatter-invalid")
    assert [it.message for it in found] == [
        "YAML ends the description at “ #”: put it in quotes."
    ] * is_cut


def test_a_cut_text_matters_in_the_fields_that_choose_notes(lint: Lint) -> None:
    text = "---\nname: a\nKEY: Issue #12 stops the gauge\ntype: user\n---\n\nText.\n"
    files = {f"{key}.md": text.replace("KEY", key) for key in ("description", "title", "weather")}
    found = lint(files, "frontmatter-invalid")
    assert {it.path for it in found if it.severity is Severity.INFO} == {"weather.md"}
    assert {it.path for it in found if it.severity is Severity.WARNING} == {
        "description.md",
        "title.md",
    }


@pytest.mark.parametrize(
    "head", ["title: a: b", "description: Issue #12 stops: it", "description: Issue #12 stops it"]
)
def test_nobody_edits_the_frontmatter_of_a_raw_source(lint: Lint, head: str) -> None:
    text = f"---\n{head}\n---\n\nText.\n"
    files = {"raw/quay.md": text, "wiki/quay.md": text}
    found = {it.path: it.severity for it in lint(files, "frontmatter-invalid", layout=WIKI)}
    assert found == {"raw/quay.md": Severity.INFO, "wiki/quay.md": Severity.WARNING}


def test_of_a_long_line_that_is_not_valid_only_the_beginning_is_shown(lint: Lint) -> None:
    (found,) = lint({"a.md": f"---\nname: a: {'b' * 9_000}\n---\n\nText.\n"}, "frontmatter-invalid")
    assert found.evidence[0] == f"name: a: {'b' * 191}"


@pytest.mark.parametrize(
    ("above", "severity"),
    [
        ("", Severity.WARNING),
        ("> Auto-generated by tides.sh\n\n", Severity.INFO),
        ("---\nexcalidraw-plugin: parsed\n---\n\n", Severity.INFO),
    ],
)
def test_what_a_program_writes_need_not_be_in_an_index(
    lint: Lint, above: str, severity: Severity
) -> None:
    files = {"MEMORY.md": "- [Ebb](ebb.md) — low\n", "ebb.md": "x", "flood.md": f"{above}Text.\n"}
    (found,) = lint(files, "unindexed-note")
    assert found.severity is severity
    listed = {"MEMORY.md": "- [Ebb](ebb.md) — low\n", "ebb.md": "> Auto-generated by tides.sh\n\nx"}
    (found,) = lint({**files, **listed}, "unindexed-note")
    assert found.severity is Severity.WARNING


def test_link_to_a_note_that_no_name_is_like_is_information(lint: Lint) -> None:
    names = [f"pier_{'abcdefghijklmnopqr'[number] * 9}" for number in range(18)]
    notes = {f"{name}.md": note("Text.", name) for name in names}
    notes["a.md"] = note(" ".join(f"[[{name}]]" for name in names) + "\n\nSee [[chart]].", "a")
    (found,) = lint(notes, "wanted-note")
    assert (found.severity, found.path, found.line) == (Severity.INFO, "a.md", 9)


@pytest.mark.parametrize(
    ("path", "kind", "line"),
    [
        ("b.md", "project", "> See [[harbour-chert]]."),
        ("b.md", "session", "See [[harbour-chert]]."),
        ("quay-2026-05-01.md", "project", "See [[harbour-chert]]."),
    ],
)
def test_what_is_quoted_or_told_of_a_session_may_link_to_no_note(
    lint: Lint, path: str, kind: str, line: str
) -> None:
    notes = {"harbour_chart.md": note("Text.", "harbour_chart")}
    (found,) = lint(notes | {path: note(line, "b", type=kind)}, "wanted-note")
    assert found.severity is Severity.INFO
    (found,) = lint(notes | {path: "", "c.md": note("See [[harbour-chert]].", "c")}, "wanted-note")
    assert found.severity is Severity.WARNING
