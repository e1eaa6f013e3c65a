"""Every kind that usher knows, and the tables that follow: a new kind goes into records.yaml, or is described.

A family is a folder or a module of this package, with the code of its kinds. Only a new family needs a line here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, NotRequired

from msgspec import structs
from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.config.described_kinds import DescribedKind
from usher.kinds import (
    argo,
    autoscaling,
    described,
    dynamo,
    job_groups,
    kserve,
    kubeflow_pipelines,
    kubeflow_trainer,
    kubernetes,
    ome,
    ray,
    served_models,
    serving_groups,
    spark,
    tekton,
)
from usher.kinds import kind as kinds_kind
from usher.kinds.kind import Code, FactKind, Key, Kind, Pods, api
from usher.kinds.reading import values as reading_values
from usher.kinds.reading.shapes import ShapeTypes, strict_adapter

_FAMILIES: Final = (
    *(argo, autoscaling, dynamo, job_groups, kserve, kubeflow_pipelines, kubeflow_trainer, kubernetes, ome, ray),
    *(served_models, serving_groups, spark, tekton),
)

_CODE: Final[dict[str, Code]] = {name: code for family in _FAMILIES for name, code in family.CODE.items()}

_SHIPPED: Final[tuple[Kind, ...]] = (
    *kinds_kind.recorded(_CODE),
    *described.kinds_of(described.SHIPPED),
)


def _with_owners(kinds: Iterable[Kind], descriptions: Iterable[DescribedKind]) -> Iterator[Kind]:
    """The kinds, each with the described kinds whose controllers make its objects."""
    makers = described.owned_by(descriptions)
    for kind in kinds:
        owners = makers.get(kind.group_and_kind, ())
        yield structs.replace(kind, owned_by=(*kind.owned_by, *owners)) if owners else kind


KINDS: Final[tuple[Kind, ...]] = tuple(_with_owners(_SHIPPED, described.SHIPPED))
"""Every kind that ships with usher."""

BY_KEY: Final[dict[Key, Kind]] = {kind.group_and_kind: kind for kind in KINDS}
"""Kinds by group and kind, like all tables here, with those of usher.yaml (`use`)."""

WORKLOADS: Final[dict[Key, Kind]] = {key: kind for key, kind in BY_KEY.items() if kind.pods is not None}
"""Kinds that make pods."""

PODS: Final[dict[Key, Pods]] = {key: kind.pods for key, kind in BY_KEY.items() if kind.pods is not None}
"""How these kinds make pods."""

_WITHOUT_END: Final = {model.Role.SERVICE, model.Role.INFERENCE, model.Role.INTERACTIVE}

SERVING: Final[set[Key]] = {key for key, pods in PODS.items() if pods.role in _WITHOUT_END and not pods.is_template}
"""Kinds whose pods run without an end. Jobs, for example those that download a model, give a disk back."""

OBJECTS: Final[Mapping[Key, Kind]] = {key: kind for key, kind in BY_KEY.items() if kind.key and kind.pods is None}
"""Kinds without pods that rules read."""

LISTED: Final[list[Kind]] = [kind for kind in (*WORKLOADS.values(), *OBJECTS.values()) if kind.plural and kind.listed]
"""Kinds whose objects an audit lists."""

FACTS: Final[Mapping[Key, FactKind]] = {
    key: FactKind(
        **api(*key, kind.plural, *kind.versions), cluster_scoped=kind.cluster_scoped, **structs.asdict(kind.facts)
    )
    for key, kind in BY_KEY.items()
    if kind.facts is not None
}
"""Kinds whose objects usher keeps when it reads a cluster."""

ASKED_FACTS: Final = tuple(kind for kind in FACTS.values() if not kind.from_files)
"""The kinds among them for which usher asks a cluster."""

CONFIGURE_DEVICES: Final = frozenset(key for key, kind in BY_KEY.items() if kind.configures_devices)
"""Kinds that rules judge in exempt namespaces too: the device plugin reads its ConfigMap in one of them."""

BOUNDS_OF_NODES: Final = frozenset(key for key, kind in BY_KEY.items() if kind.bounds_nodes)
"""Kinds whose objects name accelerators that pods do not ask for."""

NEVER_NAMED: Final = frozenset(key for key, kind in BY_KEY.items() if not kind.named_by_others)
"""Kinds whose objects rules do not look up by name; a test checks this with the lookups of rules on corpora."""

MADE_FOR: Final[Mapping[Key, Key]] = {key: kind.made_for for key, kind in BY_KEY.items() if any(kind.made_for)}
"""The kind whose operator makes objects of another kind, each for one role of its own object, as OBJECT-role."""

SCALES: Final[dict[Key, str]] = {key: kind.scale for key, kind in BY_KEY.items() if kind.scale}
"""JSON Pointers of the numbers that `/scale` writes.

Sources: pkg/registry/apps/rest and pkg/registry/core/rest of Kubernetes 1.36 for its own kinds; for the others
`subresources.scale.specReplicasPath` of their CRDs. What the number counts differs: pods for most kinds, whole groups
for a LeaderWorkerSet, Workers alone for the jobs of job_groups.org. The templates of the kind take it into account, so
setting the number and normalising the object again gives its pods.

