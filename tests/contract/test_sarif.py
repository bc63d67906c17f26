"""The SARIF log passes the validator of Microsoft with its rules for SARIF and those for GitHub.

The validator is downloaded from the registry of npm, so this is run by the soak only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.resources import sample_memory_directory
from tests.support.builders import note_text, write_memory
from tests.support.figures import figure
from tests.unit.machine import git

TOOL = "@microsoft/sarif-multitool@5.7.0"
RULE_KINDS = ("Sarif", "Gh")
"""The rules of the format, and those of GitHub."""
SECONDS = 300
HIDDEN = "\x1b[31m\u200b\u202e"

pytestmark = pytest.mark.skipif(not figure("sarif_tool", everyday=0), reason="only in a soak")


@pytest.fixture(scope="session")
def multitool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the validator; return its program."""
    folder = tmp_path_factory.mktemp("multitool")
    words = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), TOOL]
    subprocess.run(words, cwd=folder, check=True, timeout=SECONDS, capture_output=True)
    return folder / "node_modules" / ".bin" / "sarif-multitool"


def make_sample(top: Path) -> Path:
    shutil.copytree(sample_memory_directory(), top, dirs_exist_ok=True)
    return top / "memory"


def make_repository(top: Path) -> Path:
    memory = make_sample(top / "docs")
    git(top, "init", "--quiet")
    return memory


def make_wiki(top: Path) -> Path:
    make_sample(top)
    return top / "wiki"


def make_empty(top: Path) -> Path:
    return write_memory(top / "memory", {"MEMORY.md": "# Memory\n"})


def make_hostile(top: Path) -> Path:
    """Return a memory whose names and texts are not what anybody expects."""
    memory = write_memory(
        top / "a b%20c",
        {
            "MEMORY.md": f"- [G{HIDDEN}one](gone.md) — x\r\n" * 3,
            "café ü#?&.md": "No head.\n",
            f"q{HIDDEN}q.md": note_text("q", f"See [the{HIDDEN} ports](gone.md) 🌊.\n"),
            "latin.md": b"caf\xe9\n",
            "empty.md": b"",
        },
    )
    (memory / os.fsdecode(b"caf\xe9.md")).write_text("No head.\n")
    (memory / "away.md").symlink_to("/etc/hosts")
    return memory


@pytest.mark.parametrize("kind", RULE_KINDS)
@pytest.mark.parametrize(
    "make", [make_sample, make_repository, make_wiki, make_empty, make_hostile]
)
def test_the_log_passes_the_validator(
    make: object, kind: str, multitool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(make)
    memory = make(tmp_path / "top")
    capsys.readouterr()
    log = tmp_path / "ricordo.sarif"
    assert run(["lint", "-m", str(memory), "--sarif", "--fail-on", "never"]) == 0
    log.write_text(capsys.readouterr().out, "utf-8")
    report = tmp_path / "report.sarif"
    done = subprocess.run(
        [multitool, "validate", str(log), "--rule-kind", kind, "--output", str(report)],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (only,) = json.loads(report.read_text("utf-8-sig"))["runs"]
    assert only["invocations"][0]["executionSuccessful"]
    found = Counter(result["ruleId"] for result in only.get("results", ()))
    assert found == {}, done.stdout


def test_the_validator_finds_what_is_wrong(multitool: Path, tmp_path: Path) -> None:
    log = tmp_path / "bad.sarif"
    driver = {"name": "ricordo", "rules": [{"id": "dead-link"}]}
    log.write_text(json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}}]}))
    done = subprocess.run(
        [multitool, "validate", str(log), "--rule-kind", "Gh"],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "fullDescription" in done.stdout
