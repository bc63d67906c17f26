"""Whether the agents still behave as Ricordo relies on: `python -m tests.benchmarks.pickup`.

Needs no account. Every program that is found (`--programs FOLDER`, else on the path) is started in
fresh homes, with a model on this machine. It is connected, writes a note, is asked for it, calls
the tools of the MCP server, picks up a handoff, is disconnected; what it loads, what its hooks are
given and take, and how it keeps sessions is looked at. All that is compared with
`agent_facts.toml`; what differs is printed. `--accept` writes it there, `--notes FILE` appends
what was run. Ends with 1 where something is not as it should be, or not as it was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.prompt_rules import measure_context
from ricordo.agents.registry import SUPPORTED, find_agent, open_transcript
from ricordo.agents.transcripts.session import FileAction
from ricordo.agents.transcripts.sources import SessionFilter
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
from ricordo.storage.reader import read_memory
from tests.benchmarks.agent_programs import (
    FACT,
    NOTE,
    NOTE_FILE,
    PROGRAMS,
    SECONDS,
    AgentProgram,
    AgentRun,
    running,
)
from tests.benchmarks.scripted_model import Call

FACTS = Path(__file__).with_name("agent_facts.toml")
WRITE = "WRITE-A-NOTE please"
QUESTION = "When does the harbour gate open in winter?"
TOOLS = {
    "search": ({"query": "harbour"}, "passage"),
    "recall": ({"message": QUESTION}, FACT),
    "read": ({"note": "harbour_gate"}, FACT),
    "findings": ({}, "findings"),
    "handoff": ({}, "No handoff at"),
    "remember": (
        {"name": "pnpm", "description": "Which one", "text": "Use pnpm.", "reason": "said so"},
        "pending",
    ),
    "propose": (
        {"note": "harbour_gate", "change": "append", "new_text": "Since May.", "reason": "so"},
        "pending",
    ),
}
"""The tools of the server: arguments, and what is in a right result."""
INSTRUCTIONS = ("AGENTS.md", "AGENTS.override.md", ".claude/AGENTS.md", "GEMINI.md", "CLAUDE.md")
"""Files with instructions; each is added to those before it."""
_PATIENCE = 10
"""Seconds in which a server that has started answers."""
_SETTLING = 2.0
"""Seconds between two sessions."""

Facts = dict[str, Any]
"""What was found out about an agent: texts, and lists of texts."""


class NotSo(Exception):
    """Something is not as it should be."""


def _require(is_so: bool, what: str) -> None:
    if not is_so:
        raise NotSo(what)


# Connecting


def try_connection(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """Connect an agent, have it write a note, ask for it, read its session, disconnect."""
    program = run.program
    before = _list_files(run.home)
    run.ricordo("connect", program.name, "--yes")
    connected = {name for name in _list_files(run.home) if name not in before}
    run.ask(WRITE, program.write(run.memory / NOTE_FILE))
    _require(not run.model.calls, "the model was not asked, or not offered tools")
    _require((run.memory / NOTE_FILE).exists(), "the note was not written")
    time.sleep(_SETTLING)
    given = [body for body in run.ask(QUESTION) if FACT in body]
    _require(bool(given), "the next prompt came without the note")
    _require(
        any("Notes from earlier" in body for body in given), "the note did not come from Ricordo"
    )
    status = run.ricordo("connect", "--status", program.name)
    yield "connect --status", [line.split("  /")[0] for line in status.splitlines()]
    inbox = run.ricordo("inbox")
    _require(NOTE_FILE in inbox, "the inbox does not know the note")
    yield "session", list(_read_sessions(run))
    yield "kinds of records", sorted(_list_records(run.home))
    run.ricordo("disconnect", program.name, "--yes")
    _check_home(run, before, connected)


def _list_files(home: Path, without: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the files in a home by path, without those in the folders `without`."""
    return {
        name: path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.is_symlink()
        for name in [path.relative_to(home).as_posix()]
        if not any(name == folder or name.startswith(f"{folder}/") for folder in without)
    }


