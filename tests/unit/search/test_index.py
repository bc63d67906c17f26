"""The index: it answers as a fresh one does, whatever happened to it."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import Breadth, rank
from ricordo.search.reader import IndexReader, read_catalogue
from ricordo.search.store import Withholding
from ricordo.storage.reader import reread_files
from tests.support.builders import note_text, open_memory
from tests.support.figures import figure
from tests.unit.search.asking import TODAY, everything, ranked
from tests.unit.search.conftest import NOTES

KILLED = """
import os, signal, sys
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.storage.reader import read_memory
from ricordo.search import index, store
root, state, when = sys.argv[1:]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
memory = read_memory(root, AUTO_MEMORY)
it = index.SearchIndex(state, root)
if when == "building":
    it.update(memory, die)
store.IndexStore._add_totals = die if when == "writing" else store.IndexStore._add_totals
index.CacheFile.seal = die if when == "sealing" else index.CacheFile.seal
it.update(memory)
"""


def fresh(memory: Memory, tmp_path: Path) -> list[list[tuple[str, float]]]:
    return everything(SearchIndex(str(tmp_path / "fresh"), memory.root), memory)


def database(state: Path) -> Path:
    (found,) = (state / "recall").glob("*.db")
    return found


def test_words_of_one_stem_folded_and_in_pairs_are_found(index: SearchIndex, harbour: Memory):
    assert ranked(index, harbour, "deploying a release")[0][0] == "deploy.md"
    assert ranked(index, harbour, "CAFE offnet")[0][0] == "café.md"
    assert ranked(index, harbour, "東京")[0][0] == "café.md"
    assert ranked(index, harbour, "sqli")[0][0] == "cache.md"


def test_an_index_of_a_changed_memory_is_that_of_a_fresh_one(
    index: SearchIndex, harbour: Memory, root: Path, tmp_path: Path
):
    everything(index, harbour)
    (root / "deploy.md").unlink()
    changed = {
        "cache.md": note_text("cache", "The cache is new words here, for the port.\n"),
        "new.md": note_text("new", "Port of call. See [[tides]].\n"),
    }
    memory = open_memory(root, changed)
    assert everything(index, memory) == fresh(memory, tmp_path)
    assert index.warning == ""


def test_of_equally_good_notes_the_same_are_taken_whatever_the_past(
    index: SearchIndex, root: Path, tmp_path: Path
):
    names = [f"{one}{other}" for one in "bcdefghijk" for other in "abcdefghijklmnopqrstuvwxy"]
    text = note_text("same", "The gizmo broke again.\n")
    index.update(open_memory(root, {f"{name}.md": text for name in names}))
    memory = open_memory(root, {"aa.md": text})
    kept = ranked(index, memory, "gizmo broke again")
    assert kept == ranked(
        SearchIndex(str(tmp_path / "fresh"), memory.root), memory, "gizmo broke again"
    )
    assert kept[0][0] == "aa.md"


@pytest.mark.parametrize("most", [1, 5, 100, 250])
def test_of_notes_that_tie_the_first_by_path_are_taken(index: SearchIndex, root: Path, most: int):
    text = note_text("same", "The gizmo broke.\n")
    index.update(open_memory(root, {f"n{number:03}.md": text for number in range(250)}))
    memory = open_memory(root, {"a.md": text, "z.md": note_text("gizmo", "The gizmo broke.\n")})

    def taken(reader: IndexReader) -> set[bytes]:
        return {row.path for row in reader.read_rows(reader.find_matching('"gizmo"', most))}

    expected = [b"z.md", b"a.md", *(f"n{number:03}.md".encode() for number in range(250))]
    assert index.query(memory, taken) == set(expected[:most])


def test_of_a_word_that_most_notes_have_the_newest_are_weighed(index: SearchIndex, root: Path):
    def text(day: int) -> str:
        said = "The gizmo broke, and a gadget.\n" if day < 11 else "The gizmo broke.\n"
        return f"---\nname: {chr(96 + day)}\ndescription: It\ndate: 2026-05-{day:02}\n---\n{said}"

    memory = open_memory(root, {f"{chr(96 + day)}.md": text(day) for day in range(1, 27)})
    few = Breadth(terms=12, occurrences=5, notes=3)

    def found(word: str) -> set[str]:
        question = RecallQuestion(word, TODAY)
        ranking = index.query(memory, lambda reader: rank(reader, question, TODAY, few))
        return {it.row.path.decode() for it in ranking.candidates}

    assert found("gizmo") == {"x.md", "y.md", "z.md"}
    # no note of the last days has it
    assert found("gadget") == {"a.md", "b.md", "c.md"}


def links(index: SearchIndex, memory: Memory) -> list[tuple[str, str]]:
    sql = (
        "SELECT one.path, other.path FROM link JOIN note AS one ON one.id = source "
        "JOIN note AS other ON other.id = target ORDER BY 1, 2"
    )
    return index.query(memory, lambda reader: reader.connection.execute(sql).fetchall())


def test_frontmatter_that_names_a_note_is_followed_once_that_note_is_there_and_while_it_is(
    index: SearchIndex, root: Path, tmp_path: Path
):
    head = "---\nname: early\ndescription: x\ntype: project\nrelated: [late-comer]\n---\n\nbody\n"
    memory = open_memory(root, {**NOTES, "early.md": head})
    late = root / "late-comer.md"
    for number, change in enumerate((lambda: late.write_text("late"), late.unlink)):
        before = links(index, memory)
        change()
        memory = reread_files(memory, ["late-comer.md"])
        kept = links(index, memory)
        assert kept != before
        assert kept == links(SearchIndex(str(tmp_path / f"fresh {number}"), memory.root), memory)


def test_the_memory_that_is_asked_for_is_answered_from(
    index: SearchIndex, harbour: Memory, root: Path
):
    later = open_memory(root, {"cache.md": note_text("cache", "Nothing of that any more.\n")})
    assert "cache.md" not in dict(ranked(index, later, "sqlite redis"))
    assert ranked(index, harbour, "sqlite redis")[0][0] == "cache.md"


def damaged(state: Path, seed: int) -> None:
    path = database(state)
    content = bytearray(path.read_bytes())
    choose = random.Random(seed)
    for _ in range(20):
        content[choose.randrange(len(content))] ^= 0xFF
    path.write_bytes(content)


def of_another_version(state: Path) -> None:
    connection = sqlite3.connect(database(state))
    connection.execute("PRAGMA user_version = 0")
    connection.execute("DELETE FROM note")
    connection.commit()
    connection.close()


MISHAPS: dict[str, Callable[[Path], None]] = {
    "deleted": lambda state: database(state).unlink(),
    "emptied": lambda state: database(state).write_bytes(b""),
    "cut off": lambda state: os.truncate(database(state), 9000),
    "no database": lambda state: database(state).write_bytes(b"nothing of that kind" * 400),
    "another version": of_another_version,
    "seal gone": lambda state: database(state).with_suffix(".db.seal").unlink(),
}
for seed in range(figure("damages", everyday=4)):
    MISHAPS[f"damaged {seed}"] = partial(damaged, seed=seed)


@pytest.mark.parametrize(
    ("mishap", "is_open"),
    [*((mishap, False) for mishap in MISHAPS), ("deleted", True), ("damaged 0", True)],
)
def test_whatever_happens_to_the_file_answers_are_those_of_a_fresh_index(
    index: SearchIndex, harbour: Memory, state: Path, tmp_path: Path, mishap: str, is_open: bool
):
    everything(index, harbour)
    if not is_open:
        index.close()
    MISHAPS[mishap](state)
    assert everything(index, harbour) == fresh(harbour, tmp_path)


@pytest.mark.faults
@pytest.mark.parametrize("when", ["building", "writing", "sealing"])
@pytest.mark.parametrize("again", [True, False])
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_wrong(
    harbour: Memory, state: Path, root: Path, tmp_path: Path, when: str, again: bool
):
    if again:
        SearchIndex(str(state), harbour.root).update(harbour)
        (root / "deploy.md").write_text(note_text("deploy", "new words here\n"), "utf-8")
    words = [sys.executable, "-c", KILLED, harbour.root, str(state), when]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    memory = open_memory(root)
    index = SearchIndex(str(state), memory.root)
    assert everything(index, memory) == fresh(memory, tmp_path)
    assert index.warning == ""


def test_nobody_else_may_look_into_a_state_that_the_index_begins(
    index: SearchIndex, harbour: Memory, state: Path
):
    index.update(harbour)
    assert {it.stat().st_mode & 0o77 for it in (state, *state.rglob("*"))} == {0}


def test_where_the_state_cannot_be_written_answers_are_the_same(harbour: Memory, tmp_path: Path):
    (tmp_path / "file").write_text("no directory")
    index = SearchIndex(str(tmp_path / "file"), harbour.root)
    assert everything(index, harbour) == fresh(harbour, tmp_path)
    assert index.warning


def test_two_processes_share_an_index(harbour: Memory, state: Path, root: Path, tmp_path: Path):
    one, other = (SearchIndex(str(state), harbour.root) for _ in range(2))
    everything(one, harbour)
    everything(other, harbour)
    memory = open_memory(root, {"new.md": note_text("new", "Some new words here.\n")})
    everything(one, memory)
    assert everything(other, memory) == fresh(memory, tmp_path)
    assert everything(one, memory) == everything(other, memory)


def test_odd_files_are_indexed(tmp_path: Path, state: Path):
    (tmp_path / "odd").mkdir()
    memory = open_memory(
        tmp_path / "odd",
        {
            **NOTES,
            os.fsdecode(b"b\xff.md"): "Harbour lights.",
            "binary.md": b"\0\1\2" * 50,
            "utf16.md": "lamp".encode("utf-16"),
            "empty.md": "",
        },
    )
    assert os.fsencode(ranked_raw(SearchIndex(str(state), memory.root), memory)) == b"b\xff.md"


def ranked_raw(index: SearchIndex, memory: Memory) -> str:
    from datetime import date

    from ricordo.search.question import RecallQuestion
    from ricordo.search.rank import rank

    day = date(2026, 1, 1)
    question = RecallQuestion("harbour lights", day)
    found = index.query(memory, lambda reader: rank(reader, question, day))
    return os.fsdecode(found.candidates[0].row.path)


def known_project(state: Path, memory: Memory) -> str:
    return str(read_catalogue(str(state))[memory.root]["project"])


def test_a_project_that_is_known_later_is_catalogued_and_stays(harbour: Memory, state: Path):
    SearchIndex(str(state), harbour.root).update(harbour)
    assert known_project(state, harbour) == ""
    for project in ("/project", ""):
        SearchIndex(str(state), harbour.root, project).update(harbour)
        assert known_project(state, harbour) == "/project"


def test_a_lost_catalogue_is_written_again(index: SearchIndex, harbour: Memory, state: Path):
    index.update(harbour)
    (state / "recall" / "memories.json").unlink()
    index.close()
    index.update(harbour)
    assert known_project(state, harbour) == str(Path(harbour.root).parent)


def test_a_memory_that_is_away_stays_catalogued(
    index: SearchIndex, harbour: Memory, state: Path, root: Path, tmp_path: Path
):
    index.update(harbour)
    root.rename(tmp_path / "away")
    (tmp_path / "other").mkdir()
    other = open_memory(tmp_path / "other", NOTES)
    SearchIndex(str(state), other.root).update(other)
    assert set(read_catalogue(str(state))) == {harbour.root, other.root}


def test_notes_are_checked_again_when_the_rules_change(harbour: Memory, state: Path):
    def withheld(index: SearchIndex) -> frozenset[bytes]:
        return index.query(harbour, lambda reader: reader.list_withheld())

    assert withheld(SearchIndex(str(state), harbour.root)) == frozenset()
    judged: list[str] = []

    def judge(note: Note) -> bool:
        judged.append(note.path)
        return note.path == judged[0]

    rules = Withholding(judge, "1")
    assert withheld(SearchIndex(str(state), harbour.root, withholding=rules)) == {
        judged[0].encode()
    }
    count = len(judged)
    assert withheld(SearchIndex(str(state), harbour.root, withholding=rules)) == {
        judged[0].encode()
    }
    assert len(judged) == count
    later = Withholding(lambda note: False, "2")
    assert withheld(SearchIndex(str(state), harbour.root, withholding=later)) == frozenset()
