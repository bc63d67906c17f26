"""The ledger as JSON, and as lines for a terminal or a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ricordo.curation.engine import FREE, EngineUsage
from ricordo.curation.prompts import JUDGE
from ricordo.llm.prices import format_cost
from ricordo.services.engines.preview import format_costs, format_tokens
from ricordo.services.ledger.benefit import MIN_READS_PER_CURATION, CurationBenefit, Drift
from ricordo.services.ledger.ledger import LedgerRun
from ricordo.text import make_one_line

_MOST_RUNS = 12
_MOST_NOTES = 8
_MOST_FACTS = 3
_NOUNS = {"code": "code word"}


class LedgerSection(NamedTuple):
    """Some lines with a title."""

    title: str
    lines: tuple[str, ...]


def describe_benefit(it: CurationBenefit) -> dict[str, Any]:
    """Return the ledger as `--json` prints it."""
    return {
        "runs": [_described(run) for run in it.runs],
        "damaged": it.damaged,
        "activity_tokens": it.activity_tokens,
        "notes_tokens": it.notes_tokens,
        "curations": it.curations,
        "reads": it.reads,
        "reads_since": it.reads_since,
        "reads_each": it.reads_per_curation,
        "drift": {
            "lost": dict(it.drift.lost),
            "added": dict(it.drift.added),
            "gone": list(it.drift.gone),
            "curations": [step._asdict() for step in it.drift.steps],
            "notes": [note._asdict() for note in it.drift.notes],
            "purged": it.drift.purged,
        },
    }


def _described(run: LedgerRun) -> dict[str, Any]:
    return {
        "at": run.at,
        "engine": run.engine,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "usd": run.usd,
        "accepted": run.accepted,
        "rejected": run.rejected,
        "activity_tokens": run.activity_tokens,
        "proposed": run.proposed,
    }


def format_benefit(it: CurationBenefit) -> Sequence[LedgerSection]:
    """Return the ledger in words."""
    if not it.runs and not it.curations:
        return (LedgerSection("No curation decided yet", (_NONE, *_damage(it))),)
    return (
        LedgerSection("Benefit", tuple(_worth(it))),
        LedgerSection("Drift over curations", tuple(_drift(it.drift))),
        LedgerSection("Cost", tuple(_cost(it))),
    )


_NONE = "  `ricordo curate` proposes changes; your decisions on them appear here."


def _worth(it: CurationBenefit) -> list[str]:
    lines = [
        f"  {_count(it.activity_tokens)} tokens of activity were curated",
        f"  {_count(it.notes_tokens)} tokens are in the notes now, whoever wrote them",
        f"  {_counted(it.curations, 'curation')} applied, {_counted(it.reads, 'read')} by agents"
        f" since the first, {it.reads_since} since the last",
    ]
    if it.reads_per_curation is not None:
        verdict = "worthwhile" if it.is_worthwhile else "not yet worthwhile"
        lines.append(
            f"  {it.reads_per_curation:.1f} reads per curation: {verdict} "
            f"(from {MIN_READS_PER_CURATION} on)"
        )
    return lines


def _drift(it: Drift) -> list[str]:
    lines = [f"  lost   {_kinds(it.lost)}", f"  added  {_kinds(it.added)}"]
    if it.gone:
        lines.append(f"  {len(it.gone)} of them in no note now: {_some(it.gone)}")
    for note in it.notes[:_MOST_NOTES]:
        if note.lost:
            lines.append(f"  {make_one_line(note.path)} lost {len(note.lost)}: {_some(note.lost)}")
    if it.purged:
        lines.append(f"  {it.purged} edits not counted: a value was purged from them")
    return lines


def _cost(it: CurationBenefit) -> list[str]:
    unpriced = f", {_counted(it.unpriced, 'run')} without a known price" if it.unpriced else ""
    lines = [
        f"  {_count(it.input_tokens)} tokens in, {_count(it.output_tokens)} out,"
        f" {format_cost(it.usd)}{unpriced}"
    ]
    rows = [_row(tuple(runs)) for _, runs in groupby(it.runs, _alike)]
    lines += rows[:_MOST_RUNS]
    if len(rows) > _MOST_RUNS:
        lines.append(f"  and {len(rows) - _MOST_RUNS} earlier ones")
    return [*lines, *_damage(it)]


def _alike(it: LedgerRun) -> tuple[str, ...]:
    """Return the key of runs that are shown as one line: questions that are recorded separately, as
    those without an answer, or for parts.
    """
    return (it.engine, it.model, it.prompt_version) if _is_by_itself(it) else (it.id,)


def _is_by_itself(it: LedgerRun) -> bool:
    return not (it.proposed or it.activity_tokens)


def _row(runs: Sequence[LedgerRun]) -> str:
    first = runs[0]
    usage = (EngineUsage(it.input_tokens, it.output_tokens, it.usd) for it in runs)
    return _run(first.with_cost(sum(usage, FREE)), len(runs))


def _run(it: LedgerRun, questions: int) -> str:
    engine = make_one_line(
        " ".join(part for part in (it.engine, it.model, it.prompt_version) if part)
    )
    is_judging = it.prompt_version.startswith(f"{JUDGE}-")
    decided = f"{it.accepted} accepted, {it.rejected} refused of {it.proposed}"
    if is_judging:
        decided = "opinions on uncertain pairs"
    elif _is_by_itself(it):
        decided = f"{_counted(questions, 'question')} without proposals"
    parts = (
        make_one_line(it.at[:16]).replace("T", " "),
        engine,
        format_costs(it.usd),
        format_tokens(it),
        decided,
    )
    return "  " + "  ".join(filter(None, parts))


def _damage(it: CurationBenefit) -> list[str]:
    return [f"  {it.damaged} lines of the ledger cannot be read"] if it.damaged else []


def _kinds(counts: Mapping[str, int]) -> str:
    kinds = (_counted(count, _NOUNS.get(kind, kind)) for kind, count in counts.items())
    return ", ".join(kinds) or "no countable facts"


def _some(facts: Sequence[str]) -> str:
    more = len(facts) - _MOST_FACTS
    names = ", ".join(make_one_line(it) for it in facts[:_MOST_FACTS])
    return names + (f" and {more} more" if more > 0 else "")


def _counted(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _count(number: int) -> str:
    return f"{number:,}"
