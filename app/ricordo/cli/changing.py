"""What the commands that change a memory share: begin, apply, say what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import note_change, tell
from ricordo.text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ricordo.memory.change import Change
    from ricordo.memory.change_set import ChangeSet, Edit
    from ricordo.memory.memory import Memory
    from ricordo.notebook.open import Notebook


def begin_reported(notebook: Notebook) -> Memory:
    """Return the memory, recorded and ready to be changed; notices go to stderr."""
    from ricordo.notebook.begin import begin

    memory, notices = begin(notebook)
    tell(notices)
    return memory


def begin_shown(notebook: Notebook) -> Memory:
    """Return the memory, recorded if that can be done; notices go to stderr."""
    from ricordo.notebook.begin import begin_to_show

    memory, notices = begin_to_show(notebook)
    tell(notices)
    return memory


def make(notebook: Notebook, memory: Memory, change: Change, done: str) -> None:
    """Apply one change and print `done` and the files that it touched."""
    from ricordo.notebook.change import put_together

    apply_reported(notebook, put_together(notebook, memory, [change]), done)


def apply_reported(notebook: Notebook, change_set: ChangeSet, done: str) -> None:
    """Apply a change set and print `done` and the files that it touched. Raises Conflict."""
    from ricordo.cli.output import print_lines
    from ricordo.notebook.change import apply_at_once

    _, merged = apply_at_once(notebook, change_set, by_hand=True)
    note_change(done)
    lines = [done, *told_edits(change_set.edits)]
    lines += [f"  {visible(path)}: merged with what somebody else wrote" for path in merged]
    lines += [f"  {remark}" for remark in change_set.remarks]
    print_lines([*lines, "`ricordo undo` takes it back."])


def told_edits(edits: Iterable[Edit]) -> list[str]:
    """Return what becomes of each file, a line each."""
    return [
        f"  {'created' if edit.before is None else 'removed' if edit.after is None else 'changed'} "
        f"{one_line(edit.path)}"
        for edit in edits
    ]
