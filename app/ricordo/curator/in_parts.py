"""Asking in parts: what a model does not take as a whole is asked again half by half, until all
that it takes was asked, and what it does not take stands alone. That is left out, and named.

It costs more than asking once, and is still one run: under the caps of a run, within one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ricordo.curator.asking import Asking
from ricordo.curator.asking_model import AskModel
from ricordo.curator.brief import Brief
from ricordo.curator.dividing import Piece, whole_of
from ricordo.curator.engine import FREE, Answer, Progress, Step, Unread, Usage
from ricordo.curator.proposal import Wish
from ricordo.memory.change import Act, Author
from ricordo.memory.memory import Memory
from ricordo.model.failure import Cause, ModelFailed

MOST = 24
"""Questions behind the first one: to find one note or turn among a thousand takes two for each of
ten halvings, and there may be a second one on the way.
"""
FRUITLESS = 8
"""Questions behind the first one after which it ends where none was answered: what turns down the
halves and the quarters turns down everything.
"""
_FEWEST_WRITTEN = 500
"""Tokens that a question has to have left to be answered in: it is paid for in any case."""
_MOST_NAMED = 3
_WHY = {
    Cause.REFUSED: "the model will not read it",
    Cause.TOO_LARGE: "it is too large for the server",
}
"""Why a part may not be taken though another one would be; whatever else fails ends it all."""
_BESIDE = "left out, for with them no part was taken"
_REFUSES_ALL = "Choose another model; you can still open, edit and delete notes."


@dataclass(frozen=True, slots=True)
class InParts:
    """An engine that asks a model, and where it has to asks in parts."""

    asking: Asking
    ask: AskModel

    @property
    def author(self) -> Author:
        """Who is asked."""
        return self.asking.author

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the model wishes, of all that it takes. Raises CuratorFailed where it takes
        nothing, StateUnusable, and what `step` raises.
        """
        run = _Run(self, memory, step)
        try:
            return run.asked(brief)
        except ModelFailed as failed:
            if failed.cause not in _WHY:
                raise
            whole = failed
        return run.in_parts(brief, whole)


