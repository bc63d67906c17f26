"""The address of a server, as a person is told it."""

from __future__ import annotations

import re

from ricordo.secrets import mask
from ricordo.text import one_line

_USER = re.compile(r"^((?:[^/@]*:)?/+|)[^/]*@")
"""A scheme, and who asks; an address may be no URL, and is to be told all the same."""


def shown_address(url: str) -> str:
    """Return `url` in one line, without what may stand in it besides where it leads: user and
    password, query, anything else that looks like a credential. "" for "".
    """
    at = re.split("[?#]", url, maxsplit=1)[0]
    return mask(one_line(_USER.sub(r"\1", at)))
