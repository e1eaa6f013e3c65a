"""The parts of a pod template, each with its place in the object, as a kind returns them. Plain data."""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final, NamedTuple

from usher import model, paths
from usher.dataclass import dataclass

ONE = model.Count(minimum=1, maximum=1)

DEFAULT_SCHEDULER: Final = model.Scheduler(name="default-scheduler", reason="the template names no scheduler")

FIRST = "*"
"""In place of a name: the first container does the work."""

ALL_REQUESTING = ""
"""In place of a name: every container that asks for accelerators does the work."""


class Place(NamedTuple):
    """A value and where it stands."""

    value: object
    path: str


NOWHERE = Place(None, "")


class ContainerPlace(NamedTuple):
    """A container that does not stand in one of the three lists of a pod spec."""

    value: Mapping[str, paths.Json]
    path: str
    type: model.ContainerType = model.ContainerType.APP
    name: str = ""
    """For containers that have no name of their own."""
    requests: Place | None = None
    """Set where a kind does not keep them in `resources.requests`; other fields may make up the value."""
    limits: Place | None = None
    environment: tuple[Place, ...] | None = None
    """Lists of variables in place of `env`; the last of several variables with one name counts."""
    environment_path: str = ""
    """The list that takes further variables, where that is not `env` of the container."""
    reserved_environment: frozenset[str] = frozenset()
    """Variables that must not be added there, of every operator that may run the container; written as in `Traits`."""
    resources_path: str = ""
    inherited_resources: Mapping[str, paths.Json] | None = None
    """The object that takes further requests and limits, where that is not `resources` of the container."""
    field_places: Mapping[str, str] = MappingProxyType({})
    """Paths of fields that stand elsewhere than in the container, by their path below it."""


class Traits(NamedTuple):
    """How the operator of a kind changes its pods beyond their template."""

    trains: str = ALL_REQUESTING
    """Name of the container that does the work."""
    operator_environment: frozenset[str] = frozenset()
    """Variables that the operator sets itself; `*` ends a prefix (docs/domain/kinds.md#variables-of-operators)."""
    ranks_inherit_environment: bool = True
    """Whether the ranks see the environment of their container."""
    scheduler: model.Scheduler | None = None
    """The scheduler of the pods where their template does not name one."""
    pod_group: str = ""
    """The scheduler for which the operator makes a PodGroup of the pods, where the kind can tell."""
    changeable: bool = True
    """Whether changes of the template reach the pods."""
    whole: bool = True
    """False where the pods also depend on something that is not known here."""

    parallelism: model.ModelParallelism | None = None
    """The model server that the operator starts in a container with accelerators that has no command."""


PLAIN = Traits()


class ClaimPlace(NamedTuple):
    """A device claim that an operator makes for each of its pods. Templates do not name it."""

    spec: Mapping[str, paths.Json]
    """A ResourceClaimSpec."""
    path: str
    """What in the object makes the operator do it."""
    container: str = ""
    """Name of the container that gets the devices; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The parts of a pod template, and what the kind alone knows about its pods."""

    name: str
    path: str
    spec: Place
    """A pod spec, or the object that holds the fields of one."""
    metadata: Place = NOWHERE
    """What holds `labels` and `annotations`."""
    own_metadata_path: str = ""
    """As in `model.PodSet`."""
    count: model.Count = ONE
    traits: Traits = PLAIN
    containers: tuple[ContainerPlace, ...] | None = None
    """In place of the three lists of the spec."""
    fields: Mapping[str, Place] = field(default_factory=dict)
    """Fields of the pod spec that stand elsewhere than in `spec`."""
    requests: tuple[model.AcceleratorRequest, ...] = ()
    """What the pods ask for by a route that only the kind knows."""
    claims: tuple[ClaimPlace, ...] = ()
    overrides: model.Way | None = None
    """Where the scheduling fields of a template that cannot be changed are set after all."""
    placed: bool = False
    """Whether it is a Pod that the cluster knows already, whose node may well have been chosen by the scheduler."""
    inner_kind: tuple[str, str] | None = None
    """Group and kind of the inner object that it belongs to, in a kind that holds objects of any kind."""
    inner_path: str = ""
    """Where that object stands."""
    waits: bool = False
    """Whether the template itself shows that its pods wait for each other."""
    in_turns: bool = False
    """As in `model.PodSet`."""


TERMS: Final = "nodeSelectorTerms"
"""Among `fields` the terms of required node affinity, for kinds that have them without an affinity around them."""

LISTS: Final = (
    ("initContainers", model.ContainerType.INIT),
    ("containers", model.ContainerType.APP),
    ("ephemeralContainers", model.ContainerType.EPHEMERAL),
)
"""Init containers first: the order in which the kubelet starts them matters for the sums."""
