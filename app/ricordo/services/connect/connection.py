"""Connecting an agent and disconnecting it: plan, show, write, record, remove.

A record in the state directory says what was written. Without it, files count as Ricordo's only if
they are what this version would write. Nothing else is ever changed or removed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

from ricordo import __version__
from ricordo.agents.connection import (
    LAUNCHER,
    PLUGIN,
    AgentCommand,
    ConnectedFile,
    Connection,
    Launcher,
    read_launcher,
)
from ricordo.agents.registry import SUPPORTED
from ricordo.errors import ChangeRefused, StateUnusable, WrongUsage
from ricordo.resources import find_data_file, state_directory
from ricordo.services.connect.agent_program import find_program, list_hooks, run_command
from ricordo.services.workspace.environment import Environment
from ricordo.storage.foreign_file import read_json
from ricordo.storage.own_folder import (
    create_folders,
    digest_content,
    read_own_file,
    remove_empty_folders,
    remove_own_file,
    write_own_file,
)
from ricordo.storage.state_file import replace_state_file
from ricordo.text import make_one_line, make_visible

_RECORD = "connections.json"
_LARGEST_RECORD = 1024 * 1024


class FileMatch(StrEnum):
    """How a file on disk compares with what would be written."""

    MISSING = "missing"
    SAME = "same"
    OLD = "old"
    """What Ricordo wrote earlier."""
    FOREIGN = "foreign"
    """Written or changed by somebody else."""


class ConnectionState(StrEnum):
    """Whether an agent is connected."""

    CONNECTED = "connected"
    OUTDATED = "outdated"
    """Connected by another version or for another installation: connecting again updates it."""
    INCOMPLETE = "incomplete"
    """Some files are missing, or a command of the agent has not run."""
    CHANGED = "changed"
    """Somebody changed a file, or has one in its place."""
    NOT_CONNECTED = "not connected"


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """How one agent is connected."""

    connection: Connection
    state: ConnectionState
    files: Mapping[str, FileMatch]
    """By absolute path."""
    is_installed: bool
    """Whether the agent is on this machine."""
    pending: tuple[str, ...] = ()
    """The agent's own commands that have to run and did not yet, as a shell takes them."""
    warnings: tuple[str, ...] = ()
    """What keeps it from working, a sentence each."""

    @property
    def name(self) -> str:
        """The name of the agent in options and documents."""
        return self.connection.agent.name

    @property
    def is_working(self) -> bool:
        """Whether the agent is connected, and nothing is known that keeps it from using that."""
        return self.state is ConnectionState.CONNECTED and not self.warnings

    @property
    def is_to_do(self) -> bool:
        """Whether connecting would write a file or run a command that did not run yet."""
        return bool(self.pending) or any(it is not FileMatch.SAME for it in self.files.values())


