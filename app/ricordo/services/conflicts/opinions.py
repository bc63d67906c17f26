"""What engines outside our code think of pairs that are in doubt: kept by the very texts that were
judged, so that nothing is paid for twice, whatever the notes are called. It changes no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from ricordo.curation.opinion import Keeps, Opinion, View, plain_line
from ricordo.errors import ChangeRefused, StateUnusable
from ricordo.memory.change import Author
from ricordo.secrets import mask
from ricordo.services.conflicts.conflicts import Conflict, Keep, Side, conflicts, doubts
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Snapshot
from ricordo.storage.line_log import add_line, purge_lines, read_lines

FILE = "opinions.jsonl"
_NEITHER = ""

Known = Mapping[tuple[str, ...], Mapping[str, Any]]
"""What was kept last of two texts, by their digests."""


def keep_opinions(
    environment: Environment, author: Author, opinions: Iterable[tuple[Conflict, Opinion]]
) -> None:
    """Keep what `author` thinks of doubts. Raises StateUnusable."""
    try:
        for conflict, opinion in opinions:
            add_line(environment.state, FILE, _told(environment, author, conflict, opinion))
    except OSError as error:
        raise _unusable(environment.state, error) from None


def known_opinions(state: str) -> Known:
    """Return what was kept."""
    lines = (it for it in read_lines(state, FILE) if it is not None)
    return {tuple(map(str, it["texts"])): it for it in lines if _is_kept(it)}


def judged(snapshot: Snapshot, known: Known) -> tuple[tuple[Conflict, ...], tuple[Conflict, ...]]:
    """Return the doubts of a memory of which an opinion is `known`, with it: those of which it says
    that something is amiss first; and those that nobody has judged, the likeliest first.
    """
    told: list[Conflict] = []
    untold: list[Conflict] = []
    for it in doubts(snapshot):
        opinion = _opinion(it, known)
        if opinion is None:
            untold.append(it)
        else:
            told.append(replace(it, opinion=opinion))
    told.sort(key=lambda it: it.opinion is not None and not it.opinion.view.is_amiss)
    return tuple(told), tuple(untold)


def found_in(snapshot: Snapshot, state: str) -> tuple[tuple[Conflict, ...], int]:
    """Return what is to be settled in a memory: the conflicts, then the doubts of which an opinion
    says that something is amiss; and how many are in doubt that nobody has judged.
    """
    told, untold = judged(snapshot, known_opinions(state))
    amiss = (it for it in told if it.opinion is not None and it.opinion.view.is_amiss)
    return (*conflicts(snapshot), *amiss), len(untold)


def purge_opinions(state: str, value: str) -> int:
    """Overwrite `value` in what was kept; return how often it stood there. Raises StateUnusable."""
    try:
        return purge_lines(state, FILE, value)
    except OSError as error:
        raise _unusable(state, error) from None


def _told(
    environment: Environment, author: Author, conflict: Conflict, opinion: Opinion
) -> dict[str, Any]:
    kept = {Keeps.LEFT: conflict.left, Keeps.RIGHT: conflict.right}.get(opinion.keeps)
    return {
        "at": environment.now.isoformat(),
        "texts": _texts(conflict),
        "verdict": opinion.view.value,
        "keeps": _digest(kept) if kept else _NEITHER,
        "reason": mask(opinion.reason),
        "engine": author.name,
        "model": author.model,
        "prompt_version": author.prompt_version,
    }


def _opinion(conflict: Conflict, known: Known) -> Opinion | None:
    """Return what was kept of a doubt; None where nothing was, or it cannot be read."""
    kept = known.get(_texts(conflict))
    if kept is None:
        return None
    sides = {_digest(conflict.left): Keeps.LEFT, _digest(conflict.right): Keeps.RIGHT}
    keeps = sides.get(kept["keeps"], Keeps.NEITHER)
    try:
        return Opinion(View(kept["verdict"]), keeps, plain_line(kept["reason"]), kept["model"])
    except (ValueError, ChangeRefused):
        return None


def _is_kept(told: Mapping[str, Any]) -> bool:
    texts = told.get("texts")
    names = ("verdict", "keeps", "reason", "model")
    is_pair = isinstance(texts, list) and len(texts) == 2
    return is_pair and all(isinstance(told.get(name), str) for name in names)


def _texts(conflict: Conflict) -> tuple[str, ...]:
    """Return what names the texts of both sides, whichever is left."""
    return tuple(sorted((_digest(conflict.left), _digest(conflict.right))))


def _digest(side: Side) -> str:
    text = side.quote.text or side.note.body
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def suggested(opinion: Opinion) -> Keep:
    """Return the side that an opinion would keep."""
    return {Keeps.LEFT: Keep.LEFT, Keeps.RIGHT: Keep.RIGHT}.get(opinion.keeps, Keep.NONE)


def _unusable(state: str, error: OSError) -> StateUnusable:
    reason = error.strerror or str(error)
    return StateUnusable(f"{FILE} in {state} cannot be written: {reason}.")
