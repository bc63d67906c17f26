"""The official Anthropic client, limited: it reads a bounded reply, never retries, follows no
redirects and sends no telemetry.

It takes most of a second to load: only code that asks a model imports it, in a thread.
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

from ricordo.llm.failure import FailureCause, ModelFailed, classify_rejection
from ricordo.llm.question import RequestLimits

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_NO_KEY = "none"
"""Sent as the key where there is none: self-hosted servers want some value."""


def open_client(base_url: str, bounds: RequestLimits) -> AsyncAnthropic:
    """Return a client for the server at `base_url`; "" for the one that the environment names, or
    else Anthropic's. Its credentials are those that the SDK finds.

    A key is sent only over TLS or to this machine; a self-hosted server is asked without one where
    there is none. Raises ModelFailed.
    """
    try:
        client = anthropic.AsyncAnthropic(
            base_url=base_url or None,
            max_retries=0,
            timeout=httpx2.Timeout(bounds.read, connect=bounds.connect),
            # a compressed reply could unpack to a thousand times the limit
            default_headers={"accept-encoding": "identity"},
            open_telemetry=False,
            http_client=anthropic.DefaultAsyncHttpxClient(
                # a redirect would hand the key to another host
                follow_redirects=False,
                # an idle connection may be closed just as it is used again
                limits=httpx2.Limits(max_keepalive_connections=0),
                event_hooks={"response": [limit_response(bounds.max_bytes)]},
            ),
        )
    except (anthropic.AnthropicError, httpx2.InvalidURL, OSError, ValueError, TypeError) as error:
        # a proxy's address can hold a password: the message must not show it
        raise ModelFailed(FailureCause.SETUP, type(error).__name__) from None
    if not _may_send_key(str(client.base_url)):
        return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))
    if client.api_key or client.auth_token or client.credentials:
        return client
    if urlsplit(str(client.base_url)).hostname == "api.anthropic.com":
        raise ModelFailed(FailureCause.NO_KEY)
    return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))


def _may_send_key(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _THIS_MACHINE


def limit_response(most: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return a response hook that raises ModelFailed once a response is longer than `most` bytes,
    or where it is compressed: what is small on the wire may be huge in memory.
    """

    async def bound(response: httpx2.Response) -> None:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise ModelFailed(FailureCause.NO_ANSWER, f"It is compressed ({encoding}), unasked.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, most)

    return bound


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = self._most
        async for piece in self._stream:
            remaining -= len(piece)
            if remaining < 0:
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
"""Seconds; a longer `Retry-After` counts as this."""


@contextmanager
def translate_errors(bounds: RequestLimits) -> Iterator[None]:
    """Turn whatever a call raises into ModelFailed. Half of these are not the client's own errors:
    a stream that breaks, a body that is not JSON.
    """
    try:
        yield
    except ModelFailed:
        raise
    except anthropic.APIStatusError as error:
        raise _from_status(error) from None
    except anthropic.APIConnectionError as error:
        raise _from_network(error.__cause__ or error, bounds) from None
    except (httpx2.HTTPError, OSError) as error:
        raise _from_network(error, bounds) from None
    except (anthropic.AnthropicError, ValueError, TypeError, RecursionError) as error:
        raise ModelFailed(FailureCause.NO_ANSWER, type(error).__name__) from None


def _from_status(error: anthropic.APIStatusError) -> ModelFailed:
    status = error.status_code
    if status < 400:
        return ModelFailed(FailureCause.NO_ANSWER, f"It answers with status {status}.")
    wait = _parse_retry_after(error.response.headers.get("retry-after", ""))
    message = _read_message(error.body)
    default = FailureCause.SERVER if status >= 500 else classify_rejection(message)
    return ModelFailed(_BY_STATUS.get(status, default), message or f"Status {status}.", wait=wait)


def _read_message(body: object) -> str:
    """Return the message of an error body in the API's format; "" for another format."""
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return f"It says: “{message}”." if isinstance(message, str) and message else ""


def _parse_retry_after(value: str) -> float | None:
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


def _from_network(error: BaseException, bounds: RequestLimits) -> ModelFailed:
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
            return ModelFailed(FailureCause.INTERRUPTED)
        case _:
            return ModelFailed(FailureCause.UNREACHABLE, type(error).__name__)
