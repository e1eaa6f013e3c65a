"""Entries of the audit document: findings, and GPUs and money, allocated, used, idle or to be saved.

Allocated: a running pod holds the GPU. Used: allocated, weighted with the activity of the GPU. Idle: allocated, and the
activity stayed below the threshold for at least the idle period. `docs/audit.md` has every formula.
"""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_GIVEN: Final[dict[frozenset[str], set[str]]] = {}


class Part(BaseModel):
    """A JSON object. Unknown fields are left out, because a later usher may add some."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )

    def model_post_init(self, _context: object) -> None:
        """Shares the names of the fields that were given: a set for each finding takes more memory than its texts."""
        given = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _GIVEN.setdefault(frozenset(given), given))


_SOON: Final = 14
"""Days."""


class Severity(StrEnum):
    """How bad a finding is, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Subject(Part):
    """The object that an entry is about; empty texts where a field does not apply."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str


class FindingEntry(Part):
    """One finding.

    `fingerprint` stays the same while the finding is the same: code, object and path, no number and no message.
    """

    fingerprint: str
    code: str
    name: str
    title: str
    category: str
    """The category of the check; `cluster` for findings about the cluster as a whole."""
    outcome: str
    """`deny`, `warn` or `audit`: what admission would do; `audit` for findings about the cluster."""
    severity: Severity
    subject: Subject
    path: str = ""
    """The field as people read it; empty for the whole object."""
    message: str
    remedy: str = ""
    team: str = ""
    gpus: float | None = 0
    """For a workload: the GPUs that it holds or, if it holds no GPU, the most that it asks for. All its findings have
    the same number. For any other object: the GPUs that the message is about. Null where an amount cannot be read."""
    since: str = ""
    """When what it is about began, ISO 8601 in UTC: creation of the object, or start of the waiting."""
    evidence: tuple[str, ...] = ()
    held_by: str = ""
    """For what does not start: the authority that holds it (Kueue, Volcano, nodes, a quota, the scheduler)."""
    never: bool = False
    """Whether it means that the workload can never run."""
    prevented_by: str = ""
    """The code of the rule of usher that denies this today, so that admission would have prevented it; else empty. It
    is another rule than the one of the finding."""
    preventable_by: str = ""
    """The code of a rule that found the mistake and only warns of it: it would have prevented it if it denied."""
    found_by: tuple[str, ...] = ()
    """The codes of rules of usher that find the same mistake in this workload. The document lists it once:
    outcome, exception and mutation are those of the rules, and their messages are evidence."""
    mended_by: str = ""
    """The mutation with which admission mends it today, so that it would not deny the object for it; else empty."""
    exception: str = ""
    """The ticket of the exception that covers it."""
    gpus_least: float | None = None
    """`gpus` without the extra pods of a rollout or an autoscaler; null where it is not known, and for findings about
    the cluster also where it is the same number."""
    other_accelerators: Mapping[str, float] = Field(default={})
    """Accelerators other than GPUs that the object holds or asks for, by resource."""
    because: str = ""
    """Why the outcome is milder than the one of the rule: an assumption of usher, or usher.yaml."""
    place: str = ""
    """File and line of a manifest; empty for what comes from a cluster."""

    gpus_lost: float | None = None
    """For a node: the GPUs that are out of use until it is repaired. For a gang: the GPUs that it holds without work.
    Null for all other findings, and where pods were not read."""
    cost_per_hour: float | None = None
    """The cost of `gpus_lost` for one hour; null where not priced."""
    fixed_by_platform: bool = False
    """Whether the remedy changes nodes alone, so that the platform team makes it, and not `team`."""

    @property
    def known_gpus(self) -> float:
        """For sums and for sorting: 0 where the number is not known."""
        return self.gpus or 0.0

    @property
    def known_least(self) -> float:
        """`gpus_least`; the one number where both are the same, and 0 where it is not known."""
        return self.known_gpus if self.gpus_least is None else self.gpus_least


class NotEvaluatedEntry(Part):
    """A check without a verdict: neither a pass nor a violation."""

    code: str
    name: str
    reason: str
    workloads: int


class NotJudgedEntry(Part):
    """A part of an object that could not be read, so that no check judged it: neither a pass nor a violation."""

    subject: Subject
    path: str = ""
    """As people read it; empty for the whole object."""
    reason: str
    place: str = ""
    """File and line of a manifest; empty for what comes from a cluster."""


class ExceptionEntry(Part):
    """An exception of usher.yaml. `state` is `used`, `unused`, `expired` or `not needed`."""

    ticket: str
    owner: str
    reason: str = ""
    checks: tuple[str, ...]
    namespaces: tuple[str, ...]
    expires: date
    state: str
    findings: int
    days_left: int
    """Days until it ends; negative where it has ended."""

    @property
    def ends_soon(self) -> bool:
        """Whether it ends within 14 days, and has not ended."""
        return 0 <= self.days_left <= _SOON


class Measurement(Part):
    """The source of usage. `problems` says what is missing in it."""

    source: str
    """`prometheus`, `demo`, or `none` where nothing was measured."""
    url: str = ""
    """Without user and password."""
    start: str = ""
    end: str = ""
    """The measured window, ISO 8601 in UTC."""
    step_seconds: int = 0
    idle_below: float = 0.4
    """The activity, from 0 to 1, below which a GPU counts as idle."""
    idle_minutes: int = 60
    """How long it has to stay below."""
    problems: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Where numbers come from that could come from several sources. Unlike problems, nothing is missing."""
    failures: tuple[str, ...] = ()
    """The problems for which usage is missing although usher asked a source: a query has no answer, or the source has
    no series of GPUs."""


