"""The section `lifecycle` of usher.yaml: how long jobs may run and stay, and how their pods stop."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from usher.config.fields import Duration, Section, Selector, seconds

DEFAULT_GRACE: Final = 30
"""Seconds that Kubernetes gives a pod to stop."""

Word = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class PreStop(Section):
    """The last action of a container before Kubernetes stops it: a signal to its first process, or a command."""

    signal: Literal["HUP", "INT", "USR1", "USR2"] | None = Field(
        default=None,
        description="Signal for process 1 of the container, on which the program writes a checkpoint. The image needs "
        "/bin/sh.",
    )
    wait: Duration | None = Field(
        default=None,
        description="How long the pod then waits before it gets SIGTERM. Shorter than terminationGracePeriod.",
    )
    command: list[Word] | None = Field(
        default=None, min_length=1, max_length=64, description="Command in the container, in place of a signal."
    )

    @model_validator(mode="after")
    def _check_one_way(self) -> "PreStop":
        if (self.signal is None) == (self.command is None):
            raise ValueError("preStop does one thing; write either signal: NAME or command: [...]")
        if self.command is not None and self.wait is not None:
            raise ValueError("wait belongs to signal; let the command itself wait")
        return self


class Lifecycle(Selector):
    """Lifecycle settings for workloads whose authors did not set them."""

    ttl_after_finished: Duration | None = Field(
        default=None, description="How long a finished job stays before its controller deletes it."
    )
    deadline: Duration | None = Field(default=None, description="How long a job may run from its start.")
    termination_grace_period: Duration | None = Field(
        default=None,
        description="Time in which pods write their last checkpoint after SIGTERM, for pods that leave it at the 30 "
        "seconds of Kubernetes. The parameter maximumSeconds of leaves-too-late is the ceiling.",
    )
    pre_stop: PreStop | None = Field(
        default=None, description="For containers with accelerators that have no preStop hook."
    )

    @model_validator(mode="after")
    def _check_grace(self) -> "Lifecycle":
        grace: float = DEFAULT_GRACE
        if self.termination_grace_period is not None:
            grace = seconds(self.termination_grace_period)
            if grace <= DEFAULT_GRACE:
                raise ValueError(
                    f"terminationGracePeriod {self.termination_grace_period} is not more than the {DEFAULT_GRACE}s of "
                    "Kubernetes, and usher never lowers it"
                )
        if self.pre_stop is not None and self.pre_stop.wait is not None and seconds(self.pre_stop.wait) >= grace:
            raise ValueError(
                f"preStop waits {self.pre_stop.wait} of a grace period of {grace:.0f}s, so the program never gets "
                "SIGTERM; raise terminationGracePeriod or shorten wait"
            )
        return self


def command_of(hook: PreStop) -> list[str]:
    """The command of a preStop hook."""
    if hook.command is not None:
        return list(hook.command)
    waiting = "" if hook.wait is None else f"; sleep {seconds(hook.wait):.0f}"
    return ["/bin/sh", "-c", f"kill -{hook.signal} 1{waiting}"]
