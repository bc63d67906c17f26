"""Looking quotes up: whether words of a handoff stand in the transcript that it names.

The document names the transcript, and is not believed: only one that is known is opened, as a plain
file that is never followed or changed, and nothing of it is told but whether the words stand in
that turn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from ricordo.agents.registry import open_transcript
from ricordo.agents.transcripts.session import CallResult, Turn
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.handoff.document import Handoff, HandoffStatement, QuoteMark, SourceSession
from ricordo.handoff.facts import Ref
from ricordo.handoff.gather.commands import plain
from ricordo.llm.redaction import LIKE
from ricordo.storage.foreign_file import absolute_path
from ricordo.text import visible

_KEPT_BACK = re.compile(rf"\[secret: [^\]\n]{{1,80}}\]|{LIKE.pattern}", LIKE.flags)
"""What stands in a quote for a credential."""


class Transcripts:
    """The transcripts of a handoff (`resume.Says`), each read once and no further than it is
    quoted.
    """

    def __init__(
        self,
        handoff: Handoff,
        is_known: Callable[[SourceSession], bool],
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """`is_known` says which transcripts may be opened. `step` is called all the while; what it
        raises is raised here. Nothing is read yet.
        """
        self._sources = handoff.head.sources
        self._is_known = is_known
        self._quoted = _quoted(handoff.statements)
        self._step = step
        self._read: dict[int, dict[int, list[str]] | None] = {}
        """The words of the quoted turns, by session and turn; None where it is not read."""

    def __call__(self, ref: Ref, words: str) -> bool | None:
        """Say whether `words` stand in the turn, letter by letter but for what was kept back; None
        where the transcript cannot be read, or is not known.
        """
        if ref.session >= len(self._sources):
            return False
        if ref.session not in self._read:
            wanted = self._quoted.get(ref.session, frozenset())
            source = self._sources[ref.session]
            turns = None
            if self._is_known(source):
                turns = _words_of_turns(source, wanted | {ref.turn}, self._step)
            self._read[ref.session] = turns
        turns = self._read[ref.session]
        return None if turns is None else stands_in(words, turns.get(ref.turn, ()))


def stands_in(words: str, texts: Iterable[str]) -> bool:
    """Say whether `words` stand in one of the `texts` of a turn, or are several of them, one below
    the other. A handoff shows controls, and so they are compared as shown.
    """
    shown = [_shown(text) for text in texts]
    quote = _shown(words)
    if any(_stands(quote, text) for text in shown):
        return True
    return _is_list(quote, shown)


def _shown(text: str) -> str:
    return visible(text.replace("\r\n", "\n")).strip("\n")


def _stands(quote: str, text: str) -> bool:
    """Whether a quote stands in a text, with anything in the place of what was kept back."""
    pieces = [piece for piece in _KEPT_BACK.split(quote) if piece]
    if not any(map(str.strip, pieces)):
        # nothing is left of it that could be compared
        return bool(quote.strip() and text.strip())
    at = 0
    for number, piece in enumerate(pieces):
        found = text.find(piece, at + bool(number))
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _is_list(quote: str, texts: Collection[str]) -> bool:
    """Whether a quote is nothing but some of the texts, one below the other."""
    rows, at = quote.split("\n"), 0
    sizes = sorted({text.count("\n") + 1 for text in texts}, reverse=True)
    while at < len(rows):
        pieces = (("\n".join(rows[at : at + size]), size) for size in sizes)
        fitting = (size for piece, size in pieces if any(_is(piece, text) for text in texts))
        size = next(fitting, 0)
        if not size:
            return False
        at += size
    return bool(quote.strip())


def _is(quote: str, text: str) -> bool:
    """Whether a quote is a text, with anything in the place of what was kept back."""
    pieces = _KEPT_BACK.split(quote)
    if len(pieces) == 1:
        return quote == text
    is_framed = text.startswith(pieces[0]) and text.endswith(pieces[-1])
    return is_framed and _stands(quote, text)


def _quoted(statements: Iterable[HandoffStatement]) -> dict[int, frozenset[int]]:
    """The turns that are quoted, by session."""
    found: dict[int, frozenset[int]] = {}
    for it in statements:
        if isinstance(it.proof, QuoteMark):
            session, turn = it.proof.ref[:2]
            found[session] = found.get(session, frozenset()) | {turn}
    return found


def _words_of_turns(
    source: SourceSession, wanted: frozenset[int], step: Callable[[], None]
) -> dict[int, list[str]] | None:
    """The words of the `wanted` turns; how a call ended is told later, and belongs to the turn that
    made it as well.
    """
    path = absolute_path(source.path)
    if not path or not os.path.isfile(path):
        return None
    found: dict[int, list[str]] = {}
    running: dict[str, int] = {}
    last, is_read = max(wanted), False
    transcript = open_transcript(TranscriptSource(source.agent, path, source.id), step=step)
    for turn in transcript.turns():
        is_read = True
        line = turn.where.line
        if line > last and not running:
            break
        if line in wanted:
            found.setdefault(line, []).extend(_words(turn))
            running |= {call.id: line for call in turn.calls if call.id}
        for ending in turn.endings:
            if ending.call in running:
                found[running.pop(ending.call)] += _words_of_ending(ending)
    return found if is_read else None


def _words(turn: Turn) -> Iterator[str]:
    """All that a turn has word for word."""
    yield turn.text
    for call in turn.calls:
        yield call.command
        yield from (task.text for task in call.tasks)
    for ending in turn.endings:
        yield from _words_of_ending(ending)


def _words_of_ending(ending: CallResult) -> Iterator[str]:
    yield from (ending.output, plain(ending.output), ending.words)
    for answer in ending.answers:
        yield from answer
