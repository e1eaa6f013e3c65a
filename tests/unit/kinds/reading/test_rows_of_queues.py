"""Values that queues, gang schedulers, Ray, Spark and Argo refuse or leave out, by rows of `known_keys.yaml`."""

import pytest
import yaml

from usher.kinds.reading import chosen_boards, controller_rules, value_forms
from usher.kinds.reading.values import NO_OBJECTS, Objects

_HEAD = "rayClusterConfig: {rayVersion: 2.46.0, headGroupSpec: {headService: {metadata: %s}}}"


def texts(text: str) -> list[str]:
    """The findings about the first of several objects."""
    values = list(yaml.safe_load_all(text))
    value, key = values[0], (str(values[0].get("apiVersion")).rpartition("/")[0], str(values[0].get("kind")))
    found = [
        *controller_rules.refused(value, key, value_forms.pod_specs(value)),
        *(value_forms.refused_parts(value, key, NO_OBJECTS) if key[1] == "LimitRange" else ()),
        *chosen_boards.beside_others(value, key, Objects(values)),
    ]
    return [each.text for each in found]


def written(version: str, kind: str, spec: str, metadata: str = "name: x, namespace: ml") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def config(text: str, key: str = "conf", name: str = "c") -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {key: text}})


def kueue(text: str) -> str:
    return config(f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{text}\n")


def _scheduler(profiles: str) -> str:
    return config(
        f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{profiles}]\n"
    )


def _scored(strategy: str) -> str:
    plugin = f"{{name: NodeResourcesFit, args: {{scoringStrategy: {{{strategy}}}}}}}"
    return _scheduler(f"{{schedulerName: a, pluginConfig: [{plugin}]}}")


def volcano_conf(actions: str, plugins: str) -> str:
    return config(f'actions: "{actions}"\ntiers:\n- plugins: [{plugins}]\n')


QUEUED = "name: x, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}"


def annotated(annotation: str, spec: str) -> str:
    return written("batch/v1", "Job", spec, f"name: x, namespace: ml, annotations: {{{annotation}}}")


def cluster_queue(resource: str, amount: str, more: str = "") -> str:
    flavor = f"{{name: f, resources: [{{name: {resource}, nominalQuota: {amount}}}]}}"
    return written("kueue.x-k8s.io/v1beta1", "ClusterQueue", f"resourceGroups: [{{flavors: [{flavor}]}}]{more}")


def _ray(spec: str, kind: str = "RayCluster") -> str:
    return written("ray.io/v1", kind, spec)


def _group(spec: str, more: str = "") -> str:
    return _ray(f"workerGroupSpecs: [{{groupName: g, {spec}}}]{more}")


def _ray_start(command: str, annotations: str = "") -> str:
    container = f"{{name: ray-worker, command: {command}}}"
    spec = f"workerGroupSpecs: [{{template: {{spec: {{containers: [{container}]}}}}}}]"
    return written("ray.io/v1", "RayCluster", spec, f"name: x, annotations: {{{annotations}}}")


