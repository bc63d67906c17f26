"""The screen of the diagnosis: problems, and the change that repairs the one under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from ricordo.curation.engine import CurationProgress
from ricordo.errors import RicordoError
from ricordo.lint.finding import Severity
from ricordo.memory.change import ChangeSet
from ricordo.resources import shorten_home
from ricordo.services.doctor.doctor import Diagnosis, diagnose
from ricordo.services.doctor.hooks import HookCost
from ricordo.services.doctor.problem import MoveRepair, Problem, shorten_paths
from ricordo.services.doctor.repair import (
    apply_repair,
    build_repair,
    list_shown_edits,
    undo_repair,
)
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import Handlers
from ricordo.tui.actions.registry import BY_ID, format_action_keys
from ricordo.tui.base.action_screen import NotebookActions
from ricordo.tui.base.list_diff_screen import ListDiffScreen
from ricordo.tui.context import ScreenId
from ricordo.tui.jobs import Jobs
from ricordo.tui.render.empty import render_labelled, render_paragraph
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, align_right, fit
from ricordo.tui.render.mask import mask_text
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.settings.keymap import Keymap
    from ricordo.tui.color_palette import Palette

_CHECKED = (
    "Memories that no session loads, settings, hooks and what they cost, MCP servers, instruction "
    "files, indexes, and Ricordo's own directory."
)
_NO_PROBLEMS = (("No problems", "heading"), (f"These were checked: {_CHECKED}", ""))
_CHECKING = (
    ("Checking all memories of this machine …", "heading"),
    (_CHECKED, ""),
    ("Nothing is changed.", "dim"),
)
_GLYPHS = {
    Severity.ERROR: ("✗", "error"),
    Severity.WARNING: ("!", "warning"),
    Severity.INFO: ("·", "dim"),
}
_TICK = 0.1
"""Seconds between two updates of the progress."""
_BUSY = "The machine is still being checked; Esc cancels."
_NO_REPAIR = "There is no repair for this problem."
_NO_UNDO = "Nothing was repaired here yet."
_NO_REDO = "Repair it again with the key that repaired it."
_ABOUT_CONNECTION = frozenset(
    ("hooks-missing", "hooks-untrusted", "connection-incomplete", "server-unreachable")
)
"""Checks whose problems the screen that connects agents solves."""


class DoctorScreen(ListDiffScreen):
    """The problems of this machine, worst first."""

    SCREEN_ID = ScreenId.DOCTOR

    def __init__(
        self,
        notebook: Notebook,
        palette: Palette,
        keymap: Keymap,
        actions: NotebookActions,
        connect: Callable[[str, Callable[[], None]], None],
    ) -> None:
        """`notebook` gives the machine and the settings; all memories are looked at. `connect`
        opens the screen that connects agents, with the one of that name chosen, and calls back.
        """
        super().__init__(notebook, palette, keymap, actions)
        self._connect = connect
        self._jobs = Jobs()
        self._diagnosis = Diagnosis((), ())
        self._change_set = ChangeSet(())
        self._refusal = ""
        self._done: list[MoveRepair] = []
        """The repairs that were made here and not undone."""
        self.is_loaded = False
        """Whether the problems are on the screen."""

    def on_mount(self) -> None:
        """Begin the diagnosis."""
        self._about.display = self._right.display = False
        self._list.show(0, 0, _CHECKING)
        self.set_interval(_TICK, self._tick)
        self._reload()

    def on_unmount(self) -> None:
        """Cancel the diagnosis."""
        self._jobs.cancel()

    def _tick(self) -> None:
        if self._jobs.now is not None:
            self.update_bars()

    def _reload(self) -> None:
        self._begin(self._load)

    async def _load(self) -> None:
        """Diagnose in a thread, and show the problems; the cursor stays."""

        def work(step: Step) -> Diagnosis:
            return diagnose(environment, lambda phase: step(CurationProgress(phase)))

        environment = self._notebook.environment
        chosen = self.problem
        diagnosis = await self._jobs.run(self._jobs.begin("reading sessions"), work)
        if diagnosis is None:
            return
        self._diagnosis, self.is_loaded = diagnosis, True
        ids = [problem.id for problem in diagnosis.problems]
        at = ids.index(chosen.id) if chosen and chosen.id in ids else max(self._list.at, 0)
        self._list.show(len(ids), min(at, len(ids) - 1), _NO_PROBLEMS)
        self._chosen()

    @property
    def problem(self) -> Problem | None:
        """The problem under the cursor; None where there is none."""
        problems = self._diagnosis.problems
        return problems[self._list.at] if 0 <= self._list.at < len(problems) else None

    @property
    def _has_diff(self) -> bool:
        # what is known of a problem scrolls with the diff
        return self.problem is not None

    def _chosen(self) -> None:
        self._change_set, self._refusal = ChangeSet(()), ""
        problem = self.problem
        self._right.display = problem is not None
        self._show_problem()
        if problem is not None and problem.repair is not None:
            compose = partial(self._compose_repair, problem, problem.repair)
            show = partial(self._run_reporting, compose)
            start_worker(self, show, group="repair", exclusive=True)

    async def _compose_repair(self, problem: Problem, repair: MoveRepair) -> None:
        """Compose the repair in a thread, and show it if its problem is still the chosen one."""
        refusal, change_set = "", ChangeSet(())
        try:
            change_set = await asyncio.to_thread(build_repair, repair, self._notebook.environment)
        except RicordoError as error:
            refusal = error.message
        if self.problem is problem:
            self._change_set, self._refusal = change_set, refusal
            self._show_problem()

    def _show_problem(self) -> None:
        edits = list_shown_edits(self._change_set)
        shown = [
            replace(
                edit,
                root=self._shorten(edit.root),
                moved_from_root=self._shorten(edit.moved_from_root),
            )
            for edit in edits
        ]
        self._diff.show_edits(shown, head=self._about_lines)
        self.update_bars()

    def _rows(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        problem = shorten_paths(self._diagnosis.problems[number], self._shorten)
        return _render_row(problem, width, in_one=in_one)

    def _about_lines(self, width: int) -> list[StyledLine]:
        if self.problem is None:
            return []
        problem = shorten_paths(self.problem, self._shorten)
        if problem.check in _ABOUT_CONNECTION:
            problem = replace(problem, advice=f"{problem.advice} Enter opens that screen.")
        return _render_problem(problem, self._change_set.warnings, self._refusal, width)

    def _shorten(self, text: str) -> str:
        return shorten_home(text, self._notebook.environment.agent_home)

    def update_bars(self) -> None:
        """Update the bars."""
        super().update_bars()
        problems = self._diagnosis.problems
        repairs = sum(problem.repair is not None for problem in problems)
        noun = "problem" if len(problems) == 1 else "problems"
        what = f" {len(problems)} {noun}, {repairs} with a repair" if self.is_loaded else ""
        title = (StyledSpan(" Doctor ", "accent bold"), StyledSpan(what, "dim"))
        cost = f"{_describe_cost(self._diagnosis.costs)} "
        self._title.set_content(title, (StyledSpan(cost, "dim"),))
        if job := self._jobs.now:
            progress = StyledSpan(f" ○ {job.label}", "accent")
            self._state.set_content((progress, StyledSpan(" · nothing is changed", "dim")))
        else:
            read_on = f" {format_action_keys(BY_ID['next-pane'], self.keymap)} reads on"
            written = " · nothing is written until ctrl+s" if self._change_set.edits else ""
            state = f"{read_on}{written}" if self.problem else ""
            self._state.set_content((StyledSpan(state, "dim"),))
        self._list.border_title = Content(f"Problems · {len(problems)}" if self.is_loaded else "")
        self._right.border_title = Content(self.problem.check if self.problem else "")

    # Repairing

    @property
    def _refusals(self) -> Mapping[str, str]:
        reasons = {
            "redo": _NO_REDO,
            "undo": "" if self._done else _NO_UNDO,
            "open": "" if self.problem else "No problem is selected.",
        }
        if not self._change_set.edits:
            reasons["write"] = self._refusal or _NO_REPAIR
        if self._jobs.now is not None:
            reasons |= dict.fromkeys(("write", "undo", "reread"), _BUSY)
        return reasons

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            "open": self.open_problem,
            "write": self.write_repair,
            "reread": self._reload,
        }

    def open_problem(self) -> None:
        """Connect agents where that solves the problem, else go to what is known of it."""
        problem = self.problem
        if problem is not None and problem.check in _ABOUT_CONNECTION:
            self._connect(problem.paths[0], self._reload)
        else:
            self.go_to_pane()

    def write_repair(self) -> None:
        """Make the repair that is shown."""
        problem = self.problem
        if problem is not None and problem.repair is not None:
            self._begin(partial(self._repair, problem.repair, self._change_set))

    async def _repair(self, repair: MoveRepair, change_set: ChangeSet) -> None:
        environment, settings = self._notebook.environment, self._notebook.settings
        try:
            repaired = await asyncio.to_thread(
                apply_repair, repair, change_set, environment, settings
            )
            self._done.append(repair)
            self._report("Done", repair)
            for message in repaired.messages:
                self.notify(message, severity="warning", markup=False, timeout=12)
        finally:
            await self._load()

    def undo(self) -> None:
        """Undo the last repair that was made here."""
        self._begin(partial(self._undo_repair, self._done[-1]))

    async def _undo_repair(self, repair: MoveRepair) -> None:
        environment, settings = self._notebook.environment, self._notebook.settings
        try:
            await asyncio.to_thread(undo_repair, repair, environment, settings)
            self._done.remove(repair)
            self._report("Undone", repair)
        finally:
            await self._load()

    def _report(self, word: str, repair: MoveRepair) -> None:
        label = make_one_line(self._shorten(repair.label))
        self.notify(f"{word}: {label}.", markup=False, timeout=8)


def _render_row(problem: Problem, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return the row of a problem in the list."""
    glyph, color = _GLYPHS[problem.severity]
    name = [StyledSpan(f" {glyph} ", color), StyledSpan(problem.check, "bold")]
    style = "" if problem.severity > Severity.INFO else "dim"
    what = StyledSpan(make_one_line(mask_text(problem.what)), style)
    right = (StyledSpan(" repair " if problem.repair else " ", "success"),)
    if in_one:
        return (align_right([*name, StyledSpan("  "), what], right, width),)
    return align_right(name, right, width), StyledLine(fit((StyledSpan("   "), what), width))


