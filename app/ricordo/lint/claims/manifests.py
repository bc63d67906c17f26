"""What the manifests of a project declare: scripts, targets, dependencies with their versions.

Read: package.json, pyproject.toml, requirements*.txt, Cargo.toml, go.mod, composer.json, Makefile
and justfile, wherever in the project they stand. Nothing of them is executed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from ricordo.storage.project_tree import ProjectTree

_MOST_MANIFESTS = 400
_LONGEST_LINE = 2_000
"""Characters."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.\-]*)(?:\[[^\]]*\])?\s*([<>=!~^].*)?$")
_TARGET = re.compile(r"^([A-Za-z0-9_./%\- ]+?)\s*::?(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)", re.MULTILINE)
_OPEN = re.compile(r"^-?include\s|^\$\(", re.MULTILINE)
"""What brings targets into a Makefile that do not stand in it."""
_GO = re.compile(r"^[ \t]*(?:require[ \t]+)?([\w.\-/]+\.[\w.\-/]+)[ \t]+v([\w.\-+]+)", re.MULTILINE)
_SIGNS = re.compile(r"[-_. ]")
_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


class Declared(NamedTuple):
    """A version that a manifest asks for."""

    name: str
    version: str
    """As it is written there, `^19.0.0`."""
    path: str


@dataclass
class Manifests:
    """What all manifests of a project declare together."""

    scripts: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """The manifest of each script, by kind: package.json, composer.json, poe, or pyproject.toml for
    the programs that it installs.
    """
    projects: set[str] = field(default_factory=set)
    """The names of the projects of Python, as their programs begin."""
    targets: dict[str, str] = field(default_factory=dict)
    """The file of each target of make or just."""
    is_open: bool = False
    """Whether a Makefile has targets that cannot be told from its text."""
    versions: dict[str, list[Declared]] = field(default_factory=lambda: defaultdict(list))
    """The versions of dependencies, engines and of the project itself, by the letters and digits
    of their names.
    """

    @classmethod
    def of(cls, tree: ProjectTree) -> Manifests:
        """Read the manifests of a project; one that cannot be parsed declares nothing."""
        found = cls()
        paths = [path for path in tree.files if _reader(path)]
        for path in sorted(paths, key=lambda path: (path.count("/"), path))[:_MOST_MANIFESTS]:
            text = _short_lines((tree.read(path) or b"").decode("utf-8", "replace"))
            reader = _reader(path)
            assert reader is not None
            try:
                reader(found, path, text)
            except (ValueError, RecursionError, AttributeError, TypeError):
                continue
        return found

    def is_called_as_project(self, name: str) -> bool:
        """Say whether the name of a program begins with that of a project."""
        return any(name.replace("_", "-").startswith(f"{own}-") for own in self.projects)

    def put_version(self, name: str, version: object, path: str) -> None:
        """Take in that a manifest asks for `version` of `name`."""
        if isinstance(version, str) and version and isinstance(name, str):
            for key in {_key(name), _key(_scope_of(name))} - {""}:
                self.versions[key].append(Declared(name, version, path))

    def declared(self, name: str) -> list[Declared]:
        """Return what manifests ask for under `name`, as people write it: `Next.js`, `NextAuth`."""
        key = _key(name)
        return self.versions.get(key) or self.versions.get(key.removesuffix("js")) or []


def _short_lines(text: str) -> str:
    """A text without the lines that no person wrote, which could hold up an expression."""
    if len(text) <= _LONGEST_LINE:
        return text
    return "\n".join(line for line in text.split("\n") if len(line) <= _LONGEST_LINE)


def _reader(path: str) -> Any:
    name = path.rpartition("/")[2].lower()
    if name.startswith("requirements") and name.endswith(".txt"):
        return _requirements
    return _READERS.get(name)


