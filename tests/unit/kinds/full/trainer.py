"""Full objects of the kinds in kinds/kubeflow_trainer.py."""

import builders
from unit.kinds.full.parts import METADATA, pod_spec_fields, template
from usher import paths


def _metadata() -> paths.Object:
    return {"labels": {"team": "a"}, "annotations": {"note": "x"}}


def _pod_spec_patch() -> paths.Object:
    fields = pod_spec_fields()
    return {
        **{name: fields[name] for name in ("nodeSelector", "affinity", "tolerations", "schedulingGates")},
        "initContainers": [builders.container("fetch", env={"A": "b"})],
        "containers": [builders.container("proxy", env={"A": "b"})],
    }


def _runtime_spec() -> paths.Object:
    job = builders.replicated_job("node", template(), replicas=1, parallelism=1)
    job = builders.replaced(
        job, "/template/metadata", {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    )
    launcher = builders.replicated_job("launcher", template(), replicas=1, parallelism=1)
    policy: paths.Object = {"numNodes": 2, "mpi": {"runLauncherAsNode": True}}
    return {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": [job, launcher]}}}


def _targeting(job: str, **fields: builders.JsonValue) -> builders.JsonValue:
    return {"targetJobs": [{"name": job}], **fields}


# A pod template has one value of each field: the last of several patches wins, so each job has one patch.
_TRAIN_JOB: dict[str, builders.JsonValue] = {
    "suspend": False,
    "runtimeRef": {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "three-jobs"},
    "trainer": {
        "numNodes": 4,
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "resourcesPerNode": {
            "requests": {"cpu": "8", builders.GPU: 1},
            "limits": {builders.GPU: "1"},
            "claims": [{"name": "gpu"}],
        },
    },
    "podSpecOverrides": [_targeting("fetch", **_pod_spec_patch())],
    "podTemplateOverrides": [_targeting("launcher", metadata=_metadata(), spec=_pod_spec_patch())],
    "runtimePatches": [
        {
            "trainingRuntimeSpec": {
                "template": {
                    "spec": {
                        "replicatedJobs": [
                            {
                                "name": "node",
                                "template": {
                                    "spec": {"template": {"metadata": _metadata(), "spec": _pod_spec_patch()}}
                                },
                            }
                        ]
                    }
                }
            }
        }
    ],
}


def _known_job(name: str, step: str = "") -> paths.Object:
    job = builders.replicated_job(
        name,
        builders.template(
            builders.container("node"), builders.container("proxy"), initContainers=[builders.container("fetch")]
        ),
    )
    labels: paths.Object = {"trainer.kubeflow.org/trainjob-ancestor-step": step} if step else {}
    return builders.replaced(job, "/template/metadata", {"labels": labels})


OBJECTS: dict[str, paths.Object] = {
    "TrainJob": builders.custom("trainer.kubeflow.org/v1alpha1", "TrainJob", _TRAIN_JOB, **METADATA),
    "TrainingRuntime": builders.custom("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", _runtime_spec(), **METADATA),
    "ClusterTrainingRuntime": builders.custom(
        "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", _runtime_spec(), **METADATA
    ),
}


def _known(kind: str) -> paths.Object:
    jobs = [_known_job("fetch"), _known_job("launcher"), _known_job("node", "trainer")]
    spec: dict[str, builders.JsonValue] = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    return builders.custom("trainer.kubeflow.org/v1alpha1", kind, spec, name="three-jobs")


REFERENCED: list[paths.Object] = [_known("TrainingRuntime"), _known("ClusterTrainingRuntime")]
"""Objects that the templates refer to by name."""
