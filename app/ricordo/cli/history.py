"""`ricordo history`, `inbox`, `undo`, `redo`, `restore`, `purge`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.change import (
    Changed,
    list_changed,
    print_change,
    render_edits,
    render_merged,
)
from ricordo.cli.edit import apply_change_set, begin_change, begin_display
from ricordo.cli.ids import split_off_directory
from ricordo.cli.parser import Command, add_json, add_memory_and_json
from ricordo.cli.style import print_diffs
from ricordo.cli.workspace import open_notebook, open_notebook_or_project
from ricordo.errors import MemoryNotFound, Unconfirmed, WrongUsage
from ricordo.patterns import compile_lazily
from ricordo.text import clip, make_one_line, make_visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from ricordo.memory.change import Edit
    from ricordo.memory.memory import Memory
    from ricordo.services.history.undo import UndoResult, UndoToConfirm
    from ricordo.services.history.versions import Version
    from ricordo.services.inbox.inbox import Inbox, InboxChange
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


HISTORY_SUMMARY = "List the versions of a note, or of the whole memory, newest first."
_LONGEST_REASON = 80
"""Cells; `--json` has all of it."""
_VERSION_ID = compile_lazily(r"\d+\.\d+")
_MOST_DAYS = 36_500


def _add_history_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `history`; a single positional argument is NOTE."""
    parser.add_argument(
        "note", metavar="NOTE", nargs="?", help="name, file name or path of the note"
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="the memory")
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as PATH")
    form = parser.add_mutually_exclusive_group()
    add_json(parser)
    form.add_argument("--verify", action="store_true", help="verify every stored text")
    form.add_argument("--size", action="store_true", help="print the size of the history")
    form.add_argument(
        "--older-than",
        metavar="DAYS",
        type=int,
        help="print how many texts of older versions could be dropped; with --drop, drop them",
    )
    parser.add_argument("--drop", action="store_true", help="drop the texts of --older-than")


def run_history(options: Namespace, environment: Environment) -> int:
    """Print versions, the result of --verify, or sizes."""
    from ricordo.cli.output import print_result
    from ricordo.services.describe import describe_version
    from ricordo.services.history.versions import list_versions, name_writers
    from ricordo.services.inbox.inbox import update_writers
    from ricordo.services.workspace.note_choice import pick_path

    if options.drop and options.older_than is None:
        raise WrongUsage("--drop needs --older-than DAYS.")
    notebook = open_notebook(options, environment)
    if options.verify:
        return _verify(notebook, options)
    if options.size:
        return _size(notebook, options)
    if options.older_than is not None:
        return _trim(notebook, options)
    memory = begin_display(notebook)
    path = pick_path(notebook, memory, options.note) if options.note else None
    update_writers(notebook, memory)
    listed = name_writers(notebook, list_versions(notebook, path))
    print_result(
        options,
        lambda: {"versions": [describe_version(version) for version in listed]},
        lambda: [_line(version) for version in listed] or ["The history is empty."],
    )
    return 0


def _line(version: Version) -> str:
    size = "" if version.bytes is None else f"{version.bytes:,} bytes"
    reason = f"  {clip(version.reason, _LONGEST_REASON)}" if version.reason else ""
    return (
        f"{version.id:<8} {version.at[:16].replace('T', ' ')}  {version.kind:<8} "
        f"{clip(version.path, 40):<40} {size:>14}  {make_one_line(version.by)}{reason}"
    )


def _verify(notebook: Notebook, options: Namespace) -> int:
    from ricordo.cli.output import print_result
    from ricordo.services.history.maintenance import check_history

    check = check_history(notebook)
    result = f"{len(check.faults)} faults" if check.faults else "no faults"
    print_result(
        options,
        lambda: {"texts": check.contents, "faults": list(check.faults)},
        lambda: [*map(make_one_line, check.faults), f"{check.contents} stored texts: {result}"],
    )
    return 1 if check.faults else 0


