"""The conventions of one memory: learned from its notes, demanded by its schema, or set.

What nearly all notes of a memory do is no fault. A rule on the form of a note asks here first: only
what most notes have, or what the memory's own rules demand, can be missing in one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from operator import is_not
from typing import NamedTuple

from ricordo.agents.registry import list_instruction_files
from ricordo.lint.archive import Archive
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily

_FEWEST = 3
"""Notes from which a convention can be learned; of fewer the layout decides."""
_FEWEST_FOLDERS = 2
"""Folders with notes from which one may have no pages."""
_SHARE_REACHED = 0.05
"""The part of the notes of such a folder that pages may link to."""
_SHARE = 0.8
"""The part of the notes that has to have a property for it to be a convention: where more than a
fifth does without, doing without is one.
"""
_DEMANDED_SHARE = 0.5
"""The same for a property that the schema demands: where fewer have it, nobody follows that."""
FRONTMATTER = "frontmatter"
SCHEMA_FILES = tuple(f"{name}.md" for name in ("SCHEMA", *list_instruction_files()))
"""Files in or above a wiki that say how its pages are written, the most special first."""


class TitleSource(StrEnum):
    """Where the notes of a memory have their title."""

    KEY = "key"
    """In the frontmatter."""
    HEADING = "heading"
    FILE = "file"
    """In the name of the file."""


class NameForm(StrEnum):
    """What the name of a note is made of."""

    FILE = "file"
    """The name of its file."""
    DASHED = "dashed"
    """The same with `-` for `_`."""
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Corrections:
    """What the user set instead of what is learned; None where nothing is set."""

    title: TitleSource | None = None
    fields: frozenset[str] | None = None
    """Fields of the frontmatter that every note has."""
    apart: tuple[str, ...] | None = None
    """Folders of files that are no pages, as in Conventions."""


NO_CORRECTIONS = Corrections()


@dataclass(frozen=True, slots=True)
class Schema:
    """What the rules of a memory, in a file that agents read, demand of every page."""

    path: str = ""
    """The file, as the user knows it; "" where there is none."""
    fields: frozenset[str] = frozenset()


NO_SCHEMA = Schema()


@dataclass(frozen=True)
class Conventions:
    """What is usual in a memory and in each of its folders."""

    is_sparse: bool = False
    """Whether the memory has too few notes to show it."""
    unusual: frozenset[str] = frozenset()
    """Of `frontmatter`, `name`, `description` and `type`: what no convention asks for."""
    unusual_in: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same of each folder with notes enough."""
    without_frontmatter: frozenset[str] = frozenset()
    """Names of files that several folders have, none with frontmatter."""
    archived: frozenset[str] = frozenset()
    """Paths of the archived files. Rules on one note alone do not ask for it."""
    apart: tuple[str, ...] = ()
    """Folders, each with a `/` behind, of files that are no pages: drafts, and what programs write.
    """
    nested: frozenset[str] = frozenset()
    """Fields that most notes have inside `metadata`, not at the top."""
    name_form: NameForm | None = None
    """The form of the names of most notes; None where there is no such form."""
    title: TitleSource = TitleSource.KEY
    demanded: frozenset[str] = frozenset()
    """Further fields that the schema demands and most notes have."""
    schema: str = ""
    """The file that demands them."""
    set_by_user: frozenset[str] = frozenset()
    """What was set, not learned: `title`, `fields`, `apart`."""

    @property
    def parts(self) -> tuple[object, ...]:
        """All of them in a fixed order, as part of the key of a cache."""
        by_folder = ((folder, sorted(names)) for folder, names in self.unusual_in.items())
        unusual = self.is_sparse, sorted(self.unusual), sorted(by_folder)
        found = *unusual, self.title.value
        left_out = sorted(self.without_frontmatter), self.apart
        form = sorted(self.nested), self.name_form
        return (
            *found,
            *left_out,
            *form,
            sorted(self.demanded),
            self.schema,
            sorted(self.set_by_user),
        )

    def expects(self, name: str, path: str) -> bool:
        """Return whether the note at `path` is an exception without this part of its head."""
        if "fields" in self.set_by_user:
            return name not in self.unusual
        is_plain = self.is_sparse or get_stem(path) in self.without_frontmatter
        if self.is_apart(path) or (name == FRONTMATTER and is_plain):
            return False
        folder = path.rpartition("/")[0]
        return name not in self.unusual and name not in self.unusual_in.get(folder, ())

    def is_apart(self, path: str) -> bool:
        """Return whether the file at `path` is no page of the memory."""
        return path.startswith(self.apart)

    def is_set_apart(self, path: str) -> bool:
        """Return whether the user said that the file at `path` is no page."""
        return "apart" in self.set_by_user and self.is_apart(path)


