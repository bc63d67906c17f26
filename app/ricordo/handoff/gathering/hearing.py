"""What one session tells that a handoff can state, heard turn by turn within little memory."""

from __future__ import annotations

from ricordo.activity.calls import Call, Ending, TaskList
from ricordo.activity.session import Noise, Touch, Turn, Who
from ricordo.handoff.facts import Decided, Ref, Said, Summary
from ricordo.handoff.gathering.bounded import Bounded, Recent
from ricordo.handoff.gathering.file_uses import FileUses
from ricordo.handoff.gathering.mishaps import Mishaps
from ricordo.handoff.gathering.outcome import error_line
from ricordo.handoff.gathering.runs import Runs
from ricordo.handoff.gathering.taken_back import TakenBacks

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
        self.said: Bounded[Said] = Bounded(_MOST_SAID, _weight)
        """What the person said."""
        self.answers: Bounded[Said] = Bounded(_MOST_SAID, _weight)
        """What the agent said."""
        self.summaries: Bounded[Summary] = Bounded(_MOST_SAID, _weight)
        self._wishes: Recent[int, None] = Recent(_MOST_WISHES)
        """Digests of what the person said."""
        self.tasks = TaskList()
        self.runs = Runs()
        self.files = FileUses()
        self.mishaps = Mishaps()
        self.taken_back = TakenBacks()
        self.answered: Bounded[Decided] = Bounded(_MOST_SAID, _weight)
        """What the person answered to questions of a tool."""
        self._calls: Recent[str, tuple[Call, Touch | None]] = Recent(_MOST_OPEN)
        """The calls that have not ended, each with what it is to do to a file."""

    def hear(self, turn: Turn) -> None:
        """Take note of a turn."""
        ref = Ref(self._session, turn.where.line, turn.at)
        self._hear_deeds(turn, ref)
        if turn.is_said:
            self._hear_message(Said("", ref, turn.text, turn.who is Who.PERSON), turn.key)
        elif turn.noise is Noise.SUMMARY and turn.text and not turn.is_aside:
            self._hear_summary(Summary("", ref, turn.text))

    def close(self) -> None:
        """Take note that the session has ended."""
        self.files.close()

    @property
    def talk(self) -> list[Said]:
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

    def _hear_ending(self, ending: Ending, ref: Ref, key: str) -> None:
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
            self.answered.add(Decided("", ref, answer, "", True, question))
        if ending.words:
            self._hear_message(Said("", ref, ending.words, True), key)

    def _hear_message(self, said: Said, key: str) -> None:
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


def _weight(told: Said | Summary | Decided) -> int:
    return len(told.text) + _RECORD
