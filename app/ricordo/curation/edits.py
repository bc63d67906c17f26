"""Read the edits of an external engine strictly, and turn them into proposed changes.

Edits refer to notes and messages by the ids of the brief, never by paths; the path of a new note is
made from its name. An edit that does not match the schema exactly is rejected with a reason; the
others still count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.curation.brief import Brief, BriefPart, find_name
from ricordo.curation.engine import EngineAnswer
from ricordo.curation.form import EDIT_FIELDS, fold_edit
from ricordo.curation.proposal import EvidenceQuote, ProposedChange, RejectedChange
from ricordo.curation.validation import MAX_TEXT_BYTES, describe_act
from ricordo.errors import ChangeRefused
from ricordo.llm.redaction import Redaction
from ricordo.memory import change as acts
from ricordo.memory.change import AddLink, ChangeOperation, Insert, Merge, Replace, Retire, Rewrite
from ricordo.memory.lines import convert_line_ends, detect_line_end, find_only_place
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import create_note, format_frontmatter
from ricordo.text import clip, find_hidden_characters, make_one_line, make_visible

TITLE = "sent back"
_NAME = re.compile(r"\b[fnt]\d+\b")


def encode_edit(edit: object) -> str:
    """Return an engine's edit as JSON, to send it back; "" where it is no edit."""
    if not isinstance(edit, dict) or not isinstance(edit.get("op"), str):
        return ""
    try:
        return json.dumps(fold_edit(edit), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        return ""


def compose_retry_brief(brief: Brief, rejected: RejectedChange) -> Brief:
    """Return the brief for an edit that is sent back: the notes and messages of `brief` that it
    names, the edit, and why it was rejected.
    """
    names = frozenset(_NAME.findall(rejected.original))
    parts = [
        BriefPart(
            part.title, tuple(block for block in part.blocks if find_name(number, block) in names)
        )
        for number, part in enumerate(brief.parts)
    ]
    lines = (f"edit| {make_visible(rejected.original)}\n", f"why| {make_visible(rejected.why)}\n")
    return Brief((*parts, BriefPart(TITLE, lines)), brief.ids, brief.sources)


def limit_to_one_edit(answer: EngineAnswer) -> EngineAnswer:
    """Return the answer to an edit that was sent back, limited to one edit. Whatever is rejected of
    it cannot be sent back again.
    """
    more = [
        RejectedChange(change.reason, "Only one edit was sent back.")
        for change in answer.changes[1:]
    ]
    changes = tuple(replace(change, original="") for change in answer.changes[:1])
    rejected = tuple(replace(each, original="") for each in (*answer.rejected, *more))
    return replace(answer, changes=changes, rejected=rejected)


MAX_EDITS = 200
"""Edits of one reply."""
_MOST_EVIDENCE = 20
_LONGEST_LINE = 300
_COMMON = ("op", "reason", "evidence")
"""Fields of every edit."""
_TYPES: Mapping[str, type] = {"evidence": list, "after_line": int}
"""Types of the fields that are not text."""
_LINES = frozenset(("name", "type", "description", "reason"))
"""Fields that must be one line."""


@dataclass(frozen=True, slots=True)
class EditsRead:
    """The edits of a reply."""

    changes: tuple[ProposedChange, ...]
    rejected: tuple[RejectedChange, ...]


def read_edits(memory: Memory, brief: Brief, given: object) -> EditsRead:
    """Return the changes to `memory` that the JSON value `given` proposes, and the edits that were
    rejected; `brief` defines the ids of notes and messages.
    """
    if not isinstance(given, list):
        return EditsRead((), (RejectedChange("reply", "The reply is not a list of edits."),))
    changes: list[ProposedChange] = []
    rejected: list[RejectedChange] = []
    for number, edit in enumerate(given[:MAX_EDITS], 1):
        try:
            changes.append(_read_edit(memory, brief, edit))
        except ChangeRefused as refused:
            what = f"edit {number}{_describe_op(edit)}"
            rejected.append(RejectedChange(what, make_one_line(refused.message), encode_edit(edit)))
    if len(given) > MAX_EDITS:
        rejected.append(RejectedChange("reply", f"Only the first {MAX_EDITS} edits count."))
    return EditsRead(tuple(changes), tuple(rejected))


def with_frontmatter(memory: Memory, change: ProposedChange) -> ProposedChange:
    """Return a change of a whole note with the frontmatter of the note, where its text has none:
    engines give the body only. A merged note without frontmatter gets some, in a memory whose notes
    have it.
    """
    act = change.act
    if not isinstance(act, Merge | Rewrite) or act.text.lstrip().startswith("---"):
        return change
    note = memory.by_path.get(act.path)
    if note is None or not note.is_readable:
        return change
    frontmatter = note.text[: note.frontmatter.end]
    if not frontmatter and isinstance(act, Merge) and _most_have_frontmatter(memory):
        other = memory.by_path.get(act.other, note)
        fields = note.type or other.type, note.description or other.description
        frontmatter = format_frontmatter(memory, note.name, *fields)
    has_gap = act.text.startswith(("\n", "\r\n"))
    gap = "" if not frontmatter or has_gap else detect_line_end(note.text)
    return replace(change, act=replace(act, text=frontmatter + gap + act.text))


def _most_have_frontmatter(memory: Memory) -> bool:
    return 2 * sum(note.frontmatter.is_present for note in memory.notes) > len(memory.notes)


def _describe_op(edit: object) -> str:
    op = edit.get("op") if isinstance(edit, dict) else None
    return f", {op}" if isinstance(op, str) and op in EDIT_FIELDS else ""


def _read_edit(memory: Memory, brief: Brief, edit: object) -> ProposedChange:
    """Return the change that one edit proposes. Raises ChangeRefused."""
    if not isinstance(edit, dict):
        raise ChangeRefused("The edit is not an object.")
    op = edit.get("op")
    if not isinstance(op, str) or op not in EDIT_FIELDS:
        raise ChangeRefused("Unknown kind of edit.")
    fields = _check_fields(edit, (*_COMMON, *EDIT_FIELDS[op]))
    act = _MAKERS[op](memory, dict(brief.ids), fields)
    sources = {**dict(brief.ids), **dict(brief.sources)}
    evidence = _read_evidence(sources, fields["evidence"])
    return ProposedChange(act, fields["reason"], evidence, encode_edit(edit))


def _check_fields(edit: Mapping[Any, Any], names: Collection[str]) -> dict[str, Any]:
    for name in edit:
        if name not in names:
            raise ChangeRefused(f"Unknown field “{clip(make_one_line(str(name)), 40)}”.")
    for name in names:
        kind = _TYPES.get(name, str)
        if name not in edit:
            raise ChangeRefused(f"Field “{name}” is missing.")
        # True is an int, but not a line number
        if type(edit[name]) is not kind:
            raise ChangeRefused(f"Field “{name}” has the wrong type.")
        if kind is str:
            _check_text(name, edit[name])
    return dict(edit)


def _check_text(name: str, text: str) -> None:
    if len(text) > MAX_TEXT_BYTES:
        raise ChangeRefused(f"Field “{name}” is longer than {MAX_TEXT_BYTES // 1024} KB.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused(f"Field “{name}” is not valid text (lone surrogate).") from None
    if name not in _LINES:
        return
    if "\n" in text or "\r" in text or len(text) > _LONGEST_LINE or find_hidden_characters(text):
        raise ChangeRefused(f"Field “{name}” is not one plain line.")


def _read_evidence(
    sources: Mapping[str, str], given: Sequence[object]
) -> tuple[EvidenceQuote, ...]:
    """Return the quotes of an edit. Raises ChangeRefused."""
    quotes: list[EvidenceQuote] = []
    for each in given[:_MOST_EVIDENCE]:
        source, quote = (
            (each.get("source"), each.get("quote")) if isinstance(each, dict) else (None, None)
        )
        if not isinstance(source, str) or not isinstance(quote, str) or len(quote) > MAX_TEXT_BYTES:
            raise ChangeRefused("The evidence does not have the fields source and quote.")
        _check_text("source", source)
        _check_text("quote", quote)
        quotes.append(EvidenceQuote(sources.get(source, source), quote))
    return tuple(quotes)


def _create(memory: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    name, text, type_ = fields["name"], fields["text"], fields["type"]
    if not name.strip() or not text.strip():
        raise ChangeRefused("A note needs a name and a text.")
    types = memory.layout.types
    if type_ and types and type_ not in types:
        raise ChangeRefused(f"This memory has no type “{make_one_line(type_)}”.")
    return create_note(memory, name, type_, fields["description"], text)


def _find_path(ids: Mapping[str, str], name: str) -> str:
    if name not in ids:
        raise ChangeRefused(f"No note has the id “{clip(make_one_line(name), 40)}”.")
    return ids[name]


def _replace(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    if not fields["old"]:
        raise ChangeRefused("The text to replace is empty.")
    return Replace(_find_path(ids, fields["note"]), fields["old"], fields["new"])


def _insert(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    if not fields["text"].strip():
        raise ChangeRefused("The text to insert is empty.")
    return Insert(_find_path(ids, fields["note"]), fields["after_line"], fields["text"])


def _rewrite(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    return Rewrite(_find_path(ids, fields["note"]), fields["text"])


def _merge(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    path, other = _find_path(ids, fields["note"]), _find_path(ids, fields["other"])
    if path == other:
        raise ChangeRefused("A note cannot be merged with itself.")
    return Merge(path, other, fields["text"])


def _retire(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    successor = _find_path(ids, fields["successor"]) if fields["successor"] else ""
    return Retire(_find_path(ids, fields["note"]), successor)


def _link(_: Memory, ids: Mapping[str, str], fields: dict[str, Any]) -> ChangeOperation:
    path, target = _find_path(ids, fields["note"]), _find_path(ids, fields["target"])
    if path == target:
        raise ChangeRefused("A note cannot link to itself.")
    return AddLink(path, target)


_MAKERS: Mapping[str, Callable[[Memory, Mapping[str, str], dict[str, Any]], ChangeOperation]] = {
    "create": _create,
    "replace": _replace,
    "insert": _insert,
    "rewrite": _rewrite,
    "merge": _merge,
    "retire": _retire,
    "link": _link,
}

_TEXTS = frozenset(("old", "new", "text", "entry"))
"""Fields of acts that are text of a note; the others name files."""


def restore_secrets(
    redaction: Redaction, memory: Memory, changes: Iterable[ProposedChange]
) -> EditsRead:
    """Return proposed `changes` with the secrets of `memory` in place of the placeholders of
    `redaction`, and those whose placeholders cannot be restored, each with a reason.

    Reasons and quotes keep their placeholders: they are stored and shown.
    """
    restored: list[ProposedChange] = []
    rejected: list[RejectedChange] = []
    for change in changes:
        try:
            restored.append(replace(change, act=_restore_act(redaction, memory, change.act)))
        except ChangeRefused as refused:
            rejected.append(
                RejectedChange(
                    describe_act(change.act), make_one_line(refused.message), change.original
                )
            )
    return EditsRead(tuple(restored), tuple(rejected))


def redact_sources(
    redaction: Redaction,
    memory: Memory,
    messages: Mapping[str, str],
    changes: Iterable[ProposedChange],
) -> dict[str, str]:
    """Return the `messages`, and the notes that `changes` quote, redacted as they were sent, by
    source: quotes are looked up in these, so that none contains a secret.
    """
    quoted = {quote.source for change in changes for quote in change.evidence}
    notes = {path: memory.by_path[path].text for path in quoted & memory.by_path.keys()}
    return {place: redaction.redact(place, text) for place, text in {**messages, **notes}.items()}


def _restore_act(redaction: Redaction, memory: Memory, act: ChangeOperation) -> ChangeOperation:
    """Return an act with its placeholders restored. Raises ChangeRefused."""
    match act:
        case acts.Replace():
            act = _match_redacted(redaction, memory, act)
        case acts.Insert():
            shown = redaction.redact(act.path, _text(memory, act.path))
            line = redaction.find_source_line(shown, act.after_line)
            act = replace(act, after_line=line)
        case _:
            pass
    texts: dict[str, Any] = {
        name: redaction.restore(value, _find_places(act))
        for name in _TEXTS.intersection(act.__dataclass_fields__)
        if isinstance(value := getattr(act, name), str)
    }
    return replace(act, **texts)


def _find_places(act: ChangeOperation) -> tuple[str, ...]:
    """Return the paths of the notes whose secrets an act may write: those that it changes."""
    match act:
        case acts.Create():
            return ()
        case acts.Merge(path=path, other=other):
            return path, other
        case _:
            return (getattr(act, "path", ""),)


def _match_redacted(redaction: Redaction, memory: Memory, act: acts.Replace) -> acts.Replace:
    """Return the act for the one place where the redacted note has the old text.

    Nothing is ever matched inside a secret, so that no guess at one is confirmed: where the old
    text occurs in a secret too, the whole lines around its place are replaced.
    """
    source = _text(memory, act.path)
    shown = redaction.redact(act.path, source)
    old = convert_line_ends(act.old, detect_line_end(source))
    at = find_only_place(shown, old, act.path)
    if source.count(old) <= 1:
        return act
    start, behind = shown.rfind("\n", 0, at) + 1, at + len(old)
    end = behind + len(shown[behind:].split("\n", 1)[0])
    new = shown[start:at] + act.new + shown[behind:end]
    return replace(act, old=shown[start:end], new=new)


def _text(memory: Memory, path: str) -> str:
    note = memory.by_path.get(path)
    return note.text if note is not None else ""
