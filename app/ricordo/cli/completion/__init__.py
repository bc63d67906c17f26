"""Completions for bash, zsh and fish: what Tab offers.

`ricordo completions SHELL` prints the script of a shell (`ricordo.bash`, `ricordo.zsh`,
`ricordo.fish`). At every Tab the script runs the hidden command `ricordo __complete`, which is
`answer.py`: `shell_words.py` splits the line of bash, `command_line.py` finds what the cursor is
at, by the options in `table.json`, and `values.py` lists the notes, memories and ids that fit.

`table.json` is generated from the parsers by `table.py`: importing them would take longer than the
rest. An answer writes no memory and no history, and is given up after a few seconds.
"""
