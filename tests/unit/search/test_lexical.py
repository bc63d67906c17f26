"""The lexical score: BM25 as its source gives it, worked out by hand for small memories.

With k1 = 0.8 and b = 0.4 a frequency f in a text of length l counts 1.8 f / (f + 0.8 (0.6 + 0.4 l /
average)), and a word in n of N notes weighs log(1 + (N - n + 0.5) / (n + 0.5)).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.search.lexical import Lexicon, TermHits, idf, saturate
from ricordo.search.question import RecallQuestion
from ricordo.search.reader import IndexedNote, IndexReader
from ricordo.search.store import build_index
from tests.support.builders import open_memory
from tests.unit.search.asking import TODAY

NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def read_index(root: Path, files: Mapping[str, str]) -> IndexReader:
    """Return an index of a memory with these files."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    build_index(connection, open_memory(root, files))
    return IndexReader(connection)


def read_index_of_bodies(root: Path, *bodies: str) -> IndexReader:
    """Return an index of notes called one, two and so on."""
    notes = zip(NAMES, bodies, strict=False)
    files = {f"{name}.md": f"---\nname: {name}\n---\n{body}" for name, body in notes}
    return read_index(root, files)


def ask(reader: IndexReader, message: str, most: int = 24, *, is_search: bool = False) -> Lexicon:
    return Lexicon(RecallQuestion(message, TODAY, is_search), reader, most)


def read_notes(reader: IndexReader) -> dict[str, IndexedNote]:
    """Return all notes of an index by name."""
    ids = [row[0] for row in reader.connection.execute("SELECT id FROM note")]
    return {note.title: note for note in reader.read_rows(ids)}


def score(reader: IndexReader, message: str) -> dict[str, float]:
    """Return the score of every note that has one, by name."""
    lexicon = ask(reader, message)
    scores = {
        name: lexicon.score(TermHits(note, lexicon)) for name, note in read_notes(reader).items()
    }
    return {name: value for name, value in scores.items() if value}


# The formula


@given(of=st.integers(0, 10_000), notes=st.integers(0, 10_000))
def test_a_rarer_word_weighs_more_and_none_less_than_nothing(of: int, notes: int) -> None:
    assert idf(notes, of) > 0
    assert idf(notes, of) > idf(notes + 1, of) or notes >= of
    assert idf(of + notes, of) == idf(of, of)


@given(
    frequency=st.floats(0.1, 1e3),
    more=st.floats(0.1, 1e3),
    length=st.floats(1, 1e4),
    average=st.floats(1, 1e4),
)
def test_frequency_saturates_and_a_longer_text_counts_less(
    frequency: float, more: float, length: float, average: float
) -> None:
    value = saturate(frequency, length, average)
    assert 0 < value < saturate(frequency + more, length, average) < 1.8
    assert saturate(frequency, length + average, average) < value
    assert saturate(1, average, average) == pytest.approx(1)


def test_length_counts_to_its_share() -> None:
    assert saturate(2, 30, 10) == pytest.approx(3.6 / (2 + 0.8 * (0.6 + 0.4 * 3)))
    assert saturate(2, 0, 10) == pytest.approx(3.6 / (2 + 0.8 * 0.6))
    assert idf(2, 7) == pytest.approx(log(1 + 5.5 / 2.5))


# The score of a note


def test_a_word_in_the_same_form_counts_once_by_stem_and_two_fifths_by_form(root: Path) -> None:
    reader = read_index_of_bodies(root, "tow the blue barge", "sails are all white", "a b c d")
    # 4 words and 3 for the name, where 4 are the average: 0.8 (0.6 + 0.4 * 7 / 4) = 1.04
    assert score(reader, "tow") == {"one": pytest.approx(1.4 * log(8 / 3) * 1.8 / 2.04)}


