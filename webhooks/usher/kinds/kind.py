"""Everything that usher knows of one kind of objects, as one record; `kinds.registry` derives its tables from them."""

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
    """What of an object Kueue admits at once (docs/domain/kueue.md#integrations)."""

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
    """One after the other: the kind is a graph of steps, whose order is up to its controller."""
    MAY_WAIT = "may wait"
    """Some parts may have to complete before others begin, which usher does not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """How a kind makes pods. A field has no default where to forget it would be silently wrong."""

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
    """Whether the object says how many pods there are, so that it can be made smaller pod by pod."""
    minimum_from: str
    """Annotation that says how many pods start together, where no field does; or empty."""
    role: model.Role = model.Role.UNKNOWN
    runs_any_program: bool = False
    """Whether the programs of its pods say more about their role than the kind does."""
    joins_its_pods: bool = False
    """Whether its pods are one system whatever they run, as those of a Ray cluster are."""
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
    """What makes its pods a gang on Volcano, for the documentation; else empty (docs/domain/volcano.md#routing)."""
    gang_places: model.GangPlaces = model.NO_GANG_PLACES
    lifecycle_places: model.LifecyclePlaces = model.NO_LIFECYCLE_PLACES
    """In the best version of the kind."""
    gang_minimum_path: str | None = None
    """Where the object says how many pods start together, if that field says more and cannot be set for a gang."""
    gang_native: bool = False
    needs_gang: bool = False
    """Whether its pods wait for each other, so that some of them without the others only hold devices."""
    changes: str = "the pod templates"
    """What the mutating webhook may change, and why not more; for the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What usher keeps of the objects of a kind in a cluster, because decisions look at them."""

    keep: Keep
    momentary: frozenset[str] = frozenset()
    """Fields of the status with the current use. Remembered answers do not depend on them."""
    changes_often: bool = False
    """Whether objects change all the time, and neither the reading of workloads nor a mutation looks them up."""
    presence_only: bool = False
    """Whether usher asks for names alone, so that it never reads contents."""
    by_choice: bool = False
    """Whether the server reads it only where a site lets it; elsewhere it is unknown, and usher does not complain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of objects. Group and kind identify it together: Job, CronJob and MPIJob exist in several groups."""

    group: str
    kind: str
    versions: tuple[str, ...]
    """Those that are understood, the best first: of another the API server has to convert each object."""
    plural: str = ""
    """Empty for what no API server serves (compiled pipelines)."""
    cluster_scoped: bool = False
    listed: bool = True
    """Whether audits list its objects, and the webhook for objects without pods is called for them."""
    own_webhook: bool = False
    """Whether a webhook of its own is called for it, with its own conditions."""
    pods: Pods | None = None
    """None for a kind that makes no pods."""
    key: str = ""
    """Its field in `input.object` of the policies, where no two kinds share one; empty for a kind without a shape."""
    shape: type | None = None
    """The TypedDict of what rules read of its objects."""
    facts: Facts | None = None
    """None where usher keeps nothing of its objects."""
    scale: str = ""
    """JSON Pointer of the number that its `/scale` writes; empty where it has no scale subresource."""
    autoscaler: ReadGrowth | None = None
    """Reads how many replicas its objects let another object have."""
    owned_by: tuple[Key, ...] = ()
    """Kinds whose controllers make objects of this kind (docs/domain/kinds.md#owner-chains)."""
    owns_any_kind: bool = False
    """Whether its objects hold, and make, objects of any other kind (AppWrapper)."""
    bounds_nodes: bool = False
    """Whether the accelerators that its objects name are bounds of nodes, which no pod asks for."""
    named_by_others: bool = True
    """Whether rules look its objects up by name; where they do not, no verdict about another object follows from it."""
    finished: completion.Finished = completion.by_condition
    """Whether an object of it has run to its end."""

    @property
    def group_and_kind(self) -> Key:
        return self.group, self.kind

    @property
    def resource(self) -> str:
        """As in `kubectl get`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def is_template(self) -> bool:
        """Whether it makes pods only when something else refers to it."""
        return self.pods is not None and self.pods.is_template
