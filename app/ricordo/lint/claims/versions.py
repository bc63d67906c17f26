"""Claims on versions, ports and constants, checked in manifests and code."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from ricordo.dates import has_year
from ricordo.lexicon import SPACELESS, build_alternation, list_expressions, lower_text
from ricordo.lint.claims.claim import ProjectClaim
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.manifests import DeclaredVersion
from ricordo.lint.claims.passages import Passage
from ricordo.lint.claims.project import Project
from ricordo.lint.claims.symbols import TELLING_NAME
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import HEADING
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NUMBER = r"v?(\d+(?:\.(?:\d+|x)){0,3})"
_PINNED = compile_lazily(rf"(@?[A-Za-z][\w.\-/]*)@[~^]?{_NUMBER}")
_SPOKEN = compile_lazily(
    rf"(?<![\w/.@-])([A-Za-z][\w.\-]*?(?:\.js)?) {_NUMBER}(?![\w%+]|\.\d|[-/–:]\d)"
)
_LISTED = compile_lazily(
    rf"(?<![\w/.@-])([A-Za-z][\w.\-]*?(?:\.js)?)(?=[^\w.-])\*{{0,2}}\s?[:：|(]?\*{{0,2}}\s?[~^]?"
    rf"{_NUMBER}(?:(?<=\.\d)|(?<=\.\d\d)|(?<=x)|(?=\*{{0,2}}\s*(?:[|,;()（），、+]|[—–-]\s|$)))"
    r"(?![\w%+]|\.\d|[-/–:]\d)"
)
"""A product and its version in a list or a table: the name is emphasised, or a colon, a bracket or
the border of a cell is between them. A whole number ends an item, or it may count something.
"""
_DIGITS = compile_lazily(r"\d+")
_REQUIRED = compile_lazily(r"[~^]?\d+(?:\.\d+)*")
_RANGE = compile_lazily(r"[|,]|\s-\s|\*|^(?:workspace|file|link|git|http|npm|catalog):|^latest$|^>")
_PORT = compile_lazily(r"\bport (\d{2,5})\b", re.IGNORECASE)
_KEY = rf"(?P<name>{TELLING_NAME})"
_SET = compile_lazily(rf"{_KEY}\s*[=:]\s*(?P<value>-?\d[\d_.]*|true|false|True|False)")
_SPOKEN_VALUE = compile_lazily(
    rf"(?<![\w/*+^$-])`?{_KEY}`?\*{{0,2}}\s?"
    r"(?:\(|\||[=:：]|is|are|ist|est|es|è|é|为|是|は)?\s?"
    r"(?:\*\*|`)?(?P<value>-?\d(?:[\d_]*\d)?(?:\.\d+)?)"
    r"(?:\s?(?P<unit>ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|[KkMm]i?[Bb]|%"
    r"|percent))?(?![\w.%]|\s?(?:→|->|[-–…]\d|×|x\d))"
)
"""A constant or a setting with its value in prose or in a row of a table; not one that the text
changes.
"""
_CONDITION = compile_lazily(r"\?[^?:]*:\s*\Z")
_PAGES = (".md", ".mdx", ".txt", ".rst", ".html", ".svg")
_TEMPLATE = compile_lazily(r"[._-](?:example|sample|template|dist|default)s?(?:\.|$)")
"""The name of a file that is copied and filled in."""
_ENVIRONMENT = compile_lazily(r"(?:^|/)\.env(?:[.:]|$)|\.env:")
"""The path of a file with the settings of one environment, of which there are several."""
_CLAUSE_END = compile_lazily(r"[,;:(）（)，、：。]\s?|\s[–—-]\s|\.\s|\n")
_MARKERS = " \t`*_-+|>#"
"""What may come before the first word of a clause."""
_FILE = compile_lazily(r"(?<![\w/.@-])(?:[\w.\-]+/)*[\w.\-]+\.[A-Za-z]\w{0,7}(?![\w/])")
_MOST_FILES = 12
_LONGEST_LINE = 500
"""Characters."""
_WORD = compile_lazily(r"[^\W\d_]{3,}")
_LANGUAGES = frozenset(("python", "php", "ruby", "go", "rust"))
"""Languages of which a minor version has what code needs, as major ones of other products do."""
_NO_PRODUCTS = frozenset(
    ("version", "step", "phase", "part", "port", "level", "chapter", "section")
)


def find_version_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the versions in a sentence: `name@1.2` in backticks, `Name 1.2` in plain text or as an
    item of a list or a table, and the one that it calls the current one.
    """
    for match in _find_current(passage.text):
        start, end = match.span()
        text = passage.text[start:end]
        yield ProjectClaim(ClaimKind.VERSION, text, passage.line_at(start), passage)
    for offset, text in passage.code:
        if _PINNED.fullmatch(text):
            yield ProjectClaim(ClaimKind.VERSION, text, passage.line_at(offset), passage)
    if not _DIGITS.search(passage.prose) or HEADING.match(passage.statement.text):
        # the version in a title is the one since which its text applies
        return
    for match in _SPOKEN.finditer(passage.prose):
        before = passage.prose[: match.start()]
        is_named = _is_version(match, is_first=not before.strip(" -*+#|>"))
        # Go 1.22 and code right behind it say since when a language has that
        is_of_code = match[1].lower() in _LANGUAGES and passage.text.startswith(" `", match.end())
        if is_named and not is_of_code and not _denied().search(lower_text(before)):
            yield ProjectClaim(ClaimKind.VERSION, match[0], passage.line_at(match.start()), passage)
    for match in _LISTED.finditer(passage.text):
        before = passage.text[: match.start()]
        is_plain = passage.prose.startswith(match[1], match.start())
        # one of something is no version
        is_version = match[1].lower() not in _NO_PRODUCTS and match[2] not in ("0", "1")
        is_new = is_plain and is_version and not _SPOKEN.fullmatch(match[0])
        if is_new and not _denied().search(lower_text(before)):
            yield ProjectClaim(ClaimKind.VERSION, match[0], passage.line_at(match.start()), passage)


