"""What the user decided, as a curator has to know it: it binds every engine, until the user says
something newer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime

from ricordo.curation.gist import gist, share, values
from ricordo.curation.proposal import op_of, retired
from ricordo.lint.contradictions.records import cause_of_texts
from ricordo.lint.contradictions.statements import sayings
from ricordo.lint.evidence import NotePair, Relation
from ricordo.lint.finding import finding_id
from ricordo.lint.prose import statements
from ricordo.lint.rules.relations import RULE_OF
from ricordo.memory.change import Act, AddEntry, Create, Edit, Insert, Merge, Replace, Retire
from ricordo.memory.draft import with_edits
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import one_line

_SAID_AGAIN = 0.8
"""Share of the words of each of two texts that the other has, from which they say the same."""
_ANY_DAY = date(2000, 1, 1)
"""For both of two texts: relative dates in them are made the same."""
_LEFT_TO_YOU = "the person says that this note is wrong, and leaves it to you"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A note whose present text the user confirmed."""

    at: datetime
    how: str
    """As “still true”."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that the user refused."""

    act: Act
    at: datetime
    reason: str = ""
    """Why it had been proposed."""


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A finding that the user dismissed."""

    path: str
    told: str
    """Its rule and message."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Told:
    """A decision in words, for an engine that is told of it."""

    what: str
    """As “refused”."""
    at: datetime
    told: str
    path: str = ""
    """The note that it is about; "" where it is about none that is there."""


@dataclass(frozen=True, slots=True)
class UserDecisions:
    """What the user decided of a memory and did not undo."""

    confirmed: Mapping[str, Confirmed] = field(default_factory=dict)
    """By the paths of the notes."""
    wrong: Mapping[str, datetime] = field(default_factory=dict)
    """When the user said of a note, as it is, that it is wrong and left it to the curator, by its
    path.
    """
    deleted: Mapping[str, datetime] = field(default_factory=dict)
    """When the user accepted that others deleted a note, by its path."""
    refused: Sequence[Refused] = ()
    dismissed: Sequence[Dismissed] = ()
    fine: Mapping[str, datetime] = field(default_factory=dict)
    """When findings were dismissed, those too that are not found now, by their ids."""

    def objection(
        self, memory: Memory, act: Act, edits: Sequence[Edit], said: datetime | None
    ) -> str:
        """Return why an act, which comes to these `edits` of `memory`, would go against a decision;
        "" where it does not. `said` is when the newest words that it rests on were said, None where
        that is not known: what the user said after a decision counts more than that.
        """

        def binds(at: datetime) -> bool:
            return said is None or said <= at

        for path in _loses_statements(memory, act, edits):
            it = self.confirmed.get(path)
            if it is not None and binds(it.at):
                return f"You said on {_day(it.at)} of {one_line(path)}: {it.how}."
        if isinstance(act, Create) and (at := self.deleted.get(act.path)) and binds(at):
            return f"You accepted on {_day(at)} that {one_line(act.path)} was deleted."
        if any(binds(at) for at in self._both_stay(memory, *_pair(act))):
            return "You said that these two notes are neither a conflict nor duplicates."
        for refused in self.refused:
            if binds(refused.at) and _is_same(refused.act, act):
                return f"You refused this on {_day(refused.at)}."
        return ""

    def newest(self, paths: Collection[str], most: int) -> list[Told]:
        """Return at most so many decisions, the newest first, on the notes at `paths`, and those
        that are about no note.
        """
        found = [Told("confirmed", it.at, it.how, path) for path, it in self.confirmed.items()]
        found += [Told("wrong", at, _LEFT_TO_YOU, path) for path, at in self.wrong.items()]
        found += [Told("dismissed", it.at, it.told, it.path) for it in self.dismissed]
        found = [it for it in found if it.path in paths]
        for it in self.refused:
            path = retired(it.act) or str(getattr(it.act, "path", ""))
            found.append(Told("refused", it.at, _told_of(it), path if path in paths else ""))
        found += [Told("accepted", at, f"{path} was deleted") for path, at in self.deleted.items()]
        return sorted(found, key=lambda it: it.at, reverse=True)[:most]

    def is_fine(self, pair: NotePair, memory: Memory) -> bool:
        """Say whether the user said of a pair that nothing has to go."""
        one, other = (
            quote.text or (note.body if (note := memory.by_path.get(quote.path)) else "")
            for quote in (pair.left, pair.right)
        )
        return finding_id(RULE_OF[pair.relation], "", cause_of_texts(one, other)) in self.fine

    def _both_stay(self, memory: Memory, *paths: str) -> Iterator[datetime]:
        """Yield when the user said so of two notes, or of a claim of each."""
        notes = [memory.by_path[path] for path in paths if path in memory.by_path]
        if len(notes) < 2 or not self.fine:
            return
        one, other = notes
        pairs = [(RULE_OF[Relation.REPEATS], one.body, other.body)]
        for mine in sayings(one):
            pairs += [(RULE_OF[Relation.EXCLUDES], mine.text, it.text) for it in sayings(other)]
        for rule, left, right in pairs:
            at = self.fine.get(finding_id(rule, "", cause_of_texts(left, right)))
            if at is not None:
                yield at


