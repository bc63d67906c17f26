"""The ledger: what each curation cost, and how many of its proposals the user accepted. One
append-only log for all memories, with a line for each run of an engine and one for each decision on
its proposals. It contains no text of notes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from ricordo.curation.engine import FREE, EngineUsage
from ricordo.errors import StateUnusable
from ricordo.memory.change import Author, AuthorRole
from ricordo.memory.layout import FileRole as FileRole
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import find_undone, skip_undone
from ricordo.storage.history import History, open_recorded
from ricordo.storage.line_log import append_line, purge_lines, read_lines
from ricordo.storage.operation import FileOperation, HistoryEntry

FILE = "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class LedgerRun:
    """One run of an engine."""

    id: str
    at: str
    """ISO 8601, with time zone."""
    engine: str
    model: str
    prompt_version: str
    input_tokens: int
    output_tokens: int
    usd: float | None
    """None where the price is unknown."""
    whole_usd: float | None
    """The cost including earlier questions of the run that the ledger records separately."""
    activity_tokens: int
    """Estimated tokens of the curated activity."""
    proposed: int
    accepted: int = 0
    rejected: int = 0
    """By the user."""

    @property
    def is_decided(self) -> bool:
        """Whether the user accepted or refused any proposal, or there was none."""
        return bool(self.accepted or self.rejected or not self.proposed)

    def with_cost(self, usage: EngineUsage) -> LedgerRun:
        """Return the run with another cost."""
        sent, written, usd = usage.input_tokens, usage.output_tokens, usage.usd
        return replace(self, input_tokens=sent, output_tokens=written, usd=usd)


@dataclass(frozen=True, slots=True)
class DecisionCount:
    """How many proposals of one run the user accepted or refused at once."""

    run: str
    """Its id."""
    accepted: int = 0
    rejected: int = 0
    act: str = ""
    """The token of the act that applied them; they count as accepted unless it is undone."""


def new_run(
    at: str,
    author: Author,
    usage: EngineUsage,
    activity_tokens: int,
    proposed: int,
    besides: EngineUsage = FREE,
) -> LedgerRun:
    """Return a run without decisions; `besides` is the cost of its questions that the ledger
    records separately.
    """
    who = (author.name, author.model, author.prompt_version)
    sent, written, usd = usage.input_tokens, usage.output_tokens, usage.usd
    whole = (usage + besides).usd
    return LedgerRun(
        secrets.token_hex(8), at, *who, sent, written, usd, whole, activity_tokens, proposed
    )


def record_run(state: str, root: str, run: LedgerRun) -> None:
    """Add a run on the memory at `root` to the ledger. Raises StateUnusable."""
    _add(state, root, run)


def record_decisions(state: str, root: str, decided: Iterable[DecisionCount]) -> None:
    """Add to the ledger what was `decided` in the memory at `root`. Raises StateUnusable."""
    for it in decided:
        _add(state, root, it)


def _add(state: str, root: str, it: LedgerRun | DecisionCount) -> None:
    try:
        append_line(state, FILE, {"root": root, **asdict(it)})
    except OSError as error:
        raise _unusable(state, error) from None


def read_runs(
    state: str, root: str, undone: Collection[str] = ()
) -> tuple[tuple[LedgerRun, ...], int]:
    """Return the runs on the memory at `root`, newest first, and the number of unreadable lines.
    Decisions by acts whose tokens are in `undone` do not count.
    """
    found: dict[str, LedgerRun] = {}
    damaged = 0
    for line in read_lines(state, FILE):
        it = _line_from(line or {})
        if it is None:
            damaged += 1
        elif line is None or line.get("root") != root:
            continue
        elif isinstance(it, LedgerRun):
            # older versions repeated the run with each decision
            found[it.id] = _with(found.get(it.id, replace(it, accepted=0, rejected=0)), it)
        elif it.run in found and it.act not in undone:
            found[it.run] = _with(found[it.run], it)
    return tuple(reversed(found.values())), damaged


def _with(run: LedgerRun, more: LedgerRun | DecisionCount) -> LedgerRun:
    accepted, rejected = run.accepted + more.accepted, run.rejected + more.rejected
    return replace(run, accepted=accepted, rejected=rejected)


def _line_from(line: Mapping[str, Any]) -> LedgerRun | DecisionCount | None:
    """Return the run or decision of a line; None where it cannot be read."""
    return _decided_from(line) if "run" in line else _run_from(line)


def _decided_from(line: Mapping[str, Any]) -> DecisionCount | None:
    fields: dict[str, Any] = {name: line.get(name) for name in DecisionCount.__dataclass_fields__}
    numbers = all(_is_count(fields[name]) for name in ("accepted", "rejected"))
    texts = all(isinstance(fields[name], str) for name in ("run", "act"))
    return DecisionCount(**fields) if texts and numbers else None


def _run_from(line: Mapping[str, Any]) -> LedgerRun | None:
    fields: dict[str, Any] = {name: line.get(name) for name in LedgerRun.__dataclass_fields__}
    # older versions did not record it
    fields["whole_usd"] = line.get("whole_usd", fields["usd"])
    texts = all(isinstance(fields[name], str) for name in _TEXTS)
    prices = all(_is_price(fields[name]) for name in _PRICES)
    numbers = all(_is_count(it) for name, it in fields.items() if name not in (*_TEXTS, *_PRICES))
    return LedgerRun(**fields) if texts and numbers and prices else None


_TEXTS = ("id", "at", "engine", "model", "prompt_version")
_PRICES = ("usd", "whole_usd")


def _is_price(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def purge_ledger(state: str, value: str) -> int:
    """Overwrite `value` in the ledger and return its number of occurrences. Raises
    StateUnusable.
    """
    try:
        return purge_lines(state, FILE, value)
    except OSError as error:
        raise _unusable(state, error) from None


def _unusable(state: str, error: OSError) -> StateUnusable:
    reason = error.strerror or str(error)
    return StateUnusable(f"The ledger in {state} cannot be written: {reason}.")


_DAY = timedelta(days=1)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class CuratedNote:
    """A curation's change of one note."""

    path: str
    before: bytes | None
    """None where there was none."""
    after: bytes | None


