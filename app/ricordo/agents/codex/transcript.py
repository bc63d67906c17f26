"""Codex's rollouts: one JSON object a line (format read from versions 0.50 to 0.146; in early ones
the items stand in the lines themselves, without an envelope).
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
"""Stands before what says how a command ended."""
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})\b")
_RUNNING = re.compile(r"Process running with session ID (\d{1,9})")
_ROLES = {"user": Who.PERSON, "assistant": Who.AGENT}
_TITLE_RANK = 2
_LONGEST_HEAD = 256 * 1024
"""Bytes; it holds the instructions of the model."""
_DEEDS = {"add": FileAction.WROTE, "update": FileAction.EDITED, "delete": FileAction.DELETED}
_ITEMS = {"UserMessage": Who.PERSON, "AgentMessage": Who.AGENT}
"""What was said, in rollouts that are kept in pages."""


class CodexReader:
    """Makes turns of the lines of one rollout.

    What is said stands in it twice, as an event and as a message to the model, in either order;
    the second one is marked as repeated.
    """

    agent = AGENT

    def __init__(self, path: str, learnt: Learnt) -> None:
        """`learnt` is what is known of it; it is filled in."""
        self._learnt = learnt

    def turn(self, entry: dict[str, Any], where: Where) -> Turn | None:
        """Return the turn of a line; None where it holds none."""
        kind, payload = text_of(entry.get("type")), dict_of(entry.get("payload"))
        at = moment(entry.get("timestamp"))
        if "payload" not in entry:
            return self._of_bare(entry, at, where)
        match kind:
            case "session_meta":
                self._take_head(payload, at)
                return None
            case "event_msg":
                return self._of_event(payload, at, where)
            case "response_item":
                return self._of_item(payload, at, where)
            case "compacted":
                text = cut(_kept(payload), LONGEST_SAID)
                return Turn(Who.SYSTEM, text, at, "", where, Noise.SUMMARY)
            case _:
                if kind not in expected(AGENT, "other_types"):
                    self._learnt.miss(kind)
                return None

    def _of_bare(self, entry: dict[str, Any], at: str, where: Where) -> Turn | None:
        """A line without an envelope: an item, or the head of the session."""
        if "type" in entry or "role" in entry:
            return self._of_item({"type": "message", **entry}, at, where)
        if "id" in entry:
            self._take_head(entry, at)
        elif "record_type" not in entry:
            self._learnt.miss("")
        return None

    def _take_head(self, payload: dict[str, Any], at: str) -> None:
        """The head stands there again after every resumption; a fork has that of its origin too."""
        learnt = self._learnt
        learnt.pass_time(at)
        if learnt.id:
            return
        learnt.id = text_of(payload.get("id")) or text_of(payload.get("session_id"))
        learnt.cwd = absolute_path(payload.get("cwd"))
        learnt.branch = text_of(dict_of(payload.get("git")).get("branch"))
        learnt.continues = text_of(payload.get("forked_from_id"))
        learnt.part_of = text_of(payload.get("parent_thread_id"))

    def _of_event(self, payload: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(payload.get("type"))
        match kind:
            case "user_message":
                return self._said(Who.PERSON, text_of(payload.get("message")), at, "", where)
            case "agent_message":
                return self._said(Who.AGENT, text_of(payload.get("message")), at, "", where)
            case "agent_reasoning":
                text = cut(text_of(payload.get("text")))
                return Turn(Who.AGENT, text, at, "", where, Noise.THINKING)
            case "item_completed":
                return self._of_completed(dict_of(payload.get("item")), at, where)
            case "exec_command_end":
                return self._of_execution(payload, "call_id", at, where)
            case "patch_apply_end":
                return _of_patch(payload, at, where)
            case "thread_name_updated":
                name = text_of(payload.get("thread_name")) or text_of(payload.get("name"))
                self._learnt.name(name, _TITLE_RANK)
                return None
            case _:
                if kind not in expected(AGENT, "other_events"):
                    self._learnt.miss(f"event_msg {kind}")
                return None

    def _of_completed(self, item: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(item.get("type"))
        if kind in _ITEMS:
            text = _joined(item.get("content"))
            return self._said(_ITEMS[kind], text, at, text_of(item.get("id")), where)
        if kind == "CommandExecution":
            return self._of_execution(item, "id", at, where)
        if kind == "FileChange":
            done = {**item, "call_id": item.get("id"), "success": item.get("status") != "failed"}
            return _of_patch(done, at, where)
        if kind not in expected(AGENT, "other_completed"):
            self._learnt.miss(f"item_completed {kind}")
        return None

    def _of_item(self, payload: dict[str, Any], at: str, where: Where) -> Turn | None:
        kind = text_of(payload.get("type"))
        key = _turn_id(payload)
        match kind:
            case "message":
                return self._of_message(payload, at, key, where)
            case "agent_message":
                # of one agent to another
                text = cut(_joined(payload.get("content")))
                return Turn(Who.AGENT, text, at, key, where, is_aside=True)
            case "reasoning":
                text = cut(_joined(payload.get("summary")))
                return Turn(Who.AGENT, text, at, key, where, Noise.THINKING)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                return self._of_call(kind, payload, Turn(Who.AGENT, "", at, key, where, Noise.CALL))
            case "function_call_output" | "custom_tool_call_output":
                return _of_output(payload, at, key, where)
            case _:
                if kind not in expected(AGENT, "other_items"):
                    self._learnt.miss(f"response_item {kind}")
                return None

    def _of_message(self, payload: dict[str, Any], at: str, key: str, where: Where) -> Turn | None:
        text = _joined(payload.get("content"))
        who = _ROLES.get(text_of(payload.get("role")))
        if who is None:
            return Turn(Who.SYSTEM, cut(text), at, key, where, Noise.WRAPPER)
        return self._said(who, text, at, key, where)

    def _said(self, who: Who, text: str, at: str, key: str, where: Where) -> Turn:
        text = cut(text.strip(), LONGEST_SAID if who is Who.PERSON else LONGEST_TEXT)
        noise = noise_of(AGENT, text) if who is Who.PERSON else None
        if noise is not None:
            return Turn(Who.SYSTEM, text, at, key, where, noise)
        said, before = _digest(text), self._learnt.last_said
        if text and before.get(who) == said:
            # one repetition alone: what is said a third time was said anew
            before[who] = ""
            return Turn(who, text, at, key, where, Noise.REPEATED)
        # what is said after an answer is said anew
        before.clear()
        before[who] = said
        return Turn(who, text, at, key, where, None if text else Noise.IMAGE)

    def _of_execution(self, payload: dict[str, Any], named: str, at: str, where: Where) -> Turn:
        """A command and how it ended; it may stand in the rollout as a call and its output too."""
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
            (_ending(call, output, payload.get("exit_code")),),
        )

    def _of_call(self, kind: str, payload: dict[str, Any], turn: Turn) -> Turn:
        tool = text_of(payload.get("name")) or kind
        call, given = text_of(payload.get("call_id")), _arguments(payload)
        touched = touches(AGENT, tool, given, self._learnt.cwd, call)
        return replace(turn, touches=touched, calls=(call_of(AGENT, tool, given, call),))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def rollout_cwd(path: str) -> str:
    """Return the working directory of the rollout at `path`, as its head says; "" where that is
    longer than 256 KB or says nothing.
    """
    head = (read_plain_file(path, _LONGEST_HEAD) or b"").split(b"\n")[0]
    return absolute_path(dict_of((parsed(head) or {}).get("payload")).get("cwd"))


def _arguments(payload: dict[str, Any]) -> dict[str, Any]:
    """What a tool was given: JSON in a text, or a patch as it is."""
    for name in ("arguments", "input"):
        value = payload.get(name)
        if isinstance(value, dict):
            return value
        if text := text_of(value):
            return parsed(text) or {"input": text}
    # of local_shell_call
    return dict_of(payload.get("action"))


def _of_output(payload: dict[str, Any], at: str, key: str, where: Where) -> Turn:
    output = payload.get("output")
    given = parsed(output) if isinstance(output, str) and output.startswith("{") else None
    whole = dict_of(given or output)
    text = (
        text_of(whole.get("output")) or text_of(whole.get("content")) or text_of(whole.get("text"))
    )
    text = text or text_of(output) or _joined(output)
    code = dict_of(whole.get("metadata")).get("exit_code")
    ending = _ending(text_of(payload.get("call_id")), text, code)
    endings = (ending,) if ending.call else ()
    return Turn(Who.TOOL, cut(text), at, key, where, Noise.OUTPUT, endings=endings)


def _ending(call: str, output: str, code: object) -> CallResult:
    """How a call ended, by its output and the exit code; None for one that was not told."""
    head = _HEAD.match(output)
    told = output[head.end() :] if head else output
    exited, running = _EXIT_CODE.match(told), _RUNNING.match(told)
    number = exit_code(int(exited[1]) if exited else code)
    is_refused, words = refusal(AGENT, told)
    is_denied = begins(AGENT, "denied", told)
    is_failing = is_refused or is_denied or begins(AGENT, "failing", told)
    has_failed = is_failing or number not in (None, 0)
    is_open = running is not None or begins(AGENT, "stopped", told)
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


def _kept(payload: dict[str, Any]) -> str:
    """What a compaction kept in words: its message, else the last one of the history that stands
    in the place of what was said.
    """
    if message := text_of(payload.get("message")):
        return message
    history = dicts_of(payload.get("replacement_history"))
    said = [_joined(it.get("content")) for it in history if it.get("role") in _ROLES]
    return said[-1] if said else ""


def _of_patch(payload: dict[str, Any], at: str, where: Where) -> Turn:
    """What a patch did; it says so with whole paths, however the patch was asked for."""
    call, key = text_of(payload.get("call_id")), text_of(payload.get("turn_id"))
    if payload.get("success") is False:
        output = text_of(payload.get("stderr")) or text_of(payload.get("stdout"))
        failed = CallResult(call, has_failed=True, output=both_ends(output))
        return Turn(Who.TOOL, "", at, key, where, Noise.OUTPUT, endings=(failed,))
    touched = tuple(_patched(dict_of(payload.get("changes")), call))
    done = (CallResult(call),)
    return Turn(Who.TOOL, "", at, key, where, Noise.OUTPUT, touched, endings=done)


def _patched(changes: dict[str, Any], call: str) -> Iterator[Touch]:
    for name, change in changes.items():
        told = dict_of(change)
        path, moved = whole_path(text_of(name), ""), whole_path(text_of(told.get("move_path")), "")
        deed = _DEEDS.get(text_of(told.get("type")), FileAction.EDITED)
        if path and moved:
            yield Touch(FileAction.DELETED, path, call)
            yield Touch(FileAction.WROTE, moved, call)
        elif path:
            yield Touch(deed, path, call, cut(text_of(told.get("content"))))


def _joined(content: object) -> str:
    """The text of a message, which may be in parts."""
    if isinstance(content, str):
        return text_of(content)
    return "\n\n".join(filter(None, (text_of(part.get("text")) for part in dicts_of(content))))


def _turn_id(payload: dict[str, Any]) -> str:
    for name in ("internal_chat_message_metadata_passthrough", "metadata"):
        if key := text_of(dict_of(payload.get(name)).get("turn_id")):
            return key
    return ""
