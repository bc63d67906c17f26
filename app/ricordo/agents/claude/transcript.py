"""Claude Code's transcripts: one JSON object a line (format read from versions up to 2.1.274).

The order of the lines is the order of time. The links of lines to the one before are ignored:
messages of abandoned branches count too, and links may form a circle.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from ricordo.agents.agent import read_table
from ricordo.agents.claude.location import AGENT, SUB_AGENTS
from ricordo.agents.transcripts.checkpoint import Checkpoint
from ricordo.agents.transcripts.lines import (
    LONGEST_QUOTED,
    as_dict,
    as_dicts,
    as_text,
    cut,
    parse_object,
    parse_time,
    read_exit_code,
)
from ricordo.agents.transcripts.noise import (
    classify_noise,
    list_expected,
    output_begins,
    read_refusal,
    read_typed_command,
    strip_insertions,
)
from ricordo.agents.transcripts.session import (
    CallResult,
    FileAction,
    FileTouch,
    Message,
    MessagePlace,
    Noise,
    Speaker,
    ToolCall,
    read_answers,
    shorten_output,
)
from ricordo.agents.transcripts.tools import find_touches, make_call, read_shown_text, resolve_path
from ricordo.patterns import compile_lazily
from ricordo.secrets import mask
from ricordo.storage.foreign_file import normalize_absolute_path, read_plain_file

_EXIT_CODE = compile_lazily(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_GOING_ON = ("running", "pending")
"""The status of a command that is still running in the background."""
_STOPPED = ("killed", "stopped")
_NOTICE, _LONGEST_NOTICE, _MOST_NOTICES = "<task-notification>", 4_000, 100
_NOTICED = compile_lazily(r"<(task-id|status|summary)>([^<]{0,1000})</\1>")
_NOTICED_CODE = compile_lazily(r"\bexit code (-?\d{1,10})\b")
_NOTICED_STATUS = {"completed": False, "failed": True}


def read_results(results: list[dict[str, Any]], details: object) -> Iterator[CallResult]:
    """Yield the results of calls; `details` of the program belong to the only call of the line."""
    beside = as_dict(details) if len(results) == 1 else {}
    for block in results:
        if call := read_call_id(block):
            output, has_failed = read_output(block), block.get("is_error") is True
            ending = CallResult(call, has_failed, output=shorten_output(output))
            if has_failed:
                ending = _add_failure(ending, output)
            yield _add_details(ending, beside) if beside else ending


def read_notices(text: str) -> Iterator[tuple[ToolCall, CallResult]]:
    """Yield the notices of the program that commands in the background have ended, each as a call
    that asks for their output, and its result.
    """
    for number, notice in enumerate(text.split(_NOTICE, _MOST_NOTICES)[1:]):
        fields = dict(_NOTICED.findall(notice[:_LONGEST_NOTICE]))
        task, summary = fields.get("task-id", ""), fields.get("summary", "")
        code = _NOTICED_CODE.search(summary)
        exited = read_exit_code(int(code[1])) if code else None
        has_failed = exited != 0 if code else _NOTICED_STATUS.get(fields.get("status", ""))
        id_ = f"{task}:{number}:{summary}"
        yield ToolCall(id_, "", process=task), CallResult(id_, has_failed, exited, summary)


def _add_failure(ending: CallResult, output: str) -> CallResult:
    """Return a result with what its output says about the failure."""
    code = _EXIT_CODE.match(output)
    is_refused, words = read_refusal(AGENT, output)
    number = read_exit_code(int(code[1])) if code else None
    is_denied = output_begins(AGENT, "denied", output)
    return ending._replace(
        exit=number, is_rejected=is_refused, is_denied=is_denied, user_words=words
    )


def _add_details(ending: CallResult, beside: dict[str, Any]) -> CallResult:
    """Return a result with the details of the program."""
    task = as_dict(beside.get("task"))
    code = read_exit_code(beside.get("exitCode", task.get("exitCode")))
    number = ending.exit if code is None else code
    status = as_text(beside.get("status")) or as_text(task.get("status"))
    process = as_text(beside.get("backgroundTaskId"))
    if status in _GOING_ON:
        process = as_text(beside.get("shellId")) or as_text(task.get("task_id")) or process
    is_open = beside.get("interrupted") is True or bool(process) or status in _STOPPED
    return ending._replace(
        has_failed=None if is_open else ending.has_failed or number not in (None, 0),
        exit=number,
        process=process,
        task=as_text(task.get("id")),
        answers=read_answers(beside.get("answers")),
    )


def read_call_id(block: dict[str, Any]) -> str:
    """Return the id of the call in a block; "" if it has none."""
    return as_text(block.get("id")) or as_text(block.get("tool_use_id"))


def join_text(blocks: list[dict[str, Any]]) -> str:
    """Return the text in the blocks of a message."""
    texts = (as_text(block.get("text")) for block in blocks if block.get("type") == "text")
    return "\n\n".join(filter(None, texts))


def read_output(block: dict[str, Any]) -> str:
    """Return the output of a tool."""
    content = block.get("content")
    return as_text(content) or join_text(list(as_dicts(content)))


_FIRST_LOOK = 16 * 1024
"""Nearly always enough: the working directory is in one of the first lines."""
_LAST_LOOK = 256 * 1024
_SESSION_ID = compile_lazily(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OF_WINDOWS = compile_lazily(r"[A-Za-z]:[\\/]")
_SUB_AGENT = "agent-"
"""The start of the names of transcripts of sub-agents."""
_TITLES = {
    "custom-title": ("customTitle", 3),
    "ai-title": ("aiTitle", 2),
    "summary": ("summary", 1),
}
"""Lines with a title of the session: its field, and its rank."""
_MOST_TITLES = 50
_LOADED = frozenset(("file", "nested_memory"))
"""Attachments that show the agent a file."""


class ClaudeReader:
    """Reads the lines of one transcript as messages."""

    agent = AGENT

    def __init__(self, path: str, learnt: Checkpoint) -> None:
        """`learnt` is what was read of it before; the reader fills it in."""
        self._learnt = learnt
        stem = os.path.basename(path).removesuffix(".jsonl")
        self._is_sub_agent = stem.startswith(_SUB_AGENT)
        folder, name = os.path.split(os.path.dirname(path))
        self._above = os.path.basename(folder) if name == SUB_AGENTS else ""
        self._own = stem if _SESSION_ID.fullmatch(stem) or self._is_sub_agent else ""

    def read_line(self, entry: dict[str, Any], where: MessagePlace) -> Message | None:
        """Return the message in a line; None if there is none."""
        kind = as_text(entry.get("type"))
        if kind in _TITLES:
            self._read_title(entry, *_TITLES[kind])
            return None
        turn = self._read(kind, entry, where)
        if turn is None:
            if kind not in list_expected(AGENT, "other_types"):
                self._learnt.count_unknown(kind)
            return None
        if self._is_inherited(entry):
            return None
        self._read_facts(entry, turn)
        return turn

    def _read(self, kind: str, entry: dict[str, Any], where: MessagePlace) -> Message | None:
        match kind:
            case "user":
                return _read_user_line(entry, where, self._is_sub_agent)
            case "assistant":
                return _read_agent_line(entry, where, self._is_sub_agent)
            case "attachment":
                return _read_attachment(entry, where)
            case "system":
                text = cut(as_text(entry.get("content")))
                return Message(Speaker.SYSTEM, text, *_common(entry, where), Noise.SYNTHETIC)
            case _:
                return None

    def _is_inherited(self, entry: dict[str, Any]) -> bool:
        """Whether the line is a copy from the session that this one continues."""
        session = as_text(entry.get("sessionId"))
        learnt = self._learnt
        learnt.id = learnt.id or self._own or session
        if self._is_sub_agent:
            learnt.part_of = learnt.part_of or self._above or session
            return False
        if not self._own or not session or session == self._own:
            return False
        learnt.continues = learnt.continues or session
        return True

    def _read_facts(self, entry: dict[str, Any], turn: Message) -> None:
        learnt = self._learnt
        learnt.cwd = learnt.cwd or normalize_absolute_path(entry.get("cwd"))
        learnt.branch = learnt.branch or as_text(entry.get("gitBranch"))
        if turn.key:
            learnt.last_key = turn.key
            learnt.set_title(learnt.titles.pop(turn.key, ""), 1)

    def _read_title(self, entry: dict[str, Any], field: str, rank: int) -> None:
        """Set the title. A summary of another session names the last line of that one."""
        learnt, title = self._learnt, as_text(entry.get(field))
        leaf = as_text(entry.get("leafUuid"))
        if not leaf or leaf == learnt.last_key:
            learnt.set_title(title, rank)
        elif len(learnt.titles) < _MOST_TITLES:
            learnt.titles[leaf] = mask(title[:1_000])


def _common(entry: dict[str, Any], where: MessagePlace) -> tuple[str, str, MessagePlace]:
    return parse_time(entry.get("timestamp")), as_text(entry.get("uuid")), where


def _read_user_line(entry: dict[str, Any], where: MessagePlace, is_sub_agent: bool) -> Message:
    content = as_dict(entry.get("message")).get("content")
    blocks = list(as_dicts(content))
    whole = as_text(content) or join_text(blocks)
    text = cut(strip_insertions(whole), LONGEST_QUOTED)
    who, noise = _kind_of_user(entry, blocks, text)
    if noise is Noise.COMMAND and (typed := read_typed_command(text)):
        text, who, noise = typed, Speaker.USER, None
    if not text and whole.strip() and who is Speaker.USER:
        who, noise = Speaker.SYSTEM, Noise.REMINDER
    is_aside = is_sub_agent or entry.get("isSidechain") is True
    if is_aside and who is Speaker.USER:
        # the prompt of a sub-agent is a message of the agent
        who = Speaker.AGENT
    results = [block for block in blocks if block.get("type") == "tool_result"]
    ended = list(read_notices(text)) if who is Speaker.SYSTEM else []
    return Message(
        who,
        text or cut("\n".join(read_output(block) for block in results)),
        *_common(entry, where),
        noise,
        calls=tuple(call for call, _ in ended),
        results=(
            *read_results(results, entry.get("toolUseResult")),
            *(ending for _, ending in ended),
        ),
        is_aside=is_aside,
    )


def _kind_of_user(
    entry: dict[str, Any], blocks: list[dict[str, Any]], text: str
) -> tuple[Speaker, Noise | None]:
    """Return who wrote a line in the user's place, and what it is if not a message of the user."""
    kinds = {as_text(block.get("type")) for block in blocks}
    if "toolUseResult" in entry or "sourceToolAssistantUUID" in entry or kinds == {"tool_result"}:
        return Speaker.TOOL, Noise.OUTPUT
    if entry.get("isCompactSummary") is True:
        return Speaker.SYSTEM, Noise.SUMMARY
    if noise := classify_noise(AGENT, text):
        return Speaker.SYSTEM, noise
    sender = as_dict(entry.get("origin")).get("kind")
    if entry.get("isMeta") is True or sender not in (None, "human"):
        return Speaker.SYSTEM, Noise.SYNTHETIC
    return Speaker.USER, Noise.IMAGE if "image" in kinds and not text else None


