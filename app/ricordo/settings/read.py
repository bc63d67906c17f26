"""Reading the settings file. It never stops the start: what is fine holds, the rest is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from ricordo.settings.command_line import split_command
from ricordo.settings.key_lines import Path
from ricordo.settings.keymap import read_keymap
from ricordo.settings.known import Known
from ricordo.settings.read_engine import read_engine
from ricordo.settings.remark import Remark
from ricordo.settings.settings import (
    CURATE,
    DEFAULT_REVIEW,
    DEFAULT_THEME,
    LEVELS,
    MOST_CURATE,
    MOST_REVIEW,
    CurateSettings,
    MemorySettings,
    Settings,
    keys_of,
    settings_file,
)
from ricordo.settings.source import Source, read_source

_LARGEST = 1e15
_Value = TypeVar("_Value", str, float)


def read_settings(config: str, known: Known) -> tuple[Settings, list[Remark]]:
    """Return what `<config>/settings.toml` sets, and what in it could not be used."""
    source = read_source(settings_file(config))
    source.expect((), keys_of(Settings))
    settings = Settings(
        theme=_theme(source, known.themes),
        editor=_editor(source),
        review=_review(source),
        keymap={} if known.actions is None else read_keymap(source, known.actions),
        rules=_rules(source, (), known.rules),
        thresholds=_thresholds(source, (), known.thresholds),
        curate=_curate(source),
        engine=read_engine(source),
        memory=_memories(source, known),
        lines=source.lines,
    )
    return settings, source.remarks


def _theme(source: Source, themes: Collection[str]) -> str:
    name = source.values.get("theme", DEFAULT_THEME)
    if not isinstance(name, str):
        source.tell(("theme",), "This has to be the name of a theme.")
    elif name in themes or name == DEFAULT_THEME:
        return name
    else:
        source.tell(("theme",), f"There is no theme “{name}”.", name, themes)
    return DEFAULT_THEME


def _editor(source: Source) -> str:
    command = source.values.get("editor", "")
    if isinstance(command, str) and _is_command(command):
        return command.strip()
    source.tell(("editor",), "This has to be a command; a quote may be left open.")
    return ""


def _is_command(text: str) -> bool:
    try:
        split_command(text)
    except ValueError:
        return False
    return "\0" not in text


def _review(source: Source) -> int:
    most = source.values.get("review", DEFAULT_REVIEW)
    if isinstance(most, int) and not isinstance(most, bool) and 1 <= most <= MOST_REVIEW:
        return most
    source.tell(("review",), f"This has to be a whole number, 1 to {MOST_REVIEW:,}.")
    return DEFAULT_REVIEW


def _curate(source: Source) -> CurateSettings:
    table = source.table(("curate",))
    source.expect(("curate",), keys_of(CurateSettings))
    numbers: dict[str, int] = {}
    for name in keys_of(CurateSettings):
        value = table.get(name, getattr(CURATE, name))
        least = 0 if name == "quiet" else 1
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if is_whole and least <= value <= MOST_CURATE:
            numbers[name] = value
        else:
            message = f"This has to be a whole number, {least} to {MOST_CURATE:,}."
            source.tell(("curate", name), message)
    return CurateSettings(**numbers)


def _rules(source: Source, path: Path, known: Collection[str]) -> Mapping[str, str]:
    return _named(source, (*path, "rules"), "rule", known, _level)


def _thresholds(source: Source, path: Path, known: Collection[str]) -> Mapping[str, float]:
    return _named(source, (*path, "thresholds"), "threshold", known, _number)


def _named(
    source: Source,
    table: Path,
    noun: str,
    known: Collection[str],
    read: Callable[[Source, Path, Any], _Value | None],
) -> Mapping[str, _Value]:
    """Return what `table` sets of the `known` names, each value as `read` gives it."""
    values: dict[str, _Value] = {}
    for path, name, value in source.leaves(table):
        if name not in known:
            source.tell(path, f"There is no such {noun}.", name, known)
        elif (fine := read(source, path, value)) is not None:
            values[name] = fine
    return values


def _level(source: Source, path: Path, value: Any) -> str | None:
    if value in LEVELS:
        return str(value)
    word = value if isinstance(value, str) else ""
    source.tell(path, f"This has to be one of {', '.join(LEVELS)}.", word, LEVELS)
    return None


def _number(source: Source, path: Path, value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # a whole number may be too long for a float; not-a-number is in no range
    if is_number and 0 <= value <= _LARGEST:
        return float(value)
    source.tell(path, "This has to be a number, 0 or more.")
    return None


def _memories(source: Source, known: Known) -> Mapping[str, MemorySettings]:
    memories: dict[str, MemorySettings] = {}
    for written in source.table(("memory",)):
        path = ("memory", written)
        folder = _folder(written, known.home)
        if not folder:
            source.tell(path, "This has to be an absolute path, or one that begins with ~.")
            continue
        source.expect(path, keys_of(MemorySettings))
        memories[folder] = MemorySettings(
            _rules(source, path, known.rules), _thresholds(source, path, known.thresholds)
        )
    return memories


def _folder(written: str, home: str) -> str:
    """Return the absolute path that `written` means; "" where it means none."""
    if written == "~" or written.startswith("~/"):
        written = home + written[1:]
    fits = os.path.isabs(written) and "\0" not in written
    return os.path.normpath(written) if fits else ""
