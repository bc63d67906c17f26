"""The place of a finding in its line: the words that it is about, and the text around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from ricordo.lint.finding import Finding
from ricordo.memory.note import Note
from ricordo.secrets import Secret, find_secrets
from ricordo.text import find_hidden_characters, make_one_line

_QUOTED = re.compile(r"“([^”]+)”|\b(\d{4}-\d\d-\d\d)\b|: ([^:]+?) vs ")
"""What a message names of the text: a quotation, a day, the first of two values."""


class Excerpt(NamedTuple):
    """A line of a note in three parts, visible and without secrets."""

    column: int
    """Of the first marked character, 1-based, in the line as it is in the file."""
    before: str
    marked: str
    """What the finding is about; the whole line, without indentation, where it names no part."""
    after: str


def build_excerpt(finding: Finding, note: Note) -> Excerpt | None:
    """Return the line that `finding` reports in `note`; None if it reports the whole file or the
    line is not there.
    """
    bounds = _find_line(note.text, finding.line)
    if bounds is None:
        return None
    start, end = bounds
    line = note.text[start:end]
    # many findings are on the first line of a frontmatter
    secrets = _find_secrets(note.text) if any(map(str.isalnum, line)) else ()
    from_, to = _find_marked(finding, line) or _find_secret(finding, note.text, secrets, bounds)
    return Excerpt(
        from_ + 1,
        _show(note.text, start, start + from_, secrets),
        _show(note.text, start + from_, start + to, secrets),
        _show(note.text, start + to, end, secrets),
    )


def find_span(finding: Finding, note: Note | None) -> tuple[int, int] | None:
    """Return where in its line the words are that `finding` is about, in characters; None if it
    reports the whole file or the line is not there.
    """
    bounds = _find_line(note.text, finding.line) if note is not None else None
    if note is None or bounds is None:
        return None
    span = _find_marked(finding, note.text[slice(*bounds)])
    return span or _find_secret(finding, note.text, _find_secrets(note.text), bounds)


@lru_cache(maxsize=1_000)
def _find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets in the text of a note, which may have many findings: each search takes a
    millisecond and more.
    """
    return tuple(find_secrets(text))


def _find_line(text: str, number: int) -> tuple[int, int] | None:
    """Return where the 1-based line starts and ends in `text`, without its line end."""
    start = 0
    for _ in range(number - 1):
        start = text.find("\n", start) + 1
        if not start:
            return None
    if not number:
        return None
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return start, end - text.endswith("\r", start, end)


def _find_marked(finding: Finding, line: str) -> tuple[int, int] | None:
    """Return where the words of the finding are in its line; None for a secret, whose value it does
    not have.
    """
    if finding.rule == "secret":
        return None
    if finding.rule == "control-characters" and (hidden := find_hidden_characters(line)):
        return hidden[0].span()
    named = [phrase for match in _QUOTED.findall(finding.message) for phrase in match if phrase]
    for part in _list_causes(finding):
        if span := _find(part, line, 0, len(line)):
            if part in finding.message:
                return span
            within = (_find(phrase, line, *span) for phrase in named)
            return next(filter(None, within), span)
    within = (_find(phrase, line, 0, len(line)) for phrase in named)
    return next(filter(None, within), None) or _find_text(line)


def _list_causes(finding: Finding) -> Iterator[str]:
    """Yield the texts that the finding is based on, as far as they are in one line: of a claim its
    words before its kind, of a pair also the other side, which is in another file.
    """
    for text in (*reversed(finding.cause.split("\0")), *finding.evidence[:1]):
        if first := text.strip().split("\n")[0].strip():
            yield first


def _find(phrase: str, line: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where `phrase` is in part of `line`: as a word, else anywhere, else in other case."""
    first = at = line.find(phrase, start, end)
    while at >= 0:
        if not (line[at - 1 : at].isalnum() or line[at + len(phrase) :][:1].isalnum()):
            return at, at + len(phrase)
        at = line.find(phrase, at + 1, end)
    if first < 0:
        lowered = line.lower()
        # some letters are longer in lower case
        first = lowered.find(phrase.lower(), start, end) if len(lowered) == len(line) else -1
    return (first, first + len(phrase)) if first >= 0 else None


def _find_text(line: str) -> tuple[int, int]:
    """Return where the text of `line` is, without indentation."""
    text = line.strip()
    start = line.find(text)
    return start, start + len(text)


def _find_secret(
    finding: Finding, text: str, secrets: Sequence[Secret], bounds: tuple[int, int]
) -> tuple[int, int]:
    """Return where in its line the value is that the finding has the hash of."""
    start, end = bounds
    for _, at, stop in secrets:
        value = text[at:stop].encode("utf-8", "surrogatepass")
        if start <= at <= end and blake2b(value, digest_size=16).hexdigest() == finding.cause:
            return at - start, min(stop, end) - start
    return _find_text(text[start:end])


def _show(text: str, start: int, end: int, secrets: Sequence[Secret]) -> str:
    """Return a part of `text` visible, with the kind of each secret instead of its value."""
    parts: list[str] = []
    for kind, at, stop in secrets:
        if at < end and stop > start:
            parts += [make_one_line(text[start : max(start, at)]), f"[secret: {kind}]"]
            start = min(stop, end)
    return "".join(parts) + make_one_line(text[start:end])
