from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.keys import Keys, _character_to_key

from ricordo.settings.keymap import NAMED_KEYS, find_same_key, name_character, normalize_key


@pytest.mark.parametrize("character", string.printable[:95] + "§äß€")
def test_a_character_has_the_name_that_textual_gives_it(character: str) -> None:
    assert name_character(character) == _character_to_key(character)


def test_every_named_key_is_one_that_textual_sends() -> None:
    sent = {key.value for key in Keys} | {_character_to_key(key) for key in string.punctuation}
    assert sent >= NAMED_KEYS


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("?", "question_mark"),
        ("/", "slash"),
        ("[", "left_square_bracket"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        (" ", "space"),
        ("J", "J"),
        ("shift+j", "J"),
        ("Ctrl+S", "ctrl+s"),
        ("shift+ctrl+Left", "ctrl+shift+left"),
        ("question_mark", "question_mark"),
        ("F5", "f5"),
        ("ö", "ö"),
    ],
)
def test_what_people_write_becomes_textuals_name(written: str, name: str) -> None:
    assert normalize_key(written) == name


@pytest.mark.parametrize(
    "written", ["", "jk", "ctrl+", "ctrl+ctrl+a", "hold+a", "f25", "enter,tab", "\x1b", "\n"]
)
def test_what_is_no_key_has_no_name(written: str) -> None:
    assert normalize_key(written) == ""


@given(st.text(st.characters(max_codepoint=126), max_size=12))
def test_a_name_is_its_own_name(written: str) -> None:
    name = normalize_key(written)
    assert not name or normalize_key(name) == name


def test_keys_that_a_terminal_cannot_tell_apart_are_the_same() -> None:
    assert find_same_key("ctrl+i") == find_same_key("tab")
    assert find_same_key("i") != find_same_key("tab")
