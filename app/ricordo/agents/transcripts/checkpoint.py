"""What was read of a transcript up to an offset, so that reading can go on from there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.lines import as_dict
from ricordo.agents.transcripts.session import Message, MessagePlace, Session, Speaker
from ricordo.secrets import mask

MOST_PLACES = 8
"""Messages of the user whose places are kept: enough to find what caused a note."""
_MOST_KINDS = 200
"""Kinds of unknown lines that are counted apart; a hostile file could have millions."""
_LONGEST_TITLE = 200
_LONGEST_KIND = 80


@dataclass(slots=True)
class Checkpoint:
    """What was read of the session in one transcript. Readers fill it in as they go."""

    id: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    title_rank: int = 0
    """How good the title is: one by the user is better than one by a program."""
    first_words: str = ""
    """The first message of the user, cut."""
    started: str = ""
    ended: str = ""
    continues: str = ""
    part_of: str = ""
    last_key: str = ""
    """The uuid of the last line that had one."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles of sessions whose last line was not read yet, by its uuid."""
    last_said: dict[str, str] = field(default_factory=dict)
    """A digest of the last message of each speaker."""
    said: list[MessagePlace] = field(default_factory=list)
    """Where the last messages of the user are, the newest last."""
    offset: int = 0
    """Up to where the file was read, in bytes."""
    line: int = 1
    """The number of the line that begins there."""
    fingerprint: str = ""
    """Of the file up to there."""
    unknown: Counter[str] = field(default_factory=Counter)
    """How many lines have an unknown kind, by kind."""
    too_long: int = 0
    """How many lines are longer than `LONGEST_LINE`."""
    is_torn: bool = False
    """Whether the last line is incomplete."""

    def set_title(self, title: str, rank: int) -> None:
        """Set the title, if there is no better one."""
        if title.strip() and rank >= self.title_rank:
            self.title = _shorten(title)
            self.title_rank = rank

    def extend_time(self, at: str) -> None:
        """Extend the time of the session to `at`, unless it is ""."""
        if at:
            self.started = min(self.started or at, at)
            self.ended = max(self.ended, at)

    def record(self, turn: Message) -> None:
        """Record a message."""
        self.extend_time(turn.at)
        if turn.is_spoken and turn.who is Speaker.USER:
            self.said = [*self.said[1 - MOST_PLACES :], turn.place]
            self.first_words = self.first_words or _shorten(turn.text)

    def count_unknown(self, kind: str) -> None:
        """Count a line of an unknown kind."""
        name = kind[:_LONGEST_KIND] or "without a type"
        if name not in self.unknown and len(self.unknown) >= _MOST_KINDS:
            name = "other"
        self.unknown[name] += 1

    @property
    def window(self) -> MessagePlace:
        """The place from which the last messages of the user can be read."""
        return self.said[0] if self.said else MessagePlace(0, 1)

    def make_session(self, agent: Agent, path: str) -> Session:
        """Return the session as far as it was read."""
        return Session(
            agent,
            self.id,
            path,
            self.cwd,
            self.branch,
            self.title or self.first_words,
            self.started,
            self.ended,
            self.continues,
            self.part_of,
        )


def _shorten(text: str) -> str:
    """Return a text as a title: one line, without credentials."""
    return " ".join(mask(text[: 4 * _LONGEST_TITLE]).split())[:_LONGEST_TITLE]


def dump_checkpoint(learnt: Checkpoint) -> str:
    """Return a checkpoint as JSON."""
    values = {field.name: getattr(learnt, field.name) for field in fields(learnt)}
    return json.dumps(values, ensure_ascii=True)


def load_checkpoint(text: str) -> Checkpoint:
    """Return the checkpoint that `dump_checkpoint` wrote; an empty one if it is damaged."""
    try:
        values: dict[str, Any] = as_dict(json.loads(text))
        learnt = Checkpoint(**values)
        learnt.said = [MessagePlace(*where) for where in values["said"]]
        learnt.unknown = Counter(values["unknown"])
        return learnt
    except (ValueError, TypeError, KeyError):
        return Checkpoint()
