"""Gangs, queues and training whose parts contradict each other, alone or beside other objects of the files."""

import orjson
import pytest
import yaml

from usher.kinds import registry
from usher.kinds.reading import chosen_boards, controller_rules, queues, value_forms
from usher.kinds.reading.values import Objects


def texts(text: str) -> list[str]:
    """The findings about the first of several objects."""
    values = list(yaml.safe_load_all(text))
    value, key = values[0], (str(values[0].get("apiVersion")).rpartition("/")[0], str(values[0].get("kind")))
    objects = Objects(values)
    found = [
        *controller_rules.refused(value, key, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, objects),
        *queues.beside_kueue(value, key, "ml", objects),
        *registry.unmet(value, key, objects),
    ]
    return [each.text for each in found]


def one_object(version: str, kind: str, spec: str, metadata: str = "") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: x, namespace: ml{metadata}}}, spec: {{{spec}}}}}"


_GROUP = {"name": "w", "minMember": 4, "minResource": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": 8}}


def gang(groups: object, spec: str = "", name: str = "w") -> str:
    """A Job of YuniKorn whose pods ask for 16 CPUs, 64Gi and 8 GPUs."""
    written = groups if isinstance(groups, str) else orjson.dumps(groups).decode()
    prefix = "yunikorn.apache.org/task-group"
    annotations = f"{prefix}-name: {name}, {prefix}s: '{written}'"
    resources = "requests: {cpu: 16, memory: 64Gi}, limits: {nvidia.com/gpu: 8}"
    pod = f"containers: [{{name: c, image: 'a:1', resources: {{{resources}}}}}]{spec}"
    return one_object("batch/v1", "Job", f"template: {{metadata: {{annotations: {{{annotations}}}}}, spec: {{{pod}}}}}")


_TOLERATION = "key: pool, operator: Exists, effect: NoSchedule"


@pytest.mark.parametrize(
    ("wrong", "right", "words"),
    [
        (gang([{**_GROUP, "minResource": {"cpu": "16", "memory": "64Gi"}}]), gang([_GROUP]), "minResource has none"),
        (gang([{**_GROUP, "minResource": {"cpu": "4"}}]), gang([_GROUP]), "asks for 8 nvidia.com/gpu in a pod of"),
        (gang([{**_GROUP, "minMember": 0}]), gang([_GROUP]), "has a task group without minMember"),
        (gang([{"name": "w", "minMember": 2}]), gang([_GROUP]), "has a task group without minResource"),
        (gang("[{name: w}]"), gang("[{name: {{ name }}}]"), "not JSON"),
        (gang(_GROUP), gang([_GROUP]), "not a list"),
        (gang([_GROUP], name="v"), gang([_GROUP]), "which its task-groups do not define"),
        (
            gang([_GROUP], f", tolerations: [{{{_TOLERATION}}}]"),
            gang([{**_GROUP, "tolerations": [{"key": "pool"}]}], f", tolerations: [{{{_TOLERATION}}}]"),
            "tolerates pool in pods of the task group w",
        ),
        (
            gang([_GROUP], ", nodeSelector: {pool: a}"),
            gang([{**_GROUP, "nodeSelector": {"pool": "a"}}], ", nodeSelector: {pool: a}"),
            "selects nodes with pool=a",
        ),
        (
            gang([{**_GROUP, "minResource": {"cpu": "4"}}]),
            gang([{**_GROUP, "minResource": {"cpu": "4"}}], ", schedulerName: default-scheduler"),
            "keeps no room",
        ),
    ],
)  # fmt: skip
def test_task_groups_of_yunikorn_keep_room_for_their_pods(wrong: str, right: str, words: str) -> None:
    """A person reads why YuniKorn makes no gang, or why its placeholders are cancelled."""
    assert [words in each for each in texts(wrong)] == [True]
    assert texts(right) == []


def _torch(interface: str, workers: int) -> str:
    container = f"{{name: pytorch, env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]}}"
    roles = f"Worker: {{replicas: {workers}, template: {{spec: {{containers: [{container}]}}}}}}"
    return one_object("kubeflow.org/v1", "PyTorchJob", f"pytorchReplicaSpecs: {{{roles}}}")


def _servers(interface: str, size: int) -> str:
    container = f"{{name: c, env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]}}"
    template = f"workerTemplate: {{spec: {{containers: [{container}]}}}}"
    return one_object(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"leaderWorkerTemplate: {{size: {size}, {template}}}"
    )


def _train(interface: str, nodes: int) -> str:
    variable = f"env: [{{name: NCCL_SOCKET_IFNAME, value: {interface}}}]"
    return one_object("trainer.kubeflow.org/v1alpha1", "TrainJob", f"trainer: {{numNodes: {nodes}, {variable}}}")


_YUNIKORN = ", labels: {ray.io/gang-scheduling-enabled: 'true', yunikorn.apache.org/app-id: a}"


def ray(spec: str, metadata: str = _YUNIKORN) -> str:
    return one_object("ray.io/v1", "RayCluster", spec, metadata)


def _queued(template: str, labels: str = "kueue.x-k8s.io/queue-name: q") -> str:
    pod = f"template: {{metadata: {{labels: {{{template}}}}}, spec: {{containers: [{{name: c, image: 'a:1'}}]}}}}"
    return one_object("batch/v1", "Job", pod, f", labels: {{{labels}}}")


_CLASS = "kueue.x-k8s.io/priority-class: high"


def _spark(settings: str, cores: int = 8) -> str:
    conf = f"mode: client, sparkConf: {{{settings}}}, executor: {{cores: {cores}}}"
    return one_object("sparkoperator.k8s.io/v1beta2", "SparkApplication", conf)


_ONE_GPU = (
    "spark.plugins: com.nvidia.spark.SQLPlugin, spark.executor.resource.gpu.amount: '1', "
    "spark.executor.resource.gpu.discoveryScript: /a"
)


def _leaders(policy: str, command: str = "vllm serve m --pipeline-parallel-size 2") -> str:
    template = f"leaderTemplate: {{spec: {{containers: [{{name: c, args: ['{command}']}}]}}}}"
    spec = f"leaderWorkerTemplate: {{restartPolicy: {policy}, {template}}}"
    return one_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


def _flow(patch: str, more: str = "") -> str:
    template = f"name: t, container: {{image: 'a:1'}}, podSpecPatch: '{patch}'{more}"
    return one_object("argoproj.io/v1alpha1", "Workflow", f"entrypoint: t, templates: [{{{template}}}]")


def _set(network: str, probe: str = "readinessProbe: {tcpSocket: {port: 80}}, ") -> str:
    container = f"{{name: c, image: 'a:1', {probe}command: [torchrun, t.py]}}"
    job = f"{{name: a, template: {{spec: {{template: {{spec: {{containers: [{container}]}}}}}}}}}}"
    return one_object("jobset.x-k8s.io/v1alpha2", "JobSet", f"network: {{{network}}}, replicatedJobs: [{job}]")


def _annotated(scheduler: str, more: str = "") -> str:
    pod = f"schedulerName: {scheduler}, containers: [{{name: c, image: 'a:1'}}]"
    template = f"template: {{metadata: {{annotations: {{pod-group-name: g}}}}, spec: {{{pod}}}}}"
    return one_object("batch/v1", "Job", template, more)


def _roles(spec: str, command: str = "[python, t.py]", **roles: int) -> str:
    pod = f"template: {{spec: {{containers: [{{name: pytorch, image: 'a:1', command: {command}}}]}}}}"
    listed = ", ".join(f"{role}: {{replicas: {replicas}, {pod}}}" for role, replicas in roles.items())
    return one_object("kubeflow.org/v1", "PyTorchJob", f"{spec}pytorchReplicaSpecs: {{{listed}}}")


def _on_spot(more: str) -> str:
    pod = "nodeSelector: {cloud.google.com/gke-spot: 'true'}, containers: [{name: c, image: 'a:1'}]"
    return one_object("batch/v1", "Job", f"{more}template: {{spec: {{{pod}}}}}")


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
    return one_object("kubeflow.org/v1beta1", "Experiment", spec)


def _run(more: str) -> str:
    step = "{name: s, computeResources: {limits: {nvidia.com/gpu: 1}}}"
    return one_object("tekton.dev/v1", "TaskRun", f"taskRef: {{name: t}}, stepSpecs: [{step}]{more}")


def _labelled(label: str) -> str:
    pod = "spec: {containers: [{name: c, image: 'a:1'}]}"
    return one_object("batch/v1", "Job", f"template: {{metadata: {{labels: {{{label}: g}}}}, {pod}}}")


def _version(accelerator: str) -> str:
    resources = f"resources: {{accelerator: {{type: {accelerator}, count: '1'}}}}"
    executor = f"e: {{container: {{image: 'a:1', {resources}}}}}"
    spec = f"pipelineSpec: {{deploymentSpec: {{executors: {{{executor}}}}}}}"
    return one_object("pipelines.kubeflow.org/v2beta1", "PipelineVersion", spec)


def _compiled(mounts: str) -> str:
    resources = "resources: {accelerator: {type: nvidia.com/gpu, resourceCount: '4'}}"
    executors = f"e: {{container: {{image: 'a:1', command: [torchrun, t.py], {resources}}}}}"
    settings = (
        f"platforms: {{kubernetes: {{deploymentSpec: {{executors: {{e: {{imagePullPolicy: Always{mounts}}}}}}}}}}}"
    )
    spec = f"pipelineSpec: {{deploymentSpec: {{executors: {{{executors}}}}}}}, platformSpec: {{{settings}}}"
    return one_object("pipelines.kubeflow.org/v2beta1", "PipelineVersion", spec)


def _transformed(prefix: str) -> str:
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nresources:\n"
        f"  excludeResourcePrefixes: [{prefix}]\n"
        "  transformations: [{input: nvidia.com/mig-1g.10gb, strategy: Replace, outputs: {a.example/memory: 10}}]\n"
    )
    data = {"controller_manager_config.yaml": text}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})


