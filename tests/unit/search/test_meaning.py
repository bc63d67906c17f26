"""Meaning: notes are found by other words, with the table of token vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.search.meaning import (
    MOST_WORDS,
    NO_MEANING,
    TokenTable,
    find_nearest,
    make_sketch,
    split_tokens,
)
from ricordo.search.select import LENIENT
from ricordo.search.words import split_words
from ricordo.services.search.recall import recall
from ricordo.services.search.search import SIMILAR, Search
from ricordo.services.workspace.environment import Environment
from tests.support.builders import note_text, open_memory
from tests.unit.search.asking import selected

NOTES = {
    "lorry": "The lorry is refuelled at dawn.",
    "wages": "Salaries are paid on the last Friday.",
    "kitchen": "Bread is baked in the oven of the basement.",
    "choir": "Singers rehearse on Mondays.",
    "roof": "Tiles that a storm broke are replaced.",
    "dog": "The puppy is afraid of fireworks.",
    "library": "Borrowed books go back within a month.",
    "dentist": "Teeth are examined twice a year.",
    "garden": "Roses are pruned in late winter.",
    "piano": "The keyboard instrument was tuned.",
    "passport": "The document to travel abroad expires.",
    "boat": "The hull was painted blue.",
}
OTHER_WORDS = {
    "when does the truck get petrol": "lorry.md",
    "which day do employees receive their income": "wages.md",
    "is a barking pet scared by loud noise": "dog.md",
    "how often must someone look into my mouth": "dentist.md",
}


@pytest.fixture
def table() -> Iterator[TokenTable]:
    with closing(TokenTable()) as opened:
        yield opened


@pytest.fixture
def household(root: Path) -> Memory:
    files = {f"{name}.md": note_text(name, f"{body}\n") for name, body in NOTES.items()}
    return open_memory(root, files)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    folder = str(tmp_path)
    return Environment(folder, {}, folder, str(tmp_path / "state"), folder)


def recalled(memory: Memory, environment: Environment, message: str, most: int = 3) -> list[str]:
    """Return the paths of the best notes, as `ricordo recall` gives them."""
    index = SearchIndex(environment.state, memory.root)
    found = recall(index, memory, message, environment, most, strictness=LENIENT)
    return [each.note.path for each in found]


@pytest.mark.parametrize(("message", "path"), OTHER_WORDS.items())
def test_a_note_is_recalled_by_other_words(
    household: Memory, environment: Environment, message: str, path: str
):
    assert path in recalled(household, environment, message)
    # an agent gets none: it cannot be told from a note that has nothing to do with the message
    index = SearchIndex(environment.state, household.root)
    assert selected(index, household, message) == []


def test_a_changed_note_is_recalled_by_what_it_says_now(
    household: Memory, environment: Environment, root: Path
):
    message = "when does the truck get petrol"
    assert "lorry.md" in recalled(household, environment, message)
    changed = open_memory(root, {"lorry.md": note_text("attic", "Old letters are kept there.\n")})
    assert "lorry.md" not in recalled(changed, environment, message)


def test_what_resembles_a_search_comes_last_and_is_marked(
    household: Memory, environment: Environment
):
    index = SearchIndex(environment.state, household.root)
    hits = Search(index, household, environment).find("income of employees").hits
    assert "wages.md" in [hit.result.note.path for hit in hits if hit.by_meaning]
    marks = [hit.by_meaning for hit in hits]
    assert marks == sorted(marks)
    assert all(hit.result.why == (SIMILAR,) for hit in hits if hit.by_meaning)


def test_related_texts_point_into_one_direction(table: TokenTable):
    truck, lorry, bread = (
        table.embed(split_words(text))
        for text in ("a truck with petrol", "the lorry is refuelled", "bread is baked in an oven")
    )
    assert truck.similarity(lorry) > truck.similarity(bread) + 0.2
    assert truck.similarity(truck) == pytest.approx(1)


def test_a_text_without_known_tokens_has_no_direction(table: TokenTable):
    for text in ("", "会議の記録", "🙂"):
        assert not table.embed(split_words(text))
    assert NO_MEANING.similarity(table.embed(["boat"])) == 0


def test_tokens_read_one_by_one_and_all_at_once_give_the_same(table: TokenTable):
    words = split_words("The zookeeper re-tuned 1,024 keyboards, unbelievably")
    alone = table.embed(words)
    table.close()
    with closing(TokenTable()) as whole:
        whole.load()
        assert whole.embed(words).blob == alone.blob


@given(st.lists(st.sampled_from(["boat", "truck", "x", "7", "zzqq"]), max_size=40))
def test_the_vector_of_a_text_is_the_sum_of_its_words(words: list[str]):
    with closing(TokenTable()) as table:
        of_words = [table.embed([word]).numbers for word in words]
        total = [sum(numbers) for numbers in zip(*of_words, strict=True)]
        assert list(table.embed(words).numbers) == total


def test_a_text_matches_by_its_nearest_tokens(table: TokenTable):
    texts = [split_words(text) for text in ("the lorry is refuelled", "bread is baked", "会議", "")]
    lorry, bread, *none = table.match(["truck", "unrefuelled"], texts)
    assert lorry > bread + 0.2
    assert none == [0, 0]
    assert table.match(["truck"], [["truck", "bread"]]) == [pytest.approx(1)]
    assert table.match(["会議"], texts) == [0] * 4


def test_digests_are_no_words(table: TokenTable):
    digest = "9f86d081884c7d659a2feaa0c55ad015"
    assert not table.embed([digest])
    assert table.embed([digest, "boat"]).blob == table.embed(["boat"]).blob


def test_of_a_long_text_the_beginning_counts(table: TokenTable):
    assert table.embed(["boat"] * 600).blob == table.embed(["boat"] * MOST_WORDS).blob


def test_words_are_split_into_the_longest_tokens():
    tokens = ["un", "unbeliev", "##able", "##ab", "##le"]
    for word, expected in {"unbelievable": ["unbeliev", "##able"], "unx": [], "": []}.items():
        assert split_tokens(word, tokens) == expected


def test_the_nearest_sketch_is_that_of_the_text_itself(table: TokenTable):
    sketches = [make_sketch(table.embed(split_words(text))) for text in NOTES.values()]
    for place, sketch in enumerate(sketches):
        assert find_nearest(sketch, b"".join(sketches), 3)[0] == place


def test_a_table_that_is_damaged_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tokens.db").write_bytes(b"no database" * 99)
    path = str(tmp_path / "tokens.db")
    monkeypatch.setattr("ricordo.search.meaning.find_data_file", lambda _: path)
    with pytest.raises(sqlite3.Error), closing(TokenTable()) as table:
        table.embed(["boat"])
