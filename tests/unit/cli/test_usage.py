"""`ricordo usage`: what notes were used for, and searches without results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ricordo.agents.claude.location import make_slug
from ricordo.storage.reader import SETTLING_NS
from tests.unit.cli.conftest import Ricordo
from tests.unit.machine import Machine

NOTHING = "no note was used yet\nno search without results\n"


@pytest.mark.parametrize(
    "words",
    [
        ("recall", "where are the ports of Sines"),
        ("recall", "--ambient"),
        ("recall", "kubernetes"),
        ("search", "ports"),
        ("show", "ports"),
        ("load",),
    ],
)
def test_what_a_user_types_counts_for_no_agent(
    ricordo: Ricordo, pinned: Path, words: tuple[str, ...]
) -> None:
    ricordo(*words, code=1 if "kubernetes" in words or "--ambient" in words else 0)
    assert ricordo("usage") == NOTHING


def test_what_the_hook_gives_counts_as_given_to_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: Path
) -> None:
    machine = Machine(tmp_path)
    project = machine.directory("work")
    memory = pinned / ".claude/projects" / make_slug(str(project)) / "memory"
    monkeypatch.chdir(project)
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Pier](pier.md) — where the pier is\n")
    (memory / "pier.md").write_text(
        "---\nname: pier\ndescription: where the pier is\ntype: project\n---\n\n"
        "The pier of Sines lies in the harbour.\n"
    )
    os.utime(memory / "pier.md", (1, 1))
    # a file that was written a moment ago is not trusted to be the one that was indexed
    time.sleep(2 * SETTLING_NS / 1e9)

    def call(*words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ricordo", *words],
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert "pier.md" in call("recall", "where is the pier of Sines in the harbour")
    prompt = {"prompt": "where is the pier of Sines in the harbour", "cwd": str(project)}
    assert "pier" in call("hook", "prompt", given=json.dumps({**prompt, "session_id": "one"}))
    assert "1 × given to agents   pier.md" in call("usage")


def test_a_search_without_results_is_recorded_without_secrets(ricordo: Ricordo) -> None:
    credential = "ghp_" + "x8Kq2LmZ9vRt4WnB7cYd1HsJ5fGp3QaE6uTi"
    ricordo("search", f"kubernetes ingress {credential}", code=1)
    output = ricordo("usage")
    assert "your searches without results" in output
    assert "kubernetes ingress" in output
    assert credential[4:].lower() not in output.lower()
    (gap,) = json.loads(ricordo("usage", "--json"))["gaps"]
    assert gap.keys() == {"words", "last"}


def test_a_gap_can_be_dropped(ricordo: Ricordo) -> None:
    ricordo("search", "zeppelins moored", code=1)
    assert "No search without results has the words" in ricordo(
        "usage", "--drop", "zeppelins", code=2
    )
    assert (
        ricordo("usage", "--drop", "zeppelins moored") == "forgot the search “zeppelins moored”\n"
    )
    assert "no search without results" in ricordo("usage")
