"""The draft of a handoff beside its facts: statement by statement with its mark, to be dropped,
worded anew or probed again. Only ctrl+s writes it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content

from ricordo.errors import RicordoError
from ricordo.handoff.document import family
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, one_line
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import bindings_on
from ricordo.tui.base.list_diff_screen import WIDE
from ricordo.tui.context import Scene, Situation, needs_redo, needs_undo
from ricordo.tui.handoff.draft import DraftDecisions, DraftStatement, text_of
from ricordo.tui.handoff.fact_rows import fact_lines
from ricordo.tui.handoff.options import DraftHost, Wishing
from ricordo.tui.handoff.output import HandingOn, HandoffActions
from ricordo.tui.handoff.rows import DraftRow, about_lines, draft_rows
from ricordo.tui.handoff.session_rows import meter_spans, start_spans, title_spans, where_spans
from ricordo.tui.handoff.values import Ask, HandoffFacts, Made, Shared
from ricordo.tui.handoff.views import DraftView, FactList
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import AboutView

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.curation.engine import Step
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter


class Wording:
    """The keys that decide on the statement under the cursor of a screen."""

    def __init__(
        self,
        screen: HandoffScreen,
        drafter: Drafter,
        drafting: DraftDecisions,
        hands: HandoffActions,
        begin: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        """`drafting` holds what was decided; `begin` does work once what was begun before is
        done.
        """
        self._screen = screen
        self._drafter = drafter
        self._drafting = drafting
        self._hands = hands
        self._begin = begin

    @property
    def _statement(self) -> DraftStatement:
        it = self._screen.statement
        assert it is not None, "it is refused where none is under the cursor"
        return it

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "no": self.toggle_statement,
            "edit": self.edit_statement,
        }

    def toggle_statement(self) -> None:
        """Drop the statement, or take it in again."""
        if self._drafting.turn(self._statement.key):
            self._screen.show()
            self._screen.go_on()
        self._screen.make()

    def edit_statement(self) -> None:
        """Word the statement anew, in the person's editor."""
        self._begin(partial(self._edit, self._statement))

    async def _edit(self, it: DraftStatement) -> None:
        gathered = self._screen.gathered
        assert gathered is not None, "statements come of it"

        async def use(saved: str) -> None:
            own = self._drafting.word(it.key, " ".join(saved.split()))
            if own is not None:
                proved = await asyncio.to_thread(self._drafter.prove, gathered, own)
                self._drafting.take(it.key, proved)

        await self._hands.edit_text("statement.md", f"{text_of(it.statement)}\n", use)
        self._screen.make()


_TICK = 0.2
"""Seconds after which it is told anew how far something is."""
_BUSY = "It is still being worked at; Esc cancels."
_NOT_YET = "There is no draft yet."
_UNFITTED = "What is wanted was not fitted to the budget: b gives another one, ctrl+r tries anew."
_OF_DRAFT = ("write", "copy", "pipe", "pick-up")
_OF_FACTS = ("engine", "budget", "messages", "reread")
_NOTHING = (
    ("Nothing could be drawn from this session", "heading"),
    ("It holds no message, no command and no file that a handoff could tell of.", "dim"),
)


