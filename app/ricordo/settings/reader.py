"""Reading the settings file. It never stops the start: what cannot be used has its default, and a
warning names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

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
from ricordo.settings.values import ValueCheck, number_up_to, one_of


class SettingsNames(NamedTuple):
    """The names that settings may use, with their defaults. The caller passes them in: this package
    knows no rule and no action.
    """

    rules: Mapping[str, str] = {}
    """Rules, with the default severity of each."""
    thresholds: Mapping[str, float] = {}
    largest: Mapping[str, float] = {}
    """The largest values of thresholds that are shares."""
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
        thresholds=_thresholds(source, (), known),
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
    return _named(source, (*path, "rules"), "rule", known, lambda _: _LEVEL)


def _thresholds(source: SettingsSource, path: Path, known: SettingsNames) -> Mapping[str, float]:
    def get_check(name: str) -> ValueCheck:
        return number_up_to(known.largest.get(name))

    return _named(source, (*path, "thresholds"), "threshold", known.thresholds, get_check)


def _named(
    source: SettingsSource,
    table: Path,
    noun: str,
    known: Collection[str],
    get_check: Callable[[str], ValueCheck],
) -> dict[str, Any]:
    """Return the valid values that `table` sets for the `known` names."""
    values: dict[str, Any] = {}
    for path, name, value in source.iterate_leaves(table):
        if name not in known:
            source.warn(path, f"There is no such {noun}.", name, known)
        elif (valid := _read_value(source, path, value, get_check(name))) is not None:
            values[name] = valid
    return values


_LEVEL = one_of(LEVELS)


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
            _thresholds(source, path, known),
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
