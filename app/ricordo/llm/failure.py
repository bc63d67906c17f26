"""Why a model gave no answer, with messages that say what to do."""

from __future__ import annotations

import re
from enum import StrEnum

from ricordo.errors import CuratorFailed
from ricordo.secrets import mask
from ricordo.text import clip

_WIDEST = 240
"""Cells of a server's message."""
_TOO_LONG = re.compile(r"\bprompt is too long\b|\bcontext (?:size|length|window)\b", re.IGNORECASE)
"""Anthropic's, and those of servers such as llama.cpp and vLLM."""
_ENDS = ".!?…"
"""Characters that end a sentence."""


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
    INTERRUPTED = "cut"
    NO_ANSWER = "no-answer"
    NO_TOOL = "no-tool"
    TRUNCATED = "unfinished"
    REFUSED = "refused"
    MALFORMED = "misshapen"
    TOO_LONG = "too-long"
    OVER_BUDGET = "over-budget"
    PAUSED = "resting"
    PROGRAM = "program"
    NO_ACCOUNT = "no-account"


def classify_rejection(message: str) -> FailureCause:
    """Return the cause of a rejected request (400), by the server's message: most servers report a
    prompt that is too long this way, not with 413.
    """
    return FailureCause.TOO_LARGE if _TOO_LONG.search(message) else FailureCause.BAD_REQUEST


_KINDS = {
    FailureCause.NO_KEY: "needs-key",
    FailureCause.WRONG_KEY: "needs-key",
    FailureCause.FORBIDDEN: "needs-key",
    FailureCause.NO_ACCOUNT: "needs-login",
    FailureCause.SETUP: "needs-network",
    FailureCause.UNREACHABLE: "needs-network",
    FailureCause.SILENT: "needs-network",
    FailureCause.OVER_BUDGET: "over-budget",
    FailureCause.PAUSED: "paused",
}
"""What programs can act upon; the kind of all other causes is that of `CuratorFailed`."""


class ModelFailed(CuratorFailed):
    """A model gave no answer that can be used."""

    def __init__(
        self, cause: FailureCause, detail: str = "", *, wait: float | None = None, remedy: str = ""
    ) -> None:
        """`detail` is untrusted extra text; `wait` the seconds after which to retry, where the
        server says so; `remedy` replaces the usual advice.
        """
        what, usual = _MESSAGES[cause]
        self.remedy = remedy or usual
        shown = clip(mask(detail), _WIDEST) if detail else ""
        if shown and what.endswith(". {}") and shown[-1] not in _ENDS:
            shown += "."
        super().__init__(what.format(shown).rstrip(), hint=self.remedy)
        self.kind = _KINDS.get(cause, CuratorFailed.kind)
        self.cause = cause
        self.detail = detail
        self.wait = wait


_MESSAGES = {
    FailureCause.NO_KEY: (
        "No API key found.{}",
        "Set ANTHROPIC_API_KEY, set your own server, or curate with the rules (no key needed).",
    ),
    FailureCause.WRONG_KEY: (
        "The server does not accept the key (401). {}",
        "Check that ANTHROPIC_API_KEY is complete and still valid.",
    ),
    FailureCause.FORBIDDEN: (
        "The key has no access (403). {}",
        "Choose a model that the key may use.",
    ),
    FailureCause.NOT_FOUND: (
        "Model or address not found on the server (404). {}",
        "Check the name of the model and the address of the server.",
    ),
    FailureCause.TOO_LARGE: (
        "The brief is too large for the server or the model. {}",
        "Curate less at once: one note or one session.",
    ),
    FailureCause.BAD_REQUEST: (
        "The server rejected the request. {}",
        "Choose another model or server.",
    ),
    FailureCause.RATE_LIMIT: (
        "Rate limit of the server reached (429). {}",
        "Try again later.",
    ),
    FailureCause.SERVER: ("The server failed. {}", "Try again later."),
    FailureCause.OVERLOADED: ("The server is overloaded. {}", "Try again later."),
    FailureCause.SETUP: (
        "The connection to the server is not configured correctly. {}",
        "Check the address of the server, and HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and "
        "SSL_CERT_FILE.",
    ),
    FailureCause.UNREACHABLE: (
        "The server cannot be reached. {}",
        "Check the network, the address of the server, and HTTPS_PROXY.",
    ),
    FailureCause.SILENT: ("The server sent nothing for {}.", "Try again later."),
    FailureCause.TOO_SLOW: (
        "No complete answer after {}.",
        "Curate less at once, or choose a faster model.",
    ),
    FailureCause.INTERRUPTED: ("The answer broke off in the middle. {}", "Try again."),
    FailureCause.NO_ANSWER: (
        "The reply is not from a server of the Messages API. {}",
        "Check the address of the server, and whether the network asks for a login.",
    ),
    FailureCause.NO_TOOL: (
        "The model answered in prose instead of proposing changes. {}",
        "Choose a model or server that supports forced tool use.",
    ),
    FailureCause.TRUNCATED: (
        "The answer reached the output limit ({}).",
        "Curate less at once: one note or one session.",
    ),
    FailureCause.REFUSED: (
        "The model refused to answer this brief. {}",
        "Curate a part of it, or choose another model. You can still read and delete notes.",
    ),
    FailureCause.MALFORMED: (
        "The answer does not match the requested schema: {}.",
        "Try again, or choose another model.",
    ),
    FailureCause.TOO_LONG: ("The answer is longer than {}.", "Choose another model or server."),
    FailureCause.OVER_BUDGET: (
        "Over the token budget: {}.",
        "Wait, or raise the caps in the settings.",
    ),
    FailureCause.PAUSED: (
        "Automatic curation is paused after repeated failures. {}",
        "Curate by hand to try it now.",
    ),
    FailureCause.PROGRAM: ("The program gave no answer: {}.", "Run it yourself to see why."),
    FailureCause.NO_ACCOUNT: ("The program is not logged in: {}.", "Log in with it."),
}
"""What is wrong, with a place for the detail, and what to do."""
