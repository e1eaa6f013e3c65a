"""Items of the checklist, their verdicts on a cluster, and the data that the checklist looks at.

Versions are numbers; the ends of Kubernetes releases and the container escapes of NVIDIA's toolkit are known by them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import Final

from msgspec import Struct

from usher import paths
from usher.audit.document import Standing
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Estate, Node
from usher.audit.gather.needed_inputs import DAEMON_SET, Wanted
from usher.audit.standing import cluster_equipment
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts import store
from usher.config import models, selection
from usher.kinds.kind import DEFINITION
from usher.kinds.reading.values import Absence

_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])", re.ASCII)

Version = tuple[int, int, int]


def read_version(text: str) -> Version | None:
    """The numbers at the start of a version: (1, 17, 8) from `v1.17.8-ubuntu20.04`; None from other texts."""
    found = _VERSION.match(text[:64])
    if found is None:
        return None
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch or 0)


def version_of_image(image: str) -> Version | None:
    """The version in the tag of an image; None for a digest and for other tags."""
    name, _, _ = image.partition("@")
    head, colon, tag = name.rpartition(":")
    return read_version(tag) if colon and "/" not in tag and head else None


RELEASE_ENDS: Final = {
    (1, 30): date(2025, 6, 28),
    (1, 31): date(2025, 10, 28),
    (1, 32): date(2026, 2, 28),
    (1, 33): date(2026, 6, 28),
    (1, 34): date(2026, 10, 27),
    (1, 35): date(2027, 2, 28),
    (1, 36): date(2027, 6, 28),
    (1, 37): date(2027, 10, 28),
}
"""The last day with patches of each release of Kubernetes (https://kubernetes.io/releases/, read 2026-11-23)."""

KUBELET_SKEW: Final = 3
"""A kubelet may be this many minor versions older than the API server, and not newer
(https://kubernetes.io/releases/version-skew-policy/).
"""


class Escape(Struct, frozen=True, kw_only=True):
    """A vulnerability of NVIDIA's container toolkit that lets a container escape."""

    cve: str
    last: Version
    """The last affected version by its CVE record."""

    @property
    def last_text(self) -> str:
        return ".".join(map(str, self.last))


ESCAPES: Final = (
    Escape(cve="CVE-2024-0132", last=(1, 16, 1)),
    Escape(cve="CVE-2025-23359", last=(1, 17, 3)),
    Escape(cve="CVE-2025-23266", last=(1, 17, 7)),
    Escape(cve="CVE-2026-24260", last=(1, 19, 0)),
)
"""Records at https://www.cve.org/CVERecord?id=CVE, read 2026-11-23. Each lets a container reach the files of its host,
or run code there with other rights. The check toolkit-version-vulnerable asks for the version after the last one
(https://nvidia.custhelp.com/app/answers/detail/a_id/5850 names it), unless usher.yaml sets another.
"""

_BUILT_IN: Final = ".k8s.io"
"""The suffix of API groups that the API server itself serves."""


def _is_nvidia(name: str) -> bool:
    """Whether a resource or a device class is NVIDIA's."""
    return name.startswith("nvidia.com/") or name.endswith(".nvidia.com")


class Look(Struct, frozen=True, kw_only=True, dict=True):
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
        listed = fields.listed(self.estate, *DAEMON_SET.key)
        if listed is None:
            return None
        found: dict[str, list[paths.Object]] = {}
        for value in listed:
            part = cluster_equipment.stack_part(value)
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


class Judgement(Struct, frozen=True, kw_only=True):
    """The verdict of a cluster on one item, with the evidence or the reason why it is unknown."""

    standing: Standing
    evidence: tuple[str, ...]


class Item(Struct, frozen=True, kw_only=True):
    """An item of the checklist. Ids are an interface: they never get another meaning."""

    id: str
    area: str
    """`drivers`, `monitoring`, `scheduling`, `isolation`, `capacity` or `recovery`."""
    title: str
    how: str
    """The condition to pass in one sentence, for the documentation."""
    remedy: str
    reference: str
    """The document that asks for it."""
    conformance: str = ""
    """The item of the CNCF AI conformance programme, where there is one."""
    judge: Callable[[Look], Judgement]


def passed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.PASS, evidence=evidence)


def failed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.FAIL, evidence=evidence)


def not_known(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_KNOWN, evidence=evidence)


def not_applicable(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_APPLICABLE, evidence=evidence)


def not_listed(*resources: str) -> Judgement:
    """The verdict for kinds that were not read, with the RBAC rule that the auditor of a live cluster needs."""
    return not_known(f"not read: {', '.join(resources)}; an audit of a live cluster needs the verb list on them")


def not_wanted(kinds: Iterable[Wanted]) -> Judgement:
    """The verdict for kinds that only the checklist reads and that were not read."""
    return not_listed(*(each.resource for each in kinds))
