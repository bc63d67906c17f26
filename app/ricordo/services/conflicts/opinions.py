"""Opinions of engines on uncertain pairs, stored by the texts that were judged, so that what was
judged is known when notes are renamed. Opinions change no finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeGuard

from ricordo.curation.opinion import KeptSide, Opinion, PairVerdict, require_plain_line
from ricordo.errors import ChangeRefused, StateUnusable, WrongUsage
from ricordo.lint.contradictions.records import find_claims
from ricordo.lint.evidence import NotePair
from ricordo.memory.change import Author
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.services.conflicts.conflicts import (
    Conflict,
    Keep,
    Side,
    describe_uncertain,
    find_conflicts,
    find_duplicates,
    find_uncertain_pairs,
)
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Snapshot
from ricordo.storage.line_log import append_line, purge_lines, read_lines
from ricordo.text import make_visible

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


class JudgedPairs(NamedTuple):
    """The pairs of a memory by whether there is an opinion on them."""

    conflicts: tuple[Conflict, ...]
    """What the rules report, with opinions where there are any; what is none by them comes last."""
    judged: tuple[Conflict, ...]
    """The uncertain pairs with an opinion, the problems first."""
    pending: tuple[Conflict, ...]
    """Those without that the rules offer to the user, the likeliest contradiction first."""
    related: tuple[Conflict, ...]
    """Those without that only a model is asked about, the likeliest contradiction first."""

    @property
    def unconfirmed(self) -> tuple[Conflict, ...]:
        """Those that an opinion calls a conflict by excerpts alone."""
        return tuple(pair for pair in (*self.conflicts, *self.judged) if needs_confirmation(pair))

    @property
    def asked(self) -> tuple[Conflict, ...]:
        """What a model is asked about, in that order: the unconfirmed pairs, then all without an
        opinion.
        """
        certain = (pair for pair in self.conflicts if pair.opinion is None)
        return (*self.unconfirmed, *certain, *self.pending, *self.related)


def split_by_opinion(
    snapshot: Snapshot, known: StoredOpinions, related: Iterable[NotePair] = ()
) -> JudgedPairs:
    """Return the pairs of a snapshot by their `known` opinions: what the rules report, what they
    offer to the user, the `related` statements, and what an opinion called a conflict before.
    """
    conflicts = [_with_opinion(pair, known) for pair in find_conflicts(snapshot)]
    certain = {pair.id for pair in conflicts}
    offered = {pair.id: pair for pair in find_uncertain_pairs(snapshot)}
    pairs = dict(offered)
    before = _find_judged(snapshot.memory, known)
    for pair in describe_uncertain(snapshot, (*related, *before)):
        if pair.id not in certain:
            pairs.setdefault(pair.id, pair)
    every = [_with_opinion(pair, known) for pair in pairs.values()]
    pending = [pair for pair in every if pair.opinion is None]
    return JudgedPairs(
        tuple(sorted(conflicts, key=_is_refuted)),
        tuple(sorted(filter(_has_opinion, every), key=_is_refuted)),
        tuple(pair for pair in pending if pair.id in offered),
        tuple(pair for pair in pending if pair.id not in offered),
    )


class Unresolved(NamedTuple):
    """What is to be resolved in a memory, and what is uncertain there."""

    conflicts: tuple[Conflict, ...]
    """The conflicts and the uncertain pairs that an opinion calls a problem, then the conflicts
    that are none by an opinion, and the duplicates.
    """
    pending_count: int
    """The number of uncertain pairs without an opinion, or with one by excerpts alone."""
    judged_pairs: tuple[Conflict, ...]
    """The uncertain pairs with their opinions."""


def find_unresolved(snapshot: Snapshot, state: str) -> Unresolved:
    """Return what is to be resolved in a memory, by the opinions stored in `state`."""
    pairs = split_by_opinion(snapshot, load_opinions(state))
    amiss = filter(_is_amiss, pairs.judged)
    conflicts = sorted((*pairs.conflicts, *amiss), key=_is_refuted)
    unresolved = (*conflicts, *find_duplicates(snapshot))
    pending = len(pairs.pending) + sum(map(needs_confirmation, pairs.judged))
    return Unresolved(unresolved, pending, pairs.judged)


def list_pairs(snapshot: Snapshot, state: str) -> tuple[Conflict, ...]:
    """Return the conflicts, duplicates and uncertain pairs of a snapshot, which can be resolved by
    their id.
    """
    pairs = split_by_opinion(snapshot, load_opinions(state))
    return (*pairs.conflicts, *find_duplicates(snapshot), *pairs.judged, *pairs.pending)


def find_conflict(snapshot: Snapshot, state: str, conflict_id: str) -> Conflict:
    """Return the conflict, duplicate or uncertain pair with that id. Raises WrongUsage."""
    pairs = list_pairs(snapshot, state)
    conflict = next((pair for pair in pairs if pair.id == conflict_id), None)
    if conflict is None:
        raise WrongUsage(f"No conflict has the id “{make_visible(conflict_id)}”.")
    return conflict


def _find_judged(memory: Memory, known: StoredOpinions) -> Iterator[NotePair]:
    """Yield the statements of `memory` that a `known` opinion calls a conflict, where their notes
    were not renamed since.
    """
    for texts, record in known.items():
        paths = record.get("paths")
        if record["verdict"] == PairVerdict.CONFLICT and _is_pair_of_texts(paths):
            pair = find_claims(memory, paths, partial(_is_one_of, texts))
            if pair is not None:
                yield pair


def _is_one_of(texts: Collection[str], text: str) -> bool:
    """Return whether the digest of `text` is one of `texts`."""
    return _digest_text(text) in texts


def _has_opinion(pair: Conflict) -> bool:
    return pair.opinion is not None


def _is_amiss(pair: Conflict) -> bool:
    return pair.opinion is not None and pair.is_problem_by(pair.opinion)


def _is_refuted(pair: Conflict) -> bool:
    """Return whether a pair is no problem by the opinion on it."""
    return not (pair.opinion is None or _is_amiss(pair) or needs_confirmation(pair))


def needs_confirmation(pair: Conflict) -> bool:
    """Return whether an opinion calls a pair a conflict by excerpts alone."""
    return pair.opinion is not None and pair.opinion.needs_confirmation


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
        "paths": [conflict.left.quote.path, conflict.right.quote.path],
        "verdict": opinion.verdict.value,
        "keeps": _digest(side) if side else _NEITHER,
        "reason": mask(opinion.reason),
        "confirmed": opinion.is_confirmed,
        "engine": author.name,
        "model": author.model,
        "prompt_version": author.prompt_version,
    }


def _with_opinion(pair: Conflict, known: StoredOpinions) -> Conflict:
    return replace(pair, opinion=_opinion(pair, known))


def _opinion(conflict: Conflict, known: StoredOpinions) -> Opinion | None:
    """Return the stored opinion on a pair; None if there is none or it is invalid."""
    record = known.get(_texts(conflict))
    if record is None:
        return None
    sides = {_digest(conflict.left): KeptSide.LEFT, _digest(conflict.right): KeptSide.RIGHT}
    keeps = sides.get(record["keeps"], KeptSide.NEITHER)
    try:
        view, reason = PairVerdict(record["verdict"]), require_plain_line(record["reason"])
        # records of an earlier version, which asked once, say nothing of it
        is_confirmed = record.get("confirmed", True) is True
        return Opinion(view, keeps, reason, record["model"], is_confirmed)
    except (ValueError, ChangeRefused):
        return None


def _is_valid(record: Mapping[str, Any]) -> bool:
    names = ("verdict", "keeps", "reason", "model")
    is_pair = _is_pair_of_texts(record.get("texts"))
    return is_pair and all(isinstance(record.get(name), str) for name in names)


def _is_pair_of_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(it, str) for it in value)


def _texts(conflict: Conflict) -> tuple[str, ...]:
    """Return the digests of the texts of both sides, the same for swapped sides."""
    return tuple(sorted((_digest(conflict.left), _digest(conflict.right))))


def _digest(side: Side) -> str:
    return _digest_text(side.quote.text or side.note.body)


def _digest_text(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def get_suggested_side(opinion: Opinion) -> Keep:
    """Return the side that an opinion would keep; NONE for neither."""
    return {KeptSide.LEFT: Keep.LEFT, KeptSide.RIGHT: Keep.RIGHT}.get(opinion.kept_side, Keep.NONE)


def _unusable(state: str, error: OSError) -> StateUnusable:
    reason = error.strerror or str(error)
    return StateUnusable(f"{OPINIONS_FILE} in {state} cannot be written: {reason}.")
