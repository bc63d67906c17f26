"""A note from its bytes: how much of it is read, as which text, and under which name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.layout import FileRole
from ricordo.memory.note import (
    PREVIEW_BYTES,
    FileFacts,
    Note,
    ReadError,
    create_unreadable_note,
    decode_other_encoding,
    get_max_bytes,
    get_stem,
    read_note,
)
from tests.support.builders import note_of

MIB = 1024 * 1024
TEXT = b"---\nname: x\n---\ntides\n"


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("a.md", "a"),
        ("one/two.x/a.md", "a"),
        ("a.MD", "a"),
        ("a.md.md", "a.md"),
        ("a.txt", "a.txt"),
        ("amd", "amd"),
        ("one.md/amd", "amd"),
        (".md", ""),
    ],
)
def test_the_stem_has_no_folder_and_no_extension(path: str, stem: str) -> None:
    assert get_stem(path) == note_of("text", path).stem == note_of("text", path).name == stem


@given(st.lists(st.text("ab\r\x85", max_size=3), min_size=1, max_size=5))
def test_lines_are_counted_from_one_and_only_newlines_end_them(lines: list[str]) -> None:
    note = note_of("\n".join(lines))
    offset = 0
    for number, line in enumerate(lines, 1):
        assert note.line_of(offset) == note.line_of(offset + len(line)) == number
        offset += len(line) + 1


def test_the_stated_date_is_that_of_the_last_change_else_of_the_beginning() -> None:
    fields = ("date", "ingested", "created", "verified", "updated", "last_updated", "modified")
    head = ""
    assert note_of("---\nname: x\n---\nbody").stated_date == ""
    for day, field in enumerate(fields, 1):
        head = f"{head}{field}: 2026-05-0{day}\n"
        assert note_of(f"---\n{head}---\nbody").stated_date == f"2026-05-0{day}"


# How much is read


@pytest.mark.parametrize(
    ("path", "size", "error"),
    [
        ("a.md", MIB, ReadError.NONE),
        ("a.md", MIB + 1, ReadError.TOO_LARGE),
        ("MEMORY.md", MIB + 1, ReadError.NONE),
        ("MEMORY.md", 16 * MIB, ReadError.NONE),
        ("MEMORY.md", 16 * MIB + 1, ReadError.TOO_LARGE),
    ],
)
def test_a_note_of_a_mebibyte_and_an_index_of_sixteen_are_read_whole(
    path: str, size: int, error: ReadError
) -> None:
    note = read_note(path, TEXT, FileFacts(size, 0.0, 1, 1), AUTO_MEMORY)
    assert (note.read_error, note.is_readable) == (error, not error)
    assert (note.name, note.text, note.body) == ("x", TEXT.decode(), "tides\n")
    assert size <= get_max_bytes(note.role) or error


def test_the_beginning_of_a_large_note_is_64_kibibytes_and_may_end_inside_a_character() -> None:
    assert PREVIEW_BYTES == 65_536
    large = FileFacts(2 * MIB, 0.0, 1, 1)
    note = read_note("a.md", b"\xef\xbb\xbfcaf\xc3", large, AUTO_MEMORY)
    assert (note.text, note.read_error) == ("caf", ReadError.TOO_LARGE)
    # what is not UTF-8 before its end is no beginning of a text
    note = read_note("a.md", b"caf\xe9 au lait", large, AUTO_MEMORY)
    assert note.read_error is ReadError.NOT_UTF8


def test_an_unreadable_file_has_its_stem_and_nothing_else() -> None:
    facts = FileFacts(9, 0.0, 1, 1)
    note = create_unreadable_note("one/a.md", facts, AUTO_MEMORY, ReadError.DISK_ERROR)
    assert (note.name, note.raw, note.text, note.links) == ("a", b"", "", ())
    assert (note.read_error, note.is_readable, note.facts) == (ReadError.DISK_ERROR, False, facts)
    assert note.role is FileRole.NOTE


# Encodings


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"\0abcd", ReadError.NONE),
        (b"\0abc", ReadError.BINARY),
        ("tides".encode("utf-16-le"), ReadError.BINARY),
        (b"\xff\0abc", ReadError.BINARY),
        (b"\xffabc", ReadError.NOT_UTF8),
    ],
)
def test_a_file_is_binary_if_more_than_a_fifth_of_it_is_nul(raw: bytes, error: ReadError) -> None:
    note = note_of(raw)
    assert note.read_error is error
    assert note.text == ("" if error is ReadError.BINARY else raw.decode("utf-8", "replace"))


def test_a_file_in_another_encoding_is_shown_and_not_parsed() -> None:
    text = "---\nname: x\n---\ncafé [[two]]"
    note = note_of(text.encode("latin-1"), "a.md")
    assert (note.text, note.body) == (text.replace("é", "�"), note.text)
    assert (note.name, note.links) == ("a", ())


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("naïve cafés".encode()[:-2], ReadError.CUT_OFF),
        ("潮汐表在这里".encode()[:-1], ReadError.CUT_OFF),
        # a byte of another encoding
        ("cafés".encode()[:-2], ReadError.NOT_UTF8),
        (b"caf\xe9", ReadError.NOT_UTF8),
        ("naïve caf".encode() + b"\xe9 au lait", ReadError.NOT_UTF8),
    ],
)
def test_a_text_that_ends_within_a_character_was_cut_off(raw: bytes, error: ReadError) -> None:
    note = note_of(raw)
    assert note.read_error is error
    is_cut = error is ReadError.CUT_OFF
    assert (decode_other_encoding(note) is None) is is_cut
    assert note.text.isprintable() is True
    assert ("\ufffd" in note.text) is not is_cut


def decode(raw: bytes) -> str | None:
    return decode_other_encoding(note_of(raw))


@pytest.mark.parametrize("byte", range(0x80, 0x100))
def test_every_character_of_windows_1252_can_be_converted(byte: int) -> None:
    # the euro sign is UTF-8; these five bytes have no character in Windows-1252
    expected = None if byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes([byte]).decode("cp1252")
    assert decode(b"5 \xe2\x82\xac a" + bytes([byte]) + b"b") == (expected and f"5 € a{expected}b")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("tides €".encode("utf-16"), "tides €"),
        (b"\xfe\xff" + "tides €".encode("utf-16-be"), "tides €"),
        ("tides €".encode("utf-32"), "tides €"),
        # half a character at its end
        ("tides".encode("utf-16") + b"\0", None),
        ("tides".encode("utf-32")[:-1], None),
        # neither what is UTF-8 nor what is binary has another encoding
        (b"tides", None),
        (b"\x89PNG\0\0\0\r", None),
        (b"\x81 caf\xe9", None),
    ],
)
def test_other_encodings_can_be_converted_if_they_are_whole(raw: bytes, text: str | None) -> None:
    assert decode(raw) == text


@given(st.binary(max_size=12))
def test_any_bytes_have_a_text_that_can_be_shown(raw: bytes) -> None:
    note: Note = note_of(raw)
    assert note.raw == raw
    assert note.is_readable == (note.text.encode() in (raw, raw.removeprefix(b"\xef\xbb\xbf")))
    assert note.is_readable or note.frontmatter.end == 0
