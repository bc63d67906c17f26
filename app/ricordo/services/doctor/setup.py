"""The set-up around the memories: settings, hooks and what they cost, MCP servers, plugins,
instruction files, loads, and Ricordo's own directory.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Sequence
from shutil import which

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.diagnosis import MemorySource, SettingInEffect
from ricordo.agents.folder import has_notes
from ricordo.agents.instruction_files import (
    ShadowedFile,
    UnreadFiles,
    find_broken_links,
    find_misnamed,
    find_missing_imports,
    find_missing_imports_at_home,
    find_shadowed,
    find_shadowed_at_home,
    find_too_long,
    find_unread,
)
from ricordo.agents.registry import SUPPORTED
from ricordo.agents.support import AgentSupport
from ricordo.agents.workplace import Workplace, find_workplace
from ricordo.errors import MemoryNotFound, MemoryUnreadable, StateUnusable
from ricordo.lint.finding import Severity
from ricordo.patterns import compile_lazily
from ricordo.services.connect.agent_program import does_server_answer
from ricordo.services.connect.connection import (
    ConnectionState,
    list_connections,
    read_status,
)
from ricordo.services.doctor.hooks import check_hooks, is_own
from ricordo.services.doctor.problem import Problem
from ricordo.services.doctor.project_map import ProjectMap, Step
from ricordo.services.load_description import find_unloaded_entries
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.places import find_all_memories
from ricordo.storage.database import Database, check_state_location
from ricordo.storage.reader import list_memory
from ricordo.storage.state_file import check_regular_files

OURS = "ricordo"
"""The name of the server and the plugin, and of the program in commands of hooks."""
LEAST_SPACE = 64 * 1024 * 1024
"""Bytes that have to be free where Ricordo keeps its data."""
_MOST_NAMED = 5
_OWN_SERVER = compile_lazily(r"(?:^|[/\s'\"])ricordo(?:[/'\"\s].*)? mcp\b")


def find_setup_problems(
    environment: Environment, maps: Sequence[ProjectMap], step: Step = lambda phase: None
) -> Iterator[Problem]:
    """Yield the problems of the set-up."""
    projects = list(dict.fromkeys(it for each in maps for it in each.projects))
    places = [find_workplace(it) for it in projects or [environment.cwd]]
    step("checking settings and hooks")
    for support in SUPPORTED:
        yield from _check_sources(support, environment, places)
        yield from _check_background(support, environment, places)
        yield from _check_broken_settings(support, environment, places)
        yield from _check_drafts(support, environment)
        yield from check_hooks(support, environment, places)
        yield from _check_plugins(support, environment)
    for each in maps:
        yield from _check_switches(each)
    step("asking MCP servers")
    for support in SUPPORTED:
        yield from _check_servers(support, environment, places)
    step("asking agents")
    yield from _check_connections(environment, places)
    yield from _check_own_instructions(environment)
    for number, place in enumerate(places, 1):
        step(f"reading instruction files, {number} of {len(places)}")
        yield from _check_instructions(environment, place.top)
    memories = find_all_memories(environment)
    for number, memory in enumerate(memories, 1):
        step(f"reading indexes, {number} of {len(memories)}")
        yield from _check_load(memory)
    yield from check_state(environment.state)


# Settings


def _check_sources(
    support: AgentSupport, environment: Environment, places: Iterable[Workplace]
) -> Iterator[Problem]:
    """Yield the settings that put a memory elsewhere."""
    home, environ = environment.agent_home, environment.environ
    described: dict[str, Problem] = {}
    for place in places:
        for source in support.memory_sources(place, home, environ):
            named = source.directory
            if not named:
                described[source.file] = _explain_unusable(support, environment, place, source)
                continue
            if source.scope == "project":
                what = f"A repository's settings name the directory of its memory: {named}."
                advice = "Whoever changes that file chooses where notes go: move it to your own."
                severity = Severity.WARNING
            elif source.scope == "user":
                what = f"Your settings put the memories of all projects into {named}."
                advice = "Notes of all projects are loaded everywhere: name it for one project."
                severity = Severity.WARNING
            else:
                what = f"The {source.scope} settings put the memory of {place.root} into {named}."
                advice = "Nothing, if that is meant."
                severity = Severity.INFO
            evidence = (f"autoMemoryDirectory in {source.file}",)
            described[source.file] = Problem(
                "memory-setting", severity, what, evidence, advice, (source.file,)
            )
    yield from described.values()


def _explain_unusable(
    support: AgentSupport, environment: Environment, place: Workplace, source: MemorySource
) -> Problem:
    """Return the problem of a setting whose directory is no path that an agent takes."""
    loaded = next(iter(support.memories_at(place, environment.agent_home, environment.environ)))
    evidence = [
        f"autoMemoryDirectory in {source.file}",
        f"sessions in {place.root} load {loaded.root}",
    ]
    meant = os.path.realpath(os.path.join(place.root, source.value))
    if source.value and has_notes(meant) and meant != os.path.realpath(loaded.root):
        evidence.append(f"the notes in {meant} are not loaded")
    return Problem(
        "memory-setting",
        Severity.WARNING,
        f"{source.value or 'The value'} does not count as the directory of a memory: "
        "only an absolute path does, or one that begins with ~/.",
        tuple(evidence),
        "Name an absolute path in your local settings, or remove the setting.",
        (source.file,),
    )


def _check_background(
    support: AgentSupport, environment: Environment, places: Sequence[Workplace]
) -> Iterator[Problem]:
    home, environ = environment.agent_home, environment.environ
    for setting in support.settings_in_effect(places, home, environ):
        yield Problem(
            "background-rewriting",
            Severity.INFO,
            "The agent may rewrite its memories in the background.",
            (f"{setting.key} is on in {setting.file}",),
            "Its changes appear in the inbox: `ricordo inbox`.",
            (setting.file, setting.key),
        )


def _check_broken_settings(
    support: AgentSupport, environment: Environment, places: Sequence[Workplace]
) -> Iterator[Problem]:
    home, environ = environment.agent_home, environment.environ
    for file in support.broken_settings(places, home, environ):
        if os.path.isfile(file.path) and not os.path.getsize(file.path):
            continue
        shown = support.agent.shown if support.agent else ""
        yield Problem(
            "settings-broken",
            Severity.WARNING,
            f"{shown} cannot read {file.path}: nothing in it counts.",
            (f"it {file.error}",),
            "Correct the file.",
            (file.path,),
        )


def _check_switches(projects: ProjectMap) -> Iterator[Problem]:
    """Yield the settings that turn off memories which have notes."""
    home, environ = projects.environment.agent_home, projects.environment.environ
    off: dict[SettingInEffect, list[str]] = {}
    for folder in projects.folders:
        for project in projects.find_loading(folder.memory)[:1] if has_notes(folder.memory) else ():
            setting = projects.support.memory_switch(find_workplace(project), home, environ)
            if setting is not None:
                off.setdefault(setting, []).append(project)
    for setting, paths in off.items():
        count = "1 project" if len(paths) == 1 else f"{len(paths)} projects"
        yield Problem(
            "memory-off",
            Severity.INFO,
            f"The notes of {count} are not loaded: {setting.key} is off.",
            (f"in {setting.file}", *(f"sessions in {it} load none" for it in paths[:_MOST_NAMED])),
            "Nothing, if that is meant.",
            (setting.file, setting.key),
        )


def _check_drafts(support: AgentSupport, environment: Environment) -> Iterator[Problem]:
    """Yield what an agent proposed to remember, and nobody has read."""
    drafts = support.unread_drafts(environment.agent_home, environment.environ)
    if drafts:
        shown = support.agent.shown if support.agent else ""
        count, them = f"{len(drafts)} drafts", "them"
        if len(drafts) == 1:
            count, them = "1 draft", "it"
        yield Problem(
            "drafts-unread",
            Severity.INFO,
            f"{count} of {shown} not read yet: nothing in {them} is remembered.",
            tuple(drafts[:_MOST_NAMED]),
            f"Type /memory inbox in {shown}, in the project.",
            (support.agent.name if support.agent else "",),
        )


# Hooks


def _check_connections(environment: Environment, places: Sequence[Workplace]) -> Iterator[Problem]:
    """Yield the agents that are not connected, or not as a whole."""
    home, environ = environment.agent_home, environment.environ
    hooked = {
        support.agent.name
        for support in SUPPORTED
        if support.agent and any(map(is_own, support.hooks(places, home, environ)))
    }
    for connection in list_connections(environment):
        status = read_status(environment, connection, asks_agent=True)
        name, shown = status.name, connection.agent.shown
        again = f"`ricordo connect {name}`"
        if status.state is ConnectionState.NOT_CONNECTED:
            if status.is_installed and name not in hooked:
                yield Problem(
                    "hooks-missing",
                    Severity.INFO,
                    f"{shown} is not given notes: it is not connected.",
                    (f"there is nothing of Ricordo in {connection.root}",),
                    f"{again} connects it.",
                    (name,),
                )
        elif status.state is not ConnectionState.CONNECTED:
            states = sorted({state.value for state in status.files.values()})
            yield Problem(
                "connection-incomplete",
                Severity.WARNING,
                f"The connection of {shown} is {status.state.value}.",
                (
                    f"files in {connection.root}: {', '.join(states)}",
                    *(f"not run yet: {line}" for line in status.pending),
                ),
                f"{again} repairs it, or says what is in the way.",
                (name,),
            )
        if status.warnings:
            first, *others = status.warnings
            yield Problem(
                "hooks-untrusted",
                Severity.WARNING,
                first,
                tuple(others),
                "`ricordo connect --status` says whether that is solved.",
                (name,),
            )


# Servers and plugins


def _check_servers(
    support: AgentSupport, environment: Environment, places: Sequence[Workplace]
) -> Iterator[Problem]:
    """Yield the MCP servers that cannot be started. Those of others are looked for, not started;
    so is one of Ricordo that a file in a project names: anybody may have written that file.
    """
    environ, seen = environment.environ, set[tuple[str, ...]]()
    for server in support.servers(places, environment.agent_home, environ):
        program = server.command[0]
        is_own = server.name == OURS or _OWN_SERVER.search(shlex.join(server.command)) is not None
        # a plugin's folder is known to the agent alone, and its PATH may be another one
        is_judged = "$" not in program and (is_own or program.startswith("/"))
        if not is_judged or server.command in seen:
            continue
        seen.add(server.command)
        is_there = which(program, path=environ.get("PATH", os.defpath)) is not None
        if is_there and (not is_own or server.is_of_project):
            continue
        if is_there and does_server_answer(server.command, environment.cwd, environ):
            continue
        shown = support.agent.shown if support.agent else ""
        why = "it does not answer" if is_there else f"there is no program {program}"
        advice = "`ricordo connect` writes the present place; it needs the extra `ricordo[mcp]`."
        yield Problem(
            "server-unreachable" if is_own else "server-missing",
            Severity.WARNING,
            f"The MCP server {server.name} of {shown} cannot be reached: {why}.",
            (f"{server.file} starts {shlex.join(server.command)}",),
            advice if is_own else "Install the program, or remove the server.",
            (server.file, *server.command),
        )


def _check_plugins(support: AgentSupport, environment: Environment) -> Iterator[Problem]:
    for path in support.outdated_plugins(environment.agent_home, environment.environ):
        yield Problem(
            "plugin-outdated",
            Severity.WARNING,
            f"{support.agent.shown if support.agent else ''} 2 does not load {path}.",
            ("it has no `setup`, which version 2 calls",),
            "Get a version of the plugin for version 2.",
            (path,),
        )


# Instruction files


def _check_own_instructions(environment: Environment) -> Iterator[Problem]:
    """Yield the problems of the user's own instruction files."""
    home, environ = environment.agent_home, environment.environ
    for file in find_shadowed_at_home(home):
        yield Problem(
            "instructions-shadowed",
            Severity.WARNING,
            f"{file.agent} does not read {os.path.join(home, file.path)}.",
            (f"it reads {os.path.join(home, file.by)} instead",),
            "Remove the one that it reads, or put the text of the other into it.",
            (os.path.join(home, file.path), file.agent),
        )
    for name, target in find_missing_imports_at_home(home):
        yield _make_missing_import(home, name, target)
    for support in SUPPORTED:
        for named in support.instruction_paths(home, environ):
            if not os.path.lexists(named.path):
                shown = support.agent.shown if support.agent else ""
                yield Problem(
                    "instructions-missing",
                    Severity.WARNING,
                    f"{shown} is to read instructions that are not there: {named.path}.",
                    (f"{named.file} names it",),
                    "Correct the path, or remove it.",
                    (named.path, named.file),
                )


