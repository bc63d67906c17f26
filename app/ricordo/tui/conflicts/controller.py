"""Settling conflicts: every way is seen as a change set before it is written."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ricordo.errors import ChangeRefused, RicordoError
from ricordo.memory.change import ChangeSet
from ricordo.services.conflicts.conflicts import Conflict, Keep, conflicts
from ricordo.services.conflicts.opinions import found_in
from ricordo.services.conflicts.resolution import (
    Settled,
    compose_settled,
    keep_both,
    keep_one,
    merge_notes,
    merged_text,
)
from ricordo.storage.private_copy import remove_private_copy, write_private_copy
from ricordo.text import one_line
from ricordo.tui.conflicts.screen import BothScreen, ConflictsScreen
from ricordo.tui.dialogs.change_set import Extra, ProposalScreen
from ricordo.tui.edits.editor import text_from_editor
from ricordo.tui.render.uncertain_lines import before_judging_lines

if TYPE_CHECKING:
    from textual.app import App

    from ricordo.curation.engine import Step
    from ricordo.memory.memory import Memory
    from ricordo.services.conflicts.judgement import BeforeJudging, JudgementOutcome
    from ricordo.services.workspace.follower import Follower
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.tui.edits.writer import Writing
    from ricordo.tui.render.line import StyledLine


@dataclass(slots=True)
class _ShownResolution:
    """What is proposed, and what can be instead."""

    settled: Settled
    other: Settled | None


class MemoryActions(Protocol):
    """What the workbench needs of the notebook that it opened from."""

    @property
    def app(self) -> App[object]:
        """The program, which lends its terminal to editors."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""

    @property
    def can_redo(self) -> bool:
        """Whether there is one to redo."""

    async def undo_last(self) -> frozenset[str]:
        """Undo the last change; return what it was about, such as ids of conflicts."""

    def redo(self) -> None:
        """Redo what was undone last."""


