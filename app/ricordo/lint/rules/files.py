"""Rules on the file of a note: size, content, encoding and name."""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from ricordo.dates import find_day_in_title
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.archive import is_superseded
from ricordo.lint.claims.distance import is_of_past
from ricordo.lint.conventions import Conventions
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.frontmatter import find_cut_value
from ricordo.lint.prose import find_backlinks, says_nothing
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.memory.change import Convert, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import normalize
from ricordo.memory.note import Note, ReadError, decode_other_encoding
from ricordo.patterns import compile_lazily

NOTES = frozenset((FileRole.NOTE,))

_CLAUSE = compile_lazily(r"[,;:.—](?=\s|$)|[(（，；：。]")
_SHARE_OF_LOG = 0.8
"""The part of its sections that are days in a log."""
_SECTION = compile_lazily(r"^#{1,2}[ \t]+(.+)", re.MULTILINE)
_LOUD = 6
"""Times the limit from which a long note is a warning: with the usual one, half of what Claude Code
reads of a file at once, 25,000 tokens.
"""
_WORD = compile_lazily(r"[^\W\d_]{3,}")
_SHOWN = 5
"""Notes of one name that are listed."""


@memory_rule("oversized-note", Severity.WARNING, "a note longer than 8 KB")
def oversized_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes that cost an agent much to read. Many are long on purpose: only what it can hardly
    read at once is more than worth knowing, and in a wiki nothing is. Nor is a history, which is
    searched, or what no index leads to.
    """
    most = context.thresholds["oversized-note.bytes"]
    is_open = context.layout.has_own_conventions or context.layout.is_plain
    for note in memory.notes:
        if note.role is not FileRole.NOTE or note.facts.size <= most:
            continue
        # rounded up, or a size just over the limit would read as the limit
        kilobytes = math.ceil(note.facts.size / 102.4) / 10
        size = f"{kilobytes:,.1f} KB, limit {most / 1024:g} KB"
        message = f"“{note.name}” is too long: {size}."
        is_loud = note.facts.size > _LOUD * most and not is_open and _is_read(memory, note)
        at_most = Severity.WARNING if is_loud else Severity.INFO
        yield RuleResult(0, message, note.path, path=note.path, at_most=at_most)


def _is_read(memory: Memory, note: Note) -> bool:
    """Return whether agents read `note` for what is so now: an index lists it, or there is none,
    and neither its names and its entries call it a history nor are nearly all its sections days.
    """
    listed = [entry for _, entry in memory.entries.get(note.path, ())]
    if memory.indexes and not listed:
        return False
    hooks = (_CLAUSE.split(entry.hook, maxsplit=1)[0] for entry in listed)
    titles = (entry.title for entry in listed)
    names = (note.name, note.stem, note.path.rpartition("/")[0], note.heading)
    sections = _SECTION.findall(note.text)
    days = sum(find_day_in_title(title) is not None for title in sections)
    is_log = bool(sections) and days >= _SHARE_OF_LOG * len(sections)
    return not is_log and not any(map(is_of_past, (*names, *titles, *hooks)))


@note_rule("empty-note", Severity.WARNING, "a note without text")
def empty_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes with nothing but frontmatter, headings, labels or placeholders; nobody writes in a
    raw source. The page of a folder, which has its name, needs no text, nor does an inbox, which is
    emptied when it was read, or a table of contents, which is filled in later, or a file whose
    frontmatter has the text for a program. Of one whose title says that another note took its place
    no text is missed. Blanks are none in any encoding.
    """
    start = 0 if note.role is FileRole.SOURCE else note.frontmatter.end
    has_text = not (note.is_readable or _is_blank(note)) or not says_nothing(note, start)
    if not (has_text or note.path.split("/")[-2:-1] == [note.stem] or _needs_no_text(note)):
        body = note.text[start:]
        is_minor = note.role is FileRole.SOURCE or is_superseded(note)
        yield RuleResult(
            0,
            f"“{note.name}” has no text.",
            body.strip(),
            (body.strip(),) * bool(body.strip()),
            fix=Fix("retire the note", (Retire(note.path),)),
            at_most=Severity.INFO if is_minor else Severity.WARNING,
        )


def _needs_no_text(note: Note) -> bool:
    """Return whether a note, by its name, is emptied when it was read, or filled in later, or has
    a text of several lines in its frontmatter.
    """
    texts = (it for it in note.frontmatter.fields.values() if isinstance(it, str))
    if any("\n" in it for it in texts):
        return True
    name = lower_text(normalize(note.stem)).replace("_", " ")
    return _emptied().search(name) is not None


