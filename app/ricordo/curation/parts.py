"""Ask in parts: a brief that the model rejects as a whole is asked in halves, again and again,
until the rejected notes and messages are isolated. These are skipped, and listed.

This costs more than one question, but is still one run: under the caps of a run, with one deadline.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ricordo.curation.brief import (
    ACTIVITY,
    OTHERS,
    TOUCHED,
    Brief,
    BriefPart,
    count_bytes,
    find_name,
)
from ricordo.curation.engine import (
    FREE,
    CurationProgress,
    EngineAnswer,
    EngineUsage,
    Step,
    UnreadInput,
)
from ricordo.curation.engines.external import ExternalEngine
from ricordo.curation.engines.llm import ModelClient
from ricordo.curation.gist import extract_stems
from ricordo.curation.proposal import ProposedChange
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.memory.change import Author, ChangeOperation
from ricordo.memory.memory import Memory

_DIVIDED = (TOUCHED, ACTIVITY)


class BriefUnit(NamedTuple):
    """A note in full, or a message: the smallest unit of a part."""

    group: int
    """The number of the message that it belongs to; -1 for a note without one."""
    part: int
    number: int
    """The number of its block in the part."""
    block: str


@dataclass(frozen=True, slots=True)
class BriefPiece:
    """A run of consecutive notes and messages of a brief."""

    whole: Brief
    units: tuple[BriefUnit, ...]
    at: int = 0
    """The number of units before it in the brief."""
    is_bare: bool = False
    """Whether the context, such as the index, is left out."""

    @property
    def brief(self) -> Brief:
        """The piece as a brief."""
        shown = {(unit.part, unit.number) for unit in self.units}
        parts = list(self.whole.parts)
        for number, part in enumerate(parts):
            is_kept = number not in _DIVIDED and not self.is_bare
            blocks = (each for n, each in enumerate(part.blocks) if is_kept or (number, n) in shown)
            parts[number] = BriefPart(part.title, tuple(blocks))
        if not self.is_bare:
            others = parts[OTHERS]
            parts[OTHERS] = BriefPart(others.title, (*others.blocks, *self._list_others(shown)))
        return replace(self.whole, parts=tuple(parts))

    def _list_others(self, shown: Iterable[tuple[int, int]]) -> list[str]:
        """Return the one-line form of the notes that the piece does not have."""
        names = (
            find_name(TOUCHED, block)
            for number, block in enumerate(self.whole.parts[TOUCHED].blocks)
            if (TOUCHED, number) not in shown
        )
        return [self.whole.short_lines[name] for name in names if name in self.whole.short_lines]

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of its notes and the sources of its messages."""
        known = {**dict(self.whole.ids), **dict(self.whole.sources)}
        return tuple(known[find_name(unit.part, unit.block)] for unit in self.units)

    @property
    def bare(self) -> BriefPiece:
        """The piece without context."""
        return replace(self, is_bare=True)

    @property
    def halves(self) -> tuple[BriefPiece, BriefPiece]:
        """The two halves, of similar size; the piece has two units at least."""
        cut = self._find_cut()
        first, second = self.units[:cut], self.units[cut:]
        return replace(self, units=first), replace(self, units=second, at=self.at + cut)

    def _find_cut(self) -> int:
        """Return the number of units in the first half; a group is not cut where possible."""
        units = self.units
        places = range(1, len(units))
        between = [n for n in places if units[n].group != units[n - 1].group]
        sizes = [count_bytes(unit.block) for unit in units]
        return min(between or places, key=lambda n: abs(sum(sizes[:n]) - sum(sizes[n:])))

    @property
    def is_mostly_around(self) -> bool:
        """Whether the context is larger than the notes and messages themselves."""
        units = sum(count_bytes(unit.block) for unit in self.units)
        return not self.is_bare and count_bytes(self.brief.text) > 2 * units


def to_piece(brief: Brief) -> BriefPiece:
    """Return a brief as one piece. Each note comes before the message with which it shares most
    stems, the last of several.
    """
    messages = [_extract_stems(block) for block in brief.parts[ACTIVITY].blocks]
    units = [
        BriefUnit(n, ACTIVITY, n, block) for n, block in enumerate(brief.parts[ACTIVITY].blocks)
    ]
    for number, block in enumerate(brief.parts[TOUCHED].blocks):
        stems = _extract_stems(block)
        shared = [(len(stems & message), n) for n, message in enumerate(messages)]
        most, group = max(shared, default=(0, -1))
        units.append(BriefUnit(group if most else -1, TOUCHED, number, block))
    return BriefPiece(brief, tuple(sorted(units)))


