"""Where something that was said belongs: in the note that speaks of it, or in a new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ricordo.curator.drafting import draft, entry_line
from ricordo.curator.gist import gist, rejected, share, values
from ricordo.curator.heard import Heard
from ricordo.curator.overlap import Overlap
from ricordo.curator.proposal import Quoted, Wish
from ricordo.health.conflicts.compare import excludes
from ricordo.health.conflicts.sayings import sayings
from ricordo.health.conflicts.standing import span_of
from ricordo.health.evidence import NotePair, Quote, Relation
from ricordo.memory.change import Insert, Replace, Retire
from ricordo.memory.layout import Role
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

HELD_BY_ONE = 0.75
"""Share of what was said, from which one statement of a note says it already."""
HELD_BY_ALL = 0.9
_LONGEST_HOLDING = 6
"""Times as many stems as were said, above which a note as a whole says nothing particular."""
_ABOUT = 0.6
"""Share of what was said that the whole note names, from which it is its note."""
_NAMED = 0.3
"""Share of it that the name and the description have to say."""
_SHARED, _SHARE_SHARED = 3, 0.35
"""Stems that a statement shares with what was said, to be the one that it replaces: how many, and
which share of the shorter one.
"""
_MOST_LOOKED_AT = 4

SpeaksOf = Callable[[str], Sequence[Note]]
"""Recall: the notes that bear on a text, best first."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known when something has to find its place."""

    memory: Memory
    speaks_of: SpeaksOf
    overlap: Overlap
    pairs: tuple[NotePair, ...] = ()
    causes: Mapping[str, Collection[str]] | None = None
    """The notes that a turn caused, by the key of the turn."""
    confirmed: Collection[str] = ()
    """Paths of the notes whose present text the user confirmed."""
    is_instruction: Callable[[str], bool] = lambda _: False
    """Says of a text that the project tells its agents so anyway."""


def place(known: Known, it: Heard) -> tuple[Wish, ...]:
    """Return the changes that something said asks for; none where the memory, or the project,
    holds it.
    """
    if _is_noted(known, it) or known.is_instruction(it.statement):
        return ()
    ended = tuple(_ended(known, it))
    if ended:
        return ended
    near = _near(known, it)
    if any(_holds(note, it) for note in near):
        return ()
    replaced = next(filter(None, (_replaced(note, it) for note in near)), None)
    if replaced is not None:
        return (replaced,)
    own = _own_note(known.memory, near, it)
    return (_inserted(own, it) if own is not None else draft(known.memory, it),)


def _near(known: Known, it: Heard) -> list[Note]:
    """Return the notes that bear on what was said as a whole, then those on each sentence: many
    words together may bear on nothing. Behind them come those that share words with it.
    """
    texts = (it.statement, *(sentence.text for sentence in it.saying.statement))
    found = {
        note.path: note
        for text in texts
        for note in (*known.speaks_of(text), *known.overlap.nearest(text, _MOST_LOOKED_AT))
        if note.role is Role.NOTE
    }
    return list(found.values())


def _is_noted(known: Known, it: Heard) -> bool:
    """Whether the agent made a note of it at the time, and the note is there."""
    caused = (known.causes or {}).get(it.spoken.key, ()) if it.spoken.key else ()
    return any(path in known.memory.by_path for path in caused)


def _holds(note: Note, it: Heard) -> bool:
    stems = gist(it.statement)
    told = values(it.statement, it.spoken.day)
    for said in sayings(note):
        theirs = values(said.text, _written_on(note, it.spoken.day))
        same = all(told[kind] <= theirs[kind] for kind in told)
        if same and share(stems, gist(said.text)) >= HELD_BY_ONE:
            return True
    whole = gist(f"{note.description} {note.body}")
    if len(whole) > _LONGEST_HOLDING * len(stems):
        # a long log holds all words
        return False
    theirs = values(note.body, _written_on(note, it.spoken.day))
    return all(told[kind] <= theirs[kind] for kind in told) and share(stems, whole) >= HELD_BY_ALL


