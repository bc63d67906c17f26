"""The import contracts refuse what they forbid, and modules and classes have one name each."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app"
PACKAGE = APP / "ricordo"

MOST_MODULES = 34
"""How many modules one package may have beside each other."""

BREAKS = {
    "layers": ("memory/note.py", "ricordo.storage.reader"),
    "mcp": ("services/search/recall.py", "mcp"),
    "tui-layers": ("tui/base/open_note.py", "ricordo.tui.dialogs.text_page"),
    "tui-features": ("tui/review/rows.py", "ricordo.tui.inbox.screen"),
    "tui-widgets": ("tui/widgets/bar.py", "ricordo.tui.dialogs.text_page"),
    "tui-render": ("tui/render/bars.py", "ricordo.tui.widgets.bar"),
    "tui-controllers": ("tui/review/screen.py", "ricordo.tui.finder.controller"),
    "services": ("services/search/search.py", "ricordo.services.curation.curation"),
}
"""By contract: a module, and an import that it must not have."""

ROLES = {"__init__", "controller", "rows", "screen", "style"}
"""Module names that every feature of tui may have."""

_FLOORS = "one feature on several floors"
_KINDS = "a package with one module for each kind, named after what the kind is about"
REPEATED: Mapping[str, str] = {
    "conventions": "learning them; showing and setting them",
    "conflicts": _FLOORS,
    "curation": _FLOORS,
    "decisions": _FLOORS,
    "doctor": _FLOORS,
    "draft": "a memory, and a handoff on two floors, before they are written",
    "edit": _FLOORS,
    "editor": _FLOORS,
    "engine": _FLOORS,
    "evidence": _FLOORS,
    "facts": _FLOORS,
    "handoff": _FLOORS,
    "history": _FLOORS,
    "ledger": _FLOORS,
    "note": _FLOORS,
    "origin": _FLOORS,
    "output": _FLOORS,
    "pending": _FLOORS,
    "redaction": _FLOORS,
    "resume": _FLOORS,
    "rule": _FLOORS,
    "search": _FLOORS,
    "settings": _FLOORS,
    "usage": _FLOORS,
    "user_decisions": _FLOORS,
    "writer": _FLOORS,
    "registry": "of agents, and of actions",
    "connection": "what connects an agent, for each agent and as a service",
    "connect": _FLOORS,
    "support": "what can be asked of an agent, and the answers of one",
    "diagnosis": "what an agent can tell about its set-up, and what one tells",
    "transcript": "one reader for each agent",
    "change": "what a change is, and the service that makes one",
    "question": _FLOORS,
    "dates": _KINDS,
    "files": _KINDS,
    "frontmatter": _KINDS,
    "index": _KINDS,
    "lines": _KINDS,
    "links": _KINDS,
    "project": _KINDS,
    "quotes": _KINDS,
    "runs": _KINDS,
    "versions": _KINDS,
    "budget": "a limit in tokens: of what is spent, and of what is written",
    "claim": "the contradictions between claims have values of their own, and will be replaced",
    "command": "a program as an engine, and a command of the command line",
    "compose": "the one verb of the package that puts parts together",
    "describe": "texts and JSON of a service",
    "folder": "a folder of notes, and the folder of an agent",
    "form": "what a model fills in, and what a user does",
    "parser": "each reads a language of its own",
    "program": "a program that is run, and the hook's own",
    "reader": "each reads a store of its own",
    "rules": "a table of patterns",
    "store": "each writes a store of its own",
    "values": "the plain values of a package",
    "words": "the word lists of a package",
}
"""Why several modules have one name."""

TWICE = {"Exchange", "Refused"}
"""Names of classes that are still used twice."""


def module_name(path: Path) -> str:
    """Return the dotted name of a module of the app."""
    parts = path.relative_to(APP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports_of(name: str) -> frozenset[str]:
    """Return the modules of the app that a module imports: anywhere in it, and for types only."""
    imports = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                imports.add(inner if inner in MODULES else node.module)
        elif isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
    return frozenset(imports)


def lint_imports(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Check the contracts of a copy of the sources."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "app")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with a copy of the sources and of their contracts."""
    shutil.copytree(APP, tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_is_kept(copy: Path) -> None:
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.one_in(2)
@pytest.mark.parametrize("contract", BREAKS)
def test_a_contract_refuses_what_it_forbids(contract: str, copy: Path) -> None:
    path, forbidden = BREAKS[contract]
    source = copy / "app" / "ricordo" / path
    source.write_text(f"{source.read_text()}\nimport {forbidden}\n")
    done = lint_imports(copy, "--contract", contract)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 broken" in done.stdout
    assert forbidden in done.stdout


def test_no_modules_import_each_other_in_a_circle_not_even_for_types() -> None:
    left = {
        name: {other for other in imports_of(name) if other in MODULES and other != name}
        for name in MODULES
    }
    # what imports nothing that is left is in no circle
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert sorted(left) == []


def test_no_module_imports_itself() -> None:
    assert [name for name in MODULES if name in imports_of(name)] == []


def test_every_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in MODULES.items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    repeated = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: repeated[name] for name in repeated.keys() - TWICE} == {}


def test_no_package_is_too_large() -> None:
    sizes: dict[str, int] = defaultdict(int)
    for path in MODULES.values():
        sizes[path.parent.relative_to(APP).as_posix()] += path.name != "__init__.py"
    assert {name: size for name, size in sizes.items() if size > MOST_MODULES} == {}


def test_a_name_of_a_module_is_used_again_only_for_a_reason() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in MODULES.items():
        places[path.stem].append(name)
    repeated = {name: where for name, where in places.items() if len(where) > 1}
    unexplained = repeated.keys() - REPEATED.keys() - ROLES
    assert {name: repeated[name] for name in unexplained} == {}
