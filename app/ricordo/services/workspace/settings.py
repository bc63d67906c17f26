"""Settings with all names that they may use: rules, thresholds, actions and themes."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from ricordo.lint.finding import SEVERITY_WORDS, Severity
from ricordo.lint.rule import DEFAULT_THRESHOLDS, all_rules
from ricordo.resources import home_directory, themes_directory
from ricordo.services.workspace.environment import Environment
from ricordo.settings.known import KnownAction, SettingsNames
from ricordo.settings.reader import read_settings
from ricordo.settings.settings import Settings, settings_file
from ricordo.settings.source import SettingsWarning
from ricordo.settings.theme import ThemeColors, read_themes


def load_settings(
    surroundings: Environment, actions: Sequence[KnownAction] | None = None
) -> tuple[Settings, list[SettingsWarning]]:
    """Return what the person has set, and what in settings and themes could not be used.

    Without `actions` the keymap is not read.
    """
    themes, theme_remarks = load_themes(surroundings)
    if not os.path.lexists(settings_file(surroundings.config)):
        # nothing has to be checked, so the rules need not be loaded before the first paint
        return Settings(), theme_remarks
    known = known_names(surroundings, actions, themes)
    settings, remarks = read_settings(surroundings.config, known)
    return settings, remarks + theme_remarks


def load_themes(
    surroundings: Environment,
) -> tuple[Mapping[str, ThemeColors], list[SettingsWarning]]:
    """Return the themes that ship with Ricordo and the person's own, by name."""
    return read_themes((themes_directory(), os.path.join(surroundings.config, "themes")))


def known_names(
    surroundings: Environment,
    actions: Sequence[KnownAction] | None,
    themes: Collection[str] = (),
) -> SettingsNames:
    """Return every name that settings may use."""
    return SettingsNames(
        rules={rule.name: rule.severity.word for rule in all_rules().values()},
        thresholds=DEFAULT_THRESHOLDS,
        actions=None if actions is None else tuple(actions),
        themes=themes,
        home=home_directory(surroundings.environ),
    )


def severities(settings: Settings, root: str) -> Mapping[str, Severity | None]:
    """Return the severities that the person has set for the memory at `root`; None is off."""
    own = settings.for_memory(root).rules
    return {rule: SEVERITY_WORDS.get(word) for rule, word in own.items()}


def thresholds(settings: Settings, root: str) -> Mapping[str, float]:
    """Return every threshold as it holds for the memory at `root`."""
    return {**DEFAULT_THRESHOLDS, **settings.for_memory(root).thresholds}
