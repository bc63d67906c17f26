"""What one session tells that a handoff can state, heard turn by turn within little memory."""

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

_MOST = 2_000
_MOST_OPEN_ERRORS = 100
"""Errors whose mending is waited for."""
_MOST_CHANGES = 2_000
"""Changes that are remembered."""


@dataclass(slots=True)
class OpenError:
    """An error, and how far it is mended."""

    ref: Ref
    """The turn that told the error."""
    what: str
    error: str
    left: tuple[ProgramRun, ...] = ()
    """What of a command has not been done again with success."""
    programs: frozenset[str] = frozenset()
    """Those that the command ran."""
    path: str = ""
    """The file at which a tool failed, which stands behind `what`."""
    mended: Ref | None = None
    by: tuple[str, ...] = ()
    """Files that were changed between the error and its mending, as the session calls them."""


@dataclass(slots=True)
class SessionErrors:
    """The errors of one session."""

    kept: Bounded[OpenError] = field(default_factory=lambda: Bounded(_MOST))
    _open: deque[OpenError] = field(default_factory=lambda: deque(maxlen=_MOST_OPEN_ERRORS))
    """Those of commands; those at files are in `_at_files`, by their paths."""
    _at_files: Recent[str, list[OpenError]] = field(
        default_factory=lambda: Recent(_MOST_OPEN_ERRORS)
    )
    _changes: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_MOST_CHANGES))
    """Turns with the files that were changed in them."""

    def ran(self, run: CommandRun, output: str, at: Ref) -> None:
        """Take note of a command that ended `at` a turn with this output."""
        if run.has_failed:
            self._mend_others(run, output, at)
            answers = all(deed.is_question for deed in run.deeds)
            if not answers and not self._is_repeated(run):
                wanted = _wanted(run.deeds)
                programs = frozenset(deed.program for deed in wanted)
                trouble = OpenError(at, run.command, run.error, wanted, programs)
                self.kept.add(trouble)
                self._open.append(trouble)
        elif run.has_failed is False:
            ran = {deed.program for deed in run.deeds}
            for trouble in [it for it in self._open if not it.programs.isdisjoint(ran)]:
                self._take_up(trouble, run.deeds, at)

    def failed(self, what: str, path: str, error: str, at: Ref) -> None:
        """Take note of a tool that failed at the file `path`."""
        there = self._at_files.setdefault(path, [])
        if len(there) < _MOST_OPEN_ERRORS and all(
            (it.what, it.error) != (what, error) for it in there
        ):
            there.append(OpenError(at, what, error, path=path))
            self.kept.add(there[-1])

    def changed(self, path: str, at: Ref) -> None:
        """Take note of a file that was changed."""
        self._changes.append((at.turn, path))
        for trouble in self._at_files.pop(path, ()):
            self._mend(trouble, at)

    def _mend_others(self, run: CommandRun, output: str, at: Ref) -> None:
        """The same command may fail for another reason: then the one before is no more."""
        for trouble in list(self._open):
            if trouble.what == run.command and trouble.error and trouble.error not in output:
                self._open.remove(trouble)
                self._mend(trouble, at)

    def _is_repeated(self, run: CommandRun) -> bool:
        """Whether the same command failed with the same error before, and nothing mended it."""
        return any(it.what == run.command and it.error == run.error for it in self._open)

    def _take_up(self, trouble: OpenError, done: Sequence[ProgramRun], at: Ref) -> None:
        for it in done:
            trouble.left = tuple(deed for deed in trouble.left if not it.covers(deed))
        if not trouble.left:
            self._open.remove(trouble)
            self._mend(trouble, at)

    def _mend(self, trouble: OpenError, at: Ref) -> None:
        trouble.mended = at
        between = (path for turn, path in self._changes if trouble.ref.turn <= turn <= at.turn)
        trouble.by = tuple(dict.fromkeys(between))


def _wanted(done: Sequence[ProgramRun]) -> tuple[ProgramRun, ...]:
    """What has to succeed: all that the line ran but for what only looks or prints."""
    return tuple(deed for deed in done if not deed.is_question)


_MOST_SAID = 4_000_000
"""Characters of messages of the person in one session that are kept; those of the agent, and
summaries, have as much room each.
"""
_RECORD = 200
"""What a message weighs besides its own characters."""
_MOST_HEARD = 100_000
"""Messages that are known again in the next session."""
_MOST_WISHES = 10_000
"""Messages of the person that are known again in a summary."""
_MOST_OPEN = 300
"""Calls whose ending is waited for."""


