"""What an adapter tells about one kind; the registry is a plain list of these, docs/workloads.md is made from it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from usher import model, paths
from usher.reading.templates import Template
from usher.reading.values import Reading

Templates = Callable[[Mapping[str, paths.Json], Reading], Iterable[Template]]
"""Finds the pod templates in a whole object."""


class Kueue(StrEnum):
    """Whether Kueue governs a kind (docs/domain/kueue.md#integrations)."""

    DEFAULT = "yes, in its default configuration"
    OPTION = "only when its configuration names the kind"
    CHILDREN = "not itself, but what it makes"
    NEVER = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of workload. Matched by group and kind together: Job, CronJob and MPIJob exist in several groups."""

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    """Empty for what no API server serves (compiled pipelines)."""
    templates: Templates
    template_paths: tuple[str, ...]
    """Where the templates stand, as people write field paths; for the documentation."""
    counted: str
    """How the pods are counted, in one line; for the documentation."""
    source: str
    """Where the two facts above come from, written with the keys of docs/domain/sources.md."""
    role: model.Role = model.Role.UNKNOWN
    is_template: bool = False
    """Whether it makes pods only when something else refers to it."""
    cluster_scoped: bool = False
    suspend_path: str | None = None
    """The boolean that holds the workload back."""
    kueue: Kueue = Kueue.NEVER
    queue_label_path: str | None = None
    """The `metadata` whose labels Kueue reads; None where it has no integration (docs/domain/kueue.md#keys)."""
    volcano: str = ""
    """What makes its pods a gang on Volcano, for the documentation; else empty (docs/domain/volcano.md#routing)."""
    gang_places: model.GangPlaces = model.NO_GANG_PLACES
    gang_minimum_path: str | None = None
    """Where the object says how many pods start together, if that is no place to set it: it says more than that."""
    gang_native: bool = False
    needs_gang: bool = False
    """Whether its pods wait for each other, so that some of them without the others only hold devices."""
    changes: str = "the pod templates"
    """What the mutating webhook may change, and why not more; for the documentation."""
