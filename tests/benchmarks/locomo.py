"""Conversations with questions (LoCoMo's format) as memories: turns, facts or sessions as notes.

A turn is a short note in the folder of its session, numbered as it was said, with its speaker as
its name; a fact likewise; a session is one note with all its turns. All bear their day, where it is
told. What a file does not have (observations, categories, names of conversations) is done without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("turns", "facts", "sessions")
_TURN = re.compile(r"D:?(\d+):(\d+)")
_DAY = re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+),? (?P<year>\d{4})")
_MONTH_FIRST = re.compile(r"(?P<month>[A-Z][a-z]+) (?P<day>\d{1,2}),? (?P<year>\d{4})")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Asked(NamedTuple):
    """A question, and the turns in which its answer stands."""

    text: str
    category: int
    evidence: frozenset[str]


class Piece(NamedTuple):
    """A note of a conversation."""

    path: str
    name: str
    day: date | None
    text: str
    turns: frozenset[str]

    def markdown(self) -> str:
        day = f"date: {self.day.isoformat()}\n" if self.day else ""
        return f"---\nname: {json.dumps(self.name)}\n{day}---\n\n{self.text}\n"


class Conversation(NamedTuple):
    """One conversation of the data."""

    id: str
    questions: tuple[Asked, ...]
    pieces: Mapping[str, tuple[Piece, ...]]
    """By kind."""
    last_day: date


def read_conversations(file: Path) -> list[Conversation]:
    """Return the conversations of a file in LoCoMo's format: a list, a single one, or one a line.
    One without a name of its own is called by its number.
    """
    found: list[Conversation] = []
    for number, data in enumerate(_documents(file.read_text("utf-8")), 1):
        name = str(data.get("sample_id") or number)
        if any(it.id == name for it in found):
            name = f"{name} ({number})"
        found.append(_conversation(name, data))
    return found


def _documents(text: str) -> list[Mapping[str, Any]]:
    try:
        read = json.loads(text)
    except ValueError:
        read = [json.loads(line) for line in text.splitlines() if line.strip()]
    return read if isinstance(read, list) else [read]


def _conversation(name: str, data: Mapping[str, Any]) -> Conversation:
    questions = tuple(
        Asked(str(it["question"]), int(it.get("category") or 0), _turns(it.get("evidence")))
        for it in data["qa"]
    )
    sessions = list(_sessions(data["conversation"]))
    pieces = {
        "turns": tuple(it for n, day, turns in sessions for it in _as_turns(n, day, turns)),
        "facts": tuple(it for n, day, _ in sessions for it in _as_facts(n, day, data)),
        "sessions": tuple(_as_session(n, day, turns) for n, day, turns in sessions if turns),
    }
    last_day = max((day for _, day, _ in sessions if day), default=date(2000, 1, 1))
    return Conversation(name, questions, pieces, last_day)


def _sessions(
    talk: Mapping[str, Any],
) -> Iterator[tuple[int, date | None, list[Mapping[str, Any]]]]:
    numbers = sorted(int(m[1]) for key in talk if (m := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        day = _day(str(talk.get(f"session_{number}_date_time", "")))
        yield number, day, talk[f"session_{number}"]


def _as_turns(number: int, day: date | None, turns: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
    for place, turn in enumerate(turns, 1):
        path = f"session-{number:02}/turn-{place:03}.md"
        yield Piece(path, str(turn["speaker"]), day, _said(turn), _turns(turn["dia_id"]))


def _as_facts(number: int, day: date | None, data: Mapping[str, Any]) -> Iterator[Piece]:
    facts = (data.get("observation") or {}).get(f"session_{number}_observation") or {}
    told = ((speaker, fact) for speaker, of_one in facts.items() for fact in of_one)
    for place, (speaker, fact) in enumerate(told, 1):
        text, *turns = [fact] if isinstance(fact, str) else fact
        path = f"session-{number:02}/fact-{place:03}.md"
        yield Piece(path, str(speaker), day, str(text), _turns(turns))


def _as_session(number: int, day: date | None, turns: Sequence[Mapping[str, Any]]) -> Piece:
    text = "\n".join(f"{turn['speaker']}: {_said(turn)}" for turn in turns)
    held = _turns([turn["dia_id"] for turn in turns])
    return Piece(f"session-{number:02}.md", f"session {number}", day, text, held)


def _said(turn: Mapping[str, Any]) -> str:
    """What was said, and what the picture shows that was shown with it."""
    return f"{turn.get('text') or ''} {turn.get('blip_caption') or ''}".strip()


def _turns(value: object) -> frozenset[str]:
    """The turns that `value` names, a text or a list; `D30:05` and `D:30:5` are `D30:5`."""
    if isinstance(value, list | tuple):
        return frozenset(turn for item in value for turn in _turns(item))
    return frozenset(f"D{int(one)}:{int(other)}" for one, other in _TURN.findall(str(value)))


def _day(text: str) -> date | None:
    """The day that `text` names; None where it names none."""
    if iso := _ISO_DAY.search(text):
        return date.fromisoformat(iso[0])
    found = _DAY.search(text) or _MONTH_FIRST.search(text)
    if not found:
        return None
    month = _MONTHS.index(found["month"][:3].lower()) + 1
    return date(int(found["year"]), month, int(found["day"]))
