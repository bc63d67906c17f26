"""Claims that a file or folder is there.

That a name leads nowhere is no evidence by itself: notes name files of other projects, of other
machines, of a program's output. A path is missing only where git knows that it was there, or where
the folder that it begins with is one of the project.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from ricordo.lint.claims.claim import Passage, ProjectClaim, names
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.storage.project_tree import glob_expression

_PLACE = re.compile(r"(?::(\d{1,6})(?:[-–](\d{1,6}))?(?:[-–:,]\d+)*|#L(\d{1,6})(?:-L?(\d{1,6}))?)$")
"""A line or a range of lines behind a path."""
_PATH = re.compile(r"(?:\./)?[\w.@+\-()\[\]*{},/]+")
_BARE = re.compile(
    r"(?<![\w/`.:@$~<\-\\])(?:[\w.\-]+/)+[\w.\-]+\.[A-Za-z]\w{0,7}(?!\w|/|\()", re.ASCII
)
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_SITE = re.compile(
    r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|eu|de|fr|cn|kr|jp|example|local)(?:/|$)"
)
_REPEATED = re.compile(r"([A-Z])\1+(?:-.*)?|\d{4}")
"""`YYYY`, `NNN-title`, and the year of an example."""
_SCRIPT = re.compile(
    r"(?:sudo )?(?:bash|sh|zsh|source|node|deno run|bun|bun run|tsx|npx tsx|python3?|uv run|php"
    r"|ruby|perl)"
    r" ((?:\./)?[\w.@+\-]+(?:/[\w.@+\-]+)+)(?:\s|$)"
)
_SWAPPED = {".js": (".ts", ".tsx", ".jsx", ".mjs"), ".jsx": (".tsx",), ".mjs": (".mts",)}
"""Endings under which a file is imported, and those that it has."""
_MOST_ALTERNATIVES = 16


def path_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the paths that a sentence names: in backticks, as the script of a command in backticks,
    or in plain words with folder and ending.
    """
    for offset, text in passage.code:
        script = _SCRIPT.match(text)
        said = script[1] if script else text
        if _is_path(said):
            yield ProjectClaim(ClaimKind.PATH, said, passage.line_at(offset), passage)
    if "/" in passage.text:
        for match in _BARE.finditer(passage.spoken):
            if not _SITE.match(match[0]):
                yield ProjectClaim(
                    ClaimKind.PATH, match[0], passage.line_at(match.start()), passage
                )


def _is_path(text: str) -> bool:
    plain = _PLACE.sub("", text)
    if not _PATH.fullmatch(plain) or plain.startswith(("../", "-")) or "//" in plain:
        return False
    if _SITE.match(plain) or plain.strip("./*") == "":
        return False
    last = plain.rstrip("/").rpartition("/")[2]
    if "/" not in plain:
        return bool(_ENDING.search(last)) and not last.startswith("*")
    return not (plain.startswith("@") and plain.count("/") == 1)


