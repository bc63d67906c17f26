"""What may be applied unseen is told by its bytes, whatever it calls itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ricordo.curation.routine import is_routine
from ricordo.memory.change import (
    AddEntry,
    Change,
    ChangeOperation,
    Create,
    EditLine,
    Insert,
    Replace,
    Retire,
    Rewrite,
)
from ricordo.memory.compose import compose
from tests.support.builders import note_text, open_memory

INDEX = "# Memory\n\n- [Tides](tides.md) — which port\n- [Ports](ports.md) — where\n"
FAULTY = "---\nname: locks\ndescription: The locks: when they close\n---\n\nAt nine.\n"
FILES = {
    "MEMORY.md": INDEX,
    "tides.md": note_text("tides", "See [the berths](berths.md), [[old_quay]], [[ports]].\n"),
    "ports.md": note_text("ports", "Sines.\n", "All ports"),
    "locks.md": FAULTY,
    "quay.md": note_text("quay", "Long.\n", "The long quay"),
}
RENAMED = {"berths.md": "ports.md", "old_quay.md": "quay.md"}


def routine(root: Path, *acts: ChangeOperation, files: Mapping[str, str] = FILES) -> bool:
    memory = open_memory(root, files)
    edits = compose(memory, [Change(act, "index-missing-file: harmless") for act in acts]).edits
    assert edits
    return is_routine(memory, edits, RENAMED)


def text(path: str, old: str, new: str) -> Rewrite:
    assert old in FILES[path]
    return Rewrite(path, FILES[path].replace(old, new))


def test_an_entry_for_a_note_that_has_none(root: Path) -> None:
    assert routine(root, AddEntry("MEMORY.md", "quay.md"))
    assert routine(root, AddEntry("MEMORY.md", "quay.md", "- [quay](quay.md) — The long quay"))


@pytest.mark.parametrize(
    "act",
    [
        # it has one already
        AddEntry("MEMORY.md", "ports.md"),
        # says what the note does not
        AddEntry("MEMORY.md", "quay.md", "- [quay](quay.md) — Always deploy on Fridays"),
        # a line that lists no note
        Insert("MEMORY.md", 4, "Ask Rui.\n"),
        # with a change of another line
        Rewrite("MEMORY.md", INDEX.replace("which port", "what") + "- [quay](quay.md)\n"),
        # two at once
        Rewrite("MEMORY.md", f"{INDEX}- [quay](quay.md)\n- [locks](locks.md)\n"),
        Create("crane.md", note_text("crane", "Old.\n")),
    ],
)
def test_other_lines_of_an_index_are_not_routine(root: Path, act: ChangeOperation) -> None:
    assert not routine(root, act)


@pytest.mark.parametrize(("lines", "fits"), [(196, True), (197, False), (400, False)])
def test_an_entry_has_to_fit_the_load(root: Path, lines: int, fits: bool) -> None:
    index = INDEX.replace("# Memory\n", "# Memory\n" + "A line.\n" * (lines - 1))
    files = {**FILES, "MEMORY.md": index}
    assert routine(root, AddEntry("MEMORY.md", "quay.md"), files=files) == fits


def test_a_link_that_follows_a_renamed_note(root: Path) -> None:
    assert routine(root, Replace("tides.md", "](berths.md)", "](ports.md)"))
    assert routine(root, Replace("tides.md", "[[old_quay]]", "[[quay]]"))


@pytest.mark.parametrize(
    "act",
    [
        # to a note that was not renamed so
        Replace("tides.md", "](berths.md)", "](quay.md)"),
        Replace("tides.md", "[[old_quay]]", "[[tides]]"),
        # of a link that is not broken
        Replace("tides.md", "[[ports]]", "[[quay]]"),
        # with its text, or the text around it
        Replace("tides.md", "[the berths](berths.md)", "[the ports](ports.md)"),
        Replace("tides.md", "See [the berths](berths.md)", "Ask [the berths](ports.md)"),
        Replace("tides.md", "[[old_quay]]", "the quay"),
        Retire("quay.md", "ports.md"),
    ],
)
def test_other_changes_of_links_are_not_routine(root: Path, act: ChangeOperation) -> None:
    assert not routine(root, act)


def test_frontmatter_that_is_quoted(root: Path) -> None:
    for quoted in (f'"{VALUE}"', f"'{VALUE}'"):
        assert routine(root, text("locks.md", VALUE, quoted))


VALUE = "The locks: when they close"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("locks.md", VALUE, '"When they close"'),
        ("locks.md", VALUE, "When they close"),
        # with the body
        ("locks.md", f"{VALUE}\n---\n\nAt", f'"{VALUE}"\n---\n\nBy'),
        # where nothing was wrong
        ("quay.md", "The long quay", '"The long quay"'),
    ],
)
def test_other_changes_of_frontmatter_are_not_routine(
    root: Path, path: str, old: str, new: str
) -> None:
    assert not routine(root, text(path, old, new))


def test_a_second_entry_that_says_no_more(root: Path) -> None:
    files = {**FILES, "MEMORY.md": f"{INDEX}- [Tides](tides.md) — which port\n"}
    act = EditLine("MEMORY.md", 5, "- [Tides](tides.md) — which port", None)
    assert routine(root, act, files=files)
    # whichever of the two goes
    assert routine(root, EditLine("MEMORY.md", 3, act.old, None), files=files)


@pytest.mark.parametrize(
    "second",
    [
        "- [Tides](tides.md) — never on Mondays",
        "- [Quay](quay.md)",
        "- [Tides](tides.md), [Ports](ports.md)",
        "Ask Rui.",
    ],
)
def test_what_says_more_or_is_the_only_one_is_not_routine(root: Path, second: str) -> None:
    files = {**FILES, "MEMORY.md": f"{INDEX}{second}\n"}
    assert not routine(root, EditLine("MEMORY.md", 5, second, None), files=files)


def test_an_entry_that_agents_are_given_does_not_go_for_one_that_they_are_not(root: Path) -> None:
    line = "- [Tides](tides.md) — which port"
    index = f"{line}\n" + "A line.\n" * 300 + f"{line}\n"
    files = {**FILES, "MEMORY.md": index}
    assert not routine(root, EditLine("MEMORY.md", 1, line, None), files=files)
    assert routine(root, EditLine("MEMORY.md", 302, line, None), files=files)
