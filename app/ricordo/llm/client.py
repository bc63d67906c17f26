"""The official client, within our bounds: it reads no more than we want, tries nothing again, goes
nowhere else, and tells nobody.

It takes most of a second to load: only what asks a model imports it, in a thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anthropic
import httpx2

from ricordo.llm.failure import FailureCause, ModelFailed, turned_down
from ricordo.llm.question import Bounds

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_NO_KEY = "none"
"""What is sent where there is no key to be sent; servers of one's own want some."""


def open_client(base_url: str, bounds: Bounds) -> AsyncAnthropic:
    """Return a client for the server at `base_url`; "" for the one that the environment names,
    else Anthropic's. Its credentials are those that the SDK finds.

    A key is sent over TLS and to this machine only; a server of one's own is asked without one
    where there is none. Raises ModelFailed.
    """
    try:
        client = anthropic.AsyncAnthropic(
            base_url=base_url or None,
            max_retries=0,
            timeout=httpx2.Timeout(bounds.read, connect=bounds.connect),
            # a reply that unpacks to a thousand times its size would pass every cap on its way in
            default_headers={"accept-encoding": "identity"},
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(
                # a key that went along to wherever a server points would be anybody's
                follow_redirects=False,
                # one that was kept over a pause may be closed just as it is used again
                limits=httpx2.Limits(max_keepalive_connections=0),
                event_hooks={"response": [bounded(bounds.most_bytes)]},
            ),
        )
    except (anthropic.AnthropicError, httpx2.InvalidURL, OSError, ValueError, TypeError) as error:
        # a proxy's address can hold a password: its variable is named, never its value
        raise ModelFailed(FailureCause.SETUP, type(error).__name__) from None
    if not _may_hold_key(str(client.base_url)):
        return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))
    if client.api_key or client.auth_token or client.credentials:
        return client
    if urlsplit(str(client.base_url)).hostname == "api.anthropic.com":
        raise ModelFailed(FailureCause.NO_KEY)
    return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))


def _may_hold_key(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _THIS_MACHINE


def bounded(most: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return what makes a response end with ModelFailed once it is longer than `most` bytes, or
    where it is packed: what is small on its way may be huge in memory.
    """

    async def bound(response: httpx2.Response) -> None:
        packed = response.headers.get("content-encoding", "identity")
        if packed != "identity":
            raise ModelFailed(FailureCause.NO_ANSWER, f"It is packed ({packed}), unasked.")
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
                raise ModelFailed(FailureCause.TOO_LONG, f"{self._most // 1024} KB")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


_BY_STATUS = {
    401: FailureCause.WRONG_KEY,
    403: FailureCause.FORBIDDEN,
    404: FailureCause.NOT_FOUND,
    408: FailureCause.SERVER,
    413: FailureCause.TOO_LARGE,
    429: FailureCause.RATE_LIMIT,
    529: FailureCause.OVERLOADED,
}
_LONGEST_WAIT = 48 * 3600.0
"""Seconds: whatever is asked for beyond them is as far away."""


@contextmanager
def told_as_ours(bounds: Bounds) -> Iterator[None]:
    """Turn whatever a call raises into ModelFailed. Half of it is no error of the client's own: a
    stream that breaks, a body that is no JSON.
    """
    try:
        yield
    except ModelFailed:
        raise
    except anthropic.APIStatusError as error:
        raise _of_status(error) from None
    except anthropic.APIConnectionError as error:
        raise _of_network(error.__cause__ or error, bounds) from None
    except (httpx2.HTTPError, OSError) as error:
        raise _of_network(error, bounds) from None
    except (anthropic.AnthropicError, ValueError, TypeError, RecursionError) as error:
        raise ModelFailed(FailureCause.NO_ANSWER, type(error).__name__) from None


def _of_status(error: anthropic.APIStatusError) -> ModelFailed:
    status = error.status_code
    if status < 400:
        return ModelFailed(FailureCause.NO_ANSWER, f"It answers with status {status}.")
    wait = _retry_after(error.response.headers.get("retry-after", ""))
    said = _message(error.body)
    usual = FailureCause.SERVER if status >= 500 else turned_down(said)
    return ModelFailed(_BY_STATUS.get(status, usual), said or f"Status {status}.", wait=wait)


def _message(body: object) -> str:
    """Return what an error says of itself, where it is worded as the API words errors."""
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f"It says: “{message}”." if isinstance(message, str) and message else ""


def _retry_after(value: str) -> float | None:
    """Return the seconds of a `Retry-After`: a number, or a date (RFC 9110, 10.2.3)."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)
            seconds = (at - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(0.0, seconds), _LONGEST_WAIT) if seconds == seconds else None


def _of_network(error: BaseException, bounds: Bounds) -> ModelFailed:
    match error:
        case ModelFailed():
            return error
        case httpx2.ConnectTimeout():
            return ModelFailed(
                FailureCause.UNREACHABLE, f"No answer within {bounds.connect:g} seconds."
            )
        case httpx2.TimeoutException():
            return ModelFailed(FailureCause.SILENT, f"{bounds.read:g} seconds")
        case httpx2.ProxyError() | httpx2.UnsupportedProtocol():
            return ModelFailed(FailureCause.SETUP, type(error).__name__)
        case httpx2.ConnectError():
            return ModelFailed(FailureCause.UNREACHABLE, str(error))
        case httpx2.ReadError() | httpx2.RemoteProtocolError() | httpx2.WriteError():
            return ModelFailed(FailureCause.CUT)
        case _:
            return ModelFailed(FailureCause.UNREACHABLE, type(error).__name__)
