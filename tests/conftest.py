"""What all tests share: how many inputs Hypothesis tries, and a home, a state, a clock and a
configuration of their own.
"""

from __future__ import annotations

import gc
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.figures import figure, variable

NOW = "2026-11-20T12:00:00+00:00"

settings.register_profile(
    "ricordo",
    max_examples=figure("examples", everyday=30),
    deadline=None,
    derandomize=variable("examples") not in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "soak", settings.get_profile("ricordo"), max_examples=20_000, derandomize=False
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ricordo"))


_LONGEST_TMPDIR = 120
"""Characters: agents cut the names of folders for projects whose path is longer than 200."""


def pytest_configure() -> None:
    """Use /tmp for temporary files where their directory is so long that agents cut names."""
    if len(tempfile.gettempdir()) > _LONGEST_TMPDIR and os.access("/tmp", os.W_OK):
        os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no garbage be looked for while tests are collected, nor later among what was made then:
    it is most of all objects, and stays to the end.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Look for no garbage at the end: pytest does five times among all objects, for nobody."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to a soak all but one in n cases of each test marked `one_in(n)`."""
    if figure("all_cases", everyday=0):
        return
    seen: Counter[str] = Counter()
    left = []
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                left.append(item)
            seen[test] += 1
    if left:
        config.hook.pytest_deselected(items=left)
        without = set(left)
        items[:] = [item for item in items if item not in without]


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return paths of homes that are not there yet.

    pytest would number them itself, but lists all directories so far for each.
    """
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    """Return the numbers of temporary directories."""
    return count()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, numbers: Iterator[int]
) -> Path:
    """Return an empty directory with the name of the test, numbered as `homes` are."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}_{next(numbers)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def pinned(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, and return it."""
    home = next(homes)
    home.mkdir(mode=0o700)
    folders = {
        "HOME": home,
        "RICORDO_STATE": home / ".local/state/ricordo",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_STATE_HOME": home / ".local/state",
        "XDG_DATA_HOME": home / ".local/share",
    }
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("RICORDO_NOW", NOW)
    # agents' folders are then looked for in the home above
    unwanted = [
        "RICORDO_AGENT_HOME",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_PROJECT_DIR_NAME",
        "CODEX_HOME",
        # the terminal of whoever runs the tests, or `--color never` in the test before
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
    ]
    # a hook of git runs the tests with a repository named
    unwanted += [name for name in os.environ if name.startswith("GIT_")]
    for name in unwanted:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty directory for a memory."""
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder
