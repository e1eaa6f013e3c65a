"""Values that operators of training refuse or cannot use, alone or beside others, by rows of `known_keys.yaml`."""

import pytest
import yaml

from usher import paths
from usher.kinds.reading import chosen_boards, controller_rules, queues, refused_values, value_forms
from usher.kinds.reading.values import Objects


def _texts(text: str) -> list[str]:
    """The findings about the first of several objects."""
    values = list(yaml.safe_load_all(text))
    value, key = values[0], (str(values[0].get("apiVersion")).rpartition("/")[0], str(values[0].get("kind")))
    found = [
        *controller_rules.refused(value, key, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, Objects(values)),
    ]
    return [each.text for each in found]


def _object(version: str, kind: str, spec: str, metadata: str = "name: x, namespace: ml") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _torch(spec: str) -> str:
    return _object("kubeflow.org/v1", "PyTorchJob", spec)


def _workers(number: int, policy: str) -> str:
    return _torch(f"elasticPolicy: {{{policy}}}, pytorchReplicaSpecs: {{Worker: {{replicas: {number}}}}}")


def _mpi(launcher: str, more: str = "") -> str:
    roles = f"mpiReplicaSpecs: {{Launcher: {{template: {{spec: {{containers: [{{name: l, {launcher}}}]}}}}}}}}"
    return _object("kubeflow.org/v2beta1", "MPIJob", f"{roles}{more}")


_ROOT = "securityContext: {runAsUser: 0}, command: [mpirun, python, t.py"
_NON_ROOT = "securityContext: {runAsUser: 1000}"


def _volcano(plugins: str, *tasks: str) -> str:
    return _object("batch.volcano.sh/v1alpha1", "Job", f"plugins: {{{plugins}}}, tasks: [{', '.join(tasks)}]")


def _task(name: str, command: str, more: str = "") -> str:
    container = f"{{name: c, command: [sh, -c, '{command}']}}"
    return f"{{name: {name}, template: {{spec: {{containers: [{container}]}}}}{more}}}"


_SSHD = _task("worker", "/usr/sbin/sshd -D")
_ENDS = ", policies: [{event: TaskCompleted, action: CompleteJob}]"


def _set(policy: str) -> str:
    pods = "template: {spec: {template: {spec: {containers: [{name: c, command: %s}]}}}}"
    jobs = [
        f"{{name: {name}, {pods % command}}}"
        for name, command in (("launcher", "[mpirun, train]"), ("worker", "[/usr/sbin/sshd, -De]"))
    ]
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", f"{policy}replicatedJobs: [{', '.join(jobs)}]")


def _ray(spec: str, head: str = "", metadata: str = "name: r") -> str:
    return _object(
        "ray.io/v1", "RayCluster", f"{spec}headGroupSpec: {{{head or 'template: {spec: {containers: []}}'}}}", metadata
    )


def _head(env: str = "", more: str = "") -> str:
    return f"template: {{spec: {{{more}containers: [{{name: h, env: [{env}]}}]}}}}"


_REDIS = "{name: RAY_REDIS_ADDRESS, value: 'redis:6379'}"
_OPTIONS = "gcsFaultToleranceOptions: {redisAddress: 'redis:6379'}, "
_FORMER = "name: r, annotations: {ray.io/ft-enabled: 'true'}"
_NEW_SCALER = "{name: RAY_enable_autoscaler_v2, value: '1'}"
_SCALES = "enableInTreeAutoscaling: true, "


def _memory_of_head(amount: str) -> str:
    return _ray(
        _SCALES, f"template: {{spec: {{containers: [{{name: h, resources: {{limits: {{memory: {amount}}}}}}}]}}}}"
    )


def _ray_job(spec: str) -> str:
    group = "{template: {spec: {containers: [{name: w, resources: {limits: {nvidia.com/gpu: 1}}}]}}}"
    cluster = f"rayClusterSpec: {{headGroupSpec: {{}}, workerGroupSpecs: [{group}]}}"
    return _object("ray.io/v1", "RayJob", f"{spec}, {cluster}")


def _queues(resources: str) -> str:
    text = f"partitions:\n- name: default\n  queues:\n  - name: gpus\n    resources: {{max: {resources}}}\n"
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"queues.yaml": text}}
    )


def _training(env: str, more: str = "", memory: str = "64Gi", device: str = "", command: str = "train") -> str:
    limits = f"resources: {{limits: {{{device}nvidia.com/gpu: 8, memory: {memory}}}}}"
    named = f"command: [sh, -c, '{command}'], env: [{{name: NCCL_SOCKET_IFNAME, value: '{env}'}}]"
    container = f"{{name: c, {named}, {limits}}}"
    return _object("batch/v1", "Job", f"template: {{spec: {{{more}restartPolicy: Never, containers: [{container}]}}}}")


def _workers_of_mpi(policy: str) -> str:
    worker = f"Launcher: {{}}, Worker: {{replicas: 1, template: {{spec: {{{_GPU}}}}}}}"
    return _object("kubeflow.org/v2beta1", "MPIJob", f"runPolicy: {{{policy}}}, mpiReplicaSpecs: {{{worker}}}")


_GPU = "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"


def _leader(policy: str) -> str:
    container = "{name: l, command: [sh, -c, 'serve --pp-size 2'], readinessProbe: {httpGet: {path: /health}}}"
    leader = f"leaderWorkerTemplate: {{size: 2, leaderTemplate: {{spec: {{containers: [{container}]}}}}}}"
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"startupPolicy: {policy}, {leader}")


def _spark(more: str) -> str:
    return _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", f"mode: cluster{more}")


_NAMESPACE = "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: ml%s}}"
_INJECTED = ", labels: {katib.kubeflow.org/metrics-collector-injection: enabled}"


def _trials(spec: str) -> str:
    return _object("kubeflow.org/v1beta1", "Experiment", spec)


def _gang_of_koordinator(number: int) -> str:
    gang = f"annotations: {{gang.scheduling.koordinator.sh/min-available: '{number}'}}"
    pods = "spec: {restartPolicy: Never, containers: [{name: c}]}"
    return _object("batch/v1", "Job", f"parallelism: 2, template: {{metadata: {{{gang}}}, {pods}}}")


def _batch(spec: str, policy: str = "Never") -> str:
    pods = f"template: {{spec: {{restartPolicy: {policy}, containers: [{{name: c}}]}}}}"
    return _object("batch/v1", "Job", f"{spec}, {pods}")


def _volcano_queue(capability: str) -> str:
    return _object("scheduling.volcano.sh/v1beta1", "Queue", f"capability: {{{capability}}}", "name: q")


def _job_set(name: str, template: str = "spec: {}") -> str:
    spec = f"replicatedJobs: [{{name: workers, template: {{{template}}}}}]"
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", spec, f"name: {name}")


