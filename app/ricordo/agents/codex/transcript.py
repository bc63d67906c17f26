"""Codex's rollouts: one JSON object a line (format read from versions 0.50 to 0.146; in early ones
the lines are the items themselves, without an envelope).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ricordo.agents.codex import AGENT
from ricordo.agents.transcripts.checkpoint import Checkpoint
from ricordo.agents.transcripts.lines import (
    LONGEST_QUOTED,
    LONGEST_TEXT,
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
)
from ricordo.agents.transcripts.session import (
    CallResult,
    FileAction,
    FileTouch,
    Message,
    MessagePlace,
    Noise,
    Speaker,
    shorten_output,
)
from ricordo.agents.transcripts.tools import find_touches, make_call, resolve_path
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import normalize_absolute_path, read_plain_file

_HEAD = compile_lazily(r"(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?")
"""Comes before the exit code of a command."""
_EXIT_CODE = compile_lazily(r"(?:Process exited with code|Exit code:) (-?\d{1,10})\b")
_RUNNING = compile_lazily(r"Process running with session ID (\d{1,9})")
_ROLES = {"user": Speaker.USER, "assistant": Speaker.AGENT}
_TITLE_RANK = 2
_LONGEST_HEAD = 256 * 1024
"""Bytes of the first line, which holds the instructions of the model."""
_DEEDS = {"add": FileAction.WROTE, "update": FileAction.EDITED, "delete": FileAction.DELETED}
_ITEMS = {"UserMessage": Speaker.USER, "AgentMessage": Speaker.AGENT}
"""Items that are messages, in rollouts that are stored in pages."""


class CodexReader:
    """Reads the lines of one rollout as messages.

    Each message is in it twice, as an event and as a message to the model, in either order; the
    second one is marked as repeated.
    """

    agent = AGENT

    def __init__(self, path: str, learnt: Checkpoint) -> None:
        """`learnt` is what was read of it before; the reader fills it in."""
        self._learnt = learnt

    def read_line(self, entry: dict[str, Any], where: MessagePlace) -> Message | None:
        """Return the message in a line; None if there is none."""
        kind, payload = as_text(entry.get("type")), as_dict(entry.get("payload"))
        at = parse_time(entry.get("timestamp"))
        if "payload" not in entry:
            return self._read_bare(entry, at, where)
        match kind:
            case "session_meta":
                self._read_header(payload, at)
                return None
            case "event_msg":
                return self._read_event(payload, at, where)
            case "response_item":
                return self._read_item(payload, at, where)
            case "compacted":
                text = cut(_find_summary(payload), LONGEST_QUOTED)
                return Message(Speaker.SYSTEM, text, at, "", where, Noise.SUMMARY)
            case _:
                if kind not in list_expected(AGENT, "other_types"):
                    self._learnt.count_unknown(kind)
                return None

    def _read_bare(self, entry: dict[str, Any], at: str, where: MessagePlace) -> Message | None:
        """Read a line without an envelope: an item, or the header of the session."""
        if "type" in entry or "role" in entry:
            return self._read_item({"type": "message", **entry}, at, where)
        if "id" in entry:
            self._read_header(entry, at)
        elif "record_type" not in entry:
            self._learnt.count_unknown("")
        return None

    def _read_header(self, payload: dict[str, Any], at: str) -> None:
        """Read the header. Each resumption repeats it; a fork has that of its origin too."""
        learnt = self._learnt
        learnt.extend_time(at)
        if learnt.id:
            return
        learnt.id = as_text(payload.get("id")) or as_text(payload.get("session_id"))
        learnt.cwd = normalize_absolute_path(payload.get("cwd"))
        learnt.branch = as_text(as_dict(payload.get("git")).get("branch"))
        learnt.continues = as_text(payload.get("forked_from_id"))
        learnt.part_of = as_text(payload.get("parent_thread_id"))

    def _read_event(self, payload: dict[str, Any], at: str, where: MessagePlace) -> Message | None:
        kind = as_text(payload.get("type"))
        match kind:
            case "user_message":
                return self._make_message(
                    Speaker.USER, as_text(payload.get("message")), at, "", where
                )
            case "agent_message":
                return self._make_message(
                    Speaker.AGENT, as_text(payload.get("message")), at, "", where
                )
            case "agent_reasoning":
                text = cut(as_text(payload.get("text")))
                return Message(Speaker.AGENT, text, at, "", where, Noise.THINKING)
            case "item_completed":
                return self._read_completed(as_dict(payload.get("item")), at, where)
            case "exec_command_end":
                return self._read_execution(payload, "call_id", at, where)
            case "patch_apply_end":
                return _read_patch(payload, at, where)
            case "thread_name_updated":
                name = as_text(payload.get("thread_name")) or as_text(payload.get("name"))
                self._learnt.set_title(name, _TITLE_RANK)
                return None
            case _:
                if kind not in list_expected(AGENT, "other_events"):
                    self._learnt.count_unknown(f"event_msg {kind}")
                return None

    def _read_completed(self, item: dict[str, Any], at: str, where: MessagePlace) -> Message | None:
        kind = as_text(item.get("type"))
        if kind in _ITEMS:
            text = _join_text(item.get("content"))
            return self._make_message(_ITEMS[kind], text, at, as_text(item.get("id")), where)
        if kind == "CommandExecution":
            return self._read_execution(item, "id", at, where)
        if kind == "FileChange":
            done = {**item, "call_id": item.get("id"), "success": item.get("status") != "failed"}
            return _read_patch(done, at, where)
        if kind not in list_expected(AGENT, "other_completed"):
            self._learnt.count_unknown(f"item_completed {kind}")
        return None

    def _read_item(self, payload: dict[str, Any], at: str, where: MessagePlace) -> Message | None:
        kind = as_text(payload.get("type"))
        key = _turn_id(payload)
        match kind:
            case "message":
                return self._read_message(payload, at, key, where)
            case "agent_message":
                # of one agent to another
                text = cut(_join_text(payload.get("content")))
                return Message(Speaker.AGENT, text, at, key, where, is_aside=True)
            case "reasoning":
                text = cut(_join_text(payload.get("summary")))
                return Message(Speaker.AGENT, text, at, key, where, Noise.THINKING)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                return self._read_call(
                    kind, payload, Message(Speaker.AGENT, "", at, key, where, Noise.CALL)
                )
            case "function_call_output" | "custom_tool_call_output":
                return _read_output(payload, at, key, where)
            case _:
                if kind not in list_expected(AGENT, "other_items"):
                    self._learnt.count_unknown(f"response_item {kind}")
                return None

    def _read_message(
        self, payload: dict[str, Any], at: str, key: str, where: MessagePlace
    ) -> Message | None:
        text = _join_text(payload.get("content"))
        who = _ROLES.get(as_text(payload.get("role")))
        if who is None:
            return Message(Speaker.SYSTEM, cut(text), at, key, where, Noise.WRAPPER)
        return self._make_message(who, text, at, key, where)

    def _make_message(
        self, who: Speaker, text: str, at: str, key: str, where: MessagePlace
    ) -> Message:
        text = cut(text.strip(), LONGEST_QUOTED if who is Speaker.USER else LONGEST_TEXT)
        noise = classify_noise(AGENT, text) if who is Speaker.USER else None
        if noise is not None:
            return Message(Speaker.SYSTEM, text, at, key, where, noise)
        digest, before = _digest(text), self._learnt.last_said
        if text and before.get(who) == digest:
            # only one repetition is a copy: a third one is a new message
            before[who] = ""
            return Message(who, text, at, key, where, Noise.REPEATED)
        # the same text after an answer is a new message
        before.clear()
        before[who] = digest
        return Message(who, text, at, key, where, None if text else Noise.IMAGE)

    def _read_execution(
        self, payload: dict[str, Any], named: str, at: str, where: MessagePlace
    ) -> Message:
        """Read a command with its result; a call and its output may be in the rollout too."""
        call, given = as_text(payload.get(named)), {"command": payload.get("command")}
        output = as_text(payload.get("aggregated_output")) or as_text(payload.get("stdout"))
        cwd = normalize_absolute_path(payload.get("cwd")) or self._learnt.cwd
        return Message(
            Speaker.TOOL,
            "",
            at,
            "",
            where,
            Noise.OUTPUT,
            find_touches(AGENT, "shell", given, cwd, call),
            (make_call(AGENT, "shell", given, call),),
            (_make_result(call, output, payload.get("exit_code")),),
        )

    def _read_call(self, kind: str, payload: dict[str, Any], turn: Message) -> Message:
        tool = as_text(payload.get("name")) or kind
        call, given = as_text(payload.get("call_id")), _find_arguments(payload)
        touched = find_touches(AGENT, tool, given, self._learnt.cwd, call)
        return replace(turn, touches=touched, calls=(make_call(AGENT, tool, given, call),))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def read_rollout_header(path: str) -> dict[str, Any]:
    """Return the header of the rollout at `path`; an empty one if it is longer than 256 KB."""
    head = (read_plain_file(path, _LONGEST_HEAD) or b"").split(b"\n")[0]
    return as_dict((parse_object(head) or {}).get("payload"))


def read_rollout_cwd(path: str) -> str:
    """Return the working directory of the rollout at `path`, by its header; "" if it has none."""
    return normalize_absolute_path(read_rollout_header(path).get("cwd"))


def _find_arguments(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool: JSON in a text, or a patch as it is."""
    for name in ("arguments", "input"):
        value = payload.get(name)
        if isinstance(value, dict):
            return value
        if text := as_text(value):
            return parse_object(text) or {"input": text}
    # of local_shell_call
    return as_dict(payload.get("action"))


