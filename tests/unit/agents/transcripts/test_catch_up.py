"""What is kept of transcripts: brought up to date, whole after every fault, and for good."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ricordo.agents.claude.support import find_transcripts as claude_sources
from ricordo.agents.codex.support import find_rollouts as codex_sources
from ricordo.agents.opencode.support import find_transcripts as opencode_sources
from ricordo.agents.transcripts import catch_up as module
from ricordo.agents.transcripts.catch_up import catch_up
from ricordo.agents.transcripts.session import FileAction
from ricordo.agents.transcripts.sources import (
    TranscriptSource,
)
from ricordo.agents.transcripts.store import FILE, StoredOrigin, TranscriptStore
from tests.support.transcripts import FOLDER, OTHER, SESSION, Claude, Codex

NOTE = f"/home/ana/.claude/projects/{FOLDER}/memory/tides.md"


@pytest.fixture
def store(tmp_path: Path) -> TranscriptStore:
    return TranscriptStore(str(tmp_path / "state"))


def sources(home: Path) -> list[TranscriptSource]:
    return list(claude_sources(str(home / ".claude" / "projects" / FOLDER)))


def caught_up(
    store: TranscriptStore, home: Path, step: Callable[[], None] = lambda: None
) -> list[str]:
    catch_up(store, sources(home), step)
    return touched(store)


def touched(store: TranscriptStore) -> list[str]:
    known = {it.number for it in store.list_transcripts()}
    return [f"{it.action} {it.path.rpartition('/')[2]}" for it in store.list_touches(known)]


def test_only_actions_on_markdown_files_are_stored(tmp_path: Path, store: TranscriptStore) -> None:
    script = Claude().uses("Read", file_path=NOTE).uses("Read", file_path="/home/ana/a.py")
    script.uses("Edit", failed=True, file_path=NOTE).uses("Write", file_path=NOTE, content="x")
    script.uses("Edit", answered=False, file_path=NOTE).write(tmp_path)
    assert caught_up(store, tmp_path) == ["read tides.md", "wrote tides.md", "edited tides.md"]
    (known,) = store.list_transcripts()
    assert known.session.id == SESSION
    read, wrote, edited = store.list_touches([known.number])
    assert read.done_at > read.at
    assert (edited.done_at, wrote.action) == ("", FileAction.WROTE)
    assert store.list_touches([]) == []


def test_an_answer_may_come_with_a_later_reading(tmp_path: Path, store: TranscriptStore) -> None:
    script = Claude().uses("Write", "a", answered=False, file_path=NOTE)
    script.uses("Write", "b", answered=False, file_path=NOTE).write(tmp_path)
    assert len(caught_up(store, tmp_path)) == 2
    result = {"type": "tool_result", "tool_use_id": "a", "is_error": True}
    script.line("user", toolUseResult={}, message={"content": [result]}).write(tmp_path)
    assert len(caught_up(store, tmp_path)) == 1


def test_what_was_read_is_not_read_again(
    tmp_path: Path, store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Claude().uses("Read", file_path=NOTE)
    script.write(tmp_path)
    Claude(OTHER).uses("Read", file_path=NOTE).write(tmp_path)
    assert len(caught_up(store, tmp_path)) == 2
    began: list[str] = []
    reading = module._TranscriptCatchUp.read

    def noted(self: module._TranscriptCatchUp) -> None:
        began.append(self._source.path)
        reading(self)

    monkeypatch.setattr(module._TranscriptCatchUp, "read", noted)
    assert len(caught_up(store, tmp_path)) == 2
    assert began == []
    path = script.uses("Edit", file_path=NOTE).write(tmp_path)
    assert len(caught_up(store, tmp_path)) == 3
    assert began == [str(path)]


def test_what_was_swept_stays_known_and_what_was_replaced_does_not(
    tmp_path: Path, store: TranscriptStore
) -> None:
    path = Claude().uses("Read", file_path=NOTE).write(tmp_path)
    caught_up(store, tmp_path)
    path.unlink()
    assert caught_up(store, tmp_path) == ["read tides.md"]
    Claude().says("All is new.").uses("Write", file_path=NOTE).write(tmp_path)
    assert caught_up(store, tmp_path) == ["wrote tides.md"]


class Enough(Exception):
    pass


class Patience:
    """A step that gives up after so many."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def __call__(self) -> None:
        self.steps -= 1
        if not self.steps:
            raise Enough


