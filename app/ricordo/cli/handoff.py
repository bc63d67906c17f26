"""`ricordo handoff` and `resume`: write a handoff for the next agent, and verify it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.change import Changed, describe_change
from ricordo.cli.edit import begin_change
from ricordo.cli.engine import (
    add_engine,
    choose_engine,
    confirm_program,
    render_estimate,
    render_redacted,
)
from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_json, add_memory_and_json
from ricordo.cli.workspace import open_notebook_or_project
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from ricordo.handoff.changes import FileChange
    from ricordo.handoff.resume import RecheckedHandoff
    from ricordo.services.engines.engines import EngineTarget
    from ricordo.services.handoff.engine_draft import DraftRequest
    from ricordo.services.handoff.handoff import Composer, HandoffDraft, HandoffOptions
    from ricordo.services.handoff.output import RenderedHandoff, WrittenHandoff
    from ricordo.services.handoff.resume import ResumeReport
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook

HANDOFF_SUMMARY = """Write HANDOFF.md: what the next agent needs to continue a session.

Each statement is marked with its status and evidence; `ricordo resume` verifies it again. Possible
credentials are redacted. A HANDOFF.md that somebody else wrote or edited is not overwritten."""


_STDOUT = "-"
"""Names standard output as the file."""


def _add_handoff_arguments(parser: ArgumentParser) -> None:
    from ricordo.handoff.budget import DEFAULT_BUDGET
    from ricordo.handoff.document import ANY_AGENT, handoff_targets

    add_memory_and_json(parser)
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
        default=DEFAULT_BUDGET,
        help=f"maximum size in tokens of four bytes (default: {DEFAULT_BUDGET})",
    )
    add_engine(parser, "drafts it")
    parser.add_argument("--yes", action="store_true", help="allow a new program to run")
    parser.add_argument(
        "--messages",
        action="store_true",
        help="include your messages verbatim, as far as the budget allows",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="", help="output file or folder; - prints it"
    )


def run_handoff(options: Namespace, environment: Environment) -> int:
    """Draft and write the handoff, and print how the next agent picks it up."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.handoff.output import finish_draft, write_handoff
    from ricordo.services.handoff.resume import describe_handoff

    notebook = open_notebook_or_project(options, environment)
    engine_target = choose_engine(options, notebook)
    confirm_program(notebook, engine_target, is_meant=options.yes)
    memory = begin_change(notebook)
    handoff_draft = _draft(options, notebook, engine_target)
    result = finish_draft(handoff_draft)
    print_messages(handoff_draft.warnings)
    if options.output == _STDOUT:
        if options.json:
            document = {**describe_handoff(result, ""), **describe_change("", [])}
            print_json({**document, "warnings": list(handoff_draft.warnings)}, "handoff")
        else:
            print_lines(result.text.rstrip("\n").split("\n"))
        return 0
    written = write_handoff(notebook, memory, handoff_draft, result)
    if written.act is not None:
        note_change(f"wrote {written.path}")
    if options.json:
        changed = _describe_change(written, has_old=handoff_draft.destination.handoff is not None)
        warnings = handoff_draft.warnings
        document = {**describe_handoff(result, written.path), **changed, "warnings": list(warnings)}
        print_json(document, "handoff")
    else:
        print_lines(_lines(notebook, handoff_draft, result, written))
    return 0


def _describe_change(written: WrittenHandoff, *, has_old: bool) -> dict[str, Any]:
    """Return what writing the handoff changed, as `--json` prints it."""
    if written.act is None:
        return describe_change("", [])
    kind = "changed" if has_old else "created"
    return describe_change(f"wrote {written.path}", [Changed(kind, written.path)])


def _draft(
    options: Namespace, notebook: Notebook, engine_target: EngineTarget | None
) -> HandoffDraft:
    """Return the draft; print the cost of an engine and what was redacted on stderr."""
    from ricordo.cli.output import show_progress
    from ricordo.curation.engine import CurationProgress
    from ricordo.services.handoff.handoff import compose_by_rules, draft_handoff

    requests: list[DraftRequest] = []

    def before(request: DraftRequest) -> None:
        requests.append(request)
        left_out = request.brief.left_out
        lines = [f"{left_out} facts left out: over the token limit"] if left_out else []
        print_messages([*lines, render_estimate(request.target, request.estimate)])

    reading = CurationProgress("reading transcripts")
    with show_progress() as show:
        composer: Composer = compose_by_rules
        if engine_target is not None:
            from ricordo.services.engines.preview import format_answer
            from ricordo.services.handoff.engine_draft import compose_by_engine

            composer = compose_by_engine(
                engine_target, show, before, lambda run: print_messages([format_answer(run)])
            )
        try:
            return draft_handoff(
                notebook, _handoff_options(options), lambda: show(reading), composer
            )
        finally:
            # it was sent, whatever the answer is
            redacted = (
                value for request in requests for value in request.brief.redaction.list_redacted()
            )
            print_messages(render_redacted(redacted))


