"""`ricordo handoff`: write what the next agent needs to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.edit import begin_reported
from ricordo.cli.engine import add_engine, engine_of, estimate_line, kept_back_lines, let_run
from ricordo.cli.output import tell
from ricordo.cli.parser import add_json, add_memory
from ricordo.cli.workspace import open_notebook_or_project
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.handoff.resume import Resumed
    from ricordo.handoff.since import FileChange
    from ricordo.services.engines.engines import Outside
    from ricordo.services.handoff.engine_draft import DraftRequest
    from ricordo.services.handoff.handoff import Composer, HandoffDraft, HandoffOptions
    from ricordo.services.handoff.output import Finished, WrittenHandoff
    from ricordo.services.handoff.resume import Resumption
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook

HANDOFF_SUMMARY = """Write HANDOFF.md: what the next agent needs to go on with a session.

Each statement says how far it is proved, and by what; `ricordo resume` proves it again. What looks
like a credential is kept back. A HANDOFF.md that somebody else wrote or edited is left alone."""


def add_handoff_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `handoff`."""
    from ricordo.handoff.budget import DEFAULT
    from ricordo.handoff.document import HandoffTarget

    add_memory(parser)
    add_json(parser)
    parser.add_argument(
        "--for",
        dest="target",
        choices=[target.value for target in HandoffTarget],
        default=HandoffTarget.ANY.value,
        help="which agent reads it: its headings, their order, the length that suits (any)",
    )
    parser.add_argument(
        "--session",
        metavar="F",
        action="append",
        default=[],
        help="this transcript instead of the latest of the project, also several: a file of Claude "
        "Code, Codex or opencode, or the database of opencode with # and the id of a session "
        "behind it",
    )
    parser.add_argument(
        "--budget",
        metavar="N",
        type=int,
        default=DEFAULT,
        help=f"tokens that it may take, four bytes each ({DEFAULT})",
    )
    add_engine(parser, "puts it into words")
    parser.add_argument("--yes", action="store_true", help="let a new program run")
    parser.add_argument(
        "--messages",
        action="store_true",
        help="with every message of the person, word for word, as far as there is room",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="", help="write this file, or into this folder"
    )


def run_handoff(options: Namespace, environment: Environment) -> int:
    """Draft, write, and say how the next agent picks it up."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.handoff.output import finished, write
    from ricordo.services.handoff.resume import describe_handoff

    notebook = open_notebook_or_project(options, environment)
    outside = engine_of(options, notebook)
    let_run(notebook, outside, is_meant=options.yes)
    memory = begin_reported(notebook)
    drafted = _drafted(options, notebook, outside)
    done = finished(drafted)
    tell(drafted.remarks)
    written = write(notebook, memory, drafted, done)
    if written.act is not None:
        note_change(f"wrote {written.path}")
    if options.json:
        print_json(describe_handoff(done, written.path))
    else:
        print_lines(_lines(notebook, drafted, done, written))
    return 0


def _drafted(options: Namespace, notebook: Notebook, outside: Outside | None) -> HandoffDraft:
    """Return the draft, and tell what asking an engine costs and what was kept back from it."""
    from ricordo.cli.output import progress_line
    from ricordo.curation.engine import CurationProgress
    from ricordo.services.handoff.handoff import by_rules, draft

    asked: list[DraftRequest] = []

    def before(it: DraftRequest) -> None:
        asked.append(it)
        left_out = it.told.left_out
        told = [f"{left_out} facts had no room in what is sent"] if left_out else []
        tell([*told, estimate_line(it.outside, it.estimate)])

    reading = CurationProgress("reading transcripts")
    with progress_line() as show:
        composer: Composer = by_rules
        if outside is not None:
            from ricordo.services.engines.preview import answered
            from ricordo.services.handoff.engine_draft import by_engine

            composer = by_engine(outside, show, before, lambda run: tell([answered(run)]))
        try:
            return draft(notebook, _wish(options), lambda: show(reading), composer)
        finally:
            # it has left, whatever became of the answer
            tell(line for it in asked for line in kept_back_lines(it.told.redaction.told()))


def _wish(options: Namespace) -> HandoffOptions:
    from ricordo.handoff.document import HandoffTarget
    from ricordo.services.handoff.handoff import HandoffOptions

    return HandoffOptions(
        HandoffTarget(options.target),
        options.budget,
        tuple(options.session),
        options.output,
        options.messages,
    )


def _how(engine: str) -> str:
    from ricordo.services.handoff.handoff import RULES

    if engine == RULES:
        return "composed by rules from the transcript, without a model"
    return f"drafted by {one_line(engine)} from facts of the transcript"


def _lines(
    notebook: Notebook, drafted: HandoffDraft, done: Finished, written: WrittenHandoff
) -> list[str]:
    """Return what was written and how it is picked up."""
    from ricordo.services.handoff.output import pickup_of

    head = done.handoff.head
    act = "updated" if drafted.destination.handoff else "wrote"
    is_new = written.act is not None
    marks = ", ".join(f"{count} {status.value}" for status, count in done.counts.items() if count)
    credentials = "credential" if head.redactions == 1 else "credentials"
    lines = [
        f"{act if is_new else 'unchanged:'} {one_line(written.path)} for {head.target.value}",
        f"  {len(done.handoff.statements)} statements: {marks or 'none'}",
        f"  about {done.tokens:,} of {head.budget:,} tokens, {done.handoff.left_out} left out, "
        f"{head.redactions} {credentials} kept back",
        f"  {_how(head.engine)}",
        f"next: {written.start}",
    ]
    at_start = pickup_of(notebook, drafted)
    if at_start is not None:
        lines.append(f"or, to have it read at every start, in {at_start.file}: {at_start.added}")
    return [*lines, "`ricordo undo` takes it back."] if is_new else lines


RESUME_SUMMARY = """Check a handoff again: what of it still holds, and what changed since.

