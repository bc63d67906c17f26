"""Find the place of a user's statement: the note about it, or a new one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from math import log

from ricordo.curation.correction import find_corrections, read_day
from ricordo.curation.gist import extract_stems, extract_values, find_rejected_stems, measure_share
from ricordo.curation.proposal import ProposedChange
from ricordo.curation.user_messages import MemorableStatement
from ricordo.lexicon import SPACELESS, lower_text, statement_pattern
from ricordo.lint.contradictions.statements import extract_note_statements
from ricordo.lint.evidence import NotePair, Relation
from ricordo.lint.prose import detect_language
from ricordo.memory.change import Insert, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import choose_path, create_note
from ricordo.memory.note import Note
from ricordo.search.words import find_language, fold, split_words

_LONGEST_DESCRIPTION = 150
_NAME_WORDS, _FEWEST_NAME_WORDS = 5, 2
_NAME_WORD = re.compile(r"[^\W_]+")
_CLAUSE_END = re.compile(r"[;:,.!?—–]+(?:\s|\Z)")
_ELIDED = re.compile(r"\b\w+n['’]t\b|\b\w{1,2}['’](?=\w)|['’]\w{1,2}\b")
"""Parts of words around an apostrophe that say nothing by themselves."""
_NAME_CHARACTERS = 14
"""Characters of a name in a script without blanks."""
_UNSPACED = re.compile(f"[{SPACELESS}]")
_PATH = re.compile(r"(?:[\w.-]+/)+([\w-]+)(?:\.\w+)?|(?<=\w)\.[a-z]{1,4}\b(?=\s|\Z)")
"""A path, of which a name has the last part without extension, or the extension of a file."""
_DATE = re.compile(r"20\d\d-\d\d(?:-\d\d)?|20\d\d-W\d\d|\d+")
_TYPES_WITH_REASON = ("feedback", "project")


def draft_note(context: PlacementContext, statement: MemorableStatement) -> ProposedChange:
    """Return the proposal of a new note with the statement, with a warning if another note may say
    the same.
    """
    memory = context.memory
    type_ = statement.saying.type if not memory.layout.types or _is_known(memory, statement) else ""
    words = _choose_name_words(statement)
    begins = [type_] if type_ and _begin_with_type(memory, "name") else []
    name = ("-" if _is_slug(memory) else " ").join([*begins, *words])
    act = create_note(memory, name, type_, _make_description(statement), _make_body(statement))
    if type_ and not begins and _begin_with_type(memory, "stem"):
        folder = act.path.rpartition("/")[0]
        taken = (*memory.by_path, *memory.others)
        act = replace(act, path=choose_path(f"{type_} {name}", taken, memory.layout, folder))
    reason = f"{statement.saying.kind} of {statement.message.day.isoformat()}"
    return ProposedChange(
        act, reason, statement.evidence, warning=_warn_of_similar(context.overlap, statement)
    )


def _warn_of_similar(overlap: SharedStems, statement: MemorableStatement) -> str:
    """Return a warning that names the line of a note that may say the same; "" without one. Where
    the notes are in another language, what both share are terms.
    """
    plain = statement_pattern("norm").sub(" ", lower_text(statement.statement))
    stems = overlap.list_telling(extract_stems(plain))
    best: tuple[float, str, int] | None = None
    for note in overlap.find_sharing(stems):
        for old in extract_note_statements(note):
            theirs = extract_stems(old.text)
            share = measure_share(stems, theirs)
            is_about_it = measure_share(theirs, stems) >= _SIMILAR_OF_NOTE
            is_similar = share >= (_SIMILAR if is_about_it else MIN_SHARE_OF_STATEMENT)
            if (
                is_similar
                and len(stems & theirs) >= _FEWEST_SIMILAR
                and (best is None or share > best[0])
            ):
                best = (share, note.path, old.line)
    return f"{best[1]}, line {best[2]}, may say this already" if best is not None else ""


def format_entry(lines: Sequence[str], statement: MemorableStatement) -> str:
    """Return a statement as a line at the end of a note with these `lines`."""
    is_list = bool(lines) and lines[-1].startswith(("- ", "* "))
    whole = " ".join(filter(None, (statement.statement, statement.details, statement.why)))
    return f"{lines[-1][:2]}{whole}" if is_list else whole


def _is_known(memory: Memory, statement: MemorableStatement) -> bool:
    return statement.saying.type in memory.layout.types


def _make_description(statement: MemorableStatement) -> str:
    text = statement.statement.rstrip(".。! ")
    if len(text) <= _LONGEST_DESCRIPTION:
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _make_body(statement: MemorableStatement) -> str:
    text = f"{statement.statement} {statement.details}".strip()
    if statement.saying.type not in _TYPES_WITH_REASON:
        return f"{text} {statement.why}".strip()
    why = f"**Why:** {statement.why}" if statement.why else ""
    is_english = detect_language(statement.statement) == "en"
    said = f"Said on {statement.message.day.isoformat()}." if is_english else ""
    end = f"{why} {said}".strip()
    return f"{text}\n\n{end}" if end else text


def _choose_name_words(statement: MemorableStatement) -> list[str]:
    """Return the first content words of a statement, from its first clause that has several."""
    plain = _DATE.sub(" ", _PATH.sub(r"\1", statement.statement))
    if _UNSPACED.search(plain):
        return [re.sub(r"[^\w]+", " ", plain)[:_NAME_CHARACTERS].strip()]
    for part in ("aside", "change", "decision"):
        plain = statement_pattern(part).sub(" ", lower_text(plain))
    _, stop_words = find_language(split_words(plain))
    clauses = [
        [word for word in _NAME_WORD.findall(fold(clause)) if word not in stop_words]
        for clause in _CLAUSE_END.split(_ELIDED.sub(" ", plain))
    ]
    telling = (words for words in clauses if len(words) >= _FEWEST_NAME_WORDS)
    words = next(telling, [word for clause in clauses for word in clause])
    fallback = [statement.saying.kind.value, statement.message.day.isoformat()]
    return words[:_NAME_WORDS] or fallback


def _begin_with_type(memory: Memory, field: str) -> bool:
    """Return whether most names of notes, or most names of their files, begin with the type."""
    typed = [note for note in memory.notes if note.type]
    return 2 * sum(str(getattr(note, field)).startswith(note.type) for note in typed) > len(typed)


def _is_slug(memory: Memory) -> bool:
    named = [note for note in memory.notes if note.name]
    return 2 * sum(" " not in note.name for note in named) >= len(named)


_FEWEST = 3
"""Stems that a note must share with the text."""
_COMMONEST = 200
"""Notes with one stem, above which the stem is ignored."""
_SHARE_COMMON = 0.2
"""The share of them, from which on it says little of what a note is about."""


class SharedStems:
    """The notes of one memory by stem; built on first use."""

    def __init__(self, memory: Memory) -> None:
        """Keep the memory; nothing is read yet."""
        self._memory = memory

    def find_nearest(self, text: str, most: int) -> list[Note]:
        """Return the notes that share most stems with `text`; rare stems count most."""
        shared: dict[str, int] = defaultdict(int)
        weight: dict[str, float] = defaultdict(float)
        for stem in extract_stems(text):
            paths = self._by_stem.get(stem, ())
            if len(paths) > _COMMONEST:
                continue
            for path in paths:
                shared[path] += 1
                weight[path] += self.weigh(stem)
        near = [path for path, count in shared.items() if count >= _FEWEST]
        near.sort(key=lambda path: (-weight[path], path))
        return [self._memory.by_path[path] for path in near[:most]]

    def list_by_rarity(self, text: str, most: int) -> list[Note]:
        """Return the notes that share a stem with `text`; rare stems count most."""
        weight: dict[str, float] = defaultdict(float)
        for stem in extract_stems(text):
            for path in self._by_stem.get(stem, ()):
                weight[path] += self.weigh(stem)
        near = sorted(weight, key=lambda path: (-weight[path], path))
        return [self._memory.by_path[path] for path in near[:most]]

    def weigh(self, stem: str) -> float:
        """Return how much a stem says of what a text is about: more, the fewer notes have it."""
        return log(1 + len(self._memory.notes) / max(1, len(self._by_stem.get(stem, ()))))

    def list_telling(self, stems: frozenset[str]) -> frozenset[str]:
        """Return the stems that few notes have, or none; numbers do not count."""
        most = max(_FEWEST, len(self._memory.notes) * _SHARE_COMMON)
        return frozenset(
            it for it in stems if not it.isdigit() and len(self._by_stem.get(it, ())) <= most
        )

    def find_sharing(self, stems: frozenset[str]) -> Iterator[Note]:
        """Yield the notes that share two of the `stems` or more."""
        paths = (path for stem in stems for path in self._by_stem.get(stem, ()))
        for path, count in sorted(Counter(paths).items()):
            if count >= _FEWEST_SIMILAR:
                yield self._memory.by_path[path]

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for note in self._memory.notes:
            if note.role is FileRole.NOTE and note.is_readable:
                for stem in extract_stems(f"{note.name} {note.description} {note.body}"):
                    found[stem].append(note.path)
        return found


MIN_SHARE_OF_STATEMENT = 0.75
"""Share of a statement's stems, from which one statement of a note has it already."""
MIN_SHARE_OF_NOTE = 0.9
_SIMILAR, _FEWEST_SIMILAR = 0.5, 2
"""Share of a statement's stems, and their number, from which a statement of a note may say the
same.
"""
_SIMILAR_OF_NOTE = 0.25
"""Share of the stems of that statement of a note; one that has less of them is about more, and has
to have nearly all of the statement.
"""
_LONGEST_HOLDING = 6
"""Ratio of a note's stems to the statement's, above which the note as a whole is too general."""
_ABOUT = 0.6
"""Share of the statement's stems in the whole note, from which the statement belongs to it."""
_NAMED = 0.3
"""Share of them that its name and description must have."""
_MOST_NEAREST, _MOST_CORRECTED = 4, 12
"""Notes that share stems with a statement and are compared with it."""

