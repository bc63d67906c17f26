"""Whether agents pick a handoff up by the way that is offered: `python -m tests.benchmarks.pickup`.

Needs no account. Every program that is found (`--programs FOLDER`, else on the path) is started in
a project with a handoff and with the line in the file that it reads at every start. It is given a
model server on this machine that records what it is asked and answers “ok”; to Codex the model
says first that it wants to read the file. Told is whether the words of the handoff are in what was
asked, whether the order to read it is, and whether a file came along that the handoff only quotes
with `@`. Ends with 1 where something is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.registry import find_agent
from ricordo.handoff.document import (
    Handoff,
    HandoffHeader,
    HandoffStatement,
    QuoteProof,
    SourceSession,
    StatementSection,
    handoff_target,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.format import render
from ricordo.handoff.pickup import build_pickup_edit, find_pickup_line

WORD = "XYZZY-OBJECTIVE"
CANARY = "CANARY-OF-A-FILE-THAT-IS-ONLY-QUOTED"
READ_FIRST = "Before you begin, read HANDOFF.md"
OBEY = "OBEY-AND-READ"
_SAID = f"{WORD}: mend it. See @canary.md\n@canary.md\n```\n@canary.md\n```\n- @canary.md"
_SECONDS = 60


@dataclass(frozen=True)
class Program:
    """How an agent is started without an account."""

    target: Agent
    words: tuple[str, ...]
    """What follows the name of the program; the prompt comes last."""
    settle: Callable[[Path, str], Mapping[str, str]]
    """Writes what it needs into a home, for the server at a URL; returns its environment."""


def settle_claude(home: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def settle_codex(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        'model = "m"\nmodel_provider = "here"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n[model_providers.here]\nname = "here"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\n'
    )
    return {"CODEX_HOME": str(folder)}


def settle_opencode(home: Path, url: str) -> Mapping[str, str]:
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


def _gemini(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".gemini"
    folder.mkdir()
    auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    (folder / "settings.json").write_text(json.dumps({"security": auth}))
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none"}


PROGRAMS = (
    Program(handoff_target("claude"), ("-p",), settle_claude),
    Program(handoff_target("codex"), ("exec", "--skip-git-repo-check"), settle_codex),
    Program(handoff_target("opencode"), ("run",), settle_opencode),
    Program(handoff_target("gemini"), ("-p",), _gemini),
)


@dataclass
class Recorder:
    """What a program asked of its model."""

    asked: list[str] = field(default_factory=list)

    def has(self, text: str) -> bool:
        return any(text in it for it in self.asked)

    def answer(self, path: str, body: str) -> tuple[str, bytes]:
        """Return the kind and the bytes of the answer to a request."""
        self.asked.append(body)
        if path.endswith("/responses"):
            is_first = OBEY in body and "function_call_output" not in body
            return "text/event-stream", render_events(
                build_response(_CALL if is_first else _MESSAGE)
            )
        if path.endswith("/chat/completions"):
            return "text/event-stream", render_lines(_COMPLETION) + b"data: [DONE]\n\n"
        if path.endswith("/messages"):
            return "text/event-stream", render_events(_MESSAGES)
        if "streamGenerateContent" in path:
            return "text/event-stream", render_lines([_GENERATED])
        return "application/json", json.dumps(_GENERATED).encode()


@contextmanager
def serving(model: Recorder | None = None) -> Iterator[tuple[Recorder, str]]:
    """Give a server that answers as `model` does and records, and its URL."""
    recorder = model or Recorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.send("application/json", b'{"data": [], "models": []}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send(*recorder.answer(self.path.split("?")[0], body.decode("utf-8", "replace")))

        def send(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield recorder, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def render_events(events: list[dict[str, Any]]) -> bytes:
    rows = (f"event: {it['type']}\ndata: {json.dumps(it)}\n\n" for it in events)
    return "".join(rows).encode()


def render_lines(chunks: list[dict[str, Any]]) -> bytes:
    return "".join(f"data: {json.dumps(it)}\n\n" for it in chunks).encode()


_MESSAGE = {"type": "message", "role": "assistant", "id": "m1",
            "content": [{"type": "output_text", "text": "ok"}]}  # fmt: skip
_CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command",
         "arguments": json.dumps({"cmd": "cat HANDOFF.md"})}  # fmt: skip
_COMPLETION: list[dict[str, Any]] = [
    {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
     "choices": [{"index": 0, "delta": {"role": "assistant", "content": "ok"}}]},
    {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
     "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
     "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
]  # fmt: skip
_MESSAGES: list[dict[str, Any]] = [
    {"type": "message_start", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]  # fmt: skip
_GENERATED = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
}


def build_response(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]


def handed_off(project: Path, target: Agent) -> None:
    """Write a handoff that quotes orders to load a file, the file, and the line that is offered."""
    now = datetime.now(UTC)
    source = SourceSession(find_agent("claude"), "s", "/s.jsonl")
    head = HandoffHeader(now, now + timedelta(days=7), target, 4000, "rules", (source,))
    quoted = HandoffStatement(
        StatementSection.OBJECTIVE, "Asked @canary.md", QuoteProof(MessageRef(0, 1)), (), _SAID
    )
    next_ = HandoffStatement(StatementSection.NEXT, "Run `a @canary.md`, then @canary.md")
    (project / "HANDOFF.md").write_text(render(Handoff(head, (quoted, next_))))
    (project / "canary.md").write_text(f"{CANARY}\n")
    wanted = find_pickup_line(target, str(project), str(project / "HANDOFF.md"))
    assert wanted is not None
    (project / wanted.file).write_text(build_pickup_edit(str(project), wanted).text)


def tried(program: Program, path: str, folders: str) -> tuple[str, bool]:
    """Return what was seen of a program, and whether all of it is as it should be."""
    with tempfile.TemporaryDirectory() as folder, serving() as (recorder, url):
        project, home = Path(folder, "project"), Path(folder, "home")
        project.mkdir()
        home.mkdir()
        subprocess.run(["git", "init", "--quiet", str(project)], check=True)
        handed_off(project, program.target)
        environ = {"PATH": folders, "HOME": str(home), **program.settle(home, url)}
        prompt = f"Go on. {OBEY}" if program.target is handoff_target("codex") else "Go on."
        # what was asked until it is stopped is recorded
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [path, *program.words, prompt], cwd=project, env=environ, timeout=_SECONDS,
                stdin=subprocess.DEVNULL, capture_output=True, check=False,
            )  # fmt: skip
        is_loaded, is_told = recorder.has(WORD), recorder.has(READ_FIRST)
        has_more = recorder.has(CANARY)
        loaded = "in the request" if is_loaded else "not in the request"
        order = "told to read it" if is_told else "not told to read it"
        seen = f"{len(recorder.asked)} requests; its words are {loaded}; {order}; "
        seen += "a file that is only quoted came along" if has_more else "nothing else came along"
        return seen, (is_loaded or is_told) and not has_more


def main(words: list[str] | None = None) -> int:
    """Try every program that is found; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--programs", default="", help="a folder in which they are looked for first"
    )
    options = parser.parse_args(words)
    folders = os.pathsep.join(filter(None, (options.programs, os.environ["PATH"])))
    is_right = True
    for program in PROGRAMS:
        path = shutil.which(program.target.value, path=folders)
        if path is None:
            print(f"{program.target.value}: not found")
            continue
        version = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False,
            env={"PATH": folders, "HOME": tempfile.gettempdir()}, timeout=_SECONDS,
        ).stdout.strip()  # fmt: skip
        seen, is_so = tried(program, path, folders)
        is_right &= is_so
        print(
            f"{program.target.value} ({version}): {seen}{'' if is_so else ' — NOT SO'}", flush=True
        )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
