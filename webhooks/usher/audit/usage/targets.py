"""Compares the targets of usher.yaml with the measurement."""

from usher.audit.document.usage import Target
from usher.audit.usage import amounts
from usher.audit.usage.ledger import AllDevices
from usher.audit.usage.tallies import Tally
from usher.config.audit_settings import Range, Targets
from usher.config.fields import seconds


def targets(
    wanted: Targets, *, devices: AllDevices | None, tally: Tally | None, queue_wait: float | None, wait_formula: str
) -> tuple[Target, ...]:
    """The targets; `actual` is None if it was not measured.

    Args:
        wanted: the section `audit.targets` of usher.yaml.
        devices: all devices of the cluster.
        tally: the sum of what pods held.
        queue_wait: the measured wait, in seconds.
        wait_formula: how usher computed the wait.
    """
    measured = devices.measured if devices is not None and devices.measured else None
    activity = devices.used / measured if devices is not None and measured else None
    return (
        _share(
            "activity",
            "Activity of all GPUs",
            wanted.activity,
            activity,
            "sum over all measured GPUs, held by a pod or not, of share of a GPU x hours x activity, divided by the "
            "same sum without activity",
            hours=measured,
        ),
        _share(
            "memory",
            "Memory of allocated GPUs in use",
            wanted.memory,
            tally.memory_share if tally is not None else None,
            "sum over allocated GPUs of share of a GPU x hours x used / total memory, divided by the same sum without "
            "used / total memory",
        ),
        Target(
            name="queueWaitP95",
            title="Wait in queues of 95 % of the workloads",
            high=seconds(wanted.queue_wait_p95),
            unit="seconds",
            actual=amounts.optional(queue_wait),
            met=None if queue_wait is None else queue_wait <= seconds(wanted.queue_wait_p95),
            formula=wait_formula,
        ),
    )


def _share(  # noqa: PLR0913 - the fields of one target
    name: str, title: str, wanted: Range, actual: float | None, formula: str, *, hours: float | None = None
) -> Target:
    return Target(
        name=name,
        title=title,
        low=wanted.low,
        high=wanted.high,
        unit="share from 0 to 1",
        actual=amounts.optional(actual),
        met=None if actual is None else wanted.low <= actual <= wanted.high,
        formula=formula,
        hours=amounts.optional(hours),
    )
