"""Judging uncertain pairs, which may contradict or repeat each other, by an engine: in one batch,
and only at the user's request. The answers are stored as opinions; no note is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import EngineUsage, Step
from ricordo.curation.engines.external import Estimate
from ricordo.curation.opinion import (
    JUDGING,
    InDoubt,
    JudgementBatch,
    Opinion,
    Party,
    compose_batch,
    read_opinions,
)
from ricordo.curation.prompts import JUDGE, load_prompt
from ricordo.curation.proposal import Rejected, curator
from ricordo.errors import StateUnusable, WrongUsage
from ricordo.lint.evidence import UNKNOWN
from ricordo.llm.redaction import Redacted
from ricordo.memory.change import Author
from ricordo.services.conflicts.conflicts import Conflict, Side
from ricordo.services.conflicts.opinions import judged, keep_opinions, known_opinions
from ricordo.services.engines.choice import engine_chosen, outside_of
from ricordo.services.engines.engines import Outside
from ricordo.services.engines.preview import Egress, leaving_of, why_not
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.ledger.ledger import LedgerRun, new_run, record
from ricordo.services.sessions.activity_text import stamped_day
from ricordo.services.workspace.notebook import Notebook, Snapshot

MOST = 20
"""Uncertain pairs per batch: the user would not review more at once."""
_WRITTEN, _WRITTEN_EACH = 1_500, 150
"""Output tokens: allowance for thinking, and for each pair."""
_NONE_PENDING = "No uncertain pairs without an opinion."
_RULES = "The rules engine cannot judge these. Choose a model or a program on the curation screen."
_NEW_PROGRAM = (
    "This program was not run before. Choose it on the curation screen, which shows its command "
    "line and asks."
)
_NO_ROOM = "Not even one pair fits under the token limit of a run."


@dataclass(frozen=True, slots=True)
class JudgementRequest:
    """A prepared batch; nothing was sent yet."""

    doubts: tuple[Conflict, ...]
    batch: JudgementBatch
    outside: Outside
    estimate: Estimate

    @property
    def kept_back(self) -> tuple[Redacted, ...]:
        """The values that were redacted from what was sent."""
        return self.batch.redaction.told()


@dataclass(frozen=True, slots=True)
class BeforeJudging:
    """What is known before uncertain pairs are judged; nothing was sent."""

    untold: int
    """Number of uncertain pairs without an opinion."""
    told: tuple[Conflict, ...]
    """Uncertain pairs with their opinions."""
    asked: JudgementRequest | None = None
    leaving: Egress | None = None
    """What would be sent; None if nothing is."""
    why_not: str = ""
    """Why no engine can be asked, and what to do; "" if it can."""


@dataclass(frozen=True, slots=True)
class JudgementOutcome:
    """The result of a judgement."""

    opinions: tuple[tuple[Conflict, Opinion], ...]
    rejected: tuple[Rejected, ...]
    run: LedgerRun


def look_before_judging(notebook: Notebook, snapshot: Snapshot) -> BeforeJudging:
    """Return what the engine that was chosen last would judge, and whether it can. Raises
    StateUnusable.
    """
    with_opinion, without = judged(snapshot, known_opinions(notebook.surroundings.state))
    before = BeforeJudging(len(without), with_opinion)
    if not without:
        return replace(before, why_not=_NONE_PENDING)
    try:
        outside = outside_of(notebook.surroundings, engine_chosen(notebook))
    except WrongUsage as error:
        return replace(before, why_not=error.message)
    if outside is None:
        return replace(before, why_not=_RULES)
    request = prepare_judging(notebook, without, outside)
    batch = request.batch
    egress = leaving_of(notebook, request.outside, batch, batch.redaction, batch.text)
    why = _NO_ROOM if not request.doubts else _NEW_PROGRAM if egress.program else why_not(egress)
    return replace(before, asked=request, leaving=egress, why_not=why)


def prepare_judging(
    notebook: Notebook, doubts: Sequence[Conflict], outside: Outside
) -> JudgementRequest:
    """Return the request to the engine `outside` for as many of the first `doubts` as fit."""
    engine = _judging_engine(notebook, outside, min(len(doubts), MOST))
    pairs = [_uncertain_pair(pair) for pair in doubts[:MOST]]
    batch = compose_batch(pairs, begin_redaction(notebook), engine.ask.room)
    included = tuple(doubts[: len(batch.texts)])
    return JudgementRequest(included, batch, engine, engine.ask.estimate(batch))


def judge(
    notebook: Notebook, request: JudgementRequest, step: Step = lambda _: None
) -> JudgementOutcome:
    """Send the request, store the opinions and record the cost. Raises CuratorFailed,
    StateUnusable, and what `step` raises.
    """
    author = request.outside.author

    def lost(usage: EngineUsage) -> None:
        with suppress(StateUnusable):  # why there is no answer matters more than its cost
            _record(notebook, author, usage)

    reply = replace(request.outside.ask, lost=lost)(request.batch.sent, step)
    # recorded before the reply is read: it was paid for, whatever it is
    run = _record(notebook, author, reply.usage)
    ids = request.batch.ids
    answer = read_opinions(reply.said, ids, author.model)
    opinions = [
        (pair, answer.by_pair[name])
        for name, pair in zip(ids, request.doubts, strict=True)
        if name in answer.by_pair
    ]
    keep_opinions(notebook.surroundings, author, opinions)
    return JudgementOutcome(tuple(opinions), answer.rejected, run)


def _judging_engine(notebook: Notebook, outside: Outside, pairs: int) -> Outside:
    """Return the engine `outside` with the prompt and form for judging so many pairs."""
    prompt = load_prompt(JUDGE, notebook.surroundings.config)
    most = _WRITTEN + _WRITTEN_EACH * pairs
    ask = replace(outside.ask, prompt=prompt, form=JUDGING, most_written=most)
    author = curator(outside.author.name, outside.author.model, prompt.version)
    return replace(outside, ask=ask, author=author, remark=prompt.remark)


def _record(notebook: Notebook, author: Author, usage: EngineUsage) -> LedgerRun:
    environment = notebook.surroundings
    run = new_run(environment.now.isoformat(), author, usage, 0, 0)
    record(environment.state, notebook.place.root, run)
    return run


def _uncertain_pair(conflict: Conflict) -> InDoubt:
    parties = _party(conflict.left), _party(conflict.right)
    if conflict.is_of_whole:
        return InDoubt("they say the same", "", *parties)
    # after the colon are words of both in lower case, where a secret cannot be recognised
    kind = conflict.reason.partition(":")[0]
    return InDoubt("both can hold", kind, *parties)


def _party(side: Side) -> Party:
    note, day = side.note, stamped_day(side.note)
    about = f"{note.name or note.stem}: {note.description}"
    by = "" if side.origin is None else side.origin.speaker
    said = "" if by in ("", UNKNOWN) else "the person" if by == "person" else "an agent"
    text = day.isoformat() if day else ""
    return Party(note.path, about, note.body, side.quote.text, text, said)
