"""DaemonSets of the GPU stack: what each is for a GPU node, whose devices it is for, and the nodes that it selects.

One image may hold several programs: that of NVIDIA's device plugin holds GPU feature discovery and the control daemon
of MPS as well. So the names of a DaemonSet and its containers come before its images.
"""

from collections.abc import Iterator
from typing import Final

from usher import paths
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Node
from usher.scheduling import node_affinity

TEMPLATE: Final = "/spec/template/spec"
TERMS: Final = f"{TEMPLATE}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
"""The terms of required node affinity."""

DEVICE_PLUGIN: Final = "device plugin"
FEATURE_DISCOVERY: Final = "GPU feature discovery"
DCGM_EXPORTER: Final = "DCGM exporter"

_PLUGINS: Final = ("device-plugin", "deviceplugin", "intel-gpu-plugin")
_PLAIN: Final = ("device-plugin", "k8s-device-plugin")
"""Names of images that are device plugins of accelerators, whatever their registry."""

_OTHER_DEVICES: Final = ("mps-control-daemon", "sriov", "rdma", "efa-", "kubevirt")
"""Parts of names of programs that offer no GPUs to containers, from images or with names of device plugins."""

_STACK: Final = {
    "driver": ("nvidia-driver", "amdgpu-driver"),
    "container toolkit": ("container-toolkit",),
    FEATURE_DISCOVERY: ("gpu-feature-discovery",),
    DEVICE_PLUGIN: _PLUGINS,
    DCGM_EXPORTER: ("dcgm-exporter",),
    "MIG manager": ("mig-manager",),
    "DRA driver": ("dra-driver-nvidia-gpu", "k8s-dra-driver-gpu", "dra-driver-gpu"),
}
"""Parts of names and images of the DaemonSets that GPU nodes need, by what they are (NVIDIA/gpu-operator assets/)."""

_VENDORS: Final = {
    "nvidia.com/": ("nvidia", "container-toolkit", "gpu-feature-discovery", "dcgm", "mig-manager", "hami", "vgpu"),
    "amd.com/": ("amd", "rocm"),
    "habana.ai/": ("habana", "gaudi"),
    "gpu.intel.com/": ("intel",),
    "aws.amazon.com/neuron": ("neuron",),
    "google.com/tpu": ("tpu",),
}
"""Words in names and images, by what the resources of the vendor begin with."""


def part(daemon_set: paths.Object) -> str:
    """What a DaemonSet is for the GPU nodes; empty for all others."""
    names, images = list(_names(daemon_set)), list(_images(daemon_set))
    if any(word in name for word in _OTHER_DEVICES for name in (*names, *images)):
        return ""
    for texts in (names, images):
        for found, words in _STACK.items():
            if any(word in text for word in words for text in texts) and (
                found != DEVICE_PLUGIN or vendor(daemon_set) or any(_is_plain(image) for image in images)
            ):
                return found
    return ""


def vendor(daemon_set: paths.Object) -> str:
    """What the resources begin with that a DaemonSet is for; empty where its names and images name no vendor."""
    texts = [*_images(daemon_set), *_names(daemon_set)]
    found = (vendor for vendor, words in _VENDORS.items() if any(word in text for word in words for text in texts))
    return next(found, "")


def selects(daemon_set: paths.Object, node: Node) -> bool:
    """Whether node selector and required affinity let its pods onto a node."""
    selector = fields.strings(daemon_set, f"{TEMPLATE}/nodeSelector")
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    terms = fields.at(daemon_set, TERMS)
    return not isinstance(terms, list) or any(
        node_affinity.term_matches(term, labels=node.labels, name=node.name)
        for term in terms[: fields.MOST_ENTRIES]
        if isinstance(term, dict)
    )


def _is_plain(image: str) -> bool:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0] in _PLAIN


def _names(daemon_set: paths.Object) -> Iterator[str]:
    """Its own name before those of its containers."""
    yield fields.name(daemon_set)
    for container in fields.objects(daemon_set, f"{TEMPLATE}/containers"):
        yield fields.text(container, "/name")


def _images(daemon_set: paths.Object) -> Iterator[str]:
    for container in fields.objects(daemon_set, f"{TEMPLATE}/containers"):
        yield fields.text(container, "/image")
