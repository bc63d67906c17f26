"""The index of statements by their words, and what is left out of comparing."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from ricordo.lint.contradictions.claim import is_bound, read_claim
from ricordo.lint.contradictions.statement_index import CROWD, Place, StatementIndex
from ricordo.lint.contradictions.statements import NoteDigest, NoteStatement, split_sentences
from ricordo.lint.contradictions.words import load_phrases, load_words

DATA = Path(__file__).resolve().parents[2] / "data"


def digest(*subjects: str) -> NoteDigest:
    """Return the digest of a note with a statement of these words for each of `subjects`."""
    words = tuple(tuple(it.split()) for it in subjects)
    statements = tuple(NoteStatement(n, it) for n, it in enumerate(subjects))
    return NoteDigest(frozenset(), statements, subjects, words, (), (), frozenset(), ())


def build(digests: Mapping[str, NoteDigest]) -> StatementIndex:
    return StatementIndex().update({}, digests, digests.keys(), lambda: None)


def test_nearest_statements_share_the_rarest_words() -> None:
    index = build(
        {
            "one.md": digest("lamp quay red", "crane hook"),
            "two.md": digest("lamp quay", "lamp bridge"),
            "three.md": digest("lamp crane"),
        }
    )
    places = [it.place for it in index.find_nearest("one.md", ("lamp", "quay", "red"))]
    assert places[0] == Place("two.md", 0)
    assert set(places) == {Place("two.md", 0), Place("two.md", 1), Place("three.md", 0)}


def test_words_of_a_crowd_find_nothing_until_they_are_rare_again() -> None:
    digests = {f"{n}.md": digest("lamp red") for n in range(3 * CROWD)}
    index = build(digests)
    assert not index.find_nearest("0.md", ("lamp", "red"))
    later = digests | {f"{n}.md": digest("crane") for n in range(2, 3 * CROWD)}
    changed = {f"{n}.md" for n in range(2, 3 * CROWD)}
    index = index.update(digests, later, changed, lambda: None)
    assert [it.place for it in index.find_nearest("0.md", ("lamp", "red"))] == [Place("1.md", 0)]


@pytest.mark.parametrize("seed", range(5))
def test_index_after_changes_finds_what_a_new_one_finds(seed: int) -> None:
    rnd = random.Random(seed)

    def draw() -> NoteDigest:
        # some words are rare, some cross the border between rare and frequent
        lines = (
            [f"w{int(rnd.paretovariate(0.5)) % 40}" for _ in range(4)]
            for _ in range(rnd.randint(0, 4))
        )
        return digest(*(" ".join(dict.fromkeys(it)) for it in lines))

    digests = {f"{n}.md": draw() for n in range(60)}
    index = build(digests)
    for _ in range(30):
        changed = {f"{rnd.randrange(70)}.md" for _ in range(rnd.choice((1, 1, 3, 20)))}
        later = {path: it for path, it in digests.items() if path not in changed}
        later |= {path: draw() for path in changed if rnd.random() < 0.8}
        last, index = index, index.update(digests, later, changed, lambda: None)
        new = build(later)
        assert (index.size, index.counts, index.forms) == (new.size, new.counts, new.forms)
        for path, it in later.items():
            for words in it.subjects:
                found = index.find_nearest(path, words)
                assert found == new.find_nearest(path, words)
                if path not in changed and index.touched.isdisjoint(words):
                    assert found == last.find_nearest(path, words)
        digests = later


@pytest.mark.parametrize("path", sorted(DATA.glob("claim_pairs*.tsv")), ids=lambda it: it.stem)
def test_claims_with_a_value_a_relation_or_a_role_are_read(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [row[side] for row in rows for side in ("left", "right")]
    read = [is_bound(text) for text in texts]
    assert not all(read)
    for text in (text for text, is_read in zip(texts, read, strict=True) if not is_read):
        claim = read_claim(text)
        assert not any((claim.values, claim.relations, claim.usage)), text
        assert claim.keys.isdisjoint(load_words("single")), text


def test_a_claim_is_bound_by_a_word_before_a_contrast_within_it() -> None:
    assert is_bound("We use a graphql-over-iq layer.")
    assert is_bound("The worker runs (mostly) on a small machine.")
    assert not is_bound("The worker looks at its own list.")


def test_a_phrase_begins_with_a_plain_word_or_is_not_ascii() -> None:
    assert not any(phrase.isascii() for phrase, _ in load_phrases().get("", ()))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is slow, e.g. today. It stops!", ["It is slow, e.g. today.", "It stops!"]),
        (
            "It waits 45 min. **Then:** it stops. **Next:** it starts **Last:** it ends.",
            ["It waits 45 min. **Then:** it stops.", "**Next:** it starts", "**Last:** it ends."],
        ),
        (
            "- one item; and more\n- another one\nof two lines",
            ["one item;", "and more", "another one of two lines"],
        ),
        ("最初の文です。次の文です。", ["最初の文です。", "次の文です。"]),
    ],
)
def test_a_text_is_split_at_stops_items_and_labels(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences
