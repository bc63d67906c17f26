"""Collecting the facts of one session, message by message, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ricordo.agents.transcripts.session import Call, CallResult, Noise, TaskList, Touch, Turn, Who
from ricordo.handoff.facts import DecisionFact, MessageFact, Ref, Summary
from ricordo.handoff.gather.bounded import Bounded, Recent
from ricordo.handoff.gather.commands import ProgramRun, error_line
from ricordo.handoff.gather.files import FileUses
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

    ref: Ref
    """The message that reported the error."""
    what: str
    error: str
    left: tuple[ProgramRun, ...] = ()
    """The programs of a command that have not succeeded since."""
    programs: frozenset[str] = frozenset()
    """Those that the command ran."""
    path: str = ""
    """The file at which a tool failed; its name goes after `what`."""
    mended: Ref | None = None
    by: tuple[str, ...] = ()
    """Files that were changed between the error and its fix, as the session names them."""


@dataclass(slots=True)
class SessionErrors:
    """The errors of one session."""

    kept: Bounded[OpenError] = field(default_factory=lambda: Bounded(_MAX_ERRORS))
    _open: deque[OpenError] = field(default_factory=lambda: deque(maxlen=_MAX_OPEN_ERRORS))
    """Those of commands; those at files are in `_at_files`, by their paths."""
    _at_files: Recent[str, list[OpenError]] = field(
        default_factory=lambda: Recent(_MAX_OPEN_ERRORS)
    )
    _changes: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_MAX_CHANGES))
    """Numbers of messages, each with a file that was changed in it."""

    def ran(self, run: CommandRun, output: str, at: Ref) -> None:
        """Record a command that ended with this output at the message `at`."""
        if run.has_failed:
            self._fix_replaced(run, output, at)
            only_questions = all(program.is_question for program in run.deeds)
            if not only_questions and not self._is_repeated(run):
                required = _list_required(run.deeds)
                programs = frozenset(program.program for program in required)
                open_error = OpenError(at, run.command, run.error, required, programs)
                self.kept.add(open_error)
                self._open.append(open_error)
        elif run.has_failed is False:
            programs_run = {program.program for program in run.deeds}
            for open_error in [
                error for error in self._open if not error.programs.isdisjoint(programs_run)
            ]:
                self._match_success(open_error, run.deeds, at)

    def failed(self, what: str, path: str, error: str, at: Ref) -> None:
        """Record a tool that failed at the file `path`."""
        known_errors = self._at_files.setdefault(path, [])
        if len(known_errors) < _MAX_OPEN_ERRORS and all(
            (source.what, source.error) != (what, error) for source in known_errors
        ):
            known_errors.append(OpenError(at, what, error, path=path))
            self.kept.add(known_errors[-1])

    def changed(self, path: str, at: Ref) -> None:
        """Record a file that was changed."""
        self._changes.append((at.turn, path))
        for error in self._at_files.pop(path, ()):
            self._mark_fixed(error, at)

    def _fix_replaced(self, run: CommandRun, output: str, at: Ref) -> None:
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

    def _match_success(self, error: OpenError, programs: Sequence[ProgramRun], at: Ref) -> None:
        for run in programs:
            error.left = tuple(program for program in error.left if not run.covers(program))
        if not error.left:
            self._open.remove(error)
            self._mark_fixed(error, at)

    def _mark_fixed(self, error: OpenError, at: Ref) -> None:
        error.mended = at
        between = (path for turn, path in self._changes if error.ref.turn <= turn <= at.turn)
        error.by = tuple(dict.fromkeys(between))


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


class Hearing:
    """Collects the facts of one session."""

    def __init__(self, session: int, known_messages: set[int]) -> None:
        """`session` is its number. `known_messages` are digests of the messages of earlier
        sessions, which a continued session repeats.
        """
        self._session = session
        self._known_messages = known_messages
        self.said: Bounded[MessageFact] = Bounded(_MAX_CHARACTERS, _measure)
        """The user's messages."""
        self.answers: Bounded[MessageFact] = Bounded(_MAX_CHARACTERS, _measure)
        """The agent's messages."""
        self.summaries: Bounded[Summary] = Bounded(_MAX_CHARACTERS, _measure)
        self._user_messages: Recent[int, None] = Recent(_MAX_USER_MESSAGES)
        """Digests of the user's messages."""
        self.tasks = TaskList()
        self.runs = SessionRuns()
        self.files = FileUses()
        self.mishaps = SessionErrors()
        self.taken_back = RevertedActions()
        self.answered: Bounded[DecisionFact] = Bounded(_MAX_CHARACTERS, _measure)
        """The user's answers to questions of a tool."""
        self._calls: Recent[str, tuple[Call, Touch | None]] = Recent(_MAX_OPEN_CALLS)
        """The calls that have not ended, each with its file."""

    def hear(self, turn: Turn) -> None:
        """Record a message."""
        ref = Ref(self._session, turn.where.line, turn.at)
        self._read_actions(turn, ref)
        if turn.is_said:
            self._read_message(MessageFact("", ref, turn.text, turn.who is Who.PERSON), turn.key)
        elif turn.noise is Noise.SUMMARY and turn.text and not turn.is_aside:
            self._read_summary(Summary("", ref, turn.text))

    def close(self) -> None:
        """Record that the session has ended."""
        self.files.close()

    @property
    def talk(self) -> list[MessageFact]:
        """The messages of both, in order."""
        return sorted((*self.said, *self.answers), key=lambda message: message.ref.turn)

    def _read_actions(self, turn: Turn, ref: Ref) -> None:
        touches = {touch.call: touch for touch in turn.touches}
        for call in turn.calls:
            self.runs.begin(call, ref)
            self._calls[call.id] = (call, touches.get(call.id))
            if not turn.is_aside and (call.tasks or call.is_whole_list):
                self.tasks.hear(call, ref.turn)
        for touch in turn.touches:
            self.files.begin(touch, ref)
        for ending in turn.endings:
            self._read_result(ending, ref, turn.key)

    def _read_result(self, result: CallResult, ref: Ref, key: str) -> None:
        self.tasks.end(result)
        touches = self.files.end(result)
        self.taken_back.touched(touches, ref)
        for file_touch in touches:
            if file_touch.deed.changes:
                self.mishaps.changed(file_touch.path, ref)
        call, touch = self._calls.pop(result.call, (None, None))
        run = self.runs.end(result, ref.at)
        if result.is_refused or result.is_denied:
            if call is not None:
                self.taken_back.refused(call, touch.path if touch else "", result, ref)
        elif run is not None:
            self.mishaps.ran(run, result.output, ref)
            self.taken_back.ran(run)
        elif result.has_failed and call is not None and touch is not None and touch.deed.changes:
            # a missing file to read is an answer
            self.mishaps.failed(call.tool, touch.path, error_line(result.output), ref)
        for question, answer in result.answers:
            self.answered.add(DecisionFact("", ref, answer, "", True, question))
        if result.words:
            self._read_message(MessageFact("", ref, result.words, True), key)

    def _read_message(self, message: MessageFact, key: str) -> None:
        digest = hash((key, message.text))
        if digest in self._known_messages:
            return
        if key and len(self._known_messages) < _MAX_KNOWN:
            self._known_messages.add(digest)
        if not message.is_person:
            self.answers.add(message)
        else:
            self.said.add(message)
            self._user_messages[hash(message.text)] = None

    def _read_summary(self, summary: Summary) -> None:
        if hash(summary.text) in self._user_messages:
            # the last message that a compaction keeps may be one of the user
            return
        self.summaries.add(summary)


def _measure(fact: MessageFact | Summary | DecisionFact) -> int:
    return len(fact.text) + _RECORD
