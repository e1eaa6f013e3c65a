"""Values that pods of batch jobs, tuning, notebooks and their operators cannot use, by rows of `known_keys.yaml`."""

import pytest
import yaml

from unit.kinds.reading.rows_written import findings, written
from usher.kinds.reading import value_forms


def _trials(parameter: str = "", template: str = "", more: str = "", name: str = "x") -> str:
    trial = f"trialTemplate: {{primaryContainerName: t, trialSpec: {{kind: Job}}{template}}}"
    return written("kubeflow.org/v1beta1", "Experiment", f"parameters: [{parameter}], {trial}{more}", f"name: {name}")


def _double(space: str, kind: str = "double") -> str:
    return _trials(f"{{name: lr, parameterType: {kind}, feasibleSpace: {{{space}}}}}")


def _of_kind(kind: str, more: str = "") -> str:
    return _trials().replace("{kind: Job}", f"{{kind: {kind}, spec: {{pytorchReplicaSpecs: {{Worker: {{}}}}}}}}{more}")


def _hub(values: str) -> str:
    return written("helm.toolkit.fluxcd.io/v2", "HelmRelease", f"values: {{singleuser: {{{values}}}}}")


def _profile(override: str) -> str:
    return _hub(f"profileList: [{{kubespawner_override: {{{override}}}}}]")


def _named(version: str, kind: str, letters: int, spec: str = "replicas: 1") -> str:
    return written(version, kind, spec, f"name: {'n' * letters}")


def _notebook(*containers: str) -> str:
    named = ", ".join(f"{{name: {each}}}" for each in containers)
    return written("kubeflow.org/v1", "Notebook", f"template: {{spec: {{containers: [{named}]}}}}", "name: nb")


def _mpi(command: str, version: str = "v2beta1") -> str:
    worker = f"template: {{spec: {{containers: [{{name: w, command: {command}}}]}}}}"
    return written(f"kubeflow.org/{version}", "MPIJob", f"mpiReplicaSpecs: {{Launcher: {{}}, Worker: {{{worker}}}}}")


def _set(more: str, command: str = "torchrun --node_rank=$I t.py") -> str:
    pods = f"template: {{spec: {{containers: [{{name: c, command: [sh, -c, '{command}']}}]}}}}"
    job = f"{{name: w, template: {{spec: {{{more}{pods}}}}}}}"
    return written("jobset.x-k8s.io/v1alpha2", "JobSet", f"failurePolicy: {{maxRestarts: 3}}, replicatedJobs: [{job}]")


_LIMITS = "resources: {limits: {nvidia.com/gpu: 1, cpu: 8}}"


def _job(*containers: str, pod: str = "", limits: str = _LIMITS) -> str:
    first, *others = containers
    listed = ", ".join([f"{{name: t, {limits}, {first}}}", *(f"{{name: s, {each}}}" for each in others)])
    return written("batch/v1", "Job", f"template: {{spec: {{{pod}containers: [{listed}]}}}}")


_SHM = "hostIPC: true, "


def _loading(number: str) -> str:
    return f"command: [python, t.py, --num_workers, {number}]"


_TENSORBOARD = "command: [tensorboard, --logdir=/logs]"


def _torch(template: str, more: str = "") -> str:
    return written("kubeflow.org/v1", "PyTorchJob", f"pytorchReplicaSpecs: {{Master: {{{more}{template}}}}}")


def _train(trainer: str) -> str:
    return written("trainer.kubeflow.org/v1alpha1", "TrainJob", f"runtimeRef: {{name: torch-distributed}}, {trainer}")


def _devices(name: str, more: str = "") -> str:
    return _train(f"trainer: {{resourcesPerNode: {{limits: {{{name}: 2, cpu: 8}}}}{more}}}")


def _pipeline(*claims: str, tasks: str = "[{workspaces: [{name: a}, {name: b}]}]") -> str:
    bound = ", ".join(f"{{name: {each}, persistentVolumeClaim: {{claimName: {each}}}}}" for each in claims)
    return written("tekton.dev/v1", "PipelineRun", f"pipelineSpec: {{tasks: {tasks}}}, workspaces: [{bound}]")


