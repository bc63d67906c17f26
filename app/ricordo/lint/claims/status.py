"""Claims that work is not merged, pushed, released or written yet, refuted by what git has.

Only a named subject can be looked up: the number of a request, a branch, a commit, a version, a
file, a name of code. That the work is unfinished cannot be proved, so a claim that nothing refutes
gets no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.claims.claim import Passage, ProjectClaim
from ricordo.lint.claims.history import FileCommit
from ricordo.lint.claims.paths import find_present_file, is_path
from ricordo.lint.claims.project import NoteTimes, Project
from ricordo.lint.claims.symbols import parse_symbol
from ricordo.lint.evidence import ClaimKind, Verdict
from ricordo.patterns import compile_lazily

_NEAR = 80
"""Characters between a subject and its status."""
_BESIDE = 24
"""Characters between a file or a name of code and its status: others may be between."""
_BEFORE = 40
"""Characters before a claim in which a word makes it a condition or a rule."""
_REQUEST = compile_lazily(
    r"(?:\b(?:PR|MR|[Pp]ull [Rr]equest|[Mm]erge [Rr]equest)s? ?|(?<![\w&/#]))[#!](\d{1,6})\b"
    r"|\b(?:PR|MR)s? (\d{1,6})\b"
)
_BRANCH = compile_lazily(
    r"\b(?:feat|feature|fix|bugfix|hotfix|chore|docs|refactor|perf|release|task)/[\w.\-]*\w"
)
_BRANCH_WORD = compile_lazily(
    r"(?:\b(?:branch|zweig|branche|rama|ramo|ветк[аеиу])|分支|ブランチ|브랜치)\W{0,4}$",
    re.IGNORECASE,
)
_BRANCH_NAME = compile_lazily(r"[\w.\-]+(?:/[\w.\-]+)*")
_HASH = compile_lazily(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}")
_VERSION = compile_lazily(r"v\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?")
_LINK = compile_lazily(r"[\s`*_~)\]:,]*(?:[\s(\[—–:=|-]|is|are|does|do|has|ist|est|está|è)*\s*\Z")
"""What may be between a file or a name of code and its status."""
_DEFINITION = (
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|pub"
    r"|open|override|virtual|sealed|const)\s+)*"
    r"(?:def|class|function|func|fn|fun|const|let|var|struct|interface|type|enum|trait|object"
    r"|module|protocol)\s+(?:\([^)]*\)\s*)?{name}\b"
)
_MOST_FILES = 12


class _Subject(NamedTuple):
    """Something whose status can be looked up, and where its sentence names it."""

    key: str
    start: int
    end: int
    look_up: Callable[[str, Project], FileCommit | None]
    part: str
    """The part of `status.toml` with the status that the look-up refutes."""


def find_status_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims of a sentence that work is unfinished, from the subject to its status."""
    if passage.is_past or not _open_status().search(lower_text(passage.prose)):
        return
    subjects = sorted(_find_subjects(passage), key=lambda subject: subject.start)
    nearest: dict[tuple[int, int], tuple[int, int]] = {}
    for at, subject in enumerate(subjects):
        others = [it.start for it in subjects[at + 1 :] if it.part == subject.part]
        until = min([*others, len(passage.text), subject.end + _NEAR])
        before = max([*(it.end for it in subjects[:at]), subject.start - _NEAR, 0])
        status = _find_status(passage, subject, before, until)
        if status is not None:
            # of several subjects before one status the last is meant
            nearest[status] = (min(status[0], subject.start), max(status[1], subject.end))
    for span in nearest.values():
        if not _is_rule(passage, span):
            yield _build_claim(passage, span)


def _find_subjects(passage: Passage) -> Iterator[_Subject]:
    plain = passage.text
    for match in _REQUEST.finditer(plain):
        number = match[1] or match[2]
        yield _Subject(number, *match.span(), _find_request, "unmerged")
    for match in _BRANCH.finditer(plain):
        yield _Subject(match[0], *match.span(), _find_branch, "unmerged")
    for offset, text in passage.code:
        end = offset + len(text)
        is_branch = _BRANCH_NAME.fullmatch(text) and _BRANCH_WORD.search(plain[:offset].rstrip("`"))
        if is_branch and not _BRANCH.fullmatch(text):
            yield _Subject(text, offset, end, _find_branch, "unmerged")
        elif _HASH.fullmatch(text):
            yield _Subject(text, offset, end, _find_pushed, "unpushed")
        elif _VERSION.fullmatch(text):
            yield _Subject(text, offset, end, _find_tag, "unreleased")
    for match in _VERSION.finditer(passage.prose):
        yield _Subject(match[0], *match.span(), _find_tag, "unreleased")


def _find_status(
    passage: Passage, subject: _Subject, before: int, until: int
) -> tuple[int, int] | None:
    """Return where the open status of a subject is: the first that follows it, or one right before
    it; None where the first says that it is done.
    """
    spoken = lower_text(passage.prose)
    parts = (subject.part,) if subject.part != "unmerged" else ("unmerged", "unpushed")
    opens = [it for part in parts if (it := _words(part).search(spoken, subject.end, until))]
    done = _words("done").search(spoken, subject.end, until)
    first = min(opens, key=re.Match.start, default=None)
    if first is not None:
        is_done = done is not None and done.end() <= first.start()
        return None if is_done else first.span()
    if done is not None:
        return None
    for part in parts:
        for match in _words(part).finditer(spoken, before, subject.start):
            if not spoken[match.end() : subject.start].strip(" \n:#!`*(prm"):
                return match.span()
    return None


