"""Where something that was said belongs: in the note that speaks of it, or in a new one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from math import log

from ricordo.curation.gist import gist, rejected, share, values
from ricordo.curation.proposal import ProposedChange, Quoted
from ricordo.curation.spoken import Heard
from ricordo.lexicon import SPACELESS
from ricordo.lint.contradictions.compare import excludes
from ricordo.lint.contradictions.records import span_of
from ricordo.lint.contradictions.statements import sayings
from ricordo.lint.evidence import NotePair, NoteQuote, Relation
from ricordo.memory.change import Insert, Replace, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import new_note
from ricordo.memory.note import Note
from ricordo.search.words import content_words, words

_LONGEST_DESCRIPTION = 150
_NAME_WORDS = 5
_NAME_SIGNS = 14
"""Characters of a name in a script without blanks."""
_UNSPACED = re.compile(f"[{SPACELESS}]")
_DATE = re.compile(r"20\d\d-\d\d(?:-\d\d)?|20\d\d-W\d\d|\d+")
_TELLS_WHY = ("feedback", "project")


def draft(memory: Memory, it: Heard) -> ProposedChange:
    """Return the wish for a new note that says what was said."""
    type_ = it.saying.type if not memory.layout.types or _is_known(memory, it) else ""
    act = new_note(memory, _name(memory, it, type_), type_, _description(it), _body(it))
    return ProposedChange(act, f"{it.saying.kind} of {it.spoken.day.isoformat()}", it.evidence)


def entry_line(lines: Sequence[str], it: Heard) -> str:
    """Return what was said as a line at the end of a note whose `lines` are given."""
    is_list = bool(lines) and lines[-1].startswith(("- ", "* "))
    whole = f"{it.statement} {it.why}".strip()
    return f"{lines[-1][:2]}{whole}" if is_list else whole


def _is_known(memory: Memory, it: Heard) -> bool:
    return it.saying.type in memory.layout.types


def _description(it: Heard) -> str:
    text = it.statement.rstrip(".。! ")
    if len(text) <= _LONGEST_DESCRIPTION:
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _body(it: Heard) -> str:
    day = it.spoken.day.isoformat()
    if it.saying.type not in _TELLS_WHY:
        return f"{it.statement} {it.why}".strip()
    why = f"{it.why} Said on {day}." if it.why else f"said on {day}."
    return f"{it.statement}\n\n**Why:** {why}"


def _name(memory: Memory, it: Heard, type_: str) -> str:
    """Return a name made of the first words that name something, in the manner of the memory."""
    plain = _DATE.sub(" ", it.statement)
    if _UNSPACED.search(plain):
        return re.sub(r"[^\w]+", " ", plain)[:_NAME_SIGNS].strip()
    chosen = content_words(words(plain))[:_NAME_WORDS] or words(plain)[:_NAME_WORDS]
    if not chosen:
        chosen = [it.saying.kind.value, it.spoken.day.isoformat()]
    begins = [type_] if type_ and _begins_with_type(memory) else []
    joiner = "-" if _is_slug(memory) else " "
    return joiner.join([*begins, *chosen])


def _begins_with_type(memory: Memory) -> bool:
    typed = [note for note in memory.notes if note.type]
    return 2 * sum(note.name.startswith(note.type) for note in typed) > len(typed)


def _is_slug(memory: Memory) -> bool:
    named = [note for note in memory.notes if note.name]
    return 2 * sum(" " not in note.name for note in named) >= len(named)


_FEWEST = 3
"""Stems that a note shares with the text."""
_COMMONEST = 200
"""Notes with one stem, beyond which it tells nothing."""


class SharedStems:
    """The stems of the notes of one memory; made when it is first asked."""

    def __init__(self, memory: Memory) -> None:
        """Nothing is read yet."""
        self._memory = memory

    def nearest(self, text: str, most: int) -> list[Note]:
        """Return the notes that share most with `text`, the rarest stems counting most."""
        shared: dict[str, int] = defaultdict(int)
        weight: dict[str, float] = defaultdict(float)
        for stem in gist(text):
            paths = self._by_stem.get(stem, ())
            if len(paths) > _COMMONEST:
                continue
            for path in paths:
                shared[path] += 1
                weight[path] += log(1 + len(self._memory.notes) / len(paths))
        near = [path for path, count in shared.items() if count >= _FEWEST]
        near.sort(key=lambda path: (-weight[path], path))
        return [self._memory.by_path[path] for path in near[:most]]

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for note in self._memory.notes:
            if note.role is FileRole.NOTE and note.readable:
                for stem in gist(f"{note.name} {note.description} {note.body}"):
                    found[stem].append(note.path)
        return found


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
class PlacementContext:
    """What is known when something has to find its place."""

    memory: Memory
    speaks_of: SpeaksOf
    overlap: SharedStems
    pairs: tuple[NotePair, ...] = ()
    causes: Mapping[str, Collection[str]] | None = None
    """The notes that a turn caused, by the key of the turn."""
    confirmed: Collection[str] = ()
    """Paths of the notes whose present text the user confirmed."""
    is_instruction: Callable[[str], bool] = lambda _: False
    """Says of a text that the project tells its agents so anyway."""


def place(known: PlacementContext, it: Heard) -> tuple[ProposedChange, ...]:
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


def _near(known: PlacementContext, it: Heard) -> list[Note]:
    """Return the notes that bear on what was said as a whole, then those on each sentence: many
    words together may bear on nothing. Behind them come those that share words with it.
    """
    texts = (it.statement, *(sentence.text for sentence in it.saying.statement))
    found = {
        note.path: note
        for text in texts
        for note in (*known.speaks_of(text), *known.overlap.nearest(text, _MOST_LOOKED_AT))
        if note.role is FileRole.NOTE
    }
    return list(found.values())


def _is_noted(known: PlacementContext, it: Heard) -> bool:
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


def _ended(known: PlacementContext, it: Heard) -> Iterator[ProposedChange]:
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
            yield ProposedChange(Retire(old.path, successor.path), reason, it.evidence)


def _successor(
    known: PlacementContext, old: Note, gone: frozenset[str], kept: frozenset[str]
) -> Note | None:
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
        if note.role is FileRole.NOTE and kept & subject and is_ended and tells_of_it:
            return note
    return None


def _replaced(note: Note, it: Heard) -> ProposedChange | None:
    """Return the change that puts what was said in the place of a statement that says otherwise."""
    if _is_newer(note, it.spoken.day):
        return None
    stems = gist(it.statement)
    gone = rejected(it.saying.text)
    told = {
        kind: frozenset(value for value in of_kind if not gist(value) & gone)
        for kind, of_kind in values(it.statement, it.spoken.day).items()
    }
    best: tuple[int, NoteQuote] | None = None
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
            best = (shared, NoteQuote(note.path, said.line, said.text))
    return _replacing(note, best[1], it) if best is not None else None


def _replacing(note: Note, quote: NoteQuote, it: Heard) -> ProposedChange | None:
    span = span_of(note, quote)
    if span is None:
        return None
    old = note.text[slice(*span)]
    if note.text.count(old) != 1:
        return None
    reason = f"said otherwise on {it.spoken.day.isoformat()}"
    evidence = (*it.evidence, Quoted(note.path, old))
    return ProposedChange(Replace(note.path, old, it.statement), reason, evidence)


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


def _inserted(note: Note, it: Heard) -> ProposedChange:
    lines = split_lines(note.text)
    gap = "" if not lines or lines[-1].startswith(("- ", "* ")) else "\n"
    act = Insert(note.path, len(lines), f"{gap}{entry_line(lines, it)}")
    return ProposedChange(act, f"said on {it.spoken.day.isoformat()}", it.evidence)


def _is_newer(note: Note, day: date) -> bool:
    """Whether the note was changed after it was said: it knows better."""
    return note.stamped[:10] > day.isoformat()


def _written_on(note: Note, otherwise: date) -> date:
    try:
        return date.fromisoformat(note.stamped[:10])
    except ValueError:
        return otherwise
