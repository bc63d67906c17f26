"""`ricordo list --short`: one line from cached numbers, for a prompt or a status bar.

It runs at every prompt: it reads no memory, and imports next to nothing.
"""

from __future__ import annotations

import os

from ricordo.storage.state_file import check_regular_files
from ricordo.storage.summary_cache import load_summaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ricordo.storage.summary_cache import Summary


def render_line_here(state: str) -> str:
    """Return the line for the current directory, without deleted memories. Raises StateUnusable."""
    check_regular_files(state)
    try:
        directory = os.getcwd()
    except OSError:
        # the directory was deleted
        directory = ""
    summaries = {
        root: summary for root, summary in load_summaries(state).items() if os.path.isdir(root)
    }
    return _visible(render_line(summaries, directory))


def render_line(summaries: Mapping[str, Summary], directory: str) -> str:
    """Return the last numbers of the memory of `directory`, else the totals of all memories."""
    if not summaries:
        return "no memory was opened yet"
    here = _memory_of(directory, summaries)
    if here is None:
        return _line(f"{len(summaries)} memories", summaries.values())
    return _line(str(here.get("name", "")), [here], _load(here))


def _memory_of(directory: str, summaries: Mapping[str, Summary]) -> Summary | None:
    """Return the memory whose project or root is the nearest one that contains `directory`."""
    nearest: Summary | None = None
    depth = 0
    for root, summary in summaries.items():
        for place in (root, summary.get("project")):
            if isinstance(place, str) and len(place) > depth and _is_in(directory, place):
                nearest, depth = summary, len(place)
    return nearest


def _is_in(directory: str, place: str) -> bool:
    return directory == place or directory.startswith(place.rstrip("/") + "/")


def _line(title: str, summaries: Iterable[Summary], load: str = "") -> str:
    totals = dict.fromkeys(("notes", "errors", "warnings"), 0)
    for summary in summaries:
        for key in totals:
            totals[key] += _number(summary, key) + _number(summary, f"known_{key}")
    counts = [f"{count} {_noun(key, count)}" for key, count in totals.items() if count]
    if load:
        counts.insert(1 if totals["notes"] else 0, load)
    return f"{title}: {', '.join(counts) or 'empty'}"


def _load(summary: Summary) -> str:
    """Return the load by lines or units, whichever is higher; "" if there is no limit."""
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
    from ricordo.text import make_encodable, make_one_line

    return make_encodable(make_one_line(line))
