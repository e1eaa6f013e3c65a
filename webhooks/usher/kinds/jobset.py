"""jobset.x-k8s.io: JobSet."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading.counts import concurrent_pods, in_turns
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading


def _job_set(job_set: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
    """A job with `dependsOn`, or one behind the first in order, waits (JS:pkg/controllers/jobset_controller.go)."""
    spec = reading.mapping(job_set.get("spec"), "/spec")
    policy = reading.mapping(spec.get("startupPolicy"), "/spec/startupPolicy")
    in_order = policy.get("startupPolicyOrder") == "InOrder"
    for path, job in reading.items(spec.get("replicatedJobs"), "/spec/replicatedJobs"):
        replicas = reading.count(job.get("replicas"), path + "/replicas", default=1)
        job_template = reading.mapping(job.get("template"), path + "/template")
        job_path = path + "/template/spec"
        job_spec = reading.mapping(job_template.get("spec"), job_path)
        pods = replicas * concurrent_pods(job_spec, job_path, reading)
        found = pod_template(
            Place(job_spec.get("template"), job_path + "/template"),
            reading,
            name=reading.text(job.get("name"), path + "/name"),
            count=model.Count(minimum=pods, maximum=pods),
        )
        waits = bool(job.get("dependsOn")) or (in_order and not path.endswith("/0"))
        yield replace(found, in_turns=in_turns(job_spec), later=waits, groups=replicas)


KINDS = [
    Kind(
        **api("jobset.x-k8s.io", "JobSet", "jobsets", "v1alpha2"),
        owned_by=(("trainer.kubeflow.org", "TrainJob"),),
        pods=Pods(
            templates=_job_set,
            template_paths=("spec.replicatedJobs[].template.spec.template",),
            counted="`replicas` (1 if missing) times the pods of the Job, for every replicated job",
            source="JS:api/jobset/v1alpha2/jobset_types.go; KQ:pkg/controller/jobs/jobset/jobset_controller.go",
            **scheduled(KueueUnit.WHOLE, Starts.MAY_WAIT, shrinks=True, minimum_from=""),
            role=model.Role.TRAINING,
            runs_any_program=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            kueue_keeps_empty=True,
            queue_label_path="/metadata",
            needs_gang=True,
            lifecycle_places=model.LifecyclePlaces(ttl="/spec/ttlSecondsAfterFinished", managed_by="/spec/managedBy"),
        ),
    ),
]
