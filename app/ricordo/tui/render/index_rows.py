"""The index pane as rows: the notes of a snapshot in the order of the index or another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.lint.finding import Severity
from ricordo.memory.index import Entry, MemoryIndex
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.services.sessions.activity_text import find_last_change_day
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, count_cells
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import mask_text


class IndexOrder(StrEnum):
    """The order of the notes in the index pane."""

    INDEX = "index"
    TYPE = "type"
    WORST = "worst"
    DIARY = "diary"

    @property
    def next(self) -> IndexOrder:
        """Return the order that the key switches to."""
        orders = list(IndexOrder)
        return orders[(orders.index(self) + 1) % len(orders)]

    @property
    def begins_with_most_urgent(self) -> bool:
        """Whether it is for looking at its first notes: the worst, or the newest."""
        return self in (IndexOrder.WORST, IndexOrder.DIARY)


_LEAST_DETAIL = 12
"""Least cells to show the file's name."""


class RowKind(StrEnum):
    """The kind of a row of the index pane."""

    HEADING = "heading"
    NOTE = "note"
    MISSING = "missing"
    """An entry whose note does not exist."""
    TEXT = "text"
    """Lines of the index that link to no note."""
    CUT = "cut"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One row of the index pane."""

    kind: RowKind
    title: str
    path: str = ""
    """Path of the note, or of the index that has the text."""
    detail: str = ""
    severity: Severity | None = None
    is_below_cut: bool = False
    """Whether it is below the cut: the agent does not load this entry."""
    line: int = 0
    """Line of the index, 1-based; 0 if the note is in no index."""
    is_judged: bool = True
    """Whether the rules have run; before that a note has no mark."""
    is_protected: bool = False
    """Whether neither the curator nor a fix may change it."""

    @property
    def is_selectable(self) -> bool:
        """Whether the cursor can stop on it."""
        return self.kind in (RowKind.NOTE, RowKind.TEXT, RowKind.MISSING)


_OF_NESTED = (RowKind.NOTE, RowKind.MISSING)
"""Kinds of rows that are shown of a folder's index."""
_CHANGED = StyledSpan("● ", "changed")
_MARKED = StyledSpan("◆ ", "accent")
PROTECTED_MARK = "§"
"""Mark before the title of a protected note."""
GLYPHS: Mapping[Severity | None, tuple[str, str]] = {
    Severity.ERROR: ("✗", "error"),
    Severity.WARNING: ("!", "warning"),
    Severity.INFO: ("·", "info"),
    None: ("✓", "fine"),
}


def build_index_rows(snapshot: Snapshot, order: IndexOrder) -> tuple[IndexRow, ...]:
    """Return the rows of the index pane, with all notes."""
    return tuple(
        _rows_in_index_order(snapshot)
        if order is IndexOrder.INDEX
        else _rows_in_groups(snapshot, order)
    )


def filter_rows(
    rows: tuple[IndexRow, ...], memory: Memory, type_filter: str, words: str
) -> tuple[IndexRow, ...]:
    """Return the `rows` of `memory` that match a filter.

    `type_filter` keeps the notes of one type, `words` those that match it as in the finder; ""
    keeps all. With either, only notes and headings above notes are returned.
    """
    if not type_filter and not words:
        return rows
    is_match = _create_filter(memory, type_filter, words)
    matching = [row for row in rows if row.kind in (RowKind.HEADING, RowKind.CUT) or is_match(row)]
    return tuple(_without_empty_headings(matching))


def update_rows(
    before: Snapshot, rows: tuple[IndexRow, ...], snapshot: Snapshot
) -> tuple[IndexRow, ...] | None:
    """Return the rows of `snapshot` in the order of the index, given the `rows` of an earlier one,
    `before`, if only texts and marks of notes changed; None if more did. It is fast, because only
    the rows of changed notes are made again.
    """
    old_memory, new_memory = before.memory, snapshot.memory
    if (
        before.depth is not snapshot.depth
        or old_memory.indexes is not new_memory.indexes
        or old_memory.names is not new_memory.names
        or old_memory.skipped != new_memory.skipped
    ):
        return None
    changed = set(before.protected_paths ^ snapshot.protected_paths)
    changed |= {
        new.path
        for old, new in zip(old_memory.files, new_memory.files, strict=True)
        if old is not new
    }
    for path in before.by_path.keys() | snapshot.by_path.keys():
        if before.worst_severity(path) is not snapshot.worst_severity(path):
            changed.add(path)
    return tuple(_update_row(row, snapshot) if row.path in changed else row for row in rows)


def _update_row(row: IndexRow, snapshot: Snapshot) -> IndexRow:
    if row.kind is not RowKind.NOTE:
        return row
    protected = snapshot.is_judged and snapshot.is_protected(snapshot.memory.by_path[row.path])
    return replace(row, severity=snapshot.worst_severity(row.path), is_protected=protected)


