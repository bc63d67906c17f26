"""Which directory Claude Code takes for the memory of a workplace (formats: Claude Code 2.1.240).
Told by the workplace and the settings alone, so that no transcript is needed.
"""

from __future__ import annotations

import os

from ricordo.agents.claude_settings import memory_setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ricordo.agents.claude_settings import Installation
    from ricordo.agents.workplace import Workplace

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
