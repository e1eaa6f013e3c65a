"""Reads ResourceFlavors, Topologies and Kueue's ConfigMap, and explains why a flavor refuses a pod set.

As in Kueue, taints are compared with the tolerations of the pods and of the flavor together. Selectors and required
affinity are compared only with labels that the flavor declares; before Kueue 0.17.6 and 0.18.2, with those that any
flavor of the resource group declares.

KQ:apis/config/v1beta2/configuration_types.go; v1beta1 has the same fields.

Kueue's Helm chart writes the version into a label of its ConfigMap and of its definitions
(KQ:charts/kueue/templates/_helpers.tpl:57); its plain manifests do not.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from usher import errors, memo, model, paths, quantities
from usher.authorities.kueue.queues import problems_of
from usher.cluster.facts.store import Store
from usher.config import pools
from usher.documents import reader
from usher.kinds import kind as kinds_kind
from usher.kinds.reading.values import Absence, Reading, Reference
from usher.model import placement

TOPOLOGY_PREFIX: Final = "kueue.x-k8s.io/podset-"
REQUIRED_TOPOLOGY: Final = TOPOLOGY_PREFIX + "required-topology"
PREFERRED_TOPOLOGY: Final = TOPOLOGY_PREFIX + "preferred-topology"
UNCONSTRAINED_TOPOLOGY: Final = TOPOLOGY_PREFIX + "unconstrained-topology"
SLICE_LEVEL: Final = TOPOLOGY_PREFIX + "slice-required-topology"
SLICE_SIZE: Final = TOPOLOGY_PREFIX + "slice-size"
SLICE_CONSTRAINTS: Final = SLICE_LEVEL + "-constraints"

_LONGEST: Final = 9
"""Digits of a slice size."""


class TopologyPlacement(Struct, frozen=True, kw_only=True):
    required: str
    """All pods must be in one domain of this level; empty where they may be anywhere."""
    slice_level: str
    """Each slice must be in one domain of this level."""
    slice_size: int
    """Pods of a slice; 1 where the pods ask for no slices."""


def topology_placement(pod_set: model.PodSet, levels: Sequence[str]) -> TopologyPlacement | None:
    """The placement that the pods ask for, in a Topology with some levels.

    Returns:
        None where the annotations are wrong, name a level that the Topology lacks, or describe slices in several
        levels.
    """
    annotations = pod_set.annotations
    required = annotations.get(REQUIRED_TOPOLOGY, "")
    lowest = levels[-1] if levels else ""
    level, size = annotations.get(SLICE_LEVEL, lowest), annotations.get(SLICE_SIZE, "1")
    if SLICE_CONSTRAINTS in annotations or (SLICE_LEVEL in annotations) != (SLICE_SIZE in annotations):
        return None
    if not (size.isascii() and size.isdecimal() and len(size) <= _LONGEST and int(size)):
        return None
    known = level in levels and (not required or required in levels)
    if not known or (required and levels.index(required) > levels.index(level)):
        return None
    return TopologyPlacement(required=required, slice_level=level, slice_size=int(size))


_LEVELS: Final = (REQUIRED_TOPOLOGY, PREFERRED_TOPOLOGY, SLICE_LEVEL)
_OTHER_TOPOLOGY: Final = (UNCONSTRAINED_TOPOLOGY, SLICE_CONSTRAINTS)


class Flavor(Struct, frozen=True, kw_only=True):
    name: str
    node_labels: Mapping[str, str]
    node_taints: tuple[pools.Taint, ...]
    tolerations: tuple[Mapping[str, paths.Json], ...]
    topology: str
    """The name of its Topology; empty where the flavor does not place pods by topology."""
    problems: tuple[str, ...] = ()


class Topology(Struct, frozen=True, kw_only=True):
    levels: tuple[str, ...]
    """Node labels, the widest first."""
    problems: tuple[str, ...] = ()


class FlavorRefusal(Struct, frozen=True, kw_only=True):
    """Why a flavor does not take a pod set."""

    flavor: str
    reason: str
    by_topology: bool = False
    """Whether topology is the only reason; Kueue can switch topology off."""
    level: str = ""
    """The level that its Topology lacks, if this is the reason."""
    levels: tuple[str, ...] = ()
    """The levels that its Topology has."""
    held: int | None = None
    """The most of the pods that its nodes could hold by topology, if this is too few."""
    taint: str = ""
    """A taint of its nodes that the pods do not tolerate, where it leaves too few of them."""
    unlabelled: str = ""
    """The level whose label some of its nodes lack, so that Kueue leaves these out."""
    untolerated: str = ""
    """The taint that the pods do not tolerate, if this is the reason."""


def read_flavor(name: str, value: Mapping[str, paths.Json]) -> Flavor:
    """A ResourceFlavor of any version."""
    reading = Reading()
    spec = reading.mapping(value.get("spec"), "/spec")
    return Flavor(
        name=name,
        node_labels=reading.strings(spec.get("nodeLabels"), "/spec/nodeLabels"),
        node_taints=tuple(
            _taint(entry, path, reading) for path, entry in reading.items(spec.get("nodeTaints"), "/spec/nodeTaints")
        ),
        tolerations=tuple(_tolerations(spec.get("tolerations"), reading)),
        topology=reading.text(spec.get("topologyName"), "/spec/topologyName"),
        problems=problems_of("ResourceFlavor", name, reading),
    )


def read_topology(name: str, value: Mapping[str, paths.Json]) -> Topology:
    """A Topology of any version."""
    reading = Reading()
    spec = reading.mapping(value.get("spec"), "/spec")
    return Topology(
        levels=tuple(
            reading.text(level.get("nodeLabel"), path + "/nodeLabel")
            for path, level in reading.items(spec.get("levels"), "/spec/levels")
        ),
        problems=problems_of("Topology", name, reading),
    )


def wanted_levels(pod_set: model.PodSet) -> tuple[str, ...]:
    """The topology levels that annotations of the pods name."""
    return tuple(dict.fromkeys(filter(None, (pod_set.annotations.get(key) for key in _LEVELS))))


def asks_topology(pod_set: model.PodSet) -> bool:
    """Whether annotations of the pods ask Kueue to place them by topology."""
    return any(key in pod_set.annotations for key in (*_LEVELS, *_OTHER_TOPOLOGY))


def flavor_refusal(flavor: Flavor, pod_set: model.PodSet, keys: Container[str]) -> FlavorRefusal | None:
    """Why the flavor's taints or labels keep the pods out; None where the flavor takes them.

    Args:
        keys: the labels that selectors are compared with.
    """
    untolerated = placement.untolerated([*pod_set.tolerations, *flavor.tolerations], flavor.node_taints)
    if untolerated:
        taint = untolerated[0]
        value = f"={taint.value}" if taint.value else ""
        written = f"{taint.key}{value}:{taint.effect}"
        return FlavorRefusal(flavor=flavor.name, reason=f"its taint {written} is not tolerated", untolerated=written)
    if not placement.node_matches(_declared_only(keys, pod_set), labels=flavor.node_labels, name=""):
        return FlavorRefusal(flavor=flavor.name, reason=_wrong_labels(flavor, pod_set, keys))
    return None


def topology_refusal(
    flavor: Flavor, pod_set: model.PodSet, levels: Sequence[str] | None, *, overlaps: bool, only_topologies: bool
) -> FlavorRefusal | None:
    """Why topology keeps the pods out of the flavor; None where the flavor takes them.

    Args:
        levels: the levels of the flavor's Topology; None where they are unknown.
        overlaps: whether the pods ask for a resource of the flavor's group.
        only_topologies: whether all flavors of the queue have a Topology, so that all its pods are placed by topology.
    """
    if not asks_topology(pod_set):
        if flavor.topology and not only_topologies:
            return FlavorRefusal(
                flavor=flavor.name, reason="it takes only pods that ask to be placed by topology", by_topology=True
            )
        return None
    if not flavor.topology:
        return FlavorRefusal(flavor=flavor.name, reason="it has no topology", by_topology=True) if overlaps else None
    missing = [level for level in wanted_levels(pod_set) if levels is not None and level not in levels]
    if missing:
        reason = f"its Topology {flavor.topology} has no level {missing[0]}"
        return FlavorRefusal(
            flavor=flavor.name, reason=reason, by_topology=True, level=missing[0], levels=tuple(levels or ())
        )
    wanted = pod_set.annotations.get(REQUIRED_TOPOLOGY) or pod_set.annotations.get(PREFERRED_TOPOLOGY) or ""
    slices = pod_set.annotations.get(SLICE_LEVEL, "")
    if levels and wanted and slices and levels.index(wanted) > levels.index(slices):
        # KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:947
        reason = f"its slices want one {slices} each, which is above the level {wanted} of the pods"
        return FlavorRefusal(flavor=flavor.name, reason=reason, by_topology=True)
    return None


def _declared_only(keys: Container[str], pod_set: model.PodSet) -> model.PodSet:
    """The pods with only the conditions on some labels. A term without conditions cancels all terms."""
    terms: list[Mapping[str, paths.Json]] = []
    for term in pod_set.required_terms:
        expressions = term.get("matchExpressions")
        kept: list[paths.Json] = [
            expression
            for expression in (expressions if isinstance(expressions, list) else ())
            if isinstance(expression, dict) and expression.get("key") in keys
        ]
        if not kept:
            terms = []
            break
        terms.append({"matchExpressions": kept})
    selector = {key: value for key, value in pod_set.node_selector.items() if key in keys}
    return replace(pod_set, node_selector=selector, required_terms=tuple(terms), has_required_affinity=bool(terms))


def _wrong_labels(flavor: Flavor, pod_set: model.PodSet, keys: Container[str]) -> str:
    """The labels that contradict the node selector, or that the flavor lacks; all its labels if there are neither."""
    selector = pod_set.node_selector
    wrong = {key: value for key, value in flavor.node_labels.items() if selector.get(key, value) != value}
    missing = [key for key in selector if key in keys and key not in flavor.node_labels]
    if missing and not wrong:
        return f"it does not declare label {missing[0]}"
    labels = " and ".join(f"{key}={value}" for key, value in (wrong or flavor.node_labels).items())
    return f"its nodes have {labels}" if labels else "it declares no label that the affinity asks for"


def _tolerations(value: paths.Json, reading: Reading) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations as in the manifest. Records fields that are not strings, because they might tolerate anything."""
    for path, entry in reading.items(value, "/spec/tolerations"):
        for key in ("key", "operator", "value", "effect"):
            reading.text(entry.get(key), f"{path}/{key}")
        yield entry


