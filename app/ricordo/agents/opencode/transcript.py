"""opencode's sessions: in SQLite (from version 1.2 on), or as JSON files (before).

Both hold the same messages and parts. Version 2 keeps messages of another form in a table of their
own; version 1.18 has that table too, for sessions that are led through its new interface. The
database is opened read-only, in a way that makes no files beside it; `auth.json` beside it, which
holds tokens, is never read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from ricordo.agents.opencode import AGENT
from ricordo.agents.transcripts.checkpoint import Checkpoint
from ricordo.agents.transcripts.lines import (
    LONGEST_LINE,
    LONGEST_QUOTED,
    as_dict,
    as_dicts,
    as_text,
    cut,
    parse_object,
    parse_time,
    read_exit_code,
)
from ricordo.agents.transcripts.noise import (
    list_expected,
    output_begins,
    read_refusal,
    strip_insertions,
)
from ricordo.agents.transcripts.session import (
    MOST_TASKS,
    CallResult,
    FileAction,
    FileTouch,
    Message,
    MessagePlace,
    Noise,
    Session,
    Speaker,
    shorten_output,
)
from ricordo.agents.transcripts.tools import find_touches, make_call
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import list_subfolders, normalize_absolute_path, read_plain_file
from ricordo.storage.state_file import open_database_to_read

_PATIENCE = 1.0
"""Seconds for which opencode may lock its database."""
_SESSIONS = ("id", "parent_id", "directory", "title", "time_created", "time_updated")
_SQLITE = b"SQLite format 3\0"
"""The start of a database."""
_COMMIT = compile_lazily(r"[0-9a-f]{40}")
_DONE = ("completed", "success")
_MOST_FILES = 100_000
"""The most files of one session that are read."""


class OpencodeSession(NamedTuple):
    """One session that opencode keeps."""

    path: str
    """The database, or the file of the session."""
    id: str
    cwd: str
    stamp: str
    """Changes when the session changes."""


class OpencodeTranscript:
    """One session of opencode. Its messages may change, so it is always read from its start."""

    is_restarted = True
    is_resumable = False

    def __init__(self, session: OpencodeSession, step: Callable[[], None] = lambda: None) -> None:
        """`step` is called at every part and may raise. Nothing is opened yet."""
        self._stored = session
        self._step = step
        self.checkpoint = Checkpoint(id=session.id, cwd=session.cwd)
        self._changed: set[str] = set()
        """The files that tools changed since the last list of what a step changed."""

    @property
    def session(self) -> Session:
        """The session, as far as it was read."""
        return self.checkpoint.make_session(AGENT, self._stored.path)

    def messages(self) -> Iterator[Message]:
        """Yield the messages; none if the session cannot be read."""
        in_database = not self._stored.path.endswith(".json")
        items = _read_database(self._stored) if in_database else _read_files(self._stored)
        head = next(items, None)
        if head is None:
            return
        self._read_header(head)
        for number, item in enumerate(items, 1):
            self._step()
            if item.part is None:
                self.checkpoint.too_long += 1
                continue
            turn = self._read_part(item, MessagePlace(0, number))
            if turn is not None:
                self.checkpoint.record(turn)
                yield turn

    def seal(self) -> None:
        """Do nothing: it is always read from its start."""

    def _read_header(self, head: _Item) -> None:
        self.checkpoint.set_title(as_text(head.message.get("title")), 2)
        self.checkpoint.part_of = as_text(head.message.get("parentID"))

    def _read_part(self, item: _Item, where: MessagePlace) -> Message | None:
        message, part = item.message, item.part or {}
        kind, state = as_text(part.get("type")), as_dict(part.get("state"))
        is_person = message.get("role") == "user"
        times = as_dict(part.get("time")) or as_dict(state.get("time"))
        at = parse_time(times.get("start")) or parse_time(
            as_dict(message.get("time")).get("created")
        )
        common = (at, item.key, where)
        match kind:
            case "text":
                return _read_text(message, part, is_person, common)
            case "tool":
                return self._read_tool(part, state, common)
            case "patch":
                return self._read_patch(part, common)
            case "reasoning":
                return Message(
                    Speaker.AGENT, cut(as_text(part.get("text"))), *common, Noise.THINKING
                )
            case "compaction":
                return Message(Speaker.SYSTEM, "", *common, Noise.SUMMARY)
            case _:
                if kind not in list_expected(AGENT, "other_parts"):
                    self.checkpoint.count_unknown(f"part {kind}")
                return None

    def _read_tool(
        self, part: dict[str, Any], state: dict[str, Any], common: tuple[str, str, MessagePlace]
    ) -> Message:
        call = as_text(part.get("callID")) or common[1]
        given = as_dict(state.get("input"))
        cwd = normalize_absolute_path(given.get("cwd")) or self.checkpoint.cwd
        tool, ending = as_text(part.get("tool")), _make_result(call, state)
        touched = find_touches(AGENT, tool, given, cwd, call)
        if ending.has_failed is False:
            self._changed.update(touch.path for touch in touched if touch.action.changes)
        return Message(
            Speaker.AGENT,
            "",
            *common,
            Noise.CALL,
            # what a call did that never ended is unknown
            touched if ending.has_failed is not None else (),
            (make_call(AGENT, tool, given, call),),
            (ending,),
        )

    def _read_patch(self, part: dict[str, Any], common: tuple[str, str, MessagePlace]) -> Message:
        """Read the files that a step changed, without those that a tool call named."""
        call, files = common[1], part.get("files")
        paths = [normalize_absolute_path(file) for file in files] if isinstance(files, list) else []
        new = (path for path in dict.fromkeys(paths) if path and path not in self._changed)
        touched = tuple(FileTouch(FileAction.EDITED, path, call) for path in new)
        self._changed.clear()
        ending = CallResult(call, has_failed=False)
        return Message(Speaker.SYSTEM, "", *common, Noise.SYNTHETIC, touched, (), (ending,))


def _make_result(call: str, state: dict[str, Any]) -> CallResult:
    """Return the result of a call; it is unknown for one that never ended."""
    number = read_exit_code(as_dict(state.get("metadata")).get("exit"))
    output = as_text(state.get("output")) or as_text(state.get("error"))
    has_ended = state.get("status") in _DONE or state.get("status") == "error"
    has_failed = state.get("status") == "error" or number not in (None, 0)
    is_refused, words = read_refusal(AGENT, output) if has_failed else (False, "")
    is_open = not has_ended or (has_failed and output_begins(AGENT, "stopped", output))
    return CallResult(
        call,
        None if is_open else has_failed,
        number,
        shorten_output(output),
        is_rejected=is_refused,
        is_denied=has_failed and output_begins(AGENT, "denied", output),
        user_words=words,
        answers=tuple(_find_answers(state)),
    )


def _find_answers(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the questions that a call asked the user, with the answers, each of several words."""
    questions = as_dict(state.get("input")).get("questions")
    given = as_dict(state.get("metadata")).get("answers")
    answers = given if isinstance(given, list) else []
    for asked, answer in zip(as_dicts(questions), answers, strict=False):
        question = as_text(asked.get("question"))
        words = ", ".join(filter(None, map(as_text, answer if isinstance(answer, list) else ())))
        if question and words:
            yield question, words