def _handoff_options(options: Namespace) -> HandoffOptions:
    from ricordo.handoff.document import handoff_target
    from ricordo.services.handoff.handoff import HandoffOptions

    return HandoffOptions(
        handoff_target(options.target),
        options.budget,
        tuple(options.session),
        "" if options.output == _STDOUT else options.output,
        options.messages,
    )


def _composed_by(engine: str) -> str:
    from ricordo.services.handoff.handoff import RULES_ENGINE

    if engine == RULES_ENGINE:
        return "composed by rules from the transcript, without a model"
    return f"drafted by {make_one_line(engine)} from facts of the transcript"


def _lines(
    notebook: Notebook, draft: HandoffDraft, result: RenderedHandoff, written: WrittenHandoff
) -> list[str]:
    """Return lines on what was written and how the next agent picks it up."""
    from ricordo.handoff.document import describe_statuses
    from ricordo.services.handoff.output import find_pickup

    head = result.handoff.header
    act = "updated" if draft.destination.handoff else "wrote"
    is_new = written.act is not None
    marks = describe_statuses(statement.status for statement in result.handoff.statements)
    credentials = "credential" if head.redactions == 1 else "credentials"
    lines = [
        f"{act if is_new else 'unchanged:'} {make_one_line(written.path)} for {head.target.name}",
        f"  {len(result.handoff.statements)} statements: {marks}",
        f"  about {result.tokens:,} tokens, limit {head.budget:,}; "
        f"{result.handoff.left_out} left out, {head.redactions} {credentials} redacted",
        f"  {_composed_by(head.engine)}",
        f"next: {written.start_command}",
    ]
    pickup = find_pickup(notebook, draft)
    if pickup is not None:
        lines.append(f"or add this to {pickup.file}, to have it read at every start: {pickup.line}")
    return [*lines, "`ricordo undo` reverts this."] if is_new else lines


RESUME_SUMMARY = """Verify a handoff again: what is still valid, and what changed since.

Nothing is written, and nothing of the project is run."""

_NOT_VALID = 1
"""The exit code if a statement is no longer valid."""


def _add_resume_arguments(parser: ArgumentParser) -> None:
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
    from ricordo.services.handoff.resume import describe_resume, resume_handoff

    resumption = resume_handoff(environment, options.handoff, options.memory)
    if options.json:
        print_json(describe_resume(resumption), "resume")
    else:
        print_messages(resumption.warnings)
        print_lines(list(_resume_lines(resumption)))
    return 0 if resumption.rechecked.is_valid else _NOT_VALID


def _resume_lines(resumption: ResumeReport) -> Iterator[str]:
    from ricordo.handoff.document import describe_statuses

    resumed = resumption.rechecked
    invalid = [checked for checked in resumed.statements if not checked.is_valid]
    for checked in invalid:
        text = checked.statement.text or checked.statement.quote
        yield f"{checked.status_then.value} → {checked.status_now.value}: {make_one_line(text)}"
        yield f"    {make_one_line(checked.reason)}"
    yield from _changes(resumed)
    head = resumed.handoff.header
    written = f"{make_one_line(resumption.path)}, written {head.written:%Y-%m-%d %H:%M}"
    expired = f", expired {head.expires:%Y-%m-%d}" if resumed.has_expired else ""
    edited = ", edited since" if resumed.is_edited else ""
    yield f"{written}{expired}{edited}"
    counts = describe_statuses(checked.status_now for checked in resumed.statements)
    worse = f"{len(invalid) or 'none'} got worse since it was written"
    yield f"{len(resumed.statements)} statements: {counts}; {worse}"


def _changes(resumed: RecheckedHandoff) -> Iterator[str]:
    changed = resumed.changes
    if changed.commits:
        yield f"commits since: {len(changed.commits)}"
        yield from (f"  {it.id[:12]} {make_one_line(it.subject)}" for it in changed.commits)
    yield from _listed("files", changed.files)
    yield from _listed("notes", changed.notes)


def _listed(what: str, changes: Iterable[FileChange]) -> Iterator[str]:
    lines = [
        f"  {it.kind.value} {make_one_line(it.path)}"
        + (f" → {make_one_line(it.new_path)}" if it.new_path else "")
        for it in changes
    ]
    if lines:
        yield from (f"{what} since: {len(lines)}", *lines)


COMMANDS = {
    "handoff": Command(HANDOFF_SUMMARY, _add_handoff_arguments, run_handoff, ("handoff",)),
    "resume": Command(RESUME_SUMMARY, _add_resume_arguments, run_resume),
}
