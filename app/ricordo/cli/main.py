"""The command line: find the command, parse its arguments, run it, report errors in one line.

For a fast start only the module of the command is imported; `typing`, `importlib` and `argparse`
are imported when needed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.cli.parser import Command, Parser
    from ricordo.errors import RicordoError


COMMANDS = {
    "demo": "open",
    "list": "read",
    "load": "read",
    "show": "read",
    "search": "search",
    "recall": "search",
    "usage": "search",
    "lint": "lint",
    "rule": "rule",
    "conflicts": "conflicts",
    "curate": "curation",
    "pending": "curation",
    "ledger": "curation",
    "handoff": "handoff",
    "resume": "handoff",
    "new": "edit",
    "rename": "edit",
    "retire": "edit",
    "inbox": "history",
    "review": "open",
    "history": "history",
    "undo": "history",
    "redo": "history",
    "restore": "history",
    "purge": "history",
    "connect": "connect",
    "disconnect": "connect",
    "doctor": "doctor",
    "mcp": "mcp",
    "config": "config",
    "completions": "completion.command",
}
"""The module of this package for each command."""
OPEN = "open"
"""The command that runs if none is named."""
QUICK = ("list", "--short")
"""The command line that shells run at every prompt: importing `argparse` would take too long."""
COMPLETE = "__complete"
"""The hidden command that shells run when Tab is pressed."""

_TAKE_A_VALUE = frozenset(("--state", "--now", "--agent-home", "-m", "--memory", "-C", "--color"))
_DIAGNOSING = frozenset(("doctor",))
"""The commands that report a state directory that cannot be used, instead of ending there."""
_SHOWING = frozenset(("open", "demo", "review", "config", "purge", "mcp"))
"""The commands that show a screen, start an editor, or read from the terminal or an agent: no
progress line.
"""


def run(arguments: list[str]) -> int:
    """Run the command line `arguments`, without the program name; return the exit code."""
    try:
        return _run(arguments)
    except BaseException as error:
        before_dashes = _before_dashes(arguments)
        return _report(error, as_json="--json" in before_dashes, debug="--debug" in before_dashes)


def _report(error: BaseException, *, as_json: bool, debug: bool) -> int:
    """Print on stderr what went wrong and what was changed, with `as_json` on stdout too, as the
    JSON document; return the exit code.
    """
    from ricordo.cli.output import has_changed, has_printed_json, print_errors, report_error
    from ricordo.cli.streams import discard
    from ricordo.errors import OutputFailed

    if not isinstance(error, Exception | KeyboardInterrupt):
        raise error
    if isinstance(error, OutputFailed):
        discard(sys.stdout)
        if error.has_no_reader and not has_changed():
            return 0
    if debug and isinstance(error, Exception):
        import traceback

        print_errors(["".join(traceback.format_exception(error)).rstrip("\n")])
    known = _explain(error)
    report_error(known)
    if as_json and not isinstance(error, OutputFailed) and not has_printed_json():
        return _print_error(known)
    return known.exit_code


def _explain(error: BaseException) -> RicordoError:
    """Return `error` if it is one for the user, else an interruption or a bug as one."""
    from ricordo.errors import Interrupted, RicordoError, UnexpectedError

    if isinstance(error, RicordoError):
        return error
    return Interrupted() if isinstance(error, KeyboardInterrupt) else UnexpectedError(error)


def _print_error(error: RicordoError) -> int:
    """Print the JSON document on an error; return the exit code of what could not be printed."""
    from ricordo.cli.output import describe_error, print_json
    from ricordo.cli.streams import discard
    from ricordo.errors import OutputFailed

    try:
        print_json(describe_error(error), "error")
    except OutputFailed:
        # the line on stderr has told it
        discard(sys.stdout)
    return error.exit_code


def _run(arguments: list[str]) -> int:
    without_state, state = _without_state(arguments)
    if without_state == QUICK:
        from ricordo.cli.short import render_line_here
        from ricordo.cli.streams import write_out
        from ricordo.resources import state_directory

        write_out(f"{render_line_here(state_directory(os.environ, state))}\n")
        return 0
    if arguments[:1] == [COMPLETE]:
        from ricordo.cli.completion.answer import answer

        answer(arguments[1:])
        return 0
    from ricordo.cli.output import begin_output, set_may_change

    begin_output()
    name, rest = _split_command(arguments)
    if "--version" in _before_dashes(rest):
        _print_version(as_json="--json" in _before_dashes(rest))
        return 0
    command = load_command(name)
    words = [name, *(word.partition("=")[0] for word in _before_dashes(rest))]
    set_may_change(is_on=any(word in command.changing for word in words))
    try:
        options = create_parser(name, command).parse_words(rest)
    except SystemExit:
        # the parser printed its help
        return 0
    _apply_common(options, name)
    from ricordo.errors import WrongUsage
    from ricordo.services.workspace.environment import load_environment
    from ricordo.storage.state_file import check_regular_files

    try:
        environment = load_environment(
            os.environ, state=options.state, now=options.now, agent_home=options.agent_home
        )
    except ValueError:
        raise WrongUsage(
            "--now or RICORDO_NOW expects a date or time of the years 1970 to 8999, such as "
            "2026-05-01T09:00."
        ) from None
    if name not in _DIAGNOSING:
        check_regular_files(environment.state)
    if options.quiet or name in _SHOWING:
        return command.run(options, environment)
    from ricordo.cli.progress import start_progress, stop_progress

    start_progress(name)
    try:
        return command.run(options, environment)
    finally:
        stop_progress()
        _print_notices()


def _print_notices() -> None:
    """Print what happened to a history and no command has told."""
    if "ricordo.storage.database" in sys.modules:
        from ricordo.cli.output import print_messages
        from ricordo.storage.database import take_all_notices

        print_messages(take_all_notices())


def _apply_common(options: Namespace, name: str) -> None:
    """Apply the common options -C, --color and --quiet of the command `name`. Raises WrongUsage."""
    from ricordo.cli.output import set_quiet
    from ricordo.cli.style import choose_color

    if options.directory:
        try:
            os.chdir(options.directory)
        except OSError as error:
            from ricordo.errors import WrongUsage
            from ricordo.text import make_one_line

            reason = f"{error.strerror or error}"
            raise WrongUsage(f"-C: {make_one_line(options.directory)}: {reason}.") from None
    choose_color(options.color)
    set_quiet(is_on=options.quiet)
    if options.color == "never" and name in _SHOWING:
        # the notebook reads it
        os.environ["NO_COLOR"] = "1"


def _print_version(*, as_json: bool) -> None:
    from ricordo import __version__

    if as_json:
        from ricordo.cli.output import print_json

        print_json({"version": __version__}, "version")
        return
    from ricordo.cli.streams import write_out

    write_out(f"ricordo {__version__}\n")


def _without_state(arguments: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the arguments without `--state DIR`, and DIR; without a DIR the option stays."""
    rest: list[str] = []
    state = ""
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--state":
            state = next(remaining, "")
        elif argument.startswith("--state="):
            state = argument.removeprefix("--state=")
        else:
            rest.append(argument)
            continue
        if not state:
            rest.append(argument)
    return tuple(rest), state


