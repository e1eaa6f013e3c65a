"""What Rego sees of the interconnect profiles of node pools."""

from collections.abc import Mapping
from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.config import models


class File(TypedDict):
    configMap: str
    key: str
    path: str
    """Where containers see it."""


class Fabric(TypedDict):
    env: dict[str, str]
    resources: dict[str, int]
    networks: list[str]
    annotations: dict[str, str]
    ipcLock: bool
    forbidden: list[str]
    """Variables that must not be set; names ending in * are prefixes."""
    topology: NotRequired[File]
    ncclConf: NotRequired[File]


NCCL_CONF = "/etc/nccl.conf"
"""Where NCCL looks for its settings, below those of the environment."""


def all_of(config: models.Config) -> Mapping[str, Fabric]:
    """The profiles that pools name, by name, each with all that its base says."""
    return {name: _fabric(config.fabric(name)) for name in {pool.fabric for pool in config.pools} if name is not None}


def _fabric(fabric: models.Fabric) -> Fabric:
    result: Fabric = {
        "env": dict(fabric.env),
        "resources": dict(fabric.resources),
        "networks": list(fabric.networks),
        "annotations": dict(fabric.annotations),
        "ipcLock": fabric.ipc_lock,
        "forbidden": sorted(fabric.forbidden),
    }
    if fabric.topology is not None:
        topology = fabric.topology
        result["topology"] = {"configMap": topology.config_map, "key": topology.key, "path": topology.path}
    if fabric.nccl_conf is not None:
        conf = fabric.nccl_conf
        result["ncclConf"] = {"configMap": conf.config_map, "key": conf.key, "path": NCCL_CONF}
    return result
