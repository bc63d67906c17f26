"""Edits as an engine outside our code gives them: read strictly, and only then wishes.

Notes and turns are named by the ids that the brief gave out, never by paths; a new note has a name,
from which its path is made here. Whatever is not exactly of the shape below is rejected with why,
and takes nothing else down with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.curator.brief import Brief
from ricordo.curator.checking import LONGEST
from ricordo.curator.proposal import Quoted, Rejected, Wish
from ricordo.curator.sending_back import as_said
from ricordo.errors import ChangeRefused
from ricordo.memory.change import Act, AddLink, Insert, Merge, Replace, Retire, Rewrite
from ricordo.memory.lines import line_end
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import frontmatter_of, new_note
from ricordo.text import clip, hidden_characters, one_line

MOST = 200
"""Edits of one reply."""
_MOST_EVIDENCE = 20
_LONGEST_LINE = 300
_COMMON = {"op": str, "reason": str, "evidence": list}
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "create": {"name": str, "type": str, "description": str, "text": str},
    "replace": {"note": str, "old": str, "new": str},
    "insert": {"note": str, "after_line": int, "text": str},
    "rewrite": {"note": str, "text": str},
    "merge": {"note": str, "other": str, "text": str},
    "retire": {"note": str, "successor": str},
    "link": {"note": str, "target": str},
}
"""What each kind of edit holds besides its reason and evidence; a successor may be ""."""
_LINES = frozenset(("name", "type", "description", "reason"))
"""Fields that are one line."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply came to."""

    wishes: tuple[Wish, ...]
    rejected: tuple[Rejected, ...]


def read_edits(memory: Memory, brief: Brief, given: object) -> Read:
    """Return what `given`, a value as JSON gives it, wishes to be changed in `memory`, on which
    `brief` gave out names of notes and turns.
    """
    if not isinstance(given, list):
        return Read((), (Rejected("reply", "It is no list of edits."),))
    wishes: list[Wish] = []
    rejected: list[Rejected] = []
    for number, edit in enumerate(given[:MOST], 1):
        try:
            wishes.append(_wish(memory, brief, edit))
        except ChangeRefused as refused:
            what = f"edit {number}{_op(edit)}"
            rejected.append(Rejected(what, one_line(refused.message), as_said(edit)))
    if len(given) > MOST:
        rejected.append(Rejected("reply", f"Only the first {MOST} edits are looked at."))
    return Read(tuple(wishes), tuple(rejected))


def with_frontmatter(memory: Memory, wish: Wish) -> Wish:
    """Return a wish for a whole note with the frontmatter that the note has, where its text brings
    none: engines give what a note says. A note without frontmatter gets some by a merge, in a
    memory whose notes have it.
    """
    act = wish.act
    if not isinstance(act, Merge | Rewrite) or act.text.lstrip().startswith("---"):
        return wish
    note = memory.by_path.get(act.path)
    if note is None or not note.readable:
        return wish
    head = note.text[: note.head.end]
    if not head and isinstance(act, Merge) and _most_have_frontmatter(memory):
        other = memory.by_path.get(act.other, note)
        about = note.type or other.type, note.description or other.description
        head = frontmatter_of(memory, note.name, *about)
    gap = "" if not head or act.text.startswith(("\n", "\r\n")) else line_end(note.text)
    return replace(wish, act=replace(act, text=head + gap + act.text))


def _most_have_frontmatter(memory: Memory) -> bool:
    return 2 * sum(note.head.present for note in memory.notes) > len(memory.notes)


def _op(edit: object) -> str:
    op = edit.get("op") if isinstance(edit, dict) else None
    return f", {op}" if isinstance(op, str) and op in _FIELDS else ""


