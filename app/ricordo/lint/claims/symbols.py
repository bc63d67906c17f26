"""Claims that a function, class, component, constant or flag is in the code.

Most names in backticks are those of libraries, settings of services or plain words. A name that the
project does not contain is missing only where git knows that its code once had it; without git,
where the same statement names a file of the project.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from heapq import nlargest
from typing import NamedTuple

from ricordo.dates import has_year
from ricordo.lexicon import compile_part, lower_text
from ricordo.lint.claims.awareness import knows_of, list_names_of_path
from ricordo.lint.claims.claim import ProjectClaim, load_names
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS, COMMENT
from ricordo.lint.claims.passages import Passage
from ricordo.lint.claims.project import NoteTimes, Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NAME = r"[A-Za-z_$][\w$]*"
_CALL = compile_lazily(rf"(?:await |new )?((?:{_NAME}(?:\.|::|->|#))*{_NAME})\(.*\)(?:;|\.\.\.)?")
_COMPONENT = compile_lazily(r"</?([A-Z]\w+)(?:\s[^<>]*)?/?>")
_DOTTED = compile_lazily(rf"{_NAME}(?:(?:\.|::|#){_NAME})*")
TELLING_NAME = (
    r"[a-z$_][a-z0-9$]*(?:_[a-z0-9]+)+"  # snake_case
    r"|_*[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+"  # camelCase
    r"|_*(?:[A-Z][a-z0-9]+){2,}[A-Z]*"  # PascalCase
    r"|_*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # CONSTANT_CASE
)
_TELLING = compile_lazily(TELLING_NAME)
_NAMES = compile_lazily(rf"(?<![\w$@:-])(?:{TELLING_NAME})(?![\w$@]|[-.:][\w$])")
"""Names in a list, a row of a table or a sentence; not the parts of paths, packages and slugs."""
_SHORTEST = 6
"""Letters of such a name."""
_PART = compile_lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""A word of a name."""
_CLASS = compile_lazily(r"[A-Z]\w*[a-z]\w*")
_FLAG = compile_lazily(r"(?:^|\s)--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?=$|[\s=])")
_OF_SHELL = (".sh", ".bash", ".zsh", ".yml", ".yaml", "Dockerfile", "Makefile")
_OWN_SCRIPT = compile_lazily(r"[\w./\-]+\.(?:sh|py|js|mjs|cjs|ts|rb|pl|php|zsh|bash)\b")
_PAGES = (".md", ".mdx", ".txt", ".rst", ".yml", ".yaml", ".toml", ".json")
_SEPARATOR = compile_lazily(r"\.|::|->|#")
_IMPORT_END = compile_lazily(r"[./]")
_PACKAGE = compile_lazily(r"@[^/]*/?[^/]*|[^./]*")
_OF_WORKSPACE = ("workspace:", "file:", "link:")
"""How the versions of packages of the project itself begin."""
_MOST_FILES = 12
_MOST_TIMES = 16
"""Commits that are searched because names came to notes then."""
_MOST_PATTERNS = 2_000
"""Patterns of names that are kept: one note after the other has the same names."""
_KNOWN = frozenset((*dir(builtins), *keyword.kwlist))
_FILE_NAME = compile_lazily(
    r".+\.(?:md|txt|json|ya?ml|toml|py|js|ts|tsx|jsx|mjs|cjs|css|scss|html|sh|go|rs|rb|php|sql|env|lock"
    r"|csv|xml|svg|png|jpe?g|webp|gif|pdf|ini|cfg|conf|log|vue|svelte|java|kt|swift|c|h|cpp)"
)


