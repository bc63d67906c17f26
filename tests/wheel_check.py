"""`python -m tests.wheel_check`: builds sdist and wheel and tries them outside the checkout.

A checkout hides what a wheel lacks: themes, the sample memory, a file that was never packed. So
the wheel is built from the sdist, installed into an environment of its own, and called from a
folder of its own. With `--every`, on every Python of this machine that Ricordo supports.
"""

from __future__ import annotations

import argparse
import email
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CONSTRAINTS = CHECKOUT / "constraints.txt"
FIND_SAMPLE = "from ricordo.resources import sample_memory_directory as d; print(d())"


class Failed(Exception):
    """The wheel does not do what it should; the message says which call and why."""


VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that Ricordo supports."""
_VERSION = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str) -> str | None:
    """Return the path of a Python of that version which can make environments: from PATH, pyenv or
    uv; None if there is none.
    """
    homes = (
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local/share/uv/python")),
    )
    found = [path for home in homes for path in sorted(home.glob(f"*{version}.*/bin/python3"))]
    for program in (shutil.which(f"python{version}"), *map(str, found)):
        if program is None:
            continue
        done = subprocess.run(
            [program, "-c", _VERSION],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.stdout.strip() == version:
            return program
    return None


def build_wheel(folder: Path) -> Path:
    """Build the sdist into `folder`, and the wheel from it; return the path of the wheel."""
    build = [sys.executable, "-m", "build", "--outdir", str(folder)]
    call([*build, "--dependency-constraints-txt", str(CONSTRAINTS), str(CHECKOUT)], cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path, python: str = sys.executable) -> Path:
    """Install `wheel` into a fresh environment in `folder`; return its directory of programs."""
    call([python, "-m", "venv", str(folder)])
    programs = folder / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    call([*pip, "--disable-pip-version-check", "-c", str(CONSTRAINTS), str(wheel)])
    return programs


def check_metadata(wheel: Path) -> None:
    """The wheel names its home, versions and licences, and its page has no relative link."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        message = email.message_from_string(archive.read(metadata).decode("utf-8"))
    urls = message.get_all("Project-URL", [])
    expect(any(url.startswith("Homepage, https://") for url in urls), f"the addresses are {urls}")
    classifiers = message.get_all("Classifier", [])
    for version in VERSIONS:
        name = f"Programming Language :: Python :: {version}"
        expect(name in classifiers, f"no classifier {name}")
    for name in message.get_all("License-File", []):
        path = f"{Path(metadata).parent}/licenses/{name}"
        expect(path in names, f"{path} is missing")
    expect("LICENSES/data.md" in message.get_all("License-File", []), "no licences of the data")
    page = str(message.get_payload())
    links = [part.partition(")")[0] for part in page.split("](")[1:]]
    relative = [link for link in links if not link.startswith(("https://", "#"))]
    expect(bool(links) and not relative, f"relative links in the description: {relative}")


def check_shared_files(programs: Path, folder: Path) -> None:
    """The man page and the completions are where man and the shells look for them."""
    share = programs.parent / "share"
    page = share / "man/man1/ricordo.1"
    expect(page.is_file() and ".SH NAME" in page.read_text("utf-8"), "the man page is missing")
    for shell, path in {
        "bash": "bash-completion/completions/ricordo",
        "zsh": "zsh/site-functions/_ricordo",
        "fish": "fish/vendor_completions.d/ricordo.fish",
    }.items():
        printed = call([str(programs / "ricordo"), "completions", shell], cwd=folder)
        expect((share / path).read_text("utf-8") == printed, f"completions for {shell} differ")


def check_completion(programs: Path, folder: Path) -> None:
    """Tab offers the options of a command."""
    words = ["__complete", "fish", "2", "lint", "--fail-on="]
    printed = call([str(programs / "ricordo"), *words], cwd=folder)
    expect("--fail-on=warning" in printed, f"completion printed {printed!r}")


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


CHECKS = (
    check_version,
    check_demo,
    check_lint,
    check_rule,
    check_shared_files,
    check_completion,
)


def check_on(python: str, wheel: Path, folder: Path) -> None:
    """Install `wheel` for the interpreter `python` into `folder`, and try it. Raises Failed."""
    folder.mkdir()
    programs = install(wheel, folder / "venv", python)
    for check in CHECKS:
        check(programs, folder)
        print(f"{check.__name__}: {check.__doc__}")


def main(words: Sequence[str] | None = None) -> int:
    """Build, install, try; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.wheel_check", description=__doc__)
    parser.add_argument("--every", action="store_true", help="on every supported Python here")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="ricordo-wheel-") as temporary:
        folder = Path(temporary).resolve()
        try:
            wheel = build_wheel(folder)
            print(f"built {wheel.name}")
            check_metadata(wheel)
            print(f"check_metadata: {check_metadata.__doc__}")
            if not options.every:
                check_on(sys.executable, wheel, folder / "own")
                return 0
            for version in VERSIONS:
                python = find_python(version)
                print(
                    f"Python {version}: {python}" if python else f"not checked: no Python {version}"
                )
                if python:
                    check_on(python, wheel, folder / version)
        except Failed as failed:
            print(f"wheel-check: {failed}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
