from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.link_text import retarget_link
from ricordo.memory.links import find_links
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from tests.support.builders import note_text, open_memory

WIKI = Layout(
    "wiki", "", frozenset(("index.md",)), has_nested_indexes=True, title_keys=("title", "name")
)


def leads(memory: Memory, written: str, source: str = "MEMORY.md") -> tuple[TargetKind, str]:
    found = memory.resolve(memory.by_path[source], find_links(written)[0])
    return found.target_kind, found.path


@pytest.fixture
def memory(root: Path) -> Memory:
    return open_memory(
        root,
        {
            "MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n- [[deploy-steps]]\n",
            "tides.md": note_text("tides", "See [[deploy_steps]] and [up](sub/up.md).\n"),
            "deploy_steps.md": note_text("deploy-steps"),
            "sub/up.md": note_text("up", "[back](../tides.md) [root](tides.md) [[tides]]\n"),
            "sub/tides.md": note_text("other"),
            "chart.png": b"\x89PNG",
        },
    )


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("[[tides]]", "tides.md"),
        ("[[tides.md]]", "tides.md"),
        ("[[deploy-steps]]", "deploy_steps.md"),
        ("[[deploy_steps]]", "deploy_steps.md"),
        ("[[Deploy Steps]]", "deploy_steps.md"),
        ("[[sub/up]]", "sub/up.md"),
        ("[[tides#Spring|x]]", "tides.md"),
        ("[x](tides.md#spring)", "tides.md"),
        ("[x](./sub/../tides.md)", "tides.md"),
        ("[x](sub/up.md)", "sub/up.md"),
    ],
)
def test_a_link_resolves_to_its_note(memory: Memory, written: str, path: str) -> None:
    assert leads(memory, written) == (TargetKind.NOTE, path)


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ("[[nothing]]", TargetKind.MISSING),
        ("[[Flow: no/thing]]", TargetKind.MISSING),
        ("[x](nothing.md)", TargetKind.MISSING),
        ("[x](chart.png)", TargetKind.FILE),
        ("[x](sub)", TargetKind.FILE),
        ("[x](https://example.org/tides.md)", TargetKind.EXTERNAL),
        ("[x](#heading)", TargetKind.EXTERNAL),
        ("[x](../outside.md)", TargetKind.OUTSIDE),
        ("[[../outside]]", TargetKind.OUTSIDE),
        ("[x](/etc/note.md)", TargetKind.OUTSIDE),
        ("[x](~/note.md)", TargetKind.OUTSIDE),
        ("[x](file:///etc/note.md)", TargetKind.OUTSIDE),
        ("[x](%2e%2e/outside.md)", TargetKind.OUTSIDE),
        ("[x](%252e%252e/outside.md)", TargetKind.MISSING),
        ("[x](..\\outside.md)", TargetKind.MISSING),
    ],
)
def test_a_link_to_no_note_has_a_target_path(
    memory: Memory, written: str, where: TargetKind
) -> None:
    assert leads(memory, written)[0] is where


def test_a_path_counts_from_the_file_it_is_in_and_then_from_the_memory(memory: Memory) -> None:
    assert leads(memory, "[x](../tides.md)", "sub/up.md") == (TargetKind.NOTE, "tides.md")
    assert leads(memory, "[x](tides.md)", "sub/up.md") == (TargetKind.NOTE, "sub/tides.md")
    assert leads(memory, "[x](deploy_steps.md)", "sub/up.md") == (
        TargetKind.NOTE,
        "deploy_steps.md",
    )


def test_an_exact_name_goes_before_a_stem(memory: Memory) -> None:
    assert leads(memory, "[[other]]") == (TargetKind.NOTE, "sub/tides.md")
    assert leads(memory, "[[tides]]", "sub/up.md") == (TargetKind.NOTE, "tides.md")


def test_a_blank_at_the_end_of_a_file_name_is_no_part_of_a_link(root: Path) -> None:
    memory = open_memory(root, {"Low water (1) .md": "One.", "a.md": "See [[Low water (1)]]."})
    (found,) = memory.links["a.md"]
    assert found.path == "Low water (1) .md"


def test_of_notes_of_one_name_the_one_in_the_same_folder_is_meant(root: Path) -> None:
    files = {"a/x.md": "", "b/x.md": "", "b/y.md": "[[x]]", "MEMORY.md": ""}
    memory = open_memory(root, files)
    assert leads(memory, "[[x]]", "b/y.md") == (TargetKind.NOTE, "b/x.md")
    assert leads(memory, "[[x]]") == (TargetKind.NOTE, "a/x.md")


def test_the_last_folders_of_a_path_are_enough_for_a_wikilink(root: Path) -> None:
    files = {"wiki/crops/index.md": "", "wiki/crops/rye.md": "", "wiki/trades/rye.md": ""}
    memory = open_memory(root, files, WIKI)
    assert leads(memory, "[[crops/rye]]", "wiki/crops/index.md") == (
        TargetKind.NOTE,
        "wiki/crops/rye.md",
    )
    assert leads(memory, "[[ops/rye]]", "wiki/crops/index.md")[0] is TargetKind.MISSING


