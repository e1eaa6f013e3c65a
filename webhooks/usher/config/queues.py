"""The sections of usher.yaml that decide when a workload starts: queues of Kueue, gang schedulers, priority classes."""

from typing import Final, Literal

from pydantic import Field, model_validator

from usher.config.fields import LabelKey, Name, Section, Selector


class Topology(Section):
    """The topology level within which Kueue keeps the pods of a pod set together (docs/domain/kueue.md#keys)."""

    required: LabelKey | None = Field(
        default=None,
        description="Node label that is a level of the Topology of the queue's flavors. Pods that do not fit into one "
        "domain of it wait.",
    )
    preferred: LabelKey | None = Field(
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


class Queue(Selector):
    """The workloads of a Kueue LocalQueue in their own namespace."""

    local_queue: Name = Field(description="The LocalQueue, in the namespace of the workload.")
    places_pods: bool = Field(
        default=True, description="Whether the queue's flavors select the nodes, so that usher adds no node affinity."
    )
    priority_class: Name | None = Field(default=None, description="WorkloadPriorityClass of workloads without one.")
    multi_kueue: bool = Field(
        default=False,
        description="Whether the ClusterQueue sends its jobs to other clusters (MultiKueue). usher then hands each job "
        "over at creation, with managedBy.",
    )
    topology: Topology | None = Field(
        default=None, description="For training with several pods that sets no topology itself."
    )


SCHEDULER_NAMES: Final = {"volcano": "volcano", "kai": "kai-scheduler"}
"""Schedulers for gangs, with their default names."""


ROUTED_KINDS: Final = ("PyTorchJob", "MPIJob")
"""Kinds whose operators make gangs for Volcano and KAI-Scheduler."""


class Route(Selector):
    """The workloads that another scheduler places as gangs; their operators must support it
    (docs/domain/volcano.md#routing).
    """

    scheduler: Literal["volcano", "kai"] = Field(default="volcano", description="Which scheduler makes the gangs.")
    scheduler_name: Name | None = Field(
        default=None, description="The name of the scheduler in pods; by default volcano or kai-scheduler."
    )
    kinds: list[str] = Field(
        default=list(ROUTED_KINDS), min_length=1, description="Kinds of objects whose operators make gangs."
    )
    queue: Name = Field(default="default", description="The queue of the scheduler.")
    sets_minimum: bool = Field(
        default=False,
        description="Whether usher writes the number of pods that start together, even where the operator of the kind "
        "counts them itself. The number becomes wrong when the job is scaled.",
    )

    @property
    def name(self) -> str:
        return self.scheduler_name or SCHEDULER_NAMES[self.scheduler]


class PriorityRule(Selector):
    """The PriorityClass for the pods of some workloads that have no class."""

    priority_class: Name = Field(description="The PriorityClass.")
