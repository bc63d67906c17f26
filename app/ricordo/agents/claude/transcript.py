"""Claude Code's transcripts: one JSON object a line (format read from versions up to 2.1.274).

The order of the lines is the order of time. The links of lines to the one before are ignored:
messages of abandoned branches count too, and links may form a circle.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.transcripts.checkpoint import Learnt
from ricordo.agents.transcripts.lines import (
    LONGEST_SAID,
    cut,
    dict_of,
    dicts_of,
    exit_code,
    moment,
    parsed,
    text_of,
)
from ricordo.agents.transcripts.noise import (
    begins,
    expected,
    noise_of,
    refusal,
    typed_command,
    without_insertions,
)
from ricordo.agents.transcripts.session import (
    Call,
    CallResult,
    FileAction,
    Noise,
    Touch,
    Turn,
    Where,
    Who,
    answers_of,
    both_ends,
)
from ricordo.agents.transcripts.tools import call_of, said_by, touches, whole_path
from ricordo.secrets import mask
from ricordo.storage.foreign_file import absolute_path, read_plain_file

AGENT = Agent("claude", "Claude Code")

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_GOING_ON = ("running", "pending")
"""The status of a command that is still running in the background."""
_STOPPED = ("killed", "stopped")
_NOTICE, _LONGEST_NOTICE, _MOST_NOTICES = "<task-notification>", 4_000, 100
_NOTICED = re.compile(r"<(task-id|status|summary)>([^<]{0,1000})</\1>")
_NOTICED_CODE = re.compile(r"\bexit code (-?\d{1,10})\b")
_NOTICED_STATUS = {"completed": False, "failed": True}


def endings(results: list[dict[str, Any]], details: object) -> Iterator[CallResult]:
    """Yield the results of calls; `details` of the program belong to the only call of the line."""
    beside = dict_of(details) if len(results) == 1 else {}
    for block in results:
        if call := call_id(block):
            output, has_failed = result(block), block.get("is_error") is True
            ending = CallResult(call, has_failed, output=both_ends(output))
            if has_failed:
                ending = _add_failure(ending, output)
            yield _add_details(ending, beside) if beside else ending


def noticed(text: str) -> Iterator[tuple[Call, CallResult]]:
    """Yield the notices of the program that commands in the background have ended, each as a call
    that asks for their output, and its result.
    """
    for number, notice in enumerate(text.split(_NOTICE, _MOST_NOTICES)[1:]):
        fields = dict(_NOTICED.findall(notice[:_LONGEST_NOTICE]))
        task, summary = fields.get("task-id", ""), fields.get("summary", "")
        code = _NOTICED_CODE.search(summary)
        exited = exit_code(int(code[1])) if code else None
        has_failed = exited != 0 if code else _NOTICED_STATUS.get(fields.get("status", ""))
        id_ = f"{task}:{number}:{summary}"
        yield Call(id_, "", process=task), CallResult(id_, has_failed, exited, summary)


def _add_failure(ending: CallResult, output: str) -> CallResult:
    """Return a result with what its output says about the failure."""
    code = _EXIT_CODE.match(output)
    is_refused, words = refusal(AGENT, output)
    number = exit_code(int(code[1])) if code else None
    is_denied = begins(AGENT, "denied", output)
    return ending._replace(exit=number, is_refused=is_refused, is_denied=is_denied, words=words)


def _add_details(ending: CallResult, beside: dict[str, Any]) -> CallResult:
    """Return a result with the details of the program."""
    task = dict_of(beside.get("task"))
    code = exit_code(beside.get("exitCode", task.get("exitCode")))
    number = ending.exit if code is None else code
    status = text_of(beside.get("status")) or text_of(task.get("status"))
    process = text_of(beside.get("backgroundTaskId"))
    if status in _GOING_ON:
        process = text_of(beside.get("shellId")) or text_of(task.get("task_id")) or process
    is_open = beside.get("interrupted") is True or bool(process) or status in _STOPPED
    return ending._replace(
        has_failed=None if is_open else ending.has_failed or number not in (None, 0),
        exit=number,
        process=process,
        task=text_of(task.get("id")),
        answers=answers_of(beside.get("answers")),
    )


def call_id(block: dict[str, Any]) -> str:
    """Return the id of the call in a block; "" if it has none."""
    return text_of(block.get("id")) or text_of(block.get("tool_use_id"))


def joined(blocks: list[dict[str, Any]]) -> str:
    """Return the text in the blocks of a message."""
    texts = (text_of(block.get("text")) for block in blocks if block.get("type") == "text")
    return "\n\n".join(filter(None, texts))


def result(block: dict[str, Any]) -> str:
    """Return the output of a tool."""
    content = block.get("content")
    return text_of(content) or joined(list(dicts_of(content)))


_FIRST_LOOK = 16 * 1024
"""Nearly always enough: the working directory is in one of the first lines."""
_LAST_LOOK = 256 * 1024
_SESSION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SUB_AGENTS = "subagents"
"""The folder of their transcripts, in a folder named after the session."""
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

    def __init__(self, path: str, learnt: Learnt) -> None:
        """`learnt` is what was read of it before; the reader fills it in."""
        self._learnt = learnt
        stem = os.path.basename(path).removesuffix(".jsonl")
        self._is_sub_agent = stem.startswith(_SUB_AGENT)
        folder, name = os.path.split(os.path.dirname(path))
        self._above = os.path.basename(folder) if name == SUB_AGENTS else ""
        self._own = stem if _SESSION_ID.fullmatch(stem) or self._is_sub_agent else ""

    def turn(self, entry: dict[str, Any], where: Where) -> Turn | None:
        """Return the message in a line; None if there is none."""
        kind = text_of(entry.get("type"))
        if kind in _TITLES:
            self._read_title(entry, *_TITLES[kind])
            return None
        turn = self._read(kind, entry, where)
        if turn is None:
            if kind not in expected(AGENT, "other_types"):
                self._learnt.miss(kind)
            return None
        if self._is_inherited(entry):
            return None
        self._read_facts(entry, turn)
        return turn

    def _read(self, kind: str, entry: dict[str, Any], where: Where) -> Turn | None:
        match kind:
            case "user":
                return _read_user_line(entry, where, self._is_sub_agent)
            case "assistant":
                return _read_agent_line(entry, where, self._is_sub_agent)
            case "attachment":
                return _read_attachment(entry, where)
            case "system":
                text = cut(text_of(entry.get("content")))
                return Turn(Who.SYSTEM, text, *_common(entry, where), Noise.SYNTHETIC)
            case _:
                return None

    def _is_inherited(self, entry: dict[str, Any]) -> bool:
        """Whether the line is a copy from the session that this one continues."""
        session = text_of(entry.get("sessionId"))
        learnt = self._learnt
        learnt.id = learnt.id or self._own or session
        if self._is_sub_agent:
            learnt.part_of = learnt.part_of or self._above or session
            return False
        if not self._own or not session or session == self._own:
            return False
        learnt.continues = learnt.continues or session
        return True

    def _read_facts(self, entry: dict[str, Any], turn: Turn) -> None:
        learnt = self._learnt
        learnt.cwd = learnt.cwd or absolute_path(entry.get("cwd"))
        learnt.branch = learnt.branch or text_of(entry.get("gitBranch"))
        if turn.key:
            learnt.last_key = turn.key
            learnt.name(learnt.titles.pop(turn.key, ""), 1)

    def _read_title(self, entry: dict[str, Any], field: str, rank: int) -> None:
        """Set the title. A summary of another session names the last line of that one."""
        learnt, title = self._learnt, text_of(entry.get(field))
        leaf = text_of(entry.get("leafUuid"))
        if not leaf or leaf == learnt.last_key:
            learnt.name(title, rank)
        elif len(learnt.titles) < _MOST_TITLES:
            learnt.titles[leaf] = mask(title[:1_000])


def _common(entry: dict[str, Any], where: Where) -> tuple[str, str, Where]:
    return moment(entry.get("timestamp")), text_of(entry.get("uuid")), where


def _read_user_line(entry: dict[str, Any], where: Where, is_sub_agent: bool) -> Turn:
    content = dict_of(entry.get("message")).get("content")
    blocks = list(dicts_of(content))
    whole = text_of(content) or joined(blocks)
    text = cut(without_insertions(whole), LONGEST_SAID)
    who, noise = _kind_of_user(entry, blocks, text)
    if noise is Noise.COMMAND and (typed := typed_command(text)):
        text, who, noise = typed, Who.PERSON, None
    if not text and whole.strip() and who is Who.PERSON:
        who, noise = Who.SYSTEM, Noise.REMINDER
    is_aside = is_sub_agent or entry.get("isSidechain") is True
    if is_aside and who is Who.PERSON:
        # the prompt of a sub-agent is a message of the agent
        who = Who.AGENT
    results = [block for block in blocks if block.get("type") == "tool_result"]
    ended = list(noticed(text)) if who is Who.SYSTEM else []
    return Turn(
        who,
        text or cut("\n".join(result(block) for block in results)),
        *_common(entry, where),
        noise,
        calls=tuple(call for call, _ in ended),
        endings=(*endings(results, entry.get("toolUseResult")), *(ending for _, ending in ended)),
        is_aside=is_aside,
    )


def _kind_of_user(
    entry: dict[str, Any], blocks: list[dict[str, Any]], text: str
) -> tuple[Who, Noise | None]:
    """Return who wrote a line in the user's place, and what it is if not a message of the user."""
    kinds = {text_of(block.get("type")) for block in blocks}
    if "toolUseResult" in entry or "sourceToolAssistantUUID" in entry or kinds == {"tool_result"}:
        return Who.TOOL, Noise.OUTPUT
    if entry.get("isCompactSummary") is True:
        return Who.SYSTEM, Noise.SUMMARY
    if noise := noise_of(AGENT, text):
        return Who.SYSTEM, noise
    sender = dict_of(entry.get("origin")).get("kind")
    if entry.get("isMeta") is True or sender not in (None, "human"):
        return Who.SYSTEM, Noise.SYNTHETIC
    return Who.PERSON, Noise.IMAGE if "image" in kinds and not text else None


