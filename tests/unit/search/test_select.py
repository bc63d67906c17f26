"""The few notes for a message, and none where none bears on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import rank
from ricordo.search.reader import IndexReader
from ricordo.search.select import (
    LENIENT,
    SPACED,
    estimate_likelihood,
    list_reasons,
    pagerank,
    select,
)
from tests.support.builders import note_text, open_memory
from tests.unit.search.asking import TODAY, ranked, selected

Meaning = Callable[[str, Sequence[bytes]], Sequence[float]]
_WORDS = "anchor ballast capstan davit ensign fender galley halyard jetty keel lantern mast"
WORDS = _WORDS.split()


def fleet(root: Path, more: dict[str, str]) -> Memory:
    """Return a memory of a dozen notes of which none says what another one does."""
    notes = {f"{word}.md": note_text(word, f"The {word} is oiled.\n") for word in WORDS}
    return open_memory(root, {**notes, **more})


def test_a_note_that_answers_is_given_with_reasons(index: SearchIndex, harbour: Memory):
    question = RecallQuestion("who deploys the releases on tuesdays", TODAY)
    (found,) = index.query(harbour, lambda reader: select(reader, question, TODAY))
    assert found.path == b"deploy.md"
    assert found.why[0].startswith("says ")
    assert 0.5 <= found.likelihood <= 1


@pytest.mark.parametrize(
    ("message", "body", "reason"),
    [
        # the pairs are parts of other words
        ("표시등이 고장", "케이블은 전등에 있다.", ""),
        ("케이블을 바꿀 때", "새 케이블은 창고에 있다.", "says 케이블"),
        ("安卓版本的更新", "本周的安排。", ""),
        ("缓存的更新", "更新之后要清空缓存。", "says 缓存, 更新"),
        ("在庫を確認する", "毎朝、在庫は棚で確認します。", "says 在庫, 確認"),
        ("version 2 of the winch", "The winch is oiled in 2 steps.", "says winch"),
    ],
)
def test_a_reason_names_words_that_the_message_and_the_note_have(
    root: Path, state: Path, message: str, body: str, reason: str
):
    memory = open_memory(root, {"a.md": note_text("a", f"{body}\n")})
    question = RecallQuestion(message, TODAY)
    index = SearchIndex(str(state), memory.root)
    reasons = index.query(
        memory,
        lambda reader: [
            list_reasons(candidate, ranking)
            for ranking in [rank(reader, question, TODAY)]
            for candidate in ranking.candidates
        ],
    )
    assert [text for why in reasons for text in why] == [reason] * bool(reason)


@pytest.mark.parametrize("message", ["", "releases", "ok", "and what about it then", "🙂 🙂"])
def test_a_word_or_none_gets_nothing(index: SearchIndex, harbour: Memory, message: str):
    assert selected(index, harbour, message) == []


def test_what_no_note_speaks_of_gets_nothing(index: SearchIndex, harbour: Memory):
    assert selected(index, harbour, "configure kubernetes ingress certificates") == []


def test_the_time_that_is_asked_for_decides(root: Path, state: Path):
    dated = "---\nname: {0}\ndate: {1}\n---\nThe regatta was won by Ana.\n"
    files = {"a.md": dated.format("a", "2026-02-01"), "b.md": dated.format("b", "2026-05-04")}
    memory = open_memory(root, files)
    assert (
        ranked(SearchIndex(str(state), memory.root), memory, "regatta in May 2026")[0][0] == "b.md"
    )


def test_a_numbered_note_gains_from_the_one_before_it(root: Path, state: Path):
    turns = {
        "talk/turn-1.md": "Which rope holds the barge?",
        "talk/turn-2.md": "The blue one, I think.",
        "talk/turn-9.md": "Nothing of that kind.",
    }
    memory = fleet(root, turns)
    scores = dict(ranked(SearchIndex(str(state), memory.root), memory, "rope of barge"))
    assert scores["talk/turn-1.md"] > scores["talk/turn-2.md"]
    assert scores["talk/turn-2.md"] > scores.get("talk/turn-9.md", 0)


def test_what_is_linked_with_the_best_is_not_given_for_that(root: Path, state: Path):
    more = {
        "barge.md": note_text("barge", "The barge and its tow rope. See [[winter]].\n"),
        "winter.md": note_text("winter", "Invoices are due in January.\n"),
    }
    memory = fleet(root, more)
    found = selected(SearchIndex(str(state), memory.root), memory, "tow rope of the barge")
    assert found == ["barge.md"]


def test_a_note_that_links_lift_names_them(root: Path, state: Path):
    ships = {
        f"{name}.md": note_text(name, f"The tow rope of {name}. See [[harbour]].\n")
        for name in ("barge", "lugger", "yawl")
    }
    hub = {"harbour.md": note_text("harbour", "All that lies here: a rope.\n" + "Sea. " * 99)}
    memory = fleet(root, {**ships, **hub})
    question = RecallQuestion("tow rope", TODAY)
    index = SearchIndex(str(state), memory.root)
    found = index.query(
        memory, lambda reader: select(reader, question, TODAY, 20, strictness=LENIENT)
    )
    why = {it.path.decode(): it.why for it in found}
    assert why["harbour.md"] == ["says rope", "linked with barge, yawl"]
    assert why["yawl.md"] == ["says tow, rope"]


def test_a_second_score_by_meaning_has_its_place(root: Path, state: Path):
    twins = {f"{n}.md": note_text(f"twin {n}", "The tow rope of the barge.\n") for n in "ab"}
    memory = fleet(root, twins)
    question = RecallQuestion("tow rope of the barge", TODAY)

    def second_is_nearer(message: str, paths: Sequence[bytes]) -> list[float]:
        return [1.0 if path == b"b.md" else 0.0 for path in paths]

    def paths(meaning: Meaning | None) -> list[bytes]:
        index = SearchIndex(str(state), memory.root)
        chosen = index.query(
            memory,
            lambda reader: select(reader, question, TODAY, 2, meaning=meaning, strictness=LENIENT),
        )
        return [it.path for it in chosen]

    assert paths(None) == [b"a.md", b"b.md"]
    assert paths(second_is_nearer) == [b"b.md", b"a.md"]


def test_what_was_given_is_not_given_again(index: SearchIndex, harbour: Memory):
    question = RecallQuestion("who deploys the releases on tuesdays", TODAY)
    never = frozenset([b"deploy.md"])
    assert index.query(harbour, lambda reader: select(reader, question, TODAY, never=never)) == []


@pytest.mark.parametrize("place", range(5))
def test_likelihood_grows_with_all_evidence_and_is_a_share(place: int):
    evidence = [0.5, 0.2, 0.3, 1.0, 0.2]
    chances = [
        estimate_likelihood(SPACED, *evidence[:place], value, *evidence[place + 1 :], 100)
        for value in (0.1, 0.5, 0.9)
    ]
    assert chances == sorted(chances)
    assert len(set(chances)) == 3
    assert all(0 <= chance <= 1 for chance in chances)


def test_the_same_words_tell_less_about_a_longer_note():
    short, long = (estimate_likelihood(SPACED, 0.5, 0, 0, 1, 0, length) for length in (50, 500))
    assert short > long


def test_a_long_note_is_not_given_for_words_that_it_has_by_chance(root: Path, state: Path):
    body = "The winch by the quay is greased.\n"
    diary = f"{body}{' '.join(f'Day {n} at sea, clouds{n} and fog{n}.' for n in range(400))}\n"
    short = fleet(root / "short", {"b.md": note_text("b", body)})
    long = fleet(root / "long", {"b.md": note_text("b", diary)})
    message = "is the winch greased"
    assert selected(SearchIndex(str(state), short.root), short, message) == ["b.md"]
    assert selected(SearchIndex(str(state), long.root), long, message) == []


def test_walkers_stay_as_many_as_they_were():
    mass = pagerank({1: 3.0, 2: 1.0}, [(1, 5), (5, 6), (2, 5)])
    assert sum(mass.values()) == pytest.approx(1)
    assert mass[5] > mass[6]


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("wie hoch ist der Behinderungsgrad?", "Der Grad der Behinderung ist 50."),
        ("was gilt bei den Ehepaaren?", "Ehepaare zahlen die Hälfte."),
        ("wer hat die Liegeplatzgebühr bezahlt?", "Gebühren für den Liegeplatz zahlt Ute."),
    ],
)
def test_a_compound_or_another_ending_is_found_by_its_parts(
    root: Path, state: Path, message: str, body: str
):
    memory = fleet(root, {"b.md": note_text("b", f"{body}\n")})
    assert ranked(SearchIndex(str(state), memory.root), memory, message)[0][0] == "b.md"


def test_the_name_weighs_more_than_the_body(root: Path, state: Path):
    more = {
        "a.md": note_text("other", "A winch is here.\n"),
        "b.md": note_text("winch", "It is oiled too.\n"),
    }
    memory = fleet(root, more)
    assert ranked(SearchIndex(str(state), memory.root), memory, "the winch")[0][0] == "b.md"


def test_an_empty_memory_has_no_answer(root: Path, state: Path):
    memory = open_memory(root)
    question = RecallQuestion("tide tables", TODAY)

    def act(reader: IndexReader) -> int:
        return len(rank(reader, question, TODAY).candidates)

    assert SearchIndex(str(state), memory.root).query(memory, act) == 0
