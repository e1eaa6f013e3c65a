"""The equipment of a cluster for accelerators: capacity, autoscalers, and the DaemonSets of the GPU stack.

Karpenter has a NodePool for each kind of node, and labels its nodes. Cluster Autoscaler, also that of a service, writes
a ConfigMap with its status. Usher knows only its name, so that it may be for nodes with accelerators or for others.

One image may hold several programs: that of NVIDIA's device plugin holds GPU feature discovery and the control daemon
of MPS as well. So the names of a DaemonSet and its containers come before its images.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from usher import paths
from usher.accelerators import vocabulary
from usher.accelerators.vocabulary import Vocabulary
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node
from usher.audit.gather.needed_inputs import KARPENTER_POOL
from usher.audit.standing.situation import Situation
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import node_pools
from usher.cluster.facts.store import Store
from usher.kinds.kind import CONFIG_MAP
from usher.model import placement


class _Equipment(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of equipment.yaml."""

    stack: dict[str, tuple[str, ...]]
    device_plugins: tuple[str, ...]
    other_devices: tuple[str, ...]
    vendors: dict[str, tuple[str, ...]]
    words: tuple[str, ...]
    machine_labels: tuple[str, ...]
    machines_with_accelerators: str


_KNOWN: Final = msgspec.yaml.decode(Path(__file__).with_name("equipment.yaml").read_bytes(), type=_Equipment)
_SCALED: Final = (*node_pools.KARPENTER, "node.cluster-x-k8s.io/autoscaled")

_GPU: Final = "nvidia.com/gpu"
"""The name of MIG devices on nodes with the strategy `single`."""

_SHARED: Final = "nvidia.com/gpu.shared"
"""The device plugin's name for replicas if it renames them."""

Number = int | Decimal


def accelerators_of(nodes: Iterable[Node]) -> Mapping[str, Number]:
    """The accelerators of nodes by each resource that pods may request, healthy or not; each share of a
    device counts.
    """
    found: dict[str, Number] = {}
    for node in nodes:
        for name, amount in node.capacity.items():
            for resource in _asked_by(name, node):
                found[resource] = found.get(resource, 0) + amount.number * node.shared_by
    return found


def _asked_by(name: str, node: Node) -> Iterator[str]:
    """The resources by which pods may request the devices of a node. An estate has one name for them."""
    resource = _GPU if name == node.partition else name
    yield resource
    if resource == _GPU and node.shared_by > 1:
        yield _SHARED
    # A DeviceClass may stand for an extended resource.
    of_class = vocabulary.meaning_of_class(name).resource
    if of_class:
        yield of_class


def may_grow(resource: str, situation: Situation) -> bool:
    """Whether an autoscaler may add nodes with a resource. Then a number above the present capacity proves nothing."""
    if any(pool.scales and resource in pool.resources for pool in situation.config.pools):
        return True
    if situation.autoscaler:
        return True
    nodes = situation.estate.nodes or ()
    scaled = (node for node in nodes if not node.labels.keys().isdisjoint(_SCALED))
    return any(resource in accelerators_of([node]) for node in scaled)


def pool_of(node: Node) -> str:
    """The displayed pool of a node: the name that its service gives, or its board, or its accelerators."""
    managed = node_pools.managed_pool_label(node.labels)
    if managed is not None:
        return f"pool {managed[1]}"
    return f"board {node.product}" if node.product else f"an unknown board with {fields.listing(sorted(node.capacity))}"


AUTOSCALER_STATUS: Final = "cluster-autoscaler-status"
"""The ConfigMap that Cluster Autoscaler writes into its namespace."""

_REQUIREMENTS: Final = "/spec/template/spec/requirements"
_TAINTS: Final = "/spec/template/spec/taints"
_WITHOUT: Final = ("DoesNotExist", "NotIn", "Lt")
"""Operators of requirements that exclude accelerators."""


def named_autoscaler(estate: Estate, known: Knowledge) -> str:
    """The autoscaler that may add nodes with accelerators, as people call it; empty if no object shows one."""
    pools = [fields.name(each) for each in karpenter_pools(estate, known.vocabulary)]
    if pools:
        return f"Karpenter (NodePool {fields.listing(pools)})"
    return f"Cluster Autoscaler (ConfigMap {AUTOSCALER_STATUS})" if has_autoscaler_status(known.facts) else ""


