"""The values redacted from a brief, and those that the user allows to be sent, by fingerprint."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.errors import RicordoError
from ricordo.llm.redaction import RedactedValue
from ricordo.services.engines.redaction import allow_value, allowed_values, withhold_value
from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.egress_lines import render_redacted
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.services.curation.preparation import NewActivity
    from ricordo.services.engines.preview import Egress
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.tui.color_palette import Palette

_NOTHING = (
    ("Nothing is redacted", "heading"),
    ("Nothing in this brief looks like a secret, and you allowed no value to be sent.", ""),
)
_ABOUT = " Replaced before sending, and restored in the answer on this machine"
_UNCHANGED = {"yes": "This value is sent already.", "no": "This value is redacted already."}


class RedactionScreen(ModalScreen[bool], ActionScreen[bool]):
    """Lists redacted values; returns whether a decision was changed."""

    SCREEN_ID = ScreenId.REDACTION

    CSS_PATH = "../dialogs/overlay.tcss"

    def __init__(
        self,
        egress: Egress,
        spoken: NewActivity,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`egress` lists the values redacted from `spoken`; the allowed ones are read from disk."""
        ActionScreen.__init__(self, palette, keymap)
        self._egress, self._spoken = egress, spoken
        self._notebook = notebook
        self.values = list(egress.redacted)
        """The values, redacted ones first."""
        self.allowed: set[str] = set()
        """Fingerprints of the values that are sent."""
        self.is_read = False
        """Whether the allowed values have been read."""
        self._is_changed = False
        self._one_at_a_time = asyncio.Lock()
        self._list = RowList(palette, self.update_bars, self._rows, id="ways", one_row=1_000)
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Redacted: values that are not sent")
            yield Bar(self._palette, id="words", base="").with_left(StyledSpan(_ABOUT, "dim"))
            yield self._list
        yield self._keys

    def on_mount(self) -> None:
        self._list.focus()
        self._show()
        start_worker(self, self._read)

    def _show(self) -> None:
        self._list.show(len(self.values), max(self._list.at, 0), _NOTHING)
        self.update_bars()

    async def _read(self) -> None:
        try:
            allowed = await asyncio.to_thread(allowed_values, self._notebook)
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
        else:
            self.values += [
                RedactedValue(decision.reason, "", fingerprint, (), 0)
                for fingerprint, decision in allowed.items()
            ]
            self.allowed = set(allowed)
        self.is_read = True
        self._show()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        value = self.values[number]
        may_leave = value.fingerprint in self.allowed
        return render_redacted(value, self._egress, self._spoken, width, is_allowed=may_leave)

    @property
    def _value(self) -> RedactedValue | None:
        return self.values[self._list.at] if 0 <= self._list.at < len(self.values) else None

    @property
    def action_context(self) -> ActionContext:
        value = self._value
        if value is None or not self.is_read:
            reason = "No value is selected." if self.is_read else "The values are still being read."
            refusals = dict.fromkeys(_UNCHANGED, reason)
        else:
            current = "yes" if value.fingerprint in self.allowed else "no"
            refusals = {current: _UNCHANGED[current]}
        return ActionContext(screen_id=self.SCREEN_ID, disabled_reasons=refusals)

    def update_bars(self) -> None:
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._list),
            "yes": partial(self._decide_on_value, is_allowed=True),
            "no": partial(self._decide_on_value, is_allowed=False),
            "leave": self.close,
        }

    def _decide_on_value(self, *, is_allowed: bool) -> None:
        """Allow the value to be sent from now on, or redact it again."""
        if (value := self._value) is not None:
            start_worker(self, partial(self._decide, value, is_allowed=is_allowed))

    async def _decide(self, value: RedactedValue, *, is_allowed: bool) -> None:
        notebook, fingerprint = self._notebook, value.fingerprint
        decide = (
            partial(allow_value, notebook, value)
            if is_allowed
            else partial(withhold_value, notebook, fingerprint)
        )
        try:
            async with self._one_at_a_time:
                await asyncio.to_thread(decide)
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
            return
        (self.allowed.add if is_allowed else self.allowed.discard)(fingerprint)
        self._is_changed = True
        self._list.refresh()
        self.update_bars()

    def close(self) -> None:
        """Close the screen."""
        start_worker(self, self._close)

    async def _close(self) -> None:
        # a decision that is being stored has to be stored first
        async with self._one_at_a_time:
            pass
        self.dismiss(self._is_changed)
