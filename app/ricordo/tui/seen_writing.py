"""Writing a change set for a screen of its own: what was merged is seen once more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ricordo.disk.door import Applied
from ricordo.errors import RicordoError
from ricordo.notebook.change import Overlap, apply_or_merge
from ricordo.text import clip
from ricordo.tui.screens.proposal import ProposalScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from ricordo.memory.change_set import ChangeSet
    from ricordo.notebook.open import Notebook
    from ricordo.tui.palette import Palette


async def write_seen(
    screen: Screen[Any], notebook: Notebook, change_set: ChangeSet | None, palette: Palette
) -> bool:
    """Apply `change_set`, which the person has seen; say whether it was written. What could not be
    is told on `screen`. To be called from a worker.
    """
    while change_set:
        try:
            outcome = await asyncio.to_thread(apply_or_merge, notebook, change_set)
        except RicordoError as error:
            screen.notify(str(error), severity="error", markup=False, timeout=10)
            return False
        if isinstance(outcome, Applied):
            return True
        if isinstance(outcome, Overlap):
            screen.notify(str(outcome.error()), severity="error", markup=False, timeout=10)
            return False
        files = ", ".join(clip(path, 60) for path in outcome.files)
        title = "Merged with what somebody else wrote: look again"
        words = (f"Meanwhile somebody else changed other lines of {files}.",)
        merged = ProposalScreen(title, outcome.change_set, palette, words)
        change_set = await screen.app.push_screen_wait(merged) if outcome.change_set else None
    return False
