"""Files, errors, notes and messages: a line each, for the next agent to open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ricordo.activity.session import Deed
from ricordo.handoff.composing.lines import code
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.facts import Facts, FileUse
from ricordo.handoff.statement import Quote, Section, Statement

_MOST_CHANGED = 20
_MOST_READ = 8
_MOST_ERRORS = 8
_LONGEST_ERROR = 300
_LONGEST_WHAT = 160
_WHOLE = 1_000_000
"""Characters: every message of the person is quoted as a whole."""


def files(facts: Facts) -> Iterator[Statement]:
    """Yield the files that were changed, those of the last changes first, then those that were only
    read.
    """
    changed = sorted((it for it in facts.files if it.is_changed), key=_last, reverse=True)
    read = sorted((it for it in facts.files if not it.is_changed), key=_last, reverse=True)
    for it in changed[:_MOST_CHANGED]:
        yield Statement(Section.FILES, f"{code(it.path)}: {_deeds(it)}", stands_on=(it.id,))
    for it in read[:_MOST_READ]:
        yield Statement(Section.FILES, f"{code(it.path)}: only read", stands_on=(it.id,))


def errors(facts: Facts) -> Iterator[Statement]:
    """Yield the errors, with what mended them; those that nothing mended come first."""
    found = sorted(facts.mishaps, key=lambda it: (it.mended is not None, it.ref[:2]))
    for it in found[:_MOST_ERRORS]:
        how = (
            f"mended at turn {it.mended.turn}"
            if it.mended
            else "nothing is known to have mended it"
        )
        by = f" by {it.by}" if it.mended and it.by else ""
        text = f"{code(it.what, _LONGEST_WHAT)} failed; {how}{by}"
        yield quoting(Section.ERRORS, text, it.error, it.ref, (it.id,), _LONGEST_ERROR)


def memory(facts: Facts) -> Iterator[Statement]:
    """Yield where the memory lies and which of its notes bear on the work."""
    if not facts.memory:
        return
    yield Statement(Section.MEMORY, f"The memory lies at {code(facts.memory)}")
    for it in facts.notes:
        told = f": {it.description}" if it.description else ""
        why = f" ({it.why})" if it.why else ""
        yield Statement(Section.MEMORY, f"{code(it.path)}{told}{why}", stands_on=(it.id,))


def messages(facts: Facts) -> Iterator[Statement]:
    """Yield every message of the person, word for word."""
    for it in facts.said:
        if it.is_person and it.text.strip():
            yield Statement(Section.MESSAGES, "The person", Quote(it.ref), (it.id,), it.text)


def _last(it: FileUse) -> tuple[int, int]:
    return it.last.session, it.last.turn


def _deeds(it: FileUse) -> str:
    names = Counter(it.deeds)
    told = [deed.value for deed in names if deed.changes]
    gone = "" if it.sha or Deed.DELETED in names else "; not there now"
    times = f" {it.times} times" if it.times > 1 else ""
    return f"{' and '.join(told)}{times}, last at turn {it.last.turn}{gone}"
