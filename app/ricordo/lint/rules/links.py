"""Rules on links: broken ones, notes without any, and those that leave the memory."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ricordo.agents.registry import list_instruction_files
from ricordo.dates import find_day_in_title
from ricordo.lint.contradictions.repeats import is_generated
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.links import LinkTargets, relink, remove_link
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.index import (
    PLACEHOLDERS,
    find_project_page,
    judge_broken_link,
    report_ignored,
    report_project_page,
)
from ricordo.lint.rules.missing_entries import LISTED_FORMS, NamingText, NearestIndexes
from ricordo.memory.layout import FileRole
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import ResolvedLink, TargetKind, fold_name, normalize
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily

_ASSETS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".csv", ".tsv", ".json")
_PROJECT_FILES = frozenset(
    f"{name.lower()}.md" for name in ("readme", "handoff", "changelog", *list_instruction_files())
)
_LOADED = frozenset(f"{name.lower()}.md" for name in ("memory", *list_instruction_files()))
"""The names of files that agents take orders from."""
_MEMORY_FOLDERS = frozenset(("memory", "memories"))
_ENDING = compile_lazily(r"\.md\b")
_NO_NAME = compile_lazily(r"[\s/`\"'(\[<|“«「]")
_LONGEST_NAME = 255
_FEWEST_OF_ONE_CAUSE = 3
"""Broken links of one file, or to one, that are one finding."""
_DEEPEST = 20
"""Folders of an absolute link in which a path of the memory may begin."""
_FEWEST_OF_A_COPY = 3
"""Files of this memory that links have below one folder: two may be in another memory as well."""
_CLIMB = compile_lazily(r"(?:\.\./)+")
_SYSTEM_PATH = compile_lazily(
    # a host alone, as in file://materials, is no place of a system
    r"(?:file:(?!//[\w.-]+$)|~|\\\\|/(?:etc|home|users|root|var|tmp|usr|opt|proc|dev|mnt|srv|private|volumes)/)",
    re.IGNORECASE,
)


_EXAMPLE = compile_lazily(r"(?:[nxyz]|foo(?:bar)?|ba[rz]|qux|x{3,}|xyz)\.md", re.IGNORECASE)
"""The name of a file in an example of how links are written: `[X](x.md)`."""


@memory_rule(
    "dead-link", Severity.ERROR, "a markdown link to a file of the memory that does not exist"
)
def dead_link(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find broken markdown links; `index-missing-file` reports those of an index to notes. Those
    that mean one note have one cause, and so have those that climb too few folders to files of one,
    three to one file, which is gone, and three of one file: what it lists was never copied with it,
    or is in another folder.
    """
    found = list(_find_dead_links(memory, context))
    to_file = Counter(gone for _, gone in found if gone)
    to_note = Counter(result.origin for result, _ in found if result.origin)
    alone = [it for it in found if it[1] or to_note[it[0].origin] == 1]
    in_file = Counter(result.path for result, _ in alone)
    for result, gone in found:
        if to_file[gone] >= _FEWEST_OF_ONE_CAUSE:
            yield result._replace(origin=f"{gone}: gone")
        elif (gone or to_note[result.origin] == 1) and in_file[result.path] >= _FEWEST_OF_ONE_CAUSE:
            yield result._replace(origin=f"{result.path}: lost")
        else:
            yield result


def _find_dead_links(memory: Memory, context: RuleContext) -> Iterator[tuple[RuleResult, str]]:
    """Yield the broken links, each with the path of the file that is gone; "" where it is known
    which one is meant, or may be intended.
    """
    meant = LinkTargets(memory, context.renamed)
    elsewhere = {path for path in memory.links_without_file if _is_put_elsewhere(memory, path)}
    for file, resolved in _find_links(memory, TargetKind.MISSING):
        link = resolved.link
        is_entry = file.role is FileRole.INDEX and link.target.lower().endswith(".md")
        # logs tell of files that were there, templates and schemas show how links look
        is_judged = not link.is_wikilink and not is_entry and file.role is not FileRole.SUPPORT
        if is_judged and _is_of_memory(memory, file, resolved):
            if page := find_project_page(context.evidence, file, link):
                yield report_project_page(file, link, page, _line(file, link)), ""
                continue
            to, _ = meant.find_note(resolved)
            if not to and resolved.path in context.ignored:
                yield report_ignored(file, link, _line(file, link)), ""
                continue
            to = to or meant.find_alike(resolved)
            hint = f" Did you mean {to}?" if to else ""
            at_most = judge_broken_link(memory, meant, file, resolved)
            # whose project was not looked into may lack the document as well
            is_of_project = bool(context.evidence.verdicts) and meant.is_of_project(resolved)
            if is_of_project or file.path in elsewhere:
                at_most = Severity.INFO
            is_error = at_most is Severity.ERROR
            climbed_to = meant.find_higher(resolved)
            cause = (
                f"{posixpath.dirname(climbed_to)}: higher" if to == climbed_to else f"{to}: meant"
            )
            result = RuleResult(
                link.line,
                f"Broken link “{link.label}”: {link.target} does not exist.{hint}",
                link.target,
                (_line(file, link),),
                file.path,
                _repair(memory, meant, file, resolved),
                at_most=at_most,
                origin=cause if to and is_error else "",
            )
            yield result, resolved.path if is_error and not to else ""