def find_sessions(data: str) -> Iterator[OpencodeSession]:
    """Yield the sessions in opencode's data directory, of both eras."""
    for name in _list_names(data):
        if name.startswith("opencode") and name.endswith(".db"):
            yield from _find_database_sessions(os.path.join(data, name))
    for folder in list_subfolders(os.path.join(data, "storage", "session")):
        for name in _list_names(folder):
            if name.endswith(".json"):
                yield from _find_file_session(os.path.join(folder, name))


def read_sessions_at(path: str) -> Iterator[OpencodeSession]:
    """Yield the sessions in one database, or the one in one file of a session."""
    is_database = (read_plain_file(path, len(_SQLITE)) or b"") == _SQLITE
    yield from _find_database_sessions(path) if is_database else _find_file_session(path)


class _Item(NamedTuple):
    """A part of a message; the first item of a session is its header."""

    message: dict[str, Any]
    part: dict[str, Any] | None
    """None if it is too long."""
    key: str = ""


def _read_text(
    message: dict[str, Any],
    part: dict[str, Any],
    is_person: bool,
    common: tuple[str, str, MessagePlace],
) -> Message:
    text = cut(strip_insertions(as_text(part.get("text"))), LONGEST_QUOTED)
    if message.get("summary") is True:
        return Message(Speaker.SYSTEM, text, *common, Noise.SUMMARY)
    if part.get("synthetic") is True or part.get("ignored") is True:
        return Message(Speaker.SYSTEM, text, *common, Noise.SYNTHETIC)
    return Message(Speaker.USER if is_person else Speaker.AGENT, text, *common)


# In SQLite


