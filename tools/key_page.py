"""The documentation of the keys, made of the registry of actions.

`python -m tools.key_page > docs/keys.md` writes it anew.
"""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.registry import BY_ID, format_keys

_INTRODUCTION = """
# Keys

<!-- Made by `python -m tools.key_page`: change the registry it reads, not this. -->

`?` shows the keys in the notebook, `ctrl+p` searches them. Every action can be given other keys in
the settings, by its id: `ricordo config edit`, table `[keymap]`.
"""


def keys_page() -> str:
    """Return the page in Markdown."""
    sections = [_section(group) for group in Group]
    return "\n".join([_INTRODUCTION.strip(), "", *sections])


def _section(group: Group) -> str:
    rows = [_row(action) for action in BY_ID.values() if action.group is group]
    return "\n".join(
        [f"## {group.value}", "", "| key | what it does | id |", "|---|---|---|", *rows, ""]
    )


def _row(action: Action) -> str:
    keys = " ".join(f"`{key}`" for key in format_keys(action.keys).split()) or "palette"
    return f"| {keys} | {action.help} | `{action.id}` |"


if __name__ == "__main__":
    print(keys_page(), end="")
