"""What the official client and what lies below it raise, told as one of our causes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import anthropic
import httpx2

from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed, turned_down

_BY_STATUS = {
    401: Cause.WRONG_KEY,
    403: Cause.FORBIDDEN,
    404: Cause.NOT_FOUND,
    408: Cause.SERVER,
    413: Cause.TOO_LARGE,
    429: Cause.RATE_LIMIT,
    529: Cause.OVERLOADED,
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
        raise ModelFailed(Cause.NO_ANSWER, type(error).__name__) from None


def _of_status(error: anthropic.APIStatusError) -> ModelFailed:
    status = error.status_code
    if status < 400:
        return ModelFailed(Cause.NO_ANSWER, f"It answers with status {status}.")
    wait = _retry_after(error.response.headers.get("retry-after", ""))
    said = _message(error.body)
    usual = Cause.SERVER if status >= 500 else turned_down(said)
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
            return ModelFailed(Cause.UNREACHABLE, f"No answer within {bounds.connect:g} seconds.")
        case httpx2.TimeoutException():
            return ModelFailed(Cause.SILENT, f"{bounds.read:g} seconds")
        case httpx2.ProxyError() | httpx2.UnsupportedProtocol():
            return ModelFailed(Cause.SETUP, type(error).__name__)
        case httpx2.ConnectError():
            return ModelFailed(Cause.UNREACHABLE, str(error))
        case httpx2.ReadError() | httpx2.RemoteProtocolError() | httpx2.WriteError():
            return ModelFailed(Cause.CUT)
        case _:
            return ModelFailed(Cause.UNREACHABLE, type(error).__name__)
