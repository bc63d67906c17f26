"""Small memories in temporary folders, written the way that agents write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, Note, read_note
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from ricordo.storage.reader import read_memory
from tests.conftest import NOW

SHARED = Path(__file__).resolve().parents[3] / "shared"
"""Real memories beside the repository; absent on most machines."""


def note_text(
    name: str = "tides",
    body: str = "The port is Sines.\n",
    description: str = "Which port the tables are for",
    type_: str = "project",
) -> str:
    """Return a note with the head that Claude Code writes today."""
    return (
        f"---\nname: {name}\ndescription: {description}\nmetadata: \n"
        f"  node_type: memory\n  type: {type_}\n---\n\n{body}"
    )


def write_memory(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write `files`, by their path under `root`, byte for byte; return `root`."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return root


def open_memory(
    root: Path, files: Mapping[str, str | bytes] | None = None, layout: Layout = AUTO_MEMORY
) -> Memory:
    """Write `files` under `root` and read the whole of it."""
    return read_memory(str(write_memory(root, files or {})), layout)


def recorded(folder: Path, files: Mapping[str, str | bytes], name: str = "memory") -> Notebook:
    """Write `files` into a directory beneath `folder`, with the state of Ricordo beside it; return
    its notebook, with the history begun.
    """
    root = write_memory(folder / name, files)
    environment = load_environment(
        {"HOME": str(folder), "RICORDO_STATE": str(folder / "state"), "RICORDO_NOW": NOW}
    )
    place = find_memories(str(root), environment)[0]
    notebook = Notebook(place, environment, load_settings(environment, ())[0])
    notebook.record(notebook.read())
    return notebook


def note_of(content: str | bytes, path: str = "note.md", layout: Layout = AUTO_MEMORY) -> Note:
    """Return the note that `content` makes, without a file."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    return read_note(path, raw, FileFacts(len(raw), 0.0, 1, 1), layout)
