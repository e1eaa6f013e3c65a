"""Autoscalers, clouds and kubelets that do not read a value, or refuse it, by rows of `known_keys.yaml`."""

import pytest
import yaml

from unit.kinds.reading.rows_written import findings, node_of, written
from usher.kinds.reading import machines
from usher.kinds.reading.values import Objects

_SIZES = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_GPU = "resources: {limits: {nvidia.com/gpu: 1}}"
_GKE = "cloud.google.com/"
_KARPENTER = "karpenter.sh/v1"


def _machines(annotations: str) -> str:
    metadata = f"name: m, annotations: {{{annotations}}}"
    return written("cluster.x-k8s.io/v1beta1", "MachineDeployment", "clusterName: c", metadata)


def _check(spec: str, name: str = "gpu-nodes") -> str:
    return written("cluster.x-k8s.io/v1beta1", "MachineHealthCheck", spec, f"name: {name}")


def _class_of_gke(rule: str) -> str:
    spec = f"nodePoolAutoCreation: {{enabled: true}}, priorities: [{{{rule}}}]"
    return written("cloud.google.com/v1", "ComputeClass", spec)


def _job(deadline: str, selector: str = f"{_GKE}gke-flex-start: 'true'") -> str:
    template = f"{{spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, {_GPU}}}]}}}}"
    return written("batch/v1", "Job", f"activeDeadlineSeconds: {deadline}, template: {template}")


def _node_class(data: str, alias: str = "al2023@v20250801") -> str:
    spec = f"role: r, amiSelectorTerms: [{{alias: '{alias}'}}], userData: '{data}'"
    return written("karpenter.k8s.aws/v1", "EC2NodeClass", spec)


def _node_pool(spec: str, template: str = "") -> str:
    requirement = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}"
    reference = "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}"
    template = f"template: {{spec: {{{reference}, requirements: [{requirement}]{template}}}}}"
    return written(_KARPENTER, "NodePool", f"{spec}{template}")


def _kubelet(fields: str) -> str:
    return f"{{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, {fields}}}"


def _pod(spec: str = "", metadata: str = "name: p", container: str = _GPU) -> str:
    return written("v1", "Pod", f"{spec}containers: [{{name: c, image: 'lab/c:1', {container}}}]", metadata)


def _selecting(labels: str, more: str = "") -> str:
    return _pod(f"nodeSelector: {{{labels}}}, {more}")


def _class(value: int) -> str:
    return f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: low}}, value: {value}}}"


def _autoscaler(*options: str, version: str = "v1.33.0") -> str:
    container = (
        f"{{name: c, image: 'registry.k8s.io/autoscaling/cluster-autoscaler:{version}', args: [{', '.join(options)}]}}"
    )
    spec = f"template: {{spec: {{containers: [{container}]}}}}"
    return written("apps/v1", "Deployment", spec, "name: ca, namespace: kube-system")


def _priorities(text: str = "10: [.*gpu.*]", namespace: str = "kube-system", name: str = "") -> str:
    name = name or "cluster-autoscaler-priority-expander"
    metadata = f"{{name: {name}, namespace: {namespace}}}"
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {metadata}, data: {{priorities: '{text}'}}}}"


def _scaler(kind: str, name: str = "llm") -> str:
    return written(
        "autoscaling/v2", "HorizontalPodAutoscaler", f"maxReplicas: 2, scaleTargetRef: {{kind: {kind}, name: {name}}}"
    )


def _policy(part: str) -> str:
    return written("nvidia.com/v1", "ClusterPolicy", part)


_CLAIMING = _pod(
    "resourceClaims: [{name: g, resourceClaimTemplateName: t}], ", container="resources: {claims: [{name: g}]}"
)
_FAMILIES = written("karpenter.k8s.aws/v1", "EC2NodeClass", "amiSelectorTerms: [{alias: '%s'}]")
_AUTO_MODE = written(_KARPENTER, "NodePool", "template: {spec: {nodeClassRef: {group: eks.amazonaws.com}}}")
_PLUGIN = written(
    "apps/v1",
    "DaemonSet",
    "template: {spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: 'a/k8s-device-plugin:v1'}]}}",
)
_MACHINE_SET = written(
    "machine.openshift.io/v1beta1",
    "MachineSet",
    "template: {spec: {metadata: {labels: {cluster-api/accelerator: nvidia-t4}}}}",
)
_LABELLED = written(
    "cluster.x-k8s.io/v1beta1", "MachineDeployment", "template: {metadata: {labels: {lab: h100}}}", "name: m"
)


