"""Ask a language model through the gate: the brief as data, a form as the only answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

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
from ricordo.llm.ask import Server, ask, count_tokens
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
    Phase.READING: "model reading",
    Phase.THINKING: "model thinking",
    Phase.WRITING: "model writing",
}


@dataclass(frozen=True, slots=True)
class ModelClient:
    """Asks a model through the gate (an `Ask` of `external`)."""

    server: Server
    gate: Gate
    prices: Prices
    prompt: Prompt
    model: str = DEFAULT_MODEL
    is_automatic: bool = False
    """Whether no user started it."""
    record_lost: Callable[[EngineUsage], None] = field(default=lambda _: None)
    """Gets the cost of a call without an answer: it failed, or was cancelled."""
    form: ModelForm = PROPOSE_FORM
    max_output: int = 0
    """The most output tokens; 0 for the cap of a run."""
    is_part: bool = False
    """Whether it asks for a part of a brief that was rejected as a whole."""

    @property
    def max_brief_tokens(self) -> int:
        """The most tokens of a brief, so that a run stays under its cap."""
        return max(0, self.gate.caps.run_in - self._question(EMPTY_BRIEF).tokens)

    def estimate(self, brief: Measured) -> Estimate:
        """Return the most that sending a `brief` may cost."""
        return self.estimate_of(self._question(EMPTY_BRIEF).tokens + brief.tokens)

    def estimate_of(self, sent: int) -> Estimate:
        """Return the most that sending so many tokens may cost."""
        output = self._max_output
        usage = TokenUsage(cache_written=sent, output_tokens=output)
        return Estimate(sent, output, self.prices.cost(self.model, usage))

    @property
    def max_estimate(self) -> Estimate:
        """The most that a run may cost in all its questions."""
        caps = self.gate.caps
        usage = TokenUsage(cache_written=caps.run_in, output_tokens=caps.run_out)
        return Estimate(caps.run_in, caps.run_out, self.prices.cost(self.model, usage))

    def for_part(self, spent: EngineUsage, seconds: float) -> ModelClient:
        """Return a client that asks for a part, in a run that has `spent` so much and has so many
        seconds left: the caps and the deadline of a run apply to all its questions.
        """
        caps, bounds = self.gate.caps, self.server.limits
        remaining = replace(
            caps,
            run_in=max(0, caps.run_in - spent.input_tokens),
            run_out=max(0, caps.run_out - spent.output_tokens),
        )
        server = replace(self.server, limits=replace(bounds, total=seconds))
        return replace(self, server=server, gate=replace(self.gate, caps=remaining), is_part=True)

    def check(self) -> None:
        """Raise ModelFailed where the connection is not configured or a key is missing. Sends
        nothing.
        """
        from ricordo.llm.client import open_client

        open_client(self.server.base_url, self.server.limits)

    def count(self, sent: SealedBrief, step: Step) -> int:
        """Return the input tokens of a brief as the server counts them. This is free, but sends the
        brief. Raises CuratorFailed, and what `step` raises.
        """
        progress = CurationProgress("the server counts")
        return wait_for(count_tokens(self.server, self._question(sent)), lambda: step(progress))

    def __call__(self, sent: SealedBrief, step: Step) -> EngineReply:
        """Return the model's reply. Raises CuratorFailed, StateUnusable, and what `step` raises."""
        question = self._question(sent)
        text = f"{self.prompt.text}{sent.stable}{sent.changing}"
        tokens = question.tokens, question.max_output
        run = GateRequest(text, *tokens, self.is_automatic, self.is_part)
        with self.gate.admit(run) as meter:
            answer = self._ask(question, meter, step)
        return EngineReply(self.form.read(answer.value), self._usage(meter))

    @property
    def _max_output(self) -> int:
        cap = self.gate.caps.run_out
        return min(self.max_output or cap, cap)

    def _question(self, sent: SealedBrief) -> ModelQuestion:
        blocks = frame_stable(sent.stable), frame_changing(sent.changing)
        tool, output = self.form.tool, self._max_output
        return ModelQuestion(self.model, self.prompt.text, *blocks, tool, output)

    def _ask(self, question: ModelQuestion, meter: Meter, step: Step) -> ModelAnswer:
        progress = CurationProgress(_PHASES[Phase.CONNECTING])

        def report(answer: AnswerProgress) -> None:
            nonlocal progress
            progress = _convert_progress(answer)

        asking = ask(self.server, question, meter, report)
        try:
            return wait_for(asking, lambda: step(progress))
        except BaseException:
            if meter.usage.total:
                self.record_lost(self._usage(meter))
            raise

    def _usage(self, meter: Meter) -> EngineUsage:
        usage = meter.usage
        return EngineUsage(usage.sent, usage.output_tokens, self.prices.cost(self.model, usage))


def _convert_progress(answer: AnswerProgress) -> CurationProgress:
    if answer.phase is Phase.PAUSING:
        return CurationProgress(f"server busy, retrying in {answer.seconds:.0f} seconds")
    return CurationProgress(_PHASES[answer.phase], answer.tokens, answer.text)