class HandoffScreen(DraftHost):
    """One handoff, from what was gathered to what is written."""

    SCENE = Scene.HANDOFF
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        sessions: Sequence[Session],
        ask: Ask,
        drafter: Drafter,
        drafting: DraftDecisions,
        hands: HandoffActions,
        shared: Shared,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`drafting` holds what was decided of statements before, `shared` what outlasts this
        screen.
        """
        super().__init__(palette, keymap)
        self._sessions = sessions
        self.ask = ask
        """How the handoff is wished."""
        self._shown = ask
        """How the one that is shown was."""
        self._drafter = drafter
        self._drafting = drafting
        self._hands = hands
        self._jobs = Jobs()
        self.gathered: HandoffFacts | None = None
        """What is known, once it is gathered."""
        self.made: Made | None = None
        """The handoff as it would be written, once it is there."""
        self._is_stale = False
        """Whether another one is wanted by now."""
        self._drafted: Sequence[DraftStatement] = ()
        self.written = ""
        """Where it was written as it is shown; "" where it was not."""
        self._is_on_disk = False
        """Whether a handoff was written from here, as it was shown then."""
        self._failure = ""
        self._wishing = Wishing(self, drafter)
        self._handing_on = HandingOn(self, drafter, hands, shared)
        self._wording = Wording(self, drafter, drafting, hands, self._handing_on.begin)
        names = ("title", "meter", "where", "start", "keys")
        self._bars = {name: Bar(palette, id=name) for name in names}
        self._list = FactList(palette, self._at_fact, id="facts")
        self._right = Vertical(id="right", classes="pane")
        self._draft = DraftView(palette, self._at_statement, self._draft_rows, id="draft")
        self._about = AboutView(palette, self._about_lines, id="about")

    def compose(self) -> ComposeResult:
        """From where and for whom; the facts beside the draft; how much, where, how to begin."""
        yield self._bars["title"]
        with Container(id="handoff"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._draft
                yield self._about
        for name in ("meter", "where", "start", "keys"):
            yield self._bars[name]

    def on_mount(self) -> None:
        """Begin to gather."""
        self._draft.focus()
        self.set_interval(_TICK, self.say)
        self._draft.tell(0, (("gathering what happened …", "dim"),))
        self._gather("gathering")

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._jobs.cancel()

    def on_resize(self) -> None:
        """Put the facts beside the draft where there is room, else above it."""
        self.set_class(self.size.width >= WIDE, "-wide")

    # What goes on in threads

    def _begin(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        """Do `work` in the place of what goes on, and `done` with what came of it."""
        job = self._jobs.begin(phase)
        self._failure = ""
        self.say()

        async def doing() -> None:
            try:
                found = await self._jobs.done(job, work)
            except RicordoError as error:
                self.ask = self._shown
                self._fail(error)
                return
            if found is not None:
                done(found)

        self.run_worker(doing(), group="handoff")

    def _fail(self, error: RicordoError) -> None:
        """Say why it failed: in the place of the draft, where there is none."""
        if self.made is not None:
            self.notify(str(error), severity="error", markup=False, timeout=10)
        else:
            self._failure = str(error)
        self.show()

    def _gather(self, phase: str) -> None:
        gather = partial(self._drafter.gather, self._sessions, self.ask)
        self._begin(phase, gather, self._tell_and_take)

    def _tell_and_take(self, gathered: HandoffFacts) -> None:
        if gathered.cost:
            self.notify(one_line(gathered.cost), markup=False, timeout=8)
        for remark in gathered.draft.remarks:
            self.notify(one_line(remark), severity="warning", markup=False, timeout=10)
        # where the engine gave no answer it is not asked again by itself
        self.ask = self._shown = replace(self.ask, engine=gathered.engine)
        self._take(gathered)

    def _take(self, gathered: HandoffFacts) -> None:
        """Have what was gathered, and make a handoff of it."""
        self.gathered = gathered
        self._drafting.compose(gathered.statements)
        self._list.show_facts(gathered.listed)
        self.make()

    def again(self, ask: Ask, phase: str = "drafting") -> None:
        """Draft it as it is wished from now on, of the same facts."""
        assert self.gathered is not None, "it is refused until there is a draft"
        self.ask = ask
        again = partial(self._drafter.again, self.gathered, ask)
        self._begin(phase, again, self._tell_and_take)

    def make(self) -> None:
        """Make the handoff of what is wanted, as it would be written."""
        if self.gathered is None:
            return
        make = partial(self._drafter.make, self.gathered, self._drafting.wanted)
        self.written, self._is_stale = "", True
        self._begin("fitting it to the budget", lambda step: make(), self._show_made)

    def _show_made(self, made: Made) -> None:
        self.made, self._is_stale = made, False
        self.show()

    def wrote(self, made: Made) -> None:
        """Know that the draft was written, as far as it is still the one that is shown."""
        self._is_on_disk = True
        if made is self.made:
            self.written = made.path
        self.say()

    def turned(self) -> None:
        """Know that the last act was taken back or done again."""
        self._is_on_disk = False
        self.make()

    def show(self) -> None:
        """Draw the draft anew, with the cursor where it was."""
        before, at = self.statement, self._draft.number
        if self.gathered is not None:
            written = self.made.handoff.statements if self.made else ()
            self._drafted = self._drafting.drafted(family(self.ask.target).order, written)
        keys = [it.key for it in self._drafted]
        at = keys.index(before.key) if before is not None and before.key in keys else max(at, 0)
        self._draft.tell(at, [(self._failure, "error")] if self._failure else _NOTHING)
        self._at_statement()

    # What is shown

    @property
    def statement(self) -> DraftStatement | None:
        """The statement under the cursor."""
        at = self._draft.number
        return self._drafted[at] if 0 <= at < len(self._drafted) else None

    @property
    def _is_among_facts(self) -> bool:
        return self._list.has_focus

    def _draft_rows(self, width: int) -> Sequence[DraftRow]:
        return draft_rows(self._drafted, family(self.ask.target).headings, self.ask.budget, width)

    def _about_lines(self, width: int) -> list[StyledLine]:
        if self._is_among_facts:
            return fact_lines(self._list.fact, width) if self._list.fact is not None else []
        if self.statement is None:
            return []
        sessions = len(self.gathered.facts.sessions) if self.gathered else 1
        return about_lines(self.statement, self._list.by_id, sessions, width)

    def _at_statement(self) -> None:
        """Show on what the statement under the cursor stands."""
        if self.statement is not None and not self._is_among_facts:
            self._list.mark(self.statement.statement.stands_on)
        self._about.tell()
        self.say()

    def _at_fact(self) -> None:
        self._about.tell()
        self.say()

    def say(self) -> None:
        """Tell what is handed off, for whom, how much it is, where it goes, and the keys."""
        bars = self._bars
        sessions = self.gathered.facts.sessions if self.gathered else self._sessions
        bars["title"].say(*title_spans(sessions, self.ask, self.made))
        bars["meter"].say(*meter_spans(self.made, self.ask.budget))
        job = self._jobs.now
        if job is not None:
            doing = StyledSpan(f" ○ {job.told}", "accent")
            bars["where"].say((doing, StyledSpan(" · nothing is changed, Esc cancels", "dim")))
        else:
            bars["where"].say(where_spans(self.made, self.written))
        bars["start"].say(start_spans(self.made))
        bars["keys"].say(*key_line(self.situation, self.keymap))
        self._list.border_title = Content(f"Facts · {len(self._list.by_id):,} · by turn")
        name = clip(os.path.basename(self.made.path), 60) if self.made else "…"
        self._right.border_title = Content(f"Draft · {name}")

    # What can be done

    @property
    def _is_asking(self) -> bool:
        """Whether an engine is asked."""
        job = self._jobs.now
        return job is not None and self.ask.engine != self._shown.engine

    @property
    def situation(self) -> Situation:
        """What is refused, and why."""
        ungathered = "" if self.gathered else _NOT_YET
        unmade = "" if self.made and not self._is_stale else ungathered or _UNFITTED
        working = _BUSY if self._jobs.now is not None else ""
        busy = working or unmade
        refusals = dict.fromkeys(_OF_DRAFT, busy)
        refusals |= dict.fromkeys(_OF_FACTS, working or ungathered)
        # one after the other, quickly: the last one counts
        refusals["for-whom"] = ungathered or (_BUSY if self._is_asking else "")
        if self.ask.engine is not None and not busy:
            refusals["messages"] = "It has what the engine chose; the rules (M) take all of them."
        none = "" if self.statement else "No statement is under the cursor."
        refusals["no"] = refusals["edit"] = refusals["for-whom"] or none
        known = Situation(undo=self._hands.can_undo, redo=self._hands.can_redo)
        refusals["undo"], refusals["redo"] = needs_undo(known), needs_redo(known)
        is_there = self._is_on_disk or (self.made is not None and self.made.is_there)
        if not busy and not is_there:
            refusals["pick-up"] = "There is no handoff to pick up yet; ctrl+s writes it."
        if not busy and self.made and not self.made.handoff.statements:
            refusals["write"] = "Every statement is dropped; d takes one in again."
        if self.written and not busy:
            refusals["write"] = "It is written as it is shown; u takes that back."
        return replace(super().situation, refusals=refusals)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._list if self._is_among_facts else self._draft),
            **self._wording.handlers,
            **self._wishing.handlers,
            **self._handing_on.handlers,
            "index": self.go_to_facts,
            "note": self.go_to_draft,
            "next-pane": self.go_to_other_pane,
            "open": self.go_to_counterpart,
            "leave": self.go_back,
            "reread": self.check_again,
            "next": self.go_to_draft,
            "previous": self.go_to_facts,
            "previous-pane": self.go_to_other_pane,
        }

    # Moving

    def go_to_facts(self) -> None:
        """To the facts."""
        # where there is no room for both they come on the screen only now
        self.add_class("-facts")
        self._list.focus()
        self.call_after_refresh(self._at_fact)

    def go_to_draft(self) -> None:
        """To the draft."""
        self._draft.focus()
        self.remove_class("-facts")
        self.call_after_refresh(self._at_statement)

    def go_on(self) -> None:
        """To the next statement."""
        self._draft.move(1)

    def go_to_other_pane(self) -> None:
        """To the other of the two."""
        if self._is_among_facts:
            self.go_to_draft()
        else:
            self.go_to_facts()

    def go_to_counterpart(self) -> None:
        """From a statement to a fact on which it stands, and back."""
        if not self._is_among_facts:
            self.go_to_facts()
            return
        id = self._list.fact_id
        numbers = (n for n, it in enumerate(self._drafted) if id and id in it.statement.stands_on)
        at = next(numbers, -1)
        if at < 0:
            self.notify("No statement stands on this.", markup=False, timeout=3)
            return
        self.go_to_draft()
        self._draft.go_to(at)

    def go_back(self) -> None:
        """Stop what goes on; from the facts to the draft; from there back."""
        if self._jobs.now is not None:
            self._jobs.cancel()
            self.ask = self._shown
            self.notify("Cancelled. Nothing was changed.", markup=False, timeout=4)
            if self.made is None:
                self.dismiss(None)
            self.say()
        elif self._is_among_facts:
            self.go_to_draft()
        else:
            self.dismiss(None)

    # Statements

    def check_again(self) -> None:
        """Probe every statement again."""
        self.again(self.ask, "probing again")
