"""The values that all rooms share: a normalised workload, findings, intents and decisions.

A value that a finding or a patch may point at keeps its `path`: a JSON Pointer into the object before any change.
"""

from usher.model.decisions import Decision, Finding, Intent, Judgement, Need, Note, Outcome
from usher.model.workload import (
    GANG_IF_CONFIGURED,
    GANG_OF_JOBS,
    GANG_OF_KUBERNETES,
    NO_GANG_PLACES,
    NO_LIFECYCLE_PLACES,
    AcceleratorRequest,
    Container,
    ContainerType,
    Count,
    DeviceClaim,
    EnvironmentSource,
    EnvironmentVariable,
    Excess,
    Gang,
    GangPlaces,
    Keyed,
    LifecyclePlaces,
    ModelParallelism,
    ModelSize,
    Owner,
    PodSet,
    Processes,
    Resources,
    Role,
    Route,
    Scheduler,
    Total,
    UnclearDevices,
    Unit,
    Unknown,
    UnreadKey,
    Way,
    Workload,
    parallelism,
)