def _trim(notebook: Notebook, options: Namespace) -> int:
    from ricordo.cli.change import describe_change
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.history.maintenance import plan_trimming, trim

    days, drop = options.older_than, options.drop
    if not 1 <= days <= _MOST_DAYS:
        raise WrongUsage(f"--older-than expects a number of days from 1 to {_MOST_DAYS:,}.")
    trimming = (trim if drop else plan_trimming)(notebook, days)
    what = f"{len(trimming.texts)} texts, {trimming.bytes / 1_000_000:.1f} MB"
    if drop:
        note_change(f"dropped {what}")
    if options.json:
        counted = {"texts": len(trimming.texts), "bytes": trimming.bytes, "kept": trimming.kept}
        done = f"dropped {what}" if drop and trimming.texts else ""
        changed = describe_change(done, [Changed("dropped")] if done else [])
        print_json({**counted, "dropped": drop, **(changed if drop else {})}, "history")
    elif drop:
        print_lines([f"dropped {what}; {trimming.kept} texts stay"])
    else:
        print_lines([f"{what} could be dropped, {trimming.kept} stay; add --drop to drop them"])
    return 0


def _size(notebook: Notebook, options: Namespace) -> int:
    from ricordo.cli.output import print_result
    from ricordo.services.history.maintenance import measure_history

    size = measure_history(notebook)
    measured = f"{size.bytes / 1_000_000:.1f} MB, {size.contents} texts, {size.acts} acts"
    print_result(
        options,
        lambda: {"bytes": size.bytes, "texts": size.contents, "acts": size.acts},
        lambda: [f"{measured}; of all memories"],
    )
    return 0


INBOX_SUMMARY = """List what agents and others changed since the last visit.

Listing does not end the visit; --keep-all does."""


def _add_inbox_arguments(parser: ArgumentParser) -> None:
    add_memory_and_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument(
        "--revert",
        nargs="+",
        action="extend",
        metavar="NOTE",
        help="revert the changes by others to these notes",
    )
    act.add_argument("--keep-all", action="store_true", help="accept all changes and end the visit")
    parser.add_argument("--reason", default="", help="with --revert: why, for the history")


def run_inbox(options: Namespace, environment: Environment) -> int:
    """Print the inbox, revert one note, or keep all."""
    from ricordo.cli.output import note_change, print_json
    from ricordo.services.describe import describe_inbox
    from ricordo.services.inbox.inbox import add_writers, keep_all, read_inbox, update_writers

    if options.reason and not options.revert:
        raise WrongUsage("--reason needs --revert.")
    if options.revert:
        options.revert, path = split_off_directory(options.revert, options, environment)
        options.path = options.path or path
    notebook = open_notebook(options, environment)
    changes = options.revert or options.keep_all
    memory = (begin_change if changes else begin_display)(notebook)
    update_writers(notebook, memory)
    current = add_writers(notebook, read_inbox(notebook))
    if options.revert:
        _revert(options, notebook, current, memory)
    elif options.keep_all:
        keep_all(notebook, current)
        done = f"kept {len(current.pending)}"
        note_change(done)
        kept = [Changed("kept", arrival.path) for arrival in current.pending]
        details = ["`ricordo undo` reverts this."] if kept else []
        print_change(options, f"{done}; the inbox now starts from here", kept, details=details)
    elif options.json:
        print_json(describe_inbox(current), "inbox")
    else:
        print_diffs(_lines(notebook, current), margin=2)
    return 0


def _revert(options: Namespace, notebook: Notebook, current: Inbox, memory: Memory) -> None:
    """Revert the changes to the notes of --revert, as one change."""
    from ricordo.services.inbox.revert import build_revert

    arrivals = [_pick(current, name) for name in options.revert]
    marked: dict[str, tuple[int, ...]] = {arrival.id: () for arrival in arrivals}
    change_set = build_revert(marked, current, memory, options.reason)
    paths = list(dict.fromkeys(arrival.path for arrival in arrivals))
    done = f"reverted {', '.join(map(make_one_line, paths))}"
    apply_change_set(options, notebook, change_set, done, path=paths[0])


def _pick(current: Inbox, name: str) -> InboxChange:
    """Return the arrival called `name`: by path, file name, or name without ending."""
    from ricordo.errors import AmbiguousNote, NoteNotFound
    from ricordo.memory.note import get_stem

    matches = [arrival for arrival in current.changes if name in (arrival.path, arrival.old_path)]
    bare = name.removesuffix(".md")
    matches = matches or [arrival for arrival in current.changes if bare == get_stem(arrival.path)]
    paths = sorted({arrival.path for arrival in matches})
    if len(paths) > 1:
        raise AmbiguousNote(name, paths)
    if not matches:
        raise NoteNotFound(f"The inbox has no note “{make_visible(name)}”.")
    return matches[-1]


def _state(arrival: InboxChange) -> str:
    """Return the user's decision on an arrival; "" if there is none."""
    if arrival.is_reverted:
        return " (reverted)"
    if arrival.is_kept:
        return " (kept)"
    return " (later: new again at the next visit)" if arrival.is_snoozed else ""


