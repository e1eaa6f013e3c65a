"""Gangs, queues and training whose parts contradict each other, alone or beside other objects of the files."""

import orjson
import pytest
import yaml

from usher.kinds import registry
from usher.kinds.reading import chosen_boards, controller_rules, queues_and_gangs, value_forms
from usher.kinds.reading.values import Objects


def _texts(text: str) -> list[str]:
    """The findings about the first of several objects."""
    values = list(yaml.safe_load_all(text))
    value, key = values[0], (str(values[0].get("apiVersion")).rpartition("/")[0], str(values[0].get("kind")))
    objects = Objects(values)
    found = [
        *controller_rules.refused(value, key, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, objects),
        *queues_and_gangs.beside_kueue(value, key, "ml", objects),
        *registry.unmet(value, key, objects),
    ]
    return [each.text for each in found]


def _object(version: str, kind: str, spec: str, metadata: str = "") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: x, namespace: ml{metadata}}}, spec: {{{spec}}}}}"


_GROUP = {"name": "w", "minMember": 4, "minResource": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": 8}}


def _gang(groups: object, spec: str = "", name: str = "w") -> str:
    """A Job of YuniKorn whose pods ask for 16 CPUs, 64Gi and 8 GPUs."""
    written = groups if isinstance(groups, str) else orjson.dumps(groups).decode()
    prefix = "yunikorn.apache.org/task-group"
    annotations = f"{prefix}-name: {name}, {prefix}s: '{written}'"
    resources = "requests: {cpu: 16, memory: 64Gi}, limits: {nvidia.com/gpu: 8}"
    pod = f"containers: [{{name: c, image: 'a:1', resources: {{{resources}}}}}]{spec}"
    return _object("batch/v1", "Job", f"template: {{metadata: {{annotations: {{{annotations}}}}}, spec: {{{pod}}}}}")


_TOLERATION = "key: pool, operator: Exists, effect: NoSchedule"


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        (_gang([{**_GROUP, "minResource": {"cpu": "16", "memory": "64Gi"}}]), _gang([_GROUP]), "minResource has none"),
        (_gang([{**_GROUP, "minResource": {"cpu": "4"}}]), _gang([_GROUP]), "asks for 8 nvidia.com/gpu in a pod of"),
        (_gang([{**_GROUP, "minMember": 0}]), _gang([_GROUP]), "has a task group without minMember"),
        (_gang([{"name": "w", "minMember": 2}]), _gang([_GROUP]), "has a task group without minResource"),
        (_gang("[{name: w}]"), _gang("[{name: {{ name }}}]"), "not JSON"),
        (_gang(_GROUP), _gang([_GROUP]), "not a list"),
        (_gang([_GROUP], name="v"), _gang([_GROUP]), "which its task-groups do not define"),
        (
            _gang([_GROUP], f", tolerations: [{{{_TOLERATION}}}]"),
            _gang([{**_GROUP, "tolerations": [{"key": "pool"}]}], f", tolerations: [{{{_TOLERATION}}}]"),
            "tolerates pool in pods of the task group w",
        ),
        (
            _gang([_GROUP], ", nodeSelector: {pool: a}"),
            _gang([{**_GROUP, "nodeSelector": {"pool": "a"}}], ", nodeSelector: {pool: a}"),
            "selects nodes with pool=a",
        ),
        (
            _gang([{**_GROUP, "minResource": {"cpu": "4"}}]),
            _gang([{**_GROUP, "minResource": {"cpu": "4"}}], ", schedulerName: default-scheduler"),
            "keeps no room",
        ),
    ],
)  # fmt: skip
def test_task_groups_of_yunikorn_keep_room_for_their_pods(wrong: str, right: str, words: str) -> None:
    """A person reads why YuniKorn makes no gang, or why its placeholders are cancelled."""
    assert [words in each for each in _texts(wrong)] == [True]
    assert _texts(right) == []


def _torch(interface: str, workers: int) -> str:
    container = f"{{name: pytorch, env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]}}"
    roles = f"Worker: {{replicas: {workers}, template: {{spec: {{containers: [{container}]}}}}}}"
    return _object("kubeflow.org/v1", "PyTorchJob", f"pytorchReplicaSpecs: {{{roles}}}")