def _taint(value: Mapping[str, paths.Json], path: str, reading: Reading) -> pools.Taint:
    # The taint is not validated: nodes can have taints that usher.yaml does not accept.
    return pools.Taint.model_construct(
        key=reading.text(value.get("key"), path + "/key"),
        value=reading.text(value.get("value"), path + "/value"),
        effect=reading.text(value.get("effect"), path + "/effect"),
    )


class Version(NamedTuple):
    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return ".".join(map(str, self))


_LABEL: Final = "app.kubernetes.io/version"
_VERSION: Final = memo.pattern(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:[-+_.].{0,64})?", re.ASCII)

_FIRST_UNKNOWN: Final = Version(0, 20, 0)
"""The first version that usher does not know."""

_MOST_POD_SETS: Final = ((Version(0, 19, 0), 18), (Version(0, 18, 0), 10), (Version(0, 0, 0), 8))
"""The most pod sets of a Workload from a version on, the newest first: MaxItems of spec.podSets in
KQ:apis/kueue/v1beta2/workload_types.go at v0.17.0, v0.18.0 and v0.19.0."""

FEWEST_POD_SETS: Final = 8
"""The number of pod sets that every version accepts."""

POD_SET_LIMITS: Final = "a Workload has at most 8 pod sets before Kueue 0.18, 10 in 0.18 and 18 in 0.19"


