"""Values that queues, gang schedulers, Ray, Spark and Argo refuse or leave out, by rows of `known_keys.yaml`."""

import pytest
import yaml

from usher.kinds.reading import chosen_boards, controller_rules, value_forms
from usher.kinds.reading.values import Objects

_HEAD = "rayClusterConfig: {rayVersion: 2.46.0, headGroupSpec: {headService: {metadata: %s}}}"


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


def _config(text: str, key: str = "conf", name: str = "c") -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {key: text}})


def _kueue(text: str) -> str:
    return _config(f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{text}\n")


def _scheduler(profiles: str) -> str:
    return _config(
        f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{profiles}]\n"
    )


def _scored(strategy: str) -> str:
    plugin = f"{{name: NodeResourcesFit, args: {{scoringStrategy: {{{strategy}}}}}}}"
    return _scheduler(f"{{schedulerName: a, pluginConfig: [{plugin}]}}")


def _volcano_conf(actions: str, plugins: str) -> str:
    return _config(f'actions: "{actions}"\ntiers:\n- plugins: [{plugins}]\n')


_QUEUED = "name: x, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}"


def _annotated(annotation: str, spec: str) -> str:
    return _object("batch/v1", "Job", spec, f"name: x, namespace: ml, annotations: {{{annotation}}}")


def _cluster_queue(resource: str, amount: str, more: str = "") -> str:
    flavor = f"{{name: f, resources: [{{name: {resource}, nominalQuota: {amount}}}]}}"
    return _object("kueue.x-k8s.io/v1beta1", "ClusterQueue", f"resourceGroups: [{{flavors: [{flavor}]}}]{more}")


def _ray(spec: str, kind: str = "RayCluster") -> str:
    return _object("ray.io/v1", kind, spec)


def _group(spec: str, more: str = "") -> str:
    return _ray(f"workerGroupSpecs: [{{groupName: g, {spec}}}]{more}")


def _ray_start(command: str, annotations: str = "") -> str:
    container = f"{{name: ray-worker, command: {command}}}"
    spec = f"workerGroupSpecs: [{{template: {{spec: {{containers: [{container}]}}}}}}]"
    return _object("ray.io/v1", "RayCluster", spec, f"name: x, annotations: {{{annotations}}}")


def _spark(spec: str) -> str:
    return _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)


def _volcano(spec: str) -> str:
    return _object("batch.volcano.sh/v1alpha1", "Job", spec)


def _flow(template: str, more: str = "") -> str:
    return _object("argoproj.io/v1alpha1", "Workflow", f"entrypoint: m, templates: [{{name: m, {template}}}]{more}")


def _tasks(*tasks: str) -> str:
    return _flow(f"dag: {{tasks: [{', '.join(tasks)}]}}")


def _made(more: str) -> str:
    manifest = "apiVersion: kubeflow.org/v1\\nkind: PyTorchJob\\n"
    return _flow(f'resource: {{action: create, manifest: "{manifest}"{more}}}')


def _runtime(job: str, kind: str = "ClusterTrainingRuntime", policy: str = "torch: {}") -> str:
    spec = f"mlPolicy: {{{policy}}}, template: {{spec: {{replicatedJobs: [{job}]}}}}"
    return _object("trainer.kubeflow.org/v1alpha1", kind, spec, "name: own")


def _step(replicas: int, container: str) -> str:
    labels = "metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}"
    pods = f"spec: {{template: {{spec: {{containers: [{{name: {container}, image: 'a:1'}}]}}}}}}"
    return f"{{name: node, replicas: {replicas}, template: {{{labels}, {pods}}}}}"


def _train(spec: str) -> str:
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", spec)


def _elastic(spec: str) -> str:
    return _object("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", spec)


def _kai(annotation: str) -> str:
    metadata = f"name: x, annotations: {{{annotation}}}"
    return _object("v1", "Pod", "schedulerName: kai-scheduler, containers: [{name: c, image: 'a:1'}]", metadata)


def _hosts(enabled: str, command: str) -> str:
    container = f"{{name: c, command: {command}}}"
    pods = f"template: {{spec: {{template: {{spec: {{containers: [{container}]}}}}}}}}"
    network = f"network: {{enableDNSHostnames: {enabled}}}"
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", f"{network}, replicatedJobs: [{{name: w, {pods}}}]")