def _servers(interface: str, size: int) -> str:
    container = f"{{name: c, env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]}}"
    template = f"workerTemplate: {{spec: {{containers: [{container}]}}}}"
    return _object(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"leaderWorkerTemplate: {{size: {size}, {template}}}"
    )


def _train(interface: str, nodes: int) -> str:
    variable = f"env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]"
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", f"trainer: {{numNodes: {nodes}, {variable}}}")


_YUNIKORN = ", labels: {ray.io/gang-scheduling-enabled: 'true', yunikorn.apache.org/app-id: a}"


def _ray(spec: str, metadata: str = _YUNIKORN) -> str:
    return _object("ray.io/v1", "RayCluster", spec, metadata)


def _queued(template: str, labels: str = "kueue.x-k8s.io/queue-name: q") -> str:
    pod = f"template: {{metadata: {{labels: {{{template}}}}}, spec: {{containers: [{{name: c, image: 'a:1'}}]}}}}"
    return _object("batch/v1", "Job", pod, f", labels: {{{labels}}}")


_CLASS = "kueue.x-k8s.io/priority-class: high"


def _spark(settings: str, cores: int = 8) -> str:
    conf = f"mode: client, sparkConf: {{{settings}}}, executor: {{cores: {cores}}}"
    return _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", conf)


_ONE_GPU = (
    "spark.plugins: com.nvidia.spark.SQLPlugin, spark.executor.resource.gpu.amount: '1', "
    "spark.executor.resource.gpu.discoveryScript: /a"
)


def _leaders(policy: str, command: str = "vllm serve m --pipeline-parallel-size 2") -> str:
    template = f"leaderTemplate: {{spec: {{containers: [{{name: c, args: ['{command}']}}]}}}}"
    spec = f"leaderWorkerTemplate: {{restartPolicy: {policy}, {template}}}"
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


def _flow(patch: str, more: str = "") -> str:
    template = f"name: t, container: {{image: 'a:1'}}, podSpecPatch: '{patch}'{more}"
    return _object("argoproj.io/v1alpha1", "Workflow", f"entrypoint: t, templates: [{{{template}}}]")


def _set(network: str, probe: str = "readinessProbe: {tcpSocket: {port: 80}}, ") -> str:
    container = f"{{name: c, image: 'a:1', {probe}command: [torchrun, t.py]}}"
    job = f"{{name: a, template: {{spec: {{template: {{spec: {{containers: [{container}]}}}}}}}}}}"
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", f"network: {{{network}}}, replicatedJobs: [{job}]")


def _annotated(scheduler: str, more: str = "") -> str:
    pod = f"schedulerName: {scheduler}, containers: [{{name: c, image: 'a:1'}}]"
    template = f"template: {{metadata: {{annotations: {{pod-group-name: g}}}}, spec: {{{pod}}}}}"
    return _object("batch/v1", "Job", template, more)


def _roles(spec: str, command: str = "[python, t.py]", **roles: int) -> str:
    pod = f"template: {{spec: {{containers: [{{name: pytorch, image: 'a:1', command: {command}}}]}}}}"
    listed = ", ".join(f"{role}: {{replicas: {replicas}, {pod}}}" for role, replicas in roles.items())
    return _object("kubeflow.org/v1", "PyTorchJob", f"{spec}pytorchReplicaSpecs: {{{listed}}}")


def _on_spot(more: str) -> str:
    pod = "nodeSelector: {cloud.google.com/gke-spot: 'true'}, containers: [{name: c, image: 'a:1'}]"
    return _object("batch/v1", "Job", f"{more}template: {{spec: {{{pod}}}}}")


_IGNORED = "podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, "


def _sla(waiting: str) -> str:
    text = (
        'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: sla\n    arguments:\n'
        f"      sla-waiting-time: {waiting}\n"
    )
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"conf": text}})


def _grid(space: str, algorithm: str = "grid") -> str:
    parameter = f"{{name: lr, parameterType: double, feasibleSpace: {{{space}}}}}"
    spec = f"algorithm: {{algorithmName: {algorithm}}}, parameters: [{parameter}]"
    return _object("kubeflow.org/v1beta1", "Experiment", spec)


