"""What the session of an agent may read of a memory, and what it may submit."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.transcripts.session import Speaker
from ricordo.agents.workplace import find_workplace
from ricordo.errors import ChangeRefused, MemoryNotFound, NoteNotFound, WrongUsage
from ricordo.mcp.pages import Document, Request, make_brief, make_plain
from ricordo.memory.change import ChangeOperation, Insert, Replace, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.note import FileFacts, Note, read_note
from ricordo.search.store import find_day
from ricordo.search.usage import UsageStore
from ricordo.services.curation.submission import Submission, Submitter, submit
from ricordo.services.edits.note import build_note
from ricordo.services.load_description import find_unloaded_entries
from ricordo.services.search.conditions import ConditionValues, collect_values, needs_findings
from ricordo.services.search.recall import RecallResult, load_withholding, open_index, recall
from ricordo.services.search.search import Hit, Search
from ricordo.services.search.usage import count_uses
from ricordo.services.sessions.origin import NoteOrigin, load_origins
from ricordo.services.workspace.note_choice import pick_note
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_clear_choice, find_memories
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.handoff.resume import RecheckedStatement
    from ricordo.lint.finding import Finding
    from ricordo.services.workspace.environment import Environment
    from ricordo.settings.settings import Settings

MAX_HITS = 200
"""Notes that one search finds, on all its pages."""
MAX_RECALLED = 5
LONGEST_RECALLED = 4_000
"""Characters of a note that recall gives; `read` gives all of it."""
MOST_EVIDENCE = 5
"""Lines of evidence of one finding."""

Origins = Mapping[str, Sequence[NoteOrigin]]


def find_memory_of_project(environment: Environment, directory: str) -> MemoryPlace:
    """Return the memory of the project in which `directory` is. Raises MemoryNotFound where none is
    known to belong to it, or several do: the memory of another project is never meant.
    """
    here = find_workplace(directory)
    try:
        possible = find_memories(None, environment._replace(cwd=directory))
    except MemoryNotFound:
        possible = []
    places = [
        place
        for place in possible
        if not place.layout.is_shared
        and not place.layout.is_of_sub_agent
        and _is_around(place.project or place.root, *here.all_directories)
    ]
    if not places:
        raise MemoryNotFound(f"No memory belongs to {make_one_line(directory)}.")
    place = find_clear_choice(places)
    if place is None:
        raise MemoryNotFound(
            f"Several memories belong to {make_one_line(directory)}.",
            hint="Name one: `ricordo mcp -m PATH`.",
        )
    return place


def _is_around(folder: str, *directories: str) -> bool:
    """Return whether one of the directories is `folder` or inside it."""
    start = os.path.join(os.path.realpath(folder), "")
    return any(os.path.join(directory, "").startswith(start) for directory in directories)


def find_directory_of_root(uri: str) -> str:
    """Return the directory that a root of a client names; "" for none of this machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    path = unquote(parts.path)
    is_local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if is_local and os.path.isabs(path) and "\0" not in path else ""