def parse_version(text: str) -> Version | None:
    """The version in a text like v0.18.2; None where the text is something else."""
    found = _VERSION.fullmatch(text)
    return None if found is None else Version(*(int(number) for number in found.groups()))


def version_of_cluster(facts: Store) -> Version | None:
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
        version = parse_version(label) if isinstance(label, str) else None
        if version is not None:
            return version
    return None


def most_pod_sets(version: Version | None) -> int | None:
    """The most pod sets of a Workload; None where the version, or its bound, is unknown."""
    if version is None or version >= _FIRST_UNKNOWN:
        return None
    return next(most for since, most in _MOST_POD_SETS if version >= since)


def surely_takes_pod_sets(pod_sets: int, version: Version | None) -> bool:
    """Whether the version accepts a Workload with so many pod sets; newer versions accept what older ones accept."""
    known = FEWEST_POD_SETS if version is None else next(most for since, most in _MOST_POD_SETS if version >= since)
    return pod_sets <= known


def skips_uncovered_zeros(version: Version | None) -> bool:
    """Whether a request of 0 of a resource that the queue does not cover is skipped; assumed of an unknown version.

    KQ:pkg/scheduler/flavorassigner/flavorassigner.go:615 at v0.16.0; earlier versions do not admit the workload.
    """
    return version is None or version >= Version(0, 16, 0)


