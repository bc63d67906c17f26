"""Which sessions are relevant to one memory."""

from __future__ import annotations

from dataclasses import dataclass

from ricordo.agents.agent import Agent


@dataclass(frozen=True, slots=True)
class SessionScope:
    """Which sessions are relevant to one memory."""

    folders: tuple[str, ...] = ()
    """Folders of transcripts: all sessions in them."""
    projects: tuple[str, ...] = ()
    """Directories: all sessions that worked in them."""
    agents: frozenset[Agent] = frozenset()
    """All sessions of these agents."""
    roots: tuple[str, ...] = ()
    """The memory's directory by all its names."""
    tails: tuple[str, ...] = ()
    """How its directory's path ends, wherever the home of the agent was at the time."""
    home: str = ""
    """What `~` means."""

    def has(self, agent: Agent, path: str, cwd: str) -> bool:
        """Say whether a session is relevant: whose, its transcript, where it worked."""
        if agent in self.agents or any(is_inside(path, folder) for folder in self.folders):
            return True
        return cwd in self.projects or any(
            is_inside(cwd, project) for project in self.projects if self._is_project(project)
        )

    def _is_project(self, directory: str) -> bool:
        """Whether what lies in a directory is about one thing: in a home there is everything."""
        return directory != self.home and not is_inside(self.home, directory)

    def note(self, path: str) -> str:
        """Return the path in the memory of the file that an agent calls `path`; "" where it is
        none of its files.
        """
        whole = self.home + path[1:] if path.startswith("~/") else path
        for root in self.roots:
            if is_inside(whole, root):
                return whole[len(root.rstrip("/")) + 1 :]
        for tail in self.tails:
            _, match, inner = whole.partition(tail)
            if match and inner:
                return inner
        return ""


def is_inside(path: str, folder: str) -> bool:
    """Say whether `path` is below `folder`; nothing is below ""."""
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")