def _is_version(match: re.Match[str], *, is_first: bool) -> bool:
    """Return whether a word and a number are a product and its version, unlike “open 3 files”."""
    name, number = match[1], match[0][len(match[1]) + 1 :]
    if name.lower() in _NO_PRODUCTS:
        return False
    is_named = any(char.isupper() for char in name[1:]) or "." in name
    is_numbered = "." in number or number.startswith("v")
    return is_named or is_numbered or (name[0].isupper() and not is_first)


@cache
def _denied() -> re.Pattern[str]:
    """Return the pattern of the end of a text that denies what comes next: `there is no`."""
    words = build_alternation(list_expressions("opposition", "negation"))
    between = rf"[{SPACELESS}]{{0,4}}|(?:[ `*_(\"'-]{{1,3}}\w+){{0,2}}"
    return re.compile(rf"(?:{words})(?:{between})[ `*_(\"'-]{{0,3}}\Z")


def check_version(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Return whether a manifest requires that version, or the project's pages for readers have it;
    None where none names the product.
    """
    if current := next(_find_current(claim.text), None):
        return _check_current(claim, current["number"], project)
    patterns = (_PINNED, _SPOKEN, _LISTED)
    match = next(filter(None, (it.fullmatch(claim.text) for it in patterns)), None)
    if match is None:
        return None
    declared = project.manifests.find_versions(match[1])
    if not declared:
        return _check_described(claim, match[1], match[2], project)
    claimed = match[2].split(".")
    evidence = [f"{each.path}: {each.name} {each.version}" for each in declared]
    agree = [_agrees(claimed, each) for each in declared]
    if True in agree:
        return claim.to_verdict(CheckOutcome.VALID, evidence[agree.index(True)])
    if None in agree:
        return claim.to_unchecked(evidence[agree.index(None)])
    if any(_is_beside(each.version, claim) for each in declared):
        # who gives both knows which is which
        return None
    was_required = _was_required(claimed, declared, project)
    if not was_required and all(int(claimed[0]) > _get_major(each) for each in declared):
        # what was never that new is another product of the same name
        return claim.to_unchecked(evidence[0])
    # who is told of an older minor version of a product does nothing wrong with it
    is_step = match[1].lower() not in _LANGUAGES and all(
        0 < int(claimed[0]) == _get_major(each) for each in declared
    )
    existed = was_required and not is_step
    return claim.to_verdict(CheckOutcome.CHANGED, *evidence[:3], existed=existed)


def _is_beside(version: str, claim: ProjectClaim) -> bool:
    """Return whether the statement of a claim has the `version` that a manifest requires, too."""
    number = version.lstrip("^~>=<v ")
    if "." not in number:
        return False
    others = claim.passage.statement.text.replace(claim.text, "")
    return re.search(rf"(?<![\w.]){re.escape(number)}(?!\w|\.\d)", others) is not None


def _find_current(text: str) -> Iterator[re.Match[str]]:
    """Yield where a text gives the current version of the project."""
    if "." in text:
        yield from _current().finditer(lower_text(text))


@cache
def _current() -> re.Pattern[str]:
    words = build_alternation(list_expressions("status", "current_version"))
    return re.compile(
        rf"(?:{words})(?:\s*\([^()\n]*\))?[\s*_`:：=]*(?:is|ist|est|es|è|é|为|是)?[\s*_`]*"
        r"v?(?P<number>\d+(?:\.\d+){1,3})(?![\w.]*\d)"
    )


def _check_current(claim: ProjectClaim, version: str, project: Project) -> Verdict | None:
    """Return whether the project is at that version: by its manifests, else by its tags, else by
    the files at its root that had it. A version that git knows of none of them is that of a part.
    """
    claimed = _to_numbers(version)
    own = [(f"{it.path}: {it.version}", _to_numbers(it.version)) for it in project.manifests.own]
    newest = project.history.graph.newest_version
    was = any(project.history.find_removed(version, it.path) for it in project.manifests.own)
    if not own and newest:
        own = [(f"git: tag {newest[0]} at {newest[1].summary}", _to_numbers(newest[0]))]
        was = project.history.graph.find_tag(version) is not None
    if not own:
        own = list(_find_successors(version, project))
        was = bool(own)
    if not own or has_year(claim.passage.text):
        return None
    if any(numbers[: len(claimed)] == claimed for _, numbers in own):
        return claim.to_verdict(CheckOutcome.VALID, own[0][0])
    if not was or not all(numbers > claimed for _, numbers in own):
        return None
    return claim.to_verdict(CheckOutcome.CHANGED, own[0][0], existed=True)


def _find_successors(version: str, project: Project) -> Iterator[tuple[str, list[int]]]:
    """Yield the lines of files at the root that had `version` and have another one now."""
    for commit, line in project.history.find_removed(version, ":(glob)*"):
        before, _, behind = line.partition(version)
        if len(line) > _LONGEST_LINE or not _WORD.search(before + behind):
            continue
        now = re.compile(rf"\s*{re.escape(before)}(\d+(?:\.\d+)+){re.escape(behind)}\s*")
        for path in project.tree.files:
            text = project.load_text(path) if "/" not in path else ""
            for number, present in enumerate(text.split("\n"), 1):
                if match := now.fullmatch(present):
                    place = f"{path}:{number}: {present.strip()[:80]}"
                    yield f"{place}, git: changed in {commit.summary}", _to_numbers(match[1])
                    return


def _check_described(
    claim: ProjectClaim, name: str, version: str, project: Project
) -> Verdict | None:
    """Return whether a page that introduces the project to readers has that version; None unless
    one had it, and has only newer ones of the same name now.
    """
    named = re.compile(rf"(?<![\w/.-]){re.escape(name)} v?(\d+(?:\.\d+)+)(?![\w-]|\.\d)")
    claimed = _to_numbers(version)
    # a sentence with a date tells of that day
    if len(claimed) < 2 or has_year(claim.passage.text):
        return None
    for path in project.introductions:
        places = [
            (number, match)
            for number, line in enumerate(project.load_text(path).split("\n"), 1)
            for match in named.finditer(line)
        ]
        numbers = [_to_numbers(match[1]) for _, match in places]
        if any(it[: len(claimed)] == claimed for it in numbers):
            return claim.to_verdict(CheckOutcome.VALID, f"{path} has it")
        removed = project.history.find_removed(f"{name} v{version}", path) if numbers else ()
        if removed and min(numbers) > claimed:
            line, match = places[0]
            evidence = (f"{path}:{line}: {match[0]}", f"git: changed in {removed[0][0].summary}")
            return claim.to_verdict(CheckOutcome.CHANGED, *evidence, existed=True)
    return None


def _to_numbers(version: str) -> list[int]:
    return list(map(int, _DIGITS.findall(version)))


def _was_required(claimed: list[str], declared: list[DeclaredVersion], project: Project) -> bool:
    """Return whether a manifest once required that version."""
    for each in declared:
        # a file that pins a toolchain need not have its name
        is_named = each.name in project.load_text(each.path)
        word = each.name if is_named else ".".join(claimed)
        for _, line in project.history.find_removed(word, each.path):
            number = _REQUIRED.search(line.partition(each.name)[2] if is_named else line)
            if number and _agrees(claimed, each._replace(version=number[0])):
                return True
    return False


def _agrees(claimed: list[str], declared: DeclaredVersion) -> bool | None:
    """Return whether the numbers of a version, however many, agree with the required one; None
    where the requirement allows many versions.
    """
    required = _DIGITS.findall(declared.version)
    if not required or _RANGE.search(declared.version.strip()):
        return None
    if claimed[0] != required[0]:
        return False
    # the third number changes with every update of a lock file: who copied it means that day
    if len(claimed) > 2 and required[0] != "0":
        return True
    minor, least = ([*numbers, "x"][1] for numbers in (claimed, required))
    if "x" in (minor, least) or minor == least:
        return True
    return _allows_newer(declared) and required[0] != "0" and int(minor) > int(least)


def _get_major(declared: DeclaredVersion) -> int:
    return int(_DIGITS.findall(declared.version)[0])


def _allows_newer(declared: DeclaredVersion) -> bool:
    """Return whether a newer minor version is allowed: by `^`, and by Cargo without an operator."""
    version = declared.version.strip()
    return version.startswith("^") or (
        declared.path.endswith("Cargo.toml") and version[0].isdigit()
    )


def find_value_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield ports, and constants with their values: numbers and booleans only, for a string may be
    a secret.
    """
    taken: list[tuple[int, int]] = []
    for offset, text in passage.code:
        if _SET.fullmatch(text):
            taken.append((offset, offset + len(text)))
            yield ProjectClaim(ClaimKind.VALUE, text, passage.line_at(offset), passage)
    if not _DIGITS.search(passage.text):
        return
    for match in _SPOKEN_VALUE.finditer(passage.text):
        is_taken = any(start <= match.start("name") < end for start, end in taken)
        if not is_taken and not _is_otherwise(match, passage):
            yield ProjectClaim(ClaimKind.VALUE, match[0], passage.line_at(match.start()), passage)
    for match in _PORT.finditer(passage.prose):
        yield ProjectClaim(ClaimKind.VALUE, match[0], passage.line_at(match.start()), passage)


def _is_otherwise(match: re.Match[str], passage: Passage) -> bool:
    """Return whether a value is what code takes where a condition is not met: `a ? b : 4`."""
    at = match.start("value")
    return any(
        offset <= at <= offset + len(text) and _CONDITION.search(text, 0, at - offset)
        for offset, text in passage.code
    )


_NAME_PARTS = compile_lazily(r"[^\W\d_]+")
_FEWEST_LETTERS = 4
"""Letters of a word of a name that tells what a line is about."""


class _Value(NamedTuple):
    """A value of a constant, in the note or in the code."""

    text: str
    """As written, without its unit."""
    unit: str = ""

    @property
    def amounts(self) -> frozenset[float | str]:
        """What it may amount to: a number with a unit also in the smaller units of the code."""
        bare = self.text.replace("_", "").lower()
        try:
            number = float(bare)
        except ValueError:
            return frozenset((bare,))
        factors = _FACTORS.get(self.unit.lower(), ())
        return frozenset((number, *(number * factor for factor in factors)))


_FACTORS: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), (1000.0,)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), (60.0, 60_000.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), (60.0, 3_600.0, 3_600_000.0)),
    **dict.fromkeys(("d", "day", "days"), (24.0, 1_440.0, 86_400.0, 86_400_000.0)),
    **dict.fromkeys(("kb", "kib"), (1_000.0, 1_024.0)),
    **dict.fromkeys(("mb", "mib"), (1e6, 1_048_576.0)),
    **dict.fromkeys(("%", "percent"), (0.01,)),
}
"""How many of the units in which code may count the same are in one unit of a text."""


