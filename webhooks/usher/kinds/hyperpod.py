"""sagemaker.amazonaws.com: HyperPodPyTorchJob.

The operator is closed, and its CRD is not published. Source: the models that the CLI of AWS makes of it,
src/sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py of aws/sagemaker-hyperpod-cli at 011ca92.
"""

from collections.abc import Iterator, Mapping

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]


def _job(job: Object, reading: Reading) -> Iterator[Template]:
    spec = reading.mapping(job.get("spec"), "/spec")
    elastic = reading.mapping(spec.get("elasticPolicy"), "/spec/elasticPolicy")
    for path, replica in reading.items(spec.get("replicaSpecs"), "/spec/replicaSpecs"):
        yield pod_template(
            Place(replica.get("template"), path + "/template"),
            reading,
            name=reading.text(replica.get("name"), path + "/name"),
            count=_count(replica, path, elastic, reading),
        )


def _count(replica: Object, path: str, elastic: Object, reading: Reading) -> model.Count:
    """How many pods a replica group runs: elastic training runs between two bounds, and spares replace broken pods."""
    replicas = reading.count(replica.get("replicas"), path + "/replicas", default=0)
    spares = reading.count(replica.get("spares"), path + "/spares", default=0)
    lowest = reading.count(elastic.get("minReplicas"), "/spec/elasticPolicy/minReplicas", default=replicas)
    most = reading.count(elastic.get("maxReplicas"), "/spec/elasticPolicy/maxReplicas", default=replicas)
    most = reading.count(replica.get("maxReplicas"), path + "/maxReplicas", default=most)
    most = max(most, *_numbers(elastic, reading))
    lowest, most = min(lowest, replicas), max(most, replicas)
    reasons = ["elastic training"] if lowest != most else []
    reasons += [f"{spares} spares"] if spares else []
    return model.Count(minimum=lowest, maximum=most + spares, reason=", ".join(reasons))


def _numbers(elastic: Object, reading: Reading) -> Iterator[int]:
    """All numbers of replicas that elastic training may choose between, instead of steps; 0 is among them."""
    yield 0
    path = "/spec/elasticPolicy/replicaDiscreteValues"
    for index, number in enumerate(reading.sequence(elastic.get("replicaDiscreteValues"), path)):
        if number is None:
            reading.unknown(f"{path}/{index}", "expected a whole number, found null")
        yield reading.count(number, f"{path}/{index}", default=0)


KINDS: list[Kind] = [
    Kind(
        **api("sagemaker.amazonaws.com", "HyperPodPyTorchJob", "hyperpodpytorchjobs", "v1"),
        pods=Pods(
            templates=_job,
            template_paths=("spec.replicaSpecs[].template",),
            counted="the sum of `replicas` (0 if missing) over the replica specs, and `spares` more; "
            "up to `maxReplicas` with elastic training",
            source="hyperpod_pytorch_job_unified_config.py of aws/sagemaker-hyperpod-cli",
            **scheduled(KueueUnit.WHOLE, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            suspend_path="/spec/runPolicy/suspend",
            # HyperPod task governance brings a Kueue that is configured for it.
            kueue=Kueue.OPTION,
            queue_label_path="/metadata",
            needs_gang=True,
        ),
    ),
]