def has_autoscaler_status(facts: Store) -> bool:
    """Whether Cluster Autoscaler has written its status."""
    return AUTOSCALER_STATUS in (facts.names(*CONFIG_MAP) or ())


def karpenter_pools(estate: Estate, vocabulary: Vocabulary) -> Sequence[paths.Object]:
    """Karpenter's NodePools for nodes with accelerators."""
    labels = [node.labels for node in estate.nodes or ()]
    filled = {each[key] for each in labels for key in node_pools.KARPENTER if key in each}
    listed = fields.listed(estate, *KARPENTER_POOL.key) or ()
    return [each for each in listed if fields.name(each) in filled or _is_for_accelerators(each, vocabulary)]


def _is_for_accelerators(pool: paths.Object, vocabulary: Vocabulary) -> bool:
    """Whether a NodePool names accelerators in its limits, taints or requirements."""
    limits = fields.at(pool, "/spec/limits")
    if isinstance(limits, dict) and any(vocabulary.contains(name) and str(limits[name]) != "0" for name in limits):
        return True
    if any(word in fields.text(taint, "/key") for taint in fields.objects(pool, _TAINTS) for word in _KNOWN.words):
        return True
    return any(map(_wants_accelerators, fields.objects(pool, _REQUIREMENTS)))


def _wants_accelerators(requirement: paths.Object) -> bool:
    key, values = fields.text(requirement, "/key"), fields.texts(requirement, "/values")
    if fields.text(requirement, "/operator") in _WITHOUT:
        return False
    if key in _KNOWN.machine_labels:
        return any(re.fullmatch(_KNOWN.machines_with_accelerators, each, re.ASCII) for each in values)
    return any(word in key for word in _KNOWN.words) and (not values or any(value != "0" for value in values))


POD_SPEC: Final = "/spec/template/spec"
NODE_TERMS: Final = f"{POD_SPEC}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
"""The terms of required node affinity."""

DEVICE_PLUGIN: Final = "device plugin"
FEATURE_DISCOVERY: Final = "GPU feature discovery"
DCGM_EXPORTER: Final = "DCGM exporter"


def stack_part(daemon_set: paths.Object) -> str:
    """The part that a DaemonSet has in the GPU stack; empty for all other DaemonSets."""
    names, images = list(_names(daemon_set)), list(_images(daemon_set))
    if any(word in name for word in _KNOWN.other_devices for name in (*names, *images)):
        return ""
    for texts in (names, images):
        for found, words in _KNOWN.stack.items():
            if any(word in text for word in words for text in texts) and (
                found != DEVICE_PLUGIN or vendor_of(daemon_set) or any(_is_plain(image) for image in images)
            ):
                return found
    return ""


def vendor_of(daemon_set: paths.Object) -> str:
    """The prefix of the resources that a DaemonSet serves; empty if its names and images name no vendor."""
    texts = " ".join((*_images(daemon_set), *_names(daemon_set)))
    found = (vendor for vendor, words in _KNOWN.vendors.items() if any(word in texts for word in words))
    return next(found, "")


def selects_node(daemon_set: paths.Object, node: Node) -> bool:
    """Whether the node selector and required affinity of a DaemonSet allow its pods on a node."""
    selector = fields.strings(daemon_set, f"{POD_SPEC}/nodeSelector")
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    terms = fields.at(daemon_set, NODE_TERMS)
    return not isinstance(terms, list) or any(
        placement.term_matches(term, labels=node.labels, name=node.name)
        for term in terms[: fields.MOST_ENTRIES]
        if isinstance(term, dict)
    )


def _is_plain(image: str) -> bool:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0] in _KNOWN.device_plugins


def _names(daemon_set: paths.Object) -> Iterator[str]:
    """Its own name, then those of its containers."""
    yield fields.name(daemon_set)
    for container in fields.objects(daemon_set, f"{POD_SPEC}/containers"):
        yield fields.text(container, "/name")


def _images(daemon_set: paths.Object) -> Iterator[str]:
    for container in fields.objects(daemon_set, f"{POD_SPEC}/containers"):
        yield fields.text(container, "/image")
