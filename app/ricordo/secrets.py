"""What a credential looks like, and how it is masked.

The rules are data (`secret_rules.toml`); this module applies them. A cheap look decides for
nearly every note that there is nothing to see; a closer one judges candidates by their shape.
"""

from __future__ import annotations

import base64
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from string import ascii_letters, ascii_lowercase, digits
from typing import Any, NamedTuple

from ricordo.resources import data_text


class Secret(NamedTuple):
    """A credential in a text: what it is, and where its value starts and ends."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """The credentials in `text`, sorted by position, none overlapping another.

    Offsets are those of the value alone, not of the name before it. A value that was recognised
    once is found at every other place too.
    """
    tokens, names = _worth_a_look(text)
    if not tokens and not names:
        return []
    found = list(_scan(text, tokens, names))
    plain, origins = _unwrapped(text)
    for kind, start, end in _scan(plain, True, True):
        found.append(Secret(kind, origins[start], origins[end - 1] + 1))
    kinds = {text[start:end]: kind for kind, start, end in _merged(found)}
    for value, kind in list(kinds.items())[:200]:  # a bound on time
        found += [Secret(kind, *place.span()) for place in re.finditer(re.escape(value), text)]
    return _merged(found)


def mask(text: str) -> str:
    """`text` with each credential replaced by `[secret: KIND]`, the rest left as it is."""
    parts, at = [], 0
    for kind, start, end in find_secrets(text):
        parts += [text[at:start], f"[secret: {kind}]"]
        at = end
    return "".join(parts) + text[at:]


class _Shape(NamedTuple):
    length: int
    entropy: float
    guards: frozenset[str]
    accept: re.Pattern[str]
    quoted: re.Pattern[str]
    phrase: re.Pattern[str]


class _Context:
    """A kind of credential that has a name before it, and how it follows on the name."""

    def __init__(self, rule: dict[str, Any]) -> None:
        self._rule = rule
        self.kind: str = rule["kind"]
        self.after: list[str] = rule["after"]
        self.shape: str = rule["shape"]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when the name is met first, for most memories meet few of the names."""
        return re.compile(_expanded(self._rule, "value"), re.IGNORECASE)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(data_text("secret_rules.toml"))


