"""The open note: its trail, its page in the note pane, and its secrets."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ricordo.services.sessions.activity_text import find_last_change_day
from ricordo.text import clip
from ricordo.tui.render.mask import mask_text
from ricordo.tui.render.note_page import NotePage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ricordo.memory.note import Note
    from ricordo.services.search.ambient import Association
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.context import ActionContext
    from ricordo.tui.widgets.note_view import NoteView

_LONGEST = 200
"""The most steps of a trail."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The notes that were opened, in order, and which of them is open now."""

    steps: tuple[str, ...] = ()
    at: int = -1
    walking: bool = False
    """Whether the last step moved the cursor of the index: only the last such step is kept."""

    @property
    def here(self) -> str:
        """The path of the open note; "" where none is open."""
        return self.steps[self.at] if self.at >= 0 else ""

    @property
    def can_go_back(self) -> bool:
        """Whether there is a note to go back to."""
        return self.at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a note to go forward to."""
        return self.at < len(self.steps) - 1

    def open(self, path: str) -> Trail:
        """Return the trail after the note `path` was opened; the steps ahead are dropped."""
        if path == self.here:
            return replace(self, walking=False)
        steps = (*self.steps[: self.at + 1], path)[-_LONGEST:]
        return Trail(steps, len(steps) - 1)

    def walk(self, path: str) -> Trail:
        """Return the trail after the cursor of the index moved to `path`."""
        before = replace(self, at=self.at - 1) if self.walking else self
        return replace(before.open(path), walking=path != before.here)

    def rename(self, old: str, new: str) -> Trail:
        """Return the trail after the note at `old` was moved to `new`."""
        return replace(self, steps=tuple(new if step == old else step for step in self.steps))

    def keep_only(self, paths: Container[str]) -> Trail:
        """Return the trail with only the notes that are in `paths`."""
        before = [step for step in self.steps[: self.at + 1] if step in paths]
        after = [step for step in self.steps[self.at + 1 :] if step in paths]
        return Trail((*before, *after), len(before) - 1 if before else -1 if not after else 0)

    def go(self, step: int) -> Trail:
        """Return the trail after a step back (-1) or forward (1), within its ends."""
        return Trail(self.steps, min(max(self.at + step, 0), len(self.steps) - 1))


class OpenNote:
    """The open note of a screen."""

    def __init__(self, view: NoteView, *, as_source: bool, reveal_key: str) -> None:
        """`view` shows the note, with `as_source` as it is on disk; `reveal_key` is named where
        secrets are masked.
        """
        self._view = view
        self._snapshot: Snapshot | None = None
        self._page_width = 0
        self.as_source = as_source
        self.trail = Trail()
        self._reminded: tuple[Association, ...] = ()
        self._reveal_key = reveal_key
        self._revealed = ""
        """Path of the note whose secrets are shown; "" for none."""
        self.is_stale = False
        """Whether the page is out of date with the last snapshot, in its text or its links."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The last snapshot of the memory; None before the first."""
        return self._snapshot

    @property
    def path(self) -> str:
        """The path of the open note; "" where none is open."""
        return self.trail.here

    @property
    def note(self) -> Note | None:
        """The open note; None where none is open."""
        return self._snapshot.memory.by_path.get(self.path) if self._snapshot else None

    @property
    def title(self) -> str:
        """The name of the note and the search in it, visible text."""
        name = clip(mask_text(self.note.name), 80) if self.note else "Note"
        return " · ".join(filter(None, (name, self._view.search_status)))

    def extend_context(self, context: ActionContext) -> ActionContext:
        """Return `context` with what the actions need to know of the open note."""
        snapshot = self._snapshot
        return replace(
            context,
            read=snapshot is not None,
            is_complete=snapshot is not None and snapshot.has_evidence,
            has_retention=snapshot is not None and self.path in snapshot.retention,
            note=self.note is not None,
            as_source=self._view.as_source,
            secrets=self._view.page is not None and self._view.page.secret_count > 0,
            revealed=bool(self._revealed),
            origin=snapshot is not None and self.path in snapshot.evidence.origins,
            types=snapshot is not None and bool(snapshot.memory.types),
            back=self.trail.can_go_back,
            forward=self.trail.can_go_forward,
        )

    @property
    def handlers(self) -> Handlers:
        return {
            "source": self.toggle_source,
            "reveal": self.toggle_secrets,
        }

    def toggle_source(self) -> None:
        """Show the text as it is on disk, or rendered."""
        self.as_source = not self._view.as_source
        self._view.switch_page(self._new_page())

    def toggle_secrets(self) -> None:
        """Show the secrets of the note until another note is open, or mask them again."""
        self._revealed = "" if self._revealed else self.path
        self.show(keep_place=True)

    def begin(self, snapshot: Snapshot, path: str) -> None:
        """Open the first note of a memory, at `path`."""
        self._snapshot = snapshot
        self.trail = Trail().open(path)

    def update_snapshot(self, snapshot: Snapshot) -> Note | None:
        """Use a new snapshot; return the open note where it is gone, else None. A note that was
        only renamed stays open.
        """
        note, before = self.note, self._snapshot
        self._snapshot = snapshot
        if before is not None:
            self.is_stale = _drawn_from(before, self.path) != _drawn_from(snapshot, self.path)
        if note is None or note.path in snapshot.memory.by_path:
            return None
        same = (file for file in snapshot.memory.files if note.is_readable and file.raw == note.raw)
        moved = next(same, None)
        if moved is None:
            return note
        self.trail = self.trail.rename(note.path, moved.path)
        self.is_stale = True
        return None

    def drop_deleted(self) -> None:
        """Drop the notes that are no longer in the memory from the trail."""
        if self._snapshot is not None:
            self.trail = self.trail.keep_only(self._snapshot.memory.by_path)

    def show(self, *, keep_place: bool = False, line: int = 0) -> None:
        """Show the open note: from its start, with `line` in sight, or with `keep_place` as it was
        scrolled.
        """
        self._view.show(self._new_page(), keep_place=keep_place, line=line)

    def _new_page(self) -> NotePage | None:
        """Return the page of the open note for the present width; None where none is open."""
        self._page_width = self._view.content_width
        self.is_stale = False
        if self._view.page is None or self._view.page.path != self.path:
            self._reminded = ()
        if self.note is None or self._snapshot is None:
            return None
        if self._revealed != self.path:
            self._revealed = ""
        page = NotePage(
            self._snapshot,
            self.note,
            self._page_width,
            self.as_source,
            self._snapshot.at.date(),
            revealed=bool(self._revealed),
            reveal_key=self._reveal_key,
        )
        page.add_associations(self._reminded)
        return page

    async def show_associations(
        self, snapshot: Snapshot, path: str, found: Sequence[Association]
    ) -> None:
        """Show the associations of the note at `path`, where it is still open."""
        await self._view.wait_until_drawn()
        page, before = self._view.page, self._reminded
        if (
            page is None
            or self._snapshot is not snapshot
            or page.path != path
            or tuple(found) == before
        ):
            return
        self._reminded = tuple(found)
        if before:
            self.show(keep_place=True)
        else:
            self._view.append(page.add_associations(self._reminded))

    def refit(self) -> None:
        """Draw the note again where the width of its pane changed."""
        if self._view.content_width != self._page_width:
            self.show(keep_place=True)


def _drawn_from(snapshot: Snapshot, path: str) -> tuple[object, ...]:
    memory = snapshot.memory
    note = memory.by_path.get(path)
    protected = note is not None and snapshot.is_protected(note)
    evidence = snapshot.evidence
    return (
        note and note.raw,
        memory.links.get(path),
        memory.backlinks.get(path),
        protected,
        evidence.reads.get(path),
        evidence.origins.get(path),
        note and find_last_change_day(note, snapshot.ages),
        bool(evidence.last_session),
    )
