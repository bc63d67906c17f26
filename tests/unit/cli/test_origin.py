"""What the commands print about sessions: `show`, `inbox`, `lint`, `purge`."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.builders import note_text
from tests.support.transcripts import BEGAN, Claude
from tests.unit.cli.conftest import Ricordo

SAID = "Remember: the port is Sines, see the ports and the south."


@pytest.fixture
def session(memory: Path, pinned: Path) -> Claude:
    """Return a session, not yet written, in which `tides.md` was written and then changed."""
    claude = pinned / ".claude"
    claude.mkdir()
    (claude / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(memory)}))
    path = str(memory / "tides.md")
    script = Claude().says(SAID).uses("Write", file_path=path, content="See the ports, the south.")
    script.says("Sines it is, with all its ports.")
    return script.uses("Edit", file_path=path, new_string="Sines and all its ports.")


def test_show_quotes_what_caused_a_note(session: Claude, ricordo: Ricordo, pinned: Path) -> None:
    assert json.loads(ricordo("show", "tides", "--json"))["origin"] is None
    session.titled("Ports").write(pinned)
    origin = json.loads(ricordo("show", "tides", "--json"))["origin"]
    (change,) = origin.pop("changes")
    assert origin == {
        "session": session.session,
        "title": "Ports",
        "agent": "claude",
        "at": "2026-10-05T09:01:00.000+00:00",
        "deed": "wrote",
        "speaker": "person",
        "quote": SAID,
        "turn": "5b1c-0",
    }
    assert (change["deed"], change["quote"]) == ("edited", "Sines it is, with all its ports.")
    output = ricordo("show", "tides")
    assert "origin       written in Claude Code “Ports”, 5 October 2026" in output
    assert f"“{SAID}”" in output
    assert "changed      edited in Claude Code “Ports”, 5 October 2026" in output
    assert "read         never, but edited on 5 October 2026 in “Ports”" in output


def test_show_names_the_session_of_the_frontmatter_without_a_transcript(
    memory: Path, ricordo: Ricordo
) -> None:
    head = note_text("ports").replace("type: project", "type: project\n  originSessionId: a-b-c")
    (memory / "ports.md").write_text(head)
    output = json.loads(ricordo("show", "ports", "--json"))["origin"]
    assert output == {"session": "a-b-c", "changes": []}
    assert "origin       a-b-c" in ricordo("show", "ports")


def test_lint_finds_what_was_never_read(
    session: Claude, ricordo: Ricordo, memory: Path, pinned: Path
) -> None:
    session.began = datetime.now().astimezone() + timedelta(days=1)
    session.lines.clear()
    session.uses("Read", file_path=f"{pinned}/x").write(pinned)
    words = ("lint", "--rule", "never-read", "--json")
    assert json.loads(ricordo(*words))["findings"] == [], "where none was read, that says nothing"
    session.uses("Read", file_path=f"{memory}/tides.md").write(pinned)
    found = json.loads(ricordo(*words))["findings"]
    assert [(it["path"], it["severity"]) for it in found] == [("ports.md", "info")]


def test_the_inbox_names_the_session(
    session: Claude, ricordo: Ricordo, memory: Path, pinned: Path
) -> None:
    session.titled("Ports").write(pinned)
    (memory / "tides.md").write_text(note_text("tides", "Sines and all its ports.\n"))
    # the fixture lets every file be an hour old
    written = (BEGAN + timedelta(minutes=5, hours=1)).timestamp()
    os.utime(memory / "tides.md", (written, written))
    (change,) = json.loads(ricordo("inbox", "--json"))["changes"]
    assert change["by"] == "Claude Code · Ports"
    newest, first = json.loads(ricordo("history", "tides", "--json"))["versions"]
    assert (newest["by"], first["by"]) == ("Claude Code · Ports", "another program")
    assert json.loads(ricordo("show", "tides", "--json"))["versions"][0] == newest
    ricordo("rename", "tides", "currents")
    assert [
        version["by"]
        for version in json.loads(ricordo("history", "currents", "--json"))["versions"]
    ][:2] == ["you", "Claude Code · Ports"]


def test_the_history_names_the_session_before_the_inbox_was_read(
    session: Claude, ricordo: Ricordo, memory: Path, pinned: Path
) -> None:
    session.titled("Ports").write(pinned)
    (memory / "tides.md").write_text(note_text("tides", "Sines and all its ports.\n"))
    written = (BEGAN + timedelta(minutes=5, hours=1)).timestamp()
    os.utime(memory / "tides.md", (written, written))
    assert "Claude Code · Ports" in ricordo("history")


def test_a_purge_takes_its_value_out_of_quotes(
    session: Claude, ricordo: Ricordo, pinned: Path
) -> None:
    session.titled("Ports").write(pinned)
    ricordo("show", "tides")
    output = ricordo("purge", "--yes", given="the south")
    assert "quotes and titles of sessions" in output
    kept = [it for it in (pinned / ".local/state/ricordo").rglob("*") if it.is_file()]
    assert kept
    assert not [path for path in kept if b"the south" in path.read_bytes()]
    assert "see the ports and [purged]." in ricordo("show", "tides")
