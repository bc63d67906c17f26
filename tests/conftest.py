"""What all tests share: how many inputs Hypothesis tries."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.figures import figure

settings.register_profile(
    "ricordo",
    max_examples=figure("examples", everyday=100),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ricordo")
