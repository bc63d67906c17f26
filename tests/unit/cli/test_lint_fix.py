"""`ricordo lint --fix`, called as a person calls it, on the sample memory and on real defects."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ricordo.cli.main import run
from ricordo.resources import sample_memory_directory
from tests.support.builders import SHARED, note_text, write_memory

SAMPLE = Path(sample_memory_directory())
DEFECTS = SHARED / "data/wiki/labelled-defects"
STORE = SHARED / "data/memory/labelled-defects"
WIKIS = sorted(DEFECTS.glob("defects/*")) if DEFECTS.is_dir() else []
ROOTS = [SAMPLE / "memory", SAMPLE / "wiki", SAMPLE / "home/.claude/agent-memory/code-reviewer"]

STAMP = 1_795_000_000
"""18 November 2026."""

Printed = pytest.CaptureFixture[str]


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def settle(root: Path) -> None:
    """Let no file be new, so that no command waits for its writer, and none be old, so that its age
    says nothing against it.
    """
    for path in root.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (STAMP, STAMP))


def copied(root: Path, tmp_path: Path) -> Path:
    target = tmp_path / "copy" / root.name
    shutil.copytree(root, target, symlinks=True)
    for path in target.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    settle(target)
    return target


def lint(root: Path, capsys: Printed, *words: str) -> tuple[dict[str, Any], str]:
    """Return the one JSON document on stdout, and the text on stderr."""
    settle(root)
    assert run(["lint", "-m", str(root), "--json", "--fail-on", "never", *words]) == 0
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err


def kinds(document: dict[str, Any]) -> Counter[tuple[str, str]]:
    budget = {"index-near-budget": "index-over-budget"}
    return Counter((budget.get(it["rule"], it["rule"]), it["path"]) for it in document["findings"])


def one_by_one(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all findings, those of a habit too."""
    return [one for it in document["findings"] for one in it.get("members", [it])]


def to_mend(document: dict[str, Any], *, unsafe: bool) -> Iterator[dict[str, Any]]:
    for it in one_by_one(document):
        if it["fix"] and (it["safe"] or unsafe) and it["rule"] != "secret":
            yield it


def reasons(document: dict[str, Any]) -> dict[str, str]:
    """Return why findings were not fixed, by their ids."""
    return {it["id"]: it["why"] for it in document["fixes"]["not_fixed"]}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize(
    "root", [*ROOTS, *WIKIS], ids=lambda root: f"{root.parent.name}/{root.name}"
)
def test_fix_clears_what_it_may_brings_nothing_and_is_undone(
    root: Path, unsafe: bool, tmp_path: Path, capsys: Printed
) -> None:
    memory = copied(root, tmp_path)
    original = contents(memory)
    words = ["--fix", *["--unsafe"] * unsafe]
    before, _ = lint(memory, capsys)
    after, output = lint(memory, capsys, *words)
    assert output == ""

    assert not kinds(after) - kinds(before)
    why = reasons(after)
    for left in to_mend(after, unsafe=unsafe):
        assert "would" in why[left["id"]]
    fixes = after["fixes"]
    assert fixes["applied"]
    assert len(fixes["not_fixed"]) == len(one_by_one(after))
    assert len(fixes["fixed"]) == len(one_by_one(before)) - len(one_by_one(after))

    changed = contents(memory)
    again, _ = lint(memory, capsys, *words)
    assert contents(memory) == changed
    assert again["findings"] == after["findings"]

    if changed != original:
        settle(memory)
        assert run(["undo", "-m", str(memory)]) == 0
    assert contents(memory) == original


def test_on_the_sample_memory_everything_with_a_fix_is_fixed(
    tmp_path: Path, capsys: Printed
) -> None:
    memory = copied(SAMPLE / "memory", tmp_path)
    before, _ = lint(memory, capsys)
    asked_for = {it["id"] for it in to_mend(before, unsafe=True)}
    after, _ = lint(memory, capsys, "--fix", "--unsafe")
    assert not asked_for & {it["id"] for it in after["findings"]}
    assert {it["rule"] for it in after["findings"] if it["fix"]} == {"secret"}
    assert (len(after["fixes"]["fixed"]), len(after["fixes"]["not_fixed"])) == (18, 28)


