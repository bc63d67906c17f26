"""Status claims that git refutes, and notes that refute themselves."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree

import pytest

from ricordo.lint.finding import Finding, Severity
from ricordo.memory.change import EditLine
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from tests.support.builders import note_text, write_memory
from tests.unit.machine import git

from .conftest import Lint, note

DAYS = ("2026-09-01", "2026-09-10", "2026-10-01", "2026-10-20")


class Repository:
    """A project in git, with a memory beside it."""

    def __init__(self, folder: Path, begun: Path) -> None:
        self.folder, self.root = folder, folder / "project"
        copytree(begun, self.root)

    def commit(self, subject: str, day: str, **files: str) -> None:
        write_memory(self.root, {name.replace("__", "/"): text for name, text in files.items()})
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "-m", subject, at=f"{day}T09:00:00Z")

    def judge(
        self,
        body: str,
        *,
        written: str = "2026-09-20",
        index: str = "- [x](x.md)\n",
        memory: str = "memory",
        least: Severity = Severity.WARNING,
    ) -> tuple[Finding, ...]:
        """Return the findings from the severity `least` on of a note of `body`, last changed on the
        day `written`.
        """
        text = note_text("x", f"{body}\n").replace("  type:", f"  modified: {written}\n  type:")
        write_memory(self.folder / memory, {"MEMORY.md": index, "x.md": text})
        findings = self.open(memory).read_snapshot_with_evidence().findings
        return tuple(it for it in findings if it.severity >= least)

    def open(self, memory: str = "memory") -> Notebook:
        """Return the notebook of a memory, with the rules on its project."""
        environment = load_environment(
            {"HOME": str(self.folder), "PATH": os.environ["PATH"]},
            state=str(self.folder / "state"),
            now="2026-11-20T12:00:00+00:00",
        )._replace(project=str(self.root))
        names = frozenset(("status-claim", "missing-symbol", "changed-since", "missing-path"))
        place = find_memory(str(self.folder / memory), environment)
        return Notebook(place, environment, Settings(), names)


@pytest.fixture(scope="session")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its first commit, of which each test gets a copy: git takes longer."""
    root = write_memory(tmp_path_factory.mktemp("begun"), {"tide/tables.py": "STEP_MINUTES = 10\n"})
    git(root, "init", "--quiet", "--initial-branch=main", "--template=")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "begin", at=f"{DAYS[0]}T09:00:00Z")
    return root


@pytest.fixture
def repository(tmp_path: Path, begun: Path) -> Repository:
    return Repository(tmp_path, begun)


@pytest.mark.parametrize(
    ("subject", "claim"),
    [
        ("feat(tide): read tables of a year (#12)", "PR #12 is open, waiting for review."),
        ("Merge pull request #12 from ana/year", "The tables of a year are in PR #12 (open)."),
        ("Merge pull request #12 from ana/year", "Work is on branch `year`, not merged yet."),
        ("feat(tide): year tables (#12)", "Branch `feat/year-tables` is not pushed."),
        ("feat(tide): year tables (#12)", "Der Branch `feat/year-tables` ist noch nicht gemergt."),
        ("feat(tide): year tables (#12)", "PR #12 is open = blocked until the review."),
        ("feat(tide): year tables (#12)", "PR #12 尚未合并。"),
        ("feat(tide): year tables (#12)", "PR #12 ещё не влит."),
        ("feat(tide): year tables (#12)", "PR #12 still draft. All tests pass."),
        ("feat(tide): year tables (#12)", "PR #12 ist noch im Entwurf."),
        ("feat(tide): year tables (#12)", "Based on the unmerged #12."),
    ],
)
def test_a_merge_refutes_that_work_is_open(
    repository: Repository, subject: str, claim: str
) -> None:
    assert repository.judge(claim) == (), "nothing is decided before the merge"
    repository.commit(subject, DAYS[2])
    (finding,) = repository.judge(claim)
    assert finding.rule == "status-claim"
    assert subject in finding.evidence[0]
    assert "2026-10-01" in finding.evidence[0]


def test_a_commit_of_notes_refutes_nothing_that_it_names(repository: Repository) -> None:
    repository.commit("docs(memory): note the blind spots, file fixes #12", DAYS[2])
    assert repository.judge("The blind spots (#12, still open) are known.") == ()
    repository.commit("feat: no blind spots, fixes #12", DAYS[2])
    assert len(repository.judge("The blind spots (#12, still open) are known.")) == 1


@pytest.mark.parametrize(
    "claim",
    [
        "PR #12 is merged.",
        "PR #13 is open.",
        "Ask Ana when PR #12 is open.",
        "PR #12 is merged, PR #13 is open.",
        "## Log 2026-09-20\n\nPR #12 is open.",
        "Work is on branch `month`, not merged yet.",
        "- 2026-09-20: PR #12 is open.",
        "- A row that says `merged` while PR #12 is **still open** = drift.",
    ],
)
def test_other_subjects_rules_and_dated_records_are_not_reported(
    repository: Repository, claim: str
) -> None:
    repository.commit("feat(tide): read tables of a year (#12)", DAYS[2])
    assert repository.judge(claim) == ()


def test_a_tag_refutes_that_a_version_is_not_released(repository: Repository) -> None:
    claim = "Next is v1.2.0, not released yet."
    assert repository.judge(claim) == ()
    git(repository.root, "tag", "v1.2.0")
    (finding,) = repository.judge(claim)
    assert finding.evidence[0].startswith("git: tagged: ")


def test_what_came_after_the_note_refutes_that_it_is_not_written(repository: Repository) -> None:
    claims = "`tide/years.py` is not written yet. `read_year()` is not implemented yet."
    assert repository.judge(claims) == ()
    repository.commit("years", DAYS[2], **{"tide__years.py": "def read_year(path): ...\n"})
    assert len(repository.judge(claims)) == 2
    assert repository.judge(claims, written="2026-10-10") == (), "it was there when it was written"


@pytest.mark.parametrize(
    "claim",
    [
        "- The client must add `X-Station` to every request.",
        "- Der Client soll noch `X-Station` senden.",
        "Falta añadir `X-Station` en el cliente.",
        "## Next steps\n\n- `X-Station` for every request",
        "## 待办\n\n- `X-Station`：每个请求",
        "`timeout()` is missing: `tide/client.py` has to add `timeout(seconds)`.",
    ],
)
def test_code_that_came_after_a_to_do_refutes_it(repository: Repository, claim: str) -> None:
    begun = "def ask(): ...\n"
    repository.commit("client", DAYS[1], **{"tide__client.py": begun})
    assert repository.judge(claim) == ()
    made = f'{begun}HEADERS = {{"X-Station": "1"}}\ntimeout(30)\n'
    repository.commit("Ask politely", DAYS[2], **{"tide__client.py": made})
    (finding,) = repository.judge(claim)
    assert finding.rule == "status-claim"
    assert "tide/client.py:" in finding.evidence[0]
    assert repository.judge(claim, written="2026-10-10") == (), "it was there when it was written"
    assert repository.judge(f"## Log 2026-09-20\n\n{claim.rpartition('#')[2]}") == ()


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("Both clients retry alike: extract `retry_politely()`.", True),
        ("The loop is there twice, extract retry_politely in the next sprint.", True),
        ("`retry_politely()` 헬퍼 추출 필요", True),
        ("建议提取 `retry_politely()`。", True),
        ("`retry_politely()` sollte ausgelagert werden.", True),
        ("Both clients retry alike, with `retry_politely()`.", False),
        ("They should call `ask()`; the loop is `retry_politely()`.", False),
        ("Extracted `retry_politely()` from both clients.", False),
        ("Parts: proposePort, retry_politely", False),
        ("Clients must call `retry_politely()` first.", False),
    ],
)
def test_code_that_was_wished_for_is_there_now(
    repository: Repository, claim: str, *, is_reported: bool
) -> None:
    repository.commit("client", DAYS[1], **{"tide__client.py": "def ask(): ...\n"})
    assert repository.judge(claim) == ()
    made = "def ask(): ...\ndef retry_politely(): ...\n"
    repository.commit("Retry", DAYS[2], **{"tide__client.py": made})
    assert [it.rule for it in repository.judge(claim)] == ["status-claim"] * is_reported
    assert repository.judge(claim, written="2026-10-10") == (), "it was there when it was written"


