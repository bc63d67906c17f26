"""`ricordo rule`: explain a rule of `lint`, or list all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.parser import Command, add_json
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.services.workspace.environment import Environment

RULE_SUMMARY = """Explain a rule of `lint`, or list all rules.

What it checks and leaves out, why that matters, when to dismiss a finding, what to do about it,
its automatic fix, a bad and a good example, and how to turn it off."""

_WIDEST = 100
"""Columns; longer lines are hard to read."""


def _add_rule_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the rule; all rules without it")
    add_json(parser)


def run_rule(options: Namespace, environment: Environment) -> int:
    """Print the page of one rule, or the list of all."""
    from shutil import get_terminal_size

    from ricordo.cli.output import print_json, print_lines
    from ricordo.lint.rule_page import load_rule_page, load_rule_pages
    from ricordo.services.rule_help import describe_rule, format_rule, format_rules

    set_to = _load_severities(environment)
    width = min(get_terminal_size().columns, _WIDEST)
    if options.name is None:
        pages = load_rule_pages()
        if options.json:
            rules = [describe_rule(page, set_to.get(page.name, "")) for page in pages]
            print_json({"rules": rules}, "rule")
        else:
            print_lines(format_rules(pages, set_to, width))
        return 0
    page = load_rule_page(_find_rule(options.name))
    if options.json:
        described = describe_rule(page, set_to.get(page.name, ""))
        print_json(described, "rule")
    else:
        print_lines(format_rule(page, width, set_to.get(page.name, "")))
    return 0


def _find_rule(name: str) -> str:
    """Return the name of a rule; raise WrongUsage with the nearest one if there is none."""
    from ricordo.lint.rule import load_rules
    from ricordo.suggestions import suggest
    from ricordo.text import make_one_line

    plain = name.strip("[]").lower()
    if plain in load_rules():
        return plain
    near = suggest(plain, load_rules())
    raise WrongUsage(
        f"Unknown rule “{make_one_line(name)}”.",
        hint=f"{near} `ricordo rule` lists all rules.".lstrip(),
    )


def _load_severities(environment: Environment) -> dict[str, str]:
    """Return the severities that the settings set for all memories, `off` included, by rule."""
    from ricordo.cli.output import print_messages
    from ricordo.services.workspace.settings import load_settings

    settings, warnings = load_settings(environment)
    print_messages(map(str, warnings))
    return dict(settings.rules)


COMMANDS = {
    "rule": Command(RULE_SUMMARY, _add_rule_arguments, run_rule),
}