_OWN_SORT = "{schedulerName: b, plugins: {queueSort: {enabled: [{name: Coscheduling}]}}}"
_GPU_OF_EXECUTOR = "spark.executor.resource.gpu.amount: '1', spark.executor.resource.gpu.discoveryScript: /a.sh"
_OPTIONS = "gcsFaultToleranceOptions: {redisAddress: 'r:6379'}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            _kueue("fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}"),
            _kueue("fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}"),
        ),
        (
            _kueue("fairSharing: {preemptionStrategies: [LowerShare]}"),
            _kueue("fairSharing: {preemptionStrategies: [LessThanInitialShare]}"),
        ),
        (
            _kueue("resources: {transformations: [{input: a.com/b, strategy: Convert}]}"),
            _kueue("resources: {transformations: [{input: a.com/b, strategy: Retain}]}"),
        ),
        (
            _kueue("integrations: {externalFrameworks: [argoproj.io/workflow]}"),
            _kueue("integrations: {externalFrameworks: [Workflow.v1alpha1.argoproj.io]}"),
        ),
        (
            _kueue("waitForPodsReady: {enable: true, timeout: 15m, requeuingStrategy: {timestamp: Created}}"),
            _kueue("waitForPodsReady: {enable: true, timeout: 15m, requeuingStrategy: {timestamp: Creation}}"),
        ),
        (
            _kueue("multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}"),
            _kueue(
                "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, "
                "incrementalDispatcherConfig: {stepSize: 2}}"
            ),
        ),
        (
            _annotated("kueue.x-k8s.io/job-completions-equal-parallelism: 'true'", "parallelism: 2"),
            _annotated(
                "kueue.x-k8s.io/job-completions-equal-parallelism: 'true'",
                "parallelism: 2, completions: 2, completionMode: Indexed",
            ),
        ),
        (
            _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "mode: client", _QUEUED),
            _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", "mode: client"),
        ),
        (_cluster_queue("memory", "36"), _cluster_queue("memory", "36Gi")),
        (_cluster_queue("memory", "'64'"), _cluster_queue("cpu", "64")),
        (_cluster_queue("nvidia.com/gpu", "0"), _cluster_queue("nvidia.com/gpu", "0", ", cohort: c")),
        (
            _object("v1", "ResourceQuota", "hard: {requests.memory: '64'}"),
            _object("v1", "ResourceQuota", "hard: {requests.memory: 64Gi, pods: 64}"),
        ),
        (
            _object("karpenter.sh/v1", "NodePool", "limits: {memory: 1000}"),
            _object("karpenter.sh/v1", "NodePool", "limits: {memory: 1000Gi, cpu: 1000}"),
        ),
        (_ray("entrypoint: python a.py", "RayJob"), _ray("clusterSelector: {ray.io/cluster: a}", "RayJob")),
        (_ray("clusterSelector: {app: a}", "RayJob"), _ray("clusterSelector: {ray.io/cluster: a}", "RayJob")),
        (
            _ray("clusterSelector: {ray.io/cluster: a}, rayClusterSpec: {rayVersion: 2.46.0}", "RayJob"),
            _ray("rayClusterSpec: {rayVersion: 2.46.0}", "RayJob"),
        ),
        (
            _ray(f"{_OPTIONS}, headGroupSpec: {{rayStartParams: {{redis-password: p}}}}"),
            _ray(f"{_OPTIONS}, headGroupSpec: {{rayStartParams: {{dashboard-host: 0.0.0.0}}}}"),
        ),
        (
            _group("idleTimeoutSeconds: 60"),
            _group("idleTimeoutSeconds: 60", ", autoscalerOptions: {version: v2}"),
        ),
        (
            _ray("authOptions: {mode: token}, rayVersion: 2.51.1"),
            _ray("authOptions: {mode: token}, rayVersion: 2.52.0"),
        ),
        (_group("rayStartParams: {labels: a=b}"), _group("labels: {a: b}")),
        (
            _group("rayStartParams: {resources: '{\"a\": 1}'}"),
            _group("rayStartParams: {resources: '\"{\\\"a\\\": 1}\"'}"),
        ),
        (
            _ray_start("[ray, start, '--address=a:6379', --block]"),
            _ray_start("[ray, start, '--address=a:6379', --block]", "ray.io/overwrite-container-cmd: 'true'"),
        ),
        (_ray_start("[sh, -c, 'ulimit -n 9; ray start --block']"), _ray_start("[sh, -c, $KUBERAY_GEN_RAY_START_CMD]")),
        (
            _ray("shutdownAfterJobFinishes: true, rayClusterSpec: {}, deletionStrategy: {deletionRules: []}", "RayJob"),
            _ray("rayClusterSpec: {}, deletionStrategy: {deletionRules: []}", "RayJob"),
        ),
        (
            _ray(
                "upgradeStrategy: {type: NewClusterWithIncrementalUpgrade}, "
                "rayClusterConfig: {enableInTreeAutoscaling: true}",
                "RayService",
            ),
            _ray("upgradeStrategy: {type: NewCluster}, rayClusterConfig: {}", "RayService"),
        ),
        (
            _ray(_HEAD % "{name: a}", "RayService"),
            _ray(_HEAD % "{labels: {a: b}}", "RayService"),
        ),
        (_spark("executor: {memory: 4Gi}"), _spark("executor: {memory: 4g}, driver: {memory: 512M}")),
        (_spark("executor: {memory: 1.5g}"), _spark("executor: {memory: 1536m, memoryOverhead: '384'}")),
        (
            _spark(f"sparkConf: {{spark.task.resource.gpu.amount: '2', {_GPU_OF_EXECUTOR}}}"),
            _spark(f"sparkConf: {{spark.task.resource.gpu.amount: '1', {_GPU_OF_EXECUTOR}}}"),
        ),
        (_spark("type: Python"), _spark("type: Python, mainApplicationFile: 'local:///a.py'")),
        (_spark("executor: {cores: 4, coreLimit: '2'}"), _spark("executor: {cores: 4, coreLimit: '4'}")),
        (_spark("driver: {cores: 4, coreLimit: '2'}"), _spark("driver: {cores: 4, coreLimit: '2', coreRequest: '1'}")),
        (
            _volcano("policies: [{event: '*', action: RestartJob}, {event: PodFailed, action: AbortJob}]"),
            _volcano("policies: [{event: '*', action: RestartJob}]"),
        ),
        (
            _volcano("policies: [{event: PodFailed, exitCode: 3, action: AbortJob}]"),
            _volcano("policies: [{exitCode: 3, action: AbortJob}]"),
        ),
        (_volcano("policies: [{action: AbortJob}]"), _volcano("policies: [{events: [PodFailed], action: AbortJob}]")),
        (_volcano("volumes: [{mountPath: /a}]"), _volcano("volumes: [{mountPath: /a, volumeClaimName: b}]")),
        (_volcano("schedulerName: default-scheduler"), _volcano("schedulerName: volcano")),
        (_volcano_conf("allocate", "{name: gangs}"), _volcano_conf("allocate", "{name: gang}, {name: our-own-plugin}")),
        (
            _object("scheduling.run.ai/v2", "Queue", "parentQueue: a"),
            _object("scheduling.run.ai/v2", "Queue", "parentQueue: a, resources: {gpu: {quota: 0}}"),
        ),
        (
            _annotated("kai.scheduler/batch-min-member: '8'", "parallelism: 4"),
            _annotated("kai.scheduler/batch-min-member: '4'", "parallelism: 4"),
        ),
        (_kai("gpu-fraction-num-devices: '2'"), _kai("gpu-fraction-num-devices: '2', gpu-fraction: '0.5'")),
        (
            _elastic("min: {nvidia.com/gpu: 8}, max: {nvidia.com/gpu: 4}"),
            _elastic("min: {nvidia.com/gpu: 4}, max: {nvidia.com/gpu: 4}"),
        ),
        (
            _object("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {subdomain: my.train}"),
            _object("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {subdomain: my-train}"),
        ),
        (
            _hosts("false", "[torchrun, '--rdzv-endpoint=x-w-0-0.x:29500']"),
            _hosts("false", "[torchrun, --standalone, train.py]"),
        ),
        (_runtime(_step(2, "node")), _runtime(_step(1, "node"))),
        (_runtime(_step(1, "trainer")), _runtime(_step(1, "node"))),
        (
            _train("initializer: {dataset: {storageUri: org/data}}"),
            _train("initializer: {dataset: {storageUri: 'hf://org/data'}}"),
        ),
        (
            _train("runtimeRef: {name: torchtune-llama3.2-1b}, trainer: {numNodes: 2}"),
            _train("runtimeRef: {name: torchtune-llama3.3-70b}, trainer: {numNodes: 2}"),
        ),
        (
            _train("runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2, command: [python, t.py]}"),
            _train("runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2, command: [torchrun, t.py]}"),
        ),
        (
            _object("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs: {Worker: {replicas: 2}}"),
            _object("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}"),
        ),
        (_flow("inputs: {parameters: [{name: a}]}"), _flow("suspend: {}")),
        (_flow("container: {image: 'a:1'}, script: {source: a}"), _flow("script: {image: 'a:1', source: a}")),
        (_flow("dag: {tasks: []}, steps: []"), _flow("dag: {tasks: []}")),
        (_flow("container: {image: 'a:1'}, parallelism: 2"), _flow("dag: {tasks: []}, parallelism: 2")),
        (
            _tasks("{name: b, depends: a}", "{name: c, dependencies: [a]}"),
            _tasks("{name: b, depends: a}", "{name: c, depends: a}"),
        ),
        (_tasks("{name: 1a}", "{name: b, depends: 1a}"), _tasks("{name: a1}", "{name: b, depends: a1}")),
        (_tasks("{name: 1a}", "{name: b, dependencies: [1a]}"), _tasks("{name: 1a}", "{name: b}")),
        (
            _flow("suspend: {}", ", podGC: {strategy: OnPodDone}"),
            _flow("suspend: {}", ", podGC: {strategy: OnPodCompletion}"),
        ),
        (
            _flow("container: {image: 'a:1'}, sidecars: [{name: wait}]"),
            _flow("container: {image: 'a:1'}, sidecars: [{name: log}]"),
        ),
        (_made(""), _made(", successCondition: 'status.succeeded > 0'")),
        (
            _config("partitions: [{name: default, queues: [{name: root, resources: {max: {vcore: 9}}}]}]"),
            _config("partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"),
        ),
        (
            _config("partitions: []", "queue.yaml", "yunikorn-configs"),
            _config("partitions: []", "queues.yaml", "yunikorn-configs"),
        ),
        (
            _scheduler(f"{{schedulerName: a}}, {_OWN_SORT}"),
            _scheduler(_OWN_SORT),
        ),
        (_scored("type: RequestedToCapacityRatio"), _scored("type: MostAllocated")),
        (_scored("type: MostAllocate"), _scored("type: LeastAllocated")),
        (
            _scored("type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 1000}]"),
            _scored("type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 100}]"),
        ),
    ],
)  # fmt: skip
def test_what_a_controller_refuses_is_found_and_the_right_value_is_not(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


def _gates(*gates: str) -> str:
    return _kueue(f"featureGates: {{{', '.join(f'{each}: true' for each in gates)}}}")


def _manager(argument: str, image: str = "registry.k8s.io/kueue/kueue:v0.12.0") -> str:
    container = f"{{name: manager, image: '{image}', args: ['{argument}']}}"
    return _object("apps/v1", "Deployment", f"template: {{spec: {{containers: [{container}]}}}}")


def _mapped(*classes: str) -> str:
    each = ", ".join(f"{{name: gpu-{number}, deviceClassNames: [{name}]}}" for number, name in enumerate(classes))
    return _kueue(f"resources: {{deviceClassMappings: [{each}]}}")


def _pod(limits: str, more: str = "", metadata: str = "name: p, namespace: ml") -> str:
    spec = f"{more}containers: [{{name: c, image: 'a:1', resources: {{limits: {{{limits}}}}}}}]"
    return _object("v1", "Pod", spec, metadata)


def _placed(operator: str, value: str) -> str:
    each = f"matchExpressions: [{{key: nvidia.com/gpu.memory, operator: {operator}, values: ['{value}']}}]"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{{each}}}]}}"
    return _pod("nvidia.com/gpu: 1", f"affinity: {{nodeAffinity: {{{required}}}}}, ")