Nothing is written, and nothing of the project is run."""

_HOLDS_NOT = 1
"""The exit code where a statement no longer holds."""


def add_resume_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `resume`."""
    parser.add_argument(
        "handoff",
        metavar="HANDOFF.md",
        nargs="?",
        default="",
        help="the handoff; without it, that of the project of this directory",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the memory whose notes it names")
    add_json(parser)


def run_resume(options: Namespace, environment: Environment) -> int:
    """Probe, and say what holds."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.handoff.resume import describe_resumption, resume_handoff

    found = resume_handoff(environment, options.handoff, options.memory)
    if options.json:
        print_json(describe_resumption(found))
    else:
        tell(found.remarks)
        print_lines(list(_resume_lines(found)))
    return 0 if found.resumed.holds else _HOLDS_NOT


def _resume_lines(found: Resumption) -> Iterator[str]:
    resumed = found.resumed
    fallen = [it for it in resumed.statements if not it.holds]
    for it in fallen:
        text = it.statement.text or it.statement.quote
        yield f"{it.was.value} → {it.now.value}: {one_line(text)}"
        yield f"    {one_line(it.why)}"
    yield from _changes(resumed)
    head = resumed.handoff.head
    written = f"{one_line(found.path)}, written {head.written:%Y-%m-%d %H:%M}"
    expired = f", expired {head.expires:%Y-%m-%d}" if resumed.has_expired else ""
    yield f"{written}{expired}"
    count = len(resumed.statements)
    yield f"{count - len(fallen)} of {count} statements stand as they are marked"


def _changes(resumed: Resumed) -> Iterator[str]:
    changed = resumed.changed
    if changed.commits:
        yield f"commits since: {len(changed.commits)}"
        yield from (f"  {it.id[:12]} {one_line(it.subject)}" for it in changed.commits)
    yield from _listed("files", changed.files)
    yield from _listed("notes", changed.notes)


def _listed(what: str, changes: Iterable[FileChange]) -> Iterator[str]:
    lines = [
        f"  {it.kind.value} {one_line(it.path)}{f' → {one_line(it.to)}' if it.to else ''}"
        for it in changes
    ]
    if lines:
        yield from (f"{what} since: {len(lines)}", *lines)


COMMANDS = {
    "handoff": Command(HANDOFF_SUMMARY, add_handoff_arguments, run_handoff),
    "resume": Command(RESUME_SUMMARY, add_resume_arguments, run_resume),
}
