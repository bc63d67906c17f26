"""Sessions of agents as the hooks see them: processes that are given the events of each agent."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricordo.agents.claude.folder import make_slug
from tests.support.builders import note_text, write_memory
from tests.support.forking import run_forked
from tests.unit.machine import ENVIRON, git

SECONDS = 30
QUESTION = "when does the harbour gate open in winter?"
HARBOUR = "The harbour gate opens at six in winter.\n"


class Session:
    """A project with the memory that Claude Code keeps for it, and one session there."""

    def __init__(
        self, path: Path, agent: str = "", name: str = "one", more: Mapping[str, str] | None = None
    ) -> None:
        """`more` are further variables of its environment."""
        self.path = Path(os.path.realpath(path))
        self.agent = agent
        self.name = name
        self.more = more or {}

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def project(self) -> Path:
        return self.path / "project"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def memory(self) -> Path:
        return self.home / ".claude/projects" / make_slug(str(self.project)) / "memory"

    @property
    def environ(self) -> dict[str, str]:
        return {**ENVIRON, "HOME": str(self.home), "RICORDO_STATE": str(self.state), **self.more}

    def called(self, name: str, **more: str) -> Session:
        """Return another session in the same project, with `more` variables."""
        return Session(self.path, self.agent, name, {**self.more, **more})

    def event(self, **fields: Any) -> bytes:
        return json.dumps({"session_id": self.name, "cwd": str(self.project), **fields}).encode()

    def hook(self, event: str, document: bytes | None = None, **fields: Any) -> dict[str, Any]:
        """Run the hook; return its answer, {} for none, once it is sure that it ended well."""
        words = ["hook", event, f"--agent={self.agent}"] if self.agent else ["hook", event]
        given = self.event(**fields) if document is None else document
        if "PYTHONPATH" in self.more:
            # another Ricordo than the one that is loaded
            done = subprocess.run(
                [sys.executable, "-m", "ricordo", *words],
                input=given,
                env=self.environ,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        else:
            done = run_forked(*words, environ=self.environ, cwd=Path.cwd(), given=given)
        assert (done.returncode, done.stderr) == (0, b"")
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    def context(self, event: str, document: bytes | None = None, **fields: Any) -> str:
        """Run the hook; return the context that it adds."""
        output = self.hook(event, document, **fields).get("hookSpecificOutput", {})
        return str(output.get("additionalContext", ""))

    def start(self, **fields: Any) -> str:
        event = {"hook_event_name": "SessionStart", "source": "startup"}
        return self.context("start", **{**event, **fields})

    def ask(self, prompt: str = QUESTION, **fields: Any) -> str:
        event = {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
        return self.context("prompt", **{**event, **fields})

    def write(self, name: str, body: str, folder: Path | None = None) -> Path:
        """Write a note as an agent does, and an index with it."""
        root = folder or self.memory
        write_memory(root, {f"{name}.md": note_text(name.replace("_", " "), body)})
        return root / f"{name}.md"

    def tell_written(self, path: Path, **fields: Any) -> None:
        event = {"hook_event_name": "PostToolUse", "tool_name": "Write"}
        arguments = {"tool_input": {"file_path": str(path), "content": "x"}}
        response = {"tool_response": {"type": "create", "filePath": str(path)}}
        assert self.hook("wrote", **{**event, **arguments, **response, **fields}) == {}

    def ricordo(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "ricordo", *words],
            cwd=self.project,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode in codes, done.stderr
        return done.stdout

    def wait(self) -> None:
        """Wait until the process in the background has answered all requests."""
        hook = self.state / "hook"
        until = time.monotonic() + SECONDS
        while True:
            queues = [hook / "index", hook / "check"]
            pending = [it for queue in queues if queue.is_dir() for it in queue.iterdir()]
            if not pending and all(is_free(hook / f"{queue.name}.lock") for queue in queues):
                return
            assert time.monotonic() < until, f"still pending: {pending}"
            time.sleep(0.05)


def is_free(lock: Path) -> bool:
    """Return whether no process holds a lock."""
    if not lock.exists():
        return True
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def begin(path: Path, agent: str = "") -> Session:
    """Return a session in a new project of a new home."""
    session = Session(path, agent)
    session.home.mkdir()
    session.project.mkdir()
    git(session.project, "init", "--quiet")
    git(session.project, "commit", "--quiet", "--allow-empty", "-m", "begin")
    return session
