"""Claude Code's own set-up: folders of projects, settings, hooks and what they cost (formats:
Claude Code 2.1.330).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from ricordo.agents.claude.folder import (
    LONGEST_SLUG,
    MANAGED_SETTINGS,
    MEMORY_KEY,
    Installation,
    make_slug,
)
from ricordo.agents.claude.location import find_directories, list_project_folders
from ricordo.agents.claude.transcript import list_transcripts, read_session_start
from ricordo.agents.diagnosis import (
    LARGEST_SETTINGS,
    BrokenFile,
    ConfiguredHook,
    ConfiguredServer,
    FolderSession,
    HookRun,
    MemorySource,
    PathHolder,
    ProjectFolder,
    RepositoryRecord,
    SettingInEffect,
    as_texts,
    holds_path,
    read_hooks,
    read_object,
    read_servers,
)
from ricordo.agents.transcripts.lines import as_dict, as_dicts, as_text, parse_object, parse_text
from ricordo.agents.workplace import Workplace
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import (
    list_subfolders,
    normalize_absolute_path,
    read_json,
    read_plain_file,
)

MOST_SESSIONS = 200
"""Sessions of one folder that are looked at, the newest ones."""
DREAMING = "autoDreamEnabled"
_SWITCH = "autoMemoryEnabled"
_PROJECT = compile_lazily(rb'"project":\s*("(?:[^"\\]|\\.)*")')
_TIMED = b'"durationMs"'
_PLUGINS = "skills"
"""The folder whose folders are loaded as plugins."""


def find_project_folders(claude: Installation) -> list[ProjectFolder]:
    """Return the folders of projects with what is known of their sessions; where the environment
    names another directory, also those in `~/.claude`, which are not read any more.
    """
    named: dict[str, list[str]] = {}
    for project in find_projects(claude):
        named.setdefault(_cut_slug(project), []).append(project)
    usual = Installation(claude.home, os.path.join(claude.home, ".claude"))
    is_elsewhere = os.path.realpath(usual.config) != os.path.realpath(claude.config)
    paths = [it for at in (claude, usual)[: 1 + is_elsewhere] for it in list_project_folders(at)]
    alike = Counter((os.path.dirname(it), _cut_name(it)) for it in paths)
    return [
        _read_folder(path, named, is_alone=alike[os.path.dirname(path), _cut_name(path)] == 1)
        for path in paths
    ]


def _cut_slug(path: str) -> str:
    return make_slug(path)[:LONGEST_SLUG]


def _cut_name(path: str) -> str:
    return os.path.basename(path)[:LONGEST_SLUG]


def _read_folder(path: str, named: Mapping[str, Sequence[str]], is_alone: bool) -> ProjectFolder:
    """Return a folder; `named` are the recorded projects by the names of their folders, and
    `is_alone` is whether no other folder has the same name up to where long ones are cut.
    """
    newest = sorted(list_transcripts(path), reverse=True)[:MOST_SESSIONS]
    sessions = tuple(FolderSession(file, *read_session_start(file)) for _, file in newest)
    folder = ProjectFolder(path, os.path.join(path, "memory"), sessions)
    name = _cut_name(path)
    if name != folder.name:
        # the names of several projects may be cut to this one: its sessions show whose it is
        owners = [it for it in folder.cwds if _cut_slug(it) == name]
        known = named.get(name, ()) or tuple(find_directories(name))
        is_known = is_alone and len(known) == 1
        return folder._replace(owners=tuple(owners or (known if is_known else ())))
    wide = (str(it) for cwd in folder.cwds for it in (cwd, *PurePath(cwd).parents))
    owners = [it for it in (*wide, *named.get(name, ())) if make_slug(it) == name]
    if not any(map(os.path.isdir, owners)):
        owners += find_directories(name)
    return folder._replace(owners=tuple(dict.fromkeys(owners)))


def find_projects(claude: Installation) -> list[str]:
    """Return the directories that its record of projects and its history of prompts name."""
    raw = read_plain_file(_find_history(claude), LARGEST_SETTINGS) or b""
    prompted = {parse_text(text) for text in set(_PROJECT.findall(raw))}
    recorded = as_dict(_read_record(claude).get("projects"))
    return [path for path in dict.fromkeys((*recorded, *sorted(prompted))) if path[:1] == "/"]


def _find_history(claude: Installation) -> str:
    return os.path.join(claude.config, "history.jsonl")


def _read_record(claude: Installation) -> dict[str, Any]:
    return read_object(_find_record(claude))


def _find_record(claude: Installation) -> str:
    folder = claude.config if claude.is_config_set else claude.home
    return os.path.join(folder, ".claude.json")


def _list_settings(claude: Installation, place: Workplace | None) -> Iterator[tuple[str, str]]:
    """Yield the settings files of a workplace, or those for all, each with whose they are."""
    for path in MANAGED_SETTINGS:
        yield path, "managed"
    user = os.path.join(claude.config, "settings.json")
    yield user, "user"
    directories = dict.fromkeys((place.directory, place.top, place.root)) if place else ()
    for directory in directories:
        for name, scope in (("settings.local.json", "local"), ("settings.json", "project")):
            path = os.path.join(directory, ".claude", name)
            if path != user:
                yield path, scope


def find_memory_sources(claude: Installation, place: Workplace) -> list[MemorySource]:
    """Return the settings files of a workplace that name a directory for its memory."""
    sources: list[MemorySource] = []
    for path, scope in _list_settings(claude, place):
        value = read_object(path).get(MEMORY_KEY)
        if value is not None:
            text = said = as_text(value)
            if text.startswith("~/"):
                text = os.path.join(claude.home, text[2:].lstrip("/"))
            sources.append(MemorySource(path, scope, normalize_absolute_path(text), said))
    return sources


def find_settings_in_effect(
    claude: Installation, places: Iterable[Workplace]
) -> list[SettingInEffect]:
    """Return the settings that let the agent rewrite memories in the background."""
    files = dict.fromkeys(
        path for place in (None, *places) for path, _ in _list_settings(claude, place)
    )
    return [
        SettingInEffect(DREAMING, path) for path in files if read_object(path).get(DREAMING) is True
    ]


def find_memory_switch(claude: Installation, place: Workplace) -> SettingInEffect | None:
    """Return the setting that turns the memory of a workplace off; None where it is on. The first
    file that has it decides.
    """
    own = os.path.join(claude.config, "settings.json")
    files = [(path, scope) for path, scope in _list_settings(claude, place) if path != own]
    order = ("managed", "local", "project")
    for path, _ in (*sorted(files, key=lambda it: order.index(it[1])), (own, "user")):
        if (value := read_object(path).get(_SWITCH)) is not None:
            return SettingInEffect(_SWITCH, path) if value is False else None
    return None


def find_hooks(claude: Installation, places: Iterable[Workplace]) -> list[ConfiguredHook]:
    """Return the hooks of all settings and of the plugins in its folder."""
    files = dict.fromkeys(
        path for place in (None, *places) for path, _ in _list_settings(claude, place)
    )
    for folder in list_subfolders(os.path.join(claude.config, _PLUGINS)):
        files[os.path.join(folder, "hooks", "hooks.json")] = None
    return [hook for path in files for hook in read_hooks(read_object(path), path)]


def find_broken_settings(claude: Installation, places: Iterable[Workplace]) -> list[BrokenFile]:
    """Return the settings files that are no JSON, which counts as if they were not there."""
    files = dict.fromkeys(
        path for place in (None, *places) for path, _ in _list_settings(claude, place)
    )
    errors = ((path, read_json(path, LARGEST_SETTINGS)[1]) for path in files)
    return [BrokenFile(path, error) for path, error in errors if error]


def find_servers(claude: Installation, places: Iterable[Workplace]) -> list[ConfiguredServer]:
    """Return the MCP servers of its record, of projects, and of the plugins in its folder."""
    record = _read_record(claude)
    servers = [*read_servers(record, _find_record(claude))]
    for place in places:
        recorded = as_dict(as_dict(record.get("projects")).get(place.root))
        servers += read_servers(recorded, _find_record(claude))
        file = os.path.join(place.root, ".mcp.json")
        disabled = {
            name
            for table in (recorded, *map(read_object, _list_project_settings(place)))
            for name in as_texts(table.get("disabledMcpjsonServers"))
        }
        servers += (
            it._replace(is_of_project=True)
            for it in read_servers(read_object(file), file)
            if it.name not in disabled
        )
    for folder in list_subfolders(os.path.join(claude.config, _PLUGINS)):
        file = os.path.join(folder, ".mcp.json")
        servers += read_servers(read_object(file), file)
    return list(dict.fromkeys(servers))


def _list_project_settings(place: Workplace) -> Iterator[str]:
    for name in ("settings.local.json", "settings.json"):
        yield os.path.join(place.root, ".claude", name)


def read_hook_runs(path: str) -> Iterator[HookRun]:
    """Yield the runs of hooks in a transcript, those that answered a prompt or a tool first where
    one line has several.
    """
    raw = read_plain_file(path, LARGEST_SETTINGS) or b""
    for line in raw.split(b"\n"):
        if _TIMED not in line:
            continue
        entry = parse_object(line) or {}
        of_hook = as_dict(entry.get("attachment"))
        if run := _make_run(as_text(of_hook.get("hookEvent")), of_hook):
            yield run
        if entry.get("subtype") == "stop_hook_summary":
            for info in as_dicts(entry.get("hookInfos")):
                if run := _make_run("Stop", info):
                    yield run


def _make_run(event: str, fields: dict[str, Any]) -> HookRun | None:
    command, milliseconds = as_text(fields.get("command")), fields.get("durationMs")
    if not (event and command and isinstance(milliseconds, int | float)):
        return None
    code = fields.get("exitCode")
    exit_code = code if isinstance(code, int) else 0
    error = as_text(fields.get("stderr"))
    return HookRun(event, command, max(0, int(milliseconds)), exit_code, error)


def find_repository_records(claude: Installation) -> list[RepositoryRecord]:
    """Return the directories in which it found clones of repositories of GitHub."""
    named = as_dict(_read_record(claude).get("githubRepoPaths"))
    return [
        RepositoryRecord(path, remote=f"github.com/{name}".lower())
        for name, paths in named.items()
        for path in as_texts(paths)
    ]


def find_path_holders(claude: Installation, project: str) -> list[PathHolder]:
    """Return what holds the path of a project: none of it is changed when a memory is moved."""
    config = claude.config
    return [
        PathHolder(path, about)
        for path, about in (
            (os.path.join(config, "projects", make_slug(project)), "transcripts"),
            *_list_files_with_paths(claude),
        )
        if (os.path.isdir(path) and about == "transcripts") or holds_path(path, project)
    ]


def _list_files_with_paths(claude: Installation) -> Iterator[tuple[str, str]]:
    config = claude.config
    yield _find_history(claude), "history of prompts"
    yield _find_record(claude), "record of projects"
    for name in sorted(_list_names(os.path.join(config, "sessions"))):
        yield os.path.join(config, "sessions", name), "running session"
    for folder in list_subfolders(os.path.join(config, "jobs")):
        yield os.path.join(folder, "state.json"), "background job"
    for name in sorted(_list_names(os.path.join(config, "profiles"))):
        yield os.path.join(config, "profiles", name), "profile"


def _list_names(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()