def _limited(kind: str) -> str:
    spec = f"resourceLimits: {{gpus: [{{type: {kind}, min: 0, max: 4}}]}}"
    return written("autoscaling.openshift.io/v1", "ClusterAutoscaler", spec)


def _guarded(annotation: str) -> str:
    return _pod(metadata=f"name: p, annotations: {{{annotation}}}")


_SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'"
_KEPT = "karpenter.sh/do-not-disrupt: 'true'"
_POLICY = "cpuManagerPolicy: static, reservedSystemCPUs: '0'"
_STATIC = _kubelet(_POLICY)
_SERVICE = written("serving.kserve.io/v1beta1", "InferenceService", "predictor: {}", "name: llm")


def _vertical(resource: str) -> str:
    spec = f"resourcePolicy: {{containerPolicies: [{{controlledResources: [{resource}]}}]}}"
    return written("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", spec)


def _of_cpus(amount: str) -> str:
    return _pod(container=f"resources: {{limits: {{nvidia.com/gpu: 1, cpu: {amount}, memory: 1Gi}}}}")


def _choosing(key: str, value: str, operator: str = "In", more: str = "") -> str:
    requirement = f"{{key: {key}, operator: {operator}, values: ['{value}']}}"
    taints = "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]"
    return written(_KARPENTER, "NodePool", f"template: {{spec: {{{taints}, requirements: [{requirement}{more}]}}}}")


def _released(values: str, chart: str = "cluster-autoscaler") -> str:
    spec = f"chart: {{spec: {{chart: {chart}}}}}, values: {{{values}}}"
    return written("helm.toolkit.fluxcd.io/v2", "HelmRelease", spec)


def _kind(gate: str) -> str:
    return f"{{apiVersion: kind.x-k8s.io/v1alpha4, kind: Cluster, featureGates: {{{gate}: true}}}}"


def _affinity(values: str) -> str:
    expression = f"{{key: karpenter.sh/capacity-type, operator: In, values: [{values}]}}"
    terms = f"{{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}"
    affinity = f"affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}"
    return _pod(f"{affinity}, terminationGracePeriodSeconds: 600, ")


def _tolerating(value: str) -> str:
    return _pod(f"tolerations: [{{key: nvidia.com/gpu, operator: Equal, value: {value}, effect: NoSchedule}}], ")


def _node_group(sizes: str) -> str:
    return f"{{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {{name: c}}, nodeGroups: [{{{sizes}}}]}}"


_OF_EC2 = "karpenter.k8s.aws/instance-"
_SERVER = written("apps/v1", "Deployment", f"template: {{spec: {{containers: [{{name: c, {_GPU}}}]}}}}", "name: llm")
_IN_GROUP = node_of("eks.amazonaws.com/nodegroup: g")
_SYSTEM_POD = written(
    "v1", "Pod", "nodeName: n, containers: [{name: c, image: 'lab/dns:1'}]", "name: d, namespace: kube-system"
)


_OVERLAY = written("karpenter.sh/v1alpha1", "NodeOverlay", "capacity: {lab.io/share: 4}")


def _of_machines(sizes: str) -> str:
    return written("autoscaling.openshift.io/v1beta1", "MachineAutoscaler", sizes)


def _spot_pool(capacity: str = "spot") -> str:
    requirement = f"{{key: karpenter.sh/capacity-type, operator: In, values: [{capacity}]}}"
    reference = "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}"
    return written(_KARPENTER, "NodePool", f"template: {{spec: {{{reference}, requirements: [{requirement}]}}}}")


def _karpenter(name: str, value: str) -> str:
    variable = f"env: [{{name: {name}, value: '{value}'}}]"
    container = f"{{name: controller, image: 'public.ecr.aws/karpenter/controller:1.8.0', {variable}}}"
    spec = f"template: {{spec: {{containers: [{container}]}}}}"
    return written("apps/v1", "Deployment", spec, "name: karpenter, namespace: kube-system")


def _paged(amount: str) -> str:
    return _pod(container=f"resources: {{limits: {{nvidia.com/gpu: 1, {amount}}}}}")


def _workers(count: int, spec: str = "") -> str:
    container = "{name: pytorch, resources: {limits: {vpc.amazonaws.com/efa: 32}}}"
    worker = f"{{replicas: {count}, template: {{spec: {{{spec}containers: [{container}]}}}}}}"
    return written("kubeflow.org/v1", "PyTorchJob", f"pytorchReplicaSpecs: {{Worker: {worker}}}")


