"""Reads ResourceFlavors and Topologies, and explains why a flavor refuses a pod set (KQ:pkg/scheduler/flavorassigner).

As in Kueue, taints are compared with the tolerations of the pods and of the flavor together. Selectors and required
affinity are compared only with labels that the flavor declares; before Kueue 0.17.6 and 0.18.2, with those that any
flavor of the resource group declares.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.authorities.kueue.queues import problems_of
from usher.config import pools
from usher.kinds.reading.values import Reading
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
        flavor: the flavor.
        pod_set: the pods.
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
        flavor: the flavor.
        pod_set: the pods.
        levels: the levels of its Topology; None where they are unknown.
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
