"""`ricordo history`: the versions of a note, or of all of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.edit import apply_reported, begin_reported, begin_shown, told_edits
from ricordo.cli.parser import add_json, add_memory
from ricordo.cli.workspace import open_notebook, open_notebook_or_project
from ricordo.text import clip, one_line, visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from ricordo.memory.change import Edit
    from ricordo.services.history.undo import ToBeSeen, UndoResult
    from ricordo.services.history.versions import Version
    from ricordo.services.inbox.inbox import Arrival, Inbox
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


HISTORY_SUMMARY = "The versions of a note, or of the whole memory, newest first."
_LONGEST_REASON = 80
"""Cells; `--json` has all of it."""
_MOST_DAYS = 36_500


def add_history_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `history`; a single word is NOTE."""
    parser.add_argument("note", metavar="NOTE", nargs="?", help="its name, its file, or its path")
    parser.add_argument("path", metavar="PATH", nargs="?", help="the memory")
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as PATH")
    form = parser.add_mutually_exclusive_group()
    add_json(parser)
    form.add_argument("--verify", action="store_true", help="read every kept text again")
    form.add_argument("--size", action="store_true", help="say how large the history is")
    form.add_argument(
        "--older-than",
        metavar="DAYS",
        type=int,
        help="say which texts of older versions could be dropped; with --drop, drop them",
    )
    parser.add_argument("--drop", action="store_true", help="drop what --older-than names")


def run_history(options: Namespace, environment: Environment) -> int:
    """Print versions, or what the check or the size says."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.services.describe import describe_version
    from ricordo.services.history.versions import versions
    from ricordo.services.workspace.note_choice import pick_path

    if options.drop and options.older_than is None:
        raise WrongUsage("--drop needs --older-than, which says what to drop.")
    notebook = open_notebook(options, environment)
    if options.verify:
        return _verify(notebook, as_json=options.json)
    if options.size:
        return _size(notebook, as_json=options.json)
    if options.older_than is not None:
        return _trim(notebook, options)
    memory = begin_shown(notebook)
    path = pick_path(notebook, memory, options.note) if options.note else None
    found = versions(notebook, path)
    if options.json:
        print_json({"versions": [describe_version(version) for version in found]})
    else:
        print_lines([_line(version) for version in found] or ["The history is empty."])
    return 0


def _line(version: Version) -> str:
    size = "" if version.bytes is None else f"{version.bytes:,} bytes"
    reason = f"  {clip(version.reason, _LONGEST_REASON)}" if version.reason else ""
    return (
        f"{version.id:<8} {version.at[:16].replace('T', ' ')}  {version.kind:<8} "
        f"{clip(version.path, 40):<40} {size:>14}  {one_line(version.by)}{reason}"
    )


def _verify(notebook: Notebook, *, as_json: bool) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.history.maintenance import check_history

    checked = check_history(notebook)
    verdict = f"{len(checked.faults)} faults" if checked.faults else "all as it should be"
    if as_json:
        print_json({"texts": checked.contents, "faults": list(checked.faults)})
    else:
        print_lines([*map(one_line, checked.faults), f"{checked.contents} kept texts: {verdict}"])
    return 3 if checked.faults else 0


def _trim(notebook: Notebook, options: Namespace) -> int:
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.services.history.maintenance import plan_trimming, trim

    days, drop = options.older_than, options.drop
    if not 1 <= days <= _MOST_DAYS:
        raise WrongUsage(f"--older-than needs a number of days from 1 to {_MOST_DAYS:,}.")
    trimming = (trim if drop else plan_trimming)(notebook, days)
    what = f"{len(trimming.texts)} texts, {trimming.bytes / 1_000_000:.1f} MB"
    if drop:
        note_change(f"dropped {what}")
    if options.json:
        counted = {"texts": len(trimming.texts), "bytes": trimming.bytes, "kept": trimming.kept}
        print_json({**counted, "dropped": drop})
    elif drop:
        print_lines([f"dropped {what}; {trimming.kept} texts stay"])
    else:
        print_lines([f"{what} could be dropped, {trimming.kept} stay; --drop does it"])
    return 0


def _size(notebook: Notebook, *, as_json: bool) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.history.maintenance import history_size

    size = history_size(notebook)
    if as_json:
        print_json({"bytes": size.bytes, "texts": size.contents, "acts": size.acts})
    else:
        measured = f"{size.bytes / 1_000_000:.1f} MB, {size.contents} texts, {size.acts} acts"
        print_lines([f"{measured}; of all memories"])
    return 0


INBOX_SUMMARY = (
    "What agents and others changed since the last visit; looking does not end the visit."
)


def add_inbox_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `inbox`."""
    add_memory(parser)
    add_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--revert", metavar="NOTE", help="take back what others did to this note")
    act.add_argument("--keep-all", action="store_true", help="all of it is fine: end the visit")


