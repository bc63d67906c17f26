"""Reading the settings file. It never stops the start: what is fine holds, the rest is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ricordo.settings.command_line import split_command
from ricordo.settings.keymap import read_keymap
from ricordo.settings.known import SettingsNames
from ricordo.settings.settings import (
    CURATE,
    DEFAULT_REVIEW,
    DEFAULT_THEME,
    ENGINE,
    ENGINES,
    LEVELS,
    MOST_CURATE,
    MOST_REVIEW,
    MOST_TOKENS,
    CurateSettings,
    EngineSettings,
    MemorySettings,
    Settings,
    keys_of,
    settings_file,
)
from ricordo.settings.source import Path, SettingsSource, SettingsWarning, read_source

_TABLE = "engine"
_LONGEST = 200
"""Characters of a model's name."""
_MOST_WORDS = 200


def read_engine(source: SettingsSource) -> EngineSettings:
    """Return what the table sets; what in it cannot be used is remarked on, and has its default."""
    table = source.table((_TABLE,))
    source.expect((_TABLE,), keys_of(EngineSettings))
    return EngineSettings(
        use=_use(source, table.get("use", ENGINE.use)),
        model=_model(source, table.get("model", ENGINE.model)),
        server=_server(source, table.get("server", ENGINE.server)),
        command=_command(source, table.get("command", [])),
        **{name: _cap(source, name, table) for name in ("sent", "written", "day", "month")},
    )


def _use(source: SettingsSource, value: Any) -> str:
    if value in ENGINES:
        return str(value)
    word = value if isinstance(value, str) else ""
    source.tell((_TABLE, "use"), f"This has to be one of {', '.join(ENGINES)}.", word, ENGINES)
    return ENGINE.use


def is_model(text: str) -> bool:
    """Say whether a text can be the name of a model."""
    return bool(text.strip()) and text.isprintable() and len(text) <= _LONGEST


def _model(source: SettingsSource, value: Any) -> str:
    if isinstance(value, str) and is_model(value):
        return value.strip()
    source.tell((_TABLE, "model"), "This has to be the name of a model.")
    return ENGINE.model


def _server(source: SettingsSource, value: Any) -> str:
    if value == "" or (isinstance(value, str) and _is_address(value)):
        return value.strip() if value else ""
    message = "This has to be an address such as http://127.0.0.1:11434, without a password."
    source.tell((_TABLE, "server"), message)
    return ENGINE.server


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and "@" not in parts.netloc and port != 0
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _command(source: SettingsSource, value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and len(value) <= _MOST_WORDS
    is_line = is_list and all(isinstance(it, str) and "\0" not in it for it in value)
    if is_line and (not value or value[0].strip()):
        return tuple(value)
    message = 'This has to be a list of words, such as ["claude", "-p"].'
    source.tell((_TABLE, "command"), message)
    return ENGINE.command


def _cap(source: SettingsSource, name: str, table: Any) -> int:
    default: int = getattr(ENGINE, name)
    value = table.get(name, default)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TOKENS:
        return value
    source.tell((_TABLE, name), f"This has to be a whole number, 1 to {MOST_TOKENS:,}.")
    return default


_LARGEST = 1e15
_Value = TypeVar("_Value", str, float)


def read_settings(config: str, known: SettingsNames) -> tuple[Settings, list[SettingsWarning]]:
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


def _theme(source: SettingsSource, themes: Collection[str]) -> str:
    name = source.values.get("theme", DEFAULT_THEME)
    if not isinstance(name, str):
        source.tell(("theme",), "This has to be the name of a theme.")
    elif name in themes or name == DEFAULT_THEME:
        return name
    else:
        source.tell(("theme",), f"There is no theme “{name}”.", name, themes)
    return DEFAULT_THEME


def _editor(source: SettingsSource) -> str:
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


def _review(source: SettingsSource) -> int:
    most = source.values.get("review", DEFAULT_REVIEW)
    if isinstance(most, int) and not isinstance(most, bool) and 1 <= most <= MOST_REVIEW:
        return most
    source.tell(("review",), f"This has to be a whole number, 1 to {MOST_REVIEW:,}.")
    return DEFAULT_REVIEW


def _curate(source: SettingsSource) -> CurateSettings:
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
    """Return what `table` sets of the `known` names, each value as `read` gives it."""
    values: dict[str, _Value] = {}
    for path, name, value in source.leaves(table):
        if name not in known:
            source.tell(path, f"There is no such {noun}.", name, known)
        elif (fine := read(source, path, value)) is not None:
            values[name] = fine
    return values


def _level(source: SettingsSource, path: Path, value: Any) -> str | None:
    if value in LEVELS:
        return str(value)
    word = value if isinstance(value, str) else ""
    source.tell(path, f"This has to be one of {', '.join(LEVELS)}.", word, LEVELS)
    return None


def _number(source: SettingsSource, path: Path, value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # a whole number may be too long for a float; not-a-number is in no range
    if is_number and 0 <= value <= _LARGEST:
        return float(value)
    source.tell(path, "This has to be a number, 0 or more.")
    return None


def _memories(source: SettingsSource, known: SettingsNames) -> Mapping[str, MemorySettings]:
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