def test_another_form_of_a_word_counts_by_stem_alone(root: Path) -> None:
    reader = read_index_of_bodies(root, "renting a blue barge", "rents get paid late", "a b c d")
    by_stem, by_form = log(1 + 1.5 / 2.5), log(8 / 3)
    # “renting” also begins with itself
    assert score(reader, "renting") == {
        "one": pytest.approx((by_stem + 0.4 * by_form + 0.3 * by_form) * 1.8 / 2.04),
        "two": pytest.approx(by_stem * 1.8 / 2.04),
    }


def test_a_longer_word_counts_three_tenths(root: Path) -> None:
    reader = read_index_of_bodies(
        root, "boathouse key hangs inside", "boats lie moored outside", "towers stand very tall"
    )
    begun = 0.3 * log(1 + 1.5 / 2.5)
    assert score(reader, "boat") == {
        "one": pytest.approx(begun * 1.8 / 2.04),
        "two": pytest.approx((log(8 / 3) + begun) * 1.8 / 2.04),
    }
    assert score(reader, "tow") == {}


def test_a_word_of_two_beginnings_counts_for_the_more_common_one(root: Path) -> None:
    reader = read_index_of_bodies(root, "boathouses lie far outside", "boats lie moored outside")
    (score_,) = (value for name, value in score(reader, "boat boatho").items() if name == "one")
    # boat has two notes of two, boatho one
    assert score_ == pytest.approx(0.3 * log(1 + 0.5 / 2.5) * 1.8 / 2.04)


def test_name_description_and_keywords_weigh_more_before_they_saturate(root: Path) -> None:
    body = "sails get very white\n"
    files = {
        "tow.md": f"---\nname: tow line\n---\n{body}",
        "two.md": f"---\nname: two\ndescription: tow boats\n---\n{body}",
        "three.md": f"---\nname: three\nkeywords: [tow]\n---\n{body}",
        "four.md": "---\nname: four\n---\nsails get a tow\n",
    }
    each = 1.4 * log(1 + 0.5 / 4.5)
    assert score(read_index(root, files), "tow") == {
        # name and description make the note longer: 4 + 3 * 2, and 4 + 3 + 2 * 2 words
        "tow line": pytest.approx(each * 3 * 1.8 / (3 + 0.8 * (0.6 + 0.4 * 10 / 4))),
        "two": pytest.approx(each * 2 * 1.8 / (2 + 0.8 * (0.6 + 0.4 * 11 / 4))),
        "three": pytest.approx(each * 2 * 1.8 / (2 + 1.04)),
        "four": pytest.approx(each * 1.8 / (1 + 1.04)),
    }


def test_words_in_the_order_of_the_question_count_as_a_pair_with_one_word_between_at_most(
    root: Path,
) -> None:
    bodies = (
        "tow rope holds well",
        "tow blue rope well",
        "tow blue thin rope",
        "rope tow holds well",
        "tow rope tow rope",
        "masts stand very tall",
    )
    weight = log(1 + 1.5 / 5.5)
    # tow 1.4 and rope 1.7: it has four letters, so that it begins with itself
    once, twice = 1.8 / 2.04, 3.6 / 3.04
    assert score(read_index_of_bodies(root, *bodies), "tow rope") == {
        "one": pytest.approx((3.1 + 0.2 * 2) * weight * once),
        "two": pytest.approx((3.1 + 0.2 * 2) * weight * once),
        "three": pytest.approx(3.1 * weight * once),
        "four": pytest.approx(3.1 * weight * once),
        "five": pytest.approx((3.1 + 0.2 * 2) * weight * twice),
    }


def test_two_forms_of_one_word_in_a_question_are_one_word_in_its_first_form(root: Path) -> None:
    reader = read_index_of_bodies(root, "rope ropes hold well", "masts stand very tall")
    # of either form the only note is counted, so that the stem is in two of two notes at most
    by_stem, by_form = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5)
    expected = 1.3 * by_stem * 3.6 / 3.04 + 0.4 * by_form * 1.8 / 2.04
    assert score(reader, "rope ropes") == {"one": pytest.approx(expected)}


