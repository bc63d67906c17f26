r"""Lines of a file as they stand, line ends included. A line ends at ``\n`` and nowhere else."""

from __future__ import annotations

from ricordo.errors import ChangeRefused
from ricordo.text import visible


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text`, each with its line end; joined they give `text` again."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def line_end(text: str) -> str:
    r"""Return the line end that `text` uses, that of its first line; ``\n`` where it has none."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def has_one_line_end(text: str) -> bool:
    r"""Say whether all lines of `text` end alike, and no carriage return stands alone."""
    returns = text.count("\r")
    return returns == 0 or (returns == text.count("\r\n") == text.count("\n"))


def bare(line: str) -> str:
    """Return `line` without its line end."""
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def with_line_end(text: str, end: str) -> str:
    """Return `text` with all its lines ending in `end`."""
    return text.replace("\r\n", "\n").replace("\n", end)


def with_lines_after(text: str, line: int, added: str) -> str:
    """Return `text` with the lines `added` after its line number `line`, 0 being the top; they
    get the line end of the others, and one where it is missing.
    """
    end, lines = line_end(text), split_lines(text)
    if line and not lines[line - 1].endswith("\n"):
        lines[line - 1] += end
    added = with_line_end(added, end)
    lines.insert(line, added if added.endswith("\n") else added + end)
    return "".join(lines)


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