def _read_agent_line(entry: dict[str, Any], where: MessagePlace, is_sub_agent: bool) -> Message:
    message = as_dict(entry.get("message"))
    content = message.get("content")
    blocks = list(as_dicts(content))
    cwd = normalize_absolute_path(entry.get("cwd"))
    used = [block for block in blocks if block.get("type") == "tool_use"]
    shown = filter(None, (as_text(content) or join_text(blocks), *map(_find_shown, used)))
    text = cut("\n\n".join(shown)).strip()
    touched = tuple(touch for block in used for touch in _find_touches(block, cwd))
    calls = tuple(map(_make_call, used))
    noise = None
    if entry.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        noise = Noise.SYNTHETIC
    elif not text:
        noise = Noise.CALL if used else Noise.THINKING
    is_aside = is_sub_agent or entry.get("isSidechain") is True
    return Message(
        Speaker.AGENT,
        text,
        *_common(entry, where),
        noise,
        touched,
        calls,
        is_aside=is_aside,
        cwd=cwd,
    )


def _read_attachment(entry: dict[str, Any], where: MessagePlace) -> Message:
    given = as_dict(entry.get("attachment"))
    kind = as_text(given.get("type"))
    common = _common(entry, where)
    if kind == "queued_command":
        return _read_queued(given, common)
    touched = tuple(
        FileTouch(FileAction.READ, path, f"{common[1]}:{path}")
        for path in _find_loaded(kind, given)
    )
    text = cut(as_text(given.get("content")) or as_text(given.get("stdout")))
    return Message(Speaker.SYSTEM, text, *common, _attachment_noise(kind), touched)


