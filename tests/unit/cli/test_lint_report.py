"""What `ricordo lint` prints: which findings, in which form, of which memories."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ricordo.cli.lint_report import render_counts
from ricordo.cli.main import run
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.rule import load_rules
from tests.benchmarks.terminal import COLUMNS, Terminal
from tests.support.builders import note_text, write_memory
from tests.support.forking import run_forked
from tests.unit.cli.conftest import settle

PLACE = re.compile(
    r"^(\S+):(\d+):(\d+): (error|warning|info)\[([a-z-]+)\] (.+) \(([0-9a-f]{12})\)$"
)
LONG = "A line that is much longer than any terminal is wide, word after word. " * 9
SECRET = "Zr8kLm2qqP9xW4tV"

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with two memories, which is the current directory."""
    entries = "".join(f"- [N{number}](n{number}.md) — hook\n" for number in range(12))
    write_memory(
        tmp_path / "project",
        {
            "one/MEMORY.md": f"- [A](a.md) — hook\n{entries}",
            "one/a.md": note_text("a", f"{LONG}See [x](x.md). {LONG}\n\npassword: {SECRET}\n"),
            "one/b.md": note_text(
                "b", "Since yesterday the \x1b]0;port\x07 is closed.\n", type_="feedback"
            ),
            "two/MEMORY.md": "- [C](c.md) — hook\n",
            "two/c.md": note_text("c", "See [it](nowhere.md) and [[wanted]].\n"),
            "three/MEMORY.md": "- [D](d.md) — hook\n",
            "three/d.md": note_text("d"),
        },
    )
    settle(tmp_path)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "project"


def lint(capsys: Printed, *words: str, code: int = 0) -> str:
    assert run(["lint", "--fail-on", "never", *words]) == code
    printed = capsys.readouterr()
    assert code or printed.err == ""
    return printed.out


def document(capsys: Printed, *words: str) -> dict[str, object]:
    answer: dict[str, object] = json.loads(lint(capsys, "--json", *words))
    return answer


def places(output: str) -> list[tuple[str, ...]]:
    return [match.groups() for match in map(PLACE.match, output.splitlines()) if match]


def headlines(output: str) -> list[str]:
    """Return the first line of each finding, with and without a line of the note."""
    return [line for line in output.splitlines() if re.search(r"\([0-9a-f]{12}\)", line)]


def test_a_diagnostic_has_the_place_the_rule_the_line_and_the_fix(
    project: Path, capsys: Printed
) -> None:
    lines = lint(capsys, "two", "--select", "dead-link").splitlines()
    assert re.fullmatch(
        r"two/c\.md:9:10: error\[dead-link\] Broken link “it”: nowhere\.md does not exist\. "
        r"\([0-9a-f]{12}\)",
        lines[0],
    )
    assert lines[1:4] == [
        "9 | See [it](nowhere.md) and [[wanted]].",
        "  |          ^^^^^^^^^^",
        "  = help: remove the link, keep its text; --fix --unsafe tries it",
    ]


def test_where_nothing_asks_for_attention_a_check_by_a_model_is_named(
    project: Path, capsys: Printed
) -> None:
    says = "curate --check"
    assert says in lint(capsys, "three")
    assert says not in lint(capsys, "two"), "a broken link comes first"
    assert says not in lint(capsys, "three", "--select", "dead-link"), "not all rules were asked"
    assert says not in lint(capsys, "three", "--json")