@pytest.mark.parametrize("mark", ["", "`"])
def test_a_commit_that_a_remote_has_is_pushed(repository: Repository, mark: str) -> None:
    repository.commit("client", DAYS[1], **{"tide__client.py": "def ask(): ...\n"})
    head = git(repository.root, "rev-parse", "--short=9", "HEAD").strip()
    claim = f"On main as {mark}{head}{mark}, NOT pushed."
    assert repository.judge(claim) == ()
    git(repository.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    (finding,) = repository.judge(claim)
    assert finding.evidence[0].startswith("git: pushed: ")


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("누락 `X-Station` 헤더", True),
        ("차이를 출력하면 누락 개체가 바로 나오고 `X-Station`으로 찾는다.", False),
    ],
)
def test_what_is_missing_in_korean_is_said_of_the_code(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    repository.commit("client", DAYS[1], **{"tide__client.py": "def ask(): ...\n"})
    repository.commit("ask", DAYS[2], **{"tide__client.py": 'HEADERS = {"X-Station": "1"}\n'})
    assert [it.rule for it in repository.judge(claim)] == ["status-claim"] * is_reported


def test_a_file_is_not_the_work_that_is_to_be_done_in_it(repository: Repository) -> None:
    repository.commit("years", DAYS[2], **{"tide__years.py": "def read(path): ...\n"})
    assert repository.judge("- Phase 3: implement rounding by station in `tide/years.py`.") == ()
    (finding,) = repository.judge("- Phase 3: implement `tide/years.py`.")
    assert finding.rule == "status-claim"


@pytest.mark.parametrize(
    ("item", "is_reported"), [("`tide/log.py`", False), ("`tide/log.py` for the gauges", True)]
)
def test_an_item_that_only_names_a_file_is_no_work(
    repository: Repository, item: str, is_reported: bool
) -> None:
    repository.commit("feat: log", DAYS[2], **{"tide__log.py": "LOG = 1\n"})
    found = repository.judge(f"## Next steps\n\nBerths are in needed.\n\n- {item}")
    assert [it.rule for it in found] == ["status-claim"] * is_reported


@pytest.mark.parametrize(
    ("before", "is_reported"),
    [
        ("def read_gauge(station):\n    return 0\n", True),
        # of a library, for all that the code shows
        ("import gauges\n\nread_gauge(1)\n", False),
        ("LOG = 1\n", False),
    ],
)
def test_a_name_that_only_pages_have_is_no_code_of_the_project(
    repository: Repository, before: str, is_reported: bool
) -> None:
    page = "# Gauges\n\n`read_gauge()` reads one.\n"
    repository.commit("gauge", DAYS[1], **{"tide__gauge.py": before, "docs__gauges.md": page})
    repository.commit("drop it", DAYS[2], **{"tide__gauge.py": "LOG = 2\n"})
    found = repository.judge("A station is read by `read_gauge()`.")
    assert [it.message for it in found] == ["No code of the project has read_gauge."] * is_reported
    assert not is_reported or found[0].evidence[0].startswith("git: removed in ")
    repository.commit("again", DAYS[2], **{"tide__all.py": "from gauge import read_gauge\n"})
    assert repository.judge("A station is read by `read_gauge()`.") == ()


@pytest.mark.parametrize(
    "call", ["return read_gauge(async () => 1);\n", "  await read_gauge(it => it.port);\n"]
)
def test_a_call_with_a_function_defines_no_name(repository: Repository, call: str) -> None:
    repository.commit("gauge", DAYS[1], **{"tide__gauge.ts": call})
    repository.commit("drop it", DAYS[2], **{"tide__gauge.ts": "\n"})
    assert repository.judge("A station is read by `read_gauge`.") == ()


@pytest.mark.parametrize(
    "definition",
    [
        "pub(crate) fn read_gauge(at: u8) {}\n",
        "  Map<String, int> read_gauge() => {};\n",
        "pub(in crate::tide) async fn read_gauge() {}\n",
    ],
)
def test_what_defines_a_name_is_known_in_many_languages(
    repository: Repository, definition: str
) -> None:
    repository.commit("gauge", DAYS[1], **{"tide__gauge.rs": definition})
    repository.commit("drop it", DAYS[2], **{"tide__gauge.rs": "\n"})
    (found,) = repository.judge("A station is read by `read_gauge`.")
    assert found.rule == "missing-symbol"


_TREE = """# Layout{}

```text
tide/
├── tables.py        # heights
│   
├── forms/
│   ├── entry.py{}
│   └── new.py
└── README
```
"""


@pytest.mark.parametrize(
    ("title", "said", "is_reported"),
    [
        ("", "", True),
        ("", "   # reads one", True),
        ("", " ← one entry", True),
        # it is told of
        ("", "  # removed", False),
        (" of 2026-09-20", "", False),
    ],
)
def test_a_tree_has_a_file_that_the_project_lost(
    repository: Repository, title: str, said: str, is_reported: bool
) -> None:
    repository.commit("entry", DAYS[1], **{"tide__forms__entry.py": "ENTRY = 1\n"})
    body = _TREE.format(title, said)
    assert repository.judge(body) == ()
    git(repository.root, "rm", "--quiet", "tide/forms/entry.py")
    repository.commit("no entry", DAYS[2])
    found = repository.judge(body)
    assert [it.message for it in found] == ["tide/forms/entry.py does not exist."] * is_reported
    if is_reported:
        assert found[0].line == 17
        assert found[0].evidence[0].startswith("git: deleted in ")
        assert found[0].fix is None
    plain = body.replace("tide/\n", "").replace("# Layout", "# Layout of `tide`")
    assert repository.judge(plain) == (), "of another folder"
    assert len(repository.judge(body.replace("tide/\n", "./tide\n"))) == is_reported
    assert repository.judge(body.replace("```text", "").replace("```", "")) == (), "no code"


def test_what_a_tree_has_in_vain_is_one_finding(repository: Repository) -> None:
    files = {f"tide__forms__{it}.py": f"{it} = 1\n" for it in ("entry", "new")}
    repository.commit("forms", DAYS[1], **files)
    for name in ("entry", "new"):
        git(repository.root, "rm", "--quiet", f"tide/forms/{name}.py")
        repository.commit(f"no {name}", DAYS[2])
    repository.judge(_TREE.format("", ""))
    (cause,) = repository.open().read_snapshot_with_evidence().causes
    assert cause.message == "tide/forms/entry.py does not exist. 1 more here has the same cause."


def test_files_of_one_name_in_a_tree_are_told_apart(repository: Repository) -> None:
    files = {f"tide__{it}__index.ts": f"{it}\n" for it in "abc"}
    repository.commit("files", DAYS[1], **files)
    for folder in "bc":
        git(repository.root, "rm", "--quiet", f"tide/{folder}/index.ts")
        repository.commit(f"no {folder}", DAYS[2])
    tree = "\n".join(f"├── {it}/\n│   └── index.ts" for it in "abc")
    found = repository.judge(f"# Layout\n\n```\ntide/\n{tree}\n```\n\nSee `tide/a/index.ts`.")
    assert [it.message for it in found] == [f"tide/{it}/index.ts does not exist." for it in "bc"]
    assert found[0].line + 2 == found[1].line
    assert all(len(it.evidence) == 1 for it in found), "not where another one is drawn"


def test_what_two_trees_have_in_vain_is_two_findings(repository: Repository) -> None:
    for name in ("entry", "new"):
        repository.commit("form", DAYS[1], **{f"tide__{name}.py": f"{name} = 1\n"})
        git(repository.root, "rm", "--quiet", f"tide/{name}.py")
        repository.commit(f"no {name}", DAYS[2])
    trees = (f"```\n├── tide/{name}.py\n└── README\n```" for name in ("entry", "new"))
    repository.judge("\n\n".join(("# Layout", *trees)))
    assert len(repository.open().read_snapshot_with_evidence().causes) == 2


def test_a_tree_alone_is_of_no_section(repository: Repository) -> None:
    repository.commit("entry", DAYS[1], **{"tide__forms__entry.py": "ENTRY = 1\n"})
    git(repository.root, "rm", "--quiet", "tide/forms/entry.py")
    repository.commit("no entry", DAYS[2])
    tree = _TREE.partition("```")[2]
    write_memory(repository.folder / "memory", {"x.md": f"```{tree}"})
    assert repository.open().read_snapshot_with_evidence().findings == ()


def test_a_link_to_a_page_of_the_project_that_git_moved_is_reported(
    repository: Repository,
) -> None:
    page = "# Heights\n\nAll heights of the port, in metres.\n"
    repository.commit("page", DAYS[1], **{"docs__heights.md": page, "docs__tides.md": "# Tides\n"})
    git(repository.root, "mv", "docs/heights.md", "docs/port.md")
    repository.commit("name", DAYS[2])
    note = note_text("x", "See [heights](../docs/heights.md) and [tides](../docs/tides.md).\n")
    index = "- [x](x.md)\n- [heights of the port](../docs/heights.md)\n"
    write_memory(repository.root / "memory", {"MEMORY.md": index, "x.md": note})
    found = repository.open("project/memory").read_snapshot_with_evidence().findings
    assert {it.path: it.message for it in found} == dict.fromkeys(
        ("MEMORY.md", "x.md"), "docs/heights.md does not exist. Did you mean docs/port.md?"
    )


def test_a_link_is_of_the_section_in_which_it_is(repository: Repository) -> None:
    repository.commit("page", DAYS[1], **{"docs__heights.md": "# Heights\n"})
    git(repository.root, "rm", "--quiet", "docs/heights.md")
    repository.commit("no heights", DAYS[2])
    link = "See [heights](../docs/heights.md).\n"
    for sections, lines in ((("History", "Now"), [16]), (("History",), [])):
        text = "\n".join(f"## {section}\n\n{link}" for section in sections)
        note = note_text("x", text).replace("  type:", "  modified: 2026-09-20\n  type:")
        write_memory(repository.root / "memory", {"MEMORY.md": "- [x](x.md)\n", "x.md": note})
        found = repository.open("project/memory").read_snapshot_with_evidence().findings
        assert [it.line for it in found if it.severity >= Severity.WARNING] == lines


def test_of_a_thousand_names_the_lost_ones_are_found(repository: Repository) -> None:
    def name(number: int) -> str:
        return f"read_{'the_gauge_of_the_outer_berth_behind_' * 4}the_breakwater_{number}"

    code = "".join(f"def {name(it)}(): ...\n" for it in range(4))
    repository.commit("gauges", DAYS[1], **{"tide__gauge.py": code})
    repository.commit("drop them", DAYS[2], **{"tide__gauge.py": "LOG = 1\n"})
    # more than one argument of a command can have
    files = {}
    for first in range(0, 1_000, 200):
        lines = (f"Berth {it} has `{name(it)}()`." for it in range(first, first + 200))
        text = note_text(str(first), "\n\n".join(lines))
        files[f"{first}.md"] = text.replace("  type:", "  modified: 2026-09-20\n  type:")
    index = "".join(f"- [{it}]({it})\n" for it in files)
    write_memory(repository.folder / "memory", {"MEMORY.md": index, **files})
    findings = repository.open().read_snapshot_with_evidence().findings
    assert sum(it.severity >= Severity.WARNING for it in findings) == 4


@pytest.mark.parametrize(
    ("item", "is_reported"),
    [
        ("1. `read_log()` reads the gauges in one call", True),
        ("1. **`log.py` `read_log()`** has its words in English", False),
    ],
)
def test_what_an_item_names_behind_a_file_is_in_it(
    repository: Repository, item: str, is_reported: bool
) -> None:
    repository.commit("log", DAYS[1], **{"tide__log.py": "LOG = 1\n"})
    repository.commit("read", DAYS[2], **{"tide__log.py": "LOG = 1\ndef read_log(): ...\n"})
    found = repository.judge(f"### Pendiente por arreglar\n\n{item}")
    assert [it.rule for it in found] == ["status-claim"] * is_reported


def test_prose_in_the_code_does_not_refute_that_a_name_is_to_be_made(
    repository: Repository,
) -> None:
    text = '"""Sets\n\nStation_state__c where it is there\n"""\n'
    repository.commit("feed", DAYS[2], **{"tide__feed.py": text})
    claim = "- Phase 5: create `Station_state__c` in the office program."
    assert repository.judge(claim) == ()
    repository.commit("state", DAYS[2], **{"tide__feed.py": "Station_state__c = 1\n"})
    assert len(repository.judge(claim)) == 1


@pytest.mark.parametrize("line", ["# X-Station will be sent here", "// TODO: X-Station"])
def test_a_comment_does_not_refute_a_to_do(repository: Repository, line: str) -> None:
    repository.commit("client", DAYS[2], **{"tide__client.py": f"{line}\n"})
    assert repository.judge("The client must add `X-Station` to every request.") == ()


@pytest.mark.parametrize(
    ("subject", "claim"),
    [
        ("feat: harbour map on the start page", "Deferred: harbour map, export."),
        ("feat(web): export tide curves", "**Next:** harbour map, export of tide curves."),
        ("Add the harbour map", "The harbour map is not built yet."),
        ("Add the harbour map", "## Next steps\n\n1. Harbour map (with depth)\n2. Export"),
        ("Add the harbour map", "## To do\n\n- [ ] harbour map (with depth)"),
        ("feat: 港口地图 harbour", "待实现 harbour 港口地图。"),
        ("Merge pull request #7 from ana/feat/harbour-map", "Harbour map still to be built."),
        ("docs: finish phase 2 of the survey: complete", "Survey phase 2 underway."),
        ("Survey of phase 2 complete", "Survey phase 2 underway."),
    ],
)
def test_a_commit_with_its_words_refutes_that_work_is_open(
    repository: Repository, subject: str, claim: str
) -> None:
    assert repository.judge(claim) == ()
    repository.commit(subject, DAYS[2])
    found = repository.judge(claim)
    if subject.startswith("docs"):
        assert found == ()
    else:
        assert [it.evidence[0].endswith(subject) for it in found] == [True]
    assert repository.judge(claim, written="2026-10-10") == ()


@pytest.mark.parametrize(
    "subject",
    [
        "plan: harbour map on the start page",
        "Add a stub of the harbour map",
        "fix: harbour map flickers",
        "feat: map of the pier",
        'Revert "feat: harbour map"',
        "feat: create a task for the harbour map",
        "feat: lamps of the pier with a harbour map",
        "Complete phase 4: harbour map",
        "feat(web): panel of the harbour map with its berths, buoys and cranes",
    ],
)
def test_a_commit_that_only_speaks_of_the_work_refutes_nothing(
    repository: Repository, subject: str
) -> None:
    repository.commit(subject, DAYS[2])
    assert repository.judge("Deferred: harbour map.") == ()


@pytest.mark.parametrize(
    ("subject", "is_reported"),
    [
        ("feat(harbour-map): depth, buoys and cranes of every berth", True),
        ("Merge branch 'feat/7-harbour-map'", True),
        ("feat: harbour panel, cranes, buoys and a map", False),
    ],
)
def test_commit_is_about_its_scope_or_its_branch(
    repository: Repository, subject: str, is_reported: bool
) -> None:
    repository.commit(subject, DAYS[2])
    found = repository.judge("Deferred: harbour map.")
    assert [it.rule for it in found] == ["status-claim"] * is_reported


def test_words_that_the_history_had_name_what_is_there(repository: Repository) -> None:
    repository.commit("docs: plan the harbour map", DAYS[0])
    repository.commit("fix: harbour map flickers", DAYS[1])
    repository.commit("feat: harbour map", DAYS[2])
    assert repository.judge("Deferred: harbour map.") == ()
    assert len(repository.judge("Deferred: harbour map.", written=DAYS[0])) == 1


@pytest.mark.parametrize("claim", ["Integration testing", "Add a new server", "**User panel**"])
def test_words_of_any_project_name_no_work(repository: Repository, claim: str) -> None:
    repository.commit("feat: new integration testing server, user panel", DAYS[2])
    repository.commit(f"feat: {claim.strip('*')}", DAYS[2])
    assert repository.judge(f"## Next steps\n\n1. {claim}") == ()


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("- Pier lamps (planned for week 4)", True),
        ("- Pier lamps (planned for week 14)", False),
        ("**State of tasks**: in progress - week 4 complete", False),
    ],
)
def test_numbered_part_is_done_where_a_commit_completes_it(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    repository.commit("Complete week 4: berths", DAYS[2])
    repository.commit("feat: tables of 14 berths in 4 steps (week 12) done", DAYS[2])
    found = repository.judge(claim)
    assert [it.rule for it in found] == ["status-claim"] * is_reported


def test_branch_of_a_request_is_found_by_the_request(repository: Repository) -> None:
    repository.commit("feat: tide tables of a year (#12)", DAYS[1])
    repository.commit("feat: colours for year and tables (#15)", DAYS[2])
    (finding,) = repository.judge("- **PR #12**: `feat/year-tables` → `main` (OPEN)")
    assert "(#12)" in finding.evidence[0]
    assert repository.judge("Branch `feat/year-tables` is not merged.") == (), "two have its words"


def test_what_the_labels_of_a_procedure_lead_to_is_no_work(repository: Repository) -> None:
    repository.commit("feat", DAYS[2], **{"tide__ask.py": "def fill_gaps(): ...\n"})
    assert repository.judge("1. On error: show a note, call `fill_gaps()`.") == ()
    assert len(repository.judge("- Phase 2: add `fill_gaps()`.")) == 1


@pytest.mark.parametrize(
    ("above", "is_reported"),
    [
        ("**Status:** Done", False),
        ("- **Status**: ✅ COMPLETED", False),
        ("Status: largely complete", True),
        ("Status: phase 1 complete", True),
        ("Status: 95 % done", True),
        ("- [x] buoys\n- [x] berths", False),
        ("- [x] buoys\n- [ ] berths", True),
    ],
)
def test_to_do_in_the_account_of_finished_work_is_done(
    repository: Repository, above: str, is_reported: bool
) -> None:
    repository.commit("feat: harbour map", DAYS[2])
    claim = "### Notes\n\nThe harbour map is not built yet."
    found = repository.judge(f"# Pier\n\n## Map\n\n{above}\n\n{claim}")
    assert [it.rule for it in found] == ["status-claim"] * is_reported
    assert len(repository.judge(f"# Pier\n\n## Lamps\n\n{above}\n\n## Map\n\n{claim}")) == 1


def test_version_beside_the_present_one_or_in_a_heading_is_not_stale(
    repository: Repository,
) -> None:
    for day, number in ((DAYS[1], "15.1.0"), (DAYS[2], "16.2.0")):
        manifest = f'{{"dependencies": {{"next": "{number}"}}}}'
        repository.commit("manifest", day, **{"package.json": manifest})
    assert len(repository.judge("The site runs on Next.js 15.")) == 1
    assert repository.judge("The site ran on Next.js 15.\n\nIt runs on Next.js 16.") == ()
    assert repository.judge("## Routes (Next.js 15)\n\nOne folder each.") == ()


def test_copy_that_somebody_kept_is_not_compared(repository: Repository) -> None:
    for day, number in ((DAYS[1], "15.1.0"), (DAYS[2], "16.2.0")):
        manifest = f'{{"dependencies": {{"next": "{number}"}}}}'
        repository.commit("manifest", day, **{"package.json": manifest})
    text = note_text("x", "The site runs on Next.js 15.\n")
    write_memory(repository.folder / "memory", {"x-backup.md": text, "y-backup.md": text})
    found = repository.judge("The site is up.", index="[x](x.md)\n")
    assert [it.path for it in found] == ["y-backup.md"]


def test_section_that_got_another_number_has_no_corrected_value(repository: Repository) -> None:
    page = "## 2.{} Care of piers and lamps\n\nThe {} lamps of a harbour are lit at night.\n"
    repository.commit("rules", DAYS[1], **{"RULES.md": page.format(5, 150)})
    repository.commit("rules", DAYS[2], **{"RULES.md": page.format(7, 170)})
    (finding,) = repository.judge(page.format(5, 150))
    assert finding.message.startswith("150 is 170 now")


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("`moor_ship` of the harbour is at `quay/moor.py:{}`, behind the lamps.", "459", "535"),
        ("`moor_ship` of the harbour is in `quay/moor.py` (lines {}).", "459-470", "535-546"),
        ("The berths of the harbour follow ADR {} on lamps.", "0247", "0027"),
        ("Berths of the harbour without lamps: {} / 350", "212", "114"),
        ("Told of the harbour and its lamps: transcript lines {}.", "122-161", "1-161"),
    ],
)
def test_lines_of_files_names_and_parts_of_a_whole_are_no_corrected_values(
    repository: Repository, line: str, old: str, new: str
) -> None:
    for day, value in ((DAYS[1], old), (DAYS[2], new)):
        repository.commit("rules", day, **{"RULES.md": f"# Rules\n\n{line.format(value)}\n"})
    assert repository.judge(line.format(old)) == ()


