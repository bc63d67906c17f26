"""Drafting by a model: it words what the facts show, and rules keep what can be proved.

The rules compose first. Their statements on the repository, files, notes and results, and their
quotes of the user, stay as they are, whatever the model writes: checks and transcripts prove them.
The model writes the rest, section by section; a section that it leaves out stays with the rules.
`prove.py` gives the marks of both, and a model's own wording is always unverified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from ricordo.errors import ChangeRefused
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.document import HandoffStatement, QuoteProof, ResultProof, StatementSection
from ricordo.handoff.facts import (
    GIT_ID,
    MEMORY_ID,
    CommandFact,
    CommandPurpose,
    DecisionFact,
    ErrorFact,
    Fact,
    Facts,
    FileUse,
    GitState,
    MessageFact,
    MessageRef,
    NoteFact,
    Refusal,
    RuledOutFact,
    SummaryFact,
    TaskFact,
)
from ricordo.handoff.prove import list_facts, list_quotable_texts
from ricordo.lint.rule import RuleContext
from ricordo.lint.rules.safety import instruction_shaped
from ricordo.llm.question import FormTool, estimate_tokens
from ricordo.llm.redaction import PLACEHOLDER_LIKE, Redaction, Sealed
from ricordo.llm.schema import describe_list, describe_object, describe_text
from ricordo.memory.layout import Layout
from ricordo.memory.note import FileFacts, read_note
from ricordo.text import clip, find_hidden_characters, make_one_line, make_visible

_MAX_LENGTHS = {"person": 4_000, "agent": 1_500, "other": 600}
"""Characters of a text that are sent."""
_ELLIPSIS = "…"
_MAX_DIRTY = 20


@dataclass(frozen=True, slots=True)
class DraftBrief:
    """What is sent to a model."""

    text: Sealed
    sent_texts: Mapping[str, str]
    """The text of each fact that was sent, as it was sent."""
    left_out: int
    """Facts that did not fit."""
    redaction: Redaction

    @property
    def tokens(self) -> int:
        """Return the estimated tokens of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class _DraftBlock:
    id: str
    about: str
    """A description of the fact in Ricordo's words."""
    words: str
    """The texts of the fact, in the words of others."""
    place: tuple[int, int]
    """Sort key of the block."""

    @property
    def text(self) -> str:
        lines = "".join(f"| {line}\n" for line in self.words.split("\n"))
        return f"{self.id}: {self.about}\n{lines}"


def write_brief(facts: Facts, redaction: Redaction, room: int) -> DraftBrief:
    """Return what is sent to a model of `facts`: as much as fits into `room`, in tokens."""
    ranked = _sort_by_weight(facts)
    redaction.learn(text for fact in ranked for text in _list_words(fact))
    blocks: list[_DraftBlock] = []
    for number, fact in enumerate(ranked):
        block = _build_block(facts, fact, number, redaction)
        room -= estimate_tokens(block.text)
        if room < 0:
            break
        blocks.append(block)
    blocks.sort(key=lambda block: block.place)
    text = redaction.seal("".join(block.text for block in blocks))
    shown = {block.id: block.words for block in blocks}
    return DraftBrief(text, shown, len(ranked) - len(blocks), redaction)


def _sort_by_weight(facts: Facts) -> list[Fact | GitState]:
    """Return the facts, the most important first."""
    first: list[Fact | GitState] = [facts.git] if facts.git else []
    rest = sorted(enumerate(list_facts(facts)), key=lambda fact: (_weight(fact[1]), -fact[0]))
    return first + [fact for _, fact in rest]


def _weight(fact: Fact) -> int:
    match fact:
        case MessageFact(is_user=is_person):
            return 0 if is_person else 8
        case CommandFact(purpose=work):
            return 10 if work is CommandPurpose.OTHER else 1
        case FileUse():
            return 2 if fact.is_changed else 9
        case TaskFact():
            return 3
        case DecisionFact():
            return 4
        case RuledOutFact():
            return 5
        case NoteFact():
            return 6
        case ErrorFact() | SummaryFact():
            return 7
        case _:
            assert_never(fact)


def _build_block(
    facts: Facts, fact: Fact | GitState, number: int, redaction: Redaction
) -> _DraftBlock:
    fact_id = GIT_ID if isinstance(fact, GitState) else fact.id
    shown = "\n".join(
        make_visible(redaction.redact(fact_id, _shorten(text, fact)))
        for text in _list_words(fact)
        if text
    )
    return _DraftBlock(
        fact_id, _describe(fact, len(facts.sessions)), shown, _find_place(fact, number)
    )


def _find_place(fact: Fact | GitState, number: int) -> tuple[int, int]:
    """Return the sort key of a fact: by its message, and after all messages where it has none."""
    match fact:
        case GitState() | NoteFact() | FileUse():
            return 1_000_000, number
        case _:
            return fact.ref.session, fact.ref.number


