"""Lists of notes that give another status than the notes have."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.wiki import WIKI
from tests.unit.lint.apply_fix import apply_fix, find
from tests.unit.lint.conftest import Lint

RULE = "index-outdated-entry"
LINK = "[[quay-crane]]"


def page(status: str) -> str:
    return f"---\ntitle: Crane\nstatus: {status}\n---\n\nThe crane at the quay.\n"


OTHERS = {
    "ferry.md": page("in-progress"),
    "locks.md": page("done"),
    "buoys.md": page("On Hold"),
}
"""Pages that show which statuses the memory has."""


@pytest.mark.parametrize(
    ("line", "status", "corrected"),
    [
        (f"- {LINK} — todo · unassigned", "done", f"- {LINK} — done · unassigned"),
        (f"- {LINK} — **Planned**", "completed", f"- {LINK} — **completed**"),
        (f"- {LINK} (in progress)", "done", f"- {LINK} (done)"),
        (f"| {LINK} | crane | on hold |", "in-progress", f"| {LINK} | crane | in-progress |"),
        (f"- [ ] {LINK} — the crane", "done", f"- [x] {LINK} — the crane"),
        (f"- {LINK} — 待办", "done", f"- {LINK} — done"),
        (
            f"- {LINK} (No. 7, **TODO**, two tasks)",
            "done",
            f"- {LINK} (No. 7, **done**, two tasks)",
        ),
        (f"- {LINK} — `todo`, for Ana", "done", f"- {LINK} — `done`, for Ana"),
        (f"- {LINK} — todo.", "done", f"- {LINK} — done."),
        (f"- {LINK} — todo: the crane", "done", f"- {LINK} — done: the crane"),
    ],
)
@pytest.mark.parametrize("path", ["index.md", "plans/harbour.md"])
def test_an_item_with_another_status_than_its_note_is_corrected(
    tmp_path: Path, line: str, status: str, corrected: str, path: str
) -> None:
    files = {**OTHERS, "quay-crane.md": page(status), path: f"# Harbour\n\n{line}\n"}
    finding = find(tmp_path, files, RULE, layout=WIKI)
    assert (finding.path, finding.line) == (path, 3)
    assert finding.evidence == (f"quay-crane.md:3: status: {status}",)
    applied = apply_fix(tmp_path, files, RULE, layout=WIKI)
    assert applied.texts == {path: f"# Harbour\n\n{corrected}\n"}


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"- {LINK} — done", "completed"),
        (f"- {LINK} — In Progress", "in-progress"),
        (f"- {LINK} — in-progress, was on hold", "in-progress"),
        (f"- {LINK} — todo, then done", "done"),
        # words of a sentence, of one of two notes, of no other status
        (f"- {LINK} — what is done in winter", "in-progress"),
        (f"- {LINK} and [[ferry]] — todo", "done"),
        (f"- {LINK} — the crane at the quay", "done"),
        (f"- {LINK} — todo", "draft"),
        (f"- {LINK} — done", "step 3 of 5"),
        (f"See {LINK} — todo.", "done"),
        # one of several words of a phrase
        (f"- {LINK} — keys of the crane: on hold, todo, stop", "done"),
        (f"- {LINK} — `crane_hook`, on hold, its rope", "done"),
        (f"- {LINK} — what it tells (todo/on hold/stop)", "done"),
        (f"- [x] {LINK} — the crane", "done"),
        (f"- [ ] {LINK} — the crane", "in-progress"),
    ],
)
def test_any_other_item_is_not(lint: Lint, line: str, status: str) -> None:
    files = {**OTHERS, "quay-crane.md": page(status), "plans.md": f"# Harbour\n\n{line}\n"}
    assert lint(files, RULE, layout=WIKI) == ()


def test_where_the_entry_says_done_either_may_be_older(lint: Lint) -> None:
    files = {**OTHERS, "quay-crane.md": page("in-progress"), "plans.md": f"- {LINK} — DONE (3/3)\n"}
    (finding,) = lint(files, RULE, layout=WIKI)
    assert finding.message == "The entry says “DONE”, the status of its note is “in-progress”."
    assert finding.fix is None


def test_what_the_note_has_as_a_tag_is_no_status(lint: Lint) -> None:
    tagged = page("planned").replace("---\n\n", "tags: [crane, stub]\n---\n\n")
    stubs = {"stub.md": page("stub"), "index.md": f"- {LINK} (stub)\n"}
    assert lint({**stubs, "quay-crane.md": tagged}, RULE, layout=WIKI) == ()
    (found,) = lint({**stubs, "quay-crane.md": page("planned")}, RULE, layout=WIKI)
    assert "“stub”" in found.message


def test_a_note_that_names_another_in_its_frontmatter_alone_is_no_list(lint: Lint) -> None:
    naming = "---\ntitle: Quay\nsources: [quay-crane.md]\n---\n\nThe quay.\n"
    files = {**OTHERS, "quay-crane.md": page("done"), "quay.md": naming}
    assert lint(files, RULE, layout=WIKI) == ()


@pytest.mark.parametrize(
    "files",
    [
        {"plans.md": f"## 2026-03-01\n\n- {LINK} — todo\n"},
        {"2026-03-01 plans.md": f"- {LINK} — todo\n"},
        {"log.md": f"- {LINK} — todo\n"},
    ],
)
def test_what_was_so_on_a_day_is_not(lint: Lint, files: dict[str, str]) -> None:
    assert lint({**OTHERS, "quay-crane.md": page("done"), **files}, RULE, layout=WIKI) == ()


def test_one_note_in_several_lists_is_one_finding(lint: Lint) -> None:
    lists = {f"plans/{it}.md": f"- {LINK} — todo\n" for it in ("east", "west")}
    found = lint({**OTHERS, "quay-crane.md": page("done"), **lists}, RULE, layout=WIKI)
    assert [it.path for it in found] == list(lists)
    assert len({it.group_id for it in found} - {""}) == 1


def test_items_of_one_list_are_one_finding(lint: Lint) -> None:
    names = [f"crane_{number}" for number in range(4)]
    items = "".join(f"- [[{name}]] — todo\n" for name in names)
    files = {**{f"{name}.md": page("done") for name in names}, "plans.md": items}
    found = lint(files, RULE, layout=WIKI)
    assert len({it.group_id for it in found}) == 1
    assert [it.line for it in found] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("path", "pages", "count"),
    [("plans/harbour.md", 25, 0), ("index.md", 25, 1), ("plans/harbour.md", 5, 1)],
)
def test_a_page_that_lists_things_says_nothing_of_pages_that_are_complete_as_most_are(
    lint: Lint, path: str, pages: int, count: int
) -> None:
    files = {f"page-{number}.md": page("complete") for number in range(pages)}
    files |= {"quay-crane.md": page("complete"), path: f"# Harbour\n\n- [ ] {LINK}: lift 2 t\n"}
    assert len(lint({**files, **OTHERS}, RULE, layout=WIKI)) == count


def test_another_status_counts_beside_a_word_for_open_work(lint: Lint) -> None:
    files = {f"page-{number}.md": page("complete") for number in range(25)}
    line = f"- {LINK} — WIP — on hold\n"
    files |= {"quay-crane.md": page("complete"), "plans/harbour.md": f"# Harbour\n\n{line}"}
    (found,) = lint({**files, **OTHERS}, RULE, layout=WIKI)
    assert found.message == "The entry says “on hold”, the status of its note is “complete”."
