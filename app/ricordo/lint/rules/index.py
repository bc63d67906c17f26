"""Rules on the index: its entries, its length and its text."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from datetime import timedelta
from functools import lru_cache

from ricordo.dates import find_day_in_title
from ricordo.lint.contradictions.repeats import is_generated
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Evidence
from ricordo.lint.finding import Severity
from ricordo.lint.fixes.entries import (
    are_in_one_list,
    find_unlisted_alike,
    fix_duplicate_entry,
    fix_inline_body,
    fix_long_entry,
    fix_missing_file,
)
from ricordo.lint.fixes.links import LinkTargets, is_to_come
from ricordo.lint.prose import find_backlinks
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.missing_entries import LISTED_FORMS, split_name
from ricordo.memory.index import Entry, EntryForm, Load, MemoryIndex, strip_index
from ricordo.memory.layout import FileRole
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import ResolvedLink, TargetKind
from ricordo.memory.note import Note

PLACEHOLDERS = frozenset("<>{}*$…")
"""Characters of a path that is only an example of how paths look."""
_FEWEST_LINKED = 3
"""Targets of links with one label, from which on that label names none of them."""
_WRAPPED = re.compile(r"\s+(?!(?:[-*+]|\d{1,9}[.)])\s)\S")
"""A further line of an entry whose text was wrapped."""


@memory_rule("index-missing-file", Severity.ERROR, "an index entry for a file that does not exist")
def index_missing_file(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find entries with a broken link; `wanted-note` reports wikilinks in prose instead."""
    meant = LinkTargets(memory, context.renamed)
    for index in memory.indexes:
        astray = {resolved.link.start for resolved in memory.links_without_file.get(index.path, ())}
        for entry in index.entries:
            if entry.link.start not in astray or (
                entry.link.is_wikilink and entry.form not in LISTED_FORMS
            ):
                continue
            resolved = memory.resolve_entry(index, entry)
            if resolved.target_kind is not TargetKind.MISSING:
                continue
            if page := find_project_page(context.evidence, index.note, entry.link):
                yield report_project_page(index.note, entry.link, page, entry.text)
                continue
            to, _ = meant.find_note(resolved)
            if not to and resolved.path in context.ignored:
                yield report_ignored(index.note, entry.link, entry.text)
                continue
            to = to or find_unlisted_alike(memory, meant, resolved)
            hint = f" Did you mean {to}?" if to else ""
            message = f"Entry “{entry.title}” links to a missing file: {entry.link.target}."
            yield RuleResult(
                entry.line,
                f"{message}{hint}",
                entry.link.target,
                (entry.text,),
                index.path,
                fix_missing_file(memory, meant, index, entry),
                at_most=judge_broken_link(memory, meant, index.note, resolved),
            )


def judge_broken_link(
    memory: Memory, meant: LinkTargets, file: Note, resolved: ResolvedLink
) -> Severity:
    """Return how bad it is at most that a link has no file: little where the file is to come, where
    several links, or the label of this one, show that it is elsewhere, where it is an
    example, or a program writes them.
    """
    link = resolved.link
    label, name = link.label.strip("`"), posixpath.basename(link.target)
    folder = posixpath.dirname(posixpath.join(memory.root, link.target))
    is_named_elsewhere = label.endswith(f"/{name}") and not f"{folder}/{name}".endswith(f"/{label}")
    is_elsewhere = is_named_elsewhere or meant.is_relative_elsewhere(resolved)
    is_example = not PLACEHOLDERS.isdisjoint(link.target)
    is_meant = is_elsewhere or is_example or is_to_come(file, link) or is_generated(file)
    return Severity.INFO if is_meant else Severity.ERROR


def report_project_page(file: Note, link: Link, page: str, line: str) -> RuleResult:
    """Return what is said of a link that names a page of the project."""
    message = f"Link to a page of the project, not to a note: {page}."
    return RuleResult(link.line, message, link.target, (line,), file.path, at_most=Severity.INFO)


def report_ignored(file: Note, link: Link, line: str) -> RuleResult:
    """Return what is said of a link to a file that git may have kept out of this copy of a memory:
    a name alone may be in any of the folders that it leaves out.
    """
    message = f"Link to a file that git may have kept out of this copy: {link.target}."
    return RuleResult(link.line, message, link.target, (line,), file.path, at_most=Severity.INFO)


