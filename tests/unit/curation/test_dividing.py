"""A brief in pieces: nothing is lost, nothing stands in two of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from ricordo.curation.brief import ACTIVITY, OTHERS, SCHEMA, TOUCHED, Brief, BriefPart, find_name
from ricordo.curation.parts import BriefPiece, to_piece

_TITLES = ("schema", "touched notes", "index", "other notes", "decided", "gaps", "activity")
WORDS = st.lists(st.sampled_from(["tide", "port", "crane", "buoy", "chart", "lamp"]), max_size=9)


def brief_of(notes: list[list[str]], turns: list[list[str]]) -> Brief:
    """Return a brief of notes and turns of so many words."""
    blocks = (
        ("| keep to the form\n",),
        tuple(f"note n{n}\n1| {' '.join(it)}\n" for n, it in enumerate(notes, 1)),
        ("| - [a](a.md)\n",),
        ("n99 | other: of which nobody spoke\n",),
        ("n99 confirmed on 2026-11-10 | still true\n",),
        (),
        tuple(
            f"turn t{n}, said on {date(2026, 11, 12)}\n| {' '.join(it)}\n"
            for n, it in enumerate(turns, 1)
        ),
    )
    names = [f"n{n}" for n in range(1, len(notes) + 1)]
    return Brief(
        tuple(map(BriefPart, _TITLES, blocks)),
        tuple((name, f"{name}.md") for name in names),
        tuple((f"t{n}", f"s#{n}") for n in range(1, len(turns) + 1)),
        short_lines={name: f"{name} | in short\n" for name in names},
    )


def alone(piece: BriefPiece) -> Iterator[BriefPiece]:
    """Yield what is left of a piece when it was halved until nothing can be."""
    if len(piece.units) <= 1:
        yield piece
        return
    for half in piece.halves:
        assert half.units
        yield from alone(half)


def names(brief: Brief, part: int) -> list[str]:
    return [find_name(part, it) for it in brief.parts[part].blocks]


@settings(max_examples=60)
@given(st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=12))
def test_every_note_and_message_is_in_one_piece(
    notes: list[list[str]], turns: list[list[str]]
) -> None:
    whole = to_piece(brief_of(notes, turns))
    assert whole.brief == whole.whole
    if not whole.units:
        return
    pieces = list(alone(whole))
    assert sorted(it for piece in pieces for it in piece.sources) == sorted(whole.sources)
    assert [piece.at for piece in pieces] == list(range(len(pieces)))
    spoken = [it for piece in pieces for it in piece.sources if it.startswith("s#")]
    assert spoken == [f"s#{n}" for n in range(1, len(turns) + 1)]
    for piece in pieces:
        brief, bare = piece.brief, piece.bare.brief
        shown = names(brief, TOUCHED)
        assert len(shown) + len(names(brief, ACTIVITY)) == 1
        # a note that is not shown is named, once
        assert sorted([*shown, *names(brief, OTHERS)]) == sorted([*dict(brief.ids), "n99"])
        assert brief.parts[SCHEMA] == whole.whole.parts[SCHEMA]
        assert [it for part in bare.parts for it in part.blocks] == [piece.units[0].block]
        assert bare.ids == brief.ids == whole.whole.ids


def test_a_turn_stays_with_its_notes_and_the_later_talk_comes_later() -> None:
    notes = [["crane", "lamp"], ["tide", "tide"], ["port"]]
    turns = [["the", "tide"], ["a", "port", "and"], ["crane"]]
    first, second = to_piece(brief_of(notes, turns)).halves
    assert {*first.sources, *second.sources} == {*to_piece(brief_of(notes, turns)).sources}
    for piece in (first, second):
        pairs = {("n2.md", "s#1"), ("n3.md", "s#2"), ("n1.md", "s#3")}
        assert all((note in piece.sources) is (turn in piece.sources) for note, turn in pairs)
    assert first.sources[1] == "s#1"