def _long_run(timeout: str) -> str:
    step = "{name: s, image: 'a:1', computeResources: {limits: {nvidia.com/gpu: 1}}}"
    task = f"{{name: fit{timeout}, taskSpec: {{steps: [{step}]}}}}"
    return one_object("tekton.dev/v1", "PipelineRun", f"timeouts: {{pipeline: 12h}}, pipelineSpec: {{tasks: [{task}]}}")


def _ranks(task: str, address: str = "x-master-0.x") -> str:
    container = f"{{name: c, image: 'a:1', env: [{{name: MASTER_ADDR, value: {address}}}]}}"
    tasks = f"[{{name: master, template: {{spec: {{containers: [{container}]}}}}}}, {{name: {task}}}]"
    return one_object("batch.volcano.sh/v1alpha1", "Job", f"plugins: {{pytorch: [], svc: []}}, tasks: {tasks}")


def _retried(strategy: str, selector: str = "cloud.google.com/gke-spot: 'true'") -> str:
    template = f"name: t, container: {{image: 'a:1'}}, retryStrategy: {{{strategy}}}, nodeSelector: {{{selector}}}"
    return one_object("argoproj.io/v1alpha1", "Workflow", f"entrypoint: t, templates: [{{{template}}}]")


def _overridden(container: str) -> str:
    override = f"{{targetJobs: [{{name: node}}], spec: {{containers: [{{{container}}}]}}}}"
    return one_object("trainer.kubeflow.org/v1alpha1", "TrainJob", f"podTemplateOverrides: [{override}]")