def check_status(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Return the verdict that git refutes the claim; None where it does not."""
    passage = claim.passage
    start = passage.text.find(claim.text)
    for subject in _find_subjects(passage):
        if start <= subject.start and subject.end <= start + len(claim.text):
            commit = subject.look_up(subject.key, project)
            if commit is not None:
                return claim.to_refutation(f"git: {_NAMES[subject.part]} {commit.summary}")
    return None


_NAMES = {"unmerged": "merged in", "unpushed": "pushed:", "unreleased": "tagged:"}


def _find_request(number: str, project: Project) -> FileCommit | None:
    return project.history.graph.find_request(number)


def _find_branch(name: str, project: Project) -> FileCommit | None:
    return project.history.graph.find_branch(name)


def _find_pushed(short: str, project: Project) -> FileCommit | None:
    return project.history.graph.find_pushed(short)


def _find_tag(name: str, project: Project) -> FileCommit | None:
    return project.history.graph.find_tag(name)


def find_absence_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims of a sentence that a file or a name of code is still to be written."""
    spoken = lower_text(passage.prose)
    if passage.is_past or not (_words("unbuilt").search(spoken) or _make().search(spoken)):
        return
    for offset, text in passage.code:
        if not (is_path(text) or parse_symbol(text)):
            continue
        end = offset + len(text)
        after = _words("unbuilt").search(spoken, end, end + _NEAR)
        before = list(_make().finditer(spoken, max(0, offset - _NEAR), offset))
        if after and len(passage.text[end : after.start()]) <= _BESIDE:
            if _LINK.match(passage.text[end : after.start()]):
                span = (offset, after.end())
                if not _is_rule(passage, span):
                    yield _build_claim(passage, span)
        elif before and not passage.text[before[-1].end() : offset].strip(" `*"):
            yield _build_claim(passage, (before[-1].start(), end))


def _is_rule(passage: Passage, span: tuple[int, int]) -> bool:
    """Return whether a part of a sentence says how work is done, not what its state is."""
    start, end = span
    around = lower_text(passage.prose[max(0, start - _BEFORE) : end + 1])
    return bool(_rule().search(around))


def _build_claim(passage: Passage, span: tuple[int, int]) -> ProjectClaim:
    start, end = span
    # with the sign that begins the code
    start -= passage.text[max(0, start - 1) : start] == "`"
    text = passage.text[start:end]
    return ProjectClaim(ClaimKind.STATUS, text, passage.line_at(start), passage)


def check_absence(claim: ProjectClaim, project: Project, times: NoteTimes) -> Verdict | None:
    """Return the verdict that what the claim calls unwritten was written after the note; None where
    nothing shows it.
    """
    start = claim.passage.text.find(claim.text)
    within = [
        text
        for offset, text in claim.passage.code
        if start <= offset and offset + len(text) <= start + len(claim.text)
    ]
    for text in within[:1]:
        evidence = _find_written(text, project, times.written)
        if evidence:
            return claim.to_refutation(*evidence)
    return None


def _find_written(text: str, project: Project, written: float) -> tuple[str, ...]:
    """Return the evidence that a file or a name of code came to be after a moment, 0 where it is
    not known; without git, that the file is there.
    """
    if is_path(text):
        path = find_present_file(text, project)
        if path and not project.tree.commit:
            return (f"{path} exists",)
        added = project.history.find_added(path) if path else None
        return (
            (f"git: {path} added in {added.summary}",) if added and 0 < written < added.at else ()
        )
    name = parse_symbol(text)
    place = _find_definition(name, project)
    before = project.history.graph.find_at(written) if place and written else None
    if not before or project.history.find_words_at(before[0], [name]):
        return ()
    return (place,)


def _find_definition(name: str, project: Project) -> str:
    """Return the place where the code defines `name`, with that line; "" where it does not."""
    definition = re.compile(_DEFINITION.format(name=re.escape(name)))
    for path in project.find_files(name, _MOST_FILES):
        if not path.startswith(project.memory_folder or "\0"):
            for number, line in enumerate(project.load_text(path).split("\n"), 1):
                if name in line and definition.match(line):
                    return f"{path}:{number}: {line.strip()[:_NEAR]}"
    return ""


def get_absent_words(claim: ProjectClaim) -> Iterator[str]:
    """Yield the words to search the project for, for a claim on what is still to be written."""
    for _, text in claim.passage.code:
        if text in claim.text and (name := parse_symbol(text)):
            yield name


@cache
def _words(part: str) -> re.Pattern[str]:
    return compile_part("status", part)


@cache
def _open_status() -> re.Pattern[str]:
    parts = ("unmerged", "unpushed", "unreleased")
    return re.compile(
        build_alternation(text for part in parts for text in list_expressions("status", part))
    )


@cache
def _make() -> re.Pattern[str]:
    # no boundary behind: the expressions end with a sign
    return re.compile("|".join(f"(?:{text})" for text in list_expressions("status", "make")))


@cache
def _rule() -> re.Pattern[str]:
    return compile_part("status", "rule")