def _check_instructions(environment: Environment, project: str) -> Iterator[Problem]:
    home = environment.agent_home
    if os.path.realpath(home) == project:
        return
    for file in find_shadowed(project, home):
        yield Problem(
            "instructions-shadowed",
            Severity.WARNING,
            f"{file.agent} does not read {os.path.join(project, file.path)}.",
            (f"{file.by} is there, and does not include it",),
            _advise_on_shadowed(file),
            (os.path.join(project, file.path), file.agent),
        )
    for misnamed in find_misnamed(project, home):
        yield Problem(
            "instructions-unread",
            Severity.WARNING,
            f"No agent reads {os.path.join(project, misnamed.path)}: it looks for {misnamed.name}.",
            (f"capital letters count here; {misnamed.name} is for {', '.join(misnamed.agents)}",),
            f"Rename it to {misnamed.name}.",
            (os.path.join(project, misnamed.path),),
        )
    for link, target in find_broken_links(project, home):
        yield Problem(
            "instructions-missing",
            Severity.WARNING,
            f"{os.path.join(project, link)} is a link to a file that is not there.",
            (f"it names {target}",),
            "Correct the link, or remove it.",
            (target, os.path.join(project, link)),
        )
    for long in find_too_long(project, home):
        yield Problem(
            "instructions-over-load",
            Severity.WARNING,
            f"{long.agent} does not read {os.path.join(project, long.path)} to the end.",
            (f"{long.size:,} {long.unit}, limit {long.limit:,} by default",),
            "Shorten it, or put parts into files that are read where they are needed.",
            (os.path.join(project, long.path), long.agent),
        )
    for name, target in find_missing_imports(project, home):
        yield _make_missing_import(project, name, target)
    if unread := find_unread(project, home):
        yield Problem(
            "instructions-unread",
            Severity.INFO,
            f"No agent here reads the instructions of {project}.",
            (f"{', '.join(unread.paths[:_MOST_NAMED])}: for {', '.join(unread.agents)}",),
            _advise_on_unread(unread),
            tuple(os.path.join(project, path) for path in unread.paths),
        )