def _describe(fact: Fact | GitState, sessions: int) -> str:
    match fact:
        case MessageFact():
            # the prompt names the user so
            who = "person" if fact.is_user else "agent"
            return f"the {who} said{_describe_turn(fact.ref, sessions)}"
        case SummaryFact():
            return f"the agent's summary{_describe_turn(fact.ref, sessions)}"
        case CommandFact():
            return f"command{_describe_turn(fact.ref, sessions)}, {_describe_outcome(fact)}"
        case FileUse():
            actions = ", ".join(action.value for action in fact.actions)
            missing = ", does not exist now" if fact.is_missing else ""
            return f"file, {actions}{_describe_turn(fact.last_use, sessions)}{missing}"
        case TaskFact():
            return f"on the agent's list, {fact.status}{_describe_turn(fact.ref, sessions)}"
        case ErrorFact():
            fixed = f", fixed{_describe_turn(fact.fixed, sessions)}" if fact.fixed else ""
            return f"error{_describe_turn(fact.ref, sessions)}{fixed}"
        case RuledOutFact(refusal=Refusal.USER):
            return f"refused by the user, never to be done{_describe_turn(fact.ref, sessions)}"
        case RuledOutFact(refusal=Refusal.RULES):
            return f"not allowed by the rules of the agent{_describe_turn(fact.ref, sessions)}"
        case RuledOutFact():
            return f"given up{_describe_turn(fact.ref, sessions)}"
        case DecisionFact():
            who = "person" if fact.is_user else "agent"
            return f"decided by the {who}{_describe_turn(fact.ref, sessions)}"
        case NoteFact():
            return "note of the memory"
        case GitState():
            return "the repository now"
        case _:
            assert_never(fact)


def _describe_turn(ref: MessageRef, sessions: int) -> str:
    session = f" of session {ref.session + 1}" if sessions > 1 else ""
    return f", turn {ref.number}{session}"


def _describe_outcome(ran: CommandFact) -> str:
    if ran.exit is not None:
        return f"exit {ran.exit}"
    if ran.has_failed is None:
        return "how it ended is not known"
    return "failed" if ran.has_failed else "succeeded"


def _list_words(fact: Fact | GitState) -> Iterator[str]:
    """Yield the texts of a fact that others wrote: words, paths, names."""
    match fact:
        case MessageFact() | SummaryFact() | TaskFact():
            yield fact.text
        case CommandFact():
            yield from (fact.command, fact.result)
            yield from (f"{path} was changed since" for path in fact.changed_since)
        case FileUse():
            yield fact.path
            yield ", ".join(fact.parts)
        case ErrorFact():
            yield from (fact.what, fact.error, fact.changed_files)
        case RuledOutFact():
            yield from (fact.what, fact.reason)
        case DecisionFact():
            yield from (fact.question, fact.text, fact.reason)
        case NoteFact():
            yield from (fact.path, fact.description)
        case GitState():
            yield from _describe_repository(fact)
        case _:
            assert_never(fact)


def _describe_repository(state: GitState) -> Iterable[str]:
    yield f"branch {state.branch}, commit {state.commit[:12]}: {state.subject}"
    yield from (f"{path} is not committed" for path in state.dirty[:_MAX_DIRTY])
    if len(state.dirty) > _MAX_DIRTY:
        yield f"and {len(state.dirty) - _MAX_DIRTY} more"


def _shorten(text: str, fact: Fact | GitState) -> str:
    who = "other"
    if isinstance(fact, MessageFact):
        who = "person" if fact.is_user else "agent"
    most = _MAX_LENGTHS["agent" if isinstance(fact, SummaryFact) else who]
    return text if len(text) <= most else f"{text[:most]}{_ELLIPSIS}"


MODEL_SECTIONS = tuple(
    section
    for section in StatementSection
    if section not in (StatementSection.MEMORY, StatementSection.MESSAGES)
)
"""The sections that a model may draft: the rest is written without it."""
_STATEMENT = describe_object(
    section=describe_text(
        "What the statement is about.", enum=[section.value for section in MODEL_SECTIONS]
    ),
    facts=describe_list(
        describe_text("An id that was given, such as f12."),
        "The ids of the facts that the statement stands on; at least one.",
    ),
    quote=describe_text("Words of the first of these facts, letter by letter; or empty."),
    text=describe_text("The statement in one plain line. Empty where the quote says it all."),
)
DRAFT_FORM = FormTool(
    "draft",
    "Draft the statements of the handoff, all at once, the most important of each section first.",
    describe_object(statements=describe_list(_STATEMENT, "The statements.")),
)
"""The form that a model fills in."""

