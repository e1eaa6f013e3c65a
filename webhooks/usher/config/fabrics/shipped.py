"""The interconnect profiles that come with gpu-usher. docs/fabrics.md is written from them.

A node pool names its profile; usher never guesses it from the model of a GPU. A profile holds the settings for every
cluster with that fabric. Names of devices and networks differ between machines; a site adds them (`base`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from usher.config.fabrics import clouds, own_networks
from usher.config.fabrics.profiles import Shipped

SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType({**own_networks.PROFILES, **clouds.PROFILES})
"""The shipped profiles by name."""
