"""Claims on commands of the project: scripts of its manifests, targets of make or just."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.probes.claim import Claim
from ricordo.health.probes.passage import Passage
from ricordo.health.probes.project import Project

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


def command_claims(passage: Passage) -> Iterator[Claim]:
    """Yield the commands of the project that a sentence has in backticks."""
    for offset, text in passage.code:
        if _MAKE.fullmatch(text) or any(_script_of(text)):
            yield Claim(ClaimKind.COMMAND, text, passage.line_at(offset), passage)


def _script_of(text: str) -> tuple[str, str]:
    """The kind of manifest and the name of its script that a command runs; "" for other ones."""
    for kind, patterns in _OF_SCRIPTS.items():
        for pattern in patterns:
            if match := pattern.fullmatch(text):
                return kind, match[1]
    return "", ""


def check_command(claim: Claim, project: Project) -> Verdict | None:
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
    claim: Claim, wanted: list[str], defined: Mapping[str, str], *, is_open: bool
) -> Verdict | None:
    lacking = [name for name in wanted if name not in defined]
    if not lacking:
        return claim.found(Outcome.HOLDS, *(f"{defined[name]}: {name}" for name in wanted))
    if is_open or not defined:
        return claim.unchecked("it cannot be told which commands there are")
    files = ", ".join(sorted(set(defined.values()))[:3])
    return claim.found(Outcome.MISSING, f"no {lacking[0]} in {files}")
