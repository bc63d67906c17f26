"""Claims that a file or folder exists.

An unknown name proves nothing by itself: notes name files of other projects, of other machines, of
a program's output. A path is missing only where git knows that it existed, or where the folder that
it begins with is one of the project.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from ricordo.lint.claims.awareness import (
    is_written_after,
    knows_of,
    list_names_of_path,
    says_gone,
)
from ricordo.lint.claims.claim import MAX_CLAIMS, ProjectClaim, load_names
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.project import NoteTimes, Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.links import is_document
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import find_similar
from ricordo.storage.project_tree import DOWNLOADED_FOLDERS, glob_expression

_PLACE = compile_lazily(
    r"(?::(\d{1,6})(?:[-–](\d{1,6}))?(?:[-–:,]\d+)*|#L(\d{1,6})(?:-L?(\d{1,6}))?)$"
)
"""A line or a range of lines after a path."""
_PATH = compile_lazily(r"(?:\./)?[\w.@+\-()\[\]*{},/…]+")
_BARE = compile_lazily(
    r"(?<![\w/`.:@$~<\-\\])(?:[\w.\-]+/)+[\w.\-]+\.[A-Za-z]\w{0,7}(?!\w|/|\()", re.ASCII
)
_LINK = compile_lazily(r"\]\((?:\.\.?/)*([^\s()#:~]+)(?:#[^\s()]*)?\)")
_ENDING = compile_lazily(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_SITE = compile_lazily(
    r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|eu|de|fr|cn|kr|jp|example|local)(?:/|$)"
)
_REPEATED = compile_lazily(
    r"([A-Z])\1+(?:-.*)?|\d{4}|(?:.*[^A-Za-z])?([A-HJ-Z])\2{2,}(?:([A-Z])\3+)*(?:[^A-Za-z].*)?"
)
"""`YYYY`, `NNN-title`, `report-YYYYMMDD`, and the year of an example; `III` is a number."""
_SCRIPT = compile_lazily(
    r"(?:sudo )?(?:bash|sh|zsh|source|node|deno run|bun|bun run|tsx|npx tsx|python3?|uv run|php"
    r"|ruby|perl)"
    r" ((?:\./)?[\w.@+\-]+(?:/[\w.@+\-]+)+)(?:\s|$)"
)
_SWAPPED = {".js": (".ts", ".tsx", ".jsx", ".mjs"), ".jsx": (".tsx",), ".mjs": (".mts",)}
"""Extensions under which a file is imported, and those that it may have."""
_PAGES = (".md", ".mdx", ".txt", ".rst")
_WORD = compile_lazily(r"\w{3}")
_BETWEEN_WORDS = compile_lazily(r"[\W_]+|(?<=[a-z\d])(?=[A-Z])")
_TELLING_LETTERS = 10
"""Letters beside the number in the name of a file, from which on that number may be wrong."""
_OF_NUMBER = 3
"""Digits of the number of a decision, as `ADR-012`."""
_FEWEST_TO_MISTYPE, _FEWEST_TO_REPLACE = 6, 8
"""Letters of a word of a name, from which on one may be missing, too many, or another."""
_SHORTEST_PLURAL = 4
"""Letters of a word that may be in the plural."""
_MOST_ALTERNATIVES = 16
_SHORTENED = compile_lazily(r"\.\.\.|…")
_WITHOUT_FOLDERS = compile_lazily(r"(?<![^/])(?:\.\.\.|…)(?=/)")
"""The sign for what a shortened path leaves out, and the one for whole folders."""


def find_path_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the paths that a sentence names: in backticks, as the script of a command in backticks,
    as the target of a link, or in plain text with folder and extension.
    """
    for offset, text in passage.code:
        script = _SCRIPT.match(text)
        path = script[1] if script else text
        if is_path(path):
            yield ProjectClaim(ClaimKind.PATH, path, passage.line_at(offset), passage)
    if "](" in passage.text:
        for match in _LINK.finditer(passage.text):
            # other rules look for pages
            if is_path(match[1]) and not match[1].endswith(".md"):
                line = passage.line_at(match.start(1))
                yield ProjectClaim(ClaimKind.PATH, match[1], line, passage)
    if "/" in passage.text:
        for match in _BARE.finditer(passage.prose):
            if not _SITE.match(match[0]):
                yield ProjectClaim(
                    ClaimKind.PATH, match[0], passage.line_at(match.start()), passage
                )


