"""What an audit sees of a cluster: its accelerator nodes, and the workloads that hold or want accelerators.

Each accelerator counts once, at the top-level workload: its pods are folded into it. Times are in UTC. An audit may be
about all of a cluster, one namespace, or a shard (`usher.audit.store.shards`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from usher import model, paths
from usher.check.devices import Devices
from usher.check.findings import Identity
from usher.dataclass import dataclass
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence


class Scope(Protocol):
    """The namespaces whose workloads and pods an audit reads. Facts, and the shares of devices, need all nodes."""

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the cluster."""
        ...

    @property
    def is_merged(self) -> bool:
        """Whether a merge puts it together with all other parts; else its report stands for itself."""
        ...

    @property
    def has_nodes(self) -> bool:
        """Whether the numbers of nodes belong to it, and what belongs to no namespace."""
        ...

    @property
    def namespace(self) -> str:
        """Its name, if it is one namespace; else empty."""
        ...

    def has(self, namespace: str) -> bool:
        """Whether a namespace belongs to it; the empty one is that of objects without a namespace."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """All of a cluster."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNamespace:
    """What is in one namespace: no nodes, and nothing without a namespace."""

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
    """The phase of a pod, as Kubernetes says it."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED})
"""Pods in these phases hold no accelerators."""


class CapacityType(StrEnum):
    """How a node is paid for, by the labels of its cloud or provisioner."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod that holds or wants accelerators."""

    namespace: str
    name: str
    uid: str
    phase: Phase
    node: str = ""
    """Empty while the scheduler has not placed it."""
    created: datetime | None = None
    scheduled: datetime | None = None
    """When the scheduler placed it."""
    waiting: str = ""
    """Why the scheduler does not place it, in the scheduler's words."""
    starting: str = ""
    """Why it does not run on its node, in the kubelet's words; empty for a pod that runs."""
    gates: tuple[str, ...] = ()
    """Its scheduling gates: another controller holds it."""
    devices: Devices = field(default_factory=dict)
    """The accelerators that it asks for."""
    memory_profile: str = ""
    """The MIG profile that it asks for; empty for whole devices."""
    tolerations: Sequence[Mapping[str, paths.Json]] = ()
    """With those that admission added."""
    terminating: bool = False
    group: str = ""
    """The group of pods of its workload that it is of; empty where its kind makes no groups."""

    @property
    def holds(self) -> bool:
        """Whether it holds its accelerators: it is on a node and has not ended."""
        return bool(self.node) and self.phase not in ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What the controller of a workload has written into its status."""

    refused: bool | None = None
    """Whether something refuses its pods; None where the status does not tell."""
    refusal: str = ""
    """Why, in the words of the controller."""
    refused_since: datetime | None = None
    suspended_since: datetime | None = None


NOTHING_REPORTED: Final = Reported()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A top-level workload with its pods: no other listed object owns it."""

    identity: Identity
    uid: str
    created: datetime | None
    role: model.Role
    wanted: model.Count
    """The pods that its templates ask for."""
    asks: Devices
    """The accelerators of all wanted pods: the most, with those that a rollout or an autoscaler adds."""
    asks_known: bool = True
    """False where it may ask for more: an amount or a device claim cannot be read."""
    exists: bool = True
    """False for a manifest, which neither runs nor waits."""
    pods: tuple[Pod, ...] = ()
    """Those with accelerators, that have not ended, by name."""
    other_pods: int = 0
    """Pods without accelerators."""
    team: str = ""
    """By the labels that usher.yaml names, of the workload or its namespace, or else the name of its namespace."""
    queue: str = ""
    priority: str = ""
    """The name of its priority class."""
    scheduler: str = ""
    managed_by: str = ""
    """The controller that it names; empty for the usual one of its kind."""
    suspended: bool = False
    gang: bool = False
    """Whether its pods need each other, so that some of them without the others only hold accelerators."""
    gang_minimum: int | None = None
    """How many of its pods are enough to work, where the object says so; None where all of them are needed."""
    deleting: bool = False
    """Whether it is being deleted, so that it makes no pods any more."""
    reported: Reported = NOTHING_REPORTED
    is_template: bool = False
    """Whether it makes pods only when another object refers to it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: frozenset[str] = frozenset()
    """The keys of usher's own annotations: the traces of admission."""
    index: int = -1
    """Its place in `Report.results`; -1 where it was not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node with accelerators."""

    name: str
    labels: Mapping[str, str]
    capacity: Devices
    """The accelerators that it has, healthy or not. The replicas of a shared device count once, and the slices of a
    node with MIG strategy `single` go by the name of their profile."""
    allocatable: Devices
    """Those that pods may get."""
    product: str
    """The name of its board, as its labels say it; empty where they do not."""
    capacity_type: CapacityType
    memory: int | None = None
    """Bytes of memory of each device; None where no label says it."""
    shared_by: int = 1
    """How many pods may share one device (time slices, MPS); 1 where each device has one pod."""
    partition: str = ""
    """The resource of the MIG profile that stands behind `nvidia.com/gpu` (MIG strategy `single`); else empty."""
    ready: bool = True
    cordoned: bool = False
    created: datetime | None = None
    taints: tuple[tuple[str, str, str], ...] = ()
    """Key, value and effect of all its taints."""
    system: Mapping[str, str] = field(default_factory=dict)
    """`status.nodeInfo`: versions of the kernel, the kubelet and the container runtime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something that an audit could not read, so that its numbers may be too small."""

    source: str
    reason: str
    read: int = 0
    """Objects of the source that were read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """All of a cluster that an audit reads, besides the facts of `usher.cluster.facts`."""

    nodes: tuple[Node, ...] | None
    """By name; None where the nodes are not known."""
    workloads: tuple[Workload, ...]
    """Those that hold or want accelerators, by namespace, kind and name."""
    objects: Mapping[Key, Sequence[paths.Object] | Absence] = field(default_factory=dict)
    """Other objects that sections ask for, by group and kind: webhook configurations, DaemonSets, NetworkPolicies."""
    manifests: Mapping[str, paths.Object] = field(default_factory=dict)
    """The objects of workloads without a running pod, by uid: authorities say whether they can ever run. A workload
    that is missing here is not asked about."""
    pods_read: int = 0
    """All pods, with accelerators or without."""
    pods_known: bool = True
    """Whether pods were read: else nothing is known of what is held and what waits."""
    facts_known: bool = True
    """Whether anything is known of a cluster that workloads could run in."""
    teams: Mapping[str, str] = field(default_factory=dict)
    """The teams that labels of namespaces name, by namespace."""
    missing: tuple[Missing, ...] = ()
    unlisted_owners: tuple[Missing, ...] = ()
    """Kinds that own pods with accelerators and that were not listed: `read` of their pods stand for themselves."""
    cluster_id: str = ""
    """The uid of the namespace kube-system; empty where it was not read."""
    scope: Scope = WHOLE
    """The part of the cluster whose workloads were read."""

    @property
    def knows_cluster(self) -> bool:
        """Whether anything of it comes from a cluster: False for manifests alone."""
        listed = any(not isinstance(each, Absence) for each in self.objects.values())
        return self.nodes is not None or self.pods_known or self.facts_known or listed

    @property
    def complete(self) -> bool:
        """Whether all workloads of its part of the cluster were seen: files may hold no pods."""
        return not self.missing and self.pods_known
