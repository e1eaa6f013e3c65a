"""Strips pods of a cluster of their runtime state before usher judges them, so that similar pods share one verdict.

Rules do not read which node the scheduler chose. Of the status they only read whether it exists. A test compares the
verdicts about both forms.
"""

from typing import Final

from usher import paths

_CHOSEN: Final = "chosen-by-the-scheduler"
"""Replaces the node of a pod that has conditions: rules only read whether it has one."""

_PLACED: Final[paths.Object] = {"conditions": [{"type": "PodScheduled"}]}


def as_judged(pod: paths.Object) -> paths.Object:
    """A new object with the same verdict from every rule. Similar pods become equal, except for names and numbers."""
    spec, status = pod.get("spec"), pod.get("status")
    result = {key: value for key, value in pod.items() if key != "status"}
    if not isinstance(status, dict) or not isinstance(spec, dict):
        return pod
    if status.get("conditions"):
        result["status"] = _PLACED
        if isinstance(spec.get("nodeName"), str) and spec["nodeName"]:
            result["spec"] = {**spec, "nodeName": _CHOSEN}
    return result
