"""The review of a curation: proposals, each to be taken, refused, or left for later."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.binding import BindingType
from textual.content import Content

from ricordo.curation.proposal import Rejected
from ricordo.services.curation.curation import alarms, refuse, settle
from ricordo.services.curation.decision import (
    Shown,
    Waits,
    edited,
    plan,
    put_in_place,
    text_to_edit,
    what_waits,
)
from ricordo.services.sessions.quotes import causes_of, titles
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, one_line
from ricordo.tui.actions.handlers import Handlers
from ricordo.tui.base.acting_screen import bindings_on
from ricordo.tui.base.list_diff_screen import PastScreen, RevertActions, Turn
from ricordo.tui.context import Scene, Situation
from ricordo.tui.curation.decisions import Deciding, Mark, Thing, is_same
from ricordo.tui.curation.rows import (
    NOTHING_WAITS,
    Aside,
    aside_lines,
    decided_spans,
    head_lines,
    nothing_to_decide,
    thing_rows,
    told_of_alarms,
    told_of_taken,
    told_of_waiting,
)
from ricordo.tui.dialogs.confirm import ConfirmScreen
from ricordo.tui.dialogs.origin import OriginScreen
from ricordo.tui.render.line import StyledLine, StyledSpan

if TYPE_CHECKING:
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.tui.color_palette import Palette

_NO_TURN = "No transcript tells where the quoted words come from."
_NONE_PLAIN = "None is left without a warning whose diff you have seen to its end."
_NOT_BACK = "Only what a model or a program proposed and the checks rejected is sent back, once."
_DECIDING = ("yes", "no", "later", "edit", "hunk")


class CurationActions(RevertActions, Protocol):
    """What the notebook does for the review."""

    def ask_history(self) -> None:
        """Find out whether there is something to undo: an act was recorded without a change."""

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the person's editor as a file that is called `name`, and hand what was
        saved, where it is another one, to `use`. Raises RicordoError, nothing being lost.
        """


