"""Ricordo: the terminal notebook for the memory that AI agents keep about their user.

Packages call downwards only: `cli`, `tui` and `hook`, then `services`, then the packages with
values, rules and files; docs/architecture.md has the table, and the docstring of each package says
more. The modules beside them (`text`, `suggestions`, `errors`, `dates`, `lexicon`, `git`,
`resources`, `background`) are used by all and use none of them. `__main__.py` starts the command
line or the hook.
"""

__version__ = "0.1.0"
HOME_PAGE = "https://github.com/ricordo/ricordo"
"""The address of the repository, to which reports link."""
