"""What a model is asked, what it answers, and what both cost in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ricordo.llm.redaction import Sealed

BYTES_A_TOKEN = 4
"""An estimate that is made without a tokenizer; scripts other than Latin cost more."""


@dataclass(frozen=True, slots=True)
class FormTool:
    """The one thing that a model can do: fill in a form."""

    name: str
    description: str
    schema: Mapping[str, object]
    """The form as JSON Schema, of the kinds that `schema.py` knows."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """What a model is asked, by what changes least first, so that a cache serves the most of it."""

    model: str
    system: str
    stable: Sealed
    """What is the same in the next question."""
    changing: Sealed
    tool: FormTool
    most_output: int = 8_000
    """Tokens that the model may write, its thinking included."""

    @property
    def tokens(self) -> int:
        """About how many tokens it costs to ask."""
        written = f"{self.system}{self.stable}{self.changing}{self.tool}"
        return estimate(written)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens, as a server counted them."""

    input_tokens: int = 0
    """Those that no cache served and none keeps."""
    cache_written: int = 0
    cache_read: int = 0
    output_tokens: int = 0

    @property
    def sent(self) -> int:
        """All tokens that were sent."""
        return self.input_tokens + self.cache_written + self.cache_read

    @property
    def total(self) -> int:
        """All tokens, sent and written."""
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
    """An answer that came whole and in the shape that was asked for."""

    value: Mapping[str, object]
    model: str
    """As whoever answered calls it."""
    usage: TokenUsage


class Phase(StrEnum):
    """What is being done while a person waits."""

    CONNECTING = "connecting"
    READING = "reading"
    THINKING = "thinking"
    WRITING = "writing"
    PAUSING = "pausing"


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """How far an answer has come."""

    phase: Phase
    tokens: int = 0
    """Written so far; estimated until the server says."""
    seconds: float = 0.0
    """Since it was asked; while pausing, until it goes on."""
    text: str = ""
    """The end of what was written so far, as it came: nobody has looked at it."""


@dataclass(slots=True)
class Meter:
    """What a question has cost so far, over all tries. It stays right when asking is cancelled."""

    done: TokenUsage = field(default_factory=TokenUsage)
    running: TokenUsage = field(default_factory=TokenUsage)
    """Of the try that goes on."""
    is_sent: bool = False
    """Whether anything was sent at all."""

    @property
    def usage(self) -> TokenUsage:
        """All of it."""
        return self.done + self.running

    def next_try(self) -> None:
        """Begin to count another try."""
        self.done, self.running = self.usage, TokenUsage()


def estimate(text: str) -> int:
    """Return about how many tokens a text costs."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one question. All times are in seconds."""

    connect: float = 5.0
    read: float = 60.0
    """Of silence."""
    total: float = 300.0
    """From the question to the end of the answer, all tries and pauses included."""
    most_bytes: int = 4 * 1024 * 1024
    tries: int = 3
    pause: float = 1.0
    """Before the second try; each further one is four times as long."""
    longest_pause: float = 30.0
    """That a server may ask for; where it asks for more, we give up and say when to come again."""
