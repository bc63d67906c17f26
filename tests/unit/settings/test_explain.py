from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

from ricordo.settings.keymap import ActionKeys
from ricordo.settings.page import (
    make_effective_toml,
    make_settings_page,
    make_template,
    read_explanations,
)
from ricordo.settings.reader import SettingsNames, read_settings
from ricordo.settings.settings import (
    CurateSettings,
    EngineSettings,
    Settings,
    list_keys,
)
from ricordo.settings.source import SettingsWarning
from ricordo.settings.theme import BaseColors, MeaningColors, ThemeColors

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"
KNOWN = SettingsNames(
    rules={"stale": "warning", "dead-link": "error"},
    thresholds={"stale.retention": 0.5, "oversized-note.bytes": 8192},
    actions=(
        ActionKeys("help", ("question_mark",), frozenset(("main",))),
        ActionKeys("source", ("s", "f2"), frozenset(("main",))),
    ),
    themes=("ricordo-dark", "manuscript"),
)


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == make_settings_page(), (
        "Run: python -m ricordo.settings.page > docs/settings.md"
    )


@pytest.mark.parametrize(
    "table", [Settings, CurateSettings, EngineSettings, ThemeColors, BaseColors, MeaningColors]
)
def test_every_field_is_explained(table: type) -> None:
    assert list(read_explanations(table)) == [field.name for field in fields(cast(Any, table))]


def test_the_shown_settings_are_valid_toml_that_sets_the_same(tmp_path: Path) -> None:
    text = (
        'theme = "manuscript"\n'
        'rules = { stale = "off" }\n'
        "[thresholds]\n"
        "stale.retention = 0.25\n"
        "[keymap]\n"
        'help = ["f1", "h"]\n'
        "[curate]\n"
        "day = 9\n"
        "[engine]\n"
        'use = "command"\n'
        'command = ["ask"]\n'
        '[memory."/a b"]\n'
        'rules.dead-link = "info"\n'
    )
    settings = read(tmp_path, text)[0]
    shown, warnings = read(tmp_path, make_effective_toml(settings, KNOWN, ()))
    assert warnings == []
    assert shown.theme == "manuscript"
    assert shown.rules == {"stale": "off", "dead-link": "error"}
    assert shown.thresholds == {"stale.retention": 0.25, "oversized-note.bytes": 8192}
    assert shown.keymap == {"help": ("f1", "h"), "source": ("s", "f2")}
    assert shown.curate == settings.curate == CurateSettings(day=9)
    assert shown.engine == settings.engine == EngineSettings(use="command", command=("ask",))
    assert shown.memory == settings.memory


def test_what_the_file_sets_is_marked_with_its_line(tmp_path: Path) -> None:
    text = 'theme = "manuscript"\neditor = 1\n[rules]\nstale = "off"\ndead-link = "of"\n'
    (tmp_path / "settings.toml").write_text(text)
    settings, warnings = read_settings(str(tmp_path), KNOWN)
    warnings.append(SettingsWarning("themes/own.toml", 1, "name", "A warning on another file."))
    lines = make_effective_toml(settings, KNOWN, warnings).splitlines()
    assert 'theme = "manuscript"  # set in line 1' in lines
    assert 'editor = ""' in lines
    assert 'stale = "off"  # set in line 4' in lines
    assert 'dead-link = "error"' in lines
    assert lines[:3] == [f"#! {warning}" for warning in warnings]


def test_the_template_names_everything_and_sets_nothing(tmp_path: Path) -> None:
    text = make_template(KNOWN)
    assert read(tmp_path, text) == (Settings(), [])
    assert all(key in text for key in (*list_keys(Settings), *KNOWN.rules, *KNOWN.thresholds))


def test_the_template_without_its_comment_signs_is_what_is_shown() -> None:
    text = "\n".join(
        line.removeprefix("# ") if " = " in line else line
        for line in make_template(KNOWN).splitlines()
        if "rules.stale" not in line
    )
    assert tomllib.loads(text) == tomllib.loads(make_effective_toml(Settings(), KNOWN, ()))


def read(folder: Path, text: str) -> tuple[Settings, list[str]]:
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    settings, warnings = read_settings(str(folder), KNOWN)
    return settings, [str(warning) for warning in warnings]
