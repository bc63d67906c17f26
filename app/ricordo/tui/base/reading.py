"""Reading: which note is open, how the person came to it, and its page in the note pane."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ricordo.services.sessions.activity_text import day_of
from ricordo.text import clip
from ricordo.tui.render.mask import masked
from ricordo.tui.render.note_page import NotePage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ricordo.memory.note import Note
    from ricordo.services.search.ambient import Association
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.context import Situation
    from ricordo.tui.widgets.note_view import NoteView

_LONGEST = 200
"""Steps that are kept."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a person has been, and where they are."""

    steps: tuple[str, ...] = ()
    at: int = -1
    walking: bool = False
    """Whether the last step was one of a walk over the index, of which only the last counts."""

    @property
    def here(self) -> str:
        """The note that is open; "" where none is."""
        return self.steps[self.at] if self.at >= 0 else ""

    @property
    def can_go_back(self) -> bool:
        """Whether a note was open before this one."""
        return self.at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether the person went back from a note."""
        return self.at < len(self.steps) - 1

    def opened(self, path: str) -> Trail:
        """Return the trail after the note `path` was opened; what lay ahead is forgotten."""
        if path == self.here:
            return replace(self, walking=False)
        steps = (*self.steps[: self.at + 1], path)[-_LONGEST:]
        return Trail(steps, len(steps) - 1)

    def walked(self, path: str) -> Trail:
        """Return the trail after the cursor of the index came to `path`."""
        before = replace(self, at=self.at - 1) if self.walking else self
        return replace(before.opened(path), walking=path != before.here)

    def renamed(self, old: str, new: str) -> Trail:
        """Return the trail after the note at `old` came to lie at `new`."""
        return replace(self, steps=tuple(new if step == old else step for step in self.steps))

    def among(self, paths: Container[str]) -> Trail:
        """Return the trail without the notes that are not among `paths`."""
        before = [step for step in self.steps[: self.at + 1] if step in paths]
        after = [step for step in self.steps[self.at + 1 :] if step in paths]
        return Trail((*before, *after), len(before) - 1 if before else -1 if not after else 0)

    def gone(self, step: int) -> Trail:
        """Return the trail after going back (-1) or forward (1), as far as it reaches."""
        return Trail(self.steps, min(max(self.at + step, 0), len(self.steps) - 1))


class OpenNote:
    """The open note."""

    def __init__(self, view: NoteView, *, as_source: bool, reveal_key: str) -> None:
        """`view` shows it; `as_source` as it stands on disk; `reveal_key` shows its secrets."""
        self._view = view
        self._look: Snapshot | None = None
        self._page_width = 0
        self.as_source = as_source
        self.trail = Trail()
        self._reminded: tuple[Association, ...] = ()
        self._reveal_key = reveal_key
        self._revealed = ""
        """Path of the note whose secrets are shown."""
        self.stale = False
        """Whether the page is other than the note in the last look: its text or its links."""

    @property
    def look(self) -> Snapshot | None:
        """The last look at the memory; None before the first."""
        return self._look

    @property
    def path(self) -> str:
        """Path of the open note; "" where none is open."""
        return self.trail.here

    @property
    def note(self) -> Note | None:
        """The note that is open."""
        return self._look.memory.by_path.get(self.path) if self._look else None

    @property
    def title(self) -> str:
        """Its name and what is searched for in it, visible text."""
        name = clip(masked(self.note.name), 80) if self.note else "Note"
        return " · ".join(filter(None, (name, self._view.found)))

    def situation(self, situation: Situation) -> Situation:
        """Add to `situation` what the actions have to know of what is read."""
        look = self._look
        return replace(
            situation,
            read=look is not None,
            known=look is not None and look.known,
            retained=look is not None and self.path in look.retention,
            note=self.note is not None,
            as_source=self._view.as_source,
            secrets=self._view.page is not None and self._view.page.secrets > 0,
            revealed=bool(self._revealed),
            origin=look is not None and self.path in look.evidence.origins,
            types=look is not None and bool(look.memory.types),
            back=self.trail.can_go_back,
            forward=self.trail.can_go_forward,
        )

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "source": self.toggle_source,
            "reveal": self.toggle_secrets,
        }

    def toggle_source(self) -> None:
        """The text as it stands on disk, or rendered."""
        self.as_source = not self._view.as_source
        self._view.turn(self._new_page())

    def toggle_secrets(self) -> None:
        """The secrets of the note, until another one is shown; or masked again."""
        self._revealed = "" if self._revealed else self.path
        self.show(keep_place=True)

    def begin(self, look: Snapshot, path: str) -> None:
        """Open the first note of a memory."""
        self._look = look
        self.trail = Trail().opened(path)

    def look_again(self, look: Snapshot) -> Note | None:
        """Take another look at the memory; return the open note where it is gone.

        A note that was only renamed stays open.
        """
        note, before = self.note, self._look
        self._look = look
        if before is not None:
            self.stale = _drawn_from(before, self.path) != _drawn_from(look, self.path)
        if note is None or note.path in look.memory.by_path:
            return None
        same = (file for file in look.memory.files if note.readable and file.raw == note.raw)
        moved = next(same, None)
        if moved is None:
            return note
        self.trail = self.trail.renamed(note.path, moved.path)
        self.stale = True
        return None

    def forget_gone(self) -> None:
        """Leave the notes that are no longer in the memory out of the way back."""
        if self._look is not None:
            self.trail = self.trail.among(self._look.memory.by_path)

    def show(self, *, keep_place: bool = False, line: int = 0) -> None:
        """Show the open note: from its beginning, with `line` in sight, or where it was."""
        self._view.show(self._new_page(), keep_place=keep_place, line=line)

    def _new_page(self) -> NotePage | None:
        """The open note in the last look, at the width that its pane has now."""
        self._page_width = self._view.content_width
        self.stale = False
        if self._view.page is None or self._view.page.path != self.path:
            self._reminded = ()
        if self.note is None or self._look is None:
            return None
        if self._revealed != self.path:
            self._revealed = ""
        page = NotePage(
            self._look,
            self.note,
            self._page_width,
            self.as_source,
            self._look.at.date(),
            revealed=bool(self._revealed),
            reveal_key=self._reveal_key,
        )
        page.remind(self._reminded)
        return page

    async def remind(self, look: Snapshot, path: str, found: Sequence[Association]) -> None:
        """Show what the note at `path` reminds of, where it is still open."""
        await self._view.drawn()
        page, before = self._view.page, self._reminded
        if page is None or self._look is not look or page.path != path or tuple(found) == before:
            return
        self._reminded = tuple(found)
        if before:
            self.show(keep_place=True)
        else:
            self._view.append(page.remind(self._reminded))

    def refit(self) -> None:
        """Show the note at the width that its pane has now."""
        if self._view.content_width != self._page_width:
            self.show(keep_place=True)


def _drawn_from(look: Snapshot, path: str) -> tuple[object, ...]:
    memory = look.memory
    note = memory.by_path.get(path)
    protected = note is not None and look.is_protected(note)
    evidence = look.evidence
    return (
        note and note.raw,
        memory.links.get(path),
        memory.backlinks.get(path),
        protected,
        evidence.reads.get(path),
        evidence.origins.get(path),
        note and day_of(note, look.ages),
        bool(evidence.last_session),
    )
