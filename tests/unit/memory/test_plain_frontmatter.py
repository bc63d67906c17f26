from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.parser import read_leniently, read_plain


def test_plain_frontmatter_is_read_without_yaml() -> None:
    block = 'name: a\ntags: [x, y]\nlist:\n- one\n- two\nmetadata: \n  type: user\n  empty: ""\n'
    assert read_plain(block) == {
        "name": "a",
        "tags": ("x", "y"),
        "list": ("one", "two"),
        "metadata": {"type": "user", "empty": ""},
    }


def test_what_follows_a_number_sign_is_a_comment_except_in_quotes() -> None:
    block = 'name: closes gap #3 # and more\nissue: "#3 or #4"\nlist:\n- one #two\n- a#b\n'
    assert read_plain(block) == {
        "name": "closes gap",
        "issue": "#3 or #4",
        "list": ("one", "a#b"),
    }


def test_a_second_colon_is_an_error_without_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontmatter, "read_yaml", None)
    text = "---\nname: a\ndescription: Note: it is closed\n---\nbody\n"
    read = frontmatter.read_frontmatter(text)
    assert read.error is not None
    assert read.error.line == 3
    assert read.get_text("description") == "Note: it is closed"


@pytest.mark.parametrize(
    "block",
    [
        "name: a: b\n",
        "# comment\nname: a\n",
        "name: >\n  folded\n",
        "name: a\nname: b\n",
        "a:\n  b: c\n   d: e\n",
        "a:\n  b:\n    c: d\n",
        "a: b\n  c: d\n",
        "k" * 1100 + ": yaml ends a key at 1,024 characters\n",
        "name: 'it''s'\n",
        'name: "\\n"\n',
        "name: a\tb\n",
    ],
)
def test_what_is_not_plain_is_left_to_yaml(block: str) -> None:
    assert read_plain(block) is None


def test_the_lenient_reader_takes_the_last_of_two_and_skips_what_it_cannot_read() -> None:
    block = "name: a\n@@@\nname: 'b'\nkey : c\nmetadata:\n  type: user\n\tmore: x\n- item\n"
    assert read_leniently(block) == {
        "name": "b",
        "key": "c",
        "metadata": {"type": "user", "more": "x"},
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.parametrize(
    "row",
    [
        "x: a" + " " * 60_000 + "b",
        "a:\n" + " k: v\n" * 12_000,
        "a:\n" + "- x\n" * 15_000,
        "[" * 60_000,
    ],
    ids=["a gap of blanks", "many children", "many items", "brackets"],
)
def test_frontmatter_of_sixty_kilobytes_takes_no_longer_than_its_size_warrants(row: str) -> None:
    usual = "---\n@\n" + "key: some value\n" * 3_800 + "---\n"
    base = max(_seconds(lambda: frontmatter.read_frontmatter(usual)), 0.01)
    assert _seconds(lambda: frontmatter.read_frontmatter(f"---\n@\n{row}\n---\n")) < 50 * base
