"""The section `facts` of usher.yaml: how old facts may be, and how long a quota reserves."""

from typing import Final

from pydantic import Field, field_validator

from usher.config.fields import Duration, Section, seconds

SHORTEST: Final = 90.0
"""Seconds: a watch without changes sends a bookmark about once a minute."""


class Facts(Section):
    stale_after: Duration = Field(
        default="5m",
        description="How old facts may be while no API server can be reached: 90s, 5m or 1h; at least 90s. A finding "
        "that rests on older facts warns at most.",
    )

    quota_reservation: Duration = Field(
        default="70s",
        description="How long a GPUQuota is charged for an admitted workload that has not appeared yet. An API server "
        "gives a request up after 60 seconds by default: a shorter time may give the same GPUs to another workload.",
    )

    @field_validator("stale_after")
    @classmethod
    def _check_longer_than_silence_of_watch(cls, value: Duration) -> Duration:
        if seconds(value) < SHORTEST:
            raise ValueError(
                "a watch without changes is silent for a minute, so facts may be that old: set at least 90s"
            )
        return value

    @property
    def reservation(self) -> int:
        """`quota_reservation` in seconds."""
        return int(seconds(self.quota_reservation))

    @property
    def bound(self) -> float:
        """`stale_after` in seconds."""
        return seconds(self.stale_after)
