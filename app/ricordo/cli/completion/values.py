"""The values that fit at the cursor: notes, memories, rules, ids. Each has a description, "" for
none.

Names of notes are written by agents: those with characters that control a terminal, or that cannot
be typed, are not offered.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ricordo.agents.agent import MemoryPlace
    from ricordo.cli.completion.command_line import Line
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook

    Candidates = list[tuple[str, str]]
    """Values with their descriptions."""

_MOST_READ = 2000
"""Notes; in a larger memory they are found by their paths only, not by their names."""
_IN_QUERY = ("type", "is", "has")
"""The conditions of a search whose values are known words."""


def list_values(line: Line, table: Mapping[str, Any]) -> Candidates:
    """Return the values that are expected at the cursor. Raises RicordoError."""
    assert line.expected is not None
    kind = line.expected["kind"]
    if kind == "choice":
        return [(choice, "") for choice in line.expected["choices"]]
    if kind == "agent":
        from ricordo.cli.connect import AGENTS

        return [(name, "") for name in AGENTS]
    if kind == "rule":
        return _list_rules(line.current, table["rules"])
    if kind == "memory":
        return _list_memories(line)
    if kind == "query":
        return _list_conditions(line, table["rules"])
    lister = _LISTERS.get(kind)
    return lister(line) if lister else []


def expand_path(path: str) -> str:
    """Return `path` with a home directory and variables in place of `~` and `$NAME`."""
    return os.path.expanduser(os.path.expandvars(path)) if path[:1] in ("~", "$") else path


def is_safe(value: str) -> bool:
    """Return whether a terminal shows `value` as it is."""
    if value.isprintable():
        return True
    from ricordo.text import make_one_line

    return make_one_line(value) == value


def _list_rules(typed: str, rules: Mapping[str, str]) -> Candidates:
    """Return the rules; after a comma those that are not named before it."""
    before, comma, _ = typed.rpartition(",")
    named = before.split(",")
    return [(f"{before}{comma}{rule}", text) for rule, text in rules.items() if rule not in named]


def _list_memories(line: Line) -> Candidates:
    """Return the memories that were opened or listed before and still exist, but those that the
    shell completes as directories.
    """
    from ricordo.resources import state_directory
    from ricordo.storage.summary_cache import load_summaries

    state = state_directory(os.environ, expand_path(line.get_first("--state")))
    folder = os.path.dirname(expand_path(line.current))
    return [
        (root, str(summary.get("name") or ""))
        for root, summary in sorted(load_summaries(state).items())
        if os.path.dirname(root) != folder and os.path.isdir(root)
    ]


def _list_conditions(line: Line, rules: Mapping[str, str]) -> Candidates:
    """Return the words after `type:`, `is:` and `has:` in the last word of a query."""
    before, blank, word = line.current.rpartition(" ")
    key, colon, _ = word.partition(":")
    name = key.removeprefix("-").lower()
    if not colon or name not in _IN_QUERY:
        return []
    found = _list_types(line) if name == "type" else [*rules.items(), ("protected", "")]
    return [(f"{before}{blank}{key}:{value}", text) for value, text in found]


def _load_environment(line: Line) -> Environment:
    from ricordo.services.workspace.environment import load_environment

    return load_environment(
        os.environ,
        state=expand_path(line.get_first("--state")),
        agent_home=expand_path(line.get_first("--agent-home")),
    )


def _find_place(line: Line, environment: Environment) -> MemoryPlace:
    from ricordo.services.workspace.places import find_memory

    return find_memory(expand_path(line.get_first("--memory", "memory")) or None, environment)


def _list_memory(line: Line) -> Memory:
    """Return the memory of the line with its indexes read, and its notes only listed."""
    from ricordo.storage.reader import list_memory

    place = _find_place(line, _load_environment(line))
    return list_memory(place.root, place.layout)


def _open_notebook(line: Line) -> Notebook:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.settings import load_settings

    environment = _load_environment(line)
    settings, _ = load_settings(environment)
    return Notebook(_find_place(line, environment), environment, settings)


def _list_notes(line: Line) -> Candidates:
    """Return the notes by their paths; those by their names too, if no path fits."""
    memory = _list_memory(line)
    found = [
        (_shorten(note.path, memory.by_path), _describe(memory, note.path)) for note in memory.notes
    ]
    typed = line.current.removeprefix("./").casefold()
    if not typed or any(value.casefold().startswith(typed) for value, _ in found):
        return _protect(found, line)
    return _protect([*found, *_list_names(memory)], line)


def _shorten(path: str, taken: Iterable[str]) -> str:
    """Return `path` without `.md`, unless that is the path of another file."""
    return path[:-3] if path.endswith(".md") and path[:-3] not in taken else path


def _protect(found: Candidates, line: Line) -> Candidates:
    """Return the values so that none is taken for an option."""
    if line.current.startswith("./"):
        return [(f"./{value}", text) for value, text in found]
    return [
        (f"./{value}" if value.startswith("-") and not line.has_dashes else value, text)
        for value, text in found
    ]


def _describe(memory: Memory, path: str) -> str:
    """Return what the index says about the note at `path`."""
    entries = memory.entries.get(path, ())
    return next((entry.hook or entry.title for _, entry in entries), "")


def _list_names(listed: Memory) -> Candidates:
    """Return the names of the notes that differ from their paths and belong to one note each."""
    if len(listed.files) > _MOST_READ:
        return []
    from ricordo.storage.reader import read_memory

    memory = read_memory(listed.root, listed.layout)
    return [
        (note.name, note.description)
        for note in memory.notes
        if note.name != note.stem and memory.names.find_by_name(note.name) == (note.path,)
    ]


def _list_past_notes(line: Line) -> Candidates:
    """Return the notes, and deleted ones that the history knows."""
    from ricordo.services.history.versions import list_deleted

    deleted = {version.path: "deleted" for version in list_deleted(_open_notebook(line))}
    return [*_list_notes(line), *_protect(list(deleted.items()), line)]


def _list_types(line: Line) -> Candidates:
    place = _find_place(line, _load_environment(line))
    return [(name, "") for name in sorted(place.layout.types)]


def _list_findings(line: Line) -> Candidates:
    snapshot = _open_notebook(line).read_snapshot_with_evidence()
    return [
        (it.id, f"{it.path}:{it.line} {it.rule}: {it.message}" if it.path else it.message)
        for it in snapshot.causes
    ]


def _list_conflicts(line: Line) -> Candidates:
    from ricordo.services.conflicts.conflicts import find_conflicts, find_duplicates

    snapshot = _open_notebook(line).read_snapshot_with_evidence()
    return [
        (it.id, f"{it.left.quote.path}, {it.right.quote.path}: {it.reason}")
        for it in (*find_conflicts(snapshot), *find_duplicates(snapshot))
    ]


def _list_proposals(line: Line) -> Candidates:
    from ricordo.services.curation.pending import load_curation_state

    environment = _load_environment(line)
    state = load_curation_state(environment.state, _find_place(line, environment).root)
    return [(it.id, f"{it.op} {it.path}: {it.change.reason}") for it in state.pending]


def _list_versions(line: Line) -> Candidates:
    from ricordo.services.history.versions import list_versions
    from ricordo.services.workspace.note_choice import pick_path

    notebook = _open_notebook(line)
    path = pick_path(notebook, notebook.read(), line.get_first("past-note"))
    return [
        (it.id, f"{it.at[:16].replace('T', ' ')} {it.kind} by {it.by}")
        for it in list_versions(notebook, path)
    ]


def _list_search_misses(line: Line) -> Candidates:
    from ricordo.services.search.usage import list_search_misses

    misses = list_search_misses(_load_environment(line), _list_memory(line))
    return [(miss.words, miss.last[:10]) for miss in misses]


def _list_allowed(line: Line) -> Candidates:
    from ricordo.services.engines.redaction import allowed_values

    return [(id, it.reason) for id, it in allowed_values(_open_notebook(line)).items()]


def _list_models(line: Line) -> Candidates:
    from ricordo.llm.prices import load_prices

    prices, _ = load_prices(_load_environment(line).config)
    return [(name, "") for name in prices.by_model]


_LISTERS: Mapping[str, Callable[[Line], Candidates]] = {
    "allowed": _list_allowed,
    "conflict": _list_conflicts,
    "finding": _list_findings,
    "model": _list_models,
    "note": _list_notes,
    "past-note": _list_past_notes,
    "proposal": _list_proposals,
    "search": _list_search_misses,
    "type": _list_types,
    "version": _list_versions,
}
