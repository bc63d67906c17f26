from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ricordo.settings.source import Path, find_key_lines, format_toml_key, format_toml_value

DOCUMENT = '''\
# theme = "in a comment"
theme = "a" # key = 1

text = """
rules = "inside a string"
"""
literal = \'\'\'
[not.a.table]
\'\'\'
list = [
  "one", # [two]
  "x = 1",
]
[rules]
"quoted = key" = 'off'
a.b = 1

[memory."~/a.b".rules]
stale = "off"
'''


def test_every_key_has_its_line() -> None:
    assert find_key_lines(DOCUMENT) == {
        ("theme",): 2,
        ("text",): 4,
        ("literal",): 7,
        ("list",): 10,
        ("rules",): 14,
        ("rules", "quoted = key"): 15,
        ("rules", "a", "b"): 16,
        ("memory", "~/a.b", "rules"): 18,
        ("memory", "~/a.b", "rules", "stale"): 19,
    }


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=6))
def test_keys_of_any_text_are_found(values: dict[str, str]) -> None:
    lines = [
        f"{format_toml_key((key,))} = {format_toml_value(value)}" for key, value in values.items()
    ]
    assert tomllib.loads("\n".join(lines)) == values
    assert find_key_lines("\n".join(lines)) == {(key,): at for at, key in enumerate(values, 1)}


@given(st.text(alphabet="ab.=[]{}\"'#\n ,1\\", max_size=60))
def test_what_tomllib_reads_is_scanned_to_the_same_keys(text: str) -> None:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = find_key_lines(text)
    assert all(any(_within(leaf, path) for path in found) for leaf in _leaves(values, ()))


def _within(leaf: Path, path: Path) -> bool:
    return leaf[: len(path)] == path


def _leaves(values: Mapping[str, Any], at: Path) -> Iterator[Path]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*at, key))
        else:
            yield (*at, key)