def _zones(names: str, name: str = "x") -> str:
    requirement = f"{{key: topology.kubernetes.io/zone, operator: In, values: {names}}}"
    return written(_KARPENTER, "NodePool", f"template: {{spec: {{requirements: [{requirement}]}}}}", f"name: {name}")


def _scaled_by_requests(least: str) -> str:
    spec = f"scaleTargetRef: {{name: llm}}, replicas: {{min: {least}, max: 2}}"
    return written("http.keda.sh/v1alpha1", "HTTPScaledObject", spec)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (_affinity("spot"), _affinity("spot, on-demand")),
        (
            written("autoscaling.openshift.io/v1", "ClusterAutoscaler", "", "name: gpu"),
            written("autoscaling.openshift.io/v1", "ClusterAutoscaler", "", "name: default"),
        ),
        (_of_machines("minReplicas: 4, maxReplicas: 2"), _of_machines("minReplicas: 0, maxReplicas: 2")),
        (_selecting(f"{_GKE}gke-gpu-driver-version: '550'"), _selecting(f"{_GKE}gke-gpu-driver-version: latest")),
        (_choosing(f"{_OF_EC2}category", "g"), _choosing(f"{_OF_EC2}category", "p")),
        (
            _choosing(f"{_OF_EC2}category", "g"),
            _choosing(f"{_OF_EC2}category", "g", more=", {key: kubernetes.io/arch, operator: In, values: [amd64]}"),
        ),
        (_choosing(f"{_OF_EC2}gpu-memory", "24", "Gt"), _choosing(f"{_OF_EC2}gpu-memory", "24576", "Gt")),
        (
            _choosing(f"{_OF_EC2}accelerator-manufacturer", "nvidia"),
            _choosing(f"{_OF_EC2}accelerator-manufacturer", "habana"),
        ),
        (_released("extraArgs: {scan-interval: 10}"), _released("extraArgs: {scan-interval: 10s}")),
        (_released("extraArgs: {expander: least_waste}"), _released("extraArgs: {expander: least_waste}", "other")),
        (_released("expanderPriorities: a"), _released("expanderPriorities: a, extraArgs: {expander: priority}")),
        (_kind("KubeletPodResources"), _kind("DynamicResourceAllocation")),
        (_node_group("minSize: 2, maxSize: 1"), _node_group("minSize: 1, maxSize: 2")),
        (_priorities('10: ["*gpu*"]'), _priorities('10: [".*gpu.*"]')),
        (
            _machines(f"{_SIZES}min-size: '4', {_SIZES}max-size: '2'"),
            _machines(f"{_SIZES}min-size: '2', {_SIZES}max-size: '4'"),
        ),
        (_machines(f"{_SIZES}min-size: '4'"), _machines("lab: a")),
        (_machines(f"{_SIZES}max-size: '4'"), _machines(f"{_SIZES}min-size: '0', {_SIZES}max-size: '4'")),
        (
            _machines("machine.openshift.io/GPU: '1'"),
            _machines(f"{_CAPACITY}gpu-count: '1', {_CAPACITY}gpu-type: nvidia.com/gpu"),
        ),
        (_check("nodeStartupTimeout: 5m"), _check("nodeStartupTimeout: 20m")),
        (_check("checks: {nodeStartupTimeoutSeconds: 300}"), _check("nodeStartupTimeout: 5m", "workers")),
        (
            _check("unhealthyConditions: [{type: Ready, status: Unknown, timeout: 30s}]"),
            _check("unhealthyConditions: [{type: Ready, status: Unknown, timeout: 300s}]"),
        ),
        (_class_of_gke("gpu: {type: nvidia-tesla-l4, count: 1}"), _class_of_gke("gpu: {type: nvidia-l4, count: 1}")),
        (_class_of_gke("gpu: {type: nvidia-h100, count: 8}"), _class_of_gke("gpu: {type: nvidia-h100-80gb, count: 8}")),
        (_class_of_gke("gpu: {type: nvidia-l4, count: 3}"), _class_of_gke("gpu: {type: nvidia-tesla-a100, count: 16}")),
        (_class_of_gke("gpu: {type: nvidia-b200, count: 4}"), _class_of_gke("gpu: {type: nvidia-b200, count: 8}")),
        (
            _class_of_gke("spot: true, flexStart: {enabled: true}"),
            _class_of_gke("spot: false, flexStart: {enabled: true}"),
        ),
        (_class_of_gke("reservations: {affinity: Specific}"), _class_of_gke("reservations: {affinity: AnyBestEffort}")),
        (
            _class_of_gke("spot: true, reservations: {affinity: Specific, specific: [{name: r}]}"),
            _class_of_gke("reservations: {affinity: Specific, specific: [{name: r}]}"),
        ),
        (_job("1209600"), _job("604800")),
        (_job("700000"), _job("1209600", f"{_GKE}gke-accelerator: nvidia-l4")),
        (_node_class("/etc/eks/bootstrap.sh c"), _node_class("apiVersion: node.eks.aws/v1alpha1")),
        (_node_class("#!/bin/sh", "bottlerocket@v1"), _node_class("[settings.kernel]", "bottlerocket@v1")),
        (
            _node_pool("disruption: {budgets: [{nodes: '0'}]}, "),
            _node_pool("disruption: {budgets: [{nodes: '0'}]}, ", ", expireAfter: Never"),
        ),
        (
            "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: system-gpu}, value: 1}",
            "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gpu-system}, value: 1}",
        ),
        (
            _kubelet("shutdownGracePeriodCriticalPods: 10s"),
            _kubelet("shutdownGracePeriod: 30s, shutdownGracePeriodCriticalPods: 10s"),
        ),
        (_kubelet("containerLogMaxFiles: 1"), _kubelet("containerLogMaxFiles: 2")),
        (
            _kubelet("cpuManagerPolicyOptions: {full-pcpus-only: 'true'}"),
            _kubelet(f"{_POLICY}, cpuManagerPolicyOptions: {{full-pcpus-only: 'true'}}"),
        ),
        (_kubelet("featureGates: {DevicePlugins: true}"), _kubelet("featureGates: {DynamicResourceAllocation: true}")),
        (
            _selecting("karpenter.sh/capacity-type: spot", "terminationGracePeriodSeconds: 600, "),
            _pod("terminationGracePeriodSeconds: 600, "),
        ),
        (
            _selecting(f"{_GKE}gke-spot: 'true'", "terminationGracePeriodSeconds: 60, "),
            _selecting(f"{_GKE}gke-spot: 'true'", "terminationGracePeriodSeconds: 25, "),
        ),
        (
            _selecting(f"{_GKE}reservation-name: r"),
            _selecting(f"{_GKE}reservation-name: r, {_GKE}reservation-affinity: specific"),
        ),
        (_selecting("eks.amazonaws.com/capacityType: spot"), _selecting("eks.amazonaws.com/capacityType: SPOT")),
        (_selecting("karpenter.sh/capacity-type: ON_DEMAND"), _selecting("karpenter.sh/capacity-type: on-demand")),
        (_selecting(f"{_GKE}gke-spot: 'yes'"), _selecting(f"{_GKE}gke-spot: 'true'")),
        (_selecting("kubernetes.azure.com/accelerator: gpu"), _selecting("kubernetes.azure.com/accelerator: nvidia")),
        (_autoscaler("--expander=least_waste"), _autoscaler("'--expander=priority,least-waste'")),
        (_autoscaler("--scale-down-unneeded-time=10"), _autoscaler("--scale-down-unneeded-time=10m")),
        (
            _autoscaler("--node-group-auto-discovery=k8s.io/cluster-autoscaler/enabled"),
            _autoscaler("'--node-group-auto-discovery=asg:tag=a,b'"),
        ),
        (
            _vertical("nvidia.com/gpu"),
            _vertical("cpu"),
        ),
    ],
)
def test_a_wrong_value_is_named_and_the_right_one_is_not(wrong: str, right: str) -> None:
    assert len(findings(wrong)) == 1
    assert findings(right) == []