_WRONG_AND_RIGHT = [
    (
        _torch("pytorchReplicaSpecs: {Master: {replicas: 2}, Worker: {replicas: 1}}"),
        _torch("pytorchReplicaSpecs: {Master: {replicas: 1}, Worker: {replicas: 1}}"),
    ),
    (_torch("elasticPolicy: {maxReplicas: 2}, pytorchReplicaSpecs: {Master: {}}"), _workers(2, "maxReplicas: 2")),
    (_workers(4, "maxReplicas: 2"), _workers(4, "maxReplicas: 4")),
    (_workers(2, "minReplicas: 3"), _workers(2, "minReplicas: 2")),
    (_workers(2, "nProcPerNode: 8}, nprocPerNode: '8', other: {"), _workers(2, "nProcPerNode: 8")),
    (
        _object("kubeflow.org/v1", "TFJob", "tfReplicaSpecs: {Chief: {}, Master: {}}"),
        _object("kubeflow.org/v1", "TFJob", "tfReplicaSpecs: {Chief: {}, Worker: {}}"),
    ),
    (
        _object("kubeflow.org/v1", "XGBoostJob", "xgbReplicaSpecs: {Worker: {replicas: 1}}"),
        _object("kubeflow.org/v1", "XGBoostJob", "xgbReplicaSpecs: {Master: {replicas: 1}}"),
    ),
    (
        _object("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainer: {env: [{name: PET_NNODES, value: '2'}]}"),
        _object("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainer: {env: [{name: NCCL_DEBUG, value: INFO}]}"),
    ),
    (_mpi(_NON_ROOT), _mpi(_NON_ROOT, ", sshAuthMountPath: /home/mpiuser/.ssh")),
    (_mpi(f"{_ROOT}]"), _mpi(f"{_ROOT}, --allow-run-as-root]")),
    (_mpi(f"{_ROOT}]"), _mpi(f"{_ROOT}]", ", mpiImplementation: Intel")),
    (
        _volcano("ssh: []", _task("w", "mpirun t").replace("spec: {", "spec: {securityContext: {runAsUser: 7}, ", 1)),
        _volcano(
            "ssh: [--ssh-key-file-path=/h/.ssh]",
            _task("w", "mpirun t").replace("spec: {", "spec: {securityContext: {runAsUser: 7}, ", 1),
        ),
    ),
    (_volcano("", _task("m", "mpirun t"), _SSHD), _volcano("", _task("m", "mpirun t", _ENDS), _SSHD)),
    (_set(""), _set("successPolicy: {operator: All, targetReplicatedJobs: [launcher]}, ")),
    (_ray(_OPTIONS, metadata=_FORMER), _ray("", metadata=_FORMER)),
    (_ray(_OPTIONS, _head(_REDIS)), _ray("", _head(_REDIS), metadata=_FORMER)),
    (_ray("", _head(_REDIS)), _ray(_OPTIONS, _head())),
    (_ray("", _head(_NEW_SCALER)), _ray(_SCALES, _head(_NEW_SCALER))),
    (
        _ray(_SCALES, _head(_NEW_SCALER, "restartPolicy: Always, ")),
        _ray(_SCALES, _head(_NEW_SCALER, "restartPolicy: Never, ")),
    ),
    (
        _ray("", "rayStartParams: {num-gpus: '1'}, resources: {GPU: '1'}"),
        _ray("", "rayStartParams: {dashboard-host: 0.0.0.0}, resources: {GPU: '1'}"),
    ),
    (_memory_of_head("2Gi"), _memory_of_head("4Gi")),
    (_ray_job("submissionMode: SidecarMode, submitterPodTemplate: {}"), _ray_job("submissionMode: SidecarMode")),
    (_ray_job("submissionMode: InteractiveMode, backoffLimit: 1"), _ray_job("backoffLimit: 1")),
    (
        _ray_job("entrypoint: python t.py, entrypointNumGpus: 2"),
        _ray_job("entrypoint: python t.py, entrypointNumGpus: 1"),
    ),
    (_queues("{cpu: 8}"), _queues("{vcore: 8}")),
    (_queues("{memory: 128}"), _queues("{memory: 128Gi}")),
    (_queues("{requests.nvidia.com/gpu: 8}"), _queues("{nvidia.com/gpu: 8}")),
    (
        _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "batchScheduler: volcanoo"),
        _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "batchScheduler: volcano"),
    ),
    (_training("eth2"), _training("eth0")),
    (_training("ens5,ens6"), _training("ens5,ens6", "hostNetwork: true, ")),
    (_training("ib0"), _training("ib0").replace("spec: {r", "metadata: {annotations: {a/networks: n}}, spec: {r")),
    (_training("", memory="8Gi", device="vpc.amazonaws.com/efa: 32, "), _training("", memory="8Gi")),
    (_training("", command="NCCL_SOCKET_IFNAME=ens5 torchrun t.py"), _training("", command="torchrun t.py")),
    (_workers_of_mpi(""), _workers_of_mpi("cleanPodPolicy: Running")),
    (_workers_of_mpi("cleanPodPolicy: None"), _workers_of_mpi("ttlSecondsAfterFinished: 60")),
    (_leader("LeaderReady"), _leader("LeaderCreated")),
    (_leader("LeaderReady"), _leader("LeaderReady").replace("--pp-size 2", "")),
    (_spark(""), _spark(", driver: {serviceAccount: spark}")),
    (_trials("parallelTrialCount: 16, maxTrialCount: 4"), _trials("parallelTrialCount: 4, maxTrialCount: 4")),
    (_trials("maxTrialCount: 2"), _trials("maxTrialCount: 3")),
    (_trials("maxTrialCount: 3") + _NAMESPACE % "", _trials("maxTrialCount: 3") + _NAMESPACE % _INJECTED),
    (_gang_of_koordinator(4), _gang_of_koordinator(2)),
    (
        _job_set("train", "spec: {template: {spec: {restartPolicy: Always}}}"),
        _job_set("train", "spec: {template: {spec: {restartPolicy: Never}}}"),
    ),
    (_job_set("t" * 60), _job_set("t" * 50)),
    (_job_set("t" * 50, "spec: {completions: 8, parallelism: 8}"), _job_set("t" * 42, "spec: {completions: 8}")),
    (_ray_job("submitterPodTemplate: {spec: {restartPolicy: Always}}"), _ray_job("submitterPodTemplate: {spec: {}}")),
    (_mpi("image: x", ", mpiReplicaSpecs: {Launcher: {restartPolicy: Always}}"), _mpi("image: x")),
    (_torch("runPolicy: {cleanPodPolicy: Never}"), _torch("runPolicy: {cleanPodPolicy: None}")),
    (_volcano("pytorh: []"), _volcano("pytorch: [], svc: []")),
    (_batch("backoffLimitPerIndex: 1"), _batch("backoffLimitPerIndex: 1, completionMode: Indexed, completions: 2")),
    (_batch("successPolicy: {rules: []}"), _batch("completionMode: Indexed, completions: 2, successPolicy: {}")),
    (_batch("podFailurePolicy: {rules: []}", "OnFailure"), _batch("podFailurePolicy: {rules: []}")),
    (
        _batch("podReplacementPolicy: TerminatingOrFailed, podFailurePolicy: {rules: []}"),
        _batch("podReplacementPolicy: Failed, podFailurePolicy: {rules: []}"),
    ),
    (_batch("maxFailedIndexes: 1"), _batch("completions: 2")),
    (
        _job_set("train", "spec: {podFailurePolicy: {rules: []}}"),
        _job_set("train", "spec: {podFailurePolicy: {rules: []}, template: {spec: {restartPolicy: Never}}}"),
    ),
]


