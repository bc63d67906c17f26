"""What is kept back of a brief, and what the person lets out: each value by its fingerprint."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.errors import RicordoError
from ricordo.llm.redaction import Redacted
from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.context import Scene, Situation
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.egress_lines import kept_back_rows
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from ricordo.services.curation.preparation import SpokenSince
    from ricordo.services.engines.preview import Egress
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.curation.runner import Asker

_NOTHING = (
    ("Nothing is kept back", "heading"),
    ("Nothing in this brief looks like a credential, and you have let nothing out.", ""),
)
_ABOUT = " Replaced before anything leaves, and put back into the answer here"
_STAND_STILL = {"yes": "It leaves already.", "no": "It is kept back already."}


class KeptBackScreen(ModalScreen[bool], ActingScreen[bool]):
    """Ends with whether anything was decided."""

    SCENE = Scene.KEPT_BACK

    CSS_PATH = "../dialogs/overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        leaving: Egress,
        told: SpokenSince,
        asker: Asker,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`leaving` has what is kept back of what was `told`; what may leave is asked for."""
        ActingScreen.__init__(self, palette, keymap)
        self._about_to_leave, self._told = leaving, told
        self._asker = asker
        self.values = list(leaving.kept_back)
        """The values, those first that are kept back."""
        self.leaving: set[str] = set()
        """The fingerprints of those that leave."""
        self.is_read = False
        """Whether it is known what may leave."""
        self._is_other = False
        self._one_at_a_time = asyncio.Lock()
        self._list = RowList(palette, self.say, self._rows, id="ways", one_row=1_000)
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """What it is about, the values, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("What does not leave")
            yield Bar(self._palette, id="words", base="").with_left(StyledSpan(_ABOUT, "dim"))
            yield self._list
            yield self._keys

    def on_mount(self) -> None:
        """Ask what may leave."""
        self._list.focus()
        self._show()
        self.run_worker(self._read())

    def _show(self) -> None:
        self._list.show(len(self.values), max(self._list.at, 0), _NOTHING)
        self.say()

    async def _read(self) -> None:
        try:
            allowed = await asyncio.to_thread(self._asker.allowed)
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
        else:
            self.values += [Redacted(it.reason, "", name, (), 0) for name, it in allowed.items()]
            self.leaving = set(allowed)
        self.is_read = True
        self._show()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        it = self.values[number]
        may_leave = it.fingerprint in self.leaving
        return kept_back_rows(it, self._about_to_leave, self._told, width, may_leave=may_leave)

    @property
    def _value(self) -> Redacted | None:
        return self.values[self._list.at] if 0 <= self._list.at < len(self.values) else None

    @property
    def situation(self) -> Situation:
        """Whether the value under the cursor leaves."""
        it = self._value
        if it is None or not self.is_read:
            why = "Nothing is under the cursor." if self.is_read else "It is still being read."
            refusals = dict.fromkeys(_STAND_STILL, why)
        else:
            stands = "yes" if it.fingerprint in self.leaving else "no"
            refusals = {stands: _STAND_STILL[stands]}
        return Situation(scene=self.SCENE, refusals=refusals)

    def say(self) -> None:
        """Tell the keys that matter here."""
        self._keys.say(*key_line(self.situation, self.keymap))

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._list),
            "yes": self.allow_value,
            "no": self.redact_value,
            "leave": self.close,
        }

    def allow_value(self) -> None:
        """Let the value out from now on."""
        if (it := self._value) is not None:
            self.run_worker(self._decide(it, leaves=True))

    def redact_value(self) -> None:
        """Keep the value back again."""
        if (it := self._value) is not None:
            self.run_worker(self._decide(it, leaves=False))

    async def _decide(self, it: Redacted, *, leaves: bool) -> None:
        asker, name = self._asker, it.fingerprint
        decide = partial(asker.allow, it) if leaves else partial(asker.withhold, name)
        try:
            async with self._one_at_a_time:
                await asyncio.to_thread(decide)
        except RicordoError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)
            return
        (self.leaving.add if leaves else self.leaving.discard)(name)
        self._is_other = True
        self._list.refresh()
        self.say()

    def close(self) -> None:
        """Back, with whether anything was decided."""
        self.run_worker(self._leave())

    async def _leave(self) -> None:
        # what is decided comes before what is told of it
        async with self._one_at_a_time:
            pass
        self.dismiss(self._is_other)
