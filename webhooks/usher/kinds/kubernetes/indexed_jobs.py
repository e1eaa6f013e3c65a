"""Whether the pods of an Indexed Job wait for each other.

Each pod of an Indexed Job has a number, and a host name if the template has a `subdomain` (a headless Service). Pods
that only divide work among them need the number alone. Pods that address each other, or all address the first, compute
together. Sources: kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication; the variables are those of
torch.distributed (environment variable initialization, torchrun), jax.distributed.initialize, TPU multi-host of GKE.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths

_OF_COORDINATORS: Final = frozenset({
    "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "MASTER_ADDR", "MEGASCALE_COORDINATOR_ADDRESS",
    "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "TPU_WORKER_HOSTNAMES",
})  # fmt: skip
"""Variables by which every process finds the first one, or all of them."""


def wait_for_each_other(spec: Mapping[str, paths.Json], pods: int) -> bool:
    """Whether all pods of a JobSpec run at once and know each other.

    Args:
        spec: the JobSpec. Values of wrong types are recorded elsewhere.
        pods: how many pods run at one time.
    """
    if pods < 2 or spec.get("completionMode") != "Indexed" or spec.get("completions") != pods:
        return False
    pod = _mapping(_mapping(spec.get("template")).get("spec"))
    subdomain = pod.get("subdomain")
    return (isinstance(subdomain, str) and bool(subdomain)) or not _OF_COORDINATORS.isdisjoint(_variables(pod))


def _variables(pod: Mapping[str, paths.Json]) -> Iterator[str]:
    for container in _items(pod.get("containers")):
        for variable in _items(container.get("env")):
            name = variable.get("name")
            if isinstance(name, str):
                yield name


def _items(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    return (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def _mapping(value: paths.Json) -> Mapping[str, paths.Json]:
    return value if isinstance(value, dict) else {}
