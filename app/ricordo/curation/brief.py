"""The brief: what a curator is given to read, composed by code and the same for the same input.

What changes least stands first, so that a cache of prompts serves the most of it. Where it would be
longer than its budget, parts give way in this order: the oldest activity, down to half of the
budget; the descriptions of notes that nothing touches, and their names; gaps; the last of the
touched notes; the end of the index; the end of the schema; the oldest decisions of the user; the
rest of the activity. A note or a turn gives way as a whole: half a note might be taken for all of
it.

Notes and talk stand as data, each line behind a mark, so that no line of theirs can pass for a line
of ours, and without their secrets.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

from ricordo.curation.spoken import Spoken
from ricordo.curation.user_decisions import NOTHING_DECIDED, Told, UserDecisions
from ricordo.llm.redaction import Redaction, Sealed, framed
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import clip, visible

BUDGET = 60_000
"""Tokens."""
BYTES_A_TOKEN = 4
"""An estimate that is made without a tokenizer; scripts other than Latin cost more."""
_LOGS = ("log.md",)
_AROUND = 30
"""Tokens of our own lines around a turn."""
SCHEMA, TOUCHED, INDEX, OTHERS, DECIDED, GAPS, ACTIVITY = range(7)
"""The parts, in their order."""
_TITLES = ("schema", "touched notes", "index", "other notes", "decided", "gaps", "activity")
_MOST_DECIDED = 60
"""Decisions of the user that are told, the newest."""
_LONGEST_DECIDED = 300
"""Characters of one of them."""
_NAMED = {
    TOUCHED: re.compile(r"note (n\d+)\n"),
    OTHERS: re.compile(r"(n\d+) \|"),
    DECIDED: re.compile(r"(n\d+) "),
    ACTIVITY: re.compile(r"turn (t\d+),"),
}
"""How a block of a part begins that is about one note or turn, with its name."""


class BriefPart(NamedTuple):
    """One part of the brief."""

    title: str
    blocks: tuple[str, ...]
    """A line, a note or a turn each, with its line ends."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a curator is given."""

    parts: tuple[BriefPart, ...]
    ids: tuple[tuple[str, str], ...]
    """The names by which it speaks of notes, each with the path of the note."""
    sources: tuple[tuple[str, str], ...] = ()
    """The names by which it speaks of turns, each with the turn's source."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many lines, notes, turns or descriptions of each part did not fit."""
    listed: Mapping[str, str] = field(default_factory=dict)
    """How notes that stand in it in full would stand among the others, by their names."""

    @property
    def text(self) -> str:
        """The whole, before it is sealed."""
        return self.stable + self.changing

    @property
    def stable(self) -> str:
        """What is hardly another one in the next curation: the memory."""
        return "".join(_told(part) for part in self.parts[:GAPS] if part.blocks)

    @property
    def changing(self) -> str:
        """The rest: what was looked for and what was said."""
        return "".join(_told(part) for part in self.parts[GAPS:] if part.blocks)

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return tokens(self.text)


