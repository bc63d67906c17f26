"""The engine behind which there is a program of the person's, such as one that they pay for
already: it reads the brief as data and answers with one JSON document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shutil import which
from typing import Any

from ricordo.curator.blocks import changing_block, stable_block
from ricordo.curator.brief import Brief
from ricordo.curator.edits import read_edits
from ricordo.curator.engine import Answer, Progress, Step, Usage
from ricordo.curator.form import PROPOSE, unfolded
from ricordo.curator.prompts import Prompt
from ricordo.curator.proposal import curator
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory
from ricordo.model import question as asked
from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed
from ricordo.model.gate import Gate, Run
from ricordo.model.program import run_program
from ricordo.model.programs import Program, Said, unwrapped
from ricordo.model.question import Meter, estimate
from ricordo.model.schema import Misshapen, check, parse
from ricordo.secrets import mask

COMMAND = "command"
_RUNNING = "the program runs"
_INSTEAD = """
There is no tool here. Answer with exactly one JSON object and nothing else: what you would have
given to the tool, of this JSON Schema.

"""


@dataclass(frozen=True, slots=True)
class ProgramEngine:
    """Runs a program, through the gate."""

    program: Program
    environ: Mapping[str, str]
    gate: Gate
    prompt: Prompt
    bounds: Bounds = field(default_factory=Bounds)
    is_automatic: bool = False
    """Whether nobody asked for it just now."""
    lost: Callable[[Usage], None] = field(default=lambda _: None)
    """Told what was paid for without an answer."""

    @property
    def author(self) -> Author:
        """The engine, with its program and the version of its prompt."""
        return curator(COMMAND, self.program.name, self.prompt.version)

    def text(self, brief: Brief) -> str:
        """Return all that the program is given to read."""
        parts = (
            self.prompt.text,
            "\n\n",
            stable_block(brief.stable),
            changing_block(brief.changing),
            _INSTEAD,
            json.dumps(PROPOSE.schema),
            "\n",
        )
        return mask("".join(parts))

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the program would change. Raises CuratorFailed, StateUnusable, and what
        `step` raises.
        """
        text = self.text(brief)
        sent = f"{self.prompt.text}{brief.text}"
        run = Run(sent, estimate(text), self.gate.caps.run_out, self.is_automatic)
        with self.gate.passing(run) as meter:
            said = self._said(text, meter, step)
            edits = self._edits(said, meter)
        read = read_edits(memory, brief, unfolded(edits))
        return Answer(read.wishes, read.rejected, _usage(meter, said.usd))

    def _said(self, text: str, meter: Meter, step: Step) -> Said:
        self._refuse_missing()
        meter.is_sent = True
        meter.running = asked.Usage(input_tokens=estimate(text))
        words, told = self.program.words, Progress(_RUNNING)
        try:
            output = run_program(words, text, self.environ, self.bounds, lambda: step(told))
            said = unwrapped(self.program, output)
        except BaseException:
            self.lost(_usage(meter, None))
            raise
        written = asked.Usage(output_tokens=estimate(said.text))
        meter.running = said.usage or meter.running + written
        return said

    def _refuse_missing(self) -> None:
        name = self.program.words[0]
        if which(name, path=self.environ.get("PATH")) is None:
            raise ModelFailed(Cause.PROGRAM, f"{name} is not there, or is no program")

    def _edits(self, said: Said, meter: Meter) -> Any:
        try:
            value = parse(said.text)
            check(value, PROPOSE.schema)
        except Misshapen as error:
            self.lost(_usage(meter, said.usd))
            raise ModelFailed(Cause.MISSHAPEN, str(error)) from None
        return value["edits"]


def _usage(meter: Meter, usd: float | None) -> Usage:
    return Usage(meter.usage.sent, meter.usage.output_tokens, usd)