def _dask(args: str, cluster: str = "x") -> str:
    worker = f"{{containers: [{{name: w, args: {args}, resources: {{limits: {{nvidia.com/gpu: '4'}}}}}}]}}"
    scheduler = f"scheduler: {{service: {{selector: {{dask.org/cluster-name: {cluster}}}}}}}"
    return written("kubernetes.dask.org/v1", "DaskCluster", f"worker: {{spec: {worker}}}, {scheduler}")


def _pages(medium: str, limits: str = "hugepages-2Mi: 1Gi, memory: 1Gi") -> str:
    container = f"{{name: c, resources: {{limits: {{{limits}}}}}}}"
    volume = f"{{name: h, emptyDir: {{medium: {medium}}}}}"
    return written("v1", "Pod", f"containers: [{container}], volumes: [{volume}]")


def _head(*containers: str) -> str:
    return written(
        "ray.io/v1", "RayCluster", f"headGroupSpec: {{template: {{spec: {{containers: [{', '.join(containers)}]}}}}}}"
    )


_RAY, _LOGS = "{name: ray-head, image: 'rayproject/ray:2.46.0'}", "{name: logs, image: 'fluent/fluent-bit:3'}"
_RUNTIME = (
    "\n---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, "
    "metadata: {name: torch-distributed}, "
    "spec: {mlPolicy: {torch: {}}, template: {spec: {replicatedJobs: [{template: {metadata: "
    "{labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: "
    "{containers: [{name: node, resources: {limits: {nvidia.com/gpu: 4}}}]}}}}}]}}}}"
)

_APPLICATION = written(
    "sparkoperator.k8s.io/v1beta2",
    "SparkApplication",
    "mode: cluster, driver: {serviceAccount: s}",
    "name: a, namespace: data",
)


def _operator(values: str, name: str = "spark-operator") -> str:
    chart = "chart: {spec: {chart: spark-operator, version: 2.2.0}}"
    return written("helm.toolkit.fluxcd.io/v2", "HelmRelease", f"{chart}, values: {{{values}}}", f"name: {name}")


def _controller(namespaces: str) -> str:
    container = (
        f"{{name: c, image: 'kubeflow/spark-operator/controller:2.2.0', args: [start, '--namespaces={namespaces}']}}"
    )
    return written("apps/v1", "Deployment", f"template: {{spec: {{containers: [{container}]}}}}", "name: spark")


def _meeting(service: str, host: str = "first") -> str:
    start = f"torchrun, --nnodes=2, --rdzv_backend=c10d, '--rdzv_endpoint={host}:29500', t.py"
    pods = f"template: {{spec: {{containers: [{{name: c, command: [{start}]}}]}}}}"
    ranks = written("apps/v1", "StatefulSet", pods, "name: s, namespace: ml")
    return "---".join([ranks, written("v1", "Service", service, "name: first, namespace: ml")])


def _served(scaling: str, more: str = "") -> str:
    applications = f"{{applications: [{{deployments: [{{name: d, {more}autoscaling_config: {{{scaling}}}}}]}}]}}"
    return written("ray.io/v1", "RayService", f'serveConfigV2: "{applications}"')


def _codes(numbers: str) -> str:
    rule = f"{{action: FailJob, onExitCodes: {{operator: In, values: [{numbers}]}}}}"
    pods = "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"
    return written("batch/v1", "Job", f"podFailurePolicy: {{rules: [{rule}]}}, {pods}")


def _policy(policy: str) -> str:
    job = "{name: node, template: {spec: {template: {spec: {containers: [{name: node, command: [torchrun, t.py]}]}}}}}"
    spec = f"mlPolicy: {{numNodes: 2{policy}}}, template: {{spec: {{replicatedJobs: [{job}]}}}}"
    return written("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", spec)


def _keys_of_ssh(pod: str, more: str = "") -> str:
    launcher = (
        f"Launcher: {{template: {{spec: {{{pod}containers: [{{name: l, command: [mpirun, --allow-run-as-root]}}]}}}}}}"
    )
    return written("kubeflow.org/v2beta1", "MPIJob", f"mpiReplicaSpecs: {{{launcher}}}{more}")


def _application(fields: str) -> str:
    return written("ray.io/v1", "RayService", f'serveConfigV2: "{{applications: [{{{fields}}}]}}"')


def _group(fields: str, more: str = "", head: str = "") -> str:
    return written("ray.io/v1", "RayCluster", f"headGroupSpec: {{{head}}}, workerGroupSpecs: [{{{fields}}}]{more}")