def _is_put_elsewhere(memory: Memory, path: str) -> bool:
    """Return whether a file is written for another folder, as one that a program copies there: no
    link of it leads anywhere from its own, and all of several do from one beside that. Above or
    below its own folder it was moved.
    """
    every = memory.links.get(path, ())
    targets = {it.link.target for it in every if it.link.target.endswith(".md")}
    is_lost = all(it.target_kind is TargetKind.MISSING for it in every if it.link.target in targets)
    if not is_lost or len(targets) < _FEWEST_OF_ONE_CAUSE:
        return False
    first = min(targets)
    own = f"{posixpath.dirname(path)}/"
    same = memory.names.by_stem.get(normalize(get_stem(first)), ())
    folders = {it[: len(it) - len(first)] for it in same if f"/{it}".endswith(f"/{first}")}
    beside = (it for it in folders if it and not (own.startswith(it) or it.startswith(own)))
    known = memory.by_path
    return any(all(posixpath.normpath(it + of) in known for of in targets) for it in beside)


@memory_rule("wanted-note", Severity.WARNING, "a [[wikilink]] to a note that does not exist")
def wanted_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find wikilinks to names that no note has, each name once a file; what can only mean one other
    note is one finding in all files, and so are three that lack one beginning, such as `feedback_`.
    One that cannot mean any other note may be intended: the note is to come, or is elsewhere. One
    that names a page of the project is said to do so.
    """
    found = list(_find_wanted_notes(memory, context))
    of_beginning = Counter(beginning for _, beginning in found if beginning)
    for result, beginning in found:
        if of_beginning[beginning] >= _FEWEST_OF_ONE_CAUSE:
            yield result._replace(origin=f"{beginning}: left out")
        else:
            yield result


def _find_wanted_notes(memory: Memory, context: RuleContext) -> Iterator[tuple[RuleResult, str]]:
    """Yield the wikilinks to names that no note has, each with the beginning of the name of the
    note that is meant which it leaves out; "" where it is another fault.
    """
    meant = LinkTargets(memory, context.renamed)
    for file, resolved in _without_repeats(_find_links(memory, TargetKind.MISSING)):
        link = resolved.link
        if not link.is_wikilink or file.role is FileRole.SUPPORT or _is_entry(memory, file, link):
            continue
        if page := find_project_page(context.evidence, file, link):
            yield report_project_page(file, link, page, _line(file, link)), ""
            continue
        to = "" if meant.is_relative_elsewhere(resolved) else meant.find_misspelt(resolved)
        if to == file.path:
            # nobody links to what he writes
            to = ""
        message = f"Link to a note that does not exist: {link.target}."
        result = RuleResult(
            link.line,
            f"{message} Did you mean {get_stem(to)}?" if to else message,
            link.target,
            (_line(file, link),),
            file.path,
            _correct_spelling(memory, file, resolved, to) if to else None,
            at_most=Severity.WARNING if to and not _is_told(file, link) else Severity.INFO,
            origin=fold_name(link.target) if to else "",
        )
        name, written = fold_name(get_stem(to)), fold_name(link.target)
        yield result, name.removesuffix(written) if written and name.endswith(written) else ""


def _is_told(file: Note, link: Link) -> bool:
    """Return whether a link is in a quotation, in the record of a session or of a day, or in what a
    program writes.
    """
    is_record = file.type.lower() == "session" or find_day_in_title(file.stem) is not None
    return is_record or _line(file, link).startswith(">") or is_generated(file)


@memory_rule("orphan-note", Severity.INFO, "a note that no index entry and no note links to")
def orphan_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes and raw sources without a link to them, of which no file names theirs, where the
    memory uses links at all and no index should list them: what an index lacks is `unindexed-note`.
    """
    if memory.layout.keeps_own_list or not (memory.backlinks or memory.indexes):
        return
    nearest = NearestIndexes(memory)
    unlinked = [
        note
        for note in memory.notes
        if note.path not in memory.backlinks
        and nearest.find(note) is None
        and not context.conventions.is_set_apart(note.path)
    ]
    naming = _group_by_named(memory) if unlinked else {}
    for note in unlinked:
        files = naming.get(_NO_NAME.split(note.stem)[-1], ())
        is_known = any(it.names(note) for it in files if it.path != note.path)
        if not is_known and (not note.is_readable or note.text.strip()):
            message = f"No index entry and no note links to “{note.name}”."
            yield RuleResult(0, message, note.path, (), note.path)


