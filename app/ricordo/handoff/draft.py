"""Drafting: a model puts into words what the facts come to, and rules keep what can be proved.

The rules compose first. What they tell of the repository, of files, notes and results, and every
word of the person that they quote, stays as it is, whatever a model says: that is what probes and
transcripts prove. The model speaks of the rest, section by section; where it has nothing to say of
one, that of the rules stays. `prove.py` sees to the marks of both, and a model's own words are
never more than unverified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from ricordo.errors import ChangeRefused
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.document import HandoffStatement, QuoteMark, ResultMark, StatementSection
from ricordo.handoff.facts import (
    GIT,
    MEMORY,
    DecisionFact,
    ErrorFact,
    Fact,
    Facts,
    FileUse,
    GitState,
    GivenUp,
    MessageFact,
    NoteFound,
    Ran,
    Ref,
    Refusal,
    Summary,
    Todo,
    Work,
)
from ricordo.handoff.prove import all_facts, words_of
from ricordo.lint.rule import RuleContext
from ricordo.lint.rules.safety import instruction_shaped
from ricordo.llm.question import FormTool, estimate
from ricordo.llm.redaction import LIKE, Redaction, Sealed
from ricordo.memory.layout import Layout
from ricordo.memory.note import FileFacts, read_note
from ricordo.text import clip, hidden_characters, one_line, visible

_LONGEST = {"person": 4_000, "agent": 1_500, "other": 600}
"""Characters of a text that are told."""
_CUT = "…"
_MOST_DIRTY = 20


@dataclass(frozen=True, slots=True)
class DraftBrief:
    """What a model is told."""

    text: Sealed
    shown: Mapping[str, str]
    """The words of each fact that was told, as they were shown."""
    left_out: int
    """Facts for which there was no room."""
    redaction: Redaction

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return estimate(self.text)


@dataclass(frozen=True, slots=True)
class _DraftBlock:
    id: str
    about: str
    """What it is, in our words."""
    words: str
    """What it says, in the words of others."""
    place: tuple[int, int]
    """By which the blocks are ordered."""

    @property
    def text(self) -> str:
        lines = "".join(f"| {line}\n" for line in self.words.split("\n"))
        return f"{self.id}: {self.about}\n{lines}"


def tell(facts: Facts, redaction: Redaction, room: int) -> DraftBrief:
    """Return what a model is told of `facts`: as much as has `room`, in tokens."""
    ordered = _by_weight(facts)
    redaction.learn(text for it in ordered for text in _words(it))
    blocks: list[_DraftBlock] = []
    for number, it in enumerate(ordered):
        block = _block(facts, it, number, redaction)
        room -= estimate(block.text)
        if room < 0:
            break
        blocks.append(block)
    blocks.sort(key=lambda it: it.place)
    text = redaction.sealed("".join(it.text for it in blocks))
    shown = {it.id: it.words for it in blocks}
    return DraftBrief(text, shown, len(ordered) - len(blocks), redaction)


def _by_weight(facts: Facts) -> list[Fact | GitState]:
    """The facts, what matters most first."""
    found: list[Fact | GitState] = [facts.git] if facts.git else []
    rest = sorted(enumerate(all_facts(facts)), key=lambda it: (_weight(it[1]), -it[0]))
    return found + [it for _, it in rest]


def _weight(fact: Fact) -> int:
    match fact:
        case MessageFact(is_person=is_person):
            return 0 if is_person else 8
        case Ran(work=work):
            return 10 if work is Work.OTHER else 1
        case FileUse():
            return 2 if fact.is_changed else 9
        case Todo():
            return 3
        case DecisionFact():
            return 4
        case GivenUp():
            return 5
        case NoteFound():
            return 6
        case ErrorFact() | Summary():
            return 7
        case _:
            assert_never(fact)


def _block(facts: Facts, fact: Fact | GitState, number: int, redaction: Redaction) -> _DraftBlock:
    id = GIT if isinstance(fact, GitState) else fact.id
    words = "\n".join(
        visible(redaction.redact(id, _cut(text, fact))) for text in _words(fact) if text
    )
    return _DraftBlock(id, _about(fact, len(facts.sessions)), words, _place(fact, number))


def _place(fact: Fact | GitState, number: int) -> tuple[int, int]:
    """Talk, commands and what came of them by their turns; what has none behind them."""
    match fact:
        case GitState() | NoteFound() | FileUse():
            return 1_000_000, number
        case _:
            return fact.ref.session, fact.ref.turn


def _about(fact: Fact | GitState, sessions: int) -> str:
    match fact:
        case MessageFact():
            return f"the {'person' if fact.is_person else 'agent'} said{_at(fact.ref, sessions)}"
        case Summary():
            return f"the agent's summary{_at(fact.ref, sessions)}"
        case Ran():
            return f"command{_at(fact.ref, sessions)}, {_ending(fact)}"
        case FileUse():
            deeds = ", ".join(deed.value for deed in fact.deeds)
            gone = ", is not there now" if fact.is_gone else ""
            return f"file, {deeds}{_at(fact.last, sessions)}{gone}"
        case Todo():
            return f"on the agent's list, {fact.status}{_at(fact.ref, sessions)}"
        case ErrorFact():
            mended = f", mended{_at(fact.mended, sessions)}" if fact.mended else ""
            return f"error{_at(fact.ref, sessions)}{mended}"
        case GivenUp(refusal=Refusal.USER):
            return f"refused by the user, never to be done{_at(fact.ref, sessions)}"
        case GivenUp(refusal=Refusal.RULES):
            return f"not allowed by the rules of the agent{_at(fact.ref, sessions)}"
        case GivenUp():
            return f"given up{_at(fact.ref, sessions)}"
        case DecisionFact():
            who = "person" if fact.is_person else "agent"
            return f"decided by the {who}{_at(fact.ref, sessions)}"
        case NoteFound():
            return "note of the memory"
        case GitState():
            return "the repository now"
        case _:
            assert_never(fact)


def _at(ref: Ref, sessions: int) -> str:
    session = f" of session {ref.session + 1}" if sessions > 1 else ""
    return f", turn {ref.turn}{session}"


def _ending(ran: Ran) -> str:
    if ran.exit is not None:
        return f"exit {ran.exit}"
    if ran.has_failed is None:
        return "how it ended is not known"
    return "failed" if ran.has_failed else "succeeded"


def _words(fact: Fact | GitState) -> Iterator[str]:
    """What a fact has of others: their words, paths, names."""
    match fact:
        case MessageFact() | Summary() | Todo():
            yield fact.text
        case Ran():
            yield from (fact.command, fact.result)
            yield from (f"{path} was changed since" for path in fact.changed_since)
        case FileUse():
            yield fact.path
            yield ", ".join(fact.parts)
        case ErrorFact():
            yield from (fact.what, fact.error, fact.by)
        case GivenUp():
            yield from (fact.what, fact.why)
        case DecisionFact():
            yield from (fact.asked, fact.text, fact.why)
        case NoteFound():
            yield from (fact.path, fact.description)
        case GitState():
            yield from _repository(fact)
        case _:
            assert_never(fact)


def _repository(state: GitState) -> Iterable[str]:
    yield f"branch {state.branch}, commit {state.commit[:12]}: {state.subject}"
    yield from (f"{path} is not committed" for path in state.dirty[:_MOST_DIRTY])
    if len(state.dirty) > _MOST_DIRTY:
        yield f"and {len(state.dirty) - _MOST_DIRTY} more"


def _cut(text: str, fact: Fact | GitState) -> str:
    who = "other"
    if isinstance(fact, MessageFact):
        who = "person" if fact.is_person else "agent"
    most = _LONGEST["agent" if isinstance(fact, Summary) else who]
    return text if len(text) <= most else f"{text[:most]}{_CUT}"


SECTIONS = tuple(
    it for it in StatementSection if it not in (StatementSection.MEMORY, StatementSection.MESSAGES)
)
"""What a model may speak of: the rest is told without it."""
_STATEMENT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["section", "facts", "quote", "text"],
    "properties": {
        "section": {
            "type": "string",
            "description": "What the statement is about.",
            "enum": [it.value for it in SECTIONS],
        },
        "facts": {
            "type": "array",
            "description": "The ids of the facts that the statement stands on; at least one.",
            "items": {"type": "string", "description": "An id that was given, such as f12."},
        },
        "quote": {
            "type": "string",
            "description": "Words of the first of these facts, letter by letter; or empty.",
        },
        "text": {
            "type": "string",
            "description": "The statement in one plain line. Empty where the quote says it all.",
        },
    },
}
DRAFT = FormTool(
    "draft",
    "Draft the statements of the handoff, all at once, the most important of each section first.",
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["statements"],
        "properties": {
            "statements": {
                "type": "array",
                "description": "The statements.",
                "items": _STATEMENT,
            }
        },
    },
)
"""What a model answers with."""

_NO_KIND = Layout(kind="", agent="")
_ANY_TIME = RuleContext(datetime.fromtimestamp(0, UTC), _NO_KIND)
"""The rule knows no time."""


def gives_orders(text: str) -> bool:
    """Say whether the rule `instruction-shaped` finds anything in a text that stands by itself."""
    raw = text.encode()
    note = read_note("draft.md", raw, FileFacts(len(raw), 0.0, 0, 0), _NO_KIND)
    return next(instruction_shaped(note, _ANY_TIME), None) is not None


MOST = 80
"""Statements of one draft."""
LONGEST = 500
"""Characters of a statement."""
LONGEST_QUOTE = 4_000
_MOST_FACTS = 12
_SHAPE = ("facts", "quote", "section", "text")
_PATH = re.compile(
    r"https?://[^\s`)>\]]+"
    r"|(?<![\w/.~-])(?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{0,7}"
    r"|(?<![\w/.~-])~?/[\w.-]+(?:/[\w.-]+)+",
    re.ASCII,
)
"""An address, a file with its folder, or a path from the root or from a home."""
_CODE = re.compile(r"`([^`\s]+)`")
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}", re.ASCII)
_PLACE = re.compile(r"(?::\d+)+\Z")
"""A line behind a path."""


Quotable = MessageFact | Summary | Ran | Todo | ErrorFact | GivenUp | DecisionFact
"""What has words of a session."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What a model drafted and is not taken."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class ReadDraft:
    """What a draft came to."""

    statements: tuple[HandoffStatement, ...]
    refused: tuple[Refused, ...]


