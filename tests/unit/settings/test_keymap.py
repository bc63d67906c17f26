from __future__ import annotations

from pathlib import Path

from ricordo.settings.keymap import KeyClash, clashes, effective_keys, read_keymap, textual_keymap
from ricordo.settings.known import KnownAction
from ricordo.settings.source import read_source

MAIN, JUDGE = frozenset(("main",)), frozenset(("judge",))
ACTIONS = (
    KnownAction("help", ("question_mark",), MAIN | JUDGE),
    KnownAction("source", ("s",), MAIN),
    KnownAction("order", ("o", "f4"), MAIN),
    KnownAction("next-pane", ("tab",), MAIN),
    KnownAction("yes", ("a",), JUDGE),
)


def read(folder: Path, text: str) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    file = folder / "settings.toml"
    file.write_text(f"[keymap]\n{text}")
    source = read_source(str(file))
    keymap = read_keymap(source, ACTIONS)
    return dict(keymap), [f"{remark.line} {remark.message}" for remark in source.remarks]


def test_a_key_that_belongs_to_a_default_of_the_same_context_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "o"') == ({}, ["2 The key o is already bound to order."])


def test_of_two_wishes_for_one_key_the_earlier_holds(tmp_path: Path) -> None:
    keymap, remarks = read(tmp_path, 'order = "f2"\nsource = ["x", "f2"]')
    assert keymap == {"order": ("f2",)}
    assert remarks == ["3 The key f2 is already bound to order."]


def test_the_same_key_in_another_context_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "a"') == ({"source": ("a",)}, [])


def test_two_actions_can_change_places(tmp_path: Path) -> None:
    keymap, remarks = read(tmp_path, 'source = "o"\norder = "s"')
    assert keymap == {"source": ("o",), "order": ("s",)}
    assert remarks == []


def test_a_refused_wish_gives_its_default_back_even_where_that_refuses_another(
    tmp_path: Path,
) -> None:
    keymap, remarks = read(tmp_path, 'source = "o"\norder = ["s", "?"]')
    assert keymap == {}
    assert remarks == [
        "3 The key question_mark is already bound to help.",
        "2 The key o is already bound to order.",
    ]


def test_a_key_that_terminals_send_as_another_clashes_with_it(tmp_path: Path) -> None:
    assert read(tmp_path, 'source = "ctrl+i"')[0] == {}


def test_effective_keys_are_the_persons_or_the_default() -> None:
    keys = effective_keys(ACTIONS[:2], {"source": ("f2",)})
    assert keys == {"help": ("question_mark",), "source": ("f2",)}


def test_textual_gets_a_key_that_is_never_pressed_where_one_was_taken_away() -> None:
    assert textual_keymap({"order": ("o", "f4"), "help": ()}) == {"order": "o,f4", "help": "<none>"}


def test_clashes_name_both_actions_and_the_key() -> None:
    assert list(clashes(ACTIONS, {"yes": ("question_mark",)})) == [
        KeyClash("help", "yes", "question_mark")
    ]
    assert list(clashes(ACTIONS, {})) == []
