"""The changes that mend findings: of one, and of several at once."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.health.finding import Finding
from ricordo.memory.change import AddEntry, Author, Change, Insert, Role
from ricordo.memory.entry_line import entry_text, line_behind, neighbour
from ricordo.memory.index import Entry
from ricordo.memory.memory import Memory


def changes_of(finding: Finding) -> list[Change]:
    """Return the changes that mend `finding`; none where it has no fix."""
    if finding.fix is None:
        return []
    author = Author(Role.RULE, finding.rule)
    reason = finding.fix.reason or finding.fix.label
    return [Change(act, reason, author) for act in finding.fix.acts]


def gathered_changes(memory: Memory, todo: Sequence[Finding]) -> list[Change]:
    """Return the changes that mend `todo`, with one insertion for all entries that go to one place
    of an index: one by one they would each have a long index read anew.
    """
    indexes = {index.path: index for index in memory.indexes}
    models: dict[tuple[str, str], Entry | None] = {}
    lines: dict[tuple[str, int], list[str]] = {}
    changes: list[Change] = []
    for change in (change for finding in todo for change in changes_of(finding)):
        act = change.act
        note = memory.by_path.get(act.note) if isinstance(act, AddEntry) else None
        if not isinstance(act, AddEntry) or note is None or act.path not in indexes:
            changes.append(change)
            continue
        index, kind = indexes[act.path], (act.path, note.type)
        if kind not in models:
            models[kind] = neighbour(memory, index, note)
        model = models[kind]
        if model is None or model.text.lstrip()[:1].isdigit():
            # the next one is written in the manner of this one, or counts on
            changes.append(change)
            continue
        text = entry_text(memory, index, note, model)
        lines.setdefault((index.path, line_behind(index, model)), []).append(text)
    author = Author(Role.RULE, "unindexed-note")
    for (path, after), texts in sorted(lines.items(), reverse=True):
        changes.append(Change(Insert(path, after, "\n".join(texts)), author=author))
    return changes