def find_symbol_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the names of code and the flags of scripts that a sentence has in backticks, and each
    name of code in other text.
    """
    for offset, text in passage.code:
        line = passage.line_at(offset)
        if parse_symbol(text):
            yield ProjectClaim(ClaimKind.SYMBOL, text, line, passage)
            if owner := _parse_owner(text):
                yield ProjectClaim(ClaimKind.SYMBOL, owner, line, passage)
        elif _OWN_SCRIPT.search(text):
            for flag in _FLAG.finditer(text):
                yield ProjectClaim(ClaimKind.SYMBOL, f"--{flag[1]}", line, passage)
        elif "." not in text or "/" not in text:
            yield from _find_names(passage, text, offset)
    yield from _find_names(passage, passage.prose, 0)


def _find_names(passage: Passage, text: str, offset: int) -> Iterator[ProjectClaim]:
    """Yield the names of code in a part of a sentence, which begins at `offset`."""
    for match in _NAMES.finditer(text):
        name = match[0]
        if len(name) >= _SHORTEST and not _is_common(name, name):
            line = passage.line_at(offset + match.start())
            yield ProjectClaim(ClaimKind.SYMBOL, name, line, passage)


def parse_symbol(text: str) -> str:
    """Return the name of code in a span in backticks; "" where it is something else."""
    if match := _CALL.fullmatch(text) or _COMPONENT.fullmatch(text):
        name = _SEPARATOR.split(match[1])[-1]
        return name if len(name) > 2 and not _is_common(match[1], name) else ""
    if _FILE_NAME.fullmatch(text) or not _DOTTED.fullmatch(text):
        return ""
    name = _SEPARATOR.split(text)[-1]
    return name if _TELLING.fullmatch(name) and not _is_common(text, name) else ""


def _parse_owner(text: str) -> str:
    """Return the class before the name of a member; "" where there is none."""
    parts = _SEPARATOR.split(text.partition("(")[0])
    is_class = len(parts) > 1 and _CLASS.fullmatch(parts[0]) is not None
    return parts[0] if is_class and parse_symbol(parts[0]) else ""


def _is_common(whole: str, name: str) -> bool:
    common = load_names("common", "words")
    first = _SEPARATOR.split(whole)[0]
    is_placeholder = name.lower() in load_names("placeholder", "names")
    return is_placeholder or bool({whole, name, first} & common) or name in _KNOWN


def get_search_word(claim: ProjectClaim) -> str:
    """Return the word to search the project for."""
    return (
        claim.text.removeprefix("--") if claim.text.startswith("--") else parse_symbol(claim.text)
    )


def list_spellings(word: str) -> tuple[str, ...]:
    """Return a name as it is written, and without or with the sign of a private name."""
    return word, word.lstrip("_") if word.startswith("_") else f"_{word}"


def _list_cases(word: str) -> tuple[str, ...]:
    """Return a name of several words as other languages and layers write it."""
    parts = [it.lower() for it in _PART.findall(word)]
    if not parts:
        return ()
    joined = "".join(map(str.title, parts))
    snake = "_".join(parts)
    return snake, snake.upper(), "-".join(parts), joined, parts[0] + joined[len(parts[0]) :]


def check_symbol(
    claim: ProjectClaim, note: Note, project: Project, beside: Iterable[str]
) -> Verdict | None:
    """Return whether the project contains the name; `beside` are the paths in the same statement.
    None where nothing shows that it is a name of the project: neither its code when the note was
    written or changed nor, without git, one of those paths.
    """
    word, times = get_search_word(claim), project.find_times(note)
    is_marked = _is_marked(claim)
    if not is_marked and has_year(claim.passage.statement.text):
        # what is told of a day
        return None
    spellings = list_spellings(word)
    is_present = project.has_any_word(spellings)
    if is_present and is_marked and (moved := _find_move(word, beside, project, times)):
        path, *evidence = moved
        gone = f"{path} no longer defines {word}"
        moved_away = CheckOutcome.MOVED
        # what moved with it is one thing to tell
        origin = f"{path}: {evidence[0].partition(' ')[0]}"
        told = claim.to_verdict(moved_away, *evidence, existed=True, problem=gone, origin=origin)
        return told and replace(told, is_of_line=True)
    if is_present and is_marked and (lost := _check_lost(claim, note, project, beside)):
        return lost
    left_out = project.tree.warning or project.words.warning
    if is_present:
        is_told = not (left_out or project.is_any_in_code(spellings))
        lost = _check_removed(claim, note, project, times) if is_told else None
        if lost is not None and lost.existed:
            return replace(lost, problem=f"No code of the project has {word}")
        return claim.to_verdict(CheckOutcome.VALID, f"{word} occurs in the project")
    if left_out:
        return claim.to_unchecked(left_out)
    if project.tree.commit:
        return _check_removed(claim, note, project, times)
    if not is_marked or not any(_is_tied(word, path, project) for path in beside):
        return None
    return claim.to_verdict(CheckOutcome.MISSING, f"no file of the project contains {word}")


def _check_removed(
    claim: ProjectClaim, note: Note, project: Project, times: NoteTimes
) -> Verdict | None:
    """Return the verdict that the code of the project lost the name of a claim; None where it never
    had it, or `note` knows of it.
    """
    word, is_marked = get_search_word(claim), _is_marked(claim)
    is_imported = times.written and _find_commit_of(claim, note, project) is None
    if is_imported and not (is_marked or word.isupper()):
        # whose name it is, which is not marked as code, the time of the note could show
        return None
    found = _find_former(claim, note, project, times)
    # what is not marked as code, or a plain word before brackets, may be any word
    is_telling = is_marked and _TELLING.fullmatch(word) is not None
    if found is None or not (found.is_own or is_telling):
        return None
    if is_imported and not (is_marked or found.is_variable):
        return None
    # a variable is set as it is written, but settings may read it as a field in lower case
    cases = (word.lower(),) if found.is_variable else _list_cases(word)
    if project.is_any_in_code(cases):
        return None
    removed = project.history.find_removed(word, *found.paths, since=found.commit)
    if found.is_variable:
        removed = [it for it in removed if any(_reads(path, it[1], word) for path in found.paths)]
    if found.is_earlier and not (removed and found.is_own):
        return None
    if not removed:
        return claim.to_verdict(CheckOutcome.MISSING, found.evidence) if is_marked else None
    path = "" if found.is_variable else found.paths[0]
    commit, names = removed[0][0], {word, *list_names_of_path(path)}
    # who wrote of it later knew that it was gone, or read of it where it still was
    came = project.find_claim_time(note, claim.text.split("\n")[0])
    is_copied = found.is_earlier and found.is_own and is_telling and not claim.is_unsure
    # what came with the very commit is told of that work
    is_known = came == commit.at or (came > commit.at and not is_copied)
    if is_known or knows_of(note, names, commit, project):
        return None
    return claim.to_verdict(
        CheckOutcome.MISSING,
        f"git: removed in {commit.summary}",
        found.evidence,
        # what the code only used may be of a library, or a name inside of one function
        existed=found.is_own,
        origin=commit.id,
    )


def _is_marked(claim: ProjectClaim) -> bool:
    """Return whether the name of a claim is a flag, or in backticks as code is."""
    return claim.text.startswith("--") or any(
        claim.text in text and parse_symbol(text) for _, text in claim.passage.code
    )


def _find_move(
    word: str, beside: Iterable[str], project: Project, times: NoteTimes
) -> tuple[str, ...]:
    """Return the file of the code beside a name that defined it for others when the note was last
    changed, and the evidence that another one defines it now; empty where that is not so, or the
    file still has the name and does not import it.
    """
    before = project.history.graph.find_at(max(times)) if project.tree.commit else None
    named = [it for it in beside if it in project.tree.files and it.endswith(CODE_ENDINGS)]
    if before is None or not named:
        return ()
    if any(_has_own(project.load_text(it), word) for it in named):
        return ()
    hash_, commit = before
    for path in named:
        if _shares(project.history.load_text_at(hash_, path), word):
            others = project.find_files(word, _MOST_FILES)
            now = [it for it in others if it.endswith(CODE_ENDINGS)]
            new = next((it for it in now if _defines(project.load_text(it), word)), "")
            was = f"{path} had it in {commit.summary}"
            return (path, f"{new} defines it now", was) if new else ()
    return ()


def _check_lost(
    claim: ProjectClaim, note: Note, project: Project, beside: Iterable[str]
) -> Verdict | None:
    """Return the verdict that the only file of the code beside a name worked with it when the name
    came to `note`, and has it no more; None where that is not so, the sentence tells what was done
    to the file, or `note` knows of it.
    """
    word = get_search_word(claim)
    named = [it for it in beside if it in project.tree.files and it.endswith(CODE_ENDINGS)]
    is_clear = len(named) == 1 and _TELLING.fullmatch(word) and project.tree.commit
    if not is_clear or _worked().search(lower_text(claim.passage.prose)):
        return None
    (path,), of_name = named, re.compile(rf"(?<![\w$]){re.escape(word)}(?![\w$])")
    before = (
        None if of_name.search(project.load_text(path)) else _find_commit_of(claim, note, project)
    )
    if before is None:
        return None
    hash_, commit = before
    text = project.history.load_text_at(hash_, path)
    if _defines(text, word) and not _shares(text, word):
        # a name inside of one function comes and goes
        return None
    lines = text.split("\n")
    had = any(of_name.search(it) and not COMMENT.match(it) for it in lines)
    removed = project.history.find_removed(word, path, since=hash_) if had else ()
    if not removed or knows_of(note, {word}, removed[0][0], project):
        return None
    told = claim.to_verdict(
        CheckOutcome.MISSING,
        f"git: removed in {removed[0][0].summary}",
        f"{path} had it in {commit.summary}",
        existed=True,
        problem=f"{path} no longer has {word}",
        origin=removed[0][0].id,
    )
    return told and replace(told, is_of_line=True)


@cache
def _worked() -> re.Pattern[str]:
    """Return the pattern of what was done to code, for texts in lower case."""
    return compile_part("probes", "worked")


def _has_own(text: str, name: str) -> bool:
    """Return whether code has a name that it does not import: by its definition, or from a call."""
    if name not in text or _defines(text, name):
        return name in text
    is_named = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text) is not None
    return is_named and not _build_import(name).search(text)


def _defines(text: str, name: str) -> bool:
    if name not in text:
        return False
    definition = build_definition(name)
    return any(name in line and definition.match(line) for line in text.split("\n"))


def _shares(text: str, name: str) -> bool:
    """Return whether code defines a name for other code."""
    definition = _build_shared_definition(name)
    return any(name in line and definition.match(line) for line in text.split("\n"))


def _find_owner(text: str, name: str, project: Project) -> bool | None:
    """Return whether the code imports a name from the project itself; False where it is from a
    library: then it is gone with the last use of it, and may be the same as ever. None where the
    code does not import it.
    """
    if name not in text or _defines(text, name):
        return None
    sources = [next(filter(None, it.groups())) for it in _build_import(name).finditer(text)]
    if not sources:
        return None
    return any(_is_own(it, project) for it in sources)


def _is_own(source: str, project: Project) -> bool:
    """Return whether an import is from the project itself: by a path, or an alias that is named
    after one of its folders and is no package that it requires.
    """
    if source.startswith((".", "/", "~", "@/", "#", "$")):
        return True
    code = (it for it in project.tree.files if it.endswith(CODE_ENDINGS))
    own = {*project.folder_names, *(it.rpartition(".")[0] for it in code)}
    package, manifests = _PACKAGE.findall(source)[0], project.manifests
    is_required = package not in manifests.projects and any(
        not it.version.startswith(_OF_WORKSPACE) for it in manifests.find_versions(package)
    )
    return _IMPORT_END.split(source.lstrip("@"))[0] in own and not is_required


@lru_cache(maxsize=_MOST_PATTERNS)
def _build_import(name: str) -> re.Pattern[str]:
    """Return the pattern of an import of `name`, with its source."""
    word = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    return re.compile(
        rf"""\bimport\b[^;'"]{{0,2000}}{word}[^;'"]{{0,2000}}\bfrom\s*['"]([^'"\n]+)['"]"""
        rf"|^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b(?:[^()\n]*|[ \t]*\([^()]*){word}"
        rf"|^[ \t]*import[ \t]+(?:([\w.]+)[ \t]+as[ \t]+)?({word})(?=[ \t.,;]|$)",
        re.MULTILINE,
    )


@lru_cache(maxsize=_MOST_PATTERNS)
def build_definition(name: str) -> re.Pattern[str]:
    """Return the pattern of a line of code that defines `name`."""
    return re.compile(
        r"\s*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final"
        r"|pub(?:\([\w :]+\))?|unsafe|open|override|virtual|sealed|const)\s+)*"
        r"(?:def|class|function|func|fn|fun|const|let|var|struct|interface|type|enum|trait|object"
        rf"|module|protocol)\s+(?:\([^)]*\)\s*)?{re.escape(name)}(?!\w)"
        # a constant of a module
        rf"|{re.escape(name)}\s*(?::[^=]+)?="
    )


@lru_cache(maxsize=_MOST_PATTERNS)
def _build_reading(name: str) -> re.Pattern[str]:
    """Return the pattern of code that reads the environment variable `name`, which is the only
    place that makes it one: `os.environ["X"]`, `process.env.X`, `env::var("X")`.
    """
    return re.compile(
        r"(?i:env|environ|environmentvariable|env_?var)\W{1,3}(?:(?i:get|fetch|var|var_os)\W{1,3})?"
        rf"{re.escape(name)}(?!\w)"
    )


@lru_cache(maxsize=_MOST_PATTERNS)
def _build_expansion(name: str) -> re.Pattern[str]:
    """Return the pattern of `$X` and `${X}`, which read a variable in scripts of a shell and in the
    files of its tools.
    """
    return re.compile(rf"\$\{{?{re.escape(name)}(?!\w)")


def _reads(path: str, line: str, name: str) -> bool:
    """Return whether a line of the file at `path` reads the environment variable `name`."""
    is_shell = path.endswith(_OF_SHELL)
    return bool(
        _build_reading(name).search(line) or (is_shell and _build_expansion(name).search(line))
    )


@lru_cache(maxsize=_MOST_PATTERNS)
def _build_shared_definition(name: str) -> re.Pattern[str]:
    """Return the pattern of a line of code that defines `name` for other code: no variable inside
    of a function.
    """
    word = rf"{re.escape(name)}(?![\w$])"
    return re.compile(
        r"\s*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final"
        r"|pub(?:\([\w :]+\))?|unsafe|open|override|virtual|sealed|const|declare)\s+)*"
        r"(?:def|class|function\*?|func|fn|fun|struct|interface|type|enum|trait|object|module"
        rf"|mixin|extension|protocol)\s+(?:\([^)]*\)\s*)?{word}"
        # a constant or variable of a module
        rf"|(?:export\s+)?(?:default\s+)?(?:const|let|var|val|final|static)\s+(?:\w+\s+)?{word}"
        rf"|{word}\s*(?::[^=]+)?=(?!=)"
        # a function as a value
        rf"|\s*(?:export\s+)?(?:const|let|var)\s+{word}[^=]*=\s*(?:async\b|function\b|.*=>\s*[{{(]?\s*$)"
        # a method without a word before it
        rf"|\s*(?:[\w<>\[\]?,.]+\s+){{0,6}}{word}\s*\([^;]*\)\s*(?::[^={{]+|async\*?\s*)?\{{\s*$"
        # one of an expression, behind its type
        rf"|\s*(?!(?:return|await|yield|else|case|throw|new)\s)(?:[\w<>\[\]?,.]+\s+){{1,6}}{word}"
        rf"\s*\([^;]*\)\s*(?:async\s*)?=>"
        # of a database
        rf"|\s*(?i:create\s+(?:or\s+replace\s+)?(?:unique\s+)?\w+\s+(?:if\s+not\s+exists\s+)?)"
        rf"[`\"\[]?(?:\w+\.)?[`\"\[]?{word}"
    )


def search_removed(
    claims_of: Iterable[tuple[Note, Sequence[ProjectClaim]]],
    project: Project,
    step: Callable[[], None],
) -> None:
    """Search the code at the times of some notes, when the names in their claims came to them, and
    in samples of all times, for all of these that it does not contain now, and the present code for
    how these may be written else: at once for many commits and words, which is faster than one by
    one. `step` is called before each search.
    """
    absent: dict[str, set[str]] = defaultdict(set)
    later: dict[str, set[str]] = defaultdict(set)
    every: set[str] = set()
    graph = project.history.graph
    for note, claims in claims_of:
        missing = {
            word: it
            for it in claims
            if not project.is_any_in_code(list_spellings(word := get_search_word(it)))
        }
        every.update(missing)
        for moment in set(project.find_times(note)) if missing else ():
            if before := graph.find_at(moment):
                absent[before[0]].update(missing)
        for word, claim in missing.items():
            if before := _find_commit_of(claim, note, project):
                later[before[0]].add(word)
    # a note that is long kept got its names at many times
    for hash_ in nlargest(_MOST_TIMES, later, key=lambda it: len(later[it])):
        absent[hash_] |= later[hash_]
    step()
    project.search_words(case for word in every for case in _list_cases(word))
    telling = {it for it in every if _TELLING.fullmatch(it)}
    for hash_, _ in graph.samples if telling else ():
        absent[hash_].update(telling)
    project.history.search_words_at(absent, step)


def _find_commit_of(
    claim: ProjectClaim, note: Note, project: Project
) -> tuple[str, FileCommit] | None:
    """Return the last commit of the project when the text of a claim came to its note; None where
    that is not known.
    """
    moment = project.find_claim_time(note, claim.text.split("\n")[0])
    return project.history.graph.find_at(moment) if moment else None


class _Former(NamedTuple):
    """The code that had a name once."""

    is_earlier: bool
    """Whether it had it before the note was written, and not since."""

    paths: Sequence[str]
    """The file that had it; of a variable of the environment also others that had it."""
    is_variable: bool
    """Whether the code read it from the environment."""
    is_own: bool
    """Whether it defined the name, imported it from the project or read it from the environment,
    and did not only use it.
    """
    evidence: str
    commit: str
    """The commit in which it had the name."""


def _find_former(
    claim: ProjectClaim, note: Note, project: Project, times: NoteTimes
) -> _Former | None:
    """Return the code that had the name of a claim at one of the `times` of the note, when the name
    came to it or, by samples, at any time; None where none had, or it was that of a library.
    """
    word, history = get_search_word(claim), project.history
    at_times = [history.graph.find_at(it) for it in dict.fromkeys((times.changed, times.written))]
    came = _find_commit_of(claim, note, project)
    if came and history.is_searched(came[0], word):
        at_times.append(came)
    # what is no telling name may be any word of another time
    samples = history.graph.samples if _TELLING.fullmatch(word) else ()
    for before in dict.fromkeys((*at_times, *samples)):
        files = history.find_files_at(before[0], word) if before else ()
        if before is None or not files:
            continue
        hash_, commit = before
        lines = history.find_lines_at(hash_, word)
        owner, definition = _SEPARATOR.split(claim.text)[0], _build_shared_definition(word)
        own = next((it for it, line in lines if definition.match(line)), "")
        read = (it for it, line in lines if _reads(it, line, word))
        variable = next(read, "") if not own and word.isupper() and word[0] != "_" else ""
        path = own or variable or files[0]
        text = history.load_text_at(hash_, path)
        owners = [_find_owner(text, name, project) for name in {word, owner}]
        # what git ignores now may lie on the machine of the user
        is_here = not (project.is_elsewhere(path) or project.is_left_out(path))
        if False not in owners and is_here:
            had = f"{path} had it in {commit.summary}"
            is_earlier = before not in at_times and commit.at < (times.written or commit.at + 1)
            is_own = bool(own or variable) or True in owners
            every = (*at_times, *samples)
            paths = _list_readers(word, path, every, project) if variable else (path,)
            return _Former(is_earlier, paths, bool(variable), is_own, had, hash_)
    return None


def _list_readers(
    word: str, path: str, times: Iterable[tuple[str, FileCommit] | None], project: Project
) -> Sequence[str]:
    """Return the files that had a word at some times, that at `path` first: a few, for git looks
    for removals in all of them.
    """
    found = {path: None}
    for before in dict.fromkeys(times):
        files = project.history.find_files_at(before[0], word) if before else ()
        found.update(dict.fromkeys(it for it in files if not project.is_told(it)))
    return list(found)[:_MOST_FILES]


def _is_tied(word: str, path: str, project: Project) -> bool:
    """Return whether a path beside a name shows that the name is of the project."""
    # an environment variable is often named beside the page that explains it
    is_page = path.lower().endswith(_PAGES)
    return project.tree.has(path) and not (word.isupper() and is_page)
