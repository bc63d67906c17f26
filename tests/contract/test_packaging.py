"""What a package index, a distribution and a reader of README.md need is there."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

from ricordo import HOME_PAGE

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LINK = re.compile(r"\]\(([^)]+)\)")
PATTERN = re.compile(r"^\| `([^`]+)` \|.*\| (?:MIT|Apache-2\.0)(?:, `([^`]+)`)? \|$", re.MULTILINE)


def data_files() -> list[str]:
    """Return the files of a wheel that are no code, by their paths in the package."""
    places = ((ROOT / "app" / "ricordo", ""), (ROOT / "themes", "themes/"))
    files = [
        before + path.relative_to(place).as_posix()
        for place, before in places
        for path in place.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    return [*files, "sample_memory/memory/MEMORY.md"]


def test_every_shipped_data_file_has_a_licence() -> None:
    rows = PATTERN.findall((ROOT / "LICENSES" / "data.md").read_text("utf-8"))
    patterns = [pattern.replace("**/", "") for pattern, _ in rows]
    files = data_files()
    assert len(files) > 40
    assert [it for it in files if not any(fnmatch(it, pattern) for pattern in patterns)] == []
    unused = [it for it in patterns if not any(fnmatch(path, it) for path in files)]
    assert unused == []
    assert all((ROOT / licence).is_file() for _, licence in rows if licence)


def test_the_links_of_the_readme_are_absolute_and_lead_to_files() -> None:
    links = LINK.findall((ROOT / "README.md").read_text("utf-8"))
    assert len(links) > 10
    for link in links:
        assert link.startswith(f"{HOME_PAGE}/"), link
        kind, branch, path = link.removeprefix(f"{HOME_PAGE}/").split("/", 2)
        assert kind in ("blob", "raw")
        assert branch == "main"
        assert (ROOT / path.partition("#")[0]).is_file(), link


def test_the_addresses_of_the_project_are_those_of_its_home_page() -> None:
    urls = PROJECT["project"]["urls"]
    assert {"Homepage", "Documentation", "Changelog", "Issues", "Source"} <= urls.keys()
    assert [url for url in urls.values() if not url.startswith(HOME_PAGE)] == []


def test_what_is_installed_beside_the_package_is_there() -> None:
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert [path for path in shared if not (ROOT / path).is_file()] == []
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [path for path in included if not list(ROOT.glob(path))] == []
