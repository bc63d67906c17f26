"""The options and arguments of every command, from the parsers, for completions and man page.

`python -m ricordo.cli.completion.table > app/ricordo/cli/completion/table.json` writes them.
"""

from __future__ import annotations

import json
import re
from argparse import SUPPRESS, Action, ArgumentParser
from typing import Any

from ricordo.cli.completion.command_line import NO_COMMAND
from ricordo.cli.main import COMMANDS, OPEN, create_parser, load_command
from ricordo.cli.open import OPEN_SUMMARY
from ricordo.hook.program import EVENTS
from ricordo.lint.rule import load_rules

MEMORY, NOTE, DIRECTORY, FILE, RULE, NOTHING = "memory", "note", "directory", "file", "rule", ""

KINDS = {
    "-": NOTHING,
    "AGENT": "agent",
    "D": NOTHING,
    "DAYS": NOTHING,
    "DIR": DIRECTORY,
    "F": FILE,
    "FILE": FILE,
    "HANDOFF.md": FILE,
    "ID": NOTHING,
    "ISO": NOTHING,
    "M": "model",
    "MESSAGE": NOTHING,
    "N": NOTHING,
    "NAME": NOTHING,
    "NOTE": NOTE,
    "PATH": MEMORY,
    "QUERY": "query",
    "R": RULE,
    "REASON": NOTHING,
    "RULE": RULE,
    "S": NOTHING,
    "T": NOTHING,
    "WORDS": "search",
}
"""What a value is, by the name that the help gives it; NOTHING if it cannot be completed."""
KINDS_OF_DEST = {
    ("config", "set"): NOTHING,
    ("conflicts", "resolve"): "conflict",
    ("curate", "allow"): NOTHING,
    ("curate", "withhold"): "allowed",
    ("history", "note"): "past-note",
    ("lint", "dismiss"): "finding",
    ("new", "type"): "type",
    ("pending", "apply"): "proposal",
    ("pending", "drop"): "proposal",
    ("restore", "at"): "version",
    ("restore", "note"): "past-note",
    ("rule", "name"): RULE,
}
"""What a value is, by command and attribute, where the name says too little."""

_COMMAND = re.compile(r"^  (\w+) +(\S.*)$", re.MULTILINE)


def build_table() -> dict[str, Any]:
    """Return the options and arguments of every command, and a line on each command and rule."""
    lines = dict(_COMMAND.findall(OPEN_SUMMARY))
    commands = {NO_COMMAND: _describe_command(OPEN, "")}
    commands |= {name: _describe_command(name, lines[name]) for name in COMMANDS}
    commands["hook"] = {
        "help": lines["hook"],
        "options": [
            option
            for option in commands[NO_COMMAND]["options"]
            if {"--state", "--debug"} & {*option["names"]}
        ],
        "arguments": [{"kind": "choice", "choices": list(EVENTS)}],
    }
    rules = {rule.name: rule.summary for rule in load_rules().values()}
    return {"commands": commands, "rules": rules}


def find_kind(command: str, action: Action) -> str | None:
    """Return what a value of `action` is; None if neither its name nor its attribute says it."""
    return KINDS_OF_DEST.get((command, action.dest), KINDS.get(_get_metavar(action)))


def list_actions(parser: ArgumentParser) -> list[Action]:
    """Return the options and arguments that the help of `parser` shows."""
    return [action for action in parser._actions if action.help is not SUPPRESS]


def takes_value(action: Action) -> bool:
    """Return whether an option or argument has a value."""
    return action.nargs != 0


def _describe_command(name: str, line: str) -> dict[str, Any]:
    parser = create_parser(name, load_command(name))
    groups = {
        id(action): number
        for number, group in enumerate(parser._mutually_exclusive_groups, 1)
        for action in group._group_actions
    }
    options, arguments = [], []
    for action in list_actions(parser):
        value = _describe_value(name, action) if takes_value(action) else None
        if not action.option_strings:
            arguments.append(value)
            continue
        # the long name first, by which values are found
        option: dict[str, Any] = {
            "names": sorted(action.option_strings, key=len, reverse=True),
            "help": _format_help(action),
            "value": value,
        }
        if id(action) in groups:
            option["group"] = groups[id(action)]
        if type(action).__name__ == "_AppendAction":
            option["repeats"] = True
        options.append(option)
    return {"help": line, "options": options, "arguments": arguments}


def _describe_value(command: str, action: Action) -> dict[str, Any]:
    value: dict[str, Any] = {"kind": find_kind(command, action) or NOTHING}
    if action.choices is not None:
        value = {"kind": "choice", "choices": [str(choice) for choice in action.choices]}
    if action.nargs in ("*", "+"):
        value["many"] = True
    return value


def _get_metavar(action: Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else None
    return metavar or action.dest.upper()


def _format_help(action: Action) -> str:
    return re.sub(r"\s+", " ", action.help or "").replace("%%", "%")


def render_table() -> str:
    """Return the table as JSON."""
    return json.dumps(build_table(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    print(render_table(), end="")
