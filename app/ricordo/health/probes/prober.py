"""Probing notes: their claims, and what the project says of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.probes.claim import Claim
from ricordo.health.probes.commands import check_command, command_claims
from ricordo.health.probes.history import Commit, moment_of
from ricordo.health.probes.instructions import repeated
from ricordo.health.probes.passage import passages
from ricordo.health.probes.paths import check_path, path_claims
from ricordo.health.probes.project import Project
from ricordo.health.probes.symbols import check_symbol, symbol_claims, word_of
from ricordo.health.probes.versions import (
    check_value,
    check_version,
    value_claims,
    version_claims,
    words_of,
)
from ricordo.memory.layout import Role
from ricordo.memory.note import Note

MOST_CLAIMS = 400
"""Of one note; what comes behind them is not checked."""
_MOST_FILES_TOLD = 4
_ENTRY = re.compile(r"\]\([^)\n]*\.md\b|\[\[")


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a note, in their order."""

    all: tuple[Claim, ...]
    left_out: int = 0
    """How many were too many."""

    @property
    def words(self) -> Iterator[str]:
        """The words for which the project has to be looked through."""
        for claim in self.all:
            if claim.kind is ClaimKind.SYMBOL:
                yield word_of(claim)
            elif claim.kind is ClaimKind.VALUE:
                yield from words_of(claim)


def claims_of(note: Note) -> Claims:
    """Return what `note` claims of its project, each claim once: where the body makes it rather
    than the description.
    """
    found: dict[tuple[ClaimKind, str], Claim] = {}
    is_index = note.role is Role.INDEX
    for passage in passages(note):
        if is_index and _ENTRY.search(passage.statement.text):
            # it sums up a note, which makes the claim itself
            continue
        for take in (path_claims, symbol_claims, command_claims, version_claims, value_claims):
            for claim in take(passage):
                key = (claim.kind, claim.text)
                before = found.get(key)
                if before is None or _says_it_better(claim, before):
                    found[key] = claim
    ordered = sorted(found.values(), key=lambda claim: claim.line)
    return Claims(tuple(ordered[:MOST_CLAIMS]), max(0, len(ordered) - MOST_CLAIMS))


def _says_it_better(claim: Claim, before: Claim) -> bool:
    """Whether `claim` is to be checked instead of the one `before` it with the same text."""
    if before.is_doubtful or before.passage.is_summary:
        is_better = before.is_doubtful or not claim.passage.is_summary
        return is_better and not claim.is_doubtful
    return False


def verdicts_of(note: Note, claims: Claims, project: Project) -> tuple[Verdict, ...]:
    """Return what the project says of the `claims` of `note`, in their order."""
    own = [verdict for verdict in _checked(claims.all, project) if verdict is not None]
    since = _commits_since(note, own, project)
    if since is not None:
        own.append(since)
    own.sort(key=lambda verdict: verdict.line)
    return (*own, *repeated(note, project.instructions))


def _checked(claims: Iterable[Claim], project: Project) -> Iterator[Verdict | None]:
    """Yield the verdict on each claim; None for what turns out to be none."""
    beside: dict[int, set[str]] = defaultdict(set)
    later: list[Claim] = []
    for claim in claims:
        match claim.kind:
            case ClaimKind.PATH:
                found = check_path(claim, project)
                if found and found.outcome is Outcome.HOLDS:
                    beside[id(claim.passage.statement)].add(found.evidence[0])
                yield found
            case ClaimKind.COMMAND:
                yield check_command(claim, project)
            case ClaimKind.VERSION:
                yield check_version(claim, project)
            case ClaimKind.VALUE:
                yield check_value(claim, project)
            case _:
                later.append(claim)
    for claim in later:
        yield check_symbol(claim, project, beside[id(claim.passage.statement)])


def _commits_since(note: Note, verdicts: Iterable[Verdict], project: Project) -> Verdict | None:
    """The verdict on what happened to the files that a note names since it was confirmed."""
    held = [
        verdict
        for verdict in verdicts
        if verdict.kind is ClaimKind.PATH and verdict.outcome is Outcome.HOLDS
    ]
    confirmed = moment_of(note.stamped) if held else None
    if confirmed is None:
        return None
    files: dict[str, list[Commit]] = {}
    for verdict in held:
        path = verdict.evidence[0]
        is_file = path in project.tree.files
        if is_file and (commits := project.history.commits_on(path, confirmed)):
            files[path] = commits
    if not files:
        return None
    told = [f"{path}: {_counted(commits)}" for path, commits in files.items()]
    if len(told) > _MOST_FILES_TOLD:
        told[_MOST_FILES_TOLD:] = [f"and {len(told) - _MOST_FILES_TOLD} more files"]
    first = next(verdict for verdict in held if verdict.evidence[0] in files)
    last = max(commit.at for commits in files.values() for commit in commits)
    changed = Outcome.CHANGED
    return Verdict(first.claim, ClaimKind.COMMITS, first.line, changed, tuple(told), at=last)


def _counted(commits: list[Commit]) -> str:
    number = f"{len(commits)} commits" if len(commits) > 1 else "1 commit"
    return f"{number}, the last {commits[0].shown}"
