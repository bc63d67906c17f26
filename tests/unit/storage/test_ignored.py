"""What `.gitignore` leaves out, compared with what git says of the same files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.storage.project_tree import IgnoreRules
from tests.unit.machine import ENVIRON

PATHS = (
    "a.log",
    "keep.log",
    "deep/a.log",
    "build/x.js",
    "deep/build/x.js",
    "src/gen/a.ts",
    "src/gen/deep/b.ts",
    "src/a.ts",
    "docs/a.md",
    "docs/deep/a.md",
    "name with blank.txt",
    "#hash",
    "a1.txt",
    "ab.txt",
    ".env",
    "deep/.env.local",
)
TEXTS = (
    "*.log\n!keep.log\n",
    "build/\n",
    "/build\n",
    "src/gen/**\n",
    "src/**/b.ts\n**/a.md\n",
    "docs/*.md\n",
    "name with blank.txt   \n\\#hash\n# a comment\n\n",
    "a[0-9].txt\n",
    "a[!0-9].txt\n",
    "a[b-1].txt\n",
    "a[9-0b].txt\n",
    "a[^b-a1].txt\n",
    "a[]-[]*\n",
    "deep[!a]a.log\n",
    "a?.txt\r\n",
    ".env*\n",
    "deep\n!deep/a.log\n",
    "***.log\n",
    "[\n",
    "*a*1*.t*t\n",
    "d*/a*.l*g\n",
    "*/*/*/b.ts\n",
    "d*p/**/*.js\n",
    "a*b*.txt*\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_it_leaves_out_what_git_leaves_out(tmp_path: Path, text: str) -> None:
    subprocess.run(("git", "init", "--quiet"), cwd=tmp_path, env=ENVIRON, check=True)
    (tmp_path / ".gitignore").write_bytes(text.encode())
    asked = "\n".join(PATHS).encode()
    answer = subprocess.run(
        ("git", "check-ignore", "--no-index", "--stdin"),
        cwd=tmp_path,
        env=ENVIRON,
        input=asked,
        capture_output=True,
        check=False,
    )
    by_git = set(answer.stdout.decode().split("\n")) - {""}
    ignored = IgnoreRules([("", text)])
    assert {path for path in PATHS if ignored.ignores(path)} == by_git


@given(st.text(st.sampled_from("ab09-[]!^*?/\\.~&|"), max_size=20))
def test_every_pattern_is_read(pattern: str) -> None:
    """Brackets may hold anything, ranges in the wrong order too."""
    assert IgnoreRules([("", f"{pattern}\n!*")]).ignores("a/b0") is False


def test_a_file_in_a_folder_speaks_of_that_folder_alone() -> None:
    ignored = IgnoreRules([("", "*.log\n"), ("web", "/out\n!web.log\n")])
    assert ignored.ignores("web/out/page.html")
    assert not ignored.ignores("out/page.html")
    assert not ignored.ignores("web/web.log")
    assert ignored.ignores("web.log")


def test_no_pattern_takes_long() -> None:
    name = "a" * 250
    for pattern in ("*a" * 240 + "b", "a*" * 240 + "b", "**/*a*a*a*a*a*b/**", "**/" * 100 + "b"):
        ignored = IgnoreRules([("", pattern)])
        assert not ignored.ignores(f"{name}/{name}/{name}")
