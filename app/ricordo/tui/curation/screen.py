"""The review of a curation: proposals, each to be accepted, refused, or left for later."""

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

_NO_MESSAGE = "No transcript has the quoted messages."
_NONE_PLAIN = "No undecided proposal without a warning was scrolled to its end."
_NOT_BACK = "Only a rejected change of a model or program can be sent back, once."
_DECIDING = ("yes", "no", "later", "edit", "hunk")


class CurationActions(RevertActions, Protocol):
    """What the review can do to the memory."""

    def ask_history(self) -> None:
        """Read again whether there is something to undo: a refusal was recorded."""

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the user's editor as a file called `name`, and pass the saved text to
        `use` if it changed. Raises RicordoError; no text is lost.
        """


class CurationScreen(PastScreen):
    """Decides on pending proposals. Only ctrl+s writes; undecided ones stay pending."""

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
        """`notebook` is for this screen's threads; `deciding` holds the decisions so far; `curate`
        asks for more proposals, `send_back` sends a rejected change back, `changed` is called when
        the number of pending proposals may have changed.
        """
        super().__init__(notebook, palette, keymap, hands)
        self._edit_text, self._ask_history = hands.edit_text, hands.ask_history
        self._decisions = deciding
        self._curate = curate
        self._send_back = send_back
        self._changed = changed
        self._pending: Waits | None = None
        self._titles: Mapping[str, str] = {}
        self._things: Sequence[Thing] = ()

    def on_mount(self) -> None:
        """Show the pending proposals."""
        # reason and evidence of a proposal are scrolled with its diff
        self._about.display = False
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_proposals()

    def on_resize(self) -> None:
        """Check whether the end of the diff is in sight now."""
        self.call_after_refresh(self._scrolled)

    # What is shown

    @property
    def is_loaded(self) -> bool:
        """Whether the pending proposals are on the screen."""
        return self._pending is not None

    @property
    def thing(self) -> Thing | None:
        """Return the row under the cursor; None if the list is empty."""
        return self._things[self._list.at] if 0 <= self._list.at < len(self._things) else None

    @property
    def proposal(self) -> Shown | None:
        """Return the proposal under the cursor; None on another row."""
        return self.thing if isinstance(self.thing, Shown) else None

    @property
    def _proposals(self) -> list[Shown]:
        return [thing for thing in self._things if isinstance(thing, Shown)]

    @property
    def _accepted(self) -> list[Shown]:
        return self._decisions.taken(self._proposals)

    @property
    def _has_diff(self) -> bool:
        return self.thing is not None

    def refresh_proposals(self) -> None:
        """Read the pending proposals again: a decision was made, or somebody wrote."""
        self._begin(self._load)

    _reload = refresh_proposals

    async def _load(self) -> None:
        pending = await asyncio.to_thread(what_waits, self._notebook)
        self._titles = await asyncio.to_thread(titles, self._notebook)
        # no await from here on: what was loaded is what is shown
        self._pending = pending
        before, at = self.thing, max(self._list.at, 0)
        self._things = self._decisions.things(pending.shown, pending.applied)
        numbers = (number for number, thing in enumerate(self._things) if is_same(thing, before))
        at = min(next(numbers, at), len(self._things) - 1)
        self._list.show(len(self._things), at, NOTHING_WAITS)
        self._right.display = bool(self._things)
        if self.thing is None or self.thing != before:
            self._chosen()
        self.say()

    def looked(self, snapshot: Snapshot) -> None:
        """Reload if the memory changed in a way that concerns a pending proposal."""
        pending, memory = self._pending, snapshot.memory
        if pending is not None and any(each.is_other_in(memory) for each in pending.shown):
            self.refresh_proposals()

    def _chosen(self) -> None:
        thing = self.thing
        if isinstance(thing, Shown) and self._pending is not None:
            left_out = self._decisions.left_out(thing)
            self._diff.show(thing.edits, left_out, partial(head_lines, thing, self._titles))
        else:
            render_head = partial(aside_lines, thing) if isinstance(thing, Aside) else None
            self._diff.show((), (), render_head)
        self.call_after_refresh(self._scrolled)
        self.say()

    def _scrolled(self) -> None:
        """Record that the diff was scrolled to its end."""
        proposal = self.proposal
        if proposal is not None and self._diff.is_read and self._decisions.was_shown(proposal):
            self._list.refresh()
            self.say()

    def _rests(self, number: int) -> bool:
        return not isinstance(self._things[number], str)

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        return thing_rows(self._things[number], self._decisions, width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        return []

    def say(self) -> None:
        """Update the title, the number of decisions and the keys."""
        super().say()
        title = StyledSpan(" Curation ", "accent bold")
        pending = self._pending
        words = told_of_waiting(pending.shown, pending.runs) if pending else "reading proposals …"
        self._title.say((title, StyledSpan(f" {words}", "dim")))
        refused = len(self._decisions.refused(self._proposals))
        self._state.say(*decided_spans(self._accepted, refused, self._notebook.place.layout))
        self._list.border_title = Content(f"Proposals · {len(pending.shown) if pending else 0}")
        thing = self.thing
        change = f"{thing.waiting.op} {thing.waiting.path}" if isinstance(thing, Shown) else ""
        self._right.border_title = Content(clip(change, 70))

    # Deciding

    @property
    def situation(self) -> Situation:
        """Return the state of the keys, with how many proposals ctrl+s would write."""
        return replace(super().situation, taken=len(self._accepted))

    @property
    def _refusals(self) -> Mapping[str, str]:
        read_only = self._notebook.place.layout.read_only
        refusals = dict.fromkeys(_DECIDING, self._undecidable_reason)
        proposal = self.proposal
        if proposal is not None and not refusals["yes"]:
            if proposal.why_not:
                refusals["yes"] = f"No longer applies: {proposal.why_not}. d refuses it."
            refusals["edit"] = read_only or refusals["yes"]
            refusals["hunk"] = refusals["yes"] or self._hunk_disabled_reason(proposal)
        is_quoted = proposal is not None and bool(proposal.waiting.evidence)
        refusals["origin"] = "" if is_quoted else "This row quotes no message."
        refusals["all"] = "" if self._acceptable else _NONE_PLAIN
        nothing = "" if self._accepted else "No proposal is accepted; press a to accept one."
        refusals["write"] = nothing or read_only
        refusals["curate"] = ""
        refusals["send-back"] = "" if self._decisions.can_send_back(self.thing) else _NOT_BACK
        return refusals

    @property
    def _undecidable_reason(self) -> str:
        if isinstance(self.thing, Aside):
            return nothing_to_decide(self.thing)
        if self.proposal is None:
            return "No proposal is selected; press c to ask for proposals."
        is_written = self._decisions.of(self.proposal) is Mark.WRITTEN
        return "Already written; u undoes it." if is_written else ""

    def _hunk_disabled_reason(self, proposal: Shown) -> str:
        hunk = self._diff.hunk
        if hunk is None or proposal.can_leave_out(hunk[0]):
            return ""
        return "This hunk belongs to the whole change; d refuses the change."

    @property
    def _acceptable(self) -> list[Shown]:
        open_ones = (each for each in self._proposals if self._decisions.of(each) is Mark.OPEN)
        return [each for each in open_ones if each.is_plain and self._decisions.is_shown(each)]

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
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
        if (proposal := self.proposal) is not None:
            if self._decisions.turn(proposal, mark):
                self._list.move(1)
            self._list.refresh()

    def postpone(self) -> None:
        """Leave the proposal pending."""
        if (proposal := self.proposal) is not None:
            self._decisions.mark(proposal, Mark.OPEN)
            self._list.move(1)
            self._list.refresh()

    def accept_all(self) -> None:
        """Accept all undecided proposals without a warning that were scrolled to their end."""
        for proposal in self._acceptable:
            self._decisions.mark(proposal, Mark.TAKEN)
        self._list.refresh()

    def toggle_hunk(self) -> None:
        """Leave out or include the hunk under the cursor; elsewhere go to the next hunk."""
        if self._diff.hunk is None:
            self.go_to_diff()
            self._diff.go_to_hunk()
        elif (proposal := self.proposal) is not None and self._diff.leave_out():
            self._decisions.leave_out(proposal, self._diff.left_out, self._diff.hunks)
            self._list.refresh()

    def edit_proposal(self) -> None:
        """Edit the proposed text in the user's editor."""
        if (proposal := self.proposal) is not None and self._pending is not None:
            self._begin(partial(self._edit, self._pending.memory, proposal))

    async def _edit(self, memory: Memory, proposal: Shown) -> None:
        text = text_to_edit(proposal)
        name = os.path.basename(proposal.edits[0].path)

        async def use(saved: str) -> None:
            old = proposal.waiting
            new = await asyncio.to_thread(edited, self._notebook, memory, old, saved)
            await asyncio.to_thread(put_in_place, self._notebook, old, new)
            self._decisions.replaced(old, new)
            self.notify("Your edited text is shown; press a to accept it.", markup=False, timeout=5)

        await self._edit_text(name, text, use)
        await self._load()

    def show_origin(self) -> None:
        """Show the quoted messages."""
        if (proposal := self.proposal) is not None and self._pending is not None:
            find = partial(
                causes_of, self._notebook, self._pending.memory, proposal.waiting.evidence
            )
            about = f"{proposal.waiting.op} {proposal.waiting.path}"
            self.app.push_screen(OriginScreen(about, find, self._palette, self.keymap, _NO_MESSAGE))

    # Writing

    def write_accepted(self) -> None:
        """Write all accepted proposals."""
        if self._pending is not None:
            self._begin(partial(self._write, self._pending.memory, self._accepted))

    async def _write(self, shown_in: Memory, accepted: Sequence[Shown]) -> None:
        if not await self._confirm_alarms(shown_in, accepted):
            return
        left_out = {each.waiting.id: self._decisions.left_out(each) for each in accepted}
        memory = await asyncio.to_thread(self._notebook.read)
        planned = await asyncio.to_thread(
            plan, self._notebook, memory, shown_in, accepted, left_out
        )
        applied = await self._actions.write_seen(planned.change_set) if planned.chosen else None
        if applied is not None:
            chosen = {proposal.id for proposal in planned.chosen}
            written = [proposal for proposal in accepted if proposal.waiting.id in chosen]
            self._decisions.wrote(written)
            counts = told_of_taken(written, self._notebook.place.layout)
            self.notify(f"Written: {counts}. u undoes all.", markup=False, timeout=6)
            await asyncio.to_thread(settle, self._notebook, planned, applied)
        for proposal, reason in planned.left:
            message = f"Not written: {proposal.op} {clip(proposal.path, 60)}: {one_line(reason)}."
            self.notify(message, severity="warning", markup=False, timeout=10)
        await self._load()
        self._list.focus()
        self._list.move_to_end(-1)
        self._changed()

    async def _confirm_alarms(self, memory: Memory, taken: Sequence[Shown]) -> bool:
        """Return whether there are no alarms, or the user confirmed them."""
        proposals = [proposal.waiting for proposal in taken]
        alarms_by_id = await asyncio.to_thread(alarms, self._notebook, memory, proposals)
        if not alarms_by_id:
            return True
        alarming = told_of_alarms(proposals, alarms_by_id)
        screen = ConfirmScreen("This removes much", alarming, self._palette)
        return await self.app.push_screen_wait(screen) is True

    async def _turn(self, turn: Turn) -> None:
        await turn()
        await self._load()
        self._changed()

    # Leaving

    def send_back(self) -> None:
        """Send a rejected change back, to be proposed again without its faults."""
        if isinstance(self.thing, Rejected):
            self._send_back(self.thing)

    def _leave(self) -> None:
        """Close the screen and refuse what is marked so; everything else stays pending."""
        self._begin(self._close)

    async def _close(self) -> None:
        try:
            refused = self._decisions.refused(self._proposals)
            if refused:
                await asyncio.to_thread(refuse, self._notebook, refused)
                self._ask_history()
            if accepted := self._accepted:
                message = f"{len(accepted)} accepted, not written: still pending. ctrl+s writes."
                self.app.notify(message, severity="warning", markup=False)
        finally:
            self._decisions.leave()
            self._changed()
            self.dismiss(None)

    def on_row_list_opened(self) -> None:
        """Go to the diff on a double click."""
        self.go_to_diff()
