"""Which resources are accelerators, and how many of each one pod takes (gpu-domain 1.4 and 4.1)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

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
        "gpu.intel.com/dxg",
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
KNOWN_PREFIXES = (
    "nvidia.com/mig-",
    # The partitions of an AMD GPU, such as amd.com/cpx_nps4: its compute partition modes, split or not.
    "amd.com/cpx",
    "amd.com/dpx",
    "amd.com/qpx",
    "amd.com/spx",
    "amd.com/tpx",
    "deviceclass.resource.kubernetes.io/",
)

# The taint that guards such nodes where nothing better is known: GKE and KServe use these keys (gpu-domain 4.3).
KNOWN_TAINTS = {"nvidia.com/": "nvidia.com/gpu", "google.com/tpu": "google.com/tpu", "amd.com/": "amd.com/gpu"}


class Vocabulary:
    """Answers what a resource name means, from the known names and those that usher.yaml adds."""

    def __init__(self, section: models.Accelerators) -> None:
        self._names = KNOWN_NAMES | set(section.names)
        self._prefixes = (*KNOWN_PREFIXES, *section.prefixes)
        self._taints = {**KNOWN_TAINTS, **section.taints}

    def contains(self, name: str) -> bool:
        """Whether a resource of this name is an accelerator."""
        return name in self._names or name.startswith(self._prefixes)

    def taint_key(self, name: str) -> str | None:
        """Key of the taint that nodes with this resource usually carry; the longest prefix that fits knows best."""
        fitting = [prefix for prefix in self._taints if name.startswith(prefix)]
        return self._taints[max(fitting, key=len)] if fitting else None


def of_pod(
    containers: Iterable[model.Container], *, overhead: model.Resources, vocabulary: Vocabulary
) -> Mapping[str, quantities.Quantity]:
    """Effective accelerator request of one pod by resource; resources asked for with 0 are left out.

    The scheduler's rule: the larger of what runs together and of what each init container needs while it runs beside
    the sidecars that were started before it. One pass, because a manifest decides how many names and containers there
    are.
    """
    containers = [container for container in containers if container.accelerators]
    if not containers and not overhead:
        return {}
    together = _totals()
    sidecars = _totals()
    peaks = _totals()
    for container in containers:
        for name in container.accelerators:
            effective = container.effective(name)
            if container.type is model.ContainerType.INIT:
                peaks[name] = max(peaks[name], effective + sidecars[name])
                continue
            if container.type is model.ContainerType.SIDECAR:
                sidecars[name] += effective
            if container.type is not model.ContainerType.EPHEMERAL:
                together[name] += effective
    names = {*together, *peaks, *(name for name in overhead if vocabulary.contains(name))}
    totals = {name: max(together[name], peaks[name]) + overhead.get(name, quantities.ZERO) for name in sorted(names)}
    return {name: total for name, total in totals.items() if total}


def _totals() -> defaultdict[str, quantities.Quantity]:
    return defaultdict(_zero)


def _zero() -> quantities.Quantity:
    return quantities.ZERO
