"""What opencode's sessions become, kept in SQLite or in files."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ricordo.agents.opencode.transcript import OpencodeSession, OpencodeTranscript, find_sessions
from ricordo.agents.transcripts.session import FileAction, Message, Noise, Session, Speaker
from tests.support.transcripts import CWD, write

AT = 1_791_190_800_000
PERSON: dict[str, Any] = {"role": "user", "time": {"created": AT}}
AGENT: dict[str, Any] = {"role": "assistant", "time": {"created": AT + 1_000}}
SUMMARY = {**AGENT, "summary": True, "time": {"created": AT + 2_000}}


def tool(tool: str, status: str = "completed", exit: int = 0, **given: Any) -> dict[str, Any]:
    state = {"status": status, "input": given, "metadata": {"exit": exit}}
    return {"type": "tool", "tool": tool, "callID": f"call_{tool}", "state": state}


MESSAGES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        PERSON,
        [
            {"type": "text", "text": "Keep the port."},
            {"type": "text", "text": "Read it first.", "synthetic": True},
            {"type": "text", "text": "And so on.", "ignored": True},
        ],
    ),
    (
        AGENT,
        [
            {"type": "step-start"},
            {"type": "reasoning", "text": "Which port?"},
            tool("read", filePath=f"{CWD}/notes/tides.md"),
            tool("write", filePath="notes/port.md", content="Sines."),
            tool("edit", status="error", filePath=f"{CWD}/notes/tides.md"),
            tool("bash", exit=1, command="cat notes/gone.md"),
            {"type": "patch", "files": [f"{CWD}/notes/port.md", f"{CWD}/notes/list.md", 1]},
            {"type": "text", "text": "Kept."},
            {"type": "of-tomorrow"},
        ],
    ),
    (SUMMARY, [{"type": "compaction"}, {"type": "text", "text": "## Objective"}]),
]


def in_files(data: Path) -> None:
    storage = data / "storage"
    told = {
        "id": "ses_1",
        "directory": CWD,
        "title": "Ports",
        "time": {"created": AT, "updated": AT},
    }
    put(storage / "session" / "project" / "ses_1.json", told)
    for number, (message, parts) in enumerate(MESSAGES):
        name = f"msg_{number}"
        put(storage / "message" / "ses_1" / f"{name}.json", {"id": name, **message})
        for count, part in enumerate(parts):
            put(storage / "part" / name / f"prt_{count}.json", {"id": f"{name}.{count}", **part})


def in_oldest_files(data: Path) -> None:
    """The parts are not sorted into folders."""
    in_files(data)
    parts = data / "storage" / "part"
    for number, path in enumerate(sorted(parts.rglob("*.json"))):
        told = json.loads(path.read_text()) | {"messageID": path.parent.name}
        path.unlink()
        put(parts / f"prt_{number:02}.json", told)


def in_database(data: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(data / "opencode.db")) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, data);"
            "CREATE TABLE part (id, message_id, session_id, data);"
        )
        connection.execute("INSERT INTO session VALUES ('ses_1', NULL, ?, 'Ports', ?)", (CWD, AT))
        for number, (message, parts) in enumerate(MESSAGES):
            row = (f"msg_{number}", message["time"]["created"], json.dumps(message))
            connection.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", row)
            for count, part in enumerate(parts):
                told = (f"msg_{number}.{count}", row[0], json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", told)


def in_version_2(data: Path) -> None:
    """As the engine of version 2 keeps the same, which version 1.18.33 has beside its own."""
    data.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, dict[str, Any]]] = [("model-switched", {"model": {"id": "m"}})]
    for message, parts in MESSAGES:
        if message is PERSON:
            kinds = ("user", "synthetic", "system")
            rows += ((kind, {"text": it["text"]}) for kind, it in zip(kinds, parts, strict=True))
        elif message is SUMMARY:
            rows.append(("compaction", {"reason": "auto", "summary": parts[1]["text"]}))
        else:
            (files,) = (part["files"] for part in parts if part["type"] == "patch")
            others = [it for it in parts if it["type"] not in ("patch", "step-start")]
            content = [as_of_version_2(part) for part in others]
            rows.append(("assistant", {"content": content, "snapshot": {"files": files}}))
    with closing(sqlite3.connect(data / "opencode.db", isolation_level=None)) as connection:
        connection.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, data);"
            "CREATE TABLE part (id, message_id, session_id, data);"
            "CREATE TABLE session_message (id, session_id, type, seq, time_created, data);"
        )
        connection.execute(
            "INSERT INTO session VALUES (?,?,?,?,?)", ("ses_1", "", CWD, "Ports", AT)
        )
        for number, (kind, row) in enumerate(rows):
            values = (f"msg_{number}", "ses_1", kind, number, AT, json.dumps(row))
            connection.execute("INSERT INTO session_message VALUES (?,?,?,?,?,?)", values)


def as_of_version_2(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] != "tool":
        return part
    state = part["state"]
    given = {"path" if key == "filePath" else key: it for key, it in state["input"].items()}
    kept = {"status": state["status"], "input": given, "content": []}
    if state["status"] == "error":
        kept["error"] = {"type": "unknown", "message": "it failed"}
    kept["structured"] = state["metadata"]
    return {"type": "tool", "id": part["callID"], "name": part["tool"], "state": kept}


def put(path: Path, told: dict[str, Any]) -> None:
    write(path, json.dumps(told).encode())


def read(data: Path) -> tuple[list[Message], Session, dict[str, int]]:
    (kept,) = find_sessions(str(data))
    transcript = OpencodeTranscript(kept)
    turns = list(transcript.messages())
    return turns, transcript.session, transcript.checkpoint.unknown


@pytest.mark.parametrize("kept", [in_files, in_oldest_files, in_database, in_version_2])
def test_all_formats_give_the_same_messages(tmp_path: Path, kept: Any) -> None:
    kept(tmp_path)
    turns, session, unknown = read(tmp_path)
    assert [(turn.who, turn.text) for turn in turns if turn.is_spoken] == [
        (Speaker.USER, "Keep the port."),
        (Speaker.AGENT, "Kept."),
    ]
    noise = [turn.noise for turn in turns if turn.noise]
    assert noise == [
        *[Noise.SYNTHETIC] * 2,
        Noise.THINKING,
        *[Noise.CALL] * 4,
        Noise.SYNTHETIC,
        # version 1 has a mark of a compaction besides its summary
        *[Noise.SUMMARY] * (1 if kept is in_version_2 else 2),
    ]
    done = [it for turn in turns for it in turn.touches if it.call not in turn.failed]
    assert [(it.action, it.path.removeprefix(CWD)) for it in done] == [
        (FileAction.READ, "/notes/tides.md"),
        (FileAction.WROTE, "/notes/port.md"),
        # no tool has told of it: a command changed it
        (FileAction.EDITED, "/notes/list.md"),
    ]
    assert (session.id, session.cwd, session.title) == ("ses_1", CWD, "Ports")
    assert unknown == {"part of-tomorrow": 1}


def test_the_database_is_read_while_it_is_written_and_nothing_is_made_beside_it(
    tmp_path: Path,
) -> None:
    in_database(tmp_path)
    assert os.listdir(tmp_path) == ["opencode.db"]
    assert read(tmp_path)[0]
    assert os.listdir(tmp_path) == ["opencode.db"]
    with closing(sqlite3.connect(tmp_path / "opencode.db", isolation_level=None)) as writer:
        writer.execute("UPDATE session SET title = 'Quays'")
        assert (tmp_path / "opencode.db-wal").exists()
        assert read(tmp_path)[1].title == "Quays"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 4096])
def test_what_is_no_database_of_opencode_holds_no_sessions(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "opencode.db", content)
    os.symlink("opencode.db", tmp_path / "opencode-link.db")
    os.mkfifo(tmp_path / "opencode-pipe.db")
    write(tmp_path / "storage" / "session" / "p" / "ses.json", content)
    assert list(find_sessions(str(tmp_path))) == []
    gone = OpencodeTranscript(OpencodeSession(str(tmp_path / "opencode.db"), "ses", "", ""))
    assert list(gone.messages()) == []


def test_no_file_outside_of_its_storage_is_read(tmp_path: Path) -> None:
    in_files(tmp_path)
    put(tmp_path / "storage" / "message" / "ses_1" / "msg_9.json", {"id": "../../..", **PERSON})
    put(tmp_path / "storage" / "session" / "p" / "evil.json", {"id": "../../etc", "directory": "/"})
    assert len(list(find_sessions(str(tmp_path)))) == 1
    assert len([turn for turn in read(tmp_path)[0] if turn.is_spoken]) == 2


def test_the_task_list_of_the_database_comes_last(tmp_path: Path) -> None:
    in_database(tmp_path)
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as connection, connection:
        connection.execute("CREATE TABLE todo (session_id, content, status, position)")
        rows = [("ses_1", "Ship it", "pending", 2), ("ses_1", "Mend it", "completed", 1)]
        rows.append(("ses_2", "Other", "pending", 1))
        connection.executemany("INSERT INTO todo VALUES (?, ?, ?, ?)", rows)
    (call,) = read(tmp_path)[0][-1].calls
    assert [(task.text, task.status) for task in call.tasks] == [
        ("Mend it", "completed"),
        ("Ship it", "pending"),
    ]