def _group_by_named(memory: Memory) -> Mapping[str, list[NamingText]]:
    """Return the files that tell of others by their names, by the last word of each such name."""
    naming: dict[str, list[NamingText]] = {}
    for file in memory.files:
        text = file.text if file.role is not FileRole.SUPPORT else ""
        naming_text = NamingText(memory, file)
        ends = (ending.start() for ending in _ENDING.finditer(text))
        names = (text[max(0, end - _LONGEST_NAME) : end] for end in ends)
        for word in {_NO_NAME.split(name)[-1] for name in names}:
            naming.setdefault(word, []).append(naming_text)
    return naming


@memory_rule("outside-memory", Severity.ERROR, "a link or symlink that points outside the memory")
def outside_memory(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find symbolic links and links of notes that leave the directory of the memory;
    `unreadable-note` reports symbolic links to nothing. A link from the root of the project to a
    page of it works where the project is shown. An absolute one to a file of the memory works only
    where its writer has it. Links to one place have one cause.
    """
    for skipped in memory.skipped:
        is_outside = skipped.is_outside_link and skipped.is_live_link
        if is_outside and not _is_within(skipped.target, context.around):
            message = f"{skipped.path} points outside the memory: {skipped.reason}."
            yield RuleResult(0, message, skipped.reason, (skipped.reason,), skipped.path)
    leading_out = list(_find_links(memory, TargetKind.OUTSIDE, TargetKind.EXTERNAL))
    targets = (resolved.link.target for _, resolved in leading_out)
    copies = _find_copies(memory, context.around, targets)
    for file, resolved in leading_out:
        link = resolved.link
        # templates and schemas show how links look
        is_judged = file.role is not FileRole.SUPPORT
        copy = next((it for it in copies if _to_slashes(link.target).startswith(it)), "")
        if copy and is_judged:
            yield _report_copy(memory, file, link, copy)
            continue
        if link.target.startswith("/") and find_project_page(context.evidence, file, link):
            continue
        if is_judged and _is_outside(memory, context.around, file, resolved):
            message = f"Link “{link.label}” points outside the memory: {link.target}."
            fix = remove_link(file, link)
            yield RuleResult(
                link.line,
                message,
                link.target,
                (_line(file, link),),
                file.path,
                fix,
                at_most=_judge_place(memory, context.around, file, resolved),
                origin=_name_place(link.target),
            )


def _repair(memory: Memory, meant: LinkTargets, file: Note, resolved: ResolvedLink) -> Fix | None:
    if meant.is_relative_elsewhere(resolved):
        return None
    to, is_certain = meant.find_note(resolved)
    to = to or meant.find_alike(resolved)
    relinked = relink(memory, file, [resolved.link], to, safe=is_certain) if to else None
    is_wanted = meant.is_wanted(file, resolved)
    return relinked or (None if is_wanted else remove_link(file, resolved.link))


def _correct_spelling(memory: Memory, file: Note, resolved: ResolvedLink, to: str) -> Fix | None:
    same = [
        other.link
        for other in memory.links[file.path]
        if other.link.is_wikilink and other.link.target == resolved.link.target
    ]
    return relink(memory, file, same, to, safe=False)


def _find_links(memory: Memory, *leads: TargetKind) -> Iterator[tuple[Note, ResolvedLink]]:
    """Yield the links to no file that resolve to one of `leads`; those of raw sources are left
    out, for somebody else wrote them.
    """
    for path, astray in memory.links_without_file.items():
        file = memory.by_path[path]
        if file.role is not FileRole.SOURCE:
            yield from ((file, resolved) for resolved in astray if resolved.target_kind in leads)


def _without_repeats(
    links: Iterator[tuple[Note, ResolvedLink]],
) -> Iterator[tuple[Note, ResolvedLink]]:
    seen: set[tuple[str, str]] = set()
    for file, resolved in links:
        if (key := (file.path, resolved.link.target)) not in seen:
            seen.add(key)
            yield file, resolved


def _is_entry(memory: Memory, file: Note, link: Link) -> bool:
    """Return whether the link is a listed entry of an index, which other rules judge."""
    return file.role is FileRole.INDEX and any(
        entry.link is link and entry.form in LISTED_FORMS
        for index in memory.indexes
        if index.note is file
        for entry in index.entries
    )


def _is_of_memory(memory: Memory, file: Note, resolved: ResolvedLink) -> bool:
    """Return whether a broken link means a file of the memory, not one of a project or a site."""
    target = resolved.link.target.lower()
    if not PLACEHOLDERS.isdisjoint(target):
        return False
    folder, _, name = resolved.path.rpartition("/")
    is_free = memory.layout.has_own_conventions
    stem, label = name.removesuffix(".md"), resolved.link.label
    if not folder and _EXAMPLE.fullmatch(name) and label in (stem.upper(), stem.title()):
        return False
    if target.endswith(".md"):
        return is_free or ((not folder or folder in memory.others) and name not in _PROJECT_FILES)
    return is_free and target.endswith(_ASSETS) and (not folder or folder in memory.others)


def _is_outside(
    memory: Memory, around: tuple[str, ...], file: Note, resolved: ResolvedLink
) -> bool:
    """Return whether a link leaves the memory and the folders `around` it, and is no address of a
    site made of the memory.
    """
    target = resolved.link.target
    if resolved.target_kind is TargetKind.EXTERNAL:
        return not resolved.link.is_wikilink and bool(_SYSTEM_PATH.match(target))
    above = posixpath.dirname(memory.root)
    if posixpath.basename(above).startswith("."):
        # an agent keeps its memory in a hidden folder of the project
        around = (*around, posixpath.dirname(above))
    if target.startswith("/"):
        first = target.split("/")[1]
        is_in_site = first in memory.others or first in memory.by_path
        sites = (above, *around)
        if is_in_site or any(f"{it}{target}".startswith(f"{memory.root}/") for it in sites):
            return False
    written = posixpath.join(memory.root, posixpath.dirname(file.path), target)
    path = posixpath.normpath(written)
    return not _is_within(path, (memory.root, *around))


def _report_copy(memory: Memory, file: Note, link: Link, copy: str) -> RuleResult:
    """Return the result on an absolute link into the folder in which its writer seems to have the
    memory.
    """
    to = _to_slashes(link.target).removeprefix(copy)
    is_here = to in memory.others or to in memory.by_path
    where = f"here it is {to}" if is_here else f"here is no {to}"
    message = (
        f"Link “{link.label}” leads to {copy}, where its writer seems to have this memory: {where}."
    )
    fix = relink(memory, file, [link], to, safe=False) if is_here else None
    evidence = (_line(file, link),)
    at_most = Severity.WARNING
    return RuleResult(
        link.line, message, link.target, evidence, file.path, fix, at_most=at_most, origin=copy
    )


def _find_copies(
    memory: Memory, around: tuple[str, ...], targets: Iterable[str]
) -> tuple[str, ...]:
    """Return the folders, each with a `/` behind, in which writers of absolute links seem to have
    this memory: what is before the paths of several of its files.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for target in targets:
        parts = _to_slashes(target).split("/") if _SYSTEM_PATH.match(target) else []
        for at in range(max(1, len(parts) - _DEEPEST), len(parts) - 1):
            path = "/".join(parts[at:])
            if path in memory.others or path in memory.by_path:
                found["/".join(parts[:at])].add(path)
                break
    own = (memory.root, *around)
    return tuple(
        f"{folder}/"
        for folder, paths in found.items()
        if folder.removeprefix("file://") not in own and len(paths) >= _FEWEST_OF_A_COPY
    )


def _to_slashes(target: str) -> str:
    return target.replace("\\", "/")


def _name_place(target: str) -> str:
    """Return what links out of the memory have in common that have one cause: how far up they lead,
    or on which machine for whom they were written.
    """
    plain = _to_slashes(target)
    if climb := _CLIMB.match(plain):
        return climb[0]
    return "/".join(plain.split("/")[:3]) if _SYSTEM_PATH.match(target) else "/"


def _judge_place(
    memory: Memory, around: tuple[str, ...], file: Note, resolved: ResolvedLink
) -> Severity:
    """Return how bad it is at most that a link leaves the memory: who climbs out of the checkout
    around it means a place nearby, unless that is one of the system or of an agent. A wikilink
    means a note.
    """
    target = resolved.link.target
    is_relative = resolved.target_kind is TargetKind.OUTSIDE and target.startswith("../")
    if not around or not is_relative or resolved.link.is_wikilink:
        return Severity.ERROR
    written = posixpath.join(memory.root, posixpath.dirname(file.path), target)
    path = posixpath.normpath(written)
    is_of_system = _SYSTEM_PATH.match(path) and path.split("/")[1] != memory.root.split("/")[1]
    # only what does not lie above the memory, too
    below = path.removeprefix(posixpath.commonpath((path, memory.root))).lower().split("/")
    is_of_agent = any(it.startswith(".") or it in _MEMORY_FOLDERS for it in below)
    is_loaded = below[-1] in _LOADED
    return Severity.ERROR if is_of_system or is_of_agent or is_loaded else Severity.INFO


def _is_within(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _line(file: Note, link: Link) -> str:
    start = file.text.rfind("\n", 0, link.start) + 1
    end = file.text.find("\n", link.end)
    return file.text[start : end if end >= 0 else len(file.text)].strip()
