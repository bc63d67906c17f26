"""An event of an agent, and the answer to it, in the form that all agents understand.

Agents differ in the names of events and fields, and in how much context they accept. The program
that starts Ricordo names the agent; without a name it is Claude Code.
"""

from __future__ import annotations

import json

from ricordo.agents.prompt_rules import USUAL_AGENT, break_speaker_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SOURCES = (None, "user", "sdk")
"""Sources of prompts by users; Codex and older versions of Claude Code give none."""


class HookEvent:
    """One event."""

    __slots__ = ("agent", "fields")

    def __init__(self, document: bytes, agent: str = "") -> None:
        """Read the JSON `document` that `agent` gave. Raises ValueError and RecursionError."""
        fields = json.loads(document)
        if not isinstance(fields, dict):
            raise ValueError("the event is no JSON object")
        self.fields: dict[str, Any] = fields
        self.agent = agent or USUAL_AGENT

    def text(self, key: str) -> str:
        """Return the text in a field; "" if there is none."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    @property
    def cwd(self) -> str:
        """The directory in which the agent works; "" if unknown."""
        return self.text("cwd")

    @property
    def session(self) -> str:
        """The id of the session; "" if unknown."""
        return self.text("session_id")

    @property
    def is_of_sub_agent(self) -> bool:
        """Whether a sub-agent caused it: what is said to it reaches no user."""
        return self.fields.get("agent_id") is not None

    @property
    def is_by_user(self) -> bool:
        """Whether a user wrote the prompt, and neither a machine nor a sub-agent."""
        return self.fields.get("source") in _SOURCES and not self.is_of_sub_agent


def give_context(event_name: str, context: str) -> bytes:
    """Return the answer that adds `context` to what the model reads; b"" for none."""
    if not context:
        return b""
    output = {"hookEventName": event_name, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": output}).encode("ascii") + b"\n"


LONGEST_PATH = 4_096
"""Characters of a path; part of one would be of no use."""
LONGEST_LINE = 300
"""Characters of a name, a path or a reason."""


def make_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return `text` on one line, without what could be mistaken for something around it."""
    line = " ".join(make_harmless(text).split("\n"))
    return line if len(line) <= longest else f"{line[:longest]}…"


def make_harmless(text: str) -> str:
    """Return `text` with control characters made visible, and without tags that mark speakers to
    agents.
    """
    return break_speaker_tags(_visible(text))


def _visible(text: str) -> str:
    """Return `text` with control characters made visible; plain text needs no further import."""
    if all(line.isprintable() for line in text.split("\n")):
        return text
    from ricordo.text import make_visible

    return make_visible(text)
