from __future__ import annotations

import subprocess
import sys


def test_reading_settings_loads_neither_textual_nor_another_room() -> None:
    program = (
        "import sys, ricordo.settings.reader, ricordo.settings.theme, ricordo.settings.page;"
        "print(*sorted(name for name in sys.modules if name.startswith(('ricordo.', 'textual'))))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    below = ("text", "patterns", "errors", "resources", "settings", "suggestions")
    allowed = {f"ricordo.{name}" for name in below}
    assert {name for name in loaded if not name.startswith("ricordo.settings.")} <= allowed