def check_path(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Say whether the file or folder is there; None where it is none of the project's."""
    match = _PLACE.search(claim.text)
    path = _PLACE.sub("", claim.text)
    if path.startswith("/"):
        inside = project.inside(path)
        if inside is None:
            return None
        path = inside
    path = posixpath.normpath(path) + "/" * path.endswith("/")
    if any(sign in path for sign in "*{"):
        return _check_glob(claim, path, project)
    found = _standing(path.rstrip("/"), project)
    if len(found) == 1:
        lines = [int(number) for number in match.groups() if number] if match else []
        return _check_line(claim, found[0], max(lines, default=0), project)
    if found:
        return claim.found(CheckOutcome.HOLDS, f"one of {len(found)} of that name")
    absent = _check_absent(claim, path, project)
    # it is the file that is missing, not the line of it
    return replace(absent, amiss=f"{path} is not there") if absent and match else absent


def _standing(path: str, project: Project) -> list[str]:
    """The paths of the project that may be meant by `path`, from its root or from a folder."""
    tree = project.tree
    if tree.has(path):
        return [path]
    folder, _, last = path.rpartition("/")
    stem, ending = posixpath.splitext(last)
    for name in (last, *(stem + other for other in _SWAPPED.get(ending, ()))):
        same = tree.by_name.get(name.lower(), ())
        wanted = f"/{folder}/{name}" if folder else ""
        found = [other for other in same if f"/{other}".endswith(wanted)]
        if found:
            return found
    return [project.by_stem[path]] if not ending and path in project.by_stem else []


def _check_line(claim: ProjectClaim, path: str, line: int, project: Project) -> Verdict | None:
    if line > 1 and path in project.tree.files:
        lines = project.lines_of(path)
        if lines is not None and line > lines:
            told = (
                f"{path} has {lines:,} lines" if lines > 1 else f"{path} has {lines or 'no'} line"
            )
            return claim.found(
                CheckOutcome.MISSING, told, amiss=f"{told}, so there is no line {line:,}"
            )
    return claim.found(CheckOutcome.HOLDS, path)


def _check_glob(claim: ProjectClaim, path: str, project: Project) -> Verdict | None:
    expressions = [re.compile(rf"(?:.*/)?{glob_expression(it)}(?:/.*)?") for it in _braces(path)]
    tree = project.tree
    found = [each for each in expressions if any(map(each.fullmatch, tree.files))]
    if len(found) == len(expressions):
        return claim.found(CheckOutcome.HOLDS, path)
    # files come and go, but the folder in which they lie is named as it is
    folder = re.split(r"[*{]", path, maxsplit=1)[0].rpartition("/")[0]
    absent = _check_absent(claim, f"{folder}/", project) if folder else None
    if absent and absent.outcome is CheckOutcome.MISSING and not _standing(folder, project):
        return replace(absent, amiss=f"The folder {folder} is not there")
    return claim.unchecked("no file fits the pattern today")


def _braces(path: str) -> list[str]:
    waiting, done = [path.rstrip("/")], list[str]()
    while waiting and len(waiting) + len(done) <= _MOST_ALTERNATIVES:
        text = waiting.pop()
        match = re.search(r"\{([^{}]*)\}", text)
        if match is None:
            done.append(text)
        else:
            parts = match[1].split(",")
            waiting += [text[: match.start()] + part + text[match.end() :] for part in parts]
    return done or [path]


def _check_absent(claim: ProjectClaim, path: str, project: Project) -> Verdict | None:
    """Say of a path that was not listed whether it is missing, or what else it may be."""
    plain = path.rstrip("/")
    tree = project.tree
    stands = tree.stands(plain)
    if stands:
        return claim.found(CheckOutcome.HOLDS, f"{plain}, which git ignores")
    if stands is None or tree.remark:
        return claim.unchecked(tree.remark or "a link lies on the way")
    if _is_left_out(plain, project):
        return claim.unchecked("git ignores it, or tools make it")
    if _is_placeholder(plain) or plain.rpartition("/")[2] in project.own_names:
        return None
    if other := _in_other_case(plain, project):
        told = f"it is spelled {other}"
        return claim.found(CheckOutcome.MOVED, told, suggestion=_in_place(claim.text, path, other))
    if old := _past_of(plain, project):
        return _in_the_past(claim, path, old, project)
    if not _is_anchored(path, project):
        return None
    if same := _only_of_its_name(plain, project):
        told = f"the only file of that name is {same}"
        new = _in_place(claim.text, path, same)
        return claim.found(CheckOutcome.MOVED, told, suggestion=new)
    return claim.found(CheckOutcome.MISSING, f"no file or folder {plain}")


def _only_of_its_name(path: str, project: Project) -> str:
    """The one file of the project that has the name of the missing one; "" where none or several
    do, or the name is one that many files have.
    """
    name = path.rpartition("/")[2]
    same = project.tree.by_name.get(name.lower(), ())
    stem = posixpath.splitext(name)[0].lower()
    is_telling = bool(_ENDING.search(name)) and stem not in names("generic", "stems")
    return same[0] if len(same) == 1 and is_telling else ""


def _is_placeholder(path: str) -> bool:
    parts = path.split("/")
    bare = [posixpath.splitext(part)[0] for part in parts]
    known = names("placeholder", "names")
    return any(part.lower() in known or _REPEATED.fullmatch(part) for part in (*bare, *parts))


def _is_left_out(path: str, project: Project) -> bool:
    """Whether it may be there on one machine and not on the other."""
    ignored = project.tree.ignored
    is_made = not names("made", "folders").isdisjoint(path.split("/"))
    return is_made or ignored.covers(path) or ignored.covers(path, is_folder=True)


def _in_other_case(path: str, project: Project) -> str:
    if "/" not in path:
        return ""
    same = project.tree.by_name.get(path.rpartition("/")[2].lower(), ())
    wanted = f"/{path.lower()}"
    found = [other for other in same if f"/{other.lower()}".endswith(wanted)]
    return found[0] if len(found) == 1 else ""


def _past_of(path: str, project: Project) -> str:
    """The deleted path that is meant; "" where git never knew any, or too many of a bare name."""
    old = project.history.last_paths(path)
    is_clear = len(old) == 1 or (old and "/" in path)
    return old[0] if is_clear else ""


def _in_the_past(claim: ProjectClaim, path: str, old: str, project: Project) -> Verdict | None:
    """The verdict by what git knows of the deleted path `old`."""
    plain = path.rstrip("/")
    commit = project.history.gone[old]
    new = project.history.new_name(old)
    if new and not f"/{old}".endswith(f"/{plain}"):
        behind = f"/{old}".partition(f"/{plain}/")[2]
        new = new.removesuffix(f"/{behind}") if new.endswith(f"/{behind}") else ""
    if new and project.tree.has(new):
        told = f"git: moved to {new} in {commit.shown}"
        place = _in_place(claim.text, path, new)
        return claim.found(CheckOutcome.MOVED, told, suggestion=place, was_there=True)
    return claim.found(CheckOutcome.MISSING, f"git: deleted in {commit.shown}", was_there=True)


def _in_place(said: str, path: str, new: str) -> str:
    """What stands in the place of the claim: the new path with what `said` had around it."""
    behind = "/" * path.endswith("/")
    place = _PLACE.search(said)
    before = "./" if said.startswith("./") else ""
    if not new.isprintable() or "`" in new:
        # a name that would not stay inside its backticks
        return ""
    return f"{before}{new}{behind}{place[0] if place else ''}"


def _is_anchored(path: str, project: Project) -> bool:
    """Whether the folders of `path` are those of the project, so that the rest should be too."""
    first, _, rest = path.rstrip("/").partition("/")
    if not rest:
        return False
    if not (path.endswith("/") or _ENDING.search(path)):
        return False
    return first in project.tree.folders or first in names("own", "folders")