def read_draft(given: object, told: DraftBrief, by_id: Mapping[str, Fact]) -> ReadDraft:
    """Return the statements in `given`, the value of a filled form; `by_id` are the facts."""
    if not isinstance(given, list):
        return ReadDraft((), (Refused("draft", "It is no list of statements."),))
    reader = _DraftReader(told, by_id)
    found: dict[tuple[StatementSection, str, str], HandoffStatement] = {}
    refused: list[Refused] = []
    for number, it in enumerate(given[:MOST], 1):
        try:
            statement = reader.statement(it)
            found.setdefault((statement.section, statement.text, statement.quote), statement)
        except ChangeRefused as error:
            refused.append(Refused(f"statement {number}", one_line(error.message)))
    if len(given) > MOST:
        refused.append(Refused("draft", f"It has more than {MOST} statements."))
    return ReadDraft(tuple(found.values()), tuple(refused))


class _DraftReader:
    def __init__(self, told: DraftBrief, by_id: Mapping[str, Fact]) -> None:
        self._told = told
        self._by_id = by_id
        self._all_shown = "\n".join(told.shown.values())

    def statement(self, it: object) -> HandoffStatement:
        """Return one statement. Raises ChangeRefused."""
        section, ids, quote, text = _fields(it)
        for id in ids:
            if id not in self._told.shown:
                raise ChangeRefused(f"No fact has the id “{clip(id, 40)}”.")
        if quote:
            fact, quote = self._quoted(ids[0], quote)
            if not text:
                return HandoffStatement(section, _label(fact), QuoteMark(fact.ref), ids[:1], quote)
        self._check_own(text)
        return HandoffStatement(section, text, None, ids, quote, is_own_words=True)

    def _quoted(self, id: str, quote: str) -> tuple[Quotable, str]:
        """The fact that is quoted, and the words as they stand there."""
        fact = self._by_id.get(id)
        if fact is None or isinstance(fact, FileUse | NoteFound):
            raise ChangeRefused("It quotes what nobody said.")
        if quote not in self._told.shown[id]:
            raise ChangeRefused("Its quote does not stand in the fact that it names first.")
        words = self._told.redaction.restored(quote, {id})
        if not any(words in text for text in words_of(fact)):
            raise ChangeRefused("Its quote does not stand in one piece in that fact.")
        return fact, words

    def _check_own(self, text: str) -> None:
        """Raise ChangeRefused where the model's own words are no plain line, or tell of what it
        was not told.
        """
        if not text.strip():
            raise ChangeRefused("It says nothing.")
        if len(text) > LONGEST:
            raise ChangeRefused(f"It is longer than {LONGEST} characters.")
        if "\n" in text or hidden_characters(text):
            raise ChangeRefused("It is not one plain line.")
        if LIKE.search(text):
            raise ChangeRefused("It speaks of what was kept back.")
        if gives_orders(text):
            raise ChangeRefused("It gives an agent orders from outside.")
        for name in _named(text):
            if name not in self._all_shown:
                raise ChangeRefused(f"It names “{clip(name, 60)}”, which no fact names.")


