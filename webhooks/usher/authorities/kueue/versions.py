"""The version of Kueue in a cluster, and the differences between versions.

Kueue's Helm chart writes the version into a label of its ConfigMap and of its definitions
(KQ:charts/kueue/templates/_helpers.tpl:57); its plain manifests do not.
"""

import re
from typing import Final, NamedTuple

from usher import paths
from usher.cluster.facts.store import Store
from usher.kinds import kind as kinds_kind
from usher.kinds.reading.values import Absence, Reference


class Version(NamedTuple):
    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return ".".join(map(str, self))


_LABEL: Final = "app.kubernetes.io/version"
_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:[-+_.].{0,64})?", re.ASCII)

_FIRST_UNKNOWN: Final = Version(0, 20, 0)
"""The first version that usher does not know."""

_MOST_POD_SETS: Final = ((Version(0, 19, 0), 18), (Version(0, 18, 0), 10), (Version(0, 0, 0), 8))
"""The most pod sets of a Workload from a version on, the newest first: MaxItems of spec.podSets in
KQ:apis/kueue/v1beta2/workload_types.go at v0.17.0, v0.18.0 and v0.19.0."""

FEWEST_POD_SETS: Final = 8
"""The number of pod sets that every version accepts."""

OF_POD_SETS: Final = "a Workload has at most 8 pod sets before Kueue 0.18, 10 in 0.18 and 18 in 0.19"


def read(text: str) -> Version | None:
    """The version in a text like v0.18.2; None where the text is something else."""
    found = _VERSION.fullmatch(text)
    return None if found is None else Version(*(int(number) for number in found.groups()))


def of_cluster(facts: Store) -> Version | None:
    """The version of Kueue in a cluster; None where the facts do not show it."""
    namespace, name = kinds_kind.KUEUE_CONFIGURATION
    group, kind = kinds_kind.DEFINITION
    for reference in (
        Reference(group="", kind="ConfigMap", name=name, namespace=namespace),
        Reference(group=group, kind=kind, name="workloads.kueue.x-k8s.io"),
    ):
        found = facts.find(reference)
        labels = None if isinstance(found, Absence) else paths.metadata(found).get("labels")
        label = labels.get(_LABEL) if isinstance(labels, dict) else None
        version = read(label) if isinstance(label, str) else None
        if version is not None:
            return version
    return None


def most_pod_sets(version: Version | None) -> int | None:
    """The most pod sets of a Workload; None where the version, or its bound, is unknown."""
    if version is None or version >= _FIRST_UNKNOWN:
        return None
    return next(most for since, most in _MOST_POD_SETS if version >= since)


def surely_takes(pod_sets: int, version: Version | None) -> bool:
    """Whether the version accepts a Workload with so many pod sets; newer versions accept what older ones accept."""
    known = FEWEST_POD_SETS if version is None else next(most for since, most in _MOST_POD_SETS if version >= since)
    return pod_sets <= known


def skips_uncovered_zeros(version: Version | None) -> bool:
    """Whether a request of 0 of a resource that the queue does not cover is skipped; assumed of an unknown version.

    KQ:pkg/scheduler/flavorassigner/flavorassigner.go:615 at v0.16.0; earlier versions do not admit the workload.
    """
    return version is None or version >= Version(0, 16, 0)


def looks_at_own_labels(version: Version | None) -> bool | None:
    """Whether selectors are compared only with labels that the flavor itself declares; None where it is unknown.

    Before, labels counted that any flavor of the resource group declares (KQ:pkg/cache/scheduler/clusterqueue.go:379
    at v0.18.0). KQ:pkg/scheduler/flavorassigner/flavorassigner.go:936 changes it at v0.17.6, and so does v0.18.2.
    """
    if version is None:
        return None
    return version >= Version(0, 18, 2) or Version(0, 17, 6) <= version < Version(0, 18, 0)


def places_by_topology(version: Version | None, *, gate: bool | None) -> bool | None:
    """Whether Kueue places pods by topology; None where it is unknown.

    KQ:pkg/features/kube_features.go:645 at main: on by default since 0.14, behind a feature gate before.

    Args:
        version: the version of Kueue.
        gate: the feature gate TopologyAwareScheduling in Kueue's configuration; None where it does not set the gate.
    """
    if gate is not None:
        return gate
    return None if version is None else version >= Version(0, 14, 0)
