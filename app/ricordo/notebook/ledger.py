"""The ledger: what each curation cost, and how many of its proposals the person took. One log for
all memories, which is only added to: a line a run when an engine was asked, and one a decision on
what it had proposed, whenever that is. No text of a note stands in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ricordo.curator.engine import FREE, Usage
from ricordo.disk.line_log import add_line, purge_lines, read_lines
from ricordo.errors import StateUnusable
from ricordo.memory.change import Author

FILE = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Run:
    """One time that an engine was asked."""

    id: str
    at: str
    """ISO 8601, with time zone."""
    engine: str
    model: str
    prompt_version: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the price is not known."""
    whole_usd: float | None
    """With the questions that it asked before, which stand in the ledger by themselves."""
    activity_tokens: int
    """About how many tokens the activity came to that was curated."""
    proposed: int
    accepted: int = 0
    rejected: int = 0
    """By the person."""

    @property
    def is_decided(self) -> bool:
        """Whether the person took or dropped anything of it, or there was nothing to decide."""
        return bool(self.accepted or self.rejected or not self.proposed)

    def costing(self, usage: Usage) -> Run:
        """Return it with another cost."""
        sent, written, usd = usage.input_tokens, usage.output_tokens, usage.usd
        return replace(self, input_tokens=sent, output_tokens=written, usd=usd)


@dataclass(frozen=True, slots=True)
class Decided:
    """How many proposals of one run the person took or dropped at once."""

    run: str
    """Its id."""
    accepted: int = 0
    rejected: int = 0
    act: str = ""
    """The token of the act by which they were applied; they count as taken while it stands."""


def new_run(
    at: str,
    author: Author,
    usage: Usage,
    activity_tokens: int,
    proposed: int,
    besides: Usage = FREE,
) -> Run:
    """Return a run that nothing was decided of yet; `besides` is what was paid for its questions
    that stand in the ledger by themselves.
    """
    who = (author.name, author.model, author.prompt_version)
    sent, written, usd = usage.input_tokens, usage.output_tokens, usage.usd
    whole = (usage + besides).usd
    return Run(secrets.token_hex(8), at, *who, sent, written, usd, whole, activity_tokens, proposed)


def record(state: str, root: str, run: Run) -> None:
    """Add a run on the memory at `root` to the ledger. Raises StateUnusable."""
    _add(state, root, run)


def record_decided(state: str, root: str, decided: Iterable[Decided]) -> None:
    """Add to the ledger what was `decided` in the memory at `root`. Raises StateUnusable."""
    for it in decided:
        _add(state, root, it)


def _add(state: str, root: str, it: Run | Decided) -> None:
    try:
        add_line(state, FILE, {"root": root, **asdict(it)})
    except OSError as error:
        raise _unusable(state, error) from None


def runs_of(state: str, root: str, taken_back: Collection[str] = ()) -> tuple[tuple[Run, ...], int]:
    """Return the runs on the memory at `root`, newest first, and how many lines cannot be read.
    What was applied by an act that was `taken_back`, known by its token, does not count as taken.
    """
    found: dict[str, Run] = {}
    damaged = 0
    for told in read_lines(state, FILE):
        it = _line_from(told or {})
        if it is None:
            damaged += 1
        elif told is None or told.get("root") != root:
            continue
        elif isinstance(it, Run):
            # an older ledger told the run again with each decision
            found[it.id] = _with(found.get(it.id, replace(it, accepted=0, rejected=0)), it)
        elif it.run in found and it.act not in taken_back:
            found[it.run] = _with(found[it.run], it)
    return tuple(reversed(found.values())), damaged


def _with(run: Run, more: Run | Decided) -> Run:
    accepted, rejected = run.accepted + more.accepted, run.rejected + more.rejected
    return replace(run, accepted=accepted, rejected=rejected)


def _line_from(told: Mapping[str, Any]) -> Run | Decided | None:
    """Return what a line tells; None where it cannot be read: the file is our own, and may be
    damaged all the same.
    """
    return _decided_from(told) if "run" in told else _run_from(told)


def _decided_from(told: Mapping[str, Any]) -> Decided | None:
    fields: dict[str, Any] = {name: told.get(name) for name in Decided.__dataclass_fields__}
    numbers = all(_is_count(fields[name]) for name in ("accepted", "rejected"))
    texts = all(isinstance(fields[name], str) for name in ("run", "act"))
    return Decided(**fields) if texts and numbers else None


def _run_from(told: Mapping[str, Any]) -> Run | None:
    fields: dict[str, Any] = {name: told.get(name) for name in Run.__dataclass_fields__}
    # an older ledger did not tell it
    fields["whole_usd"] = told.get("whole_usd", fields["usd"])
    texts = all(isinstance(fields[name], str) for name in _TEXTS)
    prices = all(_is_price(fields[name]) for name in _PRICES)
    numbers = all(_is_count(it) for name, it in fields.items() if name not in (*_TEXTS, *_PRICES))
    return Run(**fields) if texts and numbers and prices else None


_TEXTS = ("id", "at", "engine", "model", "prompt_version")
_PRICES = ("usd", "whole_usd")


def _is_price(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def purge_ledger(state: str, value: str) -> int:
    """Overwrite `value` in the ledger; return how often it stood there. Raises StateUnusable."""
    try:
        return purge_lines(state, FILE, value)
    except OSError as error:
        raise _unusable(state, error) from None


def _unusable(state: str, error: OSError) -> StateUnusable:
    reason = error.strerror or str(error)
    return StateUnusable(f"The ledger in {state} cannot be written: {reason}.")
