"""argoproj.io: Rollout, which replaces its pods step by step (canary) or all at once (blue-green).

A canary without traffic routing has as many pods as a Deployment with its `maxSurge`. With traffic routing the old pods
stay until the new ones get all requests, so there are twice as many; so are there with blue-green, from the promotion
on whatever `previewReplicaCount` says. Sources: utils/replicaset/canary.go and rollout/bluegreen.go of
argoproj/argo-rollouts, docs/features/specification.md.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts
from usher.kinds.reading.counts import share_of_replicas
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.shapes import IntOrString, Present
from usher.kinds.reading.templates import PLAIN, Place, Template, Traits
from usher.kinds.reading.values import Reading, Reference

_CANARY: Final = "/spec/strategy/canary"

_ELSEWHERE: Final = Traits(changeable=False)


class Canary(TypedDict):
    maxUnavailable: NotRequired[IntOrString]
    trafficRouting: NotRequired[Present]


class RolloutStrategy(TypedDict):
    canary: NotRequired[Canary]
    blueGreen: NotRequired[Present]


class RolloutSpec(TypedDict):
    strategy: NotRequired[RolloutStrategy]


class Rollout(TypedDict):
    spec: NotRequired[RolloutSpec]


def _rollout(rollout: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """The template of a Rollout, or of the object that its `workloadRef` names."""
    spec = reading.mapping(rollout.get("spec"), "/spec")
    replicas = reading.count(spec.get("replicas"), "/spec/replicas", default=1)
    more, reason = _pods_during_a_rollout(reading.mapping(spec.get("strategy"), "/spec/strategy"), replicas, reading)
    count = model.Count(minimum=replicas, maximum=replicas + more, reason=reason if more else "")
    place, traits = Place(spec.get("template"), "/spec/template"), PLAIN
    if spec.get("template") is None and spec.get("workloadRef") is not None:
        found = _referenced(reading.mapping(spec["workloadRef"], "/spec/workloadRef"), rollout, reading)
        if found is None:
            return
        place, traits = Place(found, "/spec/workloadRef"), _ELSEWHERE
    yield pod_template(place, reading, count=count, traits=traits)


def _pods_during_a_rollout(strategy: Mapping[str, paths.Json], replicas: int, reading: Reading) -> tuple[int, str]:
    """How many pods a rollout runs beside the replicas, and why."""
    if strategy.get("blueGreen") is not None:
        return replicas, f"{replicas} more during a rollout, by blueGreen"
    canary = reading.mapping(strategy.get("canary"), _CANARY)
    if canary.get("trafficRouting") is not None:
        return replicas, f"{replicas} more during a rollout, by canary with trafficRouting"
    surge = share_of_replicas(replicas, canary.get("maxSurge"), f"{_CANARY}/maxSurge", reading) if replicas else 0
    return surge, f"{surge} more during a rollout"


def _referenced(
    reference: Mapping[str, paths.Json], rollout: Mapping[str, paths.Json], reading: Reading
) -> paths.Json | None:
    """The pod template of the object that a Rollout names; None, and recorded as unknown, if it cannot be found."""
    path = "/spec/workloadRef"
    metadata = reading.mapping(rollout.get("metadata"), "/metadata")
    named = Reference(
        group=reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0],
        kind=reading.text(reference.get("kind"), path + "/kind"),
        name=reading.text(reference.get("name"), path + "/name"),
        namespace=reading.text(metadata.get("namespace"), "/metadata/namespace") or reading.context.namespace,
    )
    found = reading.look_up(named, path, consequence="its pods are not judged")
    if found is None:
        return None
    holder = found if named.kind == "PodTemplate" else reading.mapping(found.get("spec"), path)
    return holder.get("template")


KINDS: list[Kind] = [
    Kind(
        group="argoproj.io",
        kind="Rollout",
        versions=("v1alpha1",),
        plural="rollouts",
        key="rollout",
        shape=Rollout,
        scale="/spec/replicas",
        pods=Pods(
            templates=_rollout,
            template_paths=("spec.template",),
            counted="`replicas` (1 if missing), and during a rollout as many more with `blueGreen` or with "
            "`canary.trafficRouting`, else `canary.maxSurge` (25 % if missing, rounded up)",
            source="docs/features/specification.md and utils/replicaset/canary.go of argoproj/argo-rollouts",
            kueue_unit=KueueUnit.POD,
            starts=Starts.TOGETHER,
            shrinks=True,
            minimum_from="",
            template_can_change=True,
            rolls_out=True,
            role=model.Role.SERVICE,
            runs_any_program=True,
            kueue=Kueue.CHILDREN,
            # The labels of the template reach its ReplicaSets and their pods.
            queue_label_path="/spec/template/metadata",
        ),
    ),
]
