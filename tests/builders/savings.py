"""Savings of workloads in a window of four days with steps of an hour, on a node `n1` and others."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from builders import usage as build
from usher import model
from usher.audit.document import Saving
from usher.audit.gather import estate
from usher.audit.usage.measuring import measure
from usher.audit.usage.series import Series
from usher.config.models import Audit

DAYS: Final = 4
POINTS: Final = DAYS * 24


def gpu(
    activity: build.Value, pod: str, *, number: int = 0, first: int = 0, used: float = 8_000, total: float = 81_000
) -> dict[str, Series]:
    labels: dict[str, Any] = {"namespace": "red", "pod": pod, "gpu": number}
    points = POINTS - first
    return {
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": build.dcgm(activity, points, first=first, **labels),
        "DCGM_FI_DEV_FB_USED": build.dcgm(used, points, first=first, **labels),
        "DCGM_FI_DEV_FB_FREE": build.dcgm(total - used, points, first=first, **labels),
    }


def savings(
    workloads: Sequence[estate.Workload],
    *gpus: dict[str, Series],
    rules: tuple[dict[str, Any], ...] = (),
    nodes: Sequence[estate.Node] = (),
    idle_below: float = 0.4,
    **node: Any,
) -> list[Saving]:
    found: dict[str, list[Series]] = {}
    for each in gpus:
        for metric, series in each.items():
            found.setdefault(metric, []).append(series)
    measured = measure(
        build.estate_of([build.node("n1", **node), *nodes], *workloads),
        build.Table(found=found),
        config=Audit.model_validate({"prices": {"rules": list(rules)}, "idle": {"below": idle_below}}),
        window=timedelta(days=DAYS),
        now=build.BASE + timedelta(days=DAYS),
        step=timedelta(hours=1),
    )
    return list(measured.savings)


def notebook(*pods: estate.Pod, **fields: Any) -> estate.Workload:
    fields = {"role": model.Role.INTERACTIVE, **fields}
    return build.workload("nb", *pods, kind="Notebook", api_version="kubeflow.org/v1", **fields)
