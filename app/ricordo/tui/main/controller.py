"""The keys of the notebook that change the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused, StateUnusable
from ricordo.memory.change import Rewrite
from ricordo.memory.entry import MovedEntry, lift_above_cut, move_entry
from ricordo.memory.names import TargetKind
from ricordo.tui.context import ActionContext, Pane
from ricordo.tui.edits.expected_writes import ExpectedWrites
from ricordo.tui.render.index_rows import IndexRow, RowKind
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.lint.finding import Finding
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.index import Entry, MemoryIndex
    from ricordo.services.workspace.follower import Follower
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.storage.writer import Applied
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.base.open_note import OpenNote
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.conflicts.controller import ConflictController
    from ricordo.tui.edits.writer import ChangeWriter
    from ricordo.tui.main.fixes import FixActions
    from ricordo.tui.main.note_forms import NoteForms
    from ricordo.tui.main.note_moves import NoteMoves
    from ricordo.tui.widgets.index_list import IndexList
    from ricordo.tui.widgets.panes import Panes

_ENTRIES = (RowKind.NOTE, RowKind.MISSING)


class NoteActions:
    """The handlers of the keys that change the memory of one screen."""

    def __init__(
        self,
        notebook: Notebook,
        follower: Follower,
        panes: Panes,
        reading: OpenNote,
        palette: Callable[[], Palette],
        changed: Callable[[], None],
        open_note: Callable[[str], None],
    ) -> None:
        """`notebook` belongs to `follower`; `panes` and `reading` know what is under the cursor;
        `palette` returns the styles in use; `changed` is called when other actions are possible,
        `open_note` with the path of a note that was created.
        """
        self._notebook = notebook
        self._follower = follower
        self._panes = panes
        self._reading = reading
        self._palette = palette
        self._on_changed = changed
        self._open_note = open_note
        self._expected = ExpectedWrites()
        self._can_undo = self._can_redo = False
        self.marked: frozenset[str] = frozenset()
        """Paths of the marked notes."""
        self._has_reported_ignored_marks = False
        """Whether the user was told that some keys ignore these marks."""

    # Imported late: the first paint need not wait for what composes and applies changes.

    @cached_property
    def _writing(self) -> ChangeWriter:
        from ricordo.tui.edits.writer import ChangeWriter

        return ChangeWriter(
            self._panes.screen,
            self._notebook,
            self._follower,
            self._palette,
            self._expected,
            self._ask_history,
        )

    @cached_property
    def _forms(self) -> NoteForms:
        from ricordo.tui.main.note_forms import NoteForms

        return NoteForms(self._writing, self._open_note)

    @cached_property
    def _moves(self) -> NoteMoves:
        from ricordo.tui.main.note_moves import NoteMoves

        return NoteMoves(self._writing)

    @cached_property
    def _fixes(self) -> FixActions:
        from ricordo.tui.main.fixes import FixActions

        return FixActions(self._writing)

    @cached_property
    def _entries(self) -> EntryMoves:
        return EntryMoves(self._writing, self._reading, self._panes.index)

    @cached_property
    def _conflicts(self) -> ConflictController:
        from ricordo.tui.conflicts.controller import ConflictController

        return ConflictController(self, self._writing, self._follower)

    # State

    @property
    def written_paths(self) -> frozenset[str]:
        """Paths that Ricordo wrote and that no snapshot has shown yet."""
        return self._expected.paths

    @property
    def entry_line(self) -> int:
        """The line of the index to which an entry is being moved; 0 for none."""
        return self._entries.line if "_entries" in self.__dict__ else 0

    def update_snapshot(self, snapshot: Snapshot, number: int) -> None:
        """Use a snapshot that is on the screen now, the one requested as `number`."""
        if snapshot.is_read:
            self.marked &= snapshot.memory.by_path.keys()
            self._panes.index.mark_selected(self.marked)
        self._expected.record_shown(number)
        if snapshot.is_judged:
            self.update_history()
        if "_conflicts" in self.__dict__:
            self._conflicts.update_snapshot(snapshot)

    def follow_moved_notes(self, snapshot: Snapshot) -> None:
        """Keep the open note and the marks in `snapshot` where Ricordo moved notes."""
        for old, new in self._expected.moved.items():
            if new not in snapshot.memory.by_path:
                continue
            self._reading.trail = self._reading.trail.rename(old, new)
            if old in self.marked:
                self.marked = self.marked - {old} | {new}

    def update_history(self) -> None:
        """Find out what can be undone and redone."""
        start_worker(self._panes, self._ask_history, group="history", exclusive=True)

    async def _ask_history(self) -> None:
        # imported in a thread, so that no key has to wait for it
        read_undo_state = await asyncio.to_thread(_load_history)
        can = False, False
        with suppress(StateUnusable):
            can = await asyncio.to_thread(read_undo_state, self._writing.notebook)
        if can != (self._can_undo, self._can_redo):
            self._can_undo, self._can_redo = can
            self._on_changed()

    def extend_context(self, context: ActionContext) -> ActionContext:
        """Return `context` with what the changing keys need."""
        snapshot, row = self._reading.snapshot, self._panes.index.row
        return replace(
            context,
            read_only=snapshot.memory.layout.read_only if snapshot else "",
            entry=context.in_order and row is not None and row.kind in _ENTRIES and row.line > 0,
            marks=len(self.marked),
            fix=snapshot is not None and bool(find_fixable(snapshot, *self._under_cursor())),
            undo=self._can_undo,
            redo=self._can_redo,
            conflicts=snapshot.counts_by_rule.get("contradiction", 0) if snapshot else 0,
        )

    # What other screens call (`NotebookActions`)

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return self._can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return self._can_redo

    async def propose(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Show a change set; return what the user approves of it, None for nothing."""
        return await self._writing.propose(title, change_set)

    async def write_approved(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the user has seen; return None where nothing was written."""
        return await self._writing.write_approved(change_set)

    async def edit_note(self, path: str) -> None:
        """Open a note in the user's editor and write what was saved."""
        from ricordo.tui.edits.editor import NoteEditor

        editing = NoteEditor(self._panes.app, self._writing)
        await self._writing.run_in_turn(partial(editing.edit, path))

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open `text` in the user's editor as a file called `name`, and call `use` with what was
        saved where it differs. Raises RicordoError; the text is not lost then.
        """
        from ricordo.tui.edits.editor import edit_text

        await edit_text(self._panes.app, self._writing.notebook, name, text, use)

    async def retire_note(self, path: str) -> bool:
        """Propose to retire a note, and do it where the user approves; return whether it was
        retired.
        """
        return await self._writing.run_in_turn(partial(self._moves.retire, [path])) or False

    async def undo_last(self) -> frozenset[str]:
        """Undo the last change; return what it was about, such as paths of notes."""
        return await self._writing.run_in_turn(self._writing.undo_last) or frozenset()

    async def redo_last(self) -> frozenset[str]:
        """Redo what was undone last; return what it was about, such as paths of notes."""
        return await self._writing.run_in_turn(self._writing.redo_last) or frozenset()

    def clear_marks(self) -> None:
        """Clear all marks."""
        self._mark(frozenset())

    @property
    def _subjects(self) -> list[str]:
        """The paths that a key acts on: those of the marked notes, else of the open one."""
        return sorted(self.marked) or [self._reading.path]

    def _under_cursor(self) -> tuple[list[str], str]:
        """Return the paths that a key acts on, and the id of the finding under the cursor."""
        in_freshness = self._panes.active is Pane.FRESHNESS
        finding = self._panes.freshness.finding if in_freshness else None
        return self._subjects, finding.id if finding else ""

    def _mark(self, marked: frozenset[str]) -> None:
        self.marked = marked
        self._has_reported_ignored_marks = False
        self._panes.index.mark_selected(marked)

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        return {
            "mark": self.toggle_mark,
            "edit": self.edit_open_note,
            "new": lambda: self._writing.begin(self._forms.create_note),
            "head": self.edit_frontmatter,
            "move": self.move_notes,
            "retire": self.retire_notes,
            "protect": self.toggle_protection,
            "fix": self.fix_finding,
            "dismiss": self.toggle_dismissal,
            "conflicts": self.open_conflicts,
            "undo": lambda: self._writing.run(self.undo_last),
            "redo": lambda: self._writing.run(self.redo_last),
            "lift": self.lift_entry,
            "entry-down": partial(self._move_entry, 1),
            "entry-up": partial(self._move_entry, -1),
        }

    def toggle_mark(self) -> None:
        """Mark the note under the cursor, or clear its mark."""
        row = self._panes.index.row
        if row is None or row.kind is not RowKind.NOTE:
            self._writing.report("Only notes can be marked.")
            return
        self._mark(self.marked ^ {row.path})

    def _report_ignored_marks(self) -> None:
        """Report, once for the same marks, that a key ignores them."""
        if self.marked and not self._has_reported_ignored_marks:
            self._has_reported_ignored_marks = True
            self._writing.report("Acts on the note under the cursor only, not on marked notes.")

    def edit_open_note(self) -> None:
        """Edit the open note in the editor."""
        self._report_ignored_marks()
        self._writing.run(partial(self.edit_note, self._reading.path))

    def edit_frontmatter(self) -> None:
        """Edit name, type and description of the open note; the type of marked notes."""
        if self.marked:
            self._writing.begin(partial(self._forms.set_types, self._subjects))
        else:
            self._writing.begin(partial(self._forms.edit_frontmatter, self._reading.path))

    def move_notes(self) -> None:
        """Move notes to another path, name or memory."""
        self._writing.begin(partial(self._moves.move, self._subjects))

    def retire_notes(self) -> None:
        """Retire notes."""
        self._writing.begin(partial(self._moves.retire, self._subjects))

    def toggle_protection(self) -> None:
        """Protect notes, or end that."""
        self._writing.begin(partial(self._fixes.protect, self._reading.snapshot, self._subjects))

    def fix_finding(self) -> None:
        """Fix the finding under the cursor, or the worst of each note."""
        snapshot = self._reading.snapshot
        if snapshot is not None:
            findings = find_fixable(snapshot, *self._under_cursor())
            self._writing.begin(partial(self._fixes.fix, snapshot, findings))

    def toggle_dismissal(self) -> None:
        """Dismiss the finding under the cursor, or restore it."""
        finding, snapshot = self._panes.freshness.finding, self._reading.snapshot
        if finding is not None and snapshot is not None:
            is_dismissed = finding in (*snapshot.dismissed, *snapshot.dismissed_causes)
            self._writing.begin(partial(self._dismiss, finding.id, is_undo=is_dismissed))

    async def _dismiss(self, finding_id: str, *, is_undo: bool) -> None:
        await self._follower.decide(finding_id, is_undo=is_undo)
        self._writing.report("Restored." if is_undo else "Dismissed until its cause changes.")

    def open_conflicts(self) -> None:
        """Open the conflicts."""
        if self._reading.snapshot is not None:
            self._conflicts.open(self._reading.snapshot)

    def _move_entry(self, step: int) -> None:
        self._report_ignored_marks()
        self._writing.begin(partial(self._entries.step, step))

    def lift_entry(self) -> None:
        """Move the entry under the cursor above the line at which agents stop reading."""
        self._report_ignored_marks()
        self._writing.begin(self._entries.lift)


def _load_history() -> Callable[[Notebook], tuple[bool, bool]]:
    """Import what reads the history; return the function that tells what can be undone, redone."""
    from ricordo.services.history.undo import can_undo

    import_module("ricordo.tui.edits.writer")
    return can_undo


class EntryMoves:
    """Moves the entry of the index under the cursor; the cursor moves with it."""

    def __init__(self, writing: ChangeWriter, reading: OpenNote, index: IndexList) -> None:
        """`reading` knows the last snapshot, `index` the cursor."""
        self._writing = writing
        self._reading = reading
        self._index = index
        self.line = 0
        """The line to which an entry is being moved; 0 for none."""

    async def step(self, step: int) -> None:
        """Move the entry one place down (1) or up (-1). Raises ChangeRefused."""
        snapshot, index, entry = self._under_cursor()
        await self._write(snapshot, index, move_entry(index, entry, step))

    async def lift(self) -> None:
        """Move the entry above the line at which agents stop reading. Raises ChangeRefused."""
        snapshot, index, entry = self._under_cursor()
        if index is not snapshot.memory.index:
            raise ChangeRefused("Agents do not load this index, so it is not cut.")
        if await self._write(snapshot, index, lift_above_cut(snapshot.memory, entry)):
            self._writing.report("Agents load this entry now. u undoes it.")

    async def _write(self, snapshot: Snapshot, index: MemoryIndex, moved: MovedEntry) -> bool:
        text, self.line = moved
        try:
            change_set = await self._writing.compose(
                snapshot.memory, [Rewrite(index.path, text)], "entry moved by hand"
            )
            approved = await self._writing.propose_if_warned("Move the entry", change_set)
            if approved is None:
                return False
            return await self._writing.write_or_show(approved) is not None
        finally:
            self.line = 0

    def _under_cursor(self) -> tuple[Snapshot, MemoryIndex, Entry]:
        # read as late as this: earlier keys may have moved it
        snapshot, row = self._reading.snapshot, self._index.row
        if snapshot is not None and row is not None:
            for index in snapshot.memory.indexes:
                for entry in index.entries:
                    if entry.line == row.line and _is_shown_by(snapshot, index, entry, row):
                        return snapshot, index, entry
        raise ChangeRefused("No entry of the index is under the cursor.")


def _is_shown_by(snapshot: Snapshot, index: MemoryIndex, entry: Entry, row: IndexRow) -> bool:
    target = snapshot.memory.resolve_entry(index, entry)
    if target.target_kind is TargetKind.NOTE:
        return row.kind is RowKind.NOTE and target.path == row.path
    return row.kind is RowKind.MISSING and index.path == row.path


def find_fixable(snapshot: Snapshot, paths: Sequence[str], finding_id: str) -> list[Finding]:
    """Return the findings to fix: the one with `finding_id`, else the worst with a fix of each of
    the notes at `paths`. Of several, those whose fix must be confirmed alone are left out.
    """
    if finding_id:
        chosen = [
            finding
            for cause in (*snapshot.causes, *snapshot.findings)
            if cause.id == finding_id
            for finding in cause.each
            if finding.fix is not None
        ]
        return list({finding.id: finding for finding in chosen}.values())
    worst = [
        next(
            (finding for finding in snapshot.by_path.get(path, ()) if finding.fix is not None), None
        )
        for path in paths
    ]
    findings = [finding for finding in worst if finding is not None]
    if len(findings) <= 1:
        return findings
    # imported late: the first paint need not wait for finding
    from ricordo.services.edits.fix import INTERACTIVE_RULES

    return [finding for finding in findings if finding.rule not in INTERACTIVE_RULES]
