"""Repair what a diagnosis found: as change sets, shown first and applied by the one writer."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ricordo.agents.registry import place_from_directory, recognise
from ricordo.errors import ChangeRefused, WriteFailed
from ricordo.memory.join import join_memories
from ricordo.memory.memory import Memory
from ricordo.services.doctor.problem import MoveRepair
from ricordo.services.edits.change import apply_merging
from ricordo.services.history.recovery import read_and_record
from ricordo.services.history.undo import UndoToConfirm, record_created, remove_created, undo
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.database import Database
from ricordo.storage.own_folder import remove_empty_folders
from ricordo.storage.reader import read_memory
from ricordo.storage.state_file import create_private_directory
from ricordo.text import make_visible

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet, Edit
    from ricordo.services.workspace.environment import Environment
    from ricordo.settings.settings import Settings


class Repaired(NamedTuple):
    """What a repair did besides its change."""

    merged: tuple[str, ...]
    """The paths of files that were merged with changes of others."""
    messages: tuple[str, ...]
    """What happened to the history, a sentence each."""


def build_repair(repair: MoveRepair, environment: Environment) -> ChangeSet:
    """Return the change set of a repair; nothing is written. Raises ChangeRefused, MemoryNotFound
    and MemoryUnreadable, and StateUnusable where it could not be recorded.
    """
    database = Database(environment.state)
    source = read_memory(os.path.realpath(repair.source), recognise(repair.source))
    target = _read_target(repair, source)
    for memory in (source, target):
        database.check_location(memory.root)
    change_set = join_memories(
        source, target, repair.title, repair.reason, repair.only, keeps_names=repair.is_of_part
    )
    if damage := database.find_damage():
        told = f"The history is damaged ({damage}): it is moved aside first, and a new one begins."
        change_set = replace(change_set, warnings=(*change_set.warnings, told))
    return change_set


def _read_target(repair: MoveRepair, source: Memory) -> Memory:
    """Return the memory to which notes move; an empty one where it is not there yet."""
    root = os.path.realpath(repair.target)
    if root == source.root:
        raise ChangeRefused("Both memories are the same directory.")
    if not os.path.isdir(root):
        return Memory(root, source.layout, ())
    target = read_memory(root, recognise(root))
    # of an empty directory nothing shows whose memory it is
    return target if target.files else Memory(root, source.layout, (), target.others)


def list_shown_edits(change_set: ChangeSet) -> list[Edit]:
    """Return the edits of a repair as they are shown: a note that moves as one edit, which has the
    text that it had before.
    """
    sources = {edit.key: edit for edit in change_set.edits}
    origins = {(it.moved_from_root, it.moved_from) for it in change_set.edits if it.moved_from}
    return [
        replace(edit, before=sources[origin].before)
        if (origin := (edit.moved_from_root, edit.moved_from)) in sources
        else edit
        for edit in change_set.edits
        if edit.key not in origins or edit.after is not None
    ]


def apply_repair(
    repair: MoveRepair, change_set: ChangeSet, environment: Environment, settings: Settings
) -> Repaired:
    """Apply the change set of a repair, after both memories were recorded in the history. Undo is
    that of the target.

    Raises EditRefused, ChangeRefused, WriteFailed, StateUnusable and Busy.
    """
    target = os.path.realpath(repair.target)
    try:
        created = create_private_directory(target)
    except OSError as error:
        raise WriteFailed(f"{make_visible(target)} cannot be created: {error.strerror}.") from None
    try:
        source = Notebook(place_from_directory(repair.source), environment, settings)
        notebook = Notebook(place_from_directory(target), environment, settings)
        messages = [message for each in (source, notebook) for message in read_and_record(each)[1]]
        if created:
            record_created(notebook, created)
        _, merged = apply_merging(notebook, change_set, by_hand=True)
    except BaseException:
        remove_empty_folders(created)
        raise
    return Repaired(merged, tuple(messages))


def undo_repair(repair: MoveRepair, environment: Environment, settings: Settings) -> None:
    """Undo the last change of the memory that got the notes, and remove directories that were
    created for it. Raises ChangeRefused where others changed the files since, and what `undo`
    raises.
    """
    target = os.path.realpath(repair.target)
    notebook = Notebook(place_from_directory(target), environment, settings)
    read_and_record(notebook)
    if isinstance(undo(notebook), UndoToConfirm):
        shown = make_visible(target)
        raise ChangeRefused(
            "Others changed the notes since they were moved.",
            hint=f"`ricordo undo {shown}` shows the merge.",
        )
    remove_created(notebook)