def _run(more: str) -> str:
    step = "{name: s, computeResources: {limits: {nvidia.com/gpu: 1}}}"
    return _object("tekton.dev/v1", "TaskRun", f"taskRef: {{name: t}}, stepSpecs: [{step}]{more}")


def _labelled(label: str) -> str:
    pod = "spec: {containers: [{name: c, image: 'a:1'}]}"
    return _object("batch/v1", "Job", f"template: {{metadata: {{labels: {{{label}: g}}}}, {pod}}}")


def _version(accelerator: str) -> str:
    resources = f"resources: {{accelerator: {{type: {accelerator}, count: '1'}}}}"
    executor = f"e: {{container: {{image: 'a:1', {resources}}}}}"
    spec = f"pipelineSpec: {{deploymentSpec: {{executors: {{{executor}}}}}}}"
    return _object("pipelines.kubeflow.org/v2beta1", "PipelineVersion", spec)


def _retried(strategy: str, selector: str = "cloud.google.com/gke-spot: 'true'") -> str:
    template = f"name: t, container: {{image: 'a:1'}}, retryStrategy: {{{strategy}}}, nodeSelector: {{{selector}}}"
    return _object("argoproj.io/v1alpha1", "Workflow", f"entrypoint: t, templates: [{{{template}}}]")


def _overridden(container: str) -> str:
    override = f"{{targetJobs: [{{name: node}}], spec: {{containers: [{{{container}}}]}}}}"
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", f"podTemplateOverrides: [{override}]")


def _runtime(more: str) -> str:
    return _object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", f"template: {{spec: {{{more}}}}}")


def _of_volcano(labels: str, spec: str = "") -> str:
    pod = "template: {spec: {schedulerName: volcano, containers: [{name: pytorch, image: 'a:1'}]}}"
    replicas = f"pytorchReplicaSpecs: {{Master: {{replicas: 1, {pod}}}, Worker: {{replicas: 1, {pod}}}}}"
    return _object("kubeflow.org/v1", "PyTorchJob", f"{spec}{replicas}", f", labels: {{{labels}}}")


def _tree(most: int, key: str = "max") -> str:
    below = f"{{name: a, resources: {{{key}: {{nvidia.com/gpu: {most}}}}}}}"
    above = f"{{name: ml, parent: true, resources: {{max: {{nvidia.com/gpu: 8}}}}, queues: [{below}]}}"
    text = f"partitions: [{{name: default, queues: [{{name: root, submitacl: '*', queues: [{above}]}}]}}]"
    data = {"queues.yaml": text}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})


def _preempting(gang: str, actions: str = "allocate, preempt") -> str:
    text = f'actions: "{actions}"\ntiers:\n- plugins:\n  - {{name: priority}}\n  - {{name: gang{gang}}}\n'
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"conf": text}})


def _kueue(sharing: str) -> str:
    text = f"apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nadmissionFairSharing: {{{sharing}}}\n"
    data = {"controller_manager_config.yaml": text}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})


def _synchronised(completions: int) -> str:
    annotation = ", annotations: {kueue.x-k8s.io/job-completions-equal-parallelism: 'true'}"
    pod = "template: {spec: {containers: [{name: c, image: 'a:1'}]}}"
    return _object(
        "batch/v1", "Job", f"completionMode: Indexed, parallelism: 4, completions: {completions}, {pod}", annotation
    )


_EIGHT = "spec: {containers: [{name: c, image: 'a:1', resources: {limits: {nvidia.com/gpu: 8}}}]}"


def _together(key: str) -> str:
    annotation = f", annotations: {{leaderworkerset.sigs.k8s.io/exclusive-topology: {key}}}"
    spec = f"leaderWorkerTemplate: {{size: 2, workerTemplate: {{{_EIGHT}}}}}"
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, annotation)