def compares_declared_labels(version: Version | None) -> bool | None:
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
        gate: the feature gate TopologyAwareScheduling in Kueue's configuration; None where it does not set the gate.
    """
    if gate is not None:
        return gate
    return None if version is None else version >= Version(0, 14, 0)


SOURCE: Final = "kueue-manager-config"

_FRAMEWORKS_WITHOUT_A_LIST: Final = ("batch/job",)

_TOPOLOGY: Final = "TopologyAwareScheduling"

_NEVER_KUBES: Final[paths.Json] = {
    "matchExpressions": [
        {"key": paths.NAMESPACE_NAME_LABEL, "operator": "NotIn", "values": ["kube-system", "kueue-system"]}
    ]
}


class Transformation(Struct, frozen=True, kw_only=True):
    """The resources that Kueue counts for each unit of one resource."""

    outputs: Mapping[str, int]
    """Factors in nanos, by resource; a factor may be negative."""
    keeps_input: bool = True
    multiplied_by: str = ""
    """A resource whose quantity is another factor."""


class Configuration(Struct, frozen=True, kw_only=True):
    """Kueue's configuration. Missing fields have Kueue's defaults."""

    known: bool = False
    version: Version | None = None
    """The version of Kueue; None where it is unknown."""
    topology_gate: bool | None = None
    """The feature gate TopologyAwareScheduling; None where the configuration does not set it."""
    frameworks: tuple[str, ...] | None = None
    """`integrations.frameworks`; None where it is unknown."""
    external_frameworks: tuple[str, ...] = ()
    """In the form Kind.version.group."""
    dispatched: tuple[str, ...] = ()
    """`multiKueue.externalFrameworks`, in the same form."""
    excluded_prefixes: tuple[str, ...] = ()
    transformations: Mapping[str, Transformation] = field(default_factory=lambda: MappingProxyType({}))
    ignores_undeclared: bool = False
    """Whether workloads may ask for resources that the queue does not cover."""
    device_classes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The resource that counts whole devices of a class, by class."""
    mapped_classes: frozenset[str] = frozenset()
    """All device classes that Kueue counts, as whole devices or in another way."""
    queues_unlabelled: bool = False
    """Whether Kueue holds back jobs that do not name a queue."""
    namespace_selector: paths.Json = None
    """Selects the namespaces whose jobs Kueue manages. Not None where the configuration is known."""
    problems: tuple[str, ...] = ()

    @property
    def places_by_topology(self) -> bool:
        """Whether Kueue places pods by topology; assumed where it is unknown."""
        return places_by_topology(self.version, gate=self.topology_gate) is not False


