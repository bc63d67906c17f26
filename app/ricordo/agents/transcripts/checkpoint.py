"""What was learnt of a transcript up to a place, so that reading can go on from there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.lines import dict_of
from ricordo.agents.transcripts.session import Session, Turn, Where, Who
from ricordo.secrets import mask

MOST_KEPT = 8
"""Turns of the person whose places are kept: far enough back to find what caused a note."""
_MOST_KINDS = 200
"""Kinds of unknown lines that are counted apart; a hostile file could bear millions."""
_LONGEST_TITLE = 200
_LONGEST_KIND = 80


@dataclass(slots=True)
class Learnt:
    """What was learnt of the session in one transcript. Readers fill it in as they go."""

    id: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    title_rank: int = 0
    """How good the title is: a person's own is better than one that a program made."""
    first_words: str = ""
    """What the person said first, in brief."""
    started: str = ""
    ended: str = ""
    continues: str = ""
    part_of: str = ""
    last_key: str = ""
    """Of the last line that had one."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles of what ends in a line that has not come yet, by its uuid."""
    last_said: dict[str, str] = field(default_factory=dict)
    """A digest of what each one said last."""
    said: list[Where] = field(default_factory=list)
    """Where the last turns of the person stand, the newest last."""
    offset: int = 0
    """Up to where the file was read, in bytes."""
    line: int = 1
    """The number of the line that begins there."""
    fingerprint: str = ""
    """Of the file up to there."""
    unknown: Counter[str] = field(default_factory=Counter)
    """How many lines there were that are not understood, by their kind."""
    too_long: int = 0
    """How many lines are longer than what is looked at."""
    is_torn: bool = False
    """Whether the last line was not written to its end."""

    def name(self, title: str, rank: int) -> None:
        """Take a title, if there is no better one."""
        if title.strip() and rank >= self.title_rank:
            self.title = _brief(title)
            self.title_rank = rank

    def pass_time(self, at: str) -> None:
        """Take note of a moment of the session."""
        if at:
            self.started = min(self.started or at, at)
            self.ended = max(self.ended, at)

    def hear(self, turn: Turn) -> None:
        """Take note of a turn."""
        self.pass_time(turn.at)
        if turn.is_said and turn.who is Who.PERSON:
            self.said = [*self.said[1 - MOST_KEPT :], turn.where]
            self.first_words = self.first_words or _brief(turn.text)

    def miss(self, kind: str) -> None:
        """Count a line that is not understood."""
        name = kind[:_LONGEST_KIND] or "without a type"
        if name not in self.unknown and len(self.unknown) >= _MOST_KINDS:
            name = "other"
        self.unknown[name] += 1

    @property
    def window(self) -> Where:
        """From where on to read to know the last turns of the person."""
        return self.said[0] if self.said else Where(0, 1)

    def session(self, agent: Agent, path: str) -> Session:
        """Return the session as a value."""
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


def _brief(text: str) -> str:
    """Return a text as a title: one line, without credentials."""
    return " ".join(mask(text[: 4 * _LONGEST_TITLE]).split())[:_LONGEST_TITLE]


def as_text(learnt: Learnt) -> str:
    """Return it as it is kept."""
    told = {field.name: getattr(learnt, field.name) for field in fields(learnt)}
    return json.dumps(told, ensure_ascii=True)


def from_text(text: str) -> Learnt:
    """Return what was kept; nothing learnt where it cannot be read. The file is our own, and may be
    damaged all the same.
    """
    try:
        kept: dict[str, Any] = dict_of(json.loads(text))
        learnt = Learnt(**kept)
        learnt.said = [Where(*where) for where in kept["said"]]
        learnt.unknown = Counter(kept["unknown"])
        return learnt
    except (ValueError, TypeError, KeyError):
        return Learnt()
