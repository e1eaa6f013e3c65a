"""The interconnect profiles that come with gpu-usher. docs/fabrics.md is written from them.

A profile is chosen by node pool, never guessed from a GPU's model. It holds what is true of every cluster with that
fabric; names of devices and networks differ from machine to machine, and are a site's to add (`base`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from usher.config.fabrics import clouds, own_networks
from usher.config.fabrics.profiles import Shipped

SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType({**own_networks.PROFILES, **clouds.PROFILES})
"""By name."""