def _jobs_together(key: str) -> str:
    annotation = f", annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: {key}}}"
    job = f"{{name: a, template: {{spec: {{parallelism: 2, completions: 2, template: {{{_EIGHT}}}}}}}}}"
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", f"replicatedJobs: [{job}]", annotation)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (_torch("lo", 3), _torch("eth0", 3)),
        (_preempting(""), _preempting(", enablePreemptable: false")),
        (_preempting(""), _preempting("", "allocate, backfill")),
        (_kueue("usageSamplingInterval: 5m"), _kueue("usageHalfLifeTime: 168h")),
        (_synchronised(8), _synchronised(4)),
        (_together("kubernetes.io/hostname"), _together("cloud.example.com/rack")),
        (_jobs_together("kubernetes.io/hostname"), _jobs_together("cloud.google.com/gke-nodepool")),
        (_version("NVIDIA_TESLA_T4"), _version("nvidia.com/gpu")),
        (_retried("limit: 3"), _retried("limit: 3, retryPolicy: Always")),
        (_retried("limit: 3, retryPolicy: OnError"), _retried("limit: 3", "pool: gpu")),
        (_overridden("name: node, env: [{name: A, value: b}]"), _overridden("name: log, env: [{name: A, value: b}]")),
        (_runtime("ttlSecondsAfterFinished: 600"), _runtime("")),
        (_of_volcano("volcano.sh/queue-name: q"), _of_volcano("team: a")),
        (
            _of_volcano("volcano.sh/queue-name: q"),
            _of_volcano("volcano.sh/queue-name: q", "runPolicy: {schedulingPolicy: {queue: q}}, "),
        ),
        (_tree(12), _tree(8)),
        (_tree(12, "guaranteed"), _tree(8, "guaranteed")),
        (
            _roles("elasticPolicy: {rdzvBackend: c10d}, ", Master=1, Worker=3),
            _roles("elasticPolicy: {rdzvBackend: c10d, minReplicas: 4}, ", Master=1, Worker=3),
        ),
        (_roles("", Worker=3), _roles("", Master=1, Worker=3)),
        (_roles("", Worker=3), _roles("", "[torchrun, --rdzv_endpoint=a:1, t.py]", Worker=3)),
        (_on_spot("backoffLimit: 0, "), _on_spot(f"backoffLimit: 0, {_IGNORED}")),
        (_sla("3600"), _sla("1h")),
        (
            _object("batch.volcano.sh/v1alpha1", "Job", "tasks: []", ", annotations: {sla-waiting-time: '60'}"),
            _object("batch.volcano.sh/v1alpha1", "Job", "tasks: []", ", annotations: {sla-waiting-time: 60s}"),
        ),
        (_grid("min: '0.1', max: '1'"), _grid("min: '0.1', max: '1', step: '0.1'")),
        (_grid("min: '0.1', max: '1'"), _grid("min: '0.1', max: '1'", "random")),
        (_run(", computeResources: {limits: {nvidia.com/gpu: 1}}"), _run("")),
        (_labelled("scheduling.k8s.io/pod-group"), _labelled("scheduling.x-k8s.io/pod-group")),
        (_servers("lo", 2), _servers("lo", 1)),
        (_train("lo", 2), _train("lo", 1)),
        (_ray("enableInTreeAutoscaling: true"), _ray("enableInTreeAutoscaling: true", "")),
        (_ray("workerGroupSpecs: [{minReplicas: 0}]"), _ray("workerGroupSpecs: [{minReplicas: 1}]")),
        (_queued(_CLASS), _queued(_CLASS, f"kueue.x-k8s.io/queue-name: q, {_CLASS}")),
        (_spark("spark.task.resource.gpu.amount: '0.2'"), _spark(f"{_ONE_GPU}, spark.task.resource.gpu.amount: '0.2'")),
        (
            _spark(f"{_ONE_GPU}, spark.task.resource.gpu.amount: '1'"),
            _spark(f"{_ONE_GPU}, spark.task.resource.gpu.amount: '1'", 1),
        ),
        (_leaders("None"), _leaders("RecreateGroupOnPodRestart")),
        (_leaders("Default"), _leaders("Default", "vllm serve m")),
        (_flow("containers: [{name: t, resources: {}}]"), _flow("containers: [{name: main, resources: {}}]")),
        (_flow("containers: [{name: log}]"), _flow("containers: [{name: log}]", ", sidecars: [{name: log}]")),
        (_set("publishNotReadyAddresses: false"), _set("publishNotReadyAddresses: false", "")),
        (_annotated("kai-scheduler"), _annotated("volcano")),
        (
            _annotated("kai-scheduler"),
            _annotated("kai-scheduler", ", annotations: {kai.scheduler/skip-podgrouper: 'true'}"),
        ),
    ],
)  # fmt: skip
def test_what_a_controller_cannot_use_is_found_and_the_right_value_is_not(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("[deepspeed, t.py]", "[deepspeed, --hostfile=/etc/hosts.txt, --no_ssh, t.py]"),
        ("[bash, -c, 'cd /a && deepspeed --num_gpus 8 t.py']", "[torchrun, t.py, --deepspeed, d.json]"),
        ("[accelerate, launch, t.py]", "[accelerate, launch, --num_machines=2, t.py]"),
        ("[bash, -c, 'accelerate launch --num_processes 8 t.py']", "[python, launch.py]"),
    ],
)
def test_a_launcher_that_knows_its_own_pod_alone_is_found(wrong: str, right: str) -> None:
    found = _texts(_roles("", wrong, Master=1, Worker=1))

    assert ["each pod trains for itself" in each for each in found] == [True, True]
    assert _texts(_roles("", wrong, Master=1)) == []
    assert _texts(_roles("", right, Master=1, Worker=1)) == []