@pytest.mark.parametrize(
    ("value", "other", "found"),
    [
        (_spot_pool(), _karpenter("FEATURE_GATES", "NodeOverlay=true"), "learns of no interruption"),
        (_spot_pool(), _karpenter("INTERRUPTION_QUEUE", "q"), ""),
        (_spot_pool("on-demand"), _karpenter("FEATURE_GATES", "a"), ""),
        (_spot_pool(), _released("settings: {clusterName: c}", "karpenter"), "learns of no interruption"),
        (_spot_pool(), _released("settings: {interruptionQueue: q}", "karpenter"), ""),
        (_OVERLAY, _karpenter("FEATURE_GATES", "NodeOverlay=false"), "does not read it"),
        (_OVERLAY, _karpenter("FEATURE_GATES", "NodeOverlay=true"), ""),
        (_OVERLAY, _released("settings: {clusterName: c}", "karpenter"), "does not read it"),
        (_node_pool("replicas: 2, "), _karpenter("FEATURE_GATES", "NodeOverlay=true"), "keeps no nodes"),
        (_node_pool("replicas: 2, "), _released("settings: {featureGates: {staticCapacity: true}}", "karpenter"), ""),
        (_paged("hugepages-2Mi: 1Gi, memory: 1Gi"), _node_pool(""), "knows of no huge pages"),
        (_paged("memory: 1Gi"), _node_pool(""), ""),
        (_workers(4), _zones("[a, b]"), "does not reach another zone"),
        (_workers(4), _zones("[a]"), ""),
        (_workers(1), _zones("[a, b]"), ""),
        (_workers(4, "nodeSelector: {topology.kubernetes.io/zone: a}, "), _zones("[a, b]"), ""),
        (_workers(4), f"{_zones('[a, b]')}\n---\n{_zones('[a]', 'y')}", ""),
        (_tolerating("present"), _choosing(f"{_OF_EC2}family", "g6"), "with another value or effect"),
        (_tolerating("''"), _choosing(f"{_OF_EC2}family", "g6"), ""),
        (_scaled_by_requests("0"), _SERVER, "waits 20 seconds"),
        (_scaled_by_requests("1"), _SERVER, ""),
        (_selecting(f"{_GKE}compute-class: x, {_GKE}gke-spot: 'true'"), _class_of_gke("spot: false"), "makes Spot"),
        (_selecting(f"{_GKE}compute-class: x, {_GKE}gke-spot: 'true'"), _class_of_gke("spot: true"), ""),
        (_selecting(f"{_GKE}compute-class: x, {_GKE}gke-flex-start: 'true'"), _class_of_gke("spot: true"), "flexStart"),
        (_SYSTEM_POD, _IN_GROUP, "removes no node with a pod of kube-system"),
        (_SYSTEM_POD, node_of("lab: a"), ""),
        (_priorities(), _autoscaler("--expander=least-waste"), "without the expander priority"),
        (_priorities(), _autoscaler("'--expander=priority,least-waste'"), ""),
        (_priorities(), _autoscaler("--expander", "priority"), ""),
        (_priorities(namespace="ops"), _autoscaler("--expander=priority"), "does not look"),
        (_priorities(namespace="ops"), _autoscaler("--expander=priority", "--namespace=ops"), ""),
        (_class(-100), _autoscaler("--v=4"), "adds no node for them"),
        (_class(-10), _autoscaler("--v=4"), ""),
        (_class(-100), _autoscaler("--expendable-pods-priority-cutoff=-1000"), ""),
        (_selecting(f"{_GKE}gke-accelerator: nvidia-l4", "priorityClassName: low, "), _class(-100), "expendable"),
        (_pod("priorityClassName: low, "), _class(-100), ""),
        (_CLAIMING, _autoscaler("--v=4"), "--enable-dynamic-resource-allocation"),
        (_CLAIMING, _autoscaler("--enable-dynamic-resource-allocation=true"), ""),
        (_CLAIMING, _autoscaler("--v=4", version="v1.35.0"), ""),
        (_CLAIMING, _node_pool(""), "adds no node for such pods"),
        (_guarded(_SAFE), _node_pool(""), "that Karpenter (NodePool x) does not read"),
        (_guarded(f"{_SAFE}, {_KEPT}"), _node_pool(""), ""),
        (_guarded(_KEPT), _autoscaler("--v=4"), "does not read"),
        (_guarded(_KEPT), f"{_autoscaler('--v=4')}\n---\n{_node_pool('')}", ""),
        (_MACHINE_SET, _limited("nvidia.com/gpu"), "do not count them"),
        (_MACHINE_SET, _limited("nvidia-t4"), ""),
        (_selecting("lab: h100"), _LABELLED, "gives to Machines and not to their nodes"),
        (_selecting("other: h100"), _LABELLED, ""),
        (_policy("driver: {enabled: true}"), _FAMILIES % "al2023@latest", "bring a driver for GPUs"),
        (_policy("driver: {enabled: true}"), _FAMILIES % "windows2022@latest", ""),
        (_policy("driver: {enabled: true}"), _AUTO_MODE, "nodes of EKS Auto Mode"),
        (_policy("driver: {enabled: false}, devicePlugin: {enabled: true}"), _AUTO_MODE, "have one already"),
        (_policy("devicePlugin: {enabled: false}"), _AUTO_MODE, ""),
        (_PLUGIN, _AUTO_MODE, "have one already"),
        (_PLUGIN, _node_pool(""), ""),
        (_policy("driver: {enabled: true}"), node_of("nvidia.com/gpu.present: 'true'"), ""),
        (_of_cpus("7500m"), _STATIC, "no whole number"),
        (_of_cpus("7000m"), _STATIC, ""),
        (
            _scaler("Deployment"),
            written("argoproj.io/v1alpha1", "Rollout", "replicas: 1", "name: llm"),
            "no such Deployment",
        ),
        (
            _scaler("Deployment"),
            written("argoproj.io/v1alpha1", "Rollout", "workloadRef: {name: llm}", "name: llm"),
            "",
        ),
        (_scaler("StatefulSet"), written("apps/v1", "Deployment", "replicas: 1", "name: llm"), "no such StatefulSet"),
        (_scaler("Deployment"), _SERVICE, "llm-predictor"),
        (_scaler("Deployment", "llm-predictor"), _SERVICE, ""),
    ],
)
def test_an_object_that_another_one_contradicts_is_named(value: str, other: str, found: str) -> None:
    messages = findings(value, *other.split("\n---\n"))

    assert len(messages) == bool(found)
    assert all(found in each for each in messages)


