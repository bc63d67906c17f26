"""The review of a curation: proposals, each to be accepted, refused, or left for later."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from ricordo.curation.proposal import RejectedChange
from ricordo.services.curation.curation import find_alarms, record_applied, refuse
from ricordo.services.curation.decision import (
    PendingProposals,
    ShownProposal,
    apply_edit,
    get_editable_text,
    plan_shown,
    read_pending,
    replace_proposal,
)
from ricordo.services.sessions.quotes import list_quote_origins, list_titles
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.base.action_screen import NotebookActions, UndoAction
from ricordo.tui.base.list_diff_screen import ListDiffScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.curation.decisions import (
    CurationDecisions,
    ProposalDecision,
    ReviewItem,
    is_same_item,
)
from ricordo.tui.curation.rows import (
    NO_PROPOSALS,
    UndecidableItem,
    describe_accepted,
    describe_alarms,
    describe_pending,
    explain_undecidable,
    render_decisions,
    render_item,
    render_reasons,
    render_undecidable,
)
from ricordo.tui.dialogs.form import ConfirmScreen
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


class CurationScreen(ListDiffScreen):
    """Decides on pending proposals. Only ctrl+s writes; undecided ones stay pending."""

    SCREEN_ID = ScreenId.CURATION

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
        actions: NotebookActions,
        decisions: CurationDecisions,
        curate: Callable[[], None],
        send_back: Callable[[RejectedChange], None],
        count_changed: Callable[[], None],
    ) -> None:
        """`notebook` is for this screen's threads; `decisions` holds the decisions so far; `curate`
        asks for more proposals, `send_back` sends a rejected change back, `count_changed` is called
        when the number of pending proposals may have changed.
        """
        super().__init__(notebook, palette, keymap, actions)
        self._decisions = decisions
        self._curate = curate
        self._send_back = send_back
        self._changed = count_changed
        self._pending: PendingProposals | None = None
        self._titles: Mapping[str, str] = {}
        self._things: Sequence[ReviewItem] = ()

    def on_mount(self) -> None:
        # reason and evidence of a proposal are scrolled with its diff
        self._about.display = False
        self.watch(self._diff, "scroll_y", self._scrolled, init=False)
        self.refresh_proposals()

    def on_resize(self) -> None:
        self.call_after_refresh(self._scrolled)

    # What is shown

    @property
    def is_loaded(self) -> bool:
        """Whether the pending proposals are on the screen."""
        return self._pending is not None

    @property
    def item(self) -> ReviewItem | None:
        """Return the row under the cursor; None if the list is empty."""
        return self._things[self._list.at] if 0 <= self._list.at < len(self._things) else None

    @property
    def proposal(self) -> ShownProposal | None:
        """Return the proposal under the cursor; None on another row."""
        return self.item if isinstance(self.item, ShownProposal) else None

    @property
    def _proposals(self) -> list[ShownProposal]:
        return [thing for thing in self._things if isinstance(thing, ShownProposal)]

    @property
    def _accepted(self) -> list[ShownProposal]:
        return self._decisions.list_accepted(self._proposals)

    @property
    def _has_diff(self) -> bool:
        return self.item is not None

    def refresh_proposals(self) -> None:
        """Read the pending proposals again: a decision was made, or somebody wrote."""
        self._begin(self._load)

    _reload = refresh_proposals

    async def _load(self) -> None:
        pending = await asyncio.to_thread(read_pending, self._notebook)
        self._titles = await asyncio.to_thread(list_titles, self._notebook)
        # no await from here on: what was loaded is what is shown
        self._pending = pending
        before, at = self.item, max(self._list.at, 0)
        self._things = self._decisions.list_items(pending.proposals, pending.applied)
        numbers = (
            number for number, thing in enumerate(self._things) if is_same_item(thing, before)
        )
        at = min(next(numbers, at), len(self._things) - 1)
        self._list.show(len(self._things), at, NO_PROPOSALS)
        self._right.display = bool(self._things)
        if self.item is None or self.item != before:
            self._chosen()
        self.update_bars()

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Reload if the memory changed in a way that concerns a pending proposal."""
        pending, memory = self._pending, snapshot.memory
        if pending is not None and any(each.is_outdated_in(memory) for each in pending.proposals):
            self.refresh_proposals()

    def _chosen(self) -> None:
        thing = self.item
        if isinstance(thing, ShownProposal) and self._pending is not None:
            left_out = self._decisions.hunks_left_out(thing)
            self._diff.show_edits(
                thing.edits, left_out, partial(render_reasons, thing, self._titles)
            )
        else:
            render_head = (
                partial(render_undecidable, thing) if isinstance(thing, UndecidableItem) else None
            )
            self._diff.show_edits((), (), render_head)
        self.call_after_refresh(self._scrolled)
        self.update_bars()

    def _scrolled(self) -> None:
        """Record that the diff was scrolled to its end."""
        proposal = self.proposal
        if (
            proposal is not None
            and self._diff.is_read_to_end
            and self._decisions.record_read(proposal)
        ):
            self._list.refresh()
            self.update_bars()

    def _rests(self, number: int) -> bool:
        return not isinstance(self._things[number], str)

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        return render_item(self._things[number], self._decisions, width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        return []

    def update_bars(self) -> None:
        super().update_bars()
        title = StyledSpan(" Curation ", "accent bold")
        pending = self._pending
        words = (
            describe_pending(pending.proposals, pending.runs) if pending else "reading proposals …"
        )
        self._title.set_content((title, StyledSpan(f" {words}", "dim")))
        refused = len(self._decisions.list_refused(self._proposals))
        decided = map(self._decisions.decision_on, self._proposals)
        written = sum(each is ProposalDecision.WRITTEN for each in decided)
        layout = self._notebook.place.layout
        self._state.set_content(*render_decisions(self._accepted, refused, written, layout))
        self._list.border_title = Content(f"Proposals · {len(pending.proposals) if pending else 0}")
        thing = self.item
        change = (
            f"{thing.proposal.op} {thing.proposal.path}" if isinstance(thing, ShownProposal) else ""
        )
        self._right.border_title = Content(clip(change, 70))

    # Deciding

    @property
    def action_context(self) -> ActionContext:
        return replace(super().action_context, accepted=len(self._accepted))

    @property
    def _refusals(self) -> Mapping[str, str]:
        read_only = self._notebook.place.layout.read_only
        refusals = dict.fromkeys(_DECIDING, self._undecidable_reason)
        proposal = self.proposal
        if proposal is not None and not refusals["yes"]:
            if proposal.blocked_reason:
                refusals["yes"] = f"No longer applies: {proposal.blocked_reason}. d refuses it."
            refusals["edit"] = read_only or refusals["yes"]
            refusals["hunk"] = refusals["yes"] or self._hunk_disabled_reason(proposal)
        is_quoted = proposal is not None and bool(proposal.proposal.evidence)
        refusals["origin"] = "" if is_quoted else "This row quotes no message."
        refusals["all"] = "" if self._acceptable else _NONE_PLAIN
        nothing = "" if self._accepted else "No proposal is accepted; press a to accept one."
        refusals["write"] = nothing or read_only
        refusals["curate"] = ""
        refusals["send-back"] = "" if self._decisions.can_send_back(self.item) else _NOT_BACK
        return refusals

    @property
    def _undecidable_reason(self) -> str:
        if isinstance(self.item, UndecidableItem):
            return explain_undecidable(self.item)
        if self.proposal is None:
            return "No proposal is selected; press c to ask for proposals."
        is_written = self._decisions.decision_on(self.proposal) is ProposalDecision.WRITTEN
        return "Already written; u undoes it." if is_written else ""

    def _hunk_disabled_reason(self, proposal: ShownProposal) -> str:
        hunk = self._diff.hunk
        if hunk is None or proposal.can_omit_hunks(hunk[0]):
            return ""
        return "This hunk belongs to the whole change; d refuses the change."

    @property
    def _acceptable(self) -> list[ShownProposal]:
        open_ones = (
            each
            for each in self._proposals
            if self._decisions.decision_on(each) is ProposalDecision.OPEN
        )
        return [each for each in open_ones if each.is_plain and self._decisions.is_read(each)]

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            "later": self.postpone,
            "all": self.accept_all,
            "hunk": self.toggle_hunk,
            "edit": self.edit_proposal,
            "origin": self.show_origin,
            "write": self.write_accepted,
            "send-back": self.send_back,
            "yes": partial(self._mark, ProposalDecision.ACCEPTED),
            "no": partial(self._mark, ProposalDecision.REFUSED),
            "curate": self._curate,
            "open": self.go_to_pane,
        }

    def _mark(self, mark: ProposalDecision) -> None:
        if (proposal := self.proposal) is not None:
            if self._decisions.toggle(proposal, mark):
                self._list.move(1)
            self._list.refresh()

    def postpone(self) -> None:
        """Leave the proposal pending."""
        if (proposal := self.proposal) is not None:
            self._decisions.decide(proposal, ProposalDecision.OPEN)
            self._list.move(1)
            self._list.refresh()

    def accept_all(self) -> None:
        """Accept all undecided proposals without a warning that were scrolled to their end."""
        for proposal in self._acceptable:
            self._decisions.decide(proposal, ProposalDecision.ACCEPTED)
        self._list.refresh()

    def toggle_hunk(self) -> None:
        """Leave out or include the hunk under the cursor; elsewhere go to the next hunk."""
        if self._diff.hunk is None:
            self.go_to_pane()
            self._diff.go_to_hunk()
        elif (proposal := self.proposal) is not None and self._diff.toggle_hunk():
            self._decisions.leave_out_hunks(proposal, self._diff.left_out, self._diff.hunks)
            self._list.refresh()

    def edit_proposal(self) -> None:
        """Edit the proposed text in the user's editor."""
        if (proposal := self.proposal) is not None and self._pending is not None:
            self._begin(partial(self._edit, self._pending.memory, proposal))

    async def _edit(self, memory: Memory, proposal: ShownProposal) -> None:
        text = get_editable_text(proposal)
        name = os.path.basename(proposal.edits[0].path)

        async def use(saved: str) -> None:
            old = proposal.proposal
            new = await asyncio.to_thread(apply_edit, self._notebook, memory, old, saved)
            await asyncio.to_thread(replace_proposal, self._notebook, old, new)
            self._decisions.replace(old, new)
            self.notify("Your edited text is shown; press a to accept it.", markup=False, timeout=5)

        await self._actions.edit_text(name, text, use)
        await self._load()

    def show_origin(self) -> None:
        """Show the quoted messages."""
        if (proposal := self.proposal) is not None and self._pending is not None:
            find = partial(
                list_quote_origins, self._notebook, self._pending.memory, proposal.proposal.evidence
            )
            about = f"{proposal.proposal.op} {proposal.proposal.path}"
            self.app.push_screen(OriginScreen(about, find, self._palette, self.keymap, _NO_MESSAGE))

    # Writing

    def write_accepted(self) -> None:
        """Write all accepted proposals."""
        if self._pending is not None:
            self._begin(partial(self._write, self._pending.memory, self._accepted))

    async def _write(self, shown_in: Memory, accepted: Sequence[ShownProposal]) -> None:
        if not await self._confirm_alarms(shown_in, accepted):
            return
        left_out = {each.proposal.id: self._decisions.hunks_left_out(each) for each in accepted}
        memory = await asyncio.to_thread(self._notebook.read)
        planned = await asyncio.to_thread(
            plan_shown, self._notebook, memory, shown_in, accepted, left_out
        )
        applied = await self._actions.write_approved(planned.change_set) if planned.chosen else None
        if applied is not None:
            chosen = {proposal.id for proposal in planned.chosen}
            written = [proposal for proposal in accepted if proposal.proposal.id in chosen]
            self._decisions.record_written(written)
            counts = describe_accepted(written, self._notebook.place.layout)
            self.notify(f"Written: {counts}. u undoes all.", markup=False, timeout=6)
            await asyncio.to_thread(record_applied, self._notebook, planned, applied)
        for proposal, reason in planned.skipped:
            message = (
                f"Not written: {proposal.op} {clip(proposal.path, 60)}: {make_one_line(reason)}."
            )
            self.notify(message, severity="warning", markup=False, timeout=10)
        await self._load()
        self._list.focus()
        self._list.move_to_end(-1)
        self._changed()

    async def _confirm_alarms(self, memory: Memory, taken: Sequence[ShownProposal]) -> bool:
        """Return whether there are no alarms, or the user confirmed them."""
        proposals = [proposal.proposal for proposal in taken]
        alarms_by_id = await asyncio.to_thread(find_alarms, self._notebook, memory, proposals)
        if not alarms_by_id:
            return True
        alarming = describe_alarms(proposals, alarms_by_id)
        screen = ConfirmScreen("This removes much", alarming, self._palette)
        return await self.app.push_screen_wait(screen) is True

    async def _turn(self, turn: UndoAction) -> None:
        await turn()
        await self._load()
        self._changed()

    # Leaving

    def send_back(self) -> None:
        """Send a rejected change back, to be proposed again without its faults."""
        if isinstance(self.item, RejectedChange):
            self._send_back(self.item)

    def _leave(self) -> None:
        """Close the screen and refuse what is marked so; everything else stays pending."""
        self._begin(self._close)

    async def _close(self) -> None:
        try:
            refused = self._decisions.list_refused(self._proposals)
            if refused:
                await asyncio.to_thread(refuse, self._notebook, refused)
                self._actions.update_history()
            if accepted := self._accepted:
                message = f"{len(accepted)} accepted, not written: still pending. ctrl+s writes."
                self.app.notify(message, severity="warning", markup=False)
        finally:
            self._decisions.forget_written()
            self._changed()
            self.dismiss(None)
