"""The smaller sections of usher.yaml: accelerators, facts, identities, lifecycle, roles, shared memory, and queues."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from usher import errors, quantities
from usher.config import selection


class Resource(selection.Section):
    """The meaning of a resource."""

    unit: Literal[
        "device", "partition", "share", "memory", "memory-fraction", "cores", "fabric", "monitoring", "setting"
    ] = Field(
        default="device",
        description="A whole device; a partition of one (MIG); a share of one (time slices, MPS); memory or cores of a "
        "share; a network card (fabric); access to all devices (monitoring); or a setting, which gives nothing.",
    )
    size: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="For memory, the bytes of one unit: 1048576 is 1 MiB. For memory-fraction and cores, how many "
        "units make up a device: 100 for percent.",
    )
    per_device: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="For a share or a partition, how many of them make up a device: 4 for GPUs that are time-sliced "
        "with 4 replicas. A GPUQuota charges each as that part of a device; by default as a whole one.",
    )
    vendor: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]*$", max_length=63)] | None = Field(
        default=None, description="The vendor of the devices: nvidia."
    )

    @model_validator(mode="after")
    def _check_unit_has_size(self) -> "Resource":
        if self.size is not None and self.unit not in {"memory", "memory-fraction", "cores"}:
            raise ValueError(f"the unit {self.unit} has no size; leave size out, or choose memory or cores")
        if self.per_device is not None and self.unit not in {"share", "partition"}:
            raise ValueError(f"the unit {self.unit} has no perDevice; leave it out, or choose share")
        return self


class DeviceClass(selection.Section):
    """The devices of a DRA device class."""

    accelerator: bool = Field(default=True, description="Whether its devices are accelerators.")
    resource: selection.ResourceName | None = Field(
        default=None, description="The resource that stands for one of its devices: nvidia.com/gpu."
    )
    memory_step: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="Where claims share its devices by capacity.requests.memory: the bytes to whose next multiple the "
        "driver rounds up (1073741824 for 1 GiB), and the least that it gives. A GPUQuota then charges a claim its "
        "part of the memory; by default a whole device.",
    )

    @model_validator(mode="after")
    def _check_resource_of_accelerator(self) -> "DeviceClass":
        if self.resource is not None and not self.accelerator:
            raise ValueError(
                f"a class that is not an accelerator cannot stand for {self.resource}; leave one of them out"
            )
        if self.memory_step is not None and not self.accelerator:
            raise ValueError("a class that is not an accelerator has no memoryStep; leave one of them out")
        return self


class Accelerators(selection.Section):
    """Which resources are accelerators (docs/domain/accelerators.md#resource-names). These add to the defaults."""

    names: list[selection.ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are accelerators, beside the known ones: whole devices, unless `resources` "
        "says otherwise.",
    )
    prefixes: list[selection.ResourcePrefix] = Field(
        default=[], max_length=100, description="Prefixes of resource names that are accelerators."
    )
    resources: dict[selection.ResourcePrefix, Resource] = Field(
        default={},
        max_length=1000,
        description="The meaning of resources, by their name, which `names` need not repeat, or by one of `prefixes`. "
        "Known resources may be described too: nvidia.com/gpu as a share, where GPUs are time-sliced.",
    )
    device_classes: dict[selection.Name, DeviceClass] = Field(
        default={}, max_length=1000, description="DRA device classes of this cluster, beside the known ones."
    )
    ignored: list[selection.ResourceName] = Field(
        default=[],
        max_length=1000,
        description="Resource names that are not accelerators, although they look like one or are known as one.",
    )
    taints: dict[selection.ResourcePrefix, selection.LabelKey] = Field(
        default={},
        max_length=1000,
        description="Taint key of nodes with a resource, by resource name or prefix. usher assumes it where no pool "
        "is declared. In a declared pool it marks accelerator nodes: every pod that fits the pool tolerates it.",
    )

    @model_validator(mode="after")
    def _check_no_conflicts(self) -> "Accelerators":
        both = sorted(set(self.ignored) & {*self.names, *self.resources})
        stray = sorted(key for key in self.resources if not key[-1].isalnum() and key not in self.prefixes)
        wrong = [
            *(
                f"ignored lists {name}, which names or resources makes an accelerator: leave one of them out"
                for name in both
            ),
            *(f"resources describes the prefix {key}, which is missing in prefixes: add it there" for key in stray),
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


SHORTEST_AGE: Final = 90.0
"""Seconds: a watch without changes sends a bookmark about once a minute."""


class Facts(selection.Section):
    stale_after: selection.Duration = Field(
        default="5m",
        description="How old facts may be while no API server can be reached: 90s, 5m or 1h; at least 90s. A finding "
        "that rests on older facts warns at most.",
    )

    quota_reservation: selection.Duration = Field(
        default="70s",
        description="How long a GPUQuota is charged for an admitted workload that has not appeared yet. An API server "
        "gives a request up after 60 seconds by default: a shorter time may give the same GPUs to another workload.",
    )

    @field_validator("stale_after")
    @classmethod
    def _check_longer_than_silence_of_watch(cls, value: selection.Duration) -> selection.Duration:
        if selection.seconds(value) < SHORTEST_AGE:
            raise ValueError(
                "a watch without changes is silent for a minute, so facts may be that old: set at least 90s"
            )
        return value

    @property
    def reservation(self) -> int:
        """`quota_reservation` in seconds."""
        return int(selection.seconds(self.quota_reservation))

    @property
    def bound(self) -> float:
        """`stale_after` in seconds."""
        return selection.seconds(self.stale_after)


class Identity(selection.Section):
    """Users and groups as the API server authenticates them; no object can claim to be one."""

    users: list[selection.UserPattern] = Field(
        default=[], description="Names of users, in which * stands for any characters."
    )
    groups: list[selection.UserPattern] = Field(
        default=[], description="Names of groups, in which * stands for any characters."
    )


_OF_CONTROLLERS: Final = (
    "gpu-operator",
    "kueue-system",
    "node-feature-discovery",
    "nvidia-gpu-operator",
    "volcano-system",
)
_OF_OPERATORS: Final = (
    # argoproj/argo-rollouts @ 21d2e5b3, manifests/cluster-install/argo-rollouts-clusterrolebinding.yaml
    "argo-rollouts:argo-rollouts",
    "argo:argo",  # argoproj/argo-workflows, manifests/install.yaml
    "jobset-system:jobset-controller-manager",  # kubernetes-sigs/jobset, config/default
    "kserve:kserve-controller-manager",  # kserve/kserve, config/default
    # knative/serving @ 393743bc, config/core/200-serviceaccount.yaml; its autoscaler has the same account
    "knative-serving:controller",
    # kubeflow/katib @ 0e917ba4, manifests/v1beta1/components/controller/controller.yaml
    "kubeflow:katib-controller",
    "kubeflow:notebook-controller-service-account",  # kubeflow/kubeflow, components/notebook-controller/config
    "kubeflow:training-operator",  # kubeflow/training-operator, manifests/overlays/standalone
    # kubeflow/trainer, manifests/overlays/manager and manifests/third-party
    "kubeflow-system:jobset-controller-manager",
    "kubeflow-system:kubeflow-trainer-controller-manager",
    "kubeflow-system:lws-controller-manager",
    "kuberay-system:kuberay-operator",
    "lws-system:lws-controller-manager",  # kubernetes-sigs/lws, config/default
    "mpi-operator:mpi-operator",  # kubeflow/mpi-operator, manifests/overlays/standalone
    "ray-system:kuberay-operator",  # ray-project/kuberay, ray-operator/config/default
    # kubeflow/manifests @ 12ed1563, applications/spark/spark-operator/base/resources.yaml
    "kubeflow:spark-operator-controller",
    # kubeflow/spark-operator @ 0c707ad0, charts/spark-operator-chart/tests/controller/serviceaccount_test.yaml
    "spark-operator:spark-operator-controller",
    "tekton-pipelines:tekton-pipelines-controller",  # tektoncd/pipeline, config
)
"""Namespace and name of the service accounts of operators, from their own manifests. Tenants may run pods in some of
these namespaces, so no pattern is for all accounts.
"""
_OF_SCHEDULERS: Final = ("kai-scheduler", "koordinator-system", "runai", "volcano-system", "yunikorn")

DEFAULT_IDENTITIES: Final = {
    "administrators": Identity(groups=["system:masters"]),
    "controllers": Identity(
        users=[
            "system:kube-controller-manager",
            "system:apiserver",
            "system:node:*",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_CONTROLLERS),
            *(f"system:serviceaccount:{account}" for account in _OF_OPERATORS),
        ]
    ),
    "schedulers": Identity(
        users=[
            "system:kube-scheduler",
            "system:serviceaccount:kube-system:*",
            *(f"system:serviceaccount:{namespace}:*" for namespace in _OF_SCHEDULERS),
        ]
    ),
}

DEFAULT_GRACE: Final = 30
"""Seconds that Kubernetes gives a pod to stop."""

CommandWord = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class PreStop(selection.Section):
    """The last action of a container before Kubernetes stops it: a signal to its first process, or a command."""

    signal: Literal["HUP", "INT", "USR1", "USR2"] | None = Field(
        default=None,
        description="Signal for process 1 of the container, on which the program writes a checkpoint. The image needs "
        "/bin/sh.",
    )
    wait: selection.Duration | None = Field(
        default=None,
        description="How long the pod then waits before it gets SIGTERM. Shorter than terminationGracePeriod.",
    )
    command: list[CommandWord] | None = Field(
        default=None, min_length=1, max_length=64, description="Command in the container, in place of a signal."
    )

    @model_validator(mode="after")
    def _check_one_way(self) -> "PreStop":
        if (self.signal is None) == (self.command is None):
            raise ValueError("preStop does one thing; write either signal: NAME or command: [...]")
        if self.command is not None and self.wait is not None:
            raise ValueError("wait belongs to signal; let the command itself wait")
        return self


class Lifecycle(selection.Selector):
    """Lifecycle settings for workloads whose authors did not set them."""

    ttl_after_finished: selection.Duration | None = Field(
        default=None, description="How long a finished job stays before its controller deletes it."
    )
    deadline: selection.Duration | None = Field(default=None, description="How long a job may run from its start.")
    termination_grace_period: selection.Duration | None = Field(
        default=None,
        description="Time in which pods write their last checkpoint after SIGTERM, for pods that leave it at the 30 "
        "seconds of Kubernetes. The parameter maximumSeconds of leaves-too-late is the ceiling.",
    )
    pre_stop: PreStop | None = Field(
        default=None, description="For containers with accelerators that have no preStop hook."
    )

    @model_validator(mode="after")
    def _check_grace(self) -> "Lifecycle":
        grace: float = DEFAULT_GRACE
        if self.termination_grace_period is not None:
            grace = selection.seconds(self.termination_grace_period)
            if grace <= DEFAULT_GRACE:
                raise ValueError(
                    f"terminationGracePeriod {self.termination_grace_period} is not more than the {DEFAULT_GRACE}s of "
                    "Kubernetes, and usher never lowers it"
                )
        if (
            self.pre_stop is not None
            and self.pre_stop.wait is not None
            and selection.seconds(self.pre_stop.wait) >= grace
        ):
            raise ValueError(
                f"preStop waits {self.pre_stop.wait} of a grace period of {grace:.0f}s, so the program never gets "
                "SIGTERM; raise terminationGracePeriod or shorten wait"
            )
        return self


def command_of(hook: PreStop) -> list[str]:
    """The command of a preStop hook."""
    if hook.command is not None:
        return list(hook.command)
    waiting = "" if hook.wait is None else f"; sleep {selection.seconds(hook.wait):.0f}"
    return ["/bin/sh", "-c", f"kill -{hook.signal} 1{waiting}"]


ROLE_LABEL: Final = "gpu-usher.io/role"
"""The label by which the author of a workload may set its role."""

MOST_ROLE_RULES: Final = 256
_MOST_PATTERNS: Final = 64
_MOST_STARS: Final = 8


def _few_stars(pattern: str) -> str:
    if pattern.count("*") > _MOST_STARS:
        raise ValueError(f"the pattern has more than {_MOST_STARS} *; split it into several patterns")
    if not pattern.strip(" */:"):
        raise ValueError("the pattern matches everything; leave the field out instead")
    return pattern


ImagePattern = Annotated[
    str, StringConstraints(pattern=r"^[-A-Za-z0-9._/:@*]+$", max_length=512), AfterValidator(_few_stars)
]
"""The end of an image's path in which `*` stands for any characters; without a colon it matches every tag."""
CommandPattern = Annotated[
    str, StringConstraints(pattern=r"^[!-~]+( [!-~]+)*$", max_length=512), AfterValidator(_few_stars)
]
"""The first words of a command in which `*` stands for any characters of one word."""
LabelPattern = Annotated[str, StringConstraints(pattern=r"^[-A-Za-z0-9_.*]*$", max_length=63)]
"""The value of a label in which `*` stands for any characters."""


class RoleRule(selection.Section):
    """Workloads and their role. All conditions of a rule must hold; of a list, one entry is enough."""

    namespaces: list[selection.Pattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Namespaces, in which * stands for any characters; by default all.",
    )
    kinds: list[str] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Kinds of objects: PyTorchJob, or batch/Job with the group. The pods of a Job have the kind Pod. "
        "By default all.",
    )
    images: list[ImagePattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="Images of containers, in which * stands for any characters: the whole image, or the end of its "
        "path after a slash. Without a colon, every tag and digest matches.",
    )
    commands: list[CommandPattern] = Field(
        default=[],
        max_length=_MOST_PATTERNS,
        description="The first words of commands that containers run, directly or in a shell script: "
        "`python -m trainer`. In a word, * stands for any characters. A word without a slash matches the last part "
        "of a path.",
    )
    labels: dict[selection.LabelKey, LabelPattern] = Field(
        default={},
        max_length=_MOST_PATTERNS,
        description="Labels of the object or of one of its pod templates, with their values, in which * stands for "
        "any characters. Every user of the namespace can write a label: add namespaces where the role gives something.",
    )
    role: selection.Role | None = Field(default=None, description="The role of these workloads.")
    from_label: selection.LabelKey | None = Field(
        default=None,
        description="In place of `role`: the label whose value is the role. The rule matches only workloads with "
        "this label and the name of a role as its value. It makes usher trust the label gpu-usher.io/role, or another "
        "one, where it could get around a rule.",
    )

    @model_validator(mode="after")
    def _check_one_role(self) -> "RoleRule":
        if (self.role is None) == (self.from_label is None):
            raise ValueError("a rule gives a role or names the label that does: set either role or fromLabel")
        return self

    @model_validator(mode="after")
    def _check_some_condition(self) -> "RoleRule":
        conditions = (self.namespaces, self.kinds, self.images, self.commands, self.labels)
        if self.role is not None and not any(conditions):
            raise ValueError(
                f"the rule gives every workload the role {self.role}; set namespaces, kinds, images, commands or labels"
            )
        return self