def _read_agent_line(entry: dict[str, Any], where: Where, is_sub_agent: bool) -> Turn:
    message = dict_of(entry.get("message"))
    content = message.get("content")
    blocks = list(dicts_of(content))
    cwd = absolute_path(entry.get("cwd"))
    used = [block for block in blocks if block.get("type") == "tool_use"]
    shown = filter(None, (text_of(content) or joined(blocks), *map(_find_shown, used)))
    text = cut("\n\n".join(shown)).strip()
    touched = tuple(touch for block in used for touch in _find_touches(block, cwd))
    calls = tuple(map(_make_call, used))
    noise = None
    if entry.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        noise = Noise.SYNTHETIC
    elif not text:
        noise = Noise.CALL if used else Noise.THINKING
    is_aside = is_sub_agent or entry.get("isSidechain") is True
    return Turn(Who.AGENT, text, *_common(entry, where), noise, touched, calls, is_aside=is_aside)


def _read_attachment(entry: dict[str, Any], where: Where) -> Turn:
    given = dict_of(entry.get("attachment"))
    kind = text_of(given.get("type"))
    common = _common(entry, where)
    if kind == "queued_command":
        return _read_queued(given, common)
    touched = tuple(
        Touch(FileAction.READ, path, f"{common[1]}:{path}") for path in _find_loaded(kind, given)
    )
    text = cut(text_of(given.get("content")) or text_of(given.get("stdout")))
    return Turn(Who.SYSTEM, text, *common, _attachment_noise(kind), touched)