def _of_class(quality: str, priority: str = "", requests: str = "cpu: 4") -> str:
    container = f"{{name: c, image: 'a:1', resources: {{requests: {{{requests}}}, limits: {{{requests}}}}}}}"
    labels = f"name: p, namespace: ml, labels: {{koordinator.sh/qosClass: {quality}}}"
    return _object("v1", "Pod", f"{priority}containers: [{container}]", labels)


def _elastic_of_koordinator(least: str) -> str:
    labels = "name: q, namespace: ml, labels: {quota.scheduling.koordinator.sh/is-parent: 'false'}"
    return _object("scheduling.sigs.k8s.io/v1alpha1", "ElasticQuota", f"min: {{{least}}}, max: {{cpu: 9}}", labels)


def _elastic_job(topology: str, elastic: str = "true") -> str:
    metadata = f"{_QUEUED}, annotations: {{kueue.x-k8s.io/elastic-job: '{elastic}'}}"
    template = f"{{metadata: {{annotations: {{kueue.x-k8s.io/podset-{topology}-topology: rack}}}}, spec: {{}}}}"
    return _object("batch/v1", "Job", f"template: {template}", metadata)


def _concurrent(more: str, flavor: str = "f") -> str:
    limits = f"constraints: {{lastAcceptableFlavorName: {flavor}}}"
    policy = f", concurrentAdmissionPolicy: {{migration: {{{limits}}}}}"
    return _cluster_queue("nvidia.com/gpu", "8", f"{policy}{more}")


