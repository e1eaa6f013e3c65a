"""usher.yaml as pydantic models. Every field has a default that is safe on a cluster we know nothing about."""

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property, lru_cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator, model_validator

from usher.config import fabrics as fabrics_shipped
from usher.config import selection
from usher.config.described_kinds import DescribedKind
from usher.config.fabrics import RESERVED_VARIABLES, Fabric, with_base
from usher.config.pools import Gangs, Gpus, Pool, PoolUse, Quota, Taint
from usher.config.sections import (
    DEFAULT_IDENTITIES,
    Accelerators,
    DeviceClass,
    Facts,
    Identity,
    Lifecycle,
    PriorityRule,
    Queue,
    Resource,
    RoleRule,
    RoleRules,
    Route,
    SharedMemory,
)
from usher.config.selection import ANY_NAMESPACE, Duration, LabelKey, Name, Pattern, Place, Role, Section, Selector

Share = Annotated[float, Field(ge=0, le=1)]
Price = Annotated[float, Field(ge=0, le=1_000_000)]
LabelPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.*]+$", max_length=253)]
"""A value of a label in which `*` stands for any characters."""


class Idle(Section):
    """A GPU is idle while its activity stays below the threshold for at least this long."""

    below: Share = Field(default=0.4, description="Activity of a GPU, from 0 to 1, below which it counts as idle.")
    lasting: Duration = Field(default="1h", description="How long the activity has to stay below.")


class PriceRule(Section):
    """The price of a GPU, or of a node whose GPUs share it."""

    product: LabelPattern = Field(
        default="*", description="The board, as node labels name it: NVIDIA-H100-80GB-HBM3, nvidia-h100-*."
    )
    instance_type: LabelPattern = Field(default="*", description="The instance type of the node.")
    capacity_type: Literal["*", "on-demand", "spot", "reserved", "unknown"] = Field(
        default="*", description="How the node is paid for; usher reads it from labels of clouds and provisioners."
    )
    per_gpu_hour: Price | None = Field(default=None, description="Price of one whole GPU for an hour.")
    per_node_hour: Price | None = Field(
        default=None, description="Price of the whole node for an hour; gpuShare of it is that of its GPUs."
    )

    @model_validator(mode="after")
    def _check_one_price(self) -> "PriceRule":
        if (self.per_gpu_hour is None) == (self.per_node_hour is None):
            raise ValueError("a price is either perGpuHour or perNodeHour; write one of them")
        return self


class Prices(Section):
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = Field(
        default="USD", description="Currency of all prices, by its code of three letters."
    )
    gpu_share: Share = Field(
        default=0.95, description="Share of the price of a node that is that of its GPUs; the rest is cpu and memory."
    )
    rules: list[PriceRule] = Field(
        default=[],
        max_length=500,
        description="The first entry that matches a node decides. GPUs without one are reported as not priced.",
    )

    @model_validator(mode="after")
    def _check_every_rule_can_decide(self) -> "Prices":
        places: dict[tuple[str, str, str], int] = {}
        for index, rule in enumerate(self.rules):
            key = rule.product.casefold(), rule.instance_type, rule.capacity_type
            for same in (key, ("*", "*", "*")):
                if same in places:
                    raise ValueError(
                        f"rules[{index}] never decides, because rules[{places[same]}] before it matches the same "
                        "nodes; leave one of them out, or write the narrower one first"
                    )
            places[key] = index
        return self


class Range(Section):
    low: Share = Field(default=0.0, description="The least share, from 0 to 1.")
    high: Share = Field(default=1.0, description="The largest share, from 0 to 1.")

    @model_validator(mode="after")
    def _check_low_is_below_high(self) -> "Range":
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) is above high ({self.high:g}); swap them")
        return self


