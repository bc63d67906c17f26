"""The declarations of a project's manifests: scripts, targets, dependencies with their versions.

Reads package.json, pyproject.toml, requirements*.txt, Cargo.toml, go.mod, composer.json, Makefile,
justfile and the files that pin a toolchain in any folder of the project. Executes nothing.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import tomli

from ricordo.patterns import compile_lazily
from ricordo.storage.project_tree import ProjectTree

_MOST_MANIFESTS = 400
_LONGEST_LINE = 2_000
"""Characters."""
_REQUIREMENT = compile_lazily(r"\s*([A-Za-z0-9][\w.\-]*)(?:\[[^\]]*\])?\s*([<>=!~^].*)?$")
_TARGET = compile_lazily(r"^([A-Za-z0-9_./%\- ]+?)\s*::?(?!=)", re.MULTILINE)
_RECIPE = compile_lazily(r"^@?([A-Za-z_][\w-]*)(?:[ \t][^:\n]*)?:(?!=)", re.MULTILINE)
_OPEN = compile_lazily(r"^-?include\s|^\$\(", re.MULTILINE)
"""Lines that add targets to a Makefile which are not written in it."""
_GO = compile_lazily(
    r"^[ \t]*(?:require[ \t]+)?([\w.\-/]+\.[\w.\-/]+)[ \t]+v([\w.\-+]+)", re.MULTILINE
)
_GO_ITSELF = compile_lazily(r"^[ \t]*go[ \t]+(\d[\w.\-+]*)", re.MULTILINE)
_GO_MAJOR = compile_lazily(r"/v\d+\Z")
_SIGNS = compile_lazily(r"[-_. ]")
_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


class DeclaredVersion(NamedTuple):
    """A version that a manifest requires."""

    name: str
    version: str
    """As written there, `^19.0.0`."""
    path: str


@dataclass
class Manifests:
    """The declarations of all manifests of a project."""

    scripts: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """The manifest of each script, by kind: package.json, composer.json, poe, or pyproject.toml for
    the programs that it installs.
    """
    projects: set[str] = field(default_factory=set)
    """The names of the Python projects, with which their programs begin."""
    targets: dict[str, str] = field(default_factory=dict)
    """The file of each target of make or just."""
    has_unknown_targets: bool = False
    """Whether a Makefile has targets that are not in its text."""
    versions: dict[str, list[DeclaredVersion]] = field(default_factory=lambda: defaultdict(list))
    """The versions of dependencies, engines and of the project itself, by the letters and digits
    of their names.
    """

    @classmethod
    def from_tree(cls, tree: ProjectTree) -> Manifests:
        """Read the manifests of a project; one that cannot be parsed declares nothing."""
        manifests = cls()
        paths = [path for path in tree.files if _find_reader(path)]
        for path in sorted(paths, key=lambda path: (path.count("/"), path))[:_MOST_MANIFESTS]:
            text = _drop_long_lines((tree.read(path) or b"").decode("utf-8", "replace"))
            reader = _find_reader(path)
            assert reader is not None
            try:
                reader(manifests, path, text)
            except (ValueError, RecursionError, AttributeError, TypeError):
                continue
        return manifests

    own: list[DeclaredVersion] = field(default_factory=list)
    """The versions of the project itself, by the manifests at its root."""

    def is_named_after_project(self, name: str) -> bool:
        """Return whether the name of a program begins with that of a project."""
        return any(name.replace("_", "-").startswith(f"{project}-") for project in self.projects)

    def add_version(self, name: str, version: object, path: str) -> None:
        """Record that the manifest at `path` requires `version` of `name`, if that is a string."""
        if isinstance(version, str) and version and isinstance(name, str):
            for key in {_key(name), _key(_scope_of(name))} - {""}:
                self.versions[key].append(DeclaredVersion(name, version, path))

    def add_own_version(self, name: str, version: object, path: str) -> None:
        """Record that the manifest at `path` gives the project `name` its `version`."""
        self.add_version(name, version, path)
        if isinstance(version, str) and version[:1].isdigit() and "/" not in path:
            self.own.append(DeclaredVersion("version", version, path))

    def find_versions(self, name: str) -> list[DeclaredVersion]:
        """Return the required versions of `name`, in any spelling: `Next.js`, `NextAuth`."""
        key = _key(name)
        return self.versions.get(key) or self.versions.get(key.removesuffix("js")) or []


def _drop_long_lines(text: str) -> str:
    """Return a text without generated lines, which could slow down an expression."""
    if len(text) <= _LONGEST_LINE:
        return text
    return "\n".join(line for line in text.split("\n") if len(line) <= _LONGEST_LINE)


def _find_reader(path: str) -> Any:
    name = path.rpartition("/")[2].lower()
    if name.startswith("requirements") and name.endswith(".txt"):
        return _read_requirements
    return _READERS.get(name)


def _read_package(manifests: Manifests, path: str, text: str) -> None:
    data = json.loads(text)
    for name in _table(data, "scripts"):
        manifests.scripts["package.json"].setdefault(name, path)
    for group in (*_GROUPS, "engines"):
        for name, version in _table(data, group).items():
            manifests.add_version(name, version, path)
    manifests.add_own_version(data.get("name", ""), data.get("version"), path)
    manager, _, version = str(data.get("packageManager", "")).partition("@")
    manifests.add_version(manager, version, path)


def _read_composer(manifests: Manifests, path: str, text: str) -> None:
    data = json.loads(text)
    for name in _table(data, "scripts"):
        manifests.scripts["composer.json"].setdefault(name, path)
    for group in ("require", "require-dev"):
        for name, version in _table(data, group).items():
            manifests.add_version(name, version, path)


def _read_pyproject(manifests: Manifests, path: str, text: str) -> None:
    data = tomli.loads(text)
    project, tool = _table(data, "project"), _table(data, "tool")
    poetry = _table(tool, "poetry")
    for name in _table(_table(tool, "poe"), "tasks"):
        manifests.scripts["poe"].setdefault(name, path)
    name = str(project.get("name") or poetry.get("name") or "")
    manifests.projects |= {name.lower().replace("_", "-")} - {""}
    programs = (_table(of, key) for of in (project, poetry) for key in ("scripts", "gui-scripts"))
    for program in (*chain(*programs), *_table(_table(tool, "pdm"), "scripts")):
        manifests.scripts["pyproject.toml"].setdefault(program, path)
    manifests.add_own_version(name, project.get("version"), path)
    manifests.add_version("python", project.get("requires-python"), path)
    extra = _table(project, "optional-dependencies")
    groups = _table(data, "dependency-groups")
    lists = [project.get("dependencies"), *extra.values(), *groups.values()]
    for listed in lists:
        for line in listed if isinstance(listed, list) else ():
            _put_requirement(manifests, path, line if isinstance(line, str) else "")
    for name, version in _table(poetry, "dependencies").items():
        manifests.add_version(name, version, path)


def _read_requirements(manifests: Manifests, path: str, text: str) -> None:
    for line in text.split("\n"):
        _put_requirement(manifests, path, line.partition("#")[0].strip())


def _put_requirement(manifests: Manifests, path: str, line: str) -> None:
    match = _REQUIREMENT.match(line.partition(";")[0])
    if match:
        manifests.add_version(match[1], match[2], path)


def _read_cargo(manifests: Manifests, path: str, text: str) -> None:
    data = tomli.loads(text)
    package = _table(data, "package")
    manifests.add_own_version(str(package.get("name", "")), package.get("version"), path)
    for group in ("dependencies", "dev-dependencies"):
        for name, given in _table(data, group).items():
            version = given.get("version") if isinstance(given, dict) else given
            manifests.add_version(name, version, path)


def _read_go_mod(manifests: Manifests, path: str, text: str) -> None:
    for version in _GO_ITSELF.findall(text):
        manifests.add_version("go", version, path)
    for name, version in _GO.findall(text):
        manifests.add_version(name, version, path)
        product = _GO_MAJOR.sub("", name).rpartition("/")[2]
        if product != "go":  # the module for Go of a product is not the language
            manifests.add_version(product, version, path)


def _read_makefile(manifests: Manifests, path: str, text: str) -> None:
    manifests.has_unknown_targets = manifests.has_unknown_targets or bool(_OPEN.search(text))
    for match in _TARGET.finditer(text):
        for name in match[1].split():
            manifests.has_unknown_targets = manifests.has_unknown_targets or "%" in name
            manifests.targets.setdefault(name, path)


def _read_justfile(manifests: Manifests, path: str, text: str) -> None:
    for match in _RECIPE.finditer(text):
        manifests.targets.setdefault(match[1], path)


def _read_toolchain(manifests: Manifests, path: str, text: str) -> None:
    if path.endswith(".toml"):
        channel = _table(tomli.loads(text), "toolchain").get("channel")
    else:
        channel = text.strip()
    manifests.add_version("rust", channel, path)


def _read_node_version(manifests: Manifests, path: str, text: str) -> None:
    manifests.add_version("node", text.strip(), path)


def _read_python_version(manifests: Manifests, path: str, text: str) -> None:
    manifests.add_version("python", text.partition("\n")[0].strip(), path)


def _read_tool_versions(manifests: Manifests, path: str, text: str) -> None:
    for line in text.split("\n"):
        name, _, version = line.partition("#")[0].strip().partition(" ")
        manifests.add_version(name.removesuffix("js"), version.strip(), path)


def _key(name: str) -> str:
    return _SIGNS.sub("", name.lower())


def _scope_of(name: str) -> str:
    """Return the product name of the main package of a scope: `@docusaurus/core` is Docusaurus."""
    scope, _, rest = name.removeprefix("@").partition("/")
    return scope if name.startswith("@") and rest in ("core", "cli", scope) else ""


def _table(data: object, key: str) -> Mapping[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


_READERS = {
    "package.json": _read_package,
    "composer.json": _read_composer,
    "pyproject.toml": _read_pyproject,
    "cargo.toml": _read_cargo,
    "go.mod": _read_go_mod,
    "makefile": _read_makefile,
    "gnumakefile": _read_makefile,
    "justfile": _read_justfile,
    "rust-toolchain": _read_toolchain,
    "rust-toolchain.toml": _read_toolchain,
    ".nvmrc": _read_node_version,
    ".node-version": _read_node_version,
    ".python-version": _read_python_version,
    ".tool-versions": _read_tool_versions,
}
