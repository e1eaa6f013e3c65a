"""The values that all rooms share: a normalised workload, findings, intents and decisions.

A value that a finding or a patch may point at keeps its `path`: a JSON Pointer into the object before any change.
"""

from usher.model.accelerators import AcceleratorRequest, Resources, Route, Total, UnclearDevices
from usher.model.containers import (
    Container,
    ContainerType,
    EnvironmentSource,
    EnvironmentVariable,
    ModelParallelism,
    Processes,
)
from usher.model.decisions import Decision, Finding, Intent, Judgement, Need, Note, Outcome
from usher.model.pod_sets import Count, Keyed, PodSet, Scheduler, Way
from usher.model.workloads import (
    NO_GANG_PLACES,
    NO_LIFECYCLE_PLACES,
    Gang,
    GangPlaces,
    LifecyclePlaces,
    Owner,
    Role,
    Unknown,
    Workload,
)

__all__ = [
    "NO_GANG_PLACES",
    "NO_LIFECYCLE_PLACES",
    "AcceleratorRequest",
    "Container",
    "ContainerType",
    "Count",
    "Decision",
    "EnvironmentSource",
    "EnvironmentVariable",
    "Finding",
    "Gang",
    "GangPlaces",
    "Intent",
    "Judgement",
    "Keyed",
    "LifecyclePlaces",
    "ModelParallelism",
    "Need",
    "Note",
    "Outcome",
    "Owner",
    "PodSet",
    "Processes",
    "Resources",
    "Role",
    "Route",
    "Scheduler",
    "Total",
    "UnclearDevices",
    "Unknown",
    "Way",
    "Workload",
]