@pytest.mark.parametrize(
    ("limits", "key", "values", "least"),
    [
        ("cpu: 100", "node.kubernetes.io/instance-type", "p5.48xlarge", "has 192 of cpu"),
        ("cpu: 192", "node.kubernetes.io/instance-type", "p5.48xlarge", ""),
        ("memory: 1000Gi", "node.kubernetes.io/instance-type", "p5.48xlarge", "2097152 MiB of memory"),
        ("memory: 2000Gi", "node.kubernetes.io/instance-type", "p5.48xlarge", ""),
        ("nvidia.com/gpu: 4", "node.kubernetes.io/instance-type", "p5.48xlarge", "has 8 of nvidia.com/gpu"),
        ("cpu: 2", "karpenter.k8s.aws/instance-family", "g6", "(g6.xlarge) has 4 of cpu"),
        ("cpu: 2", "karpenter.k8s.aws/instance-family", "g6, m5", ""),
        ("cpu: 2", "karpenter.k8s.aws/instance-size", "xlarge", ""),
        ("cpu: some", "karpenter.k8s.aws/instance-family", "g6", ""),
    ],
)
def test_a_limit_below_one_machine_of_a_node_pool_is_named(limits: str, key: str, values: str, least: str) -> None:
    requirement = f"{{key: {key}, operator: In, values: [{values}]}}"
    spec = f"limits: {{{limits}}}, template: {{spec: {{requirements: [{requirement}]}}}}"
    messages = findings(written(_KARPENTER, "NodePool", spec))

    assert len(messages) == bool(least)
    assert all(least in each for each in messages)


