"""How far each note of a memory can be trusted today: its age, what the person said of it, and who
read it, put together for the rules and for the screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from functools import lru_cache

from ricordo.disk.judgements import Judged, JudgedNotes, Judgement, on_content
from ricordo.health.evidence import Evidence
from ricordo.health.retention import Life, Retention, kind_of
from ricordo.memory.change_set import digest
from ricordo.memory.layout import Kind, Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.age import Ages, day_of, stamped_day


def retained(
    memory: Memory,
    evidence: Evidence,
    judged: JudgedNotes,
    thresholds: Mapping[str, float],
    now: datetime,
    written: Mapping[str, date],
) -> dict[str, Retention]:
    """Return how far each note can be trusted, by path. Sources of a wiki are as they were on
    their day, so they are left out, and so is what cannot be read. `written` is what `written_here`
    gives.
    """
    ages = Ages(evidence, written)
    in_wiki = memory.layout.kind is Kind.WIKI
    found: dict[str, Retention] = {}
    for note in memory.notes:
        if note.role is not Role.NOTE or not note.readable:
            continue
        kind = kind_of(note.type, in_wiki=in_wiki)
        said = judged.get(note.path)
        reads = evidence.reads.get(note.path)
        held = on_content(said, digest(note.raw)) if said else ()
        life = _life(kind, note, held, reads.days if reads else (), now, ages)
        found[note.path] = _retention(life, thresholds[f"stale.{kind}"], now.date())
    return found


def not_seen_yet(evidence: Evidence, retention: Mapping[str, Retention]) -> Evidence:
    """Return `evidence` without what came about before the person last said of a note, as it is
    now, that it is still true. That day counts as seen to its end, as a note's own day does.
    """
    seen = {path: it.life.confirmed[-1] for path, it in retention.items() if it.life.confirmed}
    verdicts = {
        path: tuple(it for it in of_note if not 0 < it.at <= _end_of(seen[path]))
        for path, of_note in evidence.verdicts.items()
        if path in seen
    }
    return replace(evidence, verdicts={**evidence.verdicts, **verdicts}) if verdicts else evidence


def _end_of(day: date) -> float:
    return datetime.combine(day, time.max).timestamp()


@lru_cache(maxsize=20_000)
def _retention(life: Life, threshold: float, today: date) -> Retention:
    # one object as long as nothing changes: it keeps what was worked out
    return Retention(life, threshold, today)


def _life(
    kind: str,
    note: Note,
    said: tuple[Judged, ...],
    read: tuple[date, ...],
    now: datetime,
    ages: Ages,
) -> Life:
    """Return what happened to the present text of a note."""
    # what is only proposed has no time yet
    is_there = bool(note.facts.modified) or stamped_day(note) is not None
    written = day_of(note, ages) if is_there else now.date()
    confirmed: list[date] = []
    is_wrong = False
    for it in said:
        if it.judgement is Judgement.LATER:
            continue
        is_wrong = it.judgement is Judgement.WRONG
        # what it was trusted for before it was called wrong counts no more
        confirmed = [] if is_wrong else [*confirmed, _day(it.at, now)]
    if confirmed:
        # a file may have been touched since, with the text that it had
        written = min(written, confirmed[0])
    since = tuple(day for day in read if day >= written)
    return Life(kind, written, tuple(confirmed), since, is_wrong)


def _day(at: str, now: datetime) -> date:
    """Return the day of a moment, ISO 8601, where the clock says `now`."""
    return datetime.fromisoformat(at).astimezone(now.tzinfo).date()