@dataclass(slots=True)
class ConnectionResult:
    """What was done for one agent."""

    name: str
    shown: str
    """The name of the agent as people write it."""
    created: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Files that were not removed, as they are not what Ricordo wrote."""
    ran: list[str] = field(default_factory=list)
    """Commands of the agent that ran now and had not run before, as a shell takes them."""
    pending: list[str] = field(default_factory=list)
    """Those that still have to run before the agent is connected."""
    warnings: list[str] = field(default_factory=list)
    advice: tuple[str, ...] = ()

    @property
    def has_changed(self) -> bool:
        """Whether a file was written or removed, or a command ran that had to."""
        return bool(self.created or self.replaced or self.removed or self.ran)

    def describe_pending(self) -> str:
        """Return why the agent is not connected yet, a sentence; "" if it is."""
        commands = " and ".join(f"`{line}`" for line in self.pending)
        verb = "has" if len(self.pending) == 1 else "have"
        return commands and (
            f"{self.shown} is not connected yet: {commands} still {verb} to run. "
            f"`ricordo connect {self.name}` tries again."
        )


def find_launcher(environment: Environment) -> Launcher:
    """Return the Ricordo that is running, as launchers start it."""
    usual = state_directory({**environment.environ, "RICORDO_STATE": ""})
    return Launcher(
        os.path.abspath(sys.executable) if sys.executable else "",
        os.path.dirname(find_data_file("__init__.py")),
        environment.state if environment.state != usual else "",
        has_mcp=find_spec("mcp") is not None,
    )


def list_connections(
    environment: Environment, names: Sequence[str] = (), launcher: Launcher | None = None
) -> list[Connection]:
    """Return what connects the agents with these `names`, all that can be connected if there are
    none. Raises WrongUsage for another name.
    """
    launcher = launcher or find_launcher(environment)
    home, environ = environment.agent_home, environment.environ
    built = (support.connection(home, environ, launcher) for support in SUPPORTED)
    by_name = {it.agent.name: it for it in built if it is not None}
    for name in names:
        if name not in by_name:
            raise WrongUsage(
                f"“{make_one_line(name)}” is no agent that can be connected.",
                hint=f"Name {', '.join(by_name)}.",
            )
    return [by_name[name] for name in dict.fromkeys(names or by_name)]


def read_status(
    environment: Environment, connection: Connection, *, asks_agent: bool = False
) -> ConnectionStatus:
    """Return how an agent is connected; with `asks_agent` its program is started to ask what it
    trusts.
    """
    record = _read_record(environment.state).get(connection.agent.name, {})
    states = _compare(connection, _known_digests(connection, record))
    is_installed = os.path.isdir(connection.home) or bool(
        find_program(connection.agent.name, environment.environ)
    )
    state = _judge_files(connection, record, set(states.values()))
    status = ConnectionStatus(connection, state, states, is_installed)
    if state in (ConnectionState.NOT_CONNECTED, ConnectionState.CHANGED):
        return status
    pending = tuple(map(make_one_line, _list_texts(record, "pending")))
    server = connection.server_command
    if asks_agent and server is not None:
        hooks = list_hooks(server, environment.cwd, environment.environ, PLUGIN)
        # the user may have run the commands: then the agent knows the hooks
        pending = () if hooks else pending
        if not pending:
            status = replace(status, warnings=tuple(_check_trust(connection, hooks)))
    if pending and state is ConnectionState.CONNECTED:
        state = ConnectionState.INCOMPLETE
    return replace(status, state=state, pending=pending)


def _judge_files(
    connection: Connection, record: Mapping[str, Any], found: set[FileMatch]
) -> ConnectionState:
    """Return how an agent is connected by what was `found` in place of its files."""
    if FileMatch.FOREIGN in found:
        return ConnectionState.CHANGED
    if found == {FileMatch.MISSING}:
        return ConnectionState.NOT_CONNECTED
    if FileMatch.MISSING in found:
        return ConnectionState.INCOMPLETE
    is_current = found == {FileMatch.SAME} and not _list_obsolete(connection, record)
    return ConnectionState.CONNECTED if is_current else ConnectionState.OUTDATED


def _check_trust(
    connection: Connection, hooks: Sequence[Mapping[str, Any]] | None
) -> Iterator[str]:
    """Yield what keeps the agent from running hooks, as it lists them; None if it did not."""
    name = connection.agent.shown
    if hooks is None:
        yield f"{name} could not be asked which hooks it trusts."
    elif not hooks:
        yield f"{name} does not list Ricordo's hooks: connect again."
    else:
        untrusted = [hook for hook in hooks if hook.get("trustStatus") not in _TRUSTED]
        disabled = [hook for hook in hooks if hook.get("enabled") is False]
        if untrusted:
            yield (
                f"{name} skips {len(untrusted)} of {len(hooks)} hooks until you trust them: "
                f"{connection.trust_advice}."
            )
        if disabled:
            yield f"{len(disabled)} of {len(hooks)} hooks are turned off in {name}."


_TRUSTED = ("trusted", "managed")


def _compare(connection: Connection, known: Mapping[str, str]) -> dict[str, FileMatch]:
    return {file.path: _compare_file(file, known.get(file.path, "")) for file in connection.files}


def _compare_file(file: ConnectedFile, digest: str) -> FileMatch:
    content = read_own_file(file.path)
    if content is None:
        return FileMatch.FOREIGN if os.path.lexists(file.path) else FileMatch.MISSING
    if content == file.content:
        return FileMatch.SAME
    return FileMatch.OLD if digest_content(content) == digest else FileMatch.FOREIGN


def _known_digests(connection: Connection, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of what Ricordo wrote, by path: as recorded, else of what this version
    writes for the installation that the launcher on disk names.
    """
    files = record.get("files")
    if isinstance(files, dict) and files:
        return {str(path): str(digest) for path, digest in files.items()}
    launcher = read_own_file(os.path.join(connection.root, LAUNCHER))
    values = read_launcher((launcher or b"").decode("utf-8", "replace"))
    if launcher is None or values is None:
        return {}
    rendered = values.render(connection.agent).encode()
    return {os.path.join(connection.root, LAUNCHER): digest_content(rendered)}