def _read_output(payload: dict[str, Any], at: str, key: str, where: MessagePlace) -> Message:
    output = payload.get("output")
    given = parse_object(output) if isinstance(output, str) and output.startswith("{") else None
    whole = as_dict(given or output)
    text = (
        as_text(whole.get("output")) or as_text(whole.get("content")) or as_text(whole.get("text"))
    )
    text = text or as_text(output) or _join_text(output)
    code = as_dict(whole.get("metadata")).get("exit_code")
    ending = _make_result(as_text(payload.get("call_id")), text, code)
    endings = (ending,) if ending.call else ()
    return Message(Speaker.TOOL, cut(text), at, key, where, Noise.OUTPUT, results=endings)


def _make_result(call: str, output: str, code: object) -> CallResult:
    """Return the result of a call by its output and exit code; `code` is None if unknown."""
    head = _HEAD.match(output)
    text = output[head.end() :] if head else output
    exited, running = _EXIT_CODE.match(text), _RUNNING.match(text)
    number = read_exit_code(int(exited[1]) if exited else code)
    is_refused, words = read_refusal(AGENT, text)
    is_denied = output_begins(AGENT, "denied", text)
    is_failing = is_refused or is_denied or output_begins(AGENT, "failing", text)
    has_failed = is_failing or number not in (None, 0)
    is_open = running is not None or output_begins(AGENT, "stopped", text)
    return CallResult(
        call,
        None if is_open else has_failed,
        number,
        shorten_output(output),
        running[1] if running else "",
        is_rejected=is_refused,
        is_denied=is_denied,
        user_words=words,
    )


