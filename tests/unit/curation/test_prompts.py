"""The prompts: ours, each with its version, and those that a person puts before them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ricordo
from ricordo.cli.config import render_prompts
from ricordo.curation.prompts import (
    NAMES,
    TOOLS,
    compute_digest,
    load_prompt,
    load_shipped_prompt,
    load_versions,
)
from ricordo.services.workspace.environment import load_environment

OURS = Path(ricordo.__file__).parent / "curation" / "prompts"
CREDENTIAL = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"


def own(config: Path, content: bytes, name: str = "curate") -> Path:
    path = config / "prompts" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_prompt_that_changes_needs_another_version() -> None:
    known = {
        f"{name}-{number}.md": told
        for name, them in load_versions().items()
        for number, told in them.items()
        if number != "current"
    }
    files = {
        it.name: compute_digest(it.read_text("utf-8").strip())[:16] for it in OURS.glob("*.md")
    }
    assert files == known
    assert set(load_versions()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_last_version_is_in_use_and_speaks_of_its_tool(name: str) -> None:
    current = load_versions()[name]["current"]
    assert current == max(int(it) for it in load_versions()[name] if it != "current")
    prompt = load_prompt(name)
    assert prompt == load_shipped_prompt(name, current)
    assert prompt.version == f"{name}-{current}"
    assert f"`{TOOLS[name]}`" in prompt.text


def test_the_editing_rules_say_what_is_to_be_done_and_what_to_leave() -> None:
    text = load_prompt("curate").text
    for word in ("`merge`", "Split", "Leave alone", "Do not save", "Answer nothing rather than"):
        assert word in text


def test_a_prompt_of_the_user_replaces_the_shipped_one_and_its_version_names_its_text(
    tmp_path: Path,
) -> None:
    path = own(tmp_path, b"\xef\xbb\xbf  Use `propose` for nothing.\n")
    first = load_prompt("curate", str(tmp_path))
    assert first.text == "Use `propose` for nothing."
    assert re.fullmatch("curate-own-[0-9a-f]{8}", first.version)
    assert not first.warning
    path.write_text("Use `propose` seldom.")
    assert load_prompt("curate", str(tmp_path)).version != first.version
    assert not load_prompt("judge", str(tmp_path)).is_own


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe", b"x" * (64 * 1024 + 1)])
def test_a_file_that_cannot_be_used_is_passed_over_and_told(tmp_path: Path, content: bytes) -> None:
    path = own(tmp_path, content)
    prompt = load_prompt("curate", str(tmp_path))
    assert not prompt.is_own
    assert str(path) in prompt.warning
    path.unlink()
    path.mkdir()
    assert "is ignored" in load_prompt("curate", str(tmp_path)).warning


def test_what_is_amiss_in_a_file_is_told(tmp_path: Path) -> None:
    own(tmp_path, f"The key of `propose` is {CREDENTIAL}.".encode())
    prompt = load_prompt("curate", str(tmp_path))
    assert CREDENTIAL not in prompt.text
    assert "possible secret" in prompt.warning
    own(tmp_path, b"Do what you like.", "judge")
    assert "`judge`" in load_prompt("judge", str(tmp_path)).warning


def test_the_settings_tell_which_prompts_are_in_use(tmp_path: Path) -> None:
    own(tmp_path, b"Use `judge` for nothing.", "judge")
    environment = load_environment({})._replace(config=str(tmp_path))
    lines = list(render_prompts(environment))
    assert all(line.startswith("#") for line in lines)
    told = "\n".join(lines)
    assert f"curate-{load_versions()['curate']['current']}: bundled, {OURS}" in told
    assert re.search("judge = judge-own-[0-9a-f]{8}: ", told)
    own(tmp_path, b"", "curate")
    assert any(line.startswith("#! ") for line in render_prompts(environment))
