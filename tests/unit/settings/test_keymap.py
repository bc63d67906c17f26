from __future__ import annotations

from pathlib import Path

from ricordo.settings.keymap import (
    ActionKeys,
    KeyConflict,
    find_conflicts,
    make_textual_keymap,
    merge_keys,
    read_keymap,
)
from ricordo.settings.source import read_source

MAIN, JUDGE = frozenset(("main",)), frozenset(("judge",))
ACTIONS = (
    ActionKeys("help", ("question_mark",), MAIN | JUDGE),
    ActionKeys("source", ("s",), MAIN),
    ActionKeys("order", ("o", "f4"), MAIN),
    ActionKeys("next-pane", ("tab",), MAIN),
    ActionKeys("yes", ("a",), JUDGE),
)


def read(folder: Path, text: str) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    file = folder / "settings.toml"
    file.write_text(f"[keymap]\n{text}")
    source = read_source(str(file))
    keymap = read_keymap(source, ACTIONS)
    return dict(keymap), [f"{warning.line} {warning.message}" for warning in source.warnings]


def test_a_key_that_belongs_to_a_default_of_the_same_context_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "o"') == ({}, ["2 The key o is already bound to order."])


def test_of_two_actions_that_want_one_key_the_first_gets_it(tmp_path: Path) -> None:
    keymap, warnings = read(tmp_path, 'order = "f2"\nsource = ["x", "f2"]')
    assert keymap == {"order": ("f2",)}
    assert warnings == ["3 The key f2 is already bound to order."]


def test_the_same_key_in_another_context_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "a"') == ({"source": ("a",)}, [])


def test_two_actions_can_change_places(tmp_path: Path) -> None:
    keymap, warnings = read(tmp_path, 'source = "o"\norder = "s"')
    assert keymap == {"source": ("o",), "order": ("s",)}
    assert warnings == []


def test_an_action_with_a_refused_key_keeps_its_default(
    tmp_path: Path,
) -> None:
    keymap, warnings = read(tmp_path, 'source = "o"\norder = ["s", "?"]')
    assert keymap == {}
    assert warnings == [
        "3 The key question_mark is already bound to help.",
        "2 The key o is already bound to order.",
    ]


def test_keys_that_terminals_send_alike_conflict(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "ctrl+i"')[0] == {}


def test_effective_keys_are_the_users_or_the_default() -> None:
    keys = merge_keys(ACTIONS[:2], {"source": ("f2",)})
    assert keys == {"help": ("question_mark",), "source": ("f2",)}


def test_textual_gets_a_key_that_is_never_pressed_for_an_action_without_keys() -> None:
    assert make_textual_keymap({"order": ("o", "f4"), "help": ()}) == {
        "order": "o,f4",
        "help": "<none>",
    }


def test_a_conflict_names_both_actions_and_the_key() -> None:
    assert list(find_conflicts(ACTIONS, {"yes": ("question_mark",)})) == [
        KeyConflict("help", "yes", "question_mark")
    ]
    assert list(find_conflicts(ACTIONS, {})) == []
