"""The one registry of workload kinds. To teach usher a kind, add it to an adapter's KINDS."""

from usher.workloads.adapters import apps, batch, core, jobset, kubeflow, ray, volcano
from usher.workloads.kinds import Kind

KINDS: list[Kind] = [
    *core.KINDS,
    *apps.KINDS,
    *batch.KINDS,
    *kubeflow.KINDS,
    *jobset.KINDS,
    *ray.KINDS,
    *volcano.KINDS,
]

BY_GROUP_AND_KIND: dict[tuple[str, str], Kind] = {(kind.group, kind.kind): kind for kind in KINDS}
