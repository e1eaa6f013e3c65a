"""The headline numbers of `usher audit --demo` from its objects and series, by code that shares nothing with audits.

It knows less than an audit: devices of the demo cluster alone, no false owners, no shared boards, no holes in series.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from usher.audit.usage.series import Grid, Question, Source

Object = dict[str, Any]

SHARES: Final = {
    "nvidia.com/gpu": 1.0,
    "nvidia.com/mig-1g.10gb": 1 / 7,  # compute slices of an H100 with 80 GB
    "nvidia.com/mig-2g.20gb": 2 / 7,
    "nvidia.com/mig-3g.40gb": 4 / 8,  # its memory slices are more
}
TOP: Final = {"Deployment", "Job", "Notebook", "PyTorchJob", "StatefulSet"}
STEPS_AN_HOUR: Final = 6
IDLE_BELOW: Final = 0.4


def gpus(devices: dict[str, Any]) -> float:
    """Devices by resource, as whole GPUs."""
    return sum(share * int(devices.get(name, 0)) for name, share in SHARES.items())


@dataclass(slots=True, kw_only=True)
class Top:
    """A workload with its pods."""

    value: Object
    pods: list[Object] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        return self.value["metadata"]["namespace"], self.value["metadata"]["name"]


def tops(objects: Sequence[Object]) -> list[Top]:
    """The workloads without an owner, and the pods below them."""
    by_uid = {each["metadata"]["uid"]: each for each in objects if "uid" in each["metadata"]}
    found = {
        each["metadata"]["uid"]: Top(value=each)
        for each in objects
        if each["kind"] in TOP and "ownerReferences" not in each["metadata"]
    }
    for pod in (each for each in objects if each["kind"] == "Pod"):
        owner = pod
        while "ownerReferences" in owner["metadata"]:
            owner = by_uid[owner["metadata"]["ownerReferences"][0]["uid"]]
        found[owner["metadata"]["uid"]].pods.append(pod)
    return list(found.values())


def limits(pod: Object) -> dict[str, Any]:
    (container,) = pod["spec"]["containers"]
    return dict(container["resources"]["limits"])


def templates(value: Object) -> Iterator[tuple[int, Object]]:
    """The pods that a workload makes, by template."""
    spec = value["spec"]
    for replicas in spec.get("pytorchReplicaSpecs", {}).values():
        yield replicas["replicas"], replicas["template"]
    if "template" in spec:
        yield spec.get("parallelism") or spec.get("replicas", 1), spec["template"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """GPUs of a moment."""

    capacity: float
    allocatable: float
    allocated: float
    usable: float
    free: float
    out_of_use: float
    waiting: float
    half_started: float
    accelerators: dict[str, float]


def pool(node: Object) -> str:
    return str(node["metadata"]["labels"]["node.example.com/pool"])


def not_held(objects: Sequence[Object], *, prices: dict[str, float]) -> tuple[float, float]:
    """The cost of an hour of free GPUs, and of those that are out of use."""
    free = out = 0.0
    held = defaultdict[str, float](float)
    for each in objects:
        if each["kind"] == "Pod" and "nodeName" in each["spec"]:
            held[each["spec"]["nodeName"]] += gpus(limits(each))
    for node in (each for each in objects if each["kind"] == "Node"):
        price, left = prices[pool(node)], gpus(node["status"]["capacity"]) - held[node["metadata"]["name"]]
        lost = gpus(node["status"]["capacity"]) - gpus(node["status"]["allocatable"])
        gone = left if node["spec"].get("unschedulable") else lost
        free, out = free + price * (left - gone), out + price * gone
    return free, out


def not_held_now(objects: Sequence[Object], pools: Sequence[str]) -> tuple[float, float]:
    """The GPUs of some pools that are free, and those that are out of use."""
    return not_held(objects, prices=dict.fromkeys(_pools(objects), 0.0) | dict.fromkeys(pools, 1.0))


def _pools(objects: Sequence[Object]) -> set[str]:
    return {pool(each) for each in objects if each["kind"] == "Node"}


def now(objects: Sequence[Object]) -> Now:
    """The GPUs that nodes offer and that pods hold."""
    nodes = [each for each in objects if each["kind"] == "Node"]
    held, devices = defaultdict[str, float](float), defaultdict[str, float](float)
    waiting = half_started = 0.0
    for top in tops(objects):
        placed = [pod for pod in top.pods if "nodeName" in pod["spec"]]
        late = [pod for pod in top.pods if "nodeName" not in pod["spec"]]
        for pod in placed:
            held[pod["spec"]["nodeName"]] += gpus(limits(pod))
            for name in limits(pod).keys() & SHARES.keys():
                devices[name] += int(limits(pod)[name])
        waiting += sum(gpus(limits(pod)) for pod in late)
        if top.value["spec"].get("suspend"):
            waiting += sum(number * gpus(limits(template)) for number, template in templates(top.value))
        if top.value["kind"] == "PyTorchJob" and placed and late:
            half_started += sum(gpus(limits(pod)) for pod in placed)
    usable = {
        each["metadata"]["name"]: gpus(each["status"]["allocatable"])
        for each in nodes
        if "unschedulable" not in each["spec"]
    }
    free = sum(number - held[name] for name, number in usable.items())
    capacity = sum(gpus(each["status"]["capacity"]) for each in nodes)
    return Now(
        capacity=capacity,
        allocatable=sum(gpus(each["status"]["allocatable"]) for each in nodes),
        allocated=sum(held.values()),
        usable=sum(usable.values()),
        free=free,
        out_of_use=capacity - free - sum(held.values()),
        waiting=waiting,
        half_started=half_started,
        accelerators=dict(devices),
    )


def asked(objects: Sequence[Object]) -> tuple[float, float]:
    """The sum that all templates ask for, and the most of it: a rollout of a Deployment adds a quarter of its pods."""
    least = most = 0.0
    for top in tops(objects):
        for number, template in templates(top.value):
            least += number * gpus(limits(template))
            extra = -(-number // 4) if top.value["kind"] == "Deployment" else 0
            most += (number + extra) * gpus(limits(template))
    return least, most


def never(objects: Sequence[Object]) -> dict[tuple[str, str], float]:
    """Workloads with pods that ask for more of a resource than any node has, and the GPUs of these pods."""
    most = defaultdict[str, int](int)
    for node in (each for each in objects if each["kind"] == "Node"):
        for name in SHARES:
            most[name] = max(most[name], int(node["status"]["capacity"].get(name, 0)))
    found = defaultdict[tuple[str, str], float](float)
    for top in tops(objects):
        for number, template in templates(top.value):
            asked = limits(template)
            if any(int(asked.get(name, 0)) > most[name] for name in SHARES):
                found[top.key] += number * gpus(asked)
    return dict(found)


@dataclass(slots=True, kw_only=True)
class Hours:
    """GPU-hours and money of the window."""

    allocated: float = 0.0
    used: float = 0.0
    idle: float = 0.0
    memory_used: float = 0.0
    cost: float = 0.0
    cost_idle: float = 0.0
    all_boards: float = 0.0
    all_used: float = 0.0
    out_of_use: float = 0.0
    cost_free: float = 0.0
    cost_out_of_use: float = 0.0
    not_held: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Free and out of use, by pool."""


