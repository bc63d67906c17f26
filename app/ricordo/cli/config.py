"""`ricordo config`: show the settings in effect, edit them, or print their path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ricordo.cli.output import note_change, print_json, print_lines
from ricordo.cli.parser import Command, add_json
from ricordo.curation.prompts import NAMES, get_own_path, load_prompt
from ricordo.errors import ChangeRefused, WrongUsage
from ricordo.resources import find_data_file
from ricordo.services.workspace.environment import Environment
from ricordo.text import make_visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CONFIG_SUMMARY = """Show, edit or locate the settings.

  show   all settings in effect as TOML, with explanations; values from the file are marked; also
         the prompts in use
  edit   open the file in an editor; a missing file is created with all settings as comments
  path   print the path of the file
  conventions
         how the notes of one memory are written, as Ricordo learned it; --set corrects it"""


def add_config_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `config`."""
    parser.add_argument(
        "act",
        nargs="?",
        choices=("show", "edit", "path", "conventions"),
        default="show",
        help="default: show",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="with conventions: the memory")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="with conventions: set `title`, `fields`, `prefixes`, `apart`, `sources` or `project`;"
        " `learn` as the value undoes it",
    )
    add_json(parser)


def run_config(options: Namespace, environment: Environment) -> int:
    """Show, edit or locate the settings."""
    acts = {"show": _show, "edit": _edit, "path": _path, "conventions": _conventions}
    if options.act != "conventions" and (options.set or options.memory):
        raise WrongUsage("--set and --memory need `config conventions`.")
    acts[options.act](options, environment)
    return 0


def _show(options: Namespace, environment: Environment) -> None:
    from ricordo.services.workspace.settings import list_known_names, load_settings
    from ricordo.settings.page import make_effective_toml
    from ricordo.settings.settings import find_settings_file
    from ricordo.tui.actions.registry import list_known_actions

    actions = list_known_actions()
    settings, warnings = load_settings(environment, actions)
    toml = make_effective_toml(settings, list_known_names(environment, actions), warnings)
    if not options.json:
        print_lines([*toml.splitlines(), "", *render_prompts(environment)])
        return
    import tomli

    document = {
        "path": find_settings_file(environment.config),
        "settings": tomli.loads(toml),
        "prompts": list(_describe_prompts(environment)),
        "warnings": [str(warning) for warning in warnings],
    }
    print_json(document, options.command)


def _edit(options: Namespace, environment: Environment) -> None:
    from ricordo.cli.change import Changed, print_change
    from ricordo.services.workspace.settings import list_known_names, load_settings
    from ricordo.settings.editor import create_file, edit, editor_command, read_stamp
    from ricordo.settings.page import make_template
    from ricordo.settings.settings import find_settings_file
    from ricordo.tui.actions.registry import list_known_actions

    actions = list_known_actions()
    settings, _ = load_settings(environment, actions)
    file = find_settings_file(environment.config)
    changed: list[Changed] = []
    if create_file(file, make_template(list_known_names(environment, actions))):
        note_change(f"created {file}")
        changed.append(Changed("created", file))
    before = read_stamp(file)
    # stdout is for the document alone
    command = editor_command(settings.editor, environment.environ)
    code = edit(file, command, to_stderr=options.json)
    if not changed and read_stamp(file) != before:
        note_change(f"changed {file}")
        changed.append(Changed("changed", file))
    if code:
        raise ChangeRefused(f"The editor ended with an error ({code}).")
    _, warnings = load_settings(environment, actions)
    shown = [str(warning) for warning in warnings]
    if options.json:
        done = f"{changed[0].kind} {file}" if changed else ""
        print_change(options, done, changed, warnings=shown, path=file)
    else:
        print_lines(shown)


def _path(options: Namespace, environment: Environment) -> None:
    from ricordo.settings.settings import find_settings_file
    from ricordo.text import make_visible

    file = find_settings_file(environment.config)
    if options.json:
        print_json({"path": file}, options.command)
    else:
        print_lines([make_visible(file)])


def _conventions(options: Namespace, environment: Environment) -> None:
    """Show the conventions of one memory, after setting those of `--set`."""
    from ricordo.cli.style import get_width
    from ricordo.cli.workspace import load_settings_reported
    from ricordo.services.workspace.conventions import (
        format_conventions,
        list_conventions,
        set_convention,
    )
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory

    place = find_memory(options.memory, environment)
    settings = load_settings_reported(environment)
    for assignment in options.set:
        file = set_convention(environment.config, settings, place.root, assignment)
        settings = load_settings_reported(environment)
        note_change(f"changed {file}")
    notebook = Notebook(place, environment, settings)
    memory = notebook.read()
    lines = list_conventions(
        memory, notebook.learn_conventions(memory), notebook.place, notebook.settings
    )
    if options.json:
        print_json(
            {"path": place.root, "conventions": [line._asdict() for line in lines]}, options.command
        )
    else:
        print_lines(format_conventions(lines, get_width()))


_EXPLAINED = (
    "# Prompts: the instructions for a model or a program. A file of yours replaces the bundled",
    "# one; its version, as ledger and history show it, ends with a digest of its text.",
)


def render_prompts(environment: Environment) -> Iterator[str]:
    """Yield version and path of each prompt as TOML comments, and marked warnings."""
    yield from _EXPLAINED
    for name in NAMES:
        prompt = load_prompt(name, environment.config)
        own = make_visible(get_own_path(name, environment.config))
        if prompt.warning:
            yield f"#! {prompt.warning}"
        if prompt.is_own:
            yield f"# {name} = {prompt.version}: {own}"
            continue
        bundled = make_visible(find_data_file(f"curation/prompts/{prompt.version}.md"))
        yield f"# {name} = {prompt.version}: bundled, {bundled}; yours would be {own}"


def _describe_prompts(environment: Environment) -> Iterator[dict[str, Any]]:
    """Yield each prompt in use, as `--json` prints it."""
    for name in NAMES:
        prompt = load_prompt(name, environment.config)
        own = get_own_path(name, environment.config)
        bundled = find_data_file(f"curation/prompts/{prompt.version}.md")
        yield {
            "name": name,
            "version": prompt.version,
            "path": own if prompt.is_own else bundled,
            "own": prompt.is_own,
            "warning": prompt.warning or None,
        }


COMMANDS = {
    "config": Command(CONFIG_SUMMARY, add_config_arguments, run_config, ("edit", "--set")),
}
