"""What the person said of notes: still true, wrong, later. Each is an act of the history, so that
undo takes it back in its turn, and holds for the very text that was judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.disk.act import Place
from ricordo.disk.database import Database, transaction
from ricordo.disk.decisions import effective_acts
from ricordo.disk.history import History


class Judgement(StrEnum):
    """What can be said of a note; what was said last counts."""

    TRUE = "still true"
    WRONG = "wrong"
    """Left to the curator, which is told."""
    LATER = "later"
    """To be asked again from a day on."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One thing that the person said of a note."""

    judgement: Judgement
    path: str
    """Where the note stands now."""
    content: str
    """SHA-256 of the text that was judged."""
    at: str
    """ISO 8601, with time zone."""
    until: str = ""
    """The day from which on it is asked again, ISO 8601; "" but for `LATER`."""
    findings: frozenset[str] = frozenset()
    """The ids of the findings that the note had."""


JudgedNotes = Mapping[str, tuple[Judged, ...]]
"""What was said of notes, oldest first, by their present paths."""
_KINDS = tuple(judgement.value for judgement in Judgement)


class Judgements:
    """What was said of the notes of one memory."""

    def __init__(self, database: Database, root: str) -> None:
        """`root` is the path of the memory; nothing is touched before use."""
        self._database = database
        self._root = root

    def judge(self, judged: Judged) -> None:
        """Keep what was said, durably. Raises StateUnusable and MemoryUnreadable."""
        self._database.check_place(self._root)
        with self._database.opened() as connection, transaction(connection):
            history = History(connection)
            root = history.root(self._root).id
            act = history.begin(root, judged.at, judged.judgement.value, subject=judged.path)
            connection.execute(
                "INSERT INTO judgement VALUES (?, ?, ?, ?)",
                (act, judged.content, judged.until, " ".join(sorted(judged.findings))),
            )

    def standing(self) -> JudgedNotes:
        """Return what was said of each note and not taken back. It follows its note to another
        path and into another memory. Raises StateUnusable.
        """
        if not self._database.exists:
            return {}
        with self._database.opened() as connection:
            history = History(connection)
            root = history.known_root(self._root)
            where = _where_they_stand(history) if root else {}
        return {
            path: tuple(replace(it, path=path) for it in judged)
            for (of, path), judged in where.items()
            if root is not None and of == root.id
        }


def _where_they_stand(history: History) -> Mapping[Place, Sequence[Judged]]:
    """Return what stands in every memory, by the places where its notes are now."""
    said = _said(history)
    if not said:
        return {}
    moved: dict[int, list[tuple[Place, Place]]] = {}
    for number, origin, to in history.moves():
        moved.setdefault(number, []).append((origin, to))
    where: dict[Place, list[Judged]] = {}
    for number in sorted(said.keys() | moved.keys()):
        if number in said:
            place, judged = said[number]
            where.setdefault(place, []).append(judged)
        # all of them leave before any arrives: two notes may change places
        moving = [(to, where.pop(origin, [])) for origin, to in moved.get(number, ())]
        for to, taken in moving:
            if taken:
                where.setdefault(to, []).extend(taken)
    return where


def _said(history: History) -> Mapping[int, tuple[Place, Judged]]:
    """Return what stands in every memory, by the numbers of its acts, where it was said."""
    acts = {act.n: act for act in effective_acts(history.decisions(_KINDS))}
    rows = history.db.execute("SELECT act, content, until, findings FROM judgement ORDER BY act")
    said: dict[int, tuple[Place, Judged]] = {}
    for n, content, until, findings in rows:
        if (act := acts.get(n)) is not None:
            kind, ids = Judgement(act.kind), frozenset(findings.split())
            judged = Judged(kind, act.subject, content, act.at, until, ids)
            said[n] = ((act.root, act.subject), judged)
    return said


def on_content(judged: Collection[Judged], content: str | None) -> tuple[Judged, ...]:
    """Return what of it was said of this very text, by its SHA-256."""
    return tuple(it for it in judged if it.content == content)