def _ray_job(more: str, head: str = "", scales: str = "") -> str:
    cluster = f"rayClusterSpec: {{{scales}headGroupSpec: {{template: {{spec: {{{head}}}}}}}}}"
    return written("ray.io/v1", "RayJob", f"entrypoint: t, {more}{cluster}")


def _opened(command: str, more: str = "") -> str:
    container = f"{{name: nb, command: {command}{more}}}"
    return written("kubeflow.org/v1", "Notebook", f"template: {{spec: {{containers: [{container}]}}}}", "name: nb")


def _ends(deadline: str, more: str = "") -> str:
    return written(
        "batch/v1", "Job", f"parallelism: 2, {more}template: {{spec: {{{deadline}containers: [{{name: c}}]}}}}"
    )


def _by(algorithm: str) -> str:
    return _trials(more=f", algorithm: {{algorithmName: {algorithm}}}")


def _on_spot(policy: str) -> str:
    pods = "template: {spec: {nodeSelector: {cloud.google.com/gke-spot: 'true'}, containers: [{name: c}]}}"
    job = f"{{name: w, template: {{spec: {{backoffLimit: 0, {pods}}}}}}}"
    return written("jobset.x-k8s.io/v1alpha2", "JobSet", f"{policy}replicatedJobs: [{job}]")


def _started(command: str, gpus: int = 4) -> str:
    container = f"{{name: pytorch, command: {command}, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}"
    return written(
        "kubeflow.org/v1",
        "PyTorchJob",
        f"pytorchReplicaSpecs: {{Master: {{}}, Worker: {{template: {{spec: {{containers: [{container}]}}}}}}}}",
    )


def _manager(image: str, args: str = "[a]") -> str:
    container = f"{{name: m, image: '{image}', args: {args}}}"
    return written("apps/v1", "Deployment", f"template: {{spec: {{containers: [{container}]}}}}", f"name: {image[:3]}")


_MPI = "mpioperator/mpi-operator:0.6.0"
_OPERATOR = "kubeflow/training-operator:v1-855e096"


def _flow(placed: str, own: str = "") -> str:
    steps = f"{{name: m, {placed}steps: [[{{name: a, template: t}}]]}}"
    return written(
        "argoproj.io/v1alpha1", "Workflow", f"templates: [{steps}, {{name: t, {own}container: {{image: i}}}}]"
    )


def _ranks(env: str, start: str = "[mpirun, -np, '2', t]") -> str:
    launcher = f"{{template: {{spec: {{containers: [{{name: l, command: {start}{env}}}]}}}}}}"
    return written("kubeflow.org/v2beta1", "MPIJob", f"mpiReplicaSpecs: {{Launcher: {launcher}, Worker: {{}}}}")


def _nodes(label: str) -> str:
    pods = "spec: {template: {spec: {containers: [{name: node, command: [/usr/sbin/sshd]}]}}}"
    job = f"{{name: node, template: {{metadata: {{labels: {{{label}}}}}, {pods}}}}}"
    spec = f"mlPolicy: {{mpi: {{numProcPerNode: 1}}}}, template: {{spec: {{replicatedJobs: [{job}]}}}}"
    runtime = written("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", spec, "name: torch-distributed")
    return "---".join([_train("trainer: {command: [mpirun, t]}"), runtime])


def _counted(launcher: str) -> str:
    worker = "template: {spec: {containers: [{name: w, resources: {limits: {nvidia.com/gpu: 8}}}]}}"
    launch = f"template: {{spec: {{containers: [{{name: l{launcher}}}]}}}}"
    roles = f"mpiReplicaSpecs: {{Launcher: {{{launch}}}, Worker: {{{worker}}}}}"
    return written(
        "kubeflow.org/v2beta1", "MPIJob", f"runPolicy: {{cleanPodPolicy: All}}, runLauncherAsWorker: true, {roles}"
    )


def _waits(kind: str) -> str:
    made = f"resource: {{successCondition: status.succeeded > 0, manifest: 'kind: {kind}'}}"
    return written("argoproj.io/v1alpha1", "Workflow", f"templates: [{{name: t, {made}}}]")


def _config(text: str, name: str = "c") -> str:
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{config.yaml: '{text}'}}}}"