class _Rules:
    """The data with its patterns compiled, which takes a tenth of a second once."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.tokens: list[dict[str, Any]] = data["token"]
        formats = [f"(?P<t{i}>{_expanded(t, f'v{i}')})" for i, t in enumerate(self.tokens)]
        self.token = re.compile(f"{_EARLY}(?:{'|'.join(formats)})")
        self.name = _by_first_letter([name for names in data["names"].values() for name in names])
        self.names = {str(name): _union(parts) for name, parts in data["names"].items()}
        self.shapes = {name: _shape(shape) for name, shape in data["shapes"].items()}
        contexts = [_Context(rule) for rule in data["context"]]
        self.contexts = {
            name: [context for context in contexts if name in context.after] for name in self.names
        }
        self.guards = {key: _union(parts) for key, parts in data["guards"].items()}
        self.pieces = {key: re.compile(value) for key, value in data["pieces"].items()}
        self.words, self.function_words = (frozenset(w.split()) for w in data["words"].values())
        self.labels = " ".join(f"[secret: {r['kind']}]" for r in self.tokens + data["context"])


@cache
def _rules() -> _Rules:
    return _Rules(_data())


def _by_first_letter(patterns: list[str]) -> re.Pattern[str]:
    # A search passes over letters that begin no name without trying every name.
    letters = dict.fromkeys(pattern[0] for pattern in patterns)
    rests = {a: "|".join(p[1:] for p in patterns if p[0] == a) for a in letters}
    return re.compile("|".join(f"{re.escape(a)}(?:{rest})" for a, rest in rests.items()))


def _shape(data: dict[str, Any]) -> _Shape:
    patterns = (_union(data.get(key, ["(?!)"])) for key in ("accept", "quoted", "phrase"))
    return _Shape(data["length"], data.get("entropy", 0.0), frozenset(data["guards"]), *patterns)


def _union(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _expanded(rule: dict[str, Any], value_group: str) -> str:
    pattern, fragments = str(rule["pattern"]), _data()["fragments"]
    while (step := re.sub(r"@(\w+)@", lambda m: str(fragments[m[1]]), pattern)) != pattern:
        pattern = step
    return pattern.replace("(?P<value>", f"(?P<{value_group}>")


# `bytes.translate` and `in` are the fastest passes there are; a pattern takes ten times as long.
# First bytes of letters beyond Latin in UTF-8, where 0xE2 is punctuation. All other bytes that are
# not ASCII go: accents, zero-width characters, what follows a first byte.
_SCRIPT = {*range(0xCD, 0xE2), *range(0xE3, 0xEE)}
_DROPPED = bytes(set(range(0x80, 0x100)) - _SCRIPT)
_ASCII_LOWER = {i: i + 32 for i in range(65, 91)}
_LOWER = bytes(1 if i > 127 else i + 32 * (65 <= i <= 90) for i in range(256))
_WORD = ascii_lowercase + digits
_RUNS = bytes(ord("x" if chr(i) in _WORD else "-" if chr(i) == "-" else " ") for i in range(256))
_MIXED = b" x" + _RUNS[2:48] + b"0" * 10 + _RUNS[58:]
_UUID = "-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
_DIGEST = re.compile(r"(?<![_-])(?=(?:.{32}|.{40}|.{56}|.{64}|.{96}|.{128})\Z)[0-9a-f]+")
_RULE = "-----"
"""How a key begins whose format holds blanks."""
_SHORTEST = 16
"""Characters of the shortest of the other formats."""
_EARLY = rf"(?<![A-Za-z0-9+])(?={_RULE}|[\w.:/$%=|~+-]{{{_SHORTEST}}})"
"""What one look ahead tells of nearly every word: that it is too short for any format."""
_BEGIN = re.compile(_EARLY)
_OF_FORMAT = bytes(
    ord("x" if i > 127 or chr(i) in f"{ascii_letters}{digits}_.:/$%=|~+-?" else " ")
    for i in range(256)
)
"""For Latin 1, in which `?` is also every character that it has not."""


def _worth_a_look(text: str) -> tuple[bool, bool]:
    """Whether to look for formats that speak for themselves, and for values that are named."""
    words = _data()["prefilter"]
    raw = text.lower().encode() if text.isascii() else text.encode("utf-8", "surrogatepass")
    raw = raw if text.isascii() else raw.translate(_LOWER, _DROPPED)
    lowered, runs = raw.decode("ascii"), raw.translate(_RUNS).decode("ascii")
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
        return False, named
    announced = named or any(map(lowered.__contains__, words["weak"]))
    return announced or started or (long and _random_run(lowered, runs)), announced


def _random_run(lowered: str, runs: str) -> bool:
    """Whether a long run of letters and digits is there that is neither a word nor a digest."""
    for run in re.finditer("x{16,}", runs):
        word = len(run[0]) < 28 and lowered[slice(*run.span())].isalpha()
        if not word and not _DIGEST.match(lowered, *run.span()):
            return True
    return False


def _scan(text: str, tokens: bool, names: bool) -> Iterator[Secret]:
    if tokens:
        runs = _long_runs(text)
        yield from _tokens(text, runs)
        yield from _encoded(text, runs)
    if names:
        yield from _announced(text)


def _tokens(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    rules = _rules()
    for match in _formats(text, runs):
        index = (match.lastgroup or "")[1:]
        rule = rules.tokens[int(index)]
        start, end = match.span(f"{'v' if 'group' in rule else 't'}{index}")
        value = text[start:end]
        if not rules.guards["filler"].search(value) and _entropy(value) >= rule.get("entropy", 1.5):
            yield Secret(rule["kind"], start, end)


def _formats(text: str, runs: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The places of `text` that are written in any format, none overlapping another."""
    token = _rules().token
    if _RULE in text:
        yield from token.finditer(text)
        return
    at = 0
    for run in runs:
        for begin in _BEGIN.finditer(text, *run):
            if begin.start() >= at and (match := token.match(text, begin.start())):
                at = match.end()
                yield match


def _long_runs(text: str) -> list[tuple[int, int]]:
    """Where the words stand that are long enough for a format; most are too short for any."""
    # every character as one byte, so that places stay
    marked = text.encode("latin-1", "replace").translate(_OF_FORMAT)
    runs: list[tuple[int, int]] = []
    end = 0
    while (start := marked.find(b"x" * _SHORTEST, end)) >= 0:
        end = marked.find(b" ", start)
        end = end if end >= 0 else len(marked)
        runs.append((start, end))
    return runs


def _encoded(text: str, runs: list[tuple[int, int]]) -> Iterator[Secret]:
    """Base64 that hides a credential; all of it is the value."""
    for run in runs:
        for match in _rules().pieces["base64"].finditer(text, *run):
            hidden = next(_scan(_decoded(match[0]), True, True), None)
            if hidden:
                yield Secret(hidden.kind, *match.span())


