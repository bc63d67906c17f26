"""Resuming: which statements of a handoff are still valid, checked again in the current project.

Nothing in the document is trusted. Its paths are looked for only in the project and in the memory,
its commits are passed to git as hashes, its quotes are looked up in the transcripts.

* *Verified* is valid while the file, the note, the memory or the repository is as the mark says.
* *Reported* is valid while the commit and every file in the header are the same: nobody has seen
  what happened in between. Commits that contain only handoffs do not count.
* *Quoted* is valid while the transcript contains the words; a missing transcript counts neither
  way.
* *Stale* and *unverified* were not valid to begin with: they are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ricordo.handoff.changes import NEW_COMMIT, ProjectChanges, find_changes
from ricordo.handoff.check import SHA_DIGITS, CurrentState, describe_file_state, has_digest
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    Handoff,
    HandoffHeader,
    HandoffStatement,
    MemoryProof,
    NoteProof,
    ProofStatus,
    QuoteProof,
    ResultProof,
)
from ricordo.handoff.facts import GitState, MessageRef
from ricordo.handoff.project_git import (
    describe_unpushed,
    find_unpushed,
    has_commit,
    list_differences,
)
from ricordo.storage.file_state import FileStatus, UncheckedFile

_MAX_NAMED = 5

QuoteChecker = Callable[[MessageRef, str], bool | None]
"""Returns whether a message contains words; None where its transcript can no longer be read."""


@dataclass(frozen=True, slots=True)
class RecheckedStatement:
    """A statement that was checked again."""

    statement: HandoffStatement
    """As it is in the handoff."""
    status_now: ProofStatus
    reason: str = ""
    """What was found instead; "" where nothing changed."""
    changed: tuple[str, ...] = ()
    """What a result depends on and was changed since: files, and `commit`."""

    @property
    def status_then(self) -> ProofStatus:
        """Return the status of its mark."""
        return self.statement.status

    @property
    def is_valid(self) -> bool:
        """Whether its status is the same as that of its mark."""
        return self.status_now is self.status_then


@dataclass(frozen=True, slots=True)
class RecheckedHandoff:
    """A handoff, and which of its statements are still valid."""

    handoff: Handoff
    statements: tuple[RecheckedStatement, ...]
    changes: ProjectChanges
    has_expired: bool
    is_edited: bool
    """Whether the document was changed after it was written."""
    warnings: tuple[str, ...] = ()
    """What could not be checked."""

    @property
    def is_valid(self) -> bool:
        """Whether every statement still has the status of its mark."""
        return all(statement.is_valid for statement in self.statements)


def recheck(
    handoff: Handoff,
    current: CurrentState,
    check_quote: QuoteChecker,
    now: datetime,
    *,
    is_edited: bool = False,
) -> RecheckedHandoff:
    """Return which statements of `handoff` are still valid in the `current` as it is now."""
    header, statements = handoff.header, handoff.statements
    changed_files = tuple(_list_changed(header, current))
    # reads are bounded: first what the statements depend on, then all that was changed
    statements_now = tuple(
        _recheck(statement, header, changed_files, current, check_quote) for statement in statements
    )
    changed = find_changes(header, statements, current)
    return RecheckedHandoff(
        handoff,
        statements_now,
        changed,
        now >= header.expires,
        is_edited,
        tuple(
            filter(
                None,
                (
                    changed.warning,
                    _describe_unlisted(header),
                    *_list_unchecked_quotes(statements, check_quote),
                ),
            )
        ),
    )


def _describe_unlisted(header: HandoffHeader) -> str:
    """Return a warning about files that did not fit into the header; "" without any."""
    files = "1 file" if header.unlisted == 1 else f"{header.unlisted} files"
    text = f"{files} did not fit into the header: changes of these are not checked."
    return text if header.unlisted else ""


def _list_unchecked_quotes(
    statements: Iterable[HandoffStatement], says: QuoteChecker
) -> Iterator[str]:
    """Yield a warning for each session whose quotes cannot be looked up."""
    quoted = [
        (item.proof.ref, item.quote) for item in statements if isinstance(item.proof, QuoteProof)
    ]
    counts = Counter(ref.session for ref, words in quoted if says(ref, words) is None)
    for session, count in sorted(counts.items()):
        noun = "1 quote is" if count == 1 else f"{count} quotes are"
        yield (f"No agent here keeps the transcript of session {session + 1}: {noun} not checked.")


def _list_changed(header: HandoffHeader, current: CurrentState) -> Iterator[str]:
    """Yield what results depend on and was changed since: files, and `commit`."""
    for path, sha in header.files.items():
        if path not in current.handoff_files and not has_digest(current.check_file(path), sha):
            yield path
    if _is_other_commit(header, current):
        yield NEW_COMMIT


def _is_other_commit(header: HandoffHeader, current: CurrentState) -> bool:
    """Return whether another commit is checked out that changed more than handoffs."""
    commit = current.git.commit if current.git else ""
    if commit == header.commit:
        return False
    if not header.commit or not commit or not has_commit(current.project, header.commit):
        return True
    paths = {
        path for _, *named in list_differences(current.project, header.commit) for path in named
    }
    return not paths or not paths - {""} <= current.handoff_files


def _recheck(
    statement: HandoffStatement,
    header: HandoffHeader,
    since: Sequence[str],
    current: CurrentState,
    says: QuoteChecker,
) -> RecheckedStatement:
    match statement.proof:
        case FileProof(path, sha):
            return _seen(statement, path, current.check_file(path), sha)
        case NoteProof(path, sha):
            return _seen(statement, f"note {path}", current.check_note(path), sha)
        case MemoryProof(path):
            return _recheck_memory(statement, path, current)
        case GitProof() as state:
            return _recheck_repository(statement, state, header, current)
        case ResultProof() as result:
            return _recheck_result(statement, result, since)
        case QuoteProof(ref) if says(ref, statement.quote) is False:
            return RecheckedStatement(
                statement, ProofStatus.UNVERIFIED, "the message does not contain these words"
            )
        case _:
            return RecheckedStatement(statement, statement.status)


def _seen(
    statement: HandoffStatement, name: str, status: FileStatus, sha: str | None
) -> RecheckedStatement:
    if has_digest(status, sha):
        return RecheckedStatement(statement, statement.status)
    now = ProofStatus.UNVERIFIED if isinstance(status, UncheckedFile) else ProofStatus.STALE
    return RecheckedStatement(statement, now, f"{name} {describe_file_state(status)}")


def _recheck_memory(
    statement: HandoffStatement, path: str, current: CurrentState
) -> RecheckedStatement:
    if current.memory == path and current.has_memory:
        return RecheckedStatement(statement, statement.status)
    return RecheckedStatement(statement, ProofStatus.STALE, "not a known memory")


def _recheck_repository(
    statement: HandoffStatement, recorded: GitProof, header: HandoffHeader, current: CurrentState
) -> RecheckedStatement:
    if current.git is None:
        return RecheckedStatement(statement, ProofStatus.UNVERIFIED, "no repository found")
    unpushed_then, unpushed_now = find_unpushed(statement.text), describe_unpushed(current.git)
    differences = [
        *_list_differences(recorded, frozenset(header.dirty) - current.handoff_files, current.git)
    ]
    if unpushed_then and unpushed_then != unpushed_now:
        differences.append(unpushed_now or "no unpushed commits known")
    reason = "; ".join(differences)
    return RecheckedStatement(statement, ProofStatus.STALE if reason else statement.status, reason)


def _list_differences(recorded: GitProof, dirty: frozenset[str], now: GitState) -> Iterator[str]:
    """Yield the differences in the repository; `dirty` are the files that were dirty, as far as the
    header lists them.
    """
    if recorded.commit[:SHA_DIGITS] != now.commit[:SHA_DIGITS]:
        yield (
            f"commit {now.commit[:SHA_DIGITS]} is checked out"
            if now.commit
            else "there is no commit"
        )
    if recorded.branch != now.branch:
        yield f"the branch is {now.branch}" if now.branch else "no branch is checked out"
    other_files = dirty.symmetric_difference(now.dirty)
    if recorded.dirty != len(now.dirty):
        yield "1 file is dirty" if len(now.dirty) == 1 else f"{len(now.dirty)} files are dirty"
    elif len(dirty) == recorded.dirty and other_files:
        yield f"other files are dirty: {', '.join(sorted(other_files)[:_MAX_NAMED])}"


def _recheck_result(
    statement: HandoffStatement, result: ResultProof, changed_files: Sequence[str]
) -> RecheckedStatement:
    new_files = [name for name in changed_files if name not in result.changed]
    changed = (*result.changed, *new_files)
    reason = f"{', '.join(new_files)} changed since" if new_files else ""
    return RecheckedStatement(
        statement, ProofStatus.STALE if changed else ProofStatus.REPORTED, reason, changed
    )
