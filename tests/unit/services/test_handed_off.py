"""Which sessions are handed off, and with which notes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ricordo.errors import WrongUsage
from ricordo.handoff.facts import Facts
from ricordo.services.handoff.facts import MAX_NOTES, gather_facts
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from tests.conftest import NOW
from tests.support.builders import note_text, write_memory
from tests.support.transcripts import CWD, FOLDER, OTHER, SESSION, Claude, Codex, Opencode

NOTES = {
    "MEMORY.md": "# Memory\n\n- [Tides](tides.md)\n- [Coffee](coffee.md)\n",
    "tides.md": note_text(
        name="tides", description="tides", body="The tide tables are for the port of Sines.\n"
    ),
    "coffee.md": note_text(
        name="coffee", description="drinks", body="Ana drinks her coffee black.\n"
    ),
}


class Desk:
    """A memory in the home of agents, and their sessions there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        root = folder / ".claude" / "projects" / FOLDER / "memory"
        self.open(write_memory(root, NOTES))

    def open(self, root: Path) -> None:
        """Open the notebook on the memory at `root`."""
        state = str(self.home / "state")
        environ = {"HOME": str(self.home), "RICORDO_STATE": state, "RICORDO_NOW": NOW}
        environment = load_environment(environ)._replace(cwd=str(self.home), project=CWD)
        place = find_memories(str(root), environment)[0]
        self.notebook = Notebook(place, environment, load_settings(environment, ())[0])

    def keep(self, script: Claude | Codex | Opencode, age: int) -> Path:
        """Keep a session that was last changed so many seconds ago."""
        home = self.home
        path = script.write(
            home / ".local" / "share" / "opencode" if isinstance(script, Opencode) else home
        )
        os.utime(path, (2_000_000_000 - age, 2_000_000_000 - age))
        return path

    def facts(self, *named: str) -> Facts:
        return gather_facts(self.notebook, str(self.home), named, lambda: None)

    def sessions(self, *named: str) -> list[str]:
        return [session.id for session in self.facts(*named).sessions]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_latest_session_of_the_project_is_handed_off_whosever_it_is(desk: Desk) -> None:
    desk.keep(Claude().says("Mend it."), 500)
    desk.keep(Codex("rollout-1").head().says("Test it."), 100)
    assert desk.sessions() == ["rollout-1"]
    desk.keep(Claude(OTHER).says("Ship it."), 50)
    desk.keep(Codex("elsewhere", cwd="/srv/other").head().says("Go on."), 1)
    assert desk.sessions() == [OTHER]


def test_a_session_of_opencode_is_as_new_as_its_last_message(desk: Desk) -> None:
    desk.keep(Claude().says("Mend it."), 2_000_000_000 - 1_700_000_000)
    desk.keep(Opencode().says("Test it.").answers("Done."), 0)
    assert desk.sessions() == ["ses_1"]


def test_a_session_without_messages_is_ignored(desk: Desk) -> None:
    desk.keep(Claude().says("Mend it."), 500)
    desk.keep(Claude(OTHER).runs("ls"), 1)
    desk.keep(Codex("sub").head(parent_thread_id="x").says("Look."), 1)
    folder = desk.home / ".claude" / "projects" / FOLDER / SESSION / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-1.jsonl").write_bytes(Claude().says("Look.").bytes)
    assert desk.sessions() == [SESSION]


def test_of_a_memory_of_all_projects_only_the_sessions_of_this_one_count(desk: Desk) -> None:
    root = desk.home / ".codex" / "memories"
    write_memory(root, {"memory_summary.md": "v1\n"})
    desk.keep(Codex("here").head().says("Mend it."), 500)
    desk.keep(Codex("elsewhere", cwd="/srv/other").head().says("Go on."), 1)
    desk.open(root)
    assert desk.sessions() == ["here"]


def test_what_a_session_went_on_with_is_taken_along(desk: Desk) -> None:
    desk.keep(Codex("first").head().says("Mend it."), 500)
    desk.keep(Codex("between").head().says("Leave it."), 400)
    desk.keep(Codex("then").head(forked_from_id="first").says("And test it."), 100)
    facts = desk.facts()
    assert [session.id for session in facts.sessions] == ["first", "then"]
    assert [said.text for said in facts.messages] == ["Mend it.", "And test it."]


def test_a_cycle_of_continued_sessions_ends(desk: Desk) -> None:
    desk.keep(Codex("first").head(forked_from_id="then").says("Mend it."), 500)
    desk.keep(Codex("then").head(forked_from_id="first").says("And test it."), 100)
    assert desk.sessions() == ["first", "then"]


def test_named_sessions_are_in_the_order_of_time(desk: Desk) -> None:
    late = Claude(OTHER).says("Later.")
    late.lines = [line.replace(b"2026-10-05", b"2026-10-06") for line in late.lines]
    paths = [str(desk.keep(late, 1)), str(desk.keep(Claude().says("First."), 9))]
    assert desk.sessions(*paths, paths[0]) == [SESSION, OTHER]
    relative = os.path.relpath(paths[0], desk.home)
    assert desk.sessions(relative) == [OTHER]
    with pytest.raises(WrongUsage):
        desk.sessions("gone.jsonl")


def test_the_notes_are_those_that_are_relevant_to_the_request(desk: Desk) -> None:
    desk.keep(Claude().says("Which port are the tide tables for?").answers("Sines."), 1)
    facts = desk.facts()
    assert [(note.path, note.name) for note in facts.notes] == [("tides.md", "tides")]
    assert facts.notes[0].reason
    assert facts.memory == str(desk.notebook.place.root)
    assert facts.notes[0].id not in {said.id for said in facts.messages}


def test_the_notes_are_also_those_of_the_first_request(desk: Desk) -> None:
    """The last message may find as many as fit."""
    for number in range(MAX_NOTES + 2):
        text = note_text(name=f"commits {number}", body="Every commit stands alone, separately.\n")
        (Path(desk.notebook.place.root) / f"commits_{number}.md").write_text(text)
    first = "Where are the tide tables for Sines?"
    desk.keep(Claude().says(first).answers("There.").says("Commit it separately, alone."), 1)
    names = [note.path for note in desk.facts().notes]
    assert len(names) == MAX_NOTES
    assert names[0] == "tides.md"


def test_a_long_request_finds_its_notes_by_its_sentences(desk: Desk) -> None:
    limits = "Never touch harbor/report.py, whatever pytest says of it there. " * 2
    first = f"Where are the tide tables for the port of Sines? {limits}"
    desk.keep(Claude().says(first), 1)
    assert [note.path for note in desk.facts().notes] == ["tides.md"]


def test_a_part_of_an_address_names_no_note_and_the_whole_does(desk: Desk) -> None:
    root = Path(desk.notebook.place.root)
    crane = note_text("crane 150", "Crane 150 lifts 168 tons at berth 192.\n", "crane 150")
    gauge = note_text("gauge", "The gauge answers at 192.168.2.150 only.\n", "gauge")
    (root / "crane_150.md").write_text(crane)
    (root / "gauge.md").write_text(gauge)
    desk.keep(Claude().says("It is at 192.168.2.150 now, use 3.150.2 of it.").answers("Done."), 1)
    assert [(it.path, it.reason) for it in desk.facts().notes] == [
        ("gauge.md", "names 192.168.2.150")
    ]


def test_without_a_session_there_is_nothing_to_tell(desk: Desk) -> None:
    facts = desk.facts()
    assert (facts.sessions, facts.messages, facts.notes) == ((), (), ())
