"""Gangs, queues and training that other objects of the files contradict."""

import orjson
import pytest
import yaml

from unit.kinds.reading.test_rows_of_gangs import gang, of_volcano, one_object, ray, texts, tree


def _queue(deserved: str) -> str:
    return one_object("scheduling.volcano.sh/v1beta1", "Queue", f"deserved: {{{deserved}}}")


def _volcano(actions: str) -> str:
    text = f'actions: "{actions}"\ntiers:\n- plugins:\n  - name: priority\n  - name: capacity\n'
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"conf": text}})


def _volcano_job(replicas: int, minimum: str = "") -> str:
    container = "{name: c, image: 'a:1', resources: {requests: {cpu: 4, nvidia.com/gpu: 1}}}"
    task = f"{{replicas: {replicas}, template: {{spec: {{containers: [{container}]}}}}}}"
    return one_object("batch.volcano.sh/v1alpha1", "Job", f"queue: x{minimum}, tasks: [{task}]")


_BOTH = _queue("cpu: 8, nvidia.com/gpu: 2") + "\n---\n" + _volcano("allocate, reclaim")


def _scaled(kind: str, version: str, more: str = "") -> str:
    return one_object(version, kind, f"scaleTargetRef: {{apiVersion: apps/v1, kind: StatefulSet, name: s}}{more}")


_SET = (
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: "
    "{name: s, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {}}"
)


def _slurm(device: str) -> str:
    return one_object("slinky.slurm.net/v1beta1", "NodeSet", f"slurmd: {{resources: {{limits: {{{device}: 8}}}}}}")


_GRES = yaml.safe_dump(
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"gres.conf": "AutoDetect=nvml\n"}}
)


def _kai_group(minimum: int) -> str:
    return one_object("scheduling.run.ai/v2alpha2", "PodGroup", f"minMember: {minimum}, queue: q")


def _pod(name: str) -> str:
    return (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: ml, annotations: {{pod-group-name: x}}}}, "
        "spec: {containers: [{name: c, image: 'a:1'}]}}"
    )


_PODS = f"{_pod('a')}\n---\n{_pod('b')}"


def _plugin_group(gpus: int) -> str:
    return one_object(
        "scheduling.x-k8s.io/v1alpha1", "PodGroup", f"minMember: 2, minResources: {{nvidia.com/gpu: {gpus}}}"
    )


_NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {nvidia.com/gpu: '8'}}}"
_LOCAL = one_object("kueue.x-k8s.io/v1beta1", "LocalQueue", "clusterQueue: c")


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


_COLLECTED = "katib.kubeflow.org/metrics-collector-injection"
_SEARCH = one_object("kubeflow.org/v1beta1", "Experiment", "algorithm: {algorithmName: random}")


def _home(labels: str) -> str:
    return f"{{apiVersion: v1, kind: Namespace, metadata: {{name: ml, labels: {{{labels}}}}}}}"


def _operator(command: str) -> str:
    pod = f"containers: [{{name: c, image: 'kubeflow/training-operator:v1', command: {command}}}]"
    return one_object("apps/v1", "Deployment", f"template: {{spec: {{{pod}}}}}")


def _in_yunikorn(gpus: int, groups: str = "") -> str:
    """A Job in the queue root.ml.a, whose pods ask for these GPUs."""
    pod = f"containers: [{{name: c, image: 'a:1', resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]"
    metadata = f"labels: {{queue: root.ml.a}}, annotations: {{{groups}}}"
    spec = f"template: {{metadata: {{{metadata}}}, spec: {{schedulerName: yunikorn, {pod}}}}}"
    return one_object("batch/v1", "Job", spec)


def _queues(rules: str = "") -> str:
    return tree(4).replace("name: c", "name: yunikorn-configs").replace("name: default,", f"name: default, {rules}")


def _group(members: int) -> str:
    group = [{"name": "w", "minMember": members, "minResource": {"nvidia.com/gpu": 1}}]
    return f"yunikorn.apache.org/task-groups: '{orjson.dumps(group).decode()}'"


_IN_QUEUE = ", labels: {kueue.x-k8s.io/queue-name: q}"
_SCALING = ray("enableInTreeAutoscaling: true", _IN_QUEUE)
_OWN_QUEUE = """{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: q, namespace: ml},
 spec: {clusterQueue: c}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: c}, spec: {admissionChecks: [x]}}
---
"""


def _native_group(minimum: int) -> str:
    return one_object("scheduling.k8s.io/v1beta1", "PodGroup", f"schedulingPolicy: {{gang: {{minCount: {minimum}}}}}")


def _member(name: str) -> str:
    spec = "schedulingGroup: {podGroupName: x}, containers: [{name: c, image: 'a:1'}]"
    return one_object("v1", "Pod", spec).replace("name: x, namespace", f"name: {name}, namespace")


_MEMBERS = f"{_member('a')}\n---\n{_member('b')}"
_TEMPLATE_OF_GROUP = one_object(
    "batch/v1",
    "Job",
    "template: {spec: {schedulingGroup: {podGroupName: x}, containers: [{name: c, image: 'a:1'}]}}",
)


