"""`ricordo` called in this process, as a script calls it: no stream is a terminal."""

from __future__ import annotations

import gc
import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from ricordo.cli.main import run
from tests.contract.test_printing import World
from tests.unit.cli.conftest import settle


class Answer(NamedTuple):
    """What a command printed."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def no_search_for_garbage() -> Iterator[None]:
    """Look for no garbage: the tests here parse the whole program, which makes much and none of it
    is garbage.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def world(tmp_path: Path, pinned: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path, pinned)
    monkeypatch.chdir(made.work)
    return made


@pytest.fixture
def call(world: World, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return what runs a command line in this process, without a terminal."""

    def answer(*words: str, given: str = "", stdout: io.StringIO | None = None) -> Answer:
        settle(world.memory)
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        out, err = stdout or io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(list(words))
        return Answer(code, out.getvalue(), err.getvalue())

    return answer
