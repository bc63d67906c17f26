"""The ledger: what each curation cost, and how many of its proposals the person took. One log for
all memories, which is only added to. No text of a note stands in it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ricordo.curator.engine import Usage
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


def new_run(at: str, author: Author, usage: Usage, activity_tokens: int, proposed: int) -> Run:
    """Return a run that nothing was decided of yet."""
    who = (author.name, author.model, author.prompt_version)
    cost = (usage.input_tokens, usage.output_tokens, usage.usd)
    return Run(secrets.token_hex(8), at, *who, *cost, activity_tokens, proposed)


def record(state: str, root: str, run: Run, accepted: int = 0, rejected: int = 0) -> None:
    """Add to the ledger that of the proposals of a run so many more were decided. Raises
    StateUnusable.
    """
    told = {"root": root, **asdict(replace(run, accepted=accepted, rejected=rejected))}
    try:
        add_line(state, FILE, told)
    except OSError as error:
        raise _unusable(state, error) from None


def runs_of(state: str, root: str) -> tuple[tuple[Run, ...], int]:
    """Return the runs on the memory at `root`, newest first, and how many lines cannot be read."""
    found: dict[str, Run] = {}
    damaged = 0
    for told in read_lines(state, FILE):
        run = run_from(told or {})
        if run is None:
            damaged += 1
        elif told is not None and told.get("root") == root:
            before = found.get(run.id, replace(run, accepted=0, rejected=0))
            accepted, rejected = before.accepted + run.accepted, before.rejected + run.rejected
            found[run.id] = replace(before, accepted=accepted, rejected=rejected)
    return tuple(reversed(found.values())), damaged


def run_from(told: Mapping[str, Any]) -> Run | None:
    """Return a run that was kept; None where it cannot be read: the file is our own, and may be
    damaged all the same.
    """
    fields: dict[str, Any] = {name: told.get(name) for name in Run.__dataclass_fields__}
    texts = all(isinstance(fields[name], str) for name in _TEXTS)
    numbers = all(_is_count(fields[name]) for name in fields if name not in (*_TEXTS, "usd"))
    usd = fields["usd"]
    is_price = usd is None or (isinstance(usd, int | float) and not isinstance(usd, bool))
    return Run(**fields) if texts and numbers and is_price else None


_TEXTS = ("id", "at", "engine", "model", "prompt_version")


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