@pytest.mark.parametrize("rule", ["Every new page must", "Jede neue Seite soll noch", "每个页面要"])
def test_what_is_to_be_done_each_time_is_never_done(repository: Repository, rule: str) -> None:
    claim = f"{rule} be added to `harbour/pages.md`."
    repository.commit("docs: pages", DAYS[2], **{"harbour__pages.md": "# Pages\n"})
    assert repository.judge(claim.replace(rule, "The lamps must")) != ()
    assert repository.judge(claim) == ()


def test_the_code_of_others_does_not_refute_that_something_is_to_be_done(
    repository: Repository,
) -> None:
    claim = "The client must expose `read_years()`."
    made = "def read_years(): ...\n"
    repository.commit("vendor", DAYS[2], **{"vendor__tables__client.py": made})
    assert repository.judge(claim) == ()
    repository.commit("years", DAYS[2], **{"tide__client.py": made})
    (finding,) = repository.judge(claim)
    assert finding.evidence[0].startswith("tide/client.py:1: ")


def test_a_checklist_for_every_time_is_no_open_work(repository: Repository) -> None:
    repository.commit("feat: harbour map", DAYS[2])
    assert repository.judge("## Before a release\n\n- [ ] Harbour map updated") == ()


def test_an_entry_of_the_index_is_judged_by_its_status(repository: Repository) -> None:
    inside = {
        "index": "- [x](x.md): the tides; harbour map not built yet\n",
        "memory": "project/notes",
    }
    assert repository.judge("The tides.", **inside) == ()
    repository.commit("notes", DAYS[1])
    assert repository.judge("The tides.", **inside) == ()
    repository.commit("feat: harbour map", DAYS[2])
    (finding,) = repository.judge("The tides.", **inside)
    assert finding.path == "MEMORY.md"


def test_a_name_that_another_file_defines_now_is_reported(repository: Repository) -> None:
    body = "- `tide/tables.py`: a new port goes into `PORT_MAP`"
    repository.commit("ports", DAYS[1], **{"tide__tables.py": "PORT_MAP = {}\n"})
    assert repository.judge(body) == ()
    repository.commit(
        "Ports apart",
        DAYS[2],
        **{
            "tide__tables.py": "from tide.ports import PORT_MAP\n",
            "tide__ports.py": "PORT_MAP = {}\n",
        },
    )
    (finding,) = repository.judge(body)
    assert finding.message == "tide/tables.py no longer defines PORT_MAP."
    assert finding.evidence[0] == "tide/ports.py defines it now"
    assert repository.judge(body, written="2026-10-10") == ()


def test_a_name_that_its_file_still_has_from_a_call_was_not_moved(repository: Repository) -> None:
    body = "- `web/page.ts` wires `checkPort`"
    before = {"web__page.ts": "export const checkPort = (port) => port > 0;\n"}
    repository.commit("ports", DAYS[1], **before)
    after = {
        "web__page.ts": "const { checkPort } = usePorts();\n",
        "web__ports.ts": "export const checkPort = (port) => port > 0;\n",
    }
    repository.commit("ports apart", DAYS[2], **after)
    assert repository.judge(body) == ()


def test_a_name_is_looked_up_in_each_file_beside_it(repository: Repository) -> None:
    body = "All is in `tide/tables.py`.\n\n- `tide/tables.py`: a new port goes into `PORT_MAP`"
    repository.commit("ports", DAYS[1], **{"tide__tables.py": "PORT_MAP = {}\n"})
    after = {"tide__tables.py": "TABLES = {}\n", "tide__ports.py": "PORT_MAP = {}\n"}
    repository.commit("ports apart", DAYS[2], **after)
    (finding,) = repository.judge(body)
    assert finding.message == "tide/tables.py no longer defines PORT_MAP."


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        ("`web/page.ts` sends `portNumber` to the harbour.", True),
        ("`web/page.ts` sends `portNumber`, as `web/form.ts` does.", False),
        ("Added `portNumber` to `web/page.ts`.", False),
        ("`web/page.ts` no longer sends `portNumber`.", False),
        ("- 2026-09-12: `web/page.ts` sends `portNumber`.", False),
    ],
)
def test_a_file_that_lost_a_name_which_others_have_is_told(
    repository: Repository, body: str, *, is_reported: bool
) -> None:
    form = "send({ portNumber });\n"
    repository.commit("page", DAYS[1], **{"web__page.ts": form, "web__form.ts": form})
    assert repository.judge(body, memory="before") == ()
    repository.commit("Send names", DAYS[2], **{"web__page.ts": "send({ name });\n"})
    found = repository.judge(body)
    messages = [it.message for it in found if it.severity >= Severity.WARNING]
    assert messages == ["web/page.ts no longer has portNumber."] * is_reported
    assert repository.judge(body, written="2026-10-10") == ()


def test_a_name_inside_of_a_function_comes_and_goes(repository: Repository) -> None:
    inside = "export function send() {\n  let portNumber = 1;\n  post(portNumber);\n}\n"
    repository.commit("page", DAYS[1], **{"web__page.ts": inside, "web__form.ts": inside})
    repository.commit("Send names", DAYS[2], **{"web__page.ts": "post(1);\n"})
    assert repository.judge("`web/page.ts` sends `portNumber` to the harbour.") == ()


def test_what_a_file_lost_is_said_of_its_line_only(repository: Repository) -> None:
    form = "send({ portNumber });\n"
    repository.commit("page", DAYS[1], **{"web__page.ts": form, "web__form.ts": form})
    repository.commit("Send names", DAYS[2], **{"web__page.ts": "send({ name });\n"})
    claim = "The form has `portNumber`.\n\n`web/page.ts` sends `portNumber`."
    (finding,) = repository.judge(claim)
    assert finding.message == "web/page.ts no longer has portNumber."
    assert not any(it.startswith("also in") for it in finding.evidence)


def test_a_class_before_its_member_is_looked_up_too(repository: Repository) -> None:
    repository.commit(
        "gauge", DAYS[1], **{"tide__gauge.py": "class GaugeReader:\n    def load_all(self): ...\n"}
    )
    assert repository.judge("Call `GaugeReader.load_all()`.") == ()
    repository.commit("plain", DAYS[2], **{"tide__gauge.py": "def load_all(): ...\n"})
    (finding,) = repository.judge("Call `GaugeReader.load_all()`.")
    assert finding.message == "Not found in the project: GaugeReader."


def test_a_version_that_the_introduction_had_is_compared(repository: Repository) -> None:
    body = "Tidewatch v1.4 runs in the harbour."
    repository.commit("page", DAYS[0], **{"README.md": "# Tidewatch v1.4\n"})
    assert repository.judge(body) == ()
    repository.commit("Two", DAYS[2], **{"README.md": "# Tidewatch v2.0\n"})
    (finding,) = repository.judge(body)
    assert finding.rule == "changed-since"
    assert finding.evidence[0] == "README.md:1: Tidewatch v2.0"
    assert repository.judge("Tidewatch v1.3 runs in the harbour.") == (), "it never had that"
    assert repository.judge("On 2026-09-03 Tidewatch v1.4 stopped.") == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"package.json": '{"version": "1.4.0"}'}, {"package.json": '{"version": "1.5.2"}'}),
        ({"index.html": "<b>Tide v1.4.0</b>\n"}, {"index.html": "<b>Tide v1.5.2</b>\n"}),
    ],
)
@pytest.mark.parametrize("claim", ["Current version: **v1.4.0**", "Aktuelle Version ist 1.4.0."])
def test_the_current_version_is_that_of_the_project(
    repository: Repository, claim: str, before: dict[str, str], after: dict[str, str]
) -> None:
    repository.commit("one", DAYS[1], **before)
    assert repository.judge(claim) == ()
    repository.commit("two", DAYS[2], **after)
    (finding,) = repository.judge(claim)
    assert "1.5.2" in finding.evidence[0]
    assert repository.judge(claim.replace("1.4.0", "1.5.2")) == ()


def test_a_version_that_two_places_refute_is_one_finding(repository: Repository) -> None:
    page = "The bridge runs in version v1.4.0 of the tables.\n"
    first = {"package.json": '{"version": "1.4.0"}', "STATE.md": page}
    repository.commit("one", DAYS[1], **first)
    body = "- **Current version**: v1.4.0 of the bridge and the tables"
    assert repository.judge(body) == ()
    second = {"package.json": '{"version": "1.5.2"}', "STATE.md": page.replace("1.4.0", "1.5.2")}
    repository.commit("two", DAYS[2], **second)
    assert len(repository.judge(body)) == 1


def test_the_newest_tag_is_the_current_version(repository: Repository) -> None:
    claim = "当前版本：v1.9.0"
    git(repository.root, "tag", "v1.9.0")
    assert repository.judge(claim) == ()
    repository.commit("two", DAYS[2])
    git(repository.root, "tag", "v1.10.0")
    (finding,) = repository.judge(claim)
    assert finding.evidence[0].startswith("git: tag 1.10.0 at ")


def test_a_version_that_the_project_never_had_is_that_of_a_part(repository: Repository) -> None:
    repository.commit("one", DAYS[1], **{"package.json": '{"version": "0.9.0"}'})
    repository.commit("two", DAYS[2], **{"package.json": '{"version": "1.1.1"}'})
    assert repository.judge("The panel has its own number, current version: v0.7.3.") == ()
    assert len(repository.judge("Current version: v0.9.0", memory="own")) == 1


def test_a_whole_version_number_differs_by_its_major_version(repository: Repository) -> None:
    manifest = '{"dependencies": {"next": "16.1.6"}}'
    repository.commit("one", DAYS[1], **{"package.json": manifest})
    repository.commit("two", DAYS[2], **{"package.json": manifest.replace("16.1.6", "16.2.6")})
    assert repository.judge("The site runs on Next.js 16.1.6.") == ()
    older = "The site runs on Next.js 16.1."
    assert repository.judge(older, memory="minor") == (), "an older minor version harms nobody"
    assert len(repository.judge(older, memory="minor", least=Severity.INFO)) == 1
    repository.commit("three", DAYS[3], **{"package.json": manifest.replace("16.1.6", "17.0.1")})
    assert len(repository.judge("The site runs on Next.js 16.1.6.", memory="major")) == 1
    assert repository.judge("The site runs on Next.js 16+.", least=Severity.INFO) == ()


def test_what_is_taken_without_a_setting_is_no_value_of_it(repository: Repository) -> None:
    spoken = "Read it: `cost = config != null ? config.STEP_MINUTES : 5;`"
    repository.commit("a", DAYS[1], **{"tide__tables.py": "STEP_MINUTES = 5\n"})
    repository.commit("b", DAYS[2], **{"tide__tables.py": "STEP_MINUTES = 20\n"})
    assert repository.judge(spoken) == ()
    assert len(repository.judge("Read it: `config.STEP_MINUTES: 5`", memory="set")) == 1


def test_each_environment_has_settings_of_its_own(repository: Repository) -> None:
    claim = "The limit is off while developing (`TIDE_LIMIT=0`)."
    repository.commit("a", DAYS[1], **{".env.production": "TIDE_LIMIT=5\n"})
    assert repository.judge(claim) == ()
    repository.commit("b", DAYS[1], **{"tide/limit.py": "TIDE_LIMIT = 5\n"})
    assert len(repository.judge(claim, memory="b")) == 1


def test_a_page_that_now_allows_all_minor_versions_corrects_none(repository: Repository) -> None:
    repository.commit("a", DAYS[1], **{"docs__stack.md": "React, Harbour 16.1, Tide.\n"})
    repository.commit("b", DAYS[2], **{"docs__stack.md": "React, Harbour 16.x, Tide.\n"})
    assert repository.judge("Built with React, Harbour 16.1, Tide.") == ()


def test_a_file_says_where_something_is_to_be_done_not_what(repository: Repository) -> None:
    claim = "## Remaining work\n\n- harbour_browser.py: rewrite from scratch."
    repository.commit("Add harbour browser with narrow layout", DAYS[2])
    assert repository.judge(claim) == ()
    assert len(repository.judge("## Remaining work\n\n- Harbour browser.", memory="own")) == 1


def test_what_a_file_had_is_gone_with_it(repository: Repository) -> None:
    old = "class HarbourReader: ...\n"
    repository.commit("a", DAYS[0], **{"tools__read.py": old})
    git(repository.root, "rm", "--quiet", "tools/read.py")
    repository.commit("drop the reader", DAYS[2])
    (finding,) = repository.judge("- `tools/read.py`: `HarbourReader`")
    assert finding.rule == "missing-path"
    assert "with it: HarbourReader" in finding.evidence
    for claim in ("It is read with `HarbourReader`.", "- `tools/`: `HarbourReader`"):
        (finding,) = repository.judge(claim, memory="alone")
        assert finding.rule == "missing-symbol"


