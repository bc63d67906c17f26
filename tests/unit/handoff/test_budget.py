"""A handoff keeps to its budget: the priority is documented, a statement is included as a
whole.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.agent import Agent
from ricordo.errors import WrongUsage
from ricordo.handoff.budget import SECTION_PRIORITY, count_tokens, fit_to_budget
from ricordo.handoff.document import (
    Handoff,
    HandoffStatement,
    QuoteProof,
    StatementSection,
    handoff_targets,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.format import normalize, render
from tests.unit.handoff.test_document import handoff_of, handoffs


def with_budget(handoff: Handoff, budget: int) -> Handoff:
    return fit_to_budget(replace(handoff, header=replace(handoff.header, budget=budget)))


def left(handoff: Handoff) -> list[str]:
    return [statement.text for statement in handoff.statements]


@given(handoffs, st.integers(100, 3000))
def test_no_budget_is_exceeded_and_what_is_left_out_is_counted(
    handoff: Handoff, budget: int
) -> None:
    handoff = normalize(handoff)
    try:
        limited = with_budget(handoff, budget)
    except WrongUsage:
        bare = replace(handoff, header=replace(handoff.header, files={}, dirty=()))
        each = [replace(bare, statements=(statement,)) for statement in handoff.statements]
        taken = budget // 4 if handoff.header.files or handoff.header.dirty else 0
        assert all(count_tokens(statement) > budget - taken - 15 for statement in each or [bare])
        return
    assert count_tokens(limited) <= budget
    kept, whole = limited.statements, iter(handoff.statements)
    assert all(statement in whole for statement in kept)
    assert len(kept) + limited.left_out == len(handoff.statements) + handoff.left_out
    head, before = limited.header, handoff.header
    listed = len(head.files) + len(head.dirty)
    assert listed + head.unlisted == len(before.files) + len(before.dirty) + before.unlisted


def test_the_first_of_every_section_come_before_the_rest_of_any() -> None:
    # the later ones are longer, so that none fits into the room that another one left
    each = [
        HandoffStatement(section, f"{section.value} {number} {'x' * (80 if number < 3 else 200)}")
        for section in StatementSection
        for number in range(6)
    ]
    for budget in range(500, 3500, 100):
        kept = left(with_budget(handoff_of(*each), budget))
        rest = [statement for statement in kept if int(statement.split()[-2]) >= 3]
        firsts = [statement for statement in kept if int(statement.split()[-2]) < 3]
        assert not rest or len(firsts) == 3 * len(StatementSection)


def test_sections_get_room_in_their_order() -> None:
    assert sorted(SECTION_PRIORITY) == sorted(StatementSection)
    # each longer than the one before, so that none fits into the room that another one left
    one_each = [
        HandoffStatement(section, "x" * (100 + 40 * SECTION_PRIORITY.index(section)))
        for section in StatementSection
    ]
    for budget in range(400, 1700, 50):
        kept = {
            statement.section for statement in with_budget(handoff_of(*one_each), budget).statements
        }
        assert kept == set(SECTION_PRIORITY[: len(kept)])


def test_a_long_statement_comes_after_the_others_and_is_never_cut() -> None:
    pasted = "long " * 2000
    long = HandoffStatement(
        StatementSection.OBJECTIVE, "Asked first", QuoteProof(MessageRef(0, 1)), (), pasted.strip()
    )
    short = [HandoffStatement(StatementSection.DONE, f"{number} done") for number in range(20)]
    limited = with_budget(handoff_of(long, *short), 1500)
    assert (len(limited.statements), limited.left_out) == (20, 1)
    assert "1 more statement was left out: no room in the budget, or" in render(limited)
    assert pasted.strip() in render(with_budget(handoff_of(long, *short), 4000))


def test_a_header_that_does_not_fit_reports_its_size() -> None:
    with pytest.raises(WrongUsage, match=r"header alone needs about \d+ tokens"):
        with_budget(handoff_of(), 50)
    with pytest.raises(WrongUsage, match="fits no statement"):
        with_budget(
            handoff_of(HandoffStatement(StatementSection.NEXT, "x" * 400)),
            count_tokens(handoff_of()) + 30,
        )


def test_a_thousand_files_take_a_quarter_of_the_budget() -> None:
    paths = {f"src/module_{number}/file_{number}.py": "3f2a91c0b7d4" for number in range(1000)}
    limited = with_budget(
        handoff_of(HandoffStatement(StatementSection.NEXT, "Go on."), files=paths), 4000
    )
    assert left(limited) == ["Go on."]
    assert 50 < len(limited.header.files) < 120
    assert limited.header.unlisted == 1000 - len(limited.header.files)
    assert count_tokens(limited) < 1500


@pytest.mark.parametrize("target", handoff_targets())
def test_headings_are_part_of_the_budget(target: Agent) -> None:
    one_each = [HandoffStatement(section, "x") for section in StatementSection]
    handoff = handoff_of(*one_each, target=target)
    # the line about left-out statements is always reserved
    limited = with_budget(handoff, count_tokens(handoff) + 25)
    assert limited.left_out == 0
