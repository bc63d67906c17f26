"""Resuming: what of a handoff still holds. Its statements are probed again, against the project as
it is now.

A document says what it says; nothing in it is believed. Its paths are looked for in the project and
in the memory alone, its commits are asked of git as numbers, its quotes are looked up in the
transcripts.

* *Verified* holds while the file, the note, the memory or the repository is what the mark says.
* *Reported* holds while the commit and every file that the head lists are those of then: what
  happened in between nobody here has seen. A commit of nothing but handoffs is none.
* *Quoted* holds while the words stand in the transcript; a transcript that is gone speaks neither
  for nor against them.
* *Stale* and *unverified* said of themselves that they do not hold: they are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ricordo.handoff.check import DIGITS, World, is_as_told, told
from ricordo.handoff.document import (
    FileIs,
    GitIs,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    MemoryAt,
    NoteIs,
    QuoteMark,
    ResultMark,
    Status,
)
from ricordo.handoff.facts import GitState, Ref
from ricordo.handoff.project_git import changed_between, find_unpushed, is_known, told_unpushed
from ricordo.handoff.since import COMMIT, ProjectChanges, changes_since
from ricordo.storage.file_state import Look, Unseen

_MAX_NAMED = 5

Says = Callable[[Ref, str], bool | None]
"""Tells whether words stand in a turn; None where the transcript cannot be read any more."""


@dataclass(frozen=True, slots=True)
class RecheckedStatement:
    """A statement that was probed again."""

    statement: HandoffStatement
    """As it stands in the handoff."""
    now: Status
    why: str = ""
    """What was seen instead; "" where it is as it was."""
    changed: tuple[str, ...] = ()
    """What a result rests on and was changed since: files, and `commit`."""

    @property
    def was(self) -> Status:
        """What its mark says."""
        return self.statement.status

    @property
    def holds(self) -> bool:
        """Whether it is proved no worse than its mark says."""
        return self.now is self.was


@dataclass(frozen=True, slots=True)
class Resumed:
    """A handoff, and what still holds of it."""

    handoff: Handoff
    statements: tuple[RecheckedStatement, ...]
    changed: ProjectChanges
    has_expired: bool
    is_edited: bool
    """Whether the document is not as it was written."""
    remarks: tuple[str, ...] = ()
    """What could not be looked at."""

    @property
    def holds(self) -> bool:
        """Whether every statement is proved no worse than its mark says."""
        return all(statement.holds for statement in self.statements)


def resume(
    handoff: Handoff, world: World, says: Says, now: datetime, *, is_edited: bool = False
) -> Resumed:
    """Return what still holds of `handoff` in the `world` as it is now."""
    head, statements = handoff.head, handoff.statements
    changed_files = tuple(_list_changed(head, world))
    # what is looked at is bounded: first what the statements rest on, then all that was changed
    statements_now = tuple(
        _recheck(statement, head, changed_files, world, says) for statement in statements
    )
    changed = changes_since(head, statements, world)
    return Resumed(
        handoff,
        statements_now,
        changed,
        now >= head.expires,
        is_edited,
        tuple(
            filter(
                None,
                (
                    changed.remark,
                    _describe_unlisted(head),
                    *_list_unchecked_quotes(statements, says),
                ),
            )
        ),
    )


def _describe_unlisted(head: HandoffHeader) -> str:
    """Return what cannot be told, for files that the head had no room for; "" without any."""
    files = "1 file" if head.unlisted == 1 else f"{head.unlisted} files"
    text = f"{files} had no room in the head: what results rest on there is not looked at."
    return text if head.unlisted else ""


def _list_unchecked_quotes(statements: Iterable[HandoffStatement], says: Says) -> Iterator[str]:
    """Yield a line for each session whose quotes are not looked up."""
    quoted = [
        (statement.proof.ref, statement.quote)
        for statement in statements
        if isinstance(statement.proof, QuoteMark)
    ]
    counts = Counter(ref.session for ref, words in quoted if says(ref, words) is None)
    for session, count in sorted(counts.items()):
        noun = "1 quote is" if count == 1 else f"{count} quotes are"
        yield (
            f"The transcript of session {session + 1} is not there, or is none that an agent keeps "
            f"here: {noun} not looked up."
        )


def _list_changed(head: HandoffHeader, world: World) -> Iterator[str]:
    """Yield what results rest on and was changed since: files, and `commit`."""
    for path, sha in head.files.items():
        if path not in world.own and not is_as_told(world.file(path), sha):
            yield path
    if _is_other_commit(head, world):
        yield COMMIT


def _is_other_commit(head: HandoffHeader, world: World) -> bool:
    """Whether another commit is checked out, and what is other in it is more than handoffs."""
    commit = world.git.commit if world.git else ""
    if commit == head.commit:
        return False
    if not head.commit or not commit or not is_known(world.project, head.commit):
        return True
    paths = {path for _, *named in changed_between(world.project, head.commit) for path in named}
    return not paths or not paths - {""} <= world.own


def _recheck(
    statement: HandoffStatement, head: HandoffHeader, since: Sequence[str], world: World, says: Says
) -> RecheckedStatement:
    match statement.proof:
        case FileIs(path, sha):
            return _seen(statement, path, world.file(path), sha)
        case NoteIs(path, sha):
            return _seen(statement, f"note {path}", world.note(path), sha)
        case MemoryAt(path):
            return _recheck_memory(statement, path, world)
        case GitIs() as state:
            return _recheck_repository(statement, state, head, world)
        case ResultMark() as result:
            return _recheck_result(statement, result, since)
        case QuoteMark(ref) if says(ref, statement.quote) is False:
            return RecheckedStatement(
                statement, Status.UNVERIFIED, "the words do not stand in that turn"
            )
        case _:
            return RecheckedStatement(statement, statement.status)


def _seen(
    statement: HandoffStatement, name: str, look: Look, sha: str | None
) -> RecheckedStatement:
    if is_as_told(look, sha):
        return RecheckedStatement(statement, statement.status)
    now = Status.UNVERIFIED if isinstance(look, Unseen) else Status.STALE
    return RecheckedStatement(statement, now, f"{name} {told(look)}")


def _recheck_memory(statement: HandoffStatement, path: str, world: World) -> RecheckedStatement:
    if world.memory == path and world.has_memory:
        return RecheckedStatement(statement, statement.status)
    return RecheckedStatement(statement, Status.STALE, "no memory that is known here lies there")


def _recheck_repository(
    statement: HandoffStatement, recorded: GitIs, head: HandoffHeader, world: World
) -> RecheckedStatement:
    if world.git is None:
        return RecheckedStatement(statement, Status.UNVERIFIED, "no repository is found here")
    unpushed_then, unpushed_now = find_unpushed(statement.text), told_unpushed(world.git)
    differences = [*_list_differences(recorded, frozenset(head.dirty) - world.own, world.git)]
    if unpushed_then and unpushed_then != unpushed_now:
        differences.append(unpushed_now or "no commit is known to be unpushed")
    reason = "; ".join(differences)
    return RecheckedStatement(statement, Status.STALE if reason else statement.status, reason)


def _list_differences(recorded: GitIs, dirty: frozenset[str], now: GitState) -> Iterator[str]:
    """Yield what is another in the repository; `dirty` are the files that were, as far as the head
    lists them.
    """
    if recorded.commit[:DIGITS] != now.commit[:DIGITS]:
        yield f"commit {now.commit[:DIGITS]} is checked out" if now.commit else "it has no commit"
    if recorded.branch != now.branch:
        yield f"the branch is {now.branch}" if now.branch else "no branch is checked out"
    other_files = dirty.symmetric_difference(now.dirty)
    if recorded.dirty != len(now.dirty):
        yield "1 file is dirty" if len(now.dirty) == 1 else f"{len(now.dirty)} files are dirty"
    elif len(dirty) == recorded.dirty and other_files:
        yield f"other files are dirty: {', '.join(sorted(other_files)[:_MAX_NAMED])}"


def _recheck_result(
    statement: HandoffStatement, result: ResultMark, changed_files: Sequence[str]
) -> RecheckedStatement:
    new_files = [name for name in changed_files if name not in result.changed]
    changed = (*result.changed, *new_files)
    reason = f"{', '.join(new_files)} changed since" if new_files else ""
    return RecheckedStatement(
        statement, Status.STALE if changed else Status.REPORTED, reason, changed
    )
