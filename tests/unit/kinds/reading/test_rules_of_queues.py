"""Rules of validating webhooks and schedulers of queues, each with a wrong and a right value."""

import pytest
import yaml

from unit.kinds.reading.test_rows_of_queues import (
    QUEUED,
    annotated,
    cluster_queue,
    config,
    kueue,
    texts,
    volcano_conf,
    written,
)


def _gates(*gates: str) -> str:
    return kueue(f"featureGates: {{{', '.join(f'{each}: true' for each in gates)}}}")


def _manager(argument: str, image: str = "registry.k8s.io/kueue/kueue:v0.12.0") -> str:
    container = f"{{name: manager, image: '{image}', args: ['{argument}']}}"
    return written("apps/v1", "Deployment", f"template: {{spec: {{containers: [{container}]}}}}")


def _mapped(*classes: str) -> str:
    each = ", ".join(f"{{name: gpu-{number}, deviceClassNames: [{name}]}}" for number, name in enumerate(classes))
    return kueue(f"resources: {{deviceClassMappings: [{each}]}}")


def _pod(limits: str, more: str = "", metadata: str = "name: p, namespace: ml") -> str:
    spec = f"{more}containers: [{{name: c, image: 'a:1', resources: {{limits: {{{limits}}}}}}}]"
    return written("v1", "Pod", spec, metadata)


def _placed(operator: str, value: str) -> str:
    each = f"matchExpressions: [{{key: nvidia.com/gpu.memory, operator: {operator}, values: ['{value}']}}]"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{{each}}}]}}"
    return _pod("nvidia.com/gpu: 1", f"affinity: {{nodeAffinity: {{{required}}}}}, ")


def _of_class(quality: str, priority: str = "", requests: str = "cpu: 4") -> str:
    container = f"{{name: c, image: 'a:1', resources: {{requests: {{{requests}}}, limits: {{{requests}}}}}}}"
    labels = f"name: p, namespace: ml, labels: {{koordinator.sh/qosClass: {quality}}}"
    return written("v1", "Pod", f"{priority}containers: [{container}]", labels)


def _elastic_of_koordinator(least: str) -> str:
    labels = "name: q, namespace: ml, labels: {quota.scheduling.koordinator.sh/is-parent: 'false'}"
    return written("scheduling.sigs.k8s.io/v1alpha1", "ElasticQuota", f"min: {{{least}}}, max: {{cpu: 9}}", labels)


def _elastic_job(topology: str, elastic: str = "true") -> str:
    metadata = f"{QUEUED}, annotations: {{kueue.x-k8s.io/elastic-job: '{elastic}'}}"
    template = f"{{metadata: {{annotations: {{kueue.x-k8s.io/podset-{topology}-topology: rack}}}}, spec: {{}}}}"
    return written("batch/v1", "Job", f"template: {template}", metadata)


def _concurrent(more: str, flavor: str = "f") -> str:
    limits = f"constraints: {{lastAcceptableFlavorName: {flavor}}}"
    policy = f", concurrentAdmissionPolicy: {{migration: {{{limits}}}}}"
    return cluster_queue("nvidia.com/gpu", "8", f"{policy}{more}")


def _with_topology_policy(cpu: str, policy: str = "restricted") -> str:
    container = f"{{name: c, image: 'a:1', resources: {{requests: {{cpu: {cpu}}}}}}}"
    task = f"{{name: t, topologyPolicy: {policy}, template: {{spec: {{containers: [{container}]}}}}}}"
    return written("batch.volcano.sh/v1alpha1", "Job", f"tasks: [{task}]")


def _slurm(cgroup: str, gres: str = "Name=gpu File=/dev/nvidia0") -> str:
    data = {"cgroup.conf": cgroup, "gres.conf": gres}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": data})


def _kai(resources: str) -> str:
    return written("scheduling.run.ai/v2", "Queue", f"resources: {{{resources}}}", "name: q")


_NO_LIMITS = "cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}"


def _remote(location: str, kind: str = "Secret") -> str:
    spec = f"kubeConfig: {{locationType: {kind}, location: {location}}}"
    return written("kueue.x-k8s.io/v1beta1", "MultiKueueCluster", spec, "name: w")


def _in_workload(group: str) -> str:
    pod = _pod("nvidia.com/gpu: 1", f"workloadRef: {{name: w, podGroup: {group}}}, ")
    spec = "podGroups: [{name: workers, policy: {gang: {minCount: 4}}}]"
    return f"{pod}\n---\n" + written("scheduling.k8s.io/v1alpha1", "Workload", spec, "name: w, namespace: ml")


