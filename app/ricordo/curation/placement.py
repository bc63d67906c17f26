"""Find the place of a user's statement: the note about it, or a new one."""

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
_NAME_CHARACTERS = 14
"""Characters of a name in a script without blanks."""
_UNSPACED = re.compile(f"[{SPACELESS}]")
_DATE = re.compile(r"20\d\d-\d\d(?:-\d\d)?|20\d\d-W\d\d|\d+")
_TYPES_WITH_REASON = ("feedback", "project")


def draft(memory: Memory, statement: Heard) -> ProposedChange:
    """Return the proposal of a new note with the statement."""
    type_ = statement.saying.type if not memory.layout.types or _is_known(memory, statement) else ""
    act = new_note(
        memory,
        _make_name(memory, statement, type_),
        type_,
        _make_description(statement),
        _make_body(statement),
    )
    return ProposedChange(
        act, f"{statement.saying.kind} of {statement.spoken.day.isoformat()}", statement.evidence
    )


def entry_line(lines: Sequence[str], statement: Heard) -> str:
    """Return a statement as a line at the end of a note with these `lines`."""
    is_list = bool(lines) and lines[-1].startswith(("- ", "* "))
    whole = f"{statement.statement} {statement.why}".strip()
    return f"{lines[-1][:2]}{whole}" if is_list else whole


def _is_known(memory: Memory, statement: Heard) -> bool:
    return statement.saying.type in memory.layout.types


def _make_description(statement: Heard) -> str:
    text = statement.statement.rstrip(".。! ")
    if len(text) <= _LONGEST_DESCRIPTION:
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _make_body(statement: Heard) -> str:
    day = statement.spoken.day.isoformat()
    if statement.saying.type not in _TYPES_WITH_REASON:
        return f"{statement.statement} {statement.why}".strip()
    why = f"{statement.why} Said on {day}." if statement.why else f"said on {day}."
    return f"{statement.statement}\n\n**Why:** {why}"


def _make_name(memory: Memory, statement: Heard, type_: str) -> str:
    """Return a name of the first content words, in the style of the memory's names."""
    plain = _DATE.sub(" ", statement.statement)
    if _UNSPACED.search(plain):
        return re.sub(r"[^\w]+", " ", plain)[:_NAME_CHARACTERS].strip()
    chosen = content_words(words(plain))[:_NAME_WORDS] or words(plain)[:_NAME_WORDS]
    if not chosen:
        chosen = [statement.saying.kind.value, statement.spoken.day.isoformat()]
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
"""Stems that a note must share with the text."""
_COMMONEST = 200
"""Notes with one stem, above which the stem is ignored."""


class SharedStems:
    """The notes of one memory by stem; built on first use."""

    def __init__(self, memory: Memory) -> None:
        """Keep the memory; nothing is read yet."""
        self._memory = memory

    def nearest(self, text: str, most: int) -> list[Note]:
        """Return the notes that share most stems with `text`; rare stems count most."""
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
"""Share of a statement's stems, from which one statement of a note has it already."""
HELD_BY_ALL = 0.9
_LONGEST_HOLDING = 6
"""Ratio of a note's stems to the statement's, above which the note as a whole is too general."""
_ABOUT = 0.6
"""Share of the statement's stems in the whole note, from which the statement belongs to it."""
_NAMED = 0.3
"""Share of them that its name and description must have."""
_SHARED, _SHARE_SHARED = 3, 0.35
"""Stems that a note's statement must share with the new one to be replaced by it: how many, and
which share of the shorter one.
"""
_MOST_NEAREST = 4

SpeaksOf = Callable[[str], Sequence[Note]]
"""Recall: returns the notes relevant to a text, best first."""


@dataclass(frozen=True, slots=True)
class PlacementContext:
    """What placing a statement depends on."""

    memory: Memory
    speaks_of: SpeaksOf
    overlap: SharedStems
    pairs: tuple[NotePair, ...] = ()
    causes: Mapping[str, Collection[str]] | None = None
    """The paths of the notes that a message caused, by the key of the message."""
    confirmed: Collection[str] = ()
    """Paths of the notes whose present text the user confirmed."""
    is_instruction: Callable[[str], bool] = lambda _: False
    """Returns whether the project's own instructions contain a text."""


def place(context: PlacementContext, statement: Heard) -> tuple[ProposedChange, ...]:
    """Return the changes for a statement; none where the memory or the project has it already."""
    if _is_noted(context, statement) or context.is_instruction(statement.statement):
        return ()
    ended = tuple(_find_ended(context, statement))
    if ended:
        return ended
    near = _find_near(context, statement)
    if any(_contains(note, statement) for note in near):
        return ()
    replaced = next(filter(None, (_find_replacement(note, statement) for note in near)), None)
    if replaced is not None:
        return (replaced,)
    note = _find_note_for(context.memory, near, statement)
    change = _insert_entry(note, statement) if note else draft(context.memory, statement)
    return (change,)


def _find_near(context: PlacementContext, statement: Heard) -> list[Note]:
    """Return the notes relevant to the whole statement, then to each sentence: many words together
    may match nothing. For each text, notes that share stems with it come last.
    """
    texts = (statement.statement, *(sentence.text for sentence in statement.saying.statement))
    found = {
        note.path: note
        for text in texts
        for note in (*context.speaks_of(text), *context.overlap.nearest(text, _MOST_NEAREST))
        if note.role is FileRole.NOTE
    }
    return list(found.values())


