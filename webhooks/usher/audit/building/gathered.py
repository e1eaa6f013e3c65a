"""The objects read from a cluster so far, before usher folds pods into workloads."""

from collections import Counter
from dataclasses import field

from usher.audit.building.claimable import Claimable
from usher.audit.building.manifests import Manifests
from usher.audit.building.owners import Trees
from usher.audit.building.packed import Packed
from usher.audit.estate import Missing, Node, Pod, Workload
from usher.dataclass import dataclass
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence


@dataclass(frozen=True, slots=True)
class Held:
    """A pod with accelerators, and its owner."""

    pod: Pod
    owner: str
    """The uid of its controlling owner."""
    own: Workload | None
    """The pod as a workload of its own; None if its owner was listed before it."""
    owner_kind: str = ""
    group: str = ""
    group_size: int = 0


@dataclass(slots=True)
class Gathered:
    """Everything read so far."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """By name."""
    plain_nodes: Packed = field(default_factory=Packed)
    """Nodes without an accelerator as a resource; drivers may offer some for claims."""
    claimable: Claimable = field(default_factory=Claimable)
    nodes_known: bool = False
    trees: Trees = field(default_factory=Trees)
    tops: dict[str, Workload] = field(default_factory=dict)
    """Objects that make pods and that had no listed owner when they were read, by uid."""
    manifests: list[Workload] = field(default_factory=list)
    """Objects that make pods and have no uid, because they never were in a cluster."""
    texts: Manifests = field(default_factory=Manifests)
    """The objects of workloads with accelerators, by uid."""
    finished: set[str] = field(default_factory=set)
    """The uids of the workloads that have run to their end."""
    held: dict[str, Held] = field(default_factory=dict)
    """Pods with accelerators by uid, so that a pod that is read twice counts once."""
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of pods without accelerators, by the uid of the owner that they name and their namespace."""
    objects: dict[Key, Packed | Absence] = field(default_factory=dict)
    """Other objects that sections want."""
    recorded: set[Key] = field(default_factory=set)
    """The kinds of which all objects of the cluster were read."""
    teams: dict[str, str] = field(default_factory=dict)
    """Teams by namespace."""
    cluster_id: str = ""
    pods: int = 0
    pods_known: bool = False
    missing: list[Missing] = field(default_factory=list)

    def kept(self, key: Key) -> Packed:
        """The kept objects of a wanted kind, for adding one."""
        found = self.objects.get(key)
        if not isinstance(found, Packed):
            found = self.objects[key] = Packed()
        return found