def _wish(memory: Memory, brief: Brief, edit: object) -> Wish:
    """Raises ChangeRefused."""
    if not isinstance(edit, dict):
        raise ChangeRefused("It is no object.")
    op = edit.get("op")
    if not isinstance(op, str) or op not in _FIELDS:
        raise ChangeRefused("There is no such kind of edit.")
    fields = _checked(edit, {**_COMMON, **_FIELDS[op]})
    act = _MAKERS[op](memory, dict(brief.ids), fields)
    sources = {**dict(brief.ids), **dict(brief.sources)}
    evidence = _evidence(sources, fields["evidence"])
    return Wish(act, fields["reason"], evidence, as_said(edit))


def _checked(edit: Mapping[Any, Any], shape: Mapping[str, type]) -> dict[str, Any]:
    for name in edit:
        if name not in shape:
            raise ChangeRefused(f"It has no field “{clip(one_line(str(name)), 40)}”.")
    for name, kind in shape.items():
        if name not in edit:
            raise ChangeRefused(f"Its field “{name}” is missing.")
        # True is an int, and no line number
        if type(edit[name]) is not kind:
            raise ChangeRefused(f"Its field “{name}” is of the wrong kind.")
        if kind is str:
            _check_text(name, edit[name])
    return dict(edit)


def _check_text(name: str, text: str) -> None:
    if len(text) > LONGEST:
        raise ChangeRefused(f"Its field “{name}” is longer than {LONGEST // 1024} KB.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused(f"Its field “{name}” is no text (a lone surrogate).") from None
    if name not in _LINES:
        return
    if "\n" in text or "\r" in text or len(text) > _LONGEST_LINE or hidden_characters(text):
        raise ChangeRefused(f"Its field “{name}” is not one plain line.")


def _evidence(sources: Mapping[str, str], given: Sequence[object]) -> tuple[Quoted, ...]:
    """Evidence that is not of the shape is none."""
    found: list[Quoted] = []
    for it in given[:_MOST_EVIDENCE]:
        source, quote = (
            (it.get("source"), it.get("quote")) if isinstance(it, dict) else (None, None)
        )
        if not isinstance(source, str) or not isinstance(quote, str) or len(quote) > LONGEST:
            raise ChangeRefused("Its evidence is not of the shape source, quote.")
        _check_text("source", source)
        _check_text("quote", quote)
        found.append(Quoted(sources.get(source, source), quote))
    return tuple(found)


def _create(memory: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    if not it["name"].strip() or not it["text"].strip():
        raise ChangeRefused("A note needs a name and a text.")
    types = memory.layout.types
    if it["type"] and types and it["type"] not in types:
        raise ChangeRefused(f"This memory has no type “{one_line(it['type'])}”.")
    return new_note(memory, it["name"], it["type"], it["description"], it["text"])


def _path(ids: Mapping[str, str], name: str) -> str:
    if name not in ids:
        raise ChangeRefused(f"No note has the id “{clip(one_line(name), 40)}”.")
    return ids[name]


def _replace(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    if not it["old"]:
        raise ChangeRefused("It says not what it replaces.")
    return Replace(_path(ids, it["note"]), it["old"], it["new"])


def _insert(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    if not it["text"].strip():
        raise ChangeRefused("It inserts nothing.")
    return Insert(_path(ids, it["note"]), it["after_line"], it["text"])


def _rewrite(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    return Rewrite(_path(ids, it["note"]), it["text"])


def _merge(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    path, other = _path(ids, it["note"]), _path(ids, it["other"])
    if path == other:
        raise ChangeRefused("A note cannot be merged with itself.")
    return Merge(path, other, it["text"])


def _retire(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    successor = _path(ids, it["successor"]) if it["successor"] else ""
    return Retire(_path(ids, it["note"]), successor)


def _link(_: Memory, ids: Mapping[str, str], it: dict[str, Any]) -> Act:
    path, target = _path(ids, it["note"]), _path(ids, it["target"])
    if path == target:
        raise ChangeRefused("A note cannot lead to itself.")
    return AddLink(path, target)


_MAKERS: Mapping[str, Callable[[Memory, Mapping[str, str], dict[str, Any]], Act]] = {
    "create": _create,
    "replace": _replace,
    "insert": _insert,
    "rewrite": _rewrite,
    "merge": _merge,
    "retire": _retire,
    "link": _link,
}
