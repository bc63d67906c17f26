"""opencode's sessions: in SQLite (from version 1.2 on), or as JSON files (before).

Both hold the same messages and parts. The database is opened for reading alone, and in a way that
makes no files beside it; `auth.json` beside it, which holds tokens, is never looked at.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.checkpoint import Learnt
from ricordo.agents.transcripts.lines import (
    LONGEST_LINE,
    LONGEST_SAID,
    cut,
    dict_of,
    dicts_of,
    exit_code,
    moment,
    parsed,
    text_of,
)
from ricordo.agents.transcripts.noise import begins, expected, refusal, without_insertions
from ricordo.agents.transcripts.session import (
    MOST_TASKS,
    CallResult,
    FileAction,
    Noise,
    Session,
    Touch,
    Turn,
    Where,
    Who,
    both_ends,
)
from ricordo.agents.transcripts.tools import call_of, touches
from ricordo.storage.foreign_file import absolute_path, folders_in, read_plain_file
from ricordo.storage.state_file import open_database_to_read

AGENT = Agent("opencode", "opencode", keeps_database=True)

_PATIENCE = 1.0
"""Seconds for which opencode may hold its database."""
_SESSIONS = ("id", "parent_id", "directory", "title", "time_created", "time_updated")
_SQLITE = b"SQLite format 3\0"
"""How a database begins."""
_DONE = ("completed", "success")
_MOST_FILES = 100_000
"""Files of one session; more are not looked at."""


class OpencodeSession(NamedTuple):
    """One session that opencode keeps."""

    path: str
    """The database, or the file of the session."""
    id: str
    cwd: str
    stamp: str
    """Is another one when the session is another one."""


class OpencodeTranscript:
    """One session of opencode. What is in it may change, so it is always read from its start."""

    is_anew = True
    is_resumable = False

    def __init__(self, kept: OpencodeSession, step: Callable[[], None] = lambda: None) -> None:
        """`step` is called at every part and may raise. Nothing is opened yet."""
        self._kept = kept
        self._step = step
        self.learnt = Learnt(id=kept.id, cwd=kept.cwd)
        self._changed: set[str] = set()
        """The files that tools changed since it was told last what a step had changed."""

    @property
    def session(self) -> Session:
        """The session, as far as it was read."""
        return self.learnt.session(AGENT, self._kept.path)

    def turns(self) -> Iterator[Turn]:
        """Yield the turns. A session that cannot be read has none."""
        in_database = not self._kept.path.endswith(".json")
        told = _in_database(self._kept) if in_database else _in_files(self._kept)
        head = next(told, None)
        if head is None:
            return
        self._take_head(head)
        for number, item in enumerate(told, 1):
            self._step()
            if item.part is None:
                self.learnt.too_long += 1
                continue
            turn = self._of_part(item, Where(0, number))
            if turn is not None:
                self.learnt.hear(turn)
                yield turn

    def seal(self) -> None:
        """There is nothing to go on from."""

    def _take_head(self, head: _Item) -> None:
        self.learnt.name(text_of(head.message.get("title")), 2)
        self.learnt.part_of = text_of(head.message.get("parentID"))

    def _of_part(self, item: _Item, where: Where) -> Turn | None:
        message, part = item.message, item.part or {}
        kind, state = text_of(part.get("type")), dict_of(part.get("state"))
        is_person = message.get("role") == "user"
        times = dict_of(part.get("time")) or dict_of(state.get("time"))
        at = moment(times.get("start")) or moment(dict_of(message.get("time")).get("created"))
        common = (at, item.key, where)
        match kind:
            case "text":
                return _said(message, part, is_person, common)
            case "tool":
                return self._of_tool(part, state, common)
            case "patch":
                return self._of_patch(part, common)
            case "reasoning":
                return Turn(Who.AGENT, cut(text_of(part.get("text"))), *common, Noise.THINKING)
            case "compaction":
                return Turn(Who.SYSTEM, "", *common, Noise.SUMMARY)
            case _:
                if kind not in expected(AGENT, "other_parts"):
                    self.learnt.miss(f"part {kind}")
                return None

    def _of_tool(
        self, part: dict[str, Any], state: dict[str, Any], common: tuple[str, str, Where]
    ) -> Turn:
        call = text_of(part.get("callID")) or common[1]
        given = dict_of(state.get("input"))
        cwd = absolute_path(given.get("cwd")) or self.learnt.cwd
        tool, ending = text_of(part.get("tool")), _ending(call, state)
        touched = touches(AGENT, tool, given, cwd, call)
        if ending.has_failed is False:
            self._changed.update(it.path for it in touched if it.deed.changes)
        return Turn(
            Who.AGENT,
            "",
            *common,
            Noise.CALL,
            # of one that never ended nobody knows what it did
            touched if ending.has_failed is not None else (),
            (call_of(AGENT, tool, given, call),),
            (ending,),
        )

    def _of_patch(self, part: dict[str, Any], common: tuple[str, str, Where]) -> Turn:
        """The files that a step changed, by whatever command: those of which no tool has told."""
        call, files = common[1], part.get("files")
        paths = [absolute_path(it) for it in files] if isinstance(files, list) else []
        new = (path for path in dict.fromkeys(paths) if path and path not in self._changed)
        touched = tuple(Touch(FileAction.EDITED, path, call) for path in new)
        self._changed.clear()
        ending = CallResult(call, has_failed=False)
        return Turn(Who.SYSTEM, "", *common, Noise.SYNTHETIC, touched, (), (ending,))


def _ending(call: str, state: dict[str, Any]) -> CallResult:
    """How a call ended; of one that never did it cannot be told."""
    number = exit_code(dict_of(state.get("metadata")).get("exit"))
    output = text_of(state.get("output")) or text_of(state.get("error"))
    has_ended = state.get("status") in _DONE or state.get("status") == "error"
    has_failed = state.get("status") == "error" or number not in (None, 0)
    is_refused, words = refusal(AGENT, output) if has_failed else (False, "")
    is_open = not has_ended or (has_failed and begins(AGENT, "stopped", output))
    return CallResult(
        call,
        None if is_open else has_failed,
        number,
        both_ends(output),
        is_refused=is_refused,
        is_denied=has_failed and begins(AGENT, "denied", output),
        words=words,
        answers=tuple(_answers(state)),
    )


def _answers(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The questions that a call put to the person, with the answers, each of several words."""
    questions = dict_of(state.get("input")).get("questions")
    given = dict_of(state.get("metadata")).get("answers")
    answers = given if isinstance(given, list) else []
    for asked, answer in zip(dicts_of(questions), answers, strict=False):
        question = text_of(asked.get("question"))
        words = ", ".join(filter(None, map(text_of, answer if isinstance(answer, list) else ())))
        if question and words:
            yield question, words


