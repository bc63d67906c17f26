"""opencode: where its sessions are.

Sessions are in a SQLite database, or in JSON files of versions before 1.2; both become the same
messages. The database is opened read-only, in a way that makes no files beside it. Messages may
change, so a session is always read from its start. opencode has no memory of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ricordo.agents.opencode import AGENT
from ricordo.agents.support import AgentSupport, Step
from ricordo.agents.transcripts.lines import as_dict
from ricordo.agents.transcripts.sources import SessionFilter, TranscriptSource, is_inside
from ricordo.errors import WrongUsage
from ricordo.storage.foreign_file import normalize_absolute_path, read_json, read_plain_file
from ricordo.storage.reader import list_names
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.agents.connection import Connection, Launcher
    from ricordo.agents.diagnosis import (
        ConfiguredServer,
        NamedFile,
        PathHolder,
        RepositoryRecord,
    )
    from ricordo.agents.opencode.transcript import OpencodeSession, OpencodeTranscript
    from ricordo.agents.transcripts.checkpoint import Checkpoint
    from ricordo.agents.transcripts.session import Message, MessagePlace
    from ricordo.agents.workplace import Workplace

_MOST_NAMED = 5
_LARGEST_PLUGIN = 1024 * 1024


def find_data_folder(home: str, environ: Mapping[str, str]) -> str:
    """Return the directory in which opencode keeps its sessions, there or not. The XDG setting of
    the shell counts for the shell's own home alone.
    """
    base = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base) or home != environ.get("HOME"):
        base = os.path.join(home, ".local", "share")
    return os.path.join(base, "opencode")


def find_settings_folder(home: str, environ: Mapping[str, str]) -> str:
    """Return the directory of opencode's settings, there or not; of `XDG_CONFIG_HOME` the same is
    true as of the setting for sessions.
    """
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base) or home != environ.get("HOME"):
        base = os.path.join(home, ".config")
    return os.path.join(base, "opencode")


def find_transcripts(data: str) -> Iterator[TranscriptSource]:
    """Yield the sessions in the data directory of opencode."""
    from ricordo.agents.opencode.transcript import find_sessions

    yield from map(_source, find_sessions(data))


def _source(session: OpencodeSession) -> TranscriptSource:
    # the stamp begins with the time of the last change, in milliseconds
    updated = session.stamp.partition(" ")[0]
    touched = int(updated) / 1000 if updated.isdecimal() else 0.0
    return TranscriptSource(AGENT, session.path, session.id, session.cwd, session.stamp, touched)


class OpencodeSupport(AgentSupport):
    """opencode."""

    agent = AGENT
    has_transcripts = True
    takes_handoffs = True

    def connection(self, home: str, environ: Mapping[str, str], launcher: Launcher) -> Connection:
        """One file among its plugins, with the launcher in it."""
        import json

        from ricordo.agents.connection import ConnectedFile, Connection
        from ricordo.resources import read_data_text

        folder = find_settings_folder(home, environ)
        path = os.path.join(folder, "plugins", "ricordo.js")
        text = read_data_text("agents/opencode/plugin.js")
        text = text.replace("@HAS_MCP@", json.dumps(launcher.has_mcp))
        text = text.replace("@LAUNCHER@", json.dumps(launcher.render(AGENT)))
        files = (ConnectedFile(path, text.encode()),)
        return Connection(AGENT, folder, path, files, advice=("New sessions load it.",))

    def transcripts(
        self, scope: SessionFilter, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        for source in find_transcripts(find_data_folder(home, environ)):
            if scope.matches(source.agent, source.path, source.cwd):
                yield source

    def transcripts_near(
        self, path: str, home: str, environ: Mapping[str, str]
    ) -> Iterator[TranscriptSource]:
        data = os.path.realpath(find_data_folder(home, environ))
        if is_inside(path, data):
            yield from find_transcripts(data)

    def transcript_folders(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return [find_data_folder(home, environ)]

    def instruction_paths(self, home: str, environ: Mapping[str, str]) -> list[NamedFile]:
        """Those of `instructions` without wildcards."""
        from ricordo.agents.diagnosis import NamedFile, as_texts

        found: list[NamedFile] = []
        for file, settings in _read_settings(home, environ):
            for text in as_texts(settings.get("instructions")):
                path = os.path.join(home, text[2:]) if text.startswith("~/") else text
                if path.startswith("/") and not set(path) & set("*?[{"):
                    found.append(NamedFile(normalize_absolute_path(path), file))
        return found

    def servers(
        self, places: Sequence[Workplace], home: str, environ: Mapping[str, str]
    ) -> list[ConfiguredServer]:
        """Those of the user's settings; version 2 has them in `mcp.servers`."""
        from ricordo.agents.diagnosis import read_servers

        found: list[ConfiguredServer] = []
        for file, settings in _read_settings(home, environ):
            named = as_dict(settings.get("mcp"))
            for table in (named, as_dict(named.get("servers"))):
                found += read_servers({"mcpServers": table}, file)
        return found

    def repository_records(self, home: str, environ: Mapping[str, str]) -> list[RepositoryRecord]:
        """Its projects: the id of one is the first commit of the repository."""
        from ricordo.agents.diagnosis import RepositoryRecord
        from ricordo.agents.opencode.transcript import read_projects

        projects = read_projects(find_data_folder(home, environ))
        return [RepositoryRecord(path, commit) for path, commit in projects]

    def path_holders(self, project: str, home: str, environ: Mapping[str, str]) -> list[PathHolder]:
        from ricordo.agents.diagnosis import PathHolder
        from ricordo.agents.opencode.transcript import read_projects

        data = find_data_folder(home, environ)
        is_known = project in dict(read_projects(data))
        return [PathHolder(data, "projects of opencode")] if is_known else []

    def outdated_plugins(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Those of version 1, where version 2 is used."""
        from ricordo.agents.opencode.transcript import is_used_by_version_2

        if not is_used_by_version_2(find_data_folder(home, environ)):
            return []
        settings = find_settings_folder(home, environ)
        folders = (os.path.join(settings, name) for name in ("plugin", "plugins"))
        files = [os.path.join(folder, name) for folder in folders for name in list_names(folder)]
        plugins = (path for path in files if path.endswith((".js", ".mjs", ".ts")))
        return sorted(path for path in plugins if not _has_setup(path))

    def find_session(self, path: str, session: str, raw: bytes) -> TranscriptSource | None:
        from ricordo.agents.opencode.transcript import read_sessions_at

        if not raw.startswith(b"SQLite") and not path.endswith(".json"):
            return None
        there = list(read_sessions_at(path))
        if not there:
            raise WrongUsage(
                f"--session: {make_one_line(path)} holds no session of opencode that can be read."
            )
        matches = [each for each in there if session in ("", each.id)]
        if len(matches) == 1:
            return _source(matches[0])
        newest = sorted(there, key=lambda each: (len(each.stamp), each.stamp), reverse=True)
        names = (f"{os.path.basename(path)}#{each.id}" for each in newest[:_MOST_NAMED])
        why = f"holds {len(there)} sessions; name one of them, such as {', '.join(names)}"
        raise WrongUsage(f"--session: {make_one_line(path)} {make_one_line(why)}.")

    def open_transcript(
        self, source: TranscriptSource, learnt: Checkpoint | None, step: Step
    ) -> OpencodeTranscript:
        from ricordo.agents.opencode.transcript import OpencodeSession, OpencodeTranscript

        session = OpencodeSession(source.path, source.session, source.cwd, source.stamp)
        return OpencodeTranscript(session, step)

    def read_messages_from(
        self, source: TranscriptSource, start: MessagePlace
    ) -> Iterator[Message]:
        # a session can only be read as a whole
        return self.open_transcript(source, None, lambda: None).messages()


def _read_settings(home: str, environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the user's settings files with what they hold: nothing where comments are in it."""
    for name in ("opencode.json", "opencode.jsonc"):
        file = os.path.join(find_settings_folder(home, environ), name)
        yield file, as_dict(read_json(file, _LARGEST_PLUGIN)[0])


def _has_setup(path: str) -> bool:
    """Return whether a plugin has the function that version 2 calls."""
    raw = read_plain_file(path, _LARGEST_PLUGIN, follow=True) or b""
    return re.search(rb"\bsetup\b", raw) is not None


OPENCODE = OpencodeSupport()
