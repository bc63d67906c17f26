"""Sdist and wheel are built, and the wheel is installed and run on every Python of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import wheel_check
from tests.support.figures import figure

pytestmark = pytest.mark.skipif(
    not figure("pythons", everyday=0), reason="in a soak, and by make wheel-check"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_check.build_wheel(tmp_path_factory.mktemp("dist"))


def test_the_metadata_of_the_wheel_are_complete(wheel: Path) -> None:
    wheel_check.check_metadata(wheel)


@pytest.mark.parametrize("version", wheel_check.VERSIONS)
def test_the_wheel_runs(version: str, wheel: Path, tmp_path: Path) -> None:
    python = wheel_check.find_python(version)
    if python is None:
        pytest.skip(f"not checked: no Python {version}")
    wheel_check.check_on(python, wheel, tmp_path / "place")