def _package(found: Manifests, path: str, text: str) -> None:
    data = json.loads(text)
    for name in _table(data, "scripts"):
        found.scripts["package.json"].setdefault(name, path)
    for group in (*_GROUPS, "engines"):
        for name, version in _table(data, group).items():
            found.put_version(name, version, path)
    found.put_version(data.get("name", ""), data.get("version"), path)
    manager, _, version = str(data.get("packageManager", "")).partition("@")
    found.put_version(manager, version, path)


def _composer(found: Manifests, path: str, text: str) -> None:
    data = json.loads(text)
    for name in _table(data, "scripts"):
        found.scripts["composer.json"].setdefault(name, path)
    for group in ("require", "require-dev"):
        for name, version in _table(data, group).items():
            found.put_version(name, version, path)


def _pyproject(found: Manifests, path: str, text: str) -> None:
    data = tomllib.loads(text)
    project, tool = _table(data, "project"), _table(data, "tool")
    poetry = _table(tool, "poetry")
    for name in _table(_table(tool, "poe"), "tasks"):
        found.scripts["poe"].setdefault(name, path)
    name = str(project.get("name") or poetry.get("name") or "")
    found.projects |= {name.lower().replace("_", "-")} - {""}
    programs = (_table(of, key) for of in (project, poetry) for key in ("scripts", "gui-scripts"))
    for program in (*chain(*programs), *_table(_table(tool, "pdm"), "scripts")):
        found.scripts["pyproject.toml"].setdefault(program, path)
    found.put_version(name, project.get("version"), path)
    found.put_version("python", project.get("requires-python"), path)
    extra = _table(project, "optional-dependencies")
    groups = _table(data, "dependency-groups")
    lists = [project.get("dependencies"), *extra.values(), *groups.values()]
    for listed in lists:
        for line in listed if isinstance(listed, list) else ():
            _put_requirement(found, path, line if isinstance(line, str) else "")
    for name, version in _table(poetry, "dependencies").items():
        found.put_version(name, version, path)


def _requirements(found: Manifests, path: str, text: str) -> None:
    for line in text.split("\n"):
        _put_requirement(found, path, line.partition("#")[0].strip())


def _put_requirement(found: Manifests, path: str, line: str) -> None:
    match = _REQUIREMENT.match(line.partition(";")[0])
    if match:
        found.put_version(match[1], match[2], path)


def _cargo(found: Manifests, path: str, text: str) -> None:
    data = tomllib.loads(text)
    package = _table(data, "package")
    found.put_version(str(package.get("name", "")), package.get("version"), path)
    for group in ("dependencies", "dev-dependencies"):
        for name, asked in _table(data, group).items():
            version = asked.get("version") if isinstance(asked, dict) else asked
            found.put_version(name, version, path)


def _go_mod(found: Manifests, path: str, text: str) -> None:
    for name, version in _GO.findall(text):
        found.put_version(name, version, path)
        found.put_version(name.rpartition("/")[2], version, path)


def _makefile(found: Manifests, path: str, text: str) -> None:
    found.is_open = found.is_open or bool(_OPEN.search(text))
    for match in _TARGET.finditer(text):
        for name in match[1].split():
            found.is_open = found.is_open or "%" in name
            found.targets.setdefault(name, path)


def _justfile(found: Manifests, path: str, text: str) -> None:
    for match in _RECIPE.finditer(text):
        found.targets.setdefault(match[1], path)


def _key(name: str) -> str:
    return _SIGNS.sub("", name.lower())


def _scope_of(name: str) -> str:
    """What people call the main package of a scope: `@docusaurus/core` is Docusaurus."""
    scope, _, rest = name.removeprefix("@").partition("/")
    return scope if name.startswith("@") and rest in ("core", "cli", scope) else ""


def _table(data: object, key: str) -> Mapping[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


_READERS = {
    "package.json": _package,
    "composer.json": _composer,
    "pyproject.toml": _pyproject,
    "cargo.toml": _cargo,
    "go.mod": _go_mod,
    "makefile": _makefile,
    "gnumakefile": _makefile,
    "justfile": _justfile,
}
