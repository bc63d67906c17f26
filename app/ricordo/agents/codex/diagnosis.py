"""Codex's own set-up: hooks and which of them it trusts, MCP servers, settings (formats: Codex
0.169.0).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import tomli

from ricordo.agents.codex.transcript import read_rollout_header
from ricordo.agents.diagnosis import (
    LARGEST_SETTINGS,
    BrokenFile,
    ConfiguredHook,
    ConfiguredServer,
    PathHolder,
    RepositoryRecord,
    holds_path,
    read_hooks,
    read_object,
    read_servers,
)
from ricordo.agents.transcripts.lines import as_dict, as_dicts, as_text
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.workplace import Workplace
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import normalize_absolute_path, read_json, read_plain_file

_SETTINGS, _HOOKS = "config.toml", "hooks.json"
_CAPITAL = compile_lazily(r"(?<=.)([A-Z])")


def find_hooks(home: str, places: Iterable[Workplace]) -> Iterator[ConfiguredHook]:
    """Yield the hooks of Codex, whose folder is `home`, in `places`, without those that are off. It
    drops their arguments, and skips those that its settings do not name as trusted.
    """
    own, _ = _read_settings(os.path.join(home, _SETTINGS))
    if as_dict(own.get("features")).get("hooks") is False:
        return
    states = as_dict(as_dict(own.get("hooks")).get("state"))
    for folder in _list_folders(home, places):
        path = os.path.join(folder, _SETTINGS)
        for file, table in (
            (os.path.join(folder, _HOOKS), read_object(os.path.join(folder, _HOOKS))),
            (path, _read_settings(path)[0]),
        ):
            keys = _list_keys(table, file)
            for key, hook in zip(keys, read_hooks(table, file, takes_arguments=False), strict=True):
                real = f"{os.path.realpath(file)}{key.removeprefix(file)}"
                state = as_dict(states.get(key)) or as_dict(states.get(real))
                if state.get("enabled") is not False:
                    yield hook._replace(is_trusted=bool(as_text(state.get("trusted_hash"))))


def _list_keys(table: dict[str, Any], file: str) -> Iterator[str]:
    """Yield the names of the hooks in a file, by which the settings say which are trusted."""
    for event, groups in as_dict(table.get("hooks")).items():
        name = _CAPITAL.sub(r"_\1", event).lower()
        for number, group in enumerate(as_dicts(groups)):
            for at, hook in enumerate(as_dicts(group.get("hooks"))):
                if as_text(hook.get("command")):
                    yield f"{file}:{name}:{number}:{at}"


def find_servers(home: str, places: Iterable[Workplace]) -> Iterator[ConfiguredServer]:
    """Yield the MCP servers of Codex, whose folder is `home`, in `places`."""
    for folder in _list_folders(home, places):
        path = os.path.join(folder, _SETTINGS)
        table = {"mcpServers": _read_settings(path)[0].get("mcp_servers")}
        for server in read_servers(table, path):
            yield server._replace(is_of_project=folder != home)


def find_broken_settings(home: str, places: Iterable[Workplace]) -> Iterator[BrokenFile]:
    """Yield the settings files that Codex cannot read."""
    for folder in _list_folders(home, places):
        for name, read in ((_SETTINGS, _read_settings), (_HOOKS, _read_hooks_file)):
            path = os.path.join(folder, name)
            if error := read(path)[1]:
                yield BrokenFile(path, error)


def find_repository_records(rollouts: Iterable[TranscriptSource]) -> Iterator[RepositoryRecord]:
    """Yield what rollouts note of the repositories in which they began."""
    for rollout in rollouts:
        header = read_rollout_header(rollout.path)
        noted = as_dict(header.get("git"))
        names = ("commit_hash", "repository_url", "branch")
        commit, remote, branch = (as_text(noted.get(name)) for name in names)
        if cwd := normalize_absolute_path(header.get("cwd")):
            yield RepositoryRecord(cwd, commit, remote, branch)


def find_path_holders(
    home: str, memory: str, rollouts: Iterable[TranscriptSource], project: str
) -> Iterator[PathHolder]:
    """Yield what holds the path of a project in the folder of Codex, `home`."""
    settings = os.path.join(home, _SETTINGS)
    if holds_path(settings, project):
        yield PathHolder(settings, "settings of Codex")
    pages = (os.path.join(above, name) for above, _, names in os.walk(memory) for name in names)
    if any(page.endswith(".md") and holds_path(page, project) for page in pages):
        yield PathHolder(memory, "memories of Codex")
    begun = (normalize_absolute_path(read_rollout_header(it.path).get("cwd")) for it in rollouts)
    inside = os.path.join(project, "")
    if any(cwd == project or cwd.startswith(inside) for cwd in begun):
        yield PathHolder(os.path.join(home, "sessions"), "rollouts of Codex")


def _list_folders(home: str, places: Iterable[Workplace]) -> list[str]:
    """Return the folders with settings, the user's first."""
    return list(dict.fromkeys((home, *(os.path.join(it.top, ".codex") for it in places))))


def _read_hooks_file(path: str) -> tuple[object, str]:
    return read_json(path, LARGEST_SETTINGS)


def _read_settings(path: str) -> tuple[dict[str, Any], str]:
    """Return the table in a settings file, and an error; empty ones if it is not there."""
    raw = read_plain_file(path, LARGEST_SETTINGS, follow=True) or b""
    try:
        return tomli.loads(raw.decode("utf-8")), ""
    except UnicodeDecodeError:
        return {}, "is not UTF-8"
    except (tomli.TOMLDecodeError, RecursionError) as error:
        return {}, f"is not TOML: {error}"
