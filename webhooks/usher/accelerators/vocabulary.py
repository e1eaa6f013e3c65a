"""The meaning of names on this cluster: known names, and those that usher.yaml adds (accelerators:).

The classes of NVIDIA: docs/domain/device-claims.md#nvidia-classes.

Every pod that asks for an accelerator may tolerate them. Other taints reserve nodes (for a team, for spot pods), so
only usher.yaml can allow a pod to tolerate them.

A taint whose key is the name of an accelerator resource needs no entry here: the admission plugin
ExtendedResourceToleration makes pods tolerate it (k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration).
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo
from usher.accelerators import names
from usher.accelerators.names import Meaning, Unit
from usher.config import sections

ACCELERATOR_WORDS: Final = frozenset(
    {
        *("accelerator", "aiu", "ascend", "cuda", "dcu", "gaudi", "gcu", "gpu", "hpu", "lpu", "mig", "mlu"),
        *("neuron", "neuroncore", "npu", "ppu", "rocm", "spyre", "tpu", "vgpu", "vnpu", "vxpu", "xpu"),
        *("geforce", "gtx", "quadro", "rtx"),
    }
)
"""Words, in the singular; a lookalike holds one of them.

Vendors (nvidia, amd) are not listed: they sell network cards too.
"""

MODELS: Final = frozenset(
    {
        *("a100", "a800", "h100", "h200", "h800", "b100", "b200", "b300", "gb200", "gb300", "gh200", "l40s", "v100"),
        *("v100s", "p100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi325x", "mi350x", "mi355x"),
    }
)
"""Boards whose names have no other meaning."""

NVIDIA_MODELS: Final = frozenset(
    {"a2", "a10", "a10g", "a16", "a30", "a40", "h20", "k80", "l4", "l20", "l40", "p40", "t4"}
)
"""Boards whose names have other meanings too (l4 is a network layer), so only under nvidia.com/."""

_OTHERWISE: Final = frozenset(
    {"efa", "eni", "erdma", "fpga", "hca", "mlnx", "nic", "qat", "rdma", "roce", "sgx", "sriov"}
)
"""Words after the slash that mark other resources, even if the name mentions a GPU."""

_NEVER: Final = ("smarter-devices/", "hugepages-", "attachable-volumes-", "devices.kubevirt.io/")
"""Prefixes of other things: device files, pages of memory, volumes."""

_RUNS: Final = memo.pattern(r"[a-z]+")
_CAPITALISED: Final = memo.pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MODEL: Final = memo.pattern(r"[a-z0-9]+")
_ENOUGH: Final = 1024
"""Characters that usher reads of a name, so that a long key costs little; Kubernetes allows 317."""


def looks_like_accelerator(name: str) -> bool:
    """Whether a name without a known meaning looks like an accelerator.

    It does when it holds one of ACCELERATOR_WORDS, alone or plural, or a word that begins or ends with `gpu`; when what
    follows the slash holds one of MODELS, or under nvidia.com/ one of NVIDIA_MODELS; and it does not when what follows
    the slash holds a word of network cards, FPGAs, QAT or SGX, or the name is one of device files, huge pages or
    volumes. A word is what separators, digits or capitals set apart. Placeholders (`$(GPU_RESOURCE)`, `{{ gpu }}`,
    `<gpu-resource>`) are names like others.

    Always false for a known name, accelerator or not.
    """
    if names.meaning_of(name) is not None or name.startswith(_NEVER):
        return False
    name = name[:_ENOUGH]
    domain, slash, rest = name.partition("/")
    own = rest if slash else domain
    if not _OTHERWISE.isdisjoint(_words_of_name(own)):
        return False
    models = set(_MODEL.findall(own.lower()))
    if not models.isdisjoint(MODELS) or (domain == "nvidia.com" and not models.isdisjoint(NVIDIA_MODELS)):
        return True
    return any(
        word in ACCELERATOR_WORDS or word.startswith("gpu") or word.endswith("gpu") for word in _words_of_name(name)
    )


_BARE: Final = frozenset({"gpu", "gpus", "nvidia", "cuda"})
"""Names without a domain that are meant for NVIDIA's GPUs; Kubernetes has no resource of this name."""


