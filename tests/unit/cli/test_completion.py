"""What Tab offers, as the scripts of the shells get it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.cli.completion.answer import complete
from ricordo.cli.completion.shell_words import quote_text, remove_quotes, split_line
from ricordo.cli.completion.table import KINDS, build_table, find_kind, list_actions, takes_value
from ricordo.cli.main import COMMANDS, OPEN, create_parser, load_command, run
from ricordo.lint.rule import load_rules
from tests.support.builders import note_text, write_memory
from tests.unit.cli.conftest import Ricordo, contents


def values(*before: str, current: str = "") -> list[str]:
    return [value for value, _ in complete(before, current).candidates]


@pytest.mark.parametrize("quote", ["", "'", '"'])
@given(text=st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])))
def test_what_is_quoted_is_read_as_it_was(text: str, quote: str) -> None:
    assert remove_quotes(f"{quote}{quote_text(text, quote)}") == (text, quote)
    *before, word = split_line(f"ricordo show {quote}{quote_text(text, quote)}")
    assert (before, remove_quotes(word)[0]) == (["ricordo", "show"], text)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ricordo", ["ricordo"]),
        ("ricordo ", ["ricordo", ""]),
        ("ricordo  show a", ["ricordo", "show", "a"]),
        ("ricordo 'a b' \"c", ["ricordo", "'a b'", '"c']),
        ("ricordo a\\ b\\", ["ricordo", "a\\ b\\"]),
        ("ricordo show >out a", ["ricordo", "show", "out", "a"]),
    ],
)
def test_a_line_is_split_as_bash_does_it(line: str, words: list[str]) -> None:
    assert split_line(line) == words


def test_commands_are_offered_with_what_they_do() -> None:
    offered = dict(complete((), "").candidates)
    assert [*offered] == [*COMMANDS, "hook"]
    assert all(offered.values())
    assert offered == dict(complete(("--state", "lint"), "").candidates)
    assert complete(("--", ""), "").candidates == []


@pytest.mark.parametrize("command", [*COMMANDS, "hook"])
def test_every_option_of_a_command_is_offered_once(command: str) -> None:
    offered = values(command, current="-")
    parser = create_parser(OPEN if command == "hook" else command, load_command(OPEN))
    if command != "hook":
        parser = create_parser(command, load_command(command))
        assert sorted(offered) == sorted(parser._option_string_actions)
    assert len(offered) == len(set(offered))


def test_an_option_is_offered_until_it_is_used_or_excluded() -> None:
    assert "--fix" not in values("lint", "--fix", current="--")
    assert "--sarif" not in values("lint", "--json", current="--")
    assert "--rule" in values("lint", "--rule", "dead-link", current="--")
    assert "-m" not in values("show", "--memory", "x", current="-")
    assert values("load", "--", current="-") == []


def test_values_of_options_are_offered() -> None:
    levels = ["error", "warning", "info", "never"]
    assert values("lint", "--fail-on") == levels
    assert values("lint", current="--fail-on=") == levels
    assert complete(("lint",), "--fail-on=w").line.prefix == "--fail-on="
    assert values("lint", "--rule") == [*load_rules()]
    after_comma = values("lint", "--select", current="stale,dead")
    assert "stale,dead-link" in after_comma
    assert "stale,stale" not in after_comma
    assert values("rule") == [*load_rules()]
    assert values("completions") == ["bash", "zsh", "fish"]
    assert values("lint", "--now") == []
    assert "claude-opus-5" in values("curate", "--model")
    assert values("purge") == values("purge", current="-")


def test_notes_of_the_named_memory_are_offered_with_their_entries(memory: Path) -> None:
    expected = [("ports", "where they are"), ("tides", "which port")]
    for before in (["show", "-m", str(memory)], [f"--memory={memory}", "show"]):
        assert complete(before, "").candidates == expected
    assert complete(["rename"], "", ["-m", str(memory)]).candidates == expected
    assert values("rename", "-m", str(memory), "tides") == []
    assert values("retire", "tides", "-m", str(memory), "--successor") == ["ports", "tides"]


def test_a_note_is_offered_by_a_word_that_the_commands_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "-x.md": note_text("dashed"),
        "a.md": note_text("one"),
        "a.md.md": note_text("two"),
        "B.MD": note_text("three"),
        "in/c d.md": note_text("four"),
        "bad\x1b.md": note_text("five"),
    }
    root = str(write_memory(tmp_path / "memory", files))
    offered = values("show", "-m", root)
    assert sorted(offered) == ["./-x", "B.MD", "a", "a.md.md", "in/c d"]
    for word in offered:
        assert run(["show", word, "-m", root]) == 0
        assert f"file         {word.removeprefix('./').removesuffix('.md')}" in (
            capsys.readouterr().out
        )
    assert "-x" in values("show", "-m", root, "--")
    assert "./a" in values("show", "-m", root, current="./")


def test_the_directory_of_the_options_counts(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(memory.parent)
    assert values("-C", str(memory), "show") == ["ports", "tides"]
    assert values("-C", str(memory.parent), "show", "-m", "memory") == ["ports", "tides"]


def test_a_name_that_no_path_begins_with_is_offered(tmp_path: Path) -> None:
    root = write_memory(
        tmp_path / "memory", {"feedback_1.md": note_text("squash"), "b.md": note_text("b")}
    )
    assert values("show", "-m", str(root), current="feed") == ["b", "feedback_1"]
    assert "squash" in values("show", "-m", str(root), current="sq")


def test_what_was_deleted_is_offered_for_restoring(memory: Path, ricordo: Ricordo) -> None:
    ricordo("retire", "tides")
    assert values("restore", "-m", str(memory)) == ["ports", "tides.md"]
    assert values("show", "-m", str(memory)) == ["ports"]
    versions = values("restore", "tides.md", "-m", str(memory), "--at")
    assert versions
    ricordo("restore", "tides", "--at", versions[-1])


def test_ids_are_offered_with_what_they_stand_for(memory: Path) -> None:
    (memory / "tides.md").write_text(note_text("tides", "See [x](gone.md).\n"))
    offered = dict(complete(["lint", "-m", str(memory), "--dismiss"], "").candidates)
    assert any("gone.md" in text and "tides.md" in text for text in offered.values())
    assert run(["lint", "-m", str(memory), "--dismiss", next(iter(offered))]) == 0


def test_nothing_is_changed_and_nothing_reported(
    memory: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = contents(memory)
    for words in (
        ["bash", f"ricordo show -m {memory} ", "", ""],
        ["zsh", "2", "show", "", "-m", str(memory)],
        ["fish", "3", "restore", "-m", str(memory), ""],
        ["fish", "3", "show", "-m", str(tmp_path / "missing"), ""],
        ["fish", "many"],
        ["csh"],
        [],
    ):
        assert run(["__complete", *words]) == 0
    assert contents(memory) == before
    assert capfd.readouterr().err == ""


def test_what_is_not_a_prefix_is_offered_to_bash_only_where_it_replaces_the_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = write_memory(
        tmp_path / "memory", {f"feedback_{name}.md": note_text(name) for name in ("no_a", "no_b")}
    )
    for typed, offered in (("k_no_a", ["feedback_no_a"]), ("back", []), ("FEED", 2), ("feed", 2)):
        run(["__complete", "bash", f"ricordo show -m {quote(str(root))} {typed}", "", typed])
        first, *lines = capfd.readouterr().out.splitlines()
        assert first == "ok"
        assert (lines if isinstance(offered, list) else len(lines)) == offered


def test_the_table_is_fresh() -> None:
    path = Path(__file__).parents[3] / "app/ricordo/cli/completion/table.json"
    assert json.loads(path.read_text("utf-8")) == build_table(), "run make docs"


def test_it_is_known_what_every_value_is() -> None:
    unknown = [
        f"{name}: {action.option_strings or action.dest} {action.metavar}"
        for name in (OPEN, *COMMANDS)
        for action in list_actions(create_parser(name, load_command(name)))
        if takes_value(action) and action.choices is None and find_kind(name, action) is None
    ]
    assert unknown == [], "add its name to KINDS in cli/completion/table.py"
    assert KINDS["NOTE"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completions", shell]) == 0
    assert "__complete" in capsys.readouterr().out


def test_options_are_completed_without_the_parsers(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom ricordo.cli.main import run\n"
        "run(['__complete', 'fish', '2', 'lint', '--fail-on='])\nprint(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "RICORDO_STATE": str(tmp_path)},
    )
    *_, last = done.stdout.splitlines()
    loaded = set(last.split())
    assert "--fail-on=error" in done.stdout
    assert not loaded & {"argparse", "typing", "dataclasses", "rich", "sqlite3", "subprocess"}
    assert not {name for name in loaded if name.startswith(("ricordo.lint", "ricordo.memory"))}
