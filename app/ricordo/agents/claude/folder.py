"""Which directory Claude Code takes for the memory of a workplace (formats: Claude Code 2.1.240).
Told by the workplace and the settings alone, so that no transcript is needed.
"""

from __future__ import annotations

import os

from ricordo.storage.foreign_file import absolute_path, read_json

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


LONGEST_SLUG = 200
"""Longer ones are cut here and get a hash behind, whose algorithm is not documented."""

_FOLDER_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64


def slug(path: str) -> str:
    """Return the name of the folder that Claude Code keeps for the project at `path`, uncut.

    Every character but ASCII letters and digits becomes `-`; it counts in UTF-16 code units, so
    that a character beyond the basic plane becomes two.
    """
    return "".join(
        char if char.isascii() and char.isalnum() else "-" if char <= "\uffff" else "--"
        for char in path
    )


def memory_directory(claude: Installation, place: Workplace) -> tuple[str, str]:
    """Return the directory of the auto memory of a workplace, there or not, and which rule leads to
    it, with the settings that were passed over.
    """
    setting = memory_setting(claude, place)
    remarks = list(setting.remarks)
    root, why = setting.directory, f"autoMemoryDirectory in {setting.source}"
    if not root:
        folder, why = _project_folder(claude, place, remarks)
        root = os.path.join(claude.config, "projects", folder, "memory")
    return root, "; ".join((why, *remarks))


def memory_directory_by_path(claude: Installation, path: str) -> str:
    """Return the directory of the auto memory that is called by `path`, whatever settings say."""
    return os.path.join(claude.config, "projects", _folder_of(path), "memory")


def _project_folder(claude: Installation, place: Workplace, remarks: list[str]) -> tuple[str, str]:
    name = claude.project_name
    if name and claude.moved and len(name) <= _LONGEST_NAME and _FOLDER_NAME.issuperset(name):
        return name, "CLAUDE_CODE_PROJECT_DIR_NAME"
    if name and claude.moved:
        remarks.append("CLAUDE_CODE_PROJECT_DIR_NAME is no name that Claude Code takes")
    elif name:
        remarks.append("CLAUDE_CODE_PROJECT_DIR_NAME counts only with CLAUDE_CONFIG_DIR")
    in_git = "the git repository" if place.root != place.directory else "the directory"
    return _folder_of(place.root), f"Claude Code's folder for {in_git} {place.root}"


def _folder_of(path: str) -> str:
    folder = slug(path)
    # no folder is called so: which one it is only its sessions can tell
    return folder if len(folder) <= LONGEST_SLUG else f"{folder[:LONGEST_SLUG]}-…"