NOTHING_DECIDED = UserDecisions()


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _pair(act: Act) -> tuple[str, ...]:
    """Return the paths of the two notes of which an act keeps one; none where it does not."""
    match act:
        case Merge(path=path, other=other):
            return path, other
        case Retire(path=path, successor=str(successor)) if successor:
            return path, successor
        case _:
            return ()


def _loses_statements(memory: Memory, act: Act, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield the paths of the notes of which a statement would be gone. One that goes into another
    note is not.
    """
    after = with_edits(memory, edits)
    for edit in edits:
        note = memory.by_path.get(edit.path)
        if note is None:
            continue
        stays = act.path if isinstance(act, Merge) and edit.path == act.other else edit.path
        now = after.by_path.get(stays)
        if now is None or not _holds(now, note):
            yield edit.path


def _holds(now: Note, note: Note) -> bool:
    """Whether a note says all that another one states, word by word; where links lead is no
    statement.
    """
    said = _words(f"{now.description}\n{now.body}")
    wanted = (_words(it.text) for it in statements(note))
    return all(it in said for it in wanted)


def _words(text: str) -> str:
    plain = re.sub(r"\]\([^)\n]*\)|\[\[[^\]\n]*\]\]", " ", text.lower())
    return f" {' '.join(_WORD.findall(plain))} "


def _is_same(refused: Act, act: Act) -> bool:
    """Whether an act would do what one that was refused would have done."""
    if asdict(refused) == asdict(act) and type(refused) is type(act):
        return True
    if retired(refused) or retired(act):
        return retired(refused) == retired(act)
    if isinstance(refused, AddEntry) and isinstance(act, AddEntry):
        return (refused.path, refused.note) == (act.path, act.note)
    is_about = isinstance(refused, Create) and isinstance(act, Create)
    if not is_about and getattr(refused, "path", "") != getattr(act, "path", ""):
        return False
    old, new = _brought(refused), _brought(act)
    one, other = gist(old), gist(new)
    if not one or not other or min(share(one, other), share(other, one)) < _SAID_AGAIN:
        return False
    # one value is all that many corrections differ in
    return values(old, _ANY_DAY) == values(new, _ANY_DAY)


def _brought(act: Act) -> str:
    """Return the text that an act brings."""
    match act:
        case Create(text=text):
            return text[frontmatter.read(text).end :]
        case Insert(text=text):
            return text
        case Replace(old=old, new=new):
            return new or old
        case _:
            return ""


def _told_of(it: Refused) -> str:
    """Return a refused proposal in a few words."""
    brought = " ".join(_brought(it.act).split())
    return f"{op_of(it.act)}: {brought or it.reason}"
