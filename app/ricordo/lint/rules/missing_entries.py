"""The rule on notes that no index lists, and what counts as listed: an entry, a name, a folder, a
page that lists others.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from ricordo.dates import find_day_in_title
from ricordo.lint.archive import is_superseded
from ricordo.lint.claims.note_status import is_log, spell_name
from ricordo.lint.contradictions.repeats import is_generated
from ricordo.lint.contradictions.statements import extract_content_words
from ricordo.lint.conventions import Conventions
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.entries import MissingEntries
from ricordo.lint.prose import says_nothing
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.succession import find_superseded
from ricordo.memory.change import EditLine
from ricordo.memory.index import EntryForm, MemoryIndex
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind, list_aliases, normalize
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily

_SHARE_OF_GAP = 0.1
"""The part of the notes of a folder of which an entry that is missing was forgotten; one always."""
_FEW_MISSING = 3
"""Notes without an entry that are always reported one by one."""
_MANY_OF_A_NAME = 3
"""Files of one name from which an index that lists none of them leaves them out on purpose."""
_SHARE_MISSING = 0.2
"""The part of the notes from which their missing entries are one finding."""
_OF_WORK, _DRAFT = "project", "draft"
"""Types of notes on the state of work, which passes: half of those that no index lists are history,
while nearly all unlisted rules, preferences and references are missed; and of what is to be checked
before it is listed.
"""
_LISTS = frozenset(("index.md", "_index.md", "memory.md", "readme.md"))
"""Names, in lower case, of files that list the others of a folder."""
_FEWEST_OF_KIND = 3
"""Notes of a folder from which on what they have in common tells their kind."""
_FEWEST_ON_PAGE = 8
"""Notes of a folder from which on a page that links to most of them is a list of it, and notes that
several pages have to list together.
"""
_FEWEST_WORDS = 3
"""Words of a name by which an entry that links to no file is known to mean it."""
_LINK_FORM = compile_lazily(r"(?<!!)\[[^\[\]]*\]\((?P<target>[^()<>]+)\)")
"""What has the form of a link; a target with a blank makes it none."""
_NAMED_FOLDER = compile_lazily(
    r"^[ \t]*(?:[-*+]|\d{1,9}[.)]|\|)[ \t]+(?:\*\*)?`?(?:\./)?"
    r"(?P<folder>[\w.-]+(?:/[\w.-]+)*)/(?![\w*<{])",
    re.MULTILINE,
)
"""An item or a row that begins with the name of a folder."""
_WORD_MARK = compile_lazily(r"(?<=[^\W_])[-_. ](?=[^\W_])")
"""What joins the words of the name of a file."""
_LANGUAGE = compile_lazily(r"[-_. ][A-Za-z]{2}(?:[-_](?:[A-Za-z]{2}|[A-Za-z]{4}))?\Z")
"""The language at the end of the name of a file: `-de`, `-zh-CN`, `_zh_Hant`."""
_PHRASE = compile_lazily(r"\w\W+\w|\d|[\u3040-\u30ff\u3400-\u9fff]{4}")
"""What is in a name that is no plain word: several words, a number, a phrase without blanks."""
_QUERY = compile_lazily(r"^```(dataview|base)[^\S\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FROM = compile_lazily(r"\bFROM\s([^\n]*)", re.IGNORECASE)
_SOURCE = compile_lazily(r'([-!]?)"([^"\n]*)"')
"""A folder from which a query takes notes, or that it leaves out, with the mark for that."""
_IN_FOLDER = compile_lazily(r"\binFolder\(\s*[\"']([^\"'\n]*)[\"']")
_LEFT_OUT = compile_lazily(r"^[^\S\n]*(?:- )?not:|!", re.MULTILINE)
"""What a base lists may be all but what it names."""
LISTED_FORMS = frozenset((EntryForm.BULLET, EntryForm.ROW))
"""The forms in which an index lists a note; prose only mentions it."""
_SHOWN = 3
"""Notes that are named as examples of many."""


@memory_rule("unindexed-note", Severity.WARNING, "a note without an index entry")
def unindexed_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes that an index should list and none does; empty files are left out, and those that
    another note took the place of. Where an index lacks more than a fifth of its notes, that is one
    finding. It matters little in an index that lists few notes or that a program writes, in a
    folder of which it lists half at most, for notes on the state of work and for raw sources.
    """
    broken = _find_broken_entries(memory)
    yield from broken.values()
    unlisted = _find_unlisted(memory) - broken.keys() if memory.indexes else frozenset()
    for group in _group_by_index(memory, context.conventions, unlisted) if unlisted else ():
        missing = [note for note in group.notes if note.path in unlisted]
        made = _find_made(group, unlisted) if any(map(is_generated, missing)) else frozenset()
        opened = {note.path for note in missing if _is_opened(note, context, made)}
        opened |= _find_beside_pages(group, memory.layout.page_folder, unlisted)
        entries = MissingEntries(memory, group.index, missing, context.encrypted)
        at_most = Severity.WARNING if group.is_listed else Severity.INFO
        wanted = [note for note in missing if note.path not in opened]
        if len(wanted) > max(_FEW_MISSING, _SHARE_MISSING * len(group.notes)):
            fix = entries.fix_all(missing) if group.is_listed else None
            yield _report_incomplete(group, missing, fix, at_most)
            continue
        for note in missing:
            message = f"“{note.name}” is not listed in the index."
            why = entries.refuse(note)
            evidence = (f"no automatic entry: {why}",) if why else ()
            is_passing = note.type == _OF_WORK and not _is_gap(note, group, unlisted)
            is_minor = note.path in opened or note.type == _DRAFT or is_passing
            severity = Severity.INFO if is_minor else at_most
            fix = entries.fix(note)
            yield RuleResult(0, message, note.path, evidence, note.path, fix, at_most=severity)


