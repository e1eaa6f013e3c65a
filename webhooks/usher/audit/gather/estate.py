"""The data that an audit reads of a cluster: its accelerator nodes, and the workloads that hold or want accelerators.

Each accelerator counts once, at the top-level workload: its pods are folded into it. Times are in UTC. An audit may be
about all of a cluster, one namespace, or a shard (`usher.audit.store.shards`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct, field

from usher import model, paths
from usher.check.devices import Devices
from usher.check.findings import Identity
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence


class Scope(Protocol):
    """The namespaces whose workloads and pods an audit reads. Facts, and the shares of devices, need all nodes."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole cluster."""
        ...

    @property
    def is_merged(self) -> bool:
        """Whether a merge combines it with all other parts; otherwise its report stands alone."""
        ...

    @property
    def has_nodes(self) -> bool:
        """Whether it includes the numbers of nodes, and objects without a namespace."""
        ...

    @property
    def namespace(self) -> str:
        """Its name if it is one namespace; else empty."""
        ...

    def has(self, namespace: str) -> bool:
        """Whether a namespace belongs to it; the empty name stands for objects without a namespace."""
        ...


class Whole(Struct, frozen=True, kw_only=True):
    """The whole cluster."""

    @property
    def is_whole(self) -> bool:
        return True

    @property
    def is_merged(self) -> bool:
        return False

    @property
    def has_nodes(self) -> bool:
        return True

    @property
    def namespace(self) -> str:
        return ""

    def has(self, namespace: str) -> bool:
        del namespace
        return True


class OneNamespace(Struct, frozen=True, kw_only=True):
    """One namespace, without nodes and without objects outside of it."""

    name: str

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def is_merged(self) -> bool:
        return False

    @property
    def has_nodes(self) -> bool:
        return False

    @property
    def namespace(self) -> str:
        return self.name

    def has(self, namespace: str) -> bool:
        return namespace == self.name


WHOLE: Final = Whole()

MULTI_KUEUE: Final = "kueue.x-k8s.io/multikueue"
"""The controller of workloads that Kueue sends to another cluster (docs/domain/lifecycle.md)."""


class Phase(StrEnum):
    """The phase of a pod, as Kubernetes reports it."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED})
"""Pods in these phases hold no accelerators."""


class CapacityType(StrEnum):
    """The payment type of a node, by the labels of its cloud or provisioner."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    UNKNOWN = "unknown"


class Pod(Struct, frozen=True, kw_only=True, gc=False):
    """A pod that holds or wants accelerators."""

    namespace: str
    name: str
    uid: str
    phase: Phase
    node: str = ""
    """Empty until the scheduler places it."""
    created: datetime | None = None
    scheduled: datetime | None = None
    """When the scheduler placed it."""
    waiting: str = ""
    """Why the scheduler does not place it, as the scheduler reports it."""
    starting: str = ""
    """Why it does not run on its node, as the kubelet reports it; empty for a running pod."""
    gates: tuple[str, ...] = ()
    """Its scheduling gates: another controller holds it back."""
    devices: Devices = field(default_factory=dict)
    """The accelerators that it requests."""
    memory_profile: str = ""
    """The MIG profile that it requests; empty for whole devices."""
    tolerations: Sequence[Mapping[str, paths.Json]] = ()
    """Its tolerations, with those that admission added."""
    terminating: bool = False
    group: str = ""
    """Its group within the workload; empty if the kind makes no groups."""

    @property
    def holds(self) -> bool:
        """Whether it holds its accelerators: it is on a node and has not ended."""
        return bool(self.node) and self.phase not in ENDED


class Reported(Struct, frozen=True, kw_only=True, gc=False):
    """The status that the controller of a workload has written."""

    refused: bool | None = None
    """Whether something refuses its pods; None if the status does not show it."""
    refusal: str = ""
    """The reason, as the controller reports it."""
    refused_since: datetime | None = None
    suspended_since: datetime | None = None


NOTHING_REPORTED: Final = Reported()


