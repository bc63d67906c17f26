"""`python -m tests.wheel_check`: builds the wheel and tries it outside the checkout.

A checkout hides what a wheel lacks: themes, the sample memory, a file that was never packed. So
the wheel is installed into an environment of its own, and called from a folder of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CONSTRAINTS = CHECKOUT / "constraints.txt"
FIND_SAMPLE = "from ricordo.resources import sample_memory_directory as d; print(d())"


class Failed(Exception):
    """The wheel does not do what it should; the message says which call and why."""


def build_wheel(folder: Path) -> Path:
    """Build the wheel into `folder` and return its path."""
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder)]
    call([*build, "--dependency-constraints-txt", str(CONSTRAINTS), str(CHECKOUT)], cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Install `wheel` into a fresh environment in `folder`; return its directory of programs."""
    call([sys.executable, "-m", "venv", str(folder)])
    programs = folder / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    call([*pip, "--disable-pip-version-check", "-c", str(CONSTRAINTS), str(wheel)])
    return programs


def check_version(programs: Path, folder: Path) -> None:
    """`ricordo --version` names the program and a version."""
    words = call([str(programs / "ricordo"), "--version"], cwd=folder).split()
    expect(len(words) == 2 and words[0] == "ricordo", f"--version printed {words}")


def check_demo(programs: Path, folder: Path) -> None:
    """`ricordo demo` prints the sample memory where no terminal is."""
    printed = call([str(programs / "ricordo"), "demo"], cwd=folder)
    expect("Index" in printed, "demo printed no index")


def check_lint(programs: Path, folder: Path) -> None:
    """`ricordo lint --json` prints exactly one JSON document, with findings in it."""
    sample = call([str(programs / "python"), "-c", FIND_SAMPLE], cwd=folder).strip()
    expect(str(CHECKOUT) not in sample, f"the sample memory is that of the checkout: {sample}")
    lint = [str(programs / "ricordo"), "lint", "--json", "--fail-on", "never"]
    with tempfile.TemporaryDirectory(dir=folder) as copy:
        call(["cp", "-R", f"{sample}/.", copy])
        printed = call([*lint, "--state", f"{copy}/state", f"{copy}/memory"], cwd=folder)
    try:
        document = json.loads(printed)
    except ValueError as error:
        raise Failed(f"lint --json printed no single JSON document: {error}") from None
    expect(bool(document["findings"]), "lint found nothing in the sample memory")


def check_rule(programs: Path, folder: Path) -> None:
    """`ricordo rule` explains every rule from the data files that are packed."""
    printed = call([str(programs / "ricordo"), "rule", "--json"], cwd=folder)
    expect(len(json.loads(printed)["rules"]) > 30, "rule explained too few rules")


def call(words: Sequence[str], cwd: Path | None = None) -> str:
    """Run a program without terminal or input; return what it printed.

    Raises Failed where it ends with anything but 0 or takes longer than two minutes.
    """
    shown = " ".join(words)
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than two minutes: {shown}") from None
    if done.returncode != 0:
        raise Failed(f"ended with {done.returncode}: {shown}\n{done.stdout}{done.stderr}")
    return done.stdout


def clean_environment() -> dict[str, str]:
    """The environment without what would lead a program back into the checkout."""
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("RICORDO_")
    }
    return {**kept, "PYTHONUTF8": "1"}


def expect(holds: bool, otherwise: str) -> None:
    """Raise Failed with the message `otherwise` unless `holds`."""
    if not holds:
        raise Failed(otherwise)


def main() -> int:
    """Build, install, try; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="ricordo-wheel-") as temporary:
        folder = Path(temporary).resolve()
        try:
            wheel = build_wheel(folder)
            programs = install(wheel, folder / "venv")
            print(f"built and installed {wheel.name}")
            for check in (check_version, check_demo, check_lint, check_rule):
                check(programs, folder)
                print(f"{check.__name__}: {check.__doc__}")
        except Failed as failed:
            print(f"wheel-check: {failed}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