def find_project_page(evidence: Evidence, file: Note, link: Link) -> str:
    """Return the page of the project that a link names; "" where none is known."""
    verdicts = evidence.verdicts.get(file.path, ())
    pages = (
        verdict.evidence[0]
        for verdict in verdicts
        if verdict.claim == link.target
        and verdict.kind is ClaimKind.PATH
        and verdict.outcome is CheckOutcome.VALID
    )
    return next(pages, "")


def get_listed(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    """Return the indexes and the targets of their entries: all that a rule on entries uses."""
    return memory.indexes, [memory.links.get(index.path) for index in memory.indexes]


def _get_listed_names(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    # an entry may be meant for any of the notes with its name
    return *get_listed(memory, context), memory.names


@memory_rule(
    "index-duplicate-entry",
    Severity.WARNING,
    "two index entries for one note",
    depends_on=_get_listed_names,
)
def index_duplicate_entry(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find listed entries of one index that link to the same place of the same note. In two lists
    of an index that costs no load that is meant: what is important comes first, or what some work
    needs. Entries whose titles tell of two topics or days of the note are meant, too.
    """
    for index in memory.indexes:
        is_loaded = index is memory.index and memory.layout.limits is not None
        plain = _find_plain_labels(index)
        for path, first, entry in _find_listed_twice(memory, index):
            is_slip = is_loaded or are_in_one_list(index, first, entry)
            message = f"Duplicate entry for {path}: also on line {first.line}."
            yield RuleResult(
                entry.line,
                message,
                path,
                (first.text, entry.text),
                index.path,
                fix_duplicate_entry(index, first, entry),
                at_most=Severity.WARNING
                if is_slip
                and _are_of_one_topic(*(_get_title(index, it, plain) for it in (first, entry)))
                else Severity.INFO,
            )


def _find_plain_labels(index: MemoryIndex) -> frozenset[str]:
    """Return the labels under which an index links to several notes, such as `details`."""
    targets: dict[str, set[str]] = {}
    for entry in index.entries:
        targets.setdefault(entry.title, set()).add(entry.link.target)
    return frozenset(label for label, linked in targets.items() if len(linked) >= _FEWEST_LINKED)


def _get_title(index: MemoryIndex, entry: Entry, plain: Container[str]) -> str:
    """Return what an entry is about: its label, or where that is a `plain` one the rest of it."""
    link = index.note.text[entry.link.start : entry.link.end]
    return entry.text.replace(link, "") if entry.title in plain else entry.title


def _are_of_one_topic(*titles: str) -> bool:
    """Return whether one of two titles has all words of the other, and both the same day."""
    few, many = sorted(map(split_name, titles), key=len)
    return few <= many and len({find_day_in_title(it) for it in titles}) == 1


def _find_listed_twice(memory: Memory, index: MemoryIndex) -> Iterator[tuple[str, Entry, Entry]]:
    """Yield the path of each note that an index lists again, with the entry before and that one. A
    link by a name that several notes share may mean another one each time in a list.
    """
    seen: dict[tuple[str, str], list[Entry]] = {}
    backlinks = find_backlinks(index.note)
    for path, entry in _listed(memory, index):
        place = path, entry.link.anchor
        if entry.line in backlinks:
            continue
        before = seen.setdefault(place, [])
        if before:
            named = len(memory.names.list_named(entry.link))
            beside = sum(are_in_one_list(index, it, entry) for it in before)
            if named < 2 or beside >= named:
                yield path, before[-1], entry
        before.append(entry)


def _listed(memory: Memory, index: MemoryIndex) -> Iterator[tuple[str, Entry]]:
    """Yield the listed entries of an index with their notes. The row of a table is about what its
    first cell with words names: a glossary has many rows with one note.
    """
    for entry in index.entries:
        is_subject = entry.form is not EntryForm.ROW or _is_subject_of_row(index, entry)
        if entry.form in LISTED_FORMS and is_subject:
            resolved = memory.resolve_entry(index, entry)
            if (
                resolved.target_kind is TargetKind.NOTE
                and memory.by_path[resolved.path].role is not FileRole.INDEX
            ):
                yield resolved.path, entry


def _is_subject_of_row(index: MemoryIndex, entry: Entry) -> bool:
    """Return whether the cells before that of an entry have no words: a number, a day, a mark."""
    text = index.note.text
    before = text[text.rfind("\n", 0, entry.link.start) + 1 : entry.link.start]
    return not any(map(str.isalpha, before.rpartition("|")[0]))


_SHOWN = 3
_IDLE = timedelta(days=30)
"""Time without a change after which an index is not expected to grow soon."""
_FULL = 0.85
"""Share of its limit from which a few more entries may be too many."""


@memory_rule("index-over-budget", Severity.ERROR, "the index is longer than what agents load")
def index_over_budget(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find the first line of the index that the agent does not load."""
    load, index = memory.load, memory.index
    if index is None or load.cut_at_line is None:
        return
    lines = index.note.text.split("\n")
    lost = [line for line in lines[load.cut_at_line - 1 :] if line.strip()]
    has_entries = any(entry.line >= load.cut_at_line for entry in index.entries)
    what = "Entries" if has_entries else "Lines"
    cut = f"{what} from line {load.cut_at_line} on are not loaded."
    message = f"Index too long: {_describe_size(load, 1)}. {cut}"
    yield RuleResult(
        load.cut_at_line, message, lost[0] if lost else "", tuple(lost[:_SHOWN]), index.path
    )


@memory_rule(
    "index-near-budget", Severity.WARNING, "the index is longer than 75 % of what agents load"
)
def index_near_budget(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find an index that is loaded whole, but is close to its limit. One that did not change for a
    month, as git knows, is expected to fit for now, unless a few entries may be too many.
    """
    load, index = memory.load, memory.index
    near = context.thresholds["index-near-budget.share"]
    if index is None or load.cut_at_line is not None or load.fill_ratio <= near:
        return
    message = f"Index nearly full, {load.fill_ratio:.0%}: {_describe_size(load, near)}."
    changed = context.evidence.committed_at(index.note)
    is_idle = changed is not None and context.now - changed > _IDLE
    at_most = Severity.INFO if is_idle and load.fill_ratio < _FULL else Severity.WARNING
    yield RuleResult(0, message, f"over {near:.0%}", (), index.path, at_most=at_most)


@memory_rule("index-long-entry", Severity.INFO, "an index entry longer than 200 characters")
def index_long_entry(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find entries that take the space of several, in an index that agents load and whose text
    comes near their limit: anywhere else they cost nothing.
    """
    longest = context.thresholds["index-long-entry.characters"]
    index, limits = memory.index, memory.layout.limits
    share = context.thresholds["index-near-budget.share"]
    if index is None or limits is None or memory.load.units <= limits.units * share:
        return
    links = Counter(link.line for link in index.note.links)
    for entry in index.entries:
        is_one = entry.form in LISTED_FORMS and links[entry.line] == 1
        if is_one and len(entry.text) > longest:
            size = f"{len(entry.text):,} characters, limit {longest:g}"
            message = f"Entry “{entry.title}” is too long: {size}."
            fix = fix_long_entry(memory, index, entry, int(longest))
            yield RuleResult(entry.line, message, entry.text, (entry.text,), index.path, fix)


@memory_rule("index-inline-body", Severity.INFO, "note text written into the index")
def index_inline_body(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find runs of text between two entries or headings, where every line costs budget."""
    least = context.thresholds["index-inline-body.lines"]
    index = memory.index
    if index is None or memory.layout.limits is None:
        return
    for lines in _text_runs(index):
        if len(lines) >= least:
            text = list(lines.values())
            message = f"Note text in the index: {len(text)} lines. Move them to a note."
            fix = fix_inline_body(memory, index, list(lines))
            yield RuleResult(
                min(lines), message, "\n".join(text), tuple(text[:_SHOWN]), index.path, fix
            )


def _describe_size(load: Load, share: float) -> str:
    """Return the measures of the index that are over `share` of their limit, with that limit."""
    limits = load.limits
    assert limits is not None
    sizes = (
        (load.lines, limits.lines, "lines"),
        (load.units, limits.units, "characters"),
    )
    over = [(size, limit, unit) for size, limit, unit in sizes if size > limit * share]
    return ", ".join(f"{size:,} {unit}, limit {limit:,}" for size, limit, unit in over)


@lru_cache(maxsize=1)
def _text_runs(index: MemoryIndex) -> tuple[Mapping[int, str], ...]:
    """Return the runs of lines that are neither heading nor entry, each line by its number."""
    return tuple(_find_text_runs(index))


def _find_text_runs(index: MemoryIndex) -> Iterator[Mapping[int, str]]:
    entries = {entry.line: entry for entry in index.entries}
    text: dict[int, str] = {}
    entry: Entry | None = None
    for number, line in strip_index(index.note.text):
        if number in entries or line.startswith("#"):
            yield text
            text, entry = {}, entries.get(number)
        elif not line.strip():
            entry = None
        elif entry is None or not _WRAPPED.match(line):
            text[number], entry = line, None
    yield text