def _before_dashes(arguments: list[str]) -> list[str]:
    """Return the arguments before `--`, which may be options."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _split_command(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the first argument that is no option, if it is a command, else OPEN; and the other
    arguments. Raises WrongUsage if it is neither a command nor a path.
    """
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument == "--":
            break
        if not argument.startswith("-"):
            if argument in COMMANDS:
                return argument, arguments[:position] + arguments[position + 1 :]
            _refuse_mistyped(argument)
            break
        position += 2 if argument in _TAKE_A_VALUE else 1
    return OPEN, arguments


def _refuse_mistyped(word: str) -> None:
    """Raise WrongUsage if `word`, the first argument, is neither a command nor a path."""
    if not word or os.sep in word or os.path.lexists(word):
        return
    from ricordo.errors import WrongUsage
    from ricordo.suggestions import suggest
    from ricordo.text import make_one_line

    suggestion = suggest(word, (*COMMANDS, "hook"), "`ricordo {}`", most=1)
    raise WrongUsage(
        f"“{make_one_line(word)}” is neither a command nor a path.",
        hint=f"{suggestion} `ricordo --help` lists the commands.".lstrip(),
    )


def load_command(name: str) -> Command:
    """Return the command `name`, importing its module."""
    from importlib import import_module

    commands: dict[str, Command] = import_module(f"ricordo.cli.{COMMANDS.get(name, OPEN)}").COMMANDS
    return commands[name]


def create_parser(name: str, command: Command) -> Parser:
    """Return the parser of the command `name`, which raises WrongUsage."""
    from argparse import RawDescriptionHelpFormatter

    from ricordo.cli.parser import Parser
    from ricordo.cli.style import COLOR_CHOICES

    parser = Parser(
        prog="ricordo" if name == OPEN else f"ricordo {name}",
        description=command.summary,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=name)
    command.add_arguments(parser)
    common = parser.add_argument_group("common options")
    common.add_argument("--version", action="store_true", help="print the version and exit")
    common.add_argument("--debug", action="store_true", help="add the traceback to an error")
    common.add_argument("-q", "--quiet", action="store_true", help="print only results and errors")
    common.add_argument(
        "--color",
        choices=COLOR_CHOICES,
        default="auto",
        help="when to colour: auto (a terminal, and NO_COLOR, CLICOLOR, CLICOLOR_FORCE, "
        "FORCE_COLOR), always or never",
    )
    common.add_argument(
        "-C",
        dest="directory",
        metavar="DIR",
        default="",
        help="run as if started in DIR",
    )
    common.add_argument("--state", metavar="DIR", default="", help="directory for Ricordo's data")
    common.add_argument(
        "--now", metavar="ISO", default="", help="override the current time (for testing)"
    )
    common.add_argument(
        "--agent-home", metavar="DIR", default="", help="home directory with the agents' folders"
    )
    return parser
