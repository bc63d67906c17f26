from __future__ import annotations

import json
import shlex
import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path

import pytest

from ricordo.cli import config
from ricordo.errors import ChangeRefused, WrongUsage
from ricordo.lint.rule import load_rules
from ricordo.services.workspace.environment import Environment
from ricordo.settings.keymap import normalize_key
from ricordo.tui.actions.registry import list_known_actions


def run(folder: Path, *words: str, editor: str = "") -> int:
    parser = ArgumentParser()
    parser.set_defaults(command="config")
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


WIKI_PAGE = "# Tides\n\nText.\n"


def conventions(folder: Path, *words: str) -> int:
    return run(folder, "conventions", "-m", str(folder / "wiki"), *words)


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    (tmp_path / "wiki").mkdir()
    for name in ("index", "log", "a", "b", "c"):
        (tmp_path / "wiki" / f"{name}.md").write_text(WIKI_PAGE)
    return tmp_path


def test_conventions_of_a_memory_are_shown_and_set(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert conventions(wiki) == 0
    assert "the first heading (learned from 3 notes)" in capsys.readouterr().out
    file = wiki / "config" / "settings.toml"
    assert conventions(wiki, "--set", "title=file", "--set", "fields=updated, type") == 0
    table = tomllib.loads(file.read_text())["memory"][str(wiki / "wiki")]["conventions"]
    assert table == {"title": "file", "fields": ["updated", "type"]}
    assert "the name of the file (set in the settings)" in capsys.readouterr().out
    assert conventions(wiki, "--set", "title=learn", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["conventions"]
    assert [it["value"] for it in shown[:2]] == ["the first heading", "type, updated"]


@pytest.mark.parametrize(
    "before",
    [
        "# mine\ntheme = 'manuscript'\n",
        "[memory.'ROOT']\nrules.stale = 'off'\n\n[rules]\nstale = 'off'\n",
        "[memory.'ROOT']\nconventions.fields = ['x']\n",
        "[memory.'ROOT'.conventions]\ntitle = 'key' # why\nfields = []\n",
    ],
)
def test_setting_a_convention_leaves_all_else_in_the_file(wiki: Path, before: str) -> None:
    file = wiki / "config" / "settings.toml"
    file.parent.mkdir()
    before = before.replace("ROOT", str(wiki / "wiki"))
    file.write_text(before)
    assert conventions(wiki, "--set", "title=heading") == 0
    expected = tomllib.loads(before)
    own = expected.setdefault("memory", {}).setdefault(str(wiki / "wiki"), {})
    own.setdefault("conventions", {})["title"] = "heading"
    assert tomllib.loads(file.read_text()) == expected
    others = [line for line in before.splitlines() if "title" not in line]
    assert [line for line in file.read_text().splitlines() if line in others] == others


@pytest.mark.parametrize("text", ["[memory]\n'ROOT' = {rules = {}}\n", "not toml ["])
def test_a_file_that_cannot_be_changed_line_by_line_stays_as_it_is(wiki: Path, text: str) -> None:
    file = wiki / "config" / "settings.toml"
    file.parent.mkdir()
    file.write_text(text := text.replace("ROOT", str(wiki / "wiki")))
    with pytest.raises(ChangeRefused, match="by hand"):
        conventions(wiki, "--set", "title=heading")
    assert file.read_text() == text


def test_folders_that_hold_no_pages_and_raw_sources_are_set(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("drafts/year", "clippings"):
        (wiki / "wiki" / name).mkdir(parents=True)
    given = ("--set", "apart=./drafts/", "--set", "sources=clippings/")
    assert conventions(wiki, *given, "--json") == 0
    shown = {it["name"]: it for it in json.loads(capsys.readouterr().out)["conventions"]}
    assert shown["apart"]["value"] == "drafts/"
    assert shown["sources"]["value"] == "clippings"
    assert {shown[it]["reason"] for it in ("apart", "sources")} == {"set in the settings"}
    assert conventions(wiki, "--set", "apart=", "--set", "sources=learn", "--json") == 0
    shown = {it["name"]: it for it in json.loads(capsys.readouterr().out)["conventions"]}
    assert (shown["apart"]["value"], shown["sources"]["value"]) == ("none", "raw")


@pytest.mark.parametrize(
    "given",
    [
        "apart=pictures",
        "apart=a.md",
        "apart=/",
        "apart=..",
        "apart=.",
        "sources=pictures",
        "sources=../wiki",
        "sources=/",
    ],
)
def test_what_is_no_folder_of_the_memory_is_refused(wiki: Path, given: str) -> None:
    with pytest.raises(WrongUsage, match=given.partition("=")[0]):
        conventions(wiki, "--set", given)


@pytest.mark.parametrize("given", ["titel=file", "title", "title=chapter", "project=src"])
def test_an_unknown_convention_or_value_is_refused(wiki: Path, given: str) -> None:
    with pytest.raises(WrongUsage):
        conventions(wiki, "--set", given)


def test_a_project_that_does_not_exist_is_refused_and_reported(
    wiki: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = wiki / "harbour"
    with pytest.raises(WrongUsage, match="harbour is no folder"):
        conventions(wiki, "--set", f"project={project}")
    assert not (wiki / "config").exists()
    project.mkdir()
    assert conventions(wiki, "--set", f"project={project}") == 0
    assert not capsys.readouterr().err.count("does not exist")
    project.rmdir()
    assert conventions(wiki) == 0
    assert "This folder does not exist: no claim of these notes" in capsys.readouterr().err
    assert conventions(wiki, "--set", "project=learn") == 0
    capsys.readouterr()
    assert conventions(wiki) == 0
    assert not capsys.readouterr().err


def test_a_refused_convention_names_those_that_are_possible(wiki: Path) -> None:
    known = "title, fields, prefixes, apart, sources, project"
    with pytest.raises(WrongUsage, match=f"Known are {known}"):
        conventions(wiki, "--set", "bogus")
    with pytest.raises(WrongUsage, match=r"one of key, heading, file\. `title=learn`"):
        conventions(wiki, "--set", "title=foo")


def test_conventions_are_set_only_with_their_command(wiki: Path) -> None:
    with pytest.raises(WrongUsage, match="config conventions"):
        run(wiki, "show", "--set", "title=file")
