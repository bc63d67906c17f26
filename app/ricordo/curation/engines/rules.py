"""The engine that needs no key and no network: it finds by patterns what the person said."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ricordo.curation.brief import Brief
from ricordo.curation.engine import CurationProgress, EngineAnswer, Step
from ricordo.curation.gist import gist, share
from ricordo.curation.placement import PlacementContext, place
from ricordo.curation.proposal import RULES, ProposedChange, Quoted, curator, retired
from ricordo.curation.spoken import Heard
from ricordo.lexicon import lowered, pattern
from ricordo.lint.contradictions.statements import NoteStatement, sayings
from ricordo.lint.evidence import NotePair, Relation
from ricordo.lint.finding import Finding
from ricordo.lint.prose import statements
from ricordo.memory.change import AddLink, Author, Merge, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note

_MENDED = ("index-missing-file", "unindexed-note", "index-duplicate-entry", "dead-link")
"""Rules whose safe fixes put the index and the links in order. Entries that are missing are
proposed too where a fix would not add them unseen, for a proposal is seen.
"""
_REPEATED = 0.6
"""Share of a statement that a note says elsewhere, from which it is not taken over in a merge."""
_FEWEST_WORDS = 2
"""Words of a name, under which it may be a word of every text."""
_MOST_LINKS = 20
_WORD = re.compile(r"[^\W_]+")
_JOINED_BEFORE, _JOINED_BEHIND = re.compile(r"[\w/\[-]\Z"), re.compile(r"[\w/\]-]|\.\w")


def tidied(
    memory: Memory,
    pairs: Iterable[NotePair],
    findings: Iterable[Finding],
    confirmed: Collection[str] = (),
) -> Iterator[ProposedChange]:
    """Yield the changes that put `memory` in order, by what was found in it. Of two notes that say
    the same, one that the user `confirmed`, given by its path, stays.
    """
    pairs = tuple(pairs)
    gone: set[str] = set()
    for wish in (*_superseded(memory, pairs), *_merged(memory, pairs, confirmed)):
        goes = retired(wish.act)
        if goes not in gone:
            gone.add(goes)
            yield wish
    yield from _mended(memory, findings, gone)
    yield from _linked(memory, gone)


def _superseded(memory: Memory, pairs: Iterable[NotePair]) -> Iterator[ProposedChange]:
    """Notes that a newer one says it replaces, with which it cannot both hold or which it links."""
    excluded = {
        frozenset((it.left.path, it.right.path)) for it in pairs if it.relation is Relation.EXCLUDES
    }
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.readable:
            continue
        for old, quote in _replaced_by(memory, note):
            is_opposed = frozenset((note.path, old.path)) in excluded
            if is_opposed or (old.stamped and old.stamped < note.stamped):
                reason = f"{note.stem} says that it replaces it"
                yield ProposedChange(
                    Retire(old.path, note.path), reason, (Quoted(note.path, quote),)
                )


def _replaced_by(memory: Memory, note: Note) -> Iterator[tuple[Note, str]]:
    for found in memory.links.get(note.path, ()):
        if found.leads is not Leads.NOTE or found.path == note.path:
            continue
        old = memory.by_path[found.path]
        if note.path in {it.path for it in memory.links.get(old.path, ())}:
            # it tells itself what took its place
            continue
        before = note.text.rfind("\n", 0, found.link.start) + 1
        lead = lowered(note.text[before : found.link.start])
        match = list(pattern("replaces").finditer(lead))
        if old.role is FileRole.NOTE and match and len(lead) - match[-1].end() <= 12:
            yield old, note.text[before : found.link.end]


def _merged(
    memory: Memory, pairs: Iterable[NotePair], confirmed: Collection[str]
) -> Iterator[ProposedChange]:
    def weight(note: Note) -> tuple[bool, int, int, str]:
        return (note.path in confirmed, *_weight(memory, note))

    for pair in pairs:
        notes = [memory.by_path.get(it.path) for it in (pair.left, pair.right)]
        one, other = notes
        if pair.relation is not Relation.REPEATS or one is None or other is None:
            continue
        kept, gone = sorted((one, other), key=weight, reverse=True)
        rest = _not_said(kept, gone)
        text = kept.text.rstrip("\n") + "\n" + "".join(f"\n{it.text}\n" for it in rest)
        evidence = tuple(
            Quoted(it.path, quote) for it in (kept, gone) if (quote := _first_line(it))
        )
        yield ProposedChange(
            Merge(kept.path, gone.path, text), "they say nearly the same", evidence
        )


def _weight(memory: Memory, note: Note) -> tuple[int, int, str]:
    """What speaks for keeping a note: who leads to it, how much it says, how new it is."""
    return len(memory.backlinks.get(note.path, ())), len(note.body), note.stamped


def _not_said(kept: Note, gone: Note) -> list[NoteStatement]:
    """Return what the note that goes says and the other does not."""
    known = [gist(it.text) for it in sayings(kept)]
    return [
        said
        for said in sayings(gone)
        if not said.in_head and not any(share(gist(said.text), it) >= _REPEATED for it in known)
    ]


def _first_line(note: Note) -> str:
    return next((line for line in note.body.split("\n") if line.strip()), "")


def _mended(
    memory: Memory, findings: Iterable[Finding], gone: set[str]
) -> Iterator[ProposedChange]:
    for finding in findings:
        fix = finding.fix
        is_right = fix is not None and (fix.safe or finding.rule == "unindexed-note")
        if finding.rule not in _MENDED or fix is None or not is_right or fix.paths & gone:
            continue
        file = memory.by_path.get(finding.path)
        quote = file.text.split("\n")[finding.line - 1] if file and finding.line else ""
        quote = quote or (_first_line(file) if file else "")
        evidence = (Quoted(finding.path, quote),) if quote else ()
        for act in fix.acts:
            yield ProposedChange(act, f"{finding.rule}: {fix.label}", evidence, finding=finding.id)


def _linked(memory: Memory, gone: set[str]) -> Iterator[ProposedChange]:
    """Notes that name another one and do not lead to it."""
    names = _telling_names(memory)
    if not names:
        return
    found = 0
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.readable or note.path in gone:
            continue
        led = {it.path for it in memory.links.get(note.path, ())}
        for target, quote in _named(note, names):
            if target.path not in led | gone | {note.path} and found < _MOST_LINKS:
                found += 1
                led.add(target.path)
                reason = f"it names {target.stem} and does not lead there"
                yield ProposedChange(
                    AddLink(note.path, target.path), reason, (Quoted(note.path, quote),)
                )


def _telling_names(memory: Memory) -> dict[str, dict[str, Note]]:
    """Return the notes by names that stand for nothing else, in lower case, and those by their
    first words.
    """
    found: dict[str, Note | None] = {}
    for note in memory.notes:
        if note.role is not FileRole.NOTE:
            continue
        for name in {note.name.lower(), note.stem.lower()}:
            if len(_WORD.findall(name)) >= _FEWEST_WORDS:
                found[name] = None if name in found else note
    by_first: dict[str, dict[str, Note]] = {}
    for name, named in found.items():
        if named is not None:
            by_first.setdefault(_WORD.findall(name)[0], {})[name] = named
    return by_first


def _named(note: Note, names: dict[str, dict[str, Note]]) -> Iterator[tuple[Note, str]]:
    for statement in statements(note):
        plain = lowered(statement.spoken)
        for first in dict.fromkeys(_WORD.findall(plain)):
            for name, target in names.get(first, {}).items():
                at = plain.find(name)
                if at >= 0 and _stands_alone(plain, at, at + len(name)):
                    yield target, statement.quoted(at)


def _stands_alone(plain: str, start: int, end: int) -> bool:
    """Whether it is no part of a longer word, a path or a torn link."""
    return not _JOINED_BEFORE.search(plain, 0, start) and not _JOINED_BEHIND.match(plain, end)


COMPARING = "comparing with the notes"
_SAID_AGAIN = 0.8
_MOST_TIDIED = 60
"""Changes that only put things in order: nobody looks through more at once, and what is left comes
with the next curation.
"""


@dataclass(frozen=True, slots=True)
class RulesEngine:
    """The engine, for one curation."""

    known: PlacementContext
    said: tuple[Heard, ...]
    findings: tuple[Finding, ...]

    @property
    def author(self) -> Author:
        """The rules."""
        return curator(RULES)

    def answer(self, memory: Memory, brief: Brief, step: Step) -> EngineAnswer:
        """Return what the rules would change. They need no brief: what it is made of is at hand."""
        return EngineAnswer(tuple(self._wishes(lambda: step(CurationProgress(COMPARING)))))

    def _wishes(self, step: Callable[[], None]) -> Iterable[ProposedChange]:
        """Return what the rules would change: first for what was said, in the order of time, then
        to put the memory in order. Each change is wished once.
        """
        found: dict[object, ProposedChange] = {}
        for it in _newest(self.said):
            step()
            for wish in place(self.known, it):
                found.setdefault(wish.act, wish)
        gone = {path for it in found.values() if (path := retired(it.act))}
        in_order = tidied(self.known.memory, self.known.pairs, self.findings, self.known.confirmed)
        for wish in islice(in_order, _MOST_TIDIED):
            step()
            if retired(wish.act) not in gone:
                found.setdefault(wish.act, wish)
        return found.values()


def _newest(said: Iterable[Heard]) -> Iterator[Heard]:
    """Yield what was said, and of what was said more than once the last saying only."""
    them = sorted(said, key=lambda it: it.spoken.day)
    gists = [gist(it.statement) for it in them]
    for number, it in enumerate(them):
        later = gists[number + 1 :]
        if not any(share(gists[number], its) >= _SAID_AGAIN for its in later):
            yield it
