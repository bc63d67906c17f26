from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.wiki import WIKI
from ricordo.errors import ChangeRefused
from ricordo.memory.layout import Layout
from ricordo.memory.new_note import MAX_NAME_BYTES, check_new_path, choose_path, is_valid_name

NAMES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "..", "/", "../../etc/passwd", "-rf", "$(x)", "a\0b", "con", "x" * 5000, "日本" * 90,
         "नमस्ते दुनिया", "İstanbul", "e\u0301", "\u0301x", "\u0301", "🦑", "\ud800", "a\u202eb", "ß",
         "ǰ", "ﬁ", "K", "A B", "a_b"]
    ),
)  # fmt: skip


@given(st.lists(NAMES, max_size=12), st.sampled_from(["", "sub", "sub/deep"]))
def test_a_path_is_found_for_every_name_and_none_is_taken_twice(
    names: list[str], folder: str
) -> None:
    taken = ["a-b.md", "Tides.md"]
    for name in names:
        path = choose_path(name, taken, AUTO_MEMORY, folder)
        check_new_path(path, taken, ["sub", "sub/deep"])
        assert path.rpartition("/")[0] == folder
        assert len(path.rpartition("/")[2].encode()) <= MAX_NAME_BYTES
        taken.append(path)


@pytest.mark.parametrize(
    ("name", "taken", "path"),
    [
        ("The port is Sines!", [], "the-port-is-sines.md"),
        ("The port", ["a_b.md", "c_d.md", "e-f.md"], "the_port.md"),
        ("Tides", ["TIDES.md"], "tides-2.md"),
        ("é", ["e\u0301.md"], "é-2.md"),
        ("नमस्ते", [], "नमस्ते.md"),
        ("???", [], "note.md"),
        ("a/../b", [], "a-b.md"),
    ],
)
def test_paths_for_names(name: str, taken: list[str], path: str) -> None:
    assert choose_path(name, taken, AUTO_MEMORY) == path


@pytest.mark.parametrize(
    ("name", "layout", "folder", "path"),
    [
        ("Memory", AUTO_MEMORY, "", "memory-2.md"),
        ("Memory", AUTO_MEMORY, "sub", "sub/memory-2.md"),
        ("Index", WIKI, "", "index-2.md"),
        ("Index", WIKI, "wiki/deep", "wiki/deep/index-2.md"),
        ("Log", WIKI, "", "log-2.md"),
        ("Claude", WIKI, "", "claude-2.md"),
    ],
)
def test_no_note_gets_the_path_of_an_index_a_log_or_a_schema(
    name: str, layout: Layout, folder: str, path: str
) -> None:
    assert choose_path(name, [], layout, folder) == path


@pytest.mark.parametrize(
    "name",
    ["a.md", "A_b-c.d.md", "_x.md", "日本.md", "é.md", "नमस्ते.md", "1.md", "a" * 117 + ".md"],
)
def test_plain_names(name: str) -> None:
    assert is_valid_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".md", "a", "a.MD", "a.txt", "-a.md", ".a.md", "a b.md", "a/b.md", "a\\b.md", "a:b.md",
     "a\n.md", "a\0.md", "e\u0301.md", "\u0301a.md",
     "a\u200b.md", "a\u202e.md", "🦑.md", "\ud800.md",
     "a" * 118 + ".md", "日" * 40 + ".md",
     "*.md", "$x.md", "a'b.md", "a`b.md", "a[b].md", "a|b.md"],
)  # fmt: skip
def test_names_that_are_not_plain(name: str) -> None:
    assert not is_valid_name(name)


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("tides.md", ["Tides.md"]),
        ("é.md", ["e\u0301.md"]),
        ("É.md", ["e\u0301.md"]),
        ("straße.md", ["STRASSE.md"]),
        ("sub/a.md", ["SUB/A.md"]),
        ("sub.md", ["sub.md"]),
        ("x/a.md", []),
        ("/a.md", []),
        ("./a.md", []),
        ("sub/../a.md", []),
        ("sub//a.md", []),
        ("../a.md", []),
        ("a.md/", []),
    ],
)
def test_paths_that_are_taken_or_lead_elsewhere(path: str, taken: list[str]) -> None:
    with pytest.raises(ChangeRefused):
        check_new_path(path, taken, ["sub"])


@given(st.text(max_size=6))
def test_what_passes_is_composed_and_without_surprises(name: str) -> None:
    if is_valid_name(name + ".md"):
        assert unicodedata.normalize("NFC", name) == name
        assert not set(name) & set("/\\\0\n :*?\"<>|$`'[]()&;")
        assert name.isprintable()
