"""Names outside the vocabulary that look like accelerators: renamed, misspelt, or placeholders never filled in."""

import re
from typing import Final

from usher.accelerators import meanings

WORDS: Final = frozenset(
    {
        *("accelerator", "aiu", "ascend", "cuda", "dcu", "gaudi", "gcu", "gpu", "hpu", "lpu", "mig", "mlu"),
        *("neuron", "neuroncore", "npu", "ppu", "rocm", "spyre", "tpu", "vgpu", "vnpu", "vxpu", "xpu"),
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

_RUNS: Final = re.compile(r"[a-z]+")
_CAPITALISED: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MODEL: Final = re.compile(r"[a-z0-9]+")
_ENOUGH: Final = 1024
"""Characters that usher reads of a name, so that a long key costs little; Kubernetes allows 317."""


def looks_like_accelerator(name: str) -> bool:
    """Whether a name without a known meaning looks like an accelerator.

    It does when it holds one of WORDS, alone or in the plural, or a word that begins or ends with `gpu`; when what
    follows the slash holds one of MODELS, or under nvidia.com/ one of NVIDIA_MODELS; and it does not when what follows
    the slash holds a word of network cards, FPGAs, QAT or SGX, or the name is one of device files, huge pages or
    volumes. A word is what separators, digits or capitals set apart. Placeholders (`$(GPU_RESOURCE)`, `{{ gpu }}`,
    `<gpu-resource>`) are names like others.

    Always false for a known name, accelerator or not.
    """
    if meanings.meaning(name) is not None or name.startswith(_NEVER):
        return False
    name = name[:_ENOUGH]
    domain, slash, rest = name.partition("/")
    own = rest if slash else domain
    if not _OTHERWISE.isdisjoint(_words(own)):
        return False
    models = set(_MODEL.findall(own.lower()))
    if not models.isdisjoint(MODELS) or (domain == "nvidia.com" and not models.isdisjoint(NVIDIA_MODELS)):
        return True
    return any(word in WORDS or word.startswith("gpu") or word.endswith("gpu") for word in _words(name))


def _words(text: str) -> set[str]:
    """The words of a name in lower case and in the singular, also those of camelCase."""
    found = {*_RUNS.findall(text.lower()), *(word.lower() for word in _CAPITALISED.findall(text))}
    return found | {word.removesuffix("s") for word in found}
