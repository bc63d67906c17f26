"""`ricordo [PATH]`: opens the notebook; where the terminal cannot show it, prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory, memory_path
from ricordo.cli.streams import can_show_screen

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """The terminal notebook for the memory that AI agents keep about you.

Without PATH it opens the memory of the current directory. Commands:
  demo       open a throwaway copy of the sample memory
  list       every memory on this machine
  load       what an agent is given at session start, and what is cut off
  show       one note with all that is known of it
  search     find notes by name and by what they say
  recall     the notes an agent should read for a message
  hook       the same for agents, which call it at every message
  usage      what notes were used for, and searches without results
  lint       what is wrong with a memory; --fix makes the safe fixes
  conflicts  pairs of notes that cannot both hold; --resolve settles one
  curate     propose changes by what you said to agents
  pending    the pending proposals; --apply and --drop decide
  ledger     what curation cost and what it bought
  handoff    write HANDOFF.md: what the next agent needs to go on
  resume     what of a handoff still holds
  inbox      what others changed since the last visit
  review     what is to be looked at today
  new        make a note and its entry in the index
  rename     give a note another name; links and index follow
  retire     take a note out of the memory
  history    the versions of a note, or of all
  undo       take the last act back
  redo       do again what was undone
  restore    bring a version of a note back
  purge      remove a value from the history
  config     show, edit or locate the settings
`ricordo COMMAND --help` says more."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ricordo` itself."""
    add_memory(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Open the notebook, or print it where no person sits at a terminal."""
    path = memory_path(options)
    if can_show_screen():
        from ricordo.tui.start import start

        return start(path, surroundings)
    from ricordo.cli.opening import look_reported, open_notebook
    from ricordo.cli.output import print_lines
    from ricordo.notebook.report import report

    print_lines(report(look_reported(open_notebook(options, surroundings))))
    return 0