class Workload(Struct, frozen=True, kw_only=True, gc=False):
    """A top-level workload with its pods. No other listed object owns it."""

    identity: Identity
    uid: str
    created: datetime | None
    role: model.Role
    wanted: model.Count
    """The number of pods of its templates."""
    asks: Devices
    """The accelerators of all wanted pods: the maximum, with the pods that a rollout or an autoscaler adds."""
    asks_known: bool = True
    """False if it may request more, because usher cannot read an amount or a device claim."""
    exists: bool = True
    """False for a manifest, which neither runs nor waits."""
    pods: tuple[Pod, ...] = ()
    """Its pods with accelerators that have not ended, by name."""
    other_pods: int = 0
    """Number of pods without accelerators."""
    team: str = ""
    """The team, from the labels that usher.yaml names, of the workload or its namespace, else the name of the
    namespace.
    """
    queue: str = ""
    priority: str = ""
    """The name of its priority class."""
    scheduler: str = ""
    managed_by: str = ""
    """The controller that it names; empty for the usual controller of its kind."""
    suspended: bool = False
    gang: bool = False
    """Whether its pods need each other, so that a part of them holds accelerators without any work."""
    gang_minimum: int | None = None
    """How many of its pods can work without the others, if the object says so; None if it needs all."""
    deleting: bool = False
    """Whether it is being deleted, so that it makes no more pods."""
    reported: Reported = NOTHING_REPORTED
    is_template: bool = False
    """Whether it makes pods only when another object refers to it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: frozenset[str] = frozenset()
    """The keys of usher's own annotations, which admission leaves."""
    index: int = -1
    """Its place in `Report.results`; -1 if it was not judged."""


class Node(Struct, frozen=True, kw_only=True):
    """A node with accelerators."""

    name: str
    labels: Mapping[str, str]
    capacity: Devices
    """Its accelerators, healthy or not. The replicas of a shared device count once, and the slices of a node with MIG
    strategy `single` have the name of their profile.
    """
    allocatable: Devices
    """The accelerators that pods can get."""
    product: str
    """The name of its board from its labels; empty if they do not have it."""
    capacity_type: CapacityType
    memory: int | None = None
    """Bytes of memory of each device; None if no label has it."""
    shared_by: int = 1
    """How many pods may share one device (time slices, MPS); 1 if each device serves one pod."""
    offered_twice: tuple[str, ...] = ()
    """Device classes of drivers that offer for claims what the node also offers as resources."""
    partition: str = ""
    """The resource of the partition behind `nvidia.com/gpu` (MIG strategy `single`) or `amd.com/gpu`; else empty."""
    ready: bool = True
    cordoned: bool = False
    created: datetime | None = None
    taints: tuple[tuple[str, str, str], ...] = ()
    """Key, value and effect of all its taints."""
    system: Mapping[str, str] = field(default_factory=dict)
    """`status.nodeInfo`: versions of the kernel, the kubelet and the container runtime."""


class Missing(Struct, frozen=True, kw_only=True):
    """Data that an audit could not read, so that its numbers may be too small."""

    source: str
    reason: str
    read: int = 0
    """Number of objects of the source that it read before the failure."""


class Estate(Struct, frozen=True, kw_only=True):
    """The parts of a cluster that an audit reads, besides the facts of `usher.cluster.facts`."""

    nodes: tuple[Node, ...] | None
    """By name; None if the nodes are unknown."""
    workloads: tuple[Workload, ...]
    """The workloads that hold or want accelerators, by namespace, kind and name."""
    objects: Mapping[Key, Sequence[paths.Object] | Absence] = field(default_factory=dict)
    """Other objects that sections ask for, by group and kind: webhook configurations, DaemonSets, NetworkPolicies."""
    manifests: Mapping[str, paths.Object] = field(default_factory=dict)
    """The objects of workloads without a running pod, by uid, for the authorities' verdict whether they can ever run.
    No authority judges a workload that is missing here.
    """
    pods_read: int = 0
    """Number of all pods, with accelerators or without."""
    pods_known: bool = True
    """Whether usher read pods. If not, held accelerators and waiting pods are unknown."""
    facts_known: bool = True
    """Whether usher knows a cluster in which workloads could run."""
    teams: Mapping[str, str] = field(default_factory=dict)
    """The teams that labels of namespaces name, by namespace."""
    missing: tuple[Missing, ...] = ()
    unlisted_owners: tuple[Missing, ...] = ()
    """Kinds that own pods with accelerators and that usher could not list. `read` of their pods count as workloads."""
    cluster_id: str = ""
    """The uid of the namespace kube-system; empty if it was not read."""
    scope: Scope = WHOLE
    """The part of the cluster whose workloads usher read."""

    @property
    def knows_cluster(self) -> bool:
        """Whether any part comes from a cluster: false for manifests only."""
        listed = any(not isinstance(each, Absence) for each in self.objects.values())
        return self.nodes is not None or self.pods_known or self.facts_known or listed

    @property
    def complete(self) -> bool:
        """Whether usher saw all workloads of its part of the cluster. Files may hold no pods."""
        return not self.missing and self.pods_known