class Targets(Section):
    """Targets that an audit shows beside the actual values."""

    activity: Range = Field(
        default=Range(low=0.65, high=0.85), description="Activity of all GPUs of the cluster, allocated or not."
    )
    memory: Range = Field(default=Range(low=0.8), description="Share of the memory of allocated GPUs that is used.")
    queue_wait_p95: Duration = Field(default="1h", description="Longest wait in queues of 95 % of the workloads.")


class Audit(Section):
    team_labels: list[LabelKey] = Field(
        default=["gpu-usher.io/team", "team"],
        max_length=16,
        description="Labels that name the team: the first one that the workload has, or else its namespace.",
    )
    idle: Idle = Field(default=Idle.defaults(), description="When an allocated GPU counts as idle.")
    pending: Duration = Field(default="1h", description="How long pods may wait before an audit reports them.")
    prices: Prices = Field(default=Prices.defaults(), description="What GPUs cost.")
    targets: Targets = Field(default=Targets.defaults(), description="Targets beside which reports show actual values.")


__all__ = [
    "DEFAULT_IDENTITIES",
    "RESERVED_VARIABLES",
    "Accelerators",
    "DeviceClass",
    "Fabric",
    "Facts",
    "Gpus",
    "Identity",
    "Place",
    "Pool",
    "PoolUse",
    "PriorityRule",
    "Queue",
    "Quota",
    "Resource",
    "Role",
    "RoleRule",
    "Route",
    "Selector",
    "Taint",
]

API_VERSION: Final = "gpu-usher.io/v1alpha1"

EXEMPTION_LABEL: Final = "gpu-usher.io/exempt"
"""With the value true, usher neither judges nor changes the objects of a namespace. A check guards this label."""

DEFAULT_EXEMPT_NAMESPACES = ["kube-system", "kube-public", "kube-node-lease", "gpu-usher", "gpu-operator"]

WHY_EXEMPT: Final[Mapping[str, str]] = {
    "kube-system": "pods that the cluster needs to run, for example DNS and the network",
    "kube-public": "objects that every user reads",
    "kube-node-lease": "the signs of life of nodes",
    "gpu-usher": "usher's own pods, which must start while no usher answers",
    "gpu-operator": "the drivers and device plugins that offer GPUs",
}
"""The workloads that usher's default keeps from denials and changes, by namespace."""

_MOST_NAMESPACES: Final = 1024
"""Namespaces whose rules are remembered. A bound is necessary: names come from users."""

DEFAULT_SYSTEM_NAMESPACES = [
    # Drivers, device plugins and schedulers of accelerators.
    *("dra-driver-nvidia-gpu", "gpu-operator", "gpu-operator-resources", "gpu-resources", "gpu-usher", "habana-system"),
    *("inteldeviceplugins-system", "kai-resource-reservation"),
    *("kai-scheduler", "kube-amd-gpu", "kube-system", "kueue-system", "node-feature-discovery"),
    *("nvidia-device-plugin", "nvidia-dra-driver-gpu", "nvidia-gpu-operator", "nvidia-network-operator", "runai"),
    *("runai-reservation", "volcano-system"),
    # Networks and meshes, whose agents run on every node.
    *("calico-apiserver", "calico-system", "cilium", "istio-system", "kube-flannel", "linkerd-cni", "metallb-system"),
    *("tigera-operator",),
    # Disks.
    *("local-path-storage", "longhorn-system", "openebs", "rook-ceph"),
    # Node agents that clouds and distributions run themselves.
    *("gke-managed-*", "gmp-public", "gmp-system", "openshift-*"),
]
"""Namespaces whose DaemonSets no cluster can do without; the check trusted-namespace-by-tenant guards their names."""


class Priorities(Section):
    classes: list[PriorityRule] = Field(default=[], description="The first entry that matches a workload decides.")
    global_default: Name | None = Field(
        default=None,
        description="The PriorityClass with globalDefault, which Kubernetes writes into every pod without a class.",
    )
    system_namespaces: list[Pattern] = Field(
        default=DEFAULT_SYSTEM_NAMESPACES,
        description="Namespaces of drivers, networks, disks and other node agents. Their pods may control their nodes "
        "and use the classes system-cluster-critical and system-node-critical. Only administrators may make a "
        "namespace with one of these names.",
    )


