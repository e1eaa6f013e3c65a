"""What configures NVIDIA's operator and device plugin."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kubernetes.config_maps import Configurations
from usher.kinds.view import View
from usher.reading.shapes import STRICT


@with_config(STRICT)
class MigStrategy(TypedDict):
    strategy: NotRequired[str]


@with_config(STRICT)
class Operand(TypedDict):
    """Something that the operator runs on the nodes."""

    enabled: NotRequired[bool]
    version: NotRequired[str]


@with_config(STRICT)
class ClusterPolicySpec(TypedDict):
    mig: NotRequired[MigStrategy]
    driver: NotRequired[Operand]
    toolkit: NotRequired[Operand]
    devicePlugin: NotRequired[Operand]
    migManager: NotRequired[Operand]


@with_config(STRICT)
class ClusterPolicy(TypedDict):
    spec: NotRequired[ClusterPolicySpec]


@with_config(STRICT)
class NvidiaDriverSpec(TypedDict):
    version: NotRequired[str]


@with_config(STRICT)
class NvidiaDriver(TypedDict):
    spec: NotRequired[NvidiaDriverSpec]


@with_config(STRICT)
class ConfigMap(TypedDict):
    data: NotRequired[Configurations]


@with_config(STRICT)
class Objects(TypedDict):
    clusterPolicy: NotRequired[ClusterPolicy]
    nvidiaDriver: NotRequired[NvidiaDriver]
    configMap: NotRequired[ConfigMap]


VIEWS = [
    View(
        group="nvidia.com",
        versions=("v1",),
        kind="ClusterPolicy",
        plural="clusterpolicies",
        key="clusterPolicy",
        shape=TypeAdapter(ClusterPolicy),
        cluster_scoped=True,
    ),
    View(
        group="nvidia.com",
        versions=("v1alpha1",),
        kind="NVIDIADriver",
        plural="nvidiadrivers",
        key="nvidiaDriver",
        shape=TypeAdapter(NvidiaDriver),
        cluster_scoped=True,
    ),
    # Judged in files alone: to be asked about every ConfigMap of a cluster, and to be allowed to list them, would cost
    # more than it finds.
    View(group="", versions=("v1",), kind="ConfigMap", plural="", key="configMap", shape=TypeAdapter(ConfigMap)),
]