def _make_missing_import(folder: str, name: str, target: str) -> Problem:
    return Problem(
        "instructions-missing",
        Severity.WARNING,
        f"{os.path.join(folder, name)} includes a page that is not there: {target}.",
        (),
        "Correct the path, or remove the line.",
        (target, os.path.join(folder, name)),
    )


def _advise_on_unread(unread: UnreadFiles) -> str:
    """Return how to have an agent here read a file that is for others."""
    agent, name, path = unread.reader.agent, unread.reader.main_name, unread.paths[0]
    if unread.reader.including:
        return f"{agent} reads it once a {name} has the line `@{path}`."
    return f"{agent} reads {name}: link that to {path}, or rename the file."


def _advise_on_shadowed(file: ShadowedFile) -> str:
    """Return how to have a shadowed file read: one that another of its kind replaces cannot be
    included.
    """
    if file.is_replaced:
        return f"Remove {file.by}, or put the text of the other into it."
    relative = os.path.relpath(file.path, os.path.dirname(file.by) or ".")
    return f"Add the line `@{relative}` to {file.by}."


# Loads


def _check_load(place: MemoryPlace) -> Iterator[Problem]:
    try:
        memory = list_memory(place.root, place.layout)
    except (MemoryNotFound, MemoryUnreadable):
        return
    load = memory.load
    if load.cut_at_line is None or load.limits is None:
        return
    unloaded = len(find_unloaded_entries(memory))
    noun = "entry is" if unloaded == 1 else "entries are"
    lost = f"{unloaded} {noun}" if unloaded else f"what is from line {load.cut_at_line} on is"
    yield Problem(
        "index-over-load",
        Severity.WARNING,
        f"The index of {place.root} is too long: {lost} not loaded.",
        (
            f"{load.lines} lines, limit {load.limits.lines}; "
            f"{load.units:,} units, limit {load.limits.units:,}",
        ),
        "`ricordo lint` shows what is lost: shorten entries, or put several into one note.",
        (place.root,),
    )