class Isolation(Section):
    visible_devices: list[Pattern] = Field(
        default=[], description="Namespaces that may set NVIDIA_VISIBLE_DEVICES by hand, for example for monitoring."
    )
    ipc_lock: list[Pattern] = Field(
        default=[],
        description="Namespaces in which a fabric may give IPC_LOCK to containers. Pod Security forbids it at the "
        "levels baseline and restricted.",
    )


class ParameterValues(Section):
    """Values for the parameters of one check, in some namespaces."""

    check: str = Field(description="Name or code of a check.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    values: dict[str, bool | int | str | list[str]] = Field(
        min_length=1, description="Values by the names that `usher explain CHECK` lists."
    )


class EnforcementRule(Section):
    check: str = Field(description="Name, code or category of a check, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    roles: list[Role] = Field(default=[], description="Roles of workloads that the rule is for; by default all.")
    places: list[Place] = Field(
        default=[], description="Where the rule applies: webhooks, `usher check`, `usher audit`; by default all."
    )
    action: Literal["deny", "warn", "audit", "off"] = Field(
        description="What a finding does: refuse the object, warn its author, appear in reports alone, or nothing."
    )


class ExceptionRule(Section):
    """An accepted finding with an owner and a last day: usher reports it, but it denies and warns nothing."""

    checks: list[str] = Field(min_length=1, description="Names or codes of checks.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    kinds: list[str] = Field(default=[], description="Kinds of objects; by default all.")
    names: list[Pattern] = Field(
        default=[], description="Names of objects, which every user of the namespace can choose; by default all."
    )
    owner: str = Field(min_length=1, max_length=253, description="Who is responsible for it.")
    reason: str = Field(min_length=1, max_length=1000, description="Why it is accepted; reports show it.")
    ticket: str = Field(min_length=1, max_length=253, description="Where the exception was discussed.")
    expires: date = Field(description="The last day, in UTC, on which it applies.")


class SuppressionRule(Section):
    """Findings that the author of an object may suppress by the annotation gpu-usher.io/ignore; they become notes."""

    checks: list[str] = Field(
        min_length=1,
        description="Names, codes or categories of checks, or * for all; critical checks and those of isolation only "
        "by name or code.",
    )
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    places: list[Place] = Field(
        default=["check"], min_length=1, description="Where it counts; by default in `usher check` alone."
    )
    denials: bool = Field(default=False, description="Whether authors may suppress denials too, not only warnings.")
    needs_end: bool = Field(default=False, description="Whether the annotation has to name a last day.")


class Enforcement(Section):
    preset: Literal["observe", "baseline", "recommended", "strict"] = Field(
        default="recommended",
        description="What findings do, by severity: baseline denies critical ones, recommended also high ones, strict "
        "also medium ones. Only strict has the checks that depend on the site. observe denies and warns of nothing, "
        "records which findings recommended would deny, and applies only mutations that mutations.rules names.",
    )
    rules: list[EnforcementRule] = Field(default=[], description="The last rule that matches a finding decides.")
    exceptions: list[ExceptionRule] = Field(
        default=[], description="Findings that are only noted until the exception expires."
    )
    suppressions: list[SuppressionRule] = Field(
        default=[SuppressionRule(checks=["*"])],
        description="What authors of objects may suppress; by default warnings of `usher check`. An empty list allows "
        "nothing.",
    )

    @cached_property
    def rules_in(self) -> Callable[[str], tuple[EnforcementRule, ...]]:
        """The rules for a namespace, in their order. Remembered, because each finding asks for them."""
        return lru_cache(maxsize=_MOST_NAMESPACES)(
            lambda namespace: tuple(
                each for each in self.rules if selection.matches_pattern(namespace, each.namespaces)
            )
        )

    @cached_property
    def exceptions_in(self) -> Callable[[str], tuple[tuple[int, ExceptionRule], ...]]:
        """The exceptions for a namespace, with their numbers from 0. Remembered as `rules_in`."""
        return lru_cache(maxsize=_MOST_NAMESPACES)(
            lambda namespace: tuple(
                (number, each)
                for number, each in enumerate(self.exceptions)
                if selection.matches_pattern(namespace, each.namespaces)
            )
        )


class MutationRule(Section):
    mutation: str = Field(description="Name or code of a mutation, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)
    roles: list[Role] = Field(default=[], description="Roles of workloads that the rule is for; by default all.")
    action: Literal["apply", "warn", "off"] = Field(
        description="Change the object, only warn of the change, or do neither."
    )


class OptOut(Section):
    """The mutations that the author of an object may refuse by the annotation gpu-usher.io/skip-mutations."""

    mutations: list[str] = Field(min_length=1, description="Names or codes of mutations, or * for all.")
    namespaces: list[Pattern] = Field(default=["*"], min_length=1, description=ANY_NAMESPACE)


class Mutations(Section):
    rules: list[MutationRule] = Field(default=[], description="The last rule that matches a mutation decides.")
    opt_outs: list[OptOut] = Field(default=[], description="Where authors may refuse mutations; by default nowhere.")
    missed: Literal["warn", "error"] = Field(
        default="warn",
        description="What happens to an object that the mutating webhook did not change in time, if the validating "
        "webhook would deny it for that alone: warn lets it in with a warning, error has its client try again (HTTP "
        "503). Without a mutation that protects other workloads, clients always have to try again.",
    )


class Config(Section):
    """All of usher.yaml."""

    # A file has both keys (`load`); without a file, the defaults stand for them.
    model_config = ConfigDict(json_schema_extra={"required": ["apiVersion", "kind"]})

    api_version: Literal["gpu-usher.io/v1alpha1"] = Field(
        default=API_VERSION, description="The version of this format."
    )
    kind: Literal["Config"] = Field(default="Config", description="Config.")
    accelerators: Accelerators = Field(
        default=Accelerators.defaults(), description="Resources and device classes that usher does not know by itself."
    )
    fabrics: dict[Name, Fabric] = Field(default={}, description="Interconnect profiles beside the shipped ones.")
    pools: list[Pool] = Field(default=[], max_length=200, description="The node pools with accelerators.")
    gangs: Gangs = Field(default=Gangs.defaults(), description="What usher does with pods that start together.")
    workloads: list[DescribedKind] = Field(
        default=[], max_length=100, description="Kinds of your own that make pods (docs/kinds-of-your-own.md)."
    )
    roles: RoleRules = Field(default=[], description="The first rule that matches a workload gives it its role.")
    queues: list[Queue] = Field(default=[], description="The first entry that matches a workload decides.")
    routing: list[Route] = Field(default=[], description="The first entry that matches a workload decides.")
    quotas: list[Quota] = Field(
        default=[], description="Quotas of GPUs, like GPUQuota objects; at most one may apply to a namespace."
    )
    priorities: Priorities = Field(
        default=Priorities.defaults(), description="Priority classes, and who may use which."
    )
    isolation: Isolation = Field(
        default=Isolation.defaults(), description="Namespaces that get exceptions from the isolation of pods."
    )
    shared_memory: SharedMemory = Field(
        default=SharedMemory.defaults(), description="Shared memory that mutations add."
    )
    lifecycle: list[Lifecycle] = Field(default=[], description="The first entry that matches a workload decides.")
    facts: Facts = Field(default=Facts.defaults(), description="How old the facts of the cluster may be.")
    identities: dict[Name, Identity] = Field(
        default={},
        description="Users and groups, by the name of their identity. administrators, controllers and schedulers have "
        "defaults, which an entry of that name replaces. Administrators may debug nodes (`kubectl debug node/NODE`).",
    )
    parameters: list[ParameterValues] = Field(
        default=[], description="Parameters of checks; for each value the last entry that matches decides."
    )
    enforcement: Enforcement = Field(default=Enforcement.defaults(), description="What findings do, and exceptions.")
    mutations: Mutations = Field(default=Mutations.defaults(), description="Which mutations apply where.")
    audit: Audit = Field(
        default=Audit.defaults(), description="Teams, prices and targets for the reports of `usher audit`."
    )
    check_pages: str | None = Field(
        default=None,
        pattern=r"^https?://[!-~]+$",
        max_length=512,
        description="The address of docs/checks in your mirror of this repository. Reports and editors then link each "
        "finding to the page of its check, NAME.md below this address; a site generator may need {name} or {code} in "
        "the address instead. Without it they link no page.",
    )
    # Before exemptNamespaces, because its validation reads it.
    judged_namespaces: list[Pattern] = Field(
        default=[],
        description="Namespaces that usher exempts by default and judges here: without it, usher exempts "
        f"{', '.join(DEFAULT_EXEMPT_NAMESPACES)}.",
    )
    exempt_namespaces: list[Pattern] = Field(
        default=DEFAULT_EXEMPT_NAMESPACES,
        description="Namespaces whose workloads usher neither judges nor changes. They add to the default ones; "
        "judgedNamespaces gives up a default one.",
        validate_default=True,
    )

    @field_validator("exempt_namespaces")
    @classmethod
    def _add_default_exemptions(cls, written: list[Pattern], info: ValidationInfo) -> list[Pattern]:
        judged = info.data.get("judged_namespaces", [])
        kept = [name for name in DEFAULT_EXEMPT_NAMESPACES if not selection.matches_pattern(name, judged)]
        added = [name for name in written if name not in DEFAULT_EXEMPT_NAMESPACES]
        return [*kept, *dict.fromkeys(added)]

    def fabric(self, name: str) -> Fabric:
        """The profile of a name, with the fields of its base. Raises KeyError for an unknown name."""
        own = self.fabrics.get(name)
        if own is None:
            return fabrics_shipped.shipped_fabrics()[name].profile
        return own if own.base is None else with_base(own, fabrics_shipped.shipped_fabrics()[own.base].profile)


_ACCOUNT: Final = ("system:serviceaccount:", "system:serviceaccounts:")
"""The start of the name of a service account, and of the group of all accounts of a namespace."""


def trusted_namespaces(config: Config) -> dict[str, list[str]]:
    """Names and patterns of namespaces that usher.yaml trusts, by what follows from a name.

    A pattern for all namespaces is not among them: it distinguishes no namespace.
    """
    known = {**DEFAULT_IDENTITIES, **config.identities}
    found = {
        "exemptNamespaces lists it, so no rule judges its objects": config.exempt_namespaces,
        "priorities.systemNamespaces lists it, so its pods may control nodes": config.priorities.system_namespaces,
        "isolation.visibleDevices lists it, so its pods may see all devices": config.isolation.visible_devices,
        "isolation.ipcLock lists it, so its containers may lock memory": config.isolation.ipc_lock,
    }
    for name in sorted(known):
        found[f"identities.{name} lists its service accounts"] = [
            user.removeprefix(start).partition(":")[0]
            for user in (*known[name].users, *known[name].groups)
            for start in _ACCOUNT
            if user.startswith(start)
        ]
    return {reason: [each for each in patterns if each.strip("*")] for reason, patterns in found.items()}


def why_trusted(namespace: str, config: Config) -> str:
    """The reason why usher.yaml trusts namespaces of a name; empty for a name that it does not trust."""
    trusted = trusted_namespaces(config)
    return next((reason for reason, patterns in trusted.items() if selection.matches_pattern(namespace, patterns)), "")
