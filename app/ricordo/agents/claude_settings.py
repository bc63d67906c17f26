"""Claude Code's settings, as far as they say where its memory lies.

Order and trust as documented for versions 2.1.74 to 2.1.240: managed policy, the project's local
settings, the project's shared settings if the person trusted the project, the person's own.
"""

from __future__ import annotations

import os

from ricordo.disk.json_file import read_json
from ricordo.disk.paths import absolute_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ricordo.agents.workplace import Workplace

MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""What an administrator sets, on Linux and on macOS."""
KEY = "autoMemoryDirectory"

_LARGEST_SETTINGS = 1024 * 1024
_LARGEST_RECORD = 16 * 1024 * 1024


class Installation:
    """One person's Claude Code."""

    __slots__ = ("config", "home", "moved", "project_name")

    def __init__(self, home: str, config: str, project_name: str = "", moved: bool = False) -> None:
        self.home = home
        """What `~` means."""
        self.config = config
        """The directory of settings, transcripts and memories."""
        self.project_name = project_name
        """How the shell names the project's folder; "" where it does not."""
        self.moved = moved
        """Whether the shell says where `config` is."""


class MemorySetting:
    """Where the settings put the memory."""

    __slots__ = ("directory", "remarks", "source")

    def __init__(
        self, directory: str = "", source: str = "", remarks: tuple[str, ...] = ()
    ) -> None:
        self.directory = directory
        """Absolute path; "" where no settings say."""
        self.source = source
        """The file that says so."""
        self.remarks = remarks
        """What was passed over, and why."""


def installation(home: str, environ: Mapping[str, str]) -> Installation:
    """Return the Claude Code that has its home in `home` and is run with `environ`."""
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    return Installation(
        home,
        os.path.join(home, moved or ".claude"),
        environ.get("CLAUDE_CODE_PROJECT_DIR_NAME", ""),
        bool(moved),
    )


def memory_setting(claude: Installation, place: Workplace) -> MemorySetting:
    """Return where the settings put the memory of a workplace; the first that says so wins."""
    remarks: list[str] = []
    for path, needs_trust in _layers(claude, place):
        value, complaint = _value(path)
        directory = _expanded(value, claude.home)
        if complaint:
            remarks.append(f"{path} {complaint}")
        elif value is not None and not directory:
            remarks.append(f"{path}: {KEY} is neither absolute nor below ~/")
        elif directory and needs_trust and not _is_trusted(claude, place):
            remarks.append(f"{path}: {KEY} is ignored, for the project is not trusted")
        elif directory:
            return MemorySetting(directory, path, tuple(remarks))
    return MemorySetting(remarks=tuple(remarks))


def _layers(claude: Installation, place: Workplace) -> Iterator[tuple[str, bool]]:
    """The settings files, strongest first, and whether the project has to be trusted for them."""
    for path in MANAGED:
        yield path, False
    projects = dict.fromkeys((place.directory, place.top))
    user = os.path.join(claude.config, "settings.json")
    for name, needs_trust in (("settings.local.json", False), ("settings.json", True)):
        for project in projects:
            path = os.path.join(project, ".claude", name)
            # in the home directory itself they are the person's own
            if path != user:
                yield path, needs_trust
    yield user, False


def _value(path: str) -> tuple[object, str]:
    settings, complaint = read_json(path, _LARGEST_SETTINGS)
    if settings is None or isinstance(settings, dict):
        return (settings or {}).get(KEY), complaint
    return None, "holds no settings"


def _expanded(value: object, home: str) -> str:
    if isinstance(value, str) and value.startswith("~/"):
        return absolute_path(os.path.join(home, value[2:].lstrip("/")))
    return absolute_path(value)


def _is_trusted(claude: Installation, place: Workplace) -> bool:
    folder = claude.config if claude.moved else claude.home
    record, _ = read_json(os.path.join(folder, ".claude.json"), _LARGEST_RECORD)
    projects = record.get("projects") if isinstance(record, dict) else None
    if not isinstance(projects, dict):
        return False
    entries = (projects.get(path) for path in place.all)
    return any(
        isinstance(entry, dict) and entry.get("hasTrustDialogAccepted") is True for entry in entries
    )