class CurationScreen(PastScreen):
    """Decides on what waits. Only ctrl+s writes; what is not decided waits on."""

    SCENE = Scene.CURATION
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
        hands: CurationActions,
        deciding: Deciding,
        curate: Callable[[], None],
        send_back: Callable[[Rejected], None],
        changed: Callable[[], None],
    ) -> None:
        """`notebook` is for this screen's threads; `deciding` holds what was decided already;
        `curate` lets a curator propose more, `send_back` gives one of its changes back to it,
        `changed` is called when another number may wait.
        """
        super().__init__(notebook, palette, keymap, hands)
        self._edit_text, self._ask_history = hands.edit_text, hands.ask_history
        self._deciding = deciding
        self._curate = curate
        self._send_back = send_back
        self._changed = changed
        self._waits: Waits | None = None
        self._titles: Mapping[str, str] = {}
        self._things: Sequence[Thing] = ()

    def on_mount(self) -> None:
        """Show what waits."""
        # what is known of a proposal is scrolled with its diff
        self._about.display = False
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_proposals()

    def on_resize(self) -> None:
        """More of the diff may be in sight."""
        self.call_after_refresh(self._scrolled)

    # What is shown

    @property
    def is_loaded(self) -> bool:
        """Whether what waits is on the screen."""
        return self._waits is not None

    @property
    def thing(self) -> Thing | None:
        """What is under the cursor; None where nothing waits."""
        return self._things[self._list.at] if 0 <= self._list.at < len(self._things) else None

    @property
    def proposal(self) -> Shown | None:
        """The proposal under the cursor."""
        return self.thing if isinstance(self.thing, Shown) else None

    @property
    def _proposals(self) -> list[Shown]:
        return [it for it in self._things if isinstance(it, Shown)]

    @property
    def _taken(self) -> list[Shown]:
        return self._deciding.taken(self._proposals)

    @property
    def _has_diff(self) -> bool:
        return self.thing is not None

    def refresh_proposals(self) -> None:
        """Show what waits now: something was decided, or somebody wrote."""
        self._begin(self._load)

    _reload = refresh_proposals

    async def _load(self) -> None:
        waits = await asyncio.to_thread(what_waits, self._notebook)
        self._titles = await asyncio.to_thread(titles, self._notebook)
        # from here on nothing is waited for: what is loaded is shown
        self._waits = waits
        before, at = self.thing, max(self._list.at, 0)
        self._things = self._deciding.things(waits.shown, waits.applied)
        numbers = (n for n, it in enumerate(self._things) if is_same(it, before))
        at = min(next(numbers, at), len(self._things) - 1)
        self._list.show(len(self._things), at, NOTHING_WAITS)
        self._right.display = bool(self._things)
        if self.thing is None or self.thing != before:
            self._chosen()
        self.say()

    def looked(self, look: Snapshot) -> None:
        """Show what waits anew where the memory is another one by now."""
        if self._waits is not None and any(it.is_other_in(look.memory) for it in self._waits.shown):
            self.refresh_proposals()

    def _chosen(self) -> None:
        thing = self.thing
        if isinstance(thing, Shown) and self._waits is not None:
            left_out = self._deciding.left_out(thing)
            self._diff.show(thing.edits, left_out, partial(head_lines, thing, self._titles))
        else:
            head = partial(aside_lines, thing) if isinstance(thing, Aside) else None
            self._diff.show((), (), head)
        self.call_after_refresh(self._scrolled)
        self.say()

    def _scrolled(self) -> None:
        """Remember what was on the screen to its end."""
        it = self.proposal
        if it is not None and self._diff.is_read and self._deciding.was_shown(it):
            self._list.refresh()
            self.say()

    def _rests(self, number: int) -> bool:
        return not isinstance(self._things[number], str)

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        return thing_rows(self._things[number], self._deciding, width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        return []

    def say(self) -> None:
        """Tell what waits and from where, what would be written, and the keys."""
        super().say()
        title = StyledSpan(" Curation ", "accent bold")
        waits = self._waits
        told = told_of_waiting(waits.shown, waits.runs) if waits else "reading what waits …"
        self._title.say((title, StyledSpan(f" {told}", "dim")))
        refused = len(self._deciding.refused(self._proposals))
        self._state.say(*decided_spans(self._taken, refused, self._notebook.place.layout))
        self._list.border_title = Content(f"Proposals · {len(waits.shown) if waits else 0}")
        thing = self.thing
        named = f"{thing.waiting.op} {thing.waiting.path}" if isinstance(thing, Shown) else ""
        self._right.border_title = Content(clip(named, 70))

    # Deciding

    @property
    def situation(self) -> Situation:
        """How many would be written, and what the screen refuses."""
        return replace(super().situation, taken=len(self._taken))

    @property
    def _refusals(self) -> Mapping[str, str]:
        read_only = self._notebook.place.layout.read_only
        refusals = dict.fromkeys(_DECIDING, self._why_not_decided)
        it = self.proposal
        if it is not None and not refusals["yes"]:
            if it.why_not:
                refusals["yes"] = f"It fits no longer: {it.why_not}. d keeps it away."
            refusals["edit"] = read_only or refusals["yes"]
            refusals["hunk"] = refusals["yes"] or self._why_no_hunk(it)
        is_quoted = it is not None and bool(it.waiting.evidence)
        refusals["origin"] = "" if is_quoted else "Nothing is quoted here."
        refusals["all"] = "" if self._plain else _NONE_PLAIN
        nothing = "" if self._taken else "Nothing is accepted; a accepts."
        refusals["write"] = nothing or read_only
        refusals["curate"] = ""
        refusals["send-back"] = "" if self._deciding.can_send_back(self.thing) else _NOT_BACK
        return refusals

    @property
    def _why_not_decided(self) -> str:
        if isinstance(self.thing, Aside):
            return nothing_to_decide(self.thing)
        if self.proposal is None:
            return "Nothing waits to be decided; c has something proposed."
        is_written = self._deciding.of(self.proposal) is Mark.WRITTEN
        return "It was written; u takes it back." if is_written else ""

    def _why_no_hunk(self, it: Shown) -> str:
        hunk = self._diff.hunk
        if hunk is None or it.can_leave_out(hunk[0]):
            return ""
        return "This follows from the change as a whole; d refuses all of it."

    @property
    def _plain(self) -> list[Shown]:
        undecided = (it for it in self._proposals if self._deciding.of(it) is Mark.OPEN)
        return [it for it in undecided if it.is_plain and self._deciding.is_shown(it)]

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            "later": self.postpone,
            "all": self.accept_all,
            "hunk": self.toggle_hunk,
            "edit": self.edit_proposal,
            "origin": self.show_origin,
            "write": self.write_accepted,
            "send-back": self.send_back,
            "yes": partial(self._mark, Mark.TAKEN),
            "no": partial(self._mark, Mark.REFUSED),
            "curate": self._curate,
            "open": self.go_to_diff,
        }

    def _mark(self, mark: Mark) -> None:
        if (it := self.proposal) is not None:
            if self._deciding.turn(it, mark):
                self._list.move(1)
            self._list.refresh()

    def postpone(self) -> None:
        """Decide nothing of it: it waits."""
        if (it := self.proposal) is not None:
            self._deciding.mark(it, Mark.OPEN)
            self._list.move(1)
            self._list.refresh()

    def accept_all(self) -> None:
        """Accept all without a warning that are not decided and were shown to their end."""
        for it in self._plain:
            self._deciding.mark(it, Mark.TAKEN)
        self._list.refresh()

    def toggle_hunk(self) -> None:
        """Leave the hunk under the cursor out, or take it in again; elsewhere go to the next."""
        if self._diff.hunk is None:
            self.go_to_diff()
            self._diff.go_to_hunk()
        elif (it := self.proposal) is not None and self._diff.leave_out():
            self._deciding.leave_out(it, self._diff.left_out, self._diff.hunks)
            self._list.refresh()

    def edit_proposal(self) -> None:
        """What it brings, in the person's editor."""
        if (it := self.proposal) is not None and self._waits is not None:
            self._begin(partial(self._edit, self._waits.memory, it))

    async def _edit(self, memory: Memory, it: Shown) -> None:
        text = text_to_edit(it)
        name = os.path.basename(it.edits[0].path)

        async def use(saved: str) -> None:
            made = await asyncio.to_thread(edited, self._notebook, memory, it.waiting, saved)
            await asyncio.to_thread(put_in_place, self._notebook, it.waiting, made)
            self._deciding.replaced(it.waiting, made)
            self.notify("It is shown as you edited it; a takes it.", markup=False, timeout=5)

        await self._edit_text(name, text, use)
        await self._load()

    def show_origin(self) -> None:
        """The turns that are quoted."""
        if (it := self.proposal) is not None and self._waits is not None:
            find = partial(causes_of, self._notebook, self._waits.memory, it.waiting.evidence)
            about = f"{it.waiting.op} {it.waiting.path}"
            self.app.push_screen(OriginScreen(about, find, self._palette, self.keymap, _NO_TURN))

    # Writing

    def write_accepted(self) -> None:
        """Write all that is taken."""
        if self._waits is not None:
            self._begin(partial(self._write, self._waits.memory, self._taken))

    async def _write(self, shown_in: Memory, taken: Sequence[Shown]) -> None:
        if not await self._confirmed(shown_in, taken):
            return
        left_out = {it.waiting.id: self._deciding.left_out(it) for it in taken}
        memory = await asyncio.to_thread(self._notebook.read)
        planned = await asyncio.to_thread(plan, self._notebook, memory, shown_in, taken, left_out)
        applied = await self._actions.write_seen(planned.change_set) if planned.chosen else None
        if applied is not None:
            chosen = {it.id for it in planned.chosen}
            written = [it for it in taken if it.waiting.id in chosen]
            self._deciding.wrote(written)
            told = told_of_taken(written, self._notebook.place.layout)
            self.notify(f"Written: {told}. u undoes all of it.", markup=False, timeout=6)
            await asyncio.to_thread(settle, self._notebook, planned, applied)
        for it, why in planned.left:
            said = f"Not written: {it.op} {clip(it.path, 60)}: {one_line(why)}."
            self.notify(said, severity="warning", markup=False, timeout=10)
        await self._load()
        self._list.focus()
        self._list.move_to_end(-1)
        self._changed()

    async def _confirmed(self, memory: Memory, taken: Sequence[Shown]) -> bool:
        """Say whether what alarms was confirmed, or nothing does."""
        waits = [it.waiting for it in taken]
        found = await asyncio.to_thread(alarms, self._notebook, memory, waits)
        if not found:
            return True
        screen = ConfirmScreen("This takes much away", told_of_alarms(waits, found), self._palette)
        return await self.app.push_screen_wait(screen) is True

    async def _turn(self, turn: Turn) -> None:
        await turn()
        await self._load()
        self._changed()

    # Leaving

    def send_back(self) -> None:
        """Have it proposed once more, without what the checks rejected it for."""
        if isinstance(self.thing, Rejected):
            self._send_back(self.thing)

    def _leave(self) -> None:
        """Refuse what is marked so; all else is pending."""
        self._begin(self._close)

    async def _close(self) -> None:
        try:
            refused = self._deciding.refused(self._proposals)
            if refused:
                await asyncio.to_thread(refuse, self._notebook, refused)
                self._ask_history()
            if taken := self._taken:
                said = f"{len(taken)} accepted were not written (ctrl+s does): they wait."
                self.app.notify(said, severity="warning", markup=False)
        finally:
            self._deciding.leave()
            self._changed()
            self.dismiss(None)

    def on_row_list_opened(self) -> None:
        """A second click goes to the diff."""
        self.go_to_diff()
