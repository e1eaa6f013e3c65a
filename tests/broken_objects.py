"""Objects of any kind with mistakes in all their pods, made without what usher knows about the kind."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

import builders
from usher import paths

Change = Callable[[Any], None]
"""Changes a container, a pod spec or a whole object."""


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(child)


def containers(value: Any) -> Iterator[Any]:
    """Everything that looks like a container: it has an image, or limits."""
    for part in _parts(value):
        image, resources = part.get("image"), part.get("resources")
        if isinstance(image, str) or (isinstance(resources, dict) and "limits" in resources):
            yield part


def pod_specs(value: Any) -> Iterator[Any]:
    return (part for part in _parts(value) if isinstance(part.get("containers"), list))


def wholes(value: Any) -> Iterator[Any]:
    yield value


def _setting(**fields: Any) -> Change:
    return lambda part: part.update(copy.deepcopy(fields))


def _limits(**amounts: Any) -> Change:
    return _setting(resources={kind: {builders.GPU: amount} for kind, amount in amounts.items()})


def _queued_nowhere(value: Any) -> None:
    metadata = value.setdefault("metadata", {})
    metadata.setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = "nowhere"
    metadata.setdefault("annotations", {})["kueue.x-k8s.io/podset-required-topology"] = "nowhere"


_VARIABLES: Final = {
    "NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "some", "CUDA_VISIBLE_DEVICES": "0",
    "NCCL_IB_DISABLE": "1", "NCCL_DEBUG": "LOUD",
}  # fmt: skip

MISTAKES: Final[dict[str, tuple[Callable[[Any], Iterator[Any]], Change]]] = {
    "without resources": (containers, lambda part: part.pop("resources", None)),
    "requests below limits": (containers, _limits(limits=3, requests=2)),
    "half a GPU": (containers, _limits(limits="1.5")),
    "many GPUs": (containers, _limits(limits="many")),
    "GPUs without anything else": (containers, _limits(limits=8)),
    "a profile that no board has": (containers, _setting(resources={"limits": {"nvidia.com/mig-9g.9gb": 1}})),
    "privileged": (containers, _setting(securityContext={"privileged": True})),
    "odd variables": (
        containers,
        _setting(env=[{"name": name, "value": value} for name, value in _VARIABLES.items()]),
    ),
    "texts and lists for objects": (containers, _setting(env="x", securityContext=[], volumeMounts=5)),
    "a server of models": (
        containers,
        _setting(image="vllm/vllm-openai:latest", args=["--model", "a/b", "--tensor-parallel-size", "16"]),
    ),
    "claims of devices": (containers, _setting(resources={"claims": [{"name": "gpu"}, {"name": "other"}]})),
    "a class and a scheduler that do not exist": (
        pod_specs,
        _setting(priorityClassName="nowhere", schedulerName="nowhere"),
    ),
    "nodes that do not exist": (pod_specs, _setting(nodeSelector={"nvidia.com/gpu.product": "x"}, tolerations=[])),
    "everything tolerated": (pod_specs, _setting(tolerations=[{"operator": "Exists"}], nodeName="a")),
    "parts of the host": (
        pod_specs,
        _setting(
            hostPID=True,
            hostIPC=True,
            hostNetwork=True,
            volumes=[{"name": "dev", "hostPath": {"path": "/dev"}}],
            runtimeClassName="nowhere",
        ),
    ),
    "a queue that does not exist": (wholes, _queued_nowhere),
}  # fmt: skip
"""The mistakes, each with the parts that it changes."""

TOGETHER: Final = (
    ("requests below limits", "privileged", "odd variables", "nodes that do not exist", "parts of the host",
     "a queue that does not exist"),
    ("half a GPU", "a server of models", "everything tolerated", "a class and a scheduler that do not exist"),
)  # fmt: skip
"""Mistakes that do not hide each other."""


def broken(value: paths.Object, *names: str) -> paths.Object:
    """A copy of an object with these mistakes in all its pods."""
    result = copy.deepcopy(value)
    for parts, change in map(MISTAKES.__getitem__, names):
        for part in list(parts(result)):
            change(part)
    return result
