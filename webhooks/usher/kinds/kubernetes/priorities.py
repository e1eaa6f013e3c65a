"""Classes of priority of pods."""

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher.kinds.kept_fields import keeping
from usher.kinds.kind import Facts, Kind
from usher.reading.shapes import STRICT, Metadata


@with_config(STRICT)
class PriorityClass(TypedDict):
    metadata: NotRequired[Metadata]
    value: NotRequired[int]
    globalDefault: NotRequired[bool]
    preemptionPolicy: NotRequired[str]


KINDS = [
    Kind(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        versions=("v1",),
        plural="priorityclasses",
        cluster_scoped=True,
        key="priorityClass",
        shape=PriorityClass,
        facts=Facts(keep=keeping("/value", "/globalDefault", "/preemptionPolicy")),
    ),
]