def _claims(device: str) -> str:
    request = f"{{name: g, exactly: {{deviceClassName: {device}}}}}"
    return one_object("resource.k8s.io/v1", "ResourceClaimTemplate", f"spec: {{devices: {{requests: [{request}]}}}}")


_MAPPED = """
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    resources:
      deviceClassMappings:
      - {name: whole-gpus, deviceClassNames: [gpu.nvidia.com]}
"""


_RUN_OF = one_object("tekton.dev/v1", "PipelineRun", "pipelineRef: {name: x}")


def _pipeline(timeout: str) -> str:
    return one_object("tekton.dev/v1", "Pipeline", f"tasks: [{{name: fit, timeout: {timeout}}}]")


_NO_SIDECAR = "labels: {sidecar.istio.io/inject: 'false'}"
_PROFILE = "{apiVersion: kubeflow.org/v1, kind: Profile, metadata: {name: ml}, spec: {}}"


def _in_profile(metadata: str) -> str:
    pod = f"template: {{metadata: {{{metadata}}}, spec: {{containers: [{{name: c, image: 'a:1'}}]}}}}"
    spec = f"runPolicy: {{cleanPodPolicy: Running}}, mpiReplicaSpecs: {{Launcher: {{{pod}}}, Worker: {{{pod}}}}}"
    return one_object("kubeflow.org/v2beta1", "MPIJob", spec)


def _rolling(strategy: str) -> str:
    """Servers in the queue q, whose pods hold all of 4 GPUs."""
    pod = "spec: {containers: [{name: c, image: 'a:1', resources: {limits: {nvidia.com/gpu: 2}}}]}"
    spec = f"replicas: 2, strategy: {{{strategy}}}, template: {{{pod}}}"
    return one_object("apps/v1", "Deployment", spec, _IN_QUEUE)


_ITS_QUEUE = _LOCAL.replace("name: x, namespace", "name: q, namespace")


def _quota(hard: str) -> str:
    return one_object("v1", "ResourceQuota", f"hard: {{{hard}}}")


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
        (f"{_SEARCH}\n---\n{_home('')}", f"{_SEARCH}\n---\n{_home(f'{_COLLECTED}: enabled')}"),
        (
            f"{of_volcano('team: a')}\n---\n{_operator('[/manager]')}",
            f"{of_volcano('team: a')}\n---\n{_operator('[/manager, --gang-scheduler-name=volcano]')}",
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
        (f"{_RUN_OF}\n---\n{_pipeline('2h30m')}", f"{_RUN_OF}\n---\n{_pipeline('30m')}"),
        (
            f"{_in_profile('')}\n---\n{_PROFILE}",
            f"{_in_profile(_NO_SIDECAR)}\n---\n{_PROFILE}",
        ),
        (
            f"{_rolling('')}\n---\n{_ITS_QUEUE}\n---\n{_cluster_queue(4)}",
            f"{_rolling('rollingUpdate: {maxUnavailable: 1}')}\n---\n{_ITS_QUEUE}\n---\n{_cluster_queue(4)}",
        ),
        (
            f"{_rolling('')}\n---\n{_ITS_QUEUE}\n---\n{_cluster_queue(4)}",
            f"{_rolling('')}\n---\n{_ITS_QUEUE}\n---\n{_cluster_queue(6)}",
        ),
        (f"{_native_group(4)}\n---\n{_MEMBERS}", f"{_native_group(2)}\n---\n{_MEMBERS}"),
        (f"{_native_group(4)}\n---\n{_MEMBERS}", f"{_native_group(4)}\n---\n{_MEMBERS}\n---\n{_TEMPLATE_OF_GROUP}"),
        (f"{_claims('mig.nvidia.com')}\n---{_MAPPED}", f"{_claims('gpu.nvidia.com')}\n---{_MAPPED}"),
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
    assert len(texts(wrong)) == 1
    assert texts(right) == []


@pytest.mark.parametrize("damaged", ["~", "7", "x", "[]", "[null]", "{a: null}", "[[1]]", "1e30", "true"])
def test_damaged_groups_and_queues_end_no_run(damaged: str) -> None:
    """An object of a stranger may have any value at any place."""
    task = f"[{{replicas: {damaged}, template: {damaged}}}]"
    job = one_object("batch.volcano.sh/v1alpha1", "Job", f"queue: x, minAvailable: {damaged}, tasks: {task}")
    group = one_object("scheduling.x-k8s.io/v1alpha1", "PodGroup", f"minMember: {damaged}, minResources: {damaged}")
    amounts = group.replace(f"minResources: {damaged}", f"minResources: {{cpu: {damaged}}}")

    assert texts(f"{job}\n---\n{_BOTH}") == []
    assert texts(f"{group}\n---\n{_NODE}") == []
    assert len(texts(f"{amounts}\n---\n{_NODE}")) <= 1
    assert len(texts(gang([{"name": "w", "minMember": 1, "minResource": yaml.safe_load(damaged)}]))) <= 1
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
        assert len(texts(f"{_in_yunikorn(8)}\n---\n{yaml.safe_dump(config)}")) <= 1
    assert len(texts(gang(damaged))) <= 1
