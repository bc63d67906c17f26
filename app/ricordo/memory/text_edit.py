"""Finding places in a text to be changed, and refusing loudly where they are not certain."""

from __future__ import annotations

from ricordo.errors import ChangeRefused
from ricordo.memory.lines import line_end, split_lines
from ricordo.text import visible


def only_place(text: str, old: str, path: str) -> int:
    """Return where `old` stands in `text`, which must be once."""
    places = _places(text, old) if old else []
    if len(places) == 1:
        return places[0]
    if not old:
        raise ChangeRefused(f"{visible(path)}: the text to be replaced is empty.")
    if not places:
        raise ChangeRefused(f"{visible(path)} does not hold the text that is to be replaced.")
    told = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:20])
    raise ChangeRefused(
        f"{visible(path)} holds the text that is to be replaced {len(places)} times, in lines "
        f"{told}."
    )


def _places(text: str, part: str) -> list[int]:
    """Return where `part` begins in `text`; those that overlap count too."""
    places: list[int] = []
    at = text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def refuse_if_several(line: str) -> None:
    """Refuse a `line` that holds line ends."""
    if "\n" in line or "\r" in line:
        raise ChangeRefused("A line cannot become several.")


def refuse_unless_line(text: str, after_line: int, path: str) -> None:
    """Refuse where nothing can be put after line `after_line` of `text`, 0 being the top."""
    count = len(split_lines(text))
    if not 0 <= after_line <= count:
        raise ChangeRefused(
            f"{visible(path)} has {count} lines; nothing can be put after line {after_line}."
        )


def with_line_moved(lines: list[str], line: int, after_line: int) -> str:
    """Return the text in which number `line` stands after `after_line`; every line keeps its
    text, and a last line without line end stays the last one without.
    """
    end = line_end("".join(lines))
    unended = bool(lines) and not lines[-1].endswith("\n")
    whole = [it if it.endswith("\n") else it + end for it in lines]
    moving = whole[line - 1]
    before = [it for n, it in enumerate(whole[:after_line], 1) if n != line]
    behind = [it for n, it in enumerate(whole[after_line:], after_line + 1) if n != line]
    text = "".join([*before, moving, *behind])
    return text.removesuffix(end) if unended else text
