"""Uncertain pairs: notes that may contradict or repeat each other."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.lint.contradictions.compare import find_contradiction, offer_candidate
from ricordo.lint.contradictions.comparer import MAX_RECENT, NoteComparer, find_related
from ricordo.lint.contradictions.records import pack_pairs, unpack_pairs
from ricordo.lint.evidence import Evidence, Relation
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.memory.memory import Memory
from tests.support.builders import note_text, open_memory
from tests.unit.lint.test_contradictions import PAIRS, SAME, rows

OWN = (
    "Lamps of the outer mole burn from dusk on, and whoever passes by writes them down.",
    "Pilots bring a thermos; coffee on board is nobody's business but the cook's.",
)
"""Text of only one note, so that no two are duplicates."""
SUMMARY = ("Ana wants the summary at the top.", "Ana wants the summary at the end.")
LOGGED = ("Errors must be logged as JSON.", "Errors must be logged as plain text.")


def of(memory: Memory) -> list[tuple[str, str, str]]:
    return [(it.relation.value, it.left.text, it.right.text) for it in NoteComparer().pairs(memory)]


def memory_of(root: Path, *bodies: str) -> Memory:
    files = {
        f"{name}.md": note_text(name, f"{body}\n\n{own}\n")
        for name, body, own in zip("ab", bodies, OWN, strict=True)
    }
    return open_memory(root, files)


def relation(left: str, right: str) -> Relation | None:
    if find_contradiction(left, right):
        return Relation.CONTRADICTS
    return Relation.MAY_CONTRADICT if offer_candidate(left, right) else None


def test_most_missed_contradictions_are_uncertain_pairs() -> None:
    judged = [relation(*pair) for name in PAIRS for is_true, *pair in rows(name) if is_true]
    missed = [it for it in judged if it is not Relation.CONTRADICTS]
    assert missed.count(Relation.MAY_CONTRADICT) >= 0.9 * len(missed)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ana wants the summary at the top.", "Ana wants the summary at the end."),
        ("Errors must be logged as JSON.", "Errors must be logged as plain text."),
        ("Ana's working hours are 8 to 16.", "Ana's working hours are 10 to 18."),
        ("The freeze starts on 3 December.", "The code freeze starts on 10 December."),
    ],
)
def test_different_values_of_one_subject_are_uncertain(left: str, right: str) -> None:
    assert relation(left, right) is relation(right, left) is Relation.MAY_CONTRADICT


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ana prefers short answers.", "Jonas prefers long answers."),
        ("The port was 8000.", "The port is 8100."),
        ("Maybe the summary goes to the top.", "The summary goes to the end."),
        ("Sample output", "Sample reference"),
        ("The lamps of the harbour are red.", "The pilots know every ferry by its horn."),
    ],
)
def test_other_person_time_or_subject_is_not_uncertain(left: str, right: str) -> None:
    assert relation(left, right) is not Relation.MAY_CONTRADICT


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Access tokens expire after 15 minutes.", "An access token stays good for a full day."),
        ("Every endpoint requires an API key.", "Endpoints can be called without any API key."),
        (
            "Run the migrations before you restart the workers.",
            "Restart workers first and apply migrations afterwards.",
        ),
        ("Um den Newsletter kümmert sich Anja.", "Für den Newsletter ist Moritz zuständig."),
        ("提交前必须跑一遍单元测试。", "单元测试交给 CI 跑，提交前不用在本地执行。"),
        ("ログは 30 日間保存する。", "ログの保存期間は 1 年で、それを過ぎると消える。"),
        ("배포 전에 반드시 팀장의 승인을 받아야 한다.", "배포는 승인 없이 각자 진행해도 된다."),
    ],
)
def test_other_wording_of_one_subject_is_offered(left: str, right: str) -> None:
    assert relation(left, right) is not None
    assert relation(right, left) is not None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            "The pilot list is kept in Airtable. Every change goes there first.",
            "Airtable was cancelled last spring; look for the pilot list in the harbour wiki.",
        ),
        (
            "Ask the harbour master before you close a lock.",
            "Locks are closed without asking the harbour master, he trusts the crew.",
        ),
        (
            "Die Lotsenliste verschickt Frau Hansen jeden Montag.",
            "Die Lotsenliste geht freitags raus. Frau Hansen macht das nicht mehr.",
        ),
        ("Le bac accoste toujours au quai nord.", "Le bac n'accoste plus au quai nord."),
        ("泊位表由林师傅维护，有变动找他。", "林师傅退休了，泊位表现在归小周维护。"),
        ("潮位は10分ごとに記録する。", "潮位の記録は1時間に1回だけ。"),
    ],
)
def test_free_wording_is_offered_whichever_comes_first(left: str, right: str) -> None:
    assert relation(left, right) is relation(right, left) is not None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Staging keeps logs for 3 days.", "Production keeps logs for 90 days."),
        ("Integration tests need the crane simulator.", "Unit tests never need the simulator."),
        ("Das Angebot ist 30 Tage gültig.", "Die Rechnung ist in 14 Tagen fällig."),
        ("iOS 版最低支持 15。", "安卓版最低支持 9。"),
        ("The tide is logged every 60 minutes.", "Once an hour the tide is logged."),
    ],
)
def test_other_thing_of_a_kind_or_same_value_in_free_wording_is_not_offered(
    left: str, right: str
) -> None:
    assert relation(left, right) is relation(right, left) is None


def test_what_is_said_beside_a_sentence_counts_in_a_memory(root: Path) -> None:
    memory = memory_of(
        root,
        "The weekly drill is on Tuesday.",
        "Thursday is the day of the drill. Nobody drills on any other day of the week.",
    )
    assert [it[0] for it in of(memory)] in (["may exclude"], ["excludes"])


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_are_compared_without_error_and_alike_in_both_orders(
    one: str, other: str
) -> None:
    assert relation(one, other) is relation(other, one)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Emails are sent through Mailgun.", "Next quarter we plan to move mails to SES."),
        ("Tests need Docker.", "Without a running Docker daemon the tests will not start."),
        ("The web client caches responses.", "The mobile client does not cache any response."),
        ("Das Passwort läuft nach 90 Tagen ab.", "Nach drei Monaten ist kein Passwort gültig."),
        ("去年用户量是 2 万。", "今年用户量已经到 5 万。"),
        ("開発環境ではメールを送信しない。", "本番ではメールを外部経由で送信する。"),
        ("관리자 페이지는 한국어만 지원한다.", "고객 페이지는 영어도 지원한다."),
    ],
)
def test_other_case_or_same_value_is_not_offered(left: str, right: str) -> None:
    assert relation(left, right) is relation(right, left) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("See [[harbour-dues]], [nowhere](gone.md).", "See [[harbour-dues]], [here](here.md)."),
        ("Os logs ficam no disco do servidor.", "Os logs ficam em disco do servidor."),
        ("Created: 2026-01-26 by the pilots", "Created: 2026-01-30 by the pilots"),
    ],
)
def test_links_and_fields_are_no_pair(root: Path, left: str, right: str) -> None:
    assert not of(memory_of(root, left, right))


def test_values_of_a_template_are_no_pair(root: Path) -> None:
    page = (
        "- The harbour dues are {} euros.\n- The mooring costs {} euros.\n- The water is {} euros."
    )
    filled = [page.format(*values) for values in ((40, 12, 3), (55, 14, 4), (70, 16, 5))]
    files = {
        f"{name}.md": note_text(name, f"{body}\n\n{own}\n")
        for name, body, own in zip("abc", filled, (*OWN, "Gulls are counted here."), strict=True)
    }
    assert not of(open_memory(root, files))
    (root / "c.md").unlink()
    del files["c.md"]
    assert of(open_memory(root, files))


def test_uncertain_pair_has_no_finding(root: Path) -> None:
    memory = memory_of(root, *SUMMARY)
    (pair,) = NoteComparer().pairs(memory)
    assert pair.relation is Relation.MAY_CONTRADICT
    assert not pair.relation.is_certain
    assert "top" in pair.reason
    linter = Linter({}, frozenset(("contradiction", "duplicate")))
    evidence = Evidence(pairs=(pair,))
    now = datetime(2026, 6, 1, tzinfo=UTC)
    assert not linter.run(memory, RuleContext(now, memory.layout, evidence=evidence))


def test_partly_same_notes_are_uncertain_duplicates(root: Path) -> None:
    whole = SAME.format("however small")
    memory = memory_of(root, whole, whole.split("\n\n")[1])
    assert [it[0] for it in of(memory)] == ["may repeat"]


def test_certain_pair_excludes_uncertain_one(root: Path) -> None:
    ports = [f"The web view listens on port {it}." for it in (8000, 8100)]
    memory = memory_of(root, *(f"{a}\n\n{b}" for a, b in zip(SUMMARY, ports, strict=True)))
    assert [it[0] for it in of(memory)] == ["excludes"]


def test_likeliest_uncertain_pair_of_two_notes_is_returned(root: Path) -> None:
    memory = memory_of(root, *(f"{a}\n\n{b}" for a, b in zip(LOGGED, SUMMARY, strict=True)))
    assert of(memory) == [("may exclude", *LOGGED)]


def test_only_notes_that_changed_last_have_uncertain_pairs(root: Path) -> None:
    memory = memory_of(root, *SUMMARY)
    later = {f"n{n}.md": note_text(f"n{n}", f"Lamp {n}.\n") for n in range(MAX_RECENT)}
    assert of(memory)
    for name in ("a.md", "b.md"):
        os.utime(root / name, (1, 1))
    assert not of(open_memory(root, later))


DISCARD = (
    "The discard undo of a card stays open: design wants it, and the lead of the team resists "
    "it because the list would need another column for what was thrown away, and nobody has "
    "the time for that before the fair.",
    "The discard undo of a card is settled: what was thrown away is only remembered while the "
    "list is on the screen, so that no other column is needed, and the lead of the team wants "
    "it now as much as design does.",
)
"""Too much is said of what is to be undone for a rule to offer it."""


def test_statements_on_one_subject_are_related_whenever_their_notes_changed(root: Path) -> None:
    memory = memory_of(root, *DISCARD)
    (pair,) = find_related(memory)
    assert (pair.relation, pair.left.text, pair.right.text) == (Relation.MAY_CONTRADICT, *DISCARD)
    assert pair.reason
    assert not of(memory)
    later = {f"n{n}.md": note_text(f"n{n}", f"Lamp {n}.\n") for n in range(MAX_RECENT)}
    for name in ("a.md", "b.md"):
        os.utime(root / name, (1, 1))
    assert find_related(open_memory(root, later)) == (pair,)


def test_of_two_notes_only_some_statements_are_related(root: Path) -> None:
    places = ("north quay", "fuel quay", "slipway", "outer mole")
    bodies = [
        "\n\n".join(f"The {place} is {state} on Sundays in winter." for place in places)
        for state in ("open", "closed")
    ]
    assert len(find_related(memory_of(root, *bodies))) == 2


@pytest.mark.parametrize("pair", [DISCARD, SUMMARY, ("Port 80 is used.", "Port 80 is unused.")])
def test_a_note_that_says_that_another_took_its_place_is_not_compared(
    root: Path, pair: tuple[str, str]
) -> None:
    memory = memory_of(root, *pair)
    assert of(memory) or find_related(memory)
    superseded = memory_of(root / "other", f"> Superseded by [[b]].\n\n{pair[0]}", pair[1])
    assert not of(superseded)
    assert not find_related(superseded)


@pytest.mark.parametrize(
    ("paths", "are_compared"),
    [
        (("plan-v3.md", "plan.md"), False),
        (("drafts/Plan v3.md", "plan-v4.1.md"), False),
        (("plan.md", "east/plan.md"), True),
        (("plan-v3.md", "quay.md"), True),
        (("v3.md", "v4.md"), True),
    ],
)
def test_versions_of_one_document_are_not_compared(
    root: Path, paths: tuple[str, str], are_compared: bool
) -> None:
    for number, pair in enumerate((DISCARD, SUMMARY)):
        files = {
            path: note_text(path, f"{said}\n\n{own}\n")
            for path, said, own in zip(paths, pair, OWN, strict=True)
        }
        memory = open_memory(root / str(number), files)
        assert bool(of(memory) or find_related(memory)) is are_compared


def test_unrelated_and_archived_statements_are_not_related(root: Path) -> None:
    assert not find_related(memory_of(root, SUMMARY[0], "Lamps are counted by the cook."))
    files = {
        "a.md": note_text("a", f"{DISCARD[0]}\n\n{OWN[0]}\n"),
        "archive/b.md": note_text("b", f"{DISCARD[1]}\n\n{OWN[1]}\n"),
    }
    assert not find_related(open_memory(root / "other", files))


def test_uncertain_pairs_survive_packing(root: Path) -> None:
    memory = memory_of(root, *SUMMARY)
    found = NoteComparer().pairs(memory)
    assert len(found) == 1
    assert unpack_pairs(pack_pairs(found, memory), memory) == found


def test_reason_contains_no_lower_case_secret(root: Path) -> None:
    bodies = [f"The admin password is {it}." for it in ("Tr0ub4dorCamogli", "C0rrectH0rseStaple")]
    memory = memory_of(root, *bodies)
    (found,) = NoteComparer().pairs(memory)
    assert found.relation is Relation.CONTRADICTS
    assert found.reason == "one slot"
    assert unpack_pairs(pack_pairs((found,), memory), memory) == (found,)


def test_facts_that_are_no_statements_survive_packing(root: Path) -> None:
    done = "The gateway of the harbour works.\n\n- [x] #147 is merged."
    memory = memory_of(root, "- [ ] #147 is still open.", done)
    found = NoteComparer().pairs(memory)
    assert [it.relation for it in found] == [Relation.CONTRADICTS]
    assert unpack_pairs(pack_pairs(found, memory), memory) == found
