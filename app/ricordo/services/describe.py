"""Memories, findings and notes as JSON values, the contract of the command line, and as
plain text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ricordo.lint.finding import Finding, Severity
from ricordo.memory.diff import format_unified
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.secrets.find import collect_secrets, mask_excerpt
from ricordo.services.load_description import describe_load, find_unloaded_entries, format_load
from ricordo.text import clip, count_cells, make_one_line

if TYPE_CHECKING:
    from ricordo.services.history.versions import Version
    from ricordo.services.inbox.inbox import Inbox, InboxChange
    from ricordo.services.review import ReviewNote, ReviewQueue
    from ricordo.services.sessions.origin import NoteOrigin
    from ricordo.services.workspace.notebook import Snapshot


def describe_memory(memory: Memory) -> dict[str, Any]:
    """Return what is said of a memory as a whole in JSON documents."""
    return {
        "path": memory.root,
        "kind": memory.layout.kind,
        "notes": len(memory.notes),
        "bytes": memory.size,
    }


def describe_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """Return the notes, the load and the findings of a memory, as `ricordo --json` prints them."""
    memory = snapshot.memory
    return {
        "memory": describe_memory(memory),
        "load": describe_load(memory),
        "notes": [
            {
                "path": note.path,
                "name": note.name,
                "description": note.description,
                "type": note.type,
                "findings": len(snapshot.findings_of(note.path)),
            }
            for note in memory.notes
        ],
        "findings": [describe_finding(one, dismissed=False) for one in snapshot.causes],
        "summary": describe_summary(snapshot.counts),
    }


def describe_finding(finding: Finding, *, dismissed: bool) -> dict[str, Any]:
    """Return a finding as `lint --json` prints it."""
    described = {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "evidence": list(finding.evidence),
        "fix": finding.fix_label or None,
        "safe": all(it.fix is not None and it.fix.safe for it in finding.each),
        "dismissed": dismissed,
        "id": finding.id,
    }
    if not finding.members:
        return described
    members = [describe_finding(one, dismissed=dismissed) for one in finding.members]
    return described | {"members": members}


def describe_summary(counts: Mapping[Severity, int]) -> dict[str, int]:
    """Return the number of findings of each severity."""
    return {severity.word: counts[severity] for severity in sorted(Severity, reverse=True)}


def describe_version(version: Version) -> dict[str, Any]:
    """Return a version as `history --json` prints it."""
    return {
        "id": version.id,
        "path": version.path,
        "at": version.at,
        "by": version.by,
        "reason": version.reason,
        "kind": version.kind,
        "bytes": version.bytes,
    }


def describe_inbox(inbox: Inbox) -> dict[str, Any]:
    """Return the changes since the last visit as `inbox --json` prints them."""
    return {
        "since": inbox.since or None,
        "changes": [
            _describe_arrival(arrival) for arrival in inbox.changes if not arrival.is_reverted
        ],
    }


def _describe_arrival(arrival: InboxChange) -> dict[str, Any]:
    old, new = (f"a/{arrival.old_path or arrival.path}", f"b/{arrival.path}")
    return {
        "path": arrival.path,
        "kind": arrival.kind,
        "from": arrival.old_path or None,
        "at": arrival.at,
        "by": arrival.by,
        "diff": format_unified(
            arrival.old_text,
            arrival.new_text,
            old if arrival.before is not None else "/dev/null",
            new if arrival.after is not None else "/dev/null",
        ),
    }


def show_texts(note: Note, texts: Iterable[str], *, reveals: bool) -> list[str]:
    """Return `texts` of `note` with their secrets masked, or as they are if it `reveals` them."""
    kinds = collect_secrets([] if reveals else [note.text])
    return [mask_excerpt(text, kinds) if kinds else text for text in texts]


def describe_note(
    snapshot: Snapshot,
    note: Note,
    versions: Sequence[Version] = (),
    causes: Sequence[NoteOrigin] = (),
    *,
    reveals: bool = False,
) -> dict[str, Any]:
    """Return one note with its links, findings, origin and versions, as `show --json` prints it.
    `causes` are its creation and its changes by agents, in order of time. Secrets are masked unless
    it `reveals` them.
    """
    memory = snapshot.memory
    texts = (note.name, note.description, note.text)
    name, description, text = show_texts(note, texts, reveals=reveals)
    return {
        "path": note.path,
        "name": name,
        "description": description,
        "type": note.type,
        "text": text,
        "links": [
            {"target": link.link.target, "leads": link.target_kind.value, "path": link.path}
            for link in memory.links.get(note.path, ())
            if link.target_kind is not TargetKind.EXTERNAL
        ],
        "backlinks": list(memory.backlinks.get(note.path, ())),
        "findings": [
            describe_finding(finding, dismissed=False)
            for finding in snapshot.findings_of(note.path)
        ],
        "origin": describe_origin(note, causes),
        "versions": [describe_version(version) for version in versions],
    }


def describe_review(queue: ReviewQueue) -> dict[str, Any]:
    """Return the review of the day as `review --json` prints it."""
    return {
        "queue": [_describe_item(item) for item in queue.items],
        "more": queue.more,
        "next": queue.next_due.isoformat() if queue.next_due else None,
    }


def _describe_item(item: ReviewNote) -> dict[str, Any]:
    retention = item.retention
    return {
        "path": item.note.path,
        "name": item.note.name,
        "why": item.reason.name.lower(),
        "doubts": [describe_finding(finding, dismissed=False) for finding in item.findings],
        "retention": round(retention.share, 4) if retention else None,
        "half_life_days": retention.half_life if retention else None,
        "stale_on": retention.stale_on.isoformat() if retention else None,
        "reasons": list(retention.reasons) if retention else [],
    }


def describe_origin(note: Note, causes: Sequence[NoteOrigin]) -> dict[str, Any] | None:
    """Return the cause of a note and its later changes by agents; without transcripts, the session
    in its frontmatter; None where there is none.
    """
    if not causes:
        session = note.frontmatter.get_text("originSessionId")
        return {"session": session, "changes": []} if session else None
    first, *later = causes
    return {**_describe_cause(first), "changes": [_describe_cause(cause) for cause in later]}


def _describe_cause(cause: NoteOrigin) -> dict[str, Any]:
    origin = cause.summary
    return {
        "session": cause.session,
        "title": cause.title or None,
        "agent": cause.agent.name,
        "at": cause.at or None,
        "deed": cause.deed.value if cause.deed else None,
        "speaker": origin.speaker,
        "quote": origin.text or None,
        "turn": (cause.quote.key or None) if cause.quote else None,
    }


GLYPHS = {3: "✗", 2: "!", 1: "·", 0: "✓"}
"""By severity; 0 for a note without findings."""


_MOST_REPORTED = 20
"""Findings in a report on the memory, worst first."""


_WIDTH = 100


def build_report(snapshot: Snapshot) -> list[str]:
    """Return index, load and first findings of a memory as visible lines of about 100 cells."""
    memory = snapshot.memory
    lines = [f"{make_one_line(memory.root)}  {memory.layout.agent or memory.layout.kind}".rstrip()]
    count = len(memory.notes)
    lines += ["", f"Index: {count} note" if count == 1 else f"Index: {count} notes", ""]
    files = [file for file in memory.files if file.role is not FileRole.INDEX]
    names = [clip(file.name, _WIDTH // 2) for file in files]
    column = max(map(count_cells, names), default=0)
    for file, name in zip(files, names, strict=True):
        glyph = GLYPHS[snapshot.worst_severity(file.path) or 0]
        gap = " " * (column - count_cells(name) + 1)
        lines.append(clip(f"  {glyph} {name}{gap}{make_one_line(file.path)}", _WIDTH))
    lines += ["", "Load: " + format_load(memory), ""]
    lines += [
        clip(
            f"  below the cut, line {line}: {make_one_line(title)} ({make_one_line(path)})", _WIDTH
        )
        for line, title, path in find_unloaded_entries(memory)
    ]
    lines += ["", "Freshness: " + format_summary(snapshot), ""]
    lines += [f"  {format_finding(finding)}" for finding in snapshot.causes[:_MOST_REPORTED]]
    if (more := len(snapshot.causes) - _MOST_REPORTED) > 0:
        lines.append(f"  {more:,} more: `ricordo lint --full` shows all")
    return lines


def format_summary(snapshot: Snapshot, *, one_by_one: bool = False) -> str:
    """Return how many findings there are of each severity that has any, in words: each cause
    counted once, or all `one_by_one`.
    """
    counts: Mapping[Severity, int] = snapshot.counts
    if one_by_one:
        each = Counter(finding.severity for finding in snapshot.findings)
        counts = {severity: each[severity] for severity in counts}
    parts = [
        f"{count:,} {count_noun(severity, count)}" for severity, count in counts.items() if count
    ] or ["no findings"]
    dismissed = f", {len(snapshot.dismissed)} dismissed" if snapshot.dismissed else ""
    return ", ".join(parts) + dismissed


def count_noun(severity: Severity, count: int) -> str:
    """Return the noun for `count` findings of a severity."""
    return severity.word if count == 1 or severity is Severity.INFO else f"{severity.word}s"


def format_finding(finding: Finding) -> str:
    """Return a finding in the style of a compiler: place, severity, rule, message."""
    place = make_one_line(finding.path) or "."
    if finding.line:
        place += f":{finding.line}"
    return f"{place}: {finding.severity.word}[{finding.rule}] {make_one_line(finding.message)}"
