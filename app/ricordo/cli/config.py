"""`ricordo config`: show the settings in effect, edit them, or print their path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ricordo.cli.output import note_change, print_lines
from ricordo.cli.parser import Command
from ricordo.curation.prompts import NAMES, get_own_path, load_prompt
from ricordo.resources import find_data_file
from ricordo.services.workspace.environment import Environment
from ricordo.text import make_visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CONFIG_SUMMARY = """Show, edit or locate the settings.

  show   all settings in effect as TOML, with explanations; values from the file are marked; also
         the prompts in use
  edit   open the file in an editor; a missing file is created with all settings as comments
  path   print the path of the file"""


def add_config_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `config`."""
    parser.add_argument(
        "act", nargs="?", choices=("show", "edit", "path"), default="show", help="default: show"
    )


def run_config(options: Namespace, environment: Environment) -> int:
    """Show, edit or locate the settings."""
    acts = {"show": _show, "edit": _edit, "path": _path}
    acts[options.act](environment)
    return 0


def _show(environment: Environment) -> None:
    from ricordo.services.workspace.settings import list_known_names, load_settings
    from ricordo.settings.page import make_effective_toml
    from ricordo.tui.actions.registry import list_known_actions

    actions = list_known_actions()
    settings, warnings = load_settings(environment, actions)
    toml = make_effective_toml(settings, list_known_names(environment, actions), warnings)
    print_lines([*toml.splitlines(), "", *render_prompts(environment)])


def _edit(environment: Environment) -> None:
    from ricordo.services.workspace.settings import list_known_names, load_settings
    from ricordo.settings.editor import create_file, edit, editor_command
    from ricordo.settings.page import make_template
    from ricordo.settings.settings import find_settings_file
    from ricordo.tui.actions.registry import list_known_actions

    actions = list_known_actions()
    settings, _ = load_settings(environment, actions)
    file = find_settings_file(environment.config)
    if create_file(file, make_template(list_known_names(environment, actions))):
        note_change(f"created {file}")
    edit(file, editor_command(settings.editor, environment.environ))
    _, warnings = load_settings(environment, actions)
    print_lines([str(warning) for warning in warnings])


def _path(environment: Environment) -> None:
    from ricordo.settings.settings import find_settings_file
    from ricordo.text import make_visible

    print_lines([make_visible(find_settings_file(environment.config))])


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


COMMANDS = {
    "config": Command(CONFIG_SUMMARY, add_config_arguments, run_config),
}
