"""The command line: finds the command, parses its words, calls it, turns errors into one line.

Only the module of the command that is called is imported, so that a short answer is a fast one;
`typing`, `importlib` and `argparse` wait until somebody needs them.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ricordo.cli.command import Command
    from ricordo.cli.parser import Parser


COMMANDS = {
    "demo": "open",
    "list": "read",
    "load": "read",
    "show": "read",
    "search": "search",
    "recall": "search",
    "usage": "search",
    "lint": "lint",
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
    "config": "config",
}
"""Commands, and the modules of this package that hold them."""
OPEN = "open"
"""The command that runs when none is named."""
QUICK = ("list", "--short")
"""The command line that runs at every prompt: `argparse` alone would cost more than its answer."""

_TAKE_A_VALUE = frozenset(("--state", "--now", "--agent-home", "-m", "--memory"))


def run(arguments: list[str]) -> int:
    """Run the command line `arguments`, without the program's name; return the exit code."""
    try:
        return _run(arguments)
    except BaseException as error:
        return _report(error, debug="--debug" in _before_dashes(arguments))


def _report(error: BaseException, *, debug: bool) -> int:
    """Say on stderr what went wrong and what was changed; return the exit code."""
    from ricordo.cli.output import changes_noted, print_errors, tell
    from ricordo.cli.streams import discard
    from ricordo.errors import NOTHING_CHANGED, RicordoError, Unprintable

    changes = "; ".join(changes_noted())
    done = f"{changes}. " if changes else ""
    if isinstance(error, KeyboardInterrupt):
        tell([f"{done}Interrupted."] if done else [])
        return 130
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, Unprintable):
        discard(sys.stdout)
        if error.has_no_reader and not done:
            return 0
    if debug:
        import traceback

        print_errors(["".join(traceback.format_exception(error)).rstrip("\n")])
    if isinstance(error, RicordoError):
        changed = "" if done and error.changed == NOTHING_CHANGED else error.changed
        tell([f"{done}{error.message} {changed}".rstrip()])
        return error.exit_code
    kind = type(error).__name__
    changed = "" if done else f" {NOTHING_CHANGED}"
    told = f"{done}internal error ({kind}); this is a bug, please report it.{changed}"
    tell([f"{told} --debug shows where."])
    return 3


def _run(arguments: list[str]) -> int:
    words, state = _without_state(arguments)
    if words == QUICK:
        from ricordo.cli.short import line_here
        from ricordo.cli.streams import write_out
        from ricordo.resources import state_directory

        write_out(f"{line_here(state_directory(os.environ, state))}\n")
        return 0
    from ricordo.cli.output import forget_changes

    forget_changes()
    name, rest = _command(arguments)
    if "--version" in _before_dashes(rest):
        from ricordo import __version__
        from ricordo.cli.streams import write_out

        write_out(f"ricordo {__version__}\n")
        return 0
    command = command_of(name)
    try:
        options = parser_of(name, command).parse_words(rest)
    except SystemExit:
        # the parser has printed its help
        return 0
    from ricordo.errors import WrongUsage
    from ricordo.services.workspace.environment import load_environment
    from ricordo.storage.state_file import refuse_irregular

    try:
        surroundings = load_environment(
            os.environ, state=options.state, now=options.now, agent_home=options.agent_home
        )
    except ValueError:
        raise WrongUsage(
            "The time given as --now or RICORDO_NOW is no day or moment of the years 1970 to 8999, "
            "such as 2026-05-01T09:00."
        ) from None
    refuse_irregular(surroundings.state)
    return command.run(options, surroundings)


def _without_state(arguments: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the words without `--state DIR`, and DIR; where DIR lacks, the option stays."""
    words: list[str] = []
    state = ""
    rest = iter(arguments)
    for word in rest:
        if word == "--state":
            state = next(rest, "")
        elif word.startswith("--state="):
            state = word.removeprefix("--state=")
        else:
            words.append(word)
            continue
        if not state:
            words.append(word)
    return tuple(words), state


def _before_dashes(arguments: list[str]) -> list[str]:
    """Return the words that may be options: behind `--` none is."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _command(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the command that is named first, and the words without it. Raises
    WrongUsage where the first word is neither a command nor a path.
    """
    position = 0
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            break
        if not word.startswith("-"):
            if word in COMMANDS:
                return word, arguments[:position] + arguments[position + 1 :]
            _refuse_mistyped(word)
            break
        position += 2 if word in _TAKE_A_VALUE else 1
    return OPEN, arguments


def _refuse_mistyped(word: str) -> None:
    """Raise WrongUsage where `word`, which stands first, is no command and no path either."""
    if not word or os.sep in word or os.path.lexists(word):
        return
    from difflib import get_close_matches

    from ricordo.errors import WrongUsage
    from ricordo.text import one_line

    near = get_close_matches(word, (*COMMANDS, "hook"), n=1)
    hint = f" Did you mean `ricordo {near[0]}`?" if near else ""
    raise WrongUsage(
        f"“{one_line(word)}” is neither a command nor a path.{hint} "
        "`ricordo --help` lists the commands."
    )


def command_of(name: str) -> Command:
    """Return the command of that name; its module is imported."""
    from importlib import import_module

    commands: dict[str, Command] = import_module(f"ricordo.cli.{COMMANDS.get(name, OPEN)}").COMMANDS
    return commands[name]


def parser_of(name: str, command: Command) -> Parser:
    """Return the parser of the command called `name`; it raises WrongUsage."""
    from argparse import RawDescriptionHelpFormatter

    from ricordo.cli.parser import Parser

    parser = Parser(
        prog="ricordo" if name == OPEN else f"ricordo {name}",
        description=command.summary,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    common = parser.add_argument_group("everywhere")
    common.add_argument("--version", action="store_true", help="print the version and end")
    common.add_argument("--debug", action="store_true", help="add the traceback to an error")
    common.add_argument("--state", metavar="DIR", default="", help="where our own state lies")
    common.add_argument("--now", metavar="ISO", default="", help="take this as the present time")
    common.add_argument(
        "--agent-home", metavar="DIR", default="", help="look for agents' folders in this home"
    )
    return parser
