"""What leaves of a memory, and what the person lets out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.errors import StateUnusable
from ricordo.llm.redaction import RedactedValue
from ricordo.services.engines.redaction import (
    allow_value,
    allowed_values,
    begin_redaction,
    withhold_value,
)
from ricordo.services.history.undo import undo
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text, recorded

PIN = "4711"
NOTE = f"The PIN is {PIN}.\n"


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return recorded(tmp_path, {"door.md": note_text("door", NOTE)})


def sent(notebook: Notebook) -> tuple[str, tuple[RedactedValue, ...]]:
    redaction = begin_redaction(notebook)
    return redaction.seal(redaction.redact("door.md", NOTE)), redaction.list_redacted()


def state_of(notebook: Notebook) -> Path:
    return Path(notebook.environment.state)


def test_what_is_allowed_leaves_in_every_run_until_it_is_taken_back(notebook: Notebook) -> None:
    text, (redacted,) = sent(notebook)
    assert PIN not in text
    allow_value(notebook, redacted)
    assert sent(notebook) == (NOTE, ())
    assert allowed_values(notebook)[redacted.fingerprint].reason == "pin"
    withhold_value(notebook, redacted.fingerprint)
    assert PIN not in sent(notebook)[0]


def test_undo_takes_it_back_too(notebook: Notebook) -> None:
    allow_value(notebook, sent(notebook)[1][0])
    undo(notebook)
    assert PIN not in sent(notebook)[0]


def test_nothing_of_a_value_is_written(notebook: Notebook) -> None:
    allow_value(notebook, sent(notebook)[1][0])
    held = {path.name: path.read_bytes() for path in state_of(notebook).iterdir() if path.is_file()}
    assert "redaction.key" in held
    # the note is in the history, packed
    assert not [name for name, raw in held.items() if PIN.encode() in raw]
    assert state_of(notebook).joinpath("redaction.key").stat().st_mode & 0o077 == 0


def test_with_another_key_nothing_is_allowed(notebook: Notebook) -> None:
    allow_value(notebook, sent(notebook)[1][0])
    state_of(notebook).joinpath("redaction.key").unlink()
    assert PIN not in sent(notebook)[0]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_with_a_key_that_is_damaged_all_is_kept_back_and_nothing_can_be_allowed(
    notebook: Notebook, content: bytes
) -> None:
    allow_value(notebook, sent(notebook)[1][0])
    state_of(notebook).joinpath("redaction.key").write_bytes(content)
    text, (redacted,) = sent(notebook)
    assert PIN not in text
    with pytest.raises(StateUnusable, match=r"redaction\.key"):
        allow_value(notebook, redacted)
