"""The input document of the policies: a workload and the parts of usher.yaml, as Rego sees them.

It holds only the values that rules need. It lacks the name of the object, so that a thousand pods of one job give the
same document. Of environment variables, labels and annotations it holds the few that rules read, because others may
hold secrets. Of the configuration it holds the slice for this namespace. Field names are written as in manifests.

`policies/schemas/input.json` is generated from these types, and `opa check` holds every rule to it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NotRequired  # pydantic reads the standard one only from Python 3.12 on

import orjson
from typing_extensions import TypedDict

from usher import model
from usher.authorities import beside as beside_objects
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import mig_slice, pool_slice
from usher.authorities.priority import read as priority_read
from usher.kinds import registry
from usher.policy.input import beside as input_beside
from usher.policy.input import cluster as input_cluster
from usher.policy.input import places
from usher.policy.input import site as input_site
from usher.policy.input.pod_sets import Pods, PodSet, model_size, pod_set_document, pods_document, read_keys
from usher.reading.shapes import Amount, amount_of


class Gang(TypedDict):
    wanted: bool
    waits: NotRequired[bool]
    """Whether the pods wait for each other by their kind or program; absent if not."""
    formedBy: str
    minimum: NotRequired[int]
    scheduler: NotRequired[str]
    """The scheduler for which the kind's operator makes a PodGroup, where something tells."""
    priorityClass: NotRequired[str]
    """The priority class that the object names beside its templates."""


class Owner(TypedDict):
    group: str
    kind: str


class Total(TypedDict):
    """The amount that all pods together request; `maximum` is absent if it has no bound."""

    name: str
    route: str
    minimum: Amount
    maximum: NotRequired[Amount]


class Workload(TypedDict):
    group: str
    kind: str
    namespace: str
    role: str
    roleRefusal: NotRequired[str]
    """Why the label that names a role does not count; absent where it does, and without one."""
    owned: bool
    owner: NotRequired[Owner]
    isTemplate: bool
    suspended: bool
    gang: Gang
    totals: list[Total]
    labels: dict[str, str]
    annotations: dict[str, str]
    modelSize: NotRequired[Amount]
    """As for a pod set."""
    asksAccelerators: bool
    pods: Pods
    gangNative: bool
    queueLabelPath: NotRequired[str]
    queueLabels: NotRequired[dict[str, str]]
    """The labels that Kueue reads, where they are others than the object's own."""
    gangPlaces: places.GangPlaces
    lifecycle: places.Lifecycle
    managedBy: NotRequired[str]
    """The controller that the object names."""


class Old(TypedDict):
    """The object before an UPDATE."""

    suspended: bool
    asksAccelerators: bool
    labels: dict[str, str]
    queueLabels: NotRequired[dict[str, str]]
    object: NotRequired[registry.Objects]


class Review(TypedDict):
    """The operation and its user; absent outside of admission."""

    operation: str
    subResource: str
    by: list[str]
    """The identities of usher.yaml that the user has."""


class Input(TypedDict):
    workload: Workload
    podSets: list[PodSet]
    site: input_site.Site
    fabrics: NotRequired[dict[str, input_site.Fabric]]
    """Profiles of the pools on which the pods could run, by name."""
    object: NotRequired[registry.Objects]
    """Further fields of the object that rules read, as written."""
    old: NotRequired[Old]
    review: NotRequired[Review]
    cluster: NotRequired[input_cluster.Cluster]
    """The slice of the facts; absent where they say nothing of the object."""
    beside: NotRequired[input_beside.Beside]


NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class Documents:
    """Builds the input documents for one configuration."""

    def __init__(self, known: Knowledge, *, keys: Mapping[str, str] = NO_KEYS) -> None:
        self._sites = input_site.Sites(known.config, keys)
        self._known = known
        self._all_mig = mig_slice.MigAnswers(known.config)
        self._fabrics = input_site.fabrics(known.config)

    def build(
        self,
        workload: model.Workload,
        *,
        old: model.Workload | None = None,
        review: Review | None = None,
        cluster: input_cluster.Cluster | None = None,
        beside: beside_objects.Beside = beside_objects.NOTHING,
    ) -> bytes:
        """The input document as JSON.

        Args:
            workload: the object.
            old: on UPDATE, the old object.
            review: the user and the operation; None outside of admission.
            cluster: the slice of the facts, made by `cluster_input`.
            beside: the facts from other objects of the same files.
        """
        document: Input = {
            "workload": _workload(workload),
            "podSets": [self._pod_set(pod_set, workload) for pod_set in workload.pod_sets],
            "site": self._site(workload),
        }
        fabrics = {fit["fabric"] for pod_set in document["podSets"] for fit in pod_set["fits"] if "fabric" in fit}
        if fabrics:
            document["fabrics"] = {name: self._fabrics[name] for name in sorted(fabrics)}
        if workload.view:
            document["object"] = workload.view
        if old is not None:
            document["old"] = _old(old)
        if review is not None:
            document["review"] = review
        if cluster is not None:
            document["cluster"] = cluster
        if beside is not beside_objects.NOTHING:
            document["beside"] = input_beside.beside_document(beside)
        return orjson.dumps(document)

    def _site(self, workload: model.Workload) -> input_site.Site:
        found = self._sites.of(workload)
        if "priority" not in found:
            # Rules compare only the declared class with the default one.
            return found
        declared = found.get("globalDefaultPriority")
        # The classes of the cluster decide, if they are known.
        there = priority_read.default_name(self._known.facts, declared)
        return {**found, "globalDefaultPriority": there} if there and there != declared else found

    def _pod_set(self, pod_set: model.PodSet, workload: model.Workload) -> PodSet:
        where = pool_slice.placements(self._known).of(pod_set, workload=workload)
        result = pod_set_document(pod_set, where)
        mig = self._all_mig.of(pod_set, where)
        if mig is not None:
            result["mig"] = mig
        return result


def _old(workload: model.Workload) -> Old:
    result: Old = {
        "suspended": workload.suspended,
        "asksAccelerators": workload.asks_accelerators,
        "labels": read_keys(workload.labels),
    }
    if workload.queue_labels is not workload.labels and workload.queue_labels:
        result["queueLabels"] = read_keys(workload.queue_labels)
    if workload.view:
        result["object"] = workload.view
    return result


def _total(total: model.Total) -> Total:
    result: Total = {"name": total.name, "route": total.route.value, "minimum": amount_of(total.minimum)}
    if total.maximum is not None:
        result["maximum"] = amount_of(total.maximum)
    return result


def _gang(gang: model.Gang) -> Gang:
    result: Gang = {"wanted": gang.wanted, "formedBy": gang.formed_by}
    if gang.waits:
        result["waits"] = True
    if gang.minimum is not None:
        result["minimum"] = gang.minimum
    if gang.scheduler:
        result["scheduler"] = gang.scheduler
    if gang.priority_class:
        result["priorityClass"] = gang.priority_class
    return result


def _workload(workload: model.Workload) -> Workload:
    result: Workload = {
        "group": workload.group,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "role": workload.role.value,
        "owned": workload.owner is not None,
        "isTemplate": workload.is_template,
        "suspended": workload.suspended,
        "gang": _gang(workload.gang),
        "totals": [_total(total) for total in workload.totals],
        "labels": read_keys(workload.labels),
        "annotations": read_keys(workload.annotations),
        "asksAccelerators": workload.asks_accelerators,
        "pods": pods_document(workload.pods),
        "gangNative": workload.gang_native,
        "gangPlaces": places.gang_places(workload.gang_places),
        "lifecycle": places.lifecycle(workload.lifecycle_places),
    }
    if workload.managed_by:
        result["managedBy"] = workload.managed_by
    size = model_size(workload.annotations)
    if size is not None:
        result["modelSize"] = size
    if workload.role_refusal:
        result["roleRefusal"] = workload.role_refusal
    if workload.owner is not None:
        result["owner"] = {"group": workload.owner.group, "kind": workload.owner.kind}
    if workload.queue_label_path is not None:
        result["queueLabelPath"] = workload.queue_label_path
        if workload.queue_label_path != "/metadata" or workload.queue_labels is not workload.labels:
            result["queueLabels"] = read_keys(workload.queue_labels)
    return result
