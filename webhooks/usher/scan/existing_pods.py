"""Pods of a cluster as they are judged: without the traces of their life, so that like pods share one verdict.

Rules do not see which node the scheduler chose, nor anything of the status but that it exists. A test compares the
verdicts about both forms.
"""

from typing import Final

from usher import paths

_CHOSEN: Final = "chosen-by-the-scheduler"
"""Stands for the node of a pod that has conditions: rules see only that it has one."""

_PLACED: Final[paths.Object] = {"conditions": [{"type": "PodScheduled"}]}


def as_judged(pod: paths.Object) -> paths.Object:
    """A new object that says the same to every rule; equal for like pods but for names and numbers."""
    spec, status = pod.get("spec"), pod.get("status")
    result = {key: value for key, value in pod.items() if key != "status"}
    if not isinstance(status, dict) or not isinstance(spec, dict):
        return pod
    if status.get("conditions"):
        result["status"] = _PLACED
        if isinstance(spec.get("nodeName"), str) and spec["nodeName"]:
            result["spec"] = {**spec, "nodeName": _CHOSEN}
    return result
