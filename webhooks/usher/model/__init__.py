"""The values that all rooms share: a normalised workload, findings, intents and decisions.

A value that a finding or a patch may point at keeps its `path`: a JSON Pointer into the object before any change.
"""

from usher.model.containers import (
    AcceleratorRequest,
    Container,
    ContainerType,
    DeviceClaim,
    EnvironmentSource,
    EnvironmentVariable,
    ModelParallelism,
    ModelSize,
    Processes,
    Resources,
    Route,
    Total,
    UnclearDevices,
    parallelism,
)
from usher.model.decisions import Decision, Finding, Intent, Judgement, Need, Note, Outcome
from usher.model.workload import (
    GANG_IF_CONFIGURED,
    GANG_OF_JOBS,
    GANG_OF_KUBERNETES,
    NO_GANG_PLACES,
    NO_LIFECYCLE_PLACES,
    Count,
    Excess,
    Gang,
    GangPlaces,
    Keyed,
    LifecyclePlaces,
    Owner,
    PodSet,
    Role,
    Scheduler,
    Unit,
    Unknown,
    UnreadKey,
    Way,
    Workload,
)
