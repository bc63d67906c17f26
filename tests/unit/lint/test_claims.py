"""Claims of notes about their project: failed ones are reported, other text is not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.lint.claims import checker as prober
from ricordo.lint.claims.checker import find_claims
from ricordo.lint.evidence import CheckOutcome, ClaimKind
from ricordo.lint.finding import Finding, Severity
from ricordo.memory.note import Note
from ricordo.services.edits.fix import plan_fixes
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from ricordo.storage.decisions import ReviewVerdict
from tests.support.builders import note_of, note_text, write_memory
from tests.unit.machine import git

PROJECT: Mapping[str, str | bytes] = {
    "README.md": "# tidepool\n",
    "CLAUDE.md": (
        "# For agents\n\n- Run `make check` before every commit and paste its last lines.\n"
        "- Heights are metres above chart datum, times are UTC.\n"
    ),
    ".gitignore": "/var/\n.env\n",
    "Makefile": ".PHONY: test check\ntest:\n\tpytest\ncheck: test\n",
    "package.json": (
        '{"name": "web", "version": "0.9.2", "scripts": {"web": "node web/serve.js --port 8040",'
        ' "links:check": "node x"}, "dependencies": {"react": "^19.2.4", "next-auth": "^5.0.0",'
        ' "@docusaurus/core": "3.10.2", "lodash": "*"}, "engines": {"node": ">=20"}}'
    ),
    "pyproject.toml": (
        '[project]\nname = "tidepool"\ndependencies = ["numpy==2.1"]\n'
        '[project.scripts]\ntidepool-web = "tidepool.web:main"\n'
        '[tool.poe.tasks]\nplan = "python -m tidepool.plan"\n'
    ),
    "tidepool/__init__.py": "",
    "tidepool/harmonics.py": "DEFAULT_STEP = 10\n\n\ndef height_at(station):\n    return 0\n",
    "tidepool/plan.py": "class BerthPlan:\n    GAP_MINUTES: int = 30\n",
    "web/curve.tsx": "export function renderCurve() {}\n",
    "web/serve.js": "const port = 8040; // --open-page\n",
    "packages/ui/src/Button.tsx": "export const Button = 1\n",
    "docs/Datum.md": "Chart datum.\n",
    "tools/go.mod": (
        "module example.org/tide/v2\n\ngo 1.26.6\n\nrequire example.org/theme/go v0.2.0\n"
    ),
}
RULES = ("missing-path", "missing-symbol", "changed-since", "restates-instructions")

Probe = Callable[..., tuple[Finding, ...]]


def notebook(folder: Path, body: str, **options: str) -> Notebook:
    """Return the notebook of a memory of one note, whose project has the files `PROJECT`."""
    path = options.get("path", "x.md")
    root = write_memory(folder / "memory", {"MEMORY.md": f"- [x]({path})\n"})
    text = options.get("text") or note_text(options.get("name", "x"), f"{body}\n", "What it says")
    write_memory(root, {path: text})
    project = folder / "project"
    if not project.exists():
        write_memory(project, PROJECT)
    environment = load_environment(
        {"HOME": str(folder), "PATH": os.environ["PATH"]},
        state=str(folder / "state"),
        now="2026-11-20T12:00:00+00:00",
    )._replace(project=str(project))
    place = find_memory(str(root), environment)
    return Notebook(place, environment, Settings(), frozenset(RULES))


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """Write a note of `body`, and return its findings; the project is always the same."""
    folder = tmp_path_factory.mktemp("probe")

    def run(body: str, **options: str) -> tuple[Finding, ...]:
        return notebook(folder, body, **options).read_snapshot_with_evidence().findings

    return run


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("The reading stands in `tidepool/loader.py`.", "missing-path"),
        ("Reading is in tidepool/loader.py and nowhere else.", "missing-path"),
        ("Calls: `./tidepool/loader.py:12`", "missing-path"),
        ("Der Leser steht in `tidepool/loader.py`.", "missing-path"),
        ("Pictures lie in `web/img/`.", "missing-path"),
        ("Start it with `bash web/run.sh --fast`.", "missing-path"),
        ("See `tidepool/harmonics.py:400`.", "missing-path"),
        ("Read `docs/datum.md` first.", "missing-path"),
        ("Buoys are in `tidepool/buoys.py` in this repo.", "missing-path"),
        ("Buoys are in `tidepool/part-III.py`.", "missing-path"),
        ("Call `predict_height()` of `tidepool/harmonics.py`.", "missing-symbol"),
        ("`TideTable` in `tidepool/plan.py` holds it.", "missing-symbol"),
        ("`web/serve.js --silent-mode` reads `web/serve.js`.", "missing-symbol"),
        ("Before a release run `make release`.", "missing-symbol"),
        ("The page starts with `npm run serve`.", "missing-symbol"),
        ("Links: `yarn links:repair blog`.", "missing-symbol"),
        ("The week is made by `uv run poe schedule`.", "missing-symbol"),
        ("Heights are printed by `uv run tidepool-heights --all`.", "missing-symbol"),
        ("Readers match `tidepool/readers/*.py`.", "missing-path"),
        ("The page uses React 17.", "changed-since"),
        ("Login is NextAuth v4.", "changed-since"),
        ("It is a Docusaurus 2.4 site.", "changed-since"),
        ("We are on React 19.1 now.", "changed-since"),
        ("- **React** 17 + pages\n- **Lodash** 4", "changed-since"),
        ("- **React** 18.2 for the pages", "changed-since"),
        ("| Part | Version |\n|---|---|\n| React | 17 |", "changed-since"),
        ("Pages: React (17), web/serve.js", "changed-since"),
        ("React: ^18.2, Lodash", "changed-since"),
        ("`MOST_BERTHS` in `tidepool/plan.py` bounds it.", "missing-symbol"),
        ("| Repo | Port |\n|---|---|\n| a | b |\n\nIt is `tidepool/buoys.py`.", "missing-path"),
        ("| File | Repo |\n|---|---|\n| `tidepool/buoys.py` | – |", "missing-path"),
        ("리더는src/loader.py에 있다. 계산은 tidepool/loader.py에 있다.", "missing-path"),
        ("`numpy@1.26` does the sums.", "changed-since"),
        ("`DEFAULT_STEP = 20` in minutes.", "changed-since"),
    ],
)
def test_failed_claim_is_reported(probe: Probe, body: str, rule: str) -> None:
    assert [finding.rule for finding in probe(body)] == [rule]


@pytest.mark.parametrize(
    "body",
    [
        # valid claims
        "- **React** 19 + pages\n- **Lodash** 4",
        "| Part | Version |\n|---|---|\n| React | 19.2 |",
        "**React**: 3 hooks, React (1), no React (4 pages), and `react: 17`",
        "Heights come from `height_at` in `tidepool/harmonics.py:4`.",
        "Plans: `plan.py`, `tidepool/plan`, `tidepool/`, `src/Button.tsx` and `web/curve.jsx`.",
        "Tests match `**/*.tsx`, `{web,tidepool}/*` and `tidepool/*.pyi`.",
        "`make test check` and `npm run web`, `yarn links:check`, `poe plan`.",
        "`uv run tidepool-web --port 8040`, `uv run pytest`, `poetry run serve`.",
        # a port may be set outside the project
        "The page listens on port 9999 there.",
        "`BerthPlan.GAP_MINUTES` in `tidepool/plan.py`; `<BerthPlan>`; `web/serve.js --open-page`.",
        "React 19, `react@19.2`, NextAuth v5, Docusaurus 3.x, port 8040, `GAP_MINUTES = 30`.",
        "Readers are written in Go 1.26.",
        "Node 18 and lodash 4 would do, Python 3.11 too. React 19.4 came with an update.",
        # of any project: nothing begins so in this one
        "The skill is `.claude/skills/tide/SKILL.md`; CI is `.github/workflows/ci.yml`.",
        # past, planned, conditional, negated, an example
        "The kit is on React 17.x while the page has 19.2.4.",
        "There is no React 17 here.",
        "Es gibt kein React 17.",
        "不支持 React 17。",
        "Sums are drawn by React v41 of the harbour office.",
        "`tidepool/legacy.py` was removed in August.",
        "Renamed from `tidepool/old_name.py`; see `tidepool/plan.py`.",
        "If `tidepool/plugins.py` existed, the port would ask for it.",
        "We will add `tidepool/plugins.py` and `load_plugin()` to `tidepool/plan.py`.",
        "There is no `tidepool/loader.py`.",
        "Use `height_at` instead of `predict_height()` in `tidepool/harmonics.py`.",
        "~~`tidepool/loader.py` reads it.~~",
        "Names go like `tidepool/reader_x.py`.",
        "| `tidepool/loader.py` | deleted |",
        "- [ ] write `tidepool/loader.py`",
        "**2026-08-03** The report came from `tidepool/loader.py`.",
        "## Ideas\n\nThe loader is `tidepool/loader.py`.",
        # the entry of a day
        "## Loader\n*decision · 2026-07-03*\n\nIt is `tidepool/loader.py`.",
        "### Loader\n\n**Date:** 2026-07-03\n\nIt is `tidepool/loader.py`.",
        "## Removed\n\n### Parts\n\n- `tidepool/loader.py`",
        "`tidepool/legacy.py` wurde entfernt.",
        "`tidepool/legacy.py` a été supprimé.",
        "The tables are in `tidepool/tables.py` (to be written in May).",
        "La table est dans `tidepool/tables.py` (à créer en mai).",
        "Die Tabelle ist in `tidepool/tables.py` (noch anzulegen).",
        "`tidepool/legacy.py` 已删除。",
        "`tidepool/legacy.py` 삭제됨",
        # placeholders, other projects, files made by tools, files of the memory
        "Notes go to `tidepool/foo.py`, `tidepool/<name>.py`, `web/YYYY/MM/x.md`.",
        "Reports are `web/ebb-YYYY-MM-DD.md`, `web/flow_YYYYMMDD.csv` and `web/TIDE_XXX/`.",
        "Buoys are in `tidepool/buoys.py` of the old harbour office repo.",
        "It is in `~/tidepool/loader.py` and `/opt/tidepool/loader.py`, see"
        " https://example.org/tidepool/loader.py and `github.com/ana/tidepool/loader.py`.",
        "Another one: `other/tidepool2/loader.py`, `@scope/package`, `origin/main`, `text/html`.",
        "Built to `dist/page.html`, `var/tides.db`, `.env`, `node_modules/react/index.js`.",
        "See `x.md` and `MEMORY.md`, and `notes.txt`, `Node.js`, `core.pager`.",
        "```sh\ncat tidepool/loader.py\nmake release\n```",
        "> The reading stands in `tidepool/loader.py`.",
        # the files of other repositories
        "| File | Repo |\n|---|---|\n| `tidepool/buoys.py` | harbour-office |",
        "| Datei | Stand | Repository |\n|---|---|---|\n| `tidepool/buoys.py` | neu | hafenamt |",
        "| リポジトリ | ファイル |\n|---|---|\n| 港湾局 | `tidepool/buoys.py` |",
        # names of other projects
        "Next has `useServerInsertedHTML()` and `forwardRef`.",
        "`STRIPE_SECRET_KEY` is set on the server. `new Date(value)`, `print()`, `main`.",
        "Session 27 of the port, step 4 of 7, 30 minutes, chapter 12, in May 2026.",
        "`make` and `npm install`, `yarn add left-pad`, `pnpm -r build`.",
        "`DEFAULT_STEP` is ten. `OTHER_STEP = 4` is theirs.",
        "`DATABASE_URL` is read from `.env`, `MAIL_TOKEN` is explained in `docs/Datum.md`.",
        "We react 3 times, and numpy 1 was slow. React 3 times to it.",
        "In the gateway repo it is `tidepool/loader.py`.",
        "`composer run cs-fix`, `uv run tidepool`, `poetry run serve`.",
        "계산은 tidepool/plan.py에 있다.",
    ],
)
def test_valid_claims_and_other_text_are_not_reported(probe: Probe, body: str) -> None:
    assert [(finding.rule, finding.message) for finding in probe(body)] == []


@pytest.mark.parametrize(
    "body",
    [
        "# Loader\n\n**Date:** 2026-07-03\n\nIt is `tidepool/loader.py`.",
        "## Loader\n\nLast updated — 2026-07-03\n\nIt is `tidepool/loader.py`.",
        "## Loader\n\nNext review — 2027-01-01\n\nIt is `tidepool/loader.py`.",
        "## Loader\n\nIt is read.\n\n2026-07-03\n\nIt is `tidepool/loader.py`.",
        "## Loader\n*decision · 2026-07-03*\n\n## Reader\n\nIt is `tidepool/loader.py`.",
    ],
)
def test_the_day_of_a_note_or_of_its_update_makes_no_entry_of_a_day(
    probe: Probe, body: str
) -> None:
    assert [finding.rule for finding in probe(body)] == ["missing-path"]


def test_note_of_ideas_makes_no_claims(probe: Probe) -> None:
    body = "The loader is `tidepool/loader.py`."
    assert probe(body, name="project-ideas") == ()
    assert probe(body, name="project-loader") != ()


def test_note_on_what_is_done_makes_no_claims(probe: Probe) -> None:
    text = note_text("x", "The loader is `tidepool/loader.py`.\n", "What it says")
    assert probe("", text=text) != ()
    assert probe("", text=text.replace("metadata:", "status: done\nmetadata:")) == ()
    live = text.replace("metadata:", "status: live since 2026-03-01\nmetadata:")
    assert probe("", text=live) != ()
    body = "It is read on each start.\n\n## Loader\n\nThe loader is `tidepool/loader.py`."
    for head, is_done in (
        ("**Status:** Done", True),
        ("状态：已完成", True),
        ("Owner: Done", False),
    ):
        assert (probe(f"# Loading\n\n{head}\n{body}") == ()) is is_done
    assert probe(f"{body}\n\nStatus: Done") != ()


@pytest.mark.parametrize(
    ("title", "is_past"),
    [
        ("Files Created", True),
        ("Modified files", True),
        ("Geänderte Dateien", True),
        ("修改文件", True),
        ("変更したファイル", True),
        ("Files", False),
    ],
)
def test_a_list_of_the_files_of_a_change_tells_of_the_past(
    probe: Probe, title: str, is_past: bool
) -> None:
    assert (probe(f"## {title}\n\n- `tidepool/loader.py` — reads the tides") == ()) is is_past


def test_finding_is_on_the_line_of_the_body(tmp_path: Path) -> None:
    text = note_text("x", "One.\n\nIt is in `tidepool/loader.py`.\n", "`tidepool/loader.py` reads")
    finding = notebook(tmp_path, "", text=text).read_snapshot_with_evidence().findings[0]
    assert text.split("\n")[finding.line - 1] == "It is in `tidepool/loader.py`."
    assert finding.evidence == ("no file or folder tidepool/loader.py", "also in x.md:3")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "See `tidepool/harmonics.py:900`.",
            "Line 900 does not exist: tidepool/harmonics.py has 5 lines.",
        ),
        (
            "See `harmonics.py:2-7`.",
            "Line 7 does not exist: tidepool/harmonics.py has 5 lines.",
        ),
        (
            "See `tidepool/__init__.py#L3`.",
            "Line 3 does not exist: tidepool/__init__.py has 0 lines.",
        ),
        ("See `tidepool/loader.py:900`.", "tidepool/loader.py does not exist."),
    ],
)
def test_message_distinguishes_missing_line_from_missing_file(
    probe: Probe, body: str, message: str
) -> None:
    assert [finding.message for finding in probe(body)] == [message]


def test_only_the_words_of_the_instructions_are_a_repetition(probe: Probe) -> None:
    same = "Run `make check` before every commit and paste its last lines."
    assert [it.rule for it in probe(same)] == ["restates-instructions"]
    other = "Run `make check` before every release; letters are written in German."
    assert probe(other) == ()
    exception = "The rule on chart datum stands, but heights of tankers are told in feet for them."
    assert probe(exception) == ()


def test_wrong_case_is_fixed(tmp_path: Path) -> None:
    finding = (
        notebook(tmp_path, "Read `docs/datum.md` first.").read_snapshot_with_evidence().findings[0]
    )
    assert finding.fix is not None
    assert finding.fix.label == "replace docs/datum.md with docs/Datum.md"
    assert not finding.fix.safe


def project_in_git(folder: Path) -> Path:
    project = write_memory(folder / "project", PROJECT)
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "begin", "--date", "2026-01-01T00:00:00Z")
    return project


def test_new_name_comes_from_git(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    (project / "core").mkdir()
    git(project, "mv", "tidepool/harmonics.py", "core/tides.py")
    git(project, "commit", "--quiet", "-m", "Harmonics are the core")
    git(project, "mv", "core/tides.py", "core/prediction.py")
    git(project, "commit", "--quiet", "-m", "Call it what it does")
    finding = (
        notebook(tmp_path, "It is `tidepool/harmonics.py`.")
        .read_snapshot_with_evidence()
        .findings[0]
    )
    assert finding.rule == "missing-path"
    assert finding.fix is not None
    assert finding.fix.label == "replace tidepool/harmonics.py with core/prediction.py"
    assert "moved to core/prediction.py in" in finding.evidence[0]


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("tidepool/harmonic.py", "tidepool/harmonics.py"),
        ("tidepool/plans.py:3", "tidepool/plan.py:3"),
        ("tidepool/harmoncis.py", "tidepool/harmonics.py"),
        ("docs/ADR-017-tide-gauges.md", "docs/ADR-012-tide-gauges.md"),
        ("docs/tide_gauge_readings.md", "docs/tide-gauge-readings.md"),
        # another word, another thing of the same kind, another ending
        ("tidepool/planner.py", ""),
        ("docs/week-8.md", ""),
        ("tidepool/harmonic.js", ""),
        ("docs/tide-table.md", ""),
    ],
)
def test_a_file_that_is_named_nearly_as_one_of_its_folder_is_meant(
    tmp_path: Path, named: str, meant: str
) -> None:
    project = project_in_git(tmp_path)
    pages = ("ADR-012-tide-gauges", "tide-gauge-readings", "week-7", "tide-tables", "tide_tables")
    write_memory(project / "docs", {f"{page}.md": "Read.\n" for page in pages})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Pages")
    (finding,) = notebook(tmp_path, f"It is `{named}`.").read_snapshot_with_evidence().findings
    assert finding.rule == "missing-path"
    assert (finding.severity > Severity.INFO) is bool(meant)
    assert finding.message.endswith(f"Did you mean {meant}?" if meant else "does not exist.")
    assert (finding.fix is not None) is bool(meant)


def test_a_file_is_meant_though_the_note_names_it_too(tmp_path: Path) -> None:
    project_in_git(tmp_path)
    body = "The tides are in `tidepool/harmonic.py`.\n\nSee also `tidepool/harmonics.py`."
    (finding,) = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert finding.message.endswith("Did you mean tidepool/harmonics.py?")
    beside = "Rename `tidepool/harmonic.py` to `tidepool/harmonics.py`."
    found = notebook(tmp_path, beside).read_snapshot_with_evidence().findings
    assert [it for it in found if it.severity > Severity.INFO] == []


def test_the_evidence_of_a_file_that_moved_and_was_deleted_has_both(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    git(project, "mv", "tidepool/harmonics.py", "tidepool/tides.py")
    git(project, "commit", "--quiet", "-m", "Harmonics are tides")
    git(project, "rm", "--quiet", "tidepool/tides.py")
    git(project, "commit", "--quiet", "-m", "No tides")
    opened = notebook(tmp_path, "It is `tidepool/harmonics.py`.")
    (finding,) = opened.read_snapshot_with_evidence().findings
    moved, deleted = finding.evidence
    assert moved.startswith("git: moved in ")
    assert moved.endswith("Harmonics are tides")
    assert deleted.startswith("git: tidepool/tides.py deleted in ")


def test_a_moved_path_is_replaced_wherever_the_note_names_it(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    (project / "core").mkdir()
    git(project, "mv", "tidepool/plan.py", "core/new-plan.py")
    git(project, "mv", "tidepool/harmonics.py", "core/harmonics.py")
    git(project, "commit", "--quiet", "-m", "Plans move")
    body = "Berths: `plan.py`.\n\nGaps: `plan.py`, tides `tidepool/harmonics.py`.\n\n{}"
    opened = notebook(tmp_path, body.format("The plan."))
    plan = plan_fixes(opened, opened.read_snapshot_with_evidence(), unsafe=True)
    (edit,) = plan.change_set.edits
    assert edit.after is not None
    new = "Berths: `core/new-plan.py`.\n\nGaps: `core/new-plan.py`, tides `core/harmonics.py`."
    assert new in edit.after.decode()
    for diary in ("Until May it was `plan.py`.", "## Log\n\n**2026-08-03** Made `plan.py`."):
        found = notebook(tmp_path, body.format(diary)).read_snapshot_with_evidence().findings
        assert [it.fix is None for it in found if "new-plan" in it.message] == [True]


def test_bare_name_is_missing_only_where_git_knew_it(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", "No more plans")
    body = "`plan.py` does the berths. `berths.py` does the tides."
    findings = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert [finding.message for finding in findings] == ["plan.py does not exist."]
    assert "No more plans" in findings[0].evidence[0]


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        ("Never edit `tidepool/plan.py` by hand.", True),
        ("If `tidepool/plan.py` changes, ask Ana.", True),
        ("`tidepool/plan.py` was removed in August.", False),
        ("There is no `tidepool/plan.py` any more: it is gone.", False),
        ("Renamed from `tidepool/plan.py`.", False),
        ("`tidepool/plan.py` kaldırıldı.", False),
        ("`tidepool/plan.py` is verwijderd.", False),
        ("`tidepool/plan.py` został usunięty.", False),
        ("`tidepool/plan.py` planı yapar.", True),
        ("Đã gỡ hẳn `tidepool/plan.py`.", False),
        ("`tidepool/plan.py` tính lịch.", True),
        ("`tidepool/plan.py` sudah dihapus.", False),
        ("Never create `tidepool/plan.py`: two plans fail together.", False),
        ("Niemals wieder eine `tidepool/plan.py` anlegen.", False),
        ("**Nunca criar `tidepool/plan.py`.**", False),
        ("不要再创建 `tidepool/plan.py`。", False),
        ("## History\n\nNever edit `tidepool/plan.py` by hand.", False),
        ("## Recent changes\n\n- Halos of `tidepool/plan.py`.", False),
        ("## Letzte Änderungen\n\n- Ränder von `tidepool/plan.py`.", False),
        ("## 最近の変更\n\n- `tidepool/plan.py` の枠。", False),
        ("## What went in (#12)\n\n- Halos of `tidepool/plan.py`.", False),
        ("## タスク4で入ったもの\n- `tidepool/plan.py` の枠。", False),
        ("## Was umgesetzt wurde\n\n- Ränder von `tidepool/plan.py`.", False),
        ("## What goes in\n\n- Halos of `tidepool/plan.py`.", True),
        ("## Change a plan\n\n- It is in `tidepool/plan.py`.", True),
        ("The page `tidepool/plan.py` is to become a dialog.", False),
        ("`tidepool/plan.py` soll ein Dialog werden, keine Seite.", False),
        ("`tidepool/plan.py` doit devenir une boîte.", False),
        # what one sentence forbids to make is nowhere claimed
        ("Never create tidepool/plan.py.\n\nTwo plans fail: `plan.py` and `web/serve.js`.", False),
        ("Nunca criar tidepool/plan.py.\n\nDois falham: `plan.py` e `web/serve.js`.", False),
        ("Keep tidepool/plan.py — never create a third.\n\nPlans: `plan.py`.", True),
    ],
)
def test_warnings_and_conditions_claim_files_that_git_knew(
    tmp_path: Path, body: str, is_reported: bool
) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", "No more plans")
    assert bool(notebook(tmp_path, body).read_snapshot_with_evidence().findings) == is_reported


@pytest.mark.parametrize(
    ("subject", "body", "is_reported"),
    [
        ("Drop plans (#575)", "`{}` does the berths.\n\nSee #575.", False),
        ("Drop plans (#575)", "`{}` does the berths.\n\nMerged as PR 575.", False),
        ("Drop plans (#575)", "`{}` does the berths.\n\nSee #57.", True),
        ("TIDE-123 drop plans", "`{}` does the berths, see TIDE-123.", False),
        ("Brief 177: drop plans", "`{}` does the berths (until Brief 177).", False),
        ("Brief 177: drop plans", "`{}` does the berths (as in Brief 17).", True),
        ("Drop plans of June 12", "`{}` does the berths, since June 12.", True),
    ],
)
def test_a_note_that_names_the_request_knows_of_the_deletion(
    tmp_path: Path, subject: str, body: str, is_reported: bool
) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", subject)
    opened = notebook(tmp_path, body.format("tidepool/plan.py"))
    assert bool(opened.read_snapshot_with_evidence().findings) == is_reported


def test_a_move_is_reported_though_the_note_names_its_request(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    (project / "core").mkdir()
    git(project, "mv", "tidepool/harmonics.py", "core/harmonics.py")
    git(project, "commit", "--quiet", "-m", "The core (#575)")
    body = "It is `tidepool/harmonics.py`.\n\nSee #575."
    (finding,) = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert finding.message.endswith("Did you mean core/harmonics.py?")


def test_a_file_that_the_note_names_is_not_suggested(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    (project / "core").mkdir()
    git(project, "mv", "tidepool/harmonics.py", "core/harmonics.py")
    git(project, "commit", "--quiet", "-m", "The core")
    body = "- Tides: `core/harmonics.py`\n- Examples: `tidepool/harmonics.py`"
    (finding,) = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert finding.message == "tidepool/harmonics.py does not exist."
    assert finding.fix is None


def judge_lost_plan(folder: Path, path: str) -> tuple[Finding, ...]:
    """Return the findings on a note at `path` that names a file which the project lost."""
    project = project_in_git(folder)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", "No more plans")
    opened = notebook(folder, "Berths are in `tidepool/plan.py:2`.", path=path)
    return opened.read_snapshot_with_evidence().findings


@pytest.mark.parametrize(
    ("folder", "is_reported"),
    [
        ("sources", False),
        ("来源", False),
        ("decisions", False),
        ("quays/_artifacts", False),
        ("quays", True),
    ],
)
def test_the_page_of_a_source_says_what_the_source_says(
    tmp_path: Path, folder: str, is_reported: bool
) -> None:
    (finding,) = judge_lost_plan(tmp_path, f"{folder}/a.md")
    assert finding.severity is (Severity.WARNING if is_reported else Severity.INFO)


@pytest.mark.parametrize(
    ("name", "is_reported"),
    [("2026-03-01-berths", False), ("2026-03-01-2-berths", False), ("berths-2", True)],
)
def test_a_note_with_a_day_in_its_name_tells_of_that_day(
    tmp_path: Path, name: str, is_reported: bool
) -> None:
    found = judge_lost_plan(tmp_path, f"{name}.md")
    assert [it.rule for it in found] == ["missing-path"] * is_reported


@pytest.mark.parametrize(
    ("head", "is_reported"),
    [
        ("**Status:** accepted\n**Date:** 2026-03-01", False),
        ("- Status: angenommen (2026-03-01)", False),
        ("**Status:** accepted", True),
        ("**Status:** live\n**Date:** 2026-03-01", True),
    ],
)
def test_the_record_of_a_decision_tells_of_the_state_then(
    tmp_path: Path, head: str, is_reported: bool
) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", "No more plans")
    body = f"# Berths\n\n{head}\n\n## Context\n\nBerths are in `tidepool/plan.py:2`."
    findings = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert bool(findings) == is_reported
    named = notebook(tmp_path, body, name="ADR-012 berths").read_snapshot_with_evidence().findings
    assert bool(named) == is_reported


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        ("The step is `DEFAULT_STEP = 5`.", True),
        ("To test it, set `DEFAULT_STEP = 5`.", False),
        ("Dann setze `DEFAULT_STEP = 5`.", False),
        ("`DEFAULT_STEP = 5`に設定してください。", False),
        ("The set of steps has `DEFAULT_STEP = 5`.", True),
        ("- Spring: `DEFAULT_STEP = 5`\n- Autumn: `DEFAULT_STEP = 6`", False),
        ("- Spring: `DEFAULT_STEP = 5`\n- Autumn: `DEFAULT_STEP = 5`", True),
        ("The page `web/curve.tsx` has `DEFAULT_STEP = 5`.", False),
        ("`tidepool/harmonics.py` and `web/curve.tsx`: `DEFAULT_STEP = 5`.", True),
    ],
)
def test_only_what_a_note_says_of_the_present_value_is_compared(
    probe: Probe, body: str, is_reported: bool
) -> None:
    assert [it.rule for it in probe(body)] == ["changed-since"] * is_reported


def test_a_bare_folder_is_missing_only_where_the_root_had_it(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    write_memory(project, {"web/models/a.js": "", "charts/b.js": ""})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "more")
    git(project, "rm", "--quiet", "-r", "web/models", "charts")
    git(project, "commit", "--quiet", "-m", "less")
    body = "Parts go to `models/`, sheets to `charts/`."
    findings = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert [finding.message for finding in findings] == ["charts/ does not exist."]


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("web/models", Severity.WARNING),
        ("pier/qa/bugs", Severity.WARNING),
        ("qa/bugs", Severity.INFO),
        ("qa/bugs/{id}.md", Severity.INFO),
        ("web/models/*.js", Severity.INFO),
    ],
)
def test_a_folder_that_git_never_knew_is_only_worth_knowing(
    tmp_path: Path, path: str, severity: Severity
) -> None:
    project = project_in_git(tmp_path)
    write_memory(project, {"web/models/a.js": "", "pier/qa/bugs/1.md": ""})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "more")
    git(project, "rm", "--quiet", "-r", "web/models", "pier")
    git(project, "commit", "--quiet", "-m", "less")
    (finding,) = notebook(tmp_path, f"They go to `{path}`.").read_snapshot_with_evidence().findings
    assert (finding.rule, finding.severity) == ("missing-path", severity)


def test_a_pattern_whose_folder_moved_is_reported_with_its_new_place(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    write_memory(project, {f"web/models/{name}.js": f"{name} = 1;\n" * 9 for name in "abc"})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "more")
    git(project, "mv", "web/models", "web/kinds")
    git(project, "commit", "--quiet", "-m", "moved")
    body = "They are `web/models/*.js`."
    (finding,) = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("Did you mean web/kinds/*.js?")


@pytest.mark.parametrize("place", ["link", "submodule"])
def test_files_of_a_folder_that_is_elsewhere_now_are_not_missing(
    tmp_path: Path, place: str
) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "-r", "tidepool")
    git(project, "commit", "--quiet", "-m", "gone")
    body = "Plans: `plan.py` and `tidepool/harmonics.py`."
    assert len(notebook(tmp_path, body).read_snapshot_with_evidence().findings) == 2
    if place == "link":
        (project / "tidepool").symlink_to(tmp_path)
    else:
        declared = '[submodule "tidepool"]\n\tpath = tidepool\n\turl = ../tidepool\n'
        write_memory(project, {".gitmodules": declared})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "from elsewhere")
    assert notebook(tmp_path, body).read_snapshot_with_evidence().findings == ()


@pytest.mark.parametrize(
    ("kind", "is_reported"), [("session", False), ("日志", False), ("session-rule", True)]
)
def test_the_record_of_a_session_makes_no_claims(
    tmp_path: Path, kind: str, is_reported: bool
) -> None:
    project = project_in_git(tmp_path)
    git(project, "rm", "--quiet", "tidepool/plan.py")
    git(project, "commit", "--quiet", "-m", "No more plans")
    text = note_text("x", "Made `tidepool/plan.py`.\n", type_=kind)
    found = notebook(tmp_path, "", text=text).read_snapshot_with_evidence().findings
    assert bool(found) is is_reported


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("README", "README.md"),
        ("ADR-0007", "docs/adr/adr-0007-heights-in-metres.md"),
        ("open questions", "docs/open_questions.md"),
        ("Pegel", "docs/pegel.md"),
        ("ADR", ""),
        ("adr-0007-heights-in", "docs/adr/adr-0007-heights-in-metres.md"),
        ("adr-0008", ""),
        ("adr-0009", ""),
        ("adr/adr-0008-b", "docs/adr/adr-0008-b.md"),
        ("tides/pegel", ""),
    ],
)
def test_a_link_to_a_page_of_the_project_names_it(tmp_path: Path, target: str, page: str) -> None:
    pages = (
        "README",
        "adr/adr-0007-heights-in-metres",
        "open_questions",
        "pegel",
        "adr/adr-0008-a",
    )
    write_memory(tmp_path / "project", PROJECT)
    for name in (*pages, "adr/adr-0008-b"):
        write_memory(tmp_path / "project", {f"docs/{name}.md": "Text.\n"})
    opened = notebook(tmp_path, f"It follows [[{target}]].")
    linked = Notebook(opened.place, opened.environment, Settings(), frozenset(("wanted-note",)))
    (finding,) = linked.read_snapshot_with_evidence().findings
    assert (page or "does not exist") in finding.message
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize("is_all", [False, True])
def test_a_memory_that_is_all_of_its_project_has_no_pages_beside_it(
    tmp_path: Path, is_all: bool
) -> None:
    page = {"tide-gauge-of-sines.md": "Text.\n"}
    write_memory(tmp_path / "project", {**PROJECT, **page})
    opened = notebook(tmp_path, "It follows [[tide-gauge]].")
    environment = opened.environment
    if is_all:
        write_memory(Path(opened.place.root), page)
        environment = environment._replace(project=opened.place.root)
    linked = Notebook(opened.place, environment, Settings(), frozenset(("wanted-note",)))
    (finding,) = linked.read_snapshot_with_evidence().findings
    assert ("does not exist" in finding.message) is is_all


@pytest.mark.parametrize(("target", "is_page"), [("docs/pegel", True), ("docs/gone", False)])
def test_an_entry_may_link_to_a_page_of_the_project(
    tmp_path: Path, target: str, is_page: bool
) -> None:
    write_memory(tmp_path / "project", {**PROJECT, "docs/pegel.md": "Text.\n"})
    opened = notebook(tmp_path, "Text.")
    index = f"- [x](x.md)\n- [[{target}]] — the gauge\n"
    write_memory(Path(opened.place.root), {"MEMORY.md": index})
    linked = Notebook(
        opened.place, opened.environment, Settings(), frozenset(("index-missing-file",))
    )
    (finding,) = linked.read_snapshot_with_evidence().findings
    assert (finding.severity is Severity.INFO, finding.fix is None) == (is_page, is_page)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        # below the folder in which the agent works
        ("pegel.md", "page of the project, not to a note: app/docs/pegel.md"),
        ("ADR.md", "does not exist"),
        ("two.md", ""),
        ("gone.md", ""),
    ],
)
def test_a_link_may_be_from_the_folder_of_the_agent(tmp_path: Path, target: str, said: str) -> None:
    pages = {"app/docs/pegel.md": "Text.\n", "app/two.md": "A\n", "docs/two.md": "B\n"}
    write_memory(tmp_path / "project", {**PROJECT, **pages})
    opened = notebook(tmp_path, f"It follows [that]({target}), as `tidepool/plan.py` does.")
    rules = frozenset(("dead-link",))
    linked = Notebook(opened.place, opened.environment, Settings(), rules)
    findings = linked.read_snapshot_with_evidence().findings
    (finding,) = findings
    assert said in finding.message
    assert (finding.severity is Severity.INFO) is bool(said)


def test_a_document_that_a_link_names_is_missing_where_the_project_had_it(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    write_memory(project, {"SHIP_PLAN.md": "Berths.\n"})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Plan")
    body = "Berths are in [SHIPS](SHIP_PLAN.md), pilots in [CREWS](CREW_PLAN.md)."
    assert notebook(tmp_path, body).read_snapshot_with_evidence().findings == ()
    git(project, "rm", "--quiet", "SHIP_PLAN.md")
    git(project, "commit", "--quiet", "-m", "No more plans")
    (finding,) = notebook(tmp_path, body).read_snapshot_with_evidence().findings
    assert finding.message == "SHIP_PLAN.md does not exist."
    assert finding.severity is Severity.WARNING


def test_hostile_file_name_gets_no_fix(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    git(project, "mv", "tidepool/plan.py", "tidepool/`evil\nname.py")
    git(project, "commit", "--quiet", "-m", "begin")
    finding = (
        notebook(tmp_path, "It is `tidepool/plan.py`.").read_snapshot_with_evidence().findings[0]
    )
    assert finding.fix is None


def test_commits_after_the_note_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_in_git(tmp_path)
    (project / "tidepool" / "plan.py").write_text("class BerthPlan: ...\n")
    monkeypatch.setitem(git.__globals__["ENVIRON"], "GIT_COMMITTER_DATE", "2026-09-20T00:00:00Z")
    git(project, "commit", "--quiet", "-am", "Plan anew")

    messages: list[str] = []

    def found(stamp: str) -> list[str]:
        text = note_text("x", "See `tidepool/plan.py` and `web/serve.js`.\n")
        stamped = text.replace("  type:", f"  modified: {stamp}\n  type:")
        findings = notebook(tmp_path, "", text=stamped).read_snapshot_with_evidence().findings
        messages[:] = [finding.message for finding in findings]
        return [line for finding in findings for line in finding.evidence]

    (line,) = found("2026-09-02")
    assert messages == ["Files that the note names changed after 2 Sep 2026."]
    assert line.startswith("tidepool/plan.py: 1 commit, the last ")
    day = datetime(2026, 9, 20, tzinfo=UTC).astimezone().date()
    assert line.endswith(f"{day} Plan anew"), "the day is that of the user"
    assert found("2026-09-20") == [], "on the same day nothing is reported"
    assert found("2026-09-19T23:00:00+00:00") != []
    assert found("not a date") == []


def test_a_commit_that_adds_a_file_changes_nothing_that_a_note_says_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_memory(tmp_path / "project", PROJECT)
    git(project, "init", "--quiet")
    text = note_text("x", "See `tidepool/plan.py`.\n")
    stamped = text.replace("  type:", "  modified: 2026-09-02\n  type:")
    for day, count in (("2026-09-20", 0), ("2026-09-27", 1)):
        monkeypatch.setitem(git.__globals__["ENVIRON"], "GIT_COMMITTER_DATE", f"{day}T00:00:00Z")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", f"Work of {day}")
        found = notebook(tmp_path, "", text=stamped).read_snapshot_with_evidence().findings
        assert len(found) == count
        (project / "tidepool" / "plan.py").write_text("class BerthPlan: ...\n")


def test_commits_before_a_confirmation_are_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_in_git(tmp_path)

    def commit(day: str) -> None:
        (project / "tidepool" / "plan.py").write_text(f"class BerthPlan: ...  # {day}\n")
        monkeypatch.setitem(git.__globals__["ENVIRON"], "GIT_COMMITTER_DATE", f"{day}T00:00:00Z")
        git(project, "commit", "--quiet", "-am", f"Plan of {day}")

    text = note_text("x", "See `tidepool/plan.py`.\n")
    stamped = text.replace("  type:", "  modified: 2026-09-02\n  type:")

    def found(day: str) -> tuple[Notebook, list[str]]:
        opened = notebook(tmp_path, "", text=stamped)
        around = opened.environment._replace(fixed_now=f"{day}T12:00:00+00:00")
        later = Notebook(opened.place, around, Settings(), frozenset(RULES))
        return later, [finding.rule for finding in later.read_snapshot_with_evidence().findings]

    commit("2026-09-20")
    before, rules = found("2026-09-25")
    assert rules == ["changed-since"]
    before.record_verdict(before.read_snapshot_with_evidence(), "x.md", ReviewVerdict.TRUE)
    assert found("2026-09-26")[1] == []
    commit("2026-09-27")
    assert found("2026-09-28")[1] == ["changed-since"]


def test_wrong_project_produces_no_findings(tmp_path: Path) -> None:
    body = "".join(f"Part {n} is `tidepool/part{n}.py`.\n\n" for n in range(6))
    named = notebook(tmp_path, body)
    assert len(named.read_snapshot_with_evidence().findings) == 6
    place = named.place.__class__(named.place.root, named.place.layout, str(tmp_path / "project"))
    environment = named.environment._replace(project="")
    look = Notebook(place, environment, Settings(), frozenset(RULES)).read_snapshot_with_evidence()
    assert look.findings == ()
    assert "seem unrelated to" in look.evidence.warnings[0]


def test_deleted_files_show_that_the_project_is_the_right_one(tmp_path: Path) -> None:
    project = project_in_git(tmp_path)
    lost = [path for path in PROJECT if path.endswith((".py", ".js", ".md")) and "/" in path][1:]
    git(project, "rm", "--quiet", "-r", *lost)
    git(project, "commit", "--quiet", "-m", "No more plans")

    def messages(*paths: str) -> set[str]:
        named = notebook(tmp_path, "".join(f"Part of it is `{path}`.\n\n" for path in paths))
        place = replace(named.place, project=str(project))
        environment = named.environment._replace(project="")
        look = Notebook(
            place, environment, Settings(), frozenset(RULES)
        ).read_snapshot_with_evidence()
        return {finding.message for finding in look.findings}

    unknown = [f"web/part{number}.js" for number in range(len(lost) + 2)]
    assert len(unknown) > 5
    assert messages(*unknown, *lost) == set(), "most of it was never there"
    assert messages(*unknown[1:-1], *lost) == {
        f"{path} does not exist." for path in (*unknown[1:-1], *lost)
    }


def test_memory_inside_the_project_is_no_evidence(tmp_path: Path) -> None:
    project = write_memory(tmp_path / "project", PROJECT)
    text = note_text("x", "`old_height()` is in `tidepool/plan.py`.\n")
    root = write_memory(project / ".claude" / "memory", {"MEMORY.md": "", "x.md": text})
    environment = load_environment({"HOME": str(tmp_path)}, state=str(tmp_path / "state"))
    environment = environment._replace(project=str(project))
    place = find_memory(str(root), environment)
    look = Notebook(place, environment, Settings(), frozenset(RULES)).read_snapshot_with_evidence()
    assert [finding.rule for finding in look.findings] == ["missing-symbol"]


def test_findings_follow_changes_of_note_and_project(tmp_path: Path) -> None:
    opened = notebook(tmp_path, "It is `tidepool/loader.py`.")
    assert opened.read_snapshot_with_evidence().findings
    (tmp_path / "project" / "tidepool" / "loader.py").write_text("x = 1\n")
    look = opened.read_snapshot_with_evidence()
    assert not look.findings
    (verdict,) = look.evidence.verdicts["x.md"]
    assert (verdict.kind, verdict.outcome) == (ClaimKind.PATH, CheckOutcome.VALID)
    (tmp_path / "memory" / "x.md").write_text(note_text("x", "It is `tidepool/reader.py`.\n"))
    assert [it.message for it in opened.read_snapshot_with_evidence().findings] == [
        "tidepool/reader.py does not exist."
    ]


def test_index_text_makes_claims_but_entries_do_not(tmp_path: Path) -> None:
    opened = notebook(tmp_path, "It is `tidepool/loader.py`.")
    index = "- [x](x.md) — it is `tidepool/loader.py`\n\nStart at `tidepool/start.py`.\n"
    (tmp_path / "memory" / "MEMORY.md").write_text(index)
    found = {(it.path, it.message) for it in opened.read_snapshot_with_evidence().findings}
    assert found == {
        ("x.md", "tidepool/loader.py does not exist."),
        ("MEMORY.md", "tidepool/start.py does not exist."),
    }


def test_changing_a_note_inside_the_project_changes_no_other_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_memory(tmp_path / "project", PROJECT)
    notes = {f"{n}.md": note_text(f"n{n}", f"It is `tidepool/part{n}.py`.\n") for n in range(3)}
    root = write_memory(project / "memory", {"MEMORY.md": "", **notes})
    environment = load_environment({"HOME": str(tmp_path)}, state=str(tmp_path / "state"))
    environment = environment._replace(project=str(project))
    opened = Notebook(find_memory(str(root), environment), environment, Settings())
    opened.read_snapshot_with_evidence()
    probed: list[str] = []
    real = prober.check_claims

    def counted(note: Note, *rest: Any) -> Any:
        probed.append(note.path)
        return real(note, *rest)

    monkeypatch.setattr(prober, "check_claims", counted)
    (root / "1.md").write_text(note_text("n1", "It is `tidepool/plan.py`.\n"))
    look = opened.read_snapshot_with_evidence()
    assert probed == ["1.md"]
    assert {it.path for it in look.findings if it.rule == "missing-path"} == {"0.md", "2.md"}


def test_old_evidence_is_not_applied_to_new_text(tmp_path: Path) -> None:
    opened = notebook(tmp_path, "It is `tidepool/loader.py`.")
    opened.read_snapshot_with_evidence()
    (tmp_path / "memory" / "x.md").write_text(note_text("x", "First.\n\nIt is elsewhere.\n"))
    assert not opened.read_snapshot().findings
    moved = note_text("x", "First.\n\nIt is `tidepool/loader.py`.\n")
    (tmp_path / "memory" / "x.md").write_text(moved)
    assert [it.line for it in opened.read_snapshot().findings] == [
        moved.split("\n").index("It is `tidepool/loader.py`.") + 1
    ]


@given(st.text(st.sampled_from("`ab/.()*{}[]<>:#-_~|\n 1é=@"), max_size=200))
def test_claims_of_any_text_are_on_its_lines(body: str) -> None:
    note = note_of(f"---\nname: x\n---\n{body}")
    lines = note.text.split("\n")
    for claim in find_claims(note).all:
        assert claim.text.split("\n")[0] in lines[claim.line - 1]


def test_nothing_is_missing_in_a_project_not_listed_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.storage.project_tree.MOST_FILES", 4)
    body = "`predict_height()` and `Makefile` in `tidepool/loader.py`."
    look = notebook(tmp_path, body).read_snapshot_with_evidence()
    assert look.findings == ()
    assert look.evidence.warnings == ("only 4 files of the project were listed",)


def test_no_project_file_slows_down_an_expression(tmp_path: Path) -> None:
    long = " " * 400_000
    hostile = {
        "Makefile": f"a{long}b{long}\ncheck: test\n",
        "go.mod": "\n" * 400_000,
        "requirements.txt": f"x{long}y\n{'[' * 400_000}\n",
        "tidepool/plan.py": f"GAP_MINUTES:{long}x\n{'GAP_MINUTES:' * 30_000}\n",
        "CLAUDE.md": "word " * 80_000,
        "package.json": "[" * 400_000,
    }
    write_memory(tmp_path / "project", {**PROJECT, **hostile})
    body = "Run `make check`; `GAP_MINUTES = 30`; React 18; word word word word word word."
    assert notebook(tmp_path, body).read_snapshot_with_evidence().findings == ()
