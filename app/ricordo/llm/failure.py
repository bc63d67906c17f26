"""Why a model gave no answer, in words that say what to do."""

from __future__ import annotations

import re
from enum import StrEnum

from ricordo.errors import CuratorFailed
from ricordo.secrets import mask
from ricordo.text import clip

_WIDEST = 240
"""Cells of what a server says."""
_TOO_LONG = re.compile(r"\bprompt is too long\b|\bcontext (?:size|length|window)\b", re.IGNORECASE)
"""Anthropic's, and those of servers such as llama.cpp and vLLM."""
_ENDS = ".!?…"
"""With what a sentence ends."""


class FailureCause(StrEnum):
    """Everything that can go wrong between a question and its answer."""

    NO_KEY = "no-key"
    WRONG_KEY = "wrong-key"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    TOO_LARGE = "too-large"
    BAD_REQUEST = "bad-request"
    RATE_LIMIT = "rate-limit"
    SERVER = "server"
    OVERLOADED = "overloaded"
    SETUP = "setup"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    TOO_SLOW = "too-slow"
    CUT = "cut"
    NO_ANSWER = "no-answer"
    NO_TOOL = "no-tool"
    UNFINISHED = "unfinished"
    REFUSED = "refused"
    MISSHAPEN = "misshapen"
    TOO_LONG = "too-long"
    OVER_BUDGET = "over-budget"
    RESTING = "resting"
    PROGRAM = "program"
    NO_ACCOUNT = "no-account"


def turned_down(said: str) -> FailureCause:
    """Return why a question was turned down (400), by what a server said of it: that it is longer
    than the model can read is mostly told so, and not by 413.
    """
    return FailureCause.TOO_LARGE if _TOO_LONG.search(said) else FailureCause.BAD_REQUEST


class ModelFailed(CuratorFailed):
    """A model gave no answer that can be used."""

    def __init__(
        self, cause: FailureCause, detail: str = "", *, wait: float | None = None, remedy: str = ""
    ) -> None:
        """`detail` is what is known besides, of whatever origin; `wait` in how many seconds it may
        be tried again, where the server says so; `remedy` what to do, where that is known better.
        """
        what, usual = _TOLD[cause]
        self.remedy = remedy or usual
        said = clip(mask(detail), _WIDEST) if detail else ""
        if said and what.endswith(". {}") and said[-1] not in _ENDS:
            said += "."
        super().__init__(" ".join(filter(None, (what.format(said), self.remedy))))
        self.cause = cause
        self.detail = detail
        self.wait = wait


_TOLD = {
    FailureCause.NO_KEY: (
        "No key for the model was found.{}",
        "Set ANTHROPIC_API_KEY, name a server of your own, or curate with the rules, which need "
        "no key.",
    ),
    FailureCause.WRONG_KEY: (
        "The server does not accept the key (401). {}",
        "Check that ANTHROPIC_API_KEY is whole and still valid.",
    ),
    FailureCause.FORBIDDEN: (
        "The key may not do this (403). {}",
        "Choose a model that it may use.",
    ),
    FailureCause.NOT_FOUND: (
        "The server knows no such model or address (404). {}",
        "Check the name of the model and the address of the server.",
    ),
    FailureCause.TOO_LARGE: (
        "The brief is too large for the server or the model. {}",
        "Curate less at once: one note or one session.",
    ),
    FailureCause.BAD_REQUEST: (
        "The server does not take the question. {}",
        "Choose another model or server.",
    ),
    FailureCause.RATE_LIMIT: (
        "The server asks for fewer questions (429). {}",
        "Try again later.",
    ),
    FailureCause.SERVER: ("The server failed. {}", "Try again later."),
    FailureCause.OVERLOADED: ("The server is overloaded. {}", "Try again later."),
    FailureCause.SETUP: (
        "The way to the server is not set up as it should be. {}",
        "Check the address of the server, and HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and "
        "SSL_CERT_FILE.",
    ),
    FailureCause.UNREACHABLE: (
        "The server cannot be reached. {}",
        "Check the network, the address of the server, and HTTPS_PROXY.",
    ),
    FailureCause.SILENT: ("The server said nothing for {}.", "Try again later."),
    FailureCause.TOO_SLOW: (
        "The answer was not there after {}.",
        "Curate less at once, or choose a faster model.",
    ),
    FailureCause.CUT: ("The answer broke off in the middle. {}", "Try again."),
    FailureCause.NO_ANSWER: (
        "What answered does not speak the Messages API. {}",
        "Check the address of the server, and whether the network asks for a login.",
    ),
    FailureCause.NO_TOOL: (
        "The model answered in its own words instead of proposing changes. {}",
        "Choose a model or server that can be made to use a tool.",
    ),
    FailureCause.UNFINISHED: (
        "The model had more to write than it may ({}).",
        "Curate less at once: one note or one session.",
    ),
    FailureCause.REFUSED: (
        "The model refuses to answer this brief. {}",
        "Curate a part of it, or choose another model; reading and deleting notes needs none.",
    ),
    FailureCause.MISSHAPEN: (
        "The answer is not of the shape that was asked for: {}.",
        "Try again, or choose another model.",
    ),
    FailureCause.TOO_LONG: ("The answer is longer than {}.", "Choose another model or server."),
    FailureCause.OVER_BUDGET: (
        "This would go over the budget: {}.",
        "Wait, or raise the caps in the settings.",
    ),
    FailureCause.RESTING: (
        "Automatic curation rests, after it failed repeatedly. {}",
        "Curate by hand to try it now.",
    ),
    FailureCause.PROGRAM: ("The program gave no answer: {}.", "Run it yourself to see why."),
    FailureCause.NO_ACCOUNT: ("Nobody is logged in to the program: {}.", "Log in with it."),
}
"""What is wrong, with a place for what is known besides, and what to do."""
