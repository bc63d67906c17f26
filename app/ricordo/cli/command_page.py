"""The documentation of the command line, made of its parsers.

`python -m ricordo.cli.command_page > docs/commands.md` writes it anew.
"""

from __future__ import annotations

import os

from ricordo.cli.main import COMMANDS, OPEN, command_of, parser_of

_INTRODUCTION = """
# Commands

<!-- Made by `python -m ricordo.cli.command_page`: change the parsers it reads, not this. -->

PATH is a memory's directory, its index file, or a project directory from which the memory is found;
without it, the memory of the current directory. Every command also takes it as `-m PATH`.

With `--json` standard output is exactly one JSON document; controls and invisible characters in it
are escaped. Errors go to standard error as one line that says what was and what was not changed. On
a standard output that lacks characters they are replaced by `?`, in JSON by escapes. Where the
reader of a pipe goes away after something was changed, that counts as not printed.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | there is something to report: `lint` found something at or over `--fail-on` |
| 1 | nothing was found by `search` or `recall` |
| 1 | a statement of a handoff no longer holds, as `resume` finds |
| 2 | wrong usage |
| 3 | the memory cannot be found or read |
| 4 | the curator could not answer: no key, refused, over budget, too often |
| 74 | done, but the result could not be printed |
| 130 | interrupted |
"""

_HOOK = """
## ricordo hook

```
usage: ricordo hook prompt [--state DIR] [--debug]
```

What agents call at every message; a program of its own, which knows no other words. It reads one
JSON document from standard input, of which these fields count:

| field | meaning |
|---|---|
| `prompt` | the message |
| `cwd` | the directory in which the agent works; the memory is that of its project |
| `session_id` | the session, in which no note is given twice; without it, notes may come again |
| `hook_event_name` | `UserPromptSubmit`, or missing; for another event nothing is answered |
| `source` | `user` or `sdk`, or missing; a prompt of any other source is not answered |
| `agent_id` | missing; a sub-agent gets no answer |

Where notes bear on the message it writes one JSON document, and otherwise nothing:

```json
{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "…"}}
```

It answers from the index as it is, and makes none: a memory is known to it once the notebook,
`search` or `recall` has been used there. A note that changed since then is left out until it is
indexed again. Which memory Claude Code keeps for a directory is computed from its path and the
settings, no transcript is needed; any other memory answers in the project with which it was
indexed, and nowhere where its project is unknown. A note with a credential, or with text that lint
reports as instruction-shaped, is never given. It ends with 0 whatever happens, after two seconds at
the latest. Nothing is answered where `RICORDO_CURATING=1` is set. With `--debug` an error is shown
on standard error. An event that it does not know is named there, and the exit code is 0 too.
"""

_WIDTH = "100"


def commands_page() -> str:
    """Return the page in Markdown."""
    os.environ["COLUMNS"] = _WIDTH
    parts = [_INTRODUCTION.strip(), ""]
    for name in (OPEN, *COMMANDS):
        title = "ricordo" if name == OPEN else f"ricordo {name}"
        help_text = parser_of(name, command_of(name)).format_help()
        parts += [f"## {title}", "", "```", help_text.strip(), "```", ""]
    parts += [_HOOK.strip(), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(commands_page(), end="")
