"""`input.cluster` of the policies: what is known of the cluster, as far as it matters to one workload."""

from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model
from usher.config import models
from usher.facts.store import Store
from usher.policy.cluster import priorities


class Cluster(TypedDict):
    """Each family is absent where it says nothing of the workload."""

    priorities: NotRequired[priorities.Priorities]


def of(workload: model.Workload, facts: Store, config: models.Config) -> Cluster | None:  # noqa: ARG001 - families need it
    """The slice for a workload; None where nothing is known of the cluster, or the object makes no pods."""
    if facts.empty or not workload.pod_sets:
        return None
    result: Cluster = {}
    classes = priorities.of(workload, facts)
    if classes is not None:
        result["priorities"] = classes
    return result