class Settling:
    """What the workbench has done (`screens.conflicts.Hands`)."""

    def __init__(self, changing: MemoryActions, writing: Writing, follower: Follower) -> None:
        """`changing` takes back, `writing` carries out, `follower` remembers decisions."""
        self._changing = changing
        self._writing = writing
        self._follower = follower
        self._screen: ConflictsScreen | None = None
        self._look: Snapshot | None = None
        """The one that the screen shows."""
        self._go_to = ""
        """The id of a doubt to be shown, once it is among the conflicts."""
        self._unfinished: dict[str, tuple[str, str]] = {}
        """What was typed of both and not written, by conflict."""

    def open(self, app: App[object], look: Snapshot) -> None:
        """Show the workbench."""
        writing, self._look = self._writing, look
        self._screen = ConflictsScreen(
            conflicts(look),
            writing.palette,
            writing.notebook.settings.keymap,
            self,
            look.memory.layout.read_only,
            is_known=look.known,
        )
        app.push_screen(self._screen)
        self._show(look)

    def looked(self, look: Snapshot) -> None:
        """Let the workbench, where it is open, show what is left."""
        if self._screen is not None and self._screen.is_attached and look.judged:
            self._look = look
            self._show(look)

    def _show(self, look: Snapshot) -> None:
        """Show what is found in a look, and of the doubts those that somebody has judged."""
        self._changing.app.run_worker(self._found(look), group="doubts", exclusive=True)

    async def _found(self, look: Snapshot) -> None:
        state = self._writing.notebook.surroundings.state
        found, in_doubt = await asyncio.to_thread(found_in, look, state)
        if self._screen is not None and look is self._look:
            self._screen.show(found, in_doubt, is_known=look.known)
            if self._go_to:
                self._screen.go_to(self._go_to)
                self._go_to = ""

    # What the workbench asks

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""
        return self._changing.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is one to do again."""
        return self._changing.can_redo

    def keep(self, conflict: Conflict, keep: Keep) -> None:
        """Propose what keeps one side."""
        title = f"Keep {one_line(conflict.side(keep).quote.path)}"
        self._writing.begin(partial(self._settle, title, partial(_kept, conflict, keep)))

    def keep_both(self, conflict: Conflict) -> None:
        """Ask for what or when each holds, and propose it."""
        self._writing.begin(partial(self._keep_both, conflict))

    def merge(self, conflict: Conflict) -> None:
        """Let the person make one note of the two, and propose it."""
        self._writing.begin(partial(self._merge, conflict))

    def dismiss(self, conflict: Conflict) -> None:
        """Propose to remember that it is no conflict."""
        self._writing.begin(partial(self._dismiss, conflict))

    def judge_doubts(self) -> None:
        """Show what is in doubt, and have it judged if the person wants."""
        from ricordo.tui.dialogs.question import QuestionScreen

        assert self._look is not None
        doubts = Doubts(self._writing.notebook, self._look)
        screen = QuestionScreen(doubts, self._writing.palette)
        self._changing.app.push_screen(screen, self._judged)

    def _judged(self, judged: JudgementOutcome | None) -> None:
        from ricordo.tui.render.uncertain_lines import told_of

        if judged is None or self._look is None:
            return
        for text in told_of(judged):
            self._writing.tell(text)
        amiss = (it.id for it, opinion in judged.opinions if opinion.view.is_amiss)
        self._go_to = next(amiss, "")
        self._show(self._look)

    def origin(self, path: str) -> None:
        """Show what caused one of the notes."""
        from ricordo.services.sessions.quotes import causes_of_note
        from ricordo.tui.dialogs.origin import OriginScreen

        assert self._look is not None
        writing = self._writing
        notebook, keymap = writing.notebook, writing.notebook.settings.keymap
        find = partial(causes_of_note, notebook, self._look.memory, path)
        screen = OriginScreen(path, find, writing.palette, keymap)
        self._changing.app.push_screen(screen)

    def undo(self) -> None:
        """Take the last act back, and show the conflict that it had settled."""
        self._writing.run(self._undo)

    async def _undo(self) -> None:
        about = await self._changing.undo_last()
        if self._screen is not None:
            self._screen.return_to(about)

    def redo(self) -> None:
        """Do again what was undone last."""
        self._changing.redo()

    # How it is done

    async def _settle(self, title: str, settle: Callable[[Memory], Settled]) -> None:
        await self._propose(await self._writing.read(), title, settle)

    async def _propose(
        self, memory: Memory, title: str, settle: Callable[[Memory], Settled]
    ) -> bool:
        """Show what `settle` comes to in `memory`; say whether it was written. What somebody else
        wrote since that was read clashes with it, or is merged and shown anew.
        """
        writing = self._writing
        settled = await asyncio.to_thread(settle, memory)
        shown = _ShownResolution(settled, settled.whole)

        def turn(proposal: ProposalScreen) -> None:
            proposal.run_worker(self._turn(proposal, memory, shown), exclusive=True)

        extra = Extra("retire-whole", turn) if settled.whole else None
        change_set = await self._composed(memory, settled)
        approved = await writing.propose(title, change_set, (f"{settled.told}.",), extra)
        if approved is None:
            return False
        return await writing.write_and_tell(approved, f"{shown.settled.told}. u takes it back.")

    async def _turn(
        self, proposal: ProposalScreen, memory: Memory, shown: _ShownResolution
    ) -> None:
        """Propose the other way instead."""
        if shown.other is None:
            return
        try:
            change_set = await self._composed(memory, shown.other)
        except RicordoError as error:
            proposal.notify(str(error), severity="error", markup=False)
            return
        if proposal.is_current:
            shown.settled, shown.other = shown.other, shown.settled
            proposal.replace(change_set, (f"{shown.settled.told}.",))

    async def _composed(self, memory: Memory, settled: Settled) -> ChangeSet:
        return await asyncio.to_thread(compose_settled, self._writing.notebook, memory, settled)

    async def _keep_both(self, conflict: Conflict) -> None:
        left, right = self._unfinished.pop(conflict.id, ("", ""))
        form = BothScreen(conflict, left, right, self._writing.palette)
        asked = await self._writing.ask(form)
        if asked is None:
            return
        typed = asked.values["left"], asked.values["right"]
        settle = partial(_both, conflict, *typed)
        done = asked.confirmed and await self._kept_in_mind(conflict, typed, settle)
        if not done and any(typed):
            self._unfinished[conflict.id] = typed
            self._writing.tell("Nothing was written. 4 goes on with what you typed.")

    async def _kept_in_mind(
        self, conflict: Conflict, typed: tuple[str, str], settle: Callable[[Memory], Settled]
    ) -> bool:
        """Propose it; what was typed is kept where that is refused."""
        try:
            return await self._propose(await self._writing.read(), "Both are true", settle)
        except ChangeRefused:
            self._unfinished[conflict.id] = typed
            raise

    async def _merge(self, conflict: Conflict) -> None:
        memory = await self._writing.read()
        path, other, prepared = await asyncio.to_thread(merged_text, memory, conflict)
        state = self._writing.notebook.surroundings.state
        copy = write_private_copy(state, os.path.basename(path), prepared.encode())
        is_done = False
        try:
            text = text_from_editor(self._changing.app, self._writing.notebook, copy)
            title = f"Merge into {one_line(path)}"
            # against the notes that the text was made from: the editor may have been open for long
            settle = partial(_merged, path, other, text)
            is_done = await self._propose(memory, title, settle)
        finally:
            if is_done:
                remove_private_copy(copy)
            else:
                said = f"Nothing was written. The merged text is kept in {one_line(copy)}."
                self._writing.tell(said, severe=True)

    async def _dismiss(self, conflict: Conflict) -> None:
        words = (
            "Both claims may stand: the notes stay as they are.",
            *(
                f"{it.quote.path}: {it.quote.text or it.note.description}"
                for it in (conflict.left, conflict.right)
            ),
            "This pair stays away until one of the two claims is changed.",
        )
        keymap = self._writing.notebook.settings.keymap
        palette = self._writing.palette
        screen = ProposalScreen("No conflict", ChangeSet(()), palette, keymap, words)
        if await self._writing.ask(screen) is None:
            return
        reason = f"no conflict: {conflict.reason}"
        await self._follower.decide(conflict.id, take_back=False, reason=reason)
        self._writing.tell("No conflict, until one of the two claims is changed. u takes it back.")


def _kept(conflict: Conflict, keep: Keep, memory: Memory) -> Settled:
    return keep_one(memory, conflict, keep)


def _merged(path: str, other: str, text: str, _: Memory) -> Settled:
    return merge_notes(path, other, text)


def _both(conflict: Conflict, left: str, right: str, memory: Memory) -> Settled:
    return keep_both(memory, conflict, left, right)


class Doubts:
    """What is in doubt in one look at a memory."""

    title = "Doubts · what a model or a program thinks of them"

    def __init__(self, notebook: Notebook, look: Snapshot) -> None:
        """Nothing is looked at yet."""
        # of its own: it is asked in a thread
        self._notebook = notebook.another()
        self._shown = look

    def look(self, step: Step) -> BeforeJudging:
        """Return what is known before."""
        from ricordo.services.conflicts.judgement import look_before_judging

        return look_before_judging(self._notebook, self._shown)

    def lines(self, before: BeforeJudging, width: int) -> list[StyledLine]:
        """Return what would be sent, and what was judged before."""
        return before_judging_lines(before, width)

    def ask(self, before: BeforeJudging, step: Step) -> JudgementOutcome:
        """Have it judged."""
        from ricordo.services.conflicts.judgement import judge

        assert before.asked is not None
        return judge(self._notebook, before.asked, step)