FindRelated = Callable[[str], Sequence[Note]]
"""Recall: returns the notes relevant to a text, best first."""


@dataclass(frozen=True, slots=True)
class PlacementContext:
    """What placing a statement depends on."""

    memory: Memory
    find_related: FindRelated
    overlap: SharedStems
    pairs: tuple[NotePair, ...] = ()
    causes: Mapping[str, Collection[str]] | None = None
    """The paths of the notes that a message caused, by the key of the message."""
    confirmed: Collection[str] = ()
    """Paths of the notes whose present text the user confirmed."""
    is_instruction: Callable[[str], bool] = lambda _: False
    """Returns whether the project's own instructions contain a text."""


def place_statement(
    context: PlacementContext, statement: MemorableStatement
) -> tuple[ProposedChange, ...]:
    """Return the changes for a statement; none where the memory or the project has it already."""
    if _is_noted(context, statement) or context.is_instruction(statement.statement):
        return ()
    ended = tuple(_find_ended(context, statement))
    if ended:
        return ended
    near = _find_near(context, statement)
    if any(_contains(note, statement) for note in near):
        return ()
    if corrections := _correct(context, statement, near):
        return corrections
    note = _find_note_for(context.memory, near, statement)
    change = _insert_entry(note, statement) if note else draft_note(context, statement)
    return (change,)