def test_an_interruption_loses_nothing_that_was_kept_and_adds_nothing_twice(
    tmp_path: Path, store: TranscriptStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_INTERVAL", 2_000)
    script = Claude()
    for number in range(20):
        script.uses("Read", f"call{number}", file_path=NOTE)
    script.write(tmp_path)
    counts = [0]
    for patience in range(1, 60, 4):
        try:
            caught_up(store, tmp_path, Patience(patience))
        except Enough:
            counts.append(len(touched(store)))
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 20
    assert len(caught_up(store, tmp_path)) == 20


@pytest.mark.parametrize("damage", [b"no database", b"", b"\xff" * 9_000, None])
def test_a_damaged_or_newer_file_is_moved_aside_and_rebuilt(
    tmp_path: Path, store: TranscriptStore, damage: bytes | None
) -> None:
    Claude().uses("Read", file_path=NOTE).write(tmp_path)
    caught_up(store, tmp_path)
    file = tmp_path / "state" / FILE
    if damage is None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 99")
    else:
        file.write_bytes(damage + file.read_bytes()[len(damage) :] if damage else b"")
    assert store.list_transcripts() == []
    assert caught_up(store, tmp_path) == ["read tides.md"]
    assert damage == b"" or file.with_name(f"{FILE}.unfit").exists()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_flipped_bit_anywhere_is_no_exception(tmp_path: Path) -> None:
    Claude().uses("Read", file_path=NOTE).titled("Tides").write(tmp_path)
    store = TranscriptStore(str(tmp_path / "state"))
    caught_up(store, tmp_path)
    store.save_origins("/memory", [StoredOrigin("tides.md", SESSION, "a", "", "{}", "")])
    file = tmp_path / "state" / FILE
    whole = file.read_bytes()
    for at in range(0, len(whole), 211):
        flipped = bytearray(whole)
        flipped[at] ^= 0x55
        for path in (tmp_path / "state").iterdir():
            path.unlink()
        file.write_bytes(flipped)
        store.list_touches([it.number for it in store.list_transcripts()])
        store.list_origins("/memory")


def test_a_state_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = TranscriptStore(str(tmp_path / "file" / "state"))
    assert store.list_transcripts() == []
    with pytest.raises(NotADirectoryError):
        catch_up(store, [], lambda: None)


def test_transcripts_are_found_where_agents_keep_them(tmp_path: Path) -> None:
    own = Claude().says("Here.").write(tmp_path)
    below = own.parent / SESSION / "subagents" / "agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    below.write_bytes(Claude().says("Look.").bytes)
    (own.parent / "link.jsonl").symlink_to(own)
    os.mkfifo(own.parent / "pipe.jsonl")
    assert {it.path for it in sources(tmp_path)} == {str(own), str(below)}
    rollout = Codex().head().write(tmp_path)
    archived = tmp_path / ".codex" / "archived_sessions" / "rollout-b.jsonl"
    archived.parent.mkdir()
    archived.write_bytes(Codex().head().bytes)
    found = {it.path for it in codex_sources(str(tmp_path / ".codex"))}
    assert found == {str(rollout), str(archived)}
    assert list(opencode_sources(str(tmp_path))) == []


def test_a_value_is_taken_out_of_all_that_is_kept(tmp_path: Path, store: TranscriptStore) -> None:
    value = 'Lampara "Ä"'
    Claude().says(f"Call it {value}.").uses("Read", file_path=NOTE).write(tmp_path)
    caught_up(store, tmp_path)
    told = '{"text": "Call it Lampara \\"\\u00c4\\"."}'
    store.save_origins("/memory", [StoredOrigin("tides.md", SESSION, "a", "", told, "whole")])
    assert store.purge(value) == 3
    assert store.purge(value) == 0
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").iterdir())
    assert b"Lampara" not in kept
    assert touched(store) == ["read tides.md"]
    (known,) = store.list_transcripts()
    assert known.session.title == "Call it [purged]."