def _is_noted(context: PlacementContext, statement: Heard) -> bool:
    """Return whether an agent wrote a note because of it, and the note exists."""
    caused = (context.causes or {}).get(statement.spoken.key, ()) if statement.spoken.key else ()
    return any(path in context.memory.by_path for path in caused)


def _contains(note: Note, statement: Heard) -> bool:
    stems = gist(statement.statement)
    new = values(statement.statement, statement.spoken.day)
    for old in sayings(note):
        theirs = values(old.text, _read_day(note, statement.spoken.day))
        same = all(new[kind] <= theirs[kind] for kind in new)
        if same and share(stems, gist(old.text)) >= HELD_BY_ONE:
            return True
    whole = gist(f"{note.description} {note.body}")
    if len(whole) > _LONGEST_HOLDING * len(stems):
        # a long log holds all words
        return False
    theirs = values(note.body, _read_day(note, statement.spoken.day))
    return all(new[kind] <= theirs[kind] for kind in new) and share(stems, whole) >= HELD_BY_ALL


def _find_ended(context: PlacementContext, statement: Heard) -> Iterator[ProposedChange]:
    """Yield the retirement of each note that a statement ends by confirming another note."""
    gone = rejected(statement.saying.text)
    if not gone:
        return
    confirmed = gist(statement.statement) - gone
    for old in context.memory.notes:
        if not gone & gist(f"{old.name} {old.description}") or _is_newer(old, statement.spoken.day):
            continue
        successor = _find_successor(context, old, gone, confirmed)
        if successor is not None:
            reason = f"outdated; {successor.stem} has what is valid now"
            yield ProposedChange(Retire(old.path, successor.path), reason, statement.evidence)


def _find_successor(
    context: PlacementContext, old: Note, gone: frozenset[str], confirmed: frozenset[str]
) -> Note | None:
    """Return the note with what is valid instead of `old`; None where there is none."""
    contradicting = {
        other
        for pair in context.pairs
        if pair.relation is Relation.EXCLUDES
        for other, one in ((pair.left.path, pair.right.path), (pair.right.path, pair.left.path))
        if one == old.path
    }
    backlinks = set(context.memory.backlinks.get(old.path, ()))
    for path in sorted(contradicting | backlinks):
        note = context.memory.by_path[path]
        subject = gist(f"{note.name} {note.description}")
        is_ended = path in contradicting or bool(gone & gist(old.name))
        is_about_it = path in contradicting or bool(gone & subject)
        if note.role is FileRole.NOTE and confirmed & subject and is_ended and is_about_it:
            return note
    return None


def _find_replacement(note: Note, statement: Heard) -> ProposedChange | None:
    """Return the change that replaces a note's statement that says otherwise; None for none."""
    if _is_newer(note, statement.spoken.day):
        return None
    stems = gist(statement.statement)
    gone = rejected(statement.saying.text)
    new = {
        kind: frozenset(value for value in of_kind if not gist(value) & gone)
        for kind, of_kind in values(statement.statement, statement.spoken.day).items()
    }
    best: tuple[int, NoteQuote] | None = None
    for old in sayings(note):
        if old.in_head:
            continue
        stems_of_old = gist(old.text)
        shared = len(stems & stems_of_old)
        is_near = shared >= max(_SHARED, _SHARE_SHARED * min(len(stems_of_old), len(stems)))
        old_values = values(old.text, _read_day(note, statement.spoken.day))
        differs = any(new[k] and old_values[k] and not new[k] & old_values[k] for k in new)
        is_other = bool(excludes(old.text, statement.statement)) or (is_near and differs)
        if is_other and (best is None or shared > best[0]):
            best = (shared, NoteQuote(note.path, old.line, old.text))
    return _replace_quote(note, best[1], statement) if best is not None else None


def _replace_quote(note: Note, quote: NoteQuote, statement: Heard) -> ProposedChange | None:
    span = span_of(note, quote)
    if span is None:
        return None
    old = note.text[slice(*span)]
    if note.text.count(old) != 1:
        return None
    reason = f"said otherwise on {statement.spoken.day.isoformat()}"
    evidence = (*statement.evidence, Quoted(note.path, old))
    return ProposedChange(Replace(note.path, old, statement.statement), reason, evidence)


def _find_note_for(memory: Memory, near: Sequence[Note], statement: Heard) -> Note | None:
    """Return the note to which the statement can be added; None for none."""
    stems = gist(statement.statement)
    for note in near:
        subject = gist(f"{note.name} {note.description}")
        about = subject | gist(note.body)
        is_of_type = note.type in ("", statement.saying.type)
        if is_of_type and share(stems, about) >= _ABOUT and share(stems, subject) >= _NAMED:
            return note
    if statement.saying.type == "user":
        users = [note for note in memory.notes if note.type == "user" and note.readable]
        return max(users, key=lambda note: len(memory.backlinks.get(note.path, ())), default=None)
    return None


def _insert_entry(note: Note, statement: Heard) -> ProposedChange:
    lines = split_lines(note.text)
    gap = "" if not lines or lines[-1].startswith(("- ", "* ")) else "\n"
    act = Insert(note.path, len(lines), f"{gap}{entry_line(lines, statement)}")
    return ProposedChange(act, f"said on {statement.spoken.day.isoformat()}", statement.evidence)


def _is_newer(note: Note, day: date) -> bool:
    """Return whether the note was changed after that day, so that it is more recent."""
    return note.stamped[:10] > day.isoformat()


def _read_day(note: Note, default: date) -> date:
    try:
        return date.fromisoformat(note.stamped[:10])
    except ValueError:
        return default
