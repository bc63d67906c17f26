"""Which memories the agents that call the prompt hook load by themselves. Apart from the registry,
for the hook loads next to nothing.
"""

from __future__ import annotations

import os

from ricordo.agents.claude.folder import (
    find_installation,
    find_memory_directory,
    memory_directory_of_path,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ricordo.agents.workplace import Workplace


def find_loaded_memories(
    here: Workplace, around: Iterable[str], home: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the memory that an agent's rules name for a workplace, behind the directory whose it
    is; where it is missing, those that earlier versions named by the path of a directory `around`.
    """
    claude = find_installation(home, environ)
    root = os.path.realpath(find_memory_directory(claude, here)[0])
    if os.path.isdir(root):
        yield here.root, root
        return
    for place in around:
        yield place, os.path.realpath(memory_directory_of_path(claude, place))
