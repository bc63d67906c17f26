"""`ricordo completions`: print the script that completes command lines in a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.parser import Command

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.services.workspace.environment import Environment

SHELLS = ("bash", "zsh", "fish")

COMPLETIONS_SUMMARY = """Print the script that completes commands, options and notes in a shell.

  bash   ricordo completions bash > ~/.local/share/bash-completion/completions/ricordo
         or, without bash-completion, in ~/.bashrc: eval "$(ricordo completions bash)"
  zsh    ricordo completions zsh > DIR/_ricordo, where DIR is in $fpath
         or, in ~/.zshrc after compinit: eval "$(ricordo completions zsh)"
  fish   ricordo completions fish > ~/.config/fish/completions/ricordo.fish

Packages install these scripts; a new shell then completes without further steps."""


def _add_completions_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}"
    )


def run_completions(options: Namespace, environment: Environment) -> int:
    """Print the script."""
    from ricordo.cli.streams import write_out
    from ricordo.resources import read_data_text

    write_out(read_data_text(f"cli/completion/ricordo.{options.shell}"))
    return 0


COMMANDS = {
    "completions": Command(COMPLETIONS_SUMMARY, _add_completions_arguments, run_completions),
}
