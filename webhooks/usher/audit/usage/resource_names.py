"""The names of resources as kube-state-metrics writes them: `_` for each character that is not a letter or digit."""

import re
from typing import Final

from usher.accelerators import mig

_RESOURCES: Final = {
    "nvidia_com_gpu": "nvidia.com/gpu",
    "nvidia_com_gpu_shared": "nvidia.com/gpu.shared",
    "amd_com_gpu": "amd.com/gpu",
    "intel_com_gpu": "intel.com/gpu",
    "gpu_intel_com_i915": "gpu.intel.com/i915",
    "gpu_intel_com_xe": "gpu.intel.com/xe",
}
_MIG: Final = re.compile(r"nvidia_com_mig_(?P<slices>\dg)_(?P<size>\d+gb)(?P<variant>(?:_me|_me_all|_gfx|__me)?)")


def resource(name: str) -> str:
    """The resource for a name of kube-state-metrics; the name itself if unknown."""
    match = _MIG.fullmatch(name)
    if match is None:
        return _RESOURCES.get(name, name)
    variant = {"": "", "_me": ".me", "_me_all": ".me.all", "_gfx": ".gfx", "__me": "-me"}[match["variant"]]
    return f"{mig.MIG_RESOURCE_PREFIX}{match['slices']}.{match['size']}{variant}"