def correct_notes(
    context: PlacementContext, fact: MemorableStatement
) -> tuple[ProposedChange, ...]:
    """Return the changes of the notes that a fact corrects; none where no note says otherwise."""
    return () if _is_noted(context, fact) else _correct(context, fact, ())


def _correct(
    context: PlacementContext, statement: MemorableStatement, near: Iterable[Note]
) -> tuple[ProposedChange, ...]:
    rare = context.overlap.list_by_rarity(statement.statement, _MOST_CORRECTED)
    return find_corrections(statement, list(dict.fromkeys((*near, *rare))))


def _find_near(context: PlacementContext, statement: MemorableStatement) -> list[Note]:
    """Return the notes relevant to the whole statement, then to each sentence: many words together
    may match nothing. For each text, notes that share stems with it come last.
    """
    texts = (statement.statement, *(sentence.text for sentence in statement.saying.sentences))
    found = {
        note.path: note
        for text in texts
        for note in (
            *context.find_related(text),
            *context.overlap.find_nearest(text, _MOST_NEAREST),
        )
        if note.role is FileRole.NOTE
    }
    return list(found.values())


def _is_noted(context: PlacementContext, statement: MemorableStatement) -> bool:
    """Return whether an agent wrote a note because of it, and the note exists."""
    caused = (context.causes or {}).get(statement.message.key, ()) if statement.message.key else ()
    return any(path in context.memory.by_path for path in caused)