def run_inbox(options: Namespace, environment: Environment) -> int:
    """Print the inbox, revert one note, or keep all."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.describe import describe_inbox
    from ricordo.services.inbox.inbox import close_visit, inbox, learn_writers, with_writers
    from ricordo.services.inbox.revert import revert_all

    notebook = open_notebook(options, environment)
    changes = options.revert or options.keep_all
    memory = (begin_reported if changes else begin_shown)(notebook)
    learn_writers(notebook, memory)
    seen = with_writers(notebook, inbox(notebook))
    if options.revert:
        arrival = _pick(seen, options.revert)
        change_set = revert_all(arrival, seen, memory)
        apply_reported(notebook, change_set, f"reverted {one_line(arrival.path)}")
    elif options.keep_all:
        close_visit(notebook, seen)
        note_change(f"kept {len(seen.waiting)}")
        print_lines([f"kept {len(seen.waiting)}; from here on counts as new what comes now"])
    elif options.json:
        print_json(describe_inbox(seen))
    else:
        print_lines(_lines(notebook, seen))
    return 0


def _pick(seen: Inbox, name: str) -> Arrival:
    """Return the arrival that `name` means: by path, file name, or name without ending."""
    from ricordo.errors import AmbiguousNote, NoteNotFound
    from ricordo.memory.note import stem

    found = [it for it in seen.arrivals if name in (it.path, it.origin)] or [
        it for it in seen.arrivals if name.removesuffix(".md") == stem(it.path)
    ]
    paths = sorted({arrival.path for arrival in found})
    if len(paths) > 1:
        raise AmbiguousNote(name, paths)
    if not found:
        raise NoteNotFound(f"Nothing in the inbox is called “{visible(name)}”.")
    return found[-1]


def _state(arrival: Arrival) -> str:
    """Return what was decided of an arrival; "" where nothing was."""
    if arrival.reverted:
        return " (reverted)"
    if arrival.kept:
        return " (kept)"
    return " (later: new again at the next visit)" if arrival.put_off else ""


def _lines(notebook: Notebook, seen: Inbox) -> list[str]:
    from ricordo.memory.diff import rows

    if not seen.arrivals:
        return ["Nothing new since the last visit."]
    lines = [f"{len(seen.waiting)} new since {seen.since[:16].replace('T', ' ') or 'the start'}"]
    for arrival in seen.arrivals:
        origin = f" from {one_line(arrival.origin)}" if arrival.origin else ""
        lines += [
            "",
            f"{arrival.kind} {one_line(arrival.path)}{origin}  {arrival.at[:16].replace('T', ' ')}"
            f"  {one_line(arrival.by)}{_state(arrival)}",
        ]
        changes = [
            f"  {row.sign} {visible(row.text)}{f'  ({row.ending})' if row.ending else ''}"
            for row in rows(arrival.old_text, arrival.new_text)
        ]
        if not changes and arrival.before != arrival.after and arrival.kind == "changed":
            changes = ["  Only the value of a credential changed, which is not printed."]
        lines += changes
    return lines


def take_back(
    options: Namespace,
    environment: Environment,
    act: Callable[[Notebook], UndoResult | ToBeSeen],
    word: str,
) -> int:
    """Undo or redo by `act`; a clean merge with what others wrote since is applied and told."""
    from ricordo.cli.output import note_change, print_lines
    from ricordo.services.edits.change import EditOverlap, apply_at_once
    from ricordo.services.history.undo import ToBeSeen

    notebook = open_notebook_or_project(options, environment)
    begin_reported(notebook)
    outcome = act(notebook)
    merged: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    if isinstance(outcome, ToBeSeen):
        if isinstance(outcome.outcome, EditOverlap):
            raise outcome.outcome.error()
        change_set = outcome.outcome.change_set
        edits = change_set.edits
        _, later = apply_at_once(notebook, change_set, by_hand=True, undoes=outcome.undoes)
        # where others had done the same, nothing is left to be merged
        both = [edit.path for edit in edits if edit.path in outcome.outcome.files]
        merged = tuple(dict.fromkeys((*both, *later)))
    else:
        edits = outcome.edits
    note_change(f"{word}: {outcome.told}")
    print_lines(
        [f"{word}: {outcome.told}", *told_edits(edits)]
        + [f"  {visible(path)}: merged with what somebody else wrote" for path in merged]
    )
    return 0


RESTORE_SUMMARY = "Bring a version of a note back: the one before, or that named by --at."


def add_restore_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `restore`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    parser.add_argument("--at", metavar="ID", default="", help="a version that `history` lists")


def run_restore(options: Namespace, environment: Environment) -> int:
    """Restore the note."""
    from ricordo.cli.output import print_lines
    from ricordo.memory.change import digest
    from ricordo.services.history.versions import pick_version, restore, versions
    from ricordo.services.workspace.note_choice import pick_path

    notebook = open_notebook(options, environment)
    memory = begin_reported(notebook)
    path = pick_path(notebook, memory, options.note)
    file = memory.by_path.get(path)
    now = digest(file.raw) if file else None
    found = versions(notebook, path)
    earlier = found if options.at else [version for version in found if version.sha != now]
    version = pick_version(earlier, options.at)
    change_set = restore(notebook, memory, version, path)
    told = f"{one_line(path)} as of {version.at[:16].replace('T', ' ')}"
    if change_set:
        apply_reported(notebook, change_set, f"restored {told}")
    else:
        print_lines([f"{told}: that is what it holds already"])
    return 0


PURGE_SUMMARY = """Remove a value from all versions in the history, of every memory.

