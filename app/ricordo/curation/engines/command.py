"""Asking a program of the person's, such as one that they pay for already: it reads the brief as
data and answers with one JSON document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shutil import which
from typing import Any

from ricordo.curation.brief import changing_block, stable_block
from ricordo.curation.engine import CurationProgress, EngineUsage, Step
from ricordo.curation.engines.external import NOTHING, Estimate, Measured, Reply, Sent
from ricordo.curation.form import PROPOSING, ModelForm
from ricordo.curation.prompts import Prompt
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.gate import Gate, GateRequest
from ricordo.llm.program import Program, ProgramReply, run_program, unwrapped
from ricordo.llm.question import Bounds, Meter, TokenUsage, estimate
from ricordo.llm.redaction import Sealed, framed
from ricordo.llm.schema import Misshapen, check, parse

COMMAND = "command"
_RUNNING = CurationProgress("the program runs")
_INSTEAD = """
There is no tool here. Answer with exactly one JSON object and nothing else: what you would have
given to the tool, of this JSON Schema.

"""


@dataclass(frozen=True, slots=True)
class AskProgram:
    """Runs a program (`asking.Ask`), through the gate."""

    program: Program
    environ: Mapping[str, str]
    gate: Gate
    prompt: Prompt
    bounds: Bounds = field(default_factory=Bounds)
    is_automatic: bool = False
    """Whether nobody asked for it just now."""
    lost: Callable[[EngineUsage], None] = field(default=lambda _: None)
    """Told what was paid for without an answer."""
    form: ModelForm = PROPOSING
    most_written: int = 0
    """How many tokens it is expected to write at most; as many as the caps have where it is 0."""

    @property
    def room(self) -> int:
        """How many tokens the brief may have, so that a run stays under its cap."""
        return max(0, self.gate.caps.run_in - estimate(self._text(NOTHING)))

    def estimate(self, brief: Measured) -> Estimate:
        """Return what it may cost to send a `brief`; what the program charges is not known."""
        read = estimate(self._text(NOTHING)) + brief.tokens
        return Estimate(read, self._most, None)

    def check(self) -> None:
        """Do nothing where the program is there; it is not run. Raises ModelFailed."""
        name = self.program.words[0]
        if os.sep in name and not os.path.isabs(name):
            why = f"{name} is no whole path, and it runs in a folder of its own"
            raise ModelFailed(
                FailureCause.PROGRAM, why, remedy="Write the whole path in engine.command."
            )
        if which(name, path=self.environ.get("PATH")) is None:
            raise ModelFailed(FailureCause.PROGRAM, f"{name} is not there, or is no program")

    def __call__(self, sent: Sent, step: Step) -> Reply:
        """Return what the program replies. Raises CuratorFailed, StateUnusable, and what `step`
        raises.
        """
        text = self._text(sent)
        told = f"{self.prompt.text}{sent.stable}{sent.changing}"
        run = GateRequest(told, estimate(text), self._most, self.is_automatic)
        with self.gate.passing(run) as meter:
            said = self._said(text, meter, step)
            value = self._value(said, meter)
        return Reply(self.form.said(value), _usage(meter, said.usd))

    @property
    def _most(self) -> int:
        most = self.gate.caps.run_out
        return min(self.most_written or most, most)

    def _text(self, sent: Sent) -> Sealed:
        """Return all that the program is given to read."""
        blocks = stable_block(sent.stable), changing_block(sent.changing)
        form = json.dumps(self.form.tool.schema)
        return framed(f"{self.prompt.text}\n\n", blocks, f"{_INSTEAD}{form}\n")

    def _said(self, text: Sealed, meter: Meter, step: Step) -> ProgramReply:
        self.check()
        meter.is_sent = True
        meter.running = TokenUsage(input_tokens=estimate(text))
        words, environ = self.program.words, self.environ
        try:
            ended = run_program(words, text, environ, self.bounds, lambda: step(_RUNNING))
        except BaseException:
            self._lose(meter, None)
            raise
        said = unwrapped(self.program, ended)
        written = TokenUsage(output_tokens=estimate(said.text))
        meter.running = said.usage or meter.running + written
        meter.is_sent = meter.usage.total > 0
        if said.failure is not None:
            self._lose(meter, said.usd)
            raise said.failure
        return said

    def _lose(self, meter: Meter, usd: float | None) -> None:
        if meter.usage.total:
            self.lost(_usage(meter, usd))

    def _value(self, said: ProgramReply, meter: Meter) -> Any:
        try:
            value = parse(said.text)
            check(value, self.form.tool.schema)
        except Misshapen as error:
            self._lose(meter, said.usd)
            raise ModelFailed(FailureCause.MISSHAPEN, str(error)) from None
        return value


def _usage(meter: Meter, usd: float | None) -> EngineUsage:
    return EngineUsage(meter.usage.sent, meter.usage.output_tokens, usd)
