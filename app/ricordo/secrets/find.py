"""Find credentials, and mask them in a text or in an excerpt of one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from string import ascii_lowercase, digits

from ricordo.patterns import compile_lazily
from ricordo.secrets.formats import find_by_format, find_by_name, find_cut_off_keys, find_long_runs
from ricordo.secrets.rules import Secret, is_random, load_data, load_rules
from ricordo.secrets.seed_phrases import SEED_PHRASE, find_seed_phrases, has_possible_phrase

_SHORTEST = 3
"""Characters; a shorter value would be found everywhere."""
_HEADS = (16, 6, _SHORTEST)
"""Values are looked up by their first characters: by the largest of these numbers that fits."""
_FEW = 500
"""Up to so many values, searching for one after the other is faster than for all at once."""
_WHOLE_WORD = 8
"""Characters; a shorter value is found only where it is a word of its own."""
_NAME = compile_lazily(
    r"(?=.{1,19}\Z)(?!(?:\w+\W){3})[A-Z]*[a-z]*(?:[A-Z][a-z]{2,}|[-_. /][A-Za-z]+)*"
)
"""Words, and names that are put together from words: letters alone, fewer than four of them."""
_NUMBER = compile_lazily(r"(?:19|20)\d\d|\d{0,3}|\d{1,4}00|(\d)\1*|[\d.,:/-]{1,8}(?<=\D.)")
"""Years, round numbers, dates, versions."""


def is_distinct(value: str) -> bool:
    """Return whether a value is no common word, number or name, which are in texts anyway."""
    if _NAME.fullmatch(value) or _NUMBER.fullmatch(value):
        return False
    known = load_rules()
    return not known.guards["term"].search(value) and value.rstrip("0123456789") not in known.words


class KnownValues:
    """Values that are searched for together: many of them take hardly longer than a few.

    Common words are not searched for: one is a secret only where its context says so.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: dict[str, frozenset[str]] = {}
        """Each with its characters."""
        self._by_head: dict[str, dict[int, set[str]]] = {}
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Search for `value` too."""
        if len(value) < _SHORTEST or not is_distinct(value):
            return
        size = next(size for size in _HEADS if size <= len(value))
        by_length = self._by_head.setdefault(value[:size], {})
        by_length.setdefault(len(value), set()).add(value)
        self._values[value] = frozenset(value)

    def find_places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a value starts and ends in `text`, in no order. Of several that overlap
        at least one is yielded.
        """
        few = len(self._values) <= _FEW
        for start, end in self._find_one_by_one(text) if few else self._find_at_once(text):
            if end - start >= _WHOLE_WORD or _is_whole_word(text, start, end):
                yield start, end

    def _find_one_by_one(self, text: str) -> Iterator[tuple[int, int]]:
        present = set(text)
        for value, characters in self._values.items():
            at = text.find(value) if characters <= present else -1
            while at >= 0:
                yield at, at + len(value)
                at = text.find(value, at + len(value))

    def _find_at_once(self, text: str) -> Iterator[tuple[int, int]]:
        known = self._by_head
        for size in _HEADS:
            heads = [at for at in range(len(text) - size + 1) if text[at : at + size] in known]
            end = 0
            for at in heads:
                if at >= end and (length := self._longest(text, at, size)):
                    end = at + length
                    yield at, end

    def _longest(self, text: str, at: int, size: int) -> int:
        """Return the length of the longest value at a place; 0 for none."""
        by_length = self._by_head[text[at : at + size]]
        fitting = (
            length for length, values in by_length.items() if text[at : at + length] in values
        )
        return max(fitting, default=0)