def _attachment_noise(kind: str) -> Noise:
    """Return what an attachment is."""
    for mark, noise in read_table(AGENT, "marks")["attachments"].items():
        if kind.startswith(mark):
            return Noise(noise)
    return Noise.REMINDER


def _read_queued(given: dict[str, Any], common: tuple[str, str, MessagePlace]) -> Message:
    """Return what the user typed while the agent was at work."""
    prompt = given.get("prompt")
    text = cut(
        strip_insertions(as_text(prompt) or join_text(list(as_dicts(prompt)))), LONGEST_QUOTED
    )
    is_own = given.get("commandMode") in (None, "prompt") and given.get("isMeta") is not True
    noise = classify_noise(AGENT, text) if is_own else Noise.REMINDER
    return Message(Speaker.SYSTEM if noise else Speaker.USER, text, *common, noise)


def _find_loaded(kind: str, given: dict[str, Any]) -> Iterator[str]:
    """Yield the files that an attachment shows the agent."""
    named = [given] if kind in _LOADED else []
    if kind == "relevant_memories":
        named = list(as_dicts(given.get("memories")))
    for file in named:
        path = resolve_path(as_text(file.get("path")) or as_text(file.get("filename")), "")
        if path:
            yield path


def _find_touches(block: dict[str, Any], cwd: str) -> tuple[FileTouch, ...]:
    tool, given = as_text(block.get("name")), as_dict(block.get("input"))
    return find_touches(AGENT, tool, given, cwd, read_call_id(block))


