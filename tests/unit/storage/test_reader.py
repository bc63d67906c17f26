from __future__ import annotations

import gc
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY, LIMITS
from ricordo.errors import MemoryNotFound
from ricordo.memory.index import compute_load
from ricordo.memory.note import BOM, Note, ReadError
from ricordo.storage.reader import MAX_DEPTH, SETTLING_NS, list_memory, list_names, read_memory
from tests.support.builders import SHARED, note_of, note_text, open_memory, write_memory

PIECES = st.sampled_from(
    [b"---\n", b"---\r\n", b"name: x\n", b"a: b: c\n", BOM, b"[[a]]", b"[a](b.md)", b"`", b"\0",
     b"<!--", b"-->", b"\xff", b"\xe2\x82", b"\r\n", b"\n", b"\xc2\x85", b"# T\n", b"- "]
)  # fmt: skip
RAW = st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=14).map(b"".join))


def rejoined(note: Note) -> bytes:
    mark = BOM if note.raw.startswith(BOM) else b""
    head = note.text[: note.frontmatter.end]
    return mark + (head + note.body).encode("utf-8")


@given(RAW)
def test_any_bytes_make_a_note_that_keeps_them(raw: bytes) -> None:
    note = note_of(raw)
    assert note.raw == raw
    if note.is_readable:
        assert rejoined(note) == raw
    for link in note.links:
        assert 0 <= link.start < link.end <= len(note.text)


@given(RAW)
def test_any_bytes_make_an_index_that_can_be_loaded(raw: bytes) -> None:
    note = note_of(raw, "MEMORY.md")
    assert note.raw == raw
    compute_load(note.text, LIMITS)


def test_a_memory_read_from_disk_is_ordered_by_path_and_keeps_every_byte(root: Path) -> None:
    files = {
        "MEMORY.md": "- [B](b.md)\r\n",
        "b.md": note_text("b"),
        "a/z.MD": b"\xef\xbb\xbf---\nname: z\n---\n",
        "picture.png": b"\x89PNG",
    }
    memory = open_memory(root, files)
    assert [file.path for file in memory.files] == ["MEMORY.md", "a/z.MD", "b.md"]
    assert all(file.raw == (root / file.path).read_bytes() for file in memory.files)
    assert memory.others == {"picture.png", "a"}
    assert memory.by_path["a/z.MD"].name == "z"


def test_a_listed_memory_knows_what_is_there_and_has_read_its_index_alone(root: Path) -> None:
    files = {"MEMORY.md": "- [B](b.md)\n- [Gone](c.md)\n", "b.md": note_text("b"), "a/z.md": ""}
    whole = open_memory(root, {**files, "picture.png": b"\x89PNG"})
    listed = list_memory(str(root), AUTO_MEMORY)
    assert [file.path for file in listed.files] == [file.path for file in whole.files]
    assert [file.role for file in listed.files] == [file.role for file in whole.files]
    assert (listed.others, listed.load) == (whole.others, whole.load)
    assert listed.links["MEMORY.md"] == whole.links["MEMORY.md"]
    assert {file.path: file.read_error for file in listed.files} == {
        "MEMORY.md": ReadError.NONE,
        "a/z.md": ReadError.PENDING,
        "b.md": ReadError.PENDING,
    }
    assert not any(file.raw for file in listed.notes)
    again = read_memory(str(root), AUTO_MEMORY, listed)
    assert [file.raw for file in again.files] == [file.raw for file in whole.files]
    assert all(file.is_readable for file in again.files)


def test_what_cannot_be_read_cannot_be_listed(root: Path) -> None:
    with pytest.raises(MemoryNotFound):
        list_memory(str(root / "gone"), AUTO_MEMORY)


def test_hidden_files_editor_leftovers_and_package_folders_are_not_read(root: Path) -> None:
    backups = ["a.md~", "#a.md#", "a.md.backup.2026-05-01T06-10.md", "a.md.bak.md"]
    names = [".hidden.md", *backups, ".git/x.md", "node_modules/x.md", "a.md", "a.md.sources.md"]
    memory = open_memory(root, dict.fromkeys(names, "x"))
    assert [file.path for file in memory.files] == ["a.md", "a.md.sources.md"]
    assert "node_modules" in memory.others


@pytest.mark.parametrize("make", ["nothing", "file", "dangling"])
def test_a_memory_that_is_no_directory_is_not_found(tmp_path: Path, make: str) -> None:
    root = tmp_path / "memory"
    if make == "file":
        root.write_text("x")
    if make == "dangling":
        root.symlink_to(tmp_path / "gone")
    with pytest.raises(MemoryNotFound, match="No memory directory"):
        read_memory(str(root), AUTO_MEMORY)


