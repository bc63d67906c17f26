"""A shell on a pseudo-terminal, at which a test types."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ricordo.resources import read_data_text

SECONDS = 60
"""How long a shell may take: another program may have the machine."""
SCRIPTS = {
    "bash": """
PS1="READY> "; HISTFILE=; bind "set bell-style none"
eval "$({python} -m ricordo completions bash)"
""",
    "zsh": """
PROMPT='READY> '; HISTFILE=; unsetopt beep prompt_cr
autoload -Uz compinit && compinit -u -D
eval "$({python} -m ricordo completions zsh)"
""",
    "fish": """
set -g fish_greeting
function fish_prompt; echo -n 'READY> '; end
{python} -m ricordo completions fish | source
""",
}
"""What each shell runs at its start."""
PACKAGED = {
    "bash": (
        ".local/share/bash-completion/completions/ricordo",
        'PS1="READY> "; HISTFILE=; bind "set bell-style none"\n'
        ". /usr/share/bash-completion/bash_completion\n",
    ),
    "zsh": (
        "site-functions/_ricordo",
        "PROMPT='READY> '; HISTFILE=; unsetopt beep prompt_cr\n"
        "fpath=(~/site-functions $fpath)\nautoload -Uz compinit && compinit -u -D\n",
    ),
    "fish": (
        ".config/fish/completions/ricordo.fish",
        "set -g fish_greeting\nfunction fish_prompt; echo -n 'READY> '; end\n",
    ),
}
"""Where each shell finds the script of a package, below the home, and what it runs at its start."""
STUB = """#!/bin/sh
case $1 in
  __complete) exec '{python}' -m ricordo "$@" ;;
esac
for word in "$@"; do printf '%s\\0' "$word"; done > '{record}.new'
mv '{record}.new' '{record}'
"""


class Terminal:
    """A shell that completes `ricordo`, and runs a stub that records its arguments."""

    def __init__(
        self,
        shell: str,
        home: Path,
        cwd: Path,
        environ: Mapping[str, str],
        *,
        packaged: bool = False,
    ) -> None:
        """With `packaged`, the shell loads the script by itself when it is needed."""
        program = shutil.which(shell)
        if program is None:
            pytest.skip(f"not checked: no {shell}")
        self._record = home / "record"
        bin_folder = home / "bin"
        bin_folder.mkdir(parents=True)
        stub = bin_folder / "ricordo"
        stub.write_text(STUB.format(python=sys.executable, record=self._record))
        stub.chmod(0o755)
        start = home / f"start.{shell}"
        start.write_text(SCRIPTS[shell].replace("{python}", sys.executable))
        if packaged:
            place, text = PACKAGED[shell]
            script = home / place
            script.parent.mkdir(parents=True)
            script.write_text(read_data_text(f"cli/completion/ricordo.{shell}"))
            start.write_text(text)
        words = {
            "bash": [program, "--noprofile", "--rcfile", str(start), "-i"],
            "zsh": [program, "-i"],
            "fish": [program, "--init-command", f"source '{start}'", "-i"],
        }[shell]
        if shell == "zsh":
            start.rename(home / ".zshrc")
        # else fish reads all man pages of the machine in the background
        (home / ".local/share/fish/generated_completions").mkdir(parents=True)
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            os.chdir(cwd)
            environ = {
                **environ,
                "HOME": str(home),
                "ZDOTDIR": str(home),
                "INPUTRC": "/dev/null",
                "PATH": f"{bin_folder}:{os.environ['PATH']}",
                "TERM": "xterm",
                "LC_ALL": "C.UTF-8",
                "XDG_CONFIG_HOME": str(home / ".config"),
                "XDG_DATA_HOME": str(home / ".local/share"),
            }
            os.execve(program, words, environ)
        self.shown = ""
        """All that the shell printed."""
        self._read_until(lambda: "READY>" in self.shown)

    def complete(self, typed: str, *, keys: str = "\t", end: str = "\r") -> list[str]:
        """Type a line, press Tab and then Enter; return the arguments of the program."""
        self._record.unlink(missing_ok=True)
        self._write(typed + keys + end)
        self._read_until(self._record.exists)
        words = self._record.read_bytes().decode("utf-8", "surrogateescape").split("\0")
        return words[:-1]

    def show(self, typed: str, until: str, *, keys: str = "\t\t") -> str:
        """Type a line and press Tab twice; return what is shown until `until` is."""
        before = len(self.shown)
        self._write(typed + keys)
        self._read_until(lambda: until in self.shown[before:])
        self._write("\x15")
        return self.shown[before:]

    def close(self) -> None:
        """End the shell."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def _write(self, text: str) -> None:
        os.write(self._terminal, text.encode("utf-8", "surrogateescape"))

    def _read_until(self, is_done: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not is_done():
            assert time.monotonic() < end, f"the shell stands still after: {self.shown[-2000:]}"
            if select.select([self._terminal], [], [], 0.02)[0]:
                self.shown += os.read(self._terminal, 1 << 16).decode("utf-8", "replace")
