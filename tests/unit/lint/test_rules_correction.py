from __future__ import annotations

from .conftest import Lint, note

FILLER = "".join(f"- [Filler {i}](f.md#{i})\n" for i in range(210))


def _memory(
    old: str, new: str, body: str = "x", dates: tuple[str, str] = ("1", "2")
) -> dict[str, str]:
    index = f"- [Old](old-rule.md) — {old}\n{FILLER}- [New](new-rule.md) — {new}\n"
    return {
        "MEMORY.md": index,
        "f.md": note("x", "f"),
        "old-rule.md": note("x", "old-rule", modified=f"2026-01-0{dates[0]}"),
        "new-rule.md": note(body, "new-rule", modified=f"2026-01-0{dates[1]}"),
    }


def test_later_entry_that_contradicts_a_loaded_one_is_a_lost_correction(lint: Lint) -> None:
    files = _memory("The API listens on port 8080.", "The API listens on port 9090.")
    (found,) = lint(files, "lost-correction")
    assert found.line == 212
    assert "8080" in found.evidence[0]
    assert "9090" in found.evidence[1]


def test_earlier_entry_corrects_nothing(lint: Lint) -> None:
    old, new = "The API listens on port 8080.", "The API listens on port 9090."
    assert lint(_memory(old, new, dates=("2", "1")), "lost-correction") == ()


def test_without_dates_the_entry_further_down_is_the_later_one(lint: Lint) -> None:
    files = _memory("The API listens on port 8080.", "The API listens on port 9090.")
    undated = {name: text.replace("modified: ", "kept: ") for name, text in files.items()}
    assert len(lint(undated, "lost-correction")) == 1


def test_compatible_entries_are_no_correction(lint: Lint) -> None:
    for old, new in (
        ("The user likes Python.", "The user likes Rust."),
        ("The API listens on port 8080.", "The worker listens on port 9090."),
        ("User uses Python.", "User uses Python 3.11."),
    ):
        assert lint(_memory(old, new), "lost-correction") == ()


def test_note_that_names_what_it_replaces_is_a_lost_correction(lint: Lint) -> None:
    for body in ("This replaces [[old-rule]].", "Ersetzt [die alte](old-rule.md)."):
        assert lint(_memory("Use npm", "Packages", body), "lost-correction")


def test_note_that_only_links_is_no_correction(lint: Lint) -> None:
    assert lint(_memory("Use npm", "Packages", "See [[old-rule]]."), "lost-correction") == ()