def _is_whole_word(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not re.search(r"\w", around)


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
_DIGEST = compile_lazily(r"(?<![_-])(?=(?:.{32}|.{40}|.{56}|.{64}|.{96}|.{128})\Z)[0-9a-f]+")


def prefilter(text: str) -> tuple[bool, bool, bool]:
    """Return whether to search for formats that need no name, for values with a name, and for seed
    phrases.
    """
    words = load_data()["prefilter"]
    raw = text.lower().encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
    raw = raw if text.isascii() else raw.translate(_LOWER, _DROPPED)
    lowered, runs = raw.decode("ascii"), raw.translate(_RUNS).decode("ascii")
    phrase = has_possible_phrase(raw)
    named = any(map(lowered.__contains__, words["always"])) or "PIN" in text
    named = named or ("@" in lowered and "://" in lowered)
    # Signs between letters and digits are skipped, as in `zebra-80`.
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
    """Whether there is a long run of letters and digits that is neither a word nor a digest."""
    for run in re.finditer("x{16,}", runs):
        word = len(run[0]) < 28 and lowered[slice(*run.span())].isalpha()
        if not word and not _DIGEST.match(lowered, *run.span()):
            return True
    return False


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def unwrap(text: str) -> tuple[str, list[int]]:
    """Return `text` without what interrupts or escapes its values, and the origin of each
    character.
    """
    parts: list[str] = []
    origins: list[int] = []
    at = 0
    for match in load_rules().pieces["wrapping"].finditer(text):
        if match["fold"] is not None and not _is_folded(text, match):
            continue
        plain = _unescape(match)
        parts += [text[at : match.start()], plain]
        origins += [*range(at, match.start()), *[match.end() - 1] * len(plain)]
        at = match.end()
    return ("".join([*parts, text[at:]]), [*origins, *range(at, len(text))]) if at else ("", [])


def _unescape(match: re.Match[str]) -> str:
    """Return what an escape means; "" for what only interrupts."""
    if match["percent"]:
        return chr(int(match["percent"], 16))
    import html

    return (
        html.unescape(match[0])
        if match["entity"]
        else _ESCAPES.get(escape := match["escape"] or "", escape)
    )


def _is_folded(text: str, fold: re.Match[str]) -> bool:
    """Whether the line break is inside one random value, not between two."""
    before = re.split(r"[^\w+/=-]", text[max(0, fold.start() - 80) : fold.start()])[-1]
    random = before.isalnum() or "_" in before or "-" in before
    return random and not before.isalpha() and not load_rules().token.match(text, fold.end())


_LONG = 90
"""A value of so many characters may be longer than its rule."""
_PUBLIC = compile_lazily(
    r"(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]{40}|0[23][0-9a-f]{64})"
)
"""A UUID; the address of an account or contract of Ethereum (EIP-55); a compressed public key on
secp256k1 (SEC 1, 2.3.3).
"""
_SAMPLE = compile_lazily(r"(?i:(.)\1{7}|1234|123e4567|550e8400|f81d4fae)")
"""The beginning of the UUIDs of examples (RFC 4122 and its readers)."""
_EXPRESSION = compile_lazily(r"\[[^\]\s]+\](?:[+*?{]|\Z)|\\[bdswDSW]")
"""A regular expression that finds keys."""
_TEST = compile_lazily(r"(?:^|[_-])test[_-]", re.IGNORECASE)
"""In the key of a service's test mode, as Stripe's `sk_test_`."""
_IDS = compile_lazily(r"\b(?:IDs|[Ii]ds)\b")
"""In a heading: what is below it are ids."""
_KEY = compile_lazily(r"[\w+/=.~:%$-]+")
"""The characters of keys: those of Base64 and of addresses."""
_SHARED = frozenset(("api-key", "aws-access-key", "azure-sas", "google-api-key", "signed-url"))
"""Kinds that in an address show its reader one thing, such as a file, a picture or a map, or name
who signed it.
"""
_ADDRESS = compile_lazily(r"\w://")
_ADDRESS_END = compile_lazily(r"[\s\"'`<>]")
_LONGEST_ADDRESS = 4_000
"""Characters: an address that is signed for a session has its token, too."""
_UP_TO_VALUE = " \t\"'`*_)]:=>→：|<-"
"""What may be between a name and its value."""
_ID = compile_lazily(r"[A-Za-z0-9]{16,40}")
"""The id of a document as services make it."""
_CLIENT_KEY = compile_lazily(
    r"https?://[0-9a-f]{32}@(?P<host>[\w.-]+)(?::\d{1,5})?/(?:[\w-]+/){0,4}\d+(?![\w/])"
)
"""The address to which programs report their errors (a DSN of Sentry), with the key that is given
to every user of them; older ones have a secret beside it, behind a colon.
"""
_OF_REPORTS = compile_lazily(r"sentry|glitchtip|\bdsn\b|_dsn\b", re.IGNORECASE)
_WEB_KEY = compile_lazily(r"firebase|authDomain|\bmaps\b", re.IGNORECASE)
"""Beside a key that pages are delivered with, limited by their address: Firebase calls its own no
secret.
"""
_AROUND = 300
"""Characters."""
_LETTERS = compile_lazily(r"[a-z]{3,}")
_FILE = compile_lazily(r"(?:~|[A-Za-z]:)?(?:[/\\][\w.@ -]+){2,}\.\w{1,5}")
"""The absolute path of a file, which tells where a secret is."""
_WORDS = compile_lazily(r"(?:[^\W\d_]{2,}|\d{1,2})(?:[-_](?:[^\W\d_]{2,}|\d{1,2})){2,4}")
"""A few words and small numbers that are joined to one; more of them are a passphrase."""
_GOES_ON = compile_lazily(r"[ \t]+[^\W\d_]{2,}")
_MARKED = compile_lazily(r"`([\w-]+)`")
_FEWEST_OF_A_LIST, _LONGEST_OF_A_LIST = 3, 15
"""Marked values of one length in one line that are the ids of things, and the characters of such an
id: keys are longer.
"""
_REST = compile_lazily(r"(?:[\w+/=~%-]|[.:](?=[\w+/=~%-]))*")


def find_secrets(text: str) -> list[Secret]:
    """Return the credentials in `text`, sorted by position, none overlapping another.

    Offsets are those of the value alone, not of the name before it. A value that was recognised
    once is found at every other place too.
    """
    worth = prefilter(text)
    if not any(worth):
        return []
    secrets = _extend_to_run_end(text, _merge_overlapping(list(_scan(text, *worth))))
    plain, origins = unwrap(text)
    # the unwrapped form of a phrase that was found is not another phrase
    phrases = worth[2] and all(secret.kind != SEED_PHRASE for secret in secrets)
    for kind, start, end in _extend_to_run_end(
        plain, _merge_overlapping(list(_scan(plain, True, True, phrases)))
    ):
        secrets.append(Secret(kind, origins[start], origins[end - 1] + 1))
    kinds = {text[start:end]: kind for kind, start, end in reversed(_merge_overlapping(secrets))}
    places = KnownValues(kinds).find_places(text)
    secrets += [Secret(kinds[text[start:end]], start, end) for start, end in places]
    return _merge_overlapping(secrets)


def _is_in_address(value: str, text: str) -> bool:
    """Return whether a value is the last part of the path of a web address in `text`: the id of a
    document, which everybody sees who opens it.
    """
    return bool(re.search(rf"https?://[^\s`'\"<>?]+/{re.escape(value)}(?![\w-])", text))


def is_evident(text: str, secret: Secret, *, in_example: bool = False) -> bool:
    """Return whether a secret of `text` surely is one: its format tells, or a program made it. A
    word beside “password” is mostly one of an example, a test or the sentence, a UUID the id of a
    thing, unless a header has it, and so is what is called the token of a folder, or of a place in
    a list, a path, words with which a sentence goes on, one of several ids in a line, and what is
    below a heading on ids. What is made to be given away is none: the key of a test, of a page, of
    a shared file or of a program that reports its errors. Where it may be part of an example, only
    its format tells.
    """
    kind, value = secret.kind, text[secret.start : secret.end]
    if kind == SEED_PHRASE:
        words = _LETTERS.findall(value.lower())
        return len(set(words)) >= len(words) - 1  # those of a sentence come again
    if _EXPRESSION.search(value) or _TEST.search(value):
        return False
    if kind in _SHARED:
        before = text[max(0, secret.start - _LONGEST_ADDRESS) : secret.start]
        if _ADDRESS.search(_ADDRESS_END.split(before)[-1]):
            return False
    if kind == "jwt":
        return not _is_anonymous(value)
    if kind == "google-api-key":
        around = text[max(0, secret.start - _AROUND) : secret.end + _AROUND]
        return not _WEB_KEY.search(around)
    if kind in load_rules().own_formats:
        return True
    if in_example or _is_in_address(value, text):
        return False
    if _PUBLIC.fullmatch(value):
        # nobody sends the id of a thing to prove who he is
        return kind == "auth-header" and not _SAMPLE.match(value)
    if _is_client_key(text, secret) or _is_name_of_thing(text, secret):
        return False
    if _is_listed_as_id(text, secret):
        return False
    if _FILE.fullmatch(value) or _is_in_list(text, secret):
        return False
    if kind == "password" and _WORDS.fullmatch(value) and _GOES_ON.match(text, secret.end):
        return False
    if kind == "password" and load_rules().guards["own_name"].match(value):
        return False
    is_key = kind != "api-key" or bool(_KEY.fullmatch(value))
    return is_key and is_random(value)


def _is_client_key(text: str, secret: Secret) -> bool:
    """Return whether a secret is the key in the address for reports of errors."""
    start = text.rfind("http", max(0, secret.start - len("https://")), secret.start)
    address = _CLIENT_KEY.match(text, start) if start >= 0 else None
    if address is None:
        return False
    label = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
    return bool(_OF_REPORTS.search(address["host"]) or _OF_REPORTS.search(label))


def _is_name_of_thing(text: str, secret: Secret) -> bool:
    """Return whether a secret is, by the name before it, what a service calls a token and is the id
    of a document or folder, or the mark of a place in a list.
    """
    guards, value = load_rules().guards, text[secret.start : secret.end]
    name = text[max(0, secret.start - _AROUND) : secret.start].rstrip(_UP_TO_VALUE)
    if guards["mark"].search(name):
        return True
    if not _ID.fullmatch(value):
        return False
    around = text[max(0, secret.start - _AROUND) : secret.end + _AROUND]
    if guards["filed_resource"].search(name):
        return bool(guards["filed"].search(around))
    if guards["nested_resource"].search(name):
        return bool(guards["resource"].search(text))
    return any(it.end() == len(name) for it in guards["resource"].finditer(name))


def _is_listed_as_id(text: str, secret: Secret) -> bool:
    """Return whether the heading above a secret says that what is below are ids, and names nothing
    that is secret, as “Keys and IDs” does.
    """
    start = text.rfind("\n#", 0, secret.start) + 1
    heading = text[start : secret.start].partition("\n")[0]
    if not heading.startswith("#") or not _IDS.search(heading):
        return False
    return not load_rules().name.search(heading.lower())


def _is_in_list(text: str, secret: Secret) -> bool:
    """Return whether a short secret is one of several marked values of its length in its line."""
    if secret.end - secret.start > _LONGEST_OF_A_LIST:
        return False
    start = text.rfind("\n", 0, secret.start) + 1
    end = text.find("\n", secret.end)
    length = secret.end - secret.start
    values = _MARKED.findall(text, start, end if end >= 0 else len(text))
    alike = {it for it in values if len(it) == length and is_random(it)}
    return text[secret.start : secret.end] in alike and len(alike) >= _FEWEST_OF_A_LIST


def has_expired(value: str, now: float) -> bool:
    """Return whether a value is a JSON web token that was valid until a moment before `now`, in
    seconds since the epoch (RFC 7519, `exp`).
    """
    end = _read_token(value).get("exp")
    return isinstance(end, int | float) and end < now


def _is_anonymous(token: str) -> bool:
    """Return whether a JSON web token is that of all visitors, which pages are delivered with."""
    return _read_token(token).get("role") == "anon"


def _read_token(value: str) -> Mapping[str, object]:
    """Return what a JSON web token claims; nothing for any other value."""
    import base64
    import json

    _, *parts = value.split(".")
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except (IndexError, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def mask(text: str) -> str:
    """Return `text` with each credential replaced by `[secret: KIND]`."""
    return _mask_places(text, find_secrets(text))


def _mask_places(text: str, secrets: Iterable[Secret]) -> str:
    parts, at = [], 0
    for kind, start, end in secrets:
        parts += [text[at:start], f"[secret: {kind}]"]
        at = end
    return "".join(parts) + text[at:]


def _scan(text: str, tokens: bool, names: bool, phrases: bool) -> Iterator[Secret]:
    if tokens:
        runs = find_long_runs(text)
        yield from find_by_format(text, runs)
        yield from _find_encoded(text, runs)
        yield from find_cut_off_keys(text)
    if names:
        yield from find_by_name(text)
    if phrases:
        yield from find_seed_phrases(text)


def _find_encoded(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    """Yield base64 that hides a credential; all of it is the value."""
    for run in runs:
        for match in load_rules().pieces["base64"].finditer(text, *run):
            inside = _decode(match[0])
            phrases = has_possible_phrase(inside.encode())
            if hidden := next(_scan(inside, True, True, phrases), None):
                yield Secret(hidden.kind, *match.span())


def _decode(run: str) -> str:
    import base64

    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    inside = base64.b64decode(body[: len(body) // 4 * 4]).decode("ascii", "replace")
    return inside if re.fullmatch(r"[\r\n\t -~]*", inside) else ""


def _extend_to_run_end(text: str, secrets: list[Secret]) -> list[Secret]:
    """Return the credentials by position, each to the end of its run: of a long value a rule checks
    only the beginning.
    """
    whole: list[Secret] = []
    for hit in secrets:
        if whole and hit.start < whole[-1].end:
            if hit.end <= whole[-1].end:
                continue
            hit = whole.pop()._replace(end=hit.end)
        rest = _REST.match(text, hit.end) if hit.end - hit.start >= _LONG else None
        whole.append(hit._replace(end=rest.end()) if rest else hit)
    return whole


def _merge_overlapping(secrets: list[Secret]) -> list[Secret]:
    """Return the credentials by position; those that overlap become one, of the first kind."""
    merged: list[tuple[int, Secret]] = []
    for rank, hit in sorted(enumerate(secrets), key=lambda item: item[1][1:]):
        if merged and hit.start < merged[-1][1].end:
            before, last = merged.pop()
            kind = hit.kind if rank < before else last.kind
            hit, rank = Secret(kind, last.start, max(last.end, hit.end)), min(rank, before)
        merged.append((rank, hit))
    return [hit for _, hit in merged]


def collect_secrets(texts: Iterable[str]) -> dict[str, str]:
    """Return the kinds of the secrets in `texts` by their values."""
    kinds: dict[str, str] = {}
    for text in texts:
        for kind, start, end in _find_secrets(text):
            kinds.setdefault(text[start:end], kind)
    return kinds


def mask_excerpt(excerpt: str, kinds: Mapping[str, str]) -> str:
    """Return `excerpt` with its secrets masked, also single lines of the secrets in `kinds`: a line
    of a key or a seed phrase alone may look like any other text.
    """
    # a longer value may contain a shorter one
    for value in sorted(kinds, key=len, reverse=True):
        masked = f"[secret: {kinds[value]}]"
        # in a diff each line of a value has a sign before it
        for line in filter(None, map(str.strip, value.split("\n"))):
            if line in excerpt:
                excerpt = _replace(excerpt, line, masked)
    return mask(excerpt)


def find_in_passage(passage: str, text: str, secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Yield the `secrets` of `text` in a `passage` of it, whose white space was made single blanks,
    also those that it has only a part of.
    """
    before = 1 if passage.startswith("…") else 0
    quoted = passage[before:].removesuffix("…")
    words = list(re.finditer(r"\S+", text))
    begins = [word.start() for word in words]
    flat_text = " ".join(word[0] for word in words)
    # where each word begins in the flat text
    flat_begins = [0, *accumulate(len(word[0]) + 1 for word in words)]
    at = flat_text.find(quoted)
    if at < 0:
        return
    for kind, start, end in secrets:
        first, last = (bisect_right(begins, place) - 1 for place in (start, end - 1))
        first_place = max(0, flat_begins[first] + start - begins[first] - at)
        end_place = min(flat_begins[last] + end - begins[last] - at, len(quoted))
        if first_place < end_place:
            yield Secret(kind, first_place + before, end_place + before)


def mask_passage(passage: str, text: str) -> str:
    """Return a `passage` of `text` with its secrets masked, as `find_in_passage` finds them."""
    secrets = _find_secrets(text)
    if not secrets:
        return passage
    places = [*find_in_passage(passage, text, secrets), *find_secrets(passage)]
    return _mask_places(passage, _merge_overlapping(places))


@lru_cache(maxsize=64)
def _find_secrets(text: str) -> tuple[Secret, ...]:
    # every proposal is about an index, and many are about the same notes
    return tuple(find_secrets(text))


def _replace(text: str, value: str, masked: str) -> str:
    if len(value) >= _WHOLE_WORD:
        return text.replace(value, masked)
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: masked, text)
