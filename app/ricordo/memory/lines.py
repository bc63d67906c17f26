r"""Lines of a file with their line ends. A line ends at ``\n`` and nowhere else."""

from __future__ import annotations

from ricordo.errors import ChangeRefused
from ricordo.text import make_visible


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text`, each with its line end; joined they give `text` again."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def detect_line_end(text: str) -> str:
    r"""Return the line end of the first line of `text`; ``\n`` if it has none."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def has_one_line_end(text: str) -> bool:
    r"""Return whether all lines of `text` end alike, without a lone carriage return."""
    returns = text.count("\r")
    return returns == 0 or (returns == text.count("\r\n") == text.count("\n"))


def strip_line_end(line: str) -> str:
    """Return `line` without its line end."""
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def convert_line_ends(text: str, end: str) -> str:
    """Return `text` with all its lines ending in `end`."""
    return text.replace("\r\n", "\n").replace("\n", end)


def insert_lines(text: str, line: int, added: str) -> str:
    """Return `text` with the lines `added` after its line number `line`, 0 being the top, in the
    line ends of `text`; a missing last line end is added.
    """
    end, lines = detect_line_end(text), split_lines(text)
    if line and not lines[line - 1].endswith("\n"):
        lines[line - 1] += end
    added = convert_line_ends(added, end)
    lines.insert(line, added if added.endswith("\n") else added + end)
    return "".join(lines)


def find_only_place(text: str, old: str, path: str) -> int:
    """Return the offset of `old` in `text`. Raises ChangeRefused unless it occurs exactly once."""
    places = _find_all(text, old) if old else []
    if len(places) == 1:
        return places[0]
    if not old:
        raise ChangeRefused(f"{make_visible(path)}: the text to replace is empty.")
    if not places:
        raise ChangeRefused(f"{make_visible(path)} does not contain the text to replace.")
    numbers = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:20])
    raise ChangeRefused(
        f"{make_visible(path)} contains the text to replace {len(places)} times, "
        f"in lines {numbers}."
    )


def _find_all(text: str, part: str) -> list[int]:
    """Return the offsets of `part` in `text`, overlapping ones too."""
    places: list[int] = []
    at = text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def check_single_line(line: str) -> None:
    """Raise ChangeRefused if `line` contains line ends."""
    if "\n" in line or "\r" in line:
        raise ChangeRefused("A line cannot contain line breaks.")


def check_line_number(text: str, after_line: int, path: str) -> None:
    """Raise ChangeRefused if `text` has no line `after_line`, 0 being the top."""
    count = len(split_lines(text))
    if not 0 <= after_line <= count:
        raise ChangeRefused(
            f"{make_visible(path)} has {count} lines: cannot insert after line {after_line}."
        )


def move_line(lines: list[str], line: int, after_line: int) -> str:
    """Return the text with line number `line` moved after `after_line`; if the last line had no
    line end, the new last line has none.
    """
    end = detect_line_end("".join(lines))
    is_unended = bool(lines) and not lines[-1].endswith("\n")
    ended = [text if text.endswith("\n") else text + end for text in lines]
    before = [text for n, text in enumerate(ended[:after_line], 1) if n != line]
    after = [text for n, text in enumerate(ended[after_line:], after_line + 1) if n != line]
    moved = "".join([*before, ended[line - 1], *after])
    return moved.removesuffix(end) if is_unended else moved
