"""Where a note came from: the turn of a session that caused it, and those of its later changes.

What is told here was kept when it was found in a transcript, and stays when the transcript goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import dropwhile
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.registry import agent_named
from ricordo.agents.transcripts.lines import dict_of, dicts_of
from ricordo.agents.transcripts.session import FileAction, Who
from ricordo.agents.transcripts.store import StoredOrigin, TranscriptStore
from ricordo.lint.evidence import UNKNOWN, Origin


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """One turn of those that are shown, without credentials."""

    who: Who
    text: str
    at: str
    """ISO 8601 in UTC; "" where it is not known."""
    key: str
    """The uuid that the agent gave the turn; "" where it gave none."""
    is_cause: bool = False
    """Whether it is what caused the note."""
    is_act: bool = False
    """Whether the note was written in it."""
    skipped: int = 0
    """How many turns before it are left out."""


@dataclass(frozen=True, slots=True)
class NoteOrigin:
    """How a session came to write a note."""

    note: str
    """Its path in the memory, at that time."""
    at: str
    """When it was written, ISO 8601 in UTC; "" where it is not known."""
    done: str
    """When the program said that it was done; "" where it did not."""
    deed: FileAction | None
    """None where no call of a tool is known and the note alone names the session."""
    agent: Agent
    session: str
    """Its id."""
    title: str
    """Of the session; "" where it has none."""
    transcript: str
    """The file in which it was found; it may be gone."""
    turns: tuple[QuotedMessage, ...] = field(default=())
    """What was said around it, in its order."""
    is_heard_out: bool = False
    """Whether all that the person said before was looked at, and in the language of the note: where
    nothing of it is quoted, nobody said it.
    """

    @property
    def quote(self) -> QuotedMessage | None:
        """What the person said that bears on the note; None where none is found."""
        return next((turn for turn in self.turns if turn.is_cause), None)

    @property
    def shown_session(self) -> str:
        """A name for the session."""
        return self.title or self.session[:8]

    @property
    def writer(self) -> str:
        """Who wrote, for a list: the program and the session."""
        return f"{self.agent.shown} · {self.shown_session}"

    @property
    def summary(self) -> Origin:
        """In brief: whose words they are, and where they stand."""
        if self.quote is None and not self.is_heard_out:
            return Origin(UNKNOWN, "", self.shown_session, self.agent.shown, self.at)
        speaker = Who.PERSON if self.quote else Who.AGENT
        said = self.quote or self._own_words
        text = said.text if said else ""
        return Origin(speaker, text, self.shown_session, self.agent.shown, self.at)

    @property
    def _own_words(self) -> QuotedMessage | None:
        """What the agent said when it wrote the note, else next."""
        after = dropwhile(lambda turn: not turn.is_act, self.turns)
        return next((turn for turn in after if turn.who is Who.AGENT and turn.text), None)


def causes_by_note(
    store: TranscriptStore, root: str, renamed: Mapping[str, str]
) -> dict[str, tuple[NoteOrigin, ...]]:
    """Return how each note of the memory at `root` came to be, and was changed by agents, in the
    order of time, from what was kept in `store`. `renamed` has the present paths of files by those
    that they had.
    """
    found: dict[str, list[NoteOrigin]] = {}
    seen: set[tuple[str, str]] = set()
    for kept in store.origins(root):
        cause = cause_of(kept)
        # a session that was resumed may stand in two transcripts
        if cause is None or (kept.call and (kept.call, kept.note) in seen):
            continue
        if not (cause.deed or cause.turns):
            # nothing in the session that the note names bears on it
            continue
        seen.add((kept.call, kept.note))
        found.setdefault(renamed.get(kept.note, kept.note), []).append(cause)
    return {note: tuple(_of_this_note(causes)) for note, causes in found.items()}


def _of_this_note(causes: list[NoteOrigin]) -> list[NoteOrigin]:
    """Leave out what was before the note was deleted and made anew; and what its head says, where
    the call is known that wrote it.
    """
    gone = [number for number, cause in enumerate(causes) if cause.deed is FileAction.DELETED]
    after = causes[gone[-1] + 1 :] if gone else causes
    own = after or causes
    return [cause for cause in own if cause.deed] or own


def told(cause: NoteOrigin) -> str:
    """Return a cause as it is kept."""
    return json.dumps({**asdict(cause), "agent": cause.agent.name}, ensure_ascii=True)


def cause_of(kept: StoredOrigin) -> NoteOrigin | None:
    """Return a cause that was kept; None where it cannot be read."""
    try:
        given: dict[str, Any] = dict_of(json.loads(kept.told))
        turns = tuple(
            QuotedMessage(**{**turn, "who": Who(turn["who"])}) for turn in dicts_of(given["turns"])
        )
        agent = agent_named(given["agent"])
        deed = FileAction(given["deed"]) if given["deed"] else None
        return NoteOrigin(**{**given, "turns": turns, "deed": deed, "agent": agent})
    except (ValueError, TypeError, KeyError):
        return None
