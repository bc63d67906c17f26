"""What a process has loaded after it did something: a short answer must be a fast one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS_BELOW_THE_SCREEN = ("memory", "storage", "agents", "lint", "llm", "services", "settings")
PACKAGE = Path(__file__).resolve().parents[2] / "app" / "ricordo"

PRINT_MODULES = """
import sys
{code}
import json
print("\\n" + json.dumps(sorted(sys.modules)))
"""
IMPORT_ALL = """
import importlib, pkgutil
room = importlib.import_module("ricordo.{room}")
for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
    importlib.import_module(module.name)
"""
RUN = "from ricordo.cli.main import run\nrun({words!r})"
NOTE = "---\nname: one\ndescription: The only note.\ntype: user\n---\nText.\n"


def loaded_after(code: str, home: Path) -> frozenset[str]:
    """Return the names of the modules that a process has loaded once it has run `code`."""
    environment = {"HOME": str(home), "RICORDO_STATE": str(home / "state")}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_MODULES.format(code=code)],
        cwd=home,
        env={**os.environ, **environment, "RICORDO_AGENT_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return frozenset(json.loads(done.stdout.rstrip().rpartition("\n")[2]))


def of_packages(modules: frozenset[str], *packages: str) -> list[str]:
    """Return those of `modules` that are one of `packages` or lie inside one."""
    return sorted(
        name
        for name in modules
        if any(name == package or name.startswith(f"{package}.") for package in packages)
    )


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects" / "-tmp-project" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [One](one.md) — the only note\n")
    (folder / "one.md").write_text(NOTE)
    return folder


@pytest.mark.parametrize("command", [["list"], ["curate", "--dry-run"]])
@pytest.mark.usefixtures("memory")
def test_no_command_loads_the_client_of_a_model_unasked(command: list[str], tmp_path: Path):
    loaded = loaded_after(RUN.format(words=command), tmp_path)
    assert of_packages(loaded, "anthropic", "httpx2", "pydantic") == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("room", ROOMS_BELOW_THE_SCREEN)
def test_a_room_below_the_screen_loads_no_textual(room: str, tmp_path: Path):
    loaded = loaded_after(IMPORT_ALL.format(room=room), tmp_path)
    assert of_packages(loaded, "textual", "ricordo.tui") == []


def test_the_first_screen_loads_neither_the_search_nor_what_writes_or_asks_a_model(tmp_path: Path):
    loaded = loaded_after("import ricordo.tui.app", tmp_path)
    assert "ricordo.tui.main.screen" in loaded
    assert of_packages(loaded, "anthropic", "pydantic", "importlib.metadata", "email.message") == []
    assert of_packages(loaded, "ricordo.llm", "ricordo.curation.engines", "ricordo.hook") == []
    assert of_packages(loaded, "ricordo.services.search", "ricordo.search.finder") == []
    assert of_packages(loaded, "ricordo.services.edits", "ricordo.tui.edits.writer") == []
    assert of_packages(loaded, "ricordo.services.history.undo") == []


def test_the_command_line_by_itself_loads_next_to_nothing(tmp_path: Path):
    loaded = loaded_after("import ricordo.cli.main", tmp_path)
    assert of_packages(loaded, "textual", "rich", "yaml", "asyncio", "dataclasses") == []
    assert of_packages(loaded, "ricordo.memory", "ricordo.lint", "ricordo.services") == []


@pytest.mark.usefixtures("memory")
def test_a_short_list_loads_neither_screen_nor_yaml_nor_rules(tmp_path: Path):
    loaded = loaded_after(RUN.format(words=["list", "--short"]), tmp_path)
    assert of_packages(loaded, "textual", "rich", "yaml", "frontmatter", "asyncio") == []
    assert of_packages(loaded, "rapidfuzz", "watchfiles", "markdown_it", "sqlite3") == []
    assert of_packages(loaded, "ricordo.lint", "ricordo.tui", "ricordo.memory.memory") == []


PROMPT = """
import io, json, os
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.storage.reader import read_memory
from ricordo.search.index import SearchIndex
SearchIndex({state!r}, {memory!r}, {project!r}).update(read_memory({memory!r}, AUTO_MEMORY))
"""
ANSWER = """
from ricordo.hook.prompt import answer_prompt
answer_prompt({document!r}, {state!r})
"""


def test_the_hook_loads_the_standard_library_and_little_of_it(memory: Path, tmp_path: Path):
    state, project = str(tmp_path / "state"), str(tmp_path)
    loaded_after(PROMPT.format(state=state, memory=str(memory), project=project), tmp_path)
    event = {"prompt": "what does the only note say", "cwd": project, "session_id": "one"}
    document = json.dumps(event).encode()
    loaded = loaded_after(ANSWER.format(document=document, state=state), tmp_path)
    assert of_packages(loaded, "argparse", "dataclasses", "typing", "hashlib", "tempfile") == []
    assert of_packages(loaded, "textual", "rich", "yaml", "frontmatter", "rapidfuzz") == []
    assert of_packages(loaded, "ricordo.memory", "ricordo.cli", "ricordo.errors") == []
    assert of_packages(loaded, "ricordo.agents", "ricordo.storage") == [
        "ricordo.agents",
        "ricordo.agents.claude",
        "ricordo.agents.claude.folder",
        "ricordo.agents.prompt_rules",
        "ricordo.agents.workplace",
        "ricordo.storage",
        "ricordo.storage.foreign_file",
        "ricordo.storage.state_file",
    ]


OTHER_HOOKS = """
from ricordo.hook import refresh
refresh.os.fork = lambda: 1
from ricordo.hook.start import answer_start
from ricordo.hook.session_events import answer_stop, answer_written
answer_start({document!r}, {state!r})
answer_written({document!r}, {state!r})
answer_stop({document!r}, {state!r})
"""


def test_the_other_hooks_load_as_little(memory: Path, tmp_path: Path):
    state, project = str(tmp_path / "state"), str(tmp_path)
    loaded_after(PROMPT.format(state=state, memory=str(memory), project=project), tmp_path)
    written = {"file_path": str(memory / "one.md")}
    event = {"cwd": project, "session_id": "one", "tool_input": written}
    document = json.dumps(event).encode()
    loaded = loaded_after(OTHER_HOOKS.format(document=document, state=state), tmp_path)
    assert of_packages(loaded, "argparse", "dataclasses", "typing", "hashlib", "subprocess") == []
    assert of_packages(loaded, "textual", "rich", "yaml", "frontmatter", "rapidfuzz") == []
    assert of_packages(loaded, "ricordo.memory", "ricordo.cli", "ricordo.services") == []


def test_a_rule_is_explained_without_a_screen_or_a_search(tmp_path: Path):
    loaded = loaded_after(RUN.format(words=["rule", "dead-link"]), tmp_path)
    assert of_packages(loaded, "textual", "rich", "watchfiles", "markdown_it") == []
    assert of_packages(loaded, "ricordo.tui", "ricordo.llm", "ricordo.services.search") == []


def test_lint_loads_no_textual(memory: Path, tmp_path: Path):
    loaded = loaded_after(RUN.format(words=["lint", str(memory)]), tmp_path)
    assert of_packages(loaded, "textual", "watchfiles", "markdown_it") == []
    assert of_packages(loaded, "ricordo.lint") != []


FIRST_SCREEN = """
import ricordo.tui.app
import os
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.notebook import Depth, Notebook
from ricordo.services.workspace.environment import load_environment
from ricordo.settings.settings import Settings
surroundings = load_environment(os.environ)
notebook = Notebook(find_memories({memory!r}, surroundings)[0], surroundings, Settings())
assert notebook.read_snapshot().depth is Depth.JUDGED
"""


@pytest.mark.parametrize("code", [RUN.format(words=["list"]), FIRST_SCREEN])
def test_neither_a_list_nor_the_first_screen_measures_retention(code: str, memory: Path) -> None:
    loaded = loaded_after(code.format(memory=str(memory)), memory.parents[3])
    assert of_packages(loaded, "fsrs") == []
    assert of_packages(loaded, "ricordo.lint.rules.dates") != []


def test_plain_heads_are_read_without_yaml(memory: Path, tmp_path: Path):
    read = (
        "from ricordo.agents.claude.location import AUTO_MEMORY\n"
        "from ricordo.storage.reader import read_memory\n"
        f"read_memory({str(memory)!r}, AUTO_MEMORY)"
    )
    assert of_packages(loaded_after(read, tmp_path), "yaml", "frontmatter") == []
