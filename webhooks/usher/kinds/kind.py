"""All facts about one kind of objects, in one record; `kinds.registry` derives its tables from them."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, StrEnum
from typing import Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.kinds import completion
from usher.kinds.kept_fields import Keep, Key
from usher.reading.growth import ReadGrowth
from usher.reading.templates import Template
from usher.reading.values import Reading

MINIMUM_OF_OWNER: Final = "scheduling.volcano.sh/group-min-member"
"""Volcano's default is 1, and makes no gang (docs/domain/volcano.md#the-schedulers-name-alone)."""

FindTemplates = Callable[[Mapping[str, paths.Json], Reading], Iterable[Template]]
"""Finds the pod templates in a whole object."""


class Kueue(StrEnum):
    """Whether Kueue governs a kind (docs/domain/kueue.md#integrations)."""

    DEFAULT = "yes, in its default configuration"
    OPTION = "only when its configuration names the kind"
    CHILDREN = "not itself, but what it makes"
    NEVER = "no"


class KueueUnit(Enum):
    """The part of an object that Kueue admits at once (docs/domain/kueue.md#integrations)."""

    POD = "pod"
    """Each pod by itself."""
    WHOLE = "whole"
    """All pods of the object."""
    RUN = "run"
    """All pods of one run."""
    GROUP = "group"
    """All pods of one group."""


class Starts(Enum):
    """Which pods of an object run at the same time."""

    TOGETHER = "together"
    IN_STEPS = "in steps"
    """One after the other: the kind is a graph of steps, and its controller decides about their order."""
    MAY_WAIT = "may wait"
    """Some parts may have to complete before others begin; usher does not read which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """How a kind makes pods. A field has no default if forgetting it would be an error that no test finds."""

    templates: FindTemplates
    template_paths: tuple[str, ...]
    """Where the templates stand, as people write field paths; for the documentation."""
    counted: str
    """How the pods are counted, in one line; for the documentation."""
    source: str
    """Where the two facts above come from, written with the keys of docs/domain/sources.md."""
    kueue_unit: KueueUnit
    starts: Starts
    shrinks: bool
    """Whether the object sets the number of pods, so that it can be made smaller pod by pod."""
    minimum_from: str
    """Annotation with the number of pods that start together, if no field has it; or empty."""
    role: model.Role = model.Role.UNKNOWN
    runs_any_program: bool = False
    """Whether the programs of its pods say more about their role than the kind does."""
    joins_its_pods: bool = False
    """Whether its pods are one system whatever they run, like the pods of a Ray cluster."""
    is_template: bool = False
    """Whether the kind makes pods only when something else refers to it."""
    suspend_path: str | None = None
    """The boolean that holds the workload back."""
    kueue: Kueue = Kueue.NEVER
    kueue_keeps_empty: bool = False
    """Whether Kueue counts pod sets without pods too (KQ:pkg/controller/jobs)."""
    queue_label_path: str | None = None
    """The `metadata` whose labels Kueue reads; None where it has no integration (docs/domain/kueue.md#keys)."""
    volcano: str = ""
    """Why its pods are a gang on Volcano, for the documentation; else empty (docs/domain/volcano.md#routing)."""
    gang_places: model.GangPlaces = model.NO_GANG_PLACES
    lifecycle_places: model.LifecyclePlaces = model.NO_LIFECYCLE_PLACES
    """The fields of the best version of the kind."""
    gang_minimum_path: str | None = None
    """Path of the number of pods that start together, if the field has other effects and cannot be set for a gang."""
    gang_native: bool = False
    needs_gang: bool = False
    """Whether its pods wait for each other, so that an incomplete set only holds devices."""
    changes: str = "the pod templates"
    """The part of the object that the mutating webhook may change, and why not more; for the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The part of the objects of a kind that usher keeps of a cluster, because decisions look at it."""

    keep: Keep
    momentary: frozenset[str] = frozenset()
    """Fields of the status with the current use. Remembered answers do not depend on them."""
    changes_often: bool = False
    """Whether objects change all the time; then neither the reading of workloads nor a mutation looks them up."""
    presence_only: bool = False
    """Whether usher asks for names alone, so that it never reads contents."""
    by_choice: bool = False
    """Whether the server reads this kind only if a site allows it. Elsewhere it is unknown, without a complaint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of objects. Group and kind identify it together: Job, CronJob and MPIJob exist in several groups."""

    group: str
    kind: str
    versions: tuple[str, ...]
    """The versions that usher understands, the best first. The API server has to convert objects of other versions."""
    plural: str = ""
    """Empty for kinds that no API server serves (compiled pipelines)."""
    cluster_scoped: bool = False
    listed: bool = True
    """Whether audits list its objects, and the webhook for objects without pods is called for them."""
    own_webhook: bool = False
    """Whether usher registers a separate webhook for it, with its own conditions."""
    pods: Pods | None = None
    """None for a kind that makes no pods."""
    key: str = ""
    """Its field in `input.object` of the policies, different for each kind; empty for a kind without a shape."""
    shape: type | None = None
    """The TypedDict with the fields of its objects that rules read."""
    facts: Facts | None = None
    """None if usher keeps nothing of its objects."""
    scale: str = ""
    """JSON Pointer of the number that its `/scale` writes; empty for a kind without the scale subresource."""
    autoscaler: ReadGrowth | None = None
    """Reads how many replicas its objects let another object have."""
    owned_by: tuple[Key, ...] = ()
    """Kinds whose controllers make objects of this kind (docs/domain/kinds.md#owner-chains)."""
    owns_any_kind: bool = False
    """Whether its objects hold, and make, objects of any other kind (AppWrapper)."""
    bounds_nodes: bool = False
    """Whether the accelerators that its objects name limit nodes; pods do not ask for them."""
    named_by_others: bool = True
    """Whether rules look its objects up by name. If not, verdicts about other objects do not depend on them."""
    finished: completion.Finished = completion.by_condition
    """Says whether an object has run to its end."""

    @property
    def group_and_kind(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """The resource, as `kubectl get` takes it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def is_template(self) -> bool:
        """Whether it makes pods only when something else refers to it."""
        return self.pods is not None and self.pods.is_template
