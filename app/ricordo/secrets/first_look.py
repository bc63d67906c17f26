"""A cheap look at a text, which decides for nearly every note that there is nothing to see."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

from ricordo.secrets.rules import data
from ricordo.secrets.seed_phrases import may_hold_phrase

# `bytes.translate` and `in` are the fastest passes there are; a pattern takes ten times as long.
# First bytes of letters beyond Latin in UTF-8, where 0xE2 is punctuation. All other bytes that are
# not ASCII go: accents, zero-width characters, what follows a first byte.
_SCRIPT = {*range(0xCD, 0xE2), *range(0xE3, 0xEE)}
_DROPPED = bytes(set(range(0x80, 0x100)) - _SCRIPT)
_LOWER = bytes(1 if i > 127 else i + 32 * (65 <= i <= 90) for i in range(256))
_WORD = ascii_lowercase + digits
_RUNS = bytes(ord("x" if chr(i) in _WORD else "-" if chr(i) == "-" else " ") for i in range(256))
_MIXED = b" x" + _RUNS[2:48] + b"0" * 10 + _RUNS[58:]
_UUID = "-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
_DIGEST = re.compile(r"(?<![_-])(?=(?:.{32}|.{40}|.{56}|.{64}|.{96}|.{128})\Z)[0-9a-f]+")


def worth_a_look(text: str) -> tuple[bool, bool, bool]:
    """Return whether to look for formats that speak for themselves, for values that are named, and
    for seed phrases.
    """
    words = data()["prefilter"]
    raw = text.lower().encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
    raw = raw if text.isascii() else raw.translate(_LOWER, _DROPPED)
    lowered, runs = raw.decode("ascii"), raw.translate(_RUNS).decode("ascii")
    phrase = may_hold_phrase(raw)
    named = any(map(lowered.__contains__, words["always"])) or "PIN" in text
    named = named or ("@" in lowered and "://" in lowered)
    # Signs between letters and digits are passed over, as in `zebra-80`.
    mixed = raw.translate(_MIXED, b"!#$%&*+-@^_~")
    if not named and (b"=" in raw or b"x0" in mixed or b"0x" in mixed):
        named = any(map(lowered.__contains__, words["mixed"]))
        named = named or ("\1" in lowered and any(map(text.__contains__, words["scripts"])))
    long = "x" * 16 in runs
    started = not long and any(map(lowered.__contains__, words["starts"]))
    if not started and not long and _UUID not in runs:
        return False, named, phrase
    announced = named or any(map(lowered.__contains__, words["weak"]))
    return announced or started or (long and _random_run(lowered, runs)), announced, phrase


def _random_run(lowered: str, runs: str) -> bool:
    """Whether a long run of letters and digits is there that is neither a word nor a digest."""
    for run in re.finditer("x{16,}", runs):
        word = len(run[0]) < 28 and lowered[slice(*run.span())].isalpha()
        if not word and not _DIGEST.match(lowered, *run.span()):
            return True
    return False
