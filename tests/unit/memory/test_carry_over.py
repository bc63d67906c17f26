"""What a changed memory takes over from the one before is what it would derive itself."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from tests.support.builders import note_of

PATHS = ("MEMORY.md", "tides.md", "ports.md", "team/tides.md", "team/berths.md")
NAMES = st.sampled_from(["tides", "ports", "Berths", "new-name"])
LINES = st.sampled_from(
    [
        "[[tides]]",
        "[[ports|the ports]]",
        "[[syzygy]]",
        "[Tides](tides.md)",
        "[Up](../ports.md)",
        "- [Team](team/tides.md) — the team's",
        "- [Gone](gone.md)",
        "Text.",
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    aliases = draw(st.sampled_from(["", "aliases: [syzygy]\n", "sources: [ports.md]\n"]))
    body = "\n".join(draw(st.lists(LINES, max_size=4)))
    return f"---\nname: {draw(NAMES)}\n{aliases}---\n\n{body}\n"


@given(
    st.dictionaries(st.sampled_from(PATHS), texts()),
    st.dictionaries(st.sampled_from(PATHS), st.none() | texts(), min_size=1),
)
def test_a_changed_memory_is_as_one_read_again(
    before: dict[str, str], changes: dict[str, str | None]
) -> None:
    memory = _memory([note_of(text, path) for path, text in before.items()])
    _derived(memory)
    changed = {path: note_of(text, path) if text else None for path, text in changes.items()}
    now = memory.with_files(changed)
    assert _derived(now) == _derived(_memory(list(now.files)))
    assert {file.path for file in now.files} == {
        *(before.keys() - changes.keys()),
        *(path for path, text in changes.items() if text),
    }


def _memory(files: list[Note]) -> Memory:
    ordered = tuple(sorted(files, key=lambda file: file.path))
    return Memory("/memory", AUTO_MEMORY, ordered)


def _derived(memory: Memory) -> object:
    entries = {
        path: [(index.path, entry) for index, entry in found]
        for path, found in memory.entries.items()
    }
    indexes = [(index.path, index.entries) for index in memory.indexes]
    names = [getattr(memory.names, field.name) for field in fields(memory.names)]
    return (
        memory.links,
        memory.links_without_file,
        memory.backlinks,
        entries,
        indexes,
        memory.load,
        names,
    )
