"""The engine that needs no key and no network: it finds statements of the user by patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ricordo.curation.brief import Brief
from ricordo.curation.drift import find_lost_facts
from ricordo.curation.engine import CurationProgress, EngineAnswer, Step
from ricordo.curation.gist import extract_stems, measure_share
from ricordo.curation.placement import PlacementContext, correct_notes, place_statement
from ricordo.curation.proposal import (
    RULES,
    EvidenceQuote,
    ProposedChange,
    find_retired_path,
    make_curator,
)
from ricordo.curation.user_messages import MemorableStatement
from ricordo.errors import ChangeRefused
from ricordo.lexicon import lower_text, statement_pattern
from ricordo.lint.contradictions.statements import NoteStatement, extract_note_statements
from ricordo.lint.evidence import NotePair, Relation
from ricordo.lint.finding import Finding
from ricordo.lint.prose import extract_statements
from ricordo.memory.change import AddEntry, AddLink, Author, Change, Merge, Retire
from ricordo.memory.compose import compose
from ricordo.memory.draft import apply_edits
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note

_FIXED_RULES = ("index-missing-file", "unindexed-note", "index-duplicate-entry", "dead-link")
"""Rules whose safe fixes tidy the index and the links. Missing entries are proposed even where
their fix is not safe, for the user sees each proposal.
"""
_REPEATED = 0.6
"""Share of a statement that the other note has already, from which a merge leaves it out."""
_FEWEST_WORDS = 2
"""Words of a name; a shorter name may be an ordinary word."""
_MOST_LINKS = 20
_WORD = re.compile(r"[^\W_]+")
_WORD_BEFORE, _WORD_BEHIND = re.compile(r"[\w/\[-]\Z"), re.compile(r"[\w/\]-]|\.\w")


def propose_tidying(
    memory: Memory,
    pairs: Iterable[NotePair],
    findings: Iterable[Finding],
    confirmed: Collection[str] = (),
) -> Iterator[ProposedChange]:
    """Yield the changes that tidy `memory`, by its `findings` and `pairs`. Of two duplicates the
    one that the user `confirmed`, given by its path, stays.
    """
    pairs = tuple(pairs)
    gone: set[str] = set()
    for change in (*_find_superseded(memory, pairs), *_merge_duplicates(memory, pairs, confirmed)):
        path = find_retired_path(change.act)
        if path not in gone:
            gone.add(path)
            yield change
    yield from _propose_fixes(memory, findings, gone)
    yield from _propose_links(memory, gone)


def _find_superseded(memory: Memory, pairs: Iterable[NotePair]) -> Iterator[ProposedChange]:
    """Yield a retirement for each note that a newer one says it replaces: one that it contradicts,
    or that it links to.
    """
    contradictions = {
        frozenset((pair.left.path, pair.right.path))
        for pair in pairs
        if pair.relation is Relation.CONTRADICTS
    }
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.is_readable:
            continue
        for old, quote in _find_replaced(memory, note):
            is_contradicted = frozenset((note.path, old.path)) in contradictions
            if is_contradicted or (old.stated_date and old.stated_date < note.stated_date):
                reason = f"{note.stem} says that it replaces it"
                yield ProposedChange(
                    Retire(old.path, note.path), reason, (EvidenceQuote(note.path, quote),)
                )


def _find_replaced(memory: Memory, note: Note) -> Iterator[tuple[Note, str]]:
    """Yield the notes that `note` says it replaces, each with the quote."""
    for target in memory.links.get(note.path, ()):
        if target.target_kind is not TargetKind.NOTE or target.path == note.path:
            continue
        old = memory.by_path[target.path]
        if note.path in {link.path for link in memory.links.get(old.path, ())}:
            # the old note links to its successor itself
            continue
        before = note.text.rfind("\n", 0, target.link.start) + 1
        lead = lower_text(note.text[before : target.link.start])
        matches = list(statement_pattern("replaces").finditer(lead))
        if statement_pattern("partly").search(lead):
            continue
        if old.role is FileRole.NOTE and matches and len(lead) - matches[-1].end() <= 12:
            yield old, note.text[before : target.link.end]


def _merge_duplicates(
    memory: Memory, pairs: Iterable[NotePair], confirmed: Collection[str]
) -> Iterator[ProposedChange]:
    def weight(note: Note) -> tuple[bool, int, int, str]:
        return (note.path in confirmed, *_rank(memory, note))

    for pair in pairs:
        one, other = (memory.by_path.get(quote.path) for quote in (pair.left, pair.right))
        if pair.relation is not Relation.REPEATS or one is None or other is None:
            continue
        if _has_own_subject(one, other) and _has_own_subject(other, one):
            # one form, filled in for two things
            continue
        staying, leaving = sorted((one, other), key=weight, reverse=True)
        rest = _find_missing(staying, leaving)
        text = staying.text.rstrip("\n") + "\n" + "".join(f"\n{each.text}\n" for each in rest)
        evidence = tuple(
            EvidenceQuote(note.path, quote)
            for note in (staying, leaving)
            if (quote := _first_line(note))
        )
        yield ProposedChange(
            Merge(staying.path, leaving.path, text), "they say nearly the same", evidence
        )


def _has_own_subject(note: Note, other: Note) -> bool:
    """Return whether the title of a note has a word that the other one nowhere has, and its body a
    name or a figure.
    """
    title = f"{note.path.removesuffix('.md')} {note.name} {note.description}".replace("_", " ")
    if extract_stems(title) <= extract_stems(f"{other.path} {other.text}".replace("_", " ")):
        return False
    own = find_lost_facts(note.body, other.body)
    return any(fact.kind in ("name", "number", "date") for fact in own)


def _rank(memory: Memory, note: Note) -> tuple[int, int, str]:
    """Return a sort key for the note to keep: by backlinks, then length, then date."""
    return len(memory.backlinks.get(note.path, ())), len(note.body), note.stated_date


def _find_missing(staying: Note, leaving: Note) -> list[NoteStatement]:
    """Return the statements of the leaving note that the staying one lacks."""
    known = [extract_stems(statement.text) for statement in extract_note_statements(staying)]
    return [
        statement
        for statement in extract_note_statements(leaving)
        if not statement.in_frontmatter
        and not any(
            measure_share(extract_stems(statement.text), stems) >= _REPEATED for stems in known
        )
    ]


def _first_line(note: Note) -> str:
    return next((line for line in note.body.split("\n") if line.strip()), "")


def _propose_fixes(
    memory: Memory, findings: Iterable[Finding], gone: set[str]
) -> Iterator[ProposedChange]:
    listing, findings = memory, tuple(findings)
    refuted = {it.path for it in findings if _is_of_description(memory, it)}
    for finding in findings:
        fix = finding.fix
        is_offered = fix is not None and (fix.safe or finding.rule == "unindexed-note")
        if finding.rule not in _FIXED_RULES or fix is None or not is_offered or fix.paths & gone:
            continue
        file = memory.by_path.get(finding.path)
        quote = file.text.split("\n")[finding.line - 1] if file and finding.line else ""
        quote = quote or (_first_line(file) if file else "")
        evidence = (EvidenceQuote(finding.path, quote),) if quote else ()
        for act in fix.acts:
            if not isinstance(act, AddEntry):
                reason = f"{finding.rule}: {fix.label}"
                yield ProposedChange(act, reason, evidence, finding=finding.id)
            elif act.note not in refuted and (longer := _add_entry(listing, act)) is not None:
                listing, first = longer, _first_line(memory.by_path[act.note])
                reason = f"{finding.rule}: add an entry to {act.path}"
                quotes = (EvidenceQuote(act.note, first),) if first else evidence
                yield ProposedChange(act, reason, quotes, finding=finding.id)


def _is_of_description(memory: Memory, finding: Finding) -> bool:
    """Return whether the text of a note refutes its description, which its entry would repeat."""
    note = memory.by_path.get(finding.path)
    if finding.rule != "inconsistent-note" or note is None:
        return False
    return finding.line <= note.text.count("\n", 0, note.frontmatter.end)


def _add_entry(memory: Memory, act: AddEntry) -> Memory | None:
    """Return `memory` with another entry; None where agents would then not load all of the index
    and one more, or the entry cannot be added.
    """
    try:
        added = apply_edits(memory, compose(memory, [Change(act)]).edits)
    except ChangeRefused:
        return None
    return added if added.load.cut_at_line is None and added.load.has_room else None


def _propose_links(memory: Memory, gone: set[str]) -> Iterator[ProposedChange]:
    """Yield a link for each note that names another one without linking to it."""
    names = _find_unique_names(memory)
    if not names:
        return
    count = 0
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.is_readable or note.path in gone:
            continue
        linked = {link.path for link in memory.links.get(note.path, ())}
        for target, quote in _find_mentions(note, names):
            if target.path not in linked | gone | {note.path} and count < _MOST_LINKS:
                count += 1
                linked.add(target.path)
                reason = f"names {target.stem} without linking to it"
                yield ProposedChange(
                    AddLink(note.path, target.path), reason, (EvidenceQuote(note.path, quote),)
                )


def _find_unique_names(memory: Memory) -> dict[str, dict[str, Note]]:
    """Return the notes by their unique names in lower case, grouped by the first word of the name:
    titles of pages, and names whose words are joined; others may be ordinary words of a sentence.
    """
    by_name: dict[str, Note | None] = {}
    for note in memory.notes:
        if note.role is not FileRole.NOTE:
            continue
        for name in {note.name.lower(), note.stem.lower()}:
            is_name = memory.layout.has_own_conventions or " " not in name
            if is_name and len(_WORD.findall(name)) >= _FEWEST_WORDS:
                by_name[name] = None if name in by_name else note
    by_first: dict[str, dict[str, Note]] = {}
    for name, named in by_name.items():
        if named is not None:
            by_first.setdefault(_WORD.findall(name)[0], {})[name] = named
    return by_first


def _find_mentions(note: Note, names: dict[str, dict[str, Note]]) -> Iterator[tuple[Note, str]]:
    for statement in extract_statements(note):
        plain = lower_text(statement.prose)
        for first in dict.fromkeys(_WORD.findall(plain)):
            for name, target in names.get(first, {}).items():
                at = plain.find(name)
                if at >= 0 and _is_whole_word(plain, at, at + len(name)):
                    yield target, statement.line_text_at(at)


def _is_whole_word(plain: str, start: int, end: int) -> bool:
    """Return whether a match is not part of a longer word, a path or a broken link."""
    return not _WORD_BEFORE.search(plain, 0, start) and not _WORD_BEHIND.match(plain, end)


COMPARING = "comparing with the notes"
_SAID_AGAIN = 0.8
_MOST_TIDIED = 60
"""Changes that only tidy: nobody reviews more at once, and the rest comes with the next curation.
"""


@dataclass(frozen=True, slots=True)
class RulesEngine:
    """The rules engine, for one curation."""

    context: PlacementContext
    statements: tuple[MemorableStatement, ...]
    facts: tuple[MemorableStatement, ...]
    """What else the user stated, which counts only where a note says otherwise."""
    findings: tuple[Finding, ...]

    @property
    def author(self) -> Author:
        """The rules."""
        return make_curator(RULES)

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return the changes that the rules propose. They do not read the brief."""
        return EngineAnswer(tuple(self._propose(lambda: step(CurationProgress(COMPARING)))))

    def _propose(self, step: Callable[[], None]) -> Iterable[ProposedChange]:
        """Return the proposed changes, each once: first for the user's statements in order of time,
        then to tidy the memory.
        """
        changes: dict[object, ProposedChange] = {}
        for statement in _drop_repeated(self.statements):
            step()
            for change in place_statement(self.context, statement):
                changes.setdefault(change.act, change)
        placed = {quote for statement in self.statements for quote in statement.saying.quotes}
        for fact in _drop_repeated(self.facts):
            step()
            if placed.isdisjoint(fact.saying.quotes):
                for change in correct_notes(self.context, fact):
                    changes.setdefault(change.act, change)
        retired = {path for change in changes.values() if (path := find_retired_path(change.act))}
        tidying = propose_tidying(
            self.context.memory, self.context.pairs, self.findings, self.context.confirmed
        )
        for change in islice(tidying, _MOST_TIDIED):
            step()
            if find_retired_path(change.act) not in retired:
                changes.setdefault(change.act, change)
        return changes.values()


def _drop_repeated(statements: Iterable[MemorableStatement]) -> Iterator[MemorableStatement]:
    """Yield the statements by day; of one that was repeated only the last."""
    ordered = sorted(statements, key=lambda statement: statement.message.day)
    gists = [extract_stems(statement.statement) for statement in ordered]
    for number, statement in enumerate(ordered):
        later = gists[number + 1 :]
        if not any(measure_share(gists[number], stems) >= _SAID_AGAIN for stems in later):
            yield statement
