"""Every kind of bad file that a memory can hold, as a real file: what is listed, shown, skipped."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.frontmatter.parser import flatten
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import MAX_NOTE_BYTES, PREVIEW_BYTES, Note, ReadError
from ricordo.storage.reader import read_memory
from ricordo.text import make_encodable, make_one_line, make_visible
from tests.support.builders import note_text, open_memory, write_memory

pytestmark = pytest.mark.faults


def read_one(root: Path, content: bytes | str, name: str = "bad.md") -> Note:
    """Return the note that stands in a memory beside a good one, which must be read too."""
    memory = open_memory(root, {"good.md": note_text("good"), name: content})
    assert memory.by_path["good.md"].name == "good"
    note = memory.by_path[name]
    assert (root / name).read_bytes().startswith(note.raw)
    return note


def skipped(memory: Memory) -> dict[str, str]:
    return {item.path: item.reason for item in memory.skipped}


# What stands in the file


@pytest.mark.parametrize("content", ["", " \n\t\n  "], ids=["empty", "white space only"])
def test_an_empty_note_is_listed_by_its_stem(root: Path, content: str) -> None:
    note = read_one(root, content)
    assert (note.name, note.body, note.is_readable) == ("bad", content, True)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), bytes(5000)]
)
def test_a_binary_file_is_listed_as_binary_without_text(root: Path, content: bytes) -> None:
    note = read_one(root, content)
    assert (note.read_error, note.text, note.raw) == (ReadError.BINARY, "", content)


def test_a_nul_in_the_body_is_kept_and_shown_as_a_picture(root: Path) -> None:
    note = read_one(root, "---\nname: x\n---\none\0two and more words\n")
    assert (note.is_readable, note.name) == (True, "x")
    assert "one␀two" in make_visible(note.body)


def test_a_nul_in_the_head_is_a_fault_of_its_line_and_the_body_stays(root: Path) -> None:
    note = read_one(root, "---\nname: x\ndescription: a\0b\n---\nbody and more words\n")
    assert note.frontmatter.error is not None
    assert note.frontmatter.error.line == 3
    assert (note.name, note.body) == ("x", "body and more words\n")


@pytest.mark.parametrize("content", [b"caf\xe9 au lait\n", b"ok \xc3\x28\n", b"\xed\xa0\x80\n"])
def test_what_is_no_utf8_is_listed_and_shown_with_replacement_marks(
    root: Path, content: bytes
) -> None:
    note = read_one(root, content)
    assert (note.read_error, note.is_readable, note.raw) == (ReadError.NOT_UTF8, False, content)
    assert "�" in note.text


@pytest.mark.parametrize(
    ("encoding", "mark", "trouble"),
    [
        ("utf-16-le", b"\xff\xfe", ReadError.UTF16),
        ("utf-16-be", b"\xfe\xff", ReadError.UTF16),
        ("utf-32-le", b"\xff\xfe\0\0", ReadError.UTF32),
        ("utf-32-be", b"\0\0\xfe\xff", ReadError.UTF32),
    ],
)
def test_another_encoding_is_named_and_its_text_shown(
    root: Path, encoding: str, mark: bytes, trouble: ReadError
) -> None:
    note = read_one(root, mark + "tides at Sines\n".encode(encoding))
    assert note.read_error is trouble
    assert "tides at Sines" in note.text


def test_a_byte_order_mark_hides_no_head_and_is_kept(root: Path) -> None:
    note = read_one(root, b"\xef\xbb\xbf---\nname: x\n---\nbody\n")
    assert (note.name, note.body, note.raw[:3]) == ("x", "body\n", b"\xef\xbb\xbf")


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_stay_as_they_are(root: Path, end: str) -> None:
    text = note_text("x", "one\ntwo  \n").replace("\n", end)
    note = read_one(root, text)
    assert (note.text, note.name, note.type) == (text, "x", "project")


@pytest.mark.parametrize("text", ["---\rname: x\r---\rbody\r", "a\r\nb\nc\rd\n"])
def test_cr_only_and_mixed_line_ends_are_kept_and_shown(root: Path, text: str) -> None:
    note = read_one(root, text)
    assert (note.text, note.is_readable) == (text, True)
    assert "\r" not in make_visible(note.text)


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\x0b", "\x0c"])
def test_only_a_newline_ends_a_line(root: Path, char: str) -> None:
    note = read_one(root, f"---\nname: a{char}---\n---\none{char}[[two]]\n[[three]]\n")
    assert [link.line for link in note.links] == [4, 5]
    assert note.body.startswith("one")


@pytest.mark.parametrize("tail", ["", "\n\n\n\n", "  \n", "\t"])
def test_the_end_of_a_note_is_kept_exactly(root: Path, tail: str) -> None:
    assert read_one(root, note_text(body="text" + tail)).body == "\ntext" + tail


def test_of_a_fifty_megabyte_note_only_the_beginning_is_read(root: Path) -> None:
    start = b"---\nname: huge\n---\n"
    (root / "bad.md").write_bytes(start)
    os.truncate(root / "bad.md", 50_000_000)
    (root / "bad.md").open("r+b").write(start + b"words " * PREVIEW_BYTES)
    note = open_memory(root).by_path["bad.md"]
    assert (note.read_error, note.facts.size) == (ReadError.TOO_LARGE, 50_000_000)
    assert (len(note.raw), note.name) == (PREVIEW_BYTES, "huge")


@pytest.mark.parametrize("shift", range(4))
def test_a_large_note_cut_inside_a_character_is_no_other_encoding(root: Path, shift: int) -> None:
    text = b"\xef\xbb\xbf---\nname: huge\n---\n" + b"x" * shift + "👩".encode() * 300_000
    note = read_one(root, text)
    assert (note.read_error, note.name) == (ReadError.TOO_LARGE, "huge")
    assert "�" not in note.text


@pytest.mark.parametrize(
    "content",
    [
        "x\n" * 1_000_000,
        "x" * 1_000_000,
        "---\n" * 20_000,
        ">" * 20_000 + " deep\n",
        "a" + "\u0301" * 50_000,
        "[" * 200_000,
        "# h\n- x\n" * 25_000,
        "---\n@\nname: a" + " " * 60_000 + "b\n---\n",
    ],
    ids=["lines", "one line", "rules", "quotes", "marks", "brackets", "headings", "gap"],
)
def test_no_long_note_takes_long_to_read(root: Path, content: str) -> None:
    start = time.process_time()
    read_one(root, content)
    assert time.process_time() - start < 2


# What stands in the head


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("description: a: b", 3),
        ("description: @b", 3),
        ("description: `b`", 3),
        ("\tdescription: b", 3),
        ("description: [a", 3),
        ("description: 'a", 3),
        ("name: twice", 3),
        ("description: &a b", 3),
        ("description: *a", 3),
        ("? [a, b]\n: c", 3),
        ("1: a\ntrue: b\n? {a: b}\n: c", 5),
        ("description: !!python/object/apply:os.system [exit]", 3),
        ("description: !tag x", 3),
        ("description: " + "[" * 5000, 3),
    ],
)
def test_a_head_that_yaml_or_our_bounds_refuse_is_named_and_the_body_is_whole(
    root: Path, row: str, line: int
) -> None:
    note = read_one(root, f"---\nname: first\n{row}\n---\nbody\n")
    assert note.frontmatter.error is not None
    assert note.frontmatter.error.line in (line, line + 1)
    assert note.body == "body\n"
    assert note.name in ("first", "twice")


@pytest.mark.parametrize(
    "value",
    ["2026-01-02", "2026-13-45", "no", "on", "010", "1_000", "22:22", "1.10", "9" * 6000, "12"],
)
def test_a_value_is_the_text_that_was_written(root: Path, value: str) -> None:
    assert read_one(root, f"---\nname: {value}\n---\n").name == value


@pytest.mark.parametrize(
    ("value", "name"),
    [("null", "bad"), ("~", "bad"), ("", "bad"), ('""', "bad"), ("[a, b]", "a, b"),
     ("{a: b}", "a: b"), ("[[x]]", "x"), ("[]", "bad")],
)  # fmt: skip
def test_a_name_that_is_no_text_becomes_text_or_the_stem(root: Path, value: str, name: str) -> None:
    assert read_one(root, f"---\nname: {value}\n---\n").name == name


@pytest.mark.parametrize("key", ["content", "handler", "metadata"])
def test_keys_that_clash_with_a_library_are_ordinary(root: Path, key: str) -> None:
    note = read_one(root, f"---\nname: x\n{key}: text\nother: |\n  block\n---\n")
    assert (note.frontmatter.fields[key], note.frontmatter.error) == ("text", None)


def test_an_alias_bomb_is_refused_before_it_grows(root: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    note = read_one(root, "---\nname: x\n" + "\n".join(rows) + "\n---\nbody\n")
    assert note.frontmatter.error is not None
    assert len(json.dumps(note.frontmatter.fields)) < 10_000


def test_sixty_thousand_keys_are_read_in_bounds(root: Path) -> None:
    rows = "".join(f"k{number}: v\n" for number in range(60_000))
    note = read_one(root, f"---\nname: x\n{rows}---\nbody\n")
    assert note.frontmatter.error is not None
    assert (note.name, note.body) == ("x", "body\n")


@pytest.mark.parametrize(
    "text",
    [
        "---\nProse under a rule.\n\n---\nmore\n",
        "-----\nname: x\n-----\nbody\n",
        "\n\n---\nname: x\n---\nbody\n",
        "  ---\n  name: x\n  ---\nbody\n",
        "---\nname: x\nnever closed\n",
        "---\nname: x\n...\nbody\n",
        "+++\nname = 'x'\n+++\nbody\n",
        '{"name": "x"}\nbody\n',
        "body\n---\nname: x\n---\n",
    ],
)
def test_what_is_no_closed_head_at_the_very_start_is_all_body(root: Path, text: str) -> None:
    note = read_one(root, text)
    assert (note.name, note.body) == ("bad", text)


@pytest.mark.parametrize("block", ["- a\n- b\n", "[a, b]\n"])
def test_a_head_that_is_a_list_is_a_fault(root: Path, block: str) -> None:
    note = read_one(root, f"---\n{block}---\nbody\n")
    assert note.frontmatter.error is not None
    assert note.body == "body\n"


def test_of_two_heads_the_second_is_body(root: Path) -> None:
    note = read_one(root, "---\nname: a\n---\n\n---\nname: b\n---\nbody\n")
    assert (note.name, note.body) == ("a", "\n---\nname: b\n---\nbody\n")


# What the text would do to a terminal


@pytest.mark.parametrize(
    "evil",
    ["\x1b[2J", "\x1b]0;t\x07", "\x1b]52;c;eA==\x1b\\", "\x1bP$q\x1b\\", "\x9b31m", "\x00",
     "\u202e", "\u200b", "\U000e0041", "\u2066"],
)  # fmt: skip
def test_escapes_and_hidden_characters_are_shown_in_name_and_body(root: Path, evil: str) -> None:
    note = read_one(root, f"---\nname: 'a{evil}b'\n---\nbody{evil} and many more words\n")
    for shown in (make_one_line(note.name), make_visible(note.body)):
        assert evil[0] not in shown


@pytest.mark.parametrize(
    "name", ["[/]", "[/x]", "[@click=app.quit]x", "[red]", "a" * 5000, "日本👩‍💻"]
)
def test_markup_and_long_and_wide_names_are_kept_literally(root: Path, name: str) -> None:
    assert make_one_line(read_one(root, f'---\nname: "{name}"\n---\n').name) == name


# What the file is called


@pytest.mark.parametrize(
    "name",
    ["-rf.md", "--help.md", "$(x).md", ";x.md", "a\nb.md", "a\tb.md", "a\rb.md", "a\x1b[31m.md",
     "[/].md", "br[ket.md", "日本👩‍💻.md", "a" * 252 + ".md", " .md", "%2e%2e.md", "a\\b.md"],
)  # fmt: skip
def test_a_note_of_any_name_is_listed_in_one_row(root: Path, name: str) -> None:
    note = read_one(root, "body", name)
    assert note.path == name
    assert not set(make_one_line(note.path)) & set("\n\t\r\x1b")


def test_a_name_that_is_no_utf8_is_listed_and_never_a_lone_surrogate_in_json(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md")).write_bytes(b"body")
    (note,) = open_memory(root).files
    assert (note.raw, make_one_line(note.path)) == (b"body", "caf\\xe9.md")
    json.dumps(make_encodable(note.path), ensure_ascii=False).encode("utf-8")


def test_two_unicode_forms_and_two_cases_of_a_name_are_two_notes_each(root: Path) -> None:
    names = ["caf\u00e9.md", "cafe\u0301.md", "Tides.md", "tides.md"]
    for name in names:
        (root / name).write_text(name)
    if len(list(root.iterdir())) < 4:
        pytest.skip("this file system folds case or Unicode forms")
    assert sorted(note.text for note in open_memory(root).files) == sorted(names)


def test_editor_leftovers_are_ignored_and_stay(root: Path) -> None:
    names = ["a.md~", ".a.md.swp", "#a.md#", "4913", ".#a.md"]
    memory = open_memory(root, dict.fromkeys(names, "x"))
    assert memory.files == ()
    assert sorted(path.name for path in root.iterdir()) == sorted(names)


def test_conflict_copies_of_a_synchroniser_are_notes(root: Path) -> None:
    read_one(root, "x", "a.sync-conflict-20261120-120000-ABCDEFG.md")


# Links that lead astray


@pytest.mark.parametrize(
    "target", ["../x.md", "/etc/x.md", "file:///etc/x.md", "%2e%2e/x.md", "~/x.md"]
)
def test_an_entry_that_leads_out_is_outside_and_no_note(root: Path, target: str) -> None:
    (root.parent / "x.md").write_text("outside")
    memory = open_memory(root, {"MEMORY.md": f"- [x]({target})\n", "x.md": "inside"})
    (found,) = memory.links["MEMORY.md"]
    assert (found.target_kind, dict(memory.entries)) == (TargetKind.OUTSIDE, {})


@pytest.mark.parametrize("target", ["%252e%252e/x.md", "..\\x.md"])
def test_an_entry_with_a_twice_escaped_or_foreign_path_links_to_nothing(
    root: Path, target: str
) -> None:
    memory = open_memory(root, {"MEMORY.md": f"- [x]({target})\n"})
    assert memory.links["MEMORY.md"][0].target_kind is TargetKind.MISSING


# What is not a regular file


def test_symbolic_links_are_named_with_where_they_lead_and_not_read(root: Path) -> None:
    (root.parent / "outside.md").write_text("secret")
    (root.parent / "folder").mkdir()
    (root.parent / "folder/x.md").write_text("secret")
    targets = {
        "inside.md": "good.md",
        "outside.md": "../outside.md",
        "folder": "../folder",
        "dangling.md": "nothing.md",
        "loop.md": "loop.md",
        "environ.md": "/proc/self/environ",
        "zero.md": "/dev/zero",
        "tty.md": "/dev/tty",
    }
    for name, target in targets.items():
        (root / name).symlink_to(target)
    memory = open_memory(root, {"good.md": "x"})
    assert [file.path for file in memory.files] == ["good.md"]
    assert set(skipped(memory)) == set(targets)
    assert all(target in skipped(memory)[name] for name, target in targets.items())
    out = {item.path for item in memory.skipped if item.is_outside_link}
    assert {"outside.md", "folder", "environ.md", "zero.md", "tty.md"} <= out
    assert not out & {"inside.md", "dangling.md", "loop.md"}
    assert "which does not exist" in skipped(memory)["dangling.md"]


def test_an_entry_through_a_symbolic_link_reaches_no_note(root: Path) -> None:
    (root.parent / "folder").mkdir()
    (root.parent / "folder/x.md").write_text("secret")
    (root / "sub").symlink_to("../folder")
    memory = open_memory(root, {"MEMORY.md": "- [x](sub/x.md)\n"})
    assert memory.links["MEMORY.md"][0].target_kind is not TargetKind.NOTE
    assert dict(memory.entries) == {}


def test_pipes_and_sockets_are_skipped_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe.md")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        memory = open_memory(root, {"good.md": "x"})
    assert skipped(memory) == {"pipe.md": "not a regular file", "socket.md": "not a regular file"}
    assert [file.path for file in memory.files] == ["good.md"]


def test_a_device_is_skipped(root: Path) -> None:
    try:
        os.mknod(root / "zero.md", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices can only be made by root")
    assert skipped(open_memory(root)) == {"zero.md": "not a regular file"}


def test_a_folder_named_like_a_note_is_a_folder_and_its_notes_are_read(root: Path) -> None:
    memory = open_memory(root, {"folder.md/x.md": "x"})
    assert [file.path for file in memory.files] == ["folder.md/x.md"]
    assert "folder.md" in memory.others


def test_hard_links_are_counted(root: Path) -> None:
    (root.parent / "outside.md").write_text("x")
    (root / "a.md").hardlink_to(root.parent / "outside.md")
    assert open_memory(root).by_path["a.md"].facts.links == 2


def test_a_read_only_file_is_known_as_such(root: Path) -> None:
    open_memory(root, {"a.md": "x"})
    (root / "a.md").chmod(0o444)
    assert not open_memory(root).by_path["a.md"].facts.is_writable


UNPRIVILEGED = """
import sys
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.storage.reader import read_memory
from ricordo.errors import MemoryUnreadable
try:
    memory = read_memory(sys.argv[1], AUTO_MEMORY)
