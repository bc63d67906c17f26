"""What the inbox shows of random changes by Ricordo and by others, and what a visit leaves new."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.change import Change, ChangeSet, Edit, Rewrite
from ricordo.services.edits.change import apply_or_merge
from ricordo.services.history.moved_files import MovedFiles
from ricordo.services.history.recorder import Recorder
from ricordo.services.history.undo import undo
from ricordo.services.inbox.inbox import Inbox, close_visit, read_inbox
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from ricordo.storage.database import Database
from ricordo.storage.decisions import Decision
from tests.support.builders import note_text, open_memory

NAMES = ("a.md", "b.md", "c.md")
TEXTS = tuple(f"{word} text of one note.\n" for word in ("First", "Second", "Third"))
AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

acts = st.tuples(
    st.sampled_from(("theirs", "ours", "delete")), st.sampled_from(NAMES), st.sampled_from(TEXTS)
)


def notebook_at(folder: Path) -> Notebook:
    root = folder / "memory"
    root.mkdir()
    (root / "MEMORY.md").write_text("# Memory\n")
    (root / "a.md").write_text(TEXTS[0])
    home = {"HOME": str(folder), "RICORDO_STATE": str(folder / "state")}
    environment = load_environment({**home, "RICORDO_NOW": AT.isoformat()})
    place = find_memories(str(root), environment)[0]
    return Notebook(place, environment, load_settings(environment, ())[0])


def seen(notebook: Notebook) -> Inbox:
    notebook.record(notebook.read())
    return read_inbox(notebook)


def do(notebook: Notebook, act: tuple[str, str, str]) -> None:
    kind, name, text = act
    path = Path(notebook.place.root) / name
    before = path.read_bytes() if path.exists() else None
    if kind == "theirs":
        path.write_text(text)
    elif kind == "delete":
        path.unlink(missing_ok=True)
    elif before != text.encode():
        edit = Edit(notebook.place.root, name, before, text.encode())
        apply_or_merge(notebook, ChangeSet((edit,), (Change(Rewrite(name, text)),)))
    notebook.record(notebook.read())


@given(st.lists(acts.filter(lambda act: act[0] != "ours"), max_size=12))
def test_changes_of_others_go_from_first_to_last_content(
    doings: list[tuple[str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notebook = notebook_at(Path(folder))
        seen(notebook)
        before = {file.path: file.raw for file in notebook.read().files}
        for act in doings:
            do(notebook, act)
        after = {file.path: file.raw for file in notebook.read().files}
        told = seen(notebook)
        state = dict(before)
        for arrival in told.changes:
            if arrival.old_path:
                assert state.pop(arrival.old_path) == arrival.before
            elif arrival.path in before:
                assert arrival.before == before[arrival.path]
            state[arrival.path] = arrival.after or b""
            if arrival.after is None:
                del state[arrival.path]
        assert state == after


@given(st.lists(acts, max_size=12), st.data())
def test_after_a_visit_only_unseen_and_later_changes_are_new(
    doings: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        notebook = notebook_at(Path(folder))
        seen(notebook)
        for act in doings:
            do(notebook, act)
        waiting = [arrival.id for arrival in seen(notebook).pending]
        choices = st.sampled_from(("seen", "unseen", "later", "kept"))
        chosen = {id_: data.draw(choices) for id_ in waiting}
        for word, decision in (("later", Decision.SNOOZE), ("kept", Decision.KEEP)):
            ids = [id_ for id_, choice in chosen.items() if choice == word]
            notebook.decisions.decide(decision, ids, AT.isoformat())
        unseen = [id_ for id_, choice in chosen.items() if choice == "unseen"]
        close_visit(notebook, read_inbox(notebook), unseen)
        still_new = {arrival.id for arrival in seen(notebook).pending}
        wanted = {id_ for id_, choice in chosen.items() if choice in ("unseen", "later")}
        assert wanted <= still_new
        # a group that was seen is only shown again with a later one of the same note
        paths = {arrival.path for arrival in read_inbox(notebook).changes if arrival.id in wanted}
        assert all(arrival.path in paths for arrival in read_inbox(notebook).pending)


def test_a_session_is_named_only_where_it_was_not_there_before(tmp_path: Path) -> None:
    notebook = notebook_at(tmp_path)
    root = Path(notebook.place.root)
    old = note_text("a", "Old.\n").replace("  type:", "  originSessionId: one\n  type:")
    (root / "a.md").write_text(old)
    seen(notebook)
    (root / "a.md").write_text(old.replace("Old.", "New."))
    (root / "b.md").write_text(old.replace("one", "two").replace("Old.", "Another."))
    by = {arrival.path: arrival.by for arrival in seen(notebook).changes}
    assert by == {"a.md": "another program", "b.md": "session two"}
    (root / "a.md").write_text(old.replace("one", "three"))
    by = {arrival.path: arrival.by for arrival in seen(notebook).changes}
    assert by["a.md"] == "session three"


def test_pending_writes_are_neither_recorded_nor_deletions(tmp_path: Path) -> None:
    notebook = notebook_at(tmp_path)
    seen(notebook)
    recorder = Recorder(notebook.database)
    memory = open_memory(Path(notebook.place.root), {"a.md": "Half of\n"}, AUTO_MEMORY)
    assert recorder.record(memory, AT, waiting={"a.md"}).act is None
    assert recorder.record(memory, AT).files == 1


def test_a_deletion_that_had_to_wait_is_recorded_though_nothing_else_changes(
    tmp_path: Path,
) -> None:
    notebook = notebook_at(tmp_path)
    seen(notebook)
    root = Path(notebook.place.root)
    gone, *_ = sorted(path for path in notebook.read().by_path if path != "MEMORY.md")
    (root / gone).unlink()
    notebook.record(notebook.read(), {gone})
    assert not read_inbox(notebook).pending
    notebook.record(notebook.read())
    assert [(it.kind, it.path) for it in read_inbox(notebook).pending] == [("deleted", gone)]


def test_what_was_decided_of_an_arrival_is_undone_by_the_name_of_its_file(tmp_path: Path) -> None:
    notebook = notebook_at(tmp_path)
    seen(notebook)
    do(notebook, ("theirs", "b.md", TEXTS[1]))
    do(notebook, ("theirs", "c.md", TEXTS[2]))
    ids = {arrival.path: arrival.id for arrival in seen(notebook).changes}
    notebook.decisions.decide(Decision.KEEP, [ids["c.md"]], AT.isoformat())
    notebook.decisions.decide(Decision.SNOOZE, [ids["b.md"]], AT.isoformat())
    assert undo(notebook).description == "“later” of others' changes to b.md"
    assert undo(notebook).description == "“keep” of others' changes to c.md"


def _count_pending(notebook: Notebook) -> object:
    return read_inbox(notebook.copy())


def _follow_moves(notebook: Notebook) -> object:
    return list(MovedFiles(Database(notebook.environment.state), notebook.read()))


@pytest.mark.parametrize("meet", [_count_pending, _follow_moves])
def test_damage_is_reported_whoever_meets_it_first(
    tmp_path: Path, meet: Callable[[Notebook], object]
) -> None:
    notebook = notebook_at(tmp_path)
    seen(notebook)
    for name in ("history.db-wal", "history.db-shm"):
        (tmp_path / "state" / name).unlink(missing_ok=True)
    (tmp_path / "state" / "history.db").write_bytes(b"no database at all" * 100)
    meet(notebook)
    assert any("was damaged" in message for message in notebook.take_messages())
    assert not notebook.take_messages()