def test_a_root_that_is_a_symbolic_link_is_read_at_its_target(root: Path, tmp_path: Path) -> None:
    write_memory(root, {"a.md": "x"})
    (tmp_path / "link").symlink_to(root)
    memory = read_memory(str(tmp_path / "link"), AUTO_MEMORY)
    assert memory.root == str(root.resolve())
    assert [file.path for file in memory.files] == ["a.md"]


def test_folders_deeper_than_the_limit_are_named_and_not_read(root: Path) -> None:
    deep = "/".join(["d"] * (MAX_DEPTH + 1))
    memory = open_memory(root, {f"{deep}/a.md": "x", f"{deep[:-2]}/b.md": "x"})
    assert [file.path for file in memory.files] == [f"{deep[:-2]}/b.md"]
    assert [(skipped.path, skipped.is_outside_link) for skipped in memory.skipped] == [
        (deep, False)
    ]


def settle(memory_root: Path) -> None:
    """Wait, without sleeping, until no file's last change is recent any more."""
    while True:
        memory = read_memory(str(memory_root), AUTO_MEMORY)
        if all(file.facts.is_settled for file in memory.files):
            return


def test_untouched_notes_are_taken_from_the_reading_before(root: Path) -> None:
    write_memory(root, {"a.md": "a", "b.md": "b"})
    settle(root)
    before = read_memory(str(root), AUTO_MEMORY)
    (root / "b.md").write_text("c")
    after = read_memory(str(root), AUTO_MEMORY, before)
    assert after.by_path["a.md"] is before.by_path["a.md"]
    assert after.by_path["b.md"].text == "c"


def test_a_note_that_changed_just_before_it_was_read_is_read_again_whatever_its_stamps_say(
    root: Path,
) -> None:
    before = open_memory(root, {"a.md": "one"})
    (root / "a.md").write_text("two")
    facts = read_memory(str(root), AUTO_MEMORY).by_path["a.md"].facts
    for settled, text in ((False, "two"), (True, "one")):
        hidden = replace(before.files[0], facts=facts._replace(is_settled=settled))
        after = read_memory(str(root), AUTO_MEMORY, replace(before, files=(hidden,)))
        assert after.by_path["a.md"].text == text


def test_a_file_written_a_moment_ago_is_not_settled_yet(root: Path) -> None:
    fresh = open_memory(root, {"a.md": "one"}).files[0].facts
    assert not fresh.is_settled or time.time_ns() - fresh.changed_ns > SETTLING_NS


def test_a_note_that_was_touched_and_not_changed_keeps_its_parts_and_has_new_facts(
    root: Path,
) -> None:
    before = open_memory(root, {"a.md": note_text()})
    os.utime(root / "a.md", (1, 1))
    after = read_memory(str(root), AUTO_MEMORY, before)
    assert after.by_path["a.md"].frontmatter is before.by_path["a.md"].frontmatter
    assert after.by_path["a.md"].facts.modified == 1


def test_a_note_that_vanished_and_one_that_came_are_seen(root: Path) -> None:
    before = open_memory(root, {"a.md": "a", "b.md": "b"})
    (root / "a.md").rename(root / "c.md")
    after = read_memory(str(root), AUTO_MEMORY, before)
    assert [file.path for file in after.files] == ["b.md", "c.md"]


def test_reading_leaves_garbage_collection_as_it_was(root: Path) -> None:
    assert gc.isenabled()
    open_memory(root, {"a.md": "a"})
    assert gc.isenabled()


def test_reading_leaves_no_descriptor_open(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    open_memory(root, {"a/b/c.md": "x", "a.md": b"\xff"})
    handles = len(os.listdir("/dev/fd"))
    open_memory(root)
    assert len(os.listdir("/dev/fd")) == handles


def test_the_names_of_a_directory_are_listed_folders_with_a_slash(root: Path) -> None:
    write_memory(root, {"a.md": "x", "sub/b.md": "x"})
    assert list_names(str(root)) == {"a.md", "sub/"}
    assert list_names(str(root / "gone")) == frozenset()


@pytest.mark.parametrize(
    "folder", ["data/memory", "data/wiki", "data/transcripts", "data/revisions", "formats/samples"]
)
def test_every_markdown_file_of_the_real_memories_becomes_a_note_with_its_bytes(
    folder: str,
) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip(f"no {folder} beside the repository")
    _check_every_directory(SHARED / folder)


def _check_every_directory(top: Path) -> None:
    """Read each folder under `top` by itself, for hidden ones are left out of their parents."""
    for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]:
        memory = read_memory(str(folder), AUTO_MEMORY)
        found = {path.name for path in folder.iterdir() if path.suffix.lower() == ".md"}
        direct = [file for file in memory.files if "/" not in file.path]
        assert {file.path for file in direct} == {name for name in found if name[0] != "."}
        for file in direct:
            assert file.raw == (folder / file.path).read_bytes()
            assert file.read_error is ReadError.NONE
            assert rejoined(file) == file.raw
        assert memory.links is not None
        assert memory.load.units >= 0
