from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ricordo.agents.claude.transcript import read_project_cwds, read_session_start

CWD = json.dumps({"type": "user", "cwd": "/home/ana/tidepool"}).encode() + b"\n"


def written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b'{"type":"mode"}\n' * 50,
        b'{"type":"user","cwd":"/to\n',
        b'{"cwd":7}\n{"cwd":null}\n{"cwd":"relative"}\n{"cwd":"/nul\\u0000"}\n',
        b'{"cwd":"/lone\\ud800"}\n',
        b'["cwd"]\n"cwd"\n',
        b'{"cwd":' + b"[" * 10_000 + b"\n",
        b'\xff\xfe "cwd"\n',
        b'{"type":"user","message":"' + b"x" * 100_000 + b'"}\n',
    ],
)
def test_the_cwd_is_the_first_that_can_be_read(tmp_path: Path, before: bytes) -> None:
    path = written(tmp_path / "a.jsonl", before + CWD)
    assert read_session_start(path)[0] == "/home/ana/tidepool"


def test_a_session_began_at_the_first_time_that_can_be_read(tmp_path: Path) -> None:
    lines = (
        b'{"timestamp":"soon"}\n',
        b'{"timestamp":"2026-06-01T10:00:00.000+02:00"}\n' + CWD,
        b'{"timestamp":"2026-05-01T08:00:00.000Z"}\n',
    )
    path = written(tmp_path / "a.jsonl", b"".join(lines))
    assert read_session_start(path) == ("/home/ana/tidepool", "2026-06-01T08:00:00.000+00:00")


def test_no_more_than_the_beginning_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b'{"type":"mode"}\n' * 20_000 + CWD)
    assert read_session_start(path) == ("", "")


def test_pipes_and_symbolic_links_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    written(tmp_path / "target", CWD)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "target")
    for name in ("pipe.jsonl", "link.jsonl", "missing.jsonl", "."):
        assert read_session_start(str(tmp_path / name)) == ("", "")
    assert read_project_cwds(str(tmp_path), 9) == ()


def test_the_cwds_of_a_folder_are_the_newest_first_and_each_once(tmp_path: Path) -> None:
    for age, cwd in enumerate(("/new", "/old", "/new", "/oldest")):
        path = written(tmp_path / f"{age}.jsonl", json.dumps({"cwd": cwd}).encode())
        os.utime(path, (1000 - age, 1000 - age))
    assert read_project_cwds(str(tmp_path), 9) == ("/new", "/old", "/oldest")
    assert read_project_cwds(str(tmp_path), 1) == ("/new",)


def test_a_folder_that_is_not_there_has_no_cwds(tmp_path: Path) -> None:
    assert read_project_cwds(str(tmp_path / "none"), 9) == ()