@pytest.mark.parametrize(
    ("banner", "is_reported"),
    [
        ("> ⚠️ **This file is outdated**: the state of August.", False),
        ("> ⚠️ **Файл застарів**: стан на серпень.", False),
        ("> The tables are read at night.", True),
        ("> ⚠️ Read the tables at night.", True),
    ],
)
def test_a_warning_below_the_first_words_says_that_a_note_is_outdated(
    repository: Repository, banner: str, *, is_reported: bool
) -> None:
    repository.commit("a", DAYS[0], **{"tools__read.py": "class HarbourReader: ...\n"})
    git(repository.root, "rm", "--quiet", "tools/read.py")
    repository.commit("drop the reader", DAYS[2])
    body = f"How the tables are read.\n\n{banner}\n\n## Parts\n\nIt is `HarbourReader`."
    assert bool(repository.judge(body)) is is_reported


def test_what_was_done_to_a_file_stays_so_without_it(repository: Repository) -> None:
    repository.commit("a", DAYS[0], **{"tools/read.py": "READ = 1\n"})
    git(repository.root, "rm", "--quiet", "tools/read.py")
    repository.commit("drop the reader", DAYS[2])
    assert (
        repository.judge("- **Phase 3** (done): extracted `tools/read.py` from the tables.") == ()
    )
    assert repository.judge("- **Phase 3** (open): extract `tools/read.py` from it.", memory="b")


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("All of it is in `reader.js` (~900 lines).", "web/reader.js has 20 lines, not 900."),
        ("All of it is in `reader.js`, 912 Zeilen.", "web/reader.js has 20 lines, not 912."),
        ("`web/reader.js` 约900行", "web/reader.js has 20 lines, not 900."),
        (
            "Tides are near line 700 of reader.js.",
            "Line 700 does not exist: web/reader.js has 20 l",
        ),
        ("Tides are read in reader.js ~L700.", "Line 700 does not exist: web/reader.js has 20 lin"),
        ("`reader.js` (lines 640-700) has tides.", "Line 640 does not exist: web/reader.js has 20"),
        ("Look into `reader.js` (line 21).", "Line 21 does not exist: web/reader.js has 20 lines"),
        (
            "- `read()` of `reader.js`:\n- starts (~line 700)",
            "Line 700 does not exist: web/reader.js has 20 lines",
        ),
        ("`reader.js` as of line 640 (2026-09-02).", ""),
        ("- `reader.js` and `plot.js`:\n- start (~line 700)", ""),
        ("## A\n\n`reader.js`\n\n## B\n\n- starts (~line 700)", ""),
        ("Look into `reader.js` (line 20).", ""),
        ("The texts of `reader.js` (L700n) are in it.", ""),
        ("All of it is in `reader.js` (~300 lines).", ""),
        ("Tides are near line 1700 of reader.js.", ""),
        ("`reader.js` (~900 lines) was split up.", ""),
        ("- 2026-09-02: `reader.js` is 900 lines.", ""),
    ],
)
def test_a_file_that_lost_most_of_its_lines_is_another_one(
    repository: Repository, claim: str, message: str
) -> None:
    files = {"web/reader.js": "read();\n" * 910, "web/plot.js": "plot();\n"}
    repository.commit("a", DAYS[0], **files)
    assert repository.judge(claim, memory="before") == ()
    repository.commit("split the reader", DAYS[2], **{"web/reader.js": "read();\n" * 20})
    messages = [it.message for it in repository.judge(claim)]
    assert len(messages) == bool(message)
    assert all(it.startswith(message) for it in messages)


def test_a_flag_may_be_of_another_program(repository: Repository) -> None:
    claim = "The other tool has no `--offline-mode`."
    repository.commit("add", DAYS[2], **{"tide__run.py": 'run(["x", "--offline-mode"])\n'})
    assert repository.judge(claim) == ()
    assert len(repository.judge("`run.py` has no `--offline-mode`.", memory="own")) == 1


@pytest.mark.parametrize("count", [2, 8])
def test_of_many_notes_each_line_counts_from_its_own_commit(
    repository: Repository, count: int
) -> None:
    names = [f"{number} 潮.md" for number in range(count)]
    memory = repository.root / "memory"
    write_memory(memory, {name: note_text("x", "They wait.\n") for name in names})
    repository.commit("notes", DAYS[0])
    early, late = names[:-1], names[-1]
    claim = note_text("x", "They wait.\n\nThe tables are on branch `feat/year-tables`.\n")
    write_memory(memory, dict.fromkeys(early, claim))
    repository.commit("notes on tables", DAYS[1])
    repository.commit("Merge branch 'feat/year-tables'", DAYS[2])
    write_memory(memory, {late: claim})
    repository.commit("a late note", DAYS[3])
    findings = repository.open("project/memory").read_snapshot_with_evidence().findings
    told = [it.path for it in findings if it.severity >= Severity.WARNING]
    assert sorted(told) == early


@pytest.mark.parametrize(("count", "is_known"), [(3, True), (12, False)])
def test_when_notes_were_written_that_came_with_many_others_is_not_known(
    repository: Repository, count: int, *, is_known: bool
) -> None:
    repository.commit("a", DAYS[0], **{"tools/read.py": "READ = 1\n"})
    git(repository.root, "rm", "--quiet", "tools/read.py")
    repository.commit("drop the reader", DAYS[1])
    names = [f"{number}.md" for number in range(count)]
    texts = dict.fromkeys(names, note_text("x", "They wait.\n"))
    texts[names[0]] = note_text("x", "The tables are read by `tools/read.py`.\n")
    write_memory(repository.root / "memory", texts)
    repository.commit("notes from another machine", DAYS[2])
    findings = repository.open("project/memory").read_snapshot_with_evidence().findings
    (finding,) = [it for it in findings if it.rule == "missing-path"]
    assert (finding.severity is Severity.INFO) is is_known


@pytest.mark.parametrize("before", ["--offline-mode", "--online-mode"])
def test_a_flag_that_other_code_had_before_is_not_new(repository: Repository, before: str) -> None:
    claim = "`run.py` has no `--offline-mode`."
    repository.commit("plot", DAYS[0], **{"tide__plot.py": f'plot(["{before}"])\n'})
    repository.commit("add", DAYS[2], **{"tide__run.py": 'run(["x", "--offline-mode"])\n'})
    assert len(repository.judge(claim)) == (before != "--offline-mode")


def test_a_case_that_a_row_is_for_is_no_status(repository: Repository) -> None:
    repository.commit("feat: piers", DAYS[2], **{"tide__piers.py": "pierNumber = read_pier()\n"})
    rows = "| Code | Case |\n|---|---|\n| 404 | `pierNumber` does not exist |\n"
    assert repository.judge(rows) == ()
    assert len(repository.judge("`pierNumber` does not exist.", memory="said")) == 1


def test_a_row_that_is_done_tells_what_was_open_then(repository: Repository) -> None:
    repository.commit("feat: add station export", DAYS[2])
    row = (
        "| Part | State | Notes |\n|---|---|---|\n"
        "| Tables | {} | Rows of a year. Station export deferred. |"
    )
    assert repository.judge(row.format("✅ done")) == ()
    assert len(repository.judge(row.format("begun"), memory="open")) == 1


def test_paths_that_git_keeps_elsewhere_are_not_missing(repository: Repository) -> None:
    files = {"data__ports.json": "{}\n", "tide__deep__inner__read.py": "\n"}
    repository.commit("files", DAYS[0], **files)
    git(repository.root, "rm", "--quiet", "--cached", "data/ports.json")
    repository.commit("Untrack", DAYS[2], **{".gitignore": "/data/\n"})
    (repository.root / "data/ports.json").unlink()
    assert repository.judge("The ports are in `data/ports.json`.") == (), "git ignores it now"
    assert repository.judge("See `tide/.../read.py` and `tide/deep/inner/re….py`.") == ()
    git(repository.root, "update-index", "--skip-worktree", "tide/tables.py")
    (repository.root / "tide/tables.py").unlink()
    assert repository.judge("The step is in `tide/tables.py`.") == (), "git keeps it"


def test_a_name_is_missing_only_where_the_code_once_had_it(repository: Repository) -> None:
    repository.commit("read", DAYS[1], **{"tide__read.py": "def read_tide(): ...\n"})
    body = "Call `read_tide()` first. Then `write_tide()` of `tide/tables.py`."
    assert repository.judge(body) == ()
    repository.commit("Load instead", DAYS[2], **{"tide__read.py": "def load(): ...\n"})
    (finding,) = repository.judge(body)
    assert finding.message == "Not found in the project: read_tide()."
    assert "Load instead" in finding.evidence[0]


def test_a_note_that_names_the_request_knows_that_the_name_is_gone(repository: Repository) -> None:
    repository.commit("read", DAYS[1], **{"tide__read.py": "def read_tide(): ...\n"})
    repository.commit("Load (#575)", DAYS[2], **{"tide__read.py": "def load(): ...\n"})
    assert repository.judge("Call `read_tide()` first, see #57.")
    assert repository.judge("Call `read_tide()` first, see #575.") == ()


def test_a_value_in_prose_counts_where_the_code_had_it(repository: Repository) -> None:
    body = "| setting | value |\n|---|---|\n| `STEP_MINUTES` | 10 |"
    assert repository.judge(body) == ()
    repository.commit("Finer", DAYS[2], **{"tide__tables.py": "STEP_MINUTES = 5.0\n"})
    (finding,) = repository.judge(body)
    assert finding.rule == "changed-since"
    assert "Finer" in finding.evidence[1]
    assert repository.judge("| `STEP_MINUTES` | 7 |") == (), "the code never had it"
    assert repository.judge("`STEP_MINUTES` is 5 now.") == ()


def test_a_path_that_git_moved_is_reported_in_a_plan_too(repository: Repository) -> None:
    (repository.root / "core").mkdir()
    git(repository.root, "mv", "tide/tables.py", "core/tables.py")
    repository.commit("Core", DAYS[2])
    assert [it.rule for it in repository.judge("## Plan\n\nStart at `tide/tables.py`.")]
    assert repository.judge("## History\n\nIt began in `tide/tables.py`.") == ()
    assert repository.judge("It was moved from `tide/tables.py`.") == ()


@pytest.mark.parametrize(
    ("description", "body"),
    [
        ("The reader, build not started", "**BUILT & shipped** in May."),
        ("Two slices: slice 1 done, slice 2 planned", "One.\n\n**SLICE 2 DONE:** it reads all."),
        ("P7a merged, P7b next", "**P7b — the page: DONE & MERGED.**"),
        ("Iters 2–4 pending", "Iter 1 DONE.\n\n**Iter 3 DONE:** brakes."),
        ("Ready to implement", "Phases.\n\n## Completed (all 4 phases shipped)"),
        ("阶段 2 进行中", "说明。\n\n阶段 2 已完成。"),
        ("Phase 2 in Arbeit", "Zwei Phasen.\n\n**Phase 2: FERTIG**"),
    ],
)
def test_a_description_that_the_text_refutes_is_reported(
    lint: Lint, description: str, body: str
) -> None:
    (finding,) = lint({"a.md": note(body, description=description)}, "inconsistent-note")
    assert "done" in finding.message


@pytest.mark.parametrize(
    ("description", "body"),
    [
        ("Slice 2 planned", "**SLICE 1 DONE:** it reads all."),
        ("Slice 2 planned", "Slice 2 is NOT DONE."),
        ("Not built", "NOT YET IMPLEMENTED: the pages."),
        ("未着手", "説明。\n\n未完了。"),
        # parts of names
        ("Moved the gauge page → pier-next", "## Moved the gauge page → pier-next ✅"),
        ("Icons of the pier Next.js", "## Icons of the pier move to Next.js ✅"),
        ("Nothing pending", "**DONE**"),
        ("Not built for speed", "**DONE** in May."),
        ("The pending review of the port", "The port DONE its part."),
        ("Three rules", "# Three rules\n\n1. One.\n2. Two.\n3. Three."),
        ("Rules", "# 2 weeks later\n\nText.\n\n1. One.\n2. Two.\n3. Three."),
        ("할 일", "## 할 일 (1개월 내)\n\n1. a\n2. b\n3. c"),
        ("待办", "## 待办（2个月内）\n\n1. a\n2. b\n3. c"),
        # a second list begins before its numbers go on
        ("R", "**Two causes:**\n\n1. A.\n\n2. B.\n\n**To do:**\n1. C.\n2. D.\n3. E.\n4. F."),
        # what it counts first is not what the list has
        ("R", "Two rounds of readers; each page must pass 3 checks:\n\n1. A.\n2. B.\n3. C."),
        # its numbers go on below another label
        ("R", "**Two causes:**\n\n1. A.\n2. B.\n\n**In use now:**\n\n3. C.\n4. D."),
        # next on the day of which the record tells
        ("R", "The port is DONE. Next: second gauge table.\n\nThe second gauge table now BUILT."),
        (
            "R",
            "Written on 2026-06-01. Next: second gauge table.\n\nThe second gauge table now BUILT.",
        ),
        ("A 17-berth pier", "It has 17 new berths and 14 old ones.\n\nAll 31 berths are lit."),
    ],
)
def test_other_parts_and_right_numbers_are_not_reported(
    lint: Lint, description: str, body: str
) -> None:
    text = note(body, description=description)
    assert lint({"a.md": text}, "inconsistent-note") == ()


@pytest.mark.parametrize(
    "body",
    [
        "# Three rules\n\n1. One.\n2. Two.",
        "## 清单（6本）\n\n1. a\n2. b",
        "## 항목 (1개)\n\n1. a\n2. b",
        "**Still open:** the second gauge table of the port.\n\nThe second gauge table now BUILT.",
        "The port is wide. Next: second gauge table.\n\nThe second gauge table now BUILT.",
    ],
)
def test_numbers_and_open_items_that_the_text_refutes_are_reported(lint: Lint, body: str) -> None:
    assert [it.rule for it in lint({"a.md": note(body)}, "inconsistent-note")] == [
        "inconsistent-note"
    ]


def test_an_entry_that_its_note_refutes_is_reported(lint: Lint) -> None:
    entries = "- [A](a.md) — alarms (researched, not built)\n- [B](b.md) — plans (not built)\n"
    files = {"MEMORY.md": entries, "a.md": note("**ALL 4 PHASES DONE.**"), "b.md": note("Plans.")}
    (finding,) = lint(files, "index-outdated-entry")
    assert (finding.path, finding.line) == ("MEMORY.md", 1)
    assert finding.evidence == ("a.md:7: **ALL 4 PHASES DONE.**",)


