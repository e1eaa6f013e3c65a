"""Jobs judged by the queues of Kueue."""

from collections.abc import Mapping, Sequence
from typing import cast

import builders
from builders import GPU, container, template
from builders.queues import configuration, flavor
from unit.authorities.knowing import knowing
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge as kueue_judge
from usher.authorities.kueue.flavor_fit import KueueVerdict
from usher.cluster.facts.store import Store
from usher.config import models

CONFIGURED = configuration("integrations: {frameworks: [batch/job]}")
RACK = "cloud.provider.com/topology-rack"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
A100 = flavor("a100")
TAINTED: paths.Json = [{"key": GPU, "value": "present", "effect": "NoSchedule"}]


def judged(
    value: paths.Object, *facts: paths.Object, queue: str = "research", pools: Sequence[paths.Object] = ()
) -> KueueVerdict:
    """The verdict about the only workload that Kueue makes of an object, on a queue among the facts."""
    config = models.Config.model_validate({"pools": list(pools)})
    known = knowing(Store.of([CONFIGURED, *facts]), config)
    found = workload(value)
    seen = kueue_judge.for_namespace(found.namespace, known)
    assert seen.cluster.queues is not None
    (demand,) = kueue_demand.demands(found, seen.configuration, seen.additions)
    return kueue_judge.judge(demand, seen.cluster.queues[queue], seen.cluster, seen.configuration)


def job(gpus: int = 8, *, pods: int = 1, spec: Mapping[str, builders.JsonValue] | None = None) -> paths.Object:
    """A Job; `spec` is what else its pod spec says."""
    value = template(container(gpus=gpus))
    for field, each in (spec or {}).items():
        value = builders.replaced(value, f"/spec/{field}", cast(paths.Json, each))
    return builders.job(value, parallelism=pods, completions=pods)


def placed(level: str) -> paths.Object:
    return builders.job(template(container(gpus=8), annotations={REQUIRED: level}))
