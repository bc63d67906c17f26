from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.index import EntryForm, read_index
from tests.support.builders import note_of


@pytest.mark.parametrize(
    ("line", "title", "hook", "form"),
    [
        ("- [Tides](tides.md) — which port", "Tides", "which port", EntryForm.BULLET),
        ("* [Tides](tides.md) - which port", "Tides", "which port", EntryForm.BULLET),
        ("- [Tides](tides.md): which port", "Tides", "which port", EntryForm.BULLET),
        ("1. **[Tides](tides.md)** – which port", "Tides", "which port", EntryForm.BULLET),
        ("- [ ] [Tides](tides.md)", "Tides", "", EntryForm.BULLET),
        ("- [[tides|Tides]] — which port", "Tides", "which port", EntryForm.BULLET),
        ("| [Tides](tides.md) | which port |", "Tides", "which port", EntryForm.ROW),
        ("See [Tides](tides.md) for the port", "Tides", "for the port", EntryForm.PROSE),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""], ids=["lf", "crlf", "no line end"])
def test_an_entry_has_title_hook_and_form(
    line: str, title: str, hook: str, form: EntryForm, end: str
) -> None:
    (entry,) = read_index(note_of(f"# Memory{end or chr(10)}{line}{end}", "MEMORY.md")).entries
    assert (entry.title, entry.hook, entry.form) == (title, hook, form)
    assert (entry.text, entry.line) == (line, 2)


def test_a_second_link_in_one_line_is_a_mention() -> None:
    index = read_index(note_of("- [A](a.md) — see [B](b.md)\n", "MEMORY.md"))
    assert [entry.form for entry in index.entries] == [EntryForm.BULLET, EntryForm.PROSE]


@pytest.mark.parametrize(
    "line", ["- [web](https://x.org/a.md)", "- [pic](a.png)", "- [[]]", "- `[[code]]`", "- plain"]
)
def test_what_points_to_no_markdown_file_is_no_entry(line: str) -> None:
    assert read_index(note_of(line + "\n", "MEMORY.md")).entries == ()


def test_the_folder_of_an_index_is_its_own_folder() -> None:
    assert read_index(note_of("", "MEMORY.md")).folder == ""
    assert read_index(note_of("", "a/b/index.md")).folder == "a/b"


@given(st.binary(max_size=400))
def test_any_bytes_make_an_index(raw: bytes) -> None:
    note = note_of(raw, "MEMORY.md")
    index = read_index(note)
    assert index.note.raw == raw
    for entry in index.entries:
        assert entry.text in note.text


@given(st.text(st.sampled_from("-*[]()|# .md\nab`—:\r"), max_size=80))
def test_every_entry_is_in_its_line(text: str) -> None:
    for entry in read_index(note_of(text, "MEMORY.md")).entries:
        assert entry.text.split("\n")[0] == text.split("\n")[entry.line - 1].rstrip("\r")