def _list_obsolete(connection: Connection, record: Mapping[str, Any]) -> list[str]:
    """Return the files that Ricordo wrote and would not write any more."""
    files = record.get("files")
    wanted = {file.path for file in connection.files}
    paths = files if isinstance(files, dict) else {}
    return [path for path in paths if path not in wanted and os.path.lexists(path)]


def describe_plan(status: ConnectionStatus, *, shows_text: bool) -> Iterator[str]:
    """Yield what connecting would do, a line each, with the text of each file if `shows_text`."""
    connection = status.connection
    if not status.is_to_do:
        yield f"{connection.agent.shown} is connected."
        return
    yield f"{connection.agent.shown}: {make_one_line(connection.root)}"
    for command in connection.list_hook_commands():
        yield f"  a hook that runs  {make_one_line(command)}"
    for agent_command in connection.commands:
        yield f"  then runs  {_render_command(agent_command)}"
    for file in connection.files:
        state = status.files[file.path]
        if state is not FileMatch.SAME:
            verb = "create" if state is FileMatch.MISSING else "replace"
            yield f"  {verb} {make_one_line(os.path.relpath(file.path, connection.home))}"
            if shows_text:
                text = file.content.decode("utf-8", "replace").rstrip("\n")
                yield from (f"    {make_visible(line)}" for line in text.split("\n"))


def connect(environment: Environment, status: ConnectionStatus) -> ConnectionResult:
    """Write what connects an agent and record it; on an error nothing of it is left.

    Raises ChangeRefused if another file is in the way or a folder cannot be written, and
    StateUnusable if nothing can be recorded.
    """
    connection = status.connection
    refuse_foreign(status)
    agent = connection.agent
    result = ConnectionResult(agent.name, agent.shown, advice=connection.advice)
    records = _read_record(environment.state)
    record = records.get(result.name, {})
    known = _known_digests(connection, record)
    obsolete = _list_obsolete(connection, record)
    written = {file.path: digest_content(file.content) for file in connection.files}
    before = {path: read_own_file(path) for path in written}
    folders: list[str] = []
    try:
        for file in connection.files:
            if status.files[file.path] is not FileMatch.SAME:
                folders += create_folders(os.path.dirname(file.path))
                write_own_file(file.path, file.content, is_program=file.is_program)
                is_new = before[file.path] is None
                (result.created if is_new else result.replaced).append(file.path)
        kept_folders = [*_list_texts(record, "folders"), *folders]
        records[result.name] = {
            "version": __version__,
            "at": environment.now.isoformat(),
            "files": written,
            "folders": list(dict.fromkeys(kept_folders)),
            "pending": [_render_command(it) for it in connection.commands],
        }
        _write_record(environment.state, records)
    except (OSError, StateUnusable) as error:
        _restore(connection, [*result.created, *result.replaced], before)
        remove_empty_folders(folders)
        if isinstance(error, StateUnusable):
            raise
        raise ChangeRefused(
            f"{agent.shown} cannot be connected: "
            f"{make_one_line(str(error.filename or connection.root))}: {error.strerror}."
        ) from None
    for path in obsolete:
        with suppress(OSError):
            if remove_own_file(path, known.get(path, "")):
                result.removed.append(path)
    for line, problem in _run_all(environment, connection.commands):
        result.pending.append(line)
        result.warnings.append(f"`{line}`: {problem}.")
    result.ran = [line for line in status.pending if line not in result.pending]
    records[result.name]["pending"] = result.pending
    with suppress(StateUnusable):  # what is recorded asks to connect again, which does no harm
        _write_record(environment.state, records)
    return result


