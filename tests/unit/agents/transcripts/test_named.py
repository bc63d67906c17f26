"""The transcript that a person names, and what is told of a path that is none."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ricordo.agents.registry import find_agent, find_named_session, open_transcript
from ricordo.agents.transcripts.session import Speaker
from ricordo.errors import WrongUsage
from tests.support.transcripts import Claude, Codex
from tests.unit.agents.transcripts.test_opencode import in_database, in_files, in_oldest_files


def heard(name: str) -> list[str]:
    turns = open_transcript(find_named_session(name)).messages()
    return [it.text for it in turns if it.is_spoken and it.who is Speaker.USER]


def wrong(name: str | Path) -> str:
    with pytest.raises(WrongUsage) as raised:
        find_named_session(str(name))
    return raised.value.message


def test_a_file_of_lines_is_that_of_whoever_wrote_it(tmp_path: Path) -> None:
    claude = Claude().says("Keep it.").write(tmp_path)
    codex = Codex().head().says("Keep that.").write(tmp_path)
    assert heard(str(claude)) == ["Keep it."]
    assert heard(str(codex)) == ["Keep that."]
    assert find_named_session(str(codex)).agent is find_agent("codex")


def test_a_damaged_line_at_its_beginning_makes_it_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type": "us\n' + Claude().says("Keep it.").bytes)
    assert heard(str(path)) == ["Keep it."]


@pytest.mark.parametrize("era", [in_files, in_oldest_files])
def test_a_session_of_opencode_is_a_file(tmp_path: Path, era: object) -> None:
    era(tmp_path)  # type: ignore[operator]
    path = tmp_path / "storage/session/project/ses_1.json"
    assert heard(str(path)) == ["Keep the port."]


def test_a_session_in_a_database_needs_its_id_unless_it_is_the_only_one(tmp_path: Path) -> None:
    in_database(tmp_path)
    path = tmp_path / "opencode.db"
    assert heard(str(path)) == heard(f"{path}#ses_1") == ["Keep the port."]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO session VALUES ('ses_2', NULL, '/x', 'Other', 7)")
    assert heard(f"{path}#ses_1") == ["Keep the port."]
    assert "holds 2 sessions; name one of them, such as opencode.db#ses_1" in wrong(path)
    assert "holds 2 sessions" in wrong(f"{path}#ses_3")


def test_a_transcript_with_a_sign_in_its_name_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a#b.jsonl"
    path.write_bytes(Claude().says("Keep it.").bytes)
    assert heard(str(path)) == ["Keep it."]


def test_a_file_that_is_no_transcript_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to("/etc/passwd")
    (tmp_path / "note.md").write_text("# Tides\n")
    (tmp_path / "picture.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "broken.json").write_text("{")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t (a)")
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0" + b"x" * 200)
    none = "no transcript of Claude Code, Codex or opencode"
    for name, told in {
        "": "is a directory",
        "pipe.jsonl": "cannot be read as a plain file",
        "link.jsonl": "cannot be read as a plain file",
        "gone.jsonl": "is not there",
        "gone.db#ses_1": "is not there",
        "note.md": none,
        "picture.jsonl": none,
        "note.md#ses_1": none,
        "package.json": "no session of opencode",
        "broken.json": "no session of opencode",
        "other.db": "no session of opencode",
        "torn.db": "no session of opencode",
    }.items():
        assert told in wrong(tmp_path / name if name else tmp_path), name


def test_an_empty_file_and_one_that_is_being_written_are_transcripts(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"\n\n", b'{"type": "us')):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(content)
        assert heard(str(path)) == []


def test_a_name_that_would_steer_the_terminal_does_not(tmp_path: Path) -> None:
    assert "\x1b" not in wrong(tmp_path / "\x1b]52;c;eA==\x07.jsonl")
