"""Conversations with questions (LoCoMo's format) as memories: turns, facts or sessions as notes.

A turn is a short note in the folder of its session, numbered as it was said, with its speaker as
its name; a fact likewise; a session is one note with all its turns. All bear their day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("turns", "facts", "sessions")
_TURN = re.compile(r"D\d+:\d+")
_DAY = re.compile(r"(\d{1,2}) (\w+),? (\d{4})")


class Asked(NamedTuple):
    """A question, and the turns in which its answer stands."""

    text: str
    category: int
    evidence: frozenset[str]


class Piece(NamedTuple):
    """A note of a conversation."""

    path: str
    name: str
    day: date
    text: str
    turns: frozenset[str]

    def markdown(self) -> str:
        head = f"---\nname: {self.name}\ndate: {self.day.isoformat()}\n---\n\n"
        return head + self.text + "\n"


class Conversation(NamedTuple):
    """One conversation of the data."""

    id: str
    questions: tuple[Asked, ...]
    pieces: Mapping[str, tuple[Piece, ...]]
    """By kind."""
    last_day: date


def read_conversations(file: Path) -> list[Conversation]:
    """Return the conversations of a file in LoCoMo's format."""
    return [_conversation(it) for it in json.loads(file.read_text("utf-8"))]


def _conversation(data: Mapping[str, Any]) -> Conversation:
    questions = tuple(
        Asked(str(it["question"]), int(it["category"]), frozenset(_turns(it.get("evidence", ()))))
        for it in data["qa"]
    )
    sessions = list(_sessions(data["conversation"]))
    pieces = {
        "turns": tuple(it for n, day, turns in sessions for it in _as_turns(n, day, turns)),
        "facts": tuple(it for n, day, _ in sessions for it in _as_facts(n, day, data)),
        "sessions": tuple(_as_session(n, day, turns) for n, day, turns in sessions),
    }
    last_day = max((day for _, day, _ in sessions), default=date(2000, 1, 1))
    return Conversation(str(data.get("sample_id", "")), questions, pieces, last_day)


def _sessions(talk: Mapping[str, Any]) -> Iterator[tuple[int, date, list[Mapping[str, Any]]]]:
    numbers = sorted(int(m[1]) for key in talk if (m := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        yield number, _day(talk.get(f"session_{number}_date_time", "")), talk[f"session_{number}"]


def _as_turns(number: int, day: date, turns: list[Mapping[str, Any]]) -> Iterator[Piece]:
    for place, turn in enumerate(turns, 1):
        path = f"session-{number:02}/turn-{place:03}.md"
        yield Piece(path, turn["speaker"], day, _said(turn), frozenset([turn["dia_id"]]))


def _as_facts(number: int, day: date, data: Mapping[str, Any]) -> Iterator[Piece]:
    facts = data.get("observation", {}).get(f"session_{number}_observation", {})
    told = ((speaker, fact) for speaker, of_one in facts.items() for fact in of_one)
    for place, (speaker, (text, turns)) in enumerate(told, 1):
        path = f"session-{number:02}/fact-{place:03}.md"
        yield Piece(path, speaker, day, text, frozenset(_turns(turns)))


def _as_session(number: int, day: date, turns: list[Mapping[str, Any]]) -> Piece:
    text = "\n".join(f"{turn['speaker']}: {_said(turn)}" for turn in turns)
    held = frozenset(turn["dia_id"] for turn in turns)
    return Piece(f"session-{number:02}.md", f"session {number}", day, text, held)


def _said(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption", "")
    return f"{turn['text']} {caption}".strip()


def _turns(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [turn for item in value for turn in _turns(item)]
    return _TURN.findall(str(value))


def _day(text: str) -> date:
    found = _DAY.search(text)
    return datetime.strptime(" ".join(found.groups()), "%d %B %Y").date() if found else date.min
