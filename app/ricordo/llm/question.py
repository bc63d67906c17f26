"""Questions to a model, its answers, and the tokens of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ricordo.llm.redaction import Sealed

BYTES_PER_TOKEN = 4
"""Estimate without a tokenizer; scripts other than Latin cost more."""


@dataclass(frozen=True, slots=True)
class FormTool:
    """The one tool of a model: filling in a form."""

    name: str
    description: str
    schema: Mapping[str, object]
    """The form as JSON Schema, of the kinds that `schema.py` knows."""

    @property
    def definition(self) -> dict[str, object]:
        """The tool as the API takes it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.schema,
            "strict": True,
        }


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question to a model. What changes least comes first, for the prompt cache."""

    model: str
    system: str
    stable: Sealed
    """The part that is the same in the next question."""
    changing: Sealed
    tool: FormTool
    max_output: int = 8_000
    """Output tokens, thinking included."""

    @property
    def tokens(self) -> int:
        """Estimated input tokens."""
        tool = json.dumps(self.tool.definition)
        return estimate_tokens(f"{self.system}{self.stable}{self.changing}{tool}")


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the server counted them."""

    input_tokens: int = 0
    """Input neither read from nor written to the cache."""
    cache_written: int = 0
    cache_read: int = 0
    output_tokens: int = 0

    @property
    def sent(self) -> int:
        """All input tokens."""
        return self.input_tokens + self.cache_written + self.cache_read

    @property
    def total(self) -> int:
        """All tokens, input and output."""
        return self.sent + self.output_tokens

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.cache_written + other.cache_written,
            self.cache_read + other.cache_read,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A complete answer that matches the requested schema."""

    value: Mapping[str, object]
    model: str
    """The name that the server reports."""
    usage: TokenUsage


class Phase(StrEnum):
    """What is happening while the user waits."""

    CONNECTING = "connecting"
    READING = "reading"
    THINKING = "thinking"
    WRITING = "writing"
    PAUSING = "pausing"


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """The progress of an answer."""

    phase: Phase
    tokens: int = 0
    """Output so far; estimated until the server reports it."""
    seconds: float = 0.0
    """Since the question; while pausing, until the next try."""
    text: str = ""
    """The end of the output so far, unchecked."""


@dataclass(slots=True)
class Meter:
    """Tokens of a question so far, over all tries; also correct after it was cancelled."""

    done: TokenUsage = field(default_factory=TokenUsage)
    running: TokenUsage = field(default_factory=TokenUsage)
    """Of the current try."""
    is_sent: bool = False
    """Whether anything was sent at all."""

    @property
    def usage(self) -> TokenUsage:
        """The tokens of all tries."""
        return self.done + self.running

    def next_try(self) -> None:
        """Start counting another try."""
        self.done, self.running = self.usage, TokenUsage()


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens of a text."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one question. All times are in seconds."""

    connect: float = 5.0
    read: float = 60.0
    """Of silence."""
    total: float = 300.0
    """From the question to the end of the answer, including all tries and pauses."""
    max_bytes: int = 4 * 1024 * 1024
    max_tries: int = 3
    pause: float = 1.0
    """Before the second try; each further one is four times as long."""
    max_pause: float = 30.0
    """The longest pause that a server may ask for; beyond it the question fails and the message
    says when to retry.
    """
