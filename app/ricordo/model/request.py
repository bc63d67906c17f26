"""What is sent: this is where text leaves the machine, and only text that was sealed."""

from __future__ import annotations

from typing import Any

from ricordo.model.question import Question


def request_of(question: Question, *, is_forced: bool) -> dict[str, Any]:
    """Return the request that asks `question`; with `is_forced` the model has to use the tool."""
    tool = question.tool
    choice = {"type": "tool", "name": tool.name} if is_forced else {"type": "auto"}
    form = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    content = [_part(question.stable, is_kept=True), _part(question.changing, is_kept=False)]
    return {
        "model": question.model,
        "max_tokens": question.most_output,
        "system": [_part(question.system, is_kept=True)],
        "tools": [{**form, "strict": True}],
        "tool_choice": {**choice, "disable_parallel_tool_use": True},
        "messages": [{"role": "user", "content": content}],
    }


def _part(text: str, *, is_kept: bool) -> dict[str, object]:
    part: dict[str, object] = {"type": "text", "text": text}
    return {**part, "cache_control": {"type": "ephemeral"}} if is_kept else part
