"""Where a claim of a conflict stands: in sentences of its note, in the description, in the entries
of the index; and other words for it in all of these places at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ricordo.health.conflicts.compare import excludes
from ricordo.health.conflicts.reading import read_claim
from ricordo.health.conflicts.repeats import is_said_again
from ricordo.health.conflicts.sayings import Said, sayings
from ricordo.health.conflicts.standing import span_of
from ricordo.health.conflicts.values import Value, says, values_of
from ricordo.health.conflicts.words import pattern
from ricordo.health.evidence import Quote
from ricordo.health.vocabulary import lowered
from ricordo.memory.change import Act, EditLine, Rewrite, SetField
from ricordo.memory.index import EntryForm
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.conflicts import Conflict, Keep
from ricordo.recall.words import content_words, words
from ricordo.secrets import mask

Words = Callable[[str], str]
"""Gives a line that sums up a claim other words; the same where it does not claim it."""

_CLOSING = re.compile(r"[.!?。！？]*\Z")
_LINK = re.compile(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\([^)\n]*\)")
_LABEL = re.compile(r"[\s>*_-]*([^:*\n]{1,40}):?\*\*")


def closing(text: str) -> str:
    """Return the stop at the end of a statement."""
    found = _CLOSING.search(text)
    return found.group() if found else ""


def without_stop(text: str) -> str:
    """Return a statement without the stop at its end."""
    return _CLOSING.sub("", text, count=1)


def claims(conflict: Conflict, note: Note, other: Note, of: Keep) -> dict[Said, str]:
    """Return the statements of `note`, the side `of` the conflict, that cannot hold for its reason,
    or say of the same thing what the claim says of it, each with what the other note says against
    it; not those of another conflict of the same two.
    """
    mine, its = conflict.side(of).quote, conflict.other(of).quote
    # what was quoted comes first, and what the body says before what the description sums up
    others = sorted(sayings(other), key=lambda it: (it.text != its.text, it.in_head))
    texts = [it.text for it in others]
    held = {said: _held_against(conflict, of, said.text, texts) for said in sayings(note)}
    found = {said: against for said, against in held.items() if against}
    if not any(it.text == mine.text for it in found):
        in_head = mine.line <= note.text.count("\n", 0, note.head.end)
        found[Said(mine.line, mine.text, in_head)] = its.text
    return found


def _held_against(conflict: Conflict, of: Keep, said: str, others: list[str]) -> str:
    """Which of what the other note says is held against a statement in this conflict; "" where
    nothing is.
    """
    mine, its = conflict.side(of).quote.text, conflict.other(of).quote.text
    for against in others:
        reason = excludes(*((said, against) if of is Keep.LEFT else (against, said)))
        if reason and (reason == conflict.reason or mine == said or its == against):
            return against
    return its if _restates(said, mine, values_of(mine, its)) else ""


def _restates(text: str, claim: str, values: tuple[Value, ...]) -> bool:
    """Whether a statement says of what a claim speaks of what the claim says of it."""
    subject = read_claim(claim).subject
    return bool(subject) and bool(says(text, values)) and subject <= read_claim(text).keys


def reworded(memory: Memory, note: Note, texts: Mapping[Said, str], words: Words) -> list[Act]:
    """Return the acts that give the statements `texts` of a note other words, wherever they stand:
    in its body, in its description and in the entries that lead to it. `words` are for those of
    the latter two that claim it in another way.
    """

    def in_line(line: str) -> str:
        new = line
        for said, text in texts.items():
            new = new.replace(without_stop(said.text), without_stop(text))
        return words(line) if new == line else new

    acts = [*_body(note, texts), *_description(note, in_line)]
    return [*acts, *_entries(memory, note, in_line)]


def _body(note: Note, texts: Mapping[Said, str]) -> Iterator[Act]:
    places = {
        span: new
        for said, new in texts.items()
        if not said.in_head and (span := span_of(note, Quote(note.path, said.line, said.text)))
    }
    text, last = note.text, len(note.text)
    # from the end, so that what comes before stays where it is
    for start, end in sorted(places, reverse=True):
        if start >= note.head.end and end <= last:
            text, last = text[:start] + places[start, end] + text[end:], start
    if text != note.text:
        yield Rewrite(note.path, text)


def _description(note: Note, in_line: Words) -> Iterator[Act]:
    before = " ".join(note.description.split())
    # a head that is broken is left alone: what it still claims is told
    after = in_line(before) if before and note.head.fault is None else before
    if after != before:
        fields = note.head.fields
        held = (key for key in fields if note.head.scalar(key) == note.description)
        yield SetField(note.path, next(held, "description"), after)


def _entries(memory: Memory, note: Note, in_line: Words) -> Iterator[Act]:
    for index, entry in memory.entries.get(note.path, ()):
        after = in_line(entry.hook) if entry.hook else ""
        if entry.form is EntryForm.ROW:
            after = after.replace("|", "/")
        if entry.form is not EntryForm.PROSE and after != entry.hook:
            before, _, behind = entry.text.rpartition(entry.hook)
            yield EditLine(index.path, entry.line, entry.text, before + after + behind)


def lines_that_say(memory: Memory, path: str, values: tuple[Value, ...]) -> Iterator[str]:
    """Yield where a note and the entries that lead to it name one of the old values, and which."""
    note = memory.by_path.get(path)
    if note is None or not values:
        return
    lines = {(path, number): line for number, line in enumerate(note.text.split("\n"), 1)}
    for index, entry in memory.entries.get(path, ()):
        lines[index.path, entry.line] = entry.text
    for (file, number), line in lines.items():
        if value := says(line, values):
            # in a line with a credential it may be the credential
            yield f"{file}:{number} still says “{value if mask(line) == line else '…'}”"


def says_more(note: Note, kept: Note, lost: Mapping[Said, str]) -> bool:
    """Return whether a note says anything besides the statements that are `lost`: more than why
    they hold, how they are applied and where to look, which go with them, and more than what the
    note that is `kept` says too.
    """
    again = [it.text for it in sayings(kept)]
    gone = {it.text for it in lost}
    return any(
        not _belongs(note, said) and not any(is_said_again(said.text, it) for it in again)
        for said in sayings(note)
        if not said.in_head and said.text not in gone
    )


def _belongs(note: Note, said: Said) -> bool:
    """Whether a statement only says how another one is applied, or where to look."""
    label = _LABEL.match(note.text.split("\n")[said.line - 1])
    if label and pattern("how").match(lowered(label[1])):
        return True
    return len(content_words(words(_LINK.sub("", said.text)))) <= 1
