"""Corrections: the lines of notes that a statement of the user gives another value.

A line is corrected only where both name one subject and one slot: the words before the new value
are in the line or in the name of its note, most words before the old value are in the statement,
and both values are of one kind. A single value is exchanged in place, so that the rest of the line
stays; otherwise the statement replaces the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ricordo.curation.gist import extract_stems, find_rejected_stems, measure_share
from ricordo.curation.proposal import EvidenceQuote, ProposedChange
from ricordo.curation.user_messages import MemorableStatement
from ricordo.extraction.dates import find_days
from ricordo.extraction.statement import StatementKind
from ricordo.lexicon import lower_text, statement_pattern
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.compare import oppose_texts
from ricordo.lint.contradictions.compared_sentence import read_sentence
from ricordo.lint.contradictions.frames import compare_sentences
from ricordo.lint.contradictions.plain_words import strip_markup, tokenise
from ricordo.lint.contradictions.records import find_span
from ricordo.lint.contradictions.statements import NoteStatement, extract_note_statements
from ricordo.lint.evidence import NoteQuote
from ricordo.lint.prose import detect_language, find_day_of_passage
from ricordo.memory.change import Replace
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_COVERED, _MOSTLY_COVERED = 0.5, 0.66
"""Share of the words before an old value that the statement has: where the others are part of the
predicate, and where so many are shared that one more is no other subject.
"""
_SURELY_SHARED = 3
_NAMED = 2.0
"""How sure a correction is that names the old value, too: surer than any share."""
_FEWEST_SHARED = 2
"""Words that a rule, or a task of a person, shares with the line that says otherwise."""
_WIDEST = 3
"""Words of the name of a person."""
_VALUE = compile_lazily(
    r"(?P<address>https?://[^\s<>()\"'`]+|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?!\w|\.\w))"
    r"|(?P<clock>(?<![\w:.])\d{1,2}[:h]\d\d(?![\w:]))"
    r"|(?P<name>(?<![\w./-])[a-z\d]+(?:[-_][a-z\d]+)+(?!\w|[./-]\w))"
    r"|(?<![\w.,:/-])v?(?P<number>\d+(?:[.,]\d+)*)(?P<unit>[\s-]?(?:°\s?[A-Z]\b|%|[^\W\d_]+))?"
    r"(?![/:-]?\w)"
)
_PAUSE = compile_lazily(r"[;:!?]\s+|[.,—–]\s+|[。；、，：]")
_SHORT_VERB = compile_lazily(r"(?<=\w['’])(?:s|re|ll|ve|d|m|t)\b")
_YEAR = compile_lazily(r"\d{4}")
_IGNORED = ("negation", "all", "some", "only", "generic", "particles")
"""Word lists that name nothing."""


class _SentenceValue(NamedTuple):
    """A value in a sentence."""

    kind: str
    """`date`, `clock`, `address`, `name` or `number`."""
    text: str
    """As it is written, with its unit."""
    key: str
    """What is compared; in the smallest unit for a number with a known unit."""
    start: int
    end: int
    digits: str = ""
    unit: str = ""
    """The kind of a known unit."""
    noun: str = ""
    """The key of the word behind a number without one."""
    slot: str = ""
    """The key of the last word before a number."""


class _Word(NamedTuple):
    key: str
    text: str
    start: int
    is_verb: bool
    """Whether it may be a verb, so that the other sentence need not have it."""


class _Frame(NamedTuple):
    """The values and the content words of a sentence, in order."""

    text: str
    words: tuple[_Word, ...]
    values: tuple[_SentenceValue, ...]
    verbs: tuple[int, ...]
    """Where its verbs are."""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of its words."""
        return frozenset(word.key for word in self.words)

    def find_clause_starts(self, value: _SentenceValue) -> Iterator[int]:
        """Yield where the clause of a value may begin, nearest first: behind a pause, or behind a
        value of another kind.
        """
        pauses = {match.end() for match in _PAUSE.finditer(self.text, 0, value.start)}
        others = {it.end for it in self.values if it.kind != value.kind and it.end <= value.start}
        yield from sorted({0, *pauses, *others}, reverse=True)

    @property
    def plain(self) -> str:
        """The text without its values."""
        parts = list(self.text)
        for it in self.values:
            parts[it.start : it.end] = " " * (it.end - it.start)
        return "".join(parts)

    def list_before(self, value: _SentenceValue) -> list[_Word]:
        """Return the words before `value` in its clause; of the clause before where it has none."""
        for begin in self.find_clause_starts(value):
            before = [word for word in self.words if begin <= word.start < value.start]
            if before:
                return before
        return []