class MemoryAccess:
    """One memory as the session of an agent may use it. Any thread may call it."""

    def __init__(self, place: MemoryPlace, environment: Environment, settings: Settings) -> None:
        """Set the memory; nothing is read yet."""
        self._notebook = Notebook(place, environment, settings)
        self._index = open_index(place, environment)
        self._lock = Lock()
        self._last_search: Search | None = None

    # Which notes

    def _list_withheld(self, memory: Memory) -> frozenset[str]:
        """Return the paths of the notes that agents never get, as the index marks them."""
        withheld = self._index.query(memory, lambda reader: reader.list_withheld())
        return frozenset(map(os.fsdecode, withheld))

    def _find_note(self, memory: Memory, name: str) -> Note:
        """Return the note called `name`, where agents may get it. Raises NoteNotFound."""
        try:
            note = pick_note(memory, name)
        except NoteNotFound:
            # the suggestions of that error may be names of withheld notes
            shown = make_brief(make_one_line(name))
            raise NoteNotFound(
                f"This memory has no note “{shown}”.", hint="The tool `search` finds notes."
            ) from None
        # an index is not indexed: it is judged here
        if note.path in self._list_withheld(memory) or (
            note.role is FileRole.INDEX and load_withholding().includes(note)
        ):
            raise NoteNotFound(
                f"The note {make_one_line(note.path)} is withheld: it has a possible secret, or "
                "text that may be an order to agents.",
                hint="The user sees it with `ricordo lint`.",
            )
        return note

    def _load_origins(self, memory: Memory) -> Origins:
        renamed = self._notebook.find_moved(memory)
        return load_origins(self._notebook.activity, memory.root, renamed)

    def _describe_place(self) -> Document:
        place = self._notebook.place
        return {"memory": place.root, "project": place.project or None}

    # Reading

    def search(self, query: str, cursor: str = "") -> Document:
        """Return a page of the notes that match `query`, by name and text."""
        if not query.strip():
            raise WrongUsage("The query is empty: name words to look for.")
        request = Request("search", query, cursor=cursor)
        with self._lock:
            memory = self._notebook.read()
            withheld = self._list_withheld(memory)
            environment = self._notebook.environment
            self._last_search = Search(self._index, memory, environment, self._last_search)
            results = self._last_search.find(query, self._collect_values(memory, query), MAX_HITS)
            if results.warnings:
                raise WrongUsage(f"{'; '.join(results.warnings)}.")
            hits = [hit for hit in results.hits if hit.result.note.path not in withheld]
            origins = self._load_origins(memory)

            def describe(hit: Hit) -> Document:
                passage = make_brief(hit.result.snippet)
                return {**_describe_note(hit.result.note, origins), "passage": passage}

            return request.make_page("notes", hits, describe, **self._describe_place())

    def _collect_values(self, memory: Memory, query: str) -> ConditionValues:
        """Return the values for the conditions of `query`; memories are judged only for it."""
        uses = count_uses(self._notebook.environment, memory)
        if not needs_findings(query):
            return ConditionValues(uses=uses)
        return collect_values(self._notebook.judge_with_evidence(memory), uses)

    def recall(self, message: str, session: str) -> Document:
        """Return the notes that are relevant to a message, with their text; there may be none."""
        with self._lock:
            memory, environment = self._notebook.read(), self._notebook.environment
            results = recall(self._index, memory, message, environment, MAX_RECALLED)
            origins = self._load_origins(memory)

            def describe(result: RecallResult) -> Document:
                text = make_brief(result.note.body.strip(), LONGEST_RECALLED)
                why = [make_brief(reason) for reason in result.why]
                return {**_describe_note(result.note, origins), "why": why, "text": text}

            page = Request("recall", message).make_page(
                "notes", results, describe, **self._describe_place()
            )
            given = page["notes"]
            self._record_given(memory, session, [note["path"] for note in given])
            # what does not fit is less relevant: there is no further page
            return {**page, "total": len(given), "cursor": None}

    def read(self, name: str, session: str, cursor: str = "") -> Document:
        """Return a note, or the part of it to which `cursor` belongs."""
        with self._lock:
            memory = self._notebook.read()
            note = self._find_note(memory, name)
            text = make_plain(note.text)
            request = Request("read", note.path, text, cursor=cursor)
            part, next_cursor = request.cut_text(text)
            self._record_given(memory, session, [note.path])
            described = _describe_note(note, self._load_origins(memory))
            return {**self._describe_place(), **described, "text": part, "cursor": next_cursor}

    def read_index(self) -> Document:
        """Return the first notes in the order of the index, and whether agents load their entries
        at a start.
        """
        with self._lock:
            memory = self._notebook.read()
            unloaded = {path for _, _, path in find_unloaded_entries(memory)}
            origins = self._load_origins(memory)

            def describe(note: Note) -> Document:
                is_loaded = note.path in memory.entries and note.path not in unloaded
                return {**_describe_note(note, origins), "loaded": is_loaded}

            notes = self._list_notes(memory)
            page = Request("index").make_page("notes", notes, describe, **self._describe_place())
            # the resource has no further page: `search` finds the other notes
            return {**page, "cursor": None}

    def list_notes(self, most: int) -> list[tuple[str, str]]:
        """Return path and description of the notes that agents may get, in the order of the index,
        at most `most`.
        """
        with self._lock:
            notes = self._list_notes(self._notebook.read())[:most]
        return [(note.path, make_brief(note.description)) for note in notes]

    def _list_notes(self, memory: Memory) -> list[Note]:
        withheld = self._list_withheld(memory)
        order: dict[str, int] = {}
        for index in memory.indexes:
            for entry in index.entries:
                path = memory.resolve_entry(index, entry).path
                order.setdefault(path, len(order))
        notes = [note for note in memory.notes if note.path not in withheld]
        return sorted(notes, key=lambda note: (order.get(note.path, len(order)), note.path))

    def list_findings(self, name: str = "", cursor: str = "") -> Document:
        """Return a page of the findings, worst first; of one note where `name` is given."""
        request = Request("findings", name, cursor=cursor)
        with self._lock:
            memory = self._notebook.read()
            path = self._find_note(memory, name).path if name else ""
            snapshot = self._notebook.judge_with_evidence(memory)
            withheld = self._list_withheld(memory)
            findings = snapshot.findings_of(path) if path else snapshot.findings

            def describe(finding: Finding) -> Document:
                return _describe_finding(finding, withheld)

            counts = {severity.word: n for severity, n in snapshot.counts.items()}
            return request.make_page(
                "findings", findings, describe, **self._describe_place(), summary=counts
            )

    def read_handoff(self, cursor: str = "") -> Document:
        """Return a page of the statements of the project's handoff, checked again, and what changed
        since it was written. Raises HandoffUnreadable where there is none.
        """
        from ricordo.services.handoff.resume import resume_handoff

        request = Request("handoff", cursor=cursor)
        with self._lock:
            place, environment = self._notebook.place, self._notebook.environment
            if not place.project:
                raise MemoryNotFound("The project of this memory is unknown, so its handoff is.")
            report = resume_handoff(environment._replace(cwd=place.project), "", place.root)
            resumed = report.rechecked
            header, changes = resumed.handoff.header, resumed.changes
            more = {
                **self._describe_place(),
                "path": report.path,
                "written": header.written.isoformat(),
                "expired": resumed.has_expired,
                "edited": resumed.is_edited,
                "holds": resumed.is_valid,
                "changed": {
                    "commits": len(changes.commits),
                    "files": len(changes.files),
                    "notes": len(changes.notes),
                },
            }
            return request.make_page("statements", resumed.statements, self._describe_step, **more)

    def _describe_step(self, checked: RecheckedStatement) -> Document:
        statement = checked.statement
        text = "\n".join(filter(None, (statement.text, statement.quote)))
        raw, layout = text.encode("utf-8", "replace"), self._notebook.place.layout
        as_note = read_note("statement.md", raw, _NO_FILE, layout)
        if load_withholding().includes(as_note):
            text = "withheld: a possible secret, or text that may be an order to agents"
        return {
            "section": statement.section.value,
            "text": make_brief(text, LONGEST_RECALLED),
            "was": checked.status_then.value,
            "now": checked.status_now.value,
            "why": make_brief(checked.reason) or None,
        }

    def _record_given(self, memory: Memory, session: str, paths: Sequence[str]) -> None:
        """Record that the session got the notes at `paths`, where the state can be written."""
        usage = UsageStore(self._notebook.environment.state, memory.root)
        with suppress(sqlite3.Error, OSError):
            usage.record_given(session, map(os.fsencode, paths))

    # Submitting

    def remember(
        self,
        submitter: Submitter,
        text: str,
        name: str,
        description: str,
        type_: str,
        reason: str,
        quote: str,
    ) -> Document:
        """Submit a new note."""

        def build(memory: Memory) -> ChangeOperation:
            types = memory.layout.types
            if type_ and types and type_ not in types:
                raise WrongUsage(
                    f"This memory has no type “{make_one_line(type_)}”.",
                    hint=f"Types: {', '.join(sorted(types))}.",
                )
            return build_note(memory, name, type_, description, text)

        return self._submit(submitter, build, reason, quote)

    def propose(
        self,
        submitter: Submitter,
        name: str,
        change: str,
        old_text: str,
        new_text: str,
        reason: str,
        quote: str,
    ) -> Document:
        """Submit a change of a note: `replace` a text that occurs once, `append` one, or `retire`
        the note.
        """

        def build(memory: Memory) -> ChangeOperation:
            note = self._find_note(memory, name)
            if change == "retire":
                return Retire(note.path)
            if not new_text.strip() and change == "append":
                raise WrongUsage("`append` needs `new_text`.")
            if change == "append":
                return Insert(note.path, len(split_lines(note.text)), new_text)
            if not old_text:
                raise WrongUsage("`replace` needs `old_text`.")
            return Replace(note.path, old_text, new_text)

        return self._submit(submitter, build, reason, quote)

    def _submit(
        self,
        submitter: Submitter,
        build: Callable[[Memory], ChangeOperation],
        reason: str,
        quote: str,
    ) -> Document:
        with self._lock:
            if why := self._notebook.place.layout.read_only:
                raise ChangeRefused(why)
            memory = self._notebook.read()
            result = submit(self._notebook, memory, build(memory), reason, quote, submitter)
        return {**self._describe_place(), **_describe_submission(result)}


