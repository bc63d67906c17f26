"""The rule on notes that nobody has confirmed or read for too long."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.health.finding import Severity
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.memory.memory import Memory


def _rests_on(memory: Memory, context: Context) -> tuple[object, ...]:
    return memory.files, context.retention


@memory_rule(
    "stale",
    Severity.WARNING,
    "retention has fallen under the threshold of the type",
    rests_on=_rests_on,
)
def stale(memory: Memory, context: Context) -> Iterator[Found]:
    """Notes whose time is over, and those that the person called wrong."""
    for path, retention in context.retention.items():
        note = memory.by_path.get(path)
        if note is None or not retention.is_stale:
            continue
        if retention.life.is_wrong:
            said = "You said that it is wrong."
            yield Found(0, said, f"wrong {note.text}", retention.reasons, path)
            continue
        reasons = ", ".join(retention.reasons)
        share, threshold = _told_apart(retention.share, retention.threshold)
        said = f"Retention {share}, under {threshold}: {reasons}."
        yield Found(0, said, note.text, path=path)


def _told_apart(lower: float, higher: float) -> tuple[str, str]:
    """Return two shares with as many digits as it takes to see which is the lower one."""
    for digits in range(2, 6):
        told = f"{lower:.{digits}f}", f"{higher:.{digits}f}"
        if told[0] != told[1]:
            return told
    return f"{lower}", f"{higher}"
