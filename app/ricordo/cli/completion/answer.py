"""`ricordo __complete`: what the scripts of the shells run at every Tab.

    ricordo __complete bash BEFORE AFTER REPLACED    the line before and after the cursor, and the
                                                     end of BEFORE that bash replaces
    ricordo __complete zsh|fish NUMBER WORD…         the words of the line without their quotes, and
                                                     which of them, from 1, is at the cursor; that
                                                     one with its quotes in fish

The first line of the answer is `ok`, and words on how to complete: `files` and `directories` (which
the shell completes), `options` (the values are options), `equals` (the values follow the first `=`
of the word), `loose` (the values do not begin with the word), `nospace`. A line for each value
follows: for bash as it is to be inserted, for zsh with `:` and a description, for fish with a tab
and one.

It exits with 0 whatever happens: a shell that waits for a completion shows no errors.
"""

from __future__ import annotations

import os
import sys

from ricordo.cli.completion.command_line import NO_COMMAND, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ricordo.cli.completion.values import Candidates

SECONDS = 5
"""After which there are no completions: a disk may be slow, a memory large."""
LONGEST = 72
"""Cells of a description."""
_TABLE = "cli/completion/table.json"
_LARGEST_TABLE = 1024 * 1024
_FILES = {"file": "files", "directory": "directories", "memory": "directories"}
"""What the shell completes by itself, by the kind of the value."""


