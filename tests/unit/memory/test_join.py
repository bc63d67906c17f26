"""Joining two memories: no text is lost, every link keeps its target, and undo is possible."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.codex.support import MEMORIES
from ricordo.errors import ChangeRefused
from ricordo.memory.draft import apply_edits
from ricordo.memory.join import join_memories
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.storage.reader import read_memory
from tests.support.builders import note_text, open_memory

NAMES = ("ana", "boat", "cache", "deploy")
Notes = dict[str, tuple[frozenset[str], bool, bool]]
"""By name: the notes that a note links to, whether as a path, and whether the index lists it."""

notes = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(st.frozensets(st.sampled_from(NAMES), max_size=3), st.booleans(), st.booleans()),
)


def built(root: Path, whose: str, planned: Notes) -> Memory:
    files: dict[str, str | bytes] = {}
    lines = ["# Memory\n", "\n"]
    for name, (links, as_path, is_listed) in planned.items():
        targets = sorted(links & planned.keys())
        texts = [f"[{it}]({it}.md)" if as_path else f"[[{it}]]" for it in targets]
        body = f"This is {name} of {whose}.\n\n{' and '.join(texts)}\n"
        files[f"{name}.md"] = note_text(name, body, f"About {name}")
        lines += [f"- [{name}]({name}.md) — {name} of {whose}\n"] if is_listed else []
    return open_memory(root, {"MEMORY.md": "".join(lines), **files})


def identities(memory: Memory) -> dict[str, str]:
    """Return which note of which memory is at each path."""
    return {note.path: note.body.strip().partition(".")[0] for note in memory.notes}


def links_of(memory: Memory) -> set[tuple[str, str]]:
    """Return the links between notes, as what the notes are."""
    names = identities(memory)
    return {
        (names[note.path], names[link.path])
        for note in memory.notes
        for link in memory.links.get(note.path, ())
        if link.target_kind is TargetKind.NOTE and link.path in names
    }


def listed(memory: Memory) -> set[str]:
    names = identities(memory)
    return {names[path] for path in memory.entries if path in names}


@given(notes, notes, st.frozensets(st.sampled_from(NAMES)))
def test_no_text_is_lost_and_every_link_keeps_its_target(
    ours: Notes, theirs: Notes, newer: frozenset[str]
):
    with tempfile.TemporaryDirectory() as folder:
        source = built(Path(folder) / "a", "ours", ours)
        built(Path(folder) / "b", "theirs", theirs)
        for name in theirs:
            os.utime(Path(folder) / f"b/{name}.md", (1, 1) if name in newer else None)
        target = read_memory(str(Path(folder) / "b"), source.layout)
        if not ours:
            return
        joined = join_memories(source, target, "From ours", "joined")
        after = apply_edits(target, [it for it in joined.edits if it.root == target.root])
        left = apply_edits(source, [it for it in joined.edits if it.root == source.root])
    assert left.files == ()
    both = [*identities(source).values(), *identities(target).values()]
    assert sorted(identities(after).values()) == sorted(both)
    assert links_of(after) == links_of(source) | links_of(target)
    assert listed(after) == listed(source) | listed(target)
    for name in ours.keys() & theirs.keys():
        whose = "ours" if name in newer else "theirs"
        assert identities(after)[f"{name}.md"] == f"This is {name} of {whose}"


@given(notes, notes, st.frozensets(st.sampled_from(NAMES), min_size=1))
def test_some_notes_move_and_the_others_stay(ours: Notes, theirs: Notes, chosen: frozenset[str]):
    with tempfile.TemporaryDirectory() as folder:
        source = built(Path(folder) / "a", "ours", ours)
        target = built(Path(folder) / "b", "theirs", theirs)
        only = {f"{name}.md" for name in chosen & ours.keys()}
        if not only:
            return
        joined = join_memories(source, target, "From ours", "moved", only)
        after = apply_edits(target, [it for it in joined.edits if it.root == target.root])
        left = apply_edits(source, [it for it in joined.edits if it.root == source.root])
    names = identities(source)
    moved = {names[path] for path in only}
    assert set(identities(after).values()) == moved | set(identities(target).values())
    assert set(identities(left).values()) == set(names.values()) - moved
    kept = {(one, other) for one, other in links_of(source) if (one in moved) is (other in moved)}
    assert links_of(after) | links_of(left) == kept | links_of(target)
    assert listed(left) == listed(source) - moved
    assert listed(after) == (listed(source) & moved) | listed(target)


def test_a_memory_that_its_agent_rewrites_is_refused(tmp_path: Path):
    source = open_memory(tmp_path / "a", {"a.md": note_text("a")})
    target = open_memory(tmp_path / "b", {"memory_summary.md": "v1\n"}, MEMORIES)
    with pytest.raises(ChangeRefused, match="rewrites"):
        join_memories(source, target, "From a", "joined")


def test_files_that_are_no_notes_stay_and_are_named(tmp_path: Path):
    files = {"MEMORY.md": "- [a](a.md)\n", "a.md": note_text("a"), "README.md": "x\n", "b.png": "x"}
    source = open_memory(tmp_path / "a", files)
    target = open_memory(tmp_path / "b", {"z.md": note_text("z")})
    joined = join_memories(source, target, "From a", "joined")
    assert any("README.md" in warning and "b.png" in warning for warning in joined.warnings)
    assert {edit.path for edit in joined.edits if edit.root == source.root} == {
        "a.md",
        "MEMORY.md",
    }


def test_an_index_that_becomes_too_long_is_told(tmp_path: Path):
    lines = "".join(f"- line {number}\n" for number in range(150))
    source = open_memory(tmp_path / "a", {"MEMORY.md": f"{lines}- [a](a.md)\n", "a.md": "A.\n"})
    target = open_memory(tmp_path / "b", {"MEMORY.md": lines})
    joined = join_memories(source, target, "From a", "joined")
    assert any(warning.startswith("Index too long") for warning in joined.warnings)


def dated(name: str, body: str, modified: str) -> str:
    return f"---\nname: {name}\nmodified: {modified}\n---\n\n{body}\n"


@pytest.mark.parametrize(("ours", "theirs"), [("2026-06-02T09:00:00Z", "2026-06-01"), ("", "")])
def test_of_two_notes_of_one_name_the_newer_keeps_it(tmp_path: Path, ours: str, theirs: str):
    """Without dates the files decide."""
    notes = (("a", ours, "Ours."), ("b", theirs, "Theirs."))
    source, target = (
        open_memory(
            tmp_path / root,
            {
                "MEMORY.md": "- [Tide](tide.md) — about it\n- [Pier](pier.md) — near it\n",
                "tide.md": dated("tide", body, modified) if modified else f"{body}\n",
                "pier.md": f"{body} See [[tide]].\n",
            },
        )
        for root, modified, body in notes
    )
    if not ours:
        for path in (tmp_path / "b").iterdir():
            os.utime(path, (1, 1))
        target = read_memory(target.root, target.layout)
    joined = join_memories(source, target, "From a", "joined")
    after = apply_edits(target, [it for it in joined.edits if it.root == target.root])
    texts = {path: note.body for path, note in after.by_path.items()}
    assert "Ours." in texts["tide.md"]
    assert "Theirs." in texts["tide-2.md"]
    theirs_pier = next(text for text in texts.values() if "Theirs. See" in text)
    assert "[[tide-2]]" in theirs_pier
    assert any(
        "the one that moves is newer" in it and it.endswith("The other becomes tide-2.md.")
        for it in joined.warnings
    )


def test_notes_of_a_part_do_not_replace_those_of_the_whole(tmp_path: Path):
    source = open_memory(tmp_path / "a", {"tide.md": dated("tide", "Of a part.", "2026-06-02")})
    target = open_memory(tmp_path / "b", {"tide.md": dated("tide", "Of all.", "2026-06-01")})
    joined = join_memories(source, target, "From a", "joined", keeps_names=True)
    after = apply_edits(target, [it for it in joined.edits if it.root == target.root])
    assert "Of all." in after.by_path["tide.md"].body
    assert "Of a part." in after.by_path["tide-2.md"].body
    assert any(it.endswith("The one that moves becomes tide-2.md.") for it in joined.warnings)


def test_notes_that_differ_in_frontmatter_alone_are_one(tmp_path: Path):
    more = "---\nname: tide\ntype: project\nmodified: 2026-06-01\n---\n\nAt six.\n"
    less = "---\nname: When it is high\ntype: user\n---\n\nAt six.\n"
    source = open_memory(tmp_path / "a", {"MEMORY.md": "- [Tide](tide.md)\n", "tide.md": less})
    target = open_memory(tmp_path / "b", {"MEMORY.md": "- [Tide](tide.md)\n", "tide.md": more})
    joined = join_memories(source, target, "From a", "joined")
    assert {(edit.root, edit.path) for edit in joined.edits} == {
        (source.root, "tide.md"),
        (source.root, "MEMORY.md"),
    }
    assert any("same text in both" in warning for warning in joined.warnings)
    # what only the other one says would be lost
    back = join_memories(target, source, "From b", "joined")
    after = apply_edits(source, [it for it in back.edits if it.root == source.root])
    assert {note.path for note in after.notes} == {"tide.md", "tide-2.md"}


def test_sections_of_one_heading_become_one(tmp_path: Path):
    ours = "# Ours\n\n- [Boat](boat.md)\n\n## Rules\n\n- [Tide](tide.md)\n\n## Old\n"
    ours += "- [Pier](pier.md)\n"
    theirs = "# Theirs\r\n\r\n## Rules\r\n- [Ferry](ferry.md)\r\n\r\n## Rest\r\n- [Sea](sea.md)\r\n"
    notes = {f"{name}.md": f"About {name}.\n" for name in ("boat", "tide", "pier")}
    source = open_memory(tmp_path / "a", {"MEMORY.md": ours, **notes})
    others = {f"{name}.md": f"About {name}.\n" for name in ("ferry", "sea")}
    same = {"pier.md": "About pier.\n"}
    target = open_memory(
        tmp_path / "b", {"MEMORY.md": f"- [Pier](pier.md)\r\n{theirs}", **others, **same}
    )
    joined = join_memories(source, target, "From a", "joined")
    after = apply_edits(target, [it for it in joined.edits if it.root == target.root])
    assert after.index is not None
    assert after.index.note.text == (
        "- [Pier](pier.md)\r\n# Theirs\r\n\r\n## Rules\r\n- [Ferry](ferry.md)\r\n"
        "- [Tide](tide.md)\r\n"
        "\r\n## Rest\r\n- [Sea](sea.md)\r\n\r\n## From a\r\n\r\n- [Boat](boat.md)\r\n"
    )


def test_a_heading_whose_notes_moved_goes_with_them(tmp_path: Path):
    index = "- [Soup](soup.md)\n\n## Harbour\n- [Pier](pier.md)\n- [Boat](boat.md)\n"
    notes = {f"{name}.md": f"About {name}.\n" for name in ("soup", "pier", "boat")}
    source = open_memory(tmp_path / "a", {"MEMORY.md": index, **notes})
    target = open_memory(tmp_path / "b", {"MEMORY.md": "", "sea.md": "About it.\n"})
    joined = join_memories(source, target, "From a", "moved", {"pier.md", "boat.md"})
    after = apply_edits(source, [it for it in joined.edits if it.root == source.root])
    assert after.index is not None
    assert after.index.note.text == "- [Soup](soup.md)\n"