class Hearing:
    """Hears one session."""

    def __init__(self, session: int, heard: set[int]) -> None:
        """`session` is its number. `heard` are the messages that were heard in sessions before, by
        digests: one that was gone on with holds them again.
        """
        self._session = session
        self._heard = heard
        self.said: Bounded[MessageFact] = Bounded(_MOST_SAID, _weight)
        """What the person said."""
        self.answers: Bounded[MessageFact] = Bounded(_MOST_SAID, _weight)
        """What the agent said."""
        self.summaries: Bounded[Summary] = Bounded(_MOST_SAID, _weight)
        self._wishes: Recent[int, None] = Recent(_MOST_WISHES)
        """Digests of what the person said."""
        self.tasks = TaskList()
        self.runs = SessionRuns()
        self.files = FileUses()
        self.mishaps = SessionErrors()
        self.taken_back = RevertedActions()
        self.answered: Bounded[DecisionFact] = Bounded(_MOST_SAID, _weight)
        """What the person answered to questions of a tool."""
        self._calls: Recent[str, tuple[Call, Touch | None]] = Recent(_MOST_OPEN)
        """The calls that have not ended, each with what it is to do to a file."""

    def hear(self, turn: Turn) -> None:
        """Take note of a turn."""
        ref = Ref(self._session, turn.where.line, turn.at)
        self._hear_deeds(turn, ref)
        if turn.is_said:
            self._hear_message(MessageFact("", ref, turn.text, turn.who is Who.PERSON), turn.key)
        elif turn.noise is Noise.SUMMARY and turn.text and not turn.is_aside:
            self._hear_summary(Summary("", ref, turn.text))

    def close(self) -> None:
        """Take note that the session has ended."""
        self.files.close()

    @property
    def talk(self) -> list[MessageFact]:
        """What both said, in the order in which they said it."""
        return sorted((*self.said, *self.answers), key=lambda said: said.ref.turn)

    def _hear_deeds(self, turn: Turn, ref: Ref) -> None:
        touches = {touch.call: touch for touch in turn.touches}
        for call in turn.calls:
            self.runs.begin(call, ref)
            self._calls[call.id] = (call, touches.get(call.id))
            if not turn.is_aside and (call.tasks or call.is_whole_list):
                self.tasks.hear(call, ref.turn)
        for touch in turn.touches:
            self.files.begin(touch, ref)
        for ending in turn.endings:
            self._hear_ending(ending, ref, turn.key)

    def _hear_ending(self, ending: CallResult, ref: Ref, key: str) -> None:
        self.tasks.end(ending)
        touched = self.files.end(ending)
        self.taken_back.touched(touched, ref)
        for done in touched:
            if done.deed.changes:
                self.mishaps.changed(done.path, ref)
        call, touch = self._calls.pop(ending.call, (None, None))
        run = self.runs.end(ending, ref.at)
        if ending.is_refused or ending.is_denied:
            if call is not None:
                self.taken_back.refused(call, touch.path if touch else "", ending, ref)
        elif run is not None:
            self.mishaps.ran(run, ending.output, ref)
            self.taken_back.ran(run)
        elif ending.has_failed and call is not None and touch is not None and touch.deed.changes:
            # that there is nothing to read is an answer
            self.mishaps.failed(call.tool, touch.path, error_line(ending.output), ref)
        for question, answer in ending.answers:
            self.answered.add(DecisionFact("", ref, answer, "", True, question))
        if ending.words:
            self._hear_message(MessageFact("", ref, ending.words, True), key)

    def _hear_message(self, said: MessageFact, key: str) -> None:
        digest = hash((key, said.text))
        if digest in self._heard:
            return
        if key and len(self._heard) < _MOST_HEARD:
            self._heard.add(digest)
        if not said.is_person:
            self.answers.add(said)
        else:
            self.said.add(said)
            self._wishes[hash(said.text)] = None

    def _hear_summary(self, summary: Summary) -> None:
        if hash(summary.text) in self._wishes:
            # the last message of what a compaction kept may be one of the person
            return
        self.summaries.add(summary)


def _weight(told: MessageFact | Summary | DecisionFact) -> int:
    return len(told.text) + _RECORD