UNKNOWN_CONFIGURATION: Final = Configuration()


def read_configuration(text: object) -> Configuration:
    """The configuration in a text. Its problems list unreadable fields."""
    if not isinstance(text, str):
        return Configuration(problems=(f"ConfigMap {SOURCE} contains no configuration",))
    try:
        documents = reader.parse(text, source=SOURCE)
    except errors.ManifestError as error:
        return Configuration(problems=(str(error),))
    reading = Reading()
    value = reading.mapping(documents[0].value if documents else None, paths.ROOT)
    if reading.unknowns:
        return read_configuration(None)
    integrations = reading.mapping(value.get("integrations"), "/integrations")
    frameworks = reading.texts(integrations.get("frameworks"), "/integrations/frameworks")
    external = reading.texts(integrations.get("externalFrameworks"), "/integrations/externalFrameworks")
    unread = bool(reading.unknowns)
    dispatched = paths.elements(paths.mapping(value.get("multiKueue")).get("externalFrameworks"))
    resources = reading.mapping(value.get("resources"), "/resources")
    strategy = reading.text(resources.get("quotaCheckStrategy"), "/resources/quotaCheckStrategy")
    excluded = reading.texts(resources.get("excludeResourcePrefixes"), "/resources/excludeResourcePrefixes")
    transformations = dict(_transformations(resources.get("transformations"), reading))
    mappings = list(_device_classes(resources.get("deviceClassMappings"), reading))
    gates = reading.mapping(value.get("featureGates"), "/featureGates")
    gate = reading.flag(gates.get(_TOPOLOGY), f"/featureGates/{_TOPOLOGY}") if _TOPOLOGY in gates else None
    unlabelled = reading.flag(value.get("manageJobsWithoutQueueName"), "/manageJobsWithoutQueueName")
    selector = value.get("managedJobsNamespaceSelector")
    return Configuration(
        known=True,
        topology_gate=gate,
        frameworks=None if unread else frameworks or _FRAMEWORKS_WITHOUT_A_LIST,
        external_frameworks=external,
        dispatched=tuple(paths.text(paths.mapping(each).get("name")) for each in dispatched),
        excluded_prefixes=excluded,
        transformations=transformations,
        ignores_undeclared=strategy == "IgnoreUndeclared",
        device_classes={mapping.name: mapping.resource for mapping in mappings if mapping.counts_devices},
        mapped_classes=frozenset(mapping.name for mapping in mappings),
        queues_unlabelled=unlabelled,
        namespace_selector=_NEVER_KUBES if selector is None else selector,
        problems=problems_of("ConfigMap", SOURCE, reading),
    )


def _transformations(value: paths.Json, reading: Reading) -> Iterator[tuple[str, Transformation]]:
    for path, entry in reading.items(value, "/resources/transformations"):
        outputs: dict[str, int] = {}
        for name, factor in reading.mapping(entry.get("outputs"), path + "/outputs").items():
            try:
                outputs[name] = quantities.parse(factor).nanos
            except errors.QuantityError as error:
                reading.unknown(paths.join(path, "outputs", name), str(error))
        yield (
            reading.text(entry.get("input"), path + "/input"),
            Transformation(
                outputs=outputs,
                keeps_input=reading.text(entry.get("strategy"), path + "/strategy") != "Replace",
                multiplied_by=reading.text(entry.get("multiplyBy"), path + "/multiplyBy"),
            ),
        )


class _DeviceClass(NamedTuple):
    name: str
    resource: str
    counts_devices: bool
    """Whether Kueue counts whole devices; else counters of the devices decide."""


def _device_classes(value: paths.Json, reading: Reading) -> Iterator[_DeviceClass]:
    for path, entry in reading.items(value, "/resources/deviceClassMappings"):
        resource = reading.text(entry.get("name"), path + "/name")
        for name in reading.texts(entry.get("deviceClassNames"), path + "/deviceClassNames"):
            yield _DeviceClass(name, resource, counts_devices=not entry.get("sources"))