class _Run:
    def __init__(self, engine: InParts, memory: Memory, step: Step) -> None:
        self._engine, self._memory, self._step = engine, memory, step
        self._until = time.monotonic() + engine.ask.server.bounds.total
        self._spent = FREE
        """By all questions, against the caps of a run."""
        self._lost = FREE
        """Of that, for what was not answered."""
        self._count = 0
        """Questions behind the first one."""
        self._taken: list[tuple[Piece, Answer]] = []
        self._unread: list[Unread] = []
        self._ended: ModelFailed | None = None
        """Why not all was asked."""

    def asked(self, brief: Brief) -> Answer:
        """Ask for all at once."""
        return self._ask(brief, self._engine.ask, self._step)

    def in_parts(self, brief: Brief, whole: ModelFailed) -> Answer:
        """Return what is answered to the parts of a brief of which the `whole` was turned down."""
        try:
            self._go_through([(whole_of(brief), whole.cause)])
        except BaseException:
            self._record(self._taken)
            raise
        if not self._taken:
            raise self._nothing(whole) from None
        self._record(self._taken[:-1])
        return self._joined()

    def _record(self, answers: Iterable[tuple[Piece, Answer]]) -> None:
        """Record what answers cost by themselves: one at most is recorded with the run."""
        for _, it in answers:
            self._engine.ask.lost(it.usage)

    # Asking

    def _go_through(self, turned_down: list[tuple[Piece, Cause]]) -> None:
        """Ask for what was `turned_down` in smaller pieces, for as long as some are."""
        while turned_down:
            is_all = not self._taken and len(turned_down) > 1
            pieces = [part for it, why in turned_down for part in self._smaller(it, why, is_all)]
            turned_down = []
            for number, piece in enumerate(pieces):
                try:
                    self._take(piece)
                except ModelFailed as failed:
                    if failed.cause not in _WHY:
                        more = (p for it, why in turned_down for p in self._smaller(it, why, False))
                        self._end(failed, (*pieces[number:], *more))
                        return
                    turned_down.append((piece, failed.cause))

    def _smaller(self, piece: Piece, why: Cause, is_all: bool) -> Sequence[Piece]:
        """Return what to ask in the place of a piece; `is_all` says whether none was taken, so that
        what all have in common may be the reason. What stands alone is not read.
        """
        is_alone = len(piece.units) <= 1
        is_around = piece.is_mostly_around if why is Cause.TOO_LARGE else is_all
        may_be_around = is_around or (is_alone and not self._taken)
        if may_be_around and not piece.is_bare and piece.units:
            return (piece.bare,)
        if not is_alone:
            return piece.halves
        self._unread += [Unread(it, _WHY[why]) for it in piece.sources]
        return ()

    def _take(self, piece: Piece) -> None:
        """Ask for a piece, where that may still be. Raises ModelFailed."""
        self._count += 1
        self._step(Progress(self._phase("asking")))
        bounds = self._engine.ask.server.bounds
        seconds = round(self._until - time.monotonic(), 1)
        if seconds <= 0:
            raise ModelFailed(Cause.TOO_SLOW, f"{bounds.total:g} seconds")
        if self._count > (MOST if self._taken else FRUITLESS):
            told = f"it was asked {self._count} times"
            raise ModelFailed(Cause.OVER_BUDGET, told, remedy="Curate less at once.")
        ask = self._engine.ask.again(self._spent, seconds)
        if ask.gate.caps.run_out < _FEWEST_WRITTEN:
            told = f"{self._spent.output_tokens:,} tokens were written by then"
            raise ModelFailed(Cause.OVER_BUDGET, told, remedy="Raise the setting engine.written.")
        self._taken.append((piece, self._ask(piece.brief, ask, self._told)))

    def _ask(self, brief: Brief, ask: AskModel, step: Step) -> Answer:
        """Ask once, and count what that costs. Raises ModelFailed."""
        before = self._spent

        def lost(usage: Usage) -> None:
            self._spent += usage
            self._lost += usage
            ask.lost(usage)

        engine = replace(self._engine.asking, ask=replace(ask, lost=lost))
        try:
            answer = engine.answer(self._memory, brief, step)
        except ModelFailed as failed:
            if failed.cause is Cause.REFUSED and self._spent == before:
                # nobody said what it cost, but it was read
                self._spent += Usage(ask.estimate(brief).input_tokens)
            raise
        self._spent += answer.usage
        return answer

    def _told(self, progress: Progress) -> None:
        self._step(progress._replace(phase=self._phase(progress.phase)))

    def _phase(self, doing: str) -> str:
        return f"asked in parts, {self._count}: {doing}"

    # What came of it

    def _end(self, failed: ModelFailed, rest: Iterable[Piece]) -> None:
        self._ended = failed
        for piece in rest:
            self._unread += [Unread(it, failed.message, is_left=True) for it in piece.sources]

    def _joined(self) -> Answer:
        """Return all answers as one. Where two want something else of the same lines it is the
        later talk that counts, so its wishes stand first.
        """
        taken = sorted(self._taken, key=lambda it: it[0].at, reverse=True)
        answers = [answer for _, answer in taken]
        wishes: dict[Act, Wish] = {}
        for wish in (it for answer in answers for it in answer.wishes):
            wishes.setdefault(wish.act, wish)
        *others, last = (answer.usage for _, answer in self._taken)
        beside = [Unread("", _BESIDE)] if any(piece.is_bare for piece, _ in taken) else []
        return Answer(
            tuple(wishes.values()),
            tuple(it for answer in answers for it in answer.rejected),
            last,
            {source: text for answer in answers for source, text in answer.shown.items()},
            sum(others, self._lost),
            (*self._unread, *beside),
        )

    def _nothing(self, whole: ModelFailed) -> ModelFailed:
        """Return why there is no answer at all."""
        ended = self._ended
        if ended is not None and ended.cause is not Cause.OVER_BUDGET:
            return ended
        if not self._unread:
            return whole
        if ended is not None:
            told, remedy = f"In parts it was not answered either: {ended.detail}.", ended.remedy
        else:
            told = f"Each by itself is not taken either: {self._named()}."
            remedy = _REFUSES_ALL if whole.cause is Cause.REFUSED else ""
        said = " ".join(filter(None, (told, whole.detail)))
        return ModelFailed(whole.cause, said, remedy=remedy)

    def _named(self) -> str:
        """Return what is not read, in a few words."""
        notes = [it.source for it in self._unread if it.source in self._memory.by_path]
        told = notes[:_MOST_NAMED]
        rest = len(self._unread) - len(told)
        if not told:
            return f"{rest} of your messages"
        return ", ".join(told) + (f" and {rest} more" if rest else "")