def refuse_foreign(status: ConnectionStatus) -> None:
    """Raise ChangeRefused if connecting would replace what somebody else wrote."""
    connection = status.connection
    foreign = [path for path, state in status.files.items() if state is FileMatch.FOREIGN]
    if not foreign and os.path.islink(connection.root):
        foreign = [connection.root]
    if not foreign and status.state is ConnectionState.NOT_CONNECTED:
        # a folder of that name with other things in it is somebody's plugin or skill
        with suppress(OSError):
            foreign = [os.path.join(connection.root, name) for name in os.listdir(connection.root)]
    if foreign:
        shown = make_one_line(foreign[0])
        raise ChangeRefused(
            f"{connection.agent.shown}: {shown} is not what Ricordo wrote.",
            hint="Move it away, then connect again.",
        )


def _restore(
    connection: Connection, written: Sequence[str], before: Mapping[str, bytes | None]
) -> None:
    programs = {file.path: file.is_program for file in connection.files}
    contents = {file.path: file.content for file in connection.files}
    for path in written:
        content = before[path]
        with suppress(OSError):
            if content is None:
                remove_own_file(path, digest_content(contents[path]))
            else:
                write_own_file(path, content, is_program=programs[path])


def disconnect(environment: Environment, status: ConnectionStatus) -> ConnectionResult:
    """Remove exactly the files that Ricordo wrote and nobody changed, and the folders that it
    created and that are empty. Raises StateUnusable.
    """
    connection = status.connection
    result = ConnectionResult(connection.agent.name, connection.agent.shown)
    records = _read_record(environment.state)
    record = records.get(result.name, {})
    known = {
        **{file.path: digest_content(file.content) for file in connection.files},
        **_known_digests(connection, record),
    }
    existing = [path for path in known if os.path.lexists(path)]
    if existing or record:
        for line, problem in _run_all(environment, connection.undo_commands):
            # where what it undoes did not run, it has nothing to do
            if not _list_texts(record, "pending"):
                result.warnings.append(f"`{line}`: {problem}. Run it yourself.")
    for path in existing:
        try:
            (result.removed if remove_own_file(path, known[path]) else result.kept).append(path)
        except OSError as error:
            result.kept.append(path)
            result.warnings.append(f"{make_one_line(path)}: {error.strerror}.")
    remove_empty_folders(
        _list_texts(record, "folders") if record else _list_own_folders(connection)
    )
    if records.pop(result.name, None) is not None:
        _write_record(environment.state, records)
    return result


def _list_own_folders(connection: Connection) -> set[str]:
    """Return the folders that are Ricordo's by their name."""
    folders = set()
    for file in connection.files:
        folder = os.path.dirname(file.path)
        while f"{folder}/".startswith(os.path.join(connection.root, "")):
            folders.add(folder)
            folder = os.path.dirname(folder)
    return folders


def _run_all(
    environment: Environment, commands: Iterable[AgentCommand]
) -> Iterator[tuple[str, str]]:
    """Run commands of an agent, and yield those that failed, each with the reason."""
    for command in commands:
        problem = run_command(command, environment.environ)
        if problem:
            yield _render_command(command), make_one_line(problem)


def _render_command(command: AgentCommand) -> str:
    """Return a command as a shell takes it."""
    return make_one_line(shlex.join(command.words))


def _read_record(state: str) -> dict[str, dict[str, Any]]:
    document, _ = read_json(os.path.join(state, _RECORD), _LARGEST_RECORD)
    entries = document.items() if isinstance(document, dict) else ()
    return {name: entry for name, entry in entries if isinstance(entry, dict)}


def _write_record(state: str, records: Mapping[str, Any]) -> None:
    try:
        replace_state_file(state, _RECORD, json.dumps(records, indent=1).encode("ascii"))
    except OSError as error:
        raise StateUnusable(f"{_RECORD} in {state} cannot be written: {error.strerror}.") from None


def _list_texts(record: Mapping[str, Any], key: str) -> list[str]:
    values = record.get(key)
    return [it for it in values if isinstance(it, str)] if isinstance(values, list) else []
