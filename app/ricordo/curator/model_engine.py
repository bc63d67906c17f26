"""The engine behind which there is a language model: it is given the brief as data, answers in our
form, and what it says is read as if it came from an enemy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
from ricordo.model.ask import Server, ask
from ricordo.model.gate import Gate, Run
from ricordo.model.prices import Prices
from ricordo.model.question import Meter, Phase, Question
from ricordo.model.wait import wait_for

ANTHROPIC = "anthropic"
"""The engine's name, after the API that its server speaks."""
DEFAULT_MODEL = "claude-sonnet-5-5"
_PHASES = {
    Phase.CONNECTING: "connecting to the model",
    Phase.READING: "the model reads",
    Phase.THINKING: "the model thinks",
    Phase.WRITING: "the model writes",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a curation may cost, before it."""

    input_tokens: int
    output_tokens: int
    """The most that the model may write."""
    usd: float | None
    """The most, with nothing served by a cache; None where the price is not known."""


@dataclass(frozen=True, slots=True)
class ModelEngine:
    """Asks a model, through the gate."""

    server: Server
    gate: Gate
    prices: Prices
    prompt: Prompt
    model: str = DEFAULT_MODEL
    is_automatic: bool = False
    """Whether nobody asked for it just now."""
    lost: Callable[[Usage], None] = field(default=lambda _: None)
    """Told what was paid for without an answer: the call failed, or was cancelled."""

    @property
    def author(self) -> Author:
        """The engine, with its model and the version of its prompt."""
        return curator(ANTHROPIC, self.model, self.prompt.version)

    @property
    def room(self) -> int:
        """How many tokens the brief may have, so that a run stays under its cap."""
        return max(0, self.gate.caps.run_in - self._question("", "").tokens)

    def estimate(self, brief: Brief) -> Estimate:
        """Return what it may cost to curate by `brief`."""
        question = self._question(brief.stable, brief.changing)
        most = asked.Usage(cache_written=question.tokens, output_tokens=question.most_output)
        usd = self.prices.cost(self.model, most)
        return Estimate(question.tokens, question.most_output, usd)

    def answer(self, memory: Memory, brief: Brief, step: Step) -> Answer:
        """Return what the model would change. Raises CuratorFailed, StateUnusable, and what `step`
        raises.
        """
        question = self._question(brief.stable, brief.changing)
        sent = f"{question.system}{brief.stable}{brief.changing}"
        run = Run(sent, question.tokens, question.most_output, self.is_automatic)
        with self.gate.passing(run) as meter:
            answer = self._answered(question, meter, step)
        edits: Any = answer.value["edits"]
        read = read_edits(memory, brief, unfolded(edits))
        return Answer(read.wishes, read.rejected, self._usage(meter))

    def _question(self, stable: str, changing: str) -> Question:
        blocks = stable_block(stable), changing_block(changing)
        most = self.gate.caps.run_out
        return Question(self.model, self.prompt.text, *blocks, PROPOSE, most)

    def _answered(self, question: Question, meter: Meter, step: Step) -> asked.Answer:
        told = [Progress(_PHASES[Phase.CONNECTING])]

        def tell(progress: asked.Progress) -> None:
            told[0] = _told(progress)

        asking = ask(self.server, question, meter, tell)
        try:
            return wait_for(asking, lambda: step(told[0]))
        except BaseException:
            if meter.usage.total:
                self.lost(self._usage(meter))
            raise

    def _usage(self, meter: Meter) -> Usage:
        usage = meter.usage
        cost = self.prices.cost(self.model, usage)
        return Usage(usage.sent, usage.output_tokens, cost)


def _told(progress: asked.Progress) -> Progress:
    if progress.phase is Phase.PAUSING:
        return Progress(f"the server is busy, {progress.seconds:.0f} seconds to go")
    return Progress(_PHASES[progress.phase], progress.tokens)
