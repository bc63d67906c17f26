"""Words, stems and times of a text."""

from __future__ import annotations

import sqlite3
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.search.question import RecallQuestion, find_window
from ricordo.search.words import find_end, fold, fold_with_places, split_words, stem_word

TODAY = date(2026, 11, 20)
ENGLISH = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized
hopping tanned falling hissing fizzed failing filing happy sky relational conditional rational
valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization
predication operator feudalism decisiveness hopefulness callousness formaliti sensitiviti
sensibiliti triplicate formative formalize electriciti electrical hopeful goodness revival
allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment
dependent adoption homologou communism activate angulariti homologous effective bowdlerize probate
rate cease controll roll yellow y by say dying analogy
"""


def by_sqlite(found: list[str]) -> list[str]:
    """Return the stems that FTS5's own Porter gives."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (w, tokenize = 'porter ascii')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, instance)")
    connection.executemany("INSERT INTO t (rowid, w) VALUES (?, ?)", list(enumerate(found)))
    stems = dict(connection.execute("SELECT doc, term FROM v"))
    return [stems[number] for number in range(len(found))]


def test_stems_are_porters():
    found = ENGLISH.split()
    assert [stem_word(word) for word in found] == by_sqlite(found)


@given(st.lists(st.from_regex(r"[a-z]{1,20}", fullmatch=True), min_size=1, max_size=50))
def test_stems_of_anything_are_porters(found: list[str]):
    assert [stem_word(word) for word in found] == by_sqlite(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Café's open!", ["the", "cafe", "s", "open"]),
        ("snake_case tests/db.py", ["snake", "case", "tests", "db", "py"]),
        ("東京都", ["東京", "京都"]),
        ("git커밋 스타일", ["git", "커밋", "스타", "타일"]),
        ("人", ["人"]),
        ("Łódź, Ærø, đã", ["lodz", "aero", "da"]),
        ("الشَّهْرِ שָׁלוֹם", ["الشهر", "שלום"]),
        ("डेटाबेस में।", ["डेटाबेस", "में"]),
        ("กุ้ง", ["กุ", "ุ้", "้ง"]),
        ("", []),
        ("\ud800 \0 \u200b", []),
    ],
)
def test_words_are_folded_and_scripts_without_blanks_go_in_pairs(text: str, expected: list[str]):
    assert split_words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "Straße … cafe\u0301 ﬁn",
        "Straße, cafe\u0301",
        "שָׁלוֹם",
        "會議",
        "か\u3099っこう",
        "\u1112\u1161\u11ab국어",
        "ｶﾞｽ料金",
    ],
)
def test_folded_text_is_found_at_its_original_place(text: str):
    folded, places = fold_with_places(text)
    assert folded == fold(text)
    assert len(places) == len(folded) + 1
    for at in range(len(folded)):
        assert folded[at] in fold(text[places[at] : find_end(places, at + 1)])


@given(st.text())
def test_any_text_has_words_without_blanks(text: str):
    assert all(word and not word.isspace() and " " not in word for word in split_words(text))


@pytest.mark.parametrize(
    ("text", "day", "holds"),
    [
        ("what happened in May 2026", "2026-05-20", True),
        ("what happened in May 2026", "2026-06-10", True),
        ("what happened in May 2026", "2026-06-20", False),
        ("on 3 May 2026", "2026-05-03", True),
        ("on 2026-05-03", "2026-05-02", False),
        ("in March", "2024-03-09", True),
        ("what did Jan say in jan", "2024-01-09", True),
        ("the January trip", "2024-01-09", True),
        ("port 2021 was opened in 2025", "2025-06-01", True),
        ("goals for 2026, please", "2026-05-03", True),
        ("yesterday", "2026-11-19", True),
        ("last month", "2026-10-02", True),
        ("last week", "2026-11-09", True),
        ("in 2025", "2026-11-09", False),
    ],
)
def test_a_window_holds_its_days_and_a_fortnight_after(text: str, day: str, holds: bool):
    window = find_window(text, TODAY)
    assert window is not None
    assert window.includes(day) is holds


@pytest.mark.parametrize(
    "text",
    [
        "you may march on",
        "on 31 February",
        "nothing",
        "jan said so",
        "did April call June?",
        "it listens on port 2024",
        "error: 2019, HTTP 2000",
        "issue #2021 has 2048 tokens",
        "localhost:2024 costs $2000",
        "2000.5 of 2000%",
        "images of 2048 px.",
    ],
)
def test_what_names_no_time_has_no_window(text: str):
    assert find_window(text, TODAY) is None


@pytest.mark.parametrize("day", ["", "soon", "2026-05"])
def test_a_note_without_a_day_is_in_no_window(day: str):
    window = find_window("in May 2026", TODAY)
    assert window is not None
    assert not window.includes(day)


def test_a_question_leaves_out_what_names_nothing():
    question = RecallQuestion("What kind of cache do we use, and how long?", TODAY)
    assert question.words == ("cache", "use")
    assert question.asks_how_many


@pytest.mark.parametrize(
    ("message", "language", "words"),
    [
        ("Wo liegt der Schlüssel für das Boot?", "de", ("liegt", "schlussel", "boot")),
        ("Où est la clé du bateau ?", "fr", ("cle", "bateau")),
        ("¿Dónde está la llave del barco?", "es", ("llave", "barco")),
        ("Onde está a chave do barco?", "pt", ("chave", "barco")),
        ("Dove sono le chiavi della barca?", "it", ("chiavi", "barca")),
        ("Где лежит ключ от лодки?", "ru", ("лежит", "ключ", "лодки")),
        ("Where is the key of the boat?", "en", ("key", "boat")),
        ("der boat", "en", ("der", "boat")),
    ],
)
def test_a_question_leaves_out_the_stop_words_of_its_language(
    message: str, language: str, words: tuple[str, ...]
):
    question = RecallQuestion(message, TODAY)
    assert (question.language, question.words) == (language, words)


@pytest.mark.parametrize(
    ("message", "is_unspaced"),
    [
        ("会議の記録はどこ", True),
        ("회의록은 어디에", True),
        ("API 的会议记录在哪里", True),
        ("where is the log of the 会議", False),
        ("", False),
    ],
)
def test_a_question_is_in_the_script_of_most_of_its_words(message: str, is_unspaced: bool):
    assert RecallQuestion(message, TODAY).is_unspaced is is_unspaced


@given(st.text(max_size=300))
def test_any_message_can_be_analysed(message: str):
    question = RecallQuestion(message, TODAY)
    assert len(question.words) == len(question.stems)
