"""Settling a conflict: what becomes of the two notes, as changes that are made together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.lexicon import expressions, lowered
from ricordo.lint.contradictions.compare import excludes
from ricordo.lint.contradictions.differences import Value, says, values_of, with_new
from ricordo.lint.contradictions.parser import read_claim
from ricordo.lint.contradictions.records import cause_of_texts, span_of
from ricordo.lint.contradictions.repeats import is_said_again
from ricordo.lint.contradictions.statements import NoteStatement, sayings
from ricordo.lint.contradictions.words import pattern
from ricordo.lint.evidence import NoteQuote
from ricordo.lint.finding import finding_id
from ricordo.memory.change import (
    Act,
    Change,
    ChangeSet,
    EditLine,
    Merge,
    Retire,
    Rewrite,
    SetField,
    digest,
)
from ricordo.memory.draft import with_edits
from ricordo.memory.index import EntryForm
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.words import content_words, words
from ricordo.secrets import mask
from ricordo.services.conflicts.conflicts import RULE, Conflict, Keep, Side
from ricordo.services.edits.change import put_together
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import one_line, visible

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


def claims(conflict: Conflict, note: Note, other: Note, of: Keep) -> dict[NoteStatement, str]:
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
        found[NoteStatement(mine.line, mine.text, in_head)] = its.text
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


def reworded(
    memory: Memory, note: Note, texts: Mapping[NoteStatement, str], words: Words
) -> list[Act]:
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


def _body(note: Note, texts: Mapping[NoteStatement, str]) -> Iterator[Act]:
    places = {
        span: new
        for said, new in texts.items()
        if not said.in_head and (span := span_of(note, NoteQuote(note.path, said.line, said.text)))
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


def says_more(note: Note, kept: Note, lost: Mapping[NoteStatement, str]) -> bool:
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


def _belongs(note: Note, said: NoteStatement) -> bool:
    """Whether a statement only says how another one is applied, or where to look."""
    label = _LABEL.match(note.text.split("\n")[said.line - 1])
    if label and pattern("how").match(lowered(label[1])):
        return True
    return len(content_words(words(_LINK.sub("", said.text)))) <= 1


_MOST_LINES = 5
"""Lines that still claim what does not hold, of which the person is told."""
_STILL_OPPOSED = "In these words they still look opposed: that they are no conflict is kept, too."
_WORD = re.compile(r"[^\W\d_]+")


class Settled(NamedTuple):
    """What would settle a conflict."""

    acts: tuple[Act, ...]
    reason: str
    """As the history keeps it."""
    told: str
    """What becomes of the notes, in one sentence."""
    lost: tuple[str, tuple[Value, ...]] = ("", ())
    """The path of the note that claims something else now, and the values that it gave up."""
    both: Conflict | None = None
    """The conflict, where both sides of it hold."""
    kept: tuple[str, ...] = ()
    """The paths of the notes of which the user says that they hold, as they are then."""
    whole: Settled | None = None
    """What would settle it by retiring a note of which else only the claim is replaced."""


def compose_settled(notebook: Notebook, memory: Memory, settled: Settled) -> ChangeSet:
    """Return what `settled` comes to, judged again: what still claims what was given up is told,
    and where both sides hold and still cannot be told from a conflict, that is decided with it.
    Raises ChangeRefused.
    """
    changes = [Change(act, settled.reason) for act in settled.acts]
    change_set = put_together(notebook, memory, changes)
    after = with_edits(memory, change_set.edits)
    left = [one_line(it) for it in islice(lines_that_say(after, *settled.lost), _MOST_LINES)]
    dismisses = tuple(_still_told(memory, after, settled.both)) if settled.both else ()
    remarks = [*change_set.remarks, *(f"{it}." for it in left)]
    if dismisses:
        remarks.append(_STILL_OPPOSED)
    kept = (after.by_path[path] for path in settled.kept if path in after.by_path)
    confirms = tuple(filter(None, (digest(note.raw) for note in kept)))
    return replace(change_set, remarks=tuple(remarks), dismisses=dismisses, confirms=confirms)


def keep_one(memory: Memory, conflict: Conflict, keep: Keep) -> Settled:
    """Return what keeps one side: the other note is retired in its favour or, where it says more
    than its claim, only what cannot hold is replaced by what is kept.
    """
    kept, other = conflict.side(keep), conflict.other(keep)
    note, lost = _notes(memory, kept, other)
    if conflict.is_of_whole:
        return _one_of_two(note, lost)
    gone = claims(conflict, lost, note, keep.opposite)
    reason = f"conflict settled for {note.path}: {conflict.reason}"
    told = f"{visible(lost.path)} is retired, links to it go to {visible(note.path)}"
    retired = Settled((Retire(lost.path, note.path),), reason, told, kept=(note.path,))
    if not says_more(lost, note, gone):
        return retired
    values = values_of(other.quote.text, kept.quote.text)
    texts = {said: _replaced(said.text, new, values) for said, new in gone.items()}
    acts = reworded(memory, lost, texts, _in_favour(kept, values))
    told = f"{visible(lost.path)} says more than this: only its claim is replaced"
    both = (note.path, lost.path)
    return Settled(tuple(acts), reason, told, (lost.path, values), kept=both, whole=retired)


def keep_both(memory: Memory, conflict: Conflict, left: str, right: str) -> Settled:
    """Return what makes both claims true: each gets a word of when or for what it holds, `left`
    and `right`, of which one may be "".
    """
    if conflict.is_of_whole:
        raise ChangeRefused("They may say the same: keep one, merge them, or say that both stay.")
    if not left.strip() and not right.strip():
        raise ChangeRefused("Without saying for what or when each holds, both cannot be true.")
    notes = _notes(memory, conflict.left, conflict.right)
    acts: list[Act] = []
    for of, note, other, limit in (
        (Keep.LEFT, notes[0], notes[1], left),
        (Keep.RIGHT, notes[1], notes[0], right),
    ):
        if limit.strip():
            scope = _scope(limit)
            said = claims(conflict, note, other, of)
            texts = {it: _with_scope(it.text, scope) for it in said}
            acts += reworded(memory, note, texts, _limited(conflict, of, scope))
    told = "Both hold, each as far as it says"
    kept = tuple(it.path for it in notes)
    return Settled(tuple(acts), f"both hold: {conflict.reason}", told, both=conflict, kept=kept)


def _one_of_two(note: Note, lost: Note) -> Settled:
    """Return what keeps one of two notes that say nearly the same."""
    reason = f"{lost.path} says nearly the same as {note.path}"
    told = f"{visible(lost.path)} is retired, links to it go to {visible(note.path)}"
    more = ", though it says more than that" if says_more(lost, note, {}) else ""
    return Settled((Retire(lost.path, note.path),), reason, f"{told}{more}", kept=(note.path,))


def merged_text(memory: Memory, conflict: Conflict) -> tuple[str, str, str]:
    """Return the path of the note that stays, of the one that goes, and a text of both for the
    person to edit. The note that the suggestion keeps stays.
    """
    keep = conflict.suggestion.keep
    note, gone = _notes(memory, conflict.side(keep), conflict.other(keep))
    body = gone.body.strip("\n")
    gap = "" if note.text.endswith("\n") else "\n"
    return note.path, gone.path, f"{note.text}{gap}\n## From {gone.name}\n\n{body}\n"


def merge_notes(path: str, other: str, text: str) -> Settled:
    """Return what makes one note of two: `other` is retired into the one at `path`."""
    told = f"{visible(other)} is part of {visible(path)} now"
    reason = f"conflict settled: {other} merged"
    return Settled((Merge(path, other, text),), reason, told, kept=(path,))


def _notes(memory: Memory, *sides: Side) -> tuple[Note, ...]:
    """The notes as they are now. Raises ChangeRefused where a claim is gone."""
    found: list[Note] = []
    for side in sides:
        note = memory.by_path.get(side.quote.path)
        if note is None or (side.quote.text and span_of(note, side.quote) is None):
            raise ChangeRefused(f"{visible(side.quote.path)} does not say that any more.")
        found.append(note)
    return tuple(found)


def _replaced(said: str, kept: str, values: tuple[Value, ...]) -> str:
    """What is said in the place of a statement: the same with the values that are kept where that
    does, else the statement that is kept.
    """
    corrected = with_new(said, values)
    if corrected != said and not excludes(corrected, kept):
        return corrected
    return without_stop(kept) + closing(said)


def _in_favour(kept: Side, values: tuple[Value, ...]) -> Words:
    """What a line that claims the opposite says instead."""

    def words(line: str) -> str:
        new = with_new(line, values)
        if new == line and excludes(line, kept.quote.text):
            return without_stop(kept.quote.text)
        return new

    return words


def _limited(conflict: Conflict, of: Keep, scope: str) -> Words:
    """What a line that makes the claim of one side says with its scope."""
    mine, other = conflict.side(of).quote.text, conflict.other(of).quote.text
    values = values_of(mine, other)

    def words(line: str) -> str:
        is_claim = bool(says(line, values)) or bool(excludes(line, other))
        return _with_scope(line, scope) if is_claim else line

    return words


def _still_told(memory: Memory, after: Memory, conflict: Conflict) -> Iterator[str]:
    """The ids under which the two notes of a conflict would be told again; not those of the other
    conflicts that they had before.
    """
    paths = conflict.left.quote.path, conflict.right.quote.path
    before = {
        texts for texts, reason in _told(memory, *paths).items() if reason != conflict.reason
    } - {(conflict.left.quote.text, conflict.right.quote.text)}
    for texts in _told(after, *paths).keys() - before:
        yield finding_id(RULE, "", cause_of_texts(*texts))


def _told(memory: Memory, left: str, right: str) -> dict[tuple[str, str], str]:
    """Every two statements of two notes that exclude each other, with the reason."""
    mine, theirs = (sayings(memory.by_path[path]) for path in (left, right))
    pairs = ((it.text, its.text) for it in mine for its in theirs)
    return {texts: reason for texts in pairs if (reason := excludes(*texts))}


def _scope(words: str) -> str:
    """What was typed, with a preposition before it where there is none."""
    plain = " ".join(words.split()).rstrip(".")
    first = _WORD.match(plain.lower())
    known = (expressions("opposition", part) for part in ("scope", "since", "bare_scope"))
    return plain if first and first.group() in chain(*known) else f"for {plain}"


def _with_scope(said: str, scope: str) -> str:
    """A statement with a scope before its closing stop."""
    return f"{without_stop(said)} {scope}{closing(said)}"