def _runtime(more: str) -> str:
    return one_object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", f"template: {{spec: {{{more}}}}}")


def of_volcano(labels: str, spec: str = "") -> str:
    pod = "template: {spec: {schedulerName: volcano, containers: [{name: pytorch, image: 'a:1'}]}}"
    replicas = f"pytorchReplicaSpecs: {{Master: {{replicas: 1, {pod}}}, Worker: {{replicas: 1, {pod}}}}}"
    return one_object("kubeflow.org/v1", "PyTorchJob", f"{spec}{replicas}", f", labels: {{{labels}}}")


def tree(most: int, key: str = "max") -> str:
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
    return one_object(
        "batch/v1", "Job", f"completionMode: Indexed, parallelism: 4, completions: {completions}, {pod}", annotation
    )


_EIGHT = "spec: {containers: [{name: c, image: 'a:1', resources: {limits: {nvidia.com/gpu: 8}}}]}"


def _together(key: str) -> str:
    annotation = f", annotations: {{leaderworkerset.sigs.k8s.io/exclusive-topology: {key}}}"
    spec = f"leaderWorkerTemplate: {{size: 2, workerTemplate: {{{_EIGHT}}}}}"
    return one_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, annotation)


def _jobs_together(key: str) -> str:
    annotation = f", annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: {key}}}"
    job = f"{{name: a, template: {{spec: {{parallelism: 2, completions: 2, template: {{{_EIGHT}}}}}}}}}"
    return one_object("jobset.x-k8s.io/v1alpha2", "JobSet", f"replicatedJobs: [{job}]", annotation)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (_torch("lo", 3), _torch("eth0", 3)),
        (_spark("spark.kubernetes.executor.memoryOverhead: 8g"), _spark("spark.executor.memoryOverhead: 8g")),
        (
            _spark("spark.rapids.memory.pinnedPool.size: 8g"),
            _spark("spark.rapids.memory.pinnedPool.size: 8g, spark.executor.memoryOverhead: 12g"),
        ),
        (_compiled(""), _compiled(", emptyDirMounts: [{mountPath: /dev/shm, medium: Memory}]")),
        (_transformed("nvidia.com/"), _transformed("example.com/")),
        (_long_run(""), _long_run(", timeout: 12h")),
        (_ranks("extra"), _ranks("worker")),
        (_ranks("worker", "x-master-0"), _ranks("worker", "another-master-0")),
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
        (of_volcano("volcano.sh/queue-name: q"), of_volcano("team: a")),
        (
            of_volcano("volcano.sh/queue-name: q"),
            of_volcano("volcano.sh/queue-name: q", "runPolicy: {schedulingPolicy: {queue: q}}, "),
        ),
        (tree(12), tree(8)),
        (tree(12, "guaranteed"), tree(8, "guaranteed")),
        (
            _roles("elasticPolicy: {rdzvBackend: c10d}, ", Master=1, Worker=3),
            _roles("elasticPolicy: {rdzvBackend: c10d, minReplicas: 4}, ", Master=1, Worker=3),
        ),
        (_roles("", Worker=3), _roles("", Master=1, Worker=3)),
        (_roles("", Worker=3), _roles("", "[torchrun, --rdzv_endpoint=a:1, t.py]", Worker=3)),
        (_on_spot("backoffLimit: 0, "), _on_spot(f"backoffLimit: 0, {_IGNORED}")),
        (_sla("3600"), _sla("1h")),
        (
            one_object("batch.volcano.sh/v1alpha1", "Job", "tasks: []", ", annotations: {sla-waiting-time: '60'}"),
            one_object("batch.volcano.sh/v1alpha1", "Job", "tasks: []", ", annotations: {sla-waiting-time: 60s}"),
        ),
        (_grid("min: '0.1', max: '1'"), _grid("min: '0.1', max: '1', step: '0.1'")),
        (_grid("min: '0.1', max: '1'"), _grid("min: '0.1', max: '1'", "random")),
        (_run(", computeResources: {limits: {nvidia.com/gpu: 1}}"), _run("")),
        (_labelled("scheduling.k8s.io/pod-group"), _labelled("scheduling.x-k8s.io/pod-group")),
        (_servers("lo", 2), _servers("lo", 1)),
        (_train("lo", 2), _train("lo", 1)),
        (ray("enableInTreeAutoscaling: true"), ray("enableInTreeAutoscaling: true", "")),
        (ray("workerGroupSpecs: [{minReplicas: 0}]"), ray("workerGroupSpecs: [{minReplicas: 1}]")),
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
    assert len(texts(wrong)) == 1
    assert texts(right) == []


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
    found = texts(_roles("", wrong, Master=1, Worker=1))

    assert ["each pod trains for itself" in each for each in found] == [True, True]
    assert texts(_roles("", wrong, Master=1)) == []
    assert texts(_roles("", right, Master=1, Worker=1)) == []
