"""Claims that work is not merged, pushed or released yet, refuted by what git has.

Only a named subject can be looked up: the number of a request, a branch, a commit, a version. That
the work is unfinished cannot be proved, so a claim that nothing refutes gets no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.claims.claim import ProjectClaim
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.passages import Passage
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NEAR = 80
"""Characters between a subject and its status."""
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
_BRANCH_LINK = compile_lazily(r"\W*(?:(?:from|branch|of|on|von|de|aus)\W+)*")
"""What may be between a request and its branch."""
_BRANCH_NAME = compile_lazily(r"[\w.\-]+(?:/[\w.\-]+)*")
_MEANS = compile_lazily(r"[*_`»”\"]{1,3}\s?=\s")
"""Behind a state that is set apart: what it means."""
_HASH_TEXT = r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"
_HASH = compile_lazily(_HASH_TEXT)
_PLAIN_HASH = compile_lazily(rf"(?<![\w/#.@-]){_HASH_TEXT}(?![\w-])")
_VERSION = compile_lazily(r"v\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?")


class _Subject(NamedTuple):
    """Something whose status can be looked up, and where its sentence names it."""

    key: str
    start: int
    end: int
    look_up: Callable[[str, Project], FileCommit | None]
    part: str
    """The part of `status.toml` with the status that the look-up refutes."""


def find_status_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the claims of a sentence that work is unfinished, from the subject to its status, or
    that it is on a branch.
    """
    subjects = () if passage.is_past else _list_subjects(passage)
    spoken = lower_text(passage.prose) if subjects else ""
    if not _open_status().search(spoken):
        for subject in subjects:
            start = _find_branch_word(passage, subject, subjects)
            is_done = _words("done").search(spoken) or _words("finished").search(spoken)
            if start is not None and not is_done:
                yield build_claim(ClaimKind.STATUS, passage, (start, subject.end))
        return
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
        if not is_rule(passage, span):
            yield build_claim(ClaimKind.STATUS, passage, span)


def _find_branch_word(
    passage: Passage, subject: _Subject, subjects: Sequence[_Subject]
) -> int | None:
    """Return where the word before the name of a branch begins that says that work is on it: of
    one that was made for one piece of work, as its name shows. None where there is none, and in
    brackets or with nothing but a commit, where it only says how the work came about.
    """
    before = passage.text[: subject.start].rstrip("`")
    word = _BRANCH_WORD.search(before)
    is_of_work = subject.look_up is _find_branch and _BRANCH.fullmatch(subject.key)
    if word is None or not is_of_work or is_rule(passage, (word.start(), subject.end)):
        return None
    is_alone = not any(map(str.isalnum, passage.text[: word.start()]))
    is_origin = is_alone and any(it.look_up is _find_pushed for it in subjects)
    is_told = is_origin or _is_in_brackets(passage.prose, word.start())
    return None if is_told else word.start()


def _is_in_brackets(text: str, at: int) -> bool:
    """Return whether a bracket before the offset `at` of a text is still open there."""
    return max(text.rfind(it, 0, at) for it in "(（") > max(text.rfind(it, 0, at) for it in ")）")


def _list_subjects(passage: Passage) -> list[_Subject]:
    """Return the subjects of a sentence in order, without a branch right behind its request."""
    subjects = sorted(_find_subjects(passage), key=lambda it: it.start)
    first, rest = subjects[:1], pairwise(subjects)
    return first + [it for before, it in rest if not _is_its_branch(before, it, passage)]


def _is_its_branch(before: _Subject, subject: _Subject, passage: Passage) -> bool:
    """Return whether a subject is the branch of the request before it: the number says more."""
    is_pair = before.look_up is _find_request and subject.look_up is _find_branch
    return is_pair and _BRANCH_LINK.fullmatch(passage.text, before.end, subject.start) is not None


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
    for match in _PLAIN_HASH.finditer(passage.prose):
        yield _Subject(match[0], *match.span(), _find_pushed, "unpushed")
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


def check_status(claim: ProjectClaim, note: Note, project: Project) -> Verdict | None:
    """Return the verdict that git refutes the claim; None where it does not. That work is on a
    branch is refuted by the only merge of that, where the claim is older.
    """
    passage = claim.passage
    start = passage.text.find(claim.text)
    is_open = _open_status().search(lower_text(passage.prose)) is not None
    for subject in _list_subjects(passage):
        if start <= subject.start and subject.end <= start + len(claim.text):
            if is_open:
                commit = subject.look_up(subject.key, project)
            else:
                commit = project.history.graph.find_merge(subject.key)
                written = project.find_line_time(note, claim.line) if commit else 0.0
                commit = commit if commit and 0 < written < commit.at else None
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


def is_rule(passage: Passage, span: tuple[int, int]) -> bool:
    """Return whether a part of a sentence says how work is done, or what a state is called, not
    what its state is.
    """
    start, end = span
    around = lower_text(passage.prose[max(0, start - _BEFORE) : end + 1])
    return bool(_rule().search(around) or _MEANS.match(passage.text, end))


def build_claim(
    kind: ClaimKind, passage: Passage, span: tuple[int, int], work: frozenset[str] = frozenset()
) -> ProjectClaim:
    """Return the claim that a part of a sentence makes; `work` as in ProjectClaim."""
    start, end = span
    # with the signs around the code
    start -= passage.text[max(0, start - 1) : start] == "`"
    is_cut = passage.text.count("`", start, end) % 2 and passage.text[end : end + 1] == "`"
    text = passage.text[start : end + bool(is_cut)]
    return ProjectClaim(kind, text, passage.line_at(start), passage, work)


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
def _rule() -> re.Pattern[str]:
    return compile_part("status", "rule")
