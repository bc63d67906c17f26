"""The grammar of a query: words, conditions, phrases, alternatives."""

from __future__ import annotations

import time

import pytest

from ricordo.search.phrase import Phrase
from ricordo.search.query import MOST_ALTERNATIVES, Condition, parse_alternatives
from ricordo.search.words import fold


def alternatives(text: str) -> list[tuple[str, list[str]]]:
    """Return the words and the conditions of each alternative, conditions as `key:value`."""
    return [
        (query.words, [f"{'-' * it.negated}{it.key}:{it.value}" for it in query.conditions])
        for query in parse_alternatives(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tides OR ports", [("tides", []), ("ports", [])]),
        (
            'tide cache tag:sea OR "port of sines" -old',
            [("tide cache", ["tag:sea"]), ("", ["exact:port of sines", "-word:old"])],
        ),
        # no operator: another case, inside quotes or a word, negated
        ("tides or ports", [("tides or ports", [])]),
        ('"tides OR ports"', [("", ["exact:tides OR ports"])]),
        ("ORM", [("ORM", [])]),
        ("tides -OR", [("tides", ["-word:OR"])]),
        # still being typed
        ("tides OR", [("tides", [])]),
        ("tides OR ", [("tides", [])]),
        ("tides OR type:", [("tides", [])]),
        ("OR tides OR OR ports", [("tides", []), ("ports", [])]),
        ("OR", [("OR", [])]),
        ("", [("", [])]),
    ],
)
def test_or_in_capitals_separates_alternatives(text: str, expected: list[tuple[str, list[str]]]):
    assert alternatives(text) == expected


def test_the_last_alternative_takes_the_rest():
    queries = parse_alternatives(" OR ".join("abcdefghijklmnopqrstuvwxyz"))
    assert len(queries) == MOST_ALTERNATIVES
    assert queries[-1].words.startswith("l OR m")


def test_a_tag_is_a_condition():
    (query,) = parse_alternatives('tag:deploy -TAG:"two words"')
    assert query.conditions == (
        Condition("tag", "deploy"),
        Condition("tag", "two words", negated=True),
    )


@pytest.mark.parametrize(
    "text",
    [
        "the exact words here",
        "the **exact** words",
        "the _exact_ `words`",
        "Exact, words.",
        "exact: “words”",
        "exact\nwords",
        "exact  \r\nwords",
        "> the exact\n> words",
        "- the exact\n  words",
        "[exact](https://tides.org/a_b) words",
        '[exact](ports.md "The ports") words',
        "[exact][1] words",
        "[[ports|exact]] words",
        "the <b>exact</b> words",
        "exact&nbsp;words",
        "~~exact~~ words",
        "ÉXACT WORDS",
    ],
)
def test_a_phrase_is_found_through_markup_punctuation_and_line_ends(text: str):
    phrase, folded = Phrase("exact words"), fold(text)
    assert phrase.occurs_in(folded)
    ((start, end),) = phrase.find(folded)
    assert folded[start:end].startswith("exact")
    assert folded[start:end].endswith("words")


@pytest.mark.parametrize(
    "text",
    [
        "words exact",
        "exact other words",
        "exact\n\nwords",
        "- exact\n- words",
        "exact\n# Words",
        "| exact | words |",
        "exactwords",
        "[exact](words) other",
    ],
)
def test_a_phrase_is_not_found_across_other_words_or_blocks(text: str):
    assert not Phrase("exact words").occurs_in(fold(text))


@pytest.mark.parametrize(
    ("typed", "text", "is_found"),
    [
        ("C++", "in C++ code", True),
        ("C++", "in C code", False),
        (".env", "the .env file", True),
        (".env", "the env file", False),
        ("port of sin", "the port of Sines", True),
        ("getUser", "call getUserName()", True),
        ("--fix unsafe", "run with `--fix --unsafe`", True),
        ("潮汐表", "**潮汐**表", True),
        ("潮汐表", "潮汐\n表", True),
        ("潮汐表", "潮汐图表", False),
        ("port 8080", "**Port** 8080", True),
        ("***", "a *** b", True),
    ],
)
def test_signs_parts_and_other_scripts(typed: str, text: str, is_found: bool):
    assert Phrase(typed).occurs_in(fold(text)) is is_found


def test_no_text_makes_a_phrase_slow():
    phrase = Phrase("a b c d e f g")
    start = time.process_time()
    for text in ("a " * 50_000, "a*_" * 30_000, "[a](" * 20_000, "a b c d e f " * 10_000 + "g"):
        phrase.occurs_in(fold(text))
    assert time.process_time() - start < 2
