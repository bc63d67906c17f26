"""`ricordo pending`: the proposals that are pending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.confirm import is_confirmed
from ricordo.cli.opening import open_notebook
from ricordo.cli.proposals import note_taken, print_taken, proposal_lines
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.curator.waiting import Waiting
    from ricordo.memory.memory import Memory
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.pending import Kept
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Show the pending proposals, apply them, or drop them.

--apply by itself applies those without a warning; one with a warning has to be named. What would
empty or halve a note, or retire many in a day, is applied only after its confirmation was typed at
a terminal. `ricordo undo` reverts both: the proposals are pending again."""
_CONFIRMATION = "apply"
_SHORTEST_ID = 4
"""Characters of an id that are enough, where no other one begins so."""
_ID = 12


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `pending`."""
    add_memory(parser)
    add_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument(
        "--apply",
        nargs="*",
        metavar="ID",
        help="apply those that are named; without ID, those that no warning speaks against",
    )
    act.add_argument(
        "--drop",
        nargs="*",
        metavar="ID",
        help="drop those that are named, or all; they are not proposed again",
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Show, apply or drop what is pending."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.curate import pending_proposals
    from ricordo.notebook.describe_proposals import describe_pending, mask_proposal
    from ricordo.notebook.pending import recall_curation

    ids = _ids(options, surroundings)
    notebook = open_notebook(options, surroundings)
    is_shown = options.apply is None and options.drop is None
    memory = notebook.read() if is_shown else begin_reported(notebook)
    kept = recall_curation(surroundings.state, memory.root)
    pending = pending_proposals(notebook, memory)
    if options.apply is not None:
        _apply(options, notebook, memory, _named(kept, pending, ids), is_named=bool(ids))
    elif options.drop is not None:
        _drop(options, notebook, memory, _named(kept, pending, ids))
    elif options.json:
        print_json(describe_pending(pending, memory))
    else:
        masked = (mask_proposal(it, memory) for it in pending)
        lines = [line for it in masked for line in proposal_lines(it)]
        print_lines([*lines, f"{len(pending)} pending"])
    return 0


def _ids(options: Namespace, surroundings: Surroundings) -> list[str]:
    """Return the ids behind --apply or --drop. Where no PATH is given, a word that is no id is
    taken for it. Raises WrongUsage.
    """
    import os

    words = list(dict.fromkeys((options.apply or []) + (options.drop or [])))
    ids = [word for word in words if _is_id(word)]
    others = [word for word in words if not _is_id(word)]
    if others and not (options.path or options.memory):
        path = others.pop()
        if not os.path.exists(os.path.join(surroundings.cwd, path)):
            others.append(path)
        options.path = path
    if others:
        raise WrongUsage(_no_such(others[0]))
    return ids


def _is_id(word: str) -> bool:
    return _SHORTEST_ID <= len(word) <= _ID and set(word) <= set("0123456789abcdef")


def _no_such(word: str) -> str:
    return f"There is no pending proposal “{one_line(word)}”: `ricordo pending` lists them."


def _named(kept: Kept, pending: Sequence[Waiting], ids: Sequence[str]) -> list[Waiting]:
    """Return the `pending` proposals that `ids` name, whole or by their first characters; all where
    there are none. Raises WrongUsage.
    """
    chosen: dict[str, Waiting] = {}
    for id in ids:
        found = [it for it in pending if it.id.startswith(id)]
        if len(found) > 1:
            raise WrongUsage(f"{id} may be {' or '.join(it.id for it in found)}: name one.")
        if not found:
            was = "refused" if id in kept.refused else "applied" if id in kept.applied else ""
            raise WrongUsage(f"{id} was {was} already." if was else _no_such(id))
        chosen[found[0].id] = found[0]
    # in their order: one may need those before it
    return [it for it in pending if it.id in chosen or not ids]


def _apply(
    options: Namespace,
    notebook: Notebook,
    memory: Memory,
    chosen: Sequence[Waiting],
    *,
    is_named: bool,
) -> None:
    from ricordo.cli.output import print_json
    from ricordo.notebook.curate import alarms, take, warnings_of
    from ricordo.notebook.describe_proposals import describe_left

    if is_named:
        alarming = alarms(notebook, memory, chosen)
        asked = [
            f"{it.op} {one_line(it.path)}: {'; '.join(alarming[it.id])}"
            for it in chosen
            if it.id in alarming
        ]
        is_meant = bool(asked) and is_confirmed(asked, _CONFIRMATION, "do this too")
        confirmed = alarming if is_meant else ()
        taken = take(notebook, memory, chosen, lambda _: "", by_hand=True, confirmed=confirmed)
    else:
        taken = take(notebook, memory, chosen, warnings_of, by_hand=True)
    note_taken(taken)
    if options.json:
        applied = {"applied": [it.id for it in taken.applied]}
        left = {"left": describe_left(taken, memory)}
        print_json({**_pending_now(notebook, memory), **applied, **left})
    else:
        print_taken(taken, memory)


def _drop(
    options: Namespace, notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]
) -> None:
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.notebook.curate import refuse

    count = refuse(notebook, chosen)
    note_change(f"proposals dropped: {count}")
    if options.json:
        dropped = {"dropped": [it.id for it in chosen]}
        print_json({**_pending_now(notebook, memory), **dropped})
        return
    lines = [f"dropped: {it.id} {it.op} {one_line(it.path)}" for it in chosen]
    lines.append(f"dropped {count}")
    if count:
        lines.append("`ricordo undo` makes them pending again.")
    print_lines(lines)


def _pending_now(notebook: Notebook, memory: Memory) -> dict[str, Any]:
    """Return what is pending after an act, as `--json` prints it."""
    from ricordo.notebook.curate import pending_proposals
    from ricordo.notebook.describe_proposals import describe_pending

    return describe_pending(pending_proposals(notebook, memory), memory)
