"""No text of a note makes a regular expression take exponential time."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ricordo
from ricordo import patterns
from tests.support.figures import figure

ROOT = Path(__file__).resolve().parents[2]
_LIMIT = 120
"""Seconds for all expressions, which take a few; a single exponential one takes days."""
STRIDE = figure("expression_stride", everyday=3)
"""Of so many expressions one is tried."""
_REPEATED = 40
_STARTS = ("", "/", "a", "0", "- ", "`")
_UNITS = (
    *("a", "A", "0", " ", "/", ".", "-", "_", "|", "`", "*", "\n", "中"),
    *("a/", "a.", "a-", "a ", "A0", "aA", "Aa ", "0.", "0,", "- ", "a_", "a=", "a, ", " \n"),
    *("<!---->", "[a]", "(a) ", "sha1"),
)
_ENDS = ("\x00", "*!")
_NOT_LOADED = frozenset(("load_model",))
"""Functions that load no expressions, but take long."""


def test_no_expression_takes_exponential_time() -> None:
    command = [sys.executable, "-m", "tests.contract.test_patterns"]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=_LIMIT, check=False
        )
    except subprocess.TimeoutExpired as expired:
        tried = (expired.stdout or b"").decode().splitlines()
        raise AssertionError(f"exponential time: {tried[-1]}") from None
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 600 // STRIDE


def list_expressions() -> list[tuple[str, int]]:
    """Return the expressions for text of all modules and of the tables that they load."""
    found: dict[tuple[str, int], None] = {}
    compile_now, create = re.compile, patterns._LazyPattern.__init__

    def record(expression: Any, flags: int = 0) -> Any:
        if isinstance(expression, str):
            found[expression, int(flags)] = None
        return compile_now(expression, flags)

    def record_lazy(lazy: patterns._LazyPattern, expression: Any, flags: int) -> None:
        if isinstance(expression, str):
            found[expression, int(flags)] = None
        create(lazy, expression, flags)

    patch = pytest.MonkeyPatch()
    patch.setattr(re, "compile", record)
    patch.setattr(patterns._LazyPattern, "__init__", record_lazy)
    for module in pkgutil.walk_packages(ricordo.__path__, "ricordo."):
        for load in _list_loaders(module.name):
            load()
    patch.undo()
    return list(found)


def _list_loaders(module_name: str) -> Iterator[Callable[[], object]]:
    if module_name.endswith("__main__"):
        return
    module = importlib.import_module(module_name)
    for name, value in vars(module).items():
        is_own = getattr(value, "__module__", "") == module_name
        is_loader = name.lstrip("_").startswith("load_") and name not in _NOT_LOADED
        if is_own and is_loader and not inspect.signature(value).parameters:
            yield value


def _try_all() -> None:
    texts = [start + unit * _REPEATED + end for start, unit, end in product(_STARTS, _UNITS, _ENDS)]
    for expression, flags in list_expressions()[::STRIDE]:
        print(repr(expression), flush=True)
        pattern = re.compile(expression, flags)
        for text in texts:
            pattern.search(text)
            pattern.fullmatch(text)


if __name__ == "__main__":
    _try_all()
