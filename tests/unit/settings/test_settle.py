from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.lint.finding import Severity
from ricordo.lint.rule import DEFAULT_THRESHOLDS, load_rules
from ricordo.resources import themes_directory
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.settings import (
    get_severities,
    get_thresholds,
    load_settings,
    load_themes,
)
from ricordo.settings.keymap import ActionKeys, find_conflicts
from ricordo.settings.settings import Settings

ACTIONS = (ActionKeys("help", ("question_mark",), frozenset(("index",))),)


def make_environment(folder: Path, text: str = "") -> Environment:
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    home = str(folder)
    return Environment(home, {"HOME": home}, home, home, config=home)


def test_every_rule_and_threshold_can_be_set(tmp_path: Path) -> None:
    rules = "\n".join(f'{name} = "info"' for name in load_rules())
    numbers = "\n".join(f"{name} = 1" for name in DEFAULT_THRESHOLDS)
    environment = make_environment(tmp_path, f"[rules]\n{rules}\n[thresholds]\n{numbers}\n")
    settings, warnings = load_settings(environment)
    assert warnings == []
    assert get_severities(settings, "/any") == dict.fromkeys(load_rules(), Severity.INFO)
    assert get_thresholds(settings, "/any") == dict.fromkeys(DEFAULT_THRESHOLDS, 1)


@pytest.mark.parametrize(
    ("threshold", "most"),
    [("index-near-budget.share", 1), ("lost-correction.likeness", 100), ("stale.wiki", 1)],
)
def test_a_share_is_not_more_than_all(tmp_path: Path, threshold: str, most: int) -> None:
    environment = make_environment(tmp_path, f"[thresholds]\n{threshold} = {most + 0.5}\n")
    settings, (warning,) = load_settings(environment)
    assert f"{threshold}: This has to be a number, 0 to {most}." in str(warning)
    assert get_thresholds(settings, "/any") == DEFAULT_THRESHOLDS


def test_off_is_no_severity_and_thresholds_have_their_defaults(tmp_path: Path) -> None:
    environment = make_environment(tmp_path, '[memory."~/wiki"]\nrules.dead-link = "off"\n')
    settings, _ = load_settings(environment)
    assert get_severities(settings, f"{tmp_path}/wiki") == {"dead-link": None}
    assert get_severities(settings, f"{tmp_path}/other") == {}
    assert get_thresholds(settings, "/any") == DEFAULT_THRESHOLDS


def test_a_theme_of_ones_own_can_be_chosen(tmp_path: Path) -> None:
    shipped = Path(themes_directory(), "manuscript.toml").read_text(encoding="utf-8")
    (tmp_path / "themes").mkdir()
    own = tmp_path / "themes" / "own.toml"
    own.write_text(shipped.replace('"manuscript"', '"own"'), encoding="utf-8")
    environment = make_environment(tmp_path, 'theme = "own"\n')
    assert load_settings(environment) == (Settings(theme="own"), [])
    assert "own" in load_themes(environment)[0]


def test_a_broken_theme_gives_a_warning(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "own.toml").write_text("name = 1")
    settings, warnings = load_settings(make_environment(tmp_path))
    assert settings == Settings()
    assert {warning.file for warning in warnings} == {f"{tmp_path}/themes/own.toml"}


def test_the_keymap_is_judged_by_the_actions_that_are_handed_in(tmp_path: Path) -> None:
    environment = make_environment(tmp_path, '[keymap]\nhelp = "f1"\nhelpp = "f2"\n')
    settings, warnings = load_settings(environment, ACTIONS)
    assert settings.keymap == {"help": ("f1",)}
    assert [warning.nearest for warning in warnings] == ["help"]
    assert load_settings(environment) == (Settings(), [])


def test_the_default_keys_of_the_screen_do_not_conflict() -> None:
    from ricordo.tui.actions.registry import list_known_actions

    assert list(find_conflicts(list_known_actions(), {})) == []
