"""What usher.yaml says of what is known of the cluster."""

from pydantic import Field

from usher.config.fields import Duration, Section, seconds


class Facts(Section):
    stale_after: Duration = Field(
        default="5m",
        description="How old what is known of the cluster may be, such as 90s, 5m or 1h, while no API server can be "
        "reached. A finding that rests on older facts warns at most.",
    )

    quota_reservation: Duration = Field(
        default="70s",
        description="For how long a GPUQuota is charged for a workload that nobody has seen yet. After 60 seconds an "
        "API server gives a request up by default, so that less may let another workload have the same GPUs.",
    )

    @property
    def reservation(self) -> int:
        """That time in seconds."""
        return int(seconds(self.quota_reservation))

    @property
    def bound(self) -> float:
        """That age in seconds."""
        return seconds(self.stale_after)