def _selecting(key: str) -> str:
    return cluster_queue("nvidia.com/gpu", "8", f", namespaceSelector: {{matchLabels: {{{key}: ml}}}}")


_RULES_OF_KUEUE = [
    (_selecting("metadata.name"), _selecting("kubernetes.io/metadata.name")),
    (
        kueue("managedJobsNamespaceSelector: {matchExpressions: [{key: metadata.name, operator: In, values: [a]}]}"),
        kueue("managedJobsNamespaceSelector: {matchExpressions: [{key: team, operator: In, values: [a]}]}"),
    ),
    (_remote("kueue-system/w"), _remote("w")),
    (_remote("kueue-system/w"), _remote("/etc/w", "Path")),
    (
        kueue("waitForPodsReady: {timeout: 15m, requeuingStrategy: {backoffLimitCount: 0}}"),
        kueue("waitForPodsReady: {timeout: 15m, requeuingStrategy: {backoffLimitCount: 3}}"),
    ),
    (
        kueue("integrations: {frameworks: [batch/job, deployment]}").replace("v1beta2", "v1beta1"),
        kueue("integrations: {frameworks: [pod, deployment]}"),
    ),
    (_gates("QueueVisibility"), _gates("TopologyAwareScheduling")),
    (_gates("TopologyAwareSchedule"), _gates("PartialAdmission", "SomethingElseOfASite")),
    (
        _manager("--feature-gates=TopologyAwareScheduling=true,LendingLimit=true"),
        _manager("--feature-gates=LendingLimit=true", "example.com/other:1"),
    ),
    (_mapped("gpu.nvidia.com", "gpu.nvidia.com"), _mapped("gpu.nvidia.com", "mig.nvidia.com")),
    (
        kueue("resources: {transformations: [{input: a/b, strategy: Retain}, {input: a/b, strategy: Replace}]}"),
        kueue("resources: {transformations: [{input: a/b, strategy: Retain}, {input: a/c, strategy: Replace}]}"),
    ),
    (
        kueue("resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a.com]}"),
        kueue("resources: {quotaCheckStrategy: BlockUndeclared, excludeResourcePrefixes: [a.com]}"),
    ),
    (kueue("integrations: {frameworks: [pod, pod]}"), kueue("integrations: {frameworks: [pod, batch/job]}")),
    (_concurrent(", queueingStrategy: StrictFIFO"), _concurrent(", queueingStrategy: BestEffortFIFO")),
    (_concurrent("", "spot"), _concurrent("")),
    (_elastic_job("preferred"), _elastic_job("unconstrained")),
    (_elastic_job("required"), _elastic_job("required", "false")),
]


def _quota(hard: str, scopes: str) -> str:
    return written("v1", "ResourceQuota", f"hard: {{{hard}}}, scopes: [{scopes}]", "name: q, namespace: ml")


def _range(item: str) -> str:
    return written("v1", "LimitRange", f"limits: [{{type: Container, {item}}}]", "name: l, namespace: ml")


def _election(election: str, name: str = "gpu-binpack") -> str:
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return config(f"{text}profiles: [{{schedulerName: {name}}}]\nleaderElection: {{{election}}}\n")


def _deployed(options: str) -> str:
    container = f"{{name: s, image: 'volcanosh/vc-scheduler:v1.12.0', args: [{options}]}}"
    spec = f"template: {{spec: {{containers: [{container}]}}}}"
    return written("apps/v1", "Deployment", spec, "name: s, namespace: volcano-system")


def _by_group(plugins: str) -> str:
    queue = written(
        "scheduling.volcano.sh/v1beta1", "Queue", "affinity: {nodeGroupAffinity: {required: [a]}}", "name: q"
    )
    return f"{queue}\n---\n" + volcano_conf("allocate", plugins)


def _beside_kueue(job: str, more: str = "") -> str:
    return f"{job}\n---\n" + kueue(f"manageJobsWithoutQueueName: true\nintegrations: {{frameworks: [batch/job]}}{more}")


_JOB = written("batch/v1", "Job", "template: {spec: {}}")
_VOLCANO_POD = _pod("nvidia.com/gpu: 1", "schedulerName: volcano, ")
_VOLCANO_JOB = written("batch.volcano.sh/v1alpha1", "Job", "schedulerName: volcano")


