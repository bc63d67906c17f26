"""Which directory Claude Code uses for the memory of a workplace (formats: Claude Code 2.1.240).
The workplace and the settings determine it, so no transcript is needed.
"""

from __future__ import annotations

import os

from ricordo.storage.foreign_file import normalize_absolute_path, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ricordo.agents.workplace import Workplace

MANAGED_SETTINGS = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""The settings of an administrator, on Linux and on macOS."""
MEMORY_KEY = "autoMemoryDirectory"

_LARGEST_SETTINGS = 1024 * 1024
_LARGEST_RECORD = 16 * 1024 * 1024


class Installation:
    """The Claude Code of one user."""

    __slots__ = ("config", "home", "is_config_set", "project_name")

    def __init__(self, home: str, config: str, project_name: str = "", moved: bool = False) -> None:
        self.home = home
        """The directory that `~` means."""
        self.config = config
        """The directory of settings, transcripts and memories."""
        self.project_name = project_name
        """The name of the project's folder by the environment; "" if it sets none."""
        self.is_config_set = moved
        """Whether the environment sets `config`."""


class MemorySetting:
    """The memory directory that the settings name."""

    __slots__ = ("directory", "source", "warnings")

    def __init__(
        self, directory: str = "", source: str = "", warnings: tuple[str, ...] = ()
    ) -> None:
        self.directory = directory
        """Absolute path; "" if no settings name one."""
        self.source = source
        """The settings file that names it."""
        self.warnings = warnings
        """The settings that were ignored, and why."""


def find_installation(home: str, environ: Mapping[str, str]) -> Installation:
    """Return the Claude Code of the user with this `home` and `environ`."""
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    return Installation(
        home,
        os.path.join(home, moved or ".claude"),
        environ.get("CLAUDE_CODE_PROJECT_DIR_NAME", ""),
        bool(moved),
    )


def read_memory_setting(claude: Installation, place: Workplace) -> MemorySetting:
    """Return where the settings put the memory of a workplace; the first that name it win."""
    warnings: list[str] = []
    for path, needs_trust in _layers(claude, place):
        value, problem = _read_value(path)
        directory = _expand(value, claude.home)
        if problem:
            warnings.append(f"{path} {problem}")
        elif value is not None and not directory:
            warnings.append(f"{path}: {MEMORY_KEY} is neither absolute nor below ~/")
        elif directory and needs_trust and not _is_trusted(claude, place):
            warnings.append(f"{path}: {MEMORY_KEY} is ignored: the project is not trusted")
        elif directory:
            return MemorySetting(directory, path, tuple(warnings))
    return MemorySetting(warnings=tuple(warnings))


def _layers(claude: Installation, place: Workplace) -> Iterator[tuple[str, bool]]:
    """Yield the settings files, highest precedence first, and whether each needs a trusted
    project.
    """
    for path in MANAGED_SETTINGS:
        yield path, False
    projects = dict.fromkeys((place.directory, place.top))
    user = os.path.join(claude.config, "settings.json")
    for name, needs_trust in (("settings.local.json", False), ("settings.json", True)):
        for project in projects:
            path = os.path.join(project, ".claude", name)
            # in the home directory it is the settings file of the user
            if path != user:
                yield path, needs_trust
    yield user, False


def _read_value(path: str) -> tuple[object, str]:
    settings, problem = read_json(path, _LARGEST_SETTINGS)
    if settings is None or isinstance(settings, dict):
        return (settings or {}).get(MEMORY_KEY), problem
    return None, "holds no settings"


def _expand(value: object, home: str) -> str:
    if isinstance(value, str) and value.startswith("~/"):
        return normalize_absolute_path(os.path.join(home, value[2:].lstrip("/")))
    return normalize_absolute_path(value)


def _is_trusted(claude: Installation, place: Workplace) -> bool:
    folder = claude.config if claude.is_config_set else claude.home
    record, _ = read_json(os.path.join(folder, ".claude.json"), _LARGEST_RECORD)
    projects = record.get("projects") if isinstance(record, dict) else None
    if not isinstance(projects, dict):
        return False
    entries = (projects.get(path) for path in place.all_directories)
    return any(
        isinstance(entry, dict) and entry.get("hasTrustDialogAccepted") is True for entry in entries
    )


LONGEST_SLUG = 200
"""Longer slugs are cut here, and a hash of an undocumented algorithm follows."""
UNKNOWN_HASH = "…"
"""What is in place of that hash where it is not known."""

_FOLDER_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64


def make_slug(path: str) -> str:
    """Return the name of the folder that Claude Code keeps for the project at `path`, uncut.

    Every character but ASCII letters and digits becomes `-`; it counts in UTF-16 code units, so
    that a character beyond the basic plane becomes two.
    """
    return "".join(
        char if char.isascii() and char.isalnum() else "-" if char <= "\uffff" else "--"
        for char in path
    )


def find_memory_directory(claude: Installation, place: Workplace) -> tuple[str, str]:
    """Return the directory of the auto memory of a workplace, there or not, and the rule that names
    it, with the settings that were ignored.
    """
    setting = read_memory_setting(claude, place)
    warnings = list(setting.warnings)
    root, why = setting.directory, f"autoMemoryDirectory in {setting.source}"
    if not root:
        folder, why = _find_project_folder(claude, place, warnings)
        root = os.path.join(claude.config, "projects", folder, "memory")
    return root, "; ".join((why, *warnings))


def memory_directory_of_path(claude: Installation, path: str) -> str:
    """Return the directory of the auto memory that is named after `path`, whatever settings say."""
    return os.path.join(claude.config, "projects", _folder_of(path), "memory")


def _find_project_folder(
    claude: Installation, place: Workplace, warnings: list[str]
) -> tuple[str, str]:
    name = claude.project_name
    if (
        name
        and claude.is_config_set
        and len(name) <= _LONGEST_NAME
        and _FOLDER_NAME.issuperset(name)
    ):
        return name, "CLAUDE_CODE_PROJECT_DIR_NAME"
    if name and claude.is_config_set:
        warnings.append("CLAUDE_CODE_PROJECT_DIR_NAME is not a name that Claude Code accepts")
    elif name:
        warnings.append("CLAUDE_CODE_PROJECT_DIR_NAME needs CLAUDE_CONFIG_DIR, which is not set")
    in_git = "the git repository" if place.root != place.directory else "the directory"
    return _folder_of(place.root), f"Claude Code's folder for {in_git} {place.root}"


def _folder_of(path: str) -> str:
    folder = make_slug(path)
    # no folder has this name: only the sessions show which one it is
    return folder if len(folder) <= LONGEST_SLUG else f"{folder[:LONGEST_SLUG]}-{UNKNOWN_HASH}"