class _Correction(NamedTuple):
    """A line of a note that a statement corrects."""

    note: Note
    line: NoteStatement
    share: float
    """How sure it is."""
    exchanged: tuple[str, str] = ("", "")
    """The old and the new value; empty where the statement replaces the whole line."""

    def propose(self, statement: MemorableStatement) -> ProposedChange | None:
        """Return the change of the note; None where its place is not unique."""
        span = find_span(self.note, NoteQuote(self.note.path, self.line.line, self.line.text))
        written = self.note.text[slice(*span)] if span else ""
        if not written or self.note.text.count(written) != 1:
            return None
        text, (old, new) = statement.statement, self.exchanged
        if old:
            place = re.compile(rf"(?<![\w./:-]){re.escape(old)}(?![/:-]?\w|\.\w)")
            if len(place.findall(written)) != 1:
                return None
            text = place.sub(lambda _: new, written)
        reason = f"said otherwise on {statement.message.day.isoformat()}"
        evidence = (*statement.evidence, EvidenceQuote(self.note.path, written))
        return ProposedChange(Replace(self.note.path, written, text), reason, evidence)


def find_corrections(
    statement: MemorableStatement, notes: Sequence[Note]
) -> tuple[ProposedChange, ...]:
    """Return the changes of the lines in `notes` that a statement surely gives another value. A
    mere fact has to say that something changed, or to name the old value.
    """
    day = statement.message.day.isoformat()
    found = [
        correction
        for note in notes
        if note.is_readable and note.stated_date[:10] <= day
        for line in extract_note_statements(note)
        if not find_day_of_passage(note, line.line)
        for correction in _compare(statement, note, line)
    ]
    best = max((correction.share for correction in found), default=0.0)
    changes = (it.propose(statement) for it in found if it.share == best)
    return tuple(change for change in changes if change is not None)


def _compare(
    statement: MemorableStatement, note: Note, line: NoteStatement
) -> Iterator[_Correction]:
    """Yield how a statement corrects a line of `note`, at most once."""
    day, whole = statement.message.day, statement.saying.text
    is_change = statement.saying.kind is not StatementKind.FACT or bool(
        statement_pattern("change").search(lower_text(whole))
    )
    old = _read_frame(line.text, read_day(note, day))
    for sentence in statement.saying.sentences:
        new = _read_frame(sentence.text, day)
        if compare_sentences(old.plain, new.plain).is_other_scope:
            continue
        correction = _compare_values(note, line, new, old, is_change=is_change)
        if correction is not None:
            yield correction
            return
    if not is_change or line.in_frontmatter or _is_conditional(whole):
        return
    new = _read_frame(whole, day)
    if _is_other_person(new, old) or _is_other_rule(new, old):
        yield _Correction(note, line, measure_share(old.keys, new.keys))


def _compare_values(
    note: Note, line: NoteStatement, new: _Frame, old: _Frame, *, is_change: bool
) -> _Correction | None:
    """Return the correction where a sentence gives the slot of a value in `line` another one."""
    subject = _read_subject(note)
    former = {(it.kind, it.key) for it in old.values}
    found: list[tuple[float, _SentenceValue, _SentenceValue]] = []
    for now in new.values:
        before = new.list_before(now)
        if (now.kind, now.key) in former or _is_rejected(new, now):
            continue
        meant = [it for it in before if it.key in old.keys or subject & {it.key, it.text}]
        is_about = bool(meant) and all(it in meant or it.is_verb for it in before)
        for was in old.values:
            is_named = any(it[:2] == was[:2] or was.digits == it.digits != "" for it in new.values)
            is_meant = is_about and (is_change or is_named)
            if is_meant and _is_same_slot(was, now, is_named=is_named):
                share = _NAMED if is_named else _measure_subject(new, old, was)
                found.append((share, was, now))
    best = max((share for share, *_ in found), default=0.0)
    pairs = [(was, now) for share, was, now in found if share == best]
    if not best or len({was.start for was, _ in pairs}) > 1:
        return None
    was, now = pairs[0]
    if len(pairs) == 1:
        return _Correction(note, line, best, (was.text, now.text))
    # several values of one kind: the statement says all that the line does
    is_whole = not line.in_frontmatter and measure_share(old.keys, new.keys) >= _COVERED
    return _Correction(note, line, best) if is_whole else None


