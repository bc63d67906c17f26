"""The screen of the history of a note: its versions, their diffs, and restoring one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from ricordo.memory.change import Edit
from ricordo.services.history.versions import (
    Version,
    compose_restore,
    list_deleted,
    list_versions,
    name_writers,
    read_content,
)
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.base.action_screen import NotebookActions
from ricordo.tui.base.list_diff_screen import ListDiffScreen
from ricordo.tui.context import ScreenId
from ricordo.tui.render.inbox_rows import format_moment
from ricordo.tui.render.line import StyledLine, StyledSpan, fit, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.color_palette import Palette

NO_HISTORY = [
    ("No versions yet", "heading"),
    ("Every version of this note is listed here, newest first, with its author and reason.", ""),
]
NO_DELETED_NOTES = [
    ("No deleted notes", "heading"),
    ("Retired and deleted notes are listed here; Enter restores one.", ""),
]
_GLYPHS = {
    "deleted": ("−", "removed"),
    "renamed": ("→", "accent"),
    "created": ("+", "added"),
    "first": ("·", "dim"),
}


def _name_kind(version: Version) -> str:
    return "first seen" if version.kind == "first" else version.kind


def render_version(
    version: Version, width: int, *, in_one: bool, by_name: bool
) -> tuple[StyledLine, ...]:
    """Return the lines of a version: its time, or with `by_name` the path of its note."""
    glyph, style = _GLYPHS.get(version.kind, ("~", "accent"))
    title = make_one_line(version.path) if by_name else format_moment(version.at)
    details = [_name_kind(version), clip(version.by, 40)]
    if by_name:
        details.insert(1, format_moment(version.at))
    if version.reason and version.kind != "first":
        details.append(clip(mask_text(version.reason), 60))
    spans = [StyledSpan(f" {glyph} ", style), StyledSpan(title, "bold")]
    about = StyledSpan(" · ".join(details), "dim")
    if in_one:
        return (StyledLine(fit((*spans, StyledSpan("  "), about), width)),)
    return StyledLine(fit(spans, width)), StyledLine(fit((StyledSpan("   "), about), width))


def render_deleted_row(count: int, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return the lines of the row that opens the deleted notes."""
    what = "1 note" if count == 1 else f"{count} notes"
    first = StyledLine(
        fit((StyledSpan(" … ", "dim"), StyledSpan(f"deleted: {what}", "bold")), width)
    )
    return (first,) if in_one else (first, StyledLine((StyledSpan("   Enter shows them", "dim"),)))


def describe_version(version: Version, *, against_now: bool, width: int) -> list[StyledLine]:
    """Return who made a version, when and why, and with what it is compared."""
    compared = " · compared with the current text" if against_now else ""
    if version.sha_before and not against_now:
        compared = " · compared with the previous version"
    kind = "first seen, written" if version.kind == "first" else version.kind
    about = f"{kind} by {make_one_line(version.by)}, {format_moment(version.at)}"
    rows = [(about + compared, "")]
    if version.reason and version.kind != "first":
        rows.append((f"why  {make_one_line(mask_text(version.reason))}", "dim"))
    rows.append((f"at   {make_one_line(version.path)}", "dim"))
    return [
        StyledLine(row) for text, style in rows for row in wrap([StyledSpan(text, style)], width)
    ]


