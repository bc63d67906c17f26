"""The origin of a note: the message of a session that caused it, and those of later changes.

Origins are stored when they are found in a transcript, and stay when the transcript is deleted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import dropwhile
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.lines import as_dict, as_dicts
from ricordo.agents.transcripts.session import FileAction, Speaker
from ricordo.agents.transcripts.store import StoredOrigin, TranscriptStore
from ricordo.lint.evidence import UNKNOWN_SPEAKER, NoteCause


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """One message around the writing of a note, without credentials."""

    who: Speaker
    text: str
    at: str
    """ISO 8601 in UTC; "" where unknown."""
    key: str
    """The uuid that the agent gave the message; "" where it gave none."""
    is_cause: bool = False
    """Whether it caused the note."""
    is_act: bool = False
    """Whether the note was written in it."""
    skipped: int = 0
    """How many messages before it are left out."""


@dataclass(frozen=True, slots=True)
class NoteOrigin:
    """How a session came to write a note. Its field names are part of the stored format."""

    note: str
    """Its path in the memory at that time."""
    at: str
    """When it was written, ISO 8601 in UTC; "" where unknown."""
    done: str
    """When the agent reported the end of the call; "" where it did not."""
    deed: FileAction | None
    """None where no tool call is known and only the note names the session."""
    agent: Agent
    session: str
    """The id of the session."""
    title: str
    """Of the session; "" where it has none."""
    transcript: str
    """The file in which it was found; it may no longer exist."""
    turns: tuple[QuotedMessage, ...] = field(default=())
    """The messages around it, in order."""
    is_heard_out: bool = False
    """Whether all earlier messages of the user were read, in the language of the note: if none is
    quoted then, the user did not say it.
    """

    @property
    def quote(self) -> QuotedMessage | None:
        """The user's message that caused the note; None where none was found."""
        return next((turn for turn in self.turns if turn.is_cause), None)

    @property
    def shown_session(self) -> str:
        """Return a name for the session."""
        return self.title or self.session[:8]

    @property
    def writer(self) -> str:
        """Return the agent and the session, for a list."""
        return f"{self.agent.shown} · {self.shown_session}"

    @property
    def summary(self) -> NoteCause:
        """Return the origin in brief: whose words they are, and their session."""
        if self.quote is None and not self.is_heard_out:
            return NoteCause(UNKNOWN_SPEAKER, "", self.shown_session, self.agent.shown, self.at)
        speaker = Speaker.USER if self.quote else Speaker.AGENT
        message = self.quote or self._agent_message
        text = message.text if message else ""
        return NoteCause(speaker, text, self.shown_session, self.agent.shown, self.at)

    @property
    def _agent_message(self) -> QuotedMessage | None:
        """Return the agent's message that wrote the note, else its next one."""
        after = dropwhile(lambda turn: not turn.is_act, self.turns)
        return next((turn for turn in after if turn.who is Speaker.AGENT and turn.text), None)


def load_origins(
    store: TranscriptStore, root: str, renamed: Mapping[str, str]
) -> dict[str, tuple[NoteOrigin, ...]]:
    """Return the origins of each note of the memory at `root`, in the order of time, from `store`.
    `renamed` maps old paths of files to current ones.
    """
    by_note: dict[str, list[NoteOrigin]] = {}
    known_calls: set[tuple[str, str]] = set()
    for stored in store.list_origins(root):
        origin = parse_origin(stored)
        # a resumed session may be in two transcripts
        if origin is None or (stored.call and (stored.call, stored.note) in known_calls):
            continue
        if not (origin.deed or origin.turns):
            # no message of the session that the note names is relevant to it
            continue
        known_calls.add((stored.call, stored.note))
        by_note.setdefault(renamed.get(stored.note, stored.note), []).append(origin)
    return {note: tuple(_drop_older_note(origins)) for note, origins in by_note.items()}


def _drop_older_note(origins: list[NoteOrigin]) -> list[NoteOrigin]:
    """Leave out what was before a deletion and new creation of the note, and, where the writing
    call is known, what its frontmatter says.
    """
    deletions = [
        number for number, origin in enumerate(origins) if origin.deed is FileAction.DELETED
    ]
    after = origins[deletions[-1] + 1 :] if deletions else origins
    current = after or origins
    return [origin for origin in current if origin.deed] or current


def serialize_origin(origin: NoteOrigin) -> str:
    """Return an origin as it is stored."""
    return json.dumps({**asdict(origin), "agent": origin.agent.name}, ensure_ascii=True)


def parse_origin(stored: StoredOrigin) -> NoteOrigin | None:
    """Return a stored origin; None where it cannot be read."""
    try:
        fields: dict[str, Any] = as_dict(json.loads(stored.content))
        turns = tuple(
            QuotedMessage(**{**turn, "who": Speaker(turn["who"])})
            for turn in as_dicts(fields["turns"])
        )
        deed = FileAction(fields["deed"]) if fields["deed"] else None
        agent = find_agent(fields["agent"])
        return NoteOrigin(**{**fields, "turns": turns, "deed": deed, "agent": agent})
    except (ValueError, TypeError, KeyError):
        return None


_BEFORE, _AFTER = timedelta(seconds=5), timedelta(seconds=120)
"""How far the time of a file may be from the call of a tool and from its end. Between the two the
agent may have asked the user for permission.
"""


def find_writer(origins: Iterable[NoteOrigin], at: str, *, is_gone: bool) -> NoteOrigin | None:
    """Return the last of `origins` from which a file with the time `at` may come, ISO 8601; if it
    `is_gone`, the one that deleted it. None if there is none.
    """
    time = _parse_time(at)
    fitting = [
        origin
        for origin in origins
        if time is not None
        and origin.deed is not None
        and (origin.deed is FileAction.DELETED) == is_gone
        and _can_be_origin(origin, time, is_gone)
    ]
    return max(fitting, key=lambda origin: origin.at, default=None)


def _can_be_origin(origin: NoteOrigin, at: datetime, is_gone: bool) -> bool:
    """Return whether a file with the time `at` may come from `origin`. A deleted file has no time:
    `at` is when the deletion was noticed.
    """
    started = _parse_time(origin.at)
    done = _parse_time(origin.done) or started
    if started is None or done is None or started - _BEFORE > at:
        return False
    return is_gone or at <= done + _AFTER


def _parse_time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.astimezone()
