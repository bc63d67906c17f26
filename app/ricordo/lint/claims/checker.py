"""Check the claims of notes against the project."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ricordo.lint.claims.awareness import is_of_another_repository
from ricordo.lint.claims.claim import MAX_CLAIMS, ProjectClaim
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.corrections import find_corrected
from ricordo.lint.claims.history import parse_end_of_day
from ricordo.lint.claims.instructions import find_repeated
from ricordo.lint.claims.lengths import find_shortened
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.paths import (
    check_path,
    find_linked_pages,
    find_lost_pages,
    find_path_claims,
    is_of_file,
)
from ricordo.lint.claims.positions import find_moved_names
from ricordo.lint.claims.project import Project
from ricordo.lint.claims.status import check_status, find_status_claims
from ricordo.lint.claims.symbols import (
    check_symbol,
    find_symbol_claims,
    get_search_word,
    list_spellings,
    search_removed,
)
from ricordo.lint.claims.tasks import check_task, find_task_claims, get_absent_words
from ricordo.lint.claims.trees import find_lost_files
from ricordo.lint.claims.versions import (
    check_value,
    check_version,
    find_series,
    find_value_claims,
    find_version_claims,
    get_search_words,
)
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import ProseBlock
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NAME = r"[A-Za-z][\w:.\-]*"
_MAKE = compile_lazily(rf"(?:make|just) ((?:{_NAME})(?: {_NAME})*)(?:\s+[A-Z_]+=\S*)*")
_RUN = compile_lazily(rf"(?:npm|pnpm|yarn|bun)(?: -w)? (?:run|run-script) ({_NAME})(?:\s.*)?")
_YARN = compile_lazily(r"(?:yarn|pnpm) ([a-z][\w\-]*:[\w:\-]+)(?:\s.*)?")
"""Only with a colon, as in scripts: without one it may be a command of the tool itself."""
_COMPOSER = compile_lazily(rf"composer (?:run|run-script) ({_NAME})(?:\s.*)?")
_INSTALLED = compile_lazily(rf"(?:uv|poetry|pdm|hatch|rye) run ({_NAME})(?:\s.*)?")
_POE = compile_lazily(rf"(?:poe|uv run poe|poetry run poe) ({_NAME})(?:\s.*)?")
_OF_SCRIPTS = {
    "package.json": (_RUN, _YARN),
    "composer.json": (_COMPOSER,),
    "poe": (_POE,),
    "pyproject.toml": (_INSTALLED,),
}
"""The commands that run the scripts of each kind of manifest."""


def find_command_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the project commands that a sentence has in backticks."""
    for offset, text in passage.code:
        if _MAKE.fullmatch(text) or any(_script_of(text)):
            yield ProjectClaim(ClaimKind.COMMAND, text, passage.line_at(offset), passage)


def _script_of(text: str) -> tuple[str, str]:
    """Return the kind of manifest and the script that a command runs; "" and "" for other ones."""
    for kind, patterns in _OF_SCRIPTS.items():
        for pattern in patterns:
            if match := pattern.fullmatch(text):
                return kind, match[1]
    return "", ""