def meant_name(name: str) -> str:
    """The known resource that a misspelt name is meant for; empty for a known name, and where it may be another one.

    A name is misspelt where its domain or what follows it is the known one with another case, a plural, or letters that
    are swapped, missing or doubled; and where it has no domain. Other letters may name a real resource of a site:
    `nvidia.com/vgpu`, `nvidia.com/gpu-h100`.
    """
    if len(name) > names.LONGEST_NAME or names.meaning_of(name) is not None or "$" in name or "{" in name:
        return ""
    folded = name.lower().replace("_", "-")
    if folded in _BARE:
        return "nvidia.com/gpu"
    domain, slash, own = folded.partition("/")
    for known in names.DEVICE_NAMES:
        known_domain, _, known_own = known.partition("/")
        label = known_domain.partition(".")[0]
        joined = "" if slash else folded.replace("-", ".")
        if joined in {f"{known_domain}.{known_own}", f"{label}.{known_own}", f"{known_domain}{known_own}"}:
            return known
        if not slash or not _is_slip(own, known_own):
            continue
        if domain in {known_domain, label, f"www.{known_domain}"} or _is_slip(domain, known_domain):
            return known
        if domain.partition(".")[0] == label and domain.count(".") == 1 and known_own == own:
            return known
    return ""


def _is_slip(text: str, known: str) -> bool:
    """Whether a text is a known one, in the plural, or with letters that are swapped, missing or doubled."""
    if text in {known, f"{known}s"}:
        return True
    if sorted(text) == sorted(known):
        return sum(one != other for one, other in zip(text, known, strict=True)) == _SWAPPED
    shorter, longer = sorted((text, known), key=len)
    at = next((index for index, (one, other) in enumerate(zip(shorter, longer, strict=False)) if one != other), None)
    at = len(shorter) if at is None else at
    if len(shorter) < _SHORTEST or longer[:at] + longer[at + 1 :] != shorter:
        return False
    return longer == known or (at > 0 and longer[at] == longer[at - 1])


_SWAPPED: Final = 2
"""Places that differ where two letters are swapped."""
_SHORTEST: Final = 2
"""Letters that a text must have to be a slip of another one."""


def _words_of_name(text: str) -> set[str]:
    """The words of a name in lower case and in the singular, also those of camelCase."""
    found = {*_RUNS.findall(text.lower()), *(word.lower() for word in _CAPITALISED.findall(text))}
    return found | {word.removesuffix("s") for word in found}


class DeviceClassMeaning(Struct, frozen=True, kw_only=True):
    """One device of a class; `accelerator` is None for an unknown class."""

    accelerator: bool | None
    vendor: str = ""
    unit: Unit | None = None
    driver: str = ""
    resource: str | None = None
    """The extended resource that stands for a device of the class; None without one."""
    offered_as: tuple[str, ...] = ()
    """The resources of nodes that have these devices, `*` ends a prefix; empty if usher knows no resource."""
    memory_default: int | None = None
    """Bytes of a claim that names no amount; None if it takes a whole device."""
    memory_step: int | None = None
    """Bytes to which the driver rounds up the memory of claims that share a device; None if claims take whole ones."""


UNKNOWN_CLASS: Final = DeviceClassMeaning(accelerator=None)


def meaning_of_class(name: str) -> DeviceClassMeaning:
    return _KNOWN_CLASSES.get(name, UNKNOWN_CLASS)


def device_class_names() -> list[str]:
    """All known classes."""
    return [*_KNOWN_CLASSES]


def is_accelerator_driver(name: str) -> bool | None:
    """Whether the devices of a driver are accelerators; None where that is unknown."""
    return _DRIVERS.get(name)


def class_of_driver(name: str) -> str:
    """The class of the whole accelerators of a driver; empty for an unknown driver."""
    return _CLASSES.get(name, "")


def _meaning_of_row(row: Mapping[str, Any]) -> DeviceClassMeaning:
    unit, resource = row.get("unit"), row.get("resource")
    return DeviceClassMeaning(
        accelerator=unit is not None,
        vendor=row.get("vendor", ""),
        unit=None if unit is None else Unit(unit),
        driver=row.get("driver", ""),
        resource=resource,
        offered_as=(*filter(None, [resource]), *row.get("offered_as", ())),
    )


_KNOWN_CLASSES: Final[dict[str, DeviceClassMeaning]] = {
    name: _meaning_of_row(row)
    for name, row in orjson.loads(Path(__file__).with_name("device_classes.json").read_bytes()).items()
}

_DRIVERS: Final = {
    **{known.driver: known.accelerator for known in _KNOWN_CLASSES.values() if known.driver},
    # intel/intel-resource-drivers-for-kubernetes pkg/npu/device/device.go.
    "npu.intel.com": True,
}

_CLASSES: Final = {
    known.driver: name for name, known in reversed(_KNOWN_CLASSES.items()) if known.accelerator and known.driver
}


class KnownTaint(NamedTuple):
    key: str
    """`*` ends a prefix."""
    value: str | None = None
    """None if every value marks accelerators."""