It is removed from quotes of sessions, searches without results, indexes and lists in the state
directory too; indexes that held it are built again when they are next needed.

The value is read from standard input, so that it stands in no list of processes and no shell
history. The notes themselves are not touched; those that still hold the value are named."""
SHORTEST = 4
"""Characters; a shorter value would tear innocent texts."""


def add_purge_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `purge`: there are none."""


def run_purge(options: Namespace, environment: Environment) -> int:
    """Purge the value."""
    from ricordo.cli.output import note_change, print_errors, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.services.history.maintenance import purge_value

    if sys.stdin.isatty():
        print_errors(["The value, then Enter and ctrl+d:"])
    value = sys.stdin.read().strip("\r\n")
    if len(value.strip()) < SHORTEST:
        raise WrongUsage(f"The value on standard input must have at least {SHORTEST} characters.")
    purged = purge_value(environment, value)
    note_change("removed the value from the history")
    counted = purged.history
    lines = [
        f"removed from {counted.contents} texts and {counted.told} reasons and paths in the history"
    ]
    if purged.quotes:
        lines.append(f"and from {purged.quotes} quotes and titles of sessions")
    if purged.derived:
        lines.append(f"and from {purged.derived} search misses, indexes and lists of our own")
    left = {
        "It still stands in these notes, and comes into the history with them:": (
            purged.still_holding
        ),
        "It still stands in these files of our own state; delete them:": purged.copies,
        "These damaged histories cannot be searched; delete them:": purged.unsearched,
    }
    for told, paths in left.items():
        lines += [told, *(f"  {one_line(path)}" for path in paths)] if paths else []
    print_lines(lines)
    return 0


UNDO_SUMMARY = "Take the last act back: a change of files, or a decision."


def add_undo_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `undo`."""
    add_memory(parser)


def run_undo(options: Namespace, environment: Environment) -> int:
    """Undo."""
    from ricordo.services.history.undo import undo

    return take_back(options, environment, undo, "undone")


REDO_SUMMARY = "Do again what was undone last."


def add_redo_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `redo`."""
    add_memory(parser)


def run_redo(options: Namespace, environment: Environment) -> int:
    """Redo."""
    from ricordo.services.history.undo import redo

    return take_back(options, environment, redo, "done again")


COMMANDS = {
    "history": Command(HISTORY_SUMMARY, add_history_arguments, run_history),
    "inbox": Command(INBOX_SUMMARY, add_inbox_arguments, run_inbox),
    "undo": Command(UNDO_SUMMARY, add_undo_arguments, run_undo),
    "redo": Command(REDO_SUMMARY, add_redo_arguments, run_redo),
    "restore": Command(RESTORE_SUMMARY, add_restore_arguments, run_restore),
    "purge": Command(PURGE_SUMMARY, add_purge_arguments, run_purge),
}
