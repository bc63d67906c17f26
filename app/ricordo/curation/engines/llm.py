"""Asking a language model: the brief as data, our form as the only answer, through the gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ricordo.curation.brief import changing_block, stable_block
from ricordo.curation.engine import CurationProgress, EngineUsage, Step
from ricordo.curation.engines.external import NOTHING, Estimate, Measured, Reply, Sent
from ricordo.curation.form import PROPOSING, ModelForm
from ricordo.curation.prompts import Prompt
from ricordo.llm.ask import Server, ask, count
from ricordo.llm.gate import Gate, GateRequest
from ricordo.llm.prices import Prices
from ricordo.llm.question import (
    AnswerProgress,
    Meter,
    ModelAnswer,
    ModelQuestion,
    Phase,
    TokenUsage,
)
from ricordo.llm.wait import wait_for
from ricordo.settings.settings import ENGINE

ANTHROPIC = "anthropic"
"""The engine's name, after the API that its server speaks."""
DEFAULT_MODEL = ENGINE.model
_PHASES = {
    Phase.CONNECTING: "connecting to the model",
    Phase.READING: "the model reads",
    Phase.THINKING: "the model thinks",
    Phase.WRITING: "the model writes",
}


@dataclass(frozen=True, slots=True)
class AskModel:
    """Asks a model (`asking.Ask`)."""

    server: Server
    gate: Gate
    prices: Prices
    prompt: Prompt
    model: str = DEFAULT_MODEL
    is_automatic: bool = False
    """Whether nobody asked for it just now."""
    lost: Callable[[EngineUsage], None] = field(default=lambda _: None)
    """Told what was paid for without an answer: the call failed, or was cancelled."""
    form: ModelForm = PROPOSING
    most_written: int = 0
    """How many tokens it may write; as many as the caps have where it is 0."""
    is_part: bool = False
    """Whether it asks for a part of what was turned down as a whole."""

    @property
    def room(self) -> int:
        """How many tokens the brief may have, so that a run stays under its cap."""
        return max(0, self.gate.caps.run_in - self._question(NOTHING).tokens)

    def estimate(self, brief: Measured) -> Estimate:
        """Return what it may cost to send a `brief`."""
        return self.estimate_of(self._question(NOTHING).tokens + brief.tokens)

    def estimate_of(self, sent: int) -> Estimate:
        """Return what it may cost to send so many tokens."""
        most = self._most
        usage = TokenUsage(cache_written=sent, output_tokens=most)
        return Estimate(sent, most, self.prices.cost(self.model, usage))

    @property
    def most(self) -> Estimate:
        """What a run may cost in all, however often it asks."""
        caps = self.gate.caps
        usage = TokenUsage(cache_written=caps.run_in, output_tokens=caps.run_out)
        return Estimate(caps.run_in, caps.run_out, self.prices.cost(self.model, usage))

    def again(self, spent: EngineUsage, seconds: float) -> AskModel:
        """Return what asks for a part, in a run that has `spent` so much and has so many seconds
        left: the caps of a run hold for all that it asks, and so does its deadline.
        """
        caps, bounds = self.gate.caps, self.server.bounds
        left = replace(
            caps,
            run_in=max(0, caps.run_in - spent.input_tokens),
            run_out=max(0, caps.run_out - spent.output_tokens),
        )
        server = replace(self.server, bounds=replace(bounds, total=seconds))
        return replace(self, server=server, gate=replace(self.gate, caps=left), is_part=True)

    def check(self) -> None:
        """Do nothing where there is a way to the server, and a key for it where it needs one; it
        is not asked. Raises ModelFailed.
        """
        from ricordo.llm.client import open_client

        open_client(self.server.base_url, self.server.bounds)

    def count(self, sent: Sent, step: Step) -> int:
        """Return how many tokens it costs to send a brief, as the server counts them: that is free,
        and shows the brief to it. Raises CuratorFailed, and what `step` raises.
        """
        told = CurationProgress(_PHASES[Phase.CONNECTING])
        return wait_for(count(self.server, self._question(sent)), lambda: step(told))

    def __call__(self, sent: Sent, step: Step) -> Reply:
        """Return what the model replies. Raises CuratorFailed, StateUnusable, and what `step`
        raises.
        """
        question = self._question(sent)
        text = f"{self.prompt.text}{sent.stable}{sent.changing}"
        tokens = question.tokens, question.most_output
        run = GateRequest(text, *tokens, self.is_automatic, self.is_part)
        with self.gate.passing(run) as meter:
            answer = self._answered(question, meter, step)
        return Reply(self.form.said(answer.value), self._usage(meter))

    @property
    def _most(self) -> int:
        most = self.gate.caps.run_out
        return min(self.most_written or most, most)

    def _question(self, sent: Sent) -> ModelQuestion:
        blocks = stable_block(sent.stable), changing_block(sent.changing)
        return ModelQuestion(self.model, self.prompt.text, *blocks, self.form.tool, self._most)

    def _answered(self, question: ModelQuestion, meter: Meter, step: Step) -> ModelAnswer:
        told = [CurationProgress(_PHASES[Phase.CONNECTING])]

        def tell(progress: AnswerProgress) -> None:
            told[0] = _told(progress)

        asking = ask(self.server, question, meter, tell)
        try:
            return wait_for(asking, lambda: step(told[0]))
        except BaseException:
            if meter.usage.total:
                self.lost(self._usage(meter))
            raise

    def _usage(self, meter: Meter) -> EngineUsage:
        usage = meter.usage
        return EngineUsage(usage.sent, usage.output_tokens, self.prices.cost(self.model, usage))


def _told(progress: AnswerProgress) -> CurationProgress:
    if progress.phase is Phase.PAUSING:
        return CurationProgress(f"the server is busy, {progress.seconds:.0f} seconds to go")
    return CurationProgress(_PHASES[progress.phase], progress.tokens, progress.text)
