"""Taints of GPU nodes: those that are missing, and those that keep the GPU stack itself away."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from usher import paths
from usher.audit import fields, gpus
from usher.audit.document import FindingEntry
from usher.audit.estate import Node
from usher.audit.standing import capacity, entries
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import DAEMON_SET
from usher.facts.node_reading import Taint
from usher.scheduling import taints

_STACK: Final = {
    "driver": ("nvidia-driver", "amdgpu-driver"),
    "container toolkit": ("container-toolkit",),
    "device plugin": ("device-plugin", "deviceplugin"),
    "GPU feature discovery": ("gpu-feature-discovery",),
    "DCGM exporter": ("dcgm-exporter",),
    "MIG manager": ("mig-manager",),
    "DRA driver": ("dra-driver-nvidia-gpu", "k8s-dra-driver-gpu", "dra-driver-gpu"),
}
"""Parts of images of the DaemonSets that GPU nodes need, by what they are (NVIDIA/gpu-operator assets/)."""

_VENDORS: Final = {
    "nvidia.com/": ("nvidia", "container-toolkit", "gpu-feature-discovery", "dcgm", "mig-manager"),
    "amd.com/": ("amd", "rocm"),
    "habana.ai/": ("habana", "gaudi"),
    "gpu.intel.com/": ("intel",),
    "aws.amazon.com/neuron": ("neuron",),
    "google.com/tpu": ("tpu",),
}
"""Words in images, by what the resources of the vendor begin with."""

_MOMENTARY: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
"""Taints of the control plane: the controller of DaemonSets tolerates most of them, and they pass."""


def part_of_stack(daemon_set: paths.Object) -> str:
    """What a DaemonSet is for the GPU nodes, by its images; empty for all others."""
    for container in fields.objects(daemon_set, "/spec/template/spec/containers"):
        image = fields.text(container, "/image")
        for part, words in _STACK.items():
            if any(word in image for word in words):
                return part
    return ""


def _vendor(daemon_set: paths.Object) -> str:
    """What the resources begin with that a DaemonSet is for; empty where its images name no vendor."""
    images = [fields.text(each, "/image") for each in fields.objects(daemon_set, "/spec/template/spec/containers")]
    found = (vendor for vendor, words in _VENDORS.items() if any(word in image for word in words for image in images))
    return next(found, "")


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about taints, one for each pool or DaemonSet; nothing where nodes are not known."""
    nodes = situation.estate.nodes or ()
    yield from _untainted(nodes, situation)
    for daemon_set in fields.listed(situation.estate, *DAEMON_SET) or ():
        part = part_of_stack(daemon_set)
        if part:
            vendor = _vendor(daemon_set)
            of_vendor = [node for node in nodes if any(name.startswith(vendor) for name in node.capacity)]
            yield from _kept_away(daemon_set, part, of_vendor, situation)


def _untainted(nodes: Sequence[Node], situation: Situation) -> Iterator[FindingEntry]:
    by_pool: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if not any(effect in taints.GUARDING and not key.startswith(_MOMENTARY) for key, _, effect in node.taints):
            by_pool[capacity.pool(node)].append(node)
    for pool, found in sorted(by_pool.items()):
        names = [node.name for node in found]
        yield entries.finding(
            "USA030",
            entries.of_cluster(pool),
            f"{entries.counted(len(found), 'node')} of {pool} {'has' if len(found) == 1 else 'have'} no taint that "
            "keeps other pods off",
            remedy=f"Taint the nodes with {_key(found[0])}=present:NoSchedule, in their node pool so that new nodes "
            "get it too.",
            evidence=(f"nodes: {fields.listing(names)}",),
            gpus=sum(map(gpus.capacity, found)),
            prevention=situation.preventing_anywhere("USH1430"),
        )


def _key(node: Node) -> str:
    """The usual key of the taint of a node: the resource of its devices, and for all devices of NVIDIA that of GPUs."""
    names = sorted(node.capacity)
    return names[0] if names and not names[0].startswith("nvidia.com/") else "nvidia.com/gpu"


def _kept_away(
    daemon_set: paths.Object, part: str, nodes: Sequence[Node], situation: Situation
) -> Iterator[FindingEntry]:
    """The taints of nodes that the DaemonSet selects and does not tolerate, each with its nodes."""
    template = "/spec/template/spec"
    selector: Mapping[str, str] = fields.strings(daemon_set, f"{template}/nodeSelector")
    tolerations = fields.objects(daemon_set, f"{template}/tolerations")
    by_taint: defaultdict[Taint, list[Node]] = defaultdict(list)
    for node in nodes:
        if any(node.labels.get(key) != value for key, value in selector.items()):
            continue
        lasting = [Taint(*taint) for taint in node.taints if not taint[0].startswith(_MOMENTARY)]
        for taint in taints.untolerated(tolerations, lasting):
            by_taint[taint].append(node)
    for taint, found in sorted(by_taint.items()):
        yield entries.finding(
            "USA031",
            entries.of_object(daemon_set),
            f"the {part} does not tolerate the taint {taint} of {entries.counted(len(found), 'node')}",
            part=str(taint),
            path="spec.template.spec.tolerations",
            evidence=(f"nodes: {fields.listing([node.name for node in found])}",),
            gpus=sum(map(gpus.capacity, found)),
            prevention=situation.preventing_anywhere("USH1431"),
        )