def _fields(it: object) -> tuple[StatementSection, tuple[str, ...], str, str]:
    if not isinstance(it, dict) or tuple(sorted(it)) != _SHAPE:
        raise ChangeRefused("It is not of the shape section, facts, quote, text.")
    section, ids, quote, text = it["section"], it["facts"], it["quote"], it["text"]
    if section not in [known.value for known in SECTIONS]:
        raise ChangeRefused("There is no such section.")
    if not _is_texts(ids) or not _is_texts([quote, text]):
        raise ChangeRefused("One of its fields is no text.")
    if not 0 < len(ids) <= _MOST_FACTS:
        raise ChangeRefused(f"It has to stand on 1 to {_MOST_FACTS} facts.")
    if len(quote) > LONGEST_QUOTE:
        raise ChangeRefused(f"Its quote is longer than {LONGEST_QUOTE} characters.")
    return StatementSection(section), tuple(dict.fromkeys(ids)), quote.strip(), text.strip()


def _is_texts(values: object) -> bool:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return False
    return all(isinstance(it, str) and not re.search("[\ud800-\udfff]", it) for it in values)


def _named(text: str) -> Iterator[str]:
    """Yield what a text names that is a file or an address by its form."""
    yield from (match[0].rstrip(".,;:") for match in _PATH.finditer(text))
    for match in _CODE.finditer(text):
        name = _PLACE.sub("", match[1])
        if _NAME.fullmatch(name):
            yield name


