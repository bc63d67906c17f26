"""Starting of asynchronous work of screens and widgets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.dom import DOMNode
from textual.worker import Worker


def start_worker(
    node: DOMNode,
    work: Callable[[], Awaitable[object]],
    *,
    group: str = "default",
    exclusive: bool = False,
) -> Worker[object]:
    """Do `work` in a worker of `node`; with `exclusive` instead of all earlier work of its `group`.
    The worker calls it: a coroutine made by the caller would never be awaited where the worker is
    cancelled before it starts.
    """

    async def run() -> object:
        return await work()

    return node.run_worker(run, group=group, exclusive=exclusive)