def test_of_a_file_and_a_title_a_link_in_a_wiki_means_the_file(root: Path) -> None:
    files = {"index.md": "", "hot.md": "---\ntitle: Rye\n---\n", "crops/Rye.md": ""}
    assert leads(open_memory(root, files, WIKI), "[[Rye]]", "index.md") == (
        TargetKind.NOTE,
        "crops/Rye.md",
    )


def test_a_link_in_another_unicode_form_finds_its_note(root: Path) -> None:
    memory = open_memory(root, {"MEMORY.md": "", "cafe\u0301.md": note_text("Café")})
    assert leads(memory, "[x](caf\u00e9.md)") == (TargetKind.NOTE, "cafe\u0301.md")
    assert leads(memory, "[[caf\u00e9]]") == (TargetKind.NOTE, "cafe\u0301.md")


def test_backlinks_name_every_file_that_links_to_a_note_once_and_never_itself(root: Path) -> None:
    memory = open_memory(
        root,
        {"MEMORY.md": "[[a]] [A](a.md)\n", "a.md": "[[a]] [[b]]\n", "b.md": "[[a]]\n"},
    )
    assert {path: sorted(found) for path, found in memory.backlinks.items()} == {
        "a.md": ["MEMORY.md", "b.md"],
        "b.md": ["a.md"],
    }


@pytest.mark.parametrize(
    "written", ["[tides]", "[tides.md]", '["[[tides]]"]', '["[[tides|The tides]]"]', "[[tides#s]]"]
)
def test_a_source_named_in_frontmatter_links_to_its_note(root: Path, written: str) -> None:
    head = f"---\ntitle: x\nsources: {written}\n---\n"
    memory = open_memory(root, {"index.md": "", "tides.md": "", "x.md": head}, WIKI)
    assert memory.backlinks["tides.md"] == ("x.md",)


def test_a_source_between_quotes_may_have_quotes_in_its_name(root: Path) -> None:
    head = '---\nsources:\n  - "[[the \\"low\\" tide]]"\n---\n\nSee [[a \\"b\\"]].\n'
    files = {"index.md": "", 'the "low" tide.md': "", 'a "b".md': "", "x.md": head}
    memory = open_memory(root, files, WIKI)
    assert memory.backlinks == {'the "low" tide.md': ("x.md",)}


def test_a_link_between_quotes_is_written_between_quotes(root: Path) -> None:
    head = '---\nsources:\n  - "[[the \\"low\\" tide]]"\n---\n'
    files = {"index.md": "", 'the "low" tide.md': "", "x.md": head, "y.md": ""}
    memory = open_memory(root, files, WIKI)
    link = memory.by_path["x.md"].links[0]
    old = head[link.start : link.end]
    assert retarget_link(link, old, "x.md", "y.md", memory) == "[[y]]"
    renamed = open_memory(root, {**files, 'a/the "high" tide.md': ""}, WIKI)
    to = 'a/the "high" tide.md'
    assert retarget_link(link, old, "x.md", to, renamed) == '[[the \\"high\\" tide]]'


def test_quotes_in_the_label_of_a_link_between_quotes_stay_as_they_are(root: Path) -> None:
    head = '---\nsources:\n  - "[[the \\"low\\" tide|\\"low\\"]]"\n---\n'
    memory = open_memory(root, {"index.md": "", "x.md": head, "y.md": ""}, WIKI)
    link = memory.by_path["x.md"].links[0]
    new = retarget_link(link, head[link.start : link.end], "x.md", "y.md", memory)
    assert new == '[[y|\\"low\\"]]'


def test_entries_are_kept_by_the_note_they_point_to(memory: Memory) -> None:
    assert {path: len(found) for path, found in memory.entries.items()} == {
        "tides.md": 1,
        "deploy_steps.md": 1,
    }


def test_an_alias_names_a_note(root: Path) -> None:
    memory = open_memory(root, {"MEMORY.md": "", "a.md": "---\naliases: [Syzygy tide]\n---\n"})
    assert leads(memory, "[[syzygy-tide]]") == (TargetKind.NOTE, "a.md")


def test_the_index_is_no_note_and_is_loaded(memory: Memory) -> None:
    assert memory.index is not None
    assert memory.by_path["MEMORY.md"].role is FileRole.INDEX
    assert "MEMORY.md" not in {note.path for note in memory.notes}
    assert memory.load.lines == 4


def test_a_memory_without_an_index_loads_nothing(root: Path) -> None:
    memory = open_memory(root, {"a.md": note_text()})
    assert (memory.index, memory.load.text, memory.load.cut_at_line) == (None, "", None)
    assert memory.layout == AUTO_MEMORY