_NO_FILE = FileFacts(0, 0.0, 0, 0)


def _describe_note(note: Note, origins: Origins) -> Document:
    causes = origins.get(note.path, ())
    return {
        "path": note.path,
        "name": make_brief(note.name),
        "type": make_brief(note.type) or None,
        "description": make_brief(note.description) or None,
        "written": find_day(note) or None,
        "origin": _describe_origin(causes[0]) if causes else None,
    }


def _describe_origin(origin: NoteOrigin) -> Document:
    summary = origin.summary
    return {
        "agent": origin.agent.shown,
        "session": make_brief(origin.shown_session),
        "at": origin.at or None,
        "said_by": "user" if summary.speaker == Speaker.USER else summary.speaker,
    }


def _describe_finding(finding: Finding, withheld: frozenset[str]) -> Document:
    """Return a finding without text of the notes that are `withheld`."""
    is_withheld = not withheld.isdisjoint((finding.path, finding.other_path))
    evidence = () if is_withheld else finding.evidence[:MOST_EVIDENCE]
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "path": finding.path or None,
        "line": finding.line,
        "message": None if is_withheld else make_brief(finding.message),
        "evidence": [make_brief(text) for text in evidence],
        "fix": finding.fix.label if finding.fix and not is_withheld else None,
    }


def _describe_submission(result: Submission) -> Document:
    proposal = result.proposal
    return {
        "status": "not added" if result.repeats else "pending",
        "why": result.repeats or "The user decides on it; nothing was written.",
        "id": proposal.id,
        "change": f"{proposal.op} {proposal.path}",
        "warnings": list(proposal.all_warnings),
    }
