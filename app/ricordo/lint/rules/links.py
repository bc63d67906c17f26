"""Rules on where links lead."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ricordo.agents.registry import instruction_files
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.links import Meant, lead_to, to_text
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.lint.rules.index import LISTED
from ricordo.memory.layout import FileRole
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, Resolved
from ricordo.memory.note import Note

_ASSETS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".csv", ".tsv", ".json")
_PATTERN = frozenset("<>{}*$…")
"""Characters of a path that only shows how paths are made."""
_PROJECT_FILES = frozenset(
    f"{name.lower()}.md" for name in ("readme", "handoff", "changelog", *instruction_files())
)
_SYSTEM_PATH = re.compile(
    r"(?:file:|~|\\\\|/(?:etc|home|users|root|var|tmp|usr|opt|proc|dev|mnt|srv|private|volumes)/)",
    re.IGNORECASE,
)


@memory_rule(
    "dead-link", Severity.ERROR, "a markdown link to a file of the memory that is not there"
)
def dead_link(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Markdown links that lead nowhere; those of an index to notes are missing entries."""
    meant = Meant(memory, context.renamed)
    for file, found in _own_links(memory, Leads.NOWHERE):
        link = found.link
        is_entry = file.role is FileRole.INDEX and link.target.lower().endswith(".md")
        if not link.is_wikilink and not is_entry and _is_of_memory(memory, file, found):
            message = f"The link “{link.label}” leads to {link.target}, which is not there."
            fix = _repair(memory, meant, file, found)
            yield RuleResult(link.line, message, link.target, (_line(file, link),), file.path, fix)


@memory_rule("wanted-note", Severity.INFO, "a [[wikilink]] to a note that does not exist")
def wanted_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Names that notes link to and that no note has, once a file."""
    meant = Meant(memory, context.renamed)
    for file, found in _once(_own_links(memory, Leads.NOWHERE)):
        link = found.link
        if (
            link.is_wikilink
            and file.role is not FileRole.SUPPORT
            and not _is_entry(memory, file, link)
        ):
            message = f"There is no note “{link.target}” yet."
            fix = _spell_right(memory, meant, file, found)
            yield RuleResult(link.line, message, link.target, (_line(file, link),), file.path, fix)


@memory_rule("orphan-note", Severity.INFO, "no entry and no note leads to it")
def orphan_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes and raw sources that nothing leads to, where the memory links its notes at all."""
    if memory.layout.keeps_own_list or not (memory.backlinks or memory.indexes):
        return
    for note in memory.notes:
        if note.path not in memory.backlinks and (not note.readable or note.text.strip()):
            yield RuleResult(0, f"Nothing leads to “{note.name}”.", note.path, (), note.path)


@memory_rule("outside-memory", Severity.ERROR, "a link or symlink that leads out of the memory")
def outside_memory(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Symbolic links and links of notes that leave the memory's directory."""
    for skipped in memory.skipped:
        if skipped.leads_out:
            message = f"{skipped.path} is {skipped.reason}, outside the memory."
            yield RuleResult(0, message, skipped.reason, (skipped.reason,), skipped.path)
    for file, found in _own_links(memory, Leads.OUTSIDE, Leads.AWAY):
        link = found.link
        if _leaves(memory, file, found):
            message = f"The link “{link.label}” leads out of the memory, to {link.target}."
            fix = to_text(file, link)
            yield RuleResult(link.line, message, link.target, (_line(file, link),), file.path, fix)


def _repair(memory: Memory, meant: Meant, file: Note, found: Resolved) -> Fix | None:
    if meant.is_from_elsewhere(found):
        return None
    to, is_certain = meant.note(found)
    led = lead_to(memory, file, [found.link], to, safe=is_certain) if to else None
    return led or to_text(file, found.link)


def _spell_right(memory: Memory, meant: Meant, file: Note, found: Resolved) -> Fix | None:
    if meant.is_from_elsewhere(found):
        return None
    to = meant.misspelt(found)
    same = [
        other.link
        for other in memory.links[file.path]
        if other.link.is_wikilink and other.link.target == found.link.target
    ]
    return lead_to(memory, file, same, to, safe=False) if to else None


def _own_links(memory: Memory, *leads: Leads) -> Iterator[tuple[Note, Resolved]]:
    """The links that lead so, to no file; those of raw sources are what somebody else wrote."""
    for path, astray in memory.astray.items():
        file = memory.by_path[path]
        if file.role is not FileRole.SOURCE:
            yield from ((file, found) for found in astray if found.leads in leads)


def _once(links: Iterator[tuple[Note, Resolved]]) -> Iterator[tuple[Note, Resolved]]:
    seen: set[tuple[str, str]] = set()
    for file, found in links:
        if (key := (file.path, found.link.target)) not in seen:
            seen.add(key)
            yield file, found


def _is_entry(memory: Memory, file: Note, link: Link) -> bool:
    """Whether the link is a listed entry of an index, which is judged as such."""
    return file.role is FileRole.INDEX and any(
        entry.link is link and entry.form in LISTED
        for index in memory.indexes
        if index.note is file
        for entry in index.entries
    )


def _is_of_memory(memory: Memory, file: Note, found: Resolved) -> bool:
    """Whether a dead link means a file of the memory, rather than one of a project or a site."""
    target = found.link.target.lower()
    if not _PATTERN.isdisjoint(target):
        return False
    folder, _, name = found.path.rpartition("/")
    is_free = memory.layout.has_own_conventions
    if target.endswith(".md"):
        return is_free or ((not folder or folder in memory.others) and name not in _PROJECT_FILES)
    return is_free and target.endswith(_ASSETS) and (not folder or folder in memory.others)


def _leaves(memory: Memory, file: Note, found: Resolved) -> bool:
    target = found.link.target
    if found.leads is Leads.AWAY:
        return not found.link.is_wikilink and bool(_SYSTEM_PATH.match(target))
    written = posixpath.join(memory.root, posixpath.dirname(file.path), target)
    return not posixpath.normpath(written).startswith(memory.root + "/")


def _line(file: Note, link: Link) -> str:
    start = file.text.rfind("\n", 0, link.start) + 1
    end = file.text.find("\n", link.end)
    return file.text[start : end if end >= 0 else len(file.text)].strip()