def test_an_entry_is_right_where_its_note_says_last_that_the_work_is_open(lint: Lint) -> None:
    entry = "- [A](a.md) — Phase 2 not built\n"
    body = "Phase 2: DONE in May.\n\nReverted. "
    for last, count in (("Phase 2 is not built.", 0), ("Phase 3 is not built.", 1)):
        files = {"MEMORY.md": entry, "a.md": note(body + last)}
        assert len(lint(files, "index-outdated-entry")) == count


def test_an_entry_names_the_parts_of_a_range_and_how_many_are_none(lint: Lint) -> None:
    entry = "- [A](a.md) — Phases 0-9 done (4 deferred); 10-14 pending\n"
    for numbers, count in (("(0-9, 10-14; **4 deferred**)", 1), ("(0-9; **4 deferred**)", 0)):
        files = {"MEMORY.md": entry, "a.md": note(f"ALL PHASES COMPLETE {numbers}.")}
        messages = [it.message for it in lint(files, "index-outdated-entry")]
        assert messages == ["The entry says “10-14 pending”, its note that it is done."] * count
    files = {"MEMORY.md": "- [A](a.md) — 3 not built\n", "a.md": note("**ALL 4 PHASES DONE.**")}
    assert lint(files, "index-outdated-entry") == ()


CORRECTED = "# Berths\n\nA berth of the harbour is held for {} minutes.\n"


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        ("The harbour holds a berth for 45 minutes.", True),
        ("Held for 45 minutes: a berth of the harbour.", True),
        # the present value, the past, a name of work, another thing
        ("The harbour holds a berth for 20 minutes.", False),
        ("The harbour holds a berth for 20 minutes, not 45 minutes.", False),
        ("A berth was held for 45 minutes by the harbour in the old plan.", False),
        ("## 2026-09-20\n\nThe harbour holds a berth for 45 minutes.", False),
        ("The harbour holds a berth since step 45 minutes.", False),
        ("The ferry takes 45 minutes.", False),
    ],
)
def test_value_that_a_page_corrected_since_is_reported(
    repository: Repository, body: str, is_reported: bool
) -> None:
    for day, minutes in ((DAYS[1], 45), (DAYS[2], 20)):
        write_memory(repository.root, {"docs/berths.md": CORRECTED.format(minutes)})
        repository.commit("docs: how long a berth is held", day)
    found = repository.judge(body)
    if not is_reported:
        assert found == ()
        return
    (finding,) = found
    assert finding.rule == "changed-since"
    assert finding.message == "45 is 20 now in docs/berths.md:3."
    assert finding.evidence[0].startswith("docs/berths.md:3: A berth of the harbour")
    assert finding.evidence[1].startswith("git: changed in ")


def test_note_that_still_says_what_another_note_corrected_is_reported(
    tmp_path: Path, begun: Path
) -> None:
    repository = Repository(tmp_path, begun)
    for day, minutes in ((DAYS[1], 45), (DAYS[2], 20)):
        other = note_text("berths", f"A berth of the harbour is held for {minutes} minutes.\n")
        write_memory(repository.root, {"docs/memory/berths.md": other})
        repository.commit("memory: berths", day)
    found = repository.judge(
        "Guests ask: the harbour holds a berth for 45 minutes.", memory="project/docs/memory"
    )
    assert [it.message for it in found] == ["45 is 20 now in docs/memory/berths.md:9."]


@pytest.mark.parametrize(("others", "is_reported"), [((31,), True), ((31, 52), False)])
def test_what_each_note_counts_for_itself_is_corrected_in_none(
    tmp_path: Path, begun: Path, others: tuple[int, ...], is_reported: bool
) -> None:
    repository = Repository(tmp_path, begun)
    line = "Acceptance criteria: automatic tests {}, manual checks\n"
    for number, count in enumerate(others):
        page = note_text(f"pier-{number}", line.format(count))
        write_memory(repository.root, {f"docs/memory/pier-{number}.md": page})
    for day, count in ((DAYS[1], 45), (DAYS[2], 20)):
        page = note_text("berths", line.format(count))
        write_memory(repository.root, {"docs/memory/berths.md": page})
        repository.commit("memory: berths", day)
    found = repository.judge(line.format(45), memory="project/docs/memory")
    assert [it.rule for it in found] == ["changed-since"] * is_reported


@pytest.mark.parametrize(
    ("path", "line", "is_reported"),
    [
        ("docs/memory/north.md", "**A berth of the harbour is held for:** {} minutes", False),
        ("docs/memory/north.md", "| A berth of the harbour is held for | {} minutes |", False),
        ("docs/memory/north.md", "A berth of the harbour is held for {} minutes.", True),
        ("docs/berths.md", "**A berth of the harbour is held for:** {} minutes", True),
    ],
)
def test_the_field_of_one_note_is_not_corrected_in_another(
    tmp_path: Path, begun: Path, path: str, line: str, is_reported: bool
) -> None:
    repository = Repository(tmp_path, begun)
    for day, minutes in ((DAYS[1], "45"), (DAYS[2], "20")):
        text = line.format(minutes)
        page = note_text("north", f"{text}\n") if "memory" in path else f"# Berths\n\n{text}\n"
        write_memory(repository.root, {path: page})
        repository.commit("docs: berths", day)
    found = repository.judge(line.format("45"), memory="project/docs/memory")
    assert [it.rule for it in found] == ["changed-since"] * is_reported


@pytest.mark.parametrize(
    ("name", "is_reported"), [("tide-ruler-4-6", False), ("tide-ruler-4", True), ("lamp-4-6", True)]
)
def test_the_release_that_a_note_is_about_is_no_outdated_value(
    tmp_path: Path, begun: Path, name: str, is_reported: bool
) -> None:
    repository = Repository(tmp_path, begun)
    for day, number in ((DAYS[1], "4.6"), (DAYS[2], "4.7")):
        write_memory(repository.root, {"docs/all.md": f"# All\n\n- Tide Ruler {number} of Sines\n"})
        repository.commit("docs: rulers", day)
    page = {f"docs/memory/{name}.md": note_text(name, "A ruler for tides.\n")}
    write_memory(repository.root, page)
    body = "Compared with Tide Ruler 4.6 of Sines it is small."
    found = repository.judge(body, memory="project/docs/memory")
    assert [it.message for it in found] == ["4.6 is 4.7 now in docs/all.md:3."] * is_reported


def test_share_of_one_thing_is_not_that_of_another_note(tmp_path: Path, begun: Path) -> None:
    repository = Repository(tmp_path, begun)
    for day, share in ((DAYS[1], 45), (DAYS[2], 60)):
        other = note_text("all", f"Overall progress: {share}%\n")
        write_memory(repository.root, {"docs/memory/all.md": other})
        repository.commit("memory: progress", day)
    body = "Overall status of the lamps: 45% progress"
    assert repository.judge(body, memory="project/docs/memory") == ()


def test_path_is_suggested_only_with_more_evidence_than_its_base_name(
    repository: Repository,
) -> None:
    write_memory(
        repository.root,
        {
            "deploy/web/action.yml": "a: 1\n",
            "tide/forms/entry.py": "ENTRY = 1\n",
            "tide/berth/book.py": "B = 2\n",
        },
    )
    repository.commit("more", DAYS[1])
    git(repository.root, "rm", "--quiet", "-r", "deploy", "tide/forms", "tide/berth")
    repository.commit("less", DAYS[2])
    write_memory(repository.root, {"app/berth/book.py": "def write(): ...\n"})
    write_memory(
        repository.root,
        {".github/build/action.yml": "b: [2]\n", "app/tide/entry.py": "ENTRY = 1\nEXIT = 2\n"},
    )
    repository.commit("others", DAYS[3])
    one, other, third = repository.judge(
        "Deploy with `deploy/web/action.yml`. Forms are in `tide/forms/entry.py`.\n\n"
        "Berths are in `tide/berth/book.py`."
    )
    assert one.message == "deploy/web/action.yml does not exist."
    assert other.message == "tide/forms/entry.py does not exist. Did you mean app/tide/entry.py?"
    assert third.message == "tide/berth/book.py does not exist.", "nothing of its text is there"


def test_sentence_with_the_new_place_tells_of_the_move(repository: Repository) -> None:
    write_memory(repository.root, {"tide/salle.py": "WIDTH = 3\nHEIGHT = 4\n"})
    repository.commit("more", DAYS[1])
    git(repository.root, "mv", "tide/salle.py", "tide/hall.py")
    repository.commit("English", DAYS[2])
    assert repository.judge("Anglais : `tide/salle.py` → `tide/hall.py`.") == ()
    assert [it.rule for it in repository.judge("Voir `tide/salle.py`.")] == ["missing-path"]


@pytest.mark.parametrize(
    "body",
    [
        "구 `tide/tables.py` 스크립트.",
        "`tide/tables.py` 을 새 것으로 통합.",
        "Старый `tide/tables.py`.",
    ],
)
def test_former_file_is_known_in_other_languages(repository: Repository, body: str) -> None:
    git(repository.root, "rm", "--quiet", "tide/tables.py")
    repository.commit("less", DAYS[1])
    assert repository.judge(body) == ()


def test_file_that_every_commit_changes_and_the_memory_are_no_reason_to_read_again(
    tmp_path: Path,
    begun: Path,
) -> None:
    repository = Repository(tmp_path, begun)
    for number in range(10):
        write_memory(
            repository.root,
            {
                "progress.md": f"Day {number}\n",
                "docs/memory/other.md": note_text("other", f"{number}\n"),
                "tide/plan.py": f"PLAN = {number // 9}\n",
            },
        )
        repository.commit(f"work {number}", f"2026-10-{number + 1:02}")
    text = note_text("x", "`progress.md`, `docs/memory/other.md`, `tide/plan.py`.\n")
    stamped = text.replace("  type:", "  modified: 2026-10-02\n  type:")
    root = write_memory(repository.root / "docs" / "memory", {"x.md": stamped, "MEMORY.md": "\n"})
    environment = load_environment(
        {"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        state=str(tmp_path / "state"),
        now="2026-11-20T12:00:00+00:00",
    )._replace(project=str(repository.root))
    place = find_memory(str(root), environment)
    opened = Notebook(place, environment, Settings(), frozenset(("changed-since",)))
    (finding,) = opened.read_snapshot_with_evidence().findings
    assert [it.partition(":")[0] for it in finding.evidence] == ["tide/plan.py"]


LOST = {
    "names in a list": ("The loop has `read_tide/fill_gaps/plot_curve`.", "missing-symbol"),
    "a name in a table": ("| fill_gaps | closes what the gauge missed |", "missing-symbol"),
    "a name in a sentence": ("Readings pass fill_gaps first.", "missing-symbol"),
    "a setting in code": ("`max_gap: 4` is right for the bay.", "changed-since"),
    "a setting in a sentence": ("The limit max_gap = 4 is right for the bay.", "changed-since"),
    "a setting in a table": ("| `max_gap` | 4 |", "changed-since"),
    "the target of a link": ("Read [how](tide/old_curve.py) it draws.", "missing-path"),
    "a link from another folder": ("Read [how](../../tide/old_curve.py).", "missing-path"),
    "a line that there was": ("See `tide/gauge.py:3`.", "missing-path"),
    "a renamed file, by a part of its path": ("See `page/curve.jsx`.", "missing-path"),
}


@pytest.fixture
def lost(repository: Repository) -> Repository:
    """A project that had names, values and files when the note was written, and lost them."""
    gauge = "def read_tide(): ...\ndef fill_gaps(): ...\ndef plot_curve(): ...\n"
    page = "export const drawCurve = () => 'of all days of the month'\n" * 3
    files = {"tide/gauge.py": gauge, "tide/old_curve.py": "", "web/page/curve.jsx": page}
    write_memory(repository.root, {**files, "tide/limits.yaml": "max_gap: 4\n"})
    repository.commit("feat: gauges", DAYS[1])
    git(repository.root, "rm", "--quiet", "tide/old_curve.py")
    git(repository.root, "mv", "web/page/curve.jsx", "web/page/curve.tsx")
    short = gauge.replace("def fill_gaps(): ...\n", "")
    write_memory(repository.root, {"tide/gauge.py": short, "tide/limits.yaml": "max_gap: 6\n"})
    repository.commit("refactor: leave gaps", DAYS[2])
    return repository


@pytest.mark.parametrize(
    "body",
    [
        "The gauge is done ✅: `tide/old_curve.py` draws it.",
        "On 2026-09-12 the colours came to `tide/old_curve.py`.",
        "**Curves DONE:**\n\n- `tide/old_curve.py` draws them",
        "**Why:** `tide/old_curve.py` hid a fault for days.",
        "Draw with `tide/old_curve.py`.\n\n`tide/old_curve.py` was deleted with the last release.",
        "> Superseded by the plotter of the harbour.\n\nDraw with `tide/old_curve.py`.",
        "> ✅ Resolved: nothing draws curves.\n\nDraw with `tide/old_curve.py`.",
        "先画出来,再删 tide/old_curve.py 和它的图。",
    ],
)
def test_a_note_that_knows_of_a_removal_asks_for_nothing(lost: Repository, body: str) -> None:
    assert lost.judge(body) == ()
    assert len(lost.judge("Draw with `tide/old_curve.py`.", memory="plain")) == 1


@pytest.mark.parametrize(
    "body",
    [
        "`fill_gaps()` filled too much. Fix: renamed to `fill_short_gaps()`, which asks.",
        "`fill_gaps()` 补得太多。修复：重命名为 `fill_short_gaps()`，先询问。",
    ],
)
def test_a_note_knows_that_a_name_got_longer_if_the_code_has_the_longer_one(
    lost: Repository, body: str
) -> None:
    assert len(lost.judge(body)) == 1
    write_memory(lost.root, {"tide/gaps.py": "def fill_short_gaps(): ...\n"})
    lost.commit("feat: short gaps", DAYS[3])
    assert lost.judge(body) == ()


@pytest.mark.parametrize(("name", "is_reported"), [("plot.tsx", False), ("plots.tsx", True)])
def test_a_sentence_with_the_new_name_tells_of_the_move(
    lost: Repository, name: str, is_reported: bool
) -> None:
    git(lost.root, "mv", "web/page/curve.tsx", "web/page/plot.tsx")
    lost.commit("Call it what it does", DAYS[3])
    assert bool(lost.judge(f"Curves: web/page/curve.tsx→{name}, with tests.")) is is_reported


def test_a_deleted_page_without_a_folder_names_a_source(lost: Repository) -> None:
    lost.commit("plan", DAYS[1], **{"docs__CURVES.md": "Curves.\n"})
    git(lost.root, "rm", "--quiet", "docs/CURVES.md")
    lost.commit("No more curves", DAYS[2])
    assert lost.judge("The order of the days comes out of `CURVES.md`.") == ()
    assert len(lost.judge("The order of the days is in `docs/CURVES.md`.", memory="folder")) == 1


@pytest.mark.parametrize("is_used", [True, False])
def test_a_folder_that_code_works_with_may_be_empty(lost: Repository, is_used: bool) -> None:
    code = "INBOX = 'tide/inbox/new'\n" if is_used else "INBOX = 'old/tide/inbox'\n"
    lost.commit("inbox", DAYS[1], **{"tide__inbox__one.csv": "1\n", "watch.py": code})
    git(lost.root, "rm", "--quiet", "tide/inbox/one.csv")
    lost.commit("Take the readings in", DAYS[2])
    found = lost.judge("New readings go to `tide/inbox/`.", least=Severity.INFO)
    assert bool(found) is not is_used


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("gauge/level.py", Severity.WARNING),
        ("gauge/", Severity.INFO),
        ("level.py", Severity.WARNING),
    ],
)
def test_only_a_path_to_a_file_surely_means_one(
    repository: Repository, name: str, severity: Severity
) -> None:
    _drop_gauge(repository)
    (found,) = repository.judge(f"The level is in `{name}`.", least=Severity.INFO)
    assert (found.rule, found.severity) == ("missing-path", severity)


