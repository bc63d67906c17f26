"""What counts as a credential, seen from outside: in findings, in briefs, in handoffs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from random import Random

from ricordo.agents.claude.location import make_slug
from ricordo.secrets import mask_passage
from tests.support.builders import note_text, write_memory
from tests.support.curating import SESSION, user_lines
from tests.support.forking import run_forked
from tests.support.secret_corpus import ALNUM, draw
from tests.support.seed_phrases import draw_phrase, wrapped
from tests.support.transcripts import Claude
from tests.unit.handoff.work import EDITED, committed, write
from tests.unit.machine import Machine

RANDOM = Random(20_261_122)
PHRASE = draw_phrase(RANDOM, 12, valid=False)
LONG_PHRASE = draw_phrase(RANDOM, 24, valid=True)
TOKEN = draw(RANDOM, ALNUM, 30) + "4a"
PASSPHRASE = "correct horse battery staple"

SECRETS = {
    "phrase": (f"Backup:\n\n{wrapped(PHRASE, 4)}\n", " ".join(PHRASE[:2])),
    "phrase-table": (f"| {wrapped(LONG_PHRASE, 3, ' | ', '| ')} |\n", " | ".join(LONG_PHRASE[:2])),
    "codes": ("Recovery codes:\n\n- a1b2c-3d4e5\n- f6g7h-8i9j0\n- k1l2m-3n4o5\n", "k1l2m-3n4o5"),
    "gpg": ("gpg --batch --passphrase tigerlily -d x.gpg\n", "tigerlily"),
    "set": (f"Then set `API_KEY` to `{TOKEN}`.\n", TOKEN),
    "sshpass": ("sshpass -p moonlight ssh ana@host\n", "moonlight"),
    "curl": ("curl -u ana:moonlight https://x.example\n", "moonlight"),
    "netrc": ("machine x.example login ana password moonlight\n", "moonlight"),
    "dotted": ("The wifi password is Kitten.river12.\n", "Kitten.river12"),
    "passphrase": (f"log in with the passphrase {PASSPHRASE}\n", PASSPHRASE),
}
NONE = {
    "primary": "primary key: 3f2504e0-4f89-41d3-9a0c-0305e82c3301\n",
    "idempotency": "idempotency key 3f2504e0-4f89-41d3-9a0c-0305e82c3301\n",
    "sha1": "key: 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12\n",
    "pgp": "The PGP key 9A3F51C27E0B64D8A1F4C2E97B305D86E4A1C9F2 signs it.\n",
    "nostr": "My key is npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6.\n",
    "tokenizer": "Image Tokenizer: DINOv2-based\n",
    "link": "[Passphrase Guide](https://x.example/guide2#top)\n",
    "seconds": "All tests pass (47.2s).\n",
    "class": "The secret is in `CondenseSession`.\n",
    "mark": "It is MIT. [verified: LICENSE is 5cd9a1b2c3d4]\n",
}


def run(*words: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run `ricordo` in a process that is forked."""
    own = {"HOME": str(home), "RICORDO_STATE": str(home / "state")}
    done = run_forked(*words, environ={**os.environ, **own}, cwd=cwd)
    out, err = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(words, done.returncode, out, err)


def findings(tmp_path: Path, notes: dict[str, str]) -> tuple[set[str], str]:
    """Return the notes that a credential was found in, and all that was printed."""
    files = {f"{name}.md": note_text(name, text) for name, text in notes.items()}
    memory = write_memory(tmp_path / "memory", files)
    done = run("lint", str(memory), "--json", cwd=tmp_path, home=tmp_path)
    found = json.loads(done.stdout)["findings"]
    return {it["path"].removesuffix(".md") for it in found if it["rule"] == "secret"}, done.stdout


def test_lint_finds_every_form_of_a_credential_and_prints_none(tmp_path: Path) -> None:
    found, printed = findings(tmp_path, {name: text for name, (text, _) in SECRETS.items()})
    assert found == set(SECRETS)
    shown = [name for name, (_, value) in SECRETS.items() if " " in value and value in printed]
    assert not shown


