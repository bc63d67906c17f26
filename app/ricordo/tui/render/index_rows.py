"""The index pane: a look at a memory as rows, in the index's own order or another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ricordo.lint.finding import Severity
from ricordo.memory.index import Entry, MemoryIndex
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
from ricordo.services.sessions.activity_text import day_of
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import cells, clip
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import masked


class Order(StrEnum):
    """In which order the index pane shows the notes."""

    INDEX = "index"
    TYPE = "type"
    WORST = "worst"
    DIARY = "diary"

    @property
    def next(self) -> Order:
        """The order that follows when a person asks for another."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


_LEAST_DETAIL = 12
"""Cells; where there is less room, the file's name is left out."""


class RowKind(StrEnum):
    """What a row of the index pane is."""

    HEADING = "heading"
    NOTE = "note"
    MISSING = "missing"
    """An entry that leads nowhere."""
    TEXT = "text"
    """Lines of the index that point to no note."""
    CUT = "cut"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One row of the index pane."""

    kind: RowKind
    title: str
    path: str = ""
    """The note, or the index in which the text stands."""
    detail: str = ""
    severity: Severity | None = None
    dimmed: bool = False
    """Below the cut: the agent is not given this entry."""
    line: int = 0
    """Of the index, 1-based; 0 where it stands in none."""
    judged: bool = True
    """Whether the rules have run; before, nothing is said of a note."""
    protected: bool = False
    """Whether neither the curator nor a fix may change it."""

    @property
    def selectable(self) -> bool:
        """Whether the cursor can rest on it."""
        return self.kind in (RowKind.NOTE, RowKind.TEXT, RowKind.MISSING)


_OF_NESTED = (RowKind.NOTE, RowKind.MISSING)
"""What is shown of the index of a folder, under the folder's name."""
_CHANGED = StyledSpan("● ", "changed")
_MARKED = StyledSpan("◆ ", "accent")
PROTECTED = "§"
"""Stands before the title of a protected note."""
GLYPHS: Mapping[Severity | None, tuple[str, str]] = {
    Severity.ERROR: ("✗", "error"),
    Severity.WARNING: ("!", "warning"),
    Severity.INFO: ("·", "info"),
    None: ("✓", "fine"),
}


def index_rows(look: Snapshot, order: Order) -> tuple[IndexRow, ...]:
    """Return the rows of the index pane, those of all notes."""
    return tuple(_in_index_order(look) if order is Order.INDEX else _grouped(look, order))


def narrowed(
    rows: tuple[IndexRow, ...], memory: Memory, type_filter: str, words: str
) -> tuple[IndexRow, ...]:
    """Return of the `rows` of `memory` those that are left where the person narrows it.

    `type_filter` keeps the notes of one type, `words` those that fit it as the finder means it; ""
    keeps all. With either, only notes and headings above notes are left.
    """
    if not type_filter and not words:
        return rows
    fits = _choice(memory, type_filter, words)
    kept = [row for row in rows if row.kind in (RowKind.HEADING, RowKind.CUT) or fits(row)]
    return tuple(_without_empty_headings(kept))


def rows_after(
    before: Snapshot, rows: tuple[IndexRow, ...], look: Snapshot
) -> tuple[IndexRow, ...] | None:
    """Return the rows of `look` in the order of the index, given the `rows` of the look `before`:
    where only texts of notes changed, what is said of a few notes is other and nothing else. None
    where more is.
    """
    was, now = before.memory, look.memory
    if (
        before.depth is not look.depth
        or was.indexes is not now.indexes
        or was.names is not now.names
        or was.skipped != now.skipped
    ):
        return None
    other = set(before.marked ^ look.marked)
    other |= {new.path for old, new in zip(was.files, now.files, strict=True) if old is not new}
    for path in before.by_path.keys() | look.by_path.keys():
        if before.worst(path) is not look.worst(path):
            other.add(path)
    return tuple(_row_after(row, look) if row.path in other else row for row in rows)


def _row_after(row: IndexRow, look: Snapshot) -> IndexRow:
    if row.kind is not RowKind.NOTE:
        return row
    protected = look.judged and look.is_protected(look.memory.by_path[row.path])
    return replace(row, severity=look.worst(row.path), protected=protected)


