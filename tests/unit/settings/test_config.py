from __future__ import annotations

import json
import shlex
import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path

import pytest

from ricordo.cli import config
from ricordo.errors import WrongUsage
from ricordo.lint.rule import load_rules
from ricordo.services.workspace.environment import Environment
from ricordo.settings.keymap import normalize_key
from ricordo.tui.actions.registry import list_known_actions


def run(folder: Path, *words: str, editor: str = "") -> int:
    parser = ArgumentParser()
    config.add_config_arguments(parser)
    home = str(folder)
    environ = {"HOME": home, "EDITOR": editor}
    around = Environment(home, environ, home, home, config=str(folder / "config"))
    return config.run_config(parser.parse_args(words), around)


def test_all_settings_are_shown_as_toml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 0
    shown = tomllib.loads(capsys.readouterr().out)
    assert shown["theme"] == "ricordo-dark"
    assert list(shown["rules"]) == list(load_rules())


def test_warnings_are_shown_as_comments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text("them = 1\n")
    assert run(tmp_path, "show") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"#! {tmp_path}/config/settings.toml:1: them: There is no such key.")
    tomllib.loads(out)


def test_the_path_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "path") == 0
    assert capsys.readouterr().out == f"{tmp_path}/config/settings.toml\n"


def test_editing_creates_the_file_and_reports_invalid_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import sys; open(sys.argv[1], 'r+').write('them = 1 #')"
    editor = shlex.join([sys.executable, "-c", program])
    assert run(tmp_path, "edit", editor=editor) == 0
    file = tmp_path / "config" / "settings.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "There is no such key. Did you mean “theme”?" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["", " --to", " --to 'two words'"])
def test_an_editor_in_a_folder_with_a_space_works(tmp_path: Path, option: str) -> None:
    editor = tmp_path / "my programs" / "ed"
    editor.parent.mkdir()
    editor.write_text('#!/bin/sh\nfor file; do :; done\necho "# $1 $2 $#" > "$file"\n')
    editor.chmod(0o700)
    line = shlex.quote(str(editor)) + option if option else str(editor)
    assert run(tmp_path, "edit", editor=line) == 0
    file = tmp_path / "config" / "settings.toml"
    words = [*shlex.split(option), str(file)]
    assert file.read_text() == f"# {words[0]} {words[1] if option else ''} {len(words)}\n"
    # and as the setting
    file.write_text(f"editor = {json.dumps(line)}\n")
    assert run(tmp_path, "edit", editor="/no/such/editor") == 0
    assert file.read_text().startswith("# ")


def test_an_editor_that_cannot_be_started_is_reported(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="Cannot start"):
        run(tmp_path, "edit", editor="/no/such/editor")


def test_all_keys_of_the_screen_have_names_that_a_keymap_can_use() -> None:
    keys = [key for action in list_known_actions() for key in action.keys]
    assert [normalize_key(key) for key in keys] == keys