def test_files_of_another_repository_below_a_folder_are_not_missing(lost: Repository) -> None:
    lost.commit("plots", DAYS[1], **{"plots__year__draw.py": "\n"})
    git(lost.root, "rm", "--quiet", "plots/year/draw.py")
    lost.commit("Plots are their own project", DAYS[2])
    assert len(lost.judge("Draw with `plots/year/draw.py`.")) == 1
    other = write_memory(lost.root / "work/plots/year", {"README.md": "Plots.\n"})
    git(other, "init", "--quiet")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "-m", "begin")
    lost.commit("feat: work", DAYS[3])
    assert lost.judge("Draw with `plots/year/draw.py`.", memory="later") == ()


@pytest.mark.parametrize(("body", "rule"), LOST.values(), ids=LOST)
def test_what_the_project_lost_after_the_note_is_reported(
    lost: Repository, body: str, rule: str
) -> None:
    (finding,) = lost.judge(body)
    assert finding.rule == rule
    assert any("2026-10-01" in text or "2026-09-10" in text for text in finding.evidence)
    if rule == "missing-symbol":
        later = lost.judge(body, written="2026-10-10", memory="later")
        assert later == (), "the note may name what others have"


@pytest.mark.parametrize(
    "body",
    [
        "On 2026-09-12 readings passed fill_gaps first.",
        "We removed fill_gaps in autumn.",
        "Never set `max_gap: 4` in summer.",
        "The limit `max_gap` is 6, before it was 4.",
        "`max_gap = 4` was too small; now `max_gap = 6`.",
        "`gap_limit: 4` is theirs, and so is close_gaps.",
        "See `tide/gauge.py:2` and [how](tide/gauge.py).",
    ],
)
def test_what_is_past_or_of_others_is_not_reported_as_lost(lost: Repository, body: str) -> None:
    assert lost.judge(body) == ()


FAULTS = {
    "en": ("Gaps stay open (fixed)", "Root cause", "Fix"),
    "de": ("Lücken bleiben offen – behoben", "Ursache", "Lösung"),
    "fr": ("Les trous restent (corrigé)", "Cause racine", "Correctif"),
    "es": ("[RESUELTO] Los huecos quedan", "Causa raíz", "Arreglo"),
    "it": ("Buchi aperti: risolto", "Causa", "Rimedio"),
    "pt": ("Lacunas abertas (corrigido)", "Causa raiz", "Solução"),
    "ru": ("Пропуски остаются (исправлено)", "Причина", "Решение"),
    "zh": ("缺口没有补上(已修复)", "根因", "修法"),
    "ko": ("빈 구간이 남음 (수정됨)", "원인", "해결"),
    "ja": ("欠損が残る(修正済み)", "原因", "対処"),
}
"""A title that marks a fault as fixed, a label for what caused it, and one for what was done."""
_CLAIM = "`fill_gaps` reads only one day."


@pytest.mark.parametrize(("title", "cause", "fix"), FAULTS.values(), ids=FAULTS)
def test_the_cause_of_a_fixed_fault_is_no_claim(
    lost: Repository, title: str, cause: str, fix: str
) -> None:
    open_title = title.split("(")[0].split("–")[0].split(":")[0].removeprefix("[RESUELTO] ")
    for title_of, is_reported in ((title, False), (open_title, True)):
        for body in (
            f"## {cause}\n\n{_CLAIM}",
            f"## {cause}\n{_CLAIM}",
            f"**{cause}**: {_CLAIM}",
            f"- **{cause}**:\n  1. {_CLAIM}",
        ):
            found = lost.judge(f"# {title_of}\n\n{body}")
            assert [it.rule for it in found] == ["missing-symbol"] * is_reported, body
    (finding,) = lost.judge(f"# {title}\n\n## {cause}\n\n{_CLAIM}\n\n## {fix}\n\n{_CLAIM}")
    lines = (lost.folder / "memory" / "x.md").read_text().rstrip().split("\n")
    assert finding.line == len(lines), "where the fault is fixed is a claim of the present"


@pytest.mark.parametrize(
    ("name", "is_reported"), [("quickfix_gaps", False), ("hotfix-gaps", False), ("fixtures", True)]
)
def test_the_name_of_a_note_may_mark_it_as_one_about_a_fix(
    lost: Repository, name: str, is_reported: bool
) -> None:
    text = note_text(name, f"## Root cause\n\n{_CLAIM}\n")
    write_memory(lost.folder / "memory", {"MEMORY.md": f"- [x]({name}.md)\n", f"{name}.md": text})
    found = lost.open().read_snapshot_with_evidence().findings
    assert ["missing-symbol" in {it.rule for it in found}] == [is_reported]


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        ("Fixed in a hurry, see below.", True),
        ("Fixed-width columns.", True),
        ("It must be fixed.", True),
        ("**Status**: fixed 2026-09-18.", False),
        ("状态：已修。", False),
    ],
)
def test_the_first_sentence_may_mark_a_fault_as_fixed(
    lost: Repository, body: str, is_reported: bool
) -> None:
    found = lost.judge(f"{body}\n\n## Symptom\n\n{_CLAIM}")
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize(
    ("index", "is_reported"),
    [
        ("- fixed [x](x.md) – gaps stayed open\n", False),
        ("- 已修 [x](x.md) — 缺口\n", False),
        ("- [x](x.md) – BEHOBEN 2026-09-18: Lücken\n", False),
        ("- [x](x.md) — resuelto: huecos\n", False),
        ("- [x](x.md) – gaps stay open\n", True),
        ("- fixed [y](y.md) – as in [x](x.md)\n", True),
    ],
)
def test_the_index_may_mark_a_fault_as_fixed(
    lost: Repository, index: str, is_reported: bool
) -> None:
    body = f"## Symptom\n\n{_CLAIM}"
    (before,) = lost.judge(body)
    assert before.rule == "missing-symbol"
    # the verdicts of the run before are cached
    found = lost.judge(body, index=index)
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        (f"## Alternatives considered\n\n{_CLAIM}", False),
        (f"**Verworfene Varianten:** {_CLAIM}", False),
        (f"- **Alternativas descartadas**\n  - {_CLAIM}\n", False),
        (f"- **曾选方案 A**: {_CLAIM}", False),
        (f"**変更範囲**：{_CLAIM}", False),
        (f"**Alternatives considered**: none.\n\n{_CLAIM}", True),
        (f"Alternatives considered by Ana say how: {_CLAIM}", True),
        ("`fill_gaps` → `close_gaps`, and all is well.", False),
        ("`fill_gaps` → **`close_gaps`**, and all is well.", False),
        ("`tide/old_curve.py` → `tide/curve.py`.", False),
        ("`read_tide` → `fill_gaps` → `plot_curve`.", True),
        ("`fill_gaps()` → `plot_curve()`.", True),
        ("`fill_gaps` → `tide/gauge.py`.", True),
        ("Say it short: “use `fill_gaps` before all else”.", False),
        ("Sag es kurz: „`fill_gaps` kommt zuerst“.", False),
        ("写短些:「先用 `fill_gaps`」。", False),
        ("The so-called “`fill_gaps`” comes first.", True),
        ("The modules are dissolved, `fill_gaps` and more.", False),
        ("`fill_gaps` 拆成两个函数。", False),
        ("`fill_gaps` разделена на две.", False),
    ],
)
def test_what_was_not_chosen_renamed_or_quoted_is_no_claim(
    lost: Repository, body: str, is_reported: bool
) -> None:
    assert len(lost.judge(body)) == is_reported


_DRAWN = "`tide/old_curve.py` draws it."


@pytest.mark.parametrize(
    ("body", "is_reported"),
    [
        # what a plan says to make
        ("### Files to create\n\n1. Source:\n   - `tide/old_curve.py`", False),
        ("**New files:**\n\n- `tide/old_curve.py`", False),
        ("## Vorgeschlagene Struktur\n\n`tide/old_curve.py`", False),
        ("### Files to create\n\n`tide/old_curve.py`\n\n## Plots\n\n" + _DRAWN, True),
        ("### Files to modify\n\n- `tide/old_curve.py`", True),
        # examples of how to name
        ("- **Files**: snake_case (e.g., `gauge.py`, `tide/old_curve.py`)", False),
        ("- Dateinamen in snake_case, z. B. `tide/old_curve.py`", False),
        ("- 文件命名用 snake_case，例如 `tide/old_curve.py`", False),
        ("Plots are drawn by modules (e.g. `tide/old_curve.py`).", True),
        ("snake_case files are read by `tide/old_curve.py`.", True),
    ],
)
def test_plans_and_examples_of_names_make_no_claims(
    lost: Repository, body: str, is_reported: bool
) -> None:
    assert len(lost.judge(body)) == is_reported


@pytest.mark.parametrize(
    ("path", "is_reported"),
    [
        ("tasks/260913_curves.md", False),
        ("tasks/2026-09/curves.md", False),
        ("tasks/269913_curves.md", True),
        ("tasks/2609/curves.md", True),
    ],
)
def test_files_of_a_day_tell_of_that_day(lost: Repository, path: str, is_reported: bool) -> None:
    write_memory(lost.folder / "memory", {path: note_text("curves", f"{_DRAWN}\n")})
    assert [it.path for it in lost.judge("Nothing.")] == [path] * is_reported


@pytest.mark.parametrize(
    ("file", "code", "is_reported"),
    [
        ("web/app.js", 'import { useTides,\n  useGauge } from "tide-kit/react"\n', False),
        ("web/app.js", "import useGauge from './gauge'\n", True),
        ("web/app.js", "import { useGauge } from '@/gauge'\n", True),
        ("web/app.js", "import { useGauge } from '@web/gauge'\n", True),
        ("web/app.js", "const useGauge = () => 1\n", True),
        ("tide/app.py", "from tidekit.react import (\n    useGauge,\n)\n", False),
        ("tide/app.py", "from tide.react import useGauge\n", True),
    ],
)
def test_a_name_that_the_code_had_from_a_library_is_not_lost(
    repository: Repository, file: str, code: str, is_reported: bool
) -> None:
    write_memory(repository.root, {file: code})
    repository.commit("feat: gauge", DAYS[1])
    write_memory(repository.root, {file: "1\n"})
    repository.commit("refactor: no gauge", DAYS[2])
    found = repository.judge("The page draws after `useGauge` has the height.")
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize(
    ("file", "code", "left", "claim", "is_reported"),
    [
        ("web/app.js", "function f() {\n  const tideGap = 1\n}\n", "1\n", "`tideGap`", False),
        ("web/app.js", "function f() {\n  const tideGap = () => {\n", "1\n", "`tideGap`", True),
        ("web/app.js", "class A {\n  tideGap(a) {\n  }\n}\n", "1\n", "`tideGap`", True),
        ("web/app.js", "  await tideGap(1)\n", "1\n", "`tideGap`", False),
        ("db/t.sql", "CREATE TABLE IF NOT EXISTS tide_gap (a INT);\n", "1\n", "`tide_gap`", True),
        ("tide/app.py", "# as tide_gap does\n", "1\n", "`tide_gap`", False),
        ("tide/app.py", "def tide_gap(): ...\n", "def _tide_gap(): ...\n", "`tide_gap`", False),
        ("tide/app.py", "def tide_gap(): ...\n", "# 用tide_gap算。\n", "`tide_gap`", False),
        ("tide/app.py", "def label(): ...\n", "1\n", "`label(x)`", True),
        ("tide/app.py", "label = 1 + label2\nx(label)\n", "1\n", "`label(x)`", True),
        ("tide/app.py", "if label: ...\n", "1\n", "`label(x)`", False),
        (
            "web/a.test.js",
            'import { vi } from "tide-test"\nvi.useFakeTides()\n',
            "1\n",
            "`vi.useFakeTides()`",
            False,
        ),
        (
            "tide-test/a.js",
            'import { vi } from "tide-test"\nvi.useFakeTides()\n',
            "1\n",
            "`vi.useFakeTides()`",
            True,
        ),
    ],
)
def test_only_what_the_code_defined_is_surely_lost(
    repository: Repository, file: str, code: str, left: str, claim: str, is_reported: bool
) -> None:
    write_memory(repository.root, {file: code})
    repository.commit("feat: gaps", DAYS[1])
    write_memory(repository.root, {file: left})
    repository.commit("refactor: no gaps", DAYS[2])
    found = repository.judge(f"Readings pass {claim} first.")
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize(
    ("code", "claim", "written", "is_reported"),
    [
        ("def fill_gaps(): ...\n", "Readings pass `fill_gaps` first.", "2026-09-20", True),
        # taken from what was old already: only what the code defined, and is said to be there
        ("def fill_gaps(): ...\n", "Readings pass `fill_gaps` first.", "2026-10-01", True),
        ("fill_gaps()\n", "Readings pass `fill_gaps` first.", "2026-10-01", False),
        ("def fill_gaps(): ...\n", "Readings passed the old `fill_gaps`.", "2026-10-01", False),
        ("def gaps(): ...\n", "Readings pass `gaps()` first.", "2026-10-01", False),
    ],
)
def test_what_was_lost_before_a_note_was_written_is_reported_too(
    repository: Repository, code: str, claim: str, written: str, is_reported: bool
) -> None:
    write_memory(repository.root, {"tide/gaps.py": code})
    repository.commit("feat: gaps", DAYS[1])
    write_memory(repository.root, {"tide/gaps.py": "1\n"})
    repository.commit("refactor: no gaps", DAYS[2])
    found = repository.judge(claim, written=written)
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize("is_later", [False, True])
def test_a_note_that_came_with_the_commit_of_a_removal_tells_of_that_work(
    repository: Repository, is_later: bool
) -> None:
    write_memory(repository.root, {"tide/gaps.py": "def fill_gaps(): ...\n"})
    repository.commit("feat: gaps", DAYS[0])
    files = {"memory/x.md": note_text("x", "Readings pass `fill_gaps` first.\n")}
    write_memory(repository.root, {"tide/gaps.py": "1\n"} | ({} if is_later else files))
    repository.commit("refactor: no gaps", DAYS[2])
    write_memory(repository.root, files)
    repository.commit("notes", DAYS[3])
    findings = repository.open("project/memory").read_snapshot_with_evidence().findings
    assert ["missing-symbol"] * is_later == [it.rule for it in findings]