def _with_topology_policy(cpu: str, policy: str = "restricted") -> str:
    container = f"{{name: c, image: 'a:1', resources: {{requests: {{cpu: {cpu}}}}}}}"
    task = f"{{name: t, topologyPolicy: {policy}, template: {{spec: {{containers: [{container}]}}}}}}"
    return _object("batch.volcano.sh/v1alpha1", "Job", f"tasks: [{task}]")


def _slurm(cgroup: str, gres: str = "Name=gpu File=/dev/nvidia0") -> str:
    data = {"cgroup.conf": cgroup, "gres.conf": gres}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": data})


def _kai(resources: str) -> str:
    return _object("scheduling.run.ai/v2", "Queue", f"resources: {{{resources}}}", "name: q")


_NO_LIMITS = "cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}"


def _remote(location: str, kind: str = "Secret") -> str:
    spec = f"kubeConfig: {{locationType: {kind}, location: {location}}}"
    return _object("kueue.x-k8s.io/v1beta1", "MultiKueueCluster", spec, "name: w")


def _in_workload(group: str) -> str:
    pod = _pod("nvidia.com/gpu: 1", f"workloadRef: {{name: w, podGroup: {group}}}, ")
    spec = "podGroups: [{name: workers, policy: {gang: {minCount: 4}}}]"
    return f"{pod}\n---\n" + _object("scheduling.k8s.io/v1alpha1", "Workload", spec, "name: w, namespace: ml")


