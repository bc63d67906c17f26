from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.text import (
    clip,
    clip_start,
    count_cells,
    find_hidden_characters,
    make_encodable,
    make_one_line,
    make_visible,
)

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
STEERING = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F)]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("a\0b", "a␀b"),
        ("a\x7fb", "a␡b"),
        ("a\x9bb", "a⟨U+009B⟩b"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\ufeffb", "a⟨U+FEFF⟩b"),
        ("a\rb", "a␍b"),
        ("a\x85b\u2028c\x0bd\x0ce", "a⟨U+0085⟩b⟨U+2028⟩c␋d␌e"),
        ("a\udcffb", "a\\xffb"),
        ("a\ud800b", "a⟨U+D800⟩b"),
    ],
)
def test_a_control_character_is_made_visible(written: str, shown: str) -> None:
    assert make_visible(written) == shown


@pytest.mark.parametrize(
    "kept", ["two\nlines\tand a tab", "日本語", "👩‍💻", "क्‍ष", "é", "[/] [x](y)"]
)
def test_ordinary_text_stays_as_it_is(kept: str) -> None:
    assert make_visible(kept) == kept


@given(ANY_TEXT)
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    shown = make_visible(text)
    assert not any(ord(char) in STEERING for char in shown)
    shown.encode("utf-8")


@given(ANY_TEXT)
def test_one_line_holds_no_line_end_and_no_tab(text: str) -> None:
    assert not set(make_one_line(text)) & set("\n\r\t\x0b\x0c\x85\u2028\u2029")


@given(ANY_TEXT, st.integers(-3, 40))
def test_a_clipped_row_is_never_wider_than_asked(text: str, width: int) -> None:
    assert count_cells(clip(text, width)) <= max(width, 0)
    assert count_cells(clip_start(text, width)) <= max(width, 0)


def test_a_row_that_fits_is_not_clipped_and_one_that_does_not_ends_in_an_ellipsis() -> None:
    assert clip_start("a/b/session.jsonl", 10) == "…ion.jsonl"
    assert clip("日本語", 6) == "日本語"
    assert clip("日本語", 5) == "日本…"
    assert clip("x" * 5000, 4) == "xxx…"


def test_fifty_thousand_combining_marks_make_a_short_row() -> None:
    assert len(clip("a" + "\u0301" * 50_000, 20)) < 200


@given(ANY_TEXT)
def test_encodable_text_can_be_written_as_utf8_and_as_json(text: str) -> None:
    json.dumps(make_encodable(text), ensure_ascii=False).encode("utf-8")


@given(st.text(max_size=100))
def test_text_without_lone_surrogates_is_already_encodable(text: str) -> None:
    assert make_encodable(text) is text


@pytest.mark.parametrize("harmless", ["a\r\nb\r\n", "\ufeffa", "👩‍💻", "a\tb\n", "end\r", "é\r\n"])
def test_line_ends_marks_and_joiners_in_their_place_are_not_hidden(harmless: str) -> None:
    assert find_hidden_characters(harmless) == []


@pytest.mark.parametrize("text", ["a\rb", "é a\rb", "a\ufeff", "a\u200db", "\x1b[0m", "x\r\ny\rz"])
def test_what_hides_or_steers_is_found_once_in_ascii_and_in_other_text(text: str) -> None:
    assert len(find_hidden_characters(text)) == 1


@given(st.text(st.characters(categories=["Cf", "Cc", "Zl", "Zp", "Ll"]), max_size=40))
def test_whatever_is_hidden_is_shown_differently(text: str) -> None:
    if any(match.group() != "\r" for match in find_hidden_characters(text)):
        assert make_visible(text) != text
