"""Codex's rollouts: one JSON object a line (format read from versions 0.50 to 0.146; in early ones
the lines are the items themselves, without an envelope).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ricordo.agents.agent import Agent
from ricordo.agents.transcripts.checkpoint import Learnt
from ricordo.agents.transcripts.lines import (
    LONGEST_SAID,
    LONGEST_TEXT,
    cut,
    dict_of,
    dicts_of,
    exit_code,
    moment,
    parsed,
    text_of,
)
from ricordo.agents.transcripts.noise import begins, expected, noise_of, refusal
from ricordo.agents.transcripts.session import (
    CallResult,
    FileAction,
    Noise,
    Touch,
    Turn,
    Where,
    Who,
    both_ends,
)
from ricordo.agents.transcripts.tools import call_of, touches, whole_path
from ricordo.storage.foreign_file import absolute_path, read_plain_file

AGENT = Agent("codex", "Codex")

_HEAD = re.compile(r"(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?")
"""Comes before the exit code of a command."""
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})\b")
_RUNNING = re.compile(r"Process running with session ID (\d{1,9})")
_ROLES = {"user": Who.PERSON, "assistant": Who.AGENT}
_TITLE_RANK = 2
_LONGEST_HEAD = 256 * 1024
"""Bytes of the first line, which holds the instructions of the model."""
_DEEDS = {"add": FileAction.WROTE, "update": FileAction.EDITED, "delete": FileAction.DELETED}
_ITEMS = {"UserMessage": Who.PERSON, "AgentMessage": Who.AGENT}
"""Items that are messages, in rollouts that are stored in pages."""


class CodexReader:
    """Reads the lines of one rollout as messages.

    Each message is in it twice, as an event and as a message to the model, in either order; the
    second one is marked as repeated.
    """

    agent = AGENT

    def __init__(self, path: str, learnt: Learnt) -> None:
        """`learnt` is what was read of it before; the reader fills it in."""
        self._learnt = learnt

    def turn(self, entry: dict[str, Any], where: Where) -> Turn | None:
        """Return the message in a line; None if there is none."""
        kind, payload = text_of(entry.get("type")), dict_of(entry.get("payload"))
        at = moment(entry.get("timestamp"))
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
                text = cut(_find_summary(payload), LONGEST_SAID)
                return Turn(Who.SYSTEM, text, at, "", where, Noise.SUMMARY)
            case _:
                if kind not in expected(AGENT, "other_types"):
                    self._learnt.miss(kind)
                return None

    def _read_bare(self, entry: dict[str, Any], at: str, where: Where) -> Turn | None:
        """Read a line without an envelope: an item, or the header of the session."""
        if "type" in entry or "role" in entry:
            return self._read_item({"type": "message", **entry}, at, where)
        if "id" in entry:
            self._read_header(entry, at)
        elif "record_type" not in entry:
            self._learnt.miss("")
        return None

    def _read_header(self, payload: dict[str, Any], at: str) -> None:
        """Read the header. Each resumption repeats it; a fork has that of its origin too."""
        learnt = self._learnt
        learnt.pass_time(at)
        if learnt.id:
            return
        learnt.id = text_of(payload.get("id")) or text_of(payload.get("session_id"))
        learnt.cwd = absolute_path(payload.get("cwd"))
        learnt.branch = text_of(dict_of(payload.get("git")).get("branch"))
        learnt.continues = text_of(payload.get("forked_from_id"))
        learnt.part_of = text_of(payload.get("parent_thread_id"))

    def _read_event(self, payload: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(payload.get("type"))
        match kind:
            case "user_message":
                return self._make_message(
                    Who.PERSON, text_of(payload.get("message")), at, "", where
                )
            case "agent_message":
                return self._make_message(Who.AGENT, text_of(payload.get("message")), at, "", where)
            case "agent_reasoning":
                text = cut(text_of(payload.get("text")))
                return Turn(Who.AGENT, text, at, "", where, Noise.THINKING)
            case "item_completed":
                return self._read_completed(dict_of(payload.get("item")), at, where)
            case "exec_command_end":
                return self._read_execution(payload, "call_id", at, where)
            case "patch_apply_end":
                return _read_patch(payload, at, where)
            case "thread_name_updated":
                name = text_of(payload.get("thread_name")) or text_of(payload.get("name"))
                self._learnt.name(name, _TITLE_RANK)
                return None
            case _:
                if kind not in expected(AGENT, "other_events"):
                    self._learnt.miss(f"event_msg {kind}")
                return None

    def _read_completed(self, item: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(item.get("type"))
        if kind in _ITEMS:
            text = _join_text(item.get("content"))
            return self._make_message(_ITEMS[kind], text, at, text_of(item.get("id")), where)
        if kind == "CommandExecution":
            return self._read_execution(item, "id", at, where)
        if kind == "FileChange":
            done = {**item, "call_id": item.get("id"), "success": item.get("status") != "failed"}
            return _read_patch(done, at, where)
        if kind not in expected(AGENT, "other_completed"):
            self._learnt.miss(f"item_completed {kind}")
        return None

    def _read_item(self, payload: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(payload.get("type"))
        key = _turn_id(payload)
        match kind:
            case "message":
                return self._read_message(payload, at, key, where)
            case "agent_message":
                # of one agent to another
                text = cut(_join_text(payload.get("content")))
                return Turn(Who.AGENT, text, at, key, where, is_aside=True)
            case "reasoning":
                text = cut(_join_text(payload.get("summary")))
                return Turn(Who.AGENT, text, at, key, where, Noise.THINKING)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                return self._read_call(
                    kind, payload, Turn(Who.AGENT, "", at, key, where, Noise.CALL)
                )
            case "function_call_output" | "custom_tool_call_output":
                return _read_output(payload, at, key, where)
            case _:
                if kind not in expected(AGENT, "other_items"):
                    self._learnt.miss(f"response_item {kind}")
                return None

    def _read_message(
        self, payload: dict[str, Any], at: str, key: str, where: Where
    ) -> Turn | None:
        text = _join_text(payload.get("content"))
        who = _ROLES.get(text_of(payload.get("role")))
        if who is None:
            return Turn(Who.SYSTEM, cut(text), at, key, where, Noise.WRAPPER)
        return self._make_message(who, text, at, key, where)

    def _make_message(self, who: Who, text: str, at: str, key: str, where: Where) -> Turn:
        text = cut(text.strip(), LONGEST_SAID if who is Who.PERSON else LONGEST_TEXT)
        noise = noise_of(AGENT, text) if who is Who.PERSON else None
        if noise is not None:
            return Turn(Who.SYSTEM, text, at, key, where, noise)
        digest, before = _digest(text), self._learnt.last_said
        if text and before.get(who) == digest:
            # only one repetition is a copy: a third one is a new message
            before[who] = ""
            return Turn(who, text, at, key, where, Noise.REPEATED)
        # the same text after an answer is a new message
        before.clear()
        before[who] = digest
        return Turn(who, text, at, key, where, None if text else Noise.IMAGE)

    def _read_execution(self, payload: dict[str, Any], named: str, at: str, where: Where) -> Turn:
        """Read a command with its result; a call and its output may be in the rollout too."""
        call, given = text_of(payload.get(named)), {"command": payload.get("command")}
        output = text_of(payload.get("aggregated_output")) or text_of(payload.get("stdout"))
        cwd = absolute_path(payload.get("cwd")) or self._learnt.cwd
        return Turn(
            Who.TOOL,
            "",
            at,
            "",
            where,
            Noise.OUTPUT,
            touches(AGENT, "shell", given, cwd, call),
            (call_of(AGENT, "shell", given, call),),
            (_make_result(call, output, payload.get("exit_code")),),
        )

    def _read_call(self, kind: str, payload: dict[str, Any], turn: Turn) -> Turn:
        tool = text_of(payload.get("name")) or kind
        call, given = text_of(payload.get("call_id")), _find_arguments(payload)
        touched = touches(AGENT, tool, given, self._learnt.cwd, call)
        return replace(turn, touches=touched, calls=(call_of(AGENT, tool, given, call),))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def rollout_cwd(path: str) -> str:
    """Return the working directory of the rollout at `path`, by its header; "" if that is
    longer than 256 KB or has none.
    """
    head = (read_plain_file(path, _LONGEST_HEAD) or b"").split(b"\n")[0]
    return absolute_path(dict_of((parsed(head) or {}).get("payload")).get("cwd"))


def _find_arguments(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool: JSON in a text, or a patch as it is."""
    for name in ("arguments", "input"):
        value = payload.get(name)
        if isinstance(value, dict):
            return value
        if text := text_of(value):
            return parsed(text) or {"input": text}
    # of local_shell_call
    return dict_of(payload.get("action"))


