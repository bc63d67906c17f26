"""Docstrings name what exists: an identifier in backticks is in the code of the same module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "app" / "ricordo"
IDENTIFIER = re.compile(
    r"`([a-z]\w*_\w+|[A-Z][A-Z_]{2,}|_\w+)`"
    r"|`([a-z]\w*)` (?:is|are|returns|holds|knows|has|shows|begins)\b"
)
"""Names that can be nothing but code, and what is explained as a parameter is."""
VALUES = {("settings/keymap.py", "question_mark"), ("tui/actions/registry.py", "question_mark")}
"""Textual's name of a key, which no code of ours spells."""


def test_docstrings_name_no_identifier_that_their_module_does_not_have() -> None:
    unknown = [
        (path.relative_to(APP).as_posix(), name)
        for path in sorted(APP.rglob("*.py"))
        for name in unknown_names(ast.parse(path.read_text("utf-8")))
    ]
    assert set(unknown) - VALUES == set()


def unknown_names(tree: ast.Module) -> Iterator[str]:
    """Yield the identifiers of docstrings that are nowhere else in a module."""
    docstrings = {
        id(node.body[0].value): node.body[0].value.value
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    used = {
        name for node in ast.walk(tree) if id(node) not in docstrings for name in words_of(node)
    }
    for docstring in docstrings.values():
        for written, explained in IDENTIFIER.findall(str(docstring)):
            if (name := written or explained) not in used:
                yield name


def words_of(node: ast.AST) -> list[str]:
    """Return the names that a node of a syntax tree has, and the words of a string."""
    texts = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "value")]
    return [word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)]