def _label(fact: Fact) -> str:
    """Whose words are quoted, in ours."""
    match fact:
        case MessageFact(is_person=True) | DecisionFact(is_person=True):
            return "The person"
        case ErrorFact():
            return "An error"
        case MessageFact() | Summary() | DecisionFact():
            return "The agent"
        case _:
            return "The transcript"


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """A draft, to be proved."""

    statements: tuple[HandoffStatement, ...]
    by_model: int
    """How many of them the model drafted."""
    refused: tuple[Refused, ...]


def draft(
    composed: Iterable[HandoffStatement], facts: Facts, told: DraftBrief, given: object
) -> ModelDraft:
    """Return the handoff that comes of what rules `composed` and of what a model, which was `told`
    of the facts, has `given`: the value of its filled form.
    """
    by_id: Mapping[str, Fact] = {it.id: it for it in all_facts(facts)}
    read = read_draft(given, told, by_id)
    refusals = Refusals(facts)
    given_steps = [it for it in read.statements if not _is_refused(it, refusals, by_id)]
    left_out = [
        Refused(it.section.value, "It names as a next step what was refused.")
        for it in read.statements
        if it not in given_steps
    ]
    spoken_of = {it.section for it in given_steps}
    kept = [it for it in composed if it.section not in spoken_of or _stays(it, by_id)]
    quoted = {(it.section, it.quote) for it in kept if it.quote}
    fresh = [it for it in given_steps if (it.section, it.quote) not in quoted]
    order = list(StatementSection)
    both = sorted((*fresh, *kept), key=lambda it: order.index(it.section))
    return ModelDraft(tuple(both), len(fresh), (*read.refused, *left_out))


def _is_refused(it: HandoffStatement, refusals: Refusals, by_id: Mapping[str, Fact]) -> bool:
    """Whether a next step is something that was refused; the user may name it all the same."""
    is_named = refusals.names(it.text) or refusals.names(it.quote)
    is_of_user = it.quote and any(_is_of_person(by_id.get(id)) for id in it.stands_on)
    return it.section is StatementSection.NEXT and is_named and not is_of_user


def _stays(it: HandoffStatement, by_id: Mapping[str, Fact]) -> bool:
    """Whether what rules composed is not for a model to say otherwise."""
    stood_on = [by_id.get(id) for id in it.stands_on]
    match it.proof:
        case ResultMark():
            return True
        case QuoteMark():
            return any(_is_of_person(fact) or _is_refusal(fact) for fact in stood_on)
        case _:
            is_pointer = any(isinstance(fact, FileUse | NoteFound) for fact in stood_on)
            return is_pointer or not {GIT, MEMORY}.isdisjoint(it.stands_on)


def _is_refusal(fact: Fact | None) -> bool:
    return isinstance(fact, GivenUp) and fact.refusal is not None


def _is_of_person(fact: Fact | None) -> bool:
    return isinstance(fact, MessageFact | DecisionFact) and fact.is_person