def place(length: int, **places: tuple[int, ...]) -> str:
    """Return a text of `length` words with some of them at their places."""
    text = ["sail"] * length
    for word, numbers in places.items():
        for number in numbers:
            text[number] = word
    return " ".join(text)


def test_the_best_passage_of_a_long_note_counts_by_half(root: Path) -> None:
    bodies = (
        place(160, tow=(10, 75), rope=(79,)),
        place(160, tow=(70, 79), rope=(83,)),
        place(80, tow=(10,), rope=(70,)),
        place(40),
    )
    weight = log(1 + 1.5 / 3.5)

    def count(frequency: int, length: int) -> float:
        return 1.8 * frequency / (frequency + 0.8 * (0.6 + 0.4 * length / 110))

    def count_in_chunk(frequency: int) -> float:
        # 440 words in 2 + 2 + 1 + 1 chunks
        return 1.8 * frequency / (frequency + 0.8 * (0.6 + 0.4 * 80 / (440 / 6)))

    long = 1.4 * count(2, 163) + 1.7 * count(1, 163)
    whole = (long, long, 3.1 * count(1, 83))
    best = (count_in_chunk(2) + count_in_chunk(1), count_in_chunk(2), 0)
    assert score(read_index_of_bodies(root, *bodies), "tow rope") == {
        name: pytest.approx(weight * (of_note + 0.5 * of_chunk))
        for name, of_note, of_chunk in zip(NAMES, whole, best, strict=False)
    }


def test_a_longer_word_makes_no_passage_better(root: Path) -> None:
    reader = read_index_of_bodies(root, place(81, boathouse=(5,)), place(81, boat=(5,)))
    # both notes have it; 81 + 3 words, 81 on average
    by_beginning = 0.3 * log(1.2) * 1.8 / (1 + 0.8 * (0.6 + 0.4 * 84 / 81))
    assert score(reader, "boat")["one"] == pytest.approx(by_beginning)


def test_notes_without_text_have_the_score_of_their_names(root: Path) -> None:
    reader = read_index(root, {"tow.md": "---\nname: tow\n---\n"})
    expected = 1.4 * log(1 + 0.5 / 1.5) * 3 * 1.8 / (3 + 0.8 * (0.6 + 0.4 * 3))
    assert score(reader, "tow") == {"tow": pytest.approx(expected)}


def test_several_notes_as_one_text_are_as_long_as_so_many(root: Path) -> None:
    lexicon = ask(read_index_of_bodies(root, "tow the blue barge", "a b"), "tow")
    # three notes of average length
    assert lexicon.score_bm25({0: 1.0}, 9, 3) == pytest.approx(log(2))


def test_an_index_without_totals_raises_nothing(root: Path) -> None:
    reader = read_index_of_bodies(root, place(81, tow=(5,)))
    reader.connection.execute("DELETE FROM fact")
    assert set(score(reader, "tow")) == {"one"}


# The words of a question


@pytest.fixture
def masts(root: Path) -> IndexReader:
    """Four notes: tow is in one, rope in two, mast in all."""
    return read_index_of_bodies(root, "tow rope mast", "rope mast", "mast", "mast")


def test_a_question_is_covered_by_the_weight_of_its_words(masts: IndexReader) -> None:
    lexicon = ask(masts, "tow rope unicorn")
    tow, rope, unicorn = log(1 + 3.5 / 1.5), log(1 + 2.5 / 2.5), log(1 + 4.5 / 0.5)
    asked = tow + rope + unicorn
    one = log(1 + 3.5 / 1.5)
    hits = {name: TermHits(note, lexicon) for name, note in read_notes(masts).items()}
    assert lexicon.cover(hits["one"]) == pytest.approx((0, 0, (tow + rope) / one))
    assert lexicon.cover(hits["two"]) == pytest.approx((0, 0, rope / one))
    assert lexicon.cover(hits["three"]) == (0, 0, 0)
    assert ask(masts, "").cover(hits["three"]) == (0, 0, 0)
    assert lexicon.unknown == ("unicorn",)
    assert lexicon.sum_asked() == pytest.approx(asked)