def _machines(option: str = "", *configs: str) -> str:
    container = f"{{name: t, command: [accelerate, launch, {option}t.py]}}"
    pods = f"template: {{spec: {{containers: [{container}], volumes: [{{name: v, configMap: {{name: c}}}}]}}}}"
    return "---".join([written("batch/v1", "Job", f"parallelism: 2, {pods}"), *configs])


_FIRST = _config("{num_machines: 2, machine_rank: 0}")
_SECOND = _config("{num_machines: 2, machine_rank: 1}", "d")


_STRICT = written("security.istio.io/v1", "PeerAuthentication", "mtls: {mode: STRICT}", "name: default, namespace: ml")
_NCCL = ", env: [{name: NCCL_DEBUG, value: INFO}]"
_SCALES = ", enableInTreeAutoscaling: true"
_DELETES = "deletionStrategy: {onSuccess: {policy: %s}, onFailure: {policy: DeleteCluster}}, "
_ENV = "template: {spec: {containers: [{name: h, env: [{name: RAY_enable_autoscaler_v2, value: '1'}]}]}}"
_GROUP = "securityContext: {fsGroup: 7}, "
_WRONG_AND_RIGHT = [
    (_machines("", _FIRST), _machines("--machine_rank, $(RANK), ", _FIRST)),
    (_machines("", _FIRST), _machines("", _FIRST, _SECOND)),
    (
        _config("{train_batch_size: 8, fp16: {enabled: true}, bf16: {enabled: true}}"),
        _config("{train_batch_size: 8, fp16: {enabled: false}, bf16: {enabled: true}}"),
    ),
    (
        _config("{zero_optimization: {stage: 2, offload_param: {device: cpu}}}"),
        _config("{zero_optimization: {stage: 3, offload_param: {device: cpu}}}"),
    ),
    (_counted(""), _counted(", resources: {limits: {nvidia.com/gpu: 8}}")),
    (_waits("PyTorchJob"), _waits("Job")),
    ("---".join([_STRICT, _group("groupName: g")]), "---".join([_STRICT, _group("groupName: g"), _meeting("a: b")])),
    (_flow("tolerations: [], "), _flow("", "tolerations: [], ")),
    (_ranks(_NCCL), _ranks(_NCCL, "[mpirun, -x, NCCL_DEBUG, t]")),
    (_nodes("trainer.kubeflow.org/trainjob-ancestor-step: trainer"), _nodes("")),
    (_by("bayesian-optimization"), _by("bayesianoptimization")),
    (_on_spot(""), _on_spot("failurePolicy: {maxRestarts: 3}, ")),
    (
        _ray_job("entrypointNumCpus: 16, ", "containers: [{name: h, resources: {limits: {cpu: 8}}}]"),
        _ray_job("entrypointNumCpus: 8, ", "containers: [{name: h, resources: {limits: {cpu: 8}}}]"),
    ),
    (_started("[python, t.py]"), _started("[torchrun, t.py]")),
    (_started("[python, t.py]"), _started("[python, t.py]", 1)),
    (
        "---".join([_manager(_MPI), _manager(_OPERATOR)]),
        "---".join([_manager(_MPI), _manager(_OPERATOR, "['--enable-scheme=pytorchjob']")]),
    ),
    (_application("runtime_env: {working_dir: ./src}"), _application("runtime_env: {working_dir: 's3://code/a.zip'}")),
    (_application("import_path: app"), _application("import_path: 'app:model'")),
    (_application("route_prefix: llm"), _application("route_prefix: /llm")),
    (
        _application("deployments: [{ray_actor_options: {num_gpu: 1}}]"),
        _application("deployments: [{ray_actor_options: {num_gpus: 1}}]"),
    ),
    (
        _group("groupName: g", head='rayStartParams: {resources: \'"{\\"GPU\\": 1}"\'}'),
        _group("groupName: g", head='rayStartParams: {resources: \'"{\\"A100\\": 1}"\'}'),
    ),
    (
        _group("groupName: g", head="rayStartParams: {dashboard-host: 127.0.0.1}"),
        _group("groupName: g", head="rayStartParams: {dashboard-host: 0.0.0.0}"),
    ),
    (_group("groupName: g, suspend: true", _SCALES), _group("groupName: g, suspend: true")),
    (
        _group("groupName: g", f"{_SCALES}, autoscalerOptions: {{version: v2}}", _ENV),
        _group("groupName: g", _SCALES, _ENV),
    ),
    (
        _ray_job("submissionMode: SidecarMode, ", "restartPolicy: Always"),
        _ray_job("submissionMode: SidecarMode, ", "restartPolicy: Never"),
    ),
    (
        _ray_job(f"shutdownAfterJobFinishes: true, {_DELETES % 'DeleteNone'}"),
        _ray_job(f"shutdownAfterJobFinishes: true, {_DELETES % 'DeleteCluster'}"),
    ),
    (
        _ray_job(_DELETES % "DeleteWorkers", scales="enableInTreeAutoscaling: true, "),
        _ray_job(_DELETES % "DeleteWorkers"),
    ),
    (_ray_job("activeDeadlineSeconds: 0, "), _ray_job("activeDeadlineSeconds: 60, ")),
    (
        written("jobset.x-k8s.io/v1alpha2", "JobSet", "replicatedJobs: [{name: a, dependsOn: [{name: b}]}, {name: b}]"),
        written("jobset.x-k8s.io/v1alpha2", "JobSet", "replicatedJobs: [{name: b}, {name: a, dependsOn: [{name: b}]}]"),
    ),
    (_ends("activeDeadlineSeconds: 60, "), _ends("", "activeDeadlineSeconds: 60, ")),
    (_ends("activeDeadlineSeconds: 60, "), _ends("activeDeadlineSeconds: 60, ", "backoffLimit: 0, ")),
    (_opened("[t, --port, '8889']"), _opened("[t, --port, '8889']", ", ports: [{containerPort: 8889}]")),
    (_opened("[jupyter, lab]"), _opened("[jupyter, lab, '--ServerApp.base_url=$(NB_PREFIX)']")),
    (
        "---".join([_APPLICATION, _operator("")]),
        "---".join([_APPLICATION, _operator("spark: {jobNamespaces: [data]}")]),
    ),
    (
        "---".join([_APPLICATION, _operator("")]),
        "---".join([_APPLICATION, _operator(""), _operator("spark: {jobNamespaces: ['']}", "other")]),
    ),
    ("---".join([_APPLICATION, _controller("default")]), "---".join([_APPLICATION, _controller("default,data")])),
    (_meeting("ports: []"), _meeting("clusterIP: None")),
    (_meeting("ports: []"), _meeting("ports: []", "s-0.first")),
    (_served("min_replicas: 3, max_replicas: 2"), _served("min_replicas: 1, max_replicas: 2")),
    (_served("max_replicas: 2", "num_replicas: 2, "), _served("max_replicas: 2", "num_replicas: auto, ")),
    (_codes("0, 42"), _codes("42")),
    (_named("batch/v1", "CronJob", 53, "schedule: '@daily'"), _named("batch/v1", "CronJob", 52, "schedule: '@daily'")),
    (
        written("batch/v1", "CronJob", "schedule: '@daily', startingDeadlineSeconds: 5"),
        written("batch/v1", "CronJob", "schedule: '@daily', startingDeadlineSeconds: 60"),
    ),
    (
        _named("kubeflow.org/v1", "PyTorchJob", 55, "pytorchReplicaSpecs: {Master: {}}"),
        _named("kubeflow.org/v1", "PyTorchJob", 54, "pytorchReplicaSpecs: {Master: {}}"),
    ),
    (_policy(""), _policy(", torch: {}")),
    (_keys_of_ssh(_GROUP), _keys_of_ssh("")),
    (_keys_of_ssh(_GROUP), _keys_of_ssh(_GROUP, ", sshAuthMountPath: /home/mpiuser/.ssh")),
    (_trials(name="n" * 41), _trials(name="n" * 40)),
    (_double("max: '1'"), _double("min: '0', max: '1'")),
    (_double("min: '0', max: '1', list: ['1']"), _double("list: ['1']", "discrete")),
    (_double("min: '0', max: '1'", "categorical"), _double("list: [a]", "categorical")),
    (_trials().replace("primaryContainerName: t, ", ""), _trials()),
    (_trials(template=", trialSpec: {kind: Job, metadata: {name: a}}"), _trials()),
    (_of_kind("RayJob"), _of_kind("RayJob", ", successCondition: a, failureCondition: b")),
    (_of_kind("PyTorchJob"), _of_kind("PyTorchJob", ", primaryPodLabels: {a: b}")),
    (
        _trials(more=", metricsCollectorSpec: {source: {filter: {metricsFormat: ['loss=(.*)']}}}"),
        _trials(more=", metricsCollectorSpec: {source: {filter: {metricsFormat: ['(\\w+)=(.*)']}}}"),
    ),
    (_hub("memory: {limit: 16Gi}"), _hub("memory: {limit: 16G, guarantee: 1.5G}")),
    (_hub("cpu: {limit: 500m}"), _hub("cpu: {limit: 0.5}")),
    (_hub("resources: {limits: {}}"), _hub("extraResource: {limits: {nvidia.com/gpu: '1'}}")),
    (_profile("mem_limit: 8Gi"), _profile("mem_limit: 8G")),
    (_profile("nodeSelector: {a: b}"), _profile("node_selector: {a: b}, extra_resource_limits: {nvidia.com/gpu: '1'}")),
    (_named("apps/v1", "StatefulSet", 53), _named("apps/v1", "StatefulSet", 52)),
    (
        _named("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", 51),
        _named("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", 50),
    ),
    (_notebook("jupyter"), _notebook("nb")),
    (_notebook("jupyter"), _notebook("oauth-proxy", "nb")),
    (_mpi("[sleep, infinity]"), _mpi("[sh, -c, '/usr/sbin/sshd && sleep infinity']")),
    (_mpi("[sleep, infinity]"), _mpi("[sleep, infinity]", "v1")),
    (_set(""), _set("backoffLimit: 0, ")),
    (_set(""), _set("", "torchrun --rdzv_backend=c10d --node_rank=$I t.py")),
    (_job(_loading("'16'"), pod=_SHM), _job(_loading("'8'"), pod=_SHM)),
    (
        _job("args: ['torchrun t.py --nnodes=${N} model.data.num_workers=16']"),
        _job("args: ['torchrun t.py --num_workers=${W}']"),
    ),
    (_job("command: [t]", _TENSORBOARD), _job("command: [t]", _TENSORBOARD, pod="shareProcessNamespace: true, ")),
    (_job("command: [t]", _TENSORBOARD), _job(_TENSORBOARD)),
    (_job("command: [t]", "image: 'fluent/fluent-bit:3'"), _job("command: [t]", "image: 'lab/steps:1'")),
    (_torch("template: {spec: {restartPolicy: Never}}"), _torch("template: {spec: {}}", "restartPolicy: Never, ")),
    (_devices("nvidia.com/mig-1g.10gb"), _devices("nvidia.com/mig-1g.10gb", ", numProcPerNode: 2")),
    (_devices("memory") + _RUNTIME, _devices("nvidia.com/gpu") + _RUNTIME),
    (_pipeline("data", "models"), _pipeline("data", "data")),
    (_pipeline("data", "models"), _pipeline("data", "models", tasks="[{workspaces: [{name: a}]}]")),
    (_dask("[dask-worker, --name, $(DASK_WORKER_NAME)]"), _dask("[dask-cuda-worker]")),
    (_dask("[dask, worker]"), _dask("[dask, cuda, worker]")),
    (_dask("[dask-cuda-worker]", "y"), _dask("[dask-cuda-worker]")),
    (_pages("HugePages-2Mi", "hugepages-2Mi: 1Gi"), _pages("HugePages-2Mi")),
    (_pages("HugePages-1Gi"), _pages("HugePages")),
    (_pages("HugePages", "memory: 1Gi"), _pages("Memory", "memory: 1Gi")),
    (_head(_LOGS, _RAY), _head(_RAY, _LOGS)),
]


@pytest.mark.parametrize(("wrong", "right"), _WRONG_AND_RIGHT)
def test_a_value_that_a_batch_job_cannot_use_is_found_and_the_right_one_is_not(wrong: str, right: str) -> None:
    assert findings(*wrong.split("---"))
    assert not findings(*right.split("---"))


def test_a_place_names_the_first_element_and_a_line_of_a_command() -> None:
    value = yaml.safe_load("{containers: [{args: [--size, '2', 3]}, {args: [--size]}]}")

    assert [*value_forms.at(value, "containers[0].args+")] == [("/containers/0/args", "--size 2")]
    assert value_forms.values_at(value, "containers[1].args+ containers[2].args+ containers[0]+") == ["--size"]