class HistoryScreen(ListDiffScreen):
    """The versions of one note, newest first; the last row opens the deleted notes."""

    SCREEN_ID = ScreenId.HISTORY

    def __init__(
        self,
        notebook: Notebook,
        path: str,
        palette: Palette,
        keymap: Keymap,
        actions: NotebookActions,
    ) -> None:
        """`path` is the note; "" begins with the deleted notes."""
        super().__init__(notebook, palette, keymap, actions)
        self._path = path
        self._began_with = path
        self._going_into = path
        self._versions: Sequence[Version] = ()
        self._deleted: Sequence[Version] = ()
        self._against_now = False

    def on_mount(self) -> None:
        self._state.display = False
        self._go_into(self._path)

    @property
    def version(self) -> Version | None:
        """The version under the cursor; None on the row of the deleted notes."""
        shown = self._versions if self._path else self._deleted
        return shown[self._list.at] if 0 <= self._list.at < len(shown) else None

    @property
    def _has_diff(self) -> bool:
        return self.version is not None

    @property
    def _refusals(self) -> Mapping[str, str]:
        compare = "Open a note with Enter to compare its versions."
        return {} if self._path else {"compare": compare}

    def _load_latest(self, work: Callable[[], Awaitable[None]]) -> None:
        start_worker(self, partial(self._run_reporting, work), group="history", exclusive=True)

    async def _load(self, path: str) -> None:
        deleted, note_versions = await asyncio.to_thread(self._read_versions, path)
        # all at once: a paint in between must find values that belong together
        self._path, self._deleted, self._versions = path, deleted, note_versions
        count = len(note_versions) + bool(deleted) if path else len(deleted)
        self._list.show(count, 0, NO_HISTORY if path else NO_DELETED_NOTES)
        await self._show()

    def _read_versions(self, path: str) -> tuple[list[Version], list[Version]]:
        """Return the deleted notes, and the versions of the note at `path`; none for ""."""
        notebook = self._notebook
        versions = list_versions(notebook, path) if path else []
        return name_writers(notebook, list_deleted(notebook)), name_writers(notebook, versions)

    def _chosen(self) -> None:
        self._load_latest(self._show)

    async def _show(self) -> None:
        version = self.version
        edits: tuple[Edit, ...] = ()
        if version is not None:
            before, after = version.sha_before, version.sha
            if self._against_now and self._path:
                before, after = version.sha, self._versions[0].sha
            old = await asyncio.to_thread(read_content, self._notebook, before)
            new = await asyncio.to_thread(read_content, self._notebook, after)
            edits = (Edit(self._notebook.place.root, version.path, old, new),)
        self._about.redraw()
        self._diff.show_marked(edits, ())
        self._right.display = version is not None
        self.update_bars()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        if not self._path:
            return render_version(self._deleted[number], width, in_one=in_one, by_name=True)
        if number < len(self._versions):
            return render_version(self._versions[number], width, in_one=in_one, by_name=False)
        return render_deleted_row(len(self._deleted), width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        version = self.version
        if version is None:
            return []
        against_now = self._against_now and bool(self._path)
        return describe_version(version, against_now=against_now, width=width)

    def update_bars(self) -> None:
        super().update_bars()
        what = clip(self._path, 60) if self._path else "deleted notes"
        self._title.set_content(
            (StyledSpan(" History ", "accent bold"), StyledSpan(f" {what}", "bold"))
        )
        count = len(self._versions) if self._path else len(self._deleted)
        title = f"Versions · {count}" if self._path else f"Deleted · {count}"
        self._list.border_title = Content(title)
        shown = clip(self.version.path, 60) if self.version else ""
        self._right.border_title = Content(shown)

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "open": self.open_row,
            "compare": self.toggle_comparison,
            "history": self.close,
        }

    def open_row(self) -> None:
        """Propose to restore the version, or open the deleted notes or one of them."""
        version = self.version
        if version is None:
            if self._path and self._deleted:
                self._go_into("")
        elif not self._path:
            self._go_into(version.path)
        else:
            self._begin(lambda: self._restore(version))

    def _go_into(self, path: str) -> None:
        self._against_now = False
        self._going_into = path
        self._load_latest(lambda: self._load(path))

    async def _restore(self, version: Version) -> None:
        memory = await asyncio.to_thread(self._notebook.read)
        change_set = await asyncio.to_thread(
            compose_restore, self._notebook, memory, version, self._path
        )
        title = f"Restore {clip(self._path, 60)} as it was on {format_moment(version.at)}"
        approved = await self._actions.propose(title, change_set)
        if approved and await self._actions.write_approved(approved):
            self.notify("Restored; u undoes it.", markup=False, timeout=5)
            self._reload()

    def _reload(self) -> None:
        self._go_into(self._path)

    def toggle_comparison(self) -> None:
        """Compare with the current text, or with the previous version again."""
        self._against_now = not self._against_now
        self._load_latest(self._show)

    def _leave(self) -> None:
        """Go from a deleted note to the others, then close the screen."""
        if self._going_into != self._began_with:
            self._go_into("" if self._going_into else self._began_with)
        else:
            self.dismiss(None)
