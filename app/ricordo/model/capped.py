"""A reply of which no more is read than we want, whatever its server sends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

from ricordo.model.failure import Cause, ModelFailed


def bounded(most: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return what makes a response end with ModelFailed once it is longer than `most` bytes, or
    where it is packed: what is small on its way may be huge in memory.
    """

    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity")
        if packed != "identity":
            raise ModelFailed(Cause.NO_ANSWER, f"It is packed ({packed}), unasked.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, most)

    return bound


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise ModelFailed(Cause.TOO_LONG, f"{self._most // 1024} KB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
