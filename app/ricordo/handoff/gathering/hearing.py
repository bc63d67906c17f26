"""What one session tells that a handoff can state, heard turn by turn within little memory."""

from __future__ import annotations

from ricordo.activity.calls import TaskList
from ricordo.activity.session import Noise, Turn, Who
from ricordo.handoff.facts import Ref, Said, Summary
from ricordo.handoff.gathering.bounded import Bounded
from ricordo.handoff.gathering.file_uses import FileUses
from ricordo.handoff.gathering.runs import Runs

_MOST_SAID = 8_000_000
"""Characters of messages of the person in one session that are kept; those of the agent, and
summaries, have as much room each.
"""


class Hearing:
    """Hears one session."""

    def __init__(self, session: int, heard: set[tuple[str, str]]) -> None:
        """`session` is its number. `heard` are the messages that were heard in sessions before, by
        key and text: one that was gone on with holds them again.
        """
        self._session = session
        self._heard = heard
        self.said: Bounded[Said] = Bounded(_MOST_SAID, lambda said: len(said.text))
        """What the person said."""
        self.answers: Bounded[Said] = Bounded(_MOST_SAID, lambda said: len(said.text))
        """What the agent said."""
        self.summaries: Bounded[Summary] = Bounded(_MOST_SAID, lambda it: len(it.text))
        self.tasks = TaskList()
        self.runs = Runs()
        self.files = FileUses()

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
        for call in turn.calls:
            self.runs.begin(call, ref)
            if not turn.is_aside and (call.tasks or call.is_whole_list):
                self.tasks.hear(call, ref.turn)
        for touch in turn.touches:
            self.files.begin(touch, ref)
        for ending in turn.endings:
            self.files.end(ending)
            self.tasks.end(ending)
            self.runs.end(ending)
            if ending.words:
                self._hear_message(Said("", ref, ending.words, True), turn.key)

    def _hear_message(self, said: Said, key: str) -> None:
        if not said.is_person:
            self.answers.add(said)
        elif (key, said.text) not in self._heard:
            self._heard.add((key, said.text))
            self.said.add(said)

    def _hear_summary(self, summary: Summary) -> None:
        if any(it.text == summary.text for it in self.said):
            # the last message of what a compaction kept may be one of the person
            return
        self.summaries.add(summary)