def get_search_words(claim: ProjectClaim) -> list[str]:
    """Return the words to search the project for, for a claim on a value."""
    match = _SET.fullmatch(claim.text) or _SPOKEN_VALUE.fullmatch(claim.text)
    return [match["name"]] if match else _DIGITS.findall(claim.text)


def find_series(claims: Iterable[ProjectClaim]) -> frozenset[str]:
    """Return the names to which a note gives several values, each in another of its statements: it
    tells how they changed over time.
    """
    values: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for claim in claims:
        match = _SET.fullmatch(claim.text) or _SPOKEN_VALUE.fullmatch(claim.text)
        if match and claim.kind is ClaimKind.VALUE:
            amount = match["value"].replace("_", "").lower()
            values[match["name"]][amount].add(claim.passage.statement.line)
    return frozenset(
        name
        for name, lines in values.items()
        if len(lines) > 1 and len(set().union(*lines.values())) > 1
    )


def check_value(
    claim: ProjectClaim, note: Note, project: Project, series: Collection[str]
) -> Verdict | None:
    """Return whether the code sets the constant to that value, or contains the port; `series` are
    the names of which the note gives the values over time.
    """
    match = _SET.fullmatch(claim.text) or _SPOKEN_VALUE.fullmatch(claim.text)
    word = get_search_words(claim)[0]
    if not project.has_word(word):
        return claim.to_unchecked(f"{word} does not occur in the project")
    if match is None:
        return claim.to_verdict(CheckOutcome.VALID, f"{word} occurs in the project")
    definitions = list(_find_definitions(word, project))
    if not definitions:
        return claim.to_unchecked(f"{word} has no literal value in the project")
    claimed = _Value(match["value"], match.groupdict().get("unit") or "")
    place, value = definitions[0]
    if any(claimed.amounts & _Value(other).amounts for _, other in definitions):
        return claim.to_verdict(CheckOutcome.VALID, f"{place}: {word} = {value}")
    if len({_Value(other).amounts for _, other in definitions}) > 1:
        return claim.to_unchecked(f"{word} has several values in the project")
    if word in series:
        return claim.to_unchecked(f"the note gives {word} several values")
    if _is_order(claim):
        return claim.to_unchecked(f"the note says to set {word}")
    if _tells_change(note, word, claimed.text, value):
        return claim.to_unchecked(f"the note has the change of {word}")
    # what the code sets holds wherever it runs
    of_code = (it for it in definitions if not _ENVIRONMENT.search(it[0]))
    definition = next(of_code, definitions[0])
    verdict = _build_refutation(claim, claimed, word, definition, project)
    path = definition[0].rpartition(":")[0]
    if verdict and _names_other_files(claim, note, path):
        return claim.to_unchecked(f"the note names another file than {path}")
    return verdict