def _decoded(run: str) -> str:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    inside = base64.b64decode(body[: len(body) // 4 * 4]).decode("ascii", "replace")
    return inside if re.fullmatch(r"[\r\n\t -~]*", inside) else ""


def _announced(text: str) -> Iterator[Secret]:
    lowered = text.lower() if text.isascii() else text.translate(_ASCII_LOWER)
    for match in _rules().name.finditer(lowered):
        at = match.end()
        before = re.split(r"[^\w-]", text[max(0, match.start() - 40) : match.start()])[-1]
        name = before + text[match.start() : at]
        if hit := _after_name(_group(match[0]), name, text[at : at + 2500]):
            yield Secret(hit.kind, at + hit.start, at + hit.end)


@lru_cache(maxsize=512)  # for texts that say the same again and again
def _after_name(group: str, name: str, rest: str) -> Secret | None:
    for context in _rules().contexts[group]:
        match = context.pattern.match(name + rest, len(name))
        if match and (value_group := match.lastgroup):
            bare, start = value_group == "bare", match.start(value_group) - len(name)
            value = _trimmed(match[value_group]) if bare else str(match[value_group])
            if _fits(context.shape, value, name + match["gap"], not bare):
                return Secret(context.kind, start, start + len(value))
    return None


@lru_cache(maxsize=1024)
def _group(word: str) -> str:
    names = _rules().names.items()
    whole = [group for group, pattern in names if pattern.fullmatch(word)]
    # What follows a word may have decided how much of it is the name.
    return [*whole, *(g for g, pattern in names if pattern.match(f"{word} =")), "key"][0]


def _trimmed(value: str) -> str:
    """Without the punctuation of the sentence; a bracket stays that was opened inside."""
    while value and (last := value[-1]) in ".,;:?*_|\\)]}":
        if last in _OPENING and value.count(last) <= value.count(_OPENING[last]):
            break
        value = value[:-1]
    return value


def _fits(shape_name: str, value: str, context: str, quoted: bool) -> bool:
    """Whether a value looks like what it is announced to be."""
    rules, shape = _rules(), _rules().shapes[shape_name]
    never = rules.words if "words" in shape.guards else frozenset()
    if len(value) < shape.length or value in rules.labels or value.lower() in never:
        return False
    for guard in shape.guards - {"words"}:
        if rules.guards[guard].search(context if guard == "about" else value[:64]):
            return False
    if shape.accept.fullmatch(value) or (quoted and shape.quoted.fullmatch(value)):
        return _entropy(value) >= shape.entropy
    # Words that are strung together as in no sentence.
    words = re.findall(r"[^\W\d_]+", value.lower()) if shape.phrase.fullmatch(value) else []
    common = (rules.words | rules.function_words).intersection(words)
    return bool(words) and not common and len(set(words)) > len(words) // 2


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    sample = value[:256]
    shares = [n / len(sample) for n in Counter(sample).values()]
    return -sum(share * math.log2(share) for share in shares)


_OPENING = {")": "(", "]": "[", "}": "{"}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def _unwrapped(text: str) -> tuple[str, list[int]]:
    """`text` without what interrupts or escapes its values, and where each character came from."""
    parts: list[str] = []
    origins: list[int] = []
    at = 0
    for match in _rules().pieces["wrapping"].finditer(text):
        if match["fold"] is not None and not _is_folded(text, match):
            continue
        percent, escape = match["percent"], match["escape"] or ""
        plain = chr(int(percent, 16)) if percent else _ESCAPES.get(escape, escape)
        parts += [text[at : match.start()], plain]
        origins += [*range(at, match.start()), *[match.end() - 1] * len(plain)]
        at = match.end()
    return ("".join([*parts, text[at:]]), [*origins, *range(at, len(text))]) if at else ("", [])


def _is_folded(text: str, fold: re.Match[str]) -> bool:
    """Whether the line break stands inside one random value, not between two."""
    before = re.split(r"[^\w+/=-]", text[max(0, fold.start() - 80) : fold.start()])[-1]
    random = before.isalnum() or "_" in before or "-" in before
    return random and not before.isalpha() and not _rules().token.match(text, fold.end())


def _merged(found: list[Secret]) -> list[Secret]:
    """By position; those that overlap become one, of the kind that was found first."""
    merged: list[tuple[int, Secret]] = []
    for rank, hit in sorted(enumerate(found), key=lambda item: item[1][1:]):
        if merged and hit.start < merged[-1][1].end:
            before, last = merged.pop()
            kind = hit.kind if rank < before else last.kind
            hit, rank = Secret(kind, last.start, max(last.end, hit.end)), min(rank, before)
        merged.append((rank, hit))
    return [hit for _, hit in merged]
