"""Settings, read with the names that they may use: rules, thresholds, actions and themes.

Most users have none, so what reads them is imported when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ricordo.resources import home_directory, themes_directory
from ricordo.services.workspace.environment import Environment

if TYPE_CHECKING:
    from ricordo.lint.finding import Severity
    from ricordo.settings.keymap import ActionKeys
    from ricordo.settings.reader import SettingsNames
    from ricordo.settings.settings import Settings
    from ricordo.settings.source import SettingsWarning
    from ricordo.settings.theme import ThemeColors


def has_settings(environment: Environment) -> bool:
    """Return whether the user has settings or themes, usable or not."""
    names = ("settings.toml", "themes")
    return any(os.path.lexists(os.path.join(environment.config, name)) for name in names)


def load_settings(
    environment: Environment, actions: Sequence[ActionKeys] | None = None
) -> tuple[Settings, list[SettingsWarning]]:
    """Return the user's settings, and warnings for settings and themes that cannot be used.

    Without `actions` the keymap is not read.
    """
    from ricordo.settings.settings import Settings, find_settings_file

    if not has_settings(environment):
        return Settings(), []
    themes, theme_warnings = load_themes(environment)
    if not os.path.lexists(find_settings_file(environment.config)):
        # nothing has to be checked, so the rules need not be loaded before the first paint
        return Settings(), theme_warnings
    from ricordo.settings.reader import read_settings

    known = list_known_names(environment, actions, themes)
    settings, warnings = read_settings(environment.config, known)
    return settings, warnings + theme_warnings


def load_themes(
    environment: Environment,
) -> tuple[Mapping[str, ThemeColors], list[SettingsWarning]]:
    """Return the bundled and the user's themes by name, and warnings for unusable ones."""
    from ricordo.settings.theme import read_themes

    return read_themes((themes_directory(), os.path.join(environment.config, "themes")))


def list_known_names(
    environment: Environment,
    actions: Sequence[ActionKeys] | None,
    themes: Collection[str] = (),
) -> SettingsNames:
    """Return all names that settings may use."""
    from ricordo.lint.rule import DEFAULT_THRESHOLDS, LARGEST_THRESHOLDS, load_rules
    from ricordo.settings.reader import SettingsNames

    return SettingsNames(
        rules={rule.name: rule.severity.word for rule in load_rules().values()},
        thresholds=DEFAULT_THRESHOLDS,
        largest=LARGEST_THRESHOLDS,
        actions=None if actions is None else tuple(actions),
        themes=themes,
        home=home_directory(environment.environ),
    )


def get_severities(settings: Settings, root: str) -> Mapping[str, Severity | None]:
    """Return the severity per rule that the user set for the memory at `root`; None is off."""
    from ricordo.lint.finding import SEVERITY_WORDS

    words = settings.for_memory(root).rules
    return {rule: SEVERITY_WORDS.get(word) for rule, word in words.items()}


def get_thresholds(settings: Settings, root: str) -> Mapping[str, float]:
    """Return every threshold in effect for the memory at `root`."""
    from ricordo.lint.rule import DEFAULT_THRESHOLDS

    return {**DEFAULT_THRESHOLDS, **settings.for_memory(root).thresholds}
