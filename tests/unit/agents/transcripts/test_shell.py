"""What is understood of shell commands, and what is not guessed at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.transcripts.shell import find_file_actions


@pytest.mark.parametrize(
    ("command", "deeds"),
    [
        ("cat a.md", ["read a.md"]),
        ("cat -n 'a b.md' c.md 2>/dev/null", ["read a b.md", "read c.md"]),
        ("head -n 5 a.md | tail -3", ["read a.md"]),
        ("sed -n '1,40p' a.md", ["read a.md"]),
        ("sed -i 's/a/b/' a.md", ["edited a.md"]),
        ("rg -n 'tide.*' a.md b.md", ["read a.md", "read b.md"]),
        ("cd notes && cat a.md; cat b.md", ["read notes/a.md", "read notes/b.md"]),
        ("ls\ncat a.md", ["read a.md"]),
        ("rm -f a.md", ["deleted a.md"]),
        ("mv a.md b.md", ["deleted a.md", "wrote b.md"]),
        ("make | grep -A 5 tides", []),
        ("rg -g '*.py' -m 3 tides a.md", ["read a.md"]),
        ("git mv a.md b.md", ["deleted a.md", "wrote b.md"]),
        ("git rm -q a.md", ["deleted a.md"]),
        ("git checkout -- a.md", ["edited a.md"]),
        ("git restore a.md", ["edited a.md"]),
        ("git restore --staged a.md", []),
        ("git checkout main", []),
        ("cp a.md b.md", ["read a.md", "wrote b.md"]),
        ("cp a.md notes", []),
        ("cat *.md", []),
        ("cat $NOTE", []),
        ("cat `ls`", []),
        ("cat a.md > b.md", ["wrote b.md", "read a.md"]),
        ("cat > a.md <<'EOF'\nrm b.md\nEOF\ncat c.md", ["wrote a.md", "read c.md"]),
        ("date >> a.md 2>&1 && make 2> b.md", ["edited a.md", "wrote b.md"]),
        ("date | tee a.md | tee -a b.md >/dev/null", ["wrote a.md", "edited b.md"]),
        ("cat a:b.md &&\n\ncat c.md;", ["read a:b.md", "read c.md"]),
        ("(cat a.md)", []),
        ("cd $NOTES && cat a.md > b.md", []),
        ("date > $NOTE", []),
        ("echo cat a.md", []),
        ("cat 'a.md", []),
        ("", []),
    ],
)
def test_plain_commands_are_understood_and_others_left_alone(
    command: str, deeds: list[str]
) -> None:
    found = [
        f"{deed} {folder + '/' if folder else ''}{path}"
        for deed, path, folder in find_file_actions(command)
    ]
    assert found == deeds


@given(st.text(alphabet="ct adsr-m.\\'\"$|&;<>\n*/0", max_size=60))
def test_any_command_can_be_parsed(command: str) -> None:
    for _, path, _ in find_file_actions(command):
        assert isinstance(path, str)
