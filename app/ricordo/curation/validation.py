"""Checking wishes before anybody sees them: does the change fit, does its evidence stand where it
is said to stand, and what would be lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ricordo.curation import drift
from ricordo.curation.gist import gist
from ricordo.curation.proposal import (
    Alarm,
    Proposal,
    ProposedChange,
    Quoted,
    Rejected,
    ValidationResult,
    op_of,
    retired,
)
from ricordo.curation.user_decisions import NOTHING_DECIDED, UserDecisions
from ricordo.errors import ChangeRefused
from ricordo.lint.rules.safety import orders
from ricordo.memory import change as acts
from ricordo.memory.change import Act, Author, Change, Edit
from ricordo.memory.compose import compose
from ricordo.memory.draft import with_edits
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.layout import FileRole, Limits
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM, Note
from ricordo.secrets import find_secrets
from ricordo.text import clip, hidden_characters, one_line

MOST_OF_ONE = 3
"""New notes for which the same words may stand."""
_SAYING = (acts.Create, acts.Replace, acts.Insert, acts.Rewrite, acts.Merge)
"""Acts that bring sentences."""
_FEWEST = 2
"""Words of content by which it can be told what was spoken of."""
_WIDEST = 60


def brought_orders(memory: Memory, edits: Sequence[Edit]) -> list[str]:
    """Return which orders to agents `edits` of `memory` bring, that were not there before."""
    after = with_edits(memory, edits)
    pairs = [(memory.by_path.get(it.path), after.by_path.get(it.path)) for it in edits]
    return [
        f"brings text that {says}: “{clip(one_line(line.strip()), _WIDEST)}”"
        for before, now in pairs
        for says, line in (_orders(now) - _orders(before)).elements()
    ]


def strays(memory: Memory, act: Act, edits: Iterable[Edit], evidence: Sequence[Quoted]) -> bool:
    """Say whether what an act brings has no word in common with any of those it rests on. “Remember
    that” names nothing and says nothing of what may follow from it.
    """
    if not isinstance(act, _SAYING):
        return False
    notes = (it for it in edits if memory.layout.role(it.path) is not FileRole.INDEX)
    brought = frozenset[str]().union(*(gist(line) for it in notes for line in _added(it)))
    said = frozenset[str]().union(*(gist(it.quote) for it in evidence if it.found))
    return bool(brought) and len(said) >= _FEWEST and not brought & said


def crowded(proposals: Sequence[Proposal]) -> frozenset[int]:
    """Return which of the `proposals`, by their numbers, make a note out of words of which enough
    others before them make one already.
    """
    made: Counter[str] = Counter()
    found: list[int] = []
    for number, it in enumerate(proposals):
        if isinstance(it.change.act, acts.Create):
            quotes = {quoted.quote for quoted in it.evidence}
            made.update(quotes)
            if any(made[quote] > MOST_OF_ONE for quote in quotes):
                found.append(number)
    return frozenset(found)


def _orders(note: Note | None) -> Counter[tuple[str, str]]:
    return Counter() if note is None else Counter((says, line) for _, says, line in orders(note))


def _added(edit: Edit) -> list[str]:
    before = set((edit.before or b"").decode("utf-8", "replace").split("\n"))
    after = (edit.after or b"").decode("utf-8", "replace").split("\n")
    return [line for line in after if line not in before]


LONGEST = 64 * 1024
"""Bytes of the text of a change; a note that is larger is no note."""
MOST_RETIRED = 5
"""Notes that may be retired within a day without a typed word."""
_SHARE_RETIRED = 0.1
MOST_CREATED = 12
"""Notes that may be created within a day without a warning."""
_SHORTEST_QUOTE = 4
"""Bytes of a quote: a shorter one is in every text."""
ALLOWED = (
    acts.Create,
    acts.Replace,
    acts.Insert,
    acts.Rewrite,
    acts.Merge,
    acts.Retire,
    acts.AddLink,
    acts.AddEntry,
    acts.EditLine,
    acts.SetField,
    acts.MoveLine,
)
"""What a curator may wish: nothing that writes outside the memory, splits or renames."""


@dataclass(frozen=True, slots=True)
class ValidationContext:
    """What wishes are checked against."""

    memory: Memory
    texts: Mapping[str, str]
    """What was said, by its source."""
    author: Author
    marked: Collection[str] = ()
    """Paths of the notes that the person has protected."""
    retired: int = 0
    """Notes that curations have retired within the last day."""
    retiring: Collection[str] = ()
    """Paths of the notes that pending proposals would retire."""
    created: int = 0
    """Notes that curations have created within the last day."""
    creating: Collection[str] = ()
    """Paths of the notes that pending proposals would create."""
    decisions: UserDecisions = NOTHING_DECIDED
    said_at: Mapping[str, datetime] = field(default_factory=dict)
    """When what was said was said, by its source, as far as that is known."""


class _DecidedOtherwise(ChangeRefused):
    """The user decided otherwise."""


def check(desk: ValidationContext, wishes: Sequence[ProposedChange]) -> ValidationResult:
    """Return the `wishes` that fit, each seeing the ones before it, and those that do not, with
    why.
    """
    memory, going = desk.memory, set(desk.retiring)
    proposals: list[Proposal] = []
    rejected: list[Rejected] = []
    for wish in wishes:
        try:
            proposal = _checked(desk, memory, wish)
        except ChangeRefused as refused:
            is_decided = isinstance(refused, _DecidedOtherwise)
            why = one_line(refused.message)
            # a model cannot put it right
            said = "" if is_decided else wish.said
            rejected.append(Rejected(told(wish.act), why, said, is_decided))
            continue
        memory = with_edits(memory, proposal.edits)
        if gone := retired(wish.act):
            going.add(gone)
            if desk.retired + len(going) > most_retired(desk.memory, desk.retired):
                proposal = replace(proposal, alarms=(*proposal.alarms, Alarm.MANY))
        proposals.append(proposal)
    told_of = crowded(proposals)
    same = f"more than {MOST_OF_ONE} new notes rest on the same words"
    proposals = [_warned(it, same) if n in told_of else it for n, it in enumerate(proposals)]
    acts_made = [it.change.act for it in proposals]
    paths = {*desk.creating, *(it.path for it in acts_made if isinstance(it, acts.Create))}
    created = desk.created + len(paths)
    if created > MOST_CREATED:
        # which of them are too many nobody can tell
        many = f"one of {created} new notes within a day, more than {MOST_CREATED}"
        proposals = [_warned(it, many) if _creates(it) else it for it in proposals]
    return ValidationResult(tuple(proposals), tuple(rejected))


def _creates(proposal: Proposal) -> bool:
    return isinstance(proposal.change.act, acts.Create)


def _warned(proposal: Proposal, warning: str) -> Proposal:
    return replace(proposal, warnings=(*proposal.warnings, warning))


def most_retired(memory: Memory, retired: int) -> int:
    """Return how many notes may be retired within a day without a typed word: five, or a tenth
    where that is less, but one at least. Those that were `retired` on that day count to the whole.
    """
    return max(1, min(MOST_RETIRED, int((len(memory.notes) + retired) * _SHARE_RETIRED)))


def told(act: Act) -> str:
    """Return an act in a few words."""
    about = getattr(act, "path", "") or getattr(act, "name", "")
    return f"{op_of(act)} {one_line(about)}".strip()


def _checked(desk: ValidationContext, memory: Memory, wish: ProposedChange) -> Proposal:
    """Raises ChangeRefused."""
    act = wish.act
    if not isinstance(act, ALLOWED):
        raise ChangeRefused(f"A curator may not {op_of(act)}.")
    _refuse_text(act)
    _refuse_other_files(memory, act)
    change = Change(act, wish.reason, desk.author)
    composed = compose(memory, [change], marked=desk.marked)
    if not composed.edits:
        raise ChangeRefused("It would change nothing.")
    evidence = tuple(_looked_up(desk, it) for it in wish.evidence)
    moments = [desk.said_at[it.source] for it in evidence if it.found and it.source in desk.said_at]
    newest = max(moments, default=None)
    if why := desk.decisions.objection(memory, act, composed.edits, newest):
        raise _DecidedOtherwise(why)
    warnings = [*_of_evidence(evidence), *_of_going(memory, act), *composed.remarks]
    warnings += brought_orders(memory, composed.edits)
    if strays(memory, act, composed.edits, evidence):
        warnings.append("says nothing of the words on which it rests")
    alarms: list[Alarm] = []
    for edit in composed.edits:
        if memory.layout.role(edit.path) is FileRole.INDEX:
            warnings += _of_index(memory, edit)
        else:
            warnings += _of_edit(edit, only_led=_only_leads(act, edit))
            alarms += _alarms(edit, act)
    shown = tuple(dict.fromkeys(warnings))
    alarming = tuple(dict.fromkeys(alarms))
    return Proposal(change, evidence, composed.edits, shown, alarming, wish.finding)


def _refuse_text(act: Act) -> None:
    for name in act.__dataclass_fields__:
        value = getattr(act, name)
        if not isinstance(value, str):
            continue
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise ChangeRefused(f"“{name}” holds what is no text (a lone surrogate).") from None
        if size > LONGEST:
            raise ChangeRefused(f"“{name}” is longer than {LONGEST // 1024} KB.")
        if "\0" in value:
            raise ChangeRefused(f"“{name}” holds a NUL character.")


def _refuse_other_files(memory: Memory, act: Act) -> None:
    """A curator writes notes, and lines of an index: no log, no schema, no raw source."""
    path = getattr(act, "path", "")
    role = memory.layout.role(path)
    is_of_index = isinstance(act, acts.AddEntry | acts.EditLine | acts.MoveLine)
    if role in (FileRole.SUPPORT, FileRole.SOURCE) or (role is FileRole.INDEX and not is_of_index):
        raise ChangeRefused(f"{one_line(path)} is not for a curator to change.")


def _looked_up(desk: ValidationContext, quoted: Quoted) -> Quoted:
    note = desk.memory.by_path.get(quoted.source)
    text = desk.texts.get(quoted.source) or (note.text if note is not None else "")
    return replace(quoted, found=bool(quoted.quote.strip()) and quoted.quote in text)


def _of_evidence(evidence: Sequence[Quoted]) -> list[str]:
    if not evidence:
        return ["no evidence"]
    missing = (it for it in evidence if not it.found)
    told = [f"the quote is not found in {one_line(it.source)}" for it in missing]
    found = [it.quote.strip() for it in evidence if it.found]
    if found and max(len(it.encode("utf-8")) for it in found) < _SHORTEST_QUOTE:
        told.append("the quote is too short to be evidence")
    return told


def _only_leads(act: Act, edit: Edit) -> bool:
    """Whether all that an edit changes is where links lead that led to a note that goes."""
    match act:
        case acts.Retire(path=path, successor=str(successor)) if successor:
            return edit.path != path
        case acts.Merge(path=path, other=other):
            return edit.path not in (path, other)
        case _:
            return False


def _of_edit(edit: Edit, *, only_led: bool) -> list[str]:
    before, after = text_of(edit.before), text_of(edit.after)
    found = [f"only stands for text: “{it}”" for it in drift.placeholders(before, after)]
    if edit.after is not None and edit.before is not None and not only_led:
        found += [f"loses {it}" for it in drift.losses(before, after)]
        if frontmatter.read(before).present and not frontmatter.read(after).present:
            found.append("loses the head of the note")
    if _kinds(after) - _kinds(before):
        found.append(f"brings a credential: {', '.join(sorted(_kinds(after) - _kinds(before)))}")
    if _brings_hidden(before, after):
        found.append("brings characters that do not show")
    return found


def _brings_hidden(before: str, after: str) -> bool:
    """Whether a text has characters that do not show, and did not have these before."""
    return bool(_hidden(after) - _hidden(before))


def _hidden(text: str) -> Counter[str]:
    return Counter(it[0] for it in hidden_characters(text))


def _of_going(memory: Memory, act: Act) -> list[str]:
    """That a note goes, what it says, and what the one that stays would not say."""
    told = [it for it in (told_of_removal(act),) if it]
    match act:
        case acts.Retire(successor=""):
            told.append("nothing takes its place")
        case acts.Merge(other=other, text=text) if other in memory.by_path:
            told += [f"loses {it}" for it in drift.losses(memory.by_path[other].body, text)]
    return told


def told_of_removal(act: Act) -> str:
    """Return the warning that an act removes a note; "" where it removes none."""
    gone = retired(act)
    return f"removes the note {one_line(gone)}" if gone else ""


def _of_index(memory: Memory, edit: Edit) -> list[str]:
    before, after = text_of(edit.before), text_of(edit.after)
    found: list[str] = []
    if _brings_hidden(before, after):
        found.append("brings characters that do not show into the index")
    if memory.index is None or edit.path == memory.index.path:
        found += _of_load(memory.layout.limits, before, after)
    return found


def _of_load(limits: Limits | None, before: str, after: str) -> list[str]:
    """Whether agents would not be given what comes into the index, or would lose what follows."""
    cut = compute_load(after, limits).cut_at_line
    if cut is None:
        return []
    known = set(before.split("\n"))
    new = [number for number, line in enumerate(after.split("\n"), 1) if line not in known]
    if any(number >= cut for number in new):
        return [f"index-over-budget: agents stop reading at line {cut}, above its entry"]
    given = compute_load(before, limits)
    if given.cut_at_line is None:
        return [f"index-over-budget: agents would stop reading the index at line {cut}"]
    now = set(compute_load(after, limits).text.split("\n"))
    stays = set(after.split("\n")) - now
    pushed = sum(line in stays for line in given.text.split("\n"))
    if pushed:
        lines = "1 line" if pushed == 1 else f"{pushed} lines"
        return [f"index-over-budget: agents would no longer be given {lines} that they get now"]
    return []


def _alarms(edit: Edit, act: Act) -> list[Alarm]:
    is_meant = isinstance(act, acts.Retire | acts.Merge) and edit.after is None
    if edit.before is None or is_meant:
        return []
    before, after = body_of(edit.before), body_of(edit.after)
    if drift.empties(before, after):
        return [Alarm.EMPTIES]
    return [Alarm.HALVES] if drift.halves(before, after) else []


def _kinds(text: str) -> set[str]:
    return {it.kind for it in find_secrets(text)}


def text_of(raw: bytes | None) -> str:
    """Return the text of a file; "" where there is none."""
    return (raw or b"").removeprefix(BOM).decode("utf-8", "replace")


def body_of(raw: bytes | None) -> str:
    """Return the text of a note behind its head."""
    text = text_of(raw)
    return text[frontmatter.read(text).end :]
