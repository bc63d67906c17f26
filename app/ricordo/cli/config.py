"""`ricordo config`: shows the settings that hold, opens them in an editor, says where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import note_change, print_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Show, edit or locate the settings.

  show   every setting that holds, explained, as TOML; what the file sets is marked; and which
         prompts are in use
  edit   open the file in an editor; a missing one is created, with all settings as comments
  path   where the file lies"""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ricordo config`."""
    parser.add_argument(
        "act", nargs="?", choices=("show", "edit", "path"), default="show", help="show, if left out"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Do what was asked for."""
    acts = {"show": _show, "edit": _edit, "path": _path}
    acts[options.act](surroundings)
    return 0


def _show(surroundings: Surroundings) -> None:
    from ricordo.notebook.prompts import prompt_lines
    from ricordo.notebook.settle import known_names, load_settings
    from ricordo.settings.show import effective_toml
    from ricordo.tui.actions.registry import known_actions

    actions = known_actions()
    settings, remarks = load_settings(surroundings, actions)
    toml = effective_toml(settings, known_names(surroundings, actions), remarks)
    print_lines([*toml.splitlines(), "", *prompt_lines(surroundings)])


def _edit(surroundings: Surroundings) -> None:
    from ricordo.notebook.settle import known_names, load_settings
    from ricordo.settings.create import create_file
    from ricordo.settings.editor import edit, editor_command
    from ricordo.settings.settings import settings_file
    from ricordo.settings.show import template
    from ricordo.tui.actions.registry import known_actions

    actions = known_actions()
    settings, _ = load_settings(surroundings, actions)
    file = settings_file(surroundings.config)
    if create_file(file, template(known_names(surroundings, actions))):
        note_change(f"created {file}")
    edit(file, editor_command(settings.editor, surroundings.environ))
    _, remarks = load_settings(surroundings, actions)
    print_lines([str(remark) for remark in remarks])


def _path(surroundings: Surroundings) -> None:
    from ricordo.settings.settings import settings_file
    from ricordo.text import visible

    print_lines([visible(settings_file(surroundings.config))])
