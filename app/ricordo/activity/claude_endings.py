"""How the calls of Claude Code's tools ended, as its transcripts tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ricordo.activity.calls import Call, Ending, answers_of, both_ends
from ricordo.activity.marks import begins, refusal
from ricordo.activity.session import Agent
from ricordo.activity.values import dict_of, dicts_of, exit_code, text_of

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_GOING_ON = ("running", "pending")
"""What a command in the background does where it has not ended."""
_STOPPED = ("killed", "stopped")
_NOTICE, _LONGEST_NOTICE, _MOST_NOTICES = "<task-notification>", 4_000, 100
_NOTICED = re.compile(r"<(task-id|status|summary)>([^<]{0,1000})</\1>")
_NOTICED_CODE = re.compile(r"\bexit code (-?\d{1,10})\b")
_NOTICED_STATUS = {"completed": False, "failed": True}


def endings(results: list[dict[str, Any]], told: object) -> Iterator[Ending]:
    """Yield how calls ended; what the program `told` beside it is of the one call of the line."""
    beside = dict_of(told) if len(results) == 1 else {}
    for block in results:
        if call := call_id(block):
            output, has_failed = result(block), block.get("is_error") is True
            ending = Ending(call, has_failed, output=both_ends(output))
            if has_failed:
                ending = _failed(ending, output)
            yield _told(ending, beside) if beside else ending


def noticed(text: str) -> Iterator[tuple[Call, Ending]]:
    """Yield what the program tells of commands in the background that have ended, each as a look at
    the command and what it saw.
    """
    for number, notice in enumerate(text.split(_NOTICE, _MOST_NOTICES)[1:]):
        told = dict(_NOTICED.findall(notice[:_LONGEST_NOTICE]))
        task, summary = told.get("task-id", ""), told.get("summary", "")
        code = _NOTICED_CODE.search(summary)
        exited = exit_code(int(code[1])) if code else None
        has_failed = exited != 0 if code else _NOTICED_STATUS.get(told.get("status", ""))
        look = f"{task}:{number}:{summary}"
        yield Call(look, "", process=task), Ending(look, has_failed, exited, summary)


def _failed(ending: Ending, output: str) -> Ending:
    """An ending with what its output says of the failure."""
    code = _EXIT_CODE.match(output)
    is_refused, words = refusal(Agent.CLAUDE, output)
    number = exit_code(int(code[1])) if code else None
    is_denied = begins(Agent.CLAUDE, "denied", output)
    return ending._replace(exit=number, is_refused=is_refused, is_denied=is_denied, words=words)


def _told(ending: Ending, beside: dict[str, Any]) -> Ending:
    """An ending with what the program tells beside it."""
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
    """Return what names the call of which a block tells; "" where it names none."""
    return text_of(block.get("id")) or text_of(block.get("tool_use_id"))


def joined(blocks: list[dict[str, Any]]) -> str:
    """Return the text in the blocks of a message."""
    texts = (text_of(block.get("text")) for block in blocks if block.get("type") == "text")
    return "\n\n".join(filter(None, texts))


def result(block: dict[str, Any]) -> str:
    """Return what a tool said."""
    content = block.get("content")
    return text_of(content) or joined(list(dicts_of(content)))
