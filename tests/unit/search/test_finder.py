"""The finder: names as they are typed, whatever was typed before."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ricordo.memory.memory import Memory
from ricordo.search.finder import MOST_HITS, Finder, find_marks
from ricordo.search.words import fold
from tests.support.builders import note_text, open_memory

WORDS = ("go", "gizmo", "giz", "Zoom", "bog", "boom", "getName", "name", "1", "2024", "é")
OF_SCRIPTS = (
    *("Straße", "café", "Łódź", "ﬁnal", "ÆRØ", "İzmir", "Привет", "йод", "Άθήνα", "שָׁלוֹם", "مَكْتَبَة"),
    *("डेटाबेस", "क़लम", "กุ้ง", "がっこう", "ガス", "ｶﾞｽ", "한국어", "會議", "🚀", "x"),
)
KEYS = st.sampled_from("gozibmn1 ") | st.text("gozibm 12-é", max_size=5)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """More notes than are taken of one kind of hit."""
    chosen = random.Random(4)

    def text() -> str:
        return " ".join(chosen.choices(WORDS, k=chosen.randint(1, 3)))

    notes = {f"{n % 7}/{text()} {n}.md": note_text(text(), "Rain.\n", text()) for n in range(1300)}
    return open_memory(tmp_path_factory.mktemp("many"), notes)


def finder_of(memory: Memory, before: Finder | None = None) -> Finder:
    days = {note.path: len(note.path) % 3 for note in memory.notes}
    return Finder(memory.notes, days, before)


def keys(words: str) -> list[tuple[str, bool]]:
    return [(letter, True) for letter in words]


@example(typed=keys("gizmo"))
@example(typed=keys("oom gi"))
@example(typed=keys("oog"))
@given(typed=st.lists(st.tuples(KEYS, st.booleans()), max_size=8))
@settings(max_examples=20, deadline=None)
def test_what_was_typed_before_changes_no_answer(
    many: Memory, typed: list[tuple[str, bool]]
) -> None:
    finder, words = finder_of(many), ""
    for letters, goes_on in typed:
        words = words + letters if goes_on else letters
        assert finder.find(words) == finder_of(many).find(words)


def test_what_is_taken_from_the_finder_before_changes_no_answer(root: Path) -> None:
    before = open_memory(root, {f"{it}.md": note_text(it) for it in ("tide", "Ebb and flow", "x")})
    (root / "x.md").unlink()
    after = open_memory(root, {"ebb.md": note_text("ebb"), "tide.md": note_text("high tide")})
    again = finder_of(after, finder_of(before))
    for words in ("tide", "ebb", "x", "port", "flw"):
        assert again.find(words) == finder_of(after).find(words)


def test_of_very_many_names_the_best_are_given_and_it_is_reported_that_there_are_more(
    root: Path,
) -> None:
    # the shortest name stands last in the folder
    names = [*(f"gizmo number {n}" for n in range(MOST_HITS + 20)), "gizmos"]
    notes = {f"n{n:04}.md": note_text(name, description="It") for n, name in enumerate(names)}
    finder = finder_of(open_memory(root, notes))
    found, is_all = finder.find("gi")
    assert (found[0].note.name, is_all) == ("gizmos", False)
    assert finder.find("gizmos").is_complete


@pytest.mark.parametrize(
    ("name", "typed", "marked"),
    [
        ("Real database in tests", "rdt", ["R", "d", "t"]),
        ("realDatabaseInTests", "redatest", ["re", "Da", "Test"]),
        ("b-half of a-board", "aab", []),
        ("ab a bob", "aab", ["a", "a", "b"]),
        ("The database", "dtbs", ["d", "t", "b", "s"]),
        ("Two-tier icon system", "terse", []),
        ("Expert profiles of reviewers", "terse", []),
        ("我的数据库", "数库", ["数", "库"]),
        ("Öl-Wechsel Übersicht", "owü", ["Ö", "W", "Ü"]),
    ],
)
def test_what_abbreviates_a_name_begins_its_words_or_is_in_one_of_them(
    root: Path, name: str, typed: str, marked: list[str]
) -> None:
    found = finder_of(open_memory(root, {"n.md": note_text(f'"{name}"')})).find(typed)
    pieces = [name[start:end] for start, end in find_marks(name, typed)]
    assert (bool(found.hits), "".join(pieces)) == (bool(marked), "".join(marked))


def test_use_decides_between_names_that_are_as_long_and_as_old(root: Path) -> None:
    finder = finder_of(open_memory(root, {f"{it}.md": note_text(f"tide {it}") for it in "abcd"}))
    found = finder.find("tide", {"c.md": 2, "d.md": 5})
    assert [it.note.path for it in found.hits] == ["d.md", "c.md", "a.md", "b.md"]


@given(
    said=st.lists(st.sampled_from(OF_SCRIPTS), min_size=1, max_size=5),
    typed=st.sampled_from(OF_SCRIPTS),
    form=st.sampled_from(("NFC", "NFD")),
)
def test_a_mark_is_at_what_was_typed_in_every_script(
    said: list[str], typed: str, form: Literal["NFC", "NFD"]
) -> None:
    text = normalize(form, "-".join([*said, typed]))
    ((start, end),) = find_marks(text, typed)
    assert fold(text[start:end]).startswith(fold(typed))
