"""The parts of a file that changed lines begin."""

from __future__ import annotations

import pytest

from ricordo.handoff.gather.files import list_parts

WRITTEN = {
    "a.py": "import os\n\nclass Alarm:\n    async def due(self) -> None:\n        define = 1\n",
    "a.ts": "export class Alarm {}\nconst due = async (at: Date) => at\nconst limit = 3\n",
    "a.go": "func (a *Alarm) Due() {\n}\n\ntype Alarm struct {\n\treturn due(x)\n",
    "a.rs": "pub(crate) async fn due() {}\nstruct Alarm;\nlet alarm = 1;\n",
    "A.java": "public class Alarm {\n  private static int due(int at) {\n    return later(at);\n",
    "a.md": "# Alarm\n\nWhen it is due.\n\n## due\n",
    "a.sh": "due() {\n  echo alarm\n}\nfunction Alarm() {\n",
    "pyproject.toml": "[Alarm]\nkey = [1]\n[[tool.due]]\n",
    "a.sql": "CREATE TABLE IF NOT EXISTS Alarm (\n  at text\n);\nalter table due add x;\n",
    "Makefile": "due: Alarm\n\tpython -m alarm\nX := 1\n",
}
FOUND = {
    "a.go": ["Due", "Alarm"],
    "a.rs": ["due", "Alarm"],
    "a.sh": ["due", "Alarm"],
    "pyproject.toml": ["Alarm", "tool.due"],
    "Makefile": ["due"],
}


@pytest.mark.parametrize("path", WRITTEN)
def test_parts_are_named_in_their_order(path: str) -> None:
    """A mere use of a name begins no part."""
    assert list_parts(path, WRITTEN[path]) == FOUND.get(path, ["Alarm", "due"])


def test_a_file_of_another_kind_has_no_parts() -> None:
    """Nothing is guessed."""
    assert list_parts("notes.txt", "# Alarm\ndef due():\n") == []


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize(
    "piece", ["public ", "a ", "(", "a<", "const a = ", "\t", "# a", "x.", "*"]
)
def test_hostile_lines_take_no_time(path: str, piece: str) -> None:
    """A line that repeats one piece is read once, or is too long to be read."""
    assert (
        len(list_parts(path, "\n".join([piece * (190 // len(piece))] * 50) + "\n" + piece * 9_999))
        <= 1
    )
