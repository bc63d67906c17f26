"""Resolving a conflict: the changes to its two notes, as one change set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.lexicon import list_expressions, lower_text
from ricordo.lint.contradictions.claim import read_claim
from ricordo.lint.contradictions.compare import find_contradiction, find_opposition
from ricordo.lint.contradictions.records import build_cause_of_texts, find_span
from ricordo.lint.contradictions.repeats import is_repeated
from ricordo.lint.contradictions.replacement import (
    ReplacedValue,
    find_named_value,
    find_replaced_values,
    replace_values,
)
from ricordo.lint.contradictions.statements import NoteStatement, extract_note_statements
from ricordo.lint.contradictions.words import load_pattern
from ricordo.lint.evidence import NoteQuote
from ricordo.lint.finding import finding_id
from ricordo.memory.change import (
    Change,
    ChangeOperation,
    ChangeSet,
    EditLine,
    Merge,
    Retire,
    Rewrite,
    SetField,
    compute_digest,
)
from ricordo.memory.draft import apply_edits
from ricordo.memory.index import EntryForm
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import content_words, split_words
from ricordo.secrets import mask
from ricordo.services.conflicts.conflicts import CONTRADICTION_RULE, Conflict, Keep, Side
from ricordo.services.edits.change import build_change_set
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import make_one_line, make_visible

Reword = Callable[[str], str]
"""Rewords a line that sums up a claim; returns other lines unchanged."""

_CLOSING = compile_lazily(r"[.!?。！？]*\Z")
_LINK = compile_lazily(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\([^)\n]*\)")
_LABEL = compile_lazily(r"[\s>*_-]*([^:*\n]{1,40}):?\*\*")


def get_final_punctuation(text: str) -> str:
    """Return the punctuation at the end of a statement; "" if there is none."""
    match = _CLOSING.search(text)
    return match.group() if match else ""


def strip_final_punctuation(text: str) -> str:
    """Return a statement without the punctuation at its end."""
    return _CLOSING.sub("", text, count=1)


def find_claims(conflict: Conflict, note: Note, other: Note, of: Keep) -> dict[NoteStatement, str]:
    """Return the statements of `note`, the side `of` the conflict, that contradict the other note
    for the conflict's reason or repeat the claim, each with the statement of `other` against it;
    none that belongs to another conflict of the same notes.
    """
    mine, its = conflict.get_side(of).quote, conflict.get_other_side(of).quote
    # the quote comes first, and the body before the description
    others = sorted(
        extract_note_statements(other), key=lambda it: (it.text != its.text, it.in_frontmatter)
    )
    texts = [statement.text for statement in others]
    against = {
        each: _contradicting(conflict, of, each.text, texts)
        for each in extract_note_statements(note)
    }
    statements = {statement: text for statement, text in against.items() if text}
    if not any(statement.text == mine.text for statement in statements):
        in_head = mine.line <= note.text.count("\n", 0, note.frontmatter.end)
        statements[NoteStatement(mine.line, mine.text, in_head)] = its.text
    return statements


def _contradicting(conflict: Conflict, of: Keep, text: str, others: list[str]) -> str:
    """Return which of `others` contradicts the statement `text` in this conflict; "" if none."""
    mine, its = conflict.get_side(of).quote.text, conflict.get_other_side(of).quote.text
    for other in others:
        reason = find_opposition(*((text, other) if of is Keep.LEFT else (other, text)))
        if reason and (reason == conflict.reason or mine == text or its == other):
            return other
    return its if _restates(text, mine, find_replaced_values(mine, its)) else ""


def _restates(text: str, claim: str, values: tuple[ReplacedValue, ...]) -> bool:
    """Return whether a statement repeats a claim about the same subject."""
    subject = read_claim(claim).subject
    return (
        bool(subject) and bool(find_named_value(text, values)) and subject <= read_claim(text).keys
    )


def reword_claims(
    memory: Memory, note: Note, texts: Mapping[NoteStatement, str], words: Reword
) -> list[ChangeOperation]:
    """Return the acts that replace the statements of a note by `texts`, in its body, its
    description and its index entries. `words` rewords descriptions and entries that make the claim
    in other words.
    """

    def in_line(line: str) -> str:
        new = line
        for statement, text in texts.items():
            new = new.replace(
                strip_final_punctuation(statement.text), strip_final_punctuation(text)
            )
        return words(line) if new == line else new

    acts = [*_body(note, texts), *_description(note, in_line)]
    return [*acts, *_entries(memory, note, in_line)]


def _body(note: Note, texts: Mapping[NoteStatement, str]) -> Iterator[ChangeOperation]:
    places = {
        span: new
        for it, new in texts.items()
        if not it.in_frontmatter
        and (span := find_span(note, NoteQuote(note.path, it.line, it.text)))
    }
    text, last = note.text, len(note.text)
    # from the end, so that earlier offsets stay valid
    for start, end in sorted(places, reverse=True):
        if start >= note.frontmatter.end and end <= last:
            text, last = text[:start] + places[start, end] + text[end:], start
    if text != note.text:
        yield Rewrite(note.path, text)


def _description(note: Note, in_line: Reword) -> Iterator[ChangeOperation]:
    before = " ".join(note.description.split())
    # broken frontmatter is left alone: what it still claims is reported
    after = in_line(before) if before and note.frontmatter.error is None else before
    if after != before:
        fields = note.frontmatter.fields
        keys = (key for key in fields if note.frontmatter.get_text(key) == note.description)
        yield SetField(note.path, next(keys, "description"), after)


def _entries(memory: Memory, note: Note, in_line: Reword) -> Iterator[ChangeOperation]:
    for index, entry in memory.entries.get(note.path, ()):
        after = in_line(entry.hook) if entry.hook else ""
        if entry.form is EntryForm.ROW:
            after = after.replace("|", "/")
        if entry.form is not EntryForm.PROSE and after != entry.hook:
            before, _, behind = entry.text.rpartition(entry.hook)
            yield EditLine(index.path, entry.line, entry.text, before + after + behind)


def find_remaining_lines(
    memory: Memory, path: str, values: tuple[ReplacedValue, ...]
) -> Iterator[str]:
    """Yield where a note and its index entries still name one of the old `values`, and which."""
    note = memory.by_path.get(path)
    if note is None or not values:
        return
    lines = {(path, number): line for number, line in enumerate(note.text.split("\n"), 1)}
    for index, entry in memory.entries.get(path, ()):
        lines[index.path, entry.line] = entry.text
    for (file, number), line in lines.items():
        if value := find_named_value(line, values):
            # in a line with a credential the value may be the credential
            yield f"{file}:{number} still says “{value if mask(line) == line else '…'}”"


def says_more(note: Note, kept_note: Note, lost: Mapping[NoteStatement, str]) -> bool:
    """Return whether a note says anything besides the statements that are `lost`, what explains
    them (why, how to apply, where to look), and what the note that is `kept_note` says too.
    """
    kept_texts = [statement.text for statement in extract_note_statements(kept_note)]
    lost_texts = {statement.text for statement in lost}
    return any(
        not _only_explains(note, statement)
        and not any(is_repeated(statement.text, text) for text in kept_texts)
        for statement in extract_note_statements(note)
        if not statement.in_frontmatter and statement.text not in lost_texts
    )


def _only_explains(note: Note, statement: NoteStatement) -> bool:
    """Return whether a statement only says how another one is applied, or where to look."""
    label = _LABEL.match(note.text.split("\n")[statement.line - 1])
    if label and load_pattern("how").match(lower_text(label[1])):
        return True
    return len(content_words(split_words(_LINK.sub("", statement.text)))) <= 1


_MOST_LINES = 5
"""Remaining lines with an old value that are shown to the user."""
_STILL_OPPOSED = (
    "The new words still look contradictory; the pair is dismissed as no conflict, too."
)
_WORD = compile_lazily(r"[^\W\d_]+")


class Resolution(NamedTuple):
    """A resolution of a conflict, not yet applied."""

    acts: tuple[ChangeOperation, ...]
    reason: str
    """The reason that the history records."""
    description: str
    """What happens to the notes, in one sentence."""
    replaced: tuple[str, tuple[ReplacedValue, ...]] = ("", ())
    """Path of the note whose claim is replaced, and the values that it gives up."""
    both_kept: Conflict | None = None
    """The conflict, if both sides are kept."""
    merged: Conflict | None = None
    """The conflict, if its notes are merged."""
    confirmed_paths: tuple[str, ...] = ()
    """Paths of the notes that the user thereby confirms, with the resulting text."""
    retire_instead: Resolution | None = None
    """The alternative that retires the note instead of replacing its claim."""


def compose_resolution(notebook: Notebook, memory: Memory, settled: Resolution) -> ChangeSet:
    """Return the change set of a resolution, with warnings on lines that still have the old value,
    and on a merged note that still has both claims. If both sides are kept and still look
    contradictory, their pair is dismissed with it. Raises ChangeRefused.
    """
    changes = [Change(act, settled.reason) for act in settled.acts]
    change_set = build_change_set(notebook, memory, changes)
    after = apply_edits(memory, change_set.edits)
    lines = [
        make_one_line(line)
        for line in islice(find_remaining_lines(after, *settled.replaced), _MOST_LINES)
    ]
    notes = [after.by_path[path] for path in settled.confirmed_paths if path in after.by_path]
    if settled.merged is not None:
        lines += [text for note in notes if (text := describe_both_claims(note, settled.merged))]
    dismisses = (
        tuple(_ids_still_found(memory, after, settled.both_kept)) if settled.both_kept else ()
    )
    warnings = [*change_set.warnings, *(f"{line}." for line in lines)]
    if dismisses:
        warnings.append(_STILL_OPPOSED)
    confirms = tuple(filter(None, (compute_digest(note.raw) for note in notes)))
    return replace(change_set, warnings=tuple(warnings), dismisses=dismisses, confirms=confirms)


def resolve_for_one(memory: Memory, conflict: Conflict, keep: Keep) -> Resolution:
    """Return the resolution that keeps one side: the other note is retired or, if it says more than
    its claim, only the contradicting statements are replaced. Raises ChangeRefused if a claim is
    gone.
    """
    kept_side, other = conflict.get_side(keep), conflict.get_other_side(keep)
    note, lost = _notes(memory, kept_side, other)
    if conflict.is_of_whole:
        return _keep_one_copy(note, lost)
    wrong = find_claims(conflict, lost, note, keep.opposite)
    reason = f"conflict resolved for {note.path}: {conflict.reason}"
    done = _retired_message(lost, note)
    retired = Resolution(
        (Retire(lost.path, note.path),), reason, done, confirmed_paths=(note.path,)
    )
    if not says_more(lost, note, wrong):
        return retired
    values = find_replaced_values(other.quote.text, kept_side.quote.text)
    texts = {statement: _replaced(statement.text, new, values) for statement, new in wrong.items()}
    acts = reword_claims(memory, lost, texts, _replacing(kept_side, values))
    done = f"{make_visible(lost.path)} says more than this: only its claim is replaced"
    paths = (note.path, lost.path)
    return Resolution(
        tuple(acts),
        reason,
        done,
        (lost.path, values),
        confirmed_paths=paths,
        retire_instead=retired,
    )


def resolve_for_both(memory: Memory, conflict: Conflict, left: str, right: str) -> Resolution:
    """Return the resolution that keeps both claims, each limited to the scope `left` or `right`,
    such as "since May"; one of them may be "". Raises ChangeRefused.
    """
    if conflict.is_of_whole:
        raise ChangeRefused("These notes may say the same: keep one, merge or dismiss them.")
    if not left.strip() and not right.strip():
        raise ChangeRefused("To keep both, enter when or for what at least one of them is true.")
    notes = _notes(memory, conflict.left, conflict.right)
    acts: list[ChangeOperation] = []
    for of, note, other, limit in (
        (Keep.LEFT, notes[0], notes[1], left),
        (Keep.RIGHT, notes[1], notes[0], right),
    ):
        if limit.strip():
            scope = _scope(limit)
            statements = find_claims(conflict, note, other, of)
            texts = {statement: _with_scope(statement.text, scope) for statement in statements}
            acts += reword_claims(memory, note, texts, _limiting(conflict, of, scope))
    done = "Both notes are kept, each for its own scope"
    paths = tuple(note.path for note in notes)
    reason = f"both kept: {conflict.reason}"
    return Resolution(tuple(acts), reason, done, both_kept=conflict, confirmed_paths=paths)


def _keep_one_copy(note: Note, lost: Note) -> Resolution:
    """Return the resolution that keeps one of two notes that say nearly the same."""
    reason = f"{lost.path} says nearly the same as {note.path}"
    more = ", though it says more than that" if says_more(lost, note, {}) else ""
    done = f"{_retired_message(lost, note)}{more}"
    return Resolution((Retire(lost.path, note.path),), reason, done, confirmed_paths=(note.path,))


def _retired_message(lost: Note, note: Note) -> str:
    return (
        f"{make_visible(lost.path)} is retired, links to it now point to {make_visible(note.path)}"
    )


def compose_merged_text(memory: Memory, conflict: Conflict) -> tuple[str, str, str]:
    """Return the path of the note to keep, the path of the note to retire, and a combined text for
    the user to edit. The note that the suggestion keeps is kept. Raises ChangeRefused.
    """
    keep = conflict.suggestion.keep
    note, other = _notes(memory, conflict.get_side(keep), conflict.get_other_side(keep))
    body = other.body.strip("\n")
    gap = "" if note.text.endswith("\n") else "\n"
    return note.path, other.path, f"{note.text}{gap}\n## From {other.name}\n\n{body}\n"


def resolve_by_merge(path: str, other: str, text: str, conflict: Conflict) -> Resolution:
    """Return the resolution that merges `other` into the note at `path` and retires it."""
    done = f"{make_visible(other)} is part of {make_visible(path)} now"
    reason = f"conflict resolved: {other} merged"
    act = Merge(path, other, text)
    return Resolution((act,), reason, done, merged=conflict, confirmed_paths=(path,))


def describe_both_claims(note: Note, conflict: Conflict) -> str:
    """Return which two statements of a merged `note` still contradict each other as those of the
    `conflict` did; "" for none.
    """
    left, right = conflict.left.quote.text, conflict.right.quote.text
    texts = [statement.text for statement in extract_note_statements(note)]
    as_left = (text for text in texts if text == left or find_opposition(text, right))
    as_right = (text for text in texts if text == right or find_opposition(left, text))
    pair = next(as_left, ""), next(as_right, "")
    if not all(pair):
        return ""
    claims = " and ".join(f"“{make_one_line(mask(text))}”" for text in pair)
    return f"{make_visible(note.path)} still says both {claims}"


def _notes(memory: Memory, *sides: Side) -> tuple[Note, ...]:
    """Return the present notes of `sides`. Raises ChangeRefused if a claim is gone."""
    notes: list[Note] = []
    for side in sides:
        note = memory.by_path.get(side.quote.path)
        if note is None or (side.quote.text and find_span(note, side.quote) is None):
            path = make_visible(side.quote.path)
            raise ChangeRefused(f"No longer applies: {path} changed.")
        notes.append(note)
    return tuple(notes)


def _replaced(text: str, claim: str, values: tuple[ReplacedValue, ...]) -> str:
    """Return the replacement of a statement: the statement with the kept values if that removes
    the contradiction, else the kept statement.
    """
    corrected = replace_values(text, values)
    if corrected != text and not find_opposition(corrected, claim):
        return corrected
    return strip_final_punctuation(claim) + get_final_punctuation(text)


def _replacing(side: Side, values: tuple[ReplacedValue, ...]) -> Reword:
    """Return a function that replaces a contradicting line by the kept claim."""

    def words(line: str) -> str:
        new = replace_values(line, values)
        if new == line and find_opposition(line, side.quote.text):
            return strip_final_punctuation(side.quote.text)
        return new

    return words


def _limiting(conflict: Conflict, of: Keep, scope: str) -> Reword:
    """Return a function that adds the scope to lines that make the claim of one side."""
    mine, other = conflict.get_side(of).quote.text, conflict.get_other_side(of).quote.text
    values = find_replaced_values(mine, other)

    def words(line: str) -> str:
        is_claim = bool(find_named_value(line, values)) or bool(find_opposition(line, other))
        return _with_scope(line, scope) if is_claim else line

    return words


def _ids_still_found(memory: Memory, after: Memory, conflict: Conflict) -> Iterator[str]:
    """Yield the ids under which the notes of a conflict would be reported again; without those of
    other conflicts that they had before.
    """
    paths = conflict.left.quote.path, conflict.right.quote.path
    others = _contradictions(memory, *paths).items()
    before = {texts for texts, reason in others if reason != conflict.reason} - {
        (conflict.left.quote.text, conflict.right.quote.text)
    }
    for texts in _contradictions(after, *paths).keys() - before:
        yield finding_id(CONTRADICTION_RULE, "", build_cause_of_texts(*texts))


def _contradictions(memory: Memory, left: str, right: str) -> dict[tuple[str, str], str]:
    """Return all pairs of statements of two notes that contradict each other, with the reason."""
    mine, theirs = (extract_note_statements(memory.by_path[path]) for path in (left, right))
    pairs = ((it.text, its.text) for it in mine for its in theirs)
    return {texts: reason for texts in pairs if (reason := find_contradiction(*texts))}


def _scope(words: str) -> str:
    """Return what the user typed, with “for” before it if it has no preposition."""
    plain = " ".join(words.split()).rstrip(".")
    first = _WORD.match(plain.lower())
    known = (list_expressions("opposition", part) for part in ("scope", "since", "bare_scope"))
    return plain if first and first.group() in chain(*known) else f"for {plain}"


def _with_scope(text: str, scope: str) -> str:
    """Return a statement with a scope before its final punctuation."""
    return f"{strip_final_punctuation(text)} {scope}{get_final_punctuation(text)}"