@cache
def _emptied() -> re.Pattern[str]:
    """Return the pattern of the end of the name of such a note."""
    return re.compile(rf"(?:{build_alternation(list_expressions('probes', 'emptied'))})\Z")


@memory_rule(
    "unreadable-note",
    Severity.ERROR,
    "a file that cannot be read: not UTF-8, binary, no permission, not a plain file",
)
def unreadable_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find files whose text cannot be read as it is, and broken symbolic links: among raw sources
    these mean files of their writer's machine, which nobody here reads. Those into one folder have
    one cause.
    """
    for file in memory.files:
        if _hides_text(file):
            reason = file.read_error.value
            # files of one encoding were written by one program
            yield _unreadable(file.path, reason, _fix(file))._replace(origin=reason)
    sources = memory.layout.source_folder
    for item in memory.skipped:
        if not item.is_live_link:
            is_source = bool(sources) and item.path.startswith(f"{sources}/")
            at_most = Severity.INFO if is_source else Severity.ERROR
            origin = f"{folder}: linked" if (folder := posixpath.dirname(item.target)) else ""
            yield _unreadable(item.path, item.reason)._replace(at_most=at_most, origin=origin)


def _naming(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    # of the other notes only the paths and names count, which are in `memory.names`
    shared = _find_shared(_group_by_name(memory, context.conventions))
    indexed = _list_indexed_folders(memory) if shared else set[str]()
    return memory.names, memory.links, shared, indexed


def _group_by_name(memory: Memory, conventions: Conventions) -> dict[str, list[Note]]:
    """Return the notes that are pages by their names, without archived ones and those about their
    folders.
    """
    by_name: dict[str, list[Note]] = {}
    for note in memory.notes:
        # the name of a page about its folder begins with `_`, as that of a folder without pages
        is_of_folder = note.path.startswith("_") or "/_" in note.path
        is_aside = note.path in conventions.archived or conventions.is_apart(note.path)
        if note.role is FileRole.NOTE and not is_of_folder and not is_aside:
            by_name.setdefault(note.name.strip(), []).append(note)
    return by_name


def _find_shared(by_name: Mapping[str, Sequence[Note]]) -> dict[str, Sequence[Note]]:
    """Return the names that several notes have, with these."""
    return {name: notes for name, notes in by_name.items() if len(notes) > 1}


@memory_rule("duplicate-name", Severity.WARNING, "two notes with the same name", depends_on=_naming)
def duplicate_name(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find names of several notes, one finding a name: names that they state, and names of files to
    which a link may mean any of them. Files that are no pages are left out, and notes that another
    one took the place of.
    """
    by_name = _group_by_name(memory, context.conventions)
    pages = {
        name: [it for it in notes if not _is_superseded(it)]
        for name, notes in _find_shared(by_name).items()
    }
    shared = _find_shared(pages)
    linked = _find_unclear_links(memory, shared) if shared else {}
    indexed = _list_indexed_folders(memory) if shared else set[str]()
    forms = Counter(_find_folders_alike(it) for it in shared.values())
    for name, notes in shared.items():
        link = linked.get(name)
        keys = memory.layout.title_keys
        if all(find_cut_value(note)[1] in keys for note in notes):
            # `frontmatter-invalid` reports that YAML ends their names early
            continue
        stated = [note for note in notes if note.frontmatter.get_first(keys)]
        if link is None and len(stated) < 2:
            # the folder tells such files apart
            continue
        same = notes if link else stated
        first, second, *others = same
        if others:
            message = f"Name “{second.name}” is used by {len(same):,} notes."
        else:
            message = f"Name “{second.name}” is already used by {first.path}."
        paths = tuple(note.path for note in same[:_SHOWN])
        more = (f"and {len(same) - _SHOWN:,} more",) * (len(same) > _SHOWN)
        days = {find_day_in_title(note.stem) for note in same} - {None}
        # one of them may be the newest, without a day; or a program numbers them
        is_numbered = len(set(map(_kind, same))) == 1
        is_series = len(days) >= max(2, len(same) - 1) or (is_numbered and _differ(same, _stem))
        # the name that a link has, or what it is a page of, and the folder tell such notes apart
        is_told_apart = _differ(same, _stem) or _differ(same, _type) or _are_linked(memory, same)
        is_apart = is_told_apart or indexed.issuperset(map(_folder, same))
        is_clear = _differ(same, _folder) and is_apart
        # folders with several files of the same names are filled in alike
        alike = _find_folders_alike(same)
        is_form = bool(alike) and forms[alike] > 1
        is_made_so = is_form or _are_of_kinds(by_name, same) or _are_numbered(name, same)
        is_name = any(map(str.isalpha, name))
        yield RuleResult(
            0,
            message,
            second.name,
            (*paths, *more, *((f"{link} links to it",) if link else ())),
            second.path,
            # the notes of a series have one name and the day in that of their file
            at_most=Severity.INFO
            if not is_name or (link is None and (is_series or is_clear or is_made_so))
            else Severity.WARNING,
        )