NO_CONVENTIONS = Conventions()
"""Of a memory from which nothing was learned."""


class NoteForm(NamedTuple):
    """The form of one note: all that conventions are learned from."""

    folder: str
    has_frontmatter: bool
    fields: tuple[str, ...]
    """The names of its fields, and `name`, `description` and `type` where some field is that."""
    nested: tuple[str, ...]
    """The names of its fields inside `metadata`."""
    name_form: NameForm | None
    """None where its name is of another form, of two, or is missing."""
    has_heading: bool


class ConventionLearner:
    """Learns the conventions of a memory, and learns them again from what changed in it.

    Of 10,000 notes of which one changed, that takes a tenth of the time.
    """

    def __init__(self, corrections: Corrections = NO_CORRECTIONS) -> None:
        self._corrections = corrections
        self._layout: Layout | None = None
        self._notes: dict[str, Note] = {}
        self._forms: dict[str, NoteForm] = {}
        self._counts: Counter[NoteForm] = Counter()
        """How many notes have each form: most notes of a folder have the same."""
        self._names: Counter[str] = Counter()
        """The notes by the name of their file."""
        self._headed_names: Counter[str] = Counter()
        """Those of them with frontmatter."""
        self._archive = Archive()
        self._archived: frozenset[str] = frozenset()

    def learn(self, memory: Memory, schema: Schema = NO_SCHEMA) -> Conventions:
        """Return the conventions that the notes of `memory` show, and those that are demanded."""
        self._update(memory)
        every, by_folder = _FormCounts(), defaultdict[str, _FormCounts](_FormCounts)
        for form, number in self._counts.items():
            every.count(form, number)
            by_folder[form.folder].count(form, number)
        if every.notes < _FEWEST:
            sparse = Conventions(is_sparse=True, archived=self._archived)
            return self._correct(sparse, memory.layout)
        demanded = _find_demanded(every, schema, memory.layout)
        unusual_in = {
            folder: unusual
            for folder, counts in by_folder.items()
            if len(by_folder) > 1 and (unusual := _find_unusual(counts, demanded))
        }
        learned = Conventions(
            unusual=_find_unusual(every),
            unusual_in=unusual_in,
            nested=frozenset(
                key for key, count in every.nested.items() if 2 * count > every.headed
            ),
            name_form=_find_name_form(every),
            title=_find_title(every),
            demanded=demanded,
            schema=schema.path,
            without_frontmatter=self._find_plain_names(),
            archived=self._archived,
            apart=_find_apart(memory),
        )
        return self._correct(learned, memory.layout)

    def _update(self, memory: Memory) -> None:
        self._archived = self._archive.find(memory)
        if self._layout != memory.layout:
            self._layout, self._notes, self._forms = memory.layout, {}, {}
            self._counts, self._names, self._headed_names = Counter(), Counter(), Counter()
        seen, notes = self._notes, {note.path: note for note in memory.notes}
        if len(seen) != len(notes) or any(map(is_not, seen.values(), notes.values())):
            for path in seen.keys() | notes.keys():
                if seen.get(path) is not notes.get(path):
                    self._replace(path, notes.get(path))
        self._notes = notes

    def _replace(self, path: str, note: Note | None) -> None:
        if old := self._forms.pop(path, None):
            self._counts[old] -= 1
            if not self._counts[old]:
                del self._counts[old]
            self._names[get_stem(path)] -= 1
            self._headed_names[get_stem(path)] -= old.has_frontmatter
        if note is not None and note.role is FileRole.NOTE and note.is_readable:
            assert self._layout is not None
            form = self._forms[path] = _read_form(note, self._layout)
            self._counts[form] += 1
            self._names[get_stem(path)] += 1
            self._headed_names[get_stem(path)] += form.has_frontmatter

    def _find_plain_names(self) -> frozenset[str]:
        """Return the names of files that several folders have, none with frontmatter."""
        return frozenset(
            name
            for name, count in self._names.items()
            if count >= _FEWEST and not self._headed_names[name]
        )

    def _correct(self, learned: Conventions, layout: Layout) -> Conventions:
        """Return what was learned with what the user set in its place."""
        given = self._corrections
        if given == NO_CORRECTIONS:
            return learned
        title = given.title or learned.title
        unusual, unusual_in, demanded = learned.unusual, learned.unusual_in, learned.demanded
        if given.fields is not None:
            none = frozenset() if given.fields else {FRONTMATTER}
            unusual = frozenset((*none, *(_FIELDS.keys() - given.fields)))
            demanded = given.fields - set(layout.required)
        elif given.title is not None:
            unusual = unusual - {"name"} if title is TitleSource.KEY else unusual | {"name"}
            unusual_in = {
                folder: names - {"name"} if title is TitleSource.KEY else names
                for folder, names in unusual_in.items()
            }
        names = {"title": given.title, "fields": given.fields, "apart": given.apart}
        return replace(
            learned,
            unusual=unusual,
            unusual_in=unusual_in,
            title=title,
            demanded=demanded,
            apart=learned.apart if given.apart is None else given.apart,
            set_by_user=frozenset(name for name, value in names.items() if value is not None),
        )