@dataclass(frozen=True, slots=True)
class AppliedCuration:
    """One curation that was applied and not undone."""

    act: int
    """Its number in the history."""
    at: datetime
    author: Author
    notes: tuple[CuratedNote, ...]
    """Without notes from which a value was purged."""
    purged: int = 0
    """The number of these notes."""


def list_applied_times(notebook: Notebook) -> list[datetime]:
    """Return when curations of the memory were applied, also undone ones. Raises StateUnusable."""
    return _of_acts(notebook, lambda _, acts: [_moment(it) for it in acts if it.undoes is None], [])


def count_retired_lately(notebook: Notebook) -> int:
    """Return how many notes curations retired within the last day, without undone ones. Curations
    in the future, after the clock was put back, count too. Raises StateUnusable.
    """
    return _count_lately(notebook, lambda op: op.pre is not None and op.post is None)


def count_created_lately(notebook: Notebook) -> int:
    """Return how many notes curations created within the last day, without undone ones. Raises
    StateUnusable.
    """
    return _count_lately(notebook, lambda op: op.pre is None and op.post is not None)


def _count_lately(notebook: Notebook, counts: Callable[[FileOperation], bool]) -> int:
    now, layout = notebook.environment.now, notebook.place.layout

    def counted(history: History, acts: list[HistoryEntry]) -> int:
        lately = [it for it in skip_undone(acts) if now - _moment(it) < _DAY]
        ops = (op for act in lately for op in history.list_operations(act.n))
        return sum(layout.get_role(op.path) is FileRole.NOTE and counts(op) for op in ops)

    return _of_acts(notebook, counted, 0)


def list_applied_curations(notebook: Notebook) -> list[AppliedCuration]:
    """Return the curations in effect, oldest first. Raises StateUnusable."""

    def all_of(history: History, acts: list[HistoryEntry]) -> list[AppliedCuration]:
        return [_curated(notebook, history, act) for act in skip_undone(acts)]

    return _of_acts(notebook, all_of, [])


def list_undone_acts(notebook: Notebook) -> frozenset[str]:
    """Return the tokens of undone acts that applied or refused proposals. Raises StateUnusable."""
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return frozenset()
        history, root = recorded
        acts = history.list_entries(root)
    undone = find_undone(acts)
    return frozenset(it.token for it in acts if it.n in undone and it.token)


def _of_acts(
    notebook: Notebook, ask: Callable[[History, list[HistoryEntry]], Found], otherwise: Found
) -> Found:
    """Return the result of `ask` for the acts of curators and their undos; `otherwise` for none."""
    with open_recorded(notebook.database, notebook.place.root) as recorded:
        if recorded is None:
            return otherwise
        history, root = recorded
        return ask(history, history.list_entries_by_role(root, AuthorRole.CURATOR))


def _moment(act: HistoryEntry) -> datetime:
    return datetime.fromisoformat(act.at)


def _curated(notebook: Notebook, history: History, act: HistoryEntry) -> AppliedCuration:
    role = notebook.place.layout.get_role
    ops = [
        op
        for op in history.list_operations(act.n)
        if role(op.path) is FileRole.NOTE and op.pre != op.post
    ]
    whole = [op for op in ops if history.is_unmasked(op.pre) and history.is_unmasked(op.post)]
    notes = tuple(
        CuratedNote(op.path, history.get_content(op.pre), history.get_content(op.post))
        for op in whole
    )
    return AppliedCuration(act.n, _moment(act), act.author, notes, len(ops) - len(whole))