def _connect(path: str) -> sqlite3.Connection:
    """Open the database read-only. Raises sqlite3.Error and OSError."""
    # without a write-ahead log nothing is writing; SQLite would create one even for a reader
    is_quiet = not os.path.exists(f"{path}-wal")
    connection = open_database_to_read(path, timeout=_PATIENCE, immutable=is_quiet)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def is_used_by_version_2(data: str) -> bool:
    """Return whether the newest session of a database in the data directory was begun by opencode
    2 or a later one.
    """
    names = (name for name in _list_names(data) if name.startswith("opencode"))
    versions = (_read_newest_version(os.path.join(data, name)) for name in names)
    majors = (version.partition(".")[0] for version in versions)
    return any(major.isdecimal() and int(major) >= 2 for major in majors)


def _read_newest_version(path: str) -> str:
    if not path.endswith(".db") or os.path.islink(path) or not os.path.isfile(path):
        return ""
    try:
        with closing(_connect(path)) as connection:
            sql = "SELECT version FROM session ORDER BY time_created DESC LIMIT 1"
            row = connection.execute(sql).fetchone()
    except (sqlite3.Error, OSError):
        return ""
    return as_text(row[0]) if row else ""


def read_projects(data: str) -> Iterator[tuple[str, str]]:
    """Yield the directories of the projects in the databases of the data directory, each with the
    first commit of its repository.
    """
    for name in _list_names(data):
        path = os.path.join(data, name)
        if not (name.startswith("opencode") and name.endswith(".db")) or os.path.islink(path):
            continue
        try:
            with closing(_connect(path)) as connection:
                rows = connection.execute("SELECT worktree, id FROM project").fetchall()
        except (sqlite3.Error, OSError):
            continue
        for worktree, id in rows:
            directory = normalize_absolute_path(worktree)
            if directory and _COMMIT.fullmatch(as_text(id)):
                yield directory, id


def _find_database_sessions(path: str) -> Iterator[OpencodeSession]:
    if os.path.islink(path) or not os.path.isfile(path):
        return
    try:
        with closing(_connect(path)) as connection:
            columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(session)")}
            if not {"id", "directory"} <= columns:
                return
            updated = "time_updated" if "time_updated" in columns else "NULL"
            rows = connection.execute(f"SELECT id, directory, {updated} FROM session").fetchall()
    except (sqlite3.Error, OSError):
        return
    for session, directory, stamp in rows:
        yield OpencodeSession(path, str(session), normalize_absolute_path(directory), str(stamp))


def _read_database(session: OpencodeSession) -> Iterator[_Item]:
    try:
        with closing(_connect(session.path)) as connection:
            yield _read_head(connection, session.id)
            rows = connection.execute(
                "SELECT m.id, m.data, m.time_created, p.id, "
                "CASE WHEN length(p.data) <= ? THEN p.data END FROM message m "
                "JOIN part p ON p.message_id = m.id WHERE m.session_id = ? "
                "ORDER BY m.time_created, m.id, p.id",
                (LONGEST_LINE, session.id),
            )
            for _, data, created, key, part in rows:
                message = {"time": {"created": created}, **(parse_object(as_text(data)) or {})}
                yield _Item(
                    message, None if part is None else parse_object(str(part)) or {}, str(key)
                )
            yield from _read_messages_of_version_2(connection, session.id)
            yield from _read_todos(connection, session.id)
    except (sqlite3.Error, OSError):
        return


def _read_messages_of_version_2(connection: sqlite3.Connection, session: str) -> Iterator[_Item]:
    """Yield the parts of the messages of version 2, in the form that version 1 gives them."""
    columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(session_message)")}
    if not {"id", "session_id", "type", "seq", "time_created", "data"} <= columns:
        return
    rows = connection.execute(
        "SELECT id, type, time_created, CASE WHEN length(data) <= ? THEN data END "
        "FROM session_message WHERE session_id = ? ORDER BY seq",
        (LONGEST_LINE, session),
    )
    for key, kind, created, data in rows:
        message = {
            "role": "user" if kind == "user" else "assistant",
            "time": {"created": created},
            "summary": kind == "compaction",
        }
        if data is None:
            yield _Item(message, None, str(key))
            continue
        for part in _list_parts_of_version_2(str(kind), parse_object(as_text(data)) or {}):
            yield _Item(message, part, as_text(part.get("id")) or str(key))


