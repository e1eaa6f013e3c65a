"""The parts of a pod template, each with its place in the object, as a kind returns them. Plain data."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from usher import model, paths

ONE = model.Count(minimum=1, maximum=1)

DEFAULT_SCHEDULER: Final = model.Scheduler(name="default-scheduler", reason="the template names no scheduler")

FIRST = "*"
"""Used instead of a name: the first container does the work."""

ALL_REQUESTING = ""
"""Used instead of a name: every container that asks for accelerators does the work."""


AS_CONFIGURED = "as configured"
"""Used instead of a scheduler: the operator makes a PodGroup for the scheduler that it is configured with."""


JOB_CONTROLLER = "job-controller"
"""Used instead of a scheduler: the Job controller makes the PodGroup of Kubernetes for `spec.scheduling`."""


class Place(NamedTuple):
    """A value and its path."""

    value: object
    path: str


NOWHERE = Place(None, "")


class ContainerPlace(NamedTuple):
    """A container outside the three lists of a pod spec."""

    value: Mapping[str, paths.Json]
    path: str
    type: model.ContainerType = model.ContainerType.APP
    name: str = ""
    """For containers that have no name of their own."""
    requests: Place | None = None
    """Set if a kind does not keep them in `resources.requests`; other fields may make up the value."""
    limits: Place | None = None
    environment: tuple[Place, ...] | None = None
    """Lists of variables instead of `env`; the last of several variables with one name counts."""
    environment_path: str = ""
    """The list for further variables, if it is not `env` of the container."""
    reserved_environment: frozenset[str] = frozenset()
    """Variables that must not be added there, of every operator that may run the container; written as in `Traits`."""
    resources_path: str = ""
    inherited_resources: Mapping[str, paths.Json] | None = None
    """The object for further requests and limits, if it is not `resources` of the container."""
    not_repeated: tuple[str, ...] = ()
    """As in `model.Container`."""
    field_places: Mapping[str, str] = MappingProxyType({})
    """Paths of fields that stand elsewhere than in the container, by their path below it."""
    program_path: str = ""
    """The object with its command and arguments, if it is not the container."""


class Traits(NamedTuple):
    """How the operator of a kind changes its pods beyond their template."""

    trains: str = ALL_REQUESTING
    """Name of the container that does the work."""
    operator_environment: frozenset[str] = frozenset()
    """Variables that the operator sets itself; `*` ends a prefix (docs/domain/kinds.md#variables-of-operators)."""
    ranks_inherit_environment: bool = True
    """Whether the ranks see the environment of their container."""
    scheduler: model.Scheduler | None = None
    """The scheduler of pods whose template does not name one."""
    pod_group: str = ""
    """The scheduler for which the operator makes a PodGroup of the pods, if the kind determines it."""
    changeable: bool = True
    """Whether changes of the template reach the pods."""
    fully_known: bool = True
    """False if the pods also depend on unknown objects."""

    parallelism: model.ModelParallelism | None = None
    """The model server that the operator starts in a container with accelerators that has no command."""
    processes: model.Processes | None = None
    """The processes that the operator makes a launcher start in each pod."""


PLAIN = Traits()


class ClaimPlace(NamedTuple):
    """A device claim that an operator makes for each of its pods. Templates do not name it."""

    spec: Mapping[str, paths.Json]
    """A ResourceClaimSpec."""
    path: str
    """Path of the field that makes the operator create the claim."""
    container: str = ""
    """Name of the container that gets the devices; empty for the first."""


class Template(Struct, frozen=True, kw_only=True):
    """The parts of a pod template, and facts about its pods that only the kind knows."""

    name: str
    path: str
    spec: Place
    """A pod spec, or an object that holds the fields of one."""
    metadata: Place = NOWHERE
    """The object with `labels` and `annotations`."""
    own_metadata_path: str = ""
    """As in `model.PodSet`."""
    count: model.Count = ONE
    traits: Traits = PLAIN
    containers: tuple[ContainerPlace, ...] | None = None
    """Used instead of the three lists of the spec."""
    fields: Mapping[str, Place] = field(default_factory=dict)
    """Fields of the pod spec that are not in `spec`."""
    requests: tuple[model.AcceleratorRequest, ...] = ()
    """The accelerators that the pods request by a route that only the kind knows."""
    claims: tuple[ClaimPlace, ...] = ()
    overrides: model.Way | None = None
    """The way to the scheduling fields of a template that cannot be changed itself."""
    placed: bool = False
    """Whether it is a Pod that the cluster knows already, so that the scheduler may have chosen its node."""
    inner_kind: tuple[str, str] | None = None
    """Group and kind of the inner object that it belongs to, in a kind that holds objects of any kind."""
    inner_path: str = ""
    """The path of that object."""
    waits: bool = False
    """Whether the template itself shows that its pods wait for each other."""
    in_turns: bool = False
    """As in `model.PodSet`."""
    later: bool = False
    """As in `model.PodSet`."""
    groups: int = 1
    """As in `model.PodSet`."""
    together: int | None = None
    """As in `model.PodSet`."""
    unit: model.Unit | None = None
    """As in `model.PodSet`."""
    serves_as: str = ""
    """The words of the object for what the pods do in serving a model."""
    written: Mapping[str, str] = field(default_factory=dict)
    """As in `model.PodSet`."""


TERMS: Final = "nodeSelectorTerms"
"""The key in `fields` for terms of required node affinity, in kinds that have them without an affinity around them."""

LISTS: Final = (
    ("initContainers", model.ContainerType.INIT),
    ("containers", model.ContainerType.APP),
    ("ephemeralContainers", model.ContainerType.EPHEMERAL),
)
"""The three lists of containers, init containers first: the kubelet starts them in this order, which sums depend on."""
