"""The sessions of the sample memory are as docs/sample.md describes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ricordo.resources import sample_memory_directory
from ricordo.services.sessions.origin import load_origins
from ricordo.services.workspace.environment import Environment, copy_sample, load_environment
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.settings import load_settings
from tests.conftest import NOW


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Notebook, Snapshot]:
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(sample_memory_directory(), folder / "sample")
    environment = Environment(
        str(folder), {}, str(folder / "sample/home"), str(folder / "state"), str(folder), NOW
    )
    place = find_memories(str(folder / "sample/memory"), environment)[0]
    notebook = Notebook(place, environment, load_settings(environment, ())[0])
    return notebook, notebook.read_snapshot_with_evidence()


def page(title: str) -> list[list[str]]:
    """Return the rows of a table of docs/sample.md."""
    text = (Path(__file__).parents[3] / "docs/sample.md").read_text("utf-8")
    part = text.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.split("\n") if line.startswith("| ")]
    return rows[1:]


def test_the_planted_origins_are_found(sample: tuple[Notebook, Snapshot]) -> None:
    notebook, look = sample
    origins = load_origins(notebook.activity, look.memory.root, {})
    for source, key, note in page("Where notes came from"):
        cause = origins[note.removeprefix("memory/")][0]
        assert cause.quote is not None
        assert (cause.quote.key, Path(cause.transcript).name) == (key, Path(source).name)
    assert origins["project_test_speed.md"][0].quote is None


def test_the_planted_notes_are_never_read_and_no_others(sample: tuple[Notebook, Snapshot]) -> None:
    planted = {
        row[1].removeprefix("memory/") for row in page("What is planted") if row[0] == "never-read"
    }
    origins = {finding.path for finding in sample[1].findings if finding.rule == "never-read"}
    assert origins == planted


def test_the_demo_knows_its_transcripts(tmp_path: Path) -> None:
    environment = load_environment({"HOME": str(tmp_path), "RICORDO_NOW": NOW})
    with copy_sample(environment) as copy:
        place = find_memories(copy.memory, copy.environment)[0]
        notebook = Notebook(place, copy.environment, load_settings(copy.environment, ())[0])
        assert len(notebook.read_snapshot_with_evidence().evidence.origins) > 8