def _is_gap(note: Note, group: _Group, unlisted: Container[str]) -> bool:
    """Return whether nearly all other notes in the folder of a note are listed: whatever it is
    about, its entry was forgotten.
    """
    folder = posixpath.dirname(note.path)
    beside = [it.path for it in group.notes if posixpath.dirname(it.path) == folder]
    missing = sum(path in unlisted for path in beside)
    is_few = missing <= max(1, _SHARE_OF_GAP * len(beside))
    return is_few and len(beside) - missing >= _FEWEST_OF_KIND


def _find_beside_pages(group: _Group, pages: str, unlisted: Container[str]) -> set[str]:
    """Return the paths of the notes beside the folder `pages` of a wiki where an index lists none
    of those: they are reports and the like, no pages.
    """
    beside = {note.path for note in group.notes if "/" not in note.path}
    has_pages = pages and any(note.path.startswith(f"{pages}/") for note in group.notes)
    return beside if has_pages and all(path in unlisted for path in beside) else set()


def _find_made(group: _Group, unlisted: Container[str]) -> frozenset[str]:
    """Return the folders in which an index lists what a program writes."""
    listed = (note for note in group.notes if note.path not in unlisted)
    return frozenset(posixpath.dirname(note.path) for note in listed if is_generated(note))


def _is_opened(note: Note, context: RuleContext, made: Container[str]) -> bool:
    """Return whether a note is one that agents open without the index: one that their instructions
    name, a log by its name or type, or what a program writes, but for the folders `made` of which
    the index lists that.
    """
    if is_log(note) or note.path in context.instructed:
        return True
    return is_generated(note) and posixpath.dirname(note.path) not in made