def _queue(deserved: str) -> str:
    return _object("scheduling.volcano.sh/v1beta1", "Queue", f"deserved: {{{deserved}}}")


def _volcano(actions: str) -> str:
    text = f'actions: "{actions}"\ntiers:\n- plugins:\n  - name: priority\n  - name: capacity\n'
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"conf": text}})


def _volcano_job(replicas: int, minimum: str = "") -> str:
    container = "{name: c, image: 'a:1', resources: {requests: {cpu: 4, nvidia.com/gpu: 1}}}"
    task = f"{{replicas: {replicas}, template: {{spec: {{containers: [{container}]}}}}}}"
    return _object("batch.volcano.sh/v1alpha1", "Job", f"queue: x{minimum}, tasks: [{task}]")


_BOTH = _queue("cpu: 8, nvidia.com/gpu: 2") + "\n---\n" + _volcano("allocate, reclaim")


def _scaled(kind: str, version: str, more: str = "") -> str:
    return _object(version, kind, f"scaleTargetRef: {{apiVersion: apps/v1, kind: StatefulSet, name: s}}{more}")


_SET = (
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: "
    "{name: s, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}"
)


def _slurm(device: str) -> str:
    return _object("slinky.slurm.net/v1beta1", "NodeSet", f"slurmd: {{resources: {{limits: {{{device}: 8}}}}}}")


_GRES = yaml.safe_dump(
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"gres.conf": "AutoDetect=nvml\n"}}
)


def _kai_group(minimum: int) -> str:
    return _object("scheduling.run.ai/v2alpha2", "PodGroup", f"minMember: {minimum}, queue: q")


def _pod(name: str) -> str:
    return (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: ml, annotations: {{pod-group-name: x}}}}, "
        "spec: {containers: [{name: c, image: 'a:1'}]}}"
    )


_PODS = f"{_pod('a')}\n---\n{_pod('b')}"


def _plugin_group(gpus: int) -> str:
    return _object(
        "scheduling.x-k8s.io/v1alpha1", "PodGroup", f"minMember: 2, minResources: {{nvidia.com/gpu: {gpus}}}"
    )


_NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {nvidia.com/gpu: '8'}}}"
_LOCAL = _object("kueue.x-k8s.io/v1beta1", "LocalQueue", "clusterQueue: c")


def _cluster_queue(gpus: int) -> str:
    resources = f"resources: [{{name: nvidia.com/gpu, nominalQuota: {gpus}}}]"
    groups = f"resourceGroups: [{{flavors: [{{name: f, {resources}}}]}}]"
    return f"{{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {{name: c}}, spec: {{{groups}}}}}"


