"""Only the line that makes the next agent read the handoff is added to its file."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.agent import Agent
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import ANY_AGENT, handoff_target
from ricordo.handoff.pickup import (
    add_json_item,
    build_pickup_edit,
    build_start_command,
    find_pickup_line,
)
from tests.unit.machine import git

READ_FIRST = (
    "Before you begin, read HANDOFF.md: it says where the work stands, and how far that is "
    "proved.\n"
)
ADDED = {
    handoff_target("claude"): ("CLAUDE.md", "@HANDOFF.md\n"),
    handoff_target("codex"): ("AGENTS.md", READ_FIRST),
    handoff_target("opencode"): ("opencode.json", '{\n  "instructions": ["HANDOFF.md"]\n}\n'),
    handoff_target("gemini"): ("GEMINI.md", READ_FIRST),
}


def after(project: Path, target: Agent, handoff: str = "HANDOFF.md") -> tuple[str, bytes]:
    line = find_pickup_line(target, str(project), str(project / handoff))
    assert line is not None
    change = build_pickup_edit(str(project), line)
    whole = Path(change.root) / change.name
    assert (whole.read_bytes() if whole.exists() else None) == change.before
    return whole.relative_to(project).as_posix(), change.text.encode()


@pytest.mark.parametrize("target", ADDED)
def test_a_file_that_is_not_there_is_made(tmp_path: Path, target: Agent) -> None:
    name, text = ADDED[target]
    assert after(tmp_path, target) == (name, text.encode())


@pytest.mark.parametrize(
    "target", [handoff_target("claude"), handoff_target("codex"), handoff_target("gemini")]
)
@pytest.mark.parametrize("before", [b"# Rules\n\n- one\r\n", b"one", b"one\r\ntwo\r\n", b"\n"])
def test_a_line_is_added_at_the_end_and_only_once(
    tmp_path: Path, target: Agent, before: bytes
) -> None:
    name, line = ADDED[target]
    (tmp_path / name).write_bytes(before)
    _, text = after(tmp_path, target)
    assert text.startswith(before)
    end = b"\r\n" if b"\r\n" in before and not before.startswith(b"#") else b"\n"
    assert text.endswith(line.encode().rstrip() + end)
    (tmp_path / name).write_bytes(text)
    assert after(tmp_path, target) == (name, text)


def test_the_file_that_the_agent_reads_is_taken(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("a\n")
    (tmp_path / "AGENTS.override.md").write_text("b\n")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/CLAUDE.md").write_text("c\n")
    assert after(tmp_path, handoff_target("codex"))[0] == "AGENTS.override.md"
    assert after(tmp_path, handoff_target("claude")) == (
        ".claude/CLAUDE.md",
        b"c\n\n@../HANDOFF.md\n",
    )


@pytest.mark.parametrize("name", ["AGENTS.md", ".claude/AGENTS.md"])
def test_rules_that_claude_reads_only_without_a_claude_file_are_not_switched_off(
    tmp_path: Path, name: str
) -> None:
    """Claude Code reads AGENTS.md if there is no CLAUDE.md: the line is added there."""
    rules = tmp_path / name
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("Never push.\n")
    at, text = after(tmp_path, handoff_target("claude"))
    handoff = os.path.relpath(tmp_path / "HANDOFF.md", rules.parent)
    assert (at, text) == (name, f"Never push.\n\n@{handoff}\n".encode())
    (tmp_path / "CLAUDE.md").write_text("c\n")
    assert after(tmp_path, handoff_target("claude")) == ("CLAUDE.md", b"c\n\n@HANDOFF.md\n")


def test_rules_above_the_project_are_not_switched_off_either(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--template=")
    project = tmp_path / "packages" / "tides"
    project.mkdir(parents=True)
    assert after(project, handoff_target("claude"))[0] == "CLAUDE.md"
    (tmp_path / "AGENTS.md").write_text("Never push.\n")
    assert (
        find_pickup_line(handoff_target("claude"), str(project), str(project / "HANDOFF.md"))
        is None
    )
    assert after(project, handoff_target("codex"))[0] == "AGENTS.md"
    (tmp_path / "CLAUDE.md").write_text("c\n")
    assert after(project, handoff_target("claude"))[0] == "CLAUDE.md"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("{}", '{\n  "instructions": ["HANDOFF.md"]\n}'),
        ('{"a": 1.10}', '{"a": 1.10, "instructions": ["HANDOFF.md"]}'),
        (
            '{\n    "a": "x",\r\n    "z": {"b": [1e400]}\n}\n',
            '{\n    "a": "x",\r\n    "z": {"b": [1e400]},\n    "instructions": ["HANDOFF.md"]\n}\n',
        ),
        ('{"instructions":[]}', '{"instructions":["HANDOFF.md"]}'),
        ('{"instructions": ["a" ], "c": 1}', '{"instructions": ["a", "HANDOFF.md" ], "c": 1}'),
        (
            '{\n  "instructions": [\n    "\\u00e9.md"\n  ]\n}',
            '{\n  "instructions": [\n    "\\u00e9.md",\n    "HANDOFF.md"\n  ]\n}',
        ),
        ('{"instructions": ["HANDOFF.md"]}', '{"instructions": ["HANDOFF.md"]}'),
    ],
)  # fmt: skip
def test_the_settings_of_opencode_are_spliced(before: str, expected: str) -> None:
    assert add_json_item(before, "instructions", "HANDOFF.md") == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.none() | st.lists(st.text(max_size=4), max_size=3),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
)
def test_all_other_settings_are_kept(
    others: dict[str, object], listed: list[str] | None, indent: int | str | None, ascii: bool
) -> None:
    before = {**others, **({"instructions": listed} if listed is not None else {})}
    text = json.dumps(before, indent=indent, ensure_ascii=ascii)
    now = add_json_item(text, "instructions", "HANDOFF.md")
    assert json.loads(now) == {**others, "instructions": [*(listed or []), "HANDOFF.md"]}
    at = next((n for n, (a, b) in enumerate(zip(text, now, strict=False)) if a != b), len(text))
    assert now.endswith(text[at:])
    assert add_json_item(now, "instructions", "HANDOFF.md") == now


@pytest.mark.parametrize(
    "odd",
    [
        "// mine\n{}", '{"a": 1,}', "[]", "{", '{"a": 1, "a": 2}', '{"instructions": "x"}',
        '{"instructions": [1]}', "\ufeff{}", '{"a": NaN}', "{} {}", '{"a":' * 3000,
    ],
)  # fmt: skip
def test_unusual_settings_are_not_changed_and_the_line_to_paste_is_shown(
    tmp_path: Path, odd: str
) -> None:
    (tmp_path / "opencode.json").write_bytes(odd.encode())
    with pytest.raises(ChangeRefused, match=r'by hand: "instructions": \["HANDOFF.md"\]'):
        after(tmp_path, handoff_target("opencode"))


def test_links_pipes_and_other_encodings_are_not_changed(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "GEMINI.md").write_bytes(b"\xff\xfe")
    for target in (handoff_target("claude"), handoff_target("gemini")):
        with pytest.raises(ChangeRefused, match=r"by hand: .*HANDOFF\.md"):
            after(tmp_path, target)


def test_the_line_to_copy_is_one_command_whatever_the_file_is_called() -> None:
    for target in ADDED:
        words = shlex.split(build_start_command(target, "it's; $(rm)\n.md"))
        assert words[0] == target.name
        assert "it's; $(rm)␊.md" in words[-1]
    assert build_start_command(ANY_AGENT, "HANDOFF.md").startswith("Read HANDOFF.md first")
    assert build_start_command(handoff_target("claude"), "HANDOFF.md") == (
        "claude 'Read HANDOFF.md first, then go on with its next step.'"
    )


def test_a_handoff_elsewhere_is_named_in_full_and_an_odd_one_not_at_all() -> None:
    line = find_pickup_line(handoff_target("claude"), "/p", "/elsewhere/x.md")
    assert line is not None
    assert line.line == "@/elsewhere/x.md"
    assert find_pickup_line(handoff_target("claude"), "/p", "/p/a b.md") is None
    plain = find_pickup_line(handoff_target("claude"), "/a project", "/a project/HANDOFF.md")
    assert plain is not None
    assert plain.line == "@HANDOFF.md"
    assert find_pickup_line(ANY_AGENT, "/p", "/p/HANDOFF.md") is None
