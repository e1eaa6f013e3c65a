"""The data that the checklist reads: an estate, the facts of the cluster, and shortcuts to both."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.building.wanted import Wanted
from usher.audit.estate import Estate, Node
from usher.audit.standing import gpu_stack
from usher.audit.standing.wanted import DAEMON_SET
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import store
from usher.config import models, selection
from usher.dataclass import dataclass
from usher.kinds.kind import DEFINITION
from usher.kinds.reading.values import Absence

_BUILT_IN: Final = ".k8s.io"
"""The suffix of API groups that the API server itself serves."""


def _is_nvidia(name: str) -> bool:
    """Whether a resource or a device class is NVIDIA's."""
    return name.startswith("nvidia.com/") or name.endswith(".nvidia.com")


@dataclass(frozen=True, kw_only=True)
class Look:
    """One cluster at one moment."""

    estate: Estate
    known: Knowledge
    config: models.Config
    now: datetime
    server_version: str
    """As the API server reports it: `v1.36.2`; empty if unknown."""

    def listed(self, kind: Wanted) -> Sequence[paths.Object] | None:
        """All objects of a kind: empty if the cluster does not have the kind, None if the objects are unknown."""
        return () if self.lacks(kind) else fields.listed(self.estate, *kind.key)

    def lacks(self, kind: Wanted) -> bool:
        """Whether the cluster lacks a kind: the API server does not serve it, or it has no definition."""
        found = self.estate.objects.get(kind.key, Absence.NOT_KNOWN)
        is_defined = not kind.group.endswith(_BUILT_IN) and "." in kind.group
        undefined = is_defined and self.definitions is not None and kind.resource not in self.definitions
        return found is Absence.MISSING or (found is Absence.NOT_KNOWN and undefined)

    @cached_property
    def nodes(self) -> Sequence[Node] | None:
        """The nodes with accelerators; None if unknown."""
        return self.estate.nodes

    @cached_property
    def nvidia(self) -> Sequence[Node]:
        """The nodes with NVIDIA GPUs."""
        nodes = self.nodes or ()
        return [node for node in nodes if any(map(_is_nvidia, node.capacity))]

    @cached_property
    def daemons(self) -> Mapping[str, Sequence[paths.Object]] | None:
        """The DaemonSets of the GPU stack by their part in it; None if DaemonSets are unknown."""
        listed = fields.listed(self.estate, *DAEMON_SET)
        if listed is None:
            return None
        found: dict[str, list[paths.Object]] = {}
        for value in listed:
            part = gpu_stack.part(value)
            if part:
                found.setdefault(part, []).append(value)
        return found

    @cached_property
    def definitions(self) -> frozenset[str] | None:
        """The names of all CustomResourceDefinitions, as `workloads.kueue.x-k8s.io`; None if unknown."""
        return self.known.facts.names(*DEFINITION)

    @cached_property
    def tenants(self) -> Sequence[str]:
        """The namespaces of workloads with accelerators, except exempt and system namespaces of usher.yaml."""
        system = [*self.config.exempt_namespaces, *self.config.priorities.system_namespaces]
        spaces = {each.identity.namespace for each in self.estate.workloads}
        return sorted(name for name in spaces if not selection.matches_pattern(name, system))

    def labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None if unknown."""
        return store.namespace_labels(namespace, self.known.facts)
