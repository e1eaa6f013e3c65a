"""Which resources are accelerators, and how many of each one pod takes (gpu-domain 1.4 and 4.1)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from usher import model, quantities
from usher.config import models

# gpu-domain 4.1, with sources. Not "contains gpu": that misses MIG, TPU, Neuron and Gaudi.
KNOWN_NAMES = frozenset(
    {
        "amd.com/gpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "aws.amazon.com/neurondevice",
        "google.com/tpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "gpu.intel.com/monitoring",
        "gpu.intel.com/i915_monitoring",
        "gpu.intel.com/xe_monitoring",
        "habana.ai/gaudi",
        "intel.com/gpu",
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
    }
)
KNOWN_PREFIXES = ("nvidia.com/mig-", "amd.com/cpx", "amd.com/spx", "deviceclass.resource.kubernetes.io/")

# The taint that guards such nodes where nothing better is known: GKE and KServe use these keys (gpu-domain 4.3).
KNOWN_TAINTS = {"nvidia.com/": "nvidia.com/gpu", "google.com/tpu": "google.com/tpu", "amd.com/": "amd.com/gpu"}


class Vocabulary:
    """Answers what a resource name means, from the known names and those that usher.yaml adds."""

    def __init__(self, section: models.Accelerators) -> None:
        names = KNOWN_NAMES | set(section.names)
        prefixes = (*KNOWN_PREFIXES, *section.prefixes)
        taints = {**KNOWN_TAINTS, **section.taints}

        def contains(name: str) -> bool:
            return name in names or name.startswith(prefixes)

        def taint_key(name: str) -> str | None:
            # The longest prefix that fits knows best.
            fitting = [prefix for prefix in taints if name.startswith(prefix)]
            return taints[max(fitting, key=len)] if fitting else None

        # Names come from manifests, so the caches are bounded.
        self.contains = lru_cache(maxsize=1024)(contains)
        self.taint_key = lru_cache(maxsize=1024)(taint_key)


def of_pod(
    containers: Sequence[model.Container], *, overhead: model.Resources, vocabulary: Vocabulary
) -> Mapping[str, quantities.Quantity]:
    """Effective accelerator request of one pod by resource; resources asked for with 0 are left out.

    The scheduler's rule: the larger of what runs together and of what each init container needs while it runs.
    """
    names = {
        name
        for container in containers
        for resources in (container.requests, container.limits)
        for name in resources
        if vocabulary.contains(name)
    }
    totals = {name: _of_pod(containers, name) + overhead.get(name, quantities.ZERO) for name in sorted(names)}
    return {name: total for name, total in totals.items() if total}


def _of_pod(containers: Sequence[model.Container], resource: str) -> quantities.Quantity:
    running = quantities.ZERO
    sidecars = quantities.ZERO
    init_peak = quantities.ZERO
    for container in containers:
        effective = container.effective(resource)
        if container.type is model.ContainerType.INIT:
            init_peak = max(init_peak, effective + sidecars)
        elif container.type is model.ContainerType.SIDECAR:
            sidecars += effective
        elif container.type is model.ContainerType.APP:
            running += effective
    return max(running + sidecars, init_peak)
