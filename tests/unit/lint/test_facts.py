"""Facts about named things: tickets, milestones, branches and symbols with a state or a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.lint.contradictions.comparer import NoteComparer
from ricordo.lint.contradictions.facts import extract_facts
from ricordo.lint.evidence import Relation
from tests.support.builders import note_text, open_memory


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("PR #412 was merged on Tuesday.", [("#412", "done")]),
        ("The mole log says that AB-231 is not done yet.", [("ab-231", "open")]),
        ("Ladder: **M4 (pilot training) is next**.", [("m4", "open")]),
        ("- M4 step 2 — DONE, with all lamps lit", [("m4 step 2", "done")]),
        ("Next: **M5**, then the quay.", [("m5", "open")]),
        ("`feature/lamps` wurde noch nicht gemergt.", [("feature/lamps", "open")]),
        ("PR #58 已经合并。", [("#58", "done")]),
        ("`MAX_LAMPS` = 12.", [("MAX_LAMPS", "12")]),
        ("`mole_berths`: 3,156", [("mole_berths", "3156")]),
    ],
)
def test_state_and_value_are_read(text: str, facts: list[tuple[str, str]]) -> None:
    assert [(it.subject, it.value) for it in extract_facts(text)] == facts


@pytest.mark.parametrize(
    "text",
    [
        "AB-231 was open when the pilots came.",
        "M1–M4 done",
        "Merge PR #412 before the quay is done.",
        "`MAX_LAMPS` is 12 lamps shorter than the mole.",
        "`mole_berths`: 3,156 rows moved",
        "The quay is done.",
    ],
)
def test_past_range_order_and_unnamed_thing_give_no_fact(text: str) -> None:
    assert not list(extract_facts(text))


def contradictions(root: Path, **bodies: str) -> list[tuple[str, str, str]]:
    files = {f"{name}.md": note_text(name, f"{body}\n") for name, body in bodies.items()}
    return [
        (it.left.path, it.right.path, it.reason)
        for it in NoteComparer().pairs(open_memory(root, files))
        if it.relation is Relation.CONTRADICTS
    ]


def test_ticket_open_in_one_note_and_done_in_another_is_a_contradiction(root: Path) -> None:
    long = "The crane is new, the lamps are old, and of all that was planned PR #412 is still open"
    found = contradictions(
        root, a=f"{long}.", b="PR #412 merged, after all the pilots had seen it."
    )
    assert found == [("a.md", "b.md", "state of #412: open / merged")]


def test_short_code_counts_where_a_note_is_named_after_it(root: Path) -> None:
    bodies = {"a": "M4 is next.", "b": "M4 is done."}
    assert not contradictions(root, **bodies)
    found = contradictions(root, **bodies, m4="All about the pilots and their thermos.")
    assert found == [("a.md", "b.md", "state of m4: next / done")]


def test_log_entry_tells_what_was_open_on_its_day(root: Path) -> None:
    log = "## 2026-03-04\n\nPR #412 is still open."
    assert not contradictions(root, a=log, b="PR #412 is merged.")


def test_done_before_it_was_open_is_no_contradiction(root: Path) -> None:
    passages = (
        "# Lamps (2026-03-04)\n\nPR #412 is merged.",
        "# Quay (2026-05-06)\n\nPR #412 is open.",
    )
    assert not contradictions(root, a=passages[0], b=passages[1])
    swapped = [text.replace("03-04", "07-08") for text in passages]
    assert contradictions(root, a=swapped[0], b=swapped[1])


def test_version_before_a_word_for_hours_is_no_time(root: Path) -> None:
    found = contradictions(
        root,
        tide="The tide model starts at 0.3.0 pm.\nThe tide model is at version 0.3.0 am.\n",
        gauge="The tide model starts at 0.4.0 pm.\nThe tide model is at version 0.4.0 am.\n",
    )
    assert all("clock" not in reason for *_, reason in found)