def _render_problem(
    problem: Problem, warnings: Sequence[str], refusal: str, width: int
) -> list[StyledLine]:
    """Return all that is known of a problem, and a blank line. `warnings` are those of its repair,
    and `refusal` is why that cannot be made.
    """
    style = f"{_GLYPHS[problem.severity][1]} bold"
    parts: list[tuple[str, Sequence[str], str]] = [
        ("evidence", problem.evidence, ""),
        ("next", [problem.advice] if problem.advice else [], ""),
        ("repair", [problem.repair.label] if problem.repair else [], "success"),
        ("no repair", [refusal] if refusal else [], "warning"),
        ("note", warnings, "warning"),
        ("left alone", problem.other_places, "dim"),
    ]
    masked = [(label, list(map(mask_text, texts)), style) for label, texts, style in parts]
    what = render_paragraph(mask_text(problem.what), style, width)
    return [*what, BLANK, *render_labelled(masked, width), BLANK]


def _describe_cost(costs: Sequence[HookCost]) -> str:
    """Return what the hooks together cost a prompt; "" where that is unknown."""
    of_prompts = [cost.each_time for cost in costs if cost.unit == "prompt"]
    hooks = "1 hook costs" if len(of_prompts) == 1 else f"{len(of_prompts)} hooks cost"
    return f"{hooks} {sum(of_prompts):,} ms a prompt" if of_prompts else ""
