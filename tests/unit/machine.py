"""A machine of its own for a test: a home with agents' folders, projects, and git."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from ricordo.agents.claude.folder import make_slug
from ricordo.services.workspace.environment import Environment

ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "ana@example.org",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
}


class Machine:
    """Lies in one temporary directory."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        self.home = self.path / "home"
        self.config = self.home / ".claude"
        self.home.mkdir()
        self.environ: dict[str, str] = {}

    def environment(self, cwd: Path | None = None) -> Environment:
        return Environment(
            cwd=str(cwd or self.path),
            environ=self.environ,
            agent_home=str(self.home),
            state=str(self.path / "state"),
            config=str(self.path / "config"),
            fixed_now="2026-11-20T08:00:00+00:00",
        )

    def directory(self, name: str) -> Path:
        path = self.path / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def repository(self, name: str) -> Path:
        path = self.directory(name)
        git(path, "init", "--quiet")
        git(path, "commit", "--quiet", "--allow-empty", "-m", "begin")
        return path

    def worktree(self, repository: Path, name: str) -> Path:
        path = self.path / name
        git(repository, "worktree", "add", "--quiet", "--detach", str(path))
        return path

    def project_folder(self, project: Path | str) -> Path:
        path = self.config / "projects" / make_slug(str(project))
        path.mkdir(parents=True, exist_ok=True)
        return path

    def memory(self, project: Path | str) -> Path:
        path = self.project_folder(project) / "memory"
        return fill(path)

    def transcript(self, folder: Path, cwd: Path | str, name: str = "a") -> Path:
        path = folder / f"{name}.jsonl"
        lines = [{"type": "mode", "mode": "normal"}, {"type": "user", "cwd": str(cwd)}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def settings(self, path: Path, value: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
        return path


def fill(path: Path, index: str = "MEMORY.md") -> Path:
    """Make a memory of one note with an index of that name."""
    path.mkdir(parents=True, exist_ok=True)
    (path / index).write_text("- [Pier](pier.md) — where it is\n")
    (path / "pier.md").write_text(
        "---\nname: pier\ndescription: where it is\ntype: project\n---\n\nIn the harbour.\n"
    )
    return path


def git(directory: Path, *words: str, at: str = "") -> str:
    """Run git; what it commits has the time `at`, ISO 8601."""
    times = {f"GIT_{who}_DATE": at for who in ("AUTHOR", "COMMITTER")} if at else {}
    done = subprocess.run(
        ["git", *words],
        cwd=directory,
        env=ENVIRON | times,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
