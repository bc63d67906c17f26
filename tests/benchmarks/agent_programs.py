"""The real agents, as `pickup` starts them: without an account, in a fresh home, with a scripted
model on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ricordo.agents.claude.folder import make_slug
from tests.benchmarks.scripted_model import Call, ScriptedModel, serving
from tests.benchmarks.stage import RICORDO

SECONDS = 120
FACT = "The harbour gate opens at six in winter."
NOTE = (
    f"---\nname: harbour gate\ndescription: opening hours of the gate\ntype: project\n---\n{FACT}\n"
)
NOTE_FILE = "harbour_gate.md"


@dataclass(frozen=True)
class AgentProgram:
    """How an agent is started, and how its model calls tools."""

    name: str
    words: tuple[str, ...]
    """What follows the name of the program; the prompt comes last."""
    settle: Callable[[Path, str], Mapping[str, str]]
    """Writes what it needs into a home, for the model at a URL; returns its environment."""
    write: Callable[[Path], Call]
    """Returns the call that writes a note at a path."""
    tool: Callable[[str, Any], Call]
    """Returns the call of a tool of Ricordo's MCP server."""
    own: tuple[str, ...]
    """Its own files in a home, which it may write as it likes."""
    rewritten: tuple[str, ...] = ()
    """Files with settings that it changes by itself."""
    before_tools: tuple[Call, ...] = ()
    """Calls by which its model finds tools that are not offered at once."""
    has_own_memory: bool = False
    """Whether it keeps notes in its home; else they are in the folder `memory` of the project."""
    read: Call | None = None
    """The call that reads a handoff, where an agent is only told to read it."""

    def find_memory(self, home: Path, project: Path) -> Path:
        """Return the directory of the notes on a project."""
        if self.has_own_memory:
            return home / ".claude/projects" / make_slug(str(project)) / "memory"
        return project / "memory"


def _settle_claude(home: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _settle_codex(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".codex"
    folder.mkdir()
    # a model that Codex knows is given a tool for files
    (folder / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "here"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n[model_providers.here]\nname = "here"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\n'
    )
    return {"CODEX_HOME": str(folder)}


def _settle_opencode(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".config/opencode"
    folder.mkdir(parents=True)
    here = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m"}},
    }
    settings = {"model": "here/m", "small_model": "here/m", "autoupdate": False}
    (folder / "opencode.json").write_text(json.dumps({**settings, "provider": {"here": here}}))
    return {}


def _settle_gemini(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".gemini"
    folder.mkdir()
    auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    (folder / "settings.json").write_text(json.dumps({"security": auth}))
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"}


def _write_patch(path: Path) -> Call:
    lines = "".join(f"+{line}\n" for line in NOTE.splitlines())
    file = f"{path.parent.name}/{path.name}"
    return Call("apply_patch", f"*** Begin Patch\n*** Add File: {file}\n{lines}*** End Patch\n")


def _call_shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


PROGRAMS = (
    AgentProgram(
        "claude",
        ("--permission-mode", "acceptEdits", "--allowedTools", "mcp__plugin_ricordo_ricordo", "-p"),
        _settle_claude,
        lambda path: Call("Write", {"file_path": str(path), "content": NOTE}),
        lambda name, arguments: Call(f"mcp__plugin_ricordo_ricordo__{name}", arguments),
        (".claude", ".claude.json", ".cache", ".npm"),
        before_tools=(Call("ToolSearch", {"query": "+ricordo", "max_results": 10}),),
        has_own_memory=True,
    ),
    AgentProgram(
        "codex",
        ("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"),
        _settle_codex,
        _write_patch,
        lambda name, arguments: Call(name, arguments, "mcp__ricordo"),
        (".codex",),
        # it does not wait for servers before it searches
        before_tools=(
            _call_shell("sleep 8"),
            Call("tool_search", {"query": "notes", "limit": 10}),
        ),
        read=_call_shell("cat HANDOFF.md"),
    ),
    AgentProgram(
        "opencode",
        ("run",),
        _settle_opencode,
        lambda path: Call("write", {"filePath": str(path), "content": NOTE}),
        lambda name, arguments: Call(f"ricordo_{name}", arguments),
        (".cache", ".config/opencode", ".local/share/opencode", ".local/state/opencode", ".npm"),
        (".config/opencode/opencode.json",),
    ),
    AgentProgram(
        "gemini",
        # any other model is chosen by asking another one first
        ("--yolo", "--model", "gemini-2.5-pro", "--prompt"),
        _settle_gemini,
        lambda path: Call("write_file", {"file_path": str(path), "content": NOTE}),
        lambda name, arguments: Call(f"mcp_ricordo_{name}", arguments),
        (".gemini", ".cache", ".npm"),
        (".gemini/settings.json",),
    ),
)


@dataclass
class AgentRun:
    """A fresh home and project in which one agent is run, and its model."""

    program: AgentProgram
    path: str
    """The program on this machine."""
    home: Path
    project: Path
    environ: Mapping[str, str]
    model: ScriptedModel
    lines: list[str] = field(default_factory=list)
    """What was run and printed, as Markdown."""

    @property
    def memory(self) -> Path:
        """The directory of the notes on the project."""
        return self.program.find_memory(self.home, self.project)

    def ask(self, prompt: str, *calls: Call, words: tuple[str, ...] = ()) -> list[str]:
        """Start the agent with a prompt, and `words` before its usual ones; its model makes the
        `calls`. Return what the model was asked.
        """
        self.model.calls[:] = calls
        before = len(self.model.asked)
        self._run([self.path, *words, *self.program.words, prompt])
        return self.model.asked[before:]

    def ricordo(self, *words: str) -> str:
        """Run Ricordo; return what it printed."""
        return self._run([RICORDO, *words])

    def _run(self, words: list[str]) -> str:
        try:
            done = subprocess.run(
                words, cwd=self.project, env=self.environ, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, check=False, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            # what was asked until it is stopped is recorded
            text, end = "", f"stopped after {SECONDS} seconds"
        else:
            text, end = f"{done.stdout}{done.stderr}".strip(), f"ends with {done.returncode}"
        shown = " ".join([os.path.basename(words[0]), *words[1:]])
        self.lines.append(f"```\n$ {shown}\n{text}\n[{end}]\n```")
        return text


@contextmanager
def running(program: AgentProgram, path: str, folders: str) -> Iterator[AgentRun]:
    """Give a fresh home and project for the program at `path`; `folders` is the search path."""
    model = ScriptedModel()
    # not below /tmp, where Codex refuses to work
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("RICORDO_RUNS")) as folder,
        serving(model) as url,
    ):
        home, project = Path(folder, "home"), Path(folder, "my project")
        home.mkdir()
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        environ = {"PATH": folders, "HOME": str(home), **program.settle(home, url)}
        yield AgentRun(program, path, home, project, environ, model)
