"""The options that every command takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ricordo.cli.main import COMMANDS, create_parser, load_command, run
from tests.benchmarks.terminal import Terminal
from tests.support.builders import note_text, write_memory
from tests.unit.cli.conftest import Ricordo, contents

Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_them(command: str) -> None:
    text = create_parser(command, load_command(command)).format_help()
    for option in ("-C DIR", "--color {auto,always,never}", "-q, --quiet"):
        assert option in text


@pytest.mark.parametrize("before", [True, False])
def test_a_command_runs_as_if_it_was_started_in_a_directory(
    memory: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, *, before: bool
) -> None:
    # monkeypatch also brings the test back
    monkeypatch.chdir("/")
    place = ["-C", str(memory.parent)]
    words = ["show", "tides", "memory", "--json"]
    assert run([*place, *words] if before else [*words, *place]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == "tides.md"


@pytest.mark.parametrize("name", ["nowhere", "memory/tides.md", "\x1b[31m"])
def test_a_directory_that_is_none_is_wrong_usage(
    memory: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(memory.parent)
    assert run(["load", "-C", name]) == 2
    message = capsys.readouterr().err
    assert message.startswith("ricordo: -C: ")
    assert message.rstrip("\n").isprintable()


def test_color_takes_three_values(capsys: Printed) -> None:
    assert run(["list", "--color", "sometimes"]) == 2
    assert "--color" in capsys.readouterr().err


def test_quiet_leaves_out_messages_but_no_results_and_no_errors(
    memory: Path, ricordo: Ricordo, pinned: Path
) -> None:
    settings = pinned / ".config/ricordo/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("no-such-setting = 1\n")
    assert "no-such-setting" in ricordo("load")
    assert "no-such-setting" not in ricordo("load", "--quiet")
    assert ricordo("load", "--quiet").startswith("# Memory\n")
    assert "does not exist" in ricordo("load", "--quiet", "-m", str(memory / "gone"), code=3)


def test_quiet_commands_that_change_something_print_nothing(memory: Path, ricordo: Ricordo) -> None:
    before = contents(memory)
    assert ricordo("retire", "ports", "--quiet") == ""
    assert contents(memory) != before
    assert ricordo("undo", "-q") == ""
    assert contents(memory) == before
    assert ricordo("retire", "ports").startswith("retired ports.md\n")


@pytest.mark.terminal
@pytest.mark.parametrize("options", [[], ["--diff", "--unsafe"], ["--quiet"]])
def test_what_takes_over_a_second_shows_what_it_does(tmp_path: Path, options: list[str]) -> None:
    notes = {f"n{number}.md": note_text(f"n{number}") for number in range(3)}
    write_memory(tmp_path / "memory", notes)
    subprocess.run(["git", "init", "--quiet", "memory"], cwd=tmp_path, check=True)
    # git takes its time, once
    script = f'#!/bin/sh\ncase "$*" in *log*) mkdir "{tmp_path}/asked" && sleep 3 ;; esac\nexit 1\n'
    git = write_memory(tmp_path / "bin", {"git": script}) / "git"
    git.chmod(0o755)
    environ = {**os.environ, "TERM": "xterm", "PATH": f"{git.parent}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "ricordo", "lint", "memory", *options, "--fail-on", "never"]
    with Terminal(words, environ, tmp_path) as terminal:
        terminal.gone()
        terminal.settle()
        painted = terminal.painted.decode()
    is_quiet = "--quiet" in options
    assert ("lint: reading commit dates from git, 1 s" in painted) is not is_quiet
    # it is erased before the result
    assert "git" not in painted.rpartition("\r ")[2]
