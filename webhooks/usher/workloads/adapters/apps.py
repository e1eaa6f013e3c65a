"""The apps group: what serves, and keeps its number of pods."""

import re
from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.templates import Template

_DEFAULT_SURGE = "25%"
_PERCENTAGE = re.compile(r"([0-9]{1,4})%", re.ASCII)


def _replicated(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(workload.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    yield Template(
        name="",
        value=spec.get("template"),
        path="/spec/template",
        count=model.Count(minimum=replicas, maximum=replicas),
    )


def _deployment(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """A rollout runs `maxSurge` pods beside the old ones, rounded up; Recreate does not, nor does one of no pods."""
    spec = reading.mapping(workload.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    strategy = reading.mapping(spec.get("strategy"), "/spec/strategy")
    rolling = reading.mapping(strategy.get("rollingUpdate"), "/spec/strategy/rollingUpdate")
    surge = _surge(rolling.get("maxSurge"), "/spec/strategy/rollingUpdate/maxSurge", replicas, reading)
    if reading.text(strategy.get("type"), "/spec/strategy/type") == "Recreate" or not replicas:
        surge = 0
    count = model.Count(
        minimum=replicas, maximum=replicas + surge, reason=f"{surge} more during a rollout" if surge else ""
    )
    yield Template(name="", value=spec.get("template"), path="/spec/template", count=count)


def _surge(value: object, path: str, replicas: int, reading: Reading) -> int:
    if value is None:
        value = _DEFAULT_SURGE
    if not isinstance(value, str):
        return reading.count(value, path, default=0)
    percentage = _PERCENTAGE.fullmatch(value)
    if percentage is None:
        reading.unknown(path, "expected a whole number or a percentage such as 25%")
        return 0
    return -(-replicas * int(percentage[1]) // 100)


def _daemon_set(workload: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(workload.get("spec"), "/spec")
    count = model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")
    yield Template(name="", value=spec.get("template"), path="/spec/template", count=count)


KINDS = [
    Kind(
        group="apps",
        versions=("v1",),
        kind="Deployment",
        plural="deployments",
        templates=_deployment,
        role=model.Role.SERVICE,
        queue_label_path="/metadata",
    ),
    Kind(
        group="apps",
        versions=("v1",),
        kind="StatefulSet",
        plural="statefulsets",
        templates=_replicated,
        role=model.Role.SERVICE,
        queue_label_path="/metadata",
    ),
    Kind(
        group="apps",
        versions=("v1",),
        kind="ReplicaSet",
        plural="replicasets",
        templates=_replicated,
        role=model.Role.SERVICE,
    ),
    Kind(
        group="apps",
        versions=("v1",),
        kind="DaemonSet",
        plural="daemonsets",
        templates=_daemon_set,
        role=model.Role.SYSTEM,
    ),
]
