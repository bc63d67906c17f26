"""The official client, within our bounds: it reads no more than we want, tries nothing again, goes
nowhere else, and tells nobody.

It takes most of a second to load: only what asks a model imports it, in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ricordo.model.bounds import Bounds
from ricordo.model.failure import Cause, ModelFailed

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
    import anthropic
    import httpx2

    from ricordo.model.capped import bounded

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
        raise ModelFailed(Cause.SETUP, type(error).__name__) from None
    if not _may_hold_key(str(client.base_url)):
        return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))
    if client.api_key or client.auth_token or client.credentials:
        return client
    if urlsplit(str(client.base_url)).hostname == "api.anthropic.com":
        raise ModelFailed(Cause.NO_KEY)
    return client.copy(api_key=_NO_KEY, base_url=str(client.base_url))


def _may_hold_key(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _THIS_MACHINE
