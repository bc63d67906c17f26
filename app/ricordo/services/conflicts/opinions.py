"""Opinions of engines on uncertain pairs, stored by the texts that were judged, so that nothing is
paid for twice when notes are renamed. Opinions change no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from ricordo.curation.opinion import KeptSide, Opinion, PairVerdict, require_plain_line
from ricordo.errors import ChangeRefused, StateUnusable
from ricordo.memory.change import Author
from ricordo.secrets import mask
from ricordo.services.conflicts.conflicts import (
    Conflict,
    Keep,
    Side,
    find_conflicts,
    find_duplicates,
    find_uncertain_pairs,
)
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Snapshot
from ricordo.storage.line_log import append_line, purge_lines, read_lines

OPINIONS_FILE = "opinions.jsonl"
_NEITHER = ""

StoredOpinions = Mapping[tuple[str, ...], Mapping[str, Any]]
"""The last stored opinion on two texts, by their digests."""


def store_opinions(
    environment: Environment, author: Author, opinions: Iterable[tuple[Conflict, Opinion]]
) -> None:
    """Store the opinions of `author` on uncertain pairs. Raises StateUnusable."""
    try:
        for conflict, opinion in opinions:
            append_line(
                environment.state, OPINIONS_FILE, _record(environment, author, conflict, opinion)
            )
    except OSError as error:
        raise _unusable(environment.state, error) from None


def load_opinions(state: str) -> StoredOpinions:
    """Return the stored opinions."""
    records = (record for record in read_lines(state, OPINIONS_FILE) if record is not None)
    return {tuple(map(str, record["texts"])): record for record in records if _is_valid(record)}


def split_by_opinion(
    snapshot: Snapshot, known: StoredOpinions
) -> tuple[tuple[Conflict, ...], tuple[Conflict, ...]]:
    """Return the uncertain pairs with a `known` opinion, those that it calls a problem first; and
    the pairs without an opinion, the likeliest contradiction first.
    """
    with_opinion: list[Conflict] = []
    without: list[Conflict] = []
    for pair in find_uncertain_pairs(snapshot):
        opinion = _opinion(pair, known)
        if opinion is None:
            without.append(pair)
        else:
            with_opinion.append(replace(pair, opinion=opinion))
    with_opinion.sort(key=lambda pair: not _is_amiss(pair))
    return tuple(with_opinion), tuple(without)


class Unresolved(NamedTuple):
    """What is to be resolved in a memory, and what is uncertain there."""

    conflicts: tuple[Conflict, ...]
    """The conflicts, the uncertain pairs that an opinion calls a problem, and the duplicates."""
    pending_count: int
    """The number of uncertain pairs without an opinion."""
    judged_pairs: tuple[Conflict, ...]
    """The uncertain pairs with their opinions."""


def find_unresolved(snapshot: Snapshot, state: str) -> Unresolved:
    """Return what is to be resolved in a memory, by the opinions stored in `state`."""
    judged, pending = split_by_opinion(snapshot, load_opinions(state))
    amiss = filter(_is_amiss, judged)
    conflicts = (*find_conflicts(snapshot), *amiss, *find_duplicates(snapshot))
    return Unresolved(conflicts, len(pending), judged)


def _is_amiss(pair: Conflict) -> bool:
    return pair.opinion is not None and pair.opinion.verdict.is_problem


def purge_opinions(state: str, value: str) -> int:
    """Overwrite `value` in the stored opinions; return how often it occurred. Raises
    StateUnusable.
    """
    try:
        return purge_lines(state, OPINIONS_FILE, value)
    except OSError as error:
        raise _unusable(state, error) from None


def _record(
    environment: Environment, author: Author, conflict: Conflict, opinion: Opinion
) -> dict[str, Any]:
    side = {KeptSide.LEFT: conflict.left, KeptSide.RIGHT: conflict.right}.get(opinion.kept_side)
    return {
        "at": environment.now.isoformat(),
        "texts": _texts(conflict),
        "verdict": opinion.verdict.value,
        "keeps": _digest(side) if side else _NEITHER,
        "reason": mask(opinion.reason),
        "engine": author.name,
        "model": author.model,
        "prompt_version": author.prompt_version,
    }


def _opinion(conflict: Conflict, known: StoredOpinions) -> Opinion | None:
    """Return the stored opinion on an uncertain pair; None if there is none or it is invalid."""
    record = known.get(_texts(conflict))
    if record is None:
        return None
    sides = {_digest(conflict.left): KeptSide.LEFT, _digest(conflict.right): KeptSide.RIGHT}
    keeps = sides.get(record["keeps"], KeptSide.NEITHER)
    try:
        view, reason = PairVerdict(record["verdict"]), require_plain_line(record["reason"])
        return Opinion(view, keeps, reason, record["model"])
    except (ValueError, ChangeRefused):
        return None


def _is_valid(record: Mapping[str, Any]) -> bool:
    texts = record.get("texts")
    names = ("verdict", "keeps", "reason", "model")
    is_pair = isinstance(texts, list) and len(texts) == 2
    return is_pair and all(isinstance(record.get(name), str) for name in names)


def _texts(conflict: Conflict) -> tuple[str, ...]:
    """Return the digests of the texts of both sides, the same for swapped sides."""
    return tuple(sorted((_digest(conflict.left), _digest(conflict.right))))


def _digest(side: Side) -> str:
    text = side.quote.text or side.note.body
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def get_suggested_side(opinion: Opinion) -> Keep:
    """Return the side that an opinion would keep; NONE for neither."""
    return {KeptSide.LEFT: Keep.LEFT, KeptSide.RIGHT: Keep.RIGHT}.get(opinion.kept_side, Keep.NONE)


def _unusable(state: str, error: OSError) -> StateUnusable:
    reason = error.strerror or str(error)
    return StateUnusable(f"{OPINIONS_FILE} in {state} cannot be written: {reason}.")
