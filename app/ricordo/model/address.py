"""The address of a server, as a person is told it."""

from __future__ import annotations

from urllib.parse import urlsplit

from ricordo.secrets import mask
from ricordo.text import one_line


def shown_address(url: str) -> str:
    """Return `url` in one line, without what may stand in it besides where it leads: user and
    password, query, anything else that looks like a credential. "" for "".
    """
    try:
        parts = urlsplit(url)
        at = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    except ValueError:
        at = url
    return mask(one_line(at))
