"""The screen of the diagnosis: problems, and the change that repairs the one under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from ricordo.errors import RicordoError
from ricordo.memory.change import ChangeSet
from ricordo.services.doctor.doctor import Diagnosis, diagnose
from ricordo.services.doctor.problem import MoveRepair, Problem, shorten_paths
from ricordo.services.doctor.repair import apply_repair, build_repair, list_shown_edits
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.base.action_screen import make_bindings
from ricordo.tui.base.list_diff_screen import ListDiffScreen, NotebookActions
from ricordo.tui.context import ScreenId
from ricordo.tui.doctor.rows import (
    NO_PROBLEMS,
    READING,
    describe_cost,
    render_problem,
    render_problem_row,
)
from ricordo.tui.render.line import StyledLine, StyledSpan

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.settings.keymap import Keymap
    from ricordo.tui.color_palette import Palette

_MOST_ROWS = 14
"""Rows of what is known of a problem; the rest is below the diff's upper end."""
_ELSEWHERE = "The notebook of the memory that got the notes undoes it."


class DoctorScreen(ListDiffScreen):
    """The problems of this machine, worst first."""

    SCREEN_ID = ScreenId.DOCTOR
    BINDINGS: ClassVar[list[BindingType]] = make_bindings(SCREEN_ID)

    def __init__(
        self, notebook: Notebook, palette: Palette, keymap: Keymap, actions: NotebookActions
    ) -> None:
        """`notebook` gives the machine and the settings; all memories are looked at."""
        super().__init__(notebook, palette, keymap, actions)
        self._about.most_rows = _MOST_ROWS
        self._diagnosis = Diagnosis((), ())
        self._change_set = ChangeSet(())
        self._refusal = ""
        self.is_loaded = False
        """Whether the problems are on the screen."""

    def on_mount(self) -> None:
        """Begin the diagnosis."""
        self._list.show(0, 0, READING)
        self._right.display = False
        self._reload()

    def _reload(self) -> None:
        self._begin(self._load)

    async def _load(self) -> None:
        self._diagnosis = await asyncio.to_thread(diagnose, self._notebook.environment)
        self.is_loaded = True
        count, at = len(self._diagnosis.problems), max(self._list.at, 0)
        self._list.show(count, min(at, count - 1), NO_PROBLEMS)
        self._chosen()

    @property
    def problem(self) -> Problem | None:
        """The problem under the cursor; None where there is none."""
        problems = self._diagnosis.problems
        return problems[self._list.at] if 0 <= self._list.at < len(problems) else None

    @property
    def _has_diff(self) -> bool:
        return bool(self._change_set.edits)

    def _chosen(self) -> None:
        self._change_set, self._refusal = ChangeSet(()), ""
        problem = self.problem
        self._right.display = problem is not None
        self._show_change()
        if problem is not None and problem.repair is not None:
            self.run_worker(
                self._run_reporting(partial(self._compose_repair, problem, problem.repair)),
                group="repair",
                exclusive=True,
            )

    async def _compose_repair(self, problem: Problem, repair: MoveRepair) -> None:
        """Compose the repair in a thread, and show it if its problem is still the chosen one."""
        refusal, change_set = "", ChangeSet(())
        try:
            change_set = await asyncio.to_thread(build_repair, repair)
        except RicordoError as error:
            refusal = error.message
        if self.problem is problem:
            self._change_set, self._refusal = change_set, refusal
            self._show_change()

    def _show_change(self) -> None:
        self._about.redraw()
        self._diff.show_marked(list_shown_edits(self._change_set), ())
        self._diff.display = self._has_diff
        self.update_bars()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        problem = shorten_paths(self._diagnosis.problems[number], self._home)
        return render_problem_row(problem, width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        if self.problem is None:
            return []
        problem = shorten_paths(self.problem, self._home)
        return render_problem(problem, self._change_set.warnings, self._refusal, width)

    @property
    def _home(self) -> str:
        return self._notebook.environment.agent_home

    def update_bars(self) -> None:
        """Update the bars."""
        super().update_bars()
        problems = self._diagnosis.problems
        repairs = sum(problem.repair is not None for problem in problems)
        what = f" {len(problems)} problems, {repairs} with a repair" if self.is_loaded else ""
        title = (StyledSpan(" Doctor ", "accent bold"), StyledSpan(what, "dim"))
        cost = f"{describe_cost(self._diagnosis.costs)} "
        self._title.set_content(title, (StyledSpan(cost, "dim"),))
        state = " nothing is written until ctrl+s" if self._has_diff else ""
        self._state.set_content((StyledSpan(state, "dim"),))
        self._list.border_title = Content(f"Problems · {len(problems)}")
        self._right.border_title = Content(self.problem.check if self.problem else "")

    # Repairing

    @property
    def _refusals(self) -> Mapping[str, str]:
        reasons = dict.fromkeys(("undo", "redo"), _ELSEWHERE)
        if not self._has_diff:
            reasons["write"] = self._refusal or "There is no repair for this problem."
        return reasons

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {**super().handlers, "open": self.go_to_diff, "write": self.write_repair}

    def write_repair(self) -> None:
        """Make the repair that is shown."""
        problem = self.problem
        if problem is not None and problem.repair is not None and self._has_diff:
            self._begin(partial(self._repair, problem.repair, self._change_set))

    async def _repair(self, repair: MoveRepair, change_set: ChangeSet) -> None:
        environment, settings = self._notebook.environment, self._notebook.settings
        try:
            await asyncio.to_thread(apply_repair, repair, change_set, environment, settings)
            message = f"Done: {repair.label}. `ricordo undo` there reverts it."
            self.notify(message, markup=False, timeout=8)
        finally:
            await self._load()

    def _leave(self) -> None:
        self.dismiss(None)

    def on_row_list_opened(self) -> None:
        """Go to the diff on a second click."""
        self.go_to_diff()
