"""What usher.yaml says of who decides when a workload starts: queues of Kueue, gang schedulers, priority classes."""

from typing import Final, Literal

from pydantic import Field

from usher.config.fields import LabelKey, Name, Pattern, Section, Selector


class Topology(Section):
    """Where Kueue keeps the pods of a pod set together (docs/domain/kueue.md#keys)."""

    mode: Literal["required", "preferred"] = "preferred"
    level: LabelKey = Field(description="Node label that is a level of the Topology of the queue's flavors.")


class Queue(Selector):
    """Which workloads belong into a Kueue LocalQueue of their own namespace."""

    local_queue: Name
    places_pods: bool = Field(
        default=True, description="Whether the queue's flavors select the nodes, so that no node affinity is injected."
    )
    priority_class: Name | None = Field(
        default=None, description="WorkloadPriorityClass of its workloads that name none."
    )
    topology: Topology | None = Field(
        default=None, description="For training that makes several pods and says nothing of topology itself."
    )


SCHEDULER_NAMES: Final = {"volcano": "volcano", "kai": "kai-scheduler"}
"""Schedulers that gangs can be routed to, with the names under which they run by default."""


class Route(Selector):
    """Which workloads another scheduler places as gangs; operators must know it (docs/domain/volcano.md#routing)."""

    scheduler: Literal["volcano", "kai"] = "volcano"
    scheduler_name: Name | None = Field(
        default=None, description="As pods name it; volcano and kai-scheduler, if nothing is given."
    )
    kinds: list[str] = Field(default=["PyTorchJob", "MPIJob"], min_length=1)
    namespaces: list[Pattern] = Field(default=["*"], min_length=1)
    queue: Name = "default"
    sets_minimum: bool = Field(
        default=False,
        description="Whether the number of pods that start together is written down, even where the operator of the "
        "kind counts them itself. It goes wrong when the job is scaled.",
    )

    @property
    def name(self) -> str:
        return self.scheduler_name or SCHEDULER_NAMES[self.scheduler]


class PriorityRule(Selector):
    """Which PriorityClass the pods of some workloads get that name none."""

    priority_class: Name
