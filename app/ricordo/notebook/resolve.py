"""Settling a conflict: what becomes of the two notes, as changes that are made together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.health.conflicts.compare import excludes
from ricordo.health.conflicts.sayings import Said, sayings
from ricordo.health.conflicts.standing import span_of
from ricordo.health.evidence import Quote
from ricordo.health.vocabulary import expressions
from ricordo.memory.change import Act, Merge, Retire, Rewrite, SetField
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.conflicts import Conflict, Keep, Side
from ricordo.text import visible

_MOST_BESIDE = 4
"""Statements beside the claim with which a note is still about nothing else."""
_CLOSING = re.compile(r"[.!?。！？]*\Z")
_WORD = re.compile(r"[^\W\d_]+")


class Settled(NamedTuple):
    """What would settle a conflict."""

    acts: tuple[Act, ...]
    reason: str
    """As the history keeps it."""
    told: str
    """What becomes of the notes, in one sentence."""


def keep_one(memory: Memory, conflict: Conflict, keep: Keep) -> Settled:
    """Return what keeps one side: the other note is retired in its favour or, where it says more
    than its claim, only the sentences that cannot hold are replaced by what is kept.
    """
    kept = conflict.side(keep)
    other = conflict.left if kept is conflict.right else conflict.right
    note, lost = _notes(memory, kept, other)
    reason = f"conflict settled for {note.path}: {conflict.reason}"
    if not _says_more(note, lost, other):
        told = f"{visible(lost.path)} is retired, links to it go to {visible(note.path)}"
        return Settled((Retire(lost.path, note.path),), reason, told)
    acts = _reworded(lost, _replacements(note, lost, kept, other))
    return Settled(acts, reason, f"{visible(lost.path)} says what {visible(note.path)} says")


def keep_both(memory: Memory, conflict: Conflict, left: str, right: str) -> Settled:
    """Return what makes both claims true: each gets a word of when or for what it holds, `left`
    and `right`, of which one may be "".
    """
    if not left.strip() and not right.strip():
        raise ChangeRefused("Without saying for what or when each holds, both cannot be true.")
    notes = _notes(memory, conflict.left, conflict.right)
    acts: list[Act] = []
    for side, other, words in (
        (conflict.left, notes[1], left),
        (conflict.right, notes[0], right),
    ):
        if words.strip():
            note = memory.by_path[side.quote.path]
            scoped = _scope(words)
            opposed = [it for it, _ in _opposed(note, other)] or [_as_said(side)]
            acts += _reworded(note, [(it, _with_scope(it.text, scoped)) for it in opposed])
    return Settled(tuple(acts), f"both hold: {conflict.reason}", "Both notes say when they hold")


def merged_text(memory: Memory, conflict: Conflict) -> tuple[str, str, str]:
    """Return the path of the note that stays, of the one that goes, and a text of both for the
    person to edit. The note that the suggestion keeps stays.
    """
    kept = conflict.side(conflict.suggestion.keep)
    other = conflict.left if kept is conflict.right else conflict.right
    note, gone = _notes(memory, kept, other)
    body = gone.body.strip("\n")
    gap = "" if note.text.endswith("\n") else "\n"
    return note.path, gone.path, f"{note.text}{gap}\n## From {gone.name}\n\n{body}\n"


def merge_notes(path: str, other: str, text: str) -> Settled:
    """Return what makes one note of two: `other` is retired into the one at `path`."""
    told = f"{visible(other)} is part of {visible(path)} now"
    return Settled((Merge(path, other, text),), f"conflict settled: {other} merged", told)


def _notes(memory: Memory, *sides: Side) -> tuple[Note, ...]:
    """The notes as they are now. Raises ChangeRefused where a claim is gone."""
    found: list[Note] = []
    for side in sides:
        note = memory.by_path.get(side.quote.path)
        if note is None or span_of(note, side.quote) is None:
            raise ChangeRefused(f"{visible(side.quote.path)} does not say that any more.")
        found.append(note)
    return tuple(found)


def _says_more(kept: Note, lost: Note, side: Side) -> bool:
    """Whether a note is about more than the claim that cannot hold: its description says something
    else, or it goes on for long.
    """
    opposed = {it for it, _ in _opposed(lost, kept)}
    said = sayings(lost)
    body = [it for it in said if not it.in_head]
    leads = {it for it in said if it.in_head} | set(body[:1])
    is_about_it = bool(leads & opposed) or any(it.text == side.quote.text for it in leads)
    return not is_about_it or len([it for it in body if it not in opposed]) > _MOST_BESIDE


def _opposed(note: Note, other: Note) -> list[tuple[Said, Said]]:
    """The statements of `note` that cannot hold beside one of the other note, with that one."""
    found: list[tuple[Said, Said]] = []
    others = sayings(other)
    for said in sayings(note):
        against = next((it for it in others if excludes(said.text, it.text)), None)
        if against is not None:
            found.append((said, against))
    return found


def _as_said(side: Side) -> Said:
    return Said(side.line, side.quote.text, side.line <= _head_lines(side.note))


def _head_lines(note: Note) -> int:
    return note.text.count("\n", 0, note.head.end)


def _replacements(kept: Note, lost: Note, side: Side, other: Side) -> list[tuple[Said, str]]:
    """The statements of the lost side that go, each with what is said in its place."""
    found = {said: against.text for said, against in _opposed(lost, kept)}
    found.setdefault(_as_said(other), side.quote.text)
    return [(said, _ended_as(said.text, text)) for said, text in found.items()]


def _ended_as(old: str, new: str) -> str:
    """`new` with the stop at its end that `old` has."""
    stop = _CLOSING.search(old)
    return _CLOSING.sub("", new, count=1) + (stop.group() if stop else "")


def _reworded(note: Note, reworded: Iterable[tuple[Said, str]]) -> tuple[Act, ...]:
    """The acts that give statements of a note other words: the description by its field, the body
    as a whole.
    """
    text = note.text
    acts: list[Act] = []
    fields: dict[str, str] = {}
    for said, new in sorted(reworded, key=lambda pair: -pair[0].line):
        if said.in_head:
            before = fields.get("", note.description)
            fields[""] = _in_place(before, said.text, new)
            continue
        span = span_of(note, Quote(note.path, said.line, said.text))
        if span is not None:
            text = text[: span[0]] + new + text[span[1] :]
    if text != note.text:
        acts.append(Rewrite(note.path, text))
    if fields:
        acts.append(SetField(note.path, _summary_key(note), fields[""]))
    return tuple(acts)


def _in_place(whole: str, old: str, new: str) -> str:
    plain = " ".join(whole.split())
    return plain.replace(old, new, 1)


def _summary_key(note: Note) -> str:
    """The field of the head that holds the description."""
    fields = note.head.fields
    return next((key for key in fields if note.head.scalar(key) == note.description), "description")


def _scope(words: str) -> str:
    """What was typed, with a preposition before it where there is none."""
    plain = " ".join(words.split()).rstrip(".")
    first = _WORD.match(plain.lower())
    known = {*expressions("opposition", "scope"), *expressions("opposition", "since")}
    return plain if first and first.group() in known else f"for {plain}"


def _with_scope(said: str, scope: str) -> str:
    """A statement with a scope before its closing stop."""
    stop = _CLOSING.search(said)
    end = stop.start() if stop else len(said)
    return f"{said[:end]} {scope}{said[end:]}"
