"""Edits as an engine outside our code gives them: read strictly, and only then wishes.

Notes and turns are named by the ids that the brief gave out, never by paths; a new note has a name,
from which its path is made here. Whatever is not exactly of the shape below is rejected with why,
and takes nothing else down with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.curation.brief import Brief, BriefPart, name_of
from ricordo.curation.engine import EngineAnswer
from ricordo.curation.form import folded
from ricordo.curation.proposal import ProposedChange, Quoted, Rejected
from ricordo.curation.validation import LONGEST, told
from ricordo.errors import ChangeRefused
from ricordo.llm.redaction import Redaction
from ricordo.memory import change as acts
from ricordo.memory.change import Act, AddLink, Insert, Merge, Replace, Retire, Rewrite
from ricordo.memory.lines import line_end, only_place, with_line_end
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import frontmatter_of, new_note
from ricordo.text import clip, hidden_characters, one_line, visible

TITLE = "sent back"
_NAME = re.compile(r"\b[nt]\d+\b")


def as_said(edit: object) -> str:
    """Return an edit as an engine gave it, for being sent back; "" where it is none."""
    if not isinstance(edit, dict) or not isinstance(edit.get("op"), str):
        return ""
    try:
        return json.dumps(folded(edit), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        return ""


def brief_of(brief: Brief, rejected: Rejected) -> Brief:
    """Return what is sent with an edit that goes back: the notes and turns of `brief` that it
    names, the edit, and why it was rejected.
    """
    names = frozenset(_NAME.findall(rejected.said))
    parts = [
        BriefPart(part.title, tuple(it for it in part.blocks if name_of(number, it) in names))
        for number, part in enumerate(brief.parts)
    ]
    lines = (f"edit| {visible(rejected.said)}\n", f"why| {visible(rejected.why)}\n")
    return Brief((*parts, BriefPart(TITLE, lines)), brief.ids, brief.sources)


def only_once(answer: EngineAnswer) -> EngineAnswer:
    """Return the answer to an edit that was sent back: one edit was asked for, and whatever is
    rejected of it does not go back again.
    """
    more = [Rejected(it.reason, "Only one edit was sent back.") for it in answer.wishes[1:]]
    wishes = tuple(replace(it, said="") for it in answer.wishes[:1])
    rejected = tuple(replace(it, said="") for it in (*answer.rejected, *more))
    return replace(answer, wishes=wishes, rejected=rejected)


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
class ReadEdits:
    """What a reply came to."""

    wishes: tuple[ProposedChange, ...]
    rejected: tuple[Rejected, ...]


def read_edits(memory: Memory, brief: Brief, given: object) -> ReadEdits:
    """Return what `given`, a value as JSON gives it, wishes to be changed in `memory`, on which
    `brief` gave out names of notes and turns.
    """
    if not isinstance(given, list):
        return ReadEdits((), (Rejected("reply", "It is no list of edits."),))
    wishes: list[ProposedChange] = []
    rejected: list[Rejected] = []
    for number, edit in enumerate(given[:MOST], 1):
        try:
            wishes.append(_wish(memory, brief, edit))
        except ChangeRefused as refused:
            what = f"edit {number}{_op(edit)}"
            rejected.append(Rejected(what, one_line(refused.message), as_said(edit)))
    if len(given) > MOST:
        rejected.append(Rejected("reply", f"Only the first {MOST} edits are looked at."))
    return ReadEdits(tuple(wishes), tuple(rejected))


def with_frontmatter(memory: Memory, wish: ProposedChange) -> ProposedChange:
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


def _wish(memory: Memory, brief: Brief, edit: object) -> ProposedChange:
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
    return ProposedChange(act, fields["reason"], evidence, as_said(edit))


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

_TEXTS = frozenset(("old", "new", "text", "entry"))
"""Fields of acts that go into a note; the others name files."""


def restored(redaction: Redaction, memory: Memory, wishes: Iterable[ProposedChange]) -> ReadEdits:
    """Return `wishes`, which were answered to what `redaction` let out of `memory`, with what the
    notes hold in the place of placeholders; and those that cannot be brought back, with why.

    Reasons and quotes stay as they were answered: they are kept and shown, and tell no secret.
    """
    found: list[ProposedChange] = []
    rejected: list[Rejected] = []
    for wish in wishes:
        try:
            found.append(replace(wish, act=_act(redaction, memory, wish.act)))
        except ChangeRefused as refused:
            rejected.append(Rejected(told(wish.act), one_line(refused.message), wish.said))
    return ReadEdits(tuple(found), tuple(rejected))


def as_shown(
    redaction: Redaction, memory: Memory, said: Mapping[str, str], wishes: Iterable[ProposedChange]
) -> dict[str, str]:
    """Return what was `said`, and the notes that `wishes` quote, as they were shown: quotes are
    looked up in these, so that none of them has to tell a secret.
    """
    quoted = {it.source for wish in wishes for it in wish.evidence}
    notes = {path: memory.by_path[path].text for path in quoted & memory.by_path.keys()}
    return {place: redaction.redact(place, text) for place, text in {**said, **notes}.items()}


def _act(redaction: Redaction, memory: Memory, act: Act) -> Act:
    """Raises ChangeRefused."""
    match act:
        case acts.Replace():
            act = _matched(redaction, memory, act)
        case acts.Insert():
            shown = redaction.redact(act.path, _text(memory, act.path))
            line = redaction.line_of_source(shown, act.after_line)
            act = replace(act, after_line=line)
        case _:
            pass
    texts: dict[str, Any] = {
        name: redaction.restored(value, _places(act))
        for name in _TEXTS.intersection(act.__dataclass_fields__)
        if isinstance(value := getattr(act, name), str)
    }
    return replace(act, **texts)


def _places(act: Act) -> tuple[str, ...]:
    """Return the notes whose secrets an act may write: those that it changes."""
    match act:
        case acts.Create():
            return ()
        case acts.Merge(path=path, other=other):
            return path, other
        case _:
            return (getattr(act, "path", ""),)


def _matched(redaction: Redaction, memory: Memory, act: acts.Replace) -> acts.Replace:
    """Return what replaces the one place where the note, as it was shown, holds the old text.

    Nothing is ever matched inside of a secret, so that no guess at one is told to be right: what
    stands in one too is replaced with the whole of its lines.
    """
    source = _text(memory, act.path)
    shown = redaction.redact(act.path, source)
    old = with_line_end(act.old, line_end(source))
    at = only_place(shown, old, act.path)
    if source.count(old) <= 1:
        return act
    start, behind = shown.rfind("\n", 0, at) + 1, at + len(old)
    end = behind + len(shown[behind:].split("\n", 1)[0])
    new = shown[start:at] + act.new + shown[behind:end]
    return replace(act, old=shown[start:end], new=new)


def _text(memory: Memory, path: str) -> str:
    note = memory.by_path.get(path)
    return note.text if note is not None else ""