JobSet, TrainJob, MPIJob, TFJob, XGBoostJob, the kinds of ray.io, InferenceService and the Volcano Job have no scale: an
autoscaler that names one of them does nothing, and they grow by UPDATE alone.
"""

_SCALED: Final[dict[tuple[str, str], Kind]] = {(kind.group, kind.plural): kind for kind in KINDS if kind.scale}


def unmet(value: paths.Object, key: Key, objects: reading_values.Objects) -> Iterable[model.UnreadKey]:
    """The needs of an object that the objects of the files and the facts do not meet, by the code of its kind."""
    kind = BY_KEY.get(key)
    if kind is not None and kind.unmet is not None:
        yield from kind.unmet(value, objects)
    yield from job_groups.above_queue(value, objects)


def scaled(group: str, plural: str) -> Kind | None:
    """The kind of a resource with a scale; a request to `/scale` gives only group and resource."""
    return _SCALED.get((group, plural))


def is_finished(value: paths.Object) -> bool:
    """Whether an object of a cluster has run to its end, by what the controller of its kind wrote into its status."""
    api_version = value.get("apiVersion")
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
    kind = BY_KEY.get((group, str(value.get("kind"))))
    return (kinds_kind.finished_by_condition if kind is None else kind.finished)(value)


class Shape(NamedTuple):
    """The fields of the objects of one kind that rules read."""

    key: str
    name: str

    @property
    def type(self) -> type:
        return _SHAPE_TYPES.named(self.name)

    @property
    def adapter(self) -> TypeAdapter[Any]:
        """The adapter of this type, made when the first object of the kind is read: a run meets few kinds."""
        return _adapter(self)


@cache
def _adapter(shape: Shape) -> TypeAdapter[Any]:
    return strict_adapter(shape.type)


_SHAPE_TYPES: Final = ShapeTypes(
    {
        "job_groups": job_groups.SHAPE_PARTS,
        "kubeflow": job_groups.SHAPE_PARTS,
        "kubernetes_objects": kubernetes.SHAPE_PARTS,
        "queues": autoscaling.SHAPE_PARTS,
        "ray": ray.SHAPE_PARTS,
        "spark": spark.SHAPE_PARTS,
    }
)


SHAPES: Final[Mapping[Key, Shape]] = {
    key: Shape(key=kind.key, name=kind.shape) for key, kind in BY_KEY.items() if kind.shape
}


SCALED_CHILDREN: Final = autoscaling.PARENTS
"""Kinds whose operators make objects that autoscalers must not scale, with the names of these objects."""


@cache
def owners_above(key: Key) -> int:
    """How many owners the longest chain above an object of a kind has; -1 for a kind that may own all others."""
    kind = BY_KEY[key]
    if kind.owns_any_kind:
        return -1
    return max((1 + owners_above(owner) for owner in kind.owned_by), default=0)


SHIPPED: Final = frozenset(BY_KEY)
"""The kinds that usher knows without usher.yaml."""


def described_keys(descriptions: Iterable[DescribedKind]) -> list[Key]:
    """Group and kind of each description."""
    return [kinds_kind.key_of(each.kind) for each in descriptions]


def kinds_of(descriptions: Iterable[DescribedKind]) -> tuple[Kind, ...]:
    """The kinds of descriptions, which are not in use."""
    return described.kinds_of(descriptions)


def problems(descriptions: Sequence[DescribedKind]) -> Iterator[tuple[str, str]]:
    """Mistakes in descriptions of usher.yaml: a JSON Pointer into their list, and the reason."""
    return ((each.path, each.reason) for each in described.problems(descriptions, SHIPPED))


_in_use: list[Sequence[DescribedKind]] = [()]


def use(descriptions: Sequence[DescribedKind]) -> None:
    """Makes the kinds of one usher.yaml known, instead of those of another; kinds that ship with usher stay.

    The tables belong to the process. Who judges by another usher.yaml calls this first, which costs nothing while it
    is the same.
    """
    if descriptions is _in_use[0] or (not descriptions and not _in_use[0]):
        return
    for kind in [kind for key, kind in BY_KEY.items() if key not in SHIPPED]:
        for table in (BY_KEY, WORKLOADS, PODS, SCALES):
            table.pop(kind.group_and_kind, None)
        _SCALED.pop((kind.group, kind.plural), None)
        SERVING.discard(kind.group_and_kind)
        LISTED.remove(kind)
    new = [kind for kind in described.kinds_of(descriptions) if kind.group_and_kind not in SHIPPED]
    for kind in _with_owners((*KINDS, *new), descriptions):
        _add(kind.group_and_kind, kind)
    owners_above.cache_clear()
    _in_use[0] = descriptions


def _add(key: Key, kind: Kind) -> None:
    """Puts a kind of usher.yaml into the tables, or a known kind with other owners into those that hold owners."""
    before, BY_KEY[key] = BY_KEY.get(key), kind
    if key in WORKLOADS or (before is None and kind.pods is not None):
        WORKLOADS[key] = kind
    if before is not None:
        LISTED[:] = [kind if each is before else each for each in LISTED]
        return
    if kind.pods is not None:
        PODS[key] = kind.pods
        SERVING.update({key} if kind.pods.role in _WITHOUT_END else ())
    if kind.scale:
        SCALES[key], _SCALED[kind.group, kind.plural] = kind.scale, kind
    LISTED.append(kind)


def _objects(kinds: Iterable[Kind]) -> type:
    """The TypedDict of `input.object`, built at run time because its fields depend on the kinds."""
    new: Any = TypedDict
    made: type = new(
        "Objects", {kind.key: NotRequired[SHAPES[kind.group_and_kind].type] for kind in kinds if kind.shape}
    )
    made.__doc__ = "`input.object` of the policies: one of these fields."
    return made


class _SchemaOfObjects:
    def __get_pydantic_core_schema__(self, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(_objects(sorted(KINDS, key=lambda kind: kind.key)))


Objects = Annotated[Mapping[str, Any], _SchemaOfObjects()]
"""`input.object` of the policies: the fields of an object that rules read, below the key of its kind."""
