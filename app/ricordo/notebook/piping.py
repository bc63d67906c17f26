"""Giving a text to a command of the person's, and taking what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ricordo.errors import ChangeRefused
from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed
from ricordo.model.program import run_in
from ricordo.text import one_line

_BOUNDS = Bounds(total=3600.0, most_bytes=1024 * 1024)
_OVER = {
    Cause.TOO_LONG: "It wrote more than a megabyte, so it was ended.",
    Cause.TOO_SLOW: "It ran for an hour, so it was ended.",
}


def pipe(
    words: Sequence[str],
    text: str,
    environ: Mapping[str, str],
    folder: str,
    step: Callable[[], None],
) -> str:
    """Return what the command writes that is started by `words` in a `folder`, reading `text`;
    there is no shell. `step` is called all the while; what it raises ends the command and is raised
    here. Raises ChangeRefused where it failed.
    """
    name = one_line(words[0])
    try:
        ended = run_in(folder, words, text, environ, _BOUNDS, step)
    except ModelFailed as failed:
        raise ChangeRefused(f"{name}: {_OVER.get(failed.cause, failed.message)}") from None
    if ended.code:
        raise ChangeRefused(f"{name} ended with {ended.code}. {ended.complaint}".strip())
    return ended.output.decode("utf-8", "replace")
