"""The record of use: whatever became of its file, later use is kept."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.search.usage import FILE, VERSION, UsageStore
from ricordo.services.search import usage
from ricordo.services.search.ambient import load_associations
from ricordo.services.search.usage import (
    NoteUse,
    count_uses,
    drop_search_miss,
    list_given_together,
    list_search_misses,
    list_uses,
    remember_opened,
    remember_search_miss,
)
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import move_aside
from tests.support.builders import note_text, open_memory

NOTES = {f"{name}.md": note_text(name, "It says something.\n") for name in ("one", "two", "three")}


class Desk:
    """A memory, and the file in which its use is recorded."""

    def __init__(self, root: Path, state: Path) -> None:
        self.memory: Memory = open_memory(root, NOTES)
        self.environment = Environment(str(root), {}, str(root), str(state), str(state))
        self.file = state / "recall" / FILE
        self.file.parent.mkdir(parents=True)

    def fill(self) -> None:
        for _ in range(3):
            remember_opened(self.environment, self.memory, "one.md")
        self.give(["one.md", "two.md"])
        remember_search_miss(self.environment, self.memory, "zebra")

    def give(self, paths: list[str]) -> None:
        """As the hook gives notes to an agent."""
        usage = UsageStore(self.environment.state, self.memory.root, put_aside=move_aside)
        usage.record_given("", [path.encode() for path in paths])

    def read_all(self) -> tuple[object, ...]:
        at = self.environment, self.memory
        return count_uses(*at), list_search_misses(*at), list_given_together(*at), list_uses(*at)

    def keeps_later_use(self) -> bool:
        remember_opened(self.environment, self.memory, "three.md")
        return "three.md" in count_uses(self.environment, self.memory)

    def set_version(self, version: int) -> None:
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")


@pytest.fixture
def desk(root: Path, tmp_path: Path) -> Desk:
    return Desk(root, tmp_path / "state")


def _overwritten(file: Path) -> None:
    file.write_bytes(b"no database " * 900)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def _with_other_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE used (note TEXT)")


@pytest.mark.parametrize("damage", [_overwritten, _cut, _with_other_tables, Path.unlink])
def test_an_unusable_file_is_recreated(desk: Desk, damage: Callable[[Path], None]) -> None:
    desk.fill()
    damage(desk.file)
    desk.read_all()
    assert desk.keeps_later_use()


def test_a_damaged_file_is_kept_beside_the_new_one(desk: Desk) -> None:
    desk.fill()
    _overwritten(desk.file)
    assert desk.keeps_later_use()
    assert desk.file.with_name(f"{FILE}.unfit").read_bytes().startswith(b"no database")


@pytest.mark.parametrize("seed", range(25))
def test_random_bytes_neither_stop_nor_lose_later_use(desk: Desk, seed: int) -> None:
    desk.fill()
    chance = random.Random(seed)
    content = bytearray(desk.file.read_bytes())
    for _ in range(chance.choice((1, 20, 400))):
        content[chance.randrange(len(content))] = chance.randrange(256)
    desk.file.write_bytes(content)
    desk.read_all()
    remember_search_miss(desk.environment, desk.memory, "later words")
    desk.give(["two.md", "three.md"])
    assert desk.keeps_later_use()
    for path, kind, times, last in list_uses(desk.environment, desk.memory):
        assert list(map(type, (path, kind, times, last))) == [str, str, int, str]


def test_what_an_earlier_version_kept_stays(desk: Desk) -> None:
    desk.fill()
    with closing(sqlite3.connect(desk.file)) as connection:
        connection.execute("DROP TABLE together")
    desk.set_version(1)
    assert count_uses(desk.environment, desk.memory) == {"one.md": 3}
    desk.give(["one.md", "three.md"])
    assert list_given_together(desk.environment, desk.memory) == [("one.md", "three.md")]


def test_what_a_newer_version_wrote_is_kept_beside(desk: Desk) -> None:
    desk.fill()
    desk.set_version(VERSION + 1)
    written = desk.file.read_bytes()
    assert count_uses(desk.environment, desk.memory) == {}
    assert desk.keeps_later_use()
    assert desk.file.with_name(f"{FILE}.unfit").read_bytes() == written


def test_a_file_in_use_is_waited_for_and_never_moved(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.fill()
    monkeypatch.setattr(usage, "LOCK_TIMEOUT", 0.01)
    with closing(sqlite3.connect(desk.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert not desk.keeps_later_use()
        drop_search_miss(desk.environment, desk.memory, usage.SearchMiss("zebra", ""))
        other.execute("ROLLBACK")
    assert count_uses(desk.environment, desk.memory) == {"one.md": 3}
    assert desk.keeps_later_use()


def test_without_the_notebook_a_damaged_file_stays(desk: Desk) -> None:
    desk.fill()
    _overwritten(desk.file)
    bare = UsageStore(desk.environment.state, desk.memory.root)
    assert (bare.read_given("s"), bare.report()) == ((frozenset(), 0.0), [])
    with pytest.raises(sqlite3.DatabaseError):
        bare.record_given("s", [b"one.md"])
    assert desk.file.read_bytes().startswith(b"no database")


def test_notes_given_at_once_remind_of_one_another(desk: Desk) -> None:
    assert load_associations(desk.memory, desk.environment).find_related("one.md") == []
    desk.give(["two.md", "one.md"])
    desk.give(["three.md"])
    desk.give(["one.md", "gone.md"])
    (found,) = load_associations(desk.memory, desk.environment).find_related("one.md")
    assert [(step.relation, step.path) for step in found.steps] == [
        ("given together with", "two.md")
    ]
    assert [
        it.path for it in load_associations(desk.memory, desk.environment).find_related("two.md")
    ] == ["one.md"]


def test_use_is_reported_newest_first(desk: Desk) -> None:
    desk.fill()
    kinds = {(it.path, it.kind): it.times for it in list_uses(desk.environment, desk.memory)}
    assert kinds == {("one.md", "opened"): 3, ("one.md", "given"): 1, ("two.md", "given"): 1}
    assert isinstance(list_uses(desk.environment, desk.memory)[0], NoteUse)


def _gaps(desk: Desk) -> list[str]:
    return [gap.words for gap in list_search_misses(desk.environment, desk.memory)]


def test_a_gap_that_comes_again_is_the_newest(desk: Desk) -> None:
    for words in ("zebra", "lion", "zebra"):
        remember_search_miss(desk.environment, desk.memory, words)
    assert _gaps(desk) == ["zebra", "lion"]


def test_the_newest_gaps_are_kept_however_often_one_comes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.search.usage.MAX_MISSES", 3)
    for words in ("lion", "zebra", *["zebra"] * 5, "tiger"):
        remember_search_miss(desk.environment, desk.memory, words)
    assert _gaps(desk) == ["tiger", "zebra", "lion"]
    for words in ("lion", "panther"):
        remember_search_miss(desk.environment, desk.memory, words)
    assert _gaps(desk) == ["panther", "lion", "tiger"]


SECRETS = (
    "hunter2-falcon",
    "Tr0ub4dor&3",
    "Falcon.falcon12",
    "4711",
    "x8Kq",
    "qHzKxVbWqPlM",
    "kXf3-9dPq-22Lm",
    "a" * 30,
)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_gap_holds_nothing_that_may_be_a_credential(desk: Desk, secret: str) -> None:
    remember_search_miss(desk.environment, desk.memory, f"zebra {secret} (“{secret}”), lion")
    assert _gaps(desk) == ["zebra lion"]
    remember_search_miss(desk.environment, desk.memory, secret)
    assert _gaps(desk) == ["zebra lion"]


def test_a_gap_keeps_words_however_they_are_written(desk: Desk) -> None:
    remember_search_miss(
        desk.environment, desk.memory, "“Zebra-crossing”, HTTP: Ärger's 東京 docs/setup.md?"
    )
    assert _gaps(desk) == ["zebra crossing http arger 東京 docs setup md"]
