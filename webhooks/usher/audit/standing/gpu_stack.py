"""DaemonSets of the GPU stack: their part in it, the vendor of their devices, and the nodes that they select.

One image may hold several programs: the image of NVIDIA's device plugin also holds GPU feature discovery and the
control daemon of MPS. So the names of a DaemonSet and its containers come before its images.
"""

from collections.abc import Iterator
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.estate import Node
from usher.model import placement

TEMPLATE: Final = "/spec/template/spec"
TERMS: Final = f"{TEMPLATE}/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
"""The terms of required node affinity."""

DEVICE_PLUGIN: Final = "device plugin"
FEATURE_DISCOVERY: Final = "GPU feature discovery"
DCGM_EXPORTER: Final = "DCGM exporter"

_PLUGINS: Final = ("device-plugin", "deviceplugin", "intel-gpu-plugin")
_PLAIN: Final = ("device-plugin", "k8s-device-plugin")
"""Image names of device plugins for accelerators, from any registry."""

_OTHER_DEVICES: Final = ("mps-control-daemon", "sriov", "rdma", "efa-", "kubevirt")
"""Parts of names of programs that offer no GPUs to containers although their image or name is that of a
device plugin.
"""

_STACK: Final = {
    "driver": ("nvidia-driver", "amdgpu-driver"),
    "container toolkit": ("container-toolkit",),
    FEATURE_DISCOVERY: ("gpu-feature-discovery",),
    DEVICE_PLUGIN: _PLUGINS,
    DCGM_EXPORTER: ("dcgm-exporter",),
    "MIG manager": ("mig-manager",),
    "DRA driver": ("dra-driver-nvidia-gpu", "k8s-dra-driver-gpu", "dra-driver-gpu"),
}
"""Parts of names and images of the DaemonSets that GPU nodes need, by part of the stack
(NVIDIA/gpu-operator assets/).
"""

_VENDORS: Final = {
    "nvidia.com/": ("nvidia", "container-toolkit", "gpu-feature-discovery", "dcgm", "mig-manager", "hami", "vgpu"),
    "amd.com/": ("amd", "rocm"),
    "habana.ai/": ("habana", "gaudi"),
    "gpu.intel.com/": ("intel",),
    "aws.amazon.com/neuron": ("neuron",),
    "google.com/tpu": ("tpu",),
}
"""Words in names and images, by the prefix of the vendor's resources."""


def part(daemon_set: paths.Object) -> str:
    """The part that a DaemonSet has in the GPU stack; empty for all other DaemonSets."""
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
    """The prefix of the resources that a DaemonSet serves; empty if its names and images name no vendor."""
    texts = [*_images(daemon_set), *_names(daemon_set)]
    found = (vendor for vendor, words in _VENDORS.items() if any(word in text for word in words for text in texts))
    return next(found, "")


def selects(daemon_set: paths.Object, node: Node) -> bool:
    """Whether the node selector and required affinity of a DaemonSet allow its pods on a node."""
    selector = fields.strings(daemon_set, f"{TEMPLATE}/nodeSelector")
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    terms = fields.at(daemon_set, TERMS)
    return not isinstance(terms, list) or any(
        placement.term_matches(term, labels=node.labels, name=node.name)
        for term in terms[: fields.MOST]
        if isinstance(term, dict)
    )


def _is_plain(image: str) -> bool:
    return image.rpartition("/")[2].partition("@")[0].partition(":")[0] in _PLAIN


def _names(daemon_set: paths.Object) -> Iterator[str]:
    """Its own name, then those of its containers."""
    yield fields.name(daemon_set)
    for container in fields.objects(daemon_set, f"{TEMPLATE}/containers"):
        yield fields.text(container, "/name")


def _images(daemon_set: paths.Object) -> Iterator[str]:
    for container in fields.objects(daemon_set, f"{TEMPLATE}/containers"):
        yield fields.text(container, "/image")