_RULES_OF_KUEUE = [
    (_remote("kueue-system/w"), _remote("w")),
    (_remote("kueue-system/w"), _remote("/etc/w", "Path")),
    (
        _kueue("waitForPodsReady: {timeout: 15m, requeuingStrategy: {backoffLimitCount: 0}}"),
        _kueue("waitForPodsReady: {timeout: 15m, requeuingStrategy: {backoffLimitCount: 3}}"),
    ),
    (
        _kueue("integrations: {frameworks: [batch/job, deployment]}"),
        _kueue("integrations: {frameworks: [pod, deployment]}"),
    ),
    (_gates("QueueVisibility"), _gates("TopologyAwareScheduling")),
    (_gates("TopologyAwareSchedule"), _gates("PartialAdmission", "SomethingElseOfASite")),
    (
        _manager("--feature-gates=TopologyAwareScheduling=true,LendingLimit=true"),
        _manager("--feature-gates=LendingLimit=true", "example.com/other:1"),
    ),
    (_mapped("gpu.nvidia.com", "gpu.nvidia.com"), _mapped("gpu.nvidia.com", "mig.nvidia.com")),
    (
        _kueue("resources: {transformations: [{input: a/b, strategy: Retain}, {input: a/b, strategy: Replace}]}"),
        _kueue("resources: {transformations: [{input: a/b, strategy: Retain}, {input: a/c, strategy: Replace}]}"),
    ),
    (
        _kueue("resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a.com]}"),
        _kueue("resources: {quotaCheckStrategy: BlockUndeclared, excludeResourcePrefixes: [a.com]}"),
    ),
    (_kueue("integrations: {frameworks: [pod, pod]}"), _kueue("integrations: {frameworks: [pod, batch/job]}")),
    (_concurrent(", queueingStrategy: StrictFIFO"), _concurrent(", queueingStrategy: BestEffortFIFO")),
    (_concurrent("", "spot"), _concurrent("")),
    (_elastic_job("preferred"), _elastic_job("unconstrained")),
    (_elastic_job("required"), _elastic_job("required", "false")),
]