def _tells_change(note: Note, name: str, before: str, after: str) -> bool:
    """Return whether a line of a note with a word of the `name` of a constant says that one value
    became the other: `hold: 200→50`.
    """
    if before not in note.text:
        return False
    arrow = r"[`\s]{0,4}(?:→|⇒|->|=>)[`\s]{0,4}"
    change = re.compile(
        rf"(?<![\w.→>]){re.escape(before)}{arrow}{re.escape(after)}(?!\.?\w)(?!{arrow}\d)"
    )
    words = [it for it in _NAME_PARTS.findall(name.lower()) if len(it) >= _FEWEST_LETTERS]
    lines = (line.lower() for line in note.text.split("\n") if change.search(line))
    return any(word in line for line in lines for word in words)


def _is_order(claim: ProjectClaim) -> bool:
    """Return whether a sentence says to set a constant, not what its value is: the part of it with
    the constant begins with such a word or, where verbs come last, one follows the value.
    """
    text = lower_text(claim.passage.text)
    start = claim.passage.text.find(claim.text)
    before = _CLAUSE_END.split(text[: max(start, 0)])[-1]
    is_before = _order("order").match(before.lstrip(_MARKERS))
    return bool(is_before or _order("order_behind").match(text[start + len(claim.text) :]))


@cache
def _order(part: str) -> re.Pattern[str]:
    words = build_alternation(list_expressions("probes", part))
    return re.compile(rf"[\s`*_]*(?:{words})")


