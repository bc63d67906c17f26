"""What is sent: this is where text leaves the machine, and only text that was sealed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ricordo.model.question import Question


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a model beyond an answer, and not had of every one."""

    is_forced: bool = True
    """That it has to use the tool; else it is offered, and an answer without it is none."""
    is_short: bool = True
    """That it thinks little: what it thinks counts as written."""

    def without(self, complaint: str) -> Wanted | None:
        """Return what is left to be wanted of a model that turned the question down in these words;
        None where they are about nothing of it.
        """
        if self.is_forced and "tool_choice" in complaint:
            return replace(self, is_forced=False)
        if self.is_short and ("output_config" in complaint or "effort" in complaint):
            return replace(self, is_short=False)
        return None


def request_of(question: Question, wanted: Wanted) -> dict[str, Any]:
    """Return the request that asks `question`."""
    tool = question.tool
    choice = {"type": "tool", "name": tool.name} if wanted.is_forced else {"type": "auto"}
    form = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    content = [_part(question.stable, is_kept=True), _part(question.changing, is_kept=False)]
    effort = {"output_config": {"effort": "low"}} if wanted.is_short else {}
    return {
        **effort,
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
