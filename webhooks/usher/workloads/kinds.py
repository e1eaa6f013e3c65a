"""What an adapter tells about one kind; the registry is a plain list of these."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from usher import model, paths
from usher.workloads.reading import Reading
from usher.workloads.templates import Template

Templates = Callable[[Mapping[str, paths.Json], Reading], Iterable[Template]]
"""Finds the pod templates in a whole object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of workload. Matched by group and kind together: Job, CronJob and MPIJob exist in several groups."""

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    templates: Templates
    role: model.Role = model.Role.UNKNOWN
    suspend_path: str | None = None
    """The boolean that holds the workload back."""
    queue_label_path: str | None = None
    """The `metadata` whose labels Kueue reads; None where it has no integration (gpu-domain 1.2 and 2.2)."""
    gang_policy_path: str | None = None
    gang_native: bool = False
