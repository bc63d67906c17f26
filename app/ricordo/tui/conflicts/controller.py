"""Resolve conflicts: each resolution is shown as a change set before it is written."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused, RicordoError
from ricordo.memory.change import ChangeSet
from ricordo.services.conflicts.conflicts import (
    Conflict,
    Keep,
    find_conflicts,
    find_duplicates,
)
from ricordo.services.conflicts.opinions import Unresolved, find_unresolved
from ricordo.services.conflicts.resolution import (
    Resolution,
    compose_merged_text,
    compose_resolution,
    resolve_by_merge,
    resolve_for_both,
    resolve_for_one,
)
from ricordo.settings.editor import read_stamp
from ricordo.storage.private_copy import remove_private_copy, write_private_copy
from ricordo.text import make_one_line
from ricordo.tui.actions.registry import BY_ID, format_action_keys
from ricordo.tui.conflicts.rows import render_judgement_preview
from ricordo.tui.conflicts.screen import BothTrueScreen, ConflictsScreen
from ricordo.tui.dialogs.change_set import ExtraAction, ProposalScreen
from ricordo.tui.edits.editor import edit_copy
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.memory.memory import Memory
    from ricordo.services.conflicts.judgement import JudgementOutcome, JudgementPreview
    from ricordo.services.workspace.follower import Follower
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.tui.base.action_screen import NotebookActions
    from ricordo.tui.edits.writer import ChangeWriter
    from ricordo.tui.render.line import StyledLine


@dataclass(slots=True)
class _ShownResolution:
    """The resolution that is shown, and the alternative to it."""

    resolution: Resolution
    alternative: Resolution | None


class ConflictController:
    """Implements `conflicts.screen.ConflictActions` on a notebook."""

    def __init__(
        self, changing: NotebookActions, writing: ChangeWriter, follower: Follower
    ) -> None:
        """`changing` undoes, `writing` writes change sets, `follower` stores decisions."""
        self._changing = changing
        self._writing = writing
        self._follower = follower
        self._screen: ConflictsScreen | None = None
        self._snapshot: Snapshot | None = None
        """The snapshot that the screen shows."""
        self._go_to = ""
        """Id of the uncertain pair to go to, once it is listed as a conflict; "" for none."""
        self._unresolved = Unresolved((), 0, ())
        """What the screen shows."""
        self._unfinished: dict[str, tuple[str, str]] = {}
        """Texts typed for “both are true” and not written, by conflict id."""

    def open(self, snapshot: Snapshot) -> None:
        """Show the workbench."""
        writing, self._snapshot = self._writing, snapshot
        self._screen = ConflictsScreen(
            (*find_conflicts(snapshot), *find_duplicates(snapshot)),
            writing.palette,
            writing.notebook.settings.keymap,
            self,
            snapshot.memory.layout.read_only,
            is_compared=snapshot.has_evidence,
        )
        writing.app.push_screen(self._screen)
        self._reload(snapshot)

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Show the conflicts of a new snapshot, if the workbench is open."""
        if self._screen is not None and self._screen.is_attached and snapshot.is_judged:
            self._snapshot = snapshot
            self._reload(snapshot)

    def _reload(self, snapshot: Snapshot) -> None:
        """Show the conflicts of a snapshot, and the uncertain pairs that a model judged amiss."""
        load = partial(self._load_conflicts, snapshot)
        start_worker(self._writing.app, load, group="doubts", exclusive=True)

    async def _load_conflicts(self, snapshot: Snapshot) -> None:
        state = self._writing.notebook.environment.state
        unresolved = await asyncio.to_thread(find_unresolved, snapshot, state)
        if self._screen is not None and snapshot is self._snapshot:
            self._unresolved = unresolved
            self._screen.show_unresolved(unresolved, is_compared=snapshot.has_evidence)
            if self._go_to:
                self._screen.go_to(self._go_to)
                self._go_to = ""

    # What the workbench requests

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return self._changing.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return self._changing.can_redo

    def resolve(self, action_id: str, conflict: Conflict) -> None:
        """Resolve a conflict as the key of that action does, and propose the change set."""
        ways: Mapping[str, Callable[[Conflict], Awaitable[object]]] = {
            "keep-left": partial(self._keep, Keep.LEFT),
            "keep-right": partial(self._keep, Keep.RIGHT),
            "merge": self._merge,
            "both": self._keep_both,
            "no-conflict": self._dismiss,
        }
        self._writing.begin(partial(ways[action_id], conflict))

    def judge_uncertain_pairs(self) -> None:
        """Show the uncertain pairs with the opinions on them, and let the user have a model judge
        them, and others that are likely to be on one subject.
        """
        from ricordo.tui.dialogs.ask_screen import QuestionScreen

        assert self._snapshot is not None
        notebook = self._writing.notebook
        screen = QuestionScreen(
            UncertainPairsQuestion(notebook, self._snapshot),
            notebook.environment,
            self._writing.palette,
            notebook.settings.keymap,
        )
        self._writing.app.push_screen(screen, self._show_opinions)

    def _show_opinions(self, outcome: JudgementOutcome | None) -> None:
        from ricordo.tui.conflicts.rows import describe_outcome

        if outcome is None or self._snapshot is None:
            return
        for text in describe_outcome(outcome):
            self._writing.report(text)
        amiss_ids = (
            conflict.id for conflict, opinion in outcome.opinions if conflict.is_problem_by(opinion)
        )
        self._go_to = next(amiss_ids, "")
        self._reload(self._snapshot)
        if outcome.unconfirmed:
            self.judge_uncertain_pairs()

    def show_origin(self, path: str) -> None:
        """Show the message that caused one of the notes."""
        from ricordo.services.sessions.quotes import list_note_origins
        from ricordo.tui.dialogs.origin import OriginScreen

        assert self._snapshot is not None
        writing = self._writing
        notebook, keymap = writing.notebook, writing.notebook.settings.keymap
        find = partial(list_note_origins, notebook, self._snapshot.memory, path)
        screen = OriginScreen(path, find, writing.palette, keymap)
        self._writing.app.push_screen(screen)

    def undo(self) -> None:
        """Undo the last change, and show the conflict that it had resolved."""
        self._writing.run(self._undo)

    async def _undo(self) -> None:
        about = await self._changing.undo_last()
        if self._screen is not None:
            self._screen.return_to(about)

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._writing.run(self._changing.redo_last)

    # Implementation

    async def _keep(self, keep: Keep, conflict: Conflict) -> None:
        title = f"Keep {make_one_line(conflict.get_side(keep).quote.path)}"
        memory = await self._writing.read()
        await self._propose(memory, title, lambda memory: resolve_for_one(memory, conflict, keep))

    async def _propose(
        self, memory: Memory, title: str, resolve: Callable[[Memory], Resolution]
    ) -> bool:
        """Propose the change set that `resolve` makes for `memory`; return whether it was written.
        What another program wrote since `memory` was read is an edit conflict, or is merged and
        shown again.
        """
        writing = self._writing
        resolution = await asyncio.to_thread(resolve, memory)
        shown = _ShownResolution(resolution, resolution.retire_instead)

        def switch(proposal: ProposalScreen) -> None:
            propose_other = partial(self._switch_alternative, proposal, memory, shown)
            start_worker(proposal, propose_other, exclusive=True)

        extra = ExtraAction("retire-whole", switch) if resolution.retire_instead else None
        change_set = await self._compose_change_set(memory, resolution)
        approved = await writing.propose(title, change_set, (f"{resolution.description}.",), extra)
        if approved is None:
            return False
        return await writing.write_and_report(
            approved, f"{shown.resolution.description}. u undoes it."
        )

    async def _switch_alternative(
        self, proposal: ProposalScreen, memory: Memory, shown: _ShownResolution
    ) -> None:
        """Propose the alternative instead."""
        if shown.alternative is None:
            return
        try:
            change_set = await self._compose_change_set(memory, shown.alternative)
        except RicordoError as error:
            proposal.notify(str(error), severity="error", markup=False)
            return
        if proposal.is_current:
            shown.resolution, shown.alternative = shown.alternative, shown.resolution
            proposal.show_other(change_set, (f"{shown.resolution.description}.",))

    async def _compose_change_set(self, memory: Memory, resolution: Resolution) -> ChangeSet:
        return await asyncio.to_thread(
            compose_resolution, self._writing.notebook, memory, resolution
        )

    async def _keep_both(self, conflict: Conflict) -> None:
        left, right = self._unfinished.pop(conflict.id, ("", ""))
        form = BothTrueScreen(conflict, left, right, self._writing.palette)
        form_result = await self._writing.ask(form)
        if form_result is None:
            return
        typed = form_result.values["left"], form_result.values["right"]

        def resolve(memory: Memory) -> Resolution:
            return resolve_for_both(memory, conflict, *typed)

        is_written = form_result.confirmed and await self._propose_both(conflict, typed, resolve)
        if not is_written and any(typed):
            self._unfinished[conflict.id] = typed
            self._writing.report("Nothing was written. Press 4 to continue with your text.")

    async def _propose_both(
        self, conflict: Conflict, typed: tuple[str, str], resolve: Callable[[Memory], Resolution]
    ) -> bool:
        """Propose it; keep what was typed if the change is refused."""
        try:
            return await self._propose(await self._writing.read(), "Both are true", resolve)
        except ChangeRefused:
            self._unfinished[conflict.id] = typed
            raise

    async def _merge(self, conflict: Conflict) -> None:
        memory = await self._writing.read()
        path, other, prepared = await asyncio.to_thread(compose_merged_text, memory, conflict)
        state = self._writing.notebook.environment.state
        copy = write_private_copy(state, os.path.basename(path), prepared.encode())
        is_written, before = False, read_stamp(copy)
        try:
            text = edit_copy(self._writing.app, self._writing.notebook, copy)
            if read_stamp(copy) == before:
                # left without saving, as with `:q!`
                remove_private_copy(copy)
                self._writing.report("Not merged: the editor saved nothing.")
                return
            title = f"Merge into {make_one_line(path)}"
            # compared with the notes that were merged: the editor may have been open for long
            is_written = await self._propose(
                memory, title, lambda _: resolve_by_merge(path, other, text, conflict)
            )
        finally:
            if is_written:
                remove_private_copy(copy)
            elif read_stamp(copy):
                message = f"Nothing was written. The merged text is in {make_one_line(copy)}."
                self._writing.report(message, severe=True)

    async def _dismiss(self, conflict: Conflict) -> None:
        lines = (
            "No conflict: both notes stay as they are.",
            *(
                f"{side.quote.path}: {side.quote.text or side.note.description}"
                for side in (conflict.left, conflict.right)
            ),
            "This pair is not shown again until one of the two claims changes.",
        )
        keymap = self._writing.notebook.settings.keymap
        palette = self._writing.palette
        screen = ProposalScreen("No conflict", ChangeSet(()), palette, keymap, lines)
        if await self._writing.ask(screen) is None:
            return
        reason = f"no conflict: {conflict.reason}"
        await self._follower.decide(conflict.id, is_undo=False, reason=reason)
        self._writing.report("Not shown again until one of the two claims changes. u undoes it.")


class UncertainPairsQuestion:
    """The uncertain pairs of one snapshot, as a question to a model or a program."""

    title = "Uncertain pairs · ask a model or a program"

    def __init__(self, notebook: Notebook, snapshot: Snapshot) -> None:
        # its own notebook: it is used in a thread
        self._notebook = notebook.copy()
        self._snapshot = snapshot

    def load_preview(self, step: Step) -> JudgementPreview:
        from ricordo.services.conflicts.judgement import preview_judgement

        return preview_judgement(self._notebook, self._snapshot, step)

    def render_preview(self, before: JudgementPreview, width: int) -> list[StyledLine]:
        close, curate, next_engine = (
            format_action_keys(BY_ID[id], self._notebook.settings.keymap)
            for id in ("leave", "curate", "next")
        )
        choose = f"To choose one: {close} {close} {curate}, then {next_engine} for the next engine."
        return render_judgement_preview(before, width, choose)

    def ask(self, before: JudgementPreview, step: Step) -> JudgementOutcome:
        """Have the pairs judged; return the opinions."""
        from ricordo.services.conflicts.judgement import judge

        assert before.request is not None
        return judge(self._notebook, before.request, step)