class Cost(Part):
    """Money in one currency, for the measured window."""

    currency: str
    allocated: float
    used: float | None = None
    idle: float | None = None
    """By activity: idle GPU-hours x price."""
    idle_memory: float | None = None
    """By memory: allocated x (1 - share of the memory that was used) x price. Another view of the same GPU-hours, so it
    is never added to `idle`."""


class GpuHours(Part):
    """The fields that one cluster and a fleet have in common."""

    gpus_now: float = 0
    """Whole GPUs, and MIG devices by their share of a GPU, that running pods hold at the time of the audit."""
    allocated: float | None = None
    measured: float | None = None
    """The allocated GPU-hours for which the activity is known; used and idle are about these alone."""
    used: float | None = None
    idle: float | None = None
    activity: float | None = None
    """used / measured, from 0 to 1."""
    memory_share: float | None = None
    """Mean share of the memory of its devices that was used, from 0 to 1."""


class Usage(GpuHours):
    """GPU-hours of a workload or a group in the window; null where it was not measured."""

    memory_peak: int | None = None
    """Bytes on the device that used most."""
    cost: Cost | None = None
    """Null where a price is missing for all of it, or nothing was measured."""
    not_priced: float | None = None
    """The allocated GPU-hours without a price; `cost` leaves them out."""
    cost_per_hour: float | None = None
    """`gpus_now` x price, in the currency of the prices; null where not priced."""


class WorkloadState(StrEnum):
    """Where the pods of a workload are."""

    RUNNING = "running"
    PARTLY = "partly running"
    PENDING = "pending"
    SUSPENDED = "suspended"
    EMPTY = "no pods"


class WorkloadEntry(Part):
    """A top-level workload that holds or wants accelerators."""

    subject: Subject
    team: str = ""
    queue: str = ""
    priority: str = ""
    role: str
    state: WorkloadState
    products: tuple[str, ...] = ()
    """The boards of the nodes that its pods run on."""
    capacity_types: tuple[str, ...] = ()
    accelerators: Mapping[str, float]
    """The most that it asks for, by resource."""
    gpus: float | None = 0
    """The most GPUs that it asks for: with the extra pods of a rollout, and all that an autoscaler may add. Null where
    an amount or a device claim cannot be read."""
    gpus_least: float | None = None
    """Without these extra pods."""
    other_accelerators: Mapping[str, float] = Field(default={})
    """The part of `accelerators` that are not GPUs."""
    pods_wanted: int | None = None
    """The most pods that it asks for; null where nothing bounds them."""
    pods_running: int = 0
    pods_waiting: int = 0
    created: str = ""
    waiting_since: str = ""
    """Since when pods wait; empty where no pod waits."""
    outcome: str
    """As in the report of findings: `deny`, `warn`, `audit`, `exempt`, `unknown` or `clean`."""
    findings: int = 0
    place: str = ""
    """File and line of a manifest; empty for what comes from a cluster."""
    usage: Usage

    @property
    def known_gpus(self) -> float:
        """For sums and for sorting: 0 where the number is not known."""
        return self.gpus or 0.0

    @property
    def known_least(self) -> float:
        """`gpus_least`; the one number where both are the same, and 0 where it is not known."""
        return self.known_gpus if self.gpus_least is None else self.gpus_least