RoleRules = Annotated[list[RoleRule], Field(max_length=MOST_ROLE_RULES)]

MEBIBYTE: Final = 1 << 20

LEAST_SHARED_MEMORY: Final = 64
"""Mebibytes of shared memory of a container by default."""


def _is_size(text: str) -> str:
    try:
        found = quantities.parse(text)
    except errors.QuantityError as error:
        raise ValueError(str(error)) from error
    if found.value // MEBIBYTE <= LEAST_SHARED_MEMORY:
        raise ValueError(f"{text} is at most {LEAST_SHARED_MEMORY}Mi, with which every container starts")
    return text


SharedMemorySize = Annotated[str, AfterValidator(_is_size)]
"""A quantity of bytes above 64Mi."""


class SharedMemory(selection.Section):
    """The size of shared memory, and the workloads that get it."""

    size: SharedMemorySize | None = Field(
        default=None,
        description="Size of the volume, or half of the memory limit if that is smaller. By default half of the memory "
        "limit or, without a limit, of the memory request, and at most 64Gi.",
    )
    fallback: SharedMemorySize | None = Field(
        default=None,
        description="Size for containers without a memory limit and without a memory request. By default these get no "
        "shared memory.",
    )
    roles: list[selection.Role] = Field(
        default=["training"],
        description="Roles of the workloads that get it. Models that span several pods get it with training.",
    )