def _lines(notebook: Notebook, current: Inbox) -> list[str]:
    from ricordo.memory.diff import build_rows

    if not current.changes:
        return ["Nothing new since the last visit."]
    since = current.since[:16].replace("T", " ") or "the start"
    lines = [f"{len(current.pending)} new since {since}"]
    for arrival in current.changes:
        origin = f" from {make_one_line(arrival.old_path)}" if arrival.old_path else ""
        lines += [
            "",
            f"{arrival.kind} {make_one_line(arrival.path)}{origin}"
            f"  {arrival.at[:16].replace('T', ' ')}"
            f"  {make_one_line(arrival.by)}{_state(arrival)}",
        ]
        changes = [
            f"  {row.sign} {make_visible(row.text)}{f'  ({row.ending})' if row.ending else ''}"
            for row in build_rows(arrival.old_text, arrival.new_text)
        ]
        if not changes and arrival.before != arrival.after and arrival.kind == "changed":
            changes = ["  Only the value of a credential changed; it is not shown."]
        lines += changes
    return lines


def undo_or_redo(
    options: Namespace,
    environment: Environment,
    act: Callable[[Notebook], UndoResult | UndoToConfirm],
    word: str,
) -> int:
    """Undo or redo by `act`; a merge without conflicts is applied and reported."""
    from ricordo.cli.output import note_change, print_messages
    from ricordo.errors import NothingToUndo
    from ricordo.services.edits.change import EditConflicts, apply_merging
    from ricordo.services.history.undo import UndoToConfirm, remove_created

    notebook = open_notebook_or_project(options, environment)
    begin_change(notebook)
    try:
        outcome = act(notebook)
    except NothingToUndo as nothing:
        print_messages([nothing.message])
        print_change(options, "", [])
        return 0
    merged: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    subjects: tuple[str, ...] = ()
    if isinstance(outcome, UndoToConfirm):
        if isinstance(outcome.outcome, EditConflicts):
            raise outcome.outcome.to_error(outcome.follow_up)
        change_set = outcome.outcome.change_set
        edits = change_set.edits
        _, later = apply_merging(notebook, change_set, by_hand=True, undoes=outcome.undoes)
        # without the files in which others had made the same change
        changed = [edit.path for edit in edits if edit.path in outcome.outcome.files]
        merged = tuple(dict.fromkeys((*changed, *later)))
    else:
        edits, subjects = outcome.edits, outcome.subjects
    done = f"{word}: {outcome.description}"
    note_change(done)
    files = list_changed(edits, notebook.place.root)
    print_change(
        options,
        done,
        files or [Changed(word, id=subject) for subject in subjects] or [Changed(word)],
        details=render_edits(edits) + render_merged(merged),
        merged=merged,
    )
    remove_created(notebook)
    return 0


RESTORE_SUMMARY = "Restore a version of a note: the previous one, or the one named by --at."


def _add_restore_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("note", metavar="NOTE", help="name, file name or path of the note")
    add_memory_and_json(parser)
    parser.add_argument("--at", metavar="ID", default="", help="id of a version, from `history`")


def run_restore(options: Namespace, environment: Environment) -> int:
    """Restore the note."""
    from ricordo.memory.change import compute_digest
    from ricordo.services.history.versions import compose_restore, list_versions, pick_version
    from ricordo.services.workspace.note_choice import pick_path

    try:
        notebook = open_notebook(options, environment)
    except MemoryNotFound as error:
        if options.path and _VERSION_ID.fullmatch(options.path):
            hint = f"A version is named by `--at {options.path}`."
            raise MemoryNotFound(error.fact, hint=hint) from None
        raise
    memory = begin_change(notebook)
    path = pick_path(notebook, memory, options.note)
    file = memory.by_path.get(path)
    now = compute_digest(file.raw) if file else None
    every = list_versions(notebook, path)
    candidates = every if options.at else [version for version in every if version.sha != now]
    version = pick_version(candidates, options.at)
    change_set = compose_restore(notebook, memory, version, path)
    what = f"{make_one_line(path)} as of {version.at[:16].replace('T', ' ')}"
    if change_set:
        apply_change_set(options, notebook, change_set, f"restored {what}", path=path)
    else:
        unchanged = f"{what}: no changes, the note has this text already"
        print_change(options, "", [], details=[unchanged], path=path)
    return 0