def name_of(part: int, block: str) -> str:
    """Return the name of the note or turn that a block of a part is about; "" where it is about
    none.
    """
    begins = _NAMED[part].match(block) if part in _NAMED else None
    return begins[1] if begins else ""


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return -(-size(text) // BYTES_A_TOKEN)


def ids_of(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return the names by which a curator speaks of the notes of `memory`: `n1`, `n2`, by path."""
    notes = [note.path for note in memory.notes if note.role is FileRole.NOTE]
    return tuple((f"n{number}", path) for number, path in enumerate(notes, 1))


def compose_brief(
    memory: Memory,
    touched: Iterable[str],
    said: Sequence[Spoken],
    gaps: Sequence[str] = (),
    budget: int = BUDGET,
    redaction: Redaction | None = None,
    decisions: UserDecisions = NOTHING_DECIDED,
) -> Brief:
    """Return the brief on `memory`: `touched` are the paths of the notes that the activity bears
    on, `said` the activity in the order of time, `gaps` what was looked for in vain; `budget` is
    in tokens. `redaction` is that of the run, which seals what is sent. `decisions` are told as far
    as they are about notes that are there, or about what was proposed.
    """
    ids = ids_of(memory)
    names = {path: name for name, path in ids}
    shown = [memory.by_path[path] for path in sorted(set(touched)) if path in names]
    listed = [
        (memory.by_path[path], name) for name, path in ids if memory.by_path[path] not in shown
    ]
    index = [memory.index.note] if memory.index else []
    decided = decisions.newest(names, _MOST_DECIDED)
    writing = _Writing(redaction or Redaction(), names)
    writing.learn(
        [*_schemas(memory), *shown, *index],
        [note for note, _ in listed],
        [
            *gaps,
            *(it.text for it in said),
            *(it.before for it in said),
            *(it.told for it in decided),
        ],
    )
    blocks = (
        writing.files(_schemas(memory)),
        [writing.note(it) for it in shown],
        writing.files(index),
        [writing.listed(note, name) for note, name in listed],
        [writing.decided(it) for it in reversed(decided)],
        [f"{line}\n" for it in gaps for line in writing.fenced("", it)],
        [writing.turn(it, f"t{number}") for number, it in enumerate(said, 1)],
    )
    parts = tuple(BriefPart(title, tuple(it)) for title, it in zip(_TITLES, blocks, strict=True))
    sources = tuple((f"t{number}", it.source) for number, it in enumerate(said, 1))
    in_short = {names[it.path]: writing.listed(it, names[it.path]) for it in shown}
    return _fitted(Brief(parts, ids, sources, listed=in_short), budget * BYTES_A_TOKEN)


def turn_tokens(it: Spoken) -> int:
    """Return about how many tokens a turn takes in the brief."""
    return tokens(f"{it.text}\n{it.before}") + _AROUND


def _schemas(memory: Memory) -> list[Note]:
    support = [file for file in memory.files if file.role is FileRole.SUPPORT and file.readable]
    return [file for file in support if file.path.rpartition("/")[2].lower() not in _LOGS]


@dataclass(frozen=True, slots=True)
class _Writing:
    """How notes and talk stand in a brief."""

    redaction: Redaction
    names: Mapping[str, str]
    """Of notes, by path."""

    def learn(self, files: Iterable[Note], listed: Iterable[Note], texts: Iterable[str]) -> None:
        self.redaction.learn([*(it.text for it in files), *map(_about, listed), *texts])

    def fenced(self, place: str, text: str, mark: str = "") -> list[str]:
        """Return the lines of a text of others, each behind a mark."""
        clean = self.redaction.redact(place, text).rstrip("\n")
        return [f"{mark}| {visible(line)}" for line in clean.split("\n")] if clean else []

    def files(self, files: Iterable[Note]) -> list[str]:
        return [f"{line}\n" for it in files for line in self.fenced(it.path, it.text)]

    def note(self, note: Note) -> str:
        """Return a note in full, its lines numbered as an insertion names them."""
        fenced = enumerate(self.fenced(note.path, note.text), 1)
        lines = "".join(f"{number}{line}\n" for number, line in fenced)
        return f"note {self.names[note.path]}\n{lines}"

    def listed(self, note: Note, name: str) -> str:
        clean = self.redaction.redact(note.path, _about(note))
        return f"{name} | {visible(' '.join(clean.split()))}\n"

    def decided(self, it: Told) -> str:
        clean = self.redaction.redact(it.path, it.told)
        about = f"{self.names[it.path]} " if it.path in self.names else ""
        return f"{about}{it.what} on {it.at.date().isoformat()} | {clip(clean, _LONGEST_DECIDED)}\n"

    def turn(self, it: Spoken, name: str) -> str:
        lines = [f"turn {name}, said on {it.day.isoformat()}", *self.fenced(it.source, it.text)]
        if it.before:
            before = self.fenced(it.source, it.before, "agent ")
            lines[1:1] = ["in answer to the agent's", *before, "the person said"]
        return "".join(f"{line}\n" for line in lines)


def _about(note: Note) -> str:
    return f"{note.name or note.stem}: {note.description}"


def _told(part: BriefPart) -> str:
    return f"== {part.title}\n" + "".join(part.blocks)


def size(text: str) -> int:
    """Return how many bytes a text takes."""
    return len(text.encode("utf-8", "replace"))


class _Step(NamedTuple):
    """One of the ways in which a brief becomes shorter."""

    part: int
    shortened: Callable[[tuple[str, ...], int], tuple[tuple[str, ...], int]]
    """From the blocks and how many bytes are too many to those that stay, and how many gave way."""
    what: str = ""
    """What gives way, where it is not the part as a whole."""
    keeps: float = 0.0
    """The share of the budget that the part keeps."""


def _fitted(brief: Brief, most: int) -> Brief:
    """Return `brief` within `most` bytes: parts give way in the order that the module states."""
    for step in _STEPS:
        part = brief.parts[step.part]
        over = min(size(brief.text) - most, size(_told(part)) - int(step.keeps * most))
        if over <= 0 or not part.blocks:
            continue
        blocks, count = step.shortened(part.blocks, over)
        parts = list(brief.parts)
        parts[step.part] = BriefPart(part.title, blocks)
        what = step.what or part.title
        left_out = {**brief.left_out, what: brief.left_out.get(what, 0) + count}
        brief = replace(brief, parts=tuple(parts), left_out=left_out)
    return brief


def _without_first(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    gone = _how_many(blocks, over)
    return blocks[gone:], gone


def _without_last(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    gone = _how_many(blocks[::-1], over)
    return blocks[: len(blocks) - gone], gone


def _without_descriptions(blocks: tuple[str, ...], over: int) -> tuple[tuple[str, ...], int]:
    """Of the last notes first."""
    kept, count = list(blocks), 0
    for number in range(len(kept) - 1, -1, -1):
        if over <= 0:
            break
        short = kept[number].partition(": ")[0].rstrip("\n") + "\n"
        over -= size(kept[number]) - size(short)
        kept[number] = short
        count += 1
    return tuple(kept), count


def _how_many(blocks: Sequence[str], over: int) -> int:
    """Return how many of the first `blocks` have to go to be `over` bytes shorter."""
    for number, block in enumerate(blocks):
        if over <= 0:
            return number
        over -= size(block)
    return len(blocks)


_STEPS = (
    _Step(ACTIVITY, _without_first, keeps=0.5),
    _Step(OTHERS, _without_descriptions, what="descriptions"),
    _Step(OTHERS, _without_last),
    _Step(GAPS, _without_last),
    _Step(TOUCHED, _without_last),
    _Step(INDEX, _without_last),
    _Step(SCHEMA, _without_last),
    _Step(DECIDED, _without_first),
    _Step(ACTIVITY, _without_first),
)


def stable_block(text: Sealed) -> Sealed:
    """Return `text` as a block that is the same for the same text, so that a cache can serve it:
    its word is a digest of all that it holds.
    """
    return _block(text, sha256(text.encode("utf-8", "replace")).hexdigest()[:32])


def changing_block(text: Sealed) -> Sealed:
    """Return `text` as a block whose word is drawn by chance each time."""
    return _block(text, secrets.token_hex(16))


def _block(text: Sealed, word: str) -> Sealed:
    return framed(f"<<data {word}\n", (text,), f"data {word}>>\n")
