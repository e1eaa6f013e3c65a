"""The input document of the policies: a workload and the parts of usher.yaml, as Rego sees them.

It holds only the values that rules need. It lacks the name of the object, so that a thousand pods of one job give the
same document. Of environment variables, labels and annotations it holds the few that rules read, because others may
hold secrets. Of the configuration it holds the slice for this namespace. Field names are written as in manifests.

`policies/schemas/input.json` is generated from these types, and `opa check` holds every rule to it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import (
    Final,  # pydantic reads the standard one only from Python 3.12 on
    NamedTuple,
    NotRequired,
    cast,
)

import orjson
from typing_extensions import TypedDict

from usher import errors, model, paths
from usher.accelerators import boards
from usher.authorities import beside as beside_objects
from usher.authorities import priority
from usher.authorities import registry as authorities_registry
from usher.authorities.authority import Case, ClassesInput
from usher.authorities.gpu_quota.present import GpuQuota, QuotaObject
from usher.authorities.kai import KaiInput, KaiTreeInput
from usher.authorities.knowledge import Knowledge
from usher.authorities.kueue.slice import KueueInput
from usher.authorities.nodes import declared_pools, present
from usher.authorities.nodes.judge import GangNodesInput
from usher.authorities.nodes.present import NodesInput
from usher.authorities.nodes.selected_pools import NodePoolsInput
from usher.authorities.pod_groups import FractionsInput, HamiInput, PodGroupsInput
from usher.authorities.priority import PrioritiesInput
from usher.authorities.resource_quota.present import ResourceQuotasInput
from usher.authorities.volcano.present import PodGroupObjectInput, VolcanoInput
from usher.kinds import registry
from usher.kinds.reading.shapes import Amount, HostPath, amount_of
from usher.policy.input import site as input_site
from usher.policy.input.pod_sets import Pods, PodSet, model_size, pod_set_document, pods_document, read_keys


class Parent(TypedDict):
    """The object whose operator makes the target of an autoscaler."""

    name: str
    """Its kind and its name."""
    remedy: str


class Beside(TypedDict):
    """As rules read it; a field is absent where the files say nothing."""

    hasService: NotRequired[bool]
    """Whether a Service with an address of its own sends requests to the pods."""
    disks: NotRequired[dict[str, list[str]]]
    """Access modes of the PersistentVolumeClaims that the pods name."""
    diskSizes: NotRequired[dict[str, int]]
    """The bytes that these claims ask for."""
    holders: NotRequired[dict[str, list[str]]]
    """Kinds and names of other objects whose pods keep a claim, on other nodes as far as the files say."""
    hostPaths: NotRequired[dict[str, HostPath]]
    """Paths of nodes to which these claims lead."""
    pods: NotRequired[int]
    """The number of pods of a PodGroup, if all were made by hand."""
    links: NotRequired[list[beside_objects.Link]]
    """Links of Services that the containers cannot bear."""
    mesh: NotRequired[str]
    """The label by which a service mesh adds its sidecar to the pods of the namespace."""
    scalers: NotRequired[list[str]]
    """Kinds and names of other autoscalers with the target of this one."""
    unrequested: NotRequired[dict[str, str]]
    """A container of the target of this autoscaler that requests no cpu or memory, by the resource."""
    guarded: NotRequired[beside_objects.Guarded]
    servers: NotRequired[dict[str, str]]
    """The kind and name of the object whose only pod serves a webhook, by the index of the webhook."""
    parent: NotRequired[Parent]
    layout: NotRequired[boards.Reason]
    """Why the GPUs of a node cannot have the layout of its label; an empty text if they can."""
    placed: NotRequired[list[str]]
    """Features that pods of Volcano and KAI-Scheduler use (priority, gang, vgpu), and missing parts of the plugin."""


def beside_document(beside: beside_objects.Beside) -> Beside:
    result: Beside = paths.given(
        hasService=beside.has_service,
        disks={name: list(modes) for name, modes in sorted(beside.disks.items())},
        diskSizes=dict(sorted(beside.disk_sizes.items())),
        holders={name: list(others) for name, others in sorted(beside.holders.items())},
        hostPaths=dict(sorted(beside.host_paths.items())),
        pods=0 if beside.gang is None else len(beside.gang.pod_sets),
        links=list(beside.links),
        mesh=beside.mesh,
        scalers=list(beside.scalers),
        unrequested=dict(sorted(beside.unrequested.items())),
        guarded=beside.guarded,
        servers=dict(beside.servers),
        placed=sorted(beside.placed),
    )
    if beside.parent is not None:
        result["parent"] = {"name": beside.parent[0], "remedy": beside.parent[1]}
    if beside.layout is not None:
        result["layout"] = {"text": beside.layout[0], "remedy": beside.layout[1]}
    return result


class GangPlaces(TypedDict):
    """Where the kind says what makes its pods a gang, as JSON Pointers; absent where it has no place for it."""

    queue: NotRequired[str]
    minimum: NotRequired[str]
    ownMinimum: NotRequired[str]
    """As `minimum`, in a kind by description, where no mutation sets it."""
    priorityClass: NotRequired[str]
    scheduler: NotRequired[str]
    native: NotRequired[str]
    onTemplates: bool
    """Whether every template must name the scheduler as well."""
    countedByOperator: bool


class Lifecycle(TypedDict):
    """Fields that end the object or hand it over, as JSON Pointers; absent where the kind lacks the field."""

    ttl: NotRequired[str]
    deadline: NotRequired[str]
    managedBy: NotRequired[str]


@lru_cache(maxsize=64)
def gang_places(places: model.GangPlaces) -> GangPlaces:
    """The fields of a gang; remembered, because a kind has the same in all objects."""
    result: GangPlaces = {"onTemplates": places.on_templates, "countedByOperator": places.counted_by_operator}
    result.update(
        paths.given(
            queue=places.queue,
            minimum=places.minimum,
            ownMinimum=places.own_minimum,
            priorityClass=places.priority_class,
            scheduler=places.scheduler,
            native=places.native,
        )
    )
    return result


@lru_cache(maxsize=64)
def lifecycle(places: model.LifecyclePlaces) -> Lifecycle:
    """The fields that end an object or hand it over; remembered as well."""
    result: Lifecycle = paths.given(ttl=places.ttl, deadline=places.deadline, managedBy=places.managed_by)
    return result


class Cluster(TypedDict):
    """Each field is absent if its authority knows no fact that matters to the object."""

    deviceClasses: NotRequired[ClassesInput]
    fractions: NotRequired[FractionsInput]
    unmeasured: NotRequired[FractionsInput]
    gpuQuota: NotRequired[GpuQuota]
    hami: NotRequired[HamiInput]
    kueue: NotRequired[KueueInput]
    kai: NotRequired[KaiInput]
    kaiTree: NotRequired[KaiTreeInput]
    """The queues above and below a queue of KAI."""
    nodePools: NotRequired[NodePoolsInput]
    nodes: NotRequired[NodesInput]
    podGroups: NotRequired[PodGroupsInput]
    podGroupObject: NotRequired[PodGroupObjectInput]
    """The facts about a PodGroup of Volcano, which makes no pods itself."""
    podGroupNodes: NotRequired[GangNodesInput]
    """The nodes for a PodGroup whose pods were made by hand; absent if the nodes hold enough of them."""
    priorities: NotRequired[PrioritiesInput]
    quotaObject: NotRequired[QuotaObject]
    """The facts about a GPUQuota."""
    resourceQuotas: NotRequired[ResourceQuotasInput]
    runtimeClasses: NotRequired[ClassesInput]
    stored: NotRequired[registry.Objects]
    """A quota or a queue as the cluster has it now."""
    volcano: NotRequired[VolcanoInput]


def cluster_input(case: Case, known: Knowledge) -> Cluster | None:
    """The slices for an object; None if usher knows no fact of the cluster that matters to it.

    usher.yaml may declare quotas, which are known without a cluster. The case is given the grounds of the slices.
    """
    found = cast(Cluster, authorities_registry.slices(case, known))
    nothing_known = known.facts.empty or not case.workload.pod_sets
    return None if nothing_known and not found else found


class Gang(TypedDict):
    wanted: bool
    waits: NotRequired[bool]
    """Whether the pods wait for each other by their kind or program; absent if not."""
    formedBy: str
    minimum: NotRequired[int]
    first: NotRequired[int]
    """The pods that are made before any pod runs; absent where that is all of them."""
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
    claimedOwner: NotRequired[Owner]
    """The owner that the object names and that usher does not believe, because no controller made the object."""
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
    gangPlaces: GangPlaces
    lifecycle: Lifecycle
    managedBy: NotRequired[str]
    """The controller that the object names."""


class Old(TypedDict):
    """The object before an UPDATE."""

    suspended: bool
    asksAccelerators: bool
    claimedOwner: NotRequired[Owner]
    """As for the workload."""
    labels: dict[str, str]
    queueLabels: NotRequired[dict[str, str]]
    object: NotRequired[registry.Objects]


class Review(TypedDict):
    """The operation and its user; absent outside of admission."""

    operation: str
    subResource: str
    by: list[str]
    """The identities of usher.yaml that the user has."""


class Excess(TypedDict):
    """Why usher judges nothing else of an object; a message goes on with `text` after `has`."""

    path: str
    text: str
    remedy: str


class UnreadKey(TypedDict):
    """A key that nothing reads; a message goes on with `text` after the kind."""

    path: str
    text: str
    remedy: str
    important: bool
    refused: bool
    """Whether the key exists, and the API server refuses its value."""
    dangling: bool
    """Whether it is a name that leads to nothing."""
    topic: NotRequired[str]
    """The subject of a check of its own, for example `variable`; without one, the other fields decide."""


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
    cluster: NotRequired[Cluster]
    """The slice of the facts; absent where they say nothing of the object."""
    beside: NotRequired[Beside]
    excess: NotRequired[Excess]
    """Present only for an object that is too large to judge. Then the input has nothing else of it."""
    unreadKeys: NotRequired[list[UnreadKey]]
    """Present only for an object that has any: in a cluster, one whose definition takes any field."""


MOST_BYTES: Final = 1_000_000
"""Bytes of the largest document. Its rules take a fraction of the second and of the memory of an evaluation."""

NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class _Parts(NamedTuple):
    """A workload and its pod sets as JSON, with the names of the fabrics of their pools."""

    workload: bytes
    pod_sets: bytes
    fabrics: Sequence[str]


class Documents:
    """Builds the input documents for one configuration."""

    def __init__(self, known: Knowledge, *, keys: Mapping[str, str] = NO_KEYS) -> None:
        self._sites = input_site.Sites(known.config, keys)
        self._known = known
        self._all_mig = present.MigAnswers(known.config)
        self._fabrics = input_site.fabrics(known.config)
        # The rules of mutations and of checks read one object, one after the other.
        self._last: tuple[model.Workload | None, object, _Parts] = (None, None, _Parts(b"", b"", ()))

    def build(
        self,
        workload: model.Workload,
        *,
        old: model.Workload | None = None,
        review: Review | None = None,
        cluster: Cluster | None = None,
        beside: beside_objects.Beside = beside_objects.NOTHING,
    ) -> bytes:
        """The input document as JSON.

        Args:
            old: on UPDATE, the old object.
            review: the user and the operation; None outside of admission.
            cluster: the slice of the facts, made by `cluster_input`.
            beside: the facts from other objects of the same files.

        Raises:
            ExhaustedError: the document is larger than MOST_BYTES.
        """
        parts = self._parts(workload)
        document: Input = {
            "workload": cast(Workload, orjson.Fragment(parts.workload)),
            "podSets": cast(list[PodSet], orjson.Fragment(parts.pod_sets)),
            "site": self._site(workload),
        }
        if parts.fabrics:
            document["fabrics"] = {name: self._fabrics[name] for name in parts.fabrics}
        if workload.view:
            document["object"] = workload.view
        if workload.excess is not None:
            excess = workload.excess
            document["excess"] = {"path": excess.path, "text": excess.text, "remedy": excess.remedy}
        if workload.unread_keys:
            document["unreadKeys"] = [_unread_key_input(each) for each in workload.unread_keys]
        if old is not None:
            document["old"] = _old_object_input(old)
        if review is not None:
            document["review"] = review
        if cluster is not None:
            document["cluster"] = cluster
        if beside is not beside_objects.NOTHING:
            document["beside"] = beside_document(beside)
        result = orjson.dumps(document)
        if len(result) > MOST_BYTES:
            raise errors.ExhaustedError(
                f"more for the rules to read ({len(result) // 1000} kB) than usher judges ({MOST_BYTES // 1000} kB)"
            )
        return result

    def _parts(self, workload: model.Workload) -> "_Parts":
        last, of_pools, parts = self._last
        placements = declared_pools.placements(self._known)
        if last is not workload or of_pools is not placements:
            pod_sets = [self._pod_set(each, workload, placements) for each in workload.pod_sets]
            fabrics = {fit["fabric"] for each in pod_sets for fit in each["fits"] if "fabric" in fit}
            parts = _Parts(orjson.dumps(_workload(workload)), orjson.dumps(pod_sets), sorted(fabrics))
            self._last = workload, placements, parts
        return parts

    def _site(self, workload: model.Workload) -> input_site.Site:
        found = self._sites.of(workload)
        hiding = declared_pools.placements(self._known).hiding_variables if workload.is_pod else ()
        if hiding:
            found = {**found, "hidingVariables": [*hiding]}
        if "priority" not in found:
            # Rules compare only the declared class with the default one.
            return found
        declared = found.get("globalDefaultPriority")
        # The classes of the cluster decide, if they are known.
        there = priority.default_class_name(self._known.facts, declared)
        return {**found, "globalDefaultPriority": there} if there and there != declared else found

    def _pod_set(
        self, pod_set: model.PodSet, workload: model.Workload, placements: declared_pools.PoolPlacements
    ) -> PodSet:
        where = placements.of(pod_set, workload=workload)
        result = pod_set_document(pod_set, where)
        mig = self._all_mig.of(pod_set, where)
        if mig is not None:
            result["mig"] = mig
        return result


def _unread_key_input(found: model.UnreadKey) -> UnreadKey:
    result: UnreadKey = {
        "path": found.path,
        "text": found.text,
        "remedy": found.remedy,
        "important": found.important,
        "refused": found.refused,
        "dangling": found.dangling,
    }
    if found.topic:
        result["topic"] = found.topic
    return result


def _old_object_input(workload: model.Workload) -> Old:
    result: Old = {
        "suspended": workload.suspended,
        "asksAccelerators": workload.asks_accelerators,
        "labels": read_keys(workload.labels),
    }
    result.update(paths.given(claimedOwner=_owner(workload.claimed_owner), object=workload.view))
    if workload.queue_labels is not workload.labels and workload.queue_labels:
        result["queueLabels"] = read_keys(workload.queue_labels)
    return result


def _total(total: model.Total) -> Total:
    result: Total = {"name": total.name, "route": total.route.value, "minimum": amount_of(total.minimum)}
    if total.maximum is not None:
        result["maximum"] = amount_of(total.maximum)
    return result


def _gang(gang: model.Gang, pod_sets: Sequence[model.PodSet]) -> Gang:
    result: Gang = {"wanted": gang.wanted, "formedBy": gang.formed_by}
    result.update(paths.given(waits=gang.waits, scheduler=gang.scheduler, priorityClass=gang.priority_class))
    if gang.minimum is not None:
        result["minimum"] = gang.minimum
    if any(each.later for each in pod_sets):
        result["first"] = sum(each.count.minimum for each in pod_sets if not each.later)
    return result


def _owner(owner: model.Owner | None) -> Owner | None:
    return None if owner is None else {"group": owner.group, "kind": owner.kind}


def _workload(workload: model.Workload) -> Workload:
    result: Workload = {
        "group": workload.group,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "role": workload.role.value,
        "owned": workload.owner is not None,
        "isTemplate": workload.is_template,
        "suspended": workload.suspended,
        "gang": _gang(workload.gang, workload.pod_sets),
        "totals": [_total(total) for total in workload.totals],
        "labels": read_keys(workload.labels),
        "annotations": read_keys(workload.annotations),
        "asksAccelerators": workload.asks_accelerators,
        "pods": pods_document(workload.pods),
        "gangNative": workload.gang_native,
        "gangPlaces": gang_places(workload.gang_places),
        "lifecycle": lifecycle(workload.lifecycle_places),
    }
    result.update(
        paths.given(
            managedBy=workload.managed_by,
            modelSize=model_size(workload.annotations),
            roleRefusal=workload.role_refusal,
            owner=_owner(workload.owner),
            claimedOwner=_owner(workload.claimed_owner),
            queueLabelPath=workload.queue_label_path,
        )
    )
    if workload.queue_label_path is not None and (
        workload.queue_label_path != "/metadata" or workload.queue_labels is not workload.labels
    ):
        result["queueLabels"] = read_keys(workload.queue_labels)
    return result
