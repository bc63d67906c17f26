"""The brief: what a curator reads. It is composed by code and the same for the same input.

What changes least comes first, so that the prompt cache serves most of it. Where it would exceed
its budget, parts are shortened in this order: the oldest activity, down to half of the budget; the
descriptions of notes without activity, then their lines; searches without results; the last of the
touched notes; the end of the index; the end of the schema; the oldest decisions of the user; the
rest of the activity. A note or message is left out as a whole: half a note could be mistaken for
all of it.

Notes and messages are data: each of their lines has a mark before it, so that none can pass for a
line of the brief itself, and their secrets are redacted.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

from ricordo.curation.project_facts import ProjectFact
from ricordo.curation.user_decisions import NO_DECISIONS, DecisionSummary, UserDecisions
from ricordo.curation.user_messages import UserMessage
from ricordo.llm.question import BYTES_PER_TOKEN, estimate_tokens
from ricordo.llm.redaction import Redaction, Sealed, frame
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import clip, make_visible

BUDGET = 60_000
"""Tokens."""
_LOGS = ("log.md",)
_AROUND = 30
"""Tokens of the brief's own lines around a message."""
SCHEMA, TOUCHED, INDEX, OTHERS, DECIDED, SEARCH_MISSES, ACTIVITY, PROJECT = range(8)
"""The parts, in their order."""
_TITLES = (
    *("schema", "touched notes", "index", "other notes", "decided", "gaps", "activity"),
    "project",
)
_OF_INDEX = 0.25
"""The share of the brief of a check up to which it has the whole index."""
_MOST_DECIDED = 60
"""Decisions of the user in the brief, the newest."""
_LONGEST_DECIDED = 300
"""Characters of one of them."""
_NAMED = {
    TOUCHED: re.compile(r"note (n\d+)\n"),
    OTHERS: re.compile(r"(n\d+) \|"),
    DECIDED: re.compile(r"(n\d+) "),
    ACTIVITY: re.compile(r"turn (t\d+),"),
    PROJECT: re.compile(r"fact (f\d+),"),
}
"""Matches the beginning of a block about one note, message or fact; group 1 is its name."""


class BriefPart(NamedTuple):
    """One part of the brief."""

    title: str
    blocks: tuple[str, ...]
    """Each a line, a note or a message, with its line ends."""


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief before it is sealed."""

    parts: tuple[BriefPart, ...]
    ids: tuple[tuple[str, str], ...]
    """The names of notes in the brief, each with the note's path."""
    sources: tuple[tuple[str, str], ...] = ()
    """The names of messages and facts in the brief, each with its source."""
    omitted: Mapping[str, int] = field(default_factory=dict)
    """How many lines, notes, messages or descriptions of each part did not fit."""
    short_lines: Mapping[str, str] = field(default_factory=dict)
    """The one-line form of each note that the brief has in full, by its name."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.stable + self.changing

    @property
    def stable(self) -> str:
        """The part that hardly changes until the next curation: the memory."""
        return "".join(_format_part(part) for part in self.parts[:SEARCH_MISSES] if part.blocks)

    @property
    def changing(self) -> str:
        """The rest: decisions, searches and messages."""
        return "".join(_format_part(part) for part in self.parts[SEARCH_MISSES:] if part.blocks)

    @property
    def tokens(self) -> int:
        """Estimated tokens."""
        return estimate_tokens(self.text)


def find_name(part: int, block: str) -> str:
    """Return the name of the note, message or fact that a block of a part is about; "" for none."""
    match = _NAMED[part].match(block) if part in _NAMED else None
    return match[1] if match else ""


def name_notes(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return the names that the brief gives to the notes of `memory`: `n1`, `n2`, by path."""
    notes = [note.path for note in memory.notes if note.role is FileRole.NOTE]
    return tuple((f"n{number}", path) for number, path in enumerate(notes, 1))