def _cohort(name: str, above: str) -> str:
    spec = f"metadata: {{name: {name}}}, spec: {{parentName: {above}}}"
    return f"{{apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, {spec}}}"


_POOL = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {}}"


def _check(controller: str) -> str:
    kind = "MultiKueueConfig" if controller == "multikueue" else "ProvisioningRequestConfig"
    parameters = f"parameters: {{apiGroup: kueue.x-k8s.io, kind: {kind}, name: c}}"
    return (
        "{apiVersion: kueue.x-k8s.io/v1beta1, kind: AdmissionCheck, metadata: {name: x}, "
        f"spec: {{controllerName: kueue.x-k8s.io/{controller}, {parameters}}}}}"
    )


def _operator(command: str) -> str:
    pod = f"containers: [{{name: c, image: 'kubeflow/training-operator:v1', command: {command}}}]"
    return _object("apps/v1", "Deployment", f"template: {{spec: {{{pod}}}}}")


def _in_yunikorn(gpus: int, groups: str = "") -> str:
    """A Job in the queue root.ml.a, whose pods ask for these GPUs."""
    pod = f"containers: [{{name: c, image: 'a:1', resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]"
    metadata = f"labels: {{queue: root.ml.a}}, annotations: {{{groups}}}"
    spec = f"template: {{metadata: {{{metadata}}}, spec: {{schedulerName: yunikorn, {pod}}}}}"
    return _object("batch/v1", "Job", spec)


def _queues(rules: str = "") -> str:
    return _tree(4).replace("name: c", "name: yunikorn-configs").replace("name: default,", f"name: default, {rules}")


def _group(members: int) -> str:
    group = [{"name": "w", "minMember": members, "minResource": {"nvidia.com/gpu": 1}}]
    return f"yunikorn.apache.org/task-groups: '{orjson.dumps(group).decode()}'"


_IN_QUEUE = ", labels: {kueue.x-k8s.io/queue-name: q}"
_SCALING = _ray("enableInTreeAutoscaling: true", _IN_QUEUE)
_OWN_QUEUE = """{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: q, namespace: ml},
 spec: {clusterQueue: c}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: c}, spec: {admissionChecks: [x]}}
---
"""


