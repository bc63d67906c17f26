"""Probing notes: their claims, and what the project says of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ricordo.lint.claims.claim import Passage, ProjectClaim, passages
from ricordo.lint.claims.instructions import repeated
from ricordo.lint.claims.paths import check_path, path_claims
from ricordo.lint.claims.project import FileCommit, Project, moment_of
from ricordo.lint.claims.symbols import check_symbol, symbol_claims, word_of
from ricordo.lint.claims.versions import (
    check_value,
    check_version,
    value_claims,
    version_claims,
    words_of,
)
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note

_NAME = r"[A-Za-z][\w:.\-]*"
_MAKE = re.compile(rf"(?:make|just) ((?:{_NAME})(?: {_NAME})*)(?:\s+[A-Z_]+=\S*)*")
_RUN = re.compile(rf"(?:npm|pnpm|yarn|bun)(?: -w)? (?:run|run-script) ({_NAME})(?:\s.*)?")
_YARN = re.compile(r"(?:yarn|pnpm) ([a-z][\w\-]*:[\w:\-]+)(?:\s.*)?")
"""Only with a colon, as scripts have it: without one it may be a command of the tool itself."""
_COMPOSER = re.compile(rf"composer (?:run|run-script) ({_NAME})(?:\s.*)?")
_INSTALLED = re.compile(rf"(?:uv|poetry|pdm|hatch|rye) run ({_NAME})(?:\s.*)?")
_POE = re.compile(rf"(?:poe|uv run poe|poetry run poe) ({_NAME})(?:\s.*)?")
_OF_SCRIPTS = {
    "package.json": (_RUN, _YARN),
    "composer.json": (_COMPOSER,),
    "poe": (_POE,),
    "pyproject.toml": (_INSTALLED,),
}
"""The commands that run the scripts of each kind of manifest."""


def command_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the commands of the project that a sentence has in backticks."""
    for offset, text in passage.code:
        if _MAKE.fullmatch(text) or any(_script_of(text)):
            yield ProjectClaim(ClaimKind.COMMAND, text, passage.line_at(offset), passage)


def _script_of(text: str) -> tuple[str, str]:
    """The kind of manifest and the name of its script that a command runs; "" for other ones."""
    for kind, patterns in _OF_SCRIPTS.items():
        for pattern in patterns:
            if match := pattern.fullmatch(text):
                return kind, match[1]
    return "", ""


def check_command(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Say whether the manifests define it."""
    manifests = project.manifests
    if match := _MAKE.fullmatch(claim.text):
        return _check(claim, match[1].split(), manifests.targets, is_open=manifests.is_open)
    kind, name = _script_of(claim.text)
    defined = manifests.scripts.get(kind, {})
    # any program may be run so; only what is called as the project itself is surely its own
    is_open = kind == "pyproject.toml" and not manifests.is_called_as_project(name)
    return _check(claim, [name], defined, is_open=is_open)


def _check(
    claim: ProjectClaim, wanted: list[str], defined: Mapping[str, str], *, is_open: bool
) -> Verdict | None:
    lacking = [name for name in wanted if name not in defined]
    if not lacking:
        return claim.found(CheckOutcome.HOLDS, *(f"{defined[name]}: {name}" for name in wanted))
    if is_open or not defined:
        return claim.unchecked("it cannot be told which commands there are")
    files = ", ".join(sorted(set(defined.values()))[:3])
    return claim.found(CheckOutcome.MISSING, f"no {lacking[0]} in {files}")


MOST_CLAIMS = 400
"""Of one note; what comes behind them is not checked."""
_MOST_FILES_TOLD = 4
_ENTRY = re.compile(r"\]\([^)\n]*\.md\b|\[\[")


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a note, in their order."""

    all: tuple[ProjectClaim, ...]
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
    found: dict[tuple[ClaimKind, str], ProjectClaim] = {}
    is_index = note.role is FileRole.INDEX
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


def _says_it_better(claim: ProjectClaim, before: ProjectClaim) -> bool:
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


def _checked(claims: Iterable[ProjectClaim], project: Project) -> Iterator[Verdict | None]:
    """Yield the verdict on each claim; None for what turns out to be none."""
    beside: dict[int, set[str]] = defaultdict(set)
    later: list[ProjectClaim] = []
    for claim in claims:
        match claim.kind:
            case ClaimKind.PATH:
                found = check_path(claim, project)
                if found and found.outcome is CheckOutcome.HOLDS:
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
        if verdict.kind is ClaimKind.PATH and verdict.outcome is CheckOutcome.HOLDS
    ]
    confirmed = moment_of(note.stamped) if held else None
    if confirmed is None:
        return None
    files: dict[str, list[FileCommit]] = {}
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
    changed = CheckOutcome.CHANGED
    return Verdict(first.claim, ClaimKind.COMMITS, first.line, changed, tuple(told), at=last)


def _counted(commits: list[FileCommit]) -> str:
    number = f"{len(commits)} commits" if len(commits) > 1 else "1 commit"
    return f"{number}, the last {commits[0].shown}"