def compose_brief(
    memory: Memory,
    touched: Iterable[str],
    messages: Sequence[UserMessage],
    search_misses: Sequence[str] = (),
    budget: int = BUDGET,
    redaction: Redaction | None = None,
    decisions: UserDecisions = NO_DECISIONS,
    pending: Sequence[DecisionSummary] = (),
    *,
    is_check: bool = False,
) -> Brief:
    """Return the brief on `memory`. `touched` are the paths of the notes that the activity is
    about, `messages` those of the user in order of time, `search_misses` the searches without
    results; `budget` is in tokens. `redaction` is that of the run, which seals what is sent. Of the
    `decisions` the brief has those about existing notes and about proposals, and after them what is
    `pending`. Where the touched notes are to be checked, they are left out last, and of a long
    index only the lines on them are shown.
    """
    ids = name_notes(memory)
    names = {path: name for name, path in ids}
    shown = [memory.by_path[path] for path in sorted(set(touched)) if path in names]
    listed = [
        (memory.by_path[path], name) for name, path in ids if memory.by_path[path] not in shown
    ]
    index = [memory.index.note] if memory.index else []
    decided = [*pending[-_MOST_DECIDED:], *decisions.list_newest(names, _MOST_DECIDED)]
    writer = _BriefWriter(redaction or Redaction(), names)
    writer.learn(
        [*_find_schemas(memory), *shown, *index],
        [note for note, _ in listed],
        [
            *search_misses,
            *(message.text for message in messages),
            *(message.before for message in messages),
            *(decision.text for decision in decided),
        ],
    )
    blocks: tuple[list[str], ...] = (
        writer.format_files(_find_schemas(memory)),
        [writer.format_note(note) for note in shown],
        _select_lines(writer.format_files(index), shown, budget)
        if is_check
        else writer.format_files(index),
        [writer.format_short(note, name) for note, name in listed],
        [writer.format_decision(decision) for decision in reversed(decided)],
        [f"{line}\n" for words in search_misses for line in writer.fence("", words)],
        [
            writer.format_message(message, f"t{number}")
            for number, message in enumerate(messages, 1)
        ],
        [],
    )
    parts = tuple(
        BriefPart(title, tuple(each)) for title, each in zip(_TITLES, blocks, strict=True)
    )
    sources = tuple((f"t{number}", message.source) for number, message in enumerate(messages, 1))
    short = {names[note.path]: writer.format_short(note, names[note.path]) for note in shown}
    brief = Brief(parts, ids, sources, short_lines=short)
    order = _SHORTENINGS_OF_CHECK if is_check else _SHORTENINGS
    return _fit(brief, budget * BYTES_PER_TOKEN, order)


def _select_lines(lines: list[str], notes: Iterable[Note], budget: int) -> list[str]:
    """Return the lines of an index for a check of `notes`: all where they are few, else those that
    name one of them.
    """
    if count_bytes("".join(lines)) <= _OF_INDEX * budget * BYTES_PER_TOKEN:
        return lines
    names = [name for note in notes for name in (note.path, f"[[{note.stem}")]
    return [line for line in lines if not names or any(name in line for name in names)]


def add_facts(
    brief: Brief, facts: Sequence[ProjectFact], budget: int, redaction: Redaction
) -> tuple[Brief, list[ProjectFact]]:
    """Return `brief` with those `facts` of the project that fit into `budget` tokens, the first
    ones first, and which these are.
    """
    writer = _BriefWriter(redaction, {})
    redaction.learn(fact.text for fact in facts)
    blocks, sources = list(brief.parts[PROJECT].blocks), list(brief.sources)
    room = budget * BYTES_PER_TOKEN
    added: list[ProjectFact] = []
    for fact in facts:
        name = f"f{len(blocks) + 1}"
        block = writer.format_fact(fact, name)
        if count_bytes(block) > room:
            continue
        room -= count_bytes(block)
        blocks.append(block)
        sources.append((name, fact.source))
        added.append(fact)
    part = BriefPart(_TITLES[PROJECT], tuple(blocks))
    parts = (*brief.parts[:PROJECT], part)
    return replace(brief, parts=parts, sources=tuple(sources)), added


def estimate_message(message: UserMessage) -> int:
    """Return the estimated tokens of a message in the brief."""
    return estimate_tokens(f"{message.text}\n{message.before}") + _AROUND


def _find_schemas(memory: Memory) -> list[Note]:
    support = [file for file in memory.files if file.role is FileRole.SUPPORT and file.is_readable]
    return [file for file in support if file.path.rpartition("/")[2].lower() not in _LOGS]


@dataclass(frozen=True, slots=True)
class _BriefWriter:
    """Formats the blocks of a brief, redacted."""

    redaction: Redaction
    names: Mapping[str, str]
    """Names of notes, by path."""

    def learn(self, files: Iterable[Note], listed: Iterable[Note], texts: Iterable[str]) -> None:
        """Find the secrets of all texts before any of them is redacted."""
        self.redaction.learn([*(file.text for file in files), *map(_summarize, listed), *texts])

    def fence(self, place: str, text: str, mark: str = "") -> list[str]:
        """Return the lines of a foreign text, each with a mark before it."""
        clean = self.redaction.redact(place, text).rstrip("\n")
        return [f"{mark}| {make_visible(line)}" for line in clean.split("\n")] if clean else []

    def format_files(self, files: Iterable[Note]) -> list[str]:
        return [f"{line}\n" for file in files for line in self.fence(file.path, file.text)]

    def format_note(self, note: Note) -> str:
        """Return a note in full, its lines numbered as an insertion refers to them."""
        numbered = enumerate(self.fence(note.path, note.text), 1)
        lines = "".join(f"{number}{line}\n" for number, line in numbered)
        return f"note {self.names[note.path]}\n{lines}"

    def format_short(self, note: Note, name: str) -> str:
        clean = self.redaction.redact(note.path, _summarize(note))
        return f"{name} | {make_visible(' '.join(clean.split()))}\n"

    def format_decision(self, decision: DecisionSummary) -> str:
        clean = clip(self.redaction.redact(decision.path, decision.text), _LONGEST_DECIDED)
        about = f"{self.names[decision.path]} " if decision.path in self.names else ""
        return f"{about}{decision.what} on {decision.at.date().isoformat()} | {clean}\n"

    def format_message(self, message: UserMessage, name: str) -> str:
        text = self.fence(message.source, message.text)
        lines = [f"turn {name}, said on {message.day.isoformat()}", *text]
        if message.before:
            before = self.fence(message.source, message.before, "agent ")
            lines[1:1] = ["in answer to the agent's", *before, "the person said"]
        return "".join(f"{line}\n" for line in lines)

    def format_fact(self, fact: ProjectFact, name: str) -> str:
        """Return a fact of the project, each line with its mark where none was redacted away."""
        clean = self.redaction.redact(fact.source, fact.text).split("\n")
        marks = [mark for mark, _ in fact.lines]
        marks = marks if len(marks) == len(clean) else [""] * len(clean)
        lines = [f"{m}| {make_visible(line)}\n" for m, line in zip(marks, clean, strict=True)]
        title = make_visible(self.redaction.redact("", fact.title))
        return f"fact {name}, {title}\n{''.join(lines)}"


