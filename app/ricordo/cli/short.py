"""`ricordo list --short`: one line from what was last seen, for a prompt or a status bar.

It runs at every prompt: it looks at no memory, and imports next to nothing.
"""

from __future__ import annotations

import os

from ricordo.storage.last_seen import recall
from ricordo.storage.state_file import refuse_irregular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ricordo.storage.last_seen import Summary


def line_here(state: str) -> str:
    """Return the line for the current directory; memories that are gone do not count. Raises
    StateUnusable.
    """
    refuse_irregular(state)
    try:
        directory = os.getcwd()
    except OSError:
        # it was deleted under the shell
        directory = ""
    seen = {root: summary for root, summary in recall(state).items() if os.path.isdir(root)}
    return _visible(short_line(seen, directory))


def short_line(seen: Mapping[str, Summary], directory: str) -> str:
    """Return what was last seen of the memory of `directory`, else of all memories together."""
    if not seen:
        return "no memory was looked at yet"
    here = _memory_of(directory, seen)
    if here is None:
        return _parts(f"{len(seen)} memories", seen.values())
    return _parts(str(here.get("name", "")), [here], _load(here))


def _memory_of(directory: str, seen: Mapping[str, Summary]) -> Summary | None:
    """The memory whose project or root is the nearest around `directory`."""
    nearest: Summary | None = None
    depth = 0
    for root, summary in seen.items():
        for place in (root, summary.get("project")):
            if isinstance(place, str) and len(place) > depth and _is_in(directory, place):
                nearest, depth = summary, len(place)
    return nearest


def _is_in(directory: str, place: str) -> bool:
    return directory == place or directory.startswith(place.rstrip("/") + "/")


def _parts(title: str, summaries: Iterable[Summary], load: str = "") -> str:
    totals = dict.fromkeys(("notes", "errors", "warnings"), 0)
    for summary in summaries:
        for key in totals:
            totals[key] += _number(summary, key) + _number(summary, f"known_{key}")
    counts = [f"{count} {_noun(key, count)}" for key, count in totals.items() if count]
    if load:
        counts.insert(1 if totals["notes"] else 0, load)
    return f"{title}: {', '.join(counts) or 'empty'}"


def _load(summary: Summary) -> str:
    """The fuller of the two measures of the load; "" where the kind has no limit."""
    shares = [
        _number(summary, measure) / limit
        for measure in ("lines", "units")
        if (limit := _number(summary, f"max_{measure}"))
    ]
    return f"load {max(shares):.0%}" if shares else ""


def _number(summary: Summary, key: str) -> int:
    value = summary.get(key)
    return value if isinstance(value, int) else 0


def _noun(plural: str, count: int) -> str:
    return plural.removesuffix("s") if count == 1 else plural


def _visible(line: str) -> str:
    if line.isprintable():
        return line
    from ricordo.text import encodable, one_line

    return encodable(one_line(line))
