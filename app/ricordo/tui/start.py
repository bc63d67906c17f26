"""Starting the notebook on screen."""

from __future__ import annotations

import gc
import sys

from ricordo.errors import MemoryNotFound
from ricordo.notebook.find import find_memories
from ricordo.notebook.settle import load_settings, load_themes
from ricordo.notebook.surroundings import Surroundings
from ricordo.tui.actions.registry import known_actions


def start(path: str | None, surroundings: Surroundings, *, opens_review: bool = False) -> int:
    """Open the memory that `path` means on the terminal, and stay until the person leaves.

    With `opens_review` it begins with the review of the day. Returns the exit code. Raises
    MemoryNotFound where a named path is no memory.
    """
    # what is loaded until the first paint stays: collecting garbage among it only takes time
    gc.disable()
    from ricordo.tui.app import CRASHED, DEMO_WANTED, RicordoApp

    settings, remarks = load_settings(surroundings, known_actions())
    themes, _ = load_themes(surroundings)
    try:
        found = find_memories(path, surroundings)
    except MemoryNotFound as error:
        if path is not None:
            raise
        app = RicordoApp(error, surroundings, settings, remarks, themes)
    else:
        app = RicordoApp(found, surroundings, settings, remarks, themes, opens_review=opens_review)
    app.run()
    # what ends is not searched for garbage, which would take longer than all the rest of leaving
    gc.disable()
    gc.freeze()
    if app.return_value == DEMO_WANTED:
        return _demo(surroundings)
    if app.last_words:
        print(app.last_words, file=sys.stderr)
        return CRASHED
    return app.return_value or 0


def _demo(surroundings: Surroundings) -> int:
    from ricordo.notebook.sample import copied_sample

    with copied_sample(surroundings) as sample:
        print(f"A throwaway copy of the sample memory: {sample.memory}", file=sys.stderr)
        return start(sample.memory, sample.surroundings)