class Group(Part):
    """One row of a table; `name` is empty for what belongs to no team, queue or class."""

    name: str
    workloads: int
    """Workloads of `Summary.workloads` in the group. For a product or a capacity type: workloads that held its GPUs in
    the window or hold some now."""
    usage: Usage
    gpus_free: float | None = None
    """Free GPUs on the nodes of the group now. This field and `gpus_out_of_use` are null in tables that are not about
    nodes, and where nodes or pods are not known."""
    gpus_out_of_use: float | None = None
    free: float | None = None
    """GPU-hours of the window that no pod held, as the next one: those of free GPUs. Null in tables that are not about
    nodes, and without series of the nodes of the group."""
    out_of_use: float | None = None
    cost_free: float | None = None
    """Money for the `free` GPU-hours that have a price."""
    cost_out_of_use: float | None = None

    @property
    def not_held(self) -> float | None:
        """GPU-hours that no pod held; None where they were not measured."""
        return None if self.free is None or self.out_of_use is None else self.free + self.out_of_use

    @property
    def cost_not_held(self) -> float | None:
        """The money of those that have a price; None where no price is known."""
        known = [each for each in (self.cost_free, self.cost_out_of_use) if each is not None]
        return sum(known) if known else None


class GroupTable(Part):
    """Usage by one property. `by`: team, namespace, queue, priority, product or capacityType. Idle hours first.

    The last two are about nodes: their groups have the GPUs that no pod held too.
    """

    by: str
    rows: tuple[Group, ...]


class Target(Part):
    """A target beside its actual value; `met` is null where the value was not measured."""

    name: str
    title: str
    low: float | None = None
    high: float | None = None
    unit: str
    actual: float | None = None
    met: bool | None = None
    formula: str
    hours: float | None = None
    """The measured GPU-hours that `actual` is the mean of; null where it is not the mean of all GPUs."""


class PriceEntry(Part):
    """A price that `audit.prices` of usher.yaml gives to GPUs of the cluster."""

    product: str
    """The board; empty where it is not known."""
    capacity_type: str
    per_gpu_hour: float | None = None
    """In the currency of the prices; null where no rule prices these GPUs."""
    rule: str = ""
    """The rule that decides: `audit.prices.rules[0]`."""
    formula: str = ""
    """How the price follows from the rule."""
    nodes: int = 0
    """Nodes of now."""
    gpus: float = 0
    """GPUs of these nodes, held by pods or not."""
    allocated: float | None = None
    """Allocated GPU-hours of the window at this price; null where nothing was measured."""


class Saving(Part):
    """A change that frees GPUs. Savings of one workload are alternatives unless `adds_up` says otherwise."""

    kind: str
    """`idle workload`, `smaller MIG profile`, `spot`, `fewer replicas at night`."""
    subject: Subject
    team: str = ""
    evidence: tuple[str, ...]
    change: str
    gpu_hours: float
    """In the window."""
    cost: float | None = None
    """In the window: the price of these GPU-hours; null where not priced."""
    cost_saved: float | None = None
    """The part of `cost` on on-demand and spot nodes: the bill falls when nodes become empty and go."""
    cost_freed: float | None = None
    """The part of `cost` on reserved nodes, and on nodes without a label that says how they are paid for. These nodes
    are paid for anyway, and the GPUs become free for others."""
    days: float | None = None
    """The days of the window in which the workload was there: the saving rests on these."""
    gpu_hours_per_week: float | None = None
    """`gpu_hours` x 7 / `days`: what a week like these days saves."""
    cost_per_week: float | None = None
    needs: str = ""
    """A step of the platform team that has to come first; empty where the team can make the change now."""
    finding: str = ""
    """The fingerprint of the finding that is the cause; empty where the audit did not find a cause."""
    adds_up: bool = True
    """Whether the sum of savings counts it: the largest of each workload that can be made now."""


class Prevented(Part):
    """Workloads that a rule of usher would have kept out, and what they waste.

    A workload that several rules would have kept out counts for each of them, so the rows do not add up.
    """

    code: str
    """The code of the rule."""
    title: str
    denies: bool = True
    """Whether the rule denies today. Otherwise it only warns, and it would have prevented this if it denied."""
    workloads: int
    gpus: float = 0
    """GPUs that they hold or, if they hold no GPU, ask for; each workload counts once."""
    idle: float | None = None
    """Their idle GPU-hours in the window; null where no usage of them was measured."""
    stuck: float = 0
    """GPU-hours that they hold in the window while an authority keeps them from starting. They are idle as well."""
    cost: float | None = None
    """The sum of the money of all workloads: for each its idle or its stuck GPU-hours, whichever cost more. Null where
    they have no price."""
