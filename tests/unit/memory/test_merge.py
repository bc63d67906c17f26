from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.diff import merge
from ricordo.memory.lines import split_lines

TEXTS = st.builds(
    lambda lines, ended: "\n".join(lines) + "\n" * (ended and bool(lines)),
    st.lists(st.sampled_from("abcd"), max_size=8),
    st.booleans(),
)
JOINED = st.booleans()


@given(TEXTS, TEXTS, JOINED)
def test_laws(base: str, other: str, joined: bool) -> None:
    assert merge(base, other, base, additions_join=joined) == other
    assert merge(base, base, other, additions_join=joined) == other
    assert merge(base, other, other, additions_join=joined) == other


def test_a_join_drops_a_final_newline_only_with_the_one_who_dropped_it() -> None:
    assert merge("a\n", "a", "a\n", additions_join=True) == "a"
    assert merge("a", "a\n", "a", additions_join=True) == "a\n"
    assert merge("a", "a\nb", "a\nc", additions_join=True) == "a\nc\nb"
    assert merge("a", "a\nb", "a\nc\n", additions_join=True) == "a\nc\nb\n"
    assert merge("a\n", "a\nb\n", "a\nc", additions_join=True) == "a\nc\nb"
    assert merge("", "a\n", "b\n", additions_join=True) == "b\na\n"
    assert merge("a\r\n", "a\r\nb\r\n", "a\r\nc\r\n", additions_join=True) == "a\r\nc\r\nb\r\n"


@given(TEXTS, TEXTS, TEXTS)
def test_it_is_symmetric(base: str, one: str, other: str) -> None:
    assert merge(base, one, other) == merge(base, other, one)
    both = merge(base, one, other, additions_join=True)
    turned = merge(base, other, one, additions_join=True)
    assert (both is None) == (turned is None)
    if both is not None and turned is not None:
        assert _bag(both) == _bag(turned)


@given(TEXTS, TEXTS, TEXTS, JOINED)
def test_no_line_is_invented_and_none_lost(base: str, one: str, other: str, joined: bool) -> None:
    result = merge(base, one, other, additions_join=joined)
    if result is None:
        return
    now, was, left, right = (_bag(text) for text in (result, base, one, other))
    for line in now | was | left | right:
        # both sides may have done the same, which counts once
        least = min(left[line], right[line], left[line] + right[line] - was[line])
        most = max(left[line], right[line], left[line] + right[line] - was[line])
        assert least <= now[line] <= most, line


def _bag(text: str) -> Counter[str]:
    return Counter(line.removesuffix("\n") for line in split_lines(text))


@given(st.lists(st.integers(0, 1), min_size=12, max_size=12), st.integers(0, 3), st.integers(6, 9))
def test_separate_edits_are_both_there(noise: list[int], left: int, right: int) -> None:
    lines = [f"{n}-{it}\n" for n, it in enumerate(noise)]
    one, other = list(lines), list(lines)
    one[left] = "mine\n"
    other.insert(right, "theirs\n")
    wanted = list(other)
    wanted[left] = "mine\n"
    for joined in (True, False):
        merged = merge(*("".join(it) for it in (lines, one, other)), additions_join=joined)
        assert merged == "".join(wanted)


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [("a\n", "b\n", "c\n"), ("a\nb\n", "x\nb\n", "a\ny\n"), ("a\n", "", "a\nb\n"),
     ("a\n", "a\nx\n", "b\n")],
)  # fmt: skip
@pytest.mark.parametrize("joined", [True, False])
def test_what_touches_is_a_conflict(base: str, one: str, other: str, joined: bool) -> None:
    assert merge(base, one, other, additions_join=joined) is None


def test_additions_at_one_place_are_a_conflict_but_in_an_index() -> None:
    texts = ("- a\n", "- a\n- b\n- d\n", "- a\n- c\n- d\n")
    assert merge(*texts) is None
    assert merge(*texts, additions_join=True) == "- a\n- c\n- d\n- b\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_it_says_what_git_says_or_is_stricter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(7)
    counts: Counter[str] = Counter()
    for _ in range(120):
        base = [f"{chance.choice('abc')}{n // 2}\n" for n in range(chance.randint(2, 9))]
        texts = [base, _changed(base, chance), _changed(base, chance)]
        for name, lines in zip(("base", "one", "other"), texts, strict=True):
            (tmp_path / name).write_text("".join(lines))
        ran = subprocess.run(
            ["git", "merge-file", "-p", "--diff3", "one", "base", "other"],
            cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        ours = merge(*("".join(lines) for lines in texts))
        if ours is None:
            counts["conflict in both" if ran.returncode else "stricter"] += 1
        elif ran.returncode:
            counts["looser"] += 1
        else:
            counts["the same" if ours == ran.stdout else "other text"] += 1
    with capsys.disabled():
        print(f"\nmerge against git: {dict(counts)}")
    assert counts["looser"] == counts["other text"] == 0
    assert counts["the same"] > 20
    assert counts["conflict in both"] > 20


def _changed(lines: list[str], chance: random.Random) -> list[str]:
    result = list(lines)
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(result) + 1)
        if chance.random() < 0.5:
            result.insert(at, f"new{chance.randint(0, 3)}\n")
        elif chance.random() < 0.5:
            result[at : at + 1] = []
        else:
            result[at : at + 1] = [f"edit{chance.randint(0, 3)}\n"]
    return result