TAINTS_OF_NODES: Final = (
    # Labels of NVIDIA's and AMD's operators, which sites repeat as taints: docs/domain/nodes.md#labels.
    KnownTaint("nvidia.com/gpu*"),
    KnownTaint("nvidia.com/mig*"),
    KnownTaint("amd.com/gpu*"),
    KnownTaint("gpu.intel.com/*"),
    # AKS, use-nvidia-gpu: sku=gpu:NoSchedule. Other values of the key are the site's own.
    KnownTaint("sku", "gpu"),
    KnownTaint("kubernetes.azure.com/accelerator"),
    # GKE taints its nodes with the names of resources (nvidia.com/gpu, google.com/tpu); these are labels of the nodes.
    KnownTaint("cloud.google.com/gke-accelerator"),
    KnownTaint("cloud.google.com/gke-tpu-*"),
    # Karpenter: its NodePools use names of resources (nvidia.com/gpu, aws.amazon.com/neuron); these are labels.
    KnownTaint("karpenter.k8s.aws/instance-gpu-*"),
    KnownTaint("karpenter.k8s.aws/instance-accelerator-*"),
    # Guides for eksctl and MIG pools: docs/domain/nodes.md#taints.
    KnownTaint("gpu"),
    KnownTaint("mig-enabled"),
)


def marks_accelerators(key: str, value: str) -> bool:
    """Whether a taint is known to mark accelerator nodes."""
    return any(
        (key.startswith(known.key[:-1]) if known.key.endswith("*") else key == known.key)
        and known.value in (None, value)
        for known in TAINTS_OF_NODES
    )


KNOWN_TAINTS: Final = {"nvidia.com/": "nvidia.com/gpu", "google.com/tpu": "google.com/tpu", "amd.com/": "amd.com/gpu"}
"""The usual taint of nodes with these resources; GKE and KServe use the keys (docs/domain/nodes.md#taints)."""

_REMEMBERED: Final = 1024
_DEVICE: Final = Meaning(unit=Unit.DEVICE)
_NOTHING_SERVED: Final[Mapping[str, str]] = MappingProxyType({})


