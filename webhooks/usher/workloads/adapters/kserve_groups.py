"""How many pods, or groups of them, KServe makes of one workload of an LLMInferenceService."""

from usher import model
from usher.reading.values import Reading
from usher.workloads.adapters import kserve_replicas
from usher.workloads.adapters.kserve_layers import Layers, first, inside


def size(workload: Layers, reading: Reading) -> tuple[int | None, bool]:
    """Pods in a group, None where that is left to the service that uses a configuration; and whether data divide it.

    KS:pkg/apis/serving/v1alpha2/llm_inference_service_types_func.go, GetSize.
    """
    parallelism = inside(workload, "parallelism", reading)
    if not parallelism:
        return None, False
    data, local, pipeline = (
        reading.count(*first(parallelism, name), default=0) for name in ("data", "dataLocal", "pipeline")
    )
    if data or local:
        return max(max(data, 1) // max(local, 1), 1), True
    return max(pipeline, 1), False


def replicas(workload: Layers, reading: Reading, *, stopped: bool, surge: int | str) -> model.Count:
    """Replicas, or groups of pods, and those that a rollout makes beside them.

    KEDA may keep fewer than `minReplicas` while nothing is asked (KS:pkg/controller/v1alpha2/llmisvc/scaling.go).

    Args:
        workload: the spec of a service, or its `prefill`.
        reading: records what cannot be read.
        stopped: whether the service is.
        surge: what stands for a missing `maxSurge`.
    """
    scaling = inside(workload, "scaling", reading)
    rollout = first(inside(workload, "rolloutStrategy", reading), "maxSurge")
    if scaling:
        lowest = reading.count(*first(scaling, "minReplicas"), default=1)
        most = first(scaling, "maxReplicas")
        keda = (*inside(scaling, "keda", reading), *inside(inside(scaling, "wva", reading), "keda", reading))
        idle = reading.count(*first(keda, "idleReplicaCount"), default=lowest)
        highest = max(reading.count(*most, default=lowest), lowest)
        lowest = min(lowest, idle)
        if most.value is None and not stopped:
            reason = "nothing bounds the replicas: its scaling has no maxReplicas"
            return model.Count(minimum=lowest, maximum=None, reason=reason)
    else:
        lowest = highest = reading.count(*first(workload, "replicas"), default=1)
    surging = kserve_replicas.share(*rollout, highest, reading, default=surge)
    return kserve_replicas.STOPPED if stopped else kserve_replicas.rolling(lowest, highest, surging)
