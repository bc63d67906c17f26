"""Having doubts judged: pairs of notes that may contradict or repeat each other, in one batch and
only when the person asks for it. What comes back is kept as an opinion, and nothing is changed.
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
"""Doubts of one batch: more are not looked through at once, and most are none."""
_WRITTEN, _WRITTEN_EACH = 1_500, 150
"""Tokens that may be written: at first, for thinking, and for each pair."""
_NO_DOUBTS = "Nothing is in doubt that nobody has judged."
_RULES = (
    "The rules judge nothing further. Choose a model or a program on the screen where you curate."
)
_NEW_PROGRAM = (
    "This program was not run before. Choose it on the screen where you curate: that shows its "
    "line, and asks."
)
_NO_ROOM = "Not even one pair has room under the cap of a run."


@dataclass(frozen=True, slots=True)
class JudgementRequest:
    """What would be judged: nothing was sent yet."""

    doubts: tuple[Conflict, ...]
    batch: JudgementBatch
    outside: Outside
    estimate: Estimate

    @property
    def kept_back(self) -> tuple[Redacted, ...]:
        """What did not leave, once it was sent."""
        return self.batch.redaction.told()


@dataclass(frozen=True, slots=True)
class BeforeJudging:
    """What is known before doubts are judged; nothing was sent."""

    untold: int
    """How many doubts nobody has judged."""
    told: tuple[Conflict, ...]
    """Those that were judged before, with the opinions on them."""
    asked: JudgementRequest | None = None
    leaving: Egress | None = None
    """None where nothing leaves."""
    why_not: str = ""
    """Why nothing can be asked, and what to do; "" where nothing speaks against it."""


@dataclass(frozen=True, slots=True)
class JudgementOutcome:
    """What came of it."""

    opinions: tuple[tuple[Conflict, Opinion], ...]
    rejected: tuple[Rejected, ...]
    run: LedgerRun


def look_before_judging(notebook: Notebook, snapshot: Snapshot) -> BeforeJudging:
    """Return what is known before the engine that was chosen last judges what is in doubt in a
    memory. Raises StateUnusable.
    """
    told, untold = judged(snapshot, known_opinions(notebook.surroundings.state))
    before = BeforeJudging(len(untold), told)
    if not untold:
        return replace(before, why_not=_NO_DOUBTS)
    try:
        outside = outside_of(notebook.surroundings, engine_chosen(notebook))
    except WrongUsage as error:
        return replace(before, why_not=error.message)
    if outside is None:
        return replace(before, why_not=_RULES)
    asked = prepare_judging(notebook, untold, outside)
    batch = asked.batch
    leaving = leaving_of(notebook, asked.outside, batch, batch.redaction, batch.text)
    why = _NO_ROOM if not asked.doubts else _NEW_PROGRAM if leaving.program else why_not(leaving)
    return replace(before, asked=asked, leaving=leaving, why_not=why)


def prepare_judging(
    notebook: Notebook, doubts: Sequence[Conflict], outside: Outside
) -> JudgementRequest:
    """Return what the engine `outside` would be asked of the first of the `doubts`."""
    judge = _judge(notebook, outside, min(len(doubts), MOST))
    pairs = [_in_doubt(it) for it in doubts[:MOST]]
    batch = compose_batch(pairs, begin_redaction(notebook), judge.ask.room)
    chosen = tuple(doubts[: len(batch.texts)])
    return JudgementRequest(chosen, batch, judge, judge.ask.estimate(batch))


def judge(
    notebook: Notebook, asked: JudgementRequest, step: Step = lambda _: None
) -> JudgementOutcome:
    """Ask, keep what is thought of the doubts, and record what it cost. Raises CuratorFailed,
    StateUnusable, and what `step` raises.
    """
    author = asked.outside.author

    def lost(usage: EngineUsage) -> None:
        with suppress(StateUnusable):  # why there is no answer matters more than its cost
            _record(notebook, author, usage)

    reply = replace(asked.outside.ask, lost=lost)(asked.batch.sent, step)
    # before it is looked at: it was paid for, whatever it says
    run = _record(notebook, author, reply.usage)
    ids = asked.batch.ids
    found = read_opinions(reply.said, ids, author.model)
    told = [
        (doubt, found.by_pair[name])
        for name, doubt in zip(ids, asked.doubts, strict=True)
        if name in found.by_pair
    ]
    keep_opinions(notebook.surroundings, author, told)
    return JudgementOutcome(tuple(told), found.rejected, run)


def _judge(notebook: Notebook, outside: Outside, pairs: int) -> Outside:
    """Return an engine that curates as one that judges so many pairs."""
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


def _in_doubt(conflict: Conflict) -> InDoubt:
    parties = _party(conflict.left), _party(conflict.right)
    if conflict.is_of_whole:
        return InDoubt("they say the same", "", *parties)
    # what stands behind it are words of both in small letters: what was a secret looks like none
    kind = conflict.reason.partition(":")[0]
    return InDoubt("both can hold", kind, *parties)


def _party(side: Side) -> Party:
    note, day = side.note, stamped_day(side.note)
    about = f"{note.name or note.stem}: {note.description}"
    by = "" if side.origin is None else side.origin.speaker
    said = "" if by in ("", UNKNOWN) else "the person" if by == "person" else "an agent"
    text = day.isoformat() if day else ""
    return Party(note.path, about, note.body, side.quote.text, text, said)
