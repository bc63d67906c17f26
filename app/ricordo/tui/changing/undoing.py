"""Taking the last act back, and doing it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ricordo.notebook.change import Merged
from ricordo.notebook.undo import TakenBack, ToBeSeen, redo, undo

if TYPE_CHECKING:
    from ricordo.notebook.open import Notebook
    from ricordo.tui.changing.writing import Writing


async def undo_last(writing: Writing) -> frozenset[str]:
    """Take back the last act and say which; return what it was about. Raises what `undo` raises."""
    return await _turn(writing, undo, "Undone")


async def redo_last(writing: Writing) -> frozenset[str]:
    """Do again what was undone last, say what, and return what it was about. Raises what `redo`
    raises.
    """
    return await _turn(writing, redo, "Done again")


async def _turn(
    writing: Writing, act: Callable[[Notebook], TakenBack | ToBeSeen], word: str
) -> frozenset[str]:
    outcome = await asyncio.to_thread(act, writing.notebook)
    told = f"{word}: {outcome.told}."
    if isinstance(outcome, TakenBack):
        await writing.wrote(edit.path for edit in outcome.edits)
        writing.tell(told)
        return outcome.about
    if isinstance(outcome.outcome, Merged):
        approved = await writing.look_again(outcome.outcome)
        if approved is not None:
            await writing.write_and_tell(approved, told, outcome.undoes)
    else:
        await writing.show_overlap(outcome.outcome)
    return frozenset()
