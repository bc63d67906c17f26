"""Whether connected agents are given what they wrote: `python -m tests.benchmarks.connect`.

Needs no account. Every program that is found (`--programs FOLDER`, else on the path) is started in
a fresh home with a model server on this machine. `ricordo connect` runs once; in one session the
model writes a note, and the prompt of the next session has to come with it, without Ricordo having
been opened. Then `ricordo disconnect` runs, and the home has to be as it was, but for the agent's
own files. `--notes FILE` appends what happened. Ends with 1 where something is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.pickup import (
    Recorder,
    build_response,
    render_events,
    render_lines,
    serving,
    settle_claude,
    settle_codex,
    settle_opencode,
)
from tests.benchmarks.stage import RICORDO

WRITE = "WRITE-A-NOTE"
QUESTION = "When does the harbour gate open in winter?"
FACT = "The harbour gate opens at six in winter."
NOTE = (
    f"---\nname: harbour gate\ndescription: opening hours of the gate\ntype: project\n---\n{FACT}\n"
)
_SECONDS = 120
_SETTLING = 2.0
"""Seconds between two sessions."""

Call = tuple[str, Any]


@dataclass
class WritingModel(Recorder):
    """A model that calls one tool when it is told to write."""

    call: Call = ("", "")
    is_done: bool = False

    def answer(self, path: str, body: str) -> tuple[str, bytes]:
        wants = WRITE in body and not self.is_done and '"tools":[{' in body.replace(" ", "")
        if not wants:
            return super().answer(path, body)
        self.asked.append(body)
        self.is_done = True
        name, arguments = self.call
        kind = "text/event-stream"
        if path.endswith("/messages"):
            return kind, render_events(_tool_use(name, arguments))
        if path.endswith("/responses"):
            item = {"type": "custom_tool_call", "id": "f", "call_id": "c", "name": name}
            return kind, render_events(build_response({**item, "input": arguments}))
        return kind, render_lines(_tool_call(name, arguments)) + b"data: [DONE]\n\n"


def _tool_use(name: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]


def _tool_call(name: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"role": "assistant", "tool_calls": [call]}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]


@dataclass(frozen=True)
class ConnectedProgram:
    """How an agent is started, and how it writes a note."""

    name: str
    words: tuple[str, ...]
    settle: Callable[[Path, str], Mapping[str, str]]
    write: Callable[[Path, Path], Call]
    """Takes home and project."""
    own: tuple[str, ...]
    """Its own files in a home, which it may write as it likes."""
    rewritten: tuple[str, ...] = ()
    """Files with settings that it changes by itself."""


def _write_claude(home: Path, project: Path) -> Call:
    slug = "".join(char if char.isalnum() else "-" for char in str(project))
    path = home / ".claude/projects" / slug / "memory/harbour_gate.md"
    return "Write", {"file_path": str(path), "content": NOTE}


def _write_codex(home: Path, project: Path) -> Call:
    lines = "".join(f"+{line}\n" for line in NOTE.splitlines())
    patch = f"*** Begin Patch\n*** Add File: memory/harbour_gate.md\n{lines}*** End Patch\n"
    return "apply_patch", patch


def _write_opencode(home: Path, project: Path) -> Call:
    return "write", {"filePath": str(project / "memory/harbour_gate.md"), "content": NOTE}


def _settle_codex(home: Path, url: str) -> Mapping[str, str]:
    environ = settle_codex(home, url)
    config = home / ".codex/config.toml"
    # a model that Codex knows is given a tool for files
    config.write_text(config.read_text().replace('model = "m"', 'model = "gpt-5.5"', 1))
    return environ


PROGRAMS = (
    ConnectedProgram(
        "claude",
        ("-p", "--permission-mode", "acceptEdits"),
        settle_claude,
        _write_claude,
        (".claude", ".claude.json", ".cache", ".npm"),
    ),
    ConnectedProgram(
        "codex",
        ("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"),
        _settle_codex,
        _write_codex,
        (".codex",),
    ),
    ConnectedProgram(
        "opencode",
        ("run",),
        settle_opencode,
        _write_opencode,
        (".cache", ".config/opencode", ".local/share/opencode", ".local/state/opencode", ".npm"),
        (".config/opencode/opencode.json",),
    ),
)


@dataclass
class Run:
    """What happened with one program."""

    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.lines.append(text)

    def check(self, what: str, is_so: bool) -> None:
        self.lines.append(f"- {what}: {'yes' if is_so else 'NO'}")
        if not is_so:
            self.problems.append(what)


def _start(words: list[str], run: Run, **options: Any) -> str:
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=_SECONDS, **options,
    )  # fmt: skip
    text = f"{done.stdout}{done.stderr}".strip()
    shown = " ".join(words).replace(str(Path(RICORDO).parent) + "/", "")
    run.note(f"```\n$ {shown}\n{text}\n[ends with {done.returncode}]\n```")
    return text


def list_files(home: Path, without: tuple[str, ...]) -> dict[str, bytes]:
    """Return the files in a home by path, without those in the folders `without`."""
    return {
        name: path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.is_symlink()
        for name in [path.relative_to(home).as_posix()]
        if not any(name == it or name.startswith(f"{it}/") for it in without)
    }


def try_program(program: ConnectedProgram, path: str, folders: str) -> Run:
    """Connect a program, have it write a note, ask for it, disconnect."""
    run = Run()
    # not below /tmp, where Codex refuses to work
    with tempfile.TemporaryDirectory(dir=os.environ.get("RICORDO_RUNS")) as folder:
        home, project = Path(folder, "home"), Path(folder, "my project")
        home.mkdir()
        project.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        model = WritingModel(call=program.write(home, project))
        with serving(model) as (_, url):
            environ = {"PATH": folders, "HOME": str(home), **program.settle(home, url)}
            options: dict[str, Any] = {"cwd": project, "env": environ}
            before = list_files(home, ())
            _start([RICORDO, "connect", program.name, "--yes"], run, **options)
            connected = {name for name in list_files(home, ()) if name not in before}
            _start([path, *program.words, f"{WRITE} please"], run, **options)
            run.check("the model was asked and called its tool", model.is_done)
            time.sleep(_SETTLING)
            asked = len(model.asked)
            _start([path, *program.words, QUESTION], run, **options)
            given = [body for body in model.asked[asked:] if FACT in body]
            run.check("the next prompt came with the note", bool(given))
            run.check("as a note of Ricordo", any("Notes from earlier" in it for it in given))
            _start([RICORDO, "connect", "--status", program.name], run, **options)
            _start([RICORDO, "inbox"], run, **options)
            _start([RICORDO, "disconnect", program.name, "--yes"], run, **options)
        after = list_files(home, ())
        changed = [
            name
            for name in before
            if after.get(name) != before[name] and name not in program.rewritten
        ]
        run.check(f"nothing that was there changed {changed or ''}".rstrip(), not changed)
        ours = [name for name in after if name in connected and "/ricordo" in f"/{name}"]
        left = [name for name in ours if not name.startswith(".local/state/ricordo/")]
        run.check(f"no file of Ricordo is left {left or ''}".rstrip(), not left)
        others = set(list_files(home, (*program.own, ".local/state/ricordo"))) - set(before)
        run.check(f"no other new file {sorted(others) or ''}".rstrip(), not others)
    return run


def main(words: list[str] | None = None) -> int:
    """Try every program that is found; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", default="", help="a folder in which they are looked for")
    parser.add_argument("--notes", help="a file to which what happened is appended")
    parser.add_argument("--only", help="the name of one program")
    options = parser.parse_args(words)
    folders = os.pathsep.join(filter(None, (options.programs, os.environ["PATH"])))
    is_right = True
    for program in PROGRAMS:
        if options.only not in (None, program.name):
            continue
        path = shutil.which(program.name, path=folders)
        if path is None:
            print(f"{program.name}: not found")
            continue
        run = try_program(program, path, folders)
        is_right &= not run.problems
        print(f"{program.name}: {'; '.join(run.problems) or 'all as it should be'}", flush=True)
        if options.notes:
            with Path(options.notes).open("a") as file:
                file.write("\n".join((f"## {program.name}\n", *run.lines, "\n")))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