def draw_index_row(row: IndexRow, width: int, changed: bool, marked: bool = False) -> StyledLine:
    """Return a row in `width` cells; `changed` if another program just changed the note, `marked`
    if the user marked it.
    """
    if (title := mask_text(row.title)) != row.title:
        row = replace(row, title=title)
    if row.kind is RowKind.HEADING:
        return StyledLine((StyledSpan(clip(row.title, width), "heading"),))
    if row.kind is RowKind.CUT:
        return StyledLine((StyledSpan(_rule_off(row.title, width), "cut"),))
    if row.kind is RowKind.TEXT:
        return StyledLine((StyledSpan("    "), StyledSpan(clip(row.title, width - 4), "dim")))
    # what was not read is not known to be in order
    is_known = row.is_judged and not (row.kind is RowKind.SKIPPED and row.severity is None)
    glyph, style = GLYPHS[row.severity] if is_known else (" ", "")
    mark = _MARKED if marked else _CHANGED if changed else StyledSpan("  ")
    title_style = "dim" if row.is_below_cut or row.kind is not RowKind.NOTE else ""
    lock = (StyledSpan(f"{PROTECTED_MARK} ", "dim"),) if row.is_protected else ()
    room = width - 4 - 2 * len(lock)
    return StyledLine(
        (mark, StyledSpan(f"{glyph} ", style), *lock, *_render_title(row, room, title_style))
    )


