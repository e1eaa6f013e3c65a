"""What was read of a cluster so far, before pods are folded into workloads."""

from collections import Counter
from dataclasses import field

from usher.audit.building.claimable import Claimable
from usher.audit.building.manifests import Manifests
from usher.audit.building.owners import Trees
from usher.audit.building.packed import Packed
from usher.audit.estate import Missing, Node, Pod, Workload
from usher.dataclass import dataclass
from usher.kinds.kept_fields import Key
from usher.reading.lookup import Absence


@dataclass(frozen=True, slots=True)
class Held:
    """A pod with accelerators, and to whom it belongs."""

    pod: Pod
    owner: str
    """The uid of the controlling owner that it names."""
    own: Workload | None
    """The pod as a workload of its own; None where its owner was listed before it."""
    owner_kind: str = ""
    group: str = ""
    group_size: int = 0


@dataclass(slots=True)
class Gathered:
    """All that was read so far."""

    nodes: dict[str, Node] = field(default_factory=dict)
    """By name."""
    plain_nodes: Packed = field(default_factory=Packed)
    """Nodes without an accelerator by a resource; drivers may offer some for claims."""
    claimable: Claimable = field(default_factory=Claimable)
    nodes_known: bool = False
    trees: Trees = field(default_factory=Trees)
    tops: dict[str, Workload] = field(default_factory=dict)
    """Objects that make pods and that no listed object owned when they came, by uid."""
    manifests: list[Workload] = field(default_factory=list)
    """The same of objects without a uid, which never were in a cluster."""
    texts: Manifests = field(default_factory=Manifests)
    """The objects of workloads with accelerators, by uid."""
    finished: set[str] = field(default_factory=set)
    """The uids of those that have run to their end."""
    held: dict[str, Held] = field(default_factory=dict)
    """By uid, so that a pod that comes twice counts once."""
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Pods without accelerators, by the uid of the owner that they name and their namespace."""
    objects: dict[Key, Packed | Absence] = field(default_factory=dict)
    """Other objects that sections want."""
    recorded: set[Key] = field(default_factory=set)
    """The kinds that were read in full: all objects that the cluster has."""
    teams: dict[str, str] = field(default_factory=dict)
    """By namespace."""
    cluster_id: str = ""
    pods: int = 0
    pods_known: bool = False
    missing: list[Missing] = field(default_factory=list)

    def kept(self, key: Key) -> Packed:
        """The objects of a kind that sections want, to add one."""
        found = self.objects.get(key)
        if not isinstance(found, Packed):
            found = self.objects[key] = Packed()
        return found
