"""The command line: parse, call, print.

`main.py` finds the module of a command and imports only that one; each module has a table
`COMMANDS` of its parsers and functions. `output.py` prints: either one JSON document or lines
without control characters, errors in one line on standard error. The commands call `services`, and
`open.py` starts `tui`.

`--json` fields, exit codes and options are contracts: programs depend on them. A command notes each
change as soon as it is on disk (`note_change`), so that an error afterwards can name it.
`docs/commands.md` is generated from the parsers by `command_page.py`; `schemas/` has the JSON
Schemas of the documents.
"""
