"""What ships with the code: themes, the sample memory, data files.

Themes and sample memory lie inside the wheel, or at the top of a checkout.
"""

from __future__ import annotations

import os
import pkgutil

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))


def themes_directory() -> str:
    """Return the directory of the themes that ship with Ricordo."""
    return _find("themes")


def sample_memory_directory() -> str:
    """Return the directory of the sample memory; it is never opened itself, only copies of it."""
    return _find("sample_memory")


def data_text(name: str) -> str:
    """Return the text of the data file `name` of the package."""
    data = pkgutil.get_data("ricordo", name)
    assert data is not None
    return data.decode()


def data_file(name: str) -> str:
    """Return where the data file `name` of the package lies, for a person who wants to look."""
    return os.path.join(_PACKAGE, *name.split("/"))


def _find(name: str) -> str:
    shipped = os.path.join(_PACKAGE, name)
    return shipped if os.path.isdir(shipped) else os.path.join(_CHECKOUT, name)
