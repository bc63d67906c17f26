"""Where notes came from and how often they were read, from transcripts in a home of their own."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ricordo.agents.registry import find_agent
from ricordo.lint.evidence import NoteReads
from ricordo.services.inbox.inbox import Inbox, add_writers, read_inbox
from ricordo.services.sessions.activity_text import NO_MESSAGE_TEXT, describe_quote
from ricordo.services.sessions.origin import NoteOrigin, load_origins
from ricordo.services.sessions.sessions import SessionFilter
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.evidence import GatheringCancelled
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from tests.conftest import NOW
from tests.support.builders import note_text, write_memory
from tests.support.transcripts import BEGAN, CWD, FOLDER, OTHER, SESSION, Claude, Codex

SAID = "Remember: the tide tables are for the port of Sines, never for Setubal."
BODY = "The tide tables are for the port of Sines, not for Setubal.\n"
CWDS = ("/home/ana", "/home/ana/work", "/srv/port", "/srv/port/sub", "/srv/portal")
NOTE = f"/home/ana/.claude/projects/{FOLDER}/memory/tides.md"
"""As the agent named it on the machine on which it was written."""


class Desk:
    """A memory in the project folder of an agent's home, with the notebook on it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.root = folder / ".claude" / "projects" / FOLDER / "memory"
        self.notebook: Notebook
        self.write(
            {"MEMORY.md": "# Memory\n\n- [Tides](tides.md)\n", "tides.md": note_text(body=BODY)}
        )

    def write(self, files: dict[str, str]) -> Desk:
        write_memory(self.root, files)
        environment = load_environment(
            {"HOME": str(self.home), "RICORDO_STATE": str(self.home / "state"), "RICORDO_NOW": NOW}
        )
        place = find_memories(str(self.root), environment)[0]
        self.notebook = Notebook(place, environment, load_settings(environment, ())[0])
        return self

    def look(self) -> Snapshot:
        return self.notebook.read_snapshot_with_evidence()

    def causes(self, note: str = "tides.md") -> tuple[NoteOrigin, ...]:
        memory = self.look().memory
        renamed = self.notebook.find_moved(memory)
        return load_origins(self.notebook.activity, memory.root, renamed).get(note, ())

    def reads_on_disk(self) -> int:
        """Count the readings that are stored for the next process."""
        with closing(sqlite3.connect(self.home / "state" / "activity.db")) as stored:
            sql = "SELECT count(*) FROM touch WHERE deed = 'read'"
            return int(stored.execute(sql).fetchone()[0])

    def never_read(self) -> list[str]:
        return [finding.path for finding in self.look().findings if finding.rule == "never-read"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def session() -> Claude:
    """A session in which the user says something and the agent writes it down."""
    script = Claude().says("Look at the report first.").answers("I looked at it.").says(SAID)
    return script.uses("Write", "first", file_path=NOTE, content=BODY)


def at(minutes: int) -> str:
    return (BEGAN + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")


def test_a_note_comes_from_the_users_message(desk: Desk) -> None:
    session().answers("Noted.").says("Fine.").titled("Tide tables").write(desk.home)
    (cause,) = desk.causes()
    assert [(turn.text, turn.is_cause, turn.is_act) for turn in cause.turns] == [
        ("I looked at it.", False, False),
        (SAID, True, False),
        ("", False, True),
        ("Noted.", False, False),
        ("Fine.", False, False),
    ]
    origin = desk.look().evidence.origins["tides.md"]
    assert (origin.speaker, origin.text, origin.session) == ("person", SAID, "Tide tables")
    assert (origin.agent, origin.at) == ("Claude Code", at(3))
    assert cause.summary == origin
    assert not desk.causes("MEMORY.md")


def test_a_note_without_a_message_is_the_agents_own(desk: Desk) -> None:
    script = Claude().says("Make the curve thicker.").uses("Write", file_path=NOTE, content=BODY)
    script.answers("I noted which port it is.").write(desk.home)
    (cause,) = desk.causes()
    assert cause.quote is None
    assert (cause.summary.speaker, cause.summary.text) == ("agent", "I noted which port it is.")


@pytest.mark.parametrize(
    "said", ["Merk dir: die Tabellen sind für den anderen Hafen.", "Nutze immer Sines, nie"]
)
def test_messages_in_another_language_leave_the_origin_open(desk: Desk, said: str) -> None:
    script = Claude().says("Make the curve thicker.").says(said)
    script.uses("Write", file_path=NOTE, content=BODY).answers("Noted.").write(desk.home)
    (cause,) = desk.causes()
    assert (cause.summary.speaker, cause.summary.text) == ("unknown", "")
    assert describe_quote(cause) == NO_MESSAGE_TEXT


def test_messages_before_the_part_that_was_read_leave_the_origin_open(desk: Desk) -> None:
    script = Claude().says(SAID)
    for number in range(20):
        script.says(f"Make the curve {number} points thicker.").answers("Done.")
    script.uses("Write", file_path=NOTE, content=BODY).write(desk.home)
    (cause,) = desk.causes()
    assert cause.summary.speaker == "unknown"


def test_later_changes_have_their_own_origins(desk: Desk) -> None:
    script = session().says("The tables are for Setubal after all, since the dredging.")
    script.uses("Edit", file_path=NOTE, new_string="For Setubal, since the dredging.")
    script.uses("Edit", failed=True, file_path=NOTE, new_string="For Sines.")
    script.write(desk.home)
    first, second = desk.causes()
    assert (first.deed, second.deed) == ("wrote", "edited")
    assert second.quote is not None
    assert "after all" in second.quote.text


def test_a_recreated_note_comes_from_the_later_message(desk: Desk) -> None:
    script = session().uses("Bash", command=f"rm {NOTE}").says("Keep the port of Sines again.")
    script.uses("Write", file_path=NOTE, content="The port of Sines.").write(desk.home)
    (cause,) = desk.causes()
    assert cause.quote is not None
    assert cause.quote.text == "Keep the port of Sines again."


def test_two_notes_that_are_written_at_once_have_the_same_cause(desk: Desk) -> None:
    desk.write({"port.md": note_text("port", BODY)})
    blocks = [
        {
            "type": "tool_use",
            "id": name,
            "name": "Write",
            "input": {"file_path": path, "content": BODY},
        }
        for name, path in (("a", NOTE), ("b", NOTE.replace("tides", "port")))
    ]
    Claude().says(SAID).line("assistant", message={"content": blocks}).write(desk.home)
    for note in ("tides.md", "port.md"):
        assert [cause.quote and cause.quote.text for cause in desk.causes(note)] == [SAID]


def test_the_quote_is_kept_when_the_transcript_is_deleted(desk: Desk) -> None:
    path = session().answers("Noted.").write(desk.home)
    desk.look()
    shutil.rmtree(path.parent.parent / FOLDER, ignore_errors=True)
    again = Desk(desk.home)
    (cause,) = again.causes()
    assert cause.quote is not None
    assert cause.quote.text == SAID
    assert not Path(cause.transcript).exists()


def test_later_messages_are_added_to_the_quote(desk: Desk) -> None:
    script = session()
    script.write(desk.home)
    assert [turn.text for turn in desk.causes()[0].turns][-1] == ""
    script.answers("Noted.").says("Fine.").answers("And so on.").write(desk.home)
    assert [turn.text for turn in desk.causes()[0].turns][-2:] == ["Noted.", "Fine."]


def test_no_credential_is_kept(desk: Desk) -> None:
    secret = "Lampara-Lampara-0000"
    script = Claude().says(f"For the tide tables of Sines the password is {secret}, note the port.")
    script.uses("Write", file_path=NOTE, content=BODY).titled(f"password: {secret}")
    script.write(desk.home)
    (cause,) = desk.causes()
    assert cause.quote is not None
    assert "[secret: password]" in cause.quote.text
    stored = [path for path in (desk.home / "state").rglob("*") if path.is_file()]
    assert stored
    assert not [path for path in stored if secret.encode() in path.read_bytes()]


def test_a_session_named_by_the_note_is_its_origin(desk: Desk) -> None:
    head = f"---\nname: tides\ndescription: d\nmetadata: \n  originSessionId: {SESSION}\n---\n\n"
    desk.write({"tides.md": head + BODY})
    Claude().says("Good morning.").says(SAID).answers("I see.").write(desk.home)
    (cause,) = desk.causes()
    assert (cause.deed, cause.quote and cause.quote.text) == (None, SAID)
    session().write(desk.home)
    assert [cause.deed for cause in desk.causes()] == ["wrote"]


def test_a_session_without_a_relevant_message_is_no_origin(
    desk: Desk,
) -> None:
    head = f"---\nname: tides\ndescription: d\nmetadata: \n  originSessionId: {SESSION}\n---\n\n"
    desk.write({"tides.md": head + BODY})
    Claude().says("Good morning.").answers("Good morning.").write(desk.home)
    assert desk.causes() == ()
    assert desk.look().evidence.origins == {}


def test_a_contradicting_message_is_not_the_origin(
    desk: Desk,
) -> None:
    head = f"---\nname: tides\ndescription: d\nmetadata: \n  originSessionId: {SESSION}\n---\n\n"
    desk.write({"tides.md": f"{head}Install the dependencies with npm.\n"})
    contrary = Claude().says("Please install the dependencies with pnpm, never npm. That is all.")
    contrary.write(desk.home)
    assert desk.causes() == ()
    said = "Install the dependencies with npm."
    contrary.says(said).says("And install the dependencies with pnpm, not npm.").write(desk.home)
    assert [cause.quote and cause.quote.text for cause in desk.causes()] == [said]


def test_what_was_found_before_an_interruption_is_kept(desk: Desk) -> None:
    session().write(desk.home)
    desk.look()
    session().says("The tide tables change.").uses("Edit", file_path=NOTE).write(desk.home)
    memory = desk.notebook.read()
    for patience in range(1, 40):
        left = iter(range(patience))

        def step(_: str, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise GatheringCancelled

        with suppress(GatheringCancelled):
            Desk(desk.home).notebook.gather(memory, step)
        stored = load_origins(desk.notebook.activity, str(desk.root), {})["tides.md"]
        assert stored[0].quote is not None
    assert len(stored) == 2


def test_a_note_of_a_sub_agent_comes_from_a_message_to_its_parent(desk: Desk) -> None:
    Claude().says(SAID).answers("A sub-agent notes it.").write(desk.home)
    script = Claude(SESSION, began=BEGAN + timedelta(hours=1)).says("Note the port.")
    script.uses("Write", file_path=NOTE, content=BODY)
    path = desk.root.parent / SESSION / "subagents" / "agent-a1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(script.bytes)
    (cause,) = desk.causes()
    assert cause.quote is not None
    assert cause.quote.text == SAID


def test_messages_of_a_continued_session_count(desk: Desk) -> None:
    Claude().says(SAID).answers("I see.").write(desk.home)
    script = Claude(SESSION).line("system", content="Conversation compacted")
    script.session = OTHER
    script.began += timedelta(hours=1)
    script.uses("Write", file_path=NOTE, content=BODY).write(desk.home)
    (cause,) = desk.causes()
    assert (cause.session, cause.quote and cause.quote.text) == (OTHER, SAID)


def test_a_session_that_was_copied_into_another_counts_once(desk: Desk) -> None:
    session().uses("Read", "r", file_path=NOTE).write(desk.home)
    copied = Claude(OTHER).says(SAID).uses("Write", "first", file_path=NOTE, content=BODY)
    copied.uses("Read", "r", file_path=NOTE).write(desk.home)
    assert len(desk.causes()) == 1
    assert desk.look().evidence.reads["tides.md"].count == 1


def test_a_copy_that_claims_to_be_older_counts_no_more(desk: Desk) -> None:
    session().write(desk.home)
    assert [cause.session for cause in desk.causes()] == [SESSION]
    copied = Claude(OTHER, began=BEGAN - timedelta(days=1)).says(SAID)
    copied.uses("Write", "first", file_path=NOTE, content=BODY).write(desk.home)
    assert len(desk.causes()) == 1


def test_a_renamed_note_keeps_its_origin_and_its_readings(desk: Desk) -> None:
    session().uses("Read", file_path=NOTE).write(desk.home)
    desk.notebook.record(desk.notebook.read())
    (desk.root / "tides.md").rename(desk.root / "port.md")
    desk.notebook.record(desk.notebook.read())
    assert len(desk.causes("port.md")) == 1
    assert desk.look().evidence.reads.keys() == {"port.md"}


def test_readings_are_counted_with_the_last_of_them(desk: Desk) -> None:
    script = (
        Claude().uses("Read", file_path=NOTE).uses("Read", file_path=str(desk.root / "tides.md"))
    )
    script.uses("Read", failed=True, file_path=NOTE)
    script.uses(
        "Read", aside=True, file_path="~/x/../.claude/projects/" + FOLDER + "/memory/tides.md"
    )
    script.uses("Bash", command=f"cat {NOTE}").uses("Read", file_path="/elsewhere/memory/tides.md")
    script.titled("Reading").write(desk.home)
    assert desk.look().evidence.reads == {
        "tides.md": NoteReads(4, at(8), "Reading", (BEGAN.date(),))
    }


def test_never_read_is_reported_for_notes_that_the_newest_session_could_have_read(
    desk: Desk,
) -> None:
    assert desk.never_read() == []
    before = BEGAN.timestamp() - 60
    for path in desk.root.iterdir():
        os.utime(path, (before, before))
    assert desk.never_read() == []
    Claude().says("Good morning.").write(desk.home)
    assert desk.never_read() == ["tides.md"]
    stamped = note_text(body=BODY).replace("metadata: \n", "metadata: \n  modified: 2026-10-05\n")
    desk.write({"tides.md": stamped})
    assert desk.never_read() == []
    desk.write({"tides.md": stamped.replace("10-05", "10-04")})
    assert desk.never_read() == ["tides.md"]
    Claude(OTHER).uses("Read", file_path=NOTE).write(desk.home)
    assert desk.never_read() == []


def test_unread_notes_say_nothing_where_most_are_unread(desk: Desk) -> None:
    before = BEGAN.timestamp() - 60
    desk.write({f"n{number}.md": note_text(f"n{number}") for number in range(9)})
    for path in desk.root.iterdir():
        os.utime(path, (before, before))
    script = Claude().says("Good morning.").uses("Read", file_path=NOTE)
    script.write(desk.home)
    assert desk.never_read() == []
    folder = Path(NOTE).parent
    for number in range(7):
        script.uses("Read", file_path=str(folder / f"n{number}.md"))
    script.write(desk.home)
    assert desk.never_read() == ["n7.md", "n8.md"]


def test_a_sub_agent_and_another_agent_could_not_have_read_the_memory(desk: Desk) -> None:
    Claude().says("Good morning.").write(desk.home)
    written = (BEGAN + timedelta(hours=1)).timestamp()
    os.utime(desk.root / "tides.md", (written, written))
    later = Claude(began=BEGAN + timedelta(hours=2)).says("List the tests.")
    path = desk.root.parent / SESSION / "subagents" / "agent-a1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(later.bytes)
    later = Codex().line("event_msg").line("event_msg").head()
    later.lines = [line.replace(b"2026-10-05", b"2026-10-06") for line in later.lines]
    later.write(desk.home)
    assert desk.never_read() == []
    Claude(OTHER, began=BEGAN + timedelta(hours=2)).says("Good evening.").write(desk.home)
    assert desk.never_read() == ["tides.md"]


def test_in_a_project_that_is_the_home_only_what_worked_in_the_home_itself_counts() -> None:
    own = SessionFilter(projects=("/home", "/home/ana", "/srv/port"), home="/home/ana")
    worked = {cwd: own.matches(find_agent("codex"), "", cwd) for cwd in CWDS}
    assert worked == {
        "/home/ana": True,
        "/home/ana/work": False,
        "/srv/port": True,
        "/srv/port/sub": True,
        "/srv/portal": False,
    }


def test_sessions_of_other_agents_are_relevant_to_the_memory_of_their_project(desk: Desk) -> None:
    Claude().says("Good morning.").write(desk.home)
    Codex().head().shell(f"cat {NOTE}").write(desk.home)
    assert desk.look().evidence.reads["tides.md"].count == 1
    elsewhere = Codex("other", "/home/ana/work/other").head().shell(f"cat {NOTE}")
    elsewhere.write(desk.home)
    assert desk.look().evidence.reads["tides.md"].count == 1


def test_worktrees_share_the_memory_of_their_project(desk: Desk) -> None:
    Claude().says("Good morning.").write(desk.home)
    tree = f"{CWD}/.claude/worktrees/fix"
    name = FOLDER + "--claude-worktrees-fix"
    Claude(OTHER, tree).uses("Read", file_path=NOTE).write(desk.home, name)
    assert desk.look().evidence.reads["tides.md"].count == 1


def test_without_a_state_directory_activity_is_kept_in_this_process(desk: Desk) -> None:
    path = session().write(desk.home)
    (desk.home / "state").write_text("in the way")
    assert [cause.quote and cause.quote.text for cause in desk.causes()] == [SAID]
    path.unlink()
    assert desk.look().evidence.origins["tides.md"].text == SAID


def arrived(desk: Desk, note: str = "tides.md") -> str:
    """Record what is there, and return who is shown as the writer of `note`."""
    desk.notebook.record(desk.notebook.read())
    desk.look()
    found: Inbox = add_writers(desk.notebook, read_inbox(desk.notebook))
    return {arrival.path: arrival.by for arrival in found.changes}[note]


@pytest.mark.parametrize(
    ("after", "by"),
    [(30, "Claude Code · Tide tables"), (4_000, "another program"), (-60, "another program")],
)
def test_the_inbox_names_the_session_that_wrote_a_file_at_its_time(
    desk: Desk, after: int, by: str
) -> None:
    desk.notebook.record(desk.notebook.read())
    script = session()
    script.titled("Tide tables").write(desk.home)
    desk.write({"tides.md": note_text(body="Other.\n")})
    written = datetime.fromisoformat(at(4)).timestamp() + after
    written -= 60 * (after < 0)
    os.utime(desk.root / "tides.md", (written, written))
    assert arrived(desk) == by


def test_the_inbox_names_the_session_that_deleted_a_file(desk: Desk) -> None:
    desk.notebook.record(desk.notebook.read())
    Claude().uses("Bash", command=f"rm {NOTE}").titled("Tidying").write(desk.home)
    (desk.root / "tides.md").unlink()
    assert arrived(desk) == "Claude Code · Tidying"


def test_while_another_process_writes_its_stored_data_is_used(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.agents.transcripts.store.PATIENCE", 0.01)
    path = session().write(desk.home)
    memory = desk.look().memory
    with path.open("ab") as transcript:
        transcript.write(Claude().uses("Read", "later", file_path=NOTE).bytes)
    with closing(sqlite3.connect(desk.home / "state" / "activity.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        desk.notebook.gather(memory)
        assert desk.notebook.evidence.origins["tides.md"].text == SAID
        assert "tides.md" not in desk.notebook.evidence.reads
    assert desk.notebook.has_news
    desk.notebook.gather_news(memory)
    assert desk.reads_on_disk() == 1


def test_what_agents_do_later_is_news_and_nothing_else_is(desk: Desk) -> None:
    path = session().write(desk.home)
    memory = desk.look().memory
    assert not desk.notebook.has_news
    assert not desk.notebook.gather_news(memory)
    with path.open("ab") as transcript:
        transcript.write(Claude().uses("Read", "later", file_path=NOTE).bytes)
    assert desk.notebook.has_news
    assert desk.notebook.gather_news(memory)
    assert desk.notebook.evidence.reads["tides.md"].count == 1
    assert not desk.notebook.has_news
    Claude("other").uses("Read", file_path=NOTE).write(desk.home)
    assert desk.notebook.has_news, "another transcript came up"