def _read_output(payload: dict[str, Any], at: str, key: str, where: Where) -> Turn:
    output = payload.get("output")
    given = parsed(output) if isinstance(output, str) and output.startswith("{") else None
    whole = dict_of(given or output)
    text = (
        text_of(whole.get("output")) or text_of(whole.get("content")) or text_of(whole.get("text"))
    )
    text = text or text_of(output) or _join_text(output)
    code = dict_of(whole.get("metadata")).get("exit_code")
    ending = _make_result(text_of(payload.get("call_id")), text, code)
    endings = (ending,) if ending.call else ()
    return Turn(Who.TOOL, cut(text), at, key, where, Noise.OUTPUT, endings=endings)


def _make_result(call: str, output: str, code: object) -> CallResult:
    """Return the result of a call by its output and exit code; `code` is None if unknown."""
    head = _HEAD.match(output)
    text = output[head.end() :] if head else output
    exited, running = _EXIT_CODE.match(text), _RUNNING.match(text)
    number = exit_code(int(exited[1]) if exited else code)
    is_refused, words = refusal(AGENT, text)
    is_denied = begins(AGENT, "denied", text)
    is_failing = is_refused or is_denied or begins(AGENT, "failing", text)
    has_failed = is_failing or number not in (None, 0)
    is_open = running is not None or begins(AGENT, "stopped", text)
    return CallResult(
        call,
        None if is_open else has_failed,
        number,
        both_ends(output),
        running[1] if running else "",
        is_refused=is_refused,
        is_denied=is_denied,
        words=words,
    )