def learn_conventions(memory: Memory) -> Conventions:
    """Return the conventions that the notes of `memory` show."""
    return ConventionLearner().learn(memory)


class _FormCounts:
    """How many notes have what."""

    def __init__(self) -> None:
        self.notes = 0
        self.headed = 0
        """With frontmatter."""
        self.titled = 0
        """With a heading of the first level."""
        self.fields: Counter[str] = Counter()
        self.nested: Counter[str] = Counter()
        """Fields inside `metadata`."""
        self.name_forms: Counter[NameForm | None] = Counter()

    def count(self, form: NoteForm, number: int) -> None:
        """Count a number of notes with the same form."""
        self.notes += number
        self.headed += number * form.has_frontmatter
        self.titled += number * form.has_heading
        self.name_forms[form.name_form] += number
        for name in form.fields:
            self.fields[name] += number
        for name in form.nested:
            self.nested[name] += number


def _read_form(note: Note, layout: Layout) -> NoteForm:
    known = (name for name, has_it in _FIELDS.items() if has_it(note, layout))
    given = (key for key, value in note.frontmatter.fields.items() if value is not None)
    metadata = note.frontmatter.fields.get("metadata")
    return NoteForm(
        note.path.rpartition("/")[0],
        note.frontmatter.is_present,
        tuple(dict.fromkeys(chain(known, given))) if note.frontmatter.is_present else (),
        tuple(metadata) if isinstance(metadata, Mapping) else (),
        _read_name_form(note, layout),
        bool(note.heading),
    )


def _find_apart(memory: Memory) -> tuple[str, ...]:
    """Return the top folders of which an index lists, or a page outside links to, hardly any note,
    where most notes of the memory are in others.
    """
    start = f"{memory.layout.page_folder}/" if memory.layout.page_folder else ""
    folders: dict[str, list[str]] = {}
    notes = [note.path for note in memory.notes if note.role is FileRole.NOTE]
    for path in notes:
        top, slash, _ = path.removeprefix(start).partition("/")
        if slash:
            folders.setdefault(f"{start if path.startswith(start) else ''}{top}/", []).append(path)
    if len(folders) < _FEWEST_FOLDERS:
        return ()
    apart = {
        folder: len(paths)
        for folder, paths in folders.items()
        if len(paths) >= _FEWEST
        and sum(_is_reached(memory, it, folder) for it in paths) <= _SHARE_REACHED * len(paths)
    }
    return tuple(sorted(apart)) if sum(apart.values()) * 2 < len(notes) else ()