def _list_parts_of_version_2(kind: str, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match kind:
        case "user":
            yield {"type": "text", "text": message.get("text")}
        case "synthetic" | "system":
            yield {"type": "text", "text": message.get("text"), "synthetic": True}
        case "compaction":
            yield {"type": "text", "text": message.get("summary")}
        case "shell":
            given = {"command": message.get("command")}
            state = {"status": "completed", "input": given, "output": message.get("output")}
            yield {"type": "tool", "tool": "bash", "callID": message.get("callID"), "state": state}
        case "assistant":
            for part in as_dicts(message.get("content")):
                yield _make_call_of_version_1(part) if part.get("type") == "tool" else part
            if files := as_dict(message.get("snapshot")).get("files"):
                yield {"type": "patch", "files": files}
        case _:
            yield {"type": kind}


def _make_call_of_version_1(part: dict[str, Any]) -> dict[str, Any]:
    state, given = as_dict(part.get("state")), as_dict(as_dict(part.get("state")).get("input"))
    if "path" in given:
        given = {**given, "filePath": given["path"]}
    texts = [as_text(content.get("text")) for content in as_dicts(state.get("content"))]
    error = as_dict(state.get("error")).get("message")
    return {
        "type": "tool",
        "tool": part.get("name"),
        "callID": part.get("id"),
        "time": {"start": as_dict(part.get("time")).get("created")},
        "state": {
            "status": state.get("status"),
            "input": given,
            "output": "\n".join(filter(None, texts)),
            "error": error,
            "metadata": as_dict(state.get("structured")),
        },
    }


def _read_todos(connection: sqlite3.Connection, session: str) -> Iterator[_Item]:
    """Yield the list of tasks as it is now, in the form of a tool call."""
    columns = {str(row[1]) for row in connection.execute("PRAGMA table_info(todo)")}
    if not {"session_id", "content", "status", "position"} <= columns:
        return
    rows = connection.execute(
        "SELECT content, status FROM todo WHERE session_id = ? ORDER BY position LIMIT ?",
        (session, MOST_TASKS),
    ).fetchall()
    if rows:
        todos = [{"content": content, "status": status} for content, status in rows]
        state = {"status": "completed", "input": {"todos": todos}}
        yield _Item({"role": "assistant"}, {"type": "tool", "tool": "todowrite", "state": state})


def _read_head(connection: sqlite3.Connection, session: str) -> _Item:
    columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(session)")]
    names = [name for name in _SESSIONS if name in columns]
    row = connection.execute(
        f"SELECT {', '.join(names)} FROM session WHERE id = ?", (session,)
    ).fetchone()
    fields = dict(zip(names, row or (), strict=False))
    return _Item({"title": fields.get("title"), "parentID": fields.get("parent_id")}, {})


# In files


def _find_file_session(path: str) -> Iterator[OpencodeSession]:
    fields = _read_json(path)
    name = as_text(fields.get("id"))
    if not name or "/" in name:
        return
    messages = os.path.join(_storage_of(path), "message", name)
    try:
        touched = (os.stat(path).st_mtime_ns, os.stat(messages).st_mtime_ns)
    except OSError:
        return
    updated = as_dict(fields.get("time")).get("updated")
    yield OpencodeSession(
        path, name, normalize_absolute_path(fields.get("directory")), f"{updated} {touched}"
    )


def _read_files(session: OpencodeSession) -> Iterator[_Item]:
    yield _Item(_read_json(session.path), {})
    storage = _storage_of(session.path)
    folder = os.path.join(storage, "message", session.id)
    messages = [_read_json(os.path.join(folder, name)) for name in _list_names(folder)]
    loose = _find_loose_parts(
        os.path.join(storage, "part"), {_id_of(message) for message in messages}
    )
    messages.sort(
        key=lambda item: (parse_time(as_dict(item.get("time")).get("created")), _id_of(item))
    )
    for message in messages:
        name = _id_of(message)
        own = os.path.join(storage, "part", name) if name and "/" not in name else ""
        for file in _list_names(own) if own else ():
            part = _read_json(os.path.join(own, file))
            yield _Item(message, part, _id_of(part))
        for part in loose.get(name, ()):
            yield _Item(message, part, _id_of(part))


def _find_loose_parts(folder: str, messages: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of these messages in the oldest layout, which has no folders for them."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for name in _list_names(folder):
        if name.endswith(".json"):
            part = _read_json(os.path.join(folder, name))
            message = as_text(part.get("messageID"))
            if message in messages:
                parts.setdefault(message, []).append(part)
    return parts


def _storage_of(session_file: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(session_file)))


def _read_json(path: str) -> dict[str, Any]:
    raw = read_plain_file(path, LONGEST_LINE)
    return (parse_object(raw) if raw is not None else None) or {}


def _id_of(fields: dict[str, Any]) -> str:
    return as_text(fields.get("id"))


def _list_names(folder: str) -> list[str]:
    """Return the sorted names in a directory; none if it cannot be listed."""
    try:
        return sorted(os.listdir(folder))[:_MOST_FILES]
    except OSError:
        return []