def _find_summary(payload: dict[str, Any]) -> str:
    """Return the summary of a compaction: its message, else the last one of the history that
    replaces the messages.
    """
    if message := text_of(payload.get("message")):
        return message
    history = dicts_of(payload.get("replacement_history"))
    messages = [_join_text(item.get("content")) for item in history if item.get("role") in _ROLES]
    return messages[-1] if messages else ""


def _read_patch(payload: dict[str, Any], at: str, where: Where) -> Turn:
    """Read what a patch did; it has absolute paths, whatever the call had."""
    call, key = text_of(payload.get("call_id")), text_of(payload.get("turn_id"))
    if payload.get("success") is False:
        output = text_of(payload.get("stderr")) or text_of(payload.get("stdout"))
        failed = CallResult(call, has_failed=True, output=both_ends(output))
        return Turn(Who.TOOL, "", at, key, where, Noise.OUTPUT, endings=(failed,))
    touched = tuple(_find_touches(dict_of(payload.get("changes")), call))
    done = (CallResult(call),)
    return Turn(Who.TOOL, "", at, key, where, Noise.OUTPUT, touched, endings=done)


def _find_touches(changes: dict[str, Any], call: str) -> Iterator[Touch]:
    for name, change in changes.items():
        fields = dict_of(change)
        path, moved = (
            whole_path(text_of(name), ""),
            whole_path(text_of(fields.get("move_path")), ""),
        )
        deed = _DEEDS.get(text_of(fields.get("type")), FileAction.EDITED)
        if path and moved:
            yield Touch(FileAction.DELETED, path, call)
            yield Touch(FileAction.WROTE, moved, call)
        elif path:
            yield Touch(deed, path, call, cut(text_of(fields.get("content"))))


def _join_text(content: object) -> str:
    """Return the text of a message, which may be in parts."""
    if isinstance(content, str):
        return text_of(content)
    return "\n\n".join(filter(None, (text_of(part.get("text")) for part in dicts_of(content))))


def _turn_id(payload: dict[str, Any]) -> str:
    for name in ("internal_chat_message_metadata_passthrough", "metadata"):
        if key := text_of(dict_of(payload.get(name)).get("turn_id")):
            return key
    return ""
