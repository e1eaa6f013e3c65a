"""Our own values, frozen: what a workload is once normalised, and what is said about it.

Every value that a finding or a patch may point at keeps its `path`, a JSON Pointer into the object as it was given.
"""

from usher.model.accelerators import AcceleratorRequest, Resources, Route, Total
from usher.model.containers import Container, ContainerType, EnvironmentVariable, Processes
from usher.model.pod_sets import Count, PodSet, Scheduler
from usher.model.verdicts import Decision, Finding, Intent, Judgement, Outcome
from usher.model.workloads import Gang, Owner, Role, Unknown, Workload

__all__ = [
    "AcceleratorRequest",
    "Container",
    "ContainerType",
    "Count",
    "Decision",
    "EnvironmentVariable",
    "Finding",
    "Gang",
    "Intent",
    "Judgement",
    "Outcome",
    "Owner",
    "PodSet",
    "Processes",
    "Resources",
    "Role",
    "Route",
    "Scheduler",
    "Total",
    "Unknown",
    "Workload",
]