def size_in_mebibytes(size: SharedMemorySize) -> int:
    """A size in whole mebibytes, rounded down."""
    return quantities.parse(size).value // MEBIBYTE


class Topology(selection.Section):
    """The topology level within which Kueue keeps the pods of a pod set together (docs/domain/kueue.md#keys)."""

    required: selection.LabelKey | None = Field(
        default=None,
        description="Node label that is a level of the Topology of the queue's flavors. Pods that do not fit into one "
        "domain of it wait.",
    )
    preferred: selection.LabelKey | None = Field(
        default=None, description="The same, but pods that do not fit into one domain spread over several."
    )

    @model_validator(mode="after")
    def _check_one_level(self) -> "Topology":
        if (self.required is None) == (self.preferred is None):
            raise ValueError("a topology has one level; write either required: LEVEL or preferred: LEVEL")
        return self

    @property
    def mode(self) -> str:
        return "preferred" if self.required is None else "required"

    @property
    def level(self) -> str:
        return self.required or self.preferred or ""


class Queue(selection.Selector):
    """The workloads of a Kueue LocalQueue in their own namespace."""

    local_queue: selection.Name = Field(description="The LocalQueue, in the namespace of the workload.")
    places_pods: bool = Field(
        default=True, description="Whether the queue's flavors select the nodes, so that usher adds no node affinity."
    )
    priority_class: selection.Name | None = Field(
        default=None, description="WorkloadPriorityClass of workloads without one."
    )
    multi_kueue: bool = Field(
        default=False,
        description="Whether the ClusterQueue sends its jobs to other clusters (MultiKueue). usher then hands each job "
        "over at creation, with managedBy.",
    )
    topology: Topology | None = Field(
        default=None, description="For training with several pods that sets no topology itself."
    )


