"""Transcripts as agents write them, small and invented."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "5b1c7a52-90f4-4d0e-8a6d-2f6f1c9a0b11"
OTHER = "9d2f4c3e-1b0a-4c77-9e55-0a1b2c3d4e5f"
CWD = "/home/ana/work/tidepool"
FOLDER = "-home-ana-work-tidepool"
BEGAN = datetime.fromisoformat("2026-10-05T09:00:00+00:00")


class Claude:
    """One transcript of Claude Code, written line by line, a minute apart."""

    def __init__(self, session: str = SESSION, cwd: str = CWD, began: datetime = BEGAN) -> None:
        self.session = session
        self.cwd = cwd
        self.began = began
        self.lines: list[bytes] = []

    def line(self, type_: str, **fields: Any) -> Claude:
        """Add a line with these fields."""
        at = self.began + timedelta(minutes=len(self.lines))
        common = {
            "type": type_,
            "uuid": f"{self.session[:4]}-{len(self.lines)}",
            "sessionId": self.session,
            "timestamp": at.isoformat().replace("+00:00", "Z"),
            "cwd": self.cwd,
            "gitBranch": "main",
        }
        self.lines.append(json.dumps({**common, **fields}).encode())
        return self

    def bare(self, type_: str, **fields: Any) -> Claude:
        """Add a line about the session only."""
        fields = {"type": type_, "sessionId": self.session, **fields}
        self.lines.append(json.dumps(fields).encode())
        return self

    def says(self, text: str, **fields: Any) -> Claude:
        """Add what the person says."""
        return self.line("user", message={"role": "user", "content": text}, **fields)

    def answers(self, text: str, **fields: Any) -> Claude:
        """Add what the agent says."""
        block = {"type": "text", "text": text}
        return self.line("assistant", message={"role": "assistant", "content": [block]}, **fields)

    def uses(
        self,
        tool: str,
        call: str = "",
        *,
        failed: bool = False,
        answered: bool = True,
        aside: bool = False,
        output: str = "said the tool",
        beside: Any = None,
        **given: Any,
    ) -> Claude:
        """Add the call of a tool and, unless it is not `answered`, its result, and what the program
        tells `beside` it.
        """
        call = call or f"toolu_{self.session[:4]}_{len(self.lines)}"
        used = {"type": "tool_use", "id": call, "name": tool, "input": given}
        fields = {"isSidechain": True} if aside else {}
        self.line("assistant", message={"role": "assistant", "content": [used]}, **fields)
        if answered:
            result = {"type": "tool_result", "tool_use_id": call, "content": output}
            result |= {"is_error": True} if failed else {}
            self.line("user", message={"content": [result]}, toolUseResult=beside or {}, **fields)
        return self

    def runs(self, command: str, output: str = "", *, failed: bool = False) -> Claude:
        """Add a command of the shell and what it says."""
        return self.uses("Bash", failed=failed, output=output, command=command)

    def titled(self, title: str) -> Claude:
        """Add the title that the program gives the session."""
        return self.bare("ai-title", aiTitle=title)

    @property
    def bytes(self) -> bytes:
        """The whole of it."""
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, home: Path, folder: str = FOLDER) -> Path:
        """Write it where the agent of `home` keeps it; return the file."""
        return write(home / ".claude" / "projects" / folder / f"{self.session}.jsonl", self.bytes)


class Codex:
    """One rollout of Codex."""

    def __init__(self, session: str = "019fb100-aaaa", cwd: str = CWD) -> None:
        self.session = session
        self.cwd = cwd
        self.lines: list[bytes] = []

    def line(self, type_: str, **payload: Any) -> Codex:
        """Add a line."""
        at = BEGAN + timedelta(minutes=len(self.lines))
        fields = {"timestamp": at.isoformat(), "type": type_, "payload": payload}
        self.lines.append(json.dumps(fields).encode())
        return self

    def head(self, **fields: Any) -> Codex:
        """Add the head of the session."""
        git = {"branch": "main"}
        return self.line("session_meta", id=self.session, cwd=self.cwd, git=git, **fields)

    def says(self, text: str) -> Codex:
        """Add what the person says, as the message and as the event."""
        content = [{"type": "input_text", "text": text}]
        self.line("response_item", type="message", role="user", content=content)
        return self.line("event_msg", type="user_message", message=text)

    def answers(self, text: str) -> Codex:
        """Add what the agent says, as the event and as the message."""
        self.line("event_msg", type="agent_message", message=text)
        content = [{"type": "output_text", "text": text}]
        return self.line("response_item", type="message", role="assistant", content=content)

    def shell(self, command: str, *, code: int = 0, output: str = "") -> Codex:
        """Add a command and its result."""
        call = f"call_{len(self.lines)}"
        given = json.dumps({"command": command})
        item = {"type": "function_call", "name": "shell_command", "arguments": given}
        self.line("response_item", **item, call_id=call)
        text = f"Exit code: {code}\nOutput:\n{output}"
        return self.line("response_item", type="function_call_output", call_id=call, output=text)

    @property
    def bytes(self) -> bytes:
        """The whole of it."""
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, home: Path) -> Path:
        """Write it where the agent of `home` keeps it; return the file."""
        folder = home / ".codex" / "sessions" / "2026" / "10" / "05"
        return write(folder / f"rollout-2026-10-05T09-00-00-{self.session}.jsonl", self.bytes)


def write(path: Path, content: bytes) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


class Opencode:
    """One session of opencode, in files."""

    def __init__(self, session: str = "ses_1", cwd: str = CWD) -> None:
        self.session = session
        self.cwd = cwd
        self.messages: list[tuple[str, dict[str, Any]]] = []

    def part(self, role: str, **part: Any) -> Opencode:
        """Add a message of one part, a minute after the one before."""
        self.messages.append((role, part))
        return self

    def says(self, text: str) -> Opencode:
        """Add what the person says."""
        return self.part("user", type="text", text=text)

    def answers(self, text: str) -> Opencode:
        """Add what the agent says."""
        return self.part("assistant", type="text", text=text)

    def uses(self, tool: str, call: str = "", **state: Any) -> Opencode:
        """Add the call of a tool and its `state`: what it was given, and how it ended."""
        call = call or f"call_{len(self.messages)}"
        state = {"status": "completed", **state}
        return self.part("assistant", type="tool", tool=tool, callID=call, state=state)

    def shell(self, command: str, *, code: int = 0, output: str = "") -> Opencode:
        """Add a command and its result."""
        fields = {"output": output, "metadata": {"exit": code}}
        return self.uses("bash", input={"command": command}, **fields)

    def write(self, data: Path) -> Path:
        """Write it into the data directory of opencode; return the file of the session."""
        storage, began = data / "storage", int(BEGAN.timestamp() * 1000)
        times = {"created": began, "updated": began + 60_000 * len(self.messages)}
        head = {"id": self.session, "directory": self.cwd, "title": "", "time": times}
        for number, (role, part) in enumerate(self.messages):
            name = f"msg_{self.session}_{number:04}"
            message = {"id": name, "role": role, "time": {"created": began + 60_000 * number}}
            self._put(storage / "message" / self.session / f"{name}.json", message)
            self._put(storage / "part" / name / "prt_0.json", {"id": f"{name}.0", **part})
        return self._put(storage / "session" / "project" / f"{self.session}.json", head)

    def _put(self, path: Path, fields: dict[str, Any]) -> Path:
        return write(path, json.dumps(fields).encode())
