"""The ledger: cost and benefit of curation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Event
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from ricordo.background import Throttle
from ricordo.errors import RicordoError
from ricordo.services.ledger.benefit import compute_benefit
from ricordo.services.ledger.describe import LedgerSection, format_benefit
from ricordo.services.workspace.notebook import Notebook
from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.text_page import TextPage
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.text_view import TextView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.tui.color_palette import Palette

_INDENT = 2


def render_ledger(sections: Sequence[LedgerSection], width: int) -> list[StyledLine]:
    """Return the sections of a ledger, at most `width` cells wide."""
    lines: list[StyledLine] = []
    for section in sections:
        lines += [BLANK] if lines else []
        lines.append(StyledLine((StyledSpan(section.title, "heading"),)))
        for text in section.lines:
            rows = wrap([StyledSpan(text.strip())], width - _INDENT)
            lines += [StyledLine((StyledSpan(" " * _INDENT), *row)) for row in rows]
    return lines


_PATIENCE = 2.0


class _LedgerClosed(Exception):
    """The screen was closed."""


class LedgerScreen(TextPage):
    """Shows the ledger of one memory; reads it in a thread."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.TEXT, {"ledger": "dismiss"})

    def __init__(self, notebook: Notebook, memory: Memory, palette: Palette) -> None:
        """`notebook` is for this screen only: it is used in a thread."""
        super().__init__("Ledger · cost and benefit of curation", palette)
        self._notebook = notebook
        self._memory = memory
        self._sections: Sequence[LedgerSection] = (LedgerSection("Reading the ledger …", ()),)
        self.is_loaded = False
        """Whether the ledger is shown."""

    def on_mount(self) -> None:
        start_worker(self, self._read, group="ledger")

    async def _read(self) -> None:
        closed = Event()
        try:
            self._sections = await asyncio.to_thread(self._load_sections, _create_step(closed))
        except RicordoError as error:
            self._sections = (LedgerSection(str(error), ()),)
        finally:
            closed.set()
        self.is_loaded = True
        self.query_one(TextView).on_resize()

    def _load_sections(self, step: Callable[[], None]) -> Sequence[LedgerSection]:
        try:
            return format_benefit(compute_benefit(self._notebook, self._memory, step))
        except _LedgerClosed:
            return ()

    def render_text(self, width: int) -> list[StyledLine]:
        return render_ledger(self._sections, width)


def _create_step(closed: Event) -> Callable[[], None]:
    throttle = Throttle(_PATIENCE)

    def step() -> None:
        if closed.is_set():
            raise _LedgerClosed
        throttle.step()

    return step
