"""The comparison with other linters, on what they print."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.peers import Compared, of_cml, of_ours, of_vaultlint, report
from tests.support.builders import note_text, write_memory


def test_what_only_one_side_names_is_counted_and_told_with_its_line(root: Path) -> None:
    write_memory(root, {"MEMORY.md": "- [A](a.md)\n- [Gone](gone.md)\n"})
    write_memory(root, {"a.md": note_text("a", "See [it](away.md).\n\n`old.md` says more.\n")})
    theirs = [
        *of_cml(json.dumps({"violations": [
            {"rule_id": "R002", "path": str(root / "a.md"), "line": 6, "message": "no aliases"},
            {"rule_id": "R010", "path": str(root / "a.md"), "line": 9, "message": "no target"},
        ]}), str(root)),
        *of_vaultlint(json.dumps({"findings": [
            {"rule": "BROKEN_LINK", "file": "a.md", "line": 11, "message": "no old.md"},
        ]})),
    ]  # fmt: skip
    memory, ours = of_ours(str(root), "")
    compared = Compared(tuple(theirs), ours)
    assert [it.rule for it in compared.missed] == ["R002", "BROKEN_LINK"]
    assert [(it.rule, it.path) for it in compared.alone] == [("index-missing-file", "MEMORY.md")]
    told = "\n".join(report(memory, compared))
    assert "notes named: 1 by both, 0 by them alone, 1 by us alone" in told
    assert "places: 1 of their 3 named by us too; 2 by them alone, 1 by us alone" in told
    assert "a.md:11  no old.md\n                           | `old.md` says more." in told
    assert "1 × no aliases" in told
