"""Judging uncertain pairs, which may contradict or repeat each other, by an engine: in one batch,
and only at the user's request. What it calls a conflict by excerpts is asked about once more, with
more of both notes. The answers are stored as opinions; no note is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import CurationProgress, EngineUsage, Step
from ricordo.curation.engines.external import Estimate
from ricordo.curation.opinion import (
    AROUND,
    JUDGE_FORM,
    WIDELY_AROUND,
    JudgementBatch,
    Opinion,
    PairNote,
    UncertainPair,
    compose_batch,
    read_opinions,
)
from ricordo.curation.prompts import JUDGE, load_prompt
from ricordo.curation.proposal import RejectedChange, make_curator
from ricordo.errors import StateUnusable, WrongUsage
from ricordo.lint.evidence import UNKNOWN_SPEAKER
from ricordo.llm.redaction import RedactedValue
from ricordo.memory.change import Author
from ricordo.services.conflicts.conflicts import Conflict, Side
from ricordo.services.conflicts.opinions import (
    JudgedPairs,
    load_opinions,
    needs_confirmation,
    split_by_opinion,
    store_opinions,
)
from ricordo.services.engines.choice import get_target, load_chosen_engine
from ricordo.services.engines.engines import EngineTarget
from ricordo.services.engines.preview import Egress, find_disabled_reason, preview_egress
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.ledger.ledger import LedgerRun, new_run, record_run
from ricordo.services.sessions.activity_text import parse_stamp
from ricordo.services.workspace.notebook import Notebook, Snapshot

MAX_PAIRS = 60
"""Uncertain pairs per batch: the answer on more would be over the limit of a run."""
_WRITTEN, _WRITTEN_EACH = 1_500, 150
"""Output tokens: allowance for thinking, and for each pair."""
_COMPARING = CurationProgress("comparing notes")
NONE_PENDING = "There is no pair without an opinion to judge."
_RULES = "The rules engine cannot judge these: choose a model or a program."
_NO_ROOM = "Not even one pair fits under the token limit of a run."


@dataclass(frozen=True, slots=True)
class JudgementRequest:
    """A prepared batch; nothing was sent yet."""

    pairs: tuple[Conflict, ...]
    batch: JudgementBatch
    target: EngineTarget
    estimate: Estimate

    @property
    def redacted(self) -> tuple[RedactedValue, ...]:
        """The values that were redacted from what was sent."""
        return self.batch.redaction.list_redacted()


@dataclass(frozen=True, slots=True)
class JudgementPreview:
    """What is known before pairs are judged; nothing was sent."""

    pairs: JudgedPairs
    """All that can be judged, and what was."""
    request: JudgementRequest | None = None
    egress: Egress | None = None
    """What would be sent; None if nothing is."""
    disabled_reason: str = ""
    """Why no engine can be asked, and what to do; "" if it can."""


@dataclass(frozen=True, slots=True)
class JudgementOutcome:
    """The result of a judgement."""

    opinions: tuple[tuple[Conflict, Opinion], ...]
    rejected: tuple[RejectedChange, ...]
    run: LedgerRun
    asked: tuple[Conflict, ...]
    """All pairs that were sent."""

    @property
    def unconfirmed(self) -> tuple[Conflict, ...]:
        """The pairs to ask about once more, with the opinions that call them a conflict."""
        return tuple(
            replace(pair, opinion=opinion)
            for pair, opinion in self.opinions
            if opinion.needs_confirmation
        )


def list_pairs_to_judge(
    notebook: Notebook, snapshot: Snapshot, step: Step = lambda _: None
) -> JudgedPairs:
    """Return all that a model can be asked about in `snapshot`, by whether there is an opinion on
    it. Raises what `step` raises.
    """
    from ricordo.lint.contradictions.comparer import find_related

    related = find_related(snapshot.memory, lambda: step(_COMPARING))
    return split_by_opinion(snapshot, load_opinions(notebook.environment.state), related)


def preview_judgement(
    notebook: Notebook, snapshot: Snapshot, step: Step = lambda _: None
) -> JudgementPreview:
    """Return what the engine that was chosen last would judge, and whether it can. Raises
    StateUnusable, and what `step` raises.
    """
    pairs = list_pairs_to_judge(notebook, snapshot, step)
    before = JudgementPreview(pairs)
    if not pairs.asked:
        return replace(before, disabled_reason=NONE_PENDING)
    try:
        target = get_target(notebook.environment, load_chosen_engine(notebook))
    except WrongUsage as error:
        return replace(before, disabled_reason=error.message)
    if target is None:
        return replace(before, disabled_reason=_RULES)
    request = prepare_judgement(notebook, pairs.asked, target)
    batch = request.batch
    egress = preview_egress(notebook, request.target, batch, batch.redaction, batch.text)
    why = find_disabled_reason(egress) if request.pairs else _NO_ROOM
    return replace(before, request=request, egress=egress, disabled_reason=why)


def describe_asked(request: JudgementRequest, pairs: Sequence[Conflict]) -> str:
    """Return in words what is judged of the `pairs` that could be: how many that were called a
    conflict by excerpts, and how many without an opinion.
    """
    again = sum(map(needs_confirmation, request.pairs))
    first = len(request.pairs) - again
    every = len(pairs) - sum(map(needs_confirmation, pairs))
    if again:
        others = f", {first} without an opinion" if first else ""
        return f"{again} pair{'s' * (again > 1)} called a conflict by excerpts{others}"
    of = "" if first == every else f" of {every}"
    return f"{first}{of} pair{'s' * (every > 1)} without an opinion"


def prepare_judgement(
    notebook: Notebook, doubts: Sequence[Conflict], target: EngineTarget
) -> JudgementRequest:
    """Return the request to the engine `target` for as many of the `doubts` as fit."""
    engine = _judging_engine(notebook, target, min(len(doubts), MAX_PAIRS))
    pairs = [_uncertain_pair(pair) for pair in doubts[:MAX_PAIRS]]
    batch = compose_batch(pairs, begin_redaction(notebook), engine.ask.max_brief_tokens)
    included = tuple(doubts[number] for number in batch.numbers)
    return JudgementRequest(included, batch, engine, engine.ask.estimate(batch))


def judge(
    notebook: Notebook, request: JudgementRequest, step: Step = lambda _: None
) -> JudgementOutcome:
    """Send the request, store the opinions and record the cost. Raises CuratorFailed,
    StateUnusable, and what `step` raises.
    """
    author = request.target.author

    def lost(usage: EngineUsage) -> None:
        with suppress(StateUnusable):  # why there is no answer matters more than its cost
            _record(notebook, author, usage)

    reply = replace(request.target.ask, record_lost=lost)(request.batch.sent, step)
    # recorded before the reply is read: it was paid for, whatever it is
    run = _record(notebook, author, reply.usage)
    ids = request.batch.ids
    answer = read_opinions(reply.value, ids, author.model)
    opinions = [
        (pair, replace(answer.by_pair[name], is_confirmed=_is_last_word_on(pair)))
        for name, pair in zip(ids, request.pairs, strict=True)
        if name in answer.by_pair
    ]
    store_opinions(notebook.environment, author, opinions)
    return JudgementOutcome(tuple(opinions), answer.rejected, run, request.pairs)


def _judging_engine(notebook: Notebook, target: EngineTarget, pairs: int) -> EngineTarget:
    """Return the engine `target` with the prompt and form for judging so many pairs."""
    prompt = load_prompt(JUDGE, notebook.environment.config)
    most = _WRITTEN + _WRITTEN_EACH * pairs
    ask = replace(target.ask, prompt=prompt, form=JUDGE_FORM, max_output=most)
    author = make_curator(target.author.name, target.author.model, prompt.version)
    return replace(target, ask=ask, author=author, warning=prompt.warning)


def _record(notebook: Notebook, author: Author, usage: EngineUsage) -> LedgerRun:
    environment = notebook.environment
    run = new_run(environment.now.isoformat(), author, usage, 0, 0)
    record_run(environment.state, notebook.place.root, run)
    return run


def _is_last_word_on(pair: Conflict) -> bool:
    """Return whether nothing more of both notes could be sent than is sent of a pair now."""
    return needs_confirmation(pair) or _uncertain_pair(pair).is_sent_whole


def _uncertain_pair(conflict: Conflict) -> UncertainPair:
    parties = _party(conflict.left), _party(conflict.right)
    around = WIDELY_AROUND if needs_confirmation(conflict) else AROUND
    if conflict.is_of_whole:
        return UncertainPair("they say the same", "", *parties, around)
    # after the colon are words of both in lower case, where a secret cannot be recognised
    kind = conflict.reason.partition(":")[0]
    return UncertainPair("both can hold", kind, *parties, around)


def _party(side: Side) -> PairNote:
    note, day = side.note, parse_stamp(side.note)
    about = f"{note.name or note.stem}: {note.description}"
    by = "" if side.origin is None else side.origin.speaker
    author = "" if by in ("", UNKNOWN_SPEAKER) else "the person" if by == "person" else "an agent"
    text = day.isoformat() if day else ""
    return PairNote(note.path, about, note.body, side.quote.text, text, author)