def _render_title(row: IndexRow, width: int, style: str) -> tuple[StyledSpan, ...]:
    title = clip(row.title, width)
    room = width - count_cells(title) - 2
    if not row.detail or room < _LEAST_DETAIL:
        return (StyledSpan(title, style),)
    detail = clip(row.detail, min(room, width // 2))
    gap = width - count_cells(title) - count_cells(detail)
    return StyledSpan(title, style), StyledSpan(" " * gap), StyledSpan(detail, "dim")


def _rule_off(title: str, width: int) -> str:
    text = f" {title} "
    left = max(2, (width - count_cells(text)) // 2)
    return clip("─" * left + text + "─" * width, width).replace("…", "─")


def _rows_in_index_order(snapshot: Snapshot) -> Iterator[IndexRow]:
    memory = snapshot.memory
    shown: set[str] = set()
    for position, index in enumerate(memory.indexes):
        cut = memory.load.cut_at_line if position == 0 else None
        rows = list(_rows_of_index(snapshot, index, cut, shown))
        if position and not any(row.kind is RowKind.NOTE for row in rows):
            continue
        if len(memory.indexes) > 1:
            yield IndexRow(RowKind.HEADING, index.folder or index.path, index.path)
        yield from (row for row in rows if position == 0 or row.kind in _OF_NESTED)
    rest = [file for file in memory.files if file.path not in shown]
    yield from _rows_of_section(
        snapshot,
        "Not in the index" if memory.indexes else "Notes",
        (file for file in rest if file.role is FileRole.NOTE),
    )
    yield from _rows_of_section(
        snapshot, "Raw sources", (file for file in rest if file.role is FileRole.SOURCE)
    )
    yield from _rows_of_section(
        snapshot,
        "Index, log and schema",
        (file for file in rest if file.role in (FileRole.SUPPORT, FileRole.INDEX)),
    )
    if memory.skipped:
        yield IndexRow(RowKind.HEADING, "Not read")
    for skipped in memory.skipped:
        severity = Severity.ERROR if skipped.is_outside_link else None
        yield IndexRow(RowKind.SKIPPED, skipped.path, "", skipped.reason, severity)


def _rows_of_index(
    snapshot: Snapshot, index: MemoryIndex, cut: int | None, shown: set[str]
) -> Iterator[IndexRow]:
    entries: dict[int, list[Entry]] = {}
    for entry in index.entries:
        entries.setdefault(entry.line, []).append(entry)
    lines = index.note.text.split("\n")
    first_line = index.note.line_of(index.note.frontmatter.end)
    text: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if number == cut:
            yield from _rows_of_text(index, text, cut)
            text = []
            yield IndexRow(RowKind.CUT, "agents stop reading here")
        is_frame = line.startswith("|") and number not in entries
        if number < first_line or is_frame or not line.strip():
            continue
        if line.startswith("#") and number not in entries:
            yield from _rows_of_text(index, text, cut)
            text = []
            yield IndexRow(RowKind.HEADING, line.lstrip("# ").rstrip("\r"), index.path, line=number)
        elif number in entries:
            yield from _rows_of_text(index, text, cut)
            text = []
            for entry in entries[number]:
                yield from _rows_of_entry(snapshot, index, entry, cut, shown)
        else:
            text.append((number, _strip_markdown(line)))
    yield from _rows_of_text(index, text, cut)


def _rows_of_entry(
    snapshot: Snapshot, index: MemoryIndex, entry: Entry, cut: int | None, shown: set[str]
) -> Iterator[IndexRow]:
    resolved = snapshot.memory.resolve_entry(index, entry)
    dimmed = cut is not None and entry.line >= cut
    if resolved.target_kind is not TargetKind.NOTE:
        # before the frontmatter of all notes is read, one of them may still have this name
        detail = "missing" if snapshot.is_read else ""
        severity, line = Severity.ERROR, entry.line
        kind, title = RowKind.MISSING, entry.title
        yield IndexRow(
            kind, title, index.path, detail, severity, dimmed, line, is_judged=snapshot.is_read
        )
        return
    note = snapshot.memory.by_path[resolved.path]
    if note.role is FileRole.INDEX or (note.path in shown and len(snapshot.memory.indexes) > 1):
        return
    shown.add(note.path)
    yield _row_of_note(snapshot, note, entry.title, dimmed, entry.line)


def _row_of_note(
    snapshot: Snapshot, note: Note, title: str, dimmed: bool = False, line: int = 0
) -> IndexRow:
    detail = note.stem if note.stem not in title else ""
    worst = snapshot.worst_severity(note.path)
    protected = snapshot.is_judged and snapshot.is_protected(note)
    return IndexRow(
        RowKind.NOTE, title, note.path, detail, worst, dimmed, line, snapshot.is_judged, protected
    )


def _rows_of_text(
    index: MemoryIndex, text: list[tuple[int, str]], cut: int | None
) -> Iterator[IndexRow]:
    if text:
        number, first = text[0]
        more = f"  (+{len(text) - 1} lines)" if len(text) > 1 else ""
        dimmed = cut is not None and number >= cut
        yield IndexRow(RowKind.TEXT, first + more, index.path, "", None, dimmed, number)


def _strip_markdown(line: str) -> str:
    """Return a line of the index without the marks of markdown."""
    bare = line.strip().lstrip("-*+> ").replace("**", "").replace("`", "")
    return bare.removeprefix("<!--").strip() or "…"


def _rows_of_section(snapshot: Snapshot, title: str, files: Iterable[Note]) -> Iterator[IndexRow]:
    # all indexes of a wiki have the same name
    rows = [
        _row_of_note(snapshot, file, file.path if file.role is FileRole.INDEX else file.name)
        for file in files
    ]
    if rows:
        yield IndexRow(RowKind.HEADING, title)
        yield from rows


def _rows_in_groups(snapshot: Snapshot, order: IndexOrder) -> Iterator[IndexRow]:
    groups: dict[str, list[Note]] = {}
    for note in sorted(snapshot.memory.notes, key=lambda note: _sort_key(snapshot, order, note)):
        groups.setdefault(_group_of(snapshot, order, note), []).append(note)
    for title, notes in groups.items():
        yield from _rows_of_section(snapshot, title, notes)


def _sort_key(snapshot: Snapshot, order: IndexOrder, note: Note) -> tuple[str | int, ...]:
    if order is IndexOrder.TYPE:
        return (note.type or "~", note.name.casefold())
    if order is IndexOrder.WORST:
        findings = snapshot.findings_of(note.path)
        is_only_old = all(finding.is_age_only for finding in findings)
        worst = snapshot.worst_severity(note.path) or 0
        return (-worst, is_only_old, -len(findings), note.name.casefold())
    return (
        -int(find_last_change_day(note, snapshot.ages).strftime("%Y%m%d")),
        note.name.casefold(),
    )


def _group_of(snapshot: Snapshot, order: IndexOrder, note: Note) -> str:
    if order is IndexOrder.TYPE:
        return note.type or "no type"
    if order is IndexOrder.WORST:
        worst = snapshot.worst_severity(note.path)
        return f"{worst.word}s" if worst else "OK"
    return find_last_change_day(note, snapshot.ages).strftime("%A %-d %B %Y")


def _create_filter(memory: Memory, type_filter: str, words: str) -> Callable[[IndexRow], bool]:
    """Return a predicate for rows that match a type and words."""
    chosen: Collection[str] = memory.by_path
    if words:
        # imported only to filter: the first paint must not load it
        from ricordo.services.search.conditions import find_matching

        chosen = find_matching(memory, words)

    def is_match(row: IndexRow) -> bool:
        if row.kind is not RowKind.NOTE or row.path not in chosen:
            return False
        return not type_filter or memory.by_path[row.path].type == type_filter

    return is_match


def _without_empty_headings(rows: list[IndexRow]) -> Iterator[IndexRow]:
    for position, row in enumerate(rows):
        follower = rows[position + 1] if position + 1 < len(rows) else None
        if row.kind is RowKind.NOTE or (follower and follower.kind is RowKind.NOTE):
            yield row
