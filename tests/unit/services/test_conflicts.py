"""Which side of a conflict is suggested, and why."""

from __future__ import annotations

import pytest

from ricordo.lint.evidence import (
    UNKNOWN_SPEAKER,
    CheckOutcome,
    ClaimKind,
    NoteCause,
    NoteQuote,
    Verdict,
)
from ricordo.services.conflicts.conflicts import Keep, Side, suggest
from tests.support.builders import note_of, note_text

OLD, NEW = "2026-01-02", "2026-03-04"
PORT = "The web view listens on port {}."


def checked(claim: str, outcome: CheckOutcome) -> Verdict:
    return Verdict(claim, ClaimKind.VALUE, 9, outcome)


def origin(speaker: str) -> NoteCause:
    return NoteCause(speaker, "It is so.", "A session", "Claude Code", f"{OLD}T09:00:00Z")


def side(port: int, day: str = "", *verdicts: Verdict, speaker: str = "") -> Side:
    text = note_text("web", PORT.format(port) + "\n")
    note = note_of(text.replace("  type:", f"  modified: {day}\n  type:") if day else text)
    said = origin(speaker) if speaker else None
    return Side(note, NoteQuote("web.md", 9, PORT.format(port)), 9, verdicts, said)


def test_what_the_project_says_of_a_claim_comes_before_its_age() -> None:
    held, gone = checked("8040", CheckOutcome.VALID), checked("8100", CheckOutcome.MISSING)
    for left, right in (
        (side(8040, OLD, held), side(8100, NEW)),
        (side(8040, OLD), side(8100, NEW, gone)),
        (side(8040, OLD, held, checked("lamps.py", CheckOutcome.MISSING)), side(8100, NEW, gone)),
    ):
        assert suggest(left, right).keep is Keep.LEFT
        assert suggest(right, left).keep is Keep.RIGHT
        assert "the project" in suggest(left, right).reason


def test_that_something_else_is_there_says_nothing_of_the_claim() -> None:
    left = side(
        8040, OLD, checked("web view", CheckOutcome.VALID), checked("lamps.py", CheckOutcome.VALID)
    )
    assert suggest(left, side(8100, NEW)).keep is Keep.RIGHT


def test_the_later_one_is_kept_where_nothing_else_tells() -> None:
    assert suggest(side(8040, OLD), side(8100, NEW)).keep is Keep.RIGHT
    for day in ("", "soon", "2026-13-45"):
        assert suggest(side(8040, NEW), side(8100, day)).keep is Keep.NONE


def test_what_a_person_said_comes_before_what_is_later() -> None:
    left, right = side(8040, OLD, speaker="person"), side(8100, NEW, speaker="agent")
    assert suggest(left, right).keep is Keep.LEFT


@pytest.mark.parametrize("speaker", [UNKNOWN_SPEAKER, ""])
def test_that_no_turn_was_found_decides_nothing(speaker: str) -> None:
    left, right = side(8040, speaker="person"), side(8100, speaker=speaker)
    assert suggest(left, right).keep is Keep.NONE


def test_where_project_and_user_disagree_nothing_is_suggested() -> None:
    left = side(8040, OLD, speaker="person")
    right = side(8100, NEW, checked("8100", CheckOutcome.VALID), speaker="agent")
    found = suggest(left, right)
    assert found.keep is Keep.NONE
    assert "you said it" in found.reason
    assert "8100" in found.reason