def _is_superseded(note: Note) -> bool:
    """Return whether a note says that another one took its place, or only names that one, which may
    be its successor in part: then it still belongs in the index.
    """
    return bool(note.frontmatter.get_text("superseded_by")) or is_superseded(note)


def _are_linked(memory: Memory, notes: Sequence[Note]) -> bool:
    """Return whether each of the notes links to another of them, or has a link from one."""
    paths = {note.path for note in notes}
    linking = {path: paths & set(memory.backlinks.get(path, ())) for path in paths}
    return all(linking[path] or any(path in it for it in linking.values()) for path in paths)


def _are_of_kinds(by_name: Mapping[str, Sequence[Note]], notes: Sequence[Note]) -> bool:
    """Return whether the names of the files say what kinds of documents the notes are, as `plan`
    and `spec` of one matter: files of other matters have them too.
    """
    kinds = {_kind(note) for note in notes}
    others = {_kind(it) for same in by_name.values() if same[0] not in notes for it in same}
    return len(kinds) > 1 and kinds <= others


def _kind(note: Note) -> str:
    """Return the name of a file without its numbers."""
    return re.sub(r"\d+", "", note.stem)


def _are_numbered(name: str, notes: Sequence[Note]) -> bool:
    """Return whether the files have the numbers of documents as names, which tell those of one
    title apart.
    """
    title = set(_WORD.findall(name.lower()))
    stems = [note.stem.lower() for note in notes]
    return _differ(notes, _stem) and all(
        re.search(r"\d", stem) and title.isdisjoint(_WORD.findall(stem)) for stem in stems
    )


def _list_indexed_folders(memory: Memory) -> set[str]:
    """Return the folders with a file that is called like an index, as those of several agents, each
    of which is loaded without the others.
    """
    names = memory.layout.index_names
    return {_folder(file) for file in memory.files if file.path.split("/")[-1].lower() in names}


def _differ(notes: Sequence[Note], part: Callable[[Note], str]) -> bool:
    """Return whether no two notes have the same `part`."""
    return len({part(note) for note in notes}) == len(notes)


def _find_folders_alike(notes: Sequence[Note]) -> frozenset[str]:
    """Return the folders that have a file of one name each; none where their names differ."""
    has_one_name = len(set(map(_stem, notes))) == 1
    return frozenset(map(_folder, notes)) if has_one_name else frozenset()


def _folder(note: Note) -> str:
    return note.path.rpartition("/")[0]


def _stem(note: Note) -> str:
    return normalize(note.stem)


def _type(note: Note) -> str:
    return note.type


def _find_unclear_links(memory: Memory, shared: Mapping[str, Sequence[Note]]) -> dict[str, str]:
    """Return the first place with a link to each of the names `shared` by several notes that is not
    to the one beside it or the only one whose file has the name.
    """
    places: dict[str, str] = {}
    for path, links in memory.links.items():
        folder = path.rpartition("/")[0]
        for resolved in links:
            target = resolved.link.target
            if not resolved.link.is_wikilink or target not in shared or target in places:
                continue
            same = shared[target]
            # the file beside it, whatever that states as its name
            is_beside = posixpath.join(folder, f"{target}.md") in memory.by_path
            is_beside |= any(note.path.rpartition("/")[0] == folder for note in same)
            is_clear = is_beside or sum(note.stem == target for note in same) == 1
            # a program lists what links to a note by the names that links have
            if not is_clear and resolved.link.line not in find_backlinks(memory.by_path[path]):
                places[target] = f"{path}:{resolved.link.line}"
    return places


def _unreadable(path: str, reason: str, fix: Fix | None = None) -> RuleResult:
    return RuleResult(0, f"{path} cannot be read: {reason}.", reason, (), path, fix=fix)


def _fix(file: Note) -> Fix | None:
    if decode_other_encoding(file) is None:
        return None
    return Fix("convert the file to UTF-8", (Convert(file.path),))


def _hides_text(file: Note) -> bool:
    is_cut = file.read_error is ReadError.TOO_LARGE
    return bool(file.read_error) and not is_cut and not _is_blank(file)


def _is_blank(file: Note) -> bool:
    """Return whether a file has nothing but blanks in an encoding that is not read."""
    text = decode_other_encoding(file)
    return text is not None and not text.strip("\ufeff \t\r\n")
