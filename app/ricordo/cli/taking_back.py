"""What undo and redo share on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.changing import begin_reported, told_edits
from ricordo.cli.opening import open_notebook_or_project
from ricordo.text import visible

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from ricordo.memory.change_set import Edit
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings
    from ricordo.notebook.undo import TakenBack, ToBeSeen


def take_back(
    options: Namespace,
    surroundings: Surroundings,
    act: Callable[[Notebook], TakenBack | ToBeSeen],
    word: str,
) -> int:
    """Undo or redo by `act`; a clean merge with what others wrote since is applied and told."""
    from ricordo.cli.output import note_change, print_lines
    from ricordo.notebook.change import Overlap, apply_at_once
    from ricordo.notebook.undo import ToBeSeen

    notebook = open_notebook_or_project(options, surroundings)
    begin_reported(notebook)
    outcome = act(notebook)
    merged: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    if isinstance(outcome, ToBeSeen):
        if isinstance(outcome.outcome, Overlap):
            raise outcome.outcome.error()
        change_set = outcome.outcome.change_set
        edits = change_set.edits
        _, later = apply_at_once(notebook, change_set, by_hand=True, undoes=outcome.undoes)
        # where others had done the same, nothing is left to be merged
        both = [edit.path for edit in edits if edit.path in outcome.outcome.files]
        merged = tuple(dict.fromkeys((*both, *later)))
    else:
        edits = outcome.edits
    note_change(f"{word}: {outcome.told}")
    print_lines(
        [f"{word}: {outcome.told}", *told_edits(edits)]
        + [f"  {visible(path)}: merged with what somebody else wrote" for path in merged]
    )
    return 0