@pytest.mark.parametrize(("ignored", "is_reported"), [("gauge/\n", False), ("docs/\n", True)])
def test_code_that_git_does_not_track_any_more_may_be_on_the_machine_of_the_user(
    repository: Repository, ignored: str, is_reported: bool
) -> None:
    write_memory(repository.root, {"gauge/gaps.py": "def fill_gaps(): ...\n"})
    repository.commit("feat: gaps", DAYS[1])
    git(repository.root, "rm", "-r", "--quiet", "gauge")
    write_memory(repository.root, {".gitignore": ignored})
    repository.commit("chore: gauge is a repository of its own", DAYS[2])
    found = repository.judge("Readings pass `fill_gaps` first.")
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [
        ("Heights are in `docs/heights.md`.", True),
        ("Above datum.[^h]\n\n[^g]: Gauges\n[^h]: docs/heights.md (guide)", False),
        ("As `docs/heights.md` says.[^h]\n\n[^h]: docs/heights.md (guide)", True),
    ],
)
def test_what_a_footnote_cites_need_not_be_there_any_more(
    repository: Repository, text: str, is_reported: bool
) -> None:
    write_memory(repository.root, {"docs/heights.md": "Heights.\n" * 9})
    repository.commit("docs: heights", DAYS[1])
    git(repository.root, "mv", "docs/heights.md", "docs/levels.md")
    repository.commit("docs: levels", DAYS[2])
    found = repository.judge(text)
    assert [it.rule for it in found] == ["missing-path"] * is_reported


@pytest.mark.parametrize(("version", "is_reported"), [("^2.1.0", False), ("workspace:*", True)])
def test_a_required_package_is_a_library_beside_a_folder_of_its_name(
    repository: Repository, version: str, is_reported: bool
) -> None:
    manifest = f'{{"devDependencies": {{"tide-test": "{version}"}}}}'
    code = 'import { vi } from "tide-test"\nvi.useFakeTides()\n'
    write_memory(repository.root, {"tide-test/a.js": code, "package.json": manifest})
    repository.commit("test: tides", DAYS[1])
    write_memory(repository.root, {"tide-test/a.js": "1\n"})
    repository.commit("test: none", DAYS[2])
    found = repository.judge("It calls `vi.useFakeTides()` first.")
    assert [it.rule for it in found] == ["missing-symbol"] * is_reported


def test_code_beside_the_notes_is_code(repository: Repository) -> None:
    code = {"tide/notes/gaps.py": "def fill_gaps(): ...\n", "tide/gaps.py": "fill_gaps()\n"}
    write_memory(repository.root, code)
    repository.commit("feat: gaps", DAYS[1])
    write_memory(repository.root, {"tide/gaps.py": "1\n"})
    repository.commit("refactor: no gaps", DAYS[2])
    assert repository.judge("It is `fill_gaps`.", memory="project/tide/notes") == ()


def test_claims_that_one_commit_refutes_are_one_finding(repository: Repository) -> None:
    repository.commit("feat(tide): year tables (#12)", DAYS[2])
    (found,) = repository.judge("PR #12 is open.\n\nMoved the gauge.\n\nPR #12 is not merged.")
    assert "not merged" in found.message
    assert found.evidence[1:] == (f"also in x.md:{found.line - 4}",)


def test_what_remains_first_is_no_work(repository: Repository) -> None:
    repository.commit("feat: harbour map", DAYS[2])
    assert repository.judge("Harbour map remains the largest at 15 kB.") == ()
    assert len(repository.judge("Lamps are lit; harbour map remains.")) == 1


def test_notes_in_an_archive_are_not_judged(lost: Repository) -> None:
    body = "Readings pass `fill_gaps` first."
    index = "- [x](x.md)\n- [old](archive/x.md)\n"
    text = note_text("old", f"{body}\n")
    write_memory(lost.folder / "memory", {"archive/x.md": text})
    assert [it.path for it in lost.judge(body, index=index)] == ["x.md"]


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("There is no `tide/year.py`.", True),
        ("`tide/year.py` does not exist.", True),
        ("The project has no `tide/year.py`, so ask Ana.", True),
        ("Es gibt noch kein `tide/year.py`.", True),
        ("没有 `tide/year.py`。", True),
        ("There is no `tide/month.py`.", False),
        ("If there is no `tide/year.py`, ask Ana.", False),
        ("No `tide/year.py` is needed for that.", False),
    ],
)
def test_a_new_file_refutes_that_there_is_none(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    assert repository.judge(claim) == ()
    repository.commit("feat: years", DAYS[2], **{"tide__year.py": "YEAR = 365\n"})
    found = repository.judge(claim)
    assert [it.rule for it in found] == ["status-claim"] * is_reported
    assert all("tide/year.py added in" in it.evidence[0] for it in found)


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("There is no `tide/year.py`, no other table.", True),
        ("There is no `tide/` yet.", False),
        ("There is no `tide/`.", True),
        ("`tide/year.py` DOES NOT EXIST.", True),
        ("There is no `tide/year.py` in the demo.", False),
        ("`tide/year.py` does not exist on the server.", False),
        ("`tide/year.py` writes a file that does not exist.", False),
        ("Create `tide/year.py`.", False),
        ("The tables of tide have no `tide/year.py`.", False),
        ("If there is no `tide/year.py`, ask Ana.", False),
    ],
)
def test_a_file_that_was_always_there_refutes_that_there_is_none(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    repository.commit("feat: years", DAYS[1], **{"tide__year.py": "YEAR = 365\n"})
    found = repository.judge(claim)
    assert [it.rule for it in found] == ["status-claim"] * is_reported
    assert all(it.evidence[0].endswith(" exists") for it in found)


@pytest.mark.parametrize(
    ("file", "old", "new", "claim"),
    [
        ("rust-toolchain.toml", '[toolchain]\nchannel = "1.80"\n', "1.84", "It needs Rust 1.80."),
        ("rust-toolchain", "1.80\n", "1.84", "It needs Rust 1.80."),
        (".nvmrc", "v18.2\n", "20.1", "We are on Node.js 18.2 now."),
        (".python-version", "3.11\n", "3.13", "It runs on Python 3.11."),
        (".tool-versions", "nodejs 18.2\nruby 3.1\n", "3.4", "It runs on Ruby 3.1."),
    ],
)
def test_files_that_pin_a_toolchain_say_its_version(
    repository: Repository, file: str, old: str, new: str, claim: str
) -> None:
    write_memory(repository.root, {file: old})
    repository.commit("chore: pin", DAYS[1])
    assert repository.judge(claim) == ()
    number = claim.rstrip(". now").rpartition(" ")[2]
    changed = {"rust-toolchain": "1.84\n", ".nvmrc": "v20.1\n", ".python-version": "3.13\n"}
    write_memory(repository.root, {file: changed.get(file, old.replace(number, new))})
    repository.commit("chore: newer", DAYS[2])
    (finding,) = repository.judge(claim)
    assert finding.rule == "changed-since"
    assert any(file in text and new in text for text in finding.evidence)


def test_the_version_since_which_a_language_has_something_is_not_that_of_the_project(
    repository: Repository,
) -> None:
    for day, number in ((DAYS[1], "1.80"), (DAYS[2], "1.84")):
        repository.commit("chore: pin", day, **{"rust-toolchain": f"{number}\n"})
    assert repository.judge("Lamps are read by Rust 1.80 `LazyLock` cells.") == ()
    assert len(repository.judge("Lamps are read by Rust 1.80 cells.")) == 1


def test_every_line_with_the_lost_name_is_evidence(lost: Repository) -> None:
    (finding,) = lost.judge(
        "Call `fill_gaps()` first.\n\nThen plot.\n\nNo `fill_gaps()`, no curve."
    )
    assert [text for text in finding.evidence if text.startswith("also in")] == [
        f"also in x.md:{finding.line + 4}"
    ]


def test_a_day_of_update_above_a_later_section_is_only_worth_knowing(lint: Lint) -> None:
    text = "# Quay — updated 2026-05-01\n\n## Tides\n\nLow.\n\n## 2026-05-03\n\nSilt."
    (finding,) = lint({"a.md": note(text)}, "inconsistent-note")
    assert finding.severity is Severity.INFO


def _drop_gauge(repository: Repository) -> None:
    """Let the project have files on gauges from the second day to the third."""
    write_memory(
        repository.root,
        {"gauge/level.py": "def read_level(): ...\n", "gauge/wind.py": "def read_wind(): ...\n"},
    )
    repository.commit("gauges", DAYS[1])
    git(repository.root, "rm", "--quiet", "-r", "gauge")
    repository.commit("fewer", DAYS[2])


@pytest.mark.parametrize(
    "body",
    [
        "The level is in `gauge/level.py`.\n\nLater `level.py` was deleted.",
        "The level is in `gauge/level.py`.\n\nOn 2026-10-01 what reads a gauge was removed.",
        "The level is in `gauge/level.py`.\n\nThe folder `gauge/` no longer counts.",
        "- **Repo**: `ana/tide-sdk`\n\n## Files\n\nThe level is in `gauge/level.py`.",
        "## Files of https://github.com/ana/sdk\n\nThe level is in `gauge/level.py`.",
        "Clone https://github.com/ana/gauge beside it: the level is in `gauge/level.py`.",
        "**First seen:** the level in `gauge/level.py` was off by one.",
        "- ✅ **Round 7** (2026-09-20)\n  - **State**: the level is in `gauge/level.py`.",
        "✅ Round 7 of 2026-09-20\n  - Files:\n\n  - the level is in `gauge/level.py`.",
    ],
)
def test_what_its_writer_knew_or_told_of_another_time_or_place_is_no_warning(
    repository: Repository, body: str
) -> None:
    _drop_gauge(repository)
    assert [it.message for it in repository.judge("The level is in `gauge/level.py`.")] == [
        "gauge/level.py does not exist."
    ]
    assert repository.judge(body) == ()


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("- **Repo**: `ana/project`\n\nThe level is in `gauge/level.py`.", 1),
        ("- **Repo**: a single one\n\nThe level is in `gauge/level.py`.", 1),
        ("On 2026-10-01 the berths were removed.\n\nThe level is in `gauge/level.py`.", 1),
        ("The file `other/level.py` was deleted.\n\nThe level is in `gauge/level.py`.", 1),
        ("See https://github.com/ana/berths.\n\nThe level is in `gauge/level.py`.", 1),
        ("`read_level()` reads the level.", 1),
        ("`read_level()` reads the level.\n\n`level.py` was deleted.", 0),
    ],
)
def test_signs_of_something_else_hide_no_removal(
    repository: Repository, body: str, count: int
) -> None:
    _drop_gauge(repository)
    assert len(repository.judge(body)) == count


def test_who_wrote_after_a_deletion_knew_of_it(repository: Repository) -> None:
    _drop_gauge(repository)
    claim = "The level is in `gauge/level.py`."
    assert repository.judge(claim, written=DAYS[3]) == ()
    folder = repository.root / "docs" / "old"
    text = note_text("y", f"{claim}\n").replace("level.py", "wind.py")
    write_memory(folder, {"y.md": text})
    repository.commit("memory", DAYS[3])
    later = repository.judge("[y](y.md)", memory="project/docs/old", written=DAYS[3])
    assert later == (), "git says when the line came"


def test_line_is_as_old_as_in_the_note_that_was_moved(repository: Repository) -> None:
    repository.root.joinpath("gauge").mkdir()
    write_memory(repository.root, {"gauge/level.py": "L = 1\n"})
    claim = "The level of the gauge is read by a program that is in `gauge/level.py`.\n"
    write_memory(repository.root, {"docs/old/y.md": note_text("y", claim)})
    repository.commit("gauge", DAYS[1])
    git(repository.root, "rm", "--quiet", "-r", "gauge")
    repository.commit("fewer", DAYS[2])
    repository.root.joinpath("docs", "new").mkdir()
    git(repository.root, "mv", "docs/old/y.md", "docs/new/y.md")
    repository.commit("notes", DAYS[3])
    (found,) = repository.judge("[y](y.md)", memory="project/docs/new", written=DAYS[3])
    assert (found.path, found.message) == ("y.md", "gauge/level.py does not exist.")