_RULES_OF_OTHERS = [
    (_kai("cpu: {limit: 8}, memory: {limit: -1}"), _kai("cpu: {limit: 8000}, memory: {limit: -1}")),
    (
        _kai("cpu: {quota: 8, limit: -1}, memory: {limit: -1}"),
        _kai("cpu: {quota: 100, limit: -1}, memory: {limit: -1}"),
    ),
    (_kai("cpu: {limit: -1}, memory: {quota: 64, limit: -1}"), _kai("cpu: {limit: -1}, memory: {quota: 0, limit: -1}")),
    (_kai("cpu: {limit: -1}, memory: {limit: 64}"), _kai("cpu: {limit: -1}, memory: {limit: 64000}")),
    (_kai(f"{_NO_LIMITS}, gpu: {{quota: 4}}"), _kai(f"{_NO_LIMITS}, gpu: {{quota: 4, limit: -1}}")),
    (_kai("gpu: {quota: 4, limit: 8}"), _kai(f"{_NO_LIMITS}, gpu: {{quota: 0, limit: 8}}")),
    (_in_workload("worker"), _in_workload("workers")),
    (_slurm("CgroupPlugin=autodetect\n#ConstrainDevices=yes"), _slurm("CgroupPlugin=autodetect\nConstrainDevices=yes")),
    (_slurm("ConstrainDevices=no", "AutoDetect=nvidia"), _slurm("ConstrainDevices=no", "AutoDetect=off")),
    (_placed("Gt", "40Gi"), _placed("Gt", "40000")),
    (_placed("Lt", "4.5"), _placed("In", "40Gi")),
    (
        _pod("cpu: 1", "schedulerName: kai-scheduler, ", "name: p, namespace: ml, labels: {gpu-fraction: '0.5'}"),
        _pod("cpu: 1", "schedulerName: kai-scheduler, ", "name: p, namespace: ml, annotations: {gpu-fraction: '0.5'}"),
    ),
    (
        _object("batch.volcano.sh/v1alpha1", "Job", "queue: root"),
        _object("batch.volcano.sh/v1alpha1", "Job", "queue: a"),
    ),
    (_annotated("scheduling.volcano.sh/queue-name: root", ""), _annotated("scheduling.volcano.sh/queue-name: a", "")),
    (_with_topology_policy("500m"), _with_topology_policy("4")),
    (_with_topology_policy("1.5"), _with_topology_policy("1.5", "none")),
    (_pod("koordinator.sh/gpu-core: 50"), _pod("koordinator.sh/gpu-core: 50, koordinator.sh/gpu-memory-ratio: 50")),
    (_pod("koordinator.sh/gpu: 50, nvidia.com/gpu: 1"), _pod("koordinator.sh/gpu: 50")),
    (
        _pod("koordinator.sh/gpu-memory: 8Gi, koordinator.sh/gpu-memory-ratio: 50"),
        _pod("koordinator.sh/gpu-memory: 8Gi"),
    ),
    (_pod("koordinator.sh/gpu: 150"), _pod("koordinator.sh/gpu: 200")),
    (
        _pod("koordinator.sh/gpu-memory-ratio: 250"),
        _pod("koordinator.sh/gpu-memory-ratio: 250, koordinator.sh/gpu.shared: 5"),
    ),
    (
        _pod("koordinator.sh/gpu: 50", "schedulerName: default-scheduler, "),
        _pod("koordinator.sh/gpu: 50", "schedulerName: koord-scheduler, "),
    ),
    (_of_class("LS", "", "kubernetes.io/batch-cpu: 4"), _of_class("BE", "", "kubernetes.io/batch-cpu: 4")),
    (_of_class("BE", "priorityClassName: koord-prod, "), _of_class("BE", "priorityClassName: koord-batch, ")),
    (_of_class("LSR", "priorityClassName: koord-batch, "), _of_class("LSR", "priorityClassName: koord-prod, ")),
    (_of_class("LSR", "", "cpu: 500m"), _of_class("LSR", "", "cpu: 4000m")),
    (_of_class("LSE", "", "cpu: 1.5"), _of_class("LS", "", "cpu: 1.5")),
    (_elastic_of_koordinator("nvidia.com/gpu: 4"), _elastic_of_koordinator("cpu: 4")),
]


