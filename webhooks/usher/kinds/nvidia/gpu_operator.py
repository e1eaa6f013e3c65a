"""Kinds that configure NVIDIA's operator and device plugin."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import Kind
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


KINDS = [
    Kind(
        group="nvidia.com",
        kind="ClusterPolicy",
        versions=("v1",),
        plural="clusterpolicies",
        cluster_scoped=True,
        key="clusterPolicy",
        shape=ClusterPolicy,
    ),
    Kind(
        group="nvidia.com",
        kind="NVIDIADriver",
        versions=("v1alpha1",),
        plural="nvidiadrivers",
        cluster_scoped=True,
        key="nvidiaDriver",
        shape=NvidiaDriver,
    ),
]