def _attachment_noise(kind: str) -> Noise:
    """Return what an attachment is."""
    for mark, noise in read_table(AGENT, "marks")["attachments"].items():
        if kind.startswith(mark):
            return Noise(noise)
    return Noise.REMINDER


def _read_queued(given: dict[str, Any], common: tuple[str, str, Where]) -> Turn:
    """Return what the user typed while the agent was at work."""
    prompt = given.get("prompt")
    text = cut(without_insertions(text_of(prompt) or joined(list(dicts_of(prompt)))), LONGEST_SAID)
    is_own = given.get("commandMode") in (None, "prompt") and given.get("isMeta") is not True
    noise = noise_of(AGENT, text) if is_own else Noise.REMINDER
    return Turn(Who.SYSTEM if noise else Who.PERSON, text, *common, noise)


def _find_loaded(kind: str, given: dict[str, Any]) -> Iterator[str]:
    """Yield the files that an attachment shows the agent."""
    named = [given] if kind in _LOADED else []
    if kind == "relevant_memories":
        named = list(dicts_of(given.get("memories")))
    for file in named:
        path = whole_path(text_of(file.get("path")) or text_of(file.get("filename")), "")
        if path:
            yield path


def _find_touches(block: dict[str, Any], cwd: str) -> tuple[Touch, ...]:
    tool, given = text_of(block.get("name")), dict_of(block.get("input"))
    return touches(AGENT, tool, given, cwd, call_id(block))


def _find_shown(block: dict[str, Any]) -> str:
    return said_by(AGENT, text_of(block.get("name")), dict_of(block.get("input")))


def _make_call(block: dict[str, Any]) -> Call:
    tool, given = text_of(block.get("name")), dict_of(block.get("input"))
    return call_of(AGENT, tool, given, call_id(block))


def session_cwd(path: str) -> str | None:
    """Return the working directory in which the session of the transcript at `path` began; None
    if its first 256 KB do not have it.
    """
    for limit in (_FIRST_LOOK, _LAST_LOOK):
        raw = read_plain_file(path, limit)
        for line in (raw or b"").split(b"\n"):
            cwd = absolute_path((parsed(line) or {}).get("cwd")) if b'"cwd"' in line else ""
            if cwd:
                return cwd
        if raw is None or len(raw) < limit:
            return None
    return None


def project_cwds(folder: str, limit: int) -> tuple[str, ...]:
    """Return the working directories of the `limit` newest sessions of the project `folder`, newest
    first, each once.
    """
    newest = sorted(_transcripts(folder), reverse=True)[:limit]
    return tuple(dict.fromkeys(cwd for _, path in newest if (cwd := session_cwd(path))))


def _transcripts(folder: str) -> Iterator[tuple[float, str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime, entry.path
    except OSError:
        return
