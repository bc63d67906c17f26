"""Reading the settings file. It never stops the start: what cannot be used has its default, and a
warning names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar

from ricordo.settings.keymap import ActionKeys, read_keymap
from ricordo.settings.settings import (
    DEFAULT_THEME,
    LEVELS,
    ConventionSettings,
    CurateSettings,
    EngineSettings,
    HookSettings,
    MemorySettings,
    Settings,
    SettingsTable,
    find_settings_file,
    list_checks,
    list_keys,
)
from ricordo.settings.source import Path, SettingsSource, SettingsWarning, read_source
from ricordo.settings.values import ValueCheck, one_of

_LARGEST = 1e15
_Value = TypeVar("_Value", str, float)


class SettingsNames(NamedTuple):
    """The names that settings may use, with their defaults. The caller passes them in: this package
    knows no rule and no action.
    """

    rules: Mapping[str, str] = {}
    """Rules, with the default severity of each."""
    thresholds: Mapping[str, float] = {}
    actions: tuple[ActionKeys, ...] | None = None
    """None without a screen; the keymap is not read then."""
    themes: Collection[str] = ()
    home: str = ""
    """The directory that a leading `~` means."""


def read_settings(config: str, known: SettingsNames) -> tuple[Settings, list[SettingsWarning]]:
    """Return what `<config>/settings.toml` sets, and what in it could not be used."""
    source = read_source(find_settings_file(config))
    source.check_keys((), list_keys(Settings))
    settings = Settings(
        theme=_theme(source, known.themes),
        **_read_values(source, (), Settings),
        keymap={} if known.actions is None else read_keymap(source, known.actions),
        rules=_rules(source, (), known.rules),
        thresholds=_thresholds(source, (), known.thresholds),
        curate=CurateSettings(**_read_values(source, ("curate",), CurateSettings)),
        engine=read_engine(source),
        hook=HookSettings(**_read_values(source, ("hook",), HookSettings)),
        memory=_memories(source, known),
        lines=source.lines,
    )
    return settings, source.warnings


def read_engine(source: SettingsSource) -> EngineSettings:
    """Return what the table `engine` sets; a key that cannot be used has its default."""
    return EngineSettings(**_read_values(source, ("engine",), EngineSettings))


def _read_values(source: SettingsSource, path: Path, table: SettingsTable) -> dict[str, Any]:
    """Return the valid values of the keys of `table` that have one value and are set."""
    given = source.table(path)
    if path:
        source.check_keys(path, list_keys(table))
    values = {
        key: _read_value(source, (*path, key), given[key], check)
        for key, check in list_checks(table).items()
        if key in given
    }
    return {key: value for key, value in values.items() if value is not None}


def _read_value(source: SettingsSource, path: Path, value: Any, check: ValueCheck) -> Any:
    valid = check.read(value)
    if valid is None:
        word = value if isinstance(value, str) else ""
        source.warn(path, check.message, word, check.words)
    return valid


def _theme(source: SettingsSource, themes: Collection[str]) -> str:
    name = source.values.get("theme", DEFAULT_THEME)
    if not isinstance(name, str):
        source.warn(("theme",), "This has to be the name of a theme.")
    elif name in themes or name == DEFAULT_THEME:
        return name
    else:
        source.warn(("theme",), f"There is no theme “{name}”.", name, themes)
    return DEFAULT_THEME


def _rules(source: SettingsSource, path: Path, known: Collection[str]) -> Mapping[str, str]:
    return _named(source, (*path, "rules"), "rule", known, _level)


def _thresholds(source: SettingsSource, path: Path, known: Collection[str]) -> Mapping[str, float]:
    return _named(source, (*path, "thresholds"), "threshold", known, _number)


def _named(
    source: SettingsSource,
    table: Path,
    noun: str,
    known: Collection[str],
    read: Callable[[SettingsSource, Path, Any], _Value | None],
) -> Mapping[str, _Value]:
    """Return the values that `table` sets for the `known` names, each as `read` returns it."""
    values: dict[str, _Value] = {}
    for path, name, value in source.iterate_leaves(table):
        if name not in known:
            source.warn(path, f"There is no such {noun}.", name, known)
        elif (valid := read(source, path, value)) is not None:
            values[name] = valid
    return values


_LEVEL = one_of(LEVELS)


def _level(source: SettingsSource, path: Path, value: Any) -> str | None:
    level: str | None = _read_value(source, path, value, _LEVEL)
    return level


def _number(source: SettingsSource, path: Path, value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # a whole number may be too long for a float; not-a-number is in no range
    if is_number and 0 <= value <= _LARGEST:
        return float(value)
    source.warn(path, "This has to be a number, 0 or more.")
    return None


def _memories(source: SettingsSource, known: SettingsNames) -> Mapping[str, MemorySettings]:
    memories: dict[str, MemorySettings] = {}
    for written in source.table(("memory",)):
        path = ("memory", written)
        folder = _folder(written, known.home)
        if not folder:
            source.warn(path, "This has to be an absolute path, or one that begins with ~.")
            continue
        source.check_keys(path, list_keys(MemorySettings))
        memories[folder] = MemorySettings(
            _rules(source, path, known.rules),
            _thresholds(source, path, known.thresholds),
            _conventions(source, (*path, "conventions"), known.home),
        )
    return memories


def _conventions(source: SettingsSource, path: Path, home: str) -> ConventionSettings:
    values = _read_values(source, path, ConventionSettings)
    if values.get("project"):
        values["project"] = project = _folder(values["project"], home)
        if not os.path.isdir(project):
            message = "This folder does not exist: no claim of these notes is checked."
            source.warn((*path, "project"), message)
    return ConventionSettings(**values)


def _folder(written: str, home: str) -> str:
    """Return the absolute path that `written` means; "" if it is none."""
    if written == "~" or written.startswith("~/"):
        written = home + written[1:]
    fits = os.path.isabs(written) and "\0" not in written
    return os.path.normpath(written) if fits else ""
