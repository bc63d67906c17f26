"""Asking in parts: what a model does not take as a whole is asked again half by half, until all
that it takes was asked, and what it does not take stands alone. That is left out, and named.

It costs more than asking once, and is still one run: under the caps of a run, within one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ricordo.curation.brief import ACTIVITY, OTHERS, TOUCHED, Brief, BriefPart, name_of, size
from ricordo.curation.engine import FREE, CurationProgress, EngineAnswer, EngineUsage, Step, Unread
from ricordo.curation.engines.external import Asking
from ricordo.curation.engines.llm import AskModel
from ricordo.curation.gist import gist
from ricordo.curation.proposal import ProposedChange
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.memory.change import Act, Author
from ricordo.memory.memory import Memory

_DIVIDED = (TOUCHED, ACTIVITY)


class BriefUnit(NamedTuple):
    """A note in full, or a turn: what gives way as a whole."""

    group: int
    """The number of the turn that it belongs to; -1 for a note that no turn bears on."""
    part: int
    number: int
    """Which block of the part it is."""
    block: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the notes and turns of a brief, one behind the other."""

    whole: Brief
    units: tuple[BriefUnit, ...]
    at: int = 0
    """How many units of the brief stand before it."""
    is_bare: bool = False
    """Whether nothing stands around them."""

    @property
    def brief(self) -> Brief:
        """It as a brief."""
        shown = {(it.part, it.number) for it in self.units}
        parts = list(self.whole.parts)
        for number, part in enumerate(parts):
            is_kept = number not in _DIVIDED and not self.is_bare
            blocks = (it for n, it in enumerate(part.blocks) if is_kept or (number, n) in shown)
            parts[number] = BriefPart(part.title, tuple(blocks))
        if not self.is_bare:
            others = parts[OTHERS]
            parts[OTHERS] = BriefPart(others.title, (*others.blocks, *self._hidden(shown)))
        return replace(self.whole, parts=tuple(parts))

    def _hidden(self, shown: Iterable[tuple[int, int]]) -> list[str]:
        """Return the notes that it does not show as they stand among the others."""
        names = (
            name_of(TOUCHED, block)
            for number, block in enumerate(self.whole.parts[TOUCHED].blocks)
            if (TOUCHED, number) not in shown
        )
        return [self.whole.listed[name] for name in names if name in self.whole.listed]

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of its notes and the sources of its turns."""
        known = {**dict(self.whole.ids), **dict(self.whole.sources)}
        return tuple(known[name_of(it.part, it.block)] for it in self.units)

    @property
    def bare(self) -> Piece:
        """It without what stands around."""
        return replace(self, is_bare=True)

    @property
    def halves(self) -> tuple[Piece, Piece]:
        """It in two, of about one size; it has two units at least."""
        cut = self._cut()
        first, second = self.units[:cut], self.units[cut:]
        return replace(self, units=first), replace(self, units=second, at=self.at + cut)

    def _cut(self) -> int:
        """Return how many units stand in the first half: between groups, where there are some."""
        units = self.units
        places = range(1, len(units))
        between = [n for n in places if units[n].group != units[n - 1].group]
        sizes = [size(it.block) for it in units]
        return min(between or places, key=lambda n: abs(sum(sizes[:n]) - sum(sizes[n:])))

    @property
    def is_mostly_around(self) -> bool:
        """Whether what stands around is more than the notes and turns themselves."""
        own = sum(size(it.block) for it in self.units)
        return not self.is_bare and size(self.brief.text) > 2 * own


def whole_of(brief: Brief) -> Piece:
    """Return a brief as one piece, its notes before the turns that they share most words with, of
    several the last.
    """
    turns = [_words(it) for it in brief.parts[ACTIVITY].blocks]
    units = [BriefUnit(n, ACTIVITY, n, it) for n, it in enumerate(brief.parts[ACTIVITY].blocks)]
    for number, block in enumerate(brief.parts[TOUCHED].blocks):
        words = _words(block)
        shared = [(len(words & it), n) for n, it in enumerate(turns)]
        most, group = max(shared, default=(0, -1))
        units.append(BriefUnit(group if most else -1, TOUCHED, number, block))
    return Piece(brief, tuple(sorted(units)))


def _words(block: str) -> frozenset[str]:
    """Return what the lines of a block are about, without the marks before them."""
    return gist("\n".join(line.partition("| ")[2] for line in block.split("\n")))


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
    FailureCause.REFUSED: "the model will not read it",
    FailureCause.TOO_LARGE: "it is too large for the server",
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

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
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
        self._taken: list[tuple[Piece, EngineAnswer]] = []
        self._unread: list[Unread] = []
        self._ended: ModelFailed | None = None
        """Why not all was asked."""

    def asked(self, brief: Brief) -> EngineAnswer:
        """Ask for all at once."""
        return self._ask(brief, self._engine.ask, self._step)

    def in_parts(self, brief: Brief, whole: ModelFailed) -> EngineAnswer:
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

    def _record(self, answers: Iterable[tuple[Piece, EngineAnswer]]) -> None:
        """Record what answers cost by themselves: one at most is recorded with the run."""
        for _, it in answers:
            self._engine.ask.lost(it.usage)

    # Asking

    def _go_through(self, turned_down: list[tuple[Piece, FailureCause]]) -> None:
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

    def _smaller(self, piece: Piece, why: FailureCause, is_all: bool) -> Sequence[Piece]:
        """Return what to ask in the place of a piece; `is_all` says whether none was taken, so that
        what all have in common may be the reason. What stands alone is not read.
        """
        is_alone = len(piece.units) <= 1
        is_around = piece.is_mostly_around if why is FailureCause.TOO_LARGE else is_all
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
        self._step(CurationProgress(self._phase("asking")))
        bounds = self._engine.ask.server.bounds
        seconds = round(self._until - time.monotonic(), 1)
        if seconds <= 0:
            raise ModelFailed(FailureCause.TOO_SLOW, f"{bounds.total:g} seconds")
        if self._count > (MOST if self._taken else FRUITLESS):
            told = f"it was asked {self._count} times"
            raise ModelFailed(FailureCause.OVER_BUDGET, told, remedy="Curate less at once.")
        ask = self._engine.ask.again(self._spent, seconds)
        if ask.gate.caps.run_out < _FEWEST_WRITTEN:
            told = f"{self._spent.output_tokens:,} tokens were written by then"
            raise ModelFailed(
                FailureCause.OVER_BUDGET, told, remedy="Raise the setting engine.written."
            )
        self._taken.append((piece, self._ask(piece.brief, ask, self._told)))

    def _ask(self, brief: Brief, ask: AskModel, step: Step) -> EngineAnswer:
        """Ask once, and count what that costs. Raises ModelFailed."""
        before = self._spent

        def lost(usage: EngineUsage) -> None:
            self._spent += usage
            self._lost += usage
            ask.lost(usage)

        engine = replace(self._engine.asking, ask=replace(ask, lost=lost))
        try:
            answer = engine.answer(self._memory, brief, step)
        except ModelFailed as failed:
            if failed.cause is FailureCause.REFUSED and self._spent == before:
                # nobody said what it cost, but it was read
                self._spent += EngineUsage(ask.estimate(brief).input_tokens)
            raise
        self._spent += answer.usage
        return answer

    def _told(self, progress: CurationProgress) -> None:
        self._step(progress._replace(phase=self._phase(progress.phase)))

    def _phase(self, doing: str) -> str:
        return f"asked in parts, {self._count}: {doing}"

    # What came of it

    def _end(self, failed: ModelFailed, rest: Iterable[Piece]) -> None:
        self._ended = failed
        for piece in rest:
            self._unread += [Unread(it, failed.message, is_left=True) for it in piece.sources]

    def _joined(self) -> EngineAnswer:
        """Return all answers as one. Where two want something else of the same lines it is the
        later talk that counts, so its wishes stand first.
        """
        taken = sorted(self._taken, key=lambda it: it[0].at, reverse=True)
        answers = [answer for _, answer in taken]
        wishes: dict[Act, ProposedChange] = {}
        for wish in (it for answer in answers for it in answer.wishes):
            wishes.setdefault(wish.act, wish)
        *others, last = (answer.usage for _, answer in self._taken)
        beside = [Unread("", _BESIDE)] if any(piece.is_bare for piece, _ in taken) else []
        return EngineAnswer(
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
        if ended is not None and ended.cause is not FailureCause.OVER_BUDGET:
            return ended
        if not self._unread:
            return whole
        if ended is not None:
            told, remedy = f"In parts it was not answered either: {ended.detail}.", ended.remedy
        else:
            told = f"Each by itself is not taken either: {self._named()}."
            remedy = _REFUSES_ALL if whole.cause is FailureCause.REFUSED else ""
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