# Ricordo's own directory


def check_state(state: str) -> Iterator[Problem]:
    """Yield the problems of the directory for Ricordo's data."""
    history = Database(state)
    try:
        check_state_location(state)
    except StateUnusable as error:
        # a history that is there already is used all the same
        severity = Severity.WARNING if history.exists else Severity.ERROR
        refused = "" if history.exists else " Until then no memory can be changed."
        yield _state_problem(state, error.fact, f"{error.hint}{refused}", severity)
    if not os.path.lexists(state):
        return
    if not os.path.isdir(state):
        yield _state_problem(state, f"{state} is not a directory.", "Move it away.")
        return
    status = os.stat(state)
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        yield _state_problem(
            state,
            f"Other users can read {state}: its mode is {mode:o}.",
            f"`chmod 700 {shlex.quote(state)}`",
            Severity.WARNING,
        )
    if status.st_uid != os.getuid():
        yield _state_problem(
            state, f"{state} belongs to another user.", "Name another: RICORDO_STATE."
        )
    if not os.access(state, os.R_OK | os.W_OK | os.X_OK):
        yield _state_problem(state, f"{state} cannot be written.", "Change its permissions.")
    try:
        check_regular_files(state)
    except StateUnusable as error:
        yield _state_problem(state, error.fact, error.hint)
    except OSError as error:
        yield _state_problem(state, f"{state} cannot be listed: {error.strerror}.", "")
    if damage := history.find_damage():
        yield _state_problem(
            state,
            f"The history at {history.path} is damaged: {damage}.",
            "The next change moves it aside and begins a new one: earlier versions of notes, and "
            "your decisions, are then in the damaged file only. No memory is changed by that.",
        )
    free = os.statvfs(state)
    room = free.f_bavail * free.f_frsize
    if room < LEAST_SPACE:
        yield _state_problem(
            state,
            f"Too little space for {state}: {room // (1024 * 1024)} MB are free.",
            f"Free at least {LEAST_SPACE // (1024 * 1024)} MB.",
        )


def _state_problem(
    state: str, what: str, advice: str, severity: Severity = Severity.ERROR
) -> Problem:
    return Problem("state-unhealthy", severity, what, (), advice, (state, what))
