"""The conventions of one memory, learned from its notes: what nearly all of them do is no fault.

A rule on the form of a note asks here first. Only what most notes have can be missing in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_FEWEST = 3
"""Notes from which a convention can be learned; of fewer the layout decides."""
_SHARE = 0.8
"""The part of the notes that has to have a property for it to be a convention: where more than a
fifth does without, doing without is one.
"""
FRONTMATTER = "frontmatter"


@dataclass(frozen=True)
class Conventions:
    """What is usual in a memory and in each of its folders."""

    unusual: frozenset[str] = frozenset()
    """Of `frontmatter`, `name`, `description` and `type`: what no convention asks for."""
    unusual_in: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same of each folder with notes enough."""
    usual_size: int = 0
    """The median size of the notes in bytes, to the kilobyte; 0 where there are too few."""

    @property
    def parts(self) -> tuple[object, ...]:
        """All of them in a fixed order, as part of the key of a cache."""
        by_folder = ((folder, sorted(names)) for folder, names in self.unusual_in.items())
        return sorted(self.unusual), sorted(by_folder), self.usual_size

    def expects(self, name: str, path: str) -> bool:
        """Return whether the note at `path` is an exception without this part of its head."""
        folder = path.rpartition("/")[0]
        return name not in self.unusual and name not in self.unusual_in.get(folder, ())


NO_CONVENTIONS = Conventions()
"""Of a memory with too few notes to learn from."""


def learn_conventions(memory: Memory) -> Conventions:
    """Return the conventions that the notes of `memory` show."""
    notes = [note for note in memory.notes if note.role is FileRole.NOTE and note.is_readable]
    if len(notes) < _FEWEST:
        return NO_CONVENTIONS
    by_folder: dict[str, list[Note]] = {}
    for note in notes:
        by_folder.setdefault(note.path.rpartition("/")[0], []).append(note)
    unusual_in = {
        folder: unusual
        for folder, inside in by_folder.items()
        if len(by_folder) > 1 and (unusual := _find_unusual(inside, memory.layout))
    }
    return Conventions(_find_unusual(notes, memory.layout), unusual_in, _measure_usual_size(notes))


def _find_unusual(notes: Sequence[Note], layout: Layout) -> frozenset[str]:
    """Return the parts of a head that less than four of five `notes` have."""
    if len(notes) < _FEWEST:
        return frozenset()
    headed = [note for note in notes if note.frontmatter.is_present]
    unusual = set() if len(headed) >= _SHARE * len(notes) else {FRONTMATTER}
    for name, has_it in _FIELDS.items():
        given = sum(has_it(note, layout) for note in headed)
        if len(headed) >= _FEWEST and given < _SHARE * len(headed):
            unusual.add(name)
    return frozenset(unusual)


def _measure_usual_size(notes: Sequence[Note]) -> int:
    # to the kilobyte, so that an edit of one note rarely changes what is usual
    return round(median(note.facts.size for note in notes) / 1024) * 1024


def has_name(note: Note, layout: Layout) -> bool:
    """Return whether the frontmatter of a note gives its name."""
    return _has_key(note, layout.title_keys)


def has_description(note: Note, layout: Layout) -> bool:
    """Return whether the frontmatter of a note describes it."""
    return bool(note.description.strip()) or _has_key(note, layout.summary_keys)


def has_type(note: Note, layout: Layout) -> bool:
    """Return whether the frontmatter of a note gives its type. Lessons, which agents pin or not,
    have none.
    """
    if note.type.strip() or note.frontmatter.get_text("pinned"):
        return True
    return _has_key(note, layout.type_keys)


_FIELDS: Mapping[str, Callable[[Note, Layout], bool]] = {
    "name": has_name,
    "description": has_description,
    "type": has_type,
}


def find_missing_fields(note: Note, layout: Layout) -> list[str]:
    """Return those of name, description and type that the layout requires and the note lacks."""
    return [name for name in layout.required if not _FIELDS[name](note, layout)]


def _has_key(note: Note, keys: tuple[str, ...]) -> bool:
    return bool(note.frontmatter.get_first(keys).strip()) or any(
        note.frontmatter.get_text(key).strip() for key in keys
    )