def _is_reached(memory: Memory, path: str, folder: str) -> bool:
    """Return whether an index lists the note at `path`, or a page outside of `folder` links to it;
    a log names every file.
    """
    return path in memory.entries or any(
        not source.startswith(folder) and memory.by_path[source].role is not FileRole.SUPPORT
        for source in memory.backlinks.get(path, ())
    )


def _find_unusual(counts: _FormCounts, demanded: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the parts of a head, and of the `demanded` fields, that less than four of five notes
    have.
    """
    if counts.notes < _FEWEST:
        # two files that agree in having none, and a demand that no page of this kind follows
        is_plain = counts.notes > 1 and not counts.headed
        none = demanded.difference(name for name in demanded if counts.fields[name])
        return none | {FRONTMATTER} if is_plain else none
    unusual = set() if counts.headed >= _SHARE * counts.notes else {FRONTMATTER}
    if counts.headed >= _FEWEST:
        unusual |= {
            name for name in (*_FIELDS, *demanded) if counts.fields[name] < _SHARE * counts.headed
        }
    return frozenset(unusual)


def _find_title(counts: _FormCounts) -> TitleSource:
    if counts.fields["name"] >= _SHARE * counts.notes:
        return TitleSource.KEY
    return TitleSource.HEADING if counts.titled >= _SHARE * counts.notes else TitleSource.FILE


def _read_name_form(note: Note, layout: Layout) -> NameForm | None:
    name = note.frontmatter.get_first(layout.title_keys).strip()
    forms = [form for form in NameForm if name and name == build_name(note, form)]
    # a file name without `_` is the same in two forms
    return forms[0] if len(forms) == 1 else None


def build_name(note: Note, form: NameForm) -> str:
    """Return the name of `note` in a `form`; "" where it has nothing to make it of."""
    if form is NameForm.HEADING:
        return note.heading
    return note.stem if form is NameForm.FILE else note.stem.replace("_", "-")


def _find_name_form(counts: _FormCounts) -> NameForm | None:
    forms = [form for form in NameForm if counts.name_forms[form]]
    return max(forms, key=lambda form: counts.name_forms[form], default=None)


def _find_demanded(counts: _FormCounts, schema: Schema, layout: Layout) -> frozenset[str]:
    """Return the fields that the schema demands, that no layout knows and most notes have."""
    least = max(_FEWEST, _DEMANDED_SHARE * counts.headed)
    return frozenset(name for name in schema.fields - layout.keys if counts.fields[name] >= least)


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
    """Return those of name, description and type that the layout requires and the note lacks; where
    each memory settles its form for itself, a heading is a name too.
    """
    missing = [name for name in layout.required if not _FIELDS[name](note, layout)]
    if layout.has_own_conventions and note.heading:
        return [name for name in missing if name != "name"]
    return missing


def list_fields(conventions: Conventions, layout: Layout) -> list[str]:
    """Return the fields that every note has to have."""
    is_usual = FRONTMATTER not in conventions.unusual
    usual = [name for name in layout.required if is_usual and name not in conventions.unusual]
    return [*usual, *sorted(conventions.demanded)]


def find_unmet_demands(note: Note, layout: Layout, conventions: Conventions) -> list[str]:
    """Return the further fields that every page has to have and the note lacks."""
    return sorted(
        name
        for name in conventions.demanded
        if not _has_field(note, name, layout) and conventions.expects(name, note.path)
    )


def _has_field(note: Note, name: str, layout: Layout) -> bool:
    known = _FIELDS.get(name)
    # a page may have no sources
    return known(note, layout) if known else name in note.frontmatter.fields


def _has_key(note: Note, keys: tuple[str, ...]) -> bool:
    return bool(note.frontmatter.get_first(keys).strip()) or any(
        note.frontmatter.get_text(key).strip() for key in keys
    )


_DEMAND = compile_lazily(
    r"requir|mandatory|\bmust\b|\bevery\b|\beach\b|\ball\b|pflicht|\bmuss\b|\bjede|\ball?e\b"
    r"|obligat|\bdoit\b|\bchaque\b|\btoute|\bdebe\b|\bcada\b|\btod[ao]s\b|\bdeve\b|\bogni\b"
    r"|обязат|кажд|должн|必须|必須|必填|每个|所有|すべて|各ページ|필수|모든",
    re.IGNORECASE,
)
_ABOUT_FRONTMATTER = compile_lazily(
    r"front-?\s?matter|\byaml\b|metadat|メタデータ|元数据", re.IGNORECASE
)
_NOT_ALWAYS = compile_lazily(
    r"optional|\bif\b|\bwhen\b|\bonly\b|\brequired on\b|recommended|falls|facultati|opcional"
    r"|opzional|необязат|可选|선택|任意"
    r"|(?:may|can) be (?:omitted|left out|missing|absent)|(?<!never )(?<!not )leave (?:\w+ )?out\b"
    r"|(?:kann|darf) (?:auch )?(?:fehlen|entfallen)|peut (?:être omis|manquer)"
    r"|puede (?:omitirse|faltar)|pode (?:ser omitid|faltar)|può (?:essere omess|mancare)"
    r"|можно (?:опустить|не указывать)|可(?:以)?省略|可不填|省略可|생략 ?가능",
    re.IGNORECASE,
)
_REQUIRED = compile_lazily(r"requir|mandatory|必须|必填", re.IGNORECASE)
_FENCE = compile_lazily(r"\s*(?:`{3,}|~{3,})")
_SCHEMA_FIELD = compile_lazily(r"([A-Za-z_][\w-]*)\s*:(?=\s|$)(.*)")
_NAMED_FIELD = compile_lazily(r"`([A-Za-z_][\w-]*)`")
_ABOVE = 6
"""Lines above a block in which it is said that every page has its fields."""


@lru_cache(maxsize=1 << 10)  # rules ask it again after each change
def read_schema(path: str, text: str) -> Schema:
    """Return what a schema file demands of every page: the fields of the frontmatter that it shows
    or lists as required, those that all its forms have in common. Nothing is demanded where it is
    not said.
    """
    lines = text.split("\n")
    forms = [form for form in _read_forms(lines) if form.fields]
    stated = [form.fields for form in forms if form.is_demanded]
    demanded = [fields for fields in (*stated, *_read_lists(lines)) if fields]
    if not demanded:
        return Schema(path)
    fields = frozenset.intersection(*demanded)
    # the form of one kind of page has what every page has, or it is the form of something else
    kinds = [form.fields for form in forms if 2 * len(form.fields & fields) >= len(form.fields)]
    return Schema(path, fields.intersection(*kinds))


class _ShownForm(NamedTuple):
    """A frontmatter that is shown in a code block."""

    fields: frozenset[str]
    is_demanded: bool
    """Whether the lines above say that it is to be used."""


def _read_forms(lines: Sequence[str]) -> Iterator[_ShownForm]:
    """Yield each frontmatter that is shown in a code block."""
    begin = -1
    for number, line in enumerate(lines):
        if not _FENCE.match(line):
            continue
        if begin < 0:
            begin = number
            continue
        block = [text.strip() for text in lines[begin + 1 : number]]
        above = "\n".join(lines[max(0, begin - _ABOVE) : begin])
        is_form = bool(block) and block[0] == "---" and "---" in block[1:]
        if is_form:
            is_demanded = bool(_DEMAND.search(above) and _ABOUT_FRONTMATTER.search(above))
            yield _ShownForm(_read_fields(block[1 : block.index("---", 1)]), is_demanded)
        begin = -1


def _read_fields(lines: Iterable[str]) -> frozenset[str]:
    fields: set[str] = set()
    comment = ""
    for line in lines:
        if not line or line.startswith("#"):
            # of the fields below it
            comment = line
        elif (it := _SCHEMA_FIELD.match(line)) and not _NOT_ALWAYS.search(f"{comment} {it[2]}"):
            fields.add(it[1])
    return frozenset(fields)


def _read_lists(lines: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield the fields that one line names as required in the frontmatter."""
    for line in lines:
        is_list = _ABOUT_FRONTMATTER.search(line) and _REQUIRED.search(line)
        if is_list and not _NOT_ALWAYS.search(line):
            names = frozenset(_NAMED_FIELD.findall(line))
            if len(names) > 1:
                yield names