SCHEDULER_NAMES: Final = {"volcano": "volcano", "kai": "kai-scheduler", "native": "default-scheduler"}
"""Schedulers for gangs, with their default names."""

ROUTED_KINDS: Final = ("PyTorchJob", "MPIJob")
"""Kinds whose operators make gangs for Volcano and KAI-Scheduler."""


class Route(selection.Selector):
    """The workloads that another scheduler places as gangs; their operators must support it
    (docs/domain/volcano.md#routing).
    """

    scheduler: Literal["volcano", "kai", "native"] = Field(
        default="volcano",
        description="Which scheduler makes the gangs; `native` is that of Kubernetes 1.37 or later with the feature "
        "gates GenericWorkload and WorkloadWithJob on. It makes gangs of Jobs (`kinds: [batch/Job]`) and has no "
        "queues.",
    )
    scheduler_name: selection.Name | None = Field(
        default=None,
        description="The name of the scheduler in pods; by default volcano, kai-scheduler or default-scheduler.",
    )
    kinds: list[str] = Field(
        default=list(ROUTED_KINDS), min_length=1, description="Kinds of objects whose operators make gangs."
    )
    queue: selection.Name = Field(default="default", description="The queue of the scheduler.")
    sets_minimum: bool = Field(
        default=False,
        description="Whether usher writes the number of pods that start together, even where the operator of the kind "
        "counts them itself. The number becomes wrong when the job is scaled.",
    )

    @property
    def name(self) -> str:
        return self.scheduler_name or SCHEDULER_NAMES[self.scheduler]


class PriorityRule(selection.Selector):
    """The PriorityClass for the pods of some workloads that have no class."""

    priority_class: selection.Name = Field(description="The PriorityClass.")
