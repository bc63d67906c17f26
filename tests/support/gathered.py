"""Facts as gathering gives them, invented turn by turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ricordo.agents.registry import find_agent
from ricordo.agents.transcripts.session import FileAction, Session
from ricordo.handoff.facts import (
    CommandFact,
    CommandPurpose,
    DecisionFact,
    ErrorFact,
    Facts,
    FileUse,
    MessageFact,
    MessageRef,
    NoteFact,
    Refusal,
    RuledOutFact,
    SummaryFact,
    TaskFact,
)
from tests.support.transcripts import CWD, SESSION

SHA = "3f2a91c0b7d4" + "0" * 52


@dataclass
class Gathered:
    """What was gathered of one session, a turn a minute."""

    facts: Facts = field(
        default_factory=lambda: Facts(
            "/project", (Session(find_agent("claude"), SESSION, f"{SESSION}.jsonl", CWD),)
        )
    )
    turn: int = 0

    def says(self, text: str) -> Gathered:
        """Add what the person says."""
        return self._add("messages", MessageFact(self._id(), self._next(), text, is_user=True))

    def answers(self, text: str) -> Gathered:
        """Add what the agent says."""
        return self._add("messages", MessageFact(self._id(), self._next(), text, is_user=False))

    def runs(
        self,
        command: str,
        *,
        failed: bool | None = False,
        result: str = "",
        work: CommandPurpose = CommandPurpose.TEST,
        changed_since: tuple[str, ...] = (),
    ) -> Gathered:
        """Add a command that the agent runs."""
        code = None if failed is None else int(failed)
        told = (command, work, code, failed, result, changed_since)
        return self._add("commands", CommandFact(self._id(), self._next(), *told))

    def changes(
        self, path: str, *deeds: FileAction, sha: str | None = SHA, parts: tuple[str, ...] = ()
    ) -> Gathered:
        """Add a file that the agent changes, or does to what `deeds` tell."""
        did = deeds or (FileAction.EDITED,)
        times = sum(deed.changes for deed in did)
        is_gone = sha is None and not path.startswith("/")
        told = (path, tuple(dict.fromkeys(did)), self._next(), times, sha, parts, is_gone)
        return self._add("files", FileUse(self._id(), *told))

    def lists(self, *tasks: tuple[str, str]) -> Gathered:
        """Add the agent's list: what is to be done, and how it stands."""
        ref = self._next()
        for text, status in tasks:
            self._add("tasks", TaskFact(self._id(), ref, text, status))
        return self

    def fails(self, what: str, error: str, *, mended: int = 0, by: str = "") -> Gathered:
        """Add an error, mended at a turn or not at all."""
        ref = self._next()
        at = MessageRef(0, mended) if mended else None
        return self._add("errors", ErrorFact(self._id(), ref, what, error, at, by))

    def decides(self, text: str, why: str = "", *, person: bool = False) -> Gathered:
        """Add a decision."""
        return self._add("decisions", DecisionFact(self._id(), self._next(), text, why, person))

    def gives_up(self, what: str, why: str = "", *, is_deed: bool = False) -> Gathered:
        """Add what was tried in vain."""
        return self._add("ruled_out", RuledOutFact(self._id(), self._next(), what, why, is_deed))

    def is_refused(
        self, what: str, said: str, *, why: str = "", by: Refusal = Refusal.USER
    ) -> Gathered:
        """Add a command, or a file and a tool, that was not let be done."""
        refused = RuledOutFact(self._id(), self._next(), what, why, True, by, said)
        return self._add("ruled_out", refused)

    def sums_up(self, text: str) -> Gathered:
        """Add the summary of a compaction."""
        return self._add("summaries", SummaryFact(self._id(), self._next(), text))

    def finds(self, path: str, description: str = "") -> Gathered:
        """Add a note of the memory."""
        note = NoteFact(self._id(), path, path, description, SHA, "names the same words")
        self.facts = replace(self.facts, memory="/memory")
        return self._add("notes", note)

    def _id(self) -> str:
        kinds = (
            "messages",
            "summaries",
            "commands",
            "files",
            "tasks",
            "errors",
            "ruled_out",
            "decisions",
        )
        return f"f{1 + sum(len(getattr(self.facts, kind)) for kind in (*kinds, 'notes'))}"

    def _next(self) -> MessageRef:
        self.turn += 1
        return MessageRef(0, self.turn, f"2026-10-05T09:{self.turn:02}:00+00:00")

    def _add(self, kind: str, fact: object) -> Gathered:
        self.facts = replace(self.facts, **{kind: (*getattr(self.facts, kind), fact)})
        return self
