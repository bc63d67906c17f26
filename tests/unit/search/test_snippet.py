"""The passage of a note in which most of what was asked stands, and what is marked in it."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from ricordo.search.question import RecallQuestion
from ricordo.search.snippet import extract_snippet
from ricordo.search.words import fold

ODD = st.text("aeß é\u0301İﬁ…汐潮깃 ก็ด\u202e\n-_\"'🚀A\0", max_size=60)


def marked(text: str, asked: str, parts: tuple[str, ...] = ()) -> list[str]:
    question = RecallQuestion(asked, date(2026, 5, 1), is_search=True)
    shown, places = extract_snippet(text, question.stems, (*question.words, *parts), width=40)
    return [shown[start:end] for start, end in places]


def test_it_is_cut_where_the_most_of_what_was_asked_is():
    text = "The port. " + "Rain. " * 30 + "The port opens at the ebb. " + "Rain. " * 30
    shown, _ = extract_snippet(text, ("port", "ebb"), width=40)
    assert shown.startswith("…")
    assert "port opens at the ebb" in shown


def test_words_of_one_stem_are_marked_whole_and_words_that_go_on_as_far_as_they_are_typed():
    assert marked("Caches were cached, cachet too", "caching") == ["Caches", "cached"]
    assert marked("A harbourmaster", "harb") == ["harb"]
    assert marked("Ein Zwischenspeicher", "speicher") == ["speicher"]
    assert marked("get it, or forget it", "get") == ["get"]


def test_pairs_of_one_word_are_marked_as_one():
    assert marked("다른 패키지를 쓴다", "패키지") == ["패키지"]


@given(text=ODD, asked=ODD)
def test_whatever_is_asked_of_whatever_text_marks_are_in_their_order(text: str, asked: str):
    shown, places = extract_snippet(
        text, RecallQuestion(asked, date(2026, 5, 1)).stems, (fold(asked.strip()),)
    )
    ends = [0, *(at for place in places for at in place)]
    assert ends == sorted(ends)
    assert ends[-1] <= len(shown)
