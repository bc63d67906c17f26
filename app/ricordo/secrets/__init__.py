"""What a credential looks like, and how it is masked.

The rules are data (`rules.toml`); the modules here apply them. A cheap prefilter rules out nearly
every note; the candidates in the others are judged by their shape.
"""

from ricordo.secrets.find import KnownValues, find_secrets, mask
from ricordo.secrets.rules import Secret

__all__ = ["KnownValues", "Secret", "find_secrets", "mask"]