_README = "readme.md"
"""The page of any folder."""


def find_linked_pages(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield a verdict for each link of a note that names a page of the project, not a note: a
    wikilink by its name, another one by its path from the root, which hosts of repositories write
    with a `/` in front, or from a folder, as agents work in one.
    """
    for link in note.links:
        find = project.find_page if link.is_wikilink else partial(_find_linked, project)
        if page := find(link.target):
            yield Verdict(link.target, ClaimKind.PATH, link.line, CheckOutcome.VALID, (page,))


def _find_linked(project: Project, target: str) -> str:
    """Return the page of the project at the end of whose path the target of a link is, at the root
    or the only one of its own; "" for none, and where a file of the memory has its name.
    """
    path = target.replace("\\", "/").removeprefix("/")
    name = path.rpartition("/")[2]
    if not name.endswith(".md"):
        return ""
    if path in project.tree.files and not project.is_of_memory(path):
        return path
    if name in project.memory_names or name.lower() == _README:
        return ""
    same = project.tree.by_name.get(name.lower(), ())
    own = (it for it in same if DOWNLOADED_FOLDERS.isdisjoint(it.lower().split("/")))
    found = [it for it in own if it.endswith(f"/{path}") and not project.is_of_memory(it)]
    return found[0] if len(found) == 1 else ""


def find_lost_pages(note: Note, project: Project, known: Container[str]) -> Iterator[Verdict]:
    """Yield a verdict for each link of a note that leads out of the memory to a file which the
    project lacks, but for the paths that are `known`: by its path from the note, or from the root
    for a document in capitals, as no note is called.
    """
    folder = posixpath.join(project.memory_folder, posixpath.dirname(note.path))
    inside = project.memory_folder
    lost: dict[int, dict[str, str]] = defaultdict(dict)
    for link in (it for it in note.links if not it.is_wikilink):
        if link.target.startswith("../") and inside:
            path = posixpath.normpath(posixpath.join(folder, link.target))
        elif is_document(link.target) and link.target not in project.memory_names:
            path = link.target
        else:
            continue
        is_out = path.startswith("../") or (inside and path.startswith(inside))
        if not is_out and path not in known and not project.tree.has(path) and is_path(path):
            lost[link.line][path] = link.target
    verdicts: dict[str, Verdict] = {}
    for passage in split_passages(note) if lost else ():
        begin = passage.statement.line
        for line in range(begin, begin + passage.statement.text.count("\n") + 1):
            for path, target in lost.get(line, {}).items() if len(verdicts) < MAX_CLAIMS else ():
                if path not in verdicts and f"({target})" in passage.text:
                    claim = ProjectClaim(ClaimKind.PATH, path, line, passage)
                    if verdict := _check_absent(claim, path, project, note):
                        verdicts[path] = verdict
    yield from verdicts.values()


def is_path(text: str) -> bool:
    """Return whether a span in backticks is a path, perhaps with a line behind it."""
    plain = _PLACE.sub("", text)
    if not _PATH.fullmatch(plain) or plain.startswith(("../", "-")) or "//" in plain:
        return False
    if _SITE.match(plain) or plain.strip("./*") == "":
        return False
    last = plain.rstrip("/").rpartition("/")[2]
    if "/" not in plain:
        return bool(_ENDING.search(last)) and not last.startswith("*")
    return not (plain.startswith("@") and plain.count("/") == 1)


def is_of_file(verdict: Verdict) -> bool:
    """Return whether the path of a verdict means one file: a folder comes back with its next file,
    and a name alone may be that of any, but for code, documents and what git moved, of which it
    knew only one of that name. Of a pattern only the folder is missing, if it did not move.
    """
    path = verdict.claim
    is_pattern = not verdict.suggestion and any(sign in path for sign in "*{")
    is_moved = verdict.outcome is CheckOutcome.MOVED
    is_named = is_moved or path.endswith(CODE_ENDINGS) or is_document(path)
    is_known = "/" in path.strip("/") or (verdict.existed and is_named)
    return is_known and not path.endswith("/") and not is_pattern


def check_path(claim: ProjectClaim, project: Project, note: Note) -> Verdict | None:
    """Return whether the file or folder that `note` names exists; None where it does not belong to
    the project.
    """
    match = _PLACE.search(claim.text)
    path = _PLACE.sub("", claim.text)
    if path.startswith("/"):
        inside = project.to_relative(path)
        if inside is None:
            return None
        path = inside
    path = posixpath.normpath(_to_glob(path)) + "/" * path.endswith("/")
    if any(sign in path for sign in "*{"):
        return _check_glob(claim, path, project, note)
    verdict = _check_listed(claim, path, match, project, note)
    if verdict is None or _tells_of_move(claim, path, verdict.suggestion):
        return None
    verdict = _drop_named_suggestion(claim, verdict, note)
    if verdict is None or verdict.outcome is not CheckOutcome.MISSING or verdict.existed:
        return verdict
    is_file = project.tree.commit and _ENDING.search(path)
    new = _find_misnamed(path, project) if is_file else ""
    if not new or _tells_of_move(claim, path, new):
        return verdict
    claimed = _replace_path(claim.text, path, new)
    evidence = f"no file {path}; its folder has {posixpath.basename(new)}"
    # who wrote one name so wrote others so
    origin = f"{note.path}: misnamed files"
    return claim.to_verdict(CheckOutcome.MOVED, evidence, suggestion=claimed, origin=origin)


def _drop_named_suggestion(claim: ProjectClaim, verdict: Verdict, note: Note) -> Verdict | None:
    """Return the verdict without a suggestion that `note` names, too: then its line means another
    file. What only a guess placed in the project, beside that file, is no claim.
    """
    new = _PLACE.sub("", verdict.suggestion).strip("/").removeprefix("./")
    if not new or new.lower() == _PLACE.sub("", claim.text).strip("/").removeprefix("./").lower():
        return verdict
    named = _build_mention(new)
    if not named.search(note.text):
        return verdict
    if verdict.is_guess and not verdict.existed and named.search(claim.passage.statement.text):
        return None
    outcome = CheckOutcome.MISSING if verdict.is_guess else verdict.outcome
    evidence = tuple(it for it in verdict.evidence if it.startswith("git:"))
    return replace(verdict, outcome=outcome, evidence=evidence, suggestion="")


def _build_mention(path: str) -> re.Pattern[str]:
    """Return the pattern of a whole path in a text."""
    return re.compile(rf"(?<![\w/.-]){re.escape(path)}(?![\w-]|[./]\w)", re.ASCII)


def _tells_of_move(claim: ProjectClaim, path: str, new: str) -> bool:
    """Return whether the sentence has the `new` path, too, or the new name of what is at `path`."""
    if not new:
        return False
    name = posixpath.basename(_PLACE.sub("", new).rstrip("/"))
    is_renamed = name != posixpath.basename(path.rstrip("/"))
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.ASCII)
    text = claim.passage.text
    others = text.replace(claim.text, "")
    return new.strip("./") in text or bool(is_renamed and named.search(others))


def _check_listed(
    claim: ProjectClaim, path: str, match: re.Match[str] | None, project: Project, note: Note
) -> Verdict | None:
    """Return whether what `path` names exists, and its line, where the claim has a place, which is
    the `match`.
    """
    paths = _find_existing(path.rstrip("/"), project)
    if len(paths) == 1:
        times = project.find_times(note)
        if old := _find_moved_since(path, paths[0], project, times):
            return check_deleted(claim, path, old, project, note)
        lines = [int(number) for number in match.groups() if number] if match else []
        return _check_line(claim, paths[0], max(lines, default=0), project, times)
    if paths:
        return claim.to_verdict(CheckOutcome.VALID, f"one of {len(paths)} of that name")
    absent = _check_absent(claim, path, project, note)
    # the file is missing, not its line
    return replace(absent, problem=f"{path} does not exist") if absent and match else absent


def _to_glob(path: str) -> str:
    """Return a path with globs for what it leaves out: whole folders, or a part of a name."""
    return _SHORTENED.sub("*", _WITHOUT_FOLDERS.sub("**", path))


def _find_moved_since(path: str, present: str, project: Project, times: NoteTimes) -> str:
    """Return the old path of the `present` file that `path` means if git moved it after the note
    was last changed; "" otherwise. Only with another name it may be a part of that old path: a path
    from another folder of the project has the same end.
    """
    if path == present or project.tree.has(path):
        return ""
    is_renamed = posixpath.basename(path) != posixpath.basename(present)
    # from the folder of the pages, which notes mean as well as the root
    is_page = project.is_all_memory and present == f"{project.page_folder}/{path}"
    if is_page or (not is_renamed and "/" not in path):
        return ""
    history = project.history
    for old in history.find_deleted(path) if is_renamed else [path]:
        commit = history.deleted.get(old)
        is_since = commit is not None and 0 < times.changed < commit.at
        if is_since and history.find_new_path(old) == present:
            return old
    return ""


def find_present_file(text: str, project: Project) -> str:
    """Return the one file of the project that a path names; "" where there is none, or several."""
    path = posixpath.normpath(_PLACE.sub("", text))
    paths = [it for it in _find_existing(path, project) if it in project.tree.files]
    return paths[0] if len(paths) == 1 else ""


def _find_existing(path: str, project: Project) -> list[str]:
    """Return the paths of the project that `path` may mean, from its root or from a folder."""
    tree = project.tree
    if tree.has(path):
        return [path]
    folder, _, last = path.rpartition("/")
    stem, ending = posixpath.splitext(last)
    for name in (last, *(stem + other for other in _SWAPPED.get(ending, ()))):
        same = tree.by_name.get(name.lower(), ())
        wanted = f"/{folder}/{name}" if folder else ""
        paths = [other for other in same if f"/{other}".endswith(wanted)]
        if paths:
            return paths
    return [project.by_stem[path]] if not ending and path in project.by_stem else []


def _check_line(
    claim: ProjectClaim, path: str, line: int, project: Project, times: NoteTimes
) -> Verdict | None:
    if line > 1 and path in project.tree.files:
        lines = project.count_lines(path)
        if lines is not None and line > lines:
            length = f"{path} has {lines:,} line{'' if lines == 1 else 's'}"
            problem = f"Line {line:,} does not exist: {length}"
            before = project.history.graph.find_at(times.changed)
            was = project.history.load_text_at(before[0], path).count("\n") if before else 0
            if before and was >= line:
                evidence = (length, f"it had {was:,} in {before[1].summary}")
                return claim.to_verdict(
                    CheckOutcome.MISSING, *evidence, problem=problem, existed=True
                )
            return claim.to_verdict(CheckOutcome.MISSING, length, problem=problem)
    return claim.to_verdict(CheckOutcome.VALID, path)


def _check_glob(claim: ProjectClaim, path: str, project: Project, note: Note) -> Verdict | None:
    globs = _expand_braces(path)
    expressions = [re.compile(rf"(?:.*/)?{glob_expression(glob)}(?:/.*)?") for glob in globs]
    tree = project.tree
    if all(any(map(expression.fullmatch, tree.files)) for expression in expressions):
        return claim.to_verdict(CheckOutcome.VALID, path)
    # files come and go, but their folder is named literally
    folder = re.split(r"[*{]", path, maxsplit=1)[0].rpartition("/")[0]
    absent = _check_absent(claim, f"{folder}/", project, note) if folder else None
    failed = (CheckOutcome.MISSING, CheckOutcome.MOVED)
    if absent and absent.outcome in failed and not _find_existing(folder, project):
        rest = claim.text.partition(folder)[2]
        moved = absent.suggestion.rstrip("/") + rest if absent.suggestion else ""
        return replace(absent, problem=f"Folder {folder} does not exist", suggestion=moved)
    return claim.to_unchecked("no file matches the pattern")


def _expand_braces(path: str) -> list[str]:
    pending, done = [path.rstrip("/")], list[str]()
    while pending and len(pending) + len(done) <= _MOST_ALTERNATIVES:
        text = pending.pop()
        match = re.search(r"\{([^{}]*)\}", text)
        if match is None:
            done.append(text)
        else:
            parts = match[1].split(",")
            pending += [text[: match.start()] + part + text[match.end() :] for part in parts]
    return done or [path]


def _check_absent(claim: ProjectClaim, path: str, project: Project, note: Note) -> Verdict | None:
    """Return whether a path that was not listed is missing, or what else it may be."""
    plain = path.rstrip("/")
    tree = project.tree
    exists = project.exists(plain)
    if exists:
        return claim.to_verdict(CheckOutcome.VALID, f"{plain}, which git ignores")
    if exists is None or tree.warning:
        return claim.to_unchecked(tree.warning or "the path contains a symbolic link")
    if project.is_left_out(plain):
        return claim.to_unchecked("ignored by git, or made by tools")
    if _is_placeholder(plain) or plain.rpartition("/")[2] in project.memory_names:
        return None
    if other := _in_other_case(plain, project):
        new = _replace_path(claim.text, path, other)
        return claim.to_verdict(CheckOutcome.MOVED, f"spelled {other}", suggestion=new)
    if old := _find_deleted(path, project):
        if project.is_elsewhere(old):
            return claim.to_unchecked("below a link or a submodule")
        if project.is_left_out(old):
            # git stopped to track it, but it may lie on the machine of the user
            return claim.to_unchecked("ignored by git, or made by tools")
        return check_deleted(claim, path, old, project, note)
    if not _is_anchored(path, project):
        return None
    if same := _only_of_its_name(plain, project):
        new = _replace_path(claim.text, path, same)
        evidence = f"the only file of that name is {same}"
        return claim.to_verdict(CheckOutcome.MOVED, evidence, suggestion=new, is_guess=True)
    if says_gone(note, list_names_of_path(plain)):
        return None
    return claim.to_verdict(CheckOutcome.MISSING, f"no file or folder {plain}")


def _only_of_its_name(path: str, project: Project) -> str:
    """Return the only file of the project with the name of the missing one, where no third file
    ever had that name and most folders of the missing one are among its own; "" otherwise: many
    files are called `index.js`, and have nothing in common.
    """
    folder, _, name = path.rpartition("/")
    same = project.tree.by_name.get(name.lower(), ())
    if len(same) != 1 or not _ENDING.search(name):
        return ""
    before = {it for it in project.history.find_deleted(name) if not f"/{it}".endswith(f"/{path}")}
    wanted = folder.split("/") if folder else []
    shared = Counter(wanted) & Counter(same[0].split("/")[:-1])
    is_near = bool(wanted) and 2 * shared.total() >= len(wanted)
    return same[0] if is_near and before <= {same[0]} else ""


def _find_misnamed(path: str, project: Project) -> str:
    """Return the only file in the folder of a missing one that has its name but for a plural, a
    typing error, the signs between its words, or the number of a long name; "" for none.
    """
    folder, _, name = path.rpartition("/")
    words = _split_name(name)
    beside = project.files_by_folder.get(folder, ()) if folder else ()
    found = [it for it in beside if _is_misnamed(words, _split_name(posixpath.basename(it)))]
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=1 << 14)  # for the files of a folder with many claims
def _split_name(name: str) -> tuple[str, ...]:
    """Return the words of the name of a file, its ending last, in lower case."""
    return tuple(it.lower() for it in _BETWEEN_WORDS.split(name) if it)


def _is_misnamed(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two names of files are one but for what writers get wrong."""
    if words[-1:] != others[-1:]:
        return False
    if len(words) != len(others):
        return "".join(words) == "".join(others)
    wrong = [(one, other) for one, other in zip(words, others, strict=True) if one != other]
    if all(_is_plural(*sorted(pair, key=len)) for pair in wrong):
        return True
    return len(wrong) == 1 and (_is_mistyped(*wrong[0]) or _is_misnumbered(*wrong[0], words))


def _is_plural(one: str, longer: str) -> bool:
    forms = (f"{one}s", f"{one}es", f"{one[:-1]}ies" if one.endswith("y") else "")
    return len(one) >= _SHORTEST_PLURAL and longer in forms


def _is_mistyped(one: str, other: str) -> bool:
    """Return whether a word lacks a letter, has one too many or two exchanged; another letter makes
    a short word another one.
    """
    is_replaced = len(one) == len(other) and sorted(one) != sorted(other)
    fewest = _FEWEST_TO_REPLACE if is_replaced else _FEWEST_TO_MISTYPE
    is_word = one.isalpha() and other.isalpha() and min(len(one), len(other)) >= fewest
    return is_word and bool(find_similar(one, (other,), 1))


def _is_misnumbered(one: str, other: str, words: Sequence[str]) -> bool:
    """Return whether the only number of a telling name is another one, as of a decision that was
    given a new one; days, versions and the parts of a series have several or short ones.
    """
    numbers = [it for it in words if it.isdigit()]
    letters = sum(len(it) for it in words[:-1] if it.isalpha())
    is_number = numbers == [one] and other.isdigit() and len(one) == len(other) == _OF_NUMBER
    return is_number and letters >= _TELLING_LETTERS


def _is_placeholder(path: str) -> bool:
    parts = path.split("/")
    bare = [posixpath.splitext(part)[0] for part in parts]
    known = load_names("placeholder", "names")
    return any(part.lower() in known or _REPEATED.fullmatch(part) for part in (*bare, *parts))


def _in_other_case(path: str, project: Project) -> str:
    if "/" not in path:
        return ""
    same = project.tree.by_name.get(path.rpartition("/")[2].lower(), ())
    wanted = f"/{path.lower()}"
    paths = [other for other in same if f"/{other.lower()}".endswith(wanted)]
    return paths[0] if len(paths) == 1 else ""


def _find_deleted(path: str, project: Project) -> str:
    """Return the deleted path that `path` means; "" where git never had one, or several of a bare
    name. A bare name of a folder, and data, count only from the root: many folders have one of it.
    """
    plain = path.rstrip("/")
    old = project.history.find_deleted(plain)
    if path.endswith("/") and "/" not in plain:
        return next((it for it in old if it.startswith(path)), "")
    if _is_data(plain):
        return plain if plain in old else ""
    is_clear = len(old) == 1 or (old and "/" in plain)
    return old[0] if is_clear else ""


def _is_data(path: str) -> bool:
    """Return whether a file has the ending of data, so that a part of its path says little."""
    ending = posixpath.splitext(path)[1]
    return bool(_ENDING.fullmatch(ending)) and ending[1:].lower() not in load_names(
        "written", "endings"
    )


def check_deleted(
    claim: ProjectClaim, path: str, old: str, project: Project, note: Note
) -> Verdict | None:
    """Return the verdict by the git history of the deleted path `old`; None where `note` knows of
    its deletion.
    """
    plain = path.rstrip("/")
    history = project.history
    commit, new = history.deleted[old], history.find_new_path(old)
    behind = f"/{old}/".partition(f"/{plain}/")[2].rstrip("/")
    if new and behind:
        new = new.removesuffix(f"/{behind}") if new.endswith(f"/{behind}") else ""
    if new and project.tree.has(new):
        evidence = f"git: moved to {new} in {commit.summary}"
        claimed = _replace_path(claim.text, path, new)
        # who named both later means something else by the old path
        is_other = bool(_build_mention(new).search(note.text)) and is_written_after(
            note, claim, commit, project
        )
        return claim.to_verdict(
            CheckOutcome.MOVED,
            evidence,
            suggestion=claimed,
            existed=True,
            is_guess=is_other,
            origin=commit.id,
        )
    if behind and _is_named_in_code(plain, project):
        return claim.to_unchecked("the code names the folder, which may come and go")
    if knows_of(note, list_names_of_path(old.removesuffix(f"/{behind}")), commit, project):
        return None
    last = history.deleted.get(new) if new else None
    lost = f"git: {'moved' if last else 'deleted'} in {commit.summary}"
    deletion = (lost, f"git: {new} deleted in {last.summary}") if last else (lost,)
    same = _only_of_its_name(plain, project)
    if same and _is_alike(old, same, commit, project):
        claimed = _replace_path(claim.text, path, same)
        found = f"{same} has most of its lines"
        return claim.to_verdict(
            CheckOutcome.MOVED,
            *deletion,
            found,
            suggestion=claimed,
            existed=True,
            is_guess=True,
            origin=commit.id,
        )
    # a page without a folder to which nothing links is mostly named as the source of something
    is_bare = "/" not in plain and plain.endswith(_PAGES) and not project.is_of_memory(old)
    is_source = is_bare and f"]({plain})" not in claim.passage.text
    return claim.to_verdict(
        CheckOutcome.MISSING,
        *deletion,
        # a folder that git knew only below another one is not known to have been at this path
        existed=not behind or old.startswith(f"{plain}/"),
        is_guess=is_source or is_written_after(note, claim, commit, project),
        origin=commit.id,
    )


def _is_alike(old: str, new: str, commit: FileCommit, project: Project) -> bool:
    """Return whether the `new` file has most lines of the `old` one, which the `commit` deleted."""
    before = _split_lines(project.history.load_text_at(f"{commit.id}^", old))
    return bool(before) and 2 * len(before & _split_lines(project.load_text(new))) >= len(before)


def _split_lines(text: str) -> frozenset[str]:
    """Return the lines of a text that say something."""
    return frozenset(it.strip() for it in text.split("\n") if _WORD.search(it))


def _is_named_in_code(folder: str, project: Project) -> bool:
    """Return whether the code works with a folder: git keeps none that is empty for the time."""
    place = project.history.find_place(folder, project.memory_folder) if "/" in folder else ""
    return bool(re.search(rf"(?<![\w./-]){re.escape(folder)}(?![\w-])", place))


def _replace_path(claim: str, path: str, new: str) -> str:
    """Return the `claim` with `new` for its `path`, its `./`, slash and line number kept; "" where
    the name would not fit into backticks.
    """
    behind = "/" * path.endswith("/")
    place = _PLACE.search(claim)
    before = "./" if claim.startswith("./") else ""
    if not new.isprintable() or "`" in new:
        return ""
    return f"{before}{new}{behind}{place[0] if place else ''}"


def _is_anchored(path: str, project: Project) -> bool:
    """Return whether `path` begins with a folder of the project, so that the rest should exist."""
    first, _, rest = path.rstrip("/").partition("/")
    if not rest:
        return False
    if not (path.endswith("/") or _ENDING.search(path)):
        return False
    return first in project.tree.folders