def _measure_subject(new: _Frame, old: _Frame, was: _SentenceValue) -> float:
    """Return which share of the words before an old value a sentence has; 0 where both may be
    about different things.
    """
    before = old.list_before(was) or list(old.words)
    if before[:1] != list(old.words[:1]) and old.words[0].key in new.keys:
        # the subject is before another value
        before = [old.words[0], *before]
    before = [word for word in before if not word.is_verb or word.key in new.keys]
    shared = [word for word in before if word.key in new.keys]
    if known.load_words("single").issuperset(word.key for word in shared):
        return 0.0
    share = len(shared) / len(before)
    if len(shared) >= _SURELY_SHARED and share >= _MOSTLY_COVERED:
        return share
    # a word more about the subject, before the verb, makes it another one
    rest = [word for word in before if word.key not in new.keys]
    is_predicate = all(any(shared[0].start < it <= word.start for it in old.verbs) for word in rest)
    return share if is_predicate and share >= _COVERED else 0.0


def _is_same_slot(was: _SentenceValue, now: _SentenceValue, *, is_named: bool) -> bool:
    """Return whether two values are of one kind; of names only those that are named are known to
    be.
    """
    if was.kind != now.kind:
        return False
    if was.kind == "name":
        return is_named
    if was.kind != "number":
        return True
    if was.unit or now.unit:
        return was.unit == now.unit
    if is_named:
        return was.digits.count(".") == now.digits.count(".")
    return (bool(was.slot) and was.slot == now.slot) or (bool(was.noun) and was.noun == now.noun)


def _is_rejected(frame: _Frame, value: _SentenceValue) -> bool:
    """Return whether a sentence says that a value is not the one, or only under a condition."""
    begin = max((it.end for it in frame.values if it.end <= value.start), default=0)
    begin = max((begin, *(m.end() for m in _PAUSE.finditer(frame.text, 0, value.start))))
    before = statement_pattern("change").sub(" ", lower_text(frame.text[begin : value.start]))
    gone = find_rejected_stems(frame.text)
    return bool(
        known.compile_denials(detect_language(frame.text)).search(before)
        or extract_stems(value.text) & gone
        or _is_conditional(frame.text[: value.start])
    )


def _is_conditional(text: str) -> bool:
    plain = lower_text(text)
    return bool(known.load_cues(known.find_script(plain))["condition"].search(plain))


def _is_other_person(new: _Frame, old: _Frame) -> bool:
    """Return whether two sentences give one task to different persons."""
    sides = [read_sentence(frame.text) for frame in (new, old)]
    if not all("owner" in it.signs for it in sides) or sides[0].persons & sides[1].persons:
        return False
    if extract_stems(old.text) & find_rejected_stems(new.text):
        # who did it is named, and gone
        return len(new.keys & old.keys) >= _FEWEST_SHARED
    for clause in sides[0].clauses:
        words = _read_frame(clause.marked, date.min)
        if len(words.keys & old.keys) < _FEWEST_SHARED or "owner" not in clause.signs:
            continue
        if _is_name(words, old) and _is_name(old, words):
            return True
    return False


def _is_name(one: _Frame, other: _Frame) -> bool:
    """Return whether all that only one of two sentences has is a name in one place."""
    numbers = [n for n, word in enumerate(one.words) if word.key not in other.keys]
    if not numbers or numbers[-1] - numbers[0] >= _WIDEST or len(numbers) > _WIDEST:
        return False
    if detect_language(one.text) == "de":
        # all nouns have a capital
        persons = {known.get_word_key(it, "de") for it in read_sentence(one.text).persons}
        return all(one.words[n].key in persons for n in numbers)
    return all(one.text[one.words[n].start].isupper() for n in numbers)