@pytest.mark.parametrize(("wrong", "right"), _WRONG_AND_RIGHT)
def test_a_value_that_an_operator_of_training_cannot_use_is_found_and_the_right_one_is_not(
    wrong: str, right: str
) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


@pytest.mark.parametrize("amount", ["${GPUS}", "inf", "-1", "", "9" * 40])
def test_a_number_is_compared_only_with_numbers(amount: str) -> None:
    """Also a template, whose number is not known yet."""
    assert _texts(_workers(4, f"maxReplicas: '{amount}'")) == []


def _class(name: str, default: str = "true") -> str:
    value = f"metadata: {{name: {name}}}, globalDefault: {default}"
    return f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, {value}}}"


def _cluster_queue(spec: str) -> str:
    return _object("kueue.x-k8s.io/v1beta2", "ClusterQueue", spec, "name: q")


def _kueue(text: str) -> str:
    data = f"{{c.yaml: 'apiVersion: config.kueue.x-k8s.io/v1beta2\n\n\n{text}: {{}}'}}"
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m, namespace: kueue-system}}, data: {data}}}"


def _job(resources: str) -> str:
    container = f"{{name: c, resources: {{{resources}}}}}"
    return _object("batch/v1", "Job", f"template: {{spec: {{restartPolicy: Never, containers: [{container}]}}}}")


