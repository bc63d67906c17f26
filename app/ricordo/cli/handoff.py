"""`ricordo handoff` and `resume`: write a handoff for the next agent, and verify it again."""

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

HANDOFF_SUMMARY = """Write HANDOFF.md: what the next agent needs to continue a session.

Each statement is marked with its status and evidence; `ricordo resume` verifies it again. Possible
credentials are redacted. A HANDOFF.md that somebody else wrote or edited is not overwritten."""


def add_handoff_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `handoff`."""
    from ricordo.handoff.budget import DEFAULT
    from ricordo.handoff.document import ANY_AGENT, handoff_targets

    add_memory(parser)
    add_json(parser)
    parser.add_argument(
        "--for",
        dest="target",
        choices=[target.name for target in handoff_targets()],
        default=ANY_AGENT.name,
        help="the agent that reads it; sets headings, their order and the length (default: any)",
    )
    parser.add_argument(
        "--session",
        metavar="F",
        action="append",
        default=[],
        help="this transcript instead of the latest of the project; may be repeated: a file of "
        "Claude Code, Codex or opencode, or the database of opencode followed by # and the id of a "
        "session",
    )
    parser.add_argument(
        "--budget",
        metavar="N",
        type=int,
        default=DEFAULT,
        help=f"maximum size in tokens of four bytes (default: {DEFAULT})",
    )
    add_engine(parser, "drafts it")
    parser.add_argument("--yes", action="store_true", help="allow a new program to run")
    parser.add_argument(
        "--messages",
        action="store_true",
        help="include your messages verbatim, as far as the budget allows",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="", help="output file or folder"
    )


def run_handoff(options: Namespace, environment: Environment) -> int:
    """Draft and write the handoff, and print how the next agent picks it up."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.handoff.output import finished, write
    from ricordo.services.handoff.resume import describe_handoff

    notebook = open_notebook_or_project(options, environment)
    outside = engine_of(options, notebook)
    let_run(notebook, outside, is_meant=options.yes)
    memory = begin_reported(notebook)
    handoff_draft = _draft(options, notebook, outside)
    result = finished(handoff_draft)
    tell(handoff_draft.remarks)
    written = write(notebook, memory, handoff_draft, result)
    if written.act is not None:
        note_change(f"wrote {written.path}")
    if options.json:
        print_json(describe_handoff(result, written.path))
    else:
        print_lines(_lines(notebook, handoff_draft, result, written))
    return 0


def _draft(options: Namespace, notebook: Notebook, outside: Outside | None) -> HandoffDraft:
    """Return the draft; print the cost of an engine and what was redacted on stderr."""
    from ricordo.cli.output import progress_line
    from ricordo.curation.engine import CurationProgress
    from ricordo.services.handoff.handoff import by_rules, draft

    requests: list[DraftRequest] = []

    def before(request: DraftRequest) -> None:
        requests.append(request)
        left_out = request.told.left_out
        lines = [f"{left_out} facts left out: over the token limit"] if left_out else []
        tell([*lines, estimate_line(request.outside, request.estimate)])

    reading = CurationProgress("reading transcripts")
    with progress_line() as show:
        composer: Composer = by_rules
        if outside is not None:
            from ricordo.services.engines.preview import answered
            from ricordo.services.handoff.engine_draft import by_engine

            composer = by_engine(outside, show, before, lambda run: tell([answered(run)]))
        try:
            return draft(notebook, _handoff_options(options), lambda: show(reading), composer)
        finally:
            # it was sent, whatever the answer is
            redacted = (value for request in requests for value in request.told.redaction.told())
            tell(kept_back_lines(redacted))


def _handoff_options(options: Namespace) -> HandoffOptions:
    from ricordo.handoff.document import handoff_target
    from ricordo.services.handoff.handoff import HandoffOptions

    return HandoffOptions(
        handoff_target(options.target),
        options.budget,
        tuple(options.session),
        options.output,
        options.messages,
    )


def _composed_by(engine: str) -> str:
    from ricordo.services.handoff.handoff import RULES

    if engine == RULES:
        return "composed by rules from the transcript, without a model"
    return f"drafted by {one_line(engine)} from facts of the transcript"


def _lines(
    notebook: Notebook, draft: HandoffDraft, result: Finished, written: WrittenHandoff
) -> list[str]:
    """Return lines on what was written and how the next agent picks it up."""
    from ricordo.services.handoff.output import pickup_of

    head = result.handoff.head
    act = "updated" if draft.destination.handoff else "wrote"
    is_new = written.act is not None
    marks = ", ".join(f"{count} {status.value}" for status, count in result.counts.items() if count)
    credentials = "credential" if head.redactions == 1 else "credentials"
    lines = [
        f"{act if is_new else 'unchanged:'} {one_line(written.path)} for {head.target.name}",
        f"  {len(result.handoff.statements)} statements: {marks or 'none'}",
        f"  about {result.tokens:,} tokens, limit {head.budget:,}; "
        f"{result.handoff.left_out} left out, {head.redactions} {credentials} redacted",
        f"  {_composed_by(head.engine)}",
        f"next: {written.start}",
    ]
    pickup = pickup_of(notebook, draft)
    if pickup is not None:
        lines.append(
            f"or add this to {pickup.file}, to have it read at every start: {pickup.added}"
        )
    return [*lines, "`ricordo undo` reverts this."] if is_new else lines


RESUME_SUMMARY = """Verify a handoff again: what is still valid, and what changed since.

Nothing is written, and nothing of the project is run."""

_NOT_VALID = 1
"""The exit code if a statement is no longer valid."""


def add_resume_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `resume`."""
    parser.add_argument(
        "handoff",
        metavar="HANDOFF.md",
        nargs="?",
        default="",
        help="the handoff (default: that of the current project)",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the memory whose notes it names")
    add_json(parser)


def run_resume(options: Namespace, environment: Environment) -> int:
    """Verify the handoff and print what changed."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.handoff.resume import describe_resumption, resume_handoff

    resumption = resume_handoff(environment, options.handoff, options.memory)
    if options.json:
        print_json(describe_resumption(resumption))
    else:
        tell(resumption.remarks)
        print_lines(list(_resume_lines(resumption)))
    return 0 if resumption.resumed.holds else _NOT_VALID


def _resume_lines(resumption: Resumption) -> Iterator[str]:
    resumed = resumption.resumed
    invalid = [checked for checked in resumed.statements if not checked.holds]
    for checked in invalid:
        text = checked.statement.text or checked.statement.quote
        yield f"{checked.was.value} → {checked.now.value}: {one_line(text)}"
        yield f"    {one_line(checked.why)}"
    yield from _changes(resumed)
    head = resumed.handoff.head
    written = f"{one_line(resumption.path)}, written {head.written:%Y-%m-%d %H:%M}"
    expired = f", expired {head.expires:%Y-%m-%d}" if resumed.has_expired else ""
    yield f"{written}{expired}"
    count = len(resumed.statements)
    yield f"{count - len(invalid)} of {count} statements are still valid"


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