class Answer:
    """The values that fit at the cursor, and how they are completed."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.ways: list[str] = []
        """Words of the first line of the answer."""
        self.candidates: Candidates = []


def answer(words: list[str]) -> None:
    """Print what the cursor of a command line can be completed to; nothing if that is not known."""
    import signal

    def give_up(*_: object) -> None:
        os._exit(0)

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        text = _render(words)
    except Exception:
        # whatever is wrong with the memory is reported by the command itself
        return
    finally:
        signal.alarm(0)
    # in the bytes of the file system, whatever the locale is
    sys.stdout.buffer.write(os.fsencode(text))
    sys.stdout.flush()


def complete(before: Sequence[str], current: str, after: Sequence[str] = ()) -> Answer:
    """Return what the word `current` at the cursor can be completed to, after the words `before`
    and before the words `after`, all without quotes.
    """
    from ricordo.resources import find_data_file
    from ricordo.storage.foreign_file import read_json

    table, _ = read_json(find_data_file(_TABLE), _LARGEST_TABLE)
    assert isinstance(table, dict)
    line = Line(table["commands"], before, current)
    for number, option in enumerate(after[:-1]):
        if option in ("-m", "--memory"):
            line.values.setdefault("--memory", []).append(after[number + 1])
    result = Answer(line)
    _add_options(result)
    if line.is_command:
        _add_commands(result, table)
    if line.expected is not None and not result.candidates:
        _add_values(result, table)
    return result


def _add_options(result: Answer) -> None:
    if result.line.options:
        result.ways.append("options")
    for option in result.line.options:
        result.candidates += [(name, option["help"]) for name in reversed(option["names"])]


def _add_commands(result: Answer, table: dict[str, Any]) -> None:
    commands = [
        (name, command["help"]) for name, command in table["commands"].items() if name != NO_COMMAND
    ]
    if any(name.startswith(result.line.current) for name, _ in commands):
        result.candidates = commands


def _add_values(result: Answer, table: dict[str, Any]) -> None:
    from ricordo.cli.completion.values import expand_path, is_safe, list_values

    line = result.line
    assert line.expected is not None
    directory = line.get_first("-C")
    if directory:
        os.chdir(expand_path(directory))
    result.candidates = [pair for pair in list_values(line, table) if is_safe(pair[0])]
    if line.prefix:
        result.ways.append("equals")
    way = _FILES.get(line.expected["kind"])
    if way:
        result.ways.append(way)


def _render(words: list[str]) -> str:
    """Return the answer to a script."""
    shell, *rest = words
    if shell == "bash":
        return _render_for_bash(*rest)
    number = int(rest[0])
    before, current, after = rest[1:number], "".join(rest[number : number + 1]), rest[number + 1 :]
    if shell == "fish":
        return _render_for_fish(before, current)
    return _render_for_zsh(complete(before, current, after))


def _render_for_fish(before: Sequence[str], current: str) -> str:
    from ricordo.cli.completion.shell_words import remove_quotes

    # the word at the cursor comes as it was typed
    result = complete(before, remove_quotes(current)[0])
    prefix = result.line.prefix
    lines = [f"{prefix}{value}\t{_clip(text)}" for value, text in result.candidates]
    return _join(result.ways, lines)


def _render_for_zsh(result: Answer) -> str:
    found = result.candidates
    fitting, is_loose = choose(found, result.line.current)
    ways = [*result.ways, "loose"] if is_loose else result.ways
    lines = []
    for value, text in fitting if is_loose else found:
        escaped = value.replace("\\", "\\\\").replace(":", "\\:")
        lines.append(f"{escaped}:{_clip(text)}" if text else escaped)
    return _join(ways, lines)


def _render_for_bash(line_before: str, line_after: str, replaced: str) -> str:
    from ricordo.cli.completion.shell_words import remove_quotes, split_line

    *before, raw = split_line(line_before)
    current, _ = remove_quotes(raw)
    after = [remove_quotes(word)[0] for word in split_line(line_after)]
    result = complete([remove_quotes(word)[0] for word in before[1:]], current, after)
    line, ways, found = result.line, result.ways, result.candidates
    if "directories" in ways and line.current[:1] != "$":
        # bash would quote the values once more if it added the directories, and misses those with
        # a colon in their path
        ways.remove("directories")
        found = [*found, *_list_directories(line.current)]
    fitting, is_loose = choose(found, line.current)
    values = [value for value, _ in fitting]
    if is_loose and not _has_common_start(values, line.current):
        # bash would replace the word by what the values have in common
        values = []
    if len(values) == 1 and values[0].endswith("/"):
        ways.append("nospace")
    # bash keeps what precedes `replaced`, such as `a:` in `a:b`
    kept, quote = remove_quotes(raw[: len(raw) - len(replaced)])
    values = [f"{line.prefix}{value}" for value in values]
    return _join(ways, [_insert(it[len(kept) :], quote) for it in values if it.startswith(kept)])


def _insert(text: str, quote: str) -> str:
    """Return `text` as it is inserted into the line of bash where `quote` is open."""
    from ricordo.cli.completion.shell_words import quote_text

    if not quote and text.startswith("~/"):
        return f"~/{quote_text(text[2:], '')}"
    quoted = quote_text(text, quote)
    # readline takes a quote at the start for the open one, and drops it, and one at the end for the
    # closing one, which it then does not add
    first = quote if quote and quoted.startswith(quote) else ""
    last = quote if quote and quoted.endswith(quote) else ""
    return f"{first}{quoted}{last}"


def _has_common_start(values: Sequence[str], current: str) -> bool:
    """Return whether there is one value, or all begin with `current` in some case."""
    folded = current.casefold()
    return len(values) == 1 or all(value.casefold().startswith(folded) for value in values)


def _list_directories(current: str) -> Candidates:
    """Return the directories whose path begins with `current`."""
    from ricordo.cli.completion.values import expand_path, is_safe

    folder, slash, name = current.rpartition("/")
    try:
        with os.scandir(expand_path(f"{folder}{slash}") or ".") as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    return [
        (f"{folder}{slash}{each}/", "")
        for each in names
        if each.startswith(name) and is_safe(each) and (name or not each.startswith("."))
    ]


def choose(found: Candidates, current: str) -> tuple[Candidates, bool]:
    """Return the values that begin with `current`; if none does, those that begin with it in
    another case, or a part of whose path does, or that contain it. And whether they are such.
    """
    folded = current.casefold()
    exact = [pair for pair in found if pair[0].startswith(current)]
    if exact or not found:
        return exact, False
    for fits in (
        lambda value: value.startswith(folded),
        lambda value: f"/{folded}" in value,
        lambda value: folded in value,
    ):
        loose = [pair for pair in found if fits(pair[0].casefold())]
        if loose:
            return loose, True
    return [], False


def _join(ways: Sequence[str], lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in (" ".join(["ok", *ways]), *dict.fromkeys(lines)))


def _clip(text: str) -> str:
    """Return a description as one line that a terminal shows as it is."""
    if len(text) <= LONGEST and text.isascii() and text.isprintable():
        return text
    from ricordo.text import clip

    return clip(text, LONGEST)