_NO_KIND = Layout(kind="", agent="")
_RULE_CONTEXT = RuleContext(datetime.fromtimestamp(0, UTC), _NO_KIND)
"""A context for the rule, which does not depend on the time."""


def has_instructions(text: str) -> bool:
    """Return whether the rule `instruction-shaped` finds anything in a text."""
    raw = text.encode()
    note = read_note("draft.md", raw, FileFacts(len(raw), 0.0, 0, 0), _NO_KIND)
    return next(instruction_shaped(note, _RULE_CONTEXT), None) is not None


MAX_STATEMENTS = 80
"""Statements of one draft."""
MAX_STATEMENT_LENGTH = 500
"""Characters of a statement."""
MAX_QUOTE_LENGTH = 4_000
_MAX_FACTS = 12
_FIELDS = ("facts", "quote", "section", "text")
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
"""A line number after a path."""


QuotableFact = (
    MessageFact | SummaryFact | CommandFact | TaskFact | ErrorFact | RuledOutFact | DecisionFact
)
"""A fact that has words of a session."""


@dataclass(frozen=True, slots=True)
class RejectedStatement:
    """A part of a draft that was rejected, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadDraft:
    """The result of reading a draft."""

    statements: tuple[HandoffStatement, ...]
    rejected: tuple[RejectedStatement, ...]


def read_draft(form_value: object, brief: DraftBrief, by_id: Mapping[str, Fact]) -> ReadDraft:
    """Return the statements in `form_value`, the value of a filled form; `by_id` are the facts."""
    if not isinstance(form_value, list):
        return ReadDraft((), (RejectedStatement("draft", "Not a list of statements."),))
    reader = _DraftReader(brief, by_id)
    statements: dict[tuple[StatementSection, str, str], HandoffStatement] = {}
    rejected: list[RejectedStatement] = []
    for number, item in enumerate(form_value[:MAX_STATEMENTS], 1):
        try:
            statement = reader.statement(item)
            statements.setdefault((statement.section, statement.text, statement.quote), statement)
        except ChangeRefused as error:
            rejected.append(RejectedStatement(f"statement {number}", make_one_line(error.message)))
    if len(form_value) > MAX_STATEMENTS:
        rejected.append(RejectedStatement("draft", f"More than {MAX_STATEMENTS} statements."))
    return ReadDraft(tuple(statements.values()), tuple(rejected))


class _DraftReader:
    def __init__(self, brief: DraftBrief, by_id: Mapping[str, Fact]) -> None:
        self._brief = brief
        self._by_id = by_id
        self._all_shown = "\n".join(brief.sent_texts.values())

    def statement(self, value: object) -> HandoffStatement:
        """Return one statement. Raises ChangeRefused."""
        section, ids, quote, text = _parse_fields(value)
        for id in ids:
            if id not in self._brief.sent_texts:
                raise ChangeRefused(f"No fact has the id “{clip(id, 40)}”.")
        if quote:
            fact, quote = self._find_quoted(ids[0], quote)
            if not text:
                return HandoffStatement(
                    section, _label_quote(fact), QuoteProof(fact.ref), ids[:1], quote
                )
        self._check_text(text)
        return HandoffStatement(section, text, None, ids, quote, is_model_text=True)

    def _find_quoted(self, fact_id: str, quote: str) -> tuple[QuotableFact, str]:
        """Return the fact that is quoted, and the words without placeholders."""
        fact = self._by_id.get(fact_id)
        if fact is None or isinstance(fact, FileUse | NoteFact):
            raise ChangeRefused("Quotes a fact that has no words of anybody.")
        if quote not in self._brief.sent_texts[fact_id]:
            raise ChangeRefused("The first fact does not contain the quote.")
        words = self._brief.redaction.restore(quote, {fact_id})
        if not any(words in text for text in list_quotable_texts(fact)):
            raise ChangeRefused("The first fact does not contain the quote in one piece.")
        return fact, words

    def _check_text(self, text: str) -> None:
        """Raise ChangeRefused unless the model's wording is one plain line about what was sent to
        it.
        """
        if not text.strip():
            raise ChangeRefused("The statement is empty.")
        if len(text) > MAX_STATEMENT_LENGTH:
            raise ChangeRefused(f"Longer than {MAX_STATEMENT_LENGTH} characters.")
        if "\n" in text or find_hidden_characters(text):
            raise ChangeRefused("Not one plain line.")
        if PLACEHOLDER_LIKE.search(text):
            raise ChangeRefused("Mentions redacted text.")
        if has_instructions(text):
            raise ChangeRefused("Contains instructions for an agent.")
        for name in _list_named(text):
            if name not in self._all_shown:
                raise ChangeRefused(f"Names “{clip(name, 60)}”, which no fact names.")


def _parse_fields(value: object) -> tuple[StatementSection, tuple[str, ...], str, str]:
    if not isinstance(value, dict) or tuple(sorted(value)) != _FIELDS:
        raise ChangeRefused("Not an object with section, facts, quote and text.")
    section, ids, quote, text = value["section"], value["facts"], value["quote"], value["text"]
    if section not in [known.value for known in MODEL_SECTIONS]:
        raise ChangeRefused("Unknown section.")
    if not _are_texts(ids) or not _are_texts([quote, text]):
        raise ChangeRefused("One of its fields is not text.")
    if not 0 < len(ids) <= _MAX_FACTS:
        raise ChangeRefused(f"Based on {len(ids)} facts; allowed are 1 to {_MAX_FACTS}.")
    if len(quote) > MAX_QUOTE_LENGTH:
        raise ChangeRefused(f"Quote longer than {MAX_QUOTE_LENGTH} characters.")
    return StatementSection(section), tuple(dict.fromkeys(ids)), quote.strip(), text.strip()


def _are_texts(values: object) -> bool:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return False
    return all(
        isinstance(value, str) and not re.search("[\ud800-\udfff]", value) for value in values
    )


def _list_named(text: str) -> Iterator[str]:
    """Yield the files and addresses that a text names, recognized by their form."""
    yield from (match[0].rstrip(".,;:") for match in _PATH.finditer(text))
    for match in _CODE.finditer(text):
        name = _PLACE.sub("", match[1])
        if _NAME.fullmatch(name):
            yield name


def _label_quote(fact: Fact) -> str:
    """Return a label that says whose words are quoted."""
    match fact:
        case MessageFact(is_user=True) | DecisionFact(is_user=True):
            return "The user"
        case ErrorFact():
            return "An error"
        case MessageFact() | SummaryFact() | DecisionFact():
            return "The agent"
        case _:
            return "The transcript"


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """A draft, not proved yet."""

    statements: tuple[HandoffStatement, ...]
    model_count: int
    """How many of its statements the model drafted."""
    rejected: tuple[RejectedStatement, ...]


def merge_draft(
    composed: Iterable[HandoffStatement], facts: Facts, brief: DraftBrief, value: object
) -> ModelDraft:
    """Return the draft that merges what rules `composed` with `form_value`, the value of the form
    that a model filled in after reading `brief`.
    """
    by_id: Mapping[str, Fact] = {fact.id: fact for fact in list_facts(facts)}
    draft_read = read_draft(value, brief, by_id)
    refusals = Refusals(facts)
    allowed = [item for item in draft_read.statements if not _names_refused(item, refusals, by_id)]
    refused_steps = [
        RejectedStatement(statement.section.value, "Proposes an action that was refused.")
        for statement in draft_read.statements
        if statement not in allowed
    ]
    sections = {statement.section for statement in allowed}
    rules_kept = [
        item for item in composed if item.section not in sections or _is_kept(item, by_id)
    ]
    quotes = {(statement.section, statement.quote) for statement in rules_kept if statement.quote}
    model_statements = [item for item in allowed if (item.section, item.quote) not in quotes]
    order = list(StatementSection)
    merged = sorted(
        (*model_statements, *rules_kept), key=lambda rules_kept: order.index(rules_kept.section)
    )
    return ModelDraft(tuple(merged), len(model_statements), (*draft_read.rejected, *refused_steps))


def _names_refused(
    statement: HandoffStatement, refusals: Refusals, by_id: Mapping[str, Fact]
) -> bool:
    """Return whether a next step was refused before. Words of the user may name it all the same."""
    is_named = refusals.is_named_in(statement.text) or refusals.is_named_in(statement.quote)
    is_from_user = statement.quote and any(
        _is_from_user(by_id.get(id)) for id in statement.fact_ids
    )
    return statement.section is StatementSection.NEXT and is_named and not is_from_user


def _is_kept(statement: HandoffStatement, by_id: Mapping[str, Fact]) -> bool:
    """Return whether a statement of the rules stays even where the model drafted its section."""
    cited = [by_id.get(id) for id in statement.fact_ids]
    match statement.proof:
        case ResultProof():
            return True
        case QuoteProof():
            return any(_is_from_user(fact) or _is_refusal(fact) for fact in cited)
        case _:
            is_pointer = any(isinstance(fact, FileUse | NoteFact) for fact in cited)
            return is_pointer or not {GIT_ID, MEMORY_ID}.isdisjoint(statement.fact_ids)


def _is_refusal(fact: Fact | None) -> bool:
    return isinstance(fact, RuledOutFact) and fact.refusal is not None


def _is_from_user(fact: Fact | None) -> bool:
    return isinstance(fact, MessageFact | DecisionFact) and fact.is_user