def _restarted(policy: str, event: str) -> str:
    policies = f"policies: [{{event: {event}, action: RestartJob}}]"
    own = policies if policy == "Always" else "maxRetry: 3"
    task = f"{{name: t, {own}, template: {{spec: {{restartPolicy: {policy}}}}}}}"
    return written("batch.volcano.sh/v1alpha1", "Job", f"{policies}, tasks: [{task}]")


def _gang(*annotations: str) -> str:
    found = ", ".join(f"gang.scheduling.koordinator.sh/{each}" for each in ("name: g", *annotations))
    return _pod("nvidia.com/gpu: 1", "", f"name: p, namespace: ml, annotations: {{{found}}}")


def _styled(parameters: str) -> str:
    annotation = f"yunikorn.apache.org/schedulingPolicyParameters: '{parameters}'"
    return _pod("nvidia.com/gpu: 1", "", f"name: p, namespace: ml, annotations: {{{annotation}}}")


def _grouped(namespace: str) -> str:
    pod = _pod("nvidia.com/gpu: 1", "", "name: p, namespace: ml, labels: {scheduling.x-k8s.io/pod-group: g}")
    group = written("scheduling.x-k8s.io/v1alpha1", "PodGroup", "minMember: 4", f"name: g, namespace: {namespace}")
    return f"{pod}\n---\n{group}"


_FOUR = "min-available: '4'"

_RULES_OF_OTHERS = [
    (_restarted("OnFailure", "PodFailed"), _restarted("Never", "PodFailed")),
    (_restarted("Always", "PodFailed"), _restarted("OnFailure", "PodEvicted")),
    (
        annotated("kai.scheduler/topology-required-placement: rack", ""),
        annotated("kai.scheduler/topology: t, kai.scheduler/topology-required-placement: rack", ""),
    ),
    (_styled("gangSchedulingStyle=hard"), _styled("placeholderTimeoutInSeconds=600 gangSchedulingStyle=Hard")),
    (_styled("placeholderTimeoutInSeconds=600s"), _styled("placeholderTimeoutInSeconds=600")),
    (_gang(), _gang(_FOUR)),
    (_gang(_FOUR, "mode: strict"), _gang(_FOUR, "mode: NonStrict")),
    (_gang(_FOUR, "waiting-time: '30'"), _gang(_FOUR, "waiting-time: 30s")),
    (_gang(_FOUR, "total-number: '2'"), _gang(_FOUR, "total-number: '8'")),
    (_grouped("default"), _grouped("ml")),
    (_quota("requests.cpu: 8", "BestEffort"), _quota("pods: 8, requests.nvidia.com/gpu: 8", "BestEffort")),
    (_quota("pods: 8", "Terminating, NotTerminating"), _quota("pods: 8", "NotTerminating, NotBestEffort")),
    (_range("min: {cpu: 2}, max: {cpu: 1}"), _range("min: {cpu: 500m}, max: {cpu: 1}")),
    (
        _range("default: {memory: 16Gi}, defaultRequest: {memory: 32Gi}"),
        _range("default: {memory: 16Gi}, max: {cpu: 1}"),
    ),
    (_election("leaderElect: true"), _election("leaderElect: false")),
    (_election("leaderElect: true"), _election("leaderElect: true, resourceName: gpu-binpack")),
    (_election("leaderElect: true"), _election("leaderElect: true", "default-scheduler")),
    (f"{_VOLCANO_POD}\n---\n{_deployed('--scheduler-name=vc')}", f"{_VOLCANO_POD}\n---\n{_deployed('-v=3')}"),
    (
        f"{_VOLCANO_JOB}\n---\n{_deployed('--scheduler-name, vc')}",
        f"{_VOLCANO_JOB}\n---\n" + _deployed("'--scheduler-name=vc,volcano'"),
    ),
    (_by_group("{name: gang}"), _by_group("{name: gang}, {name: nodegroup}")),
    (_beside_kueue(_JOB), _beside_kueue(_JOB, "\nmanagedJobsNamespaceSelector: {matchLabels: {a: b}}")),
    (
        _beside_kueue(_JOB),
        _beside_kueue(_JOB)
        + "\n---\n"
        + written("kueue.x-k8s.io/v1beta1", "LocalQueue", "clusterQueue: c", "name: default"),
    ),
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
        written("batch.volcano.sh/v1alpha1", "Job", "queue: root"),
        written("batch.volcano.sh/v1alpha1", "Job", "queue: a"),
    ),
    (annotated("scheduling.volcano.sh/queue-name: root", ""), annotated("scheduling.volcano.sh/queue-name: a", "")),
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
    assert len(texts(wrong)) == 1
    assert texts(right) == []
