"""Files, errors, notes and messages: a line each, for the next agent to open."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ricordo.handoff.composing.lines import code, short
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.talk import Place, Talk, place
from ricordo.handoff.facts import MEMORY, Facts, FileUse, Mishap
from ricordo.handoff.statement import Quote, Section, Statement

_MOST_CHANGED = 20
_MOST_READ = 8
_MOST_PARTS = 8
_MOST_ERRORS = 8
_LONGEST_ERROR = 300
_LONGEST_WHAT = 160
_LONGEST_COMMENT = 240


def files(facts: Facts) -> Iterator[Statement]:
    """Yield the files that were changed, those of the last changes first, then those of the project
    that were read and are there. Where none was changed that is said: an agent may claim otherwise.
    """
    latest_first = sorted(facts.files, key=_last, reverse=True)
    changed = [it for it in latest_first if it.is_changed]
    read = [it for it in latest_first if not it.is_changed and it.sha and _is_inside(it)]
    if not changed and any(not it.is_person for it in facts.said):
        yield Statement(Section.FILES, "No change of a file was found in the sessions")
    for it in changed[:_MOST_CHANGED]:
        yield _file(it, _deeds(it))
    for it in read[:_MOST_READ]:
        yield _file(it, "only read")


def errors(facts: Facts, talk: Talk, blocking: Collection[str]) -> Iterator[Statement]:
    """Yield the errors, with what the agent said of them and what mended them; those that nothing
    mended come first, later ones before earlier. What it said of the `blocking` commands is told
    with them.
    """
    latest_first = sorted(facts.mishaps, key=lambda it: place(it.ref), reverse=True)
    for it in sorted(latest_first, key=lambda it: it.mended is not None)[:_MOST_ERRORS]:
        comment = "" if it.what in blocking else _comment(it, talk)
        text = f"{code(it.what, _LONGEST_WHAT)} failed; {_mended(it)}{comment}"
        yield quoting(Section.ERRORS, text, it.error, it.ref, (it.id,), _LONGEST_ERROR)


def memory(facts: Facts) -> Iterator[Statement]:
    """Yield where the memory lies and which of its notes bear on the work."""
    if not facts.memory:
        return
    yield Statement(Section.MEMORY, f"The memory lies at {code(facts.memory)}", stands_on=(MEMORY,))
    for it in facts.notes:
        told = f": {it.description}" if it.description else ""
        why = f" ({it.why})" if it.why else ""
        yield Statement(Section.MEMORY, f"{code(it.path)}{told}{why}", stands_on=(it.id,))


def messages(facts: Facts) -> Iterator[Statement]:
    """Yield every message of the person, word for word."""
    for it in facts.said:
        if it.is_person and it.text.strip():
            yield Statement(Section.MESSAGES, "The person", Quote(it.ref), (it.id,), it.text)


def _last(it: FileUse) -> Place:
    return place(it.last)


def _is_inside(it: FileUse) -> bool:
    return not it.path.startswith(("/", "~"))


def _file(it: FileUse, deeds: str) -> Statement:
    """Return what is told of a file: the mark is of what it is now, and not of what was done."""
    text = f"{code(it.path)}{_whereabouts(it)} (transcript: {deeds})"
    return Statement(Section.FILES, text, stands_on=(it.id,))


def _deeds(it: FileUse) -> str:
    told = " and ".join(deed.value for deed in it.deeds if deed.changes)
    times = f" {it.times} times" if it.times > 1 else ""
    parts = ", ".join(code(part) for part in it.parts[-_MOST_PARTS:])
    names = f"; the changes name {parts}" if parts else ""
    return f"{told}{times}, last at turn {it.last.turn}{names}"


def _whereabouts(it: FileUse) -> str:
    if not _is_inside(it):
        return ", outside of the project"
    if it.is_gone:
        return " is not there now"
    return "" if it.sha else " cannot be read now"


def _comment(it: Mishap, talk: Talk) -> str:
    """Return what the agent said of an error before it was mended."""
    said = talk.after(it.ref)
    if said is None or (it.mended is not None and place(said.ref) > place(it.mended)):
        return ""
    words = short(said.text, _LONGEST_COMMENT)
    # the mark names the turn of the error
    return f"; the agent then, at turn {said.ref.turn}: “{words}”"


def _mended(it: Mishap) -> str:
    if it.mended is None:
        return "nothing is known to have mended it"
    # what stands between is what was seen, and need not be the reason
    changed = f", after a change of {it.by}" if it.by else ""
    return f"no longer at turn {it.mended.turn}{changed}"
