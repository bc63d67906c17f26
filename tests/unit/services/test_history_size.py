"""What the history costs in a year, and what a bound drops."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.change import compute_digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.history.maintenance import plan_trimming, trim
from ricordo.services.history.recorder import Recorder
from ricordo.services.history.versions import list_versions
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import Settings
from ricordo.storage.database import Database
from ricordo.storage.history import History
from tests.support.builders import note_of, note_text
from tests.support.figures import figure

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("rt", "s", "nde", "l", "ck")]
DAYS = figure("history_days", everyday=60)
START = datetime(2026, 1, 1, tzinfo=UTC)


def notebook_of(root: Path, now: datetime) -> Notebook:
    environ = {"HOME": str(root.parent), "RICORDO_STATE": str(root.parent / "state")}
    environment = load_environment(environ, now=now.isoformat())
    return Notebook(MemoryPlace(str(root), AUTO_MEMORY, ""), environment, Settings())


def a_note(root: Path, random_: random.Random, number: int) -> Note:
    """Write a note and return it."""
    body = " ".join(random_.choices(WORDS, k=250))
    text = note_text(f"note-{number}", body + "\n")
    (root / f"note_{number}.md").write_text(text)
    return note_of(text, f"note_{number}.md")


def test_a_year_of_daily_use_of_500_notes_stays_under_200_megabytes(root: Path) -> None:
    random_ = random.Random(7)
    notes = {f"note_{n}.md": a_note(root, random_, n) for n in range(500)}
    database = Database(str(root.parent / "state"))
    recorder = Recorder(database)
    for day in range(DAYS):
        for number in random_.sample(range(500), 30):
            notes[f"note_{number}.md"] = a_note(root, random_, number)
        memory = Memory(str(root), AUTO_MEMORY, tuple(notes.values()))
        recorder.record(memory, START + timedelta(days=day))
    size = Path(database.path).stat().st_size
    year = size * 365 / DAYS
    print(f"a year of 30 changed notes a day, from {DAYS} days: {year / 1e6:.1f} MB")
    assert year < 200_000_000


def test_a_bound_drops_old_texts_and_never_the_last_of_a_note(root: Path) -> None:
    random_ = random.Random(7)
    database = Database(str(root.parent / "state"))
    recorder = Recorder(database)
    for day in range(50):
        files = (a_note(root, random_, 1),) if day < 10 else ()
        if day == 10:
            (root / "note_1.md").unlink()
        memory = Memory(str(root), AUTO_MEMORY, (a_note(root, random_, 2), *files))
        recorder.record(memory, START + timedelta(days=day))
    notebook = notebook_of(root, START + timedelta(days=50))
    trimming = plan_trimming(notebook, days=30)
    assert (len(trimming.texts), trimming.kept) == (9 + 19, 32)
    assert trim(notebook, days=30) == trimming
    assert plan_trimming(notebook, days=30).texts == ()
    last = next(v for v in list_versions(notebook, "note_1.md") if v.sha)
    with notebook.database.connect() as connection:
        assert History(connection).get_content(last.sha) is not None


def test_a_text_that_came_back_since_the_plan_is_not_dropped(root: Path) -> None:
    random_ = random.Random(7)
    notebook = notebook_of(root, START + timedelta(days=90))
    recorder = Recorder(notebook.database)
    notes: list[Note] = []
    for day in range(3):
        notes.append(a_note(root, random_, 1))
        recorder.record(Memory(str(root), AUTO_MEMORY, (notes[-1],)), START + timedelta(days=day))
    assert len(plan_trimming(notebook, days=30).texts) == 2
    (root / "note_1.md").write_text(notes[0].text)
    recorder.record(Memory(str(root), AUTO_MEMORY, (notes[0],)), notebook.environment.now)
    assert len(trim(notebook, days=30).texts) == 1
    with notebook.database.connect() as connection:
        assert History(connection).get_content(compute_digest(notes[0].raw)) == notes[0].raw
