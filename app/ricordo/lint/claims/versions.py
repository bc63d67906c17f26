"""Claims on versions, ports and constants, checked in manifests and code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.lint.claims.claim import Passage, ProjectClaim
from ricordo.lint.claims.manifests import DeclaredVersion
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.patterns import compile_lazily

_NUMBER = r"v?(\d+(?:\.(?:\d+|x)){0,3})"
_PINNED = compile_lazily(rf"(@?[A-Za-z][\w.\-/]*)@[~^]?{_NUMBER}")
_SPOKEN = compile_lazily(
    rf"(?<![\w/.@-])([A-Za-z][\w.\-]*?(?:\.js)?) {_NUMBER}(?![\w%]|\.\d|[-/–:]\d)"
)
_DIGITS = compile_lazily(r"\d+")
_RANGE = compile_lazily(r"[|,]|\s-\s|\*|^(?:workspace|file|link|git|http|npm|catalog):|^latest$|^>")
_PORT = compile_lazily(r"\bport (\d{2,5})\b", re.IGNORECASE)
_SET = compile_lazily(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\s*=\s*(-?\d[\d_.]*|true|false|True|False)")
_MOST_FILES = 12
_LONGEST_LINE = 500
"""Characters."""
_NO_PRODUCTS = frozenset(
    ("version", "step", "phase", "part", "port", "level", "chapter", "section")
)


def find_version_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield the versions in a sentence: `name@1.2` in backticks, `Name 1.2` in plain text."""
    for offset, text in passage.code:
        if _PINNED.fullmatch(text):
            yield ProjectClaim(ClaimKind.VERSION, text, passage.line_at(offset), passage)
    for match in _SPOKEN.finditer(passage.prose):
        if _is_version(match, is_first=not passage.prose[: match.start()].strip(" -*+#|>")):
            yield ProjectClaim(ClaimKind.VERSION, match[0], passage.line_at(match.start()), passage)


def _is_version(match: re.Match[str], *, is_first: bool) -> bool:
    """Return whether a word and a number are a product and its version, unlike “open 3 files”."""
    name, number = match[1], match[0][len(match[1]) + 1 :]
    if name.lower() in _NO_PRODUCTS:
        return False
    is_named = any(char.isupper() for char in name[1:]) or "." in name
    is_numbered = "." in number or number.startswith("v")
    return is_named or is_numbered or (name[0].isupper() and not is_first)


def check_version(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Return whether a manifest requires that version; None where none names the product."""
    match = _PINNED.fullmatch(claim.text) or _SPOKEN.fullmatch(claim.text)
    if match is None:
        return None
    declared = project.manifests.find_versions(match[1])
    if not declared:
        return None
    claimed = match[2].split(".")
    evidence = [f"{each.path}: {each.name} {each.version}" for each in declared]
    agree = [_agrees(claimed, each) for each in declared]
    if True in agree:
        return claim.to_verdict(CheckOutcome.VALID, evidence[agree.index(True)])
    if None in agree:
        return claim.to_unchecked(evidence[agree.index(None)])
    return claim.to_verdict(CheckOutcome.CHANGED, *evidence[:3])


def _agrees(claimed: list[str], declared: DeclaredVersion) -> bool | None:
    """Return whether the numbers of a version, however many, agree with the required one; None
    where the requirement allows many versions.
    """
    required = _DIGITS.findall(declared.version)
    if not required or _RANGE.search(declared.version.strip()):
        return None
    if claimed[0] != required[0]:
        return False
    # the third number changes with every update of a lock file
    minor, least = ([*numbers, "x"][1] for numbers in (claimed, required))
    if "x" in (minor, least) or minor == least:
        return True
    return _allows_newer(declared) and required[0] != "0" and int(minor) > int(least)


def _allows_newer(declared: DeclaredVersion) -> bool:
    """Return whether a newer minor version is allowed: by `^`, and by Cargo without an operator."""
    version = declared.version.strip()
    return version.startswith("^") or (
        declared.path.endswith("Cargo.toml") and version[0].isdigit()
    )


def find_value_claims(passage: Passage) -> Iterator[ProjectClaim]:
    """Yield ports and, in backticks, constants with their values: numbers and booleans only, for a
    string may be a secret.
    """
    for offset, text in passage.code:
        if _SET.fullmatch(text):
            yield ProjectClaim(ClaimKind.VALUE, text, passage.line_at(offset), passage)
    for match in _PORT.finditer(passage.prose):
        yield ProjectClaim(ClaimKind.VALUE, match[0], passage.line_at(match.start()), passage)


def get_search_words(claim: ProjectClaim) -> list[str]:
    """Return the words to search the project for, for a claim on a value."""
    match = _SET.fullmatch(claim.text)
    return [match[1]] if match else _DIGITS.findall(claim.text)


def check_value(claim: ProjectClaim, project: Project) -> Verdict | None:
    """Return whether the code sets the constant to that value, or contains the port."""
    match = _SET.fullmatch(claim.text)
    word = get_search_words(claim)[0]
    if not project.has_word(word):
        return claim.to_unchecked(f"{word} does not occur in the project")
    if match is None:
        return claim.to_verdict(CheckOutcome.VALID, f"{word} occurs in the project")
    definitions = list(_find_definitions(match[1], project))
    if not definitions:
        return claim.to_unchecked(f"{word} has no literal value in the project")
    place, value = definitions[0]
    if any(_plain(other) == _plain(match[2]) for _, other in definitions):
        return claim.to_verdict(CheckOutcome.VALID, f"{place}: {match[1]} = {value}")
    if len(definitions) > 1:
        return claim.to_unchecked(f"{word} has several values in the project")
    new = claim.text[: match.start(2)] + value + claim.text[match.end(2) :]
    return claim.to_verdict(CheckOutcome.CHANGED, f"{place}: {match[1]} = {value}", suggestion=new)


def _find_definitions(name: str, project: Project) -> Iterator[tuple[str, str]]:
    """Yield each place that sets the constant `name` to a literal value, and the value."""
    definition = re.compile(
        r"[ \t]*(?:(?:export|const|let|var|static|final|pub|public|private)[ \t]+)*"
        rf"{re.escape(name)}[ \t]*(?::[ \t]*[\w<>\[\].,]+)?[ \t]*="
        r"[ \t]*(-?\d[\d_.]*|true|false|True|False)[ \t]*(?:[;,#]|//|$)"
    )
    for path in project.find_files(name, _MOST_FILES):
        for number, line in enumerate(project.load_text(path).split("\n"), 1):
            is_short = name in line and len(line) <= _LONGEST_LINE
            if is_short and (match := definition.match(line.rstrip("\r"))):
                yield f"{path}:{number}", match[1]


def _plain(value: str) -> str:
    return value.replace("_", "").lower()