except MemoryUnreadable as error:
    print(error)
else:
    print({note.path: note.read_error.value for note in memory.files})
    print({item.path: item.reason for item in memory.skipped})
"""


def as_nobody(root: Path) -> list[str]:
    """Read `root` in a process without the rights of root; return what it printed."""
    command = [sys.executable, "-c", UNPRIVILEGED, str(root)]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root, and no setpriv to give its rights up")
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_unreadable_note_and_folder_are_listed_and_the_others_are_fine(root: Path) -> None:
    open_memory(root, {"shut.md": "x", "good.md": "x", "folder/x.md": "x"})
    (root / "shut.md").chmod(0)
    (root / "folder").chmod(0)
    try:
        notes, missed = as_nobody(root)
    finally:
        (root / "folder").chmod(0o755)
    assert notes == str({"good.md": "", "shut.md": "no permission to read it"})
    assert missed == str({"folder": "Permission denied"})


def test_an_unreadable_memory_says_so_in_one_line(root: Path) -> None:
    open_memory(root, {"a.md": "x"})
    root.chmod(0)
    try:
        (line,) = as_nobody(root)
    finally:
        root.chmod(0o755)
    assert "cannot be read: Permission denied" in line


# The memory itself


@pytest.mark.parametrize("shape", ["missing", "folder", "link", "pipe"])
def test_a_memory_whose_index_is_no_file_opens_without_an_index(root: Path, shape: str) -> None:
    index = root / "MEMORY.md"
    if shape == "folder":
        index.mkdir()
    if shape == "link":
        index.symlink_to("good.md")
    if shape == "pipe":
        os.mkfifo(index)
    memory = open_memory(root, {"good.md": note_text()})
    assert (memory.index, memory.load.text) == (None, "")
    assert [note.path for note in memory.notes] == ["good.md"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf- [G](good.md) \xe2\x80\x94 hook\r\n",
        b"<<<<<<< ours\n- [G](good.md)\n=======\n- [G](good.md)\n>>>>>>> theirs\n",
        b"Text of our own, no entry\n\n[[good]]\n",
        b"- [G](good.md)\n" * 3000,
    ],
    ids=["byte order mark and crlf", "conflict markers", "inline text", "three thousand lines"],
)
def test_an_odd_index_is_read_and_points_to_its_note(root: Path, content: bytes) -> None:
    memory = open_memory(root, {"MEMORY.md": content, "good.md": "x"})
    assert memory.index is not None
    assert memory.index.note.raw == content
    assert memory.entries["good.md"]
    assert (memory.load.cut_at_line == 201) == (content.count(b"\n") > 200)


def test_files_of_git_have_no_effect(root: Path) -> None:
    marker = root.parent / "ran"
    memory = open_memory(
        root,
        {
            ".gitignore": "*.md\n",
            ".gitattributes": "*.md text eol=lf\n",
            ".git/config": f"[core]\n\tfsmonitor = touch {marker}\n",
            "a.md": "x\r\n",
        },
    )
    assert memory.by_path["a.md"].raw == b"x\r\n"
    assert not marker.exists()


@pytest.mark.parametrize("when", [-86_400, 0, 4_102_444_800])
def test_odd_times_are_kept_and_do_not_decide_what_is_read_again(root: Path, when: int) -> None:
    before = open_memory(root, {"a.md": "one"})
    (root / "a.md").write_text("two")
    os.utime(root / "a.md", (when, when))
    note = read_memory(str(root), AUTO_MEMORY, before).by_path["a.md"]
    assert (note.text, note.facts.modified) == ("two", when)


def test_every_frontmatter_is_described_in_one_line(root: Path) -> None:
    note = read_one(root, "---\na: [b, {c: [d, ~]}]\ne: {f: g}\n---\n")
    assert flatten(note.frontmatter.fields) == "a: b, c: d, , e: f: g"


def test_an_index_larger_than_any_note_is_read_whole(root: Path) -> None:
    line = "- [A note](a_note.md) — " + "what it says " * 12 + "\n"
    index = ("# Memory\n\n" + line * 12_000).encode()
    memory = open_memory(root, {"MEMORY.md": index, "a_note.md": note_text("a-note")})
    assert len(index) > MAX_NOTE_BYTES
    assert memory.indexes[0].note.raw == index
    assert memory.indexes[0].note.is_readable
    assert len(memory.entries["a_note.md"]) == 12_000


def test_a_failing_disk_is_told_apart_from_a_missing_permission(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_memory(root, {"torn.md": "a\n", "fine.md": "b\n"})
    read = os.read

    def failing(handle: int, count: int) -> bytes:
        if os.fstat(handle).st_ino == (root / "torn.md").stat().st_ino:
            raise OSError(errno.EIO, "Input/output error")
        return read(handle, count)

    monkeypatch.setattr("os.read", failing)
    memory = open_memory(root)
    troubles = {file.path: file.read_error for file in memory.files}
    assert troubles == {"fine.md": ReadError.NONE, "torn.md": ReadError.DISK_ERROR}