def test_on_the_labelled_store_nothing_new_comes(tmp_path: Path, capsys: Printed) -> None:
    if not STORE.is_dir():
        pytest.skip("the labelled store is not beside the repository")
    copy = copied(STORE, tmp_path)
    found = 0
    for index in sorted(copy.rglob("MEMORY.md")):
        memory = index.parent
        original = contents(memory)
        before, _ = lint(memory, capsys)
        after, _ = lint(memory, capsys, "--fix", "--unsafe")
        found += len(before["findings"])
        assert not kinds(after) - kinds(before)
        if contents(memory) != original:
            settle(memory)
            assert run(["undo", "-m", str(memory)]) == 0
            capsys.readouterr()
        assert contents(memory) == original
    assert found


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    files = {
        "MEMORY.md": "- [T](t.md) — t\n- [T](t.md)\n- [G](gone.md) — away\n",
        "t.md": note_text("t", "See [it](gone.md).\n\npassword: Zr8kLm2qqP9xW4tV\n"),
        "u.md": note_text("u"),
    }
    return write_memory(tmp_path / "memory", files)


def test_the_json_document_lists_the_fixes(memory: Path, capsys: Printed) -> None:
    before = (memory / "MEMORY.md").read_text()
    document, output = lint(memory, capsys, "--fix")
    assert output == ""
    rules = {it["rule"] for it in document["findings"]}
    assert rules == {"index-missing-file", "dead-link", "secret"}
    fixes = document["fixes"]
    assert fixes["applied"]
    assert {it["rule"] for it in fixes["fixed"]} >= {"index-duplicate-entry", "unindexed-note"}
    assert {it["id"] for it in fixes["not_fixed"]} == {it["id"] for it in document["findings"]}
    assert [it["path"] for it in fixes["changes"]] == ["MEMORY.md"]
    assert patched(before, fixes["changes"][0]["diff"]) == (memory / "MEMORY.md").read_text()
    assert "Zr8kLm2qqP9xW4tV" not in json.dumps(document)


def patched(text: str, diff: str) -> str:
    """Return `text` after a unified diff whose hunks keep or drop all of its lines."""
    lines = [line for line in diff.split("\n")[2:] if not line.startswith("@@")]
    old = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "-"))
    new = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "+"))
    assert text.count(old) == 1
    return text.replace(old, new)


