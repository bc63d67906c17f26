from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from ricordo.errors import StateUnusable, WrongUsage
from ricordo.settings.editor import create_file, editor_command


@pytest.mark.parametrize(
    ("editor", "environ", "command"),
    [
        ("code --wait", {"VISUAL": "vim"}, ("code", "--wait")),
        ("", {"VISUAL": "'my editor' -f", "EDITOR": "ed"}, ("my editor", "-f")),
        ("", {"EDITOR": "ed"}, ("ed",)),
        ("", {}, ("vi",)),
    ],
)
def test_the_setting_wins_over_the_environment(
    editor: str, environ: dict[str, str], command: tuple[str, ...]
) -> None:
    assert editor_command(editor, environ) == command


@pytest.mark.parametrize("name", ["ed", "ed -f", "it's"])
@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
def test_a_value_that_as_a_whole_names_a_file_is_that_file(
    variable: str, name: str, tmp_path: Path
) -> None:
    editor = tmp_path / "my programs" / name
    editor.parent.mkdir()
    editor.touch()
    assert editor_command("", {variable: f" {editor}\n"}) == (str(editor),)
    assert editor_command(str(editor), {}) == (str(editor),)
    quoted = shlex.quote(str(editor))
    assert editor_command("", {variable: f"{quoted} --wait 'two words'"}) == (
        str(editor),
        "--wait",
        "two words",
    )


def test_a_file_in_the_working_directory_is_no_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # whoever made the project that one works in does not choose what is started there
    (tmp_path / "vim -u x").touch()
    (tmp_path / "vim -c set").mkdir()
    (tmp_path / "vim -c set" / "list").touch()
    monkeypatch.chdir(tmp_path)
    assert editor_command("vim -u x", {}) == ("vim", "-u", "x")
    assert editor_command("vim -c set/list", {}) == ("vim", "-c", "set/list")


def test_an_open_quote_is_refused() -> None:
    with pytest.raises(WrongUsage, match="quote"):
        editor_command("", {"EDITOR": "vi '"})


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "config" / "settings.toml"
    create_file(str(file), "x = 1\n")
    assert file.read_text() == "x = 1\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("mine")
    create_file(str(file), "new")
    assert file.read_text() == "mine"


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateUnusable, match="Cannot write"):
        create_file(str(tmp_path / "file" / "settings.toml"), "")