def sessions(data: str) -> Iterator[OpencodeSession]:
    """Yield the sessions in opencode's data directory, of both eras."""
    for name in _names(data):
        if name.startswith("opencode") and name.endswith(".db"):
            yield from _database_sessions(os.path.join(data, name))
    for folder in folders_in(os.path.join(data, "storage", "session")):
        for name in _names(folder):
            if name.endswith(".json"):
                yield from _file_session(os.path.join(folder, name))


def sessions_at(path: str) -> Iterator[OpencodeSession]:
    """Yield the sessions in one database, or the one in one file of a session."""
    is_database = (read_plain_file(path, len(_SQLITE)) or b"") == _SQLITE
    yield from _database_sessions(path) if is_database else _file_session(path)


class _Item(NamedTuple):
    """A part of a message; the first item of a session is its head."""

    message: dict[str, Any]
    part: dict[str, Any] | None
    """None where it is too long."""
    key: str = ""


def _said(
    message: dict[str, Any],
    part: dict[str, Any],
    is_person: bool,
    common: tuple[str, str, Where],
) -> Turn:
    text = cut(without_insertions(text_of(part.get("text"))), LONGEST_SAID)
    if message.get("summary") is True:
        return Turn(Who.SYSTEM, text, *common, Noise.SUMMARY)
    if part.get("synthetic") is True or part.get("ignored") is True:
        return Turn(Who.SYSTEM, text, *common, Noise.SYNTHETIC)
    return Turn(Who.PERSON if is_person else Who.AGENT, text, *common)


# In SQLite


def _connected(path: str) -> sqlite3.Connection:
    """Open the database for reading alone. Raises sqlite3.Error and OSError."""
    # without a log nobody is writing; SQLite would make one even for a reader
    is_quiet = not os.path.exists(f"{path}-wal")
    connection = open_database_to_read(path, timeout=_PATIENCE, immutable=is_quiet)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _database_sessions(path: str) -> Iterator[OpencodeSession]:
    if os.path.islink(path) or not os.path.isfile(path):
        return
    try:
        with closing(_connected(path)) as connection:
            there = {str(row[1]) for row in connection.execute("PRAGMA table_info(session)")}
            if not {"id", "directory"} <= there:
                return
            updated = "time_updated" if "time_updated" in there else "NULL"
            rows = connection.execute(f"SELECT id, directory, {updated} FROM session").fetchall()
    except (sqlite3.Error, OSError):
        return
    for session, directory, stamp in rows:
        yield OpencodeSession(path, str(session), absolute_path(directory), str(stamp))