def check_command(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Return whether the manifests define the command."""
    manifests = project.manifests
    if match := _MAKE.fullmatch(claim.text):
        return _check(
            claim,
            match[1].split(),
            manifests.targets,
            project,
            is_open=manifests.has_unknown_targets,
        )
    kind, name = _script_of(claim.text)
    defined = manifests.scripts.get(kind, {})
    # any program may be run so; only one named after the project is surely its own
    is_open = kind == "pyproject.toml" and not manifests.is_named_after_project(name)
    return _check(claim, [name], defined, project, is_open=is_open)


def _check(
    claim: ProjectClaim,
    wanted: list[str],
    defined: Mapping[str, str],
    project: Project,
    *,
    is_open: bool,
) -> Verdict | None:
    missing = [name for name in wanted if name not in defined]
    if not missing:
        return claim.to_verdict(
            CheckOutcome.VALID, *(f"{defined[name]}: {name}" for name in wanted)
        )
    if is_open or not defined:
        return claim.to_unchecked("the commands of the project are not known")
    files = sorted(set(defined.values()))
    absent = f"no {missing[0]} in {', '.join(files[:3])}"
    if not project.tree.commit:
        return claim.to_verdict(CheckOutcome.MISSING, absent)
    # a command that was never one of the project is one of another
    for commit, line in project.history.find_removed(missing[0], *files):
        if re.match(rf'\W*{re.escape(missing[0])}["\']?\s*[:=(]', line):
            removal = f"git: removed in {commit.summary}"
            return claim.to_verdict(
                CheckOutcome.MISSING, removal, absent, existed=True, origin=commit.id
            )
    return None


_MOST_FILES_SHOWN = 4
_BESIDE_NAME = compile_lazily(r"[\s`*=:：(|]")
_VERSION_BEHIND = compile_lazily(r"[ @~^]+v?\d[\w.]*\Z")
_STATED = frozenset((ClaimKind.VALUE, ClaimKind.VERSION))
_ENTRY = compile_lazily(r"\]\([^)\n]*\.md\b|\[\[")


_OF_STATUS = (find_status_claims, find_task_claims)
_OF_ALL = (
    find_path_claims,
    find_symbol_claims,
    find_command_claims,
    find_version_claims,
    find_value_claims,
    *_OF_STATUS,
)
"""What finds the claims of an entry of an index, and of other sentences."""


@dataclass(frozen=True, slots=True)
class NoteClaims:
    """The claims of a note, in order."""

    all: tuple[ProjectClaim, ...]
    paths: Mapping[ProseBlock, frozenset[str]]
    """The paths that each statement names, also those that another one claims to exist."""
    dropped: int = 0
    """How many were dropped as too many."""

    @property
    def symbols(self) -> list[ProjectClaim]:
        """The claims that a name is in the code."""
        return [it for it in self.all if it.kind is ClaimKind.SYMBOL]

    @property
    def words(self) -> Iterator[str]:
        """The words to search the project for."""
        names = map(get_search_word, self.symbols)
        yield from chain.from_iterable(map(list_spellings, names))
        for claim in self.all:
            if claim.kind is ClaimKind.VALUE:
                yield from get_search_words(claim)
            elif claim.kind is ClaimKind.TASK:
                yield from get_absent_words(claim)


def find_claims(note: Note, *, is_fixed: bool = False) -> NoteClaims:
    """Return the claims of `note` about its project, each once: from the body rather than from the
    description. What one sentence says must not be made is nowhere claimed to exist.
    `is_fixed` as in split_passages.
    """
    claims: dict[tuple[ClaimKind, str], ProjectClaim] = {}
    paths: dict[ProseBlock, set[str]] = defaultdict(set)
    forbidden: set[str] = set()
    is_index = note.role is FileRole.INDEX
    for passage in split_passages(note, is_fixed=is_fixed):
        is_entry = is_index and _ENTRY.search(passage.statement.text)
        # an entry repeats what its note names, but its status is often older
        for take in _OF_STATUS if is_entry else _OF_ALL:
            for claim in take(passage):
                if claim.kind is ClaimKind.PATH:
                    paths[passage.statement].add(claim.text)
                    if passage.forbids(claim.text):
                        forbidden.add(f"/{claim.text}")
                key = (claim.kind, claim.text)
                before = claims.get(key)
                if before is None or _is_better(claim, before, paths):
                    claims[key] = claim
    allowed = (it for it in claims.values() if not _is_any_of(it, forbidden))
    ordered = sorted(allowed, key=lambda claim: claim.line)
    dropped = max(0, len(ordered) - MAX_CLAIMS)
    of_statements = {statement: frozenset(texts) for statement, texts in paths.items()}
    return NoteClaims(tuple(ordered[:MAX_CLAIMS]), of_statements, dropped)


def _is_any_of(claim: ProjectClaim, paths: Iterable[str]) -> bool:
    """Return whether a claim is one of the `paths`, which begin with a slash, or the end of one."""
    is_path = claim.kind is ClaimKind.PATH
    return is_path and any(path.endswith(f"/{claim.text}") for path in paths)


def _is_better(
    claim: ProjectClaim, before: ProjectClaim, paths: Mapping[ProseBlock, Collection[str]]
) -> bool:
    """Return whether to check `claim` instead of the one `before` it with the same text. Beside one
    of the `paths` of statements more is said of a name than alone.
    """
    is_placed, was_placed = (it.passage.statement in paths for it in (claim, before))
    if claim.kind is ClaimKind.SYMBOL and is_placed and not was_placed:
        return before.is_unsure or not claim.is_unsure
    # what is told of the past or of a plan only is no claim, be it as sure as it may
    if before.is_no_claim and not claim.is_no_claim:
        return True
    if before.is_unsure or before.passage.is_summary:
        is_better = before.is_unsure or not claim.passage.is_summary
        return is_better and not claim.is_unsure
    return False


def search_words(
    claims: Sequence[tuple[Note, NoteClaims]], project: Project, step: Callable[[], None]
) -> None:
    """Search the project, as it is and as it was, for the words of all claims of some notes at
    once, which is faster than one by one. `step` is called between searches.
    """
    project.search_words(word for _, of_note in claims for word in of_note.words)
    if project.tree.commit:
        search_removed(((note, of_note.symbols) for note, of_note in claims), project, step)


def check_claims(note: Note, claims: NoteClaims, project: Project) -> tuple[Verdict, ...]:
    """Return the verdicts of the project on the `claims` of `note`, in order."""
    verdicts = [it for it in _check_all(note, claims, project) if it is not None]
    verdicts = _drop_superseded(verdicts)
    verdicts += [it for it in find_corrected(note, project) if not _is_told(it, verdicts)]
    verdicts += find_shortened(note, project)
    verdicts += find_moved_names(note, project)
    verdicts = [_judge_subject(it, note, project) for it in verdicts]
    since = _check_commits(note, verdicts, project)
    verdicts += find_linked_pages(note, project)
    known = {it.claim for it in verdicts}
    verdicts += find_lost_pages(note, project, known)
    verdicts += find_lost_files(note, project, known)
    if since is not None:
        verdicts.append(since)
    verdicts.sort(key=lambda verdict: verdict.line)
    return (*verdicts, *find_repeated(note, project.instructions))


def _judge_subject(verdict: Verdict, note: Note, project: Project) -> Verdict:
    """Return the `verdict`, unless it failed and its part of `note` is about another repository."""
    is_failed = verdict.outcome not in (CheckOutcome.VALID, CheckOutcome.UNCHECKED)
    if not is_failed or not is_of_another_repository(note, verdict.claim, verdict.line, project):
        return verdict
    why = ("the note names another repository",)
    return Verdict(verdict.claim, verdict.kind, verdict.line, CheckOutcome.UNCHECKED, why)


def _check_all(note: Note, claims: NoteClaims, project: Project) -> Iterator[Verdict | None]:
    """Yield the verdict on each of the `claims` of a note; None for what turns out to be none."""
    present: dict[str, str] = {}
    files: list[tuple[ProseBlock, Verdict]] = []
    later: list[ProjectClaim] = []
    series = find_series(claims.all)
    for claim in claims.all:
        match claim.kind:
            case ClaimKind.PATH:
                verdict = check_path(claim, project, note)
                if verdict and verdict.outcome is CheckOutcome.VALID:
                    present[claim.text] = verdict.evidence[0]
                if verdict:
                    files.append((claim.passage.statement, verdict))
            case ClaimKind.COMMAND:
                yield check_command(claim, project)
            case ClaimKind.VERSION:
                yield check_version(claim, project)
            case ClaimKind.VALUE:
                yield check_value(claim, note, project, series)
            case ClaimKind.STATUS:
                yield check_status(claim, note, project)
            case ClaimKind.TASK:
                yield check_task(claim, note, project)
            case _:
                later.append(claim)
    gone = {
        (statement, it.origin): list[str]()
        for statement, it in files
        if it.origin and is_of_file(it)
    }
    for claim in later:
        statement = claim.passage.statement
        named = claims.paths.get(statement, frozenset()) & present.keys()
        beside = sorted({present[text] for text in named})
        verdict = check_symbol(claim, note, project, beside)
        if verdict and (statement, verdict.origin) in gone:
            # what a file had is gone with it: one thing to tell
            gone[statement, verdict.origin].append(verdict.claim)
        else:
            yield verdict
    for statement, verdict in files:
        names = gone.pop((statement, verdict.origin), ())
        also = (f"with it: {', '.join(names)}",) if names else ()
        yield replace(verdict, evidence=(*verdict.evidence, *also))


def _drop_superseded(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return `verdicts` without the values of constants and the versions of products of which the
    note has the present one, too: it tells how they changed, or of both.
    """
    names = {id(it): _find_name(it) for it in verdicts if it.kind in _STATED}
    present = {names[id(it)] for it in verdicts if it.kind in _STATED and _is_valid(it)}
    return [it for it in verdicts if names.get(id(it)) not in present or _is_valid(it)]


def _is_told(verdict: Verdict, others: Iterable[Verdict]) -> bool:
    """Return whether one of the `others` failed for a part of the line that a `verdict` is on."""
    return any(
        it.line == verdict.line and it.claim in verdict.claim and it.outcome is CheckOutcome.CHANGED
        for it in others
    )


def _find_name(verdict: Verdict) -> str:
    """Return the constant or the product of which a claim gives the value or the version."""
    if verdict.kind is ClaimKind.VALUE:
        return _BESIDE_NAME.split(verdict.claim.lstrip("`"))[0]
    return _VERSION_BEHIND.sub("", verdict.claim).lower().removesuffix(".js")


def _is_valid(verdict: Verdict) -> bool:
    return verdict.outcome is CheckOutcome.VALID


def _check_commits(note: Note, verdicts: Iterable[Verdict], project: Project) -> Verdict | None:
    """Return the verdict on commits to the files of a note since it was confirmed; None without
    any.
    """
    paths = [
        verdict
        for verdict in verdicts
        if verdict.kind is ClaimKind.PATH and verdict.outcome is CheckOutcome.VALID
    ]
    confirmed = parse_end_of_day(note.stated_date) if paths else None
    if confirmed is None:
        return None
    files: dict[str, list[FileCommit]] = {}
    for verdict in paths:
        path = verdict.evidence[0]
        # the memory says nothing of the project, nor do files that are changed with every work
        is_judged = path in project.tree.files and not project.is_of_memory(path)
        commits = project.history.find_commits(path, confirmed) if is_judged else []
        if commits and not project.history.is_log(path, confirmed):
            files[path] = commits
    if not files:
        return None
    lines = [f"{path}: {_describe_commits(commits)}" for path, commits in files.items()]
    if len(lines) > _MOST_FILES_SHOWN:
        lines[_MOST_FILES_SHOWN:] = [f"and {len(lines) - _MOST_FILES_SHOWN} more files"]
    first = next(verdict for verdict in paths if verdict.evidence[0] in files)
    last = max(commit.at for commits in files.values() for commit in commits)
    changed = CheckOutcome.CHANGED
    return Verdict(
        first.claim, ClaimKind.COMMITS, first.line, changed, tuple(lines), changed_at=last
    )


def _describe_commits(commits: list[FileCommit]) -> str:
    number = f"{len(commits)} commits" if len(commits) > 1 else "1 commit"
    return f"{number}, the last {commits[0].summary}"