def _check_home(run: AgentRun, before: Mapping[str, bytes], connected: Iterable[str]) -> None:
    """Raise NotSo unless the home is as it was before, but for the agent's own files."""
    program, after = run.program, _list_files(run.home)
    changed = [name for name, content in before.items() if after.get(name) != content]
    changed = [name for name in changed if name not in program.rewritten]
    _require(not changed, f"changed by connecting and disconnecting: {changed}")
    left = [name for name in connected if name in after and "/ricordo" in f"/{name}"]
    left = [name for name in left if not name.startswith(".local/state/ricordo/")]
    _require(not left, f"left by disconnecting: {left}")
    others = set(_list_files(run.home, (*program.own, ".local/state/ricordo"))) - set(before)
    _require(not others, f"new in the home: {sorted(others)}")


def _read_sessions(run: AgentRun) -> Iterator[str]:
    """Yield what Ricordo reads of the sessions of an agent: who said what, what was written."""
    scope = SessionFilter(projects=(str(run.project),))
    for support in SUPPORTED:
        if support.agent is None or support.agent.name != run.program.name:
            continue
        sources = support.transcripts(scope, str(run.home), run.environ)
        for source in sorted(sources, key=lambda source: source.changed_at):
            for message in open_transcript(source).messages():
                if message.is_spoken:
                    yield f"{message.who}: {message.text[:80]}"
                for touch in message.touches:
                    if touch.action is not FileAction.READ:
                        yield f"{touch.action} {os.path.basename(touch.path)}"


def _list_records(home: Path) -> set[str]:
    """Return the kinds of lines in transcripts, and the columns of tables with sessions."""
    kinds: set[str] = set()
    for path in home.rglob("*.jsonl"):
        if ".local/state/ricordo" not in str(path):
            for line in path.read_text(errors="replace").splitlines():
                record = json.loads(line)
                parts = [record.get("type"), (record.get("payload") or {}).get("type")]
                kinds.add(" ".join(part for part in parts if isinstance(part, str)))
    for path in home.rglob("opencode*.db"):
        connection = sqlite3.connect(path)
        for table in ("session", "message", "part", "session_message", "todo"):
            columns = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
            kinds.add(f"{table}: {', '.join(columns)}")
        connection.close()
    return kinds


# The MCP server


