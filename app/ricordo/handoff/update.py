"""Bringing a handoff of ours up to date: an anchored summary. What still holds of it stays, what
does not goes, and what is new is merged in.

Of a statement that was in the handoff before:

* What holds no longer, or said of itself that it does not, goes.
* What is said anew goes: the same words, more or less of them from the same turn, or the same file,
  note or repository, told by its new statement.
* Objective, work that goes on, what blocks it and next steps are of the moment: where there are new
  ones that rest on something, those of before go; else new ones that rest on nothing do.
* What an engine could not prove of a session that the same engine has read again goes: it says that
  anew, or no longer thinks so.

All else stays, behind what is new, and still names the session it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from ricordo.handoff.document import (
    FileIs,
    GitIs,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    MemoryAt,
    NoteIs,
    QuoteMark,
    ResultMark,
    StatementSection,
    Status,
)
from ricordo.handoff.format import tidied_statement
from ricordo.handoff.resume import Resumed
from ricordo.llm.redaction import LIKE

Hide = Callable[[str], str]

_OF_THE_MOMENT = frozenset(
    (
        StatementSection.OBJECTIVE,
        StatementSection.ACTIVE,
        StatementSection.BLOCKED,
        StatementSection.NEXT,
    )
)


def updated(old: Resumed, new: Handoff, hide: Hide = lambda text: text) -> Handoff:
    """Return `new` with what stays of `old`, the handoff that stands there and what was found when
    it was probed again. `hide` puts placeholders for the secrets of a new statement, as those of
    before have them.
    """
    fresh = [_as_written(it, hide) for it in new.statements]
    said = {key for it in fresh for key in _keys(it)}
    quoted = [(_whence(it, new.head), it.quote) for it in fresh]
    moment = {it.section for it in new.statements if it.proof is not None} & _OF_THE_MOMENT
    reread = _reread(old.handoff, new)
    stays = [
        it.statement
        for it in old.statements
        if it.holds
        and it.now is not Status.STALE
        and it.statement.section not in moment
        and not (it.now is Status.UNVERIFIED and reread)
        and said.isdisjoint(_keys(written := _as_written(it.statement)))
        and not _is_quoted(written, old.handoff.head, quoted)
    ]
    return _joined(new, old.handoff.head, stays)


def _as_written(it: HandoffStatement, hide: Hide = lambda text: text) -> HandoffStatement:
    """Return a statement as its document tells it, any secret of it as any other one."""

    def shown(text: str) -> str:
        return LIKE.sub("[REDACTED]", hide(text))

    tidy = tidied_statement(it)
    return replace(tidy, text=shown(tidy.text), quote=shown(tidy.quote))


def _keys(it: HandoffStatement) -> Iterator[Hashable]:
    """Yield by what a statement is known again."""
    yield it.text, it.quote
    match it.proof:
        case FileIs(path):
            yield it.section, path
        case NoteIs(path):
            yield NoteIs, path
        case GitIs():
            yield GitIs
        case MemoryAt():
            yield MemoryAt
        case _:
            pass


def _is_quoted(
    it: HandoffStatement, head: HandoffHeader, quoted: Iterable[tuple[Hashable, str]]
) -> bool:
    """Whether one of the `quoted` words is cut elsewhere than this quote, and is the same else."""
    whence = _whence(it, head)
    return whence is not None and any(
        other == whence and (words.startswith(it.quote) or it.quote.startswith(words))
        for other, words in quoted
    )


def _whence(it: HandoffStatement, head: HandoffHeader) -> Hashable:
    """Return the section of a quote, its session and its turn; None where it is none of them."""
    if not isinstance(it.proof, QuoteMark) or it.proof.ref.session >= len(head.sources):
        return None
    source = head.sources[it.proof.ref.session]
    return it.section, source.agent, source.id, it.proof.ref.turn


def _reread(old: Handoff, new: Handoff) -> bool:
    """Whether all that the old handoff was made of was read again by the same engine."""
    return old.head.engine == new.head.engine and _ids(old) <= _ids(new)


def _ids(handoff: Handoff) -> set[tuple[str, str]]:
    return {(it.agent.name, it.id) for it in handoff.head.sources}


def _joined(new: Handoff, old: HandoffHeader, stays: list[HandoffStatement]) -> Handoff:
    """Return `new` with the statements that stay, which name their sessions as the `old` head does;
    what their results rest on is listed with the rest.
    """
    joined = list(new.head.sources)
    ids = [(it.agent, it.id) for it in joined]
    named = {it.proof.ref.session for it in stays if isinstance(it.proof, QuoteMark | ResultMark)}
    has_unnamed = any(it.proof is None for it in stays)
    numbers: dict[int, int] = {}
    for number, source in enumerate(old.sources):
        if (source.agent, source.id) in ids:
            numbers[number] = ids.index((source.agent, source.id))
        elif number in named or has_unnamed:
            numbers[number] = len(joined)
            joined.append(source)
    rests_on = old.files if any(isinstance(it.proof, ResultMark) for it in stays) else {}
    head = replace(new.head, sources=tuple(joined), files={**rests_on, **new.head.files})
    kept = tuple(_renumbered(it, numbers) for it in stays)
    better = {it.section for it in kept} & _OF_THE_MOMENT
    fresh = (it for it in new.statements if it.proof is not None or it.section not in better)
    return replace(new, head=head, statements=(*fresh, *kept))


def _renumbered(it: HandoffStatement, numbers: Mapping[int, int]) -> HandoffStatement:
    if not isinstance(it.proof, QuoteMark | ResultMark):
        return it
    ref = it.proof.ref
    if ref.session not in numbers:
        return replace(it, proof=None)
    return replace(it, proof=replace(it.proof, ref=ref._replace(session=numbers[ref.session])))