def draw_row(row: IndexRow, width: int, changed: bool, marked: bool = False) -> StyledLine:
    """Return a row in `width` cells; `changed` marks a note that somebody just changed, `marked`
    one that the person has marked.
    """
    if (title := masked(row.title)) != row.title:
        row = replace(row, title=title)
    if row.kind is RowKind.HEADING:
        return StyledLine((StyledSpan(clip(row.title, width), "heading"),))
    if row.kind is RowKind.CUT:
        return StyledLine((StyledSpan(_ruled(row.title, width), "cut"),))
    if row.kind is RowKind.TEXT:
        return StyledLine((StyledSpan("    "), StyledSpan(clip(row.title, width - 4), "dim")))
    glyph, style = GLYPHS[row.severity] if row.judged else (" ", "")
    mark = _MARKED if marked else _CHANGED if changed else StyledSpan("  ")
    title_style = "dim" if row.dimmed or row.kind is not RowKind.NOTE else ""
    lock = (StyledSpan(f"{PROTECTED} ", "dim"),) if row.protected else ()
    room = width - 4 - 2 * len(lock)
    return StyledLine(
        (mark, StyledSpan(f"{glyph} ", style), *lock, *_title_and_detail(row, room, title_style))
    )


def _title_and_detail(row: IndexRow, width: int, style: str) -> tuple[StyledSpan, ...]:
    title = clip(row.title, width)
    room = width - cells(title) - 2
    if not row.detail or room < _LEAST_DETAIL:
        return (StyledSpan(title, style),)
    detail = clip(row.detail, min(room, width // 2))
    gap = width - cells(title) - cells(detail)
    return StyledSpan(title, style), StyledSpan(" " * gap), StyledSpan(detail, "dim")


def _ruled(title: str, width: int) -> str:
    text = f" {title} "
    left = max(2, (width - cells(text)) // 2)
    return clip("─" * left + text + "─" * width, width).replace("…", "─")


def _in_index_order(look: Snapshot) -> Iterator[IndexRow]:
    memory = look.memory
    shown: set[str] = set()
    for position, index in enumerate(memory.indexes):
        cut = memory.load.cut_at_line if position == 0 else None
        rows = list(_rows_of_index(look, index, cut, shown))
        if position and not any(row.kind is RowKind.NOTE for row in rows):
            continue
        if len(memory.indexes) > 1:
            yield IndexRow(RowKind.HEADING, index.folder or index.path, index.path)
        yield from (row for row in rows if position == 0 or row.kind in _OF_NESTED)
    rest = [file for file in memory.files if file.path not in shown]
    yield from _section(
        look,
        "Not in the index" if memory.indexes else "Notes",
        (file for file in rest if file.role is FileRole.NOTE),
    )
    yield from _section(
        look, "Raw sources", (file for file in rest if file.role is FileRole.SOURCE)
    )
    yield from _section(
        look,
        "Index, log and schema",
        (file for file in rest if file.role in (FileRole.SUPPORT, FileRole.INDEX)),
    )
    if memory.skipped:
        yield IndexRow(RowKind.HEADING, "Not read")
    for skipped in memory.skipped:
        severity = Severity.ERROR if skipped.leads_out else None
        yield IndexRow(RowKind.SKIPPED, skipped.path, "", skipped.reason, severity)


def _rows_of_index(
    look: Snapshot, index: MemoryIndex, cut: int | None, shown: set[str]
) -> Iterator[IndexRow]:
    entries: dict[int, list[Entry]] = {}
    for entry in index.entries:
        entries.setdefault(entry.line, []).append(entry)
    lines = index.note.text.split("\n")
    first_line = index.note.line_of(index.note.head.end)
    text: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if number == cut:
            yield from _text_row(index, text, cut)
            text = []
            yield IndexRow(RowKind.CUT, "agents stop reading here")
        is_frame = line.startswith("|") and number not in entries
        if number < first_line or is_frame or not line.strip():
            continue
        if line.startswith("#") and number not in entries:
            yield from _text_row(index, text, cut)
            text = []
            yield IndexRow(RowKind.HEADING, line.lstrip("# ").rstrip("\r"), index.path, line=number)
        elif number in entries:
            yield from _text_row(index, text, cut)
            text = []
            for entry in entries[number]:
                yield from _entry_row(look, index, entry, cut, shown)
        else:
            text.append((number, _plain(line)))
    yield from _text_row(index, text, cut)


def _entry_row(
    look: Snapshot, index: MemoryIndex, entry: Entry, cut: int | None, shown: set[str]
) -> Iterator[IndexRow]:
    resolved = look.memory.target(index, entry)
    dimmed = cut is not None and entry.line >= cut
    if resolved.leads is not Leads.NOTE:
        # before the heads of the notes are read, it may be the name that one of them has
        why = "not there" if look.read else ""
        severity, line = Severity.ERROR, entry.line
        kind, title = RowKind.MISSING, entry.title
        yield IndexRow(kind, title, index.path, why, severity, dimmed, line, judged=look.read)
        return
    note = look.memory.by_path[resolved.path]
    if note.role is FileRole.INDEX or (note.path in shown and len(look.memory.indexes) > 1):
        return
    shown.add(note.path)
    yield _note_row(look, note, entry.title, dimmed, entry.line)


def _note_row(
    look: Snapshot, note: Note, title: str, dimmed: bool = False, line: int = 0
) -> IndexRow:
    detail = note.stem if note.stem not in title else ""
    worst = look.worst(note.path)
    protected = look.judged and look.is_protected(note)
    return IndexRow(
        RowKind.NOTE, title, note.path, detail, worst, dimmed, line, look.judged, protected
    )


def _text_row(
    index: MemoryIndex, text: list[tuple[int, str]], cut: int | None
) -> Iterator[IndexRow]:
    if text:
        number, first = text[0]
        more = f"  (+{len(text) - 1} lines)" if len(text) > 1 else ""
        dimmed = cut is not None and number >= cut
        yield IndexRow(RowKind.TEXT, first + more, index.path, "", None, dimmed, number)


def _plain(line: str) -> str:
    """Return a line of the index without the marks of markdown."""
    bare = line.strip().lstrip("-*+> ").replace("**", "").replace("`", "")
    return bare.removeprefix("<!--").strip() or "…"


def _section(look: Snapshot, title: str, files: Iterable[Note]) -> Iterator[IndexRow]:
    # the indexes of a wiki all have one name
    rows = [
        _note_row(look, file, file.path if file.role is FileRole.INDEX else file.name)
        for file in files
    ]
    if rows:
        yield IndexRow(RowKind.HEADING, title)
        yield from rows


def _grouped(look: Snapshot, order: Order) -> Iterator[IndexRow]:
    groups: dict[str, list[Note]] = {}
    for note in sorted(look.memory.notes, key=lambda note: _sort_key(look, order, note)):
        groups.setdefault(_group(look, order, note), []).append(note)
    for title, notes in groups.items():
        yield from _section(look, title, notes)


def _sort_key(look: Snapshot, order: Order, note: Note) -> tuple[str | int, ...]:
    if order is Order.TYPE:
        return (note.type or "~", note.name.casefold())
    if order is Order.WORST:
        findings = look.of_note(note.path)
        is_only_old = all(it.is_of_age for it in findings)
        worst = look.worst(note.path) or 0
        return (-worst, is_only_old, -len(findings), note.name.casefold())
    return (-int(day_of(note, look.ages).strftime("%Y%m%d")), note.name.casefold())


def _group(look: Snapshot, order: Order, note: Note) -> str:
    if order is Order.TYPE:
        return note.type or "no type"
    if order is Order.WORST:
        worst = look.worst(note.path)
        return f"{worst.word}s" if worst else "fine"
    return day_of(note, look.ages).strftime("%A %-d %B %Y")


def _choice(memory: Memory, type_filter: str, words: str) -> Callable[[IndexRow], bool]:
    """What says of a row whether it is chosen by type and words."""
    chosen: Collection[str] = memory.by_path
    if words:
        # loaded when somebody filters: the first paint need not wait for it
        from ricordo.services.search.conditions import fitting

        chosen = fitting(memory, words)

    def fits(row: IndexRow) -> bool:
        if row.kind is not RowKind.NOTE or row.path not in chosen:
            return False
        return not type_filter or memory.by_path[row.path].type == type_filter

    return fits


def _without_empty_headings(rows: list[IndexRow]) -> Iterator[IndexRow]:
    for position, row in enumerate(rows):
        follower = rows[position + 1] if position + 1 < len(rows) else None
        if row.kind is RowKind.NOTE or (follower and follower.kind is RowKind.NOTE):
            yield row