def try_tools(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """Have the model call every tool of the server."""
    run.memory.mkdir(parents=True)
    (run.memory / NOTE_FILE).write_text(NOTE)
    (run.memory / "MEMORY.md").write_text(f"- [gate]({NOTE_FILE}) — opening hours\n")
    run.ricordo("connect", run.program.name, "--yes")
    calls = [run.program.tool(name, arguments) for name, (arguments, _) in TOOLS.items()]
    first = run.program.before_tools
    asked = run.ask("Call the tools.", *first, *calls)
    # the request that follows a call has its result; some ask for a title besides
    with_tools = [body for body in asked if '"tools":[{' in body.replace(" ", "")]
    results = with_tools[len(first) :]
    pairs = pairwise(results)
    right = [
        name
        for (name, (_, expected)), (before, after) in zip(TOOLS.items(), pairs, strict=False)
        if after.count(expected) > before.count(expected)
    ]
    yield "tools of the server that answer as they should", right


# What is loaded


def try_loads(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """See which instructions the agent loads, and how much of an index."""
    for number, name in enumerate(INSTRUCTIONS):
        (run.project / name).parent.mkdir(exist_ok=True)
        (run.project / name).write_text(f"CANARY-OF-{number}-\n")
        asked = "".join(run.ask("Hello."))
        there = INSTRUCTIONS[: number + 1]
        loaded = [each for at, each in enumerate(there) if f"CANARY-OF-{at}-" in asked]
        yield f"of {', '.join(there)} loads", loaded
    if run.program.has_own_memory:
        for name, line in (("lines", "x"), ("characters", "x" * 300)):
            yield f"of a long index, by {name}", _try_index(run, line)


def _try_index(run: AgentRun, text: str) -> str:
    """Return how much the agent loads of an index of 260 lines. Raises NotSo where Ricordo says
    something else.
    """
    run.memory.mkdir(parents=True, exist_ok=True)
    lines = [f"- [n{n}](n{n}.md) — {text}\n" for n in range(1, 261)]
    (run.memory / "MEMORY.md").write_text("".join(lines))
    asked = "".join(run.ask("Hello."))
    # a line that is only quoted, in a warning, does not begin one
    loaded = sum(f"\\n- [n{n}](" in asked for n in range(1, 261))
    cut = read_memory(str(run.memory), AUTO_MEMORY).load.cut_at_line
    _require(cut == loaded + 1, f"{loaded} lines are loaded, Ricordo says it is cut at {cut}")
    return f"{loaded} of {len(lines)} lines"


# Hooks

_RECORDER = """#!/bin/sh
# stands in for the launcher: keeps what the hook is given, and answers a prompt
[ "$1" = hook ] || exit 0
cat > {folder}/$2.json
[ "$2" != prompt ] || cat {folder}/answer 2>/dev/null
exit 0
"""


def try_hooks(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """See what hooks are given, and how much context they can add."""
    program = run.program
    run.ricordo("connect", program.name, "--yes")
    folder = run.home / "given"
    folder.mkdir()
    _replace_launcher(run, _RECORDER.format(folder=folder))
    run.ask(WRITE, program.write(run.memory / NOTE_FILE))
    if program.name == "claude":
        run.ask("/compact", words=("--continue",))
    for path in sorted(folder.glob("*.json")):
        yield f"fields of {path.stem}", _list_fields(json.loads(path.read_bytes()))
    for name, length in (("as much context as is given", 1.0), ("more context", 1.2)):
        yield f"of {name}, arrives", _try_context(run, folder, length)


def _replace_launcher(run: AgentRun, text: str) -> None:
    """Let the hooks run another program: their command lines stay as they were trusted."""
    launchers = list(run.home.rglob("ricordo/launch.sh"))
    for launcher in launchers:
        launcher.write_text(text)
    for plugin in run.home.rglob("plugins/ricordo.js"):
        lines = plugin.read_text().splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("const LAUNCHER"))
        lines[at] = f"const LAUNCHER = {json.dumps(text)}"
        plugin.write_text("\n".join(lines))


def _list_fields(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields of an event, and of those in its objects."""
    names = set(document)
    for key in ("tool_input", "tool_response"):
        value = document.get(key)
        names.update(f"{key}.{name}" for name in (value if isinstance(value, dict) else ()))
    return sorted(names)


def _try_context(run: AgentRun, folder: Path, share: float) -> str:
    """Return how much of a context arrives that takes a `share` of the room that Ricordo uses."""
    text = ""
    while measure_context(run.program.name, f"{text}LINE-0000\n") <= share:
        text += f"LINE-{len(text) // 10:04}\n"
    event = json.loads((folder / "prompt.json").read_bytes()).get("hook_event_name")
    output = {"hookEventName": event or "UserPromptSubmit", "additionalContext": text}
    (folder / "answer").write_text(json.dumps({"hookSpecificOutput": output}))
    asked = "".join(run.ask("Hello."))
    lines = text.splitlines()
    arrived = sum(line in asked for line in lines)
    return "all" if arrived == len(lines) else f"{arrived} of {len(lines)} lines"


# Handoffs

WORD = "XYZZY-OBJECTIVE"
CANARY = "CANARY-OF-A-FILE-THAT-IS-ONLY-QUOTED"
READ_FIRST = "Before you begin, read HANDOFF.md"
_QUOTED = f"{WORD}: mend it. See @canary.md\n@canary.md\n```\n@canary.md\n```\n- @canary.md"


def try_handoff(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """Have the agent pick up a handoff that quotes orders to load a file."""
    target = handoff_target(run.program.name)
    now = datetime.now(UTC)
    source = SourceSession(find_agent("claude"), "s", "/s.jsonl")
    head = HandoffHeader(now, now + timedelta(days=7), target, 4000, "rules", (source,))
    quoted = HandoffStatement(
        StatementSection.OBJECTIVE, "Asked @canary.md", QuoteProof(MessageRef(0, 1)), (), _QUOTED
    )
    next_ = HandoffStatement(StatementSection.NEXT, "Run `a @canary.md`, then @canary.md")
    project = run.project
    (project / "HANDOFF.md").write_text(render(Handoff(head, (quoted, next_))))
    (project / "canary.md").write_text(f"{CANARY}\n")
    wanted = find_pickup_line(target, str(project), str(project / "HANDOFF.md"))
    assert wanted is not None
    (project / wanted.file).write_text(build_pickup_edit(str(project), wanted).text)
    asked = "".join(run.ask("Go on.", *filter(None, (run.program.read,))))
    is_read, is_told = WORD in asked, READ_FIRST in asked
    _require(CANARY not in asked, "a file came along that the handoff only quotes")
    _require(is_read or is_told, "the handoff is neither loaded nor named")
    loaded = "in the request" if is_read else "not in the request"
    yield "handoff", f"{loaded}; {'told to read it' if is_told else 'not told to read it'}"


# The engine of opencode 2, which version 1.18 has behind its interface


def try_version_2(run: AgentRun) -> Iterator[tuple[str, Any]]:
    """Lead a session through the interface of version 2, and read it."""
    if run.program.name != "opencode":
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [run.path, "serve", "--port", str(port)], cwd=run.project, env=run.environ,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        sessions = f"http://127.0.0.1:{port}/api/session"
        until = time.monotonic() + SECONDS
        session = _post(sessions, {}, until)["data"]["id"]
        run.model.calls[:] = [Call("write", {"path": f"memory/{NOTE_FILE}", "content": NOTE})]
        _post(f"{sessions}/{session}/prompt", {"prompt": {"text": WRITE}}, until)
        while len(list(_read_sessions(run))) < 3 and time.monotonic() < until:
            time.sleep(0.5)
        yield "session of version 2", list(_read_sessions(run))
        yield "rows of version 2", sorted(_list_rows(run.home))
    finally:
        server.terminate()
        server.wait()


def _post(url: str, body: Mapping[str, Any], until: float) -> Any:
    """Return the answer to a request; the server may only be starting."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    while True:
        try:
            return json.loads(urllib.request.urlopen(request, timeout=_PATIENCE).read())
        except OSError as error:
            if time.monotonic() > until:
                raise NotSo(f"no answer to {url}: {error}") from None
            time.sleep(1)


def _list_rows(home: Path) -> set[str]:
    """Return the kinds of messages, and of their parts, with their fields."""
    kinds: set[str] = set()
    for path in home.rglob("opencode*.db"):
        connection = sqlite3.connect(path)
        for kind, data in connection.execute("SELECT type, data FROM session_message"):
            message = json.loads(data)
            kinds.add(f"{kind}: {', '.join(sorted(message))}")
            for part in message.get("content", ()):
                kinds.add(f"{kind} {part['type']}: {', '.join(sorted(part))}")
        connection.close()
    return kinds


PARTS: Mapping[str, Callable[[AgentRun], Iterator[tuple[str, Any]]]] = {
    "connect": try_connection,
    "tools": try_tools,
    "loads": try_loads,
    "hooks": try_hooks,
    "handoff": try_handoff,
    "version 2": try_version_2,
}


# Comparing


def describe_changes(before: Facts, after: Facts) -> Iterator[str]:
    """Yield a line on each fact that is not as it was."""
    for key, value in after.items():
        earlier = before.get(key)
        if value == earlier:
            continue
        if isinstance(value, list) and isinstance(earlier, list):
            added = [f"+{each}" for each in value if each not in earlier]
            removed = [f"-{each}" for each in earlier if each not in value]
            yield f"{key}: {' '.join((*removed, *added)) or f'in another order: {value}'}"
        else:
            yield f"{key}: {'new' if earlier is None else earlier} → {value}"


def render_facts(facts: Mapping[str, Facts]) -> str:
    """Return the table of facts as TOML."""
    lines = ["# What Ricordo relies on, as the programs did it; `python -m tests.benchmarks.pickup"]
    lines[0] += " --accept` writes this.\n"
    for name, values in facts.items():
        lines.append(f"[{name}]")
        for key, value in values.items():
            shown = json.dumps(value, ensure_ascii=False)
            if isinstance(value, list):
                rows = "".join(f"    {json.dumps(each, ensure_ascii=False)},\n" for each in value)
                shown = f"[\n{rows}]" if rows else "[]"
            lines.append(f"{json.dumps(key)} = {shown}")
        lines.append("")
    return "\n".join(lines)


def _read_version(path: str, folders: str) -> str:
    environ = {"PATH": folders, "HOME": tempfile.gettempdir()}
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=False, env=environ,
        timeout=SECONDS,
    )  # fmt: skip
    return done.stdout.strip()


def _try_program(
    program: AgentProgram, path: str, folders: str, parts: Iterable[str], notes: list[str]
) -> tuple[Facts, list[str]]:
    """Return what was found out about a program, and what is not as it should be."""
    facts: Facts = {}
    problems = []
    for part in parts:
        with running(program, path, folders) as run:
            try:
                for key, value in PARTS[part](run):
                    facts[key] = _without_paths(value, run)
            except NotSo as error:
                problems.append(f"{part}: {_without_paths(str(error), run)}")
            notes += (f"## {program.name}: {part}\n", *run.lines, "")
    return facts, problems


def _without_paths(value: Any, run: AgentRun) -> Any:
    if isinstance(value, list):
        return [_without_paths(each, run) for each in value]
    return value.replace(str(run.home), "~").replace(str(run.project), "PROJECT")


def main(words: list[str] | None = None) -> int:
    """Try every program that is found; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", default="", help="folders in which they are looked for")
    parser.add_argument("--only", help="the name of one program")
    parser.add_argument("--parts", default=",".join(PARTS), help="what is tried")
    parser.add_argument("--accept", action="store_true", help="keep what was found out")
    parser.add_argument("--notes", help="a file to which what was run is appended")
    options = parser.parse_args(words)
    folders = os.pathsep.join(filter(None, (options.programs, os.environ["PATH"])))
    known = tomllib.loads(FACTS.read_text()) if FACTS.exists() else {}
    is_right, notes = True, []
    for program in PROGRAMS:
        path = shutil.which(program.name, path=folders)
        if path is None or options.only not in (None, program.name):
            print(f"{program.name}: {'not tried' if path else 'not found'}")
            continue
        version = _read_version(path, folders)
        facts, problems = _try_program(program, path, folders, options.parts.split(","), notes)
        before = known.get(program.name, {})
        changes = list(describe_changes(before, facts))
        is_right &= not problems and (options.accept or not changes)
        print(
            f"{program.name} {version}: {len(facts)} facts, {len(changes)} changed since "
            f"{before.get('version', 'never')}; {len(problems)} not as it should be",
            flush=True,
        )
        print(
            "".join(f"  NOT SO: {line}\n" for line in problems)
            + "".join(f"  changed: {line}\n" for line in changes),
            end="",
            flush=True,
        )
        known[program.name] = {"version": version, **before, **facts} | {"version": version}
    if options.accept:
        FACTS.write_text(render_facts(known))
    if options.notes:
        with Path(options.notes).open("a") as file:
            file.write("\n".join(notes))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