def test_values_that_one_file_sets_are_one_line_of_a_note(repository: Repository) -> None:
    for day, (step, gap) in enumerate([(15, 30), (20, 45)], 1):
        values = f"HOLD_MINUTES = {step}\nGAP_MINUTES = {gap}\n"
        write_memory(repository.root, {"gauge.py": values})
        repository.commit("gauge", DAYS[day])
    body = "`HOLD_MINUTES = 15` and `GAP_MINUTES = 30` hold for every gauge."
    assert {it.rule for it in repository.judge(body)} == {"changed-since"}
    (cause,) = repository.open().read_snapshot_with_evidence().causes
    assert cause.message.endswith("differs from the project. 1 more here has the same cause.")
    assert len(cause.members) == 2


@pytest.mark.parametrize(
    ("told", "is_reported"),
    [
        ("", True),
        ("Hold: 30→45.", False),
        ("HOLD `30` -> `45`.", False),
        ("Hold: 130→45.", True),
        ("Hold: 30→45→60.", True),
        ("Berths: 30→45.", True),
    ],
)
def test_a_note_that_tells_how_a_value_was_changed_knows_of_it(
    repository: Repository, told: str, *, is_reported: bool
) -> None:
    write_memory(repository.root, {"tide/hold.py": "HOLD_MINUTES = 30\n"})
    repository.commit("feat: hold", DAYS[0])
    write_memory(repository.root, {"tide/hold.py": "HOLD_MINUTES = 45\n"})
    repository.commit("fix: hold longer", DAYS[2])
    found = repository.judge(f"{told}\n\n## Analysis\n\n- Now: `HOLD_MINUTES = 30`")
    assert [it.rule for it in found] == ["changed-since"] * is_reported


def test_what_one_commit_deleted_is_one_line_of_a_note(repository: Repository) -> None:
    _drop_gauge(repository)
    body = "The level is in `gauge/level.py`.\n\nThe wind is in `gauge/wind.py`."
    one, other = repository.judge(body)
    assert one.origin == other.origin != ""
    notebook = repository.open()
    (cause,) = notebook.read_snapshot_with_evidence().causes
    assert cause.message.startswith("gauge/level.py does not exist. 1 more here")
    assert cause.members == (one, other)
    assert cause.evidence[0] == "x.md:12: gauge/wind.py does not exist."
    notebook.dismiss(cause.id)
    snapshot = notebook.read_snapshot_with_evidence()
    assert snapshot.causes == ()
    assert [it.id for it in snapshot.dismissed_causes] == [cause.id]
    notebook.undo_dismissal(cause.id)
    assert len(notebook.read_snapshot_with_evidence().causes) == 1


def test_template_of_settings_is_no_setting(repository: Repository) -> None:
    write_memory(repository.root, {".env.example": "GAP_LIMIT=3\n"})
    repository.commit("settings", DAYS[1])
    assert repository.judge("The limit is `GAP_LIMIT = 4`.") == ()
    write_memory(repository.root, {"tide/gap.py": "GAP_LIMIT = 3\n"})
    repository.commit("gap", DAYS[1])
    assert len(repository.judge("The limit is `GAP_LIMIT = 4`.")) == 1
    assert repository.judge("Enable it with care: set `GAP_LIMIT = 4`.") == ()


@pytest.mark.parametrize(
    ("hook", "description", "said"),
    [
        ("9 pilots, 11 lamps", "Of the port: 11 pilots, 11 lamps", ("9 pilots", "11 pilots")),
        (
            "the tables (217 in all, 2026-03-13)",
            "The tables (349 in all)",
            ("217 in all", "349 in all"),
        ),
        (
            "**1,200** boats in the port",
            "1,300 boats in the port",
            ("1,200 boats in the port", "1,300 boats in the port"),
        ),
        ("Round 3: the quay", "The survey after round 5", ("Round 3", "round 5")),
        ("Runde #3 der Lotsen", "Die Lotsen, Runde 4", ("Runde #3", "Runde 4")),
    ],
)
def test_an_entry_counts_as_its_note_does(
    lint: Lint, hook: str, description: str, said: tuple[str, str]
) -> None:
    files = {"MEMORY.md": f"- [A](a.md) — {hook}\n", "a.md": note("x", description=description)}
    (finding,) = lint(files, "index-outdated-entry")
    assert finding.message == "The entry says “{}”, its note “{}”.".format(*said)
    assert finding.evidence == (f"a.md:3: {description}",)


@pytest.mark.parametrize(
    ("hook", "description"),
    [
        ("9 pilots", "9 pilots, two of them new"),
        # about as many, or a time that is another one each day
        ("~9 pilots", "11 pilots"),
        ("11 pilots", "~9 pilots"),
        ("3 days ago", "5 days ago"),
        ("9 pilots", "11 new pilots"),
        # each of them twice
        ("9 pilots", "11 pilots in winter (9 pilots, 11 pilots)"),
        # a time, a day, a version, a standard, a part
        ("closes at 15:45 sharp", "closes at 16:00 sharp"),
        ("since 2026-03-13 in use", "since 2026-04-13 in use"),
        ("RFC 5280", "RFC 5758"),
        ("for run 2", "once run 1 is over"),
        ("0.9 pilots", "0.8 pilots"),
        # an earlier turn
        ("round 5", "the plan for round 3"),
        ("9 pilots", ""),
    ],
)
def test_an_entry_may_count_other_things_than_its_note(
    lint: Lint, hook: str, description: str
) -> None:
    files = {"MEMORY.md": f"- [A](a.md) — {hook}\n", "a.md": note("x", description=description)}
    assert lint(files, "index-outdated-entry") == ()


GAUGE = (
    "import clock\n"
    + "# heights\n" * 40
    + "def read_tide(): ...\n"
    + "# lows\n" * 5
    + "    plan = clock.read_plan(1)\n"
    + "# highs\n" * 60
)


@pytest.mark.parametrize(
    ("claim", "moved", "fixed"),
    [
        ("`read_tide` (`tide/gauge.py:42`) opens.", "read_tide is on line 142", "gauge.py:142`)"),
        ("`read_tide()` at tide/gauge.py:L42 opens.", "read_tide is on line 142", ":L142 opens"),
        ("It is `tide/gauge.py:42 read_tide`.", "read_tide is on line 142", ":142 read_tide`"),
        ("- `gauge.py:40–44` (`Gauge.read_tide`)", "read_tide is on line 142", ":140–144` ("),
        ("`read_tide` [tide/gauge.py:42](https://x.example)", "read_tide is on line 142", ":142]"),
        # where it is used
        ("It asks `clock.read_plan` (`tide/gauge.py:48`).", "read_plan is on line 148", ":148`)"),
        # near enough, nothing there, another name, a part of several lines, what was so
        ("`read_tide` (`tide/gauge.py:130`) opens it.", "", ""),
        ("`heights` (`tide/gauge.py:20`) are in metres.", "", ""),
        ("`read_tide` calls `tide/gauge.py:42` first.", "", ""),
        ("Heights: `tide/gauge.py:42`, `read_tide` reads them.", "", ""),
        ("`read_tide` (`tide/gauge.py:42,48`) opens it.", "", ""),
        ("`read_tide` (`tide/gauge.py:48-42`) opens it.", "", ""),
        ("`read_tide` (`tide/gauge.js:42`) opens it.", "", ""),
        ("## Log 2026-09-20\n\n`read_tide` (`tide/gauge.py:42`) opens it.", "", ""),
        # what else the note says of the line was not checked
        (
            "`read_tide` (`gauge.py:42`) opens.\n\nLows: `gauge.py:420`.",
            "read_tide is on line 142",
            "",
        ),
    ],
)
def test_a_name_that_is_far_from_its_line_now_is_reported(
    repository: Repository, claim: str, moved: str, fixed: str
) -> None:
    write_memory(repository.root, {"tide/gauge.py": GAUGE})
    repository.commit("feat: a gauge", DAYS[0])
    assert repository.judge(claim.replace(":130", ":42")) == ()
    write_memory(repository.root, {"tide/gauge.py": "import sea\n" + "# seas\n" * 99 + GAUGE})
    repository.commit("feat: seas", DAYS[2])
    found = repository.judge(claim)
    assert [it.message.partition(" of ")[0] for it in found] == [moved] * bool(moved)
    for finding in found:
        assert (finding.fix is not None) is bool(fixed)
        for act in finding.fix.acts if finding.fix else ():
            assert isinstance(act, EditLine)
            assert fixed in act.new


def test_a_name_that_never_was_on_its_line_may_be_beside_it(repository: Repository) -> None:
    write_memory(repository.root, {"tide/gauge.py": GAUGE})
    repository.commit("feat: a gauge", DAYS[0])
    claim = "The import for `read_tide` (`tide/gauge.py:90`) is lazy."
    assert repository.judge(claim) == ()
    (found,) = repository.judge(claim, least=Severity.INFO)
    assert found.message == "read_tide is on line 42 of tide/gauge.py, not 90."
    assert found.fix is None


@pytest.mark.parametrize("piece", ["[", "[a]", "`a.py:1 ", "a/", "`a` (`a.py:1`) ", "a.py:1-"])
def test_places_in_a_hostile_line_take_time_in_proportion(
    repository: Repository, piece: str
) -> None:
    assert repository.judge(piece * (200_000 // len(piece))) == ()


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("The tables are on branch `feat/year-tables`.", True),
        ("Branch: feat/year-tables", True),
        ("Die Tafeln entstehen auf dem Branch `feat/year-tables`.", True),
        # done, or a rule
        ("The tables were shipped on branch `feat/year-tables`.", False),
        ("The tables are drawn by hand (branch `feat/year-tables`).", False),
        ("年表を描く（ブランチ feat/year-tables）。", False),
        ("Phase 3 is closed (2026-09-18, branch `feat/year-tables`).", False),
        ("Резидуал ЗАКРЫТ, ветка feat/year-tables.", False),
        ("(Phase 3.) Work is on branch `feat/year-tables`.", True),
        ("a) The tables are drawn by hand (in June, branch `feat/year-tables`).", False),
        ("Merged branch `feat/year-tables`.", False),
        ("Learned with the tables. Branch `feat/year-tables`, commit `3fa9c21`.", False),
        ("The tables are on branch `feat/year-tables` (last commit `3fa9c21`).", True),
        ("If the branch `feat/year-tables` is there, use it.", False),
        # work goes on there
        ("The tables are on branch `fix/tides`.", False),
        ("The tables are on branch `develop`.", False),
        ("See `feat/year-tables`.", False),
        ("## Log 2026-09-20\n\nThe tables are on branch `feat/year-tables`.", False),
    ],
)
def test_work_is_on_no_branch_that_was_merged_since(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    assert repository.judge(claim) == ()
    repository.commit(
        "Merge branch 'feat/year-tables' of example.org into feat/year-tables", DAYS[1]
    )
    assert repository.judge(claim) == ()
    repository.commit("Merge branch 'feat/year-tables'", DAYS[2])
    repository.commit("Merge branch 'develop'", DAYS[2])
    for day in DAYS[1:3]:
        repository.commit("Merge pull request #3 from ana/fix/tides", day)
    found = repository.judge(claim)
    assert [it.rule for it in found] == ["status-claim"] * is_reported
    assert not is_reported or "git: merged in " in found[0].evidence[0]
    assert repository.judge(claim, written="2026-10-10") == (), "it was merged when it was written"


@pytest.mark.parametrize(
    ("claim", "is_reported"),
    [
        ("- BerthPlan (not yet implemented)", True),
        ("read_tides is not built yet.", True),
        ("- Berths (not yet implemented)", False),
        ("BerthPlan is used where the old table is not built yet.", False),
    ],
)
def test_a_name_of_code_outside_backticks_may_be_undone(
    repository: Repository, claim: str, is_reported: bool
) -> None:
    assert repository.judge(claim) == ()
    code = "class BerthPlan:\n    pass\n\n\ndef read_tides(): ...\n\n\nclass Berths: ...\n"
    repository.commit("plan", DAYS[2], **{"tide__plan.py": code})
    assert [it.rule for it in repository.judge(claim)] == ["status-claim"] * is_reported


READERS = {
    "tide/read.py": ('import os\nstep = os.environ["TIDE_STEP"]\n', True),
    "tide/read.js": ("const step = process.env.TIDE_STEP ?? 10;\n", True),
    "tide/read.go": ('var step = os.Getenv("TIDE_STEP")\n', True),
    "tide/read.rs": ('let step = env::var("TIDE_STEP");\n', True),
    "tide/read.sh": ("run --step ${TIDE_STEP:-10}\n", True),
    # a name of a library may be in a text of any code
    "tide/used.py": ('raise ValueError("TIDE_STEP")\n', False),
}
"""Code with a name, and whether it reads a variable of the environment."""


@pytest.mark.parametrize(("path", "code", "is_read"), [(k, *v) for k, v in READERS.items()])
@pytest.mark.parametrize("body", ["Set `TIDE_STEP=5` on the pier.", "It is `${TIDE_STEP}` there."])
def test_a_variable_that_no_code_reads_any_more_is_lost(
    repository: Repository, path: str, code: str, is_read: bool, body: str
) -> None:
    write_memory(repository.root, {path: code, "CHANGES.md": "TIDE_STEP is read.\n"})
    repository.commit("feat: read steps", DAYS[1])
    # other layers may go on to call it so
    renamed = code.replace("TIDE_STEP", "GAUGE_STEP").replace("step", "tideStep")
    write_memory(repository.root, {path: renamed, "CHANGES.md": "TIDE_STEP is GAUGE_STEP now.\n"})
    repository.commit("feat!: GAUGE_STEP", "2026-09-25")
    found = repository.judge(body)
    assert [it.message for it in found] == ["No code of the project has TIDE_STEP."] * is_read
    assert all("feat!: GAUGE_STEP" in it.evidence[0] for it in found)
    assert repository.judge(f"{body} `TIDE_STEP` is now called `GAUGE_STEP`.") == ()