def _find_summary(payload: dict[str, Any]) -> str:
    """Return the summary of a compaction: its message, else the last one of the history that
    replaces the messages.
    """
    if message := as_text(payload.get("message")):
        return message
    history = as_dicts(payload.get("replacement_history"))
    messages = [_join_text(item.get("content")) for item in history if item.get("role") in _ROLES]
    return messages[-1] if messages else ""


def _read_patch(payload: dict[str, Any], at: str, where: MessagePlace) -> Message:
    """Read what a patch did; it has absolute paths, whatever the call had."""
    call, key = as_text(payload.get("call_id")), as_text(payload.get("turn_id"))
    if payload.get("success") is False:
        output = as_text(payload.get("stderr")) or as_text(payload.get("stdout"))
        failed = CallResult(call, has_failed=True, output=shorten_output(output))
        return Message(Speaker.TOOL, "", at, key, where, Noise.OUTPUT, results=(failed,))
    touched = tuple(_find_touches(as_dict(payload.get("changes")), call))
    done = (CallResult(call),)
    return Message(Speaker.TOOL, "", at, key, where, Noise.OUTPUT, touched, results=done)


def _find_touches(changes: dict[str, Any], call: str) -> Iterator[FileTouch]:
    for name, change in changes.items():
        fields = as_dict(change)
        path, moved = (
            resolve_path(as_text(name), ""),
            resolve_path(as_text(fields.get("move_path")), ""),
        )
        deed = _DEEDS.get(as_text(fields.get("type")), FileAction.EDITED)
        if path and moved:
            yield FileTouch(FileAction.DELETED, path, call)
            yield FileTouch(FileAction.WROTE, moved, call)
        elif path:
            yield FileTouch(deed, path, call, cut(as_text(fields.get("content"))))


def _join_text(content: object) -> str:
    """Return the text of a message, which may be in parts."""
    if isinstance(content, str):
        return as_text(content)
    return "\n\n".join(filter(None, (as_text(part.get("text")) for part in as_dicts(content))))


def _turn_id(payload: dict[str, Any]) -> str:
    for name in ("internal_chat_message_metadata_passthrough", "metadata"):
        if key := as_text(as_dict(payload.get(name)).get("turn_id")):
            return key
    return ""
