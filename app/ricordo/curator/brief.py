"""The brief: what a curator is given to read, composed by code and the same for the same input.

What changes least stands first, so that a cache of prompts serves the most of it. Where it would be
longer than its budget, parts give way in this order: the oldest activity, the descriptions of notes
that nothing touches, their names, gaps, the last of the touched notes, the end of the index. The
memory's own schema stays whole as long as it fits at all. Notes and talk stand as data, each line
behind a mark, so that no line of theirs can pass for a line of ours, and without their secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ricordo.curator.heard import Spoken
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.model.redaction import Redaction
from ricordo.text import visible

BUDGET = 60_000
"""Tokens."""
BYTES_A_TOKEN = 4
"""An estimate that is made without a tokenizer; scripts other than Latin cost more."""
_LOGS = ("log.md",)


class Part(NamedTuple):
    """One part of the brief."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """What a curator is given."""

    parts: tuple[Part, ...]
    ids: tuple[tuple[str, str], ...]
    """The names by which it speaks of notes, each with the path of the note."""
    left_out: int = 0
    """Lines that did not fit."""

    @property
    def text(self) -> str:
        """The whole, before it is sealed."""
        return "".join(_told(part) for part in self.parts if part.lines)

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return tokens(self.text)


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def ids_of(memory: Memory) -> tuple[tuple[str, str], ...]:
    """Return the names by which a curator speaks of the notes of `memory`: `n1`, `n2`, by path."""
    notes = [note.path for note in memory.notes if note.role is Role.NOTE]
    return tuple((f"n{number}", path) for number, path in enumerate(notes, 1))


def compose_brief(
    memory: Memory,
    touched: Iterable[str],
    said: Sequence[Spoken],
    gaps: Sequence[str] = (),
    budget: int = BUDGET,
    redaction: Redaction | None = None,
) -> Brief:
    """Return the brief on `memory`: `touched` are the paths of the notes that the activity bears
    on, `said` the activity in the order of time, `gaps` what was looked for in vain; `budget` is
    in tokens. `redaction` is that of the run, which seals what is sent.
    """
    ids = ids_of(memory)
    shown = [memory.by_path[path] for path in sorted(set(touched)) if path in memory.by_path]
    others = [note for note in memory.notes if note.role is Role.NOTE and note not in shown]
    index = [memory.index.note] if memory.index else []
    writing = _Writing(redaction or Redaction(), {path: name for name, path in ids})
    writing.learn([*_schemas(memory), *shown, *index], others, [*gaps, *(it.text for it in said)])
    parts = (
        Part("schema", writing.files(_schemas(memory))),
        Part("touched notes", tuple(line for it in shown for line in writing.note(it))),
        Part("index", writing.files(index)),
        Part("other notes", tuple(writing.listed(it) for it in others)),
        Part("gaps", tuple(line for it in gaps for line in writing.lines("", it))),
        Part("activity", tuple(line for it in said for line in writing.turn(it))),
    )
    return _fitted(Brief(parts, ids), budget)


def _schemas(memory: Memory) -> list[Note]:
    support = [file for file in memory.files if file.role is Role.SUPPORT and file.readable]
    return [file for file in support if file.path.rpartition("/")[2].lower() not in _LOGS]


@dataclass(frozen=True, slots=True)
class _Writing:
    """How notes and talk stand in a brief."""

    redaction: Redaction
    ids: Mapping[str, str]
    """Names of notes, by path."""

    def learn(self, files: Iterable[Note], listed: Iterable[Note], texts: Iterable[str]) -> None:
        self.redaction.learn([*(it.text for it in files), *map(_about, listed), *texts])

    def lines(self, place: str, text: str) -> tuple[str, ...]:
        clean = self.redaction.redact(place, text).rstrip("\n")
        return tuple(f"| {visible(line)}" for line in clean.split("\n")) if text else ()

    def files(self, files: Iterable[Note]) -> tuple[str, ...]:
        return tuple(line for it in files for line in self.lines(it.path, it.text))

    def note(self, note: Note) -> tuple[str, ...]:
        return (f"note {self.ids.get(note.path, '-')}", *self.lines(note.path, note.text))

    def listed(self, note: Note) -> str:
        clean = self.redaction.redact(note.path, _about(note))
        return f"{self.ids[note.path]} | {visible(' '.join(clean.split()))}"

    def turn(self, it: Spoken) -> tuple[str, ...]:
        return (f"said on {it.day.isoformat()}", *self.lines(it.source, it.text))


def _about(note: Note) -> str:
    return f"{note.name or note.stem}: {note.description}"


def _told(part: Part) -> str:
    return f"== {part.title}\n" + "".join(f"{line}\n" for line in part.lines)


def _fitted(brief: Brief, budget: int) -> Brief:
    """Return `brief` within its budget: parts give way in the order that the module states."""
    steps: tuple[tuple[int, Callable[[tuple[str, ...], int], tuple[str, ...]]], ...] = (
        (5, _without_first),
        (3, _without_descriptions),
        (3, _without_last),
        (4, _without_last),
        (1, _without_last),
        (2, _without_last),
        (0, _without_last),
    )
    for number, shortened in steps:
        over = len(brief.text.encode("utf-8", "replace")) - budget * BYTES_A_TOKEN
        if over <= 0:
            break
        part = brief.parts[number]
        lines = shortened(part.lines, over)
        parts = list(brief.parts)
        parts[number] = Part(part.title, lines)
        dropped = len(part.lines) - len(lines)
        brief = Brief(tuple(parts), brief.ids, brief.left_out + dropped)
    return brief


def _without_first(lines: tuple[str, ...], over: int) -> tuple[str, ...]:
    return lines[_how_many(lines, over) :]


def _without_last(lines: tuple[str, ...], over: int) -> tuple[str, ...]:
    return tuple(reversed(_without_first(tuple(reversed(lines)), over)))


def _without_descriptions(lines: tuple[str, ...], over: int) -> tuple[str, ...]:
    """Of the last notes first."""
    kept = list(lines)
    for number in range(len(kept) - 1, -1, -1):
        if over <= 0:
            break
        short = kept[number].partition(": ")[0]
        over -= len(kept[number].encode()) - len(short.encode())
        kept[number] = short
    return tuple(kept)


def _how_many(lines: Sequence[str], over: int) -> int:
    """Return how many of the first `lines` have to go to be `over` bytes shorter."""
    for number, line in enumerate(lines):
        if over <= 0:
            return number
        over -= len(line.encode("utf-8", "replace")) + 1
    return len(lines)