def _range(amount: str) -> str:
    return _object("v1", "LimitRange", f"limits: [{{type: Container, default: {{memory: {amount}}}}}]")


def _train_job(trainer: str) -> str:
    limits = "resourcesPerNode: {limits: {nvidia.com/gpu: 4}}"
    return _object(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", f"runtimeRef: {{name: mpi}}, trainer: {{{limits}, {trainer}}}"
    )


def _runtime(labels: str = "", processes: int = 1) -> str:
    pods = "spec: {template: {spec: {containers: [{name: node}]}}}"
    jobs = f"replicatedJobs: [{{name: node, template: {{metadata: {{labels: {{{labels}}}}}, {pods}}}}}]"
    spec = f"mlPolicy: {{mpi: {{numProcPerNode: {processes}}}}}, template: {{spec: {{{jobs}}}}}"
    return _object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", spec, "name: mpi")


_TRAINS = "trainer.kubeflow.org/trainjob-ancestor-step: trainer"
_QUOTA = _object("v1", "ResourceQuota", "hard: {limits.cpu: 8}")
_WORKFLOW = _object("argoproj.io/v1alpha1", "Workflow", "entrypoint: main")
_VOLCANO = _object(
    "apps/v1", "Deployment", "template: {spec: {containers: [{image: 'volcanosh/vc-scheduler:v1.9.0'}]}}", "name: s"
)
_PROVISIONING = _object(
    "kueue.x-k8s.io/v1beta2",
    "AdmissionCheck",
    "controllerName: kueue.x-k8s.io/provisioning-request, parameters: {apiGroup: kueue.x-k8s.io, "
    "kind: ProvisioningRequestConfig, name: c}",
    "name: p",
)


def _definition(name: str) -> str:
    return _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", f"name: {name}")


_DEFINED = _definition("workloads.kueue.x-k8s.io")
_URGENT = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: u}, value: 9}"
_WITHOUT_MEMORY = _job("limits: {nvidia.com/gpu: 8}")

