"""Looking up quotes: whether the transcript that a handoff names contains its words.

The document names the transcript and is not trusted: only a known transcript is opened, as a plain
file, without following links or changing anything. The only answer is whether the words are in that
message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ricordo.agents.registry import open_transcript
from ricordo.agents.transcripts.session import CallResult, Message
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.handoff.document import Handoff, HandoffStatement, QuoteProof, SourceSession
from ricordo.handoff.facts import KEPT, MessageRef
from ricordo.handoff.gather.commands import strip_escapes
from ricordo.llm.redaction import PLACEHOLDER_LIKE
from ricordo.storage.foreign_file import normalize_absolute_path
from ricordo.text import make_visible

_REDACTED = re.compile(
    rf"\[secret: [^\]\n]{{1,80}}\]|{PLACEHOLDER_LIKE.pattern}", PLACEHOLDER_LIKE.flags
)
"""A placeholder for a credential in a quote."""


class QuoteLookup:
    """The transcripts of a handoff (`resume.QuoteChecker`), each read once and no further than it
    is quoted.
    """

    def __init__(
        self,
        handoff: Handoff,
        is_known: Callable[[SourceSession], bool],
        step: Callable[[], None] = lambda: None,
        list_kept: Callable[[str], Sequence[str]] = lambda session: (),
    ) -> None:
        """`is_known` decides which transcripts may be opened. `step` is called regularly; what it
        raises is raised here. `list_kept` returns the summaries that hooks kept of a session, by
        its id. Nothing is read yet.
        """
        self._source_sessions = handoff.header.sources
        self._may_open = is_known
        self._find_quoted = _find_quoted(handoff.statements)
        self._step = step
        self._list_kept = list_kept
        self._by_session: dict[int, dict[int, list[str]] | None] = {}
        """The texts of the quoted messages, by session and line; None for a transcript that was not
        read.
        """

    def __call__(self, ref: MessageRef, words: str) -> bool | None:
        """Return whether the message contains `words` exactly, except for redactions; None where
        the transcript cannot be read, or is not known.
        """
        if ref.session >= len(self._source_sessions):
            return False
        if ref.number == KEPT:
            source = self._source_sessions[ref.session]
            kept = self._list_kept(source.id) if self._may_open(source) else ()
            return is_quote_of(words, kept) if kept else None
        if ref.session not in self._by_session:
            lines = self._find_quoted.get(ref.session, frozenset())
            source = self._source_sessions[ref.session]
            messages = None
            if self._may_open(source):
                messages = _read_quoted(source, lines | {ref.number}, self._step)
            self._by_session[ref.session] = messages
        messages = self._by_session[ref.session]
        return None if messages is None else is_quote_of(words, messages.get(ref.number, ()))


def is_quote_of(words: str, texts: Iterable[str]) -> bool:
    """Return whether `words` are in one of the `texts` of a message, or are several of them, one
    below the other. Control characters are made visible before texts are compared, as a handoff has
    them.
    """
    normalized = [_normalize(text) for text in texts]
    quote = _normalize(words)
    if any(_is_in(quote, text) for text in normalized):
        return True
    return _is_list_of(quote, normalized)


def _normalize(text: str) -> str:
    return make_visible(text.replace("\r\n", "\n")).strip("\n")


def _is_in(quote: str, text: str) -> bool:
    """Return whether a text contains a quote; a placeholder matches anything."""
    pieces = [piece for piece in _REDACTED.split(quote) if piece]
    if not any(map(str.strip, pieces)):
        # nothing is left of it that could be compared
        return bool(quote.strip() and text.strip())
    offset = 0
    for number, piece in enumerate(pieces):
        index = text.find(piece, offset + bool(number))
        if index < 0:
            return False
        offset = index + len(piece)
    return True


def _is_list_of(quote: str, texts: Collection[str]) -> bool:
    """Return whether a quote is only some of the texts, one below the other."""
    rows, index = quote.split("\n"), 0
    sizes = sorted({text.count("\n") + 1 for text in texts}, reverse=True)
    while index < len(rows):
        pieces = (("\n".join(rows[index : index + size]), size) for size in sizes)
        sizes_found = (
            size for piece, size in pieces if any(_equals(piece, text) for text in texts)
        )
        size = next(sizes_found, 0)
        if not size:
            return False
        index += size
    return bool(quote.strip())


def _equals(quote: str, text: str) -> bool:
    """Return whether a quote equals a text; a placeholder matches anything."""
    pieces = _REDACTED.split(quote)
    if len(pieces) == 1:
        return quote == text
    is_framed = text.startswith(pieces[0]) and text.endswith(pieces[-1])
    return is_framed and _is_in(quote, text)


def _find_quoted(statements: Iterable[HandoffStatement]) -> dict[int, frozenset[int]]:
    """Return the lines of the quoted messages, by session."""
    lines: dict[int, frozenset[int]] = {}
    for statement in statements:
        if isinstance(statement.proof, QuoteProof):
            session, line = statement.proof.ref[:2]
            lines[session] = lines.get(session, frozenset()) | {line}
    return lines


def _read_quoted(
    source: SourceSession, wanted: frozenset[int], step: Callable[[], None]
) -> dict[int, list[str]] | None:
    """Return the texts of the `wanted` messages. The result of a call comes in a later message, and
    counts for the message of the call as well.
    """
    path = normalize_absolute_path(source.path)
    if not path or not os.path.isfile(path):
        return None
    words: dict[int, list[str]] = {}
    open_calls: dict[str, int] = {}
    last, is_readable = max(wanted), False
    transcript = open_transcript(TranscriptSource(source.agent, path, source.id), step=step)
    for message in transcript.messages():
        is_readable = True
        line = message.place.line
        if line > last and not open_calls:
            break
        if line in wanted:
            words.setdefault(line, []).extend(_list_words(message))
            open_calls |= {call.id: line for call in message.calls if call.id}
        for result in message.results:
            if result.call in open_calls:
                words[open_calls.pop(result.call)] += _list_result_words(result)
    return words if is_readable else None


def _list_words(message: Message) -> Iterator[str]:
    """Yield all texts of a message."""
    yield message.text
    for call in message.calls:
        yield call.command
        yield from (task.text for task in call.tasks)
    for result in message.results:
        yield from _list_result_words(result)


def _list_result_words(result: CallResult) -> Iterator[str]:
    yield from (result.output, strip_escapes(result.output), result.user_words)
    for answer in result.answers:
        yield from answer