def _contains(note: Note, statement: MemorableStatement) -> bool:
    stems = extract_stems(statement.statement)
    new = extract_values(statement.statement, statement.message.day)
    for old in extract_note_statements(note):
        theirs = extract_values(old.text, read_day(note, statement.message.day))
        same = all(new[kind] <= theirs[kind] for kind in new)
        if same and measure_share(stems, extract_stems(old.text)) >= MIN_SHARE_OF_STATEMENT:
            return True
    whole = extract_stems(f"{note.description} {note.body}")
    if len(whole) > _LONGEST_HOLDING * len(stems):
        # a long log holds all words
        return False
    theirs = extract_values(note.body, read_day(note, statement.message.day))
    return (
        all(new[kind] <= theirs[kind] for kind in new)
        and measure_share(stems, whole) >= MIN_SHARE_OF_NOTE
    )


def _find_ended(
    context: PlacementContext, statement: MemorableStatement
) -> Iterator[ProposedChange]:
    """Yield the retirement of each note that a statement ends by confirming another note."""
    gone = find_rejected_stems(statement.saying.text)
    if not gone:
        return
    confirmed = extract_stems(statement.statement) - gone
    for old in context.memory.notes:
        if not gone & extract_stems(f"{old.name} {old.description}") or _is_newer(
            old, statement.message.day
        ):
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
        if pair.relation is Relation.CONTRADICTS
        for other, one in ((pair.left.path, pair.right.path), (pair.right.path, pair.left.path))
        if one == old.path
    }
    backlinks = set(context.memory.backlinks.get(old.path, ()))
    for path in sorted(contradicting | backlinks):
        note = context.memory.by_path[path]
        subject = extract_stems(f"{note.name} {note.description}")
        is_ended = path in contradicting or bool(gone & extract_stems(old.name))
        is_about_it = path in contradicting or bool(gone & subject)
        if note.role is FileRole.NOTE and confirmed & subject and is_ended and is_about_it:
            return note
    return None


def _find_note_for(
    memory: Memory, near: Sequence[Note], statement: MemorableStatement
) -> Note | None:
    """Return the note to which the statement can be added; None for none."""
    stems = extract_stems(statement.statement)
    for note in near:
        subject = extract_stems(f"{note.name} {note.description}")
        about = subject | extract_stems(note.body)
        is_of_type = note.type in ("", statement.saying.type)
        if (
            is_of_type
            and measure_share(stems, about) >= _ABOUT
            and measure_share(stems, subject) >= _NAMED
        ):
            return note
    if statement.saying.type == "user":
        users = [note for note in memory.notes if note.type == "user" and note.is_readable]
        return max(users, key=lambda note: len(memory.backlinks.get(note.path, ())), default=None)
    return None


def _insert_entry(note: Note, statement: MemorableStatement) -> ProposedChange:
    lines = split_lines(note.text)
    gap = "" if not lines or lines[-1].startswith(("- ", "* ")) else "\n"
    act = Insert(note.path, len(lines), f"{gap}{format_entry(lines, statement)}")
    return ProposedChange(act, f"said on {statement.message.day.isoformat()}", statement.evidence)


def _is_newer(note: Note, day: date) -> bool:
    """Return whether the note was changed after that day, so that it is more recent."""
    return note.stated_date[:10] > day.isoformat()