def _ended(known: Known, it: Heard) -> Iterator[Wish]:
    """What was said ends one note and confirms another that is there."""
    gone = rejected(it.saying.text)
    if not gone:
        return
    kept = gist(it.statement) - gone
    for old in known.memory.notes:
        if not gone & gist(f"{old.name} {old.description}") or _is_newer(old, it.spoken.day):
            continue
        successor = _successor(known, old, gone, kept)
        if successor is not None:
            reason = f"it is so no longer; {successor.stem} says what holds"
            yield Wish(Retire(old.path, successor.path), reason, it.evidence)


def _successor(known: Known, old: Note, gone: frozenset[str], kept: frozenset[str]) -> Note | None:
    """Return the note that says what holds instead of `old`."""
    opposed = {
        other
        for pair in known.pairs
        if pair.relation is Relation.EXCLUDES
        for other, one in ((pair.left.path, pair.right.path), (pair.right.path, pair.left.path))
        if one == old.path
    }
    linking = set(known.memory.backlinks.get(old.path, ()))
    for path in sorted(opposed | linking):
        note = known.memory.by_path[path]
        subject = gist(f"{note.name} {note.description}")
        is_ended = path in opposed or bool(gone & gist(old.name))
        tells_of_it = path in opposed or bool(gone & subject)
        if note.role is Role.NOTE and kept & subject and is_ended and tells_of_it:
            return note
    return None


def _replaced(note: Note, it: Heard) -> Wish | None:
    """Return the change that puts what was said in the place of a statement that says otherwise."""
    if _is_newer(note, it.spoken.day):
        return None
    stems = gist(it.statement)
    gone = rejected(it.saying.text)
    told = {
        kind: frozenset(value for value in of_kind if not gist(value) & gone)
        for kind, of_kind in values(it.statement, it.spoken.day).items()
    }
    best: tuple[int, Quote] | None = None
    for said in sayings(note):
        if said.in_head:
            continue
        own = gist(said.text)
        shared = len(stems & own)
        is_near = shared >= max(_SHARED, _SHARE_SHARED * min(len(own), len(stems)))
        theirs = values(said.text, _written_on(note, it.spoken.day))
        differs = any(told[k] and theirs[k] and not told[k] & theirs[k] for k in told)
        is_other = bool(excludes(said.text, it.statement)) or (is_near and differs)
        if is_other and (best is None or shared > best[0]):
            best = (shared, Quote(note.path, said.line, said.text))
    return _replacing(note, best[1], it) if best is not None else None


def _replacing(note: Note, quote: Quote, it: Heard) -> Wish | None:
    span = span_of(note, quote)
    if span is None:
        return None
    old = note.text[slice(*span)]
    if note.text.count(old) != 1:
        return None
    reason = f"said otherwise on {it.spoken.day.isoformat()}"
    evidence = (*it.evidence, Quoted(note.path, old))
    return Wish(Replace(note.path, old, it.statement), reason, evidence)


def _own_note(memory: Memory, near: Sequence[Note], it: Heard) -> Note | None:
    """Return the note that what was said can be added to."""
    stems = gist(it.statement)
    for note in near:
        subject = gist(f"{note.name} {note.description}")
        about = subject | gist(note.body)
        is_of_type = note.type in ("", it.saying.type)
        if is_of_type and share(stems, about) >= _ABOUT and share(stems, subject) >= _NAMED:
            return note
    if it.saying.type == "user":
        them = [note for note in memory.notes if note.type == "user" and note.readable]
        return max(them, key=lambda note: len(memory.backlinks.get(note.path, ())), default=None)
    return None


def _inserted(note: Note, it: Heard) -> Wish:
    lines = split_lines(note.text)
    gap = "" if not lines or lines[-1].startswith(("- ", "* ")) else "\n"
    act = Insert(note.path, len(lines), f"{gap}{entry_line(lines, it)}")
    return Wish(act, f"said on {it.spoken.day.isoformat()}", it.evidence)


def _is_newer(note: Note, day: date) -> bool:
    """Whether the note was changed after it was said: it knows better."""
    return note.stamped[:10] > day.isoformat()


def _written_on(note: Note, otherwise: date) -> date:
    try:
        return date.fromisoformat(note.stamped[:10])
    except ValueError:
        return otherwise
