"""What a memory is: notes, index, load, links. Values and rules only; no file is opened here.

`Memory` (`memory.py`) is one immutable value with the bytes and text of every file; index, load,
links and backlinks are derived when they are first asked for. `layout.py` describes a kind of
memory by data, so that nothing here names an agent. `index.py` also computes exactly what an agent
receives of an index.

A change describes intent (`change.py`); `compose.py` tries a list of them on a draft and returns a
`ChangeSet`: per file the bytes before and after. What does not fit is refused there. `diff.py`
splits a difference into hunks and merges three versions by lines. Paths are relative to the memory,
and a line ends at a newline and nowhere else. All packages above use these values.
"""