def _extract_stems(block: str) -> frozenset[str]:
    """Return the stems of a block's lines, without the marks before them."""
    return extract_stems("\n".join(line.partition("| ")[2] for line in block.split("\n")))


MAX_QUESTIONS = 24
"""Questions after the first: isolating one note or message among a thousand takes ten halvings with
two questions each, and there may be a second one to isolate.
"""
MAX_FRUITLESS = 8
"""Questions after the first without any answer, after which the run ends: a model that rejects the
halves and the quarters rejects everything.
"""
_FEWEST_WRITTEN = 500
"""Output tokens that must remain for a question: it costs something in any case."""
_MOST_NAMED = 3
_WHY = {
    FailureCause.REFUSED: "refused by the model",
    FailureCause.TOO_LARGE: "too large for the server",
}
"""Causes for which other parts may still be accepted; any other failure ends the run."""
_BESIDE = "left out, because every part with them was rejected"
_REFUSES_ALL = "Choose another model; you can still open, edit and delete notes."


@dataclass(frozen=True, slots=True)
class PartwiseEngine:
    """An engine that asks a model, in parts where necessary."""

    engine: ExternalEngine
    ask: ModelClient

    @property
    def author(self) -> Author:
        """The author of the wrapped engine."""
        return self.engine.author

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the changes that the model proposes for all accepted parts. Raises CuratorFailed
        where none is accepted, StateUnusable, and what `step` raises.
        """
        run = _PartwiseRun(self, memory, step)
        try:
            return run.ask_whole(brief)
        except ModelFailed as failed:
            if failed.cause not in _WHY:
                raise
            whole = failed
        return run.ask_parts(brief, whole)


class _PartwiseRun:
    def __init__(self, engine: PartwiseEngine, memory: Memory, step: Step) -> None:
        self._engine, self._memory, self._step = engine, memory, step
        self._until = time.monotonic() + engine.ask.server.limits.total
        self._spent = FREE
        """Cost of all questions, against the caps of a run."""
        self._lost = FREE
        """The part of it for questions without an answer."""
        self._count = 0
        """Questions after the first."""
        self._accepted: list[tuple[BriefPiece, EngineAnswer]] = []
        self._unread: list[UnreadInput] = []
        self._ended: ModelFailed | None = None
        """Why the run ended before all pieces were asked."""

    def ask_whole(self, brief: Brief) -> EngineAnswer:
        """Ask for the whole brief."""
        return self._ask(brief, self._engine.ask, self._step)

    def ask_parts(self, brief: Brief, whole: ModelFailed) -> EngineAnswer:
        """Return the answers to the parts of a brief that was rejected as a `whole`."""
        try:
            self._isolate([(to_piece(brief), whole.cause)])
        except BaseException:
            self._record(self._accepted)
            raise
        if not self._accepted:
            raise self._explain_failure(whole) from None
        self._record(self._accepted[:-1])
        return self._join()

    def _record(self, answers: Iterable[tuple[BriefPiece, EngineAnswer]]) -> None:
        """Record the cost of answers separately: the run itself records only the last."""
        for _, answer in answers:
            self._engine.ask.record_lost(answer.usage)

    # Asking

    def _isolate(self, rejected: list[tuple[BriefPiece, FailureCause]]) -> None:
        """Ask for the `rejected` pieces in smaller ones until none is rejected."""
        while rejected:
            is_all = not self._accepted and len(rejected) > 1
            pieces = [part for old, why in rejected for part in self._split(old, why, is_all)]
            rejected = []
            for number, piece in enumerate(pieces):
                try:
                    self._ask_piece(piece)
                except ModelFailed as failed:
                    if failed.cause not in _WHY:
                        more = (p for old, why in rejected for p in self._split(old, why, False))
                        self._end(failed, (*pieces[number:], *more))
                        return
                    rejected.append((piece, failed.cause))

    def _split(self, piece: BriefPiece, why: FailureCause, is_all: bool) -> Sequence[BriefPiece]:
        """Return the pieces to ask instead of a rejected one; none for a single unit, which is
        skipped. `is_all` says whether no piece was accepted yet, so that the context that all have
        in common may be the reason.
        """
        is_single = len(piece.units) <= 1
        is_context = piece.is_mostly_around if why is FailureCause.TOO_LARGE else is_all
        may_be_context = is_context or (is_single and not self._accepted)
        if may_be_context and not piece.is_bare and piece.units:
            return (piece.bare,)
        if not is_single:
            return piece.halves
        self._unread += [UnreadInput(source, _WHY[why]) for source in piece.sources]
        return ()

    def _ask_piece(self, piece: BriefPiece) -> None:
        """Ask for a piece, within the limits of the run. Raises ModelFailed."""
        self._count += 1
        self._step(CurationProgress(self._format_phase("asking")))
        bounds = self._engine.ask.server.limits
        seconds = round(self._until - time.monotonic(), 1)
        if seconds <= 0:
            raise ModelFailed(FailureCause.TOO_SLOW, f"{bounds.total:g} seconds")
        limit = MAX_QUESTIONS if self._accepted else MAX_FRUITLESS
        if self._count > limit:
            detail = f"the model was asked {self._count} times, limit {limit}"
            raise ModelFailed(FailureCause.OVER_BUDGET, detail, remedy="Curate less at once.")
        ask = self._engine.ask.for_part(self._spent, seconds)
        if ask.gate.caps.run_out < _FEWEST_WRITTEN:
            detail = f"the run has {self._spent.output_tokens:,} output tokens already"
            raise ModelFailed(
                FailureCause.OVER_BUDGET, detail, remedy="Raise the setting engine.written."
            )
        self._accepted.append((piece, self._ask(piece.brief, ask, self._report)))

    def _ask(self, brief: Brief, ask: ModelClient, step: Step) -> EngineAnswer:
        """Ask once, and count the cost. Raises ModelFailed."""
        before = self._spent

        def lost(usage: EngineUsage) -> None:
            self._spent += usage
            self._lost += usage
            ask.record_lost(usage)

        engine = replace(self._engine.engine, ask=replace(ask, record_lost=lost))
        try:
            answer = engine.answer(self._memory, brief, step)
        except ModelFailed as failed:
            if failed.cause is FailureCause.REFUSED and self._spent == before:
                # the server reported no usage, but the model has read the brief
                self._spent += EngineUsage(ask.estimate(brief).input_tokens)
            raise
        self._spent += answer.usage
        return answer

    def _report(self, progress: CurationProgress) -> None:
        self._step(progress._replace(phase=self._format_phase(progress.phase)))

    def _format_phase(self, phase: str) -> str:
        return f"part {self._count}: {phase}"

    # Results

    def _end(self, failed: ModelFailed, rest: Iterable[BriefPiece]) -> None:
        self._ended = failed
        for piece in rest:
            self._unread += [
                UnreadInput(source, failed.message, is_deferred=True) for source in piece.sources
            ]

    def _join(self) -> EngineAnswer:
        """Return all answers as one. Of two changes to the same lines the one for the later message
        counts, so later pieces come first.
        """
        accepted = sorted(self._accepted, key=lambda pair: pair[0].at, reverse=True)
        answers = [answer for _, answer in accepted]
        changes: dict[ChangeOperation, ProposedChange] = {}
        for answer in answers:
            for change in answer.changes:
                changes.setdefault(change.act, change)
        *others, last = (answer.usage for _, answer in self._accepted)
        context = [UnreadInput("", _BESIDE)] if any(piece.is_bare for piece, _ in accepted) else []
        return EngineAnswer(
            tuple(changes.values()),
            tuple(rejected for answer in answers for rejected in answer.rejected),
            last,
            {source: text for answer in answers for source, text in answer.shown.items()},
            sum(others, self._lost),
            (*self._unread, *context),
        )

    def _explain_failure(self, whole: ModelFailed) -> ModelFailed:
        """Return why no part was answered."""
        ended = self._ended
        if ended is not None and ended.cause is not FailureCause.OVER_BUDGET:
            return ended
        if not self._unread:
            return whole
        if ended is not None:
            reason, remedy = f"No part was answered either: {ended.detail}.", ended.remedy
        else:
            reason = f"Each part by itself was rejected too: {self._name_unread()}."
            remedy = _REFUSES_ALL if whole.cause is FailureCause.REFUSED else ""
        detail = " ".join(filter(None, (reason, whole.detail)))
        return ModelFailed(whole.cause, detail, remedy=remedy)

    def _name_unread(self) -> str:
        """Return the unread notes and messages in a few words."""
        notes = [each.source for each in self._unread if each.source in self._memory.by_path]
        named = notes[:_MOST_NAMED]
        rest = len(self._unread) - len(named)
        if not named:
            return f"{rest} of your messages"
        return ", ".join(named) + (f" and {rest} more" if rest else "")
