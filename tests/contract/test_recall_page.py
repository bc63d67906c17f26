"""The page of recall explains every constant by which notes are found, as it is."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
TOLD = re.compile(r"`(?P<module>\w+)\.(?P<name>[A-Z][A-Z0-9_]*)` (?P<value>[0-9.]+)")


def figures(module: ModuleType) -> dict[str, float]:
    """Return the public constants that `module` itself has and that are numbers."""
    written = re.findall(r"^([A-Z][A-Z0-9_, =]*) = ", Path(str(module.__file__)).read_text(), re.M)
    names = [name for line in written for name in re.split(", | = ", line)]
    values = {name: getattr(module, name) for name in names if name != "VERSION"}
    return {name: it for name, it in values.items() if type(it) in (int, float)}


def test_every_constant_of_recall_is_told_as_it_is() -> None:
    folder = ROOT / "app" / "ricordo" / "search"
    modules = [it.stem for it in folder.glob("*.py") if it.stem != "__init__"]
    kept = {
        f"{stem}.{name}": value
        for stem in modules
        for name, value in figures(import_module(f"ricordo.search.{stem}")).items()
    }
    page = (ROOT / "docs" / "recall.md").read_text()
    told = {f"{it['module']}.{it['name']}": float(it["value"]) for it in TOLD.finditer(page)}
    assert told == kept