@pytest.mark.parametrize(
    ("selector", "count"),
    [("{tier: b}", 1), ("{tier: c}", 0), ("{app: other}", 0)],
)
def test_a_second_budget_of_the_same_pods_is_named(selector: str, count: int) -> None:
    def budget(name: str, labels: str) -> str:
        return written(
            "policy/v1", "PodDisruptionBudget", f"minAvailable: 1, selector: {{matchLabels: {labels}}}", f"name: {name}"
        )

    pods = written("apps/v1", "Deployment", "template: {metadata: {labels: {app: a, tier: b}}}", "name: d")
    values = [yaml.safe_load(each) for each in (budget("z", selector), budget("a", "{app: a}"), pods)]

    assert len([*machines.budgets(values[0], Objects(values))]) == count


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([("true", "8")], "(n0) are cordoned, so it waits"),
        ([("false", "0")], "(n0) offer 0 of it, so it waits"),
        ([("true", "8"), ("false", "0")], "(n0, n1) are cordoned or offer 0 of it"),
        ([("true", "8"), ("false", "8")], ""),
        ([], ""),
    ],
)
def test_devices_of_nodes_that_take_no_pods_are_named(nodes: list[tuple[str, str]], found: str) -> None:
    others = [
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n{index}}}, spec: {{unschedulable: {cordoned}}}, status: "
        f"{{capacity: {{nvidia.com/gpu: '8'}}, allocatable: {{nvidia.com/gpu: '{offered}'}}}}}}"
        for index, (cordoned, offered) in enumerate(nodes)
    ]
    messages = findings(_pod(), *others)

    assert len(messages) == bool(found)
    assert all(found in each for each in messages)
