"""The sessions that can be handed off, and the handoffs written before, with how true they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content

from ricordo.agents.transcripts.session import Session
from ricordo.errors import RicordoError
from ricordo.settings.keymap import Keymap
from ricordo.text import clip
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.base.list_diff_screen import WIDE
from ricordo.tui.context import Scene, Situation, needs_redo, needs_undo
from ricordo.tui.handoff.session_rows import (
    NO_SESSION,
    earlier_rows,
    session_lines,
    session_rows,
    standing_lines,
)
from ricordo.tui.handoff.values import Earlier, HandoffStatus
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import StyledLine, StyledSpan, dividing_rows
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import ReadView

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.tui.base.list_diff_screen import RevertActions
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter

_TICK = 0.2
"""Seconds after which it is told anew how far something is."""
_BEFORE = "written before"

Thing = Session | Earlier | str
"""What a row is about; words of our own are a line above others."""


class SessionsScreen(ActingScreen[None]):
    """Ends with nothing: what is chosen is drafted on a screen of its own, above this one."""

    SCENE = Scene.SESSIONS
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        drafter: Drafter,
        draft: Callable[[Sequence[Session]], None],
        hands: RevertActions,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`draft` is called with the sessions that are to be handed off."""
        super().__init__(palette, keymap)
        self._drafter = drafter
        self._draft = draft
        self._hands = hands
        self._jobs = Jobs()
        self._things: Sequence[Thing] = ()
        self._marked: Sequence[Session] = ()
        self._standing: dict[str, HandoffStatus] = {}
        self._was_left = False
        self.is_loaded = False
        """Whether what there is to choose from is on the screen."""
        self._title = Bar(palette, id="title")
        self._list = RowList(palette, self._chosen, self._rows, id="sessions", rests=self._rests)
        self._known = ReadView(palette, self._lines, id="known")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """The list beside what is known of one thing; what goes on; the keys."""
        yield self._title
        with Container(id="handoff"):
            yield self._list.add_class("pane")
            yield self._known.add_class("pane")
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Look what there is."""
        self._list.focus()
        self._list.show(0, 0, [("looking for sessions …", "dim")])
        self.set_interval(_TICK, self.say)
        self._look()

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._jobs.cancel()

    def on_resize(self) -> None:
        """Put what is known beside the list where there is room, else below it."""
        self.set_class(self.size.width >= WIDE, "-wide")

    def on_screen_suspend(self) -> None:
        """Another screen is on top."""
        self._was_left = True

    def on_screen_resume(self) -> None:
        """Look again: a handoff may have been written meanwhile."""
        if self._was_left:
            self._was_left = False
            self._look()

    # What goes on in threads

    def _look(self) -> None:
        self._standing.clear()
        self._begin("looking for sessions", self._found, self._take)

    def _found(self, step: Step) -> tuple[Sequence[Session], Sequence[Earlier]]:
        return self._drafter.sessions(step), self._drafter.earlier()

    def _take(self, found: tuple[Sequence[Session], Sequence[Earlier]]) -> None:
        sessions, earlier = found
        before = self.thing
        below: list[Thing] = [_BEFORE, *earlier] if earlier else []
        self._things = [*sessions, *below]
        self._marked = [it for it in self._marked if it in sessions]
        self.is_loaded = True
        at = self._things.index(before) if before in self._things else 0
        self._list.show(len(self._things), at, NO_SESSION)
        self._chosen()
        self._look_at_next()

    def _look_at_next(self) -> None:
        """Find out how true the next handoff still is."""
        earlier = (it for it in self._things if isinstance(it, Earlier))
        it = next((it for it in earlier if it.path not in self._standing), None)
        if it is not None:
            look = partial(self._drafter.look_at, it)
            self._begin(f"probing {it.name}", look, partial(self._stands, it))

    def _stands(self, it: Earlier, standing: HandoffStatus) -> None:
        self._standing[it.path] = standing
        self._list.refresh()
        if it == self.thing:
            self._known.tell()
        self._look_at_next()

    def _begin(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        job = self._jobs.begin(phase)
        self.say()

        async def doing() -> None:
            try:
                found = await self._jobs.done(job, work)
            except RicordoError as error:
                self.notify(str(error), severity="error", markup=False, timeout=10)
                found = None
            if found is not None:
                done(found)
            self.say()

        self.run_worker(doing(), group="sessions")

    # What is shown

    @property
    def thing(self) -> Thing | None:
        """What is under the cursor; None where there is nothing."""
        return self._things[self._list.at] if 0 <= self._list.at < len(self._things) else None

    @property
    def sessions(self) -> Sequence[Session]:
        """Those that would be handed off: the marked ones, else the one under the cursor."""
        if self._marked:
            return [it for it in self._things if isinstance(it, Session) and it in self._marked]
        return [self.thing] if isinstance(self.thing, Session) else []

    def _rests(self, number: int) -> bool:
        return not isinstance(self._things[number], str)

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        thing = self._things[number]
        if isinstance(thing, str):
            return dividing_rows(thing, width, in_one=in_one)
        if isinstance(thing, Earlier):
            return earlier_rows(thing, self._standing.get(thing.path), width, in_one=in_one)
        is_marked, is_latest = thing in self._marked, number == 0
        return session_rows(thing, width, in_one=in_one, is_marked=is_marked, is_latest=is_latest)

    def _lines(self, width: int) -> list[StyledLine]:
        thing = self.thing
        if isinstance(thing, Session):
            return session_lines(thing, width)
        if isinstance(thing, Earlier):
            return standing_lines(thing, self._standing.get(thing.path), width)
        return []

    def _chosen(self) -> None:
        self._known.tell()
        self.say()

    def say(self) -> None:
        """Tell what there is, what goes on, and the keys."""
        count = sum(isinstance(it, Session) for it in self._things)
        told = "what the next agent needs to go on, each line with what proves it"
        self._title.say((StyledSpan(" Hand off ", "accent bold"), StyledSpan(f" {told}", "dim")))
        job = self._jobs.now
        marked = f" {len(self._marked)} marked · " if self._marked else " "
        waits = StyledSpan(f"{marked}a draft writes nothing", "dim")
        self._state.say((StyledSpan(f" ○ {job.told}", "accent") if job else waits,))
        self._keys.say(*key_line(self.situation, self.keymap))
        self._list.border_title = Content(f"Sessions · {count:,}")
        thing = self.thing
        name = thing.name if isinstance(thing, Earlier) else ""
        self._known.border_title = Content(clip(name, 60) if name else "Session")
        self._known.display = bool(self._things)

    # What the keys do

    @property
    def situation(self) -> Situation:
        """What is refused, and why."""
        known = Situation(undo=self._hands.can_undo, redo=self._hands.can_redo)
        is_session = isinstance(self.thing, Session)
        none = "" if self.sessions else "A session is drafted; this is a handoff, told beside it."
        nothing = "No session was found." if self.is_loaded else "Sessions are still looked for."
        refusals = {
            "open": none if self._things else nothing,
            "mark": "" if is_session else "Only sessions can be marked.",
            "undo": needs_undo(known),
            "redo": needs_redo(known),
        }
        return replace(super().situation, refusals=refusals)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._known if self._known.has_focus else self._list),
            "open": self.draft,
            "mark": self.toggle_mark,
            "index": self.go_to_list,
            "note": self.go_to_details,
            "next-pane": self.go_to_other_pane,
            "leave": self.go_back,
            "undo": self.undo,
            "redo": self.redo,
            "hand-off": self.close,
            "next": self.go_to_details,
            "previous": self.go_to_list,
            "previous-pane": self.go_to_other_pane,
            "page-down": partial(self._known.move_page, 1),
            "page-up": partial(self._known.move_page, -1),
            "reread": self._look,
        }

    def draft(self) -> None:
        """Draft a handoff."""
        self._draft(self.sessions)

    def on_row_list_opened(self) -> None:
        """A second click drafts."""
        self.action_do("open")

    def toggle_mark(self) -> None:
        """Hand the session off with others, or no longer."""
        thing = self.thing
        assert isinstance(thing, Session)
        self._marked = [
            it for it in (*self._marked, thing) if it != thing or thing not in self._marked
        ]
        self._list.refresh()
        self._list.move(1)

    def go_to_list(self) -> None:
        """To the list."""
        self._list.focus()

    def go_to_details(self) -> None:
        """To what is known."""
        if self._things:
            self._known.focus()

    def go_to_other_pane(self) -> None:
        """To the other of the two."""
        if self._known.has_focus:
            self.go_to_list()
        else:
            self.go_to_details()

    def go_back(self) -> None:
        """From what is known to the list; the marks away; then back."""
        if self._known.has_focus:
            self._list.focus()
        elif self._marked:
            self._marked = ()
            self._list.refresh()
        else:
            self.dismiss(None)

    def undo(self) -> None:
        """Take the last act back."""
        self.run_worker(self._turn(self._hands.undo_last), group="in turn")

    def redo(self) -> None:
        """Do again what was undone last."""
        self.run_worker(self._turn(self._hands.redo_last), group="in turn")

    async def _turn(self, turn: Callable[[], Awaitable[frozenset[str]]]) -> None:
        await turn()
        self._look()

    def close(self) -> None:
        """The key that led here leads back."""
        self.dismiss(None)