def hours(objects: Sequence[Object], source: Source, grid: Grid, *, prices: dict[str, float]) -> Hours:
    """The sums over all devices; `prices` by the pool of a node, for one GPU and hour."""
    memory = {name: _by_device(source, grid, f"DCGM_FI_DEV_FB_{name}") for name in ("USED", "TOTAL")}
    pools = {each["metadata"]["name"]: pool(each) for each in objects if each["kind"] == "Node"}
    total = Hours()
    by_pool = defaultdict[str, float](float)
    for series in source.read(Question(metric="DCGM_FI_PROF_GR_ENGINE_ACTIVE"), grid).series:
        device = _held_device(series.labels)
        profile = series.labels.get("GPU_I_PROFILE", "")
        weight = SHARES[f"nvidia.com/mig-{profile}" if profile else "nvidia.com/gpu"] / STEPS_AN_HOUR
        total.all_boards += weight * len(series.values)
        total.all_used += weight * sum(series.values)
        if "pod" not in series.labels:
            continue
        idle = weight * _idle_steps(series.values)
        price = prices[pools[series.labels["Hostname"]]]
        by_pool[pools[series.labels["Hostname"]]] += weight * len(series.values)
        total.allocated += weight * len(series.values)
        total.used += weight * sum(series.values)
        total.idle += idle
        total.cost += weight * len(series.values) * price
        total.cost_idle += idle * price
        shares = zip(memory["USED"][device], memory["TOTAL"][device], strict=True)
        total.memory_used += weight * sum(used / whole for used, whole in shares)
    _add_not_held(total, objects, by_pool, hours=grid.points / STEPS_AN_HOUR, prices=prices)
    return total


def _add_not_held(
    total: Hours, objects: Sequence[Object], allocated: dict[str, float], *, hours: float, prices: dict[str, float]
) -> None:
    """All nodes are older than the window, and nothing about them changed in it."""
    for name, price in prices.items():
        nodes = [each for each in objects if each["kind"] == "Node" and pool(each) == name]
        capacity = hours * sum(gpus(each["status"]["capacity"]) for each in nodes)
        out = hours * sum(
            gpus(each["status"]["capacity"])
            - (0 if each["spec"].get("unschedulable") else gpus(each["status"]["allocatable"]))
            for each in nodes
        )
        total.not_held[name] = capacity - out - allocated[name], out
        total.out_of_use += out
        total.cost_out_of_use += out * price
        total.cost_free += (capacity - out - allocated[name]) * price


def _by_device(source: Source, grid: Grid, metric: str) -> dict[tuple[str, str, str], Sequence[float]]:
    found = source.read(Question(metric=metric), grid).series
    return {_held_device(each.labels): each.values for each in found}


def _held_device(labels: Mapping[str, str]) -> tuple[str, str, str]:
    """A device and the pod that holds it: before that pod came, the device has another series."""
    return labels["UUID"], labels.get("GPU_I_ID", ""), labels.get("pod", "")


def _idle_steps(values: Sequence[float]) -> int:
    """Steps in stretches of an hour or more below the threshold."""
    found = low = 0
    for value in [*values, 1.0]:
        if value < IDLE_BELOW:
            low += 1
            continue
        found += low if low >= STEPS_AN_HOUR else 0
        low = 0
    return found


def wait(buckets: dict[float, float], share: float) -> float:
    """The quantile of a histogram, as Prometheus defines it: within a bucket the values are spread evenly."""
    rank, lower, below = share * max(buckets.values()), 0.0, 0.0
    for bound in sorted(buckets):
        if buckets[bound] >= rank:
            return (
                lower if bound == float("inf") else lower + (bound - lower) * (rank - below) / (buckets[bound] - below)
            )
        lower, below = bound, buckets[bound]
    raise AssertionError("the last bucket has all values")
