"""Finds out whether usher can read all accelerators that a workload requests: an unreadable amount is not 0."""

from collections.abc import Callable, Iterable
from typing import Final

from usher import model, paths
from usher.accelerators import names

_RESOURCES: Final = "resources"
_WHOLE: Final = frozenset({"containers", "initContainers"})
_ANNOTATIONS: Final = (
    names.GPU_FRACTION,
    names.GPU_MEMORY,
    names.GKE_DEVICES,
    names.CDI_DEVICES,
    names.NVIDIA_CDI_DEVICES,
)
"""Prefixes of annotations that request accelerators."""
_BESIDE: Final = frozenset(
    {
        *("metadata", "labels", "env", "envFrom", "command", "args", "image", "ports", "probes"),
        *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "securityContext", "volumeMounts", "volumes"),
        *("affinity", "tolerations", "nodeSelector", "topologySpreadConstraints", "priorityClassName", "schedulerName"),
    }
)
"""Fields from which no amount follows."""


def is_known(
    workload: model.Workload, unknowns: Iterable[model.Unknown], *, is_accelerator: Callable[[str], bool]
) -> bool:
    """Whether no unreadable part can be a request for an accelerator.

    Args:
        workload: the workload.
        unknowns: its parts that could not be read.
        is_accelerator: whether a resource is an accelerator.
    """
    if not workload.makes_pods:
        return True
    unread = (each.path for each in unknowns if not each.check)
    unclear = any(pod_set.unclear_devices for pod_set in workload.pod_sets)
    return not unclear and not any(_may_ask(path, is_accelerator) for path in unread)


def _may_ask(path: str, is_accelerator: Callable[[str], bool]) -> bool:
    steps = paths.split(path)
    if "annotations" in steps:
        return steps[-1].startswith(_ANNOTATIONS)
    if _RESOURCES in steps:
        # After it come `limits` or `requests`, and the resource.
        named = steps[steps.index(_RESOURCES) + 1 :]
        return len(named) < 2 or is_accelerator(named[1])
    within = next((place for place, step in enumerate(steps) if step in _WHOLE), None)
    if within is not None and len(steps) > within + 2:
        return False  # another field of a container
    return _BESIDE.isdisjoint(steps)
