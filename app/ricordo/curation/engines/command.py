"""Ask a program of the user's, such as one that they already pay for: it reads the brief as data
and answers with one JSON document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shutil import which
from typing import Any

from ricordo.curation.brief import frame_changing, frame_stable
from ricordo.curation.engine import CurationProgress, EngineUsage, Step
from ricordo.curation.engines.external import (
    EMPTY_BRIEF,
    EngineReply,
    Estimate,
    Measured,
    SealedBrief,
)
from ricordo.curation.form import PROPOSE_FORM, ModelForm
from ricordo.curation.prompts import Prompt
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.gate import Gate, GateRequest
from ricordo.llm.program import Program, ProgramReply, read_reply, run_program
from ricordo.llm.question import Meter, RequestLimits, TokenUsage, estimate_tokens
from ricordo.llm.redaction import Sealed, frame
from ricordo.llm.schema import SchemaError, check, parse

COMMAND = "command"
_RUNNING = CurationProgress("program running")
_INSTEAD = """
There is no tool here. Answer with exactly one JSON object and nothing else: what you would have
given to the tool, of this JSON Schema.

"""


@dataclass(frozen=True, slots=True)
class ProgramClient:
    """Runs a program through the gate (an `Ask` of `external`)."""

    program: Program
    environ: Mapping[str, str]
    gate: Gate
    prompt: Prompt
    bounds: RequestLimits = field(default_factory=RequestLimits)
    is_automatic: bool = False
    """Whether no user started it."""
    record_lost: Callable[[EngineUsage], None] = field(default=lambda _: None)
    """Gets the cost of a run without an answer."""
    form: ModelForm = PROPOSE_FORM
    max_output: int = 0
    """The most output tokens expected; 0 for the cap of a run."""

    @property
    def max_brief_tokens(self) -> int:
        """The most tokens of a brief, so that a run stays under its cap."""
        return max(0, self.gate.caps.run_in - estimate_tokens(self._text(EMPTY_BRIEF)))

    def estimate(self, brief: Measured) -> Estimate:
        """Return the most that sending a `brief` may cost; the price is unknown."""
        tokens = estimate_tokens(self._text(EMPTY_BRIEF)) + brief.tokens
        return Estimate(tokens, self._max_output, None)

    def check(self) -> None:
        """Raise ModelFailed unless the program is installed. Runs nothing."""
        name = self.program.words[0]
        if os.sep in name and not os.path.isabs(name):
            why = f"{name} is a relative path, but the program runs in an empty folder"
            raise ModelFailed(
                FailureCause.PROGRAM, why, remedy="Set an absolute path in engine.command."
            )
        if which(name, path=self.environ.get("PATH")) is None:
            raise ModelFailed(FailureCause.PROGRAM, f"{name} not found, or not executable")

    def __call__(self, sent: SealedBrief, step: Step) -> EngineReply:
        """Return the reply to a brief. Raises CuratorFailed, StateUnusable, and what
        `step` raises.
        """
        text = self._text(sent)
        question = f"{self.prompt.text}{sent.stable}{sent.changing}"
        run = GateRequest(question, estimate_tokens(text), self._max_output, self.is_automatic)
        with self.gate.admit(run) as meter:
            reply = self._run(text, meter, step)
            value = self._read_value(reply, meter)
        return EngineReply(self.form.read(value), _make_usage(meter, reply.usd))

    @property
    def _max_output(self) -> int:
        cap = self.gate.caps.run_out
        return min(self.max_output or cap, cap)

    def _text(self, sent: SealedBrief) -> Sealed:
        """Return the whole input of the program."""
        blocks = frame_stable(sent.stable), frame_changing(sent.changing)
        form = json.dumps(self.form.tool.schema)
        return frame(f"{self.prompt.text}\n\n", blocks, f"{_INSTEAD}{form}\n")

    def _run(self, text: Sealed, meter: Meter, step: Step) -> ProgramReply:
        self.check()
        meter.is_sent = True
        meter.running = TokenUsage(input_tokens=estimate_tokens(text))
        words, environ = self.program.words, self.environ
        try:
            ended = run_program(words, text, environ, self.bounds, lambda: step(_RUNNING))
        except BaseException:
            self._record_loss(meter, None)
            raise
        reply = read_reply(self.program, ended)
        output = TokenUsage(output_tokens=estimate_tokens(reply.text))
        meter.running = reply.usage or meter.running + output
        meter.is_sent = meter.usage.total > 0
        if reply.failure is not None:
            self._record_loss(meter, reply.usd)
            raise reply.failure
        return reply

    def _record_loss(self, meter: Meter, usd: float | None) -> None:
        if meter.usage.total:
            self.record_lost(_make_usage(meter, usd))

    def _read_value(self, reply: ProgramReply, meter: Meter) -> Any:
        try:
            value = parse(reply.text)
            check(value, self.form.tool.schema)
        except SchemaError as error:
            self._record_loss(meter, reply.usd)
            raise ModelFailed(FailureCause.MALFORMED, str(error)) from None
        return value


def _make_usage(meter: Meter, usd: float | None) -> EngineUsage:
    return EngineUsage(meter.usage.sent, meter.usage.output_tokens, usd)
