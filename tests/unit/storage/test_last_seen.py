from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ricordo.errors import StateUnusable
from ricordo.storage.summary_cache import FILE, load_summaries, save_summaries, save_summary


def test_what_is_remembered_is_recalled(tmp_path: Path) -> None:
    state, root = str(tmp_path / "deep" / "state"), str(tmp_path)
    save_summary(state, root, {"notes": 3, "max_lines": None})
    assert load_summaries(state) == {root: {"notes": 3, "max_lines": None}}


def test_another_memory_stays_and_one_that_is_gone_goes(tmp_path: Path) -> None:
    state, here = str(tmp_path / "state"), tmp_path / "here"
    here.mkdir()
    save_summaries(state, {str(here): {"notes": 1}, str(tmp_path / "gone"): {"notes": 2}})
    save_summary(state, str(tmp_path), {"notes": 3})
    assert load_summaries(state) == {str(here): {"notes": 1}, str(tmp_path): {"notes": 3}}


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    save_summary(str(state), str(tmp_path), {})
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / FILE).stat().st_mode) == 0o600
    assert os.listdir(state) == [FILE]


def test_names_that_are_no_utf8_are_kept(tmp_path: Path) -> None:
    root = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(root)
    save_summary(str(tmp_path), root, {"notes": 1})
    assert load_summaries(str(tmp_path)) == {root: {"notes": 1}}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"memories": []}', b'{"memories": {"/a": 1}}', b"\xff"]
)
def test_a_file_that_is_not_from_ricordo_is_as_if_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert load_summaries(str(tmp_path)) == {}
    save_summary(str(tmp_path), str(tmp_path), {"notes": 1})
    assert json.loads((tmp_path / FILE).read_bytes())["memories"][str(tmp_path)] == {"notes": 1}


def test_a_state_that_cannot_be_written_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StateUnusable):
        save_summary(str(tmp_path), str(tmp_path), {})
    assert os.listdir(tmp_path) == [FILE]