def _spark(spec: str) -> str:
    return written("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)


def _volcano(spec: str) -> str:
    return written("batch.volcano.sh/v1alpha1", "Job", spec)


def _flow(template: str, more: str = "") -> str:
    return written("argoproj.io/v1alpha1", "Workflow", f"entrypoint: m, templates: [{{name: m, {template}}}]{more}")


def _tasks(*tasks: str) -> str:
    return _flow(f"dag: {{tasks: [{', '.join(tasks)}]}}")


def _made(more: str) -> str:
    manifest = "apiVersion: kubeflow.org/v1\\nkind: PyTorchJob\\n"
    return _flow(f'resource: {{action: create, manifest: "{manifest}"{more}}}')


def _runtime(job: str, kind: str = "ClusterTrainingRuntime", policy: str = "torch: {}") -> str:
    spec = f"mlPolicy: {{{policy}}}, template: {{spec: {{replicatedJobs: [{job}]}}}}"
    return written("trainer.kubeflow.org/v1alpha1", kind, spec, "name: own")


def _step(replicas: int, container: str) -> str:
    labels = "metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}"
    pods = f"spec: {{template: {{spec: {{containers: [{{name: {container}, image: 'a:1'}}]}}}}}}"
    return f"{{name: node, replicas: {replicas}, template: {{{labels}, {pods}}}}}"


def _train(spec: str) -> str:
    return written("trainer.kubeflow.org/v1alpha1", "TrainJob", spec)


def _elastic(spec: str) -> str:
    return written("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", spec)


def _kai(annotation: str) -> str:
    metadata = f"name: x, annotations: {{{annotation}}}"
    return written("v1", "Pod", "schedulerName: kai-scheduler, containers: [{name: c, image: 'a:1'}]", metadata)


def _hosts(enabled: str, command: str) -> str:
    container = f"{{name: c, command: {command}}}"
    pods = f"template: {{spec: {{template: {{spec: {{containers: [{container}]}}}}}}}}"
    network = f"network: {{enableDNSHostnames: {enabled}}}"
    return written("jobset.x-k8s.io/v1alpha2", "JobSet", f"{network}, replicatedJobs: [{{name: w, {pods}}}]")


_OWN_SORT = "{schedulerName: b, plugins: {queueSort: {enabled: [{name: Coscheduling}]}}}"
_GPU_OF_EXECUTOR = "spark.executor.resource.gpu.amount: '1', spark.executor.resource.gpu.discoveryScript: /a.sh"
_OPTIONS = "gcsFaultToleranceOptions: {redisAddress: 'r:6379'}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            kueue("fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}"),
            kueue("fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}"),
        ),
        (
            kueue("fairSharing: {preemptionStrategies: [LowerShare]}"),
            kueue("fairSharing: {preemptionStrategies: [LessThanInitialShare]}"),
        ),
        (
            kueue("resources: {transformations: [{input: a.com/b, strategy: Convert}]}"),
            kueue("resources: {transformations: [{input: a.com/b, strategy: Retain}]}"),
        ),
        (
            kueue("integrations: {externalFrameworks: [argoproj.io/workflow]}"),
            kueue("integrations: {externalFrameworks: [Workflow.v1alpha1.argoproj.io]}"),
        ),
        (
            kueue("waitForPodsReady: {enable: true, timeout: 15m, requeuingStrategy: {timestamp: Created}}"),
            kueue("waitForPodsReady: {enable: true, timeout: 15m, requeuingStrategy: {timestamp: Creation}}"),
        ),
        (
            kueue("multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}"),
            kueue(
                "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, "
                "incrementalDispatcherConfig: {stepSize: 2}}"
            ),
        ),
        (
            annotated("kueue.x-k8s.io/job-completions-equal-parallelism: 'true'", "parallelism: 2"),
            annotated(
                "kueue.x-k8s.io/job-completions-equal-parallelism: 'true'",
                "parallelism: 2, completions: 2, completionMode: Indexed",
            ),
        ),
        (
            written("sparkoperator.k8s.io/v1beta2", "SparkApplication", "mode: client", QUEUED),
            written("sparkoperator.k8s.io/v1beta2", "SparkApplication", "mode: client"),
        ),
        (cluster_queue("memory", "36"), cluster_queue("memory", "36Gi")),
        (cluster_queue("memory", "'64'"), cluster_queue("cpu", "64")),
        (cluster_queue("nvidia.com/gpu", "0"), cluster_queue("nvidia.com/gpu", "0", ", cohort: c")),
        (
            written("v1", "ResourceQuota", "hard: {requests.memory: '64'}"),
            written("v1", "ResourceQuota", "hard: {requests.memory: 64Gi, pods: 64}"),
        ),
        (
            written("karpenter.sh/v1", "NodePool", "limits: {memory: 1000}"),
            written("karpenter.sh/v1", "NodePool", "limits: {memory: 1000Gi, cpu: 1000}"),
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
        (volcano_conf("allocate", "{name: gangs}"), volcano_conf("allocate", "{name: gang}, {name: our-own-plugin}")),
        (
            written("scheduling.run.ai/v2", "Queue", "parentQueue: a"),
            written("scheduling.run.ai/v2", "Queue", "parentQueue: a, resources: {gpu: {quota: 0}}"),
        ),
        (
            annotated("kai.scheduler/batch-min-member: '8'", "parallelism: 4"),
            annotated("kai.scheduler/batch-min-member: '4'", "parallelism: 4"),
        ),
        (_kai("gpu-fraction-num-devices: '2'"), _kai("gpu-fraction-num-devices: '2', gpu-fraction: '0.5'")),
        (
            _elastic("min: {nvidia.com/gpu: 8}, max: {nvidia.com/gpu: 4}"),
            _elastic("min: {nvidia.com/gpu: 4}, max: {nvidia.com/gpu: 4}"),
        ),
        (
            written("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {subdomain: my.train}"),
            written("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {subdomain: my-train}"),
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
            written("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs: {Worker: {replicas: 2}}"),
            written("kubeflow.org/v2beta1", "MPIJob", "mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}"),
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
        (_made(""), _made(", successCondition: 'status.replicaStatuses.Master.succeeded > 0'")),
        (
            config("partitions: [{name: default, queues: [{name: root, resources: {max: {vcore: 9}}}]}]"),
            config("partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"),
        ),
        (
            config("partitions: []", "queue.yaml", "yunikorn-configs"),
            config("partitions: []", "queues.yaml", "yunikorn-configs"),
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
    assert len(texts(wrong)) == 1
    assert texts(right) == []


_OF_A_RACK = "kai.scheduler/topology: t, kai.scheduler/topology-required-placement"
_TOPOLOGY = written("kai.scheduler/v1alpha1", "Topology", "levels: [{nodeLabel: rack}]", "name: t")
_OTHER_TOPOLOGY = written("kai.scheduler/v1alpha1", "Topology", "levels: [{nodeLabel: zone}]", "name: u")
_REFERENCE = "runtimeRef: {name: own}"


@pytest.mark.parametrize(
    ("wrong", "right", "others"),
    [
        (
            _train(_REFERENCE),
            _train("runtimeRef: {name: own, kind: TrainingRuntime}"),
            written("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "", "name: own, namespace: ml"),
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
            annotated(f"{_OF_A_RACK}: row", ""),
            annotated(f"{_OF_A_RACK}: rack", ""),
            f"{_TOPOLOGY}\n---\n{_OTHER_TOPOLOGY}",
        ),
        (
            _volcano("networkTopology: {mode: hard, highestTierAllowed: 1}"),
            _volcano("minAvailable: 1"),
            volcano_conf("allocate", "{name: gang}"),
        ),
    ],
)  # fmt: skip
def test_what_another_object_contradicts_is_found_and_the_right_one_is_not(wrong: str, right: str, others: str) -> None:
    assert len(texts(f"{wrong}\n---\n{others}")) == 1
    assert texts(f"{right}\n---\n{others}") == []
    assert texts(wrong) == []


@pytest.mark.parametrize("damaged", ["~", "7", "x", "[]", "[null]", "{a: null}", "[[1]]", "1e30", "true"])
def test_a_damaged_reference_finds_no_other_object(damaged: str) -> None:
    job = _train(f"runtimeRef: {{name: {damaged}}}, podTemplateOverrides: [{{targetJobs: [{{name: worker}}]}}]")

    assert texts(f"{job}\n---\n{_runtime('{name: node}')}") == []
