"""What settling a conflict does to the notes, their descriptions and their entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.memory.change import ChangeSet, Rename
from ricordo.services.conflicts.conflicts import Conflict, Keep, find_conflicts
from ricordo.services.conflicts.resolution import (
    Resolution,
    compose_resolution,
    resolve_for_both,
    resolve_for_one,
)
from ricordo.services.edits.change import apply_merging
from ricordo.services.history.undo import redo, undo
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text, recorded
from tests.unit.services.test_protected import make

LAMPS = "Lamp alpha stands at the quay.\n"
WEB = "The web view listens on port {}.\n"


def files(left: str, right: str, **more: str) -> dict[str, str]:
    """Two notes and an index; `more` are descriptions and hooks: `a`, `b`, `hook_a`, `hook_b`."""
    hooks = (more.get("hook_a", "one"), more.get("hook_b", "the other"))
    return {
        "MEMORY.md": f"- [A](a.md) — {hooks[0]}\n- [B](b.md) — {hooks[1]}\n",
        "a.md": note_text("a", left, more.get("a", "Left")),
        "b.md": note_text("b", right, more.get("b", "Right")),
    }


def list_pairs(notebook: Notebook) -> tuple[Conflict, ...]:
    return find_conflicts(notebook.read_snapshot_with_evidence())


def composed(notebook: Notebook, settled: Resolution) -> ChangeSet:
    return compose_resolution(notebook, notebook.read(), settled)


def keep(notebook: Notebook, conflict: Conflict, side: Keep) -> ChangeSet:
    return composed(notebook, resolve_for_one(notebook.read(), conflict, side))


def scoped(notebook: Notebook, conflict: Conflict, left: str, right: str) -> ChangeSet:
    return composed(notebook, resolve_for_both(notebook.read(), conflict, left, right))


def write(notebook: Notebook, change_set: ChangeSet) -> None:
    apply_merging(notebook, change_set, by_hand=True)


def text(notebook: Notebook, path: str) -> str:
    return Path(notebook.place.root, path).read_text("utf-8")


@pytest.mark.parametrize("words", [("against staging", ""), ("", "of the office")])
def test_both_that_are_true_are_told_no_more_whatever_was_said_of_them(
    tmp_path: Path, words: tuple[str, str]
) -> None:
    notebook = recorded(tmp_path, files(WEB.format(8040) + LAMPS, WEB.format(8100) + LAMPS))
    (conflict,) = list_pairs(notebook)
    change_set = scoped(notebook, conflict, *words)
    assert change_set.dismisses, "the words do not part them for whoever only compares"
    assert "dismissed as no conflict" in change_set.warnings[-1]
    write(notebook, change_set)
    assert list_pairs(notebook) == ()
    undo(notebook)
    assert [it.id for it in list_pairs(notebook)] == [conflict.id]
    redo(notebook)
    assert list_pairs(notebook) == ()
    b = Path(notebook.place.root, "b.md")
    b.write_text(b.read_text("utf-8").replace("8100", "8200"), "utf-8")
    assert len(list_pairs(notebook)) == 1, "another text is another conflict"


def test_a_scope_is_written_wherever_the_claim_is(tmp_path: Path) -> None:
    given = files(
        WEB.format(8040), WEB.format(8100), a="Web view on 8040", hook_a="8040, see the bookmark"
    )
    notebook = recorded(tmp_path, given)
    (conflict,) = list_pairs(notebook)
    write(notebook, scoped(notebook, conflict, "until May", ""))
    assert "port 8040 until May.\n" in text(notebook, "a.md")
    assert "description: Web view on 8040 until May\n" in text(notebook, "a.md")
    assert "— 8040, see the bookmark until May\n" in text(notebook, "MEMORY.md")
    assert text(notebook, "b.md") == given["b.md"]


@pytest.mark.parametrize("words", ["elsewhere", "if CI is set", "only on Sundays", "lokal"])
def test_no_preposition_is_put_before_what_needs_none(tmp_path: Path, words: str) -> None:
    notebook = recorded(tmp_path, files(WEB.format(8040), WEB.format(8100)))
    (conflict,) = list_pairs(notebook)
    write(notebook, scoped(notebook, conflict, words, "laptops"))
    assert f"port 8040 {words}.\n" in text(notebook, "a.md")
    assert "port 8100 for laptops.\n" in text(notebook, "b.md")


def test_one_conflict_of_two_leaves_the_other_told(tmp_path: Path) -> None:
    cache = "{} is used for caching.\n"
    notebook = recorded(
        tmp_path,
        files(
            WEB.format(8040) + "\n" + cache.format("Redis"),
            WEB.format(8100) + "\n" + cache.format("Memcached"),
        ),
    )
    port, _ = list_pairs(notebook)
    write(notebook, scoped(notebook, port, "", "on laptops"))
    assert "Memcached is used for caching.\n" in text(notebook, "b.md")
    assert [it.left.quote.text for it in list_pairs(notebook)] == ["Redis is used for caching."]
    undo(notebook)
    write(notebook, keep(notebook, list_pairs(notebook)[0], Keep.LEFT))
    assert "port 8040." in text(notebook, "b.md")
    assert "Memcached is used for caching.\n" in text(notebook, "b.md")


def test_what_is_kept_follows_into_the_description_and_the_entry(tmp_path: Path) -> None:
    notebook = recorded(
        tmp_path,
        files(
            WEB.format(8040),
            WEB.format(8100) + "\n" + LAMPS + "\nTry http://harbour:8100/ first.\n",
            b="Web view at 8100, lamps",
            hook_b="`8100`, bookmarked",
        ),
    )
    (conflict,) = list_pairs(notebook)
    change_set = keep(notebook, conflict, Keep.LEFT)
    write(notebook, change_set)
    b = text(notebook, "b.md")
    assert "description: Web view at 8040, lamps\n" in b
    assert WEB.format(8040) in b
    assert LAMPS in b
    assert "[B](b.md) — `8040`, bookmarked\n" in text(notebook, "MEMORY.md")


def test_a_claim_that_is_made_twice_is_corrected_twice(tmp_path: Path) -> None:
    again = "The web view listens on port {}, at the office as well as on laptops.\n"
    body = WEB.format(8100) + "\n" + LAMPS + "\n" + again.format(8100)
    notebook = recorded(tmp_path, files(WEB.format(8040), body))
    (conflict,) = list_pairs(notebook)
    change_set = keep(notebook, conflict, Keep.LEFT)
    assert not change_set.warnings
    write(notebook, change_set)
    assert again.format(8040) in text(notebook, "b.md")


def test_two_statements_on_one_line_are_both_corrected(tmp_path: Path) -> None:
    body = WEB.format(8100).strip() + " " + LAMPS.strip() + " So the web view is on 8100.\n"
    notebook = recorded(tmp_path, files(WEB.format(10040), body))
    (conflict,) = list_pairs(notebook)
    write(notebook, keep(notebook, conflict, Keep.LEFT))
    assert body.replace("8100", "10040") in text(notebook, "b.md")


def test_a_claim_in_other_words_is_replaced_whole(tmp_path: Path) -> None:
    left, right = "`tools/sync.py` was removed.\n", "Run `tools/sync.py` before a merge.\n"
    notebook = recorded(tmp_path, files(left, right + "\n" + LAMPS))
    (conflict,) = list_pairs(notebook)
    write(notebook, keep(notebook, conflict, Keep.LEFT))
    assert f"\n\n{left}\n{LAMPS}" in text(notebook, "b.md")


def test_an_entry_in_a_table_stays_a_row(tmp_path: Path) -> None:
    given = files(WEB.format(8040), WEB.format(8100))
    given["MEMORY.md"] = "| note | hook |\n|---|---|\n| [B](b.md) | port 8100 |\n"
    notebook = recorded(tmp_path, given)
    (conflict,) = list_pairs(notebook)
    write(notebook, scoped(notebook, conflict, "", "on a|b"))
    assert text(notebook, "MEMORY.md").endswith("| [B](b.md) | port 8100 on a/b |\n")


def test_lines_that_still_claim_what_was_given_up_are_told(tmp_path: Path) -> None:
    body = WEB.format(8100) + "\n" + LAMPS + "\nThe bookmark says port 8100.\n"
    notebook = recorded(tmp_path, files(WEB.format(8040), body))
    (conflict,) = list_pairs(notebook)
    line = text(notebook, "b.md").split("\n").index("The bookmark says port 8100.") + 1
    assert f"b.md:{line} still says “8100”." in keep(notebook, conflict, Keep.LEFT).warnings


@pytest.mark.parametrize(
    ("beside", "is_retired"),
    [
        ("", True),
        (
            "**Why:** the office has a bookmark.\n\n**How to apply:** start it with `make web`.\n",
            True,
        ),
        ("See [[a]] and [the map](map.md).\n", True),
        (LAMPS, False),
    ],
)
def test_only_a_note_that_says_nothing_else_is_retired(
    tmp_path: Path, beside: str, is_retired: bool
) -> None:
    given = files(WEB.format(8040), WEB.format(8100) + "\n" + beside, b="The web view's port: 8100")
    notebook = recorded(tmp_path, given)
    (conflict,) = list_pairs(notebook)
    write(notebook, keep(notebook, conflict, Keep.LEFT))
    assert Path(notebook.place.root, "b.md").exists() != is_retired
    if not is_retired:
        assert beside in text(notebook, "b.md")


def test_what_the_kept_note_says_too_goes_with_the_other(tmp_path: Path) -> None:
    given = files(WEB.format(8040) + "\n" + LAMPS, WEB.format(8100) + "\n" + LAMPS)
    notebook = recorded(tmp_path, given)
    (conflict,) = list_pairs(notebook)
    write(notebook, keep(notebook, conflict, Keep.LEFT))
    assert not Path(notebook.place.root, "b.md").exists()


def test_a_dismissed_conflict_stays_away_when_a_note_gets_another_name(tmp_path: Path) -> None:
    notebook = recorded(tmp_path, files(WEB.format(8040), WEB.format(8100)))
    (conflict,) = list_pairs(notebook)
    notebook.dismiss(conflict.id)
    # behind the other one, so that the sides change places
    make(notebook, Rename("a.md", "z.md", "z"))
    assert list_pairs(notebook) == ()
    assert len(notebook.read_snapshot().dismissed) == 1


def test_two_conflicts_of_the_same_words_are_two(tmp_path: Path) -> None:
    given = files(WEB.format(8040), WEB.format(8100))
    given["c.md"] = note_text("c", WEB.format(8100) + "\n" + LAMPS)
    notebook = recorded(tmp_path, given)
    first, second = list_pairs(notebook)
    assert first.id != second.id
    assert (first.right.quote.path, second.right.quote.path) == ("b.md", "c.md")
