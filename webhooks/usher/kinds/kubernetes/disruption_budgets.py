"""PodDisruptionBudgets: how many pods an eviction must leave."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kind import Kind
from usher.reading.shapes import STRICT, IntOrString


@with_config(STRICT)
class DisruptionBudgetSpec(TypedDict):
    minAvailable: NotRequired[IntOrString]
    maxUnavailable: NotRequired[IntOrString]


@with_config(STRICT)
class DisruptionBudgetStatus(TypedDict):
    desiredHealthy: NotRequired[int]
    expectedPods: NotRequired[int]


@with_config(STRICT)
class DisruptionBudget(TypedDict):
    spec: NotRequired[DisruptionBudgetSpec]
    status: NotRequired[DisruptionBudgetStatus]


KINDS = [
    Kind(
        group="policy",
        kind="PodDisruptionBudget",
        versions=("v1",),
        plural="poddisruptionbudgets",
        key="disruptionBudget",
        shape=DisruptionBudget,
    ),
]