def test_what_was_fixed_is_printed_and_what_was_not_is_counted(
    memory: Path, capsys: Printed
) -> None:
    for number in range(120):
        (memory / f"q{number}.md").write_text(note_text(f"q{number}", "See [x](../../x.md).\n"))
    settle(memory)
    assert run(["lint", "-m", str(memory), "--fix", "--fail-on", "never"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert printed.err == ""
    fixed = [line for line in lines if line.startswith("fixed: ")]
    assert any("[index-duplicate-entry]" in line for line in fixed)
    assert "  changed MEMORY.md" in lines
    assert any(line.startswith(f"{len(fixed)} fixed, ") for line in lines)
    assert any("fix not safe" in line and "outside-memory 120" in line for line in lines)
    # nothing that is left is listed, once or twice
    assert not [line for line in lines if "q7.md" in line]
    assert len(lines) < 20
    assert "Zr8kLm2qqP9xW4tV" not in printed.out


@pytest.mark.parametrize("words", [["--diff"], ["--fix", "--diff"], ["--diff", "--unsafe"]])
def test_a_diff_shows_what_the_fixes_would_do_and_changes_nothing(
    memory: Path, words: list[str], capsys: Printed
) -> None:
    settle(memory)
    before = contents(memory)
    assert run(["lint", "-m", str(memory), *words, "--fail-on", "never"]) == 0
    shown = capsys.readouterr().out
    assert contents(memory) == before
    assert "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ " in shown
    assert "\n-- [T](t.md)\n" in shown
    assert " would be fixed, " in shown
    assert "fixed: " not in shown
    assert "Zr8kLm2qqP9xW4tV" not in shown
    # nothing is there to be undone
    assert run(["history", "-m", str(memory), "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["versions"]
    assert not [it for it in versions if it["by"] == "rule"]
    # and it is what is done
    document, _ = lint(memory, capsys, "--json", *words)
    assert not document["fixes"]["applied"]
    promised = document["fixes"]
    done, _ = lint(memory, capsys, "--fix", *[it for it in words if it == "--unsafe"])
    assert done["fixes"] == {**promised, "applied": True}
    assert contents(memory) != before


def test_a_diff_and_sarif_do_not_go_together(memory: Path, capsys: Printed) -> None:
    assert run(["lint", "-m", str(memory), "--diff", "--sarif"]) != 0
    assert "--diff" in capsys.readouterr().err


def test_fixes_are_reported_on_stderr_with_sarif(memory: Path, capsys: Printed) -> None:
    settle(memory)
    assert run(["lint", "-m", str(memory), "--fix", "--sarif", "--fail-on", "never"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["version"] == "2.1.0"
    assert "fixed: MEMORY.md" in printed.err


def git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=t", "-c", "user.email=t@t.example"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    "attributes", ["*.secret.md filter=crypt diff=crypt\n", "*.secret.md binary\n"]
)
@pytest.mark.parametrize("words", [[], ["--unsafe"]])
def test_the_text_of_an_encrypted_note_gets_to_no_index(
    tmp_path: Path, attributes: str, words: list[str], capsys: Printed
) -> None:
    project = tmp_path / "project"
    files = {
        "MEMORY.md": "- [T](t.md) — t\n",
        "t.md": note_text("t"),
        "u.md": note_text("u"),
        "keys.secret.md": note_text("keys", description="where the keys lie"),
    }
    memory = write_memory(project / "memory", files)
    git(project, "init", "--quiet")
    (project / ".gitattributes").write_text(attributes)
    found, _ = lint(memory, capsys)
    assert {it["fix"] for it in found["findings"] if it["path"] == "keys.secret.md"} == {None}
    lint(memory, capsys, "--fix", *words)
    index = (memory / "MEMORY.md").read_text()
    assert "u.md" in index
    assert "keys" not in index


def test_a_file_that_git_ignores_is_not_missing(tmp_path: Path, capsys: Printed) -> None:
    project = tmp_path / "project"
    names = ("login.md", "drafts/plan.md", "drafts/kept.md", "own.md", "gone.md", "tide \u2192.md")
    index = "".join(f"- [{name}](<{name}>) — of the pier\n" for name in names)
    outside = "See [the desk](desk/hours.md).\n"
    files = {"MEMORY.md": index, "t.md": note_text("t", outside), "desk/a.md": note_text("a")}
    memory = write_memory(project / "memory", files)
    git(project, "init", "--quiet")
    (project / ".gitignore").write_text("memory/login.md\ntide*\nhours.md\n")
    (memory / ".gitignore").write_text("drafts/*\n!drafts/kept.md\n")
    (project / ".git/info/exclude").write_text("own.md\n")
    assert _list_missing(memory, capsys, "error") == {"drafts/kept.md", "gone.md"}
    here = {"login.md", "drafts/plan.md", "own.md", "tide \u2192.md", "desk/hours.md"}
    assert _list_missing(memory, capsys, "info") == here
    lint(memory, capsys, "--fix", "--unsafe")
    assert "login.md" in (memory / "MEMORY.md").read_text()


def test_a_name_may_be_that_of_an_ignored_file_in_any_folder_that_git_keeps(
    tmp_path: Path, capsys: Printed
) -> None:
    project = tmp_path / "project"
    names = ("radar", "salaries", "own", "buoys")
    index = "".join(f"- [[{name}]] — of the pier\n" for name in names)
    pages = {f"people/{name}.md": note_text(name) for name in ("ana", "rui")}
    files = {"MEMORY.md": index, **pages, "raw/a.md": note_text("a")}
    memory = write_memory(project / "memory", files)
    git(project, "init", "--quiet")
    # in a folder that git leaves out as a whole any name would be ignored
    rules = "memory/people/salaries.md\nmemory/radar.md\nmemory/raw/\n/memory/other/own.md\n"
    (project / ".gitignore").write_text(rules)
    assert _list_missing(memory, capsys, "info") == {"radar", "salaries"}
    assert _list_missing(memory, capsys, "error") == {"own", "buoys"}


def test_what_a_sparse_checkout_leaves_out_is_not_missing(tmp_path: Path, capsys: Printed) -> None:
    names = ("tide [1].md", "ebb.md", "gone.md")
    text = "".join(f"- [{name}](<raw/{name}>)\n" for name in names)
    files = {"MEMORY.md": "- [t](t.md) — tides\n", "t.md": note_text("t", text)}
    pages = {f"raw/{name}": "Text.\n" for name in names[:2]} | {"raw/a.md": "A source.\n"}
    memory = write_memory(tmp_path / "memory", {**files, **pages})
    git(memory, "init", "--quiet")
    git(memory, "add", "--all")
    git(memory, "commit", "--quiet", "-m", "all")
    git(memory, "sparse-checkout", "set", "--no-cone", "/*", "!ebb.md", "!tide*.md")
    assert not (memory / "raw" / "ebb.md").exists()
    assert _list_missing(memory, capsys, "error") == {"raw/gone.md"}
    assert _list_missing(memory, capsys, "info") == {f"raw/{name}" for name in names[:2]}


def test_pages_of_folders_that_git_ignores_are_not_missing(tmp_path: Path, capsys: Printed) -> None:
    links = ("[[tide]]", "[[people/ana]]", "[[quays/low]]", "[[wiki/people/rui]]")
    index = "# Index\n\n" + "".join(f"- {link} — of the pier\n" for link in links)
    here = {"index.md": index, "log.md": "# Log\n", "raw/a.md": "A.\n", "wiki/quays/b.md": "B.\n"}
    wiki = write_memory(tmp_path / "wiki", here)
    git(wiki, "init", "--quiet")
    assert len(_list_missing(wiki, capsys, "error")) == len(links)
    (wiki / ".gitignore").write_text("# private\nwiki/people/\n!wiki/quays/\n*.tmp/\n/tmp/\n.x/\n")
    assert _list_missing(wiki, capsys, "error") == {"quays/low"}
    (wiki / "wiki" / "people").mkdir()
    (wiki / "wiki" / "people" / "ana.md").write_text("Ana.\n")
    assert "tide" in _list_missing(wiki, capsys, "error"), "the folder is here"


def test_a_memory_that_git_ignores_as_a_whole_is_no_copy(tmp_path: Path, capsys: Printed) -> None:
    project = tmp_path / "project"
    files = {"MEMORY.md": "- [Login](login.md) — how to log in\n", "t.md": note_text("t")}
    memory = write_memory(project / "memory", files)
    git(project, "init", "--quiet")
    (project / ".gitignore").write_text("memory/\n")
    assert _list_missing(memory, capsys, "error") == {"login.md"}
    # who commits some of it left the others out
    git(project, "add", "--force", "memory")
    assert _list_missing(memory, capsys, "error") == {"login.md"}


def _list_missing(memory: Path, capsys: Printed, severity: str) -> set[str]:
    """Return the targets of broken links that are reported with a `severity`."""
    rules = ("index-missing-file", "dead-link")
    causes = [it for it in lint(memory, capsys)[0]["findings"] if it["rule"] in rules]
    each = [one for cause in causes for one in cause.get("members", [cause])]
    told = [it["message"] for it in each if it["severity"] == severity]
    return {it.rpartition(": ")[2].removesuffix(" does not exist.").rstrip(".") for it in told}


def test_an_index_over_its_budget_loses_nothing(tmp_path: Path, capsys: Printed) -> None:
    listed = {f"n{number}.md": note_text(f"n{number}") for number in range(213)}
    index = "".join(f"- [{path}]({path}) — hook\n" for path in listed)
    missed = {f"m{number}.md": note_text(f"m{number}") for number in range(8)}
    readme = {"README.md": note_text("readme", "A mirror of the memory of another machine.\n")}
    memory = write_memory(tmp_path / "memory", {"MEMORY.md": index, **listed, **missed, **readme})
    before, _ = lint(memory, capsys)
    after, _ = lint(memory, capsys, "--fix")
    assert after["load"] == before["load"]
    assert len(after["load"]["dropped"]) == 13
    assert (memory / "MEMORY.md").read_text() == index


def test_a_wiki_with_its_own_rules_is_not_changed(tmp_path: Path, capsys: Printed) -> None:
    pages = {
        f"wiki/en/{name}.md": f"---\ntype: concept\nsources: [raw/a.md]\n---\n\n# {name}\n\n"
        f"See [[en/{other}]]. For most users today it is enough.\n"
        for name, other in (("sea-level", "low-water"), ("low-water", "sea-level"))
    }
    wiki = write_memory(
        tmp_path / "wiki-of-tides",
        {
            "CLAUDE.md": "Links have the form `[[en/page]]`. Heads have `type` and `sources`.\n",
            "wiki/index.md": "# Index\n\n- [[en/sea-level]] — level\n- [[en/low-water]] — low\n",
            "wiki/log.md": "# Log\n",
            "raw/a.md": "A source.\n",
            **pages,
        },
    )
    before = contents(wiki)
    after, _ = lint(wiki, capsys, "--fix")
    assert contents(wiki) == before
    assert after["fixes"]["fixed"] == []
    assert after["fixes"]["changes"] == []


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("never", 0)])
def test_the_exit_code_counts_the_remaining_findings(
    memory: Path, fail_on: str, code: int, capsys: Printed
) -> None:
    settle(memory)
    assert run(["lint", "-m", str(memory), "--fix", "--fail-on", fail_on]) == code
    assert "fixed, 3 not:" in capsys.readouterr().out


def test_only_the_named_rule_is_fixed(memory: Path, capsys: Printed) -> None:
    lint(memory, capsys, "--fix", "--unsafe", "--rule", "dead-link")
    assert "- [T](t.md)\n- [G](gone.md)" in (memory / "MEMORY.md").read_text()
    assert "\nSee it.\n" in (memory / "t.md").read_text()


def test_the_history_has_the_reason(memory: Path, capsys: Printed) -> None:
    lint(memory, capsys, "--fix")
    assert run(["history", "MEMORY.md", "-m", str(memory), "--json"]) == 0
    newest = json.loads(capsys.readouterr().out)["versions"][0]
    assert newest["by"] == "rule"
    assert newest["reason"] == "remove the entry on line 2; add an entry to MEMORY.md"


def test_undo_of_many_fixes_is_a_short_line_and_one_for_each_file(
    tmp_path: Path, capsys: Printed
) -> None:
    root = copied(SAMPLE / "memory", tmp_path)
    assert run(["lint", "-m", str(root), "--fix", "--unsafe", "--fail-on", "never"]) == 0
    output = capsys.readouterr().out
    files = sorted(line for line in output.split("\n") if line.startswith("  changed "))
    for command, word in (("undo", "undone"), ("redo", "redone")):
        settle(root)
        assert run([command, "-m", str(root)]) == 0
        headline, *lines = capsys.readouterr().out.splitlines()
        assert headline.startswith(f"{word}: change of MEMORY.md, ")
        assert len(headline) < 200
        assert sorted(line for line in lines if line.startswith("  changed ")) == files
        assert all(line.startswith(("  changed ", "  created ", "  removed ")) for line in lines)
    assert run(["history", "-m", str(root)]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) < 200
    assert run(["history", "-m", str(root), "--json"]) == 0
    reasons = [it["reason"] for it in json.loads(capsys.readouterr().out)["versions"]]
    assert max(map(len, reasons)) > 200


def test_unsafe_alone_is_wrong_usage(memory: Path, capsys: Printed) -> None:
    assert run(["lint", "-m", str(memory), "--unsafe"]) == 2
    assert "--fix" in capsys.readouterr().err


def test_links_that_follow_a_rename_make_no_note_newer(tmp_path: Path, capsys: Printed) -> None:
    stamp = "  type: project\n  modified: 2026-01-05\n"
    notes = {
        "MEMORY.md": "- [Tides](tides.md) — which port\n- [Ports](ports.md) — where they are\n",
        "tides.md": note_text("tides", "See [[ports]].\n").replace("  type: project\n", stamp),
        "ports.md": note_text("ports", "Sines.\n"),
    }
    memory = write_memory(tmp_path / "memory", notes)
    settle(memory)

    def stale() -> set[str]:
        document, _ = lint(memory, capsys)
        return {it["path"] for it in document["findings"] if it["rule"] == "stale"}

    before = stale()
    assert "tides.md" in before
    assert run(["rename", "ports", "harbours", "-m", str(memory)]) == 0
    capsys.readouterr()
    assert "[[harbours]]" in (memory / "tides.md").read_text()
    settle(memory)
    assert "tides.md" in stale()


def test_git_applies_a_diff_in_the_project(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = "- [Tides](tides.md) — hook\n"
    files = {"MEMORY.md": f"# Sea\n\n{entry}{entry}", "tides.md": note_text("tides")}
    memory = write_memory(tmp_path / "docs/memory", files)
    settle(memory)
    git(tmp_path, "init", "--quiet")
    monkeypatch.chdir(tmp_path)
    assert run(["lint", "-m", str(memory), "--diff", "--fail-on", "never"]) == 0
    (tmp_path / "fixes.diff").write_text(capsys.readouterr().out)
    git(tmp_path, "apply", "fixes.diff")
    assert (memory / "MEMORY.md").read_text().count(entry) == 1


def test_a_line_that_is_no_entry_for_a_blank_in_its_target_is_reported_and_repaired(
    tmp_path: Path, capsys: Printed
) -> None:
    cut = "- [Red buoys](red buoys.md) — where they are"
    root = write_memory(
        tmp_path / "memory",
        {
            "MEMORY.md": f"# Memory\n\n- [Tides](tides.md) — when\n{cut}\n"
            "- [Charts](none of ours.md) — elsewhere\n"
            "- [Both](both ways.md), [too](<both ways.md>)\n",
            "tides.md": note_text("tides", "High at noon.\n"),
            "red buoys.md": note_text("red buoys", "Off the pier.\n"),
            "both ways.md": note_text("both ways", "Port and starboard.\n"),
        },
    )
    document, _ = lint(root, capsys, "--rule", "unindexed-note")
    (finding,) = document["findings"]
    assert (finding["path"], finding["line"], finding["evidence"]) == ("MEMORY.md", 4, [cut])
    assert finding["message"] == "Not an entry: its link target “red buoys.md” has a blank."
    assert finding["fix"] == "put the target in angle brackets"
    lint(root, capsys, "--rule", "unindexed-note", "--fix", "--unsafe")
    assert "- [Red buoys](<red buoys.md>) — where they are\n" in (root / "MEMORY.md").read_text()
    assert lint(root, capsys, "--rule", "unindexed-note")[0]["findings"] == []