def _find_shown(block: dict[str, Any]) -> str:
    return read_shown_text(AGENT, as_text(block.get("name")), as_dict(block.get("input")))


def _make_call(block: dict[str, Any]) -> ToolCall:
    tool, given = as_text(block.get("name")), as_dict(block.get("input"))
    return make_call(AGENT, tool, given, read_call_id(block))


def read_session_start(path: str) -> tuple[str, str]:
    """Return the working directory in which the session of the transcript at `path` began, and
    when, as `parse_time` returns it; "" for what its first 256 KB do not have. A directory of
    Windows is `C:/…`.
    """
    cwd = began = ""
    for limit in (_FIRST_LOOK, _LAST_LOOK):
        raw = read_plain_file(path, limit) or b""
        for line in raw.split(b"\n"):
            if (not cwd and b'"cwd"' in line) or (not began and b'"timestamp"' in line):
                entry = parse_object(line) or {}
                cwd = cwd or _normalize_cwd(entry.get("cwd"))
                began = began or parse_time(entry.get("timestamp"))
        if cwd or len(raw) < limit:
            break
    return cwd, began


def _normalize_cwd(value: object) -> str:
    if isinstance(value, str) and _OF_WINDOWS.match(value):
        return as_text(value.replace("\\", "/").rstrip("/"))
    return normalize_absolute_path(value)


def read_project_cwds(folder: str, limit: int) -> tuple[str, ...]:
    """Return the working directories of the `limit` newest sessions of the project `folder`, newest
    first, each once.
    """
    newest = sorted(list_transcripts(folder), reverse=True)[:limit]
    cwds = (read_session_start(path)[0] for _, path in newest)
    return tuple(dict.fromkeys(cwd for cwd in cwds if cwd.startswith("/")))


def list_transcripts(folder: str) -> Iterator[tuple[float, str]]:
    """Yield the transcripts in a project `folder`, each behind the time of its last change."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime, entry.path
    except OSError:
        return