def test_lint_takes_no_id_digest_or_name_for_a_credential(tmp_path: Path) -> None:
    found, _ = findings(tmp_path, NONE)
    assert found == set()


def test_a_password_that_is_a_word_is_found_only_where_it_is_named(tmp_path: Path) -> None:
    text = 'CORE_RPC_PASSWORD: "mempool"\n\ncd mempool/docker\nThe mempool is small.\n'
    memory = write_memory(tmp_path / "memory", {"node.md": note_text("node", text)})
    done = run("lint", str(memory), "--json", cwd=tmp_path, home=tmp_path)
    found = [it for it in json.loads(done.stdout)["findings"] if it["rule"] == "secret"]
    assert len(found) == 1


class Project:
    """A project whose licence was changed in a session in which all credentials were said."""

    def __init__(self, tmp_path: Path) -> None:
        self.machine = Machine(tmp_path)
        self.path = self.machine.repository("port")
        licence = write(self.path / "LICENSE", "MIT\n", EDITED)
        committed(self.path, "licence", EDITED)
        self.machine.memory(self.path)
        session = Claude(cwd=str(self.path)).says("Put the year into the licence.")
        session.uses("Edit", file_path=str(licence), old_string="MIT", new_string="MIT 2026")
        for text, _ in SECRETS.values():
            session.says(f"From now on always remember this.\n\n{text}")
        session.answers("The licence is done.")
        self.session = session.write(self.machine.home, make_slug(str(self.path)))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run(*words, cwd=self.path, home=self.machine.home)


def test_a_session_about_the_licence_is_handed_off_without_secrets(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    done = project.run("handoff", "--session", str(project.session), "--messages")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (project.path / "HANDOFF.md").read_text("utf-8")
    assert "[verified: LICENSE is " in text
    assert not [name for name, (_, value) in SECRETS.items() if value in text]


def test_no_brief_contains_a_secret(tmp_path: Path) -> None:
    memory = write_memory(tmp_path / "memory", {"MEMORY.md": "# Memory\n"})
    transcript = tmp_path / f"{SESSION}.jsonl"
    talk = [f"From now on always remember this.\n\n{text}" for text, _ in SECRETS.values()]
    transcript.write_text(user_lines("Fix the test.", *talk), "utf-8")
    words = ("curate", "-m", str(memory), "--session", str(transcript), "--brief")
    done = run(*words, cwd=tmp_path, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "always remember this" in done.stdout
    assert not [name for name, (_, value) in SECRETS.items() if value in done.stdout]


def test_what_is_printed_of_notes_masks_secrets_until_they_are_revealed(tmp_path: Path) -> None:
    value = "kite77Zx91"
    long = f"{'The mill turns. ' * 12}The winch password: {value} {'and so on, ' * 12}"
    memory = write_memory(
        tmp_path / "memory",
        {
            "MEMORY.md": f"# Memory\n\n- [Winch](winch.md) — the password is {value}\n",
            "winch.md": note_text("winch", f"{long}\n", description=f"the password is {value}"),
        },
    )
    for words in (("search", "winch"), ("search", value), ("show", "winch"), ("load",)):
        for form in ((), ("--json",)):
            done = run(*words, *form, "-m", str(memory), cwd=tmp_path, home=tmp_path)
            assert done.returncode == 0, done.stderr
            assert value not in done.stdout, words
            assert "[secret: password]" in done.stdout, words
    for words in (("show", "winch"), ("load",)):
        for form in ((), ("--json",)):
            done = run(*words, *form, "--reveal", "-m", str(memory), cwd=tmp_path, home=tmp_path)
            assert value in done.stdout
            assert "[secret:" not in done.stdout


def test_a_part_of_a_secret_is_masked_too() -> None:
    text = "The key: 8f3a9c5d7e1b2a4f6c8d0e9f7a5b3c1d and\n  more of it."
    assert mask_passage("…5b3c1d and more…", text) == "…[secret: api-key] and more…"
    assert mask_passage("The key: 8f3a9c5d…", text) == "The key: [secret: api-key]…"
    assert mask_passage("and more of it.", text) == "and more of it."