def _names_other_files(claim: ProjectClaim, note: Note, path: str) -> bool:
    """Return whether the section of a claim names files, but not the one at `path`."""
    lines = note.text.split("\n")
    begin = next((n for n in range(claim.line - 1, -1, -1) if HEADING.match(lines[n])), 0)
    after = range(claim.line, len(lines))
    end = next((n for n in after if HEADING.match(lines[n])), len(lines))
    section = "\n".join(lines[begin:end])
    named = [it for it in _FILE.findall(section) if it.endswith(CODE_ENDINGS)]
    stem = posixpath.splitext(posixpath.basename(path))[0]
    is_named = re.search(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", section)
    return bool(named) and not is_named


def _build_refutation(
    claim: ProjectClaim,
    claimed: _Value,
    word: str,
    definition: tuple[str, str],
    project: Project,
) -> Verdict | None:
    """Return the verdict that the code has another value than the one `claimed`. Text that only
    looks like a value counts where git knows that the code once had it.
    """
    if not word.isupper() and claim.is_unsure:
        return None
    place, value = definition
    evidence = [f"{place}: {word} = {value}"]
    was = _find_earlier(word, claimed, place.rpartition(":")[0], project)
    is_code = claim.text in (text for _, text in claim.passage.code)
    if was is not None:
        evidence.append(f"git: changed in {was.summary}")
    elif _ENVIRONMENT.search(place) or not (word.isupper() and is_code):
        return None
    before, _, behind = claim.text.rpartition(claimed.text)
    new = "" if claimed.unit else before + value + behind
    changed = CheckOutcome.CHANGED
    return claim.to_verdict(changed, *evidence, suggestion=new, existed=was is not None)


def _find_earlier(word: str, claimed: _Value, path: str, project: Project) -> FileCommit | None:
    """Return the commit that replaced the value `claimed` in the file at `path`."""
    definition = _build_definition(word)
    for commit, line in project.history.find_removed(word, path):
        match = definition.match(line)
        if match and claimed.amounts & _Value(match[1]).amounts:
            return commit
    return None


def _build_definition(name: str) -> re.Pattern[str]:
    """Return the pattern of a line that sets `name` to a literal number or boolean."""
    return re.compile(
        r"[ \t]*(?:(?:export|const|let|var|static|final|pub|public|private|readonly|#define)"
        r"[ \t]+)*"
        rf"[\"']?{re.escape(name)}[\"']?[ \t]*(?::[ \t]*[\w<>\[\].,]+[ \t]*=|[:=]|:=|[ \t])"
        r"[ \t]*(-?\d[\d_.]*|true|false|True|False)[ \t]*(?:[;,#]|//|/\*|$)"
    )


def _find_definitions(name: str, project: Project) -> Iterator[tuple[str, str]]:
    """Yield each place that sets the constant `name` to a literal value, and the value."""
    definition = _build_definition(name)
    for path in project.find_files(name, _MOST_FILES):
        if path.endswith(_PAGES) or path.startswith(project.memory_folder or "\0"):
            continue
        if _TEMPLATE.search(path):
            # what everyone replaces
            continue
        for number, line in enumerate(project.load_text(path).split("\n"), 1):
            is_short = name in line and len(line) <= _LONGEST_LINE
            if is_short and (match := definition.match(line.rstrip("\r"))):
                yield f"{path}:{number}", match[1].rstrip(".")
