"""Raw samples of the GPUs of a small cluster over two days: written for Prometheus, and read again by tests."""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

START: Final = 1_772_409_600
"""2 March 2026, 00:00 UTC."""
HOURS: Final = 48
SCRAPE: Final = 300
"""Seconds between samples, which are 7 s after full minutes, so that they lie on no bound of a step."""

Samples = list[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A pod on one device for some hours, or a device without a pod."""

    node: str
    gpu: int
    pod: str = ""
    namespace: str = ""
    model: str = "NVIDIA H100 80GB HBM3"
    profile: str = ""
    instance: str = ""
    resource: str = "nvidia_com_gpu"
    share: float = 1.0
    """The share of a GPU."""
    first_hour: int = 0
    end_hour: int = HOURS
    activity: Callable[[float], float]
    """By the hour since the start; NaN where the exporter was not scraped."""
    metric: str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    unit: float = 1.0
    memory_used: float = 40_000
    memory_free: float = 40_000
    labelled: bool = True
    """Whether its series name the pod."""
    scraped: bool = True

    @property
    def labels(self) -> dict[str, str]:
        named = {"gpu": str(self.gpu), "UUID": f"GPU-{self.node}-{self.gpu}", "Hostname": self.node}
        named |= {"modelName": self.model, "job": "dcgm", "instance": f"{self.node}:9400"}
        if self.profile:
            named |= {"GPU_I_PROFILE": self.profile, "GPU_I_ID": self.instance}
        if self.pod and self.labelled:
            named |= {"namespace": self.namespace, "pod": self.pod, "container": "main"}
        return named

    def times(self) -> range:
        return range(START + self.first_hour * 3600 + 7, START + self.end_hour * 3600, SCRAPE)

    def samples(self) -> Samples:
        """Activity as the exporter writes it, in its unit."""
        found = ((at, self.activity((at - START) / 3600)) for at in self.times() if self.scraped)
        return [(at, round(value * self.unit, 4)) for at, value in found if not math.isnan(value)]

    def memory(self) -> list[tuple[int, float, float]]:
        """Time, MiB used and MiB free, which change a little."""
        random.seed(f"{self.node}{self.gpu}{self.pod}")
        return [
            (at, self.memory_used + (moved := random.randint(0, 500)), self.memory_free - moved)
            for at, _ in self.samples()
        ]


def lines(stays: list[Stay], others: Mapping[str, list[tuple[dict[str, str], Samples]]]) -> Iterator[str]:
    """All series as OpenMetrics."""
    families: dict[str, list[tuple[dict[str, str], Samples]]] = {name: [*found] for name, found in others.items()}
    for stay in stays:
        families.setdefault(stay.metric, []).append((stay.labels, stay.samples()))
        if stay.profile:
            # Of a MIG device it is 0 whatever the device does.
            idle = [(at, 0.0) for at, _ in stay.samples()]
            families.setdefault("DCGM_FI_DEV_GPU_UTIL", []).append((stay.labels, idle))
        memory = stay.memory()
        for name, samples in (
            ("DCGM_FI_DEV_FB_USED", [(at, used) for at, used, _ in memory]),
            ("DCGM_FI_DEV_FB_FREE", [(at, free) for at, _, free in memory]),
        ):
            families.setdefault(name, []).append((stay.labels, samples))
    for name, found in families.items():
        yield f"# TYPE {name} gauge\n"
        for labels, samples in found:
            text = ",".join(f'{key}="{value}"' for key, value in labels.items())
            yield from (f"{name}{{{text}}} {value} {at}\n" for at, value in samples)
    yield "# EOF\n"


def requests(stays: list[Stay]) -> dict[str, list[tuple[dict[str, str], Samples]]]:
    """The series of kube-state-metrics about the pods: their requests, phases and owners."""
    pods: dict[tuple[str, str, str, str], list[Stay]] = {}
    for stay in stays:
        if stay.pod:
            pods.setdefault((stay.namespace, stay.pod, stay.node, stay.resource), []).append(stay)
    found: dict[str, list[tuple[dict[str, str], Samples]]] = {
        "kube_pod_container_resource_requests": [],
        "kube_pod_status_phase": [],
        "kube_pod_owner": [],
    }
    for (namespace, pod, node, resource), mine in pods.items():
        named = {"namespace": namespace, "pod": pod, "job": "ksm"}
        times = mine[0].times()
        request = {**named, "container": "main", "node": node, "resource": resource, "unit": "integer"}
        found["kube_pod_container_resource_requests"].append((request, [(at, len(mine)) for at in times]))
        # The object stays for a while after its end, as that of a finished Job does.
        after = range(times.stop + 7, min(times.stop + 7200, START + HOURS * 3600), SCRAPE)
        found["kube_pod_container_resource_requests"][-1][1].extend((at, len(mine)) for at in after)
        for phase in ("Running", "Succeeded"):
            states: Samples = [(at, float(phase == "Running")) for at in times]
            states += [(at, float(phase == "Succeeded")) for at in after]
            found["kube_pod_status_phase"].append(({**named, "phase": phase}, states))
    return found