class Vocabulary:
    """The meaning of names, from the known names and those that usher.yaml adds.

    A whole name in usher.yaml decides first, then the known names, then the prefixes in usher.yaml, then the resources
    that device classes of the cluster serve.

    How totals count a resource depends on its unit:

    - DEVICE: whole devices, which add up across names. In a container that also asks for a resource that `divides` it,
      they are shares. Time slices and MIG may hide behind them, unless usher.yaml says so.
    - PARTITION, SHARE: counted by name. Only the board or side resources say which part of a device one is.
    - MEMORY, MEMORY_FRACTION, CORES: never a number of devices. `size` turns them into bytes or a fraction of a device.
    - MONITORING: access to every device of the node; it takes no device, so there is nothing to add up.
    - CLAIM: devices of the class in the name. They count as the class says, and not at all where that is unknown.
    - FABRIC, SETTING: not an accelerator.
    """

    def __init__(
        self,
        section: sections.Accelerators,
        served: Mapping[str, str] = _NOTHING_SERVED,
        shares: "Mapping[str, tuple[int, int | None]] | None" = None,
    ) -> None:
        """The meanings of names.

        Args:
            served: device classes by the extended resource that their devices serve.
            shares: classes whose devices many claims share: the step of their memory, and its default, in bytes.
        """
        self._shares = shares or {}
        self._section = section
        self._served = served
        self._resources: Mapping[str, sections.Resource] = section.resources
        self._names = frozenset(section.names)
        self._prefixes = tuple(sorted(section.prefixes, key=len, reverse=True))
        self._ignored = frozenset(section.ignored)
        self._classes: Mapping[str, sections.DeviceClass] = section.device_classes
        self._taints = {**KNOWN_TAINTS, **section.taints}
        self._meaning = lru_cache(maxsize=_REMEMBERED)(self._work_out)
        self._looks_like = lru_cache(maxsize=_REMEMBERED)(looks_like_accelerator)
        self._meant = lru_cache(maxsize=_REMEMBERED)(meant_name)

    def serving(
        self, served: Mapping[str, str], shares: "Mapping[str, tuple[int, int | None]] | None" = None
    ) -> "Vocabulary":
        """The vocabulary for more device classes that serve extended resources, or whose devices claims share."""
        return Vocabulary(self._section, {**self._served, **served}, {**self._shares, **(shares or {})})

    def contains(self, name: str) -> bool:
        """Whether a positive amount of the resource gives a pod an accelerator, a part of one, or access to some.

        Side resources do so too: a pod that asks for `aliyun.com/gpu-mem` alone gets a share of a GPU, and HAMi
        adds `nvidia.com/gpu` to a container that asks for `nvidia.com/gpumem` alone. How many devices it gets is for
        `meaning` to say. A claim for a device class counts unless the class is known to be something else.
        """
        found = self.meaning(name)
        if found is None or found.unit not in names.GIVING:
            return False
        return found.device_class is None or self.device_class(found.device_class) is not False

    def meaning(self, name: str) -> Meaning | None:
        """The meaning of a resource; None for cpu, memory and all other names that are not known as accelerators."""
        return self._meaning(name) if len(name) <= names.LONGEST_NAME else self._work_out(name)

    def looks_like(self, name: str) -> bool:
        """Whether a name without a meaning looks like an accelerator; see lookalikes.looks_like_accelerator."""
        if name in self._ignored or self.meaning(name) is not None:
            return False
        if len(name) > names.LONGEST_NAME:
            return looks_like_accelerator(name)
        return self._looks_like(name) or bool(self._meant(name))

    def meant(self, name: str) -> str:
        """The known resource that a misspelt name is meant for; empty for names that usher.yaml or the cluster has."""
        return "" if name in self._ignored or self.meaning(name) is not None else self._meant(name)

    def device_class(self, name: str) -> bool | None:
        """Whether the devices of a class are accelerators; None if unknown, because usher does not guess."""
        return self.device_class_meaning(name).accelerator

    def device_class_meaning(self, name: str) -> DeviceClassMeaning:
        """The devices of a class. For a class in usher.yaml, its resource gives unit and vendor."""
        known = meaning_of_class(name)
        declared = self._classes.get(name)
        if (declared is None or declared.memory_step is None) and name in self._shares:
            step, default = self._shares[name]
            known = replace(known, memory_step=step, memory_default=default)
        if declared is None:
            return known
        if not declared.accelerator:
            return DeviceClassMeaning(accelerator=False, driver=known.driver)
        resource = declared.resource or known.resource
        like = self.meaning(resource) if resource else None
        return DeviceClassMeaning(
            accelerator=True,
            vendor=(like.vendor if like else "") or known.vendor,
            unit=like.unit if like else known.unit or Unit.DEVICE,
            driver=known.driver,
            resource=resource,
            offered_as=(declared.resource,) if declared.resource else known.offered_as,
            memory_step=declared.memory_step or known.memory_step,
            memory_default=known.memory_default,
        )

    def driver(self, name: str) -> bool | None:
        """Whether the devices of a DRA driver are accelerators; None if this is unknown."""
        return is_accelerator_driver(name)

    @property
    def taint_keys(self) -> list[str]:
        """The keys of all taints that nodes with accelerators usually have, each once."""
        return sorted(set(self._taints.values()))

    def marks_accelerators(self, key: str, value: str) -> bool:
        """Whether a taint marks nodes with accelerators, without reserving them for some pods."""
        return key in self._taints.values() or self.contains(key) or marks_accelerators(key, value)

    def taint_key(self, name: str) -> str | None:
        """The key of the usual taint of nodes with this resource, or with devices of this class.

        The longest matching prefix decides. A class without a resource of its own counts as the one of its driver.
        """
        fitting = [prefix for prefix in self._taints if name.startswith(prefix)]
        if fitting:
            return self._taints[max(fitting, key=len)]
        meaning = self.device_class_meaning(name)
        resource = meaning.resource or self.device_class_meaning(meaning.driver).resource
        return self.taint_key(resource) if resource and resource != name else None

    def _work_out(self, name: str) -> Meaning | None:
        if name in self._ignored:
            return None
        known = names.meaning_of(name)
        own = self._resources.get(name)
        if own is not None:
            return _from_site(own, known)
        if known is not None and (known.unit in names.GIVING or name not in self._names):
            return known
        if name in self._names:
            return _DEVICE
        prefix = next((prefix for prefix in self._prefixes if name.startswith(prefix)), None)
        if prefix is None:
            device_class = self._served.get(name)
            return None if device_class is None else Meaning(unit=Unit.CLAIM, device_class=device_class)
        own = self._resources.get(prefix)
        return _DEVICE if own is None else _from_site(own, None)


def _from_site(declared: sections.Resource, known: Meaning | None) -> Meaning:
    """The meaning from usher.yaml; vendor and divided resource stay as known if usher.yaml does not set them."""
    unit = Unit(declared.unit)
    if known is None:
        return Meaning(unit=unit, vendor=declared.vendor or "", size=declared.size, per_device=declared.per_device)
    size = declared.size if declared.size is not None or unit is not known.unit else known.size
    vendor = declared.vendor or known.vendor
    return replace(known, unit=unit, vendor=vendor, size=size, device_class=None, per_device=declared.per_device)
