"""What a command changed, as lines or as its JSON document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from ricordo.memory.change import Edit


class Changed(NamedTuple):
    """One thing that a command changed: a file, or a decision of the user."""

    kind: str
    """`created`, `changed`, `deleted` or `renamed` for a file, else what was decided, such as
    `dismissed`.
    """
    path: str | None = None
    """The file; relative to its memory, absolute if it belongs to none."""
    old_path: str | None = None
    """Its path before a renaming."""
    id: str | None = None
    """The id of what was decided on: a finding, a conflict, a proposal or a value."""


def list_changed(edits: Sequence[Edit], root: str) -> list[Changed]:
    """Return the files that `edits` change; a renamed one is listed once, by its new path. `root`
    is the memory of the command.
    """
    sources = {(edit.moved_from_root or edit.root, edit.moved_from) for edit in edits}
    return [
        Changed(
            _name_change(edit),
            _name_file(edit.root, edit.path, root),
            _name_file(edit.moved_from_root or edit.root, edit.moved_from, root),
        )
        for edit in edits
        if edit.after is not None or edit.key not in sources
    ]


def _name_change(edit: Edit) -> str:
    if edit.moved_from:
        return "renamed"
    return "created" if edit.before is None else "deleted" if edit.after is None else "changed"


def _name_file(of_root: str, path: str, root: str) -> str | None:
    """Return the path of a file as the document has it; None for no path."""
    if not path:
        return None
    return path if of_root == root else os.path.join(of_root, path)


def describe_change(
    done: str,
    changed: Iterable[Changed],
    *,
    merged: Iterable[str] = (),
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """Return what was changed, as `--json` prints it; `done` says it in words, "" for nothing."""
    return {
        "done": done or None,
        "changed": [
            {"kind": each.kind, "path": each.path, "from": each.old_path, "id": each.id}
            for each in changed
        ],
        "merged": list(merged),
        "warnings": list(warnings),
    }


def print_change(
    options: Namespace,
    done: str,
    changed: Iterable[Changed],
    *,
    details: Iterable[str] = (),
    merged: Iterable[str] = (),
    warnings: Iterable[str] = (),
    **more: Any,
) -> None:
    """Print what was changed: `done`, "" for nothing, and lines with details; or with `--json` the
    document, to which `more` is added; nothing with `--quiet`.
    """
    from ricordo.cli.output import is_quiet, print_json, print_lines

    if options.json:
        document = describe_change(done, changed, merged=merged, warnings=warnings)
        print_json({**document, **more}, options.command)
    elif not is_quiet():
        print_lines([done, *details] if done else details)


def render_merged(paths: Iterable[str]) -> list[str]:
    """Return a line for each file that was merged with changes by others."""
    return [f"  {make_one_line(path)}: merged with changes by others" for path in paths]


def render_edits(edits: Iterable[Edit]) -> list[str]:
    """Return a line for each edited file: created, removed or changed."""
    return [
        f"  {'created' if edit.before is None else 'removed' if edit.after is None else 'changed'} "
        f"{make_one_line(edit.path)}"
        for edit in edits
    ]
