"""What was tried in a session and given up: edits that were taken back, what the person did not
want, and what the agent says that it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ricordo.activity.calls import Call, Ending
from ricordo.activity.session import Deed, Touch
from ricordo.handoff.facts import GivenUp, Ref, Said
from ricordo.handoff.gathering.bounded import Bounded, Recent
from ricordo.handoff.gathering.phrases import before_it, reason_of, says, spoken
from ricordo.handoff.gathering.runs import Run

_MOST = 1_000
_MOST_EDITS = 2_000
"""Edits, and files that were made, which may still be taken back."""
_LONGEST_WISH = 1_500
"""Characters of a message that may say what is not wanted; longer ones are documents."""
_LONGEST_LINE = 120
"""Characters of a line that is quoted of an edit."""
_TAKES_BACK = {"restore": (), "revert": (), "checkout": ("--", "."), "reset": ("--hard",)}
"""Commands of git that take changes back, each with the words of which it has to have one."""


class Left(NamedTuple):
    """What was given up, and the file before whose name the rest of it stands; "" for none."""

    given_up: GivenUp
    path: str = ""


@dataclass(slots=True)
class GivenUps:
    """What one session gave up."""

    kept: Bounded[Left] = field(default_factory=lambda: Bounded(_MOST))
    _edits: Recent[tuple[str, int, int], tuple[Ref, str]] = field(
        default_factory=lambda: Recent(_MOST_EDITS)
    )
    """When a text took the place of another one in a file, and its first line."""
    _made: Recent[str, Ref] = field(default_factory=lambda: Recent(_MOST_EDITS))
    """Files that the session made."""
    _known: set[str] = field(default_factory=set)
    """Files that were there before."""
    _answer: Said | None = None
    """What the agent said last."""
    _unwanted: Said | None = None
    """What the person said last that takes something back."""
    _unwanted_of: Said | None = None
    """What the agent had said before that."""

    def hear(self, said: Said) -> None:
        """Take note of a message."""
        if not said.is_person:
            is_consent = self._unwanted is not None and self._answer is self._unwanted_of
            self._answer = said
            # what it says first after that only repeats what the person did not want
            for given_up in () if is_consent else _left(said):
                self.kept.add(Left(given_up))
        elif self._answer is not None and len(said.text) <= _LONGEST_WISH:
            self._hear_wish(said, self._answer)

    def _hear_wish(self, said: Said, answer: Said) -> None:
        wish = next((it.text for it in spoken(said.text) if says("unwanted", it.text)), "")
        done = next((it.text for it in spoken(answer.text)), "")
        if wish and done:
            self._unwanted, self._unwanted_of = said, answer
            self.kept.add(Left(GivenUp("", said.ref, done.strip(), wish.strip())))

    def refused(self, call: Call, path: str, ending: Ending, at: Ref) -> None:
        """Take note of a call that the person did not let be done."""
        what = f"`{call.command}`" if call.command else f" ({call.tool})"
        self.kept.add(Left(GivenUp("", at, what, ending.words), "" if call.command else path))

    def touched(self, touches: Sequence[Touch], at: Ref) -> None:
        """Take note of what one call did to files."""
        written = {touch.path for touch in touches if touch.deed is Deed.WROTE}
        for touch in touches:
            match touch.deed:
                case Deed.EDITED:
                    self._edited(touch, at)
                case Deed.WROTE if touch.path not in self._known:
                    self._made[touch.path] = at
                case Deed.DELETED if not written:
                    # with a file that is written it was moved
                    self._deleted(touch.path, at)
                case _:
                    pass
            if len(self._known) < _MOST_EDITS:
                self._known.add(touch.path)

    def _edited(self, touch: Touch, at: Ref) -> None:
        before, after = touch.before.strip(), touch.text.strip()
        if not before and not after:
            return
        undone = self._edits.pop((touch.path, hash(after), hash(before)), None)
        if undone is None:
            line = next(filter(None, map(str.strip, after.split("\n"))), "")
            self._edits[touch.path, hash(before), hash(after)] = (at, line[:_LONGEST_LINE])
            return
        since, line = undone
        if not self._is_told(since):
            given_up = GivenUp("", at, f": {line}" if line else "", self._reason(since))
            self.kept.add(Left(given_up, touch.path))

    def _deleted(self, path: str, at: Ref) -> None:
        made = self._made.pop(path, None)
        self._known.discard(path)
        reason = self._reason(made) if made is not None else ""
        if made is not None and reason and not self._is_told(made):
            self.kept.add(Left(GivenUp("", at, ", which was new", reason), path))

    def ran(self, run: Run) -> None:
        """Take note of a command that has ended: git may have taken changes back."""
        if run.has_failed or not self._edits:
            return
        for done in run.deeds:
            needed = _TAKES_BACK.get((done.words or ("",))[0]) if done.program == "git" else None
            is_meant = needed is not None and (not needed or not {*needed}.isdisjoint(done.words))
            if is_meant and "--staged" not in done.words:
                since = next(iter(self._edits.values()))[0]
                if not self._is_told(since):
                    given_up = GivenUp("", run.ref, f"`{run.command}`", self._reason(since))
                    self.kept.add(Left(given_up))

    def _is_told(self, since: Ref) -> bool:
        """Whether it is known already, in the words of the person, that it was not wanted."""
        return self._unwanted is not None and self._unwanted.ref.turn > since.turn

    def _reason(self, since: Ref) -> str:
        """What the agent said of it last; "" where that was said before."""
        answer = self._answer
        if answer is None or answer.ref.turn < since.turn:
            return ""
        said = spoken(answer.text)
        leaving = [it.text for it in said if says("left", it.text) or says("failing", it.text)]
        return leaving[-1].strip() if leaving else ""


def _left(said: Said) -> Iterator[GivenUp]:
    """What the agent says that it gave up."""
    sentences = spoken(said.text)
    for number, sentence in enumerate(sentences):
        if sentence.is_question:
            continue
        following = sentences[number + 1].text if number + 1 < len(sentences) else ""
        fails = says("failing", sentence.text)
        goes_on = fails and (says("other_way", sentence.text) or says("other_way", following))
        why = reason_of(sentences, number)
        if says("left", sentence.text):
            yield GivenUp("", said.ref, sentence.text.strip(), why or before_it(sentences, number))
        elif goes_on:
            yield GivenUp("", said.ref, sentence.text.strip(), why)
