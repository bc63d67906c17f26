"""Collecting the facts of one session, message by message, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ricordo.agents.transcripts.session import (
    CallResult,
    FileTouch,
    Message,
    Noise,
    Speaker,
    TaskList,
    ToolCall,
)
from ricordo.handoff.facts import DecisionFact, MessageFact, MessageRef, SummaryFact
from ricordo.handoff.gather.commands import ProgramRun, find_error_line
from ricordo.handoff.gather.files import FileUses
from ricordo.handoff.gather.limits import BoundedList, RecentDict
from ricordo.handoff.gather.reverts import RevertedActions
from ricordo.handoff.gather.runs import CommandRun, SessionRuns

_MAX_ERRORS = 2_000
_MAX_OPEN_ERRORS = 100
"""Unfixed errors that are remembered."""
_MAX_CHANGES = 2_000
"""Changes that are remembered."""


@dataclass(slots=True)
class OpenError:
    """An error, and whether it was fixed."""

    ref: MessageRef
    """The message that reported the error."""
    what: str
    error: str
    unfixed_programs: tuple[ProgramRun, ...] = ()
    """The programs of a command that have not succeeded since."""
    programs: frozenset[str] = frozenset()
    """Those that the command ran."""
    path: str = ""
    """The file at which a tool failed; its name goes after `what`."""
    fixed: MessageRef | None = None
    changed_files: tuple[str, ...] = ()
    """Files that were changed between the error and its fix, as the session names them."""


@dataclass(slots=True)
class SessionErrors:
    """The errors of one session."""

    errors: BoundedList[OpenError] = field(default_factory=lambda: BoundedList(_MAX_ERRORS))
    _open: deque[OpenError] = field(default_factory=lambda: deque(maxlen=_MAX_OPEN_ERRORS))
    """Those of commands; those at files are in `_at_files`, by their paths."""
    _at_files: RecentDict[str, list[OpenError]] = field(
        default_factory=lambda: RecentDict(_MAX_OPEN_ERRORS)
    )
    _changes: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_MAX_CHANGES))
    """Numbers of messages, each with a file that was changed in it."""

    def record_run(self, run: CommandRun, output: str, at: MessageRef) -> None:
        """Record a command that ended with this output at the message `at`."""
        if run.has_failed:
            self._fix_replaced(run, output, at)
            only_questions = all(program.is_question for program in run.programs)
            if not only_questions and not self._is_repeated(run):
                required = _list_required(run.programs)
                programs = frozenset(program.program for program in required)
                open_error = OpenError(at, run.command, run.error, required, programs)
                self.errors.add(open_error)
                self._open.append(open_error)
        elif run.has_failed is False:
            programs_run = {program.program for program in run.programs}
            for open_error in [
                error for error in self._open if not error.programs.isdisjoint(programs_run)
            ]:
                self._match_success(open_error, run.programs, at)

    def record_failure(self, what: str, path: str, error: str, at: MessageRef) -> None:
        """Record a tool that failed at the file `path`."""
        known_errors = self._at_files.setdefault(path, [])
        if len(known_errors) < _MAX_OPEN_ERRORS and all(
            (source.what, source.error) != (what, error) for source in known_errors
        ):
            known_errors.append(OpenError(at, what, error, path=path))
            self.errors.add(known_errors[-1])

    def record_change(self, path: str, at: MessageRef) -> None:
        """Record a file that was changed."""
        self._changes.append((at.number, path))
        for error in self._at_files.pop(path, ()):
            self._mark_fixed(error, at)

    def _fix_replaced(self, run: CommandRun, output: str, at: MessageRef) -> None:
        """Mark earlier errors as fixed where the same command now fails for another reason."""
        for error in list(self._open):
            if error.what == run.command and error.error and error.error not in output:
                self._open.remove(error)
                self._mark_fixed(error, at)

    def _is_repeated(self, run: CommandRun) -> bool:
        """Return whether the same command failed with the same error before, and nothing
        fixed it.
        """
        return any(error.what == run.command and error.error == run.error for error in self._open)

    def _match_success(
        self, error: OpenError, programs: Sequence[ProgramRun], at: MessageRef
    ) -> None:
        for run in programs:
            error.unfixed_programs = tuple(
                program for program in error.unfixed_programs if not run.covers(program)
            )
        if not error.unfixed_programs:
            self._open.remove(error)
            self._mark_fixed(error, at)

    def _mark_fixed(self, error: OpenError, at: MessageRef) -> None:
        error.fixed = at
        between = (path for turn, path in self._changes if error.ref.number <= turn <= at.number)
        error.changed_files = tuple(dict.fromkeys(between))


def _list_required(programs: Sequence[ProgramRun]) -> tuple[ProgramRun, ...]:
    """Return the programs that have to succeed: all but those that only read or print."""
    return tuple(program for program in programs if not program.is_question)


_MAX_CHARACTERS = 4_000_000
"""Characters of the user's messages that are kept of one session; the agent's messages and the
summaries have the same limit each.
"""
_RECORD = 200
"""The weight of a message besides its characters."""
_MAX_KNOWN = 100_000
"""Messages that are recognized in the next session."""
_MAX_USER_MESSAGES = 10_000
"""Messages of the user that are recognized in a summary."""
_MAX_OPEN_CALLS = 300
"""Open calls that are remembered."""


class FactCollector:
    """Collects the facts of one session."""

    def __init__(self, session: int, known_messages: set[int]) -> None:
        """`session` is its number. `known_messages` are digests of the messages of earlier
        sessions, which a continued session repeats.
        """
        self._session = session
        self._known_messages = known_messages
        self.user_messages: BoundedList[MessageFact] = BoundedList(_MAX_CHARACTERS, _measure)
        """The user's messages."""
        self.agent_messages: BoundedList[MessageFact] = BoundedList(_MAX_CHARACTERS, _measure)
        """The agent's messages."""
        self.summaries: BoundedList[SummaryFact] = BoundedList(_MAX_CHARACTERS, _measure)
        self._user_messages: RecentDict[int, None] = RecentDict(_MAX_USER_MESSAGES)
        """Digests of the user's messages."""
        self.tasks = TaskList()
        self.runs = SessionRuns()
        self.files = FileUses()
        self.errors = SessionErrors()
        self.reverted_actions = RevertedActions()
        self.user_answers: BoundedList[DecisionFact] = BoundedList(_MAX_CHARACTERS, _measure)
        """The user's answers to questions of a tool."""
        self._calls: RecentDict[str, tuple[ToolCall, FileTouch | None]] = RecentDict(
            _MAX_OPEN_CALLS
        )
        """The calls that have not ended, each with its file."""

    def read(self, turn: Message) -> None:
        """Record a message."""
        ref = MessageRef(self._session, turn.place.line, turn.at)
        self._read_actions(turn, ref)
        if turn.is_spoken:
            self._read_message(MessageFact("", ref, turn.text, turn.who is Speaker.USER), turn.key)
        elif turn.noise is Noise.SUMMARY and turn.text and not turn.is_aside:
            self._read_summary(SummaryFact("", ref, turn.text))

    def close(self) -> None:
        """Record that the session has ended."""
        self.files.close()

    @property
    def messages(self) -> list[MessageFact]:
        """The messages of both, in order."""
        return sorted(
            (*self.user_messages, *self.agent_messages), key=lambda message: message.ref.number
        )

    def _read_actions(self, turn: Message, ref: MessageRef) -> None:
        touches = {touch.call: touch for touch in turn.touches}
        for call in turn.calls:
            self.runs.begin(call, ref)
            self._calls[call.id] = (call, touches.get(call.id))
            if not turn.is_aside and (call.tasks or call.is_whole_list):
                self.tasks.apply_call(call, ref.number)
        for touch in turn.touches:
            self.files.begin(touch, ref)
        for ending in turn.results:
            self._read_result(ending, ref, turn.key)

    def _read_result(self, result: CallResult, ref: MessageRef, key: str) -> None:
        self.tasks.apply_result(result)
        touches = self.files.end(result)
        self.reverted_actions.record_touches(touches, ref)
        for file_touch in touches:
            if file_touch.action.changes:
                self.errors.record_change(file_touch.path, ref)
        call, touch = self._calls.pop(result.call, (None, None))
        run = self.runs.end(result, ref.at)
        if result.is_rejected or result.is_denied:
            if call is not None:
                self.reverted_actions.record_refusal(call, touch.path if touch else "", result, ref)
        elif run is not None:
            self.errors.record_run(run, result.output, ref)
            self.reverted_actions.record_run(run)
        elif result.has_failed and call is not None and touch is not None and touch.action.changes:
            # a missing file to read is an answer
            self.errors.record_failure(call.tool, touch.path, find_error_line(result.output), ref)
        for question, answer in result.answers:
            self.user_answers.add(DecisionFact("", ref, answer, "", True, question))
        if result.user_words:
            self._read_message(MessageFact("", ref, result.user_words, True), key)

    def _read_message(self, message: MessageFact, key: str) -> None:
        digest = hash((key, message.text))
        if digest in self._known_messages:
            return
        if key and len(self._known_messages) < _MAX_KNOWN:
            self._known_messages.add(digest)
        if not message.is_user:
            self.agent_messages.add(message)
        else:
            self.user_messages.add(message)
            self._user_messages[hash(message.text)] = None

    def _read_summary(self, summary: SummaryFact) -> None:
        if hash(summary.text) in self._user_messages:
            # the last message that a compaction keeps may be one of the user
            return
        self.summaries.add(summary)


def _measure(fact: MessageFact | SummaryFact | DecisionFact) -> int:
    return len(fact.text) + _RECORD
