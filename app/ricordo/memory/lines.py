r"""Lines of a file as they stand, line ends included. A line ends at ``\n`` and nowhere else."""

from __future__ import annotations


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