def _summarize(note: Note) -> str:
    return f"{note.name or note.stem}: {note.description}"


def _format_part(part: BriefPart) -> str:
    return f"== {part.title}\n" + "".join(part.blocks)


def count_bytes(text: str) -> int:
    """Return the UTF-8 bytes of a text."""
    return len(text.encode("utf-8", "replace"))


class _Shortening(NamedTuple):
    """One way of shortening a brief."""

    part: int
    shorten: Callable[[tuple[str, ...], int], tuple[tuple[str, ...], int]]
    """Takes the blocks and the bytes in excess; returns the remaining blocks and how many were
    dropped.
    """
    what: str = ""
    """What is dropped; "" for the part's title."""
    keeps: float = 0.0
    """The share of the budget that the part keeps."""


def _fit(brief: Brief, most: int, order: Iterable[_Shortening]) -> Brief:
    """Return `brief` within `most` bytes, shortened in that order."""
    for step in order:
        part = brief.parts[step.part]
        over = min(
            count_bytes(brief.text) - most, count_bytes(_format_part(part)) - int(step.keeps * most)
        )
        if over <= 0 or not part.blocks:
            continue
        blocks, count = step.shorten(part.blocks, over)
        parts = list(brief.parts)
        parts[step.part] = BriefPart(part.title, blocks)
        what = step.what or part.title
        left_out = {**brief.omitted, what: brief.omitted.get(what, 0) + count}
        brief = replace(brief, parts=tuple(parts), omitted=left_out)
    return brief


def _drop_first(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    count = _count_to_drop(blocks, over)
    return blocks[count:], count


def _drop_last(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    count = _count_to_drop(blocks[::-1], over)
    return blocks[: len(blocks) - count], count


def _drop_descriptions(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    """Drop descriptions, from the last note to the first."""
    shortened, count = list(blocks), 0
    for number in range(len(shortened) - 1, -1, -1):
        if over <= 0:
            break
        short = shortened[number].partition(": ")[0].rstrip("\n") + "\n"
        over -= count_bytes(shortened[number]) - count_bytes(short)
        shortened[number] = short
        count += 1
    return tuple(shortened), count


def _count_to_drop(blocks: Sequence[str], over: int) -> int:
    """Return how many of the first `blocks` to drop to save `over` bytes."""
    for number, block in enumerate(blocks):
        if over <= 0:
            return number
        over -= count_bytes(block)
    return len(blocks)


_SHORTENINGS = (
    _Shortening(ACTIVITY, _drop_first, keeps=0.5),
    _Shortening(OTHERS, _drop_descriptions, what="descriptions"),
    _Shortening(OTHERS, _drop_last),
    _Shortening(SEARCH_MISSES, _drop_last),
    _Shortening(TOUCHED, _drop_last),
    _Shortening(INDEX, _drop_last),
    _Shortening(SCHEMA, _drop_last),
    _Shortening(DECIDED, _drop_first),
    _Shortening(ACTIVITY, _drop_first),
)


_SHORTENINGS_OF_CHECK = (
    _Shortening(OTHERS, _drop_descriptions, what="descriptions"),
    _Shortening(OTHERS, _drop_last),
    _Shortening(SCHEMA, _drop_last),
    _Shortening(INDEX, _drop_last),
    _Shortening(DECIDED, _drop_first),
    _Shortening(TOUCHED, _drop_last),
)


def frame_stable(text: Sealed) -> Sealed:
    """Return `text` as a block whose delimiter is a digest of the text: the same for the same text,
    so that a cache can serve it.
    """
    return _frame(text, sha256(text.encode("utf-8", "replace")).hexdigest()[:32])


def frame_changing(text: Sealed) -> Sealed:
    """Return `text` as a block with a random delimiter."""
    return _frame(text, secrets.token_hex(16))


def _frame(text: Sealed, word: str) -> Sealed:
    return frame(f"<<data {word}\n", (text,), f"data {word}>>\n")
