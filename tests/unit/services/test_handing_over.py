"""A handoff in a memory that is its own project, and the line that makes an agent read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.agents.agent import Agent
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import ANY_AGENT, handoff_target
from ricordo.memory.layout import FileRole
from ricordo.services.edits.change import apply_merging
from ricordo.services.handoff.handoff import HandoffDraft, HandoffOptions, draft_handoff
from ricordo.services.handoff.output import (
    build_pickup_change,
    find_pickup,
    finish_draft,
    write_handoff,
)
from ricordo.services.handoff.resume import list_handoffs
from ricordo.services.history.undo import undo
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import recorded
from tests.support.transcripts import Claude


@pytest.fixture
def wiki(tmp_path: Path) -> Notebook:
    files = {"index.md": "- [A](wiki/a.md)\n", "wiki/a.md": "# A\n", "raw/b.md": "b\n"}
    notebook = recorded(tmp_path, files, "wiki")
    Claude(cwd=notebook.place.root).says("Mend the berth alarm.").write(tmp_path, "-x")
    return notebook


def drafted(notebook: Notebook, target: Agent) -> HandoffDraft:
    session = Path(notebook.environment.agent_home) / ".claude/projects/-x"
    (transcript,) = session.iterdir()
    return draft_handoff(notebook, HandoffOptions(target, sessions=(str(transcript),)))


def test_a_handoff_beside_notes_is_no_note(wiki: Notebook) -> None:
    handoff_draft = drafted(wiki, ANY_AGENT)
    written = write_handoff(wiki, wiki.read(), handoff_draft, finish_draft(handoff_draft))
    assert written.path == f"{wiki.place.root}/HANDOFF.md"
    memory = wiki.read()
    assert memory.by_path["HANDOFF.md"].role is FileRole.SUPPORT
    assert not [
        finding for finding in wiki.read_snapshot().findings if finding.path == "HANDOFF.md"
    ]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (handoff_target("claude"), "CLAUDE.md"),
        (handoff_target("codex"), "AGENTS.md"),
        (handoff_target("opencode"), "opencode.json"),
        (handoff_target("gemini"), "GEMINI.md"),
    ],
)
def test_the_line_that_makes_it_read_is_a_change_of_its_own(
    wiki: Notebook, target: Agent, name: str
) -> None:
    handoff_draft = drafted(wiki, target)
    wanted = find_pickup(wiki, handoff_draft)
    assert wanted is not None
    change_set = build_pickup_change(wiki, wiki.read(), wanted)
    file = Path(wiki.place.root) / name
    assert not file.exists()
    apply_merging(wiki, change_set, by_hand=True)
    assert "HANDOFF.md" in file.read_text()
    assert not build_pickup_change(wiki, wiki.read(), wanted)
    undo(wiki)
    assert not file.exists()


def test_what_is_odd_is_refused_with_what_to_paste(wiki: Notebook) -> None:
    (Path(wiki.place.root) / "opencode.json").write_text("// mine\n{}")
    wanted = find_pickup(wiki, drafted(wiki, handoff_target("opencode")))
    assert wanted is not None
    with pytest.raises(ChangeRefused, match='Add this by hand: "instructions"'):
        build_pickup_change(wiki, wiki.read(), wanted)


def test_any_agent_has_a_line_to_copy_and_no_file(wiki: Notebook) -> None:
    handoff_draft = drafted(wiki, ANY_AGENT)
    assert find_pickup(wiki, handoff_draft) is None
    written = write_handoff(wiki, wiki.read(), handoff_draft, finish_draft(handoff_draft))
    assert written.start_command == "Read HANDOFF.md first, then go on with its next steps."


def test_written_handoffs_are_listed_while_they_exist(wiki: Notebook) -> None:
    """Those of the project first, then those elsewhere, the latest first."""
    assert list_handoffs(wiki) == ()
    session = Path(wiki.environment.agent_home) / ".claude/projects/-x"
    (transcript,) = map(str, session.iterdir())
    folder = Path(wiki.place.root)
    paths = [str(folder / name) for name in ("one.md", "two.md", "HANDOFF.md")]
    for path in paths:
        handoff_draft = draft_handoff(wiki, HandoffOptions(sessions=(transcript,), path=path))
        write_handoff(wiki, wiki.read(), handoff_draft, finish_draft(handoff_draft))
    one, two, own = paths
    assert list_handoffs(wiki) == (own, two, one)
    undo(wiki)
    (folder / "one.md").unlink()
    assert list_handoffs(wiki) == (two,)
