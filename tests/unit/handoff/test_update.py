"""An existing handoff is updated: valid statements are kept, the others dropped."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ricordo.agents.registry import find_agent
from ricordo.handoff.changes import ProjectChanges
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    Handoff,
    HandoffStatement,
    NoteProof,
    ProofStatus,
    QuoteProof,
    ResultProof,
    SourceSession,
    StatementSection,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.resume import RecheckedHandoff, RecheckedStatement
from ricordo.handoff.update import merge_handoffs
from tests.unit.handoff.test_document import SESSION, SHA, handoff_of

OTHER = SourceSession(find_agent("codex"), "9d2f4c3e", "/home/ana/.codex/sessions/r.jsonl")
OTHER_SHA = "1a2b3c4d5e6f"
NOW = datetime(2026, 10, 6, tzinfo=UTC)


def resumed(handoff: Handoff, **fallen: ProofStatus) -> RecheckedHandoff:
    """Return a rechecked handoff: all is valid except what has `fallen`, by its text."""
    checked = (
        RecheckedStatement(statement, fallen.get(statement.text, statement.status))
        for statement in handoff.statements
    )
    return RecheckedHandoff(handoff, tuple(checked), ProjectChanges(), False, False)


def texts(handoff: Handoff) -> list[str]:
    return [statement.text for statement in handoff.statements]


def after(old: list[HandoffStatement], *new: HandoffStatement, **fallen: ProofStatus) -> Handoff:
    """Return the updated handoff of another session than the old one."""
    return merge_handoffs(resumed(handoff_of(*old), **fallen), handoff_of(*new, sources=(OTHER,)))


def test_valid_statements_follow_new_ones_and_invalid_ones_are_dropped() -> None:
    old = [
        HandoffStatement(StatementSection.FILES, "held", FileProof("a.py", SHA)),
        HandoffStatement(StatementSection.FILES, "fell", FileProof("b.py", SHA)),
        HandoffStatement(
            StatementSection.DONE, "stale", ResultProof(0, False, MessageRef(0, 3), ("a.py",))
        ),
        HandoffStatement(StatementSection.DECISIONS, "guess"),
    ]
    new = HandoffStatement(StatementSection.DONE, "new")
    assert texts(after(old, new, fell=ProofStatus.STALE)) == ["new", "held", "guess"]


def test_repeated_statements_are_dropped() -> None:
    old = [
        HandoffStatement(StatementSection.FILES, "a.py: edited twice", FileProof("a.py", SHA)),
        HandoffStatement(StatementSection.MEMORY, "old name", NoteProof("tests.md", SHA)),
        HandoffStatement(StatementSection.ACTIVE, "clean", GitProof(SHA, "main", 0)),
        HandoffStatement(
            StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 2)), (), "Use uv."
        ),
        HandoffStatement(StatementSection.QUESTIONS, "now it is decided"),
    ]
    new = [
        HandoffStatement(
            StatementSection.FILES, "a.py: edited three times", FileProof("a.py", OTHER_SHA)
        ),
        HandoffStatement(StatementSection.MEMORY, "new name", NoteProof("tests.md", SHA)),
        HandoffStatement(StatementSection.DONE, "dirty", GitProof(SHA, "main", 2)),
        HandoffStatement(
            StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 9)), (), "Use uv."
        ),
        HandoffStatement(StatementSection.DECISIONS, "now it is decided"),
    ]
    assert after(old, *new).statements == tuple(new)


def test_repeated_words_are_recognized_as_the_document_has_them() -> None:
    """Line endings, control characters, and redactions."""
    key = "a1B2c3"
    quote = HandoffStatement(
        StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 2)), (), f"Use\r\n{key}\x07."
    )
    ran = HandoffStatement(
        StatementSection.DONE, f"`{key}` succeeded", ResultProof(0, False, MessageRef(0, 3))
    )
    old = [
        replace(quote, quote="Use\n[REDACTED:token:3]␇."),
        replace(ran, text="`[REDACTED:token:3]` succeeded"),
    ]
    new = handoff_of(quote, ran)
    merged = merge_handoffs(
        resumed(handoff_of(*old)), new, lambda text: text.replace(key, "[REDACTED:a:1]")
    )
    assert merged.statements == new.statements


def test_quotes_that_were_cut_at_another_place_are_dropped() -> None:
    """Another budget cuts a quotation at another place; another message may begin with the same
    words.
    """
    old = [
        HandoffStatement(
            StatementSection.DECISIONS, "cut", QuoteProof(MessageRef(0, 2)), (), "We keep it."
        ),
        HandoffStatement(
            StatementSection.DECISIONS,
            "another turn",
            QuoteProof(MessageRef(0, 3)),
            (),
            "We keep it.",
        ),
    ]
    whole = HandoffStatement(
        StatementSection.DECISIONS,
        "all",
        QuoteProof(MessageRef(0, 2)),
        (),
        "We keep it. Tests want it.",
    )
    assert texts(merge_handoffs(resumed(handoff_of(*old)), handoff_of(whole))) == [
        "all",
        "another turn",
    ]
    assert texts(merge_handoffs(resumed(handoff_of(whole)), handoff_of(old[0]))) == ["cut"]


def test_what_is_of_the_moment_is_that_of_now() -> None:
    moment = (
        StatementSection.OBJECTIVE,
        StatementSection.ACTIVE,
        StatementSection.BLOCKED,
        StatementSection.NEXT,
    )
    old = [HandoffStatement(section, f"old {section.value}") for section in moment]
    new = [
        HandoffStatement(section, f"new {section.value}", QuoteProof(MessageRef(0, 1)))
        for section in moment
    ]
    assert texts(after(old, *new)) == [statement.text for statement in new]
    # that nothing was found is no reason against the old ones
    nothing = [replace(statement, proof=None) for statement in new]
    merged = after(old, HandoffStatement(StatementSection.DONE, "x"), *nothing)
    assert texts(merged) == ["x", *(statement.text for statement in old)]


def test_kept_statements_name_their_session() -> None:
    old = [
        HandoffStatement(
            StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 2)), (), "Use uv."
        ),
        HandoffStatement(
            StatementSection.DONE,
            "tests",
            ResultProof(0, False, MessageRef(0, 5, "2026-10-05T09:00Z")),
        ),
    ]
    before = handoff_of(*old, files={"a.py": SHA, "b.py": SHA})
    new = handoff_of(
        HandoffStatement(StatementSection.NEXT, "x"), sources=(OTHER,), files={"b.py": OTHER_SHA}
    )
    merged = merge_handoffs(resumed(before), new)
    assert merged.header.sources == (OTHER, SESSION)
    assert [statement.proof for statement in merged.statements[1:]] == [
        QuoteProof(MessageRef(1, 2)),
        ResultProof(0, False, MessageRef(1, 5, "2026-10-05T09:00Z")),
    ]
    # the files of the result are listed, so that it can be checked again
    assert merged.header.files == {"a.py": SHA, "b.py": OTHER_SHA}


def test_guesses_of_a_session_that_was_read_again_are_dropped() -> None:
    old = handoff_of(
        HandoffStatement(StatementSection.DONE, "a guess"),
        HandoffStatement(StatementSection.FILES, "a.py", FileProof("a.py", SHA)),
    )
    new = handoff_of(HandoffStatement(StatementSection.NEXT, "x"))
    assert texts(merge_handoffs(resumed(old), new)) == ["x", "a.py"]
    # another engine's omission is no reason
    drafted = replace(old, header=replace(old.header, engine="claude-opus-5"))
    assert texts(merge_handoffs(resumed(drafted), new)) == ["x", "a guess", "a.py"]


def test_updated_again_nothing_changes() -> None:
    old = [
        HandoffStatement(
            StatementSection.CONSTRAINTS, "Rule", QuoteProof(MessageRef(0, 2)), (), "Use uv."
        ),
        HandoffStatement(StatementSection.DECISIONS, "guess"),
    ]
    new = handoff_of(HandoffStatement(StatementSection.DONE, "new"), sources=(OTHER,))
    once = merge_handoffs(resumed(handoff_of(*old)), new)
    assert merge_handoffs(resumed(once), new) == once