def test_words_in_a_name_cover_a_question_by_their_share_and_weight(root: Path) -> None:
    memory = {"tow.md": "---\nname: tow\n---\nmast", "b.md": "---\nname: rope\n---\ntow"}
    reader = read_index(root, memory)
    lexicon = ask(reader, "tow mast")
    hits = {name: TermHits(note, lexicon) for name, note in read_notes(reader).items()}
    tow, mast, rarest = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5), log(1 + 1.5 / 1.5)
    named = (tow / (tow + mast), tow / rarest, (tow + mast) / rarest)
    assert lexicon.cover(hits["tow"]) == pytest.approx(named)
    assert lexicon.cover(hits["rope"]) == pytest.approx((0, 0, tow / rarest))


def test_the_rarest_words_of_the_notes_are_scored(masts: IndexReader) -> None:
    lexicon = ask(masts, "unicorn mast tow rope", 2)
    assert [term.word for term in lexicon.terms] == ["tow", "rope"]


@pytest.mark.parametrize(
    ("most", "expression"),
    [
        (0, '"tow"'),
        (2, '"tow"'),
        (3, '"rope" OR "tow"'),
        (6, '"rope" OR "tow"'),
        (7, '"mast" OR "rope" OR "tow"'),
    ],
)
def test_common_words_fetch_nothing_once_rarer_ones_fetch_enough(
    masts: IndexReader, most: int, expression: str
) -> None:
    assert ask(masts, "mast tow rope").build_expression(most) == expression


WORDS = "port portal boats rope tightrope box zwischenspeicher 東京 kowtow renting rents"


@pytest.mark.parametrize(
    ("message", "by_search", "by_recall"),
    [
        ("renting", "renting rents", "renting rents"),
        # a word being typed may be longer, a complete one is not
        ("port", "port portal", "port"),
        ("port rope", "port rope", "port rope"),
        ("porta", "portal", "portal"),
        # short words begin others only while they are typed
        ("por", "port portal", ""),
        ("po", "port portal", ""),
        ("p", "", ""),
        ("por rope", "rope", "rope"),
        # parts of words, where nothing else is known
        ("speicher", "zwischenspeicher", ""),
        ("ghtr", "tightrope", ""),
        ("ropes", "rope", "rope"),
        ("tow", "", ""),
        ("x", "", ""),
        ("京", "東京", ""),
        ("東京", "東京", "東京"),
    ],
)
def test_words_by_which_notes_are_fetched(
    root: Path, message: str, by_search: str, by_recall: str
) -> None:
    reader = read_index_of_bodies(root, WORDS)
    for is_search, expected in ((True, by_search), (False, by_recall)):
        expression = ask(reader, message, is_search=is_search).build_expression(100)
        assert expression == " OR ".join(f'"{word}"' for word in expected.split())


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, "renta"), (3, "renta"), (4, "renta rentc"), (5, "renta rentb"), (6, "renta rentb rentc")],
)
def test_longer_words_are_fetched_as_long_as_there_is_room(
    root: Path, most: int, expected: str
) -> None:
    reader = read_index_of_bodies(root, "renta rentb rentc", "renta rentb", "renta")
    (term,) = ask(reader, "rent").terms
    assert term.list_fetch_words(most) == set(expected.split())


@pytest.mark.parametrize(
    ("message", "most", "is_common"),
    [
        ("mast", 0, True),
        ("mast", 3, False),
        ("rope", 0, False),
        ("rented", 0, True),
        ("rope mast", 0, False),
        ("towe", 0, True),
    ],
)
def test_a_word_in_more_than_a_quarter_of_the_notes_is_common(
    root: Path, message: str, most: int, is_common: bool
) -> None:
    bodies = ("rope mast rents", "rope mast rents", "mast rents tower", "rent tower", "tower")
    reader = read_index_of_bodies(root, *bodies, "a", "b", "c")
    assert ask(reader, message).is_common(most) is is_common