def _find_unlisted(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes that no index lists, means or names."""
    listed = memory.entries.keys() | _find_listed_in_folders(memory)
    others = [note for note in memory.notes if note.path not in listed]
    # nearly always there are none
    if not others:
        return frozenset()
    left_out = _find_unlisted_names(memory)
    folders = (*_find_listed_folders(memory), *_find_queried_folders(memory))
    astray = _list_words_astray(memory)
    nearest = NearestIndexes(memory)
    texts = [NamingText(memory, index.note) for index in memory.indexes]
    unlisted = frozenset(
        note.path
        for note in others
        if nearest.find(note) is not None
        and not (
            note.path.startswith(folders)
            or note.stem in left_out
            or is_superseded(note)
            or _is_meant(note, astray)
            or any(text.names(note) for text in texts)
        )
    )
    # superseded-note is about those that another one supersedes
    unlisted -= find_superseded(memory) if unlisted else frozenset()
    unlisted -= _find_listed_by_shared_name(memory) if unlisted else set()
    unlisted -= _find_listed_on_pages(memory, unlisted)
    unlisted -= _find_variants(memory, unlisted)
    unlisted -= _find_translations(memory, unlisted)
    return unlisted - _find_copies_of_listed(memory, unlisted)


def _find_listed_by_shared_name(memory: Memory) -> set[str]:
    """Return the paths of the notes with one name to which an index has as many entries by it: all
    of these lead to one of them, but each stands for another.
    """
    found: set[str] = set()
    for index in memory.indexes:
        counts = Counter(memory.names.list_named(entry.link) for entry in index.entries)
        found.update(*(named for named, count in counts.items() if 1 < len(named) <= count))
    return found


def _find_copies_of_listed(memory: Memory, paths: Iterable[str]) -> set[str]:
    """Return those of `paths` whose name and text are those of a note that an index lists, in
    another folder; `duplicate` reports them, and a second entry would say the same again.
    """
    by_stem, by_path = memory.names.by_stem, memory.by_path
    return {
        path
        for path in paths
        for other in by_stem.get(normalize(get_stem(path)), ())
        if other in memory.entries and by_path[other].body.strip() == by_path[path].body.strip()
    }


def _find_variants(memory: Memory, paths: Iterable[str]) -> set[str]:
    """Return those of `paths` that are variants of the notes beside them, such as `tides-short` of
    `tides`: several names end so, and no index lists any of them.
    """
    by_ending: dict[str, set[str]] = {}
    for path in paths:
        folder, stem = path.rpartition("/")[0], get_stem(path)
        for mark in _WORD_MARK.finditer(stem):
            beside = f"{folder}/{stem[: mark.start()]}.md".removeprefix("/")
            if beside in memory.by_path:
                by_ending.setdefault(stem[mark.start() :], set()).add(path)
    listed = [get_stem(path) for path in memory.entries] if by_ending else []
    found: set[str] = set()
    for ending, variants in by_ending.items():
        if len(variants) >= _FEWEST_OF_KIND and not any(it.endswith(ending) for it in listed):
            found |= variants
    return found


def _find_translations(memory: Memory, paths: Iterable[str]) -> set[str]:
    """Return those of `paths` that are translations of a listed note which links to them, as
    `tides-de` of `tides`: who opens that note is led to them.
    """
    return {
        path
        for path in paths
        if (mark := _LANGUAGE.search(stem := get_stem(path)))
        and any(
            source in memory.entries and get_stem(source) == stem[: mark.start()]
            for source in memory.backlinks.get(path, ())
        )
    }


def _find_listed_in_folders(memory: Memory) -> set[str]:
    """Return the paths of the notes that a file of their folder links to or names which is called
    like a list of it, where the kind of memory knows no index.
    """
    names = memory.layout.index_names | _LISTS
    lists: dict[str, list[NamingText]] = {}
    for file in memory.files:
        folder, slash, name = file.path.rpartition("/")
        if slash and name.lower() in names:
            lists.setdefault(folder, []).append(NamingText(memory, file))
    return {
        note.path
        for note in memory.notes
        for text in lists.get(note.path.rpartition("/")[0], ())
        if text.path != note.path
        and (text.path in memory.backlinks.get(note.path, ()) or text.names(note))
    }


def _find_listed_on_pages(memory: Memory, paths: Collection[str]) -> set[str]:
    """Return those of `paths` that a page lists which an index leads to: one with links to most
    notes of their folder, and to their names where these may mean notes of other folders. Pages
    beside an index are one list of a folder that they share out, of which the indexes themselves
    list half at most.
    """
    sizes = Counter(note.path.rpartition("/")[0] for note in memory.notes)
    entered = Counter(path.rpartition("/")[0] for path in memory.entries)
    places = {index.folder for index in memory.indexes}
    linking = (memory.backlinks.get(path, ()) for path in paths)
    listed: set[str] = set()
    shared: set[str] = set()
    for page in set(chain.from_iterable(linking)) & memory.entries.keys():
        linked = {it.path for it in memory.links.get(page, ()) if it.target_kind is TargetKind.NOTE}
        chosen = _choose_lists(linked, sizes, _FEWEST_ON_PAGE)
        folders, names = {posixpath.dirname(it) for it in chosen}, set(map(get_stem, linked))
        listed |= chosen
        listed |= {it for it in paths if posixpath.dirname(it) in folders and get_stem(it) in names}
        own = page.rpartition("/")[0]
        for path in linked if own in places else ():
            folder = path.rpartition("/")[0]
            if folder != own and 2 * entered[folder] <= sizes[folder]:
                shared.add(path)
    if len(shared) >= _FEWEST_ON_PAGE:
        listed |= _choose_lists(shared, sizes, 1)
    return listed


def _choose_lists(linked: Iterable[str], sizes: Mapping[str, int], least: int) -> set[str]:
    """Return those of the paths `linked` that are most notes of a folder with `least` or more."""
    by_folder: dict[str, set[str]] = {}
    for path in linked:
        by_folder.setdefault(path.rpartition("/")[0], set()).add(path)
    chosen = (of for it, of in by_folder.items() if 2 * len(of) > sizes[it] >= least)
    return set(chain.from_iterable(chosen))


def _find_listed_folders(memory: Memory) -> tuple[str, ...]:
    """Return the folders, each with a `/` behind, that an index links to or names as an entry, and
    of which it lists no note: they are listed as a whole.
    """
    every = {note.path.rpartition("/")[0] for note in memory.notes} - {""}
    found: set[str] = set()
    for index in memory.indexes:
        found |= every & {it.path.rstrip("/") for it in memory.links.get(index.path, ())}
        below = f"{index.folder}/" if index.folder else ""
        for named in _NAMED_FOLDER.finditer(index.note.text):
            end = f"/{named['folder']}"
            meant = [it for it in every if it.startswith(below) and f"/{it}".endswith(end)]
            found.update(meant if len(meant) == 1 else every & {f"{below}{named['folder']}"})
    whole = (f"{it}/" for it in found)
    return tuple(it for it in whole if not any(path.startswith(it) for path in memory.entries))


def _find_queried_folders(memory: Memory) -> tuple[str, ...]:
    """Return the folders, each with a `/` behind, whose notes a query of Obsidian lists in an
    index; "" for all of them. The vault may begin one folder above the memory.
    """
    texts = (index.note.text for index in memory.indexes)
    queries = (match for text in texts for match in _QUERY.finditer(text))
    names = {name.strip("/") for it in queries for name in _list_sources(it[1], it[2])}
    folders = [f"{name}/" if name else "" for name in names]
    own = f"{posixpath.basename(memory.root)}/"
    return (*folders, *(it.removeprefix(own) for it in folders if it.startswith(own)))


def _list_sources(kind: str, query: str) -> Sequence[str]:
    """Return the folders from which a query takes notes."""
    if kind == "base":
        return () if _LEFT_OUT.search(query) else _IN_FOLDER.findall(query)
    source = _FROM.search(query)
    found = _SOURCE.findall(source[1]) if source else ()
    return [folder for left_out, folder in found if not left_out]


def _list_words_astray(memory: Memory) -> list[frozenset[str]]:
    """Return the words of each entry of an index that links to no file."""
    starts = (
        (index, {it.link.start for it in memory.links_without_file.get(index.path, ())})
        for index in memory.indexes
    )
    return [
        split_name(f"{entry.link.target} {entry.title}")
        for index, broken in starts
        for entry in index.entries
        if entry.link.start in broken
    ]


def _is_meant(note: Note, astray: Sequence[frozenset[str]]) -> bool:
    """Return whether an entry that links to no file has all words of the name of a note: it is
    reported as that entry.
    """
    words = split_name(note.stem) if astray else frozenset()
    return len(words) >= _FEWEST_WORDS and any(words <= it for it in astray)


def split_name(name: str) -> frozenset[str]:
    """Return the words of a name that carry meaning."""
    return frozenset(extract_content_words(name.replace("_", " ").replace("-", " ")))


def _find_broken_entries(memory: Memory) -> dict[str, RuleResult]:
    """Return, by note, the finding for a line of an index that is meant as its entry and is none:
    a blank ends the target of a link, unless that is in angle brackets. Where many are written so,
    what reads them takes them.
    """
    results: dict[str, RuleResult] = {}
    for index in memory.indexes:
        for number, line, match in _list_blank_targets(index.note):
            target = match["target"]
            path = posixpath.normpath(posixpath.join(index.folder, target))
            if path not in memory.by_path or path in memory.entries or path in results:
                continue
            start, end = match.span("target")
            repaired = f"{line[:start]}<{target}>{line[end:]}"
            results[path] = RuleResult(
                number,
                f"Not an entry: its link target “{target}” has a blank.",
                path,
                (line,),
                index.path,
                Fix(
                    "put the target in angle brackets",
                    (EditLine(index.path, number, line, repaired),),
                ),
                other_path=path,
            )
    if len(results) > max(_FEW_MISSING, _SHARE_MISSING * len(memory.notes)):
        return {path: it._replace(at_most=Severity.INFO) for path, it in results.items()}
    return results


@lru_cache(maxsize=16)  # indexes seldom change
def _list_blank_targets(index: Note) -> tuple[tuple[int, str, re.Match[str]], ...]:
    """Return what has the form of a link to a note, but a blank in its target: the 1-based number
    of its line, the line, and where it is in that.
    """
    found: list[tuple[int, str, re.Match[str]]] = []
    for number, whole in enumerate(index.text.split("\n"), 1):
        line = whole.rstrip("\r")
        for match in _LINK_FORM.finditer(line):
            if match["target"].endswith(".md") and re.search(r"\S\s+\S", match["target"]):
                found.append((number, line, match))
    return tuple(found)


def _find_unlisted_names(memory: Memory) -> frozenset[str]:
    """Return the names of files that several folders have, of which no index lists any: reports
    and the like that are found by their folder.
    """
    counts = Counter(note.stem for note in memory.notes)
    listed = {get_stem(path) for path in memory.entries}
    return frozenset(it for it, count in counts.items() if count >= _MANY_OF_A_NAME) - listed


_NOTES = "notes"


@dataclass(frozen=True, slots=True)
class _Group:
    """Notes that an index should list."""

    index: MemoryIndex
    notes: Sequence[Note]
    kind: str
    """What they are called."""
    is_listed: bool
    """Whether the index is a list of such notes, that somebody keeps by hand."""


def _group_by_index(
    memory: Memory, conventions: Conventions, unlisted: Container[str]
) -> Iterator[_Group]:
    """Yield the notes that each index should list. Of several folders, or kinds of notes of one,
    those of which it lists half at most come apart from the others.
    """
    nearest = NearestIndexes(memory)
    indexes: dict[str, MemoryIndex] = {}
    groups: dict[str, dict[str, list[Note]]] = {}
    for note in memory.notes if memory.indexes else ():
        index = nearest.find(note)
        is_empty = note.is_readable and says_nothing(note, note.frontmatter.end)
        if index is not None and not is_empty and not conventions.is_set_apart(note.path):
            indexes[index.folder] = index
            apart = next((it[:-1] for it in conventions.apart if note.path.startswith(it)), "")
            folder = apart or note.path.rpartition("/")[0]
            groups.setdefault(index.folder, {}).setdefault(folder, []).append(note)
    for of, by_folder in groups.items():
        together: list[Note] = []
        parts: list[tuple[str, list[Note]]] = []
        for folder, notes in by_folder.items():
            listed = sum(note.path not in unlisted for note in notes)
            # few notes that it lists of another folder tell no kind of which it lists more
            is_whole = folder != of and 2 * listed <= len(notes)
            parts += [(_NOTES, notes)] if is_whole else _split_kinds(notes, unlisted)
        for kind, notes in parts:
            listed = sum(note.path not in unlisted for note in notes)
            if len(parts) > 1 and 2 * listed <= len(notes):
                yield _Group(indexes[of], notes, kind, is_listed=False)
            else:
                together += notes
        is_list = _is_list(memory, indexes[of], together, unlisted)
        yield _Group(indexes[of], together, _NOTES, is_list)


def _split_kinds(
    notes: Sequence[Note], unlisted: Container[str]
) -> Iterator[tuple[str, list[Note]]]:
    """Yield the notes of a folder, apart from the others those with a day in their names, and those
    without frontmatter where all that are listed have it: documents that were put beside the notes.
    """
    listed = [note for note in notes if note.path not in unlisted]
    are_headed = len(listed) >= _FEWEST_OF_KIND and all(it.frontmatter.is_present for it in listed)
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        if are_headed and not note.frontmatter.is_present:
            kind = "files without frontmatter"
        else:
            kind = "dated notes" if find_day_in_title(note.stem) else _NOTES
        kinds.setdefault(kind, []).append(note)
    yield from kinds.items()


def _is_list(
    memory: Memory, index: MemoryIndex, notes: Sequence[Note], unlisted: Container[str]
) -> bool:
    """Return whether an index lists at least as many files as it lacks of `notes`, and somebody
    writes it by hand. Raw sources are found from the pages about them.
    """
    entries = (it for it in index.entries if it.form in LISTED_FORMS)
    files = {memory.resolve_entry(index, it).path for it in entries} & memory.by_path.keys()
    missing = sum(note.path in unlisted for note in notes)
    is_of_sources = any(note.role is FileRole.SOURCE for note in notes)
    is_by_hand = not is_generated(index.note) and not is_of_sources
    return is_by_hand and missing <= max(len(files), len(notes) - missing)


def _report_incomplete(
    group: _Group, missing: Sequence[Note], fix: Fix | None, at_most: Severity
) -> RuleResult:
    """Return the one finding for all notes that an index lacks."""
    folder = posixpath.commonpath([note.path.rpartition("/")[0] for note in missing])
    where = f" in {folder}" if folder != group.index.folder else ""
    message = f"The index does not list {len(missing)} of {len(group.notes)} {group.kind}{where}."
    named = ", ".join(note.path for note in missing[:_SHOWN])
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    cause = f"many{f' {group.kind}' * (group.kind != _NOTES)}{where}"
    evidence = (f"not listed: {named}{more}",)
    return RuleResult(0, message, cause, evidence, group.index.path, fix, at_most=at_most)


class NamingText:
    """The text of a file that may name notes, without its links to other ones."""

    def __init__(self, memory: Memory, file: Note) -> None:
        self._links = memory.links.get(file.path, ())
        self._by_stem = memory.names.by_stem
        self._file = file

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._file.path

    @cached_property
    def _text(self) -> str:
        parts, at = list[str](), 0
        for resolved in self._links:
            link = resolved.link
            # a bare name may mean any of several files
            is_clear = len(self._by_stem.get(normalize(get_stem(resolved.path)), ())) == 1
            is_other = is_clear or not link.is_wikilink or "/" in link.target
            if resolved.target_kind is TargetKind.NOTE and is_other and link.start >= at:
                parts.append(self._file.text[at : link.start])
                at = link.end
        return "\n".join((*parts, self._file.text[at:]))

    @cached_property
    def _words(self) -> str:
        return spell_name(self._text)

    def names(self, note: Note) -> bool:
        """Return whether the text has a name of a note: its stem, a title or an alias. A plain word
        is its name only with its ending, in backticks, in brackets, at the end of a path, or as all
        that a row or an item is about; so is a day, which may be any date in the text.
        """
        names = {note.stem, note.name, note.heading, *list_aliases(note)} - {""}
        return any(map(self._has, names))

    def _has(self, name: str) -> bool:
        words = spell_name(name)
        if words not in self._words:
            return False
        if _PHRASE.search(words) and any(map(str.isalpha, words)):
            return bool(re.search(rf"(?<![^\W_]){re.escape(words)}(?![^\W_])", self._words))
        plain = re.escape(name)
        item = (
            rf"^[ \t]*(?:[-*+]|\d+[.)]|\|)[ \t]+(?:\*\*)?{plain}(?:\*\*)?[ \t]*(?:[|:：]|[—–-]\s|$)"
        )
        path = rf"/{plain}(?:\.md|/)?(?=[\"'#)\s])"
        named = rf"(?<![\w-]){plain}\.md(?![\w-])|`{plain}`|\[\[{plain}(?:[\]|#])|{path}|{item}"
        return bool(re.search(named, self._text, re.MULTILINE | re.IGNORECASE))


class NearestIndexes:
    """The index that should list each note of a memory: that of its folder or the nearest above."""

    def __init__(self, memory: Memory) -> None:
        self._by_folder = {index.folder: index for index in reversed(memory.indexes)}
        self._source_folder = memory.layout.source_folder
        self._nearest: dict[tuple[str, str], MemoryIndex | None] = {}

    def find(self, note: Note) -> MemoryIndex | None:
        """Return the index that should list a note, for a raw source one among the sources; None
        where none should.
        """
        within = self._source_folder if note.role is FileRole.SOURCE else ""
        folder = note.path.rpartition("/")[0]
        if (folder, within) not in self._nearest:
            self._nearest[folder, within] = self._find_above(folder, within)
        return self._nearest[folder, within]

    def _find_above(self, folder: str, within: str) -> MemoryIndex | None:
        while folder not in self._by_folder:
            if folder in ("", within):
                return None
            folder = folder.rpartition("/")[0]
        return self._by_folder[folder] if folder.startswith(within) else None
