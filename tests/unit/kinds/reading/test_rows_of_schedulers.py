"""Controllers of queues, gangs and autoscalers refuse or leave out values, by rows of `known_keys.yaml`."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import (
    chosen_boards,
    controller_rules,
    device_stack,
    inner_names,
    known_keys,
    machines,
    refused_values,
    value_forms,
)
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]
_GPU = "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"


def _texts(text: str) -> list[str]:
    """The findings about the first of several objects, by rows and beside the others."""
    values = list(yaml.safe_load_all(text))
    value, key = values[0], (str(values[0].get("apiVersion")).rpartition("/")[0], str(values[0].get("kind")))
    objects = Objects(values)
    found = [
        *controller_rules.refused(value, key, value_forms.pod_specs(value)),
        *value_forms.refused_forms(value, key, ()),
        *chosen_boards.beside_others(value, key, objects),
        *device_stack.disagreements(value, key, objects),
    ]
    return [each.text for each in found]


def _config(text: str, name: str = "conf") -> str:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {name: text}})


def _kueue(selector: str) -> str:
    return _config(f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{selector}\n")


def _volcano(actions: str, *plugins: str) -> str:
    listed = "".join(f"\n  - name: {each}" for each in plugins)
    return _config(f'actions: "{actions}"\ntiers:\n- plugins:{listed}\n')


def _descheduler(thresholds: str, more: str = "") -> str:
    return _config(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles:\n- name: p\n  pluginConfig:\n"
        f"  - name: HighNodeUtilization\n    args: {{thresholds: {thresholds}{more}}}\n"
        "  plugins: {balance: {enabled: [HighNodeUtilization]}}\n"
    )


def _profile(name: str, place: str, enabled: str = "", args: str = "") -> str:
    plugin = f"pluginConfig: [{{name: {name}, args: {{{args}}}}}]"
    profile = f"{{name: p, {plugin}, plugins: {{{place}: {{enabled: [{enabled or name}]}}}}}}"
    return (
        f"{{apiVersion: descheduler/v1alpha2, kind: DeschedulerPolicy, metadata: {{name: d}}, profiles: [{profile}]}}"
    )


def _low(thresholds: str, targets: str) -> str:
    return _profile(
        "LowNodeUtilization", "balance", "", f"thresholds: {{{thresholds}}}, targetThresholds: {{{targets}}}"
    )


def _object(version: str, kind: str, spec: str, name: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{name}}}, spec: {{{spec}}}}}"


def _scaled(spec: str) -> str:
    return _object("keda.sh/v1alpha1", "ScaledObject", spec)


def _pool(spec: str) -> str:
    return _object("karpenter.sh/v1", "NodePool", spec, "name: gpu")


def _pool_template(spec: str) -> str:
    return _pool(f"template: {{spec: {{{spec}}}}}")


def _budgeted(budget: str) -> str:
    return _pool(f"disruption: {{budgets: [{{nodes: '0', schedule: '0 9 * * *'{budget}}}]}}")


def _ray_job(spec: str) -> str:
    return _object("ray.io/v1", "RayJob", spec)


def _named(name: str) -> str:
    return _object("ray.io/v1", "RayJob", "shutdownAfterJobFinishes: true", f"name: {name}")


def _queue_of(cohort: str, quota: str) -> str:
    flavor = f"{{resources: [{{nominalQuota: {quota}}}]}}"
    spec = f"{cohort}, preemption: {{reclaimWithinCohort: Any}}, resourceGroups: [{{flavors: [{flavor}]}}]"
    return _object("kueue.x-k8s.io/v1beta1", "ClusterQueue", spec)


def _owner(cpu: str, policy: str) -> str:
    flavor = f"{{resources: [{{name: cpu, nominalQuota: {cpu}}}, {{name: nvidia.com/gpu, nominalQuota: '8'}}]}}"
    preemption = f"{{reclaimWithinCohort: Any, borrowWithinCohort: {{policy: {policy}}}}}"
    spec = f"cohortName: c, preemption: {preemption}, resourceGroups: [{{flavors: [{flavor}]}}]"
    return _object("kueue.x-k8s.io/v1beta2", "ClusterQueue", spec)


def _workflow_of_volcano(own: str, pods: str) -> str:
    key = "{scheduling.volcano.sh/queue-name: q}"
    metadata = f"name: x, annotations: {key if own else {}}"
    return _object("argoproj.io/v1alpha1", "Workflow", f"podMetadata: {{annotations: {key if pods else {}}}}", metadata)


def _group(seconds: int) -> str:
    return _object("scheduling.x-k8s.io/v1alpha1", "PodGroup", f"scheduleTimeoutSeconds: {seconds}")


def _all_but(namespace: str) -> str:
    rule = f"{{key: kubernetes.io/metadata.name, operator: NotIn, values: [{namespace}]}}"
    return _kueue(f"managedJobsNamespaceSelector: {{matchExpressions: [{rule}]}}")


def _eks(more: str) -> str:
    group = f"managedNodeGroups: [{{instanceType: g5.xlarge{more}}}]"
    return f"{{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {{name: c}}, {group}}}"


_WINDOW = "advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {%s}}}}"

_OVERCOMMIT = "overcommit\n    arguments: {overcommit-factor: 2}"
_PYTHON = "sparkConf: {spark.executor.pyspark.memory: 6g}"

_WRONG_AND_RIGHT = [
    (
        _config("apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\nprofiles: []\n"),
        _config("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n"),
    ),
    (_profile("PodLifeTime", "balance"), _profile("PodLifeTime", "deschedule")),
    (_profile("RemoveDuplicates", "deschedule"), _profile("RemoveDuplicates", "balance")),
    (_profile("PodLifeTime", "deschedule", "PodLifeTime, RemoveFailedPods"), _profile("DefaultEvictor", "filter")),
    (_low("cpu: 20", "cpu: 50, amd.com/gpu: 50"), _low("cpu: 20, amd.com/gpu: 20", "cpu: 50, amd.com/gpu: 50")),
    (_low("cpu: 20, nvidia.com/gpu: 20", "cpu: 50"), _low("cpu: 20", "cpu: 50")),
    (
        _profile("RemovePodsHavingTooManyRestarts", "deschedule", "", "podRestartThreshold: 0"),
        _profile("RemovePodsHavingTooManyRestarts", "deschedule", "", "podRestartThreshold: 100"),
    ),
    (
        _profile("RemovePodsViolatingNodeAffinity", "deschedule"),
        _profile("RemovePodsViolatingNodeAffinity", "deschedule", "", "nodeAffinityType: [required]"),
    ),
    (_low("cpu: 60", "cpu: 50"), _low("cpu: 50", "cpu: 50")),
    (_low("nvidia.com/gpu: 60", "nvidia.com/gpu: 50"), _low("nvidia.com/gpu: 40", "nvidia.com/gpu: 50")),
    (_kueue("managedJobsNamespaceSelector: {}"), _kueue("managedJobsNamespaceSelector: {matchLabels: {a: b}}")),
    (_all_but("kueue-system"), _all_but("kube-system")),
    (_kueue("integrations: {frameworks: [batch/jobs]}"), _kueue("integrations: {frameworks: [batch/job, pod]}")),
    (_volcano("enqueue, reclaim", "capacity"), _volcano("reclaim", "capacity", "overcommit")),
    (_volcano("enqueue, reclaim", "capacity", "overcommit"), _volcano("enqueue, reclaim", "capacity", _OVERCOMMIT)),
    (_volcano("preempt, enqueue", "proportion"), _volcano("allocate, preempt", "proportion")),
    (_volcano("enqueue, allocate", "capacity"), _volcano("enqueue, allocate", "proportion")),
    (_descheduler("{nvidia.com/gpu: 40}"), _descheduler("{nvidia.com/gpu: 40, cpu: 20}")),
    (_descheduler("{amd.com/gpu: 40}"), _descheduler("{amd.com/gpu: 40}", ", evictionModes: [Only]")),
    (_config("apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies: {}\n"), _descheduler("{cpu: 20}")),
    (
        _config("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nprofiles: []\n"),
        _config("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: []\n"),
    ),
    (_scaled("cooldownPeriod: 600, minReplicaCount: 1"), _scaled("cooldownPeriod: 600, minReplicaCount: 0")),
    (_scaled(_WINDOW % "stabilizationWindowSeconds: 7200"), _scaled(_WINDOW % "stabilizationWindowSeconds: 3600")),
    (_scaled(_WINDOW % "policies: [{periodSeconds: 3600}]"), _scaled(_WINDOW % "policies: [{periodSeconds: 1800}]")),
    (
        _scaled("fallback: {replicas: 2}, triggers: [{type: cpu}]"),
        _scaled("fallback: {replicas: 2}, triggers: [{type: cpu}, {type: cron}]"),
    ),
    (_pool_template("startupTaints: [{key: nvidia.com/gpu}]"), _pool_template("startupTaints: [{key: cilium.io/a}]")),
    (_budgeted(""), _budgeted(", duration: 8h")),
    (_eks(", iam: {withAddonPolicies: {autoScaler: true}}"), _eks("")),
    (
        _eks(", propagateASGTags: true"),
        _eks(", propagateASGTags: true, labels: {k8s.amazonaws.com/accelerator: nvidia-a10g}"),
    ),
    (_ray_job("ttlSecondsAfterFinished: 60"), _ray_job("ttlSecondsAfterFinished: 60, shutdownAfterJobFinishes: true")),
    (_ray_job("suspend: true"), _ray_job("suspend: true, shutdownAfterJobFinishes: true")),
    (_group(3600), _group(600)),
    (_queue_of("cohort: c", "0"), _queue_of("cohort: c", "8")),
    (_owner("'0'", "Never"), _owner("'8'", "Never")),
    (_owner("'0'", "Never"), _owner("'0'", "LowerPriority")),
    (_workflow_of_volcano("own", ""), _workflow_of_volcano("own", "pods")),
    (
        _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", f"batchScheduler: yunikorn, {_PYTHON}"),
        _object("sparkoperator.k8s.io/v1beta2", "SparkApplication", f"batchScheduler: volcano, {_PYTHON}"),
    ),
    (_named("r" * 48), _named("r" * 47)),
    (_named("7-tunes"), _named("tunes-7")),
    (
        _scaled("triggers: [{type: cpu, metadata: {type: Utilization, value: '6'}}]"),
        _scaled("triggers: [{type: cpu, metricType: Utilization, metadata: {value: '6'}}]"),
    ),
    (
        "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: p}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}}",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right"), _WRONG_AND_RIGHT)
def test_a_value_that_a_controller_refuses_is_found_and_the_right_one_is_not(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


def _resizer(more: str = "") -> str:
    spec = f"targetRef: {{kind: Deployment, name: d}}{more}"
    return _object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", spec, "name: v, namespace: a")


def _scaler(target: str) -> str:
    spec = f"scaleTargetRef: {{name: {target}}}, metrics: [{{resource: {{name: cpu}}}}]"
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", spec)


def _queue(entry: str) -> str:
    spec = f"admissionChecksStrategy: {{admissionChecks: [{{name: a{entry}}}]}}"
    return _object("kueue.x-k8s.io/v1beta1", "ClusterQueue", spec)


def _budget(number: str) -> str:
    return _object("policy/v1", "PodDisruptionBudget", f"{number}, selector: {{matchLabels: {{a: b}}}}")


def _operator(more: str) -> str:
    container = f"{{image: 'kubeflow/training-operator:v1'{more}}}"
    spec = f"template: {{spec: {{containers: [{container}]}}}}"
    return _object("apps/v1", "Deployment", spec, "name: o, namespace: kubeflow")


def _pod(toleration: str) -> str:
    spec = f"tolerations: [{{key: nvidia.com/gpu, {toleration}}}], containers: [{{name: c}}]"
    return _object("v1", "Pod", f"nodeSelector: {{karpenter.sh/nodepool: gpu}}, {spec}")


def _child(parent: str) -> str:
    return _object("scheduling.volcano.sh/v1beta1", "Queue", f"parent: {parent}")


def _prioritised(name: str) -> str:
    queued = "name: j, labels: {kueue.x-k8s.io/queue-name: q}"
    return _object("batch/v1", "Job", f"template: {{spec: {{priorityClassName: {name}}}}}", queued)


_URGENT = _object("kueue.x-k8s.io/v1beta1", "WorkloadPriorityClass", "value: 1", "name: urgent")
_SERVER = _object("apps/v1", "Deployment", f"template: {{spec: {{{_GPU}}}}}", "name: d, namespace: a")
_CHECK = _object("kueue.x-k8s.io/v1beta1", "AdmissionCheck", "controllerName: kueue.x-k8s.io/multikueue", "name: a")
_JOB = _object("batch/v1", "Job", "template: {metadata: {labels: {a: b}}}")
_TRAINING = _object(
    "kubeflow.org/v1", "PyTorchJob", "runPolicy: {schedulingPolicy: {queue: q}}", "name: t, namespace: ml"
)
_TAINTED = _pool_template("taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]")

_CLAIM = _object(
    "resource.k8s.io/v1",
    "ResourceClaim",
    "devices: {requests: [{exactly: {deviceClassName: gpu.nvidia.com}}]}",
    "name: g",
)


def _replicas_of_a_claim(number: int) -> str:
    spec = f"resourceClaims: [{{name: g, resourceClaimName: g}}], {_GPU}"
    return _object("apps/v1", "Deployment", f"replicas: {number}, template: {{spec: {{{spec}}}}}")


_BESIDE = [
    (_replicas_of_a_claim(3), _replicas_of_a_claim(1), _CLAIM),
    (_resizer(), _resizer(", updatePolicy: {updateMode: Initial}"), _SERVER),
    (_resizer(), _resizer(", updatePolicy: {updateMode: 'Off'}"), _scaler("d")),
    (_queue(", onFlavors: [f]"), _queue(""), _CHECK),
    (_budget("maxUnavailable: 1"), _budget("minAvailable: 2"), _JOB),
    (_budget("minAvailable: 50%"), _budget("minAvailable: 1"), _JOB),
    (_pod("value: 'true'"), _pod("operator: Exists"), _TAINTED),
    (_child("eng"), _child("root"), _volcano("allocate", "proportion")),
    (_prioritised("urgent"), _prioritised("other"), _URGENT),
]


@pytest.mark.parametrize(("wrong", "right", "other"), _BESIDE)
def test_what_another_object_contradicts_is_found_and_the_right_value_is_not(
    wrong: str, right: str, other: str
) -> None:
    assert len(_texts(f"{wrong}\n---\n{other}")) == 1
    assert _texts(f"{right}\n---\n{other}") == []
    assert _texts(wrong) == []


def test_an_object_of_another_name_or_namespace_does_not_count() -> None:
    assert _texts(f"{_resizer()}\n---\n{_scaler('other')}") == []
    assert _texts(f"{_resizer()}\n---\n{_SERVER.replace('namespace: a', 'namespace: b')}") == []


def test_the_training_operator_of_another_namespace_counts() -> None:
    with_gang = _operator(", args: [--gang-scheduler-name=volcano]")

    assert len(_texts(f"{_TRAINING}\n---\n{_operator('')}")) == 1
    assert _texts(f"{_TRAINING}\n---\n{with_gang}") == []


def _ray_cluster(limits: str, start: str = "{}") -> str:
    container = f"{{name: w, resources: {{limits: {limits}}}}}"
    group = f"{{groupName: g, rayStartParams: {start}, template: {{spec: {{containers: [{container}]}}}}}}"
    return (
        "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: r}, "
        f"spec: {{enableInTreeAutoscaling: true, workerGroupSpecs: [{group}]}}}}"
    )


def test_workers_that_ray_scales_say_how_many_cpus_they_have() -> None:
    assert len(_texts(_ray_cluster("{nvidia.com/gpu: 1}"))) == 1
    assert _texts(_ray_cluster("{nvidia.com/gpu: 1, cpu: 8}")) == []
    assert _texts(_ray_cluster("{nvidia.com/gpu: 1}", "{num-cpus: '8'}")) == []


def _check(parameters: str, controller: str = "kueue.x-k8s.io/provisioning-request") -> str:
    return _object("kueue.x-k8s.io/v1beta1", "AdmissionCheck", f"controllerName: {controller}{parameters}")


def _requirement(operator: str, least: int) -> str:
    return _pool_template(f"requirements: [{{key: a, operator: {operator}, values: [b, c], minValues: {least}}}]")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (_check(""), _check("", "example.com/budget")),
        (
            _check(", parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: c}"),
            _check(", parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: c}"),
        ),
        (
            _check(", parameters: {apiGroup: kueue.k8s.io, kind: ProvisioningRequestConfig, name: c}"),
            _check(", parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, name: c}"),
        ),
        (_requirement("In", 3), _requirement("In", 2)),
        (_requirement("In", 50), _requirement("NotIn", 50)),
    ],
)
def test_more_rows_find_the_wrong_value_and_leave_the_right_one(wrong: str, right: str) -> None:
    assert len(_texts(wrong)) == 1
    assert _texts(right) == []


@pytest.mark.parametrize("damaged", [None, 7, "x", [], {}, [None], {"a": None}, [[1]], 10**30, True])
def test_damaged_values_are_passed_over(damaged: object) -> None:
    kinds = {kind for part in ("values", "beside") for row in known_keys.rows(part) for kind in row["kinds"]}
    for group, _, kind in (each.partition(" ") for each in sorted(kinds)):
        value: _Json = {"apiVersion": f"{group}/v1".lstrip("/"), "kind": kind, "metadata": {"name": "x"}}
        for whole in ({**value, "spec": damaged}, {**value, "spec": {"template": damaged, "targetRef": damaged}}):
            objects = Objects([whole])
            list(refused_values.wrong_values(whole, (group, kind)))
            list(chosen_boards.beside_others(whole, (group, kind), objects))
            list(machines.budgets({**whole, "kind": "PodDisruptionBudget"}, objects))


def _agents(toleration: str) -> str:
    container = "{image: 'registry.k8s.io/nfd/node-feature-discovery:v1'}"
    spec = f"tolerations: [{{key: nvidia.com/gpu, {toleration}}}], containers: [{container}]"
    return _object("apps/v1", "DaemonSet", f"template: {{spec: {{{spec}}}}}")


def test_an_agent_that_a_node_pool_keeps_off_is_found_with_the_taint() -> None:
    found = _texts(f"{_agents('value: other')}\n---\n{_TAINTED}")

    assert [each for each in found if "nvidia.com/gpu=present of NodePool gpu" in each] == found[:1]
    assert _texts(f"{_agents('operator: Exists')}\n---\n{_TAINTED}") == []


def _workflow(key: str) -> str:
    named = f"semaphore: {{configMapKeyRef: {{name: limits, key: {key}}}}}"
    return _object("argoproj.io/v1alpha1", "Workflow", f"templates: [{{synchronization: {{{named}}}}}]")


@pytest.mark.parametrize(("key", "remedies"), [("gpus", ["did you mean gpu?"]), ("gpu", [])])
def test_a_semaphore_has_its_key_in_the_config_map(key: str, remedies: list[str]) -> None:
    limits = "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits}, data: {gpu: '2'}}"
    values = list(yaml.safe_load_all(f"{_workflow(key)}\n---\n{limits}"))
    objects = Objects(values)
    files = inner_names.Files("", objects, objects, None)

    found = inner_names.names_of_nothing(values[0], ("argoproj.io", "Workflow"), (), files)
    assert [each.remedy for each in found] == remedies