def _in_database(kept: OpencodeSession) -> Iterator[_Item]:
    try:
        with closing(_connected(kept.path)) as connection:
            yield _head(connection, kept.id)
            rows = connection.execute(
                "SELECT m.id, m.data, m.time_created, p.id, "
                "CASE WHEN length(p.data) <= ? THEN p.data END FROM message m "
                "JOIN part p ON p.message_id = m.id WHERE m.session_id = ? "
                "ORDER BY m.time_created, m.id, p.id",
                (LONGEST_LINE, kept.id),
            )
            for _, data, created, key, part in rows:
                message = {"time": {"created": created}, **(parsed(text_of(data)) or {})}
                yield _Item(message, None if part is None else parsed(str(part)) or {}, str(key))
            yield from _todos(connection, kept.id)
    except (sqlite3.Error, OSError):
        return


def _todos(connection: sqlite3.Connection, session: str) -> Iterator[_Item]:
    """The list of tasks as it stands, in the form in which the agent writes it."""
    there = {str(row[1]) for row in connection.execute("PRAGMA table_info(todo)")}
    if not {"session_id", "content", "status", "position"} <= there:
        return
    rows = connection.execute(
        "SELECT content, status FROM todo WHERE session_id = ? ORDER BY position LIMIT ?",
        (session, MOST_TASKS),
    ).fetchall()
    if rows:
        todos = [{"content": content, "status": status} for content, status in rows]
        state = {"status": "completed", "input": {"todos": todos}}
        yield _Item({"role": "assistant"}, {"type": "tool", "tool": "todowrite", "state": state})


def _head(connection: sqlite3.Connection, session: str) -> _Item:
    there = [str(row[1]) for row in connection.execute("PRAGMA table_info(session)")]
    names = [name for name in _SESSIONS if name in there]
    row = connection.execute(
        f"SELECT {', '.join(names)} FROM session WHERE id = ?", (session,)
    ).fetchone()
    told = dict(zip(names, row or (), strict=False))
    return _Item({"title": told.get("title"), "parentID": told.get("parent_id")}, {})


# In files


def _file_session(path: str) -> Iterator[OpencodeSession]:
    told = _json(path)
    name = text_of(told.get("id"))
    if not name or "/" in name:
        return
    messages = os.path.join(_storage(path), "message", name)
    try:
        touched = (os.stat(path).st_mtime_ns, os.stat(messages).st_mtime_ns)
    except OSError:
        return
    updated = dict_of(told.get("time")).get("updated")
    yield OpencodeSession(path, name, absolute_path(told.get("directory")), f"{updated} {touched}")


def _in_files(kept: OpencodeSession) -> Iterator[_Item]:
    yield _Item(_json(kept.path), {})
    storage = _storage(kept.path)
    folder = os.path.join(storage, "message", kept.id)
    messages = [_json(os.path.join(folder, name)) for name in _names(folder)]
    loose = _loose_parts(os.path.join(storage, "part"), {_id(it) for it in messages})
    messages.sort(key=lambda it: (moment(dict_of(it.get("time")).get("created")), _id(it)))
    for message in messages:
        name = _id(message)
        own = os.path.join(storage, "part", name) if name and "/" not in name else ""
        for file in _names(own) if own else ():
            part = _json(os.path.join(own, file))
            yield _Item(message, part, _id(part))
        for part in loose.get(name, ()):
            yield _Item(message, part, _id(part))


def _loose_parts(folder: str, messages: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """The parts of these messages in the oldest layout, which sorts none into folders."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in _names(folder):
        if name.endswith(".json"):
            part = _json(os.path.join(folder, name))
            message = text_of(part.get("messageID"))
            if message in messages:
                found.setdefault(message, []).append(part)
    return found


def _storage(session_file: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(session_file)))


def _json(path: str) -> dict[str, Any]:
    raw = read_plain_file(path, LONGEST_LINE)
    return (parsed(raw) if raw is not None else None) or {}


def _id(told: dict[str, Any]) -> str:
    return text_of(told.get("id"))


def _names(folder: str) -> list[str]:
    """The names in a directory, in their order; none where it cannot be listed."""
    try:
        return sorted(os.listdir(folder))[:_MOST_FILES]
    except OSError:
        return []
