"""The commands that a session ran, and their results."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.agents.transcripts.session import CallResult, ToolCall
from ricordo.handoff.facts import CommandPurpose, MessageRef
from ricordo.handoff.gather.commands import (
    ProgramRun,
    find_decisive,
    find_error_line,
    find_outcome,
    find_purpose,
    find_result_line,
    find_success_line,
    list_programs,
)
from ricordo.handoff.gather.limits import BoundedList, RecentDict

_MAX_CHARACTERS = 8_000_000
"""Characters of commands of one session that are kept."""
_RECORD = 500
"""The weight of a command besides its characters."""
_MAX_OPEN = 1_000
"""Open calls that are remembered."""


@dataclass(slots=True)
class CommandRun:
    """A command, and its result as far as it is known."""

    ref: MessageRef
    command: str
    programs: tuple[ProgramRun, ...]
    purpose: CommandPurpose
    has_ended: bool = False
    exit: int | None = None
    has_failed: bool | None = None
    result: str = ""
    error: str = ""
    ended: str = ""
    was_refused: bool = False

    def end(self, ending: CallResult, at: str) -> None:
        """Record how it ended, and when."""
        self.has_ended, self.ended = True, at
        self.exit, self.has_failed = ending.exit, ending.has_failed
        self.was_refused = ending.is_rejected or ending.is_denied
        if ending.has_failed is None:
            return
        if self.purpose is CommandPurpose.OTHER:
            self.error = find_error_line(ending.output) if ending.has_failed else ""
            self.result = self.error or find_result_line(ending.output)
            return
        self._judge_output(ending.output)

    def _judge_output(self, output: str) -> None:
        """Judge a test or a check by its output. The output counts more than an exit code that may
        be that of another program, and nothing against the command's own.
        """
        reported = find_outcome(output)
        program = find_decisive(self.programs)
        if program is not None and program.is_masked and not self.has_failed:
            self.exit = None
            self.has_failed = None if reported.has_passed is None else not reported.has_passed
        if self.has_failed:
            self.error = find_error_line(output)
            self.result = reported.line if reported.has_passed is False else self.error
        elif self.has_failed is False:
            self.result = reported.line if reported.has_passed else find_success_line(output)


class SessionRuns:
    """The commands of one session."""

    def __init__(self) -> None:
        self.runs: BoundedList[CommandRun] = BoundedList(
            _MAX_CHARACTERS, lambda run: len(run.command) + _RECORD
        )
        self._open: RecentDict[str, CommandRun] = RecentDict(_MAX_OPEN)
        """By the calls that started them, and by those that poll them."""
        self._background: RecentDict[str, CommandRun] = RecentDict(_MAX_OPEN)
        """By the ids of background processes."""

    def begin(self, call: ToolCall, ref: MessageRef) -> None:
        """Record a call."""
        if call.process in self._background:
            self._open[call.id] = self._background[call.process]
        elif call.command and call.id not in self._open:
            programs = list_programs(call.command)
            run = CommandRun(ref, call.command, programs, find_purpose(programs))
            self.runs.add(run)
            self._open[call.id] = run

    def end(self, ending: CallResult, at: str) -> CommandRun | None:
        """Return the command that ended at that time; None where none has."""
        run = self._open.get(ending.call)
        if run is None or run.has_ended:
            return None
        if ending.process:
            self._background[ending.process] = run
            return None
        run.end(ending, at)
        return run
