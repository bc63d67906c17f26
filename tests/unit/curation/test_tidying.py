from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ricordo.curation.engines.rules import propose_tidying
from ricordo.lint.evidence import NotePair, NoteQuote, Relation
from ricordo.memory.change import AddLink, Merge, Retire
from tests.support.builders import note_text, open_memory


def acts(root: Path, files: Mapping[str, str], *pairs: NotePair) -> list[object]:
    return [it.act for it in propose_tidying(open_memory(root, files), pairs, ())]


def repeating(left: str, right: str) -> NotePair:
    return NotePair(Relation.REPEATS, NoteQuote(left, 0, ""), NoteQuote(right, 0, ""), "the same")


def test_notes_that_repeat_each_other_are_merged_without_losing_what_only_one_says(
    root: Path,
) -> None:
    files = {
        "a.md": note_text("a", "One change in each commit. The subject is imperative.\n"),
        "b.md": note_text("b", "One change in each commit. No emoji in the title.\n"),
    }
    (act,) = acts(root, files, repeating("a.md", "b.md"))
    assert isinstance(act, Merge)
    assert (act.path, act.other) == ("a.md", "b.md")
    assert act.text == files["a.md"] + "\nNo emoji in the title.\n"


def test_a_note_that_says_that_it_replaces_another_ends_it(root: Path) -> None:
    def dated(text: str, day: str) -> str:
        return text.replace("  type", f"  modified: {day}T08:00:00.000Z\n  type")

    old = dated(note_text("old-plan", "Weekly.\n"), "2026-01-01")
    new = dated(note_text("new-plan", "This replaces [[old-plan]]: daily.\n"), "2026-10-01")
    assert acts(root, {"old.md": old, "new.md": new}) == [Retire("old.md", "new.md")]


def test_a_note_that_replaces_only_a_part_of_another_ends_nothing(root: Path) -> None:
    new = note_text("new-plan", "- supersedes: partly [[old-plan]]\n").replace(
        "  type", "  modified: 2026-10-01T08:00:00.000Z\n  type"
    )
    old = note_text("old-plan", "Weekly.\n").replace(
        "  type", "  modified: 2026-01-01T08:00:00.000Z\n  type"
    )
    assert acts(root, {"old.md": old, "new.md": new}) == []


def test_one_form_that_was_filled_in_for_two_things_is_not_merged(root: Path) -> None:
    form = "Reviewed every quarter with the board. The budget of {} is {} euros.\n"
    files = {
        "mole/review.md": note_text("mole review", form.format("Levanto", 300)),
        "buoy/review.md": note_text("buoy review", form.format("Sines", 450)),
    }
    assert acts(root, files, repeating("mole/review.md", "buoy/review.md")) == []


def test_a_note_that_tells_what_took_its_place_stays(root: Path) -> None:
    old = note_text("old-plan", "Weekly until March. What took its place: [[new-plan]].\n")
    new = note_text("new-plan", "This replaces [[old-plan]]: daily.\n").replace(
        "  type", "  modified: 2026-10-01T08:00:00.000Z\n  type"
    )
    assert acts(root, {"old.md": old, "new.md": new}) == []


def test_a_link_alone_ends_no_note(root: Path) -> None:
    files = {
        "old.md": note_text("old-plan", "Weekly.\n"),
        "new.md": note_text("n", "See [[old-plan]].\n"),
    }
    assert acts(root, files) == []


def test_a_note_that_names_another_gets_a_link_once(root: Path) -> None:
    files = {
        "berths.md": note_text("berth-buffer", "Thirty minutes.\n"),
        "plan.md": note_text(
            "plan", "The planner keeps the berth-buffer.\n\nThe berth-buffer again.\n"
        ),
        "linked.md": note_text("linked", "Mind the berth-buffer, [[berth-buffer]].\n"),
        "path.md": note_text("path", "In notes/berth-buffer.md and `berth-buffer`.\n"),
    }
    assert acts(root, files) == [AddLink("plan.md", "berths.md")]


def test_words_of_a_sentence_name_no_note(root: Path) -> None:
    files = {
        "feedback_gate_key.md": note_text("Gate key", "The key of the gate hangs there.\n"),
        "radio.md": note_text("radio", "The box contains gate key and manual.\n"),
        "named.md": note_text("named", "The hook: see feedback_gate_key for it.\n"),
    }
    assert acts(root, files) == [AddLink("named.md", "feedback_gate_key.md")]