_BESIDE_AND_APART = [
    ((_class("a"), _class("b")), (_class("a"), _class("b", "false"))),
    ((_cluster_queue("fairSharing: {weight: 2}"), _kueue("integrations")),
     (_cluster_queue("fairSharing: {weight: 2}"), _kueue("fairSharing"))),
    ((_cluster_queue("cohort: c"), _URGENT),
     (_cluster_queue("preemption: {withinClusterQueue: Never}"), _URGENT)),
    ((_WITHOUT_MEMORY, _range("512Mi")), (_WITHOUT_MEMORY, _range("64Gi"))),
    ((_WITHOUT_MEMORY, _range("1Gi")), (_job("limits: {nvidia.com/gpu: 8, memory: 64Gi}"), _range("1Gi"))),
    ((_WORKFLOW, _QUOTA), (_WORKFLOW, _QUOTA, _range("1Gi"))),
    ((_train_job("numNodes: 2, numProcPerNode: 4"), _runtime()),
     (_train_job("numNodes: 2, numProcPerNode: 4"), _runtime(_TRAINS))),
    ((_train_job("numNodes: 1"), _runtime()), (_train_job("numNodes: 1"), _runtime(processes=4))),
    ((_train_job("numNodes: 1"), _runtime().replace("mpi: {", "torch: {")),
     (_train_job("numNodes: 1"), _runtime(_TRAINS).replace("mpi: {", "torch: {"))),
    ((_volcano_queue("nvidia.com/gpu: 8"), _VOLCANO), (_volcano_queue("nvidia.com/gpu: 8, pods: 200"), _VOLCANO)),
    ((_volcano_queue("nvidia.com/gpu: 8"), _VOLCANO),
     (_volcano_queue("nvidia.com/gpu: 8"), _VOLCANO.replace("1.9.0", "1.12.0"))),
    ((_PROVISIONING, _DEFINED),
     (_PROVISIONING, _DEFINED, _definition("provisioningrequests.autoscaling.x-k8s.io"))),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right"), _BESIDE_AND_APART)
def test_what_another_object_contradicts_is_found_and_the_right_pair_is_not(
    wrong: tuple[str, ...], right: tuple[str, ...]
) -> None:
    assert len(_texts("\n---\n".join(wrong))) == 1
    assert _texts("\n---\n".join(right)) == []


def _flavor(labels: str) -> str:
    return _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", f"nodeLabels: {{{labels}}}", "name: h100")


def _node(labels: str, gpus: int = 8) -> str:
    status = f"status: {{allocatable: {{nvidia.com/gpu: {gpus}}}}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {{{labels}}}}}, {status}}}"


def _quota(kind: str, gpus: int, metadata: str, more: str = "") -> str:
    resources = f"{{name: f, resources: [{{name: nvidia.com/gpu, nominalQuota: {gpus}}}]}}"
    groups = f"{more}resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{resources}]}}]"
    return _object("kueue.x-k8s.io/v1beta2", kind, groups, metadata)


def _beside_kueue(*texts: str) -> list[str]:
    values = [yaml.safe_load(each) for each in texts]
    key = ("kueue.x-k8s.io", values[0]["kind"])
    return [each.text for each in queues.beside_kueue(values[0], key, "", Objects(values))]


def test_a_flavor_whose_labels_no_known_node_has_is_found() -> None:
    (found,) = _beside_kueue(_flavor("gpu-type: h100"), _node("gpu: h100"))

    assert found.startswith("has nodeLabels that no known node has (gpu-type=h100)")
    assert _beside_kueue(_flavor("gpu: h100"), _node("gpu: h100, zone: a")) == []
    assert _beside_kueue(_flavor("gpu-type: h100")) == []
    pool = _object("karpenter.sh/v1", "NodePool", "", "name: p")
    assert _beside_kueue(_flavor("gpu-type: h100"), _node("gpu: h100"), pool) == []


@pytest.mark.parametrize(("cohort", "queue", "is_more"), [(8, 8, True), (4, 4, False), (8, 0, False), (16, 4, False)])
def test_quotas_of_a_cohort_are_added_to_those_of_its_queues(cohort: int, queue: int, is_more: bool) -> None:
    member = _quota("ClusterQueue", queue, "name: q", "cohortName: all, ")

    found = _beside_kueue(_quota("Cohort", cohort, "name: all"), member, _node("gpu: h100", 8))

    assert bool(found) is is_more


@pytest.mark.parametrize(
    ("queue", "labels", "more", "is_more"),
    [
        (16, "gpu: h100", "", True),
        (8, "gpu: h100", "", False),
        (16, "gpu: a100", "", False),
        (16, "gpu: h100, eks.amazonaws.com/nodegroup: g", "", False),
        (16, "gpu: h100, topology.kubernetes.io/region: eu", "", False),
        (16, "gpu: h100", "admissionChecks: [more-nodes], ", False),
    ],
)
def test_a_queue_has_no_more_devices_than_nodes_outside_clouds(
    queue: int, labels: str, more: str, is_more: bool
) -> None:
    flavor = _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "nodeLabels: {gpu: h100}", "name: f")

    found = _beside_kueue(_quota("ClusterQueue", queue, "name: q", more), flavor, _node(labels))

    assert bool(found) is is_more


@pytest.mark.parametrize("damaged", [None, 7, "text", [], [None], {"a": None}, {"template": [7]}])
def test_a_row_about_others_takes_damaged_objects(damaged: paths.Json) -> None:
    others: list[paths.Object] = [
        {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "d"}, "spec": damaged},
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "d"}, "spec": damaged},
    ]
    for value in map(yaml.safe_load, (_WITHOUT_MEMORY, _WORKFLOW)):
        key = (value["apiVersion"].rpartition("/")[0], value["kind"])
        assert list(refused_values.beside_others(value, key, Objects([value, *others]))) == []