def _quota(hard: str) -> str:
    return _object("v1", "ResourceQuota", f"hard: {{{hard}}}")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            f"{_queue('nvidia.com/gpu: 2')}\n---\n{_volcano('allocate, reclaim')}",
            f"{_queue('cpu: 8, nvidia.com/gpu: 2')}\n---\n{_volcano('allocate, reclaim')}",
        ),
        (
            f"{_queue('nvidia.com/gpu: 2')}\n---\n{_volcano('allocate, reclaim')}",
            f"{_queue('nvidia.com/gpu: 2')}\n---\n{_volcano('allocate, backfill')}",
        ),
        (f"{_volcano_job(4)}\n---\n{_BOTH}", f"{_volcano_job(2)}\n---\n{_BOTH}"),
        (f"{_volcano_job(4)}\n---\n{_BOTH}", f"{_volcano_job(4, ', minAvailable: 1')}\n---\n{_BOTH}"),
        (
            f"{_scaled('HorizontalPodAutoscaler', 'autoscaling/v2')}\n---\n{_SET}",
            f"{_scaled('HorizontalPodAutoscaler', 'autoscaling/v2')}\n---\n{_SET.replace('queue-name', 'x')}",
        ),
        (
            f"{_scaled('ScaledObject', 'keda.sh/v1alpha1')}\n---\n{_SET}",
            f"{_scaled('ScaledObject', 'keda.sh/v1alpha1', ', maxReplicaCount: 1')}\n---\n{_SET}",
        ),
        (f"{_cohort('x', 'b')}\n---\n{_cohort('b', 'x')}", f"{_cohort('x', 'b')}\n---\n{_cohort('b', 'c')}"),
        (f"{_cohort('x', 'x')}", f"{_cohort('x', 'b')}\n---\n{_cohort('b', 'c')}\n---\n{_cohort('c', 'b')}"),
        (f"{_check('provisioning-request')}\n---\n{_POOL}", f"{_check('multikueue')}\n---\n{_POOL}"),
        (
            f"{_of_volcano('team: a')}\n---\n{_operator('[/manager]')}",
            f"{_of_volcano('team: a')}\n---\n{_operator('[/manager, --gang-scheduler-name=volcano]')}",
        ),
        (f"{_in_yunikorn(8)}\n---\n{_queues()}", f"{_in_yunikorn(4)}\n---\n{_queues()}"),
        (f"{_in_yunikorn(1, _group(8))}\n---\n{_queues()}", f"{_in_yunikorn(1, _group(4))}\n---\n{_queues()}"),
        (
            f"{_in_yunikorn(8)}\n---\n{_queues('placementrules: [{name: provided}], ')}",
            f"{_in_yunikorn(8)}\n---\n{_queues('placementrules: [{name: tag}], ')}",
        ),
        (
            f"{_SCALING}\n---\n{_OWN_QUEUE}{_check('multikueue')}",
            f"{_SCALING}\n---\n{_OWN_QUEUE}{_check('provisioning-request')}",
        ),
        (f"{_slurm('amd.com/gpu')}\n---\n{_GRES}", f"{_slurm('nvidia.com/gpu')}\n---\n{_GRES}"),
        (
            f"{_slurm('nvidia.com/gpu')}\n---\n{_GRES.replace('nvml', 'rsmi')}",
            f"{_slurm('amd.com/gpu')}\n---\n{_GRES.replace('nvml', 'rsmi')}",
        ),
        (f"{_kai_group(3)}\n---\n{_PODS}", f"{_kai_group(2)}\n---\n{_PODS}"),
        (f"{_kai_group(3)}\n---\n{_pod('a')}", _kai_group(3)),
        (f"{_plugin_group(16)}\n---\n{_NODE}", f"{_plugin_group(8)}\n---\n{_NODE}"),
        (f"{_plugin_group(16)}\n---\n{_NODE}", _plugin_group(16)),
        (
            f"{_LOCAL}\n---\n{_cluster_queue(8)}\n---\n{_quota('requests.nvidia.com/gpu: 4')}",
            f"{_LOCAL}\n---\n{_cluster_queue(4)}\n---\n{_quota('requests.nvidia.com/gpu: 4')}",
        ),
    ],
)  # fmt: skip
def test_what_another_object_contradicts_is_found_and_the_right_one_is_not(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


@pytest.mark.parametrize("damaged", ["~", "7", "x", "[]", "[null]", "{a: null}", "[[1]]", "1e30", "true"])
def test_damaged_groups_and_queues_end_no_run(damaged: str) -> None:
    """An object of a stranger may have any value at any place."""
    task = f"[{{replicas: {damaged}, template: {damaged}}}]"
    job = _object("batch.volcano.sh/v1alpha1", "Job", f"queue: x, minAvailable: {damaged}, tasks: {task}")
    group = _object("scheduling.x-k8s.io/v1alpha1", "PodGroup", f"minMember: {damaged}, minResources: {damaged}")
    amounts = group.replace(f"minResources: {damaged}", f"minResources: {{cpu: {damaged}}}")

    assert _texts(f"{job}\n---\n{_BOTH}") == []
    assert _texts(f"{group}\n---\n{_NODE}") == []
    assert len(_texts(f"{amounts}\n---\n{_NODE}")) <= 1
    assert len(_texts(_gang([{"name": "w", "minMember": 1, "minResource": yaml.safe_load(damaged)}]))) <= 1
    for part in ("partitions", "queues", "resources", "max"):
        tree = {"partitions": [{"queues": [{"name": "root", "queues": [{"name": "ml", "resources": {}}]}]}]}
        text = (
            orjson.dumps(tree)
            .decode()
            .replace(f'"{part}":', f'"{part}":{orjson.dumps(yaml.safe_load(damaged)).decode()},"x":')
        )
        config = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "yunikorn-configs"},
            "data": {"queues.yaml": text},
        }
        assert _texts(f"{_in_yunikorn(8)}\n---\n{yaml.safe_dump(config)}") == []
    assert len(_texts(_gang(damaged))) <= 1
