"""From a reply on redacted notes to wishes on the notes as they are.

What a model wants to change it names as it was shown: with placeholders in the place of secrets,
and by lines of such a text. Here both become what stands in the note. A placeholder that was never
given out, or that was given out for another note, takes its edit down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ricordo.curator.checking import told
from ricordo.curator.edits import Read
from ricordo.curator.proposal import Rejected, Wish
from ricordo.errors import ChangeRefused
from ricordo.memory import change as acts
from ricordo.memory.change import Act
from ricordo.memory.lines import line_end, with_line_end
from ricordo.memory.memory import Memory
from ricordo.memory.text_edit import only_place
from ricordo.model.redaction import Redaction
from ricordo.text import one_line

_TEXTS = frozenset(("old", "new", "text", "entry"))
"""Fields of acts that go into a note; the others name files."""


def restored(redaction: Redaction, memory: Memory, wishes: Iterable[Wish]) -> Read:
    """Return `wishes`, which were answered to what `redaction` let out of `memory`, with what the
    notes hold in the place of placeholders; and those that cannot be brought back, with why.

    Reasons and quotes stay as they were answered: they are kept and shown, and tell no secret.
    """
    found: list[Wish] = []
    rejected: list[Rejected] = []
    for wish in wishes:
        try:
            found.append(replace(wish, act=_act(redaction, memory, wish.act)))
        except ChangeRefused as refused:
            rejected.append(Rejected(told(wish.act), one_line(refused.message), wish.said))
    return Read(tuple(found), tuple(rejected))


def as_shown(
    redaction: Redaction, memory: Memory, said: Mapping[str, str], wishes: Iterable[Wish]
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