def test_paths_are_relative_to_the_current_directory(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, path in (("two", "c.md"), ("one", "../two/c.md"), (".", "two/c.md")):
        monkeypatch.chdir(project / folder)
        ((shown, *_),) = places(lint(capsys, str(project / "two"), "--select", "dead-link"))
        assert shown == path


def test_the_marked_part_of_a_long_line_is_shown_whatever_the_width(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for width in (50, 80, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        output = lint(capsys, "one", "--select", "dead-link,control,secret", "--full")
        lines = output.splitlines()
        marks = [at for at, line in enumerate(lines) if "^" in line]
        assert len(marks) == 3
        for at in marks:
            assert max(len(lines[at - 1]), len(lines[at])) <= width
            marked = lines[at - 1][lines[at].index("^") : lines[at].rindex("^") + 1]
            assert marked in ("x.md", "␛", "[secret: password]")
        assert SECRET not in output
        assert "\x1b" not in output


def test_of_many_findings_the_first_of_each_rule_are_shown_and_all_are_counted(
    project: Path, capsys: Printed
) -> None:
    everything = document(capsys, "one")["findings"]
    assert isinstance(everything, list)
    output = lint(capsys, "one")
    lines = output.splitlines()
    assert len(everything) == 6
    assert [len(it.get("members", ())) for it in everything] == [0, 12, 0, 0, 0, 0]
    assert lines[0] == "3 errors    dead-link 1, index-missing-file 12 as one, secret 1"
    assert lines[1].startswith("2 warnings  control-characters 1, ")
    shown = [place[4] for place in places(output)]
    assert sorted(shown[:2]) == ["dead-link", "secret"]
    assert "error[index-missing-file]" in output
    assert len(headlines(output)) == 5
    assert "12 times in MEMORY.md: an index entry for a file that does not exist." in output
    assert "`--full` shows all 17 findings one by one" in output
    assert f"one: {len(list((project / 'one').glob('?.md')))} notes; 3 errors, " in output


def test_numbers_of_rules_add_up_to_that_of_their_severity() -> None:
    def found(path: str, *members: Finding) -> Finding:
        return Finding("dead-link", Severity.WARNING, path, 1, "", path, members=members)

    several = found("a.md", found("a.md"), found("a.md"))
    for findings, counts in [
        ((several,), "1 warning dead-link 2 as one"),
        ((several, found("b.md")), "2 warnings dead-link 2"),
    ]:
        (line,), _ = render_counts(findings)
        assert " ".join("".join(text for text, _ in line).split()) == counts


def test_what_stands_for_many_says_how_all_of_them_are_settled(
    project: Path, capsys: Printed
) -> None:
    for number in range(8):
        text = (
            f"---\nname: n{number}\ndescription: Quay {number}: closed\ntype: user\n---\n\nText.\n"
        )
        (project / f"three/{number}.md").write_text(text)
    (found,) = document(capsys, "three", "--select", "frontmatter-invalid")["findings"]
    output = lint(capsys, "three", "--select", "frontmatter-invalid")
    assert "`ricordo lint --select frontmatter-invalid --fix --unsafe` tries them" in output
    assert f"`ricordo lint --dismiss {found['id']}` dismisses them all" in output
    assert run(["lint", "three", "--dismiss", found["id"]]) == 0
    capsys.readouterr()
    assert document(capsys, "three", "--select", "frontmatter-invalid")["findings"] == []


def test_full_shows_all_with_the_numbers_at_the_end(project: Path, capsys: Printed) -> None:
    output = lint(capsys, "one", "--full")
    assert len(headlines(output)) == 17
    assert output.index("index-missing-file 12, ") > output.rindex("index-missing-file]")
    assert "--full" not in output
    assert len(headlines(lint(capsys, "two"))) == 2


def test_several_memories_are_linted_together(project: Path, capsys: Printed) -> None:
    output = lint(capsys, "one", "two", "-m", "three", "two/", "--full")
    assert {line.split("/")[0] for line in headlines(output)} == {"one", "two"}
    heads = [line for line in output.splitlines() if " notes; " in line or " note; " in line]
    assert [head.split(":")[0] for head in heads] == ["one", "two", "three"]
    assert "no findings" in heads[2]
    answer = document(capsys, "one", "two")
    memories = answer["memories"]
    assert isinstance(memories, list)
    assert [Path(it["memory"]["path"]).name for it in memories] == ["one", "two"]
    assert memories[1] == document(capsys, "two")
    log = json.loads(lint(capsys, "one", "two", "--sarif"))
    assert len(log["runs"]) == 2


def test_the_exit_code_is_that_of_the_worst_memory(project: Path, capsys: Printed) -> None:
    assert run(["lint", "three", "two"]) == 1
    assert run(["lint", "three", "three"]) == 0
    assert run(["lint", "three", "nowhere"]) == 3
    printed = capsys.readouterr()
    assert "nowhere does not exist" in printed.err


def test_all_lints_every_memory_of_the_machine(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "No memory found on this machine" in lint(capsys, "--all")
    none = json.loads(lint(capsys, "--all", "--json"))
    assert none == {"schema": "ricordo.lint/1", "memories": [], "errors": []}
    for name in ("one", "two"):
        lint(capsys, str(project / name))
    answer = document(capsys, "--all")
    memories = answer["memories"]
    assert isinstance(memories, list)
    assert {Path(it["memory"]["path"]).name for it in memories} == {"one", "two"}
    assert run(["lint", "--all", "one"]) == 2
    assert "--all" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("--rule dead-link", {"dead-link"}),
        ("--select dead-link --rule secret", {"dead-link", "secret"}),
        ("--select dead-link,secret", {"dead-link", "secret"}),
        ("--select index", {"index-missing-file"}),
        ("--select index,control --ignore index-missing-file", {"control-characters"}),
        ("--select duplicate", set()),
        ("--ignore index --ignore dead-link,relative", {"secret", "control-characters"}),
    ],
)
def test_rules_are_selected_and_ignored_by_name_or_beginning(
    project: Path, capsys: Printed, words: str, rules: set[str]
) -> None:
    (project / "one/b.md").write_text(note_text("b", "The \x1b]0;port\x07.\n"))
    (project / "one/MEMORY.md").open("a").write("- [B](b.md) — hook\n")
    findings = document(capsys, "one", *words.split())["findings"]
    assert isinstance(findings, list)
    assert {it["rule"] for it in findings} == rules


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--select deadlink", "Unknown rule “deadlink”. Did you mean “dead-link”?"),
        ("--ignore zzz", "Unknown rule “zzz”."),
        ("--select secret,", "Unknown rule “”."),
        ("--select secret --ignore secret", "--ignore leaves no rule to run."),
    ],
)
def test_an_unknown_rule_is_refused(
    project: Path, capsys: Printed, words: str, message: str
) -> None:
    assert run(["lint", "one", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_statistics_count_by_rule_and_name_what_each_finds(project: Path, capsys: Printed) -> None:
    lines = lint(capsys, "one", "--statistics").splitlines()
    summary = load_rules()["index-missing-file"].summary
    assert lines[0] == f"12  error   [ ] index-missing-file  {summary}"
    assert lines[1].startswith(" 1  error   [ ] dead-link           ")
    assert headlines("\n".join(lines)) == []


def test_the_numbers_of_each_form_agree(project: Path, capsys: Printed) -> None:
    for number, size in enumerate((*(1,) * 8, *(9,) * 4, 60)):
        body = "".join(f"Line {at} of {number} is long.\n" for at in range(size * 50))
        (project / f"three/{number}.md").write_text(note_text(f"n{number}", body))
    (project / "three/MEMORY.md").open("a").write("- [Longest](12.md) — hook\n")
    sizes = "--select", "oversized-note"
    by_rule = lint(capsys, "three", *sizes, "--statistics").splitlines()
    counted = [line.split()[:2] for line in by_rule if "oversized-note" in line]
    assert counted == [["1", "warning"], ["4", "info"]]
    assert any("three: 14 notes; 1 warning, 4 info; load " in line for line in by_rule)
    in_full = lint(capsys, "three", *sizes, "--full")
    assert len(headlines(in_full)) == 5
    assert "three: 14 notes; 1 warning, 4 info; load " in in_full
    as_one = lint(capsys, "three", *sizes)
    assert "In 4 of 14 notes" in as_one
    assert "three: 14 notes; 1 warning, 1 info; load " in as_one
    assert "`--full` shows all 5 findings one by one" in as_one


def test_what_a_safe_fix_fixes_is_marked(project: Path, capsys: Printed) -> None:
    (project / "two/MEMORY.md").write_text("- [C](c.md) — hook\n- [C](c.md) — hook\n")
    output = lint(capsys, "two", "--select", "index-duplicate-entry")
    assert "warning[index-duplicate-entry] [*] Duplicate entry" in output
    assert "= help: remove the entry on line 2; --fix tries it" in output
    assert "[*] 1 finding may be fixed by `--fix`; `--diff` shows which." in output
    assert "1  warning [*] index-duplicate-entry" in lint(capsys, "two", "--statistics")


def test_a_finding_is_dismissed_by_the_id_that_is_shown(project: Path, capsys: Printed) -> None:
    ((*_, id),) = places(lint(capsys, "two", "--select", "dead-link"))
    lint(capsys, "two", "--dismiss", id)
    assert places(lint(capsys, "two", "--select", "dead-link")) == []
    dismissed = lint(capsys, "two", "--select", "dead-link", "--dismissed")
    assert f"({id}) dismissed\n" in dismissed
    assert run(["lint", "one", "two", "--dismiss", id]) == 2


def test_several_findings_are_dismissed_by_abbreviated_ids(project: Path, capsys: Printed) -> None:
    ids = [place[6] for place in places(lint(capsys, "two"))]
    assert len(ids) == 2
    output = lint(capsys, "--reason", "both fine", "--dismiss", *(id[:6] for id in ids), "two")
    assert output.count("dismissed until its cause changes: c.md:9: ") == 2
    assert document(capsys, "two")["findings"] == []
    assert run(["lint", "two", "--dismiss", "ffffff"]) == 2
    assert "No finding has the id “ffffff”" in capsys.readouterr().err


def test_several_memories_in_the_folders_of_a_project_are_linted_but_not_fixed(
    project: Path, capsys: Printed
) -> None:
    for name in ("docs/memory", ".claude/memory"):
        write_memory(project / name, {"MEMORY.md": "- [Gone](gone.md) — hook\n"})
    (project / ".git").mkdir()
    (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    answer = document(capsys)
    memories = answer["memories"]
    assert isinstance(memories, list)
    names = {str(Path(it["memory"]["path"]).relative_to(project)) for it in memories}
    assert names >= {"docs/memory", ".claude/memory"}
    assert run(["lint", "--fix", "--unsafe"]) == 2
    assert "docs/memory" in capsys.readouterr().err
    assert (project / "docs/memory/MEMORY.md").read_text() == "- [Gone](gone.md) — hook\n"


def test_quiet_prints_findings_and_nothing_else(project: Path, capsys: Printed) -> None:
    loud, quiet = lint(capsys, "one", "--full"), lint(capsys, "one", "--full", "--quiet")
    assert headlines(quiet) == headlines(loud)
    assert loud.startswith(quiet)
    assert lint(capsys, "three", "-q") == ""


def test_json_has_the_column_of_each_finding(project: Path, capsys: Printed) -> None:
    findings = document(capsys, "two")["findings"]
    assert isinstance(findings, list)
    found = {it["rule"]: (it["line"], it["column"]) for it in findings}
    assert found == {"dead-link": (9, 10), "wanted-note": (9, 28)}


def ricordo(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    done = run_forked(*words, environ={**os.environ, **environ}, cwd=Path.cwd())
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(words, done.returncode, out, err)


def test_colour_is_added_to_the_same_text(project: Path) -> None:
    plain = ricordo("lint", "one", NO_COLOR="")
    coloured = ricordo("lint", "one", "--color", "always")
    forced = ricordo("--color=auto", "lint", "one", FORCE_COLOR="1")
    assert "\x1b" not in plain.stdout
    assert coloured.stdout == forced.stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout) == plain.stdout
    assert "\x1b[1;31merror[secret]\x1b[0m" in coloured.stdout
    assert ricordo("lint", "one", "--color", "never", FORCE_COLOR="1").stdout == plain.stdout


def test_a_diff_is_coloured_and_else_unchanged(project: Path) -> None:
    (project / "one/a.md").write_text(note_text("a", "A\ttab. See [x](x.md).\n"))
    words = ("lint", "one", "--diff", "--unsafe", "--select", "dead-link")
    plain, coloured = ricordo(*words), ricordo(*words, "--color", "always")
    assert "-A\ttab. See [x](x.md).\n+A\ttab. See x.\n" in plain.stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout) == plain.stdout
    assert "\x1b[32m+A\ttab. See x.\x1b[0m\n" in coloured.stdout


@pytest.mark.terminal
def test_on_a_terminal_lines_fit_and_the_place_is_below_the_message(project: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    words = [sys.executable, "-m", "ricordo", "lint", "one", "--full"]
    with Terminal(words, {**environ, "TERM": "xterm"}, project) as terminal:
        terminal.wait_for("hides a wrong one")
        painted = terminal.painted.decode()
    assert "error[dead-link] Broken link “x”: x.md does not exist.\r\n --> one/a.md:9:" in painted
    lines = (line.rpartition("\r")[2] for line in painted.split("\r\n"))
    assert [line for line in lines if len(line) > COLUMNS] == []


def test_dismissing_the_one_finding_of_a_habit_dismisses_the_rule_there(
    project: Path, capsys: Printed
) -> None:
    (habit,) = (it for it in document(capsys, "one")["findings"] if "members" in it)
    assert document(capsys, "one")["attention"] == 5
    output = lint(capsys, "one", "--dismiss", habit["id"])
    assert "index-missing-file" in output
    after = document(capsys, "one", "--dismissed")
    assert after["attention"] == 4
    (dismissed,) = (it for it in after["findings"] if it["dismissed"])
    assert (dismissed["id"], len(dismissed["members"])) == (habit["id"], 12)
    index = project / "one" / "MEMORY.md"
    index.write_text(index.read_text() + "- [New](also-gone.md) — a new entry\n")
    assert document(capsys, "one")["attention"] == 4, "the rule is dismissed, not the twelve"
