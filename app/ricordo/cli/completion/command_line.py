"""What the cursor of a command line is at: a command, an option, or the value of one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Option = Mapping[str, Any]
    """An option of `table.json`."""
    Value = Mapping[str, Any]
    """The value of an option, or an argument, of `table.json`."""

NO_COMMAND = ""
"""The command, in the table, that runs if none is named."""


class Line:
    """A command line up to its cursor, as far as it is understood."""

    def __init__(self, commands: Mapping[str, Any], before: Sequence[str], current: str) -> None:
        """`before` are the words between the program and the cursor, `current` is the beginning of
        the word at the cursor; all without quotes.
        """
        at = _find_command(commands, before)
        self.command = NO_COMMAND if at is None else before[at]
        self.current = current
        """The beginning of the value at the cursor."""
        self.prefix = ""
        """What precedes that value in the word: `--option=`."""
        self.has_dashes = False
        """Whether `--` precedes the cursor: there are no options after it."""
        self.values: dict[str, list[str]] = {}
        """The values before the cursor: of options by their longest name, of arguments by kind."""
        self.expected: Value | None = None
        """The value that is expected at the cursor; None if none is."""
        self.options: list[Option] = []
        """The options that may be at the cursor."""
        self.is_command = False
        """Whether a command may be at the cursor."""
        command = commands[self.command]
        self._by_name: dict[str, Option] = {
            name: option for option in command["options"] for name in option["names"]
        }
        self._used: set[str] = set()
        self._count = 0
        """The number of arguments before the cursor."""
        rest = [word for number, word in enumerate(before) if number != at]
        pending = self._read(rest, command["arguments"])
        if pending is not None:
            self.expected = pending["value"]
        elif current.startswith("-") and not self.has_dashes:
            self._find_option()
        else:
            self._find_argument(command["arguments"])
            self.is_command = at is None and not self._count and not self.has_dashes

    def get_first(self, *names: str) -> str:
        """Return the first value of the first of these options or arguments that has one; "" if
        none has.
        """
        return next((self.values[name][0] for name in names if name in self.values), "")

    def _read(self, words: Sequence[str], arguments: Sequence[Value]) -> Option | None:
        """Read the words before the cursor; return the option whose value is at the cursor."""
        pending: Option | None = None
        for word in words:
            if self.has_dashes or not word.startswith("-") or word == "-":
                if pending is not None:
                    self._add(pending["names"][0], word)
                    pending = pending if pending["value"].get("many") else None
                    continue
                if self._count < len(arguments):
                    self._add(arguments[self._count]["kind"], word)
                self._count += 1
                continue
            pending = None
            self.has_dashes = word == "--"
            name, equals, value = word.partition("=")
            option = self._by_name.get(name)
            if option is not None:
                self._used.add(name)
                if equals:
                    self._add(option["names"][0], value)
                elif option["value"] is not None:
                    pending = option
        return pending

    def _add(self, name: str, value: str) -> None:
        self.values.setdefault(name, []).append(value)

    def _find_option(self) -> None:
        """Find what may be at the cursor in a word that begins with a dash."""
        name, equals, value = self.current.partition("=")
        option = self._by_name.get(name)
        if not equals:
            self.options = self._list_free()
        elif option is not None and option["value"] is not None:
            self.prefix, self.current, self.expected = f"{name}=", value, option["value"]

    def _find_argument(self, arguments: Sequence[Value]) -> None:
        """Find what may be at the cursor in another word."""
        if self._count < len(arguments):
            self.expected = arguments[self._count]
        elif arguments and arguments[-1].get("many"):
            self.expected = arguments[-1]
        elif not self.has_dashes:
            self.options = self._list_free()

    def _list_free(self) -> list[Option]:
        """Return the options that may still be given: none that excludes one before the cursor, and
        only repeatable ones again.
        """
        groups = {self._by_name[name].get("group") for name in self._used} - {None}
        options = {option["names"][0]: option for option in self._by_name.values()}.values()
        return [
            option
            for option in options
            if option.get("repeats")
            or (self._used.isdisjoint(option["names"]) and option.get("group") not in groups)
        ]


def _find_command(commands: Mapping[str, Any], words: Sequence[str]) -> int | None:
    """Return the position of the command in `words`; None if there is none."""
    takes_value = {
        name
        for option in commands[NO_COMMAND]["options"]
        if option["value"] is not None
        for name in option["names"]
    }
    position = 0
    while position < len(words):
        word = words[position]
        if not word.startswith("-"):
            return position if word in commands and word else None
        if word == "--":
            return None
        position += 2 if word in takes_value else 1
    return None
