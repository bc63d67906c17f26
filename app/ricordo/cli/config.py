"""`ricordo config`: shows the settings that hold, opens them in an editor, says where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.output import note_change, print_lines
from ricordo.curation.prompts import NAMES, load_prompt, own_file
from ricordo.resources import data_file
from ricordo.services.workspace.environment import Environment
from ricordo.text import visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

CONFIG_SUMMARY = """Show, edit or locate the settings.

  show   every setting that holds, explained, as TOML; what the file sets is marked; and which
         prompts are in use
  edit   open the file in an editor; a missing one is created, with all settings as comments
  path   where the file lies"""


def add_config_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ricordo config`."""
    parser.add_argument(
        "act", nargs="?", choices=("show", "edit", "path"), default="show", help="show, if left out"
    )


def run_config(options: Namespace, surroundings: Environment) -> int:
    """Do what was asked for."""
    acts = {"show": _show, "edit": _edit, "path": _path}
    acts[options.act](surroundings)
    return 0


def _show(surroundings: Environment) -> None:
    from ricordo.services.workspace.settings import known_names, load_settings
    from ricordo.settings.page import effective_toml
    from ricordo.tui.actions.registry import known_actions

    actions = known_actions()
    settings, remarks = load_settings(surroundings, actions)
    toml = effective_toml(settings, known_names(surroundings, actions), remarks)
    print_lines([*toml.splitlines(), "", *prompt_lines(surroundings)])


def _edit(surroundings: Environment) -> None:
    from ricordo.services.workspace.settings import known_names, load_settings
    from ricordo.settings.editor import create_file, edit, editor_command
    from ricordo.settings.page import template
    from ricordo.settings.settings import settings_file
    from ricordo.tui.actions.registry import known_actions

    actions = known_actions()
    settings, _ = load_settings(surroundings, actions)
    file = settings_file(surroundings.config)
    if create_file(file, template(known_names(surroundings, actions))):
        note_change(f"created {file}")
    edit(file, editor_command(settings.editor, surroundings.environ))
    _, remarks = load_settings(surroundings, actions)
    print_lines([str(remark) for remark in remarks])


def _path(surroundings: Environment) -> None:
    from ricordo.settings.settings import settings_file
    from ricordo.text import visible

    print_lines([visible(settings_file(surroundings.config))])


_EXPLAINED = (
    "# Prompts: what a model or a program is told to do. A file of yours goes before ours; its",
    "# version, as ledger and history name it, ends with a digest of its text.",
)


def prompt_lines(surroundings: Environment) -> Iterator[str]:
    """Yield what each prompt is and where it lies, as comments of TOML, remarks marked."""
    yield from _EXPLAINED
    for name in NAMES:
        prompt = load_prompt(name, surroundings.config)
        own = visible(own_file(name, surroundings.config))
        if prompt.remark:
            yield f"#! {prompt.remark}"
        if prompt.is_own:
            yield f"# {name} = {prompt.version}: {own}"
            continue
        ours = visible(data_file(f"curation/prompts/{prompt.version}.md"))
        yield f"# {name} = {prompt.version}: ours, {ours}; yours would be {own}"


COMMANDS = {
    "config": Command(CONFIG_SUMMARY, add_config_arguments, run_config),
}
