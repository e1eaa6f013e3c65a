"""What usher.yaml says of what is known of the cluster."""

from typing import Final

from pydantic import Field, field_validator

from usher.config.fields import Duration, Section, seconds

SHORTEST: Final = 90.0
"""Seconds: a watch that has nothing to tell gives a sign of life about once a minute."""


class Facts(Section):
    stale_after: Duration = Field(
        default="5m",
        description="How old what is known of the cluster may be, such as 90s, 5m or 1h, while no API server can be "
        "reached; at least 90s. A finding that rests on older facts warns at most.",
    )

    quota_reservation: Duration = Field(
        default="70s",
        description="For how long a GPUQuota is charged for a workload that nobody has seen yet. After 60 seconds an "
        "API server gives a request up by default, so that less may let another workload have the same GPUs.",
    )

    @field_validator("stale_after")
    @classmethod
    def _is_longer_than_a_watch_is_silent(cls, value: Duration) -> Duration:
        if seconds(value) < SHORTEST:
            raise ValueError(
                "a watch with nothing to tell is silent for a minute, so facts may be that old: at least 90s"
            )
        return value

    @property
    def reservation(self) -> int:
        """That time in seconds."""
        return int(seconds(self.quota_reservation))

    @property
    def bound(self) -> float:
        """That age in seconds."""
        return seconds(self.stale_after)