def _is_other_rule(new: _Frame, old: _Frame) -> bool:
    """Return whether two sentences without values of one kind surely contradict each other on one
    subject.
    """
    if {it.kind for it in new.values} & {it.kind for it in old.values}:
        return False
    shared = len(new.keys & old.keys)
    if shared < max(_FEWEST_SHARED, _COVERED * max(len(new.keys), len(old.keys))):
        return False
    opposition = oppose_texts(old.text, new.text)
    return opposition is not None and opposition.is_certain


def read_day(note: Note, default: date) -> date:
    """Return the day that a note states for itself, else `default`."""
    try:
        return date.fromisoformat(note.stated_date[:10])
    except ValueError:
        return default


def _read_subject(note: Note) -> frozenset[str]:
    """Return the words of the name and the description of a note, as written and by key."""
    frame = _read_frame(f"{note.name} {note.stem} {note.description}".replace("_", " "), date.min)
    return frame.keys | {word.text for word in frame.words}


@lru_cache(maxsize=1 << 13)
def _read_frame(text: str, day: date) -> _Frame:
    """Return the frame of a sentence that was written on `day`; words that say that something
    changed are no part of it.
    """
    plain = lower_text(text)
    language = detect_language(strip_markup(text))
    days = find_days(text, day)
    values = [
        _SentenceValue(
            "date", text[it.start : it.end] if _YEAR.search(text, it.start, it.end) else it.text,
            it.text, it.start, it.end,
        )
        for it in days
    ]  # fmt: skip
    blank = [(it.start, it.end) for it in days]
    for match in _VALUE.finditer(text):
        kind = match.lastgroup or ""
        kind = "number" if kind == "unit" else kind
        start, end = match.span(kind)
        if any(first < end and start < last for first, last in blank):
            continue
        values.append(_make_value(kind, match, plain, language))
        blank.append((start, values[-1].end))
    parts = ("change", "aside", "norm")
    spans = [match.span() for part in parts for match in statement_pattern(part).finditer(plain)]
    verbal = known.load_verbs() | known.load_words("being") | known.load_modals()
    tokens = tuple(tokenise(plain))
    blank += [match.span() for match in _SHORT_VERB.finditer(plain)]
    words = tuple(
        _Word(key, token, start, token in verbal and token not in known.load_synonyms())
        for token, start in tokens
        if not any(first <= start < last for first, last in (*blank, *spans))
        and (key := _get_key(token, language) or _get_letter(text, token, start))
    )
    values = [
        it._replace(slot=next((w.key for w in reversed(words) if w.start < it.start), ""))
        for it in values
    ]
    verbs = tuple(start for token, start in tokens if token in verbal)
    return _Frame(text, words, tuple(sorted(values, key=lambda it: it.start)), verbs)


def _make_value(kind: str, match: re.Match[str], plain: str, language: str) -> _SentenceValue:
    start, end = match.span(kind)
    text = match[kind]
    if kind != "number":
        return _SentenceValue(kind, text, lower_text(text).rstrip("/."), start, end)
    word = plain[slice(*match.span("unit"))].strip(" \t\n-") if match["unit"] else ""
    if word in known.load_words("clock"):
        written = text + match["unit"]
        return _SentenceValue("clock", written, f"{text}:00", start, match.end(), text)
    unit = known.load_units().get(word)
    if unit is None and (not word or word[0].isalpha()):
        return _SentenceValue(kind, text, text, start, end, text, noun=_get_key(word, language))
    number = text.replace(",", ".")
    factor = unit.factor if unit else 1.0
    size = f"{float(number) * factor:g}" if number.count(".") < 2 else number
    name = unit.kind if unit else word.replace(" ", "")
    return _SentenceValue(kind, text + match["unit"], size, start, match.end(), text, name)


def _get_letter(text: str, token: str, start: int) -> str:
    """Return a single capital inside a sentence, which tells one of several things from another."""
    is_letter = len(token) == 1 and text[start].isupper() and token not in known.load_persons()
    return token if is_letter and start else ""


def _get_key(token: str, language: str) -> str:
    """Return the key of a word with meaning; "" for any other."""
    is_letter = len(token) == 1 and token.isascii()
    if is_letter or token in known.load_persons() or token in known.load_modals():
        return ""
    if any(token in known.load_words(part) for part in _IGNORED):
        return ""
    return known.get_word_key(token, language)