PURGE_SUMMARY = """Remove a value from all versions in the history, of every memory.

It is also removed from quotes of sessions, searches without results, indexes and lists in the state
directory. This cannot be undone: a value that is typed at the terminal is purged once you confirm.

The value is read from standard input, so that it appears neither in process lists nor in the shell
history. The notes themselves are not changed; those that still hold the value are listed. An index
that held it is built again, unless notes still hold it: then the next search does so."""
_WORD = "purge"
"""What the user types to confirm a purge."""
MIN_VALUE_LENGTH = 4
"""Characters; a shorter value would damage unrelated texts."""


def _add_purge_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="purge without asking")
    add_json(parser)


def run_purge(options: Namespace, environment: Environment) -> int:
    """Purge the value."""
    from ricordo.cli.output import is_confirmed, note_change, print_errors
    from ricordo.services.history.maintenance import count_purged, purge_value

    if sys.stdin.isatty():
        print_errors(["Enter the value, then press Enter and ctrl+d:"])
    value = sys.stdin.read().strip("\r\n")
    if len(value.strip()) < MIN_VALUE_LENGTH:
        raise WrongUsage(
            f"The value on standard input needs at least {MIN_VALUE_LENGTH} characters.",
            hint="Pipe it, or enter it in a terminal: `ricordo purge < FILE`.",
        )
    if sys.stdin.isatty() and not options.yes:
        texts = count_purged(environment, value)
        what = f"{texts} {'text' if texts == 1 else 'texts'} in the history with this value"
        question = f"This overwrites {what} for good; undo does not bring it back."
        if not is_confirmed([question], _WORD, "purge it"):
            hint = f"Type “{_WORD}”, or give --yes."
            raise Unconfirmed(f"Not confirmed: a purge overwrites {what} for good.", hint=hint)
    purged = purge_value(environment, value)
    note_change("removed the value from the history")
    history = purged.history
    done = (
        f"removed from {history.contents} texts and {history.texts} reasons and paths "
        "in the history"
    )
    lines: list[str] = []
    if purged.quotes:
        lines.append(f"removed from {purged.quotes} quotes and titles of sessions")
    if purged.derived:
        lines.append(f"removed from {purged.derived} search misses, indexes and lists")
    lines += [f"rebuilt the index of {make_one_line(root)}" for root in purged.rebuilt]
    remaining = {
        "The indexes of these memories were removed, until the next search builds them again:": (
            purged.unindexed
        ),
        "These notes still contain it; with them it gets into the history again:": (
            purged.still_holding
        ),
        "These files in the state directory still contain it; delete them:": purged.copies,
        "These damaged histories cannot be searched; delete them:": purged.unsearched,
    }
    for title, paths in remaining.items():
        lines += [title, *(f"  {make_one_line(path)}" for path in paths)] if paths else []
    removed = {
        "texts": history.contents,
        "reasons": history.texts,
        "quotes": purged.quotes,
        "derived": purged.derived,
    }
    print_change(
        options,
        done,
        [Changed("purged")] if any(removed.values()) else [],
        details=lines,
        removed=removed,
        indexes={"rebuilt": list(purged.rebuilt), "removed": list(purged.unindexed)},
        still_in={
            "notes": list(purged.still_holding),
            "state": list(purged.copies),
            "damaged": list(purged.unsearched),
        },
    )
    return 0


UNDO_SUMMARY = "Undo the last change of files or decision."


def run_undo(options: Namespace, environment: Environment) -> int:
    """Undo the last act."""
    from ricordo.services.history.undo import undo

    return undo_or_redo(options, environment, undo, "undone")


REDO_SUMMARY = "Redo what was undone last."


def run_redo(options: Namespace, environment: Environment) -> int:
    """Redo what was undone last."""
    from ricordo.services.history.undo import redo

    return undo_or_redo(options, environment, redo, "redone")


COMMANDS = {
    "history": Command(HISTORY_SUMMARY, _add_history_arguments, run_history, ("--drop",)),
    "inbox": Command(INBOX_SUMMARY, _add_inbox_arguments, run_inbox, ("--revert", "--keep-all")),
    "undo": Command(UNDO_SUMMARY, add_memory_and_json, run_undo, ("undo",)),
    "redo": Command(REDO_SUMMARY, add_memory_and_json, run_redo, ("redo",)),
    "restore": Command(RESTORE_SUMMARY, _add_restore_arguments, run_restore, ("restore",)),
    "purge": Command(PURGE_SUMMARY, _add_purge_arguments, run_purge, ("purge",)),
}