@pytest.mark.parametrize(("wrong", "right"), [*_RULES_OF_KUEUE, *_RULES_OF_OTHERS])
def test_a_rule_of_a_webhook_or_a_scheduler_is_known(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


_OF_A_RACK = "kai.scheduler/topology: t, kai.scheduler/topology-required-placement"
_TOPOLOGY = _object("kai.scheduler/v1alpha1", "Topology", "levels: [{nodeLabel: rack}]", "name: t")
_OTHER_TOPOLOGY = _object("kai.scheduler/v1alpha1", "Topology", "levels: [{nodeLabel: zone}]", "name: u")
_REFERENCE = "runtimeRef: {name: own}"


@pytest.mark.parametrize(
    ("wrong", "right", "others"),
    [
        (
            _train(_REFERENCE),
            _train("runtimeRef: {name: own, kind: TrainingRuntime}"),
            _object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "", "name: own, namespace: ml"),
        ),
        (
            _train(f"{_REFERENCE}, initializer: {{dataset: {{storageUri: 'hf://a/b'}}}}"),
            _train("runtimeRef: {name: other}, initializer: {dataset: {storageUri: 'hf://a/b'}}"),
            _runtime("{name: node}"),
        ),
        (
            _train(f"{_REFERENCE}, initializer: {{model: {{storageUri: 'hf://a/b'}}}}"),
            _train(_REFERENCE),
            _runtime("{name: node}, {name: dataset-initializer}"),
        ),
        (
            _train(f"{_REFERENCE}, podTemplateOverrides: [{{targetJobs: [{{name: worker}}]}}]"),
            _train(f"{_REFERENCE}, podTemplateOverrides: [{{targetJobs: [{{name: node}}]}}]"),
            _runtime("{name: node}"),
        ),
        (
            _train(f"{_REFERENCE}, trainer: {{numNodes: 2, command: [python3, t.py]}}"),
            _train(f"{_REFERENCE}, trainer: {{numNodes: 2, command: [python3, -m, torch.distributed.run, t.py]}}"),
            _runtime("{name: node}"),
        ),
        (
            _annotated(f"{_OF_A_RACK}: row", ""),
            _annotated(f"{_OF_A_RACK}: rack", ""),
            f"{_TOPOLOGY}\n---\n{_OTHER_TOPOLOGY}",
        ),
        (
            _volcano("networkTopology: {mode: hard, highestTierAllowed: 1}"),
            _volcano("minAvailable: 1"),
            _volcano_conf("allocate", "{name: gang}"),
        ),
    ],
)  # fmt: skip
def test_what_another_object_contradicts_is_found_and_the_right_one_is_not(wrong: str, right: str, others: str) -> None:
    assert len(_texts(f"{wrong}\n---\n{others}")) == 1
    assert _texts(f"{right}\n---\n{others}") == []
    assert _texts(wrong) == []


@pytest.mark.parametrize("damaged", ["~", "7", "x", "[]", "[null]", "{a: null}", "[[1]]", "1e30", "true"])
def test_a_damaged_reference_finds_no_other_object(damaged: str) -> None:
    job = _train(f"runtimeRef: {{name: {damaged}}}, podTemplateOverrides: [{{targetJobs: [{{name: worker}}]}}]")

    assert _texts(f"{job}\n---\n{_runtime('{name: node}')}") == []
