"""Values that controllers and programs refuse or do not read, though definitions take them."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import controller_rules, environment, refused_values, value_forms
from usher.kinds.reading.chosen_boards import boards_without_their_name
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]


def _found(value: _Json) -> list[tuple[str, str]]:
    """The paths and remedies of the findings about an object."""
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    return [(each.path, each.remedy) for each in controller_rules.refused(value, key, value_forms.pod_specs(value))]


def _remedies(text: str) -> list[str]:
    return [remedy for _, remedy in _found(yaml.safe_load(text))]


def _container(**fields: object) -> _Json:
    return {"name": "main", "image": "registry.example.com/main:1", **fields}


def _deployment(container: _Json, **spec: object) -> _Json:
    template = {"metadata": {}, "spec": {"containers": [container], **spec}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "llm"}, "spec": {"template": template}}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("NCCL_SOCKET_IFNMAE", "NCCL_SOCKET_IFNAME"),
        ("CCL_NET_GDR_LEVEL", "NCCL_NET_GDR_LEVEL"),
        ("nccl_debug", "NCCL_DEBUG"),
        ("VLLM_ATTENTION_BACKEDN", "VLLM_ATTENTION_BACKEND"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLNG", "TORCH_NCCL_ASYNC_ERROR_HANDLING"),
    ],
)
def test_a_misspelt_variable_is_found_with_what_was_meant(written: str, meant: str) -> None:
    value = _deployment(_container(env=[{"name": written, "value": "1"}]))

    assert [remedy for _, remedy in _found(value)] == [f"did you mean {meant}?"]


@pytest.mark.parametrize(
    "name",
    ["NCCL_IB_HCA", "HCCL_SOCKET_IFNAME", "NCCL_OWN_PLUGIN", "VLLM_USE_FLASHINFER_MOE_FP8", "VLLM_NEW", "CCL_LOG"],
)
def test_known_variables_and_those_of_other_programs_pass(name: str) -> None:
    assert _found(_deployment(_container(env=[{"name": name, "value": "1"}]))) == []


def test_every_recorded_variable_is_known() -> None:
    names = sorted(environment.program_names()["variables"])
    value = _deployment(_container(env=[{"name": name, "value": "1"} for name in names]))

    assert len(names) > 400
    assert _found(value) == []


@pytest.mark.parametrize(
    ("command", "kind", "spec", "count"),
    [
        ("echo $LWS_LEADER_ADDRESS", "Deployment", {}, 1),
        ("echo ${LWS_LEADER_ADDRESS}", "StatefulSet", {}, 1),
        ("LWS_LEADER_ADDRESS=a; echo $LWS_LEADER_ADDRESS", "Deployment", {}, 0),
        ("echo $VC_WORKER_HOSTS", "batch.volcano.sh Job", {"plugins": {"env": []}}, 1),
        ("echo $VC_WORKER_HOSTS", "batch.volcano.sh Job", {"plugins": {"svc": []}}, 0),
        ("echo $JOB_COMPLETION_INDEX", "batch Job", {"completionMode": "Indexed", "completions": 2}, 0),
        ("echo $JOB_COMPLETION_INDEX", "example.com Unknown", {}, 0),
    ],
)
def test_a_variable_that_no_controller_sets_is_found(command: str, kind: str, spec: _Json, count: int) -> None:
    group, _, name = kind.rpartition(" ")
    pods = {"template": {"spec": {"containers": [_container(command=["bash", "-c", command])]}}}
    value = {"apiVersion": f"{group or 'apps'}/v1", "kind": name, "metadata": {}, "spec": {**spec, **pods}}

    assert len(_found(value)) == count


@pytest.mark.parametrize(
    ("metadata", "remedies"),
    [
        ({"serverAddress": "a.m", "query": "up", "threshold": "1"}, []),
        ({"serverAddress": "a.m", "query": "up", "treshold": "1"}, ["rename treshold to threshold"]),
        ({"serverAddress": "a.m", "query": "up"}, ["add threshold to spec.triggers[0].metadata"]),
        (
            {"serverAddress": "a.m", "query": "up", "threshold": "1", "ignoreNulValues": "true"},
            ["did you mean ignoreNullValues?"],
        ),
        (
            {"serverAddress": "a.m", "query": "sum(vllm_num_requests_waiting)", "threshold": "1"},
            ["write vllm:num_requests_waiting"],
        ),
        ({"serverAddress": "a.m", "query": "sum(rate(vllm:request_success_total[1m]))", "threshold": "1"}, []),
    ],
)
def test_triggers_of_keda_are_compared_with_what_they_need(metadata: _Json, remedies: list[str]) -> None:
    spec = {"scaleTargetRef": {"name": "llm"}, "triggers": [{"type": "prometheus", "metadata": metadata}]}
    value = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "llm"}, "spec": spec}

    assert [remedy for _, remedy in _found(value)] == remedies


@pytest.mark.parametrize(
    ("command", "remedies"),
    [
        (["mpirun", "-np", "4", "./a"], []),
        (["mpirun", "-np", "8", "./a"], ["set slotsPerWorker to 4, or start 4 processes"]),
        (["mpirun", "--oversubscribe", "-np", "8", "./a"], []),
        (["bash", "-c", "mpirun -n 8 ./a"], ["set slotsPerWorker to 4, or start 4 processes"]),
        (["bash", "-c", "mpirun -n $N ./a"], []),
    ],
)
def test_mpirun_starts_no_more_processes_than_there_are_slots(command: list[str], remedies: list[str]) -> None:
    roles = {
        "Launcher": {"template": {"spec": {"containers": [_container(command=command)]}}},
        "Worker": {"replicas": 2, "template": {"spec": {"containers": [_container()]}}},
    }
    spec = {"slotsPerWorker": 2, "mpiReplicaSpecs": roles}
    value = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "a"}, "spec": spec}

    assert [remedy for _, remedy in _found(value)] == remedies


_LEAST = (
    "{{apiVersion: batch/v1, kind: Job, metadata: {{name: a, "
    "annotations: {{kueue.x-k8s.io/job-min-parallelism: '{}'}}}}, "
    "spec: {{parallelism: {}, completions: {}}}}}"
)
_RAY = (
    "{{apiVersion: ray.io/v1, kind: RayService, metadata: {{name: a}}, spec: {{rayClusterConfig: {{rayVersion: '{}', "
    "headGroupSpec: {{template: {{spec: {{containers: [{{name: head, image: '{}'}}]}}}}}}, "
    "workerGroupSpecs: [{{template: {{spec: {{containers: [{{name: worker, image: '{}'}}]}}}}}}]}}}}}}"
)


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (
            (
                "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: a}, spec: {preemption: "
                "{borrowWithinCohort: {policy: LowerPriority}}}}"
            ),
            ["set reclaimWithinCohort to LowerPriority or Any, or borrowWithinCohort.policy to Never"],
        ),
        (
            (
                "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: a}, spec: {preemption: "
                "{reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}}}"
            ),
            [],
        ),
        (
            (
                "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {}, spec: {minReplicas: 0, "
                "metrics: [{type: Resource}]}}"
            ),
            ["set minReplicas to 1, or scale to zero with KEDA"],
        ),
        (
            (
                "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {}, spec: {minReplicas: 0, "
                "metrics: [{type: External}]}}"
            ),
            ["set minReplicas to 1, or scale to zero with KEDA"],
        ),
        (
            (
                "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {}, spec: {replicatedJobs: [{name: "
                "w, template: {spec: {parallelism: 4}}}]}}"
            ),
            ["set completions to 4, the number of pods"],
        ),
        (
            (
                "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {}, spec: {replicatedJobs: [{name: "
                "w, template: {spec: {parallelism: 4, completionMode: NonIndexed}}}]}}"
            ),
            [],
        ),
        (
            (
                "{apiVersion: nfd.k8s-sigs.io/v1alpha1, kind: NodeFeatureRule, metadata: {name: a}, spec: {rules: [{"
                "matchFeatures: [{feature: pci.devices}, {feature: vendor.flags}, {feature: pci.device}]}]}}"
            ),
            ["did you mean pci.device?"],
        ),
        (
            (
                "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: 7b, annotations: "
                "{serving.kserve.io/autoscalerClass: hpa, serving.kserve.io/deploymentMode: Standard}}, spec: "
                "{predictor: {scaleMetric: concurrency}}}"
            ),
            [
                "set scaleMetric to cpu or memory, or autoscalerClass to keda with a metric of its own",
                "begin the name with a letter",
            ],
        ),
        (
            (
                "{apiVersion: serving.kserve.io/v1alpha1, kind: LLMInferenceService, metadata: {name: a}, spec: "
                "{baseRefs: [{name: stages}], parallelism: {tensor: 2, pipeline: 2}, worker: {containers: []}}}"
            ),
            [],
        ),
        (_LEAST.format("8", 4, 16), ["write a number from 1 to 3"]),
        (_LEAST.format("4", 8, 4), ["write a number from 1 to 3"]),
        (_LEAST.format("0", 1, 1), ["remove the annotation"]),
        (_LEAST.format("half", 4, 16), ["write a number from 1 to 3"]),
        (_LEAST.format("3", 4, 16), []),
        (_LEAST.format("$LEAST", 4, 16), []),
        (_RAY.format("2.40.0", "rayproject/ray:2.40.0-py311", "rayproject/ray:2.40.0-gpu"), []),
        (_RAY.format("2.40.0", "rayproject/ray-ml:2.40.0", "own/ray:2.9.0"), []),
        (_RAY.format("2.40.0", "rayproject/ray:2.40.0", "rayproject/ray:2.9.0-gpu"), ["use images of one version"]),
        (_RAY.format("2.9.0", "rayproject/ray:2.40.0", "rayproject/ray:2.40.0-gpu"), ["write 2.40.0"]),
    ],
)
def test_webhooks_and_controllers_refuse_what_they_cannot_use(text: str, remedies: list[str]) -> None:
    assert _remedies(text) == remedies


@pytest.mark.parametrize(("name", "count"), [("pytorch", 0), ("trainer", 1), ("$NAME", 0)])
def test_the_training_operator_needs_a_container_of_its_name(name: str, count: int) -> None:
    pods = {"Worker": {"template": {"spec": {"containers": [{**_container(), "name": name}]}}}}
    value = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": pods},
    }

    assert len(_found(value)) == count


@pytest.mark.parametrize(
    ("host", "count"),
    [
        ("train-worker-0-0.train", 0),
        ("train-workers-0-0.train", 1),
        ("other-workers-0-0.train", 0),
        ("train-head", 0),
    ],
)
def test_the_address_of_the_first_rank_is_that_of_a_pod(host: str, count: int) -> None:
    container = _container(env=[{"name": "MASTER_ADDR", "value": host}, {"name": "NOTE", "value": "train-x-0"}])
    job = {"name": "worker", "template": {"spec": {"template": {"spec": {"containers": [container]}}}}}
    spec = {"replicatedJobs": [job]}
    value = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train"}, "spec": spec}

    assert len(_found(value)) == count


def test_hosts_in_commands_are_compared_too() -> None:
    command = ["bash", "-c", "torchrun --rdzv_endpoint=train-master-0:29500 --master_addr train-chief-0 a.py"]
    roles = {"Master": {"template": {"spec": {"containers": [{**_container(command=command), "name": "pytorch"}]}}}}
    spec = {"pytorchReplicaSpecs": roles}
    value = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "train"}, "spec": spec}

    assert [remedy for _, remedy in _found(value)] == ["write the name of one of its pods (train-master-0)"]


@pytest.mark.parametrize(
    ("product", "count"), [("L4", 1), ("NVIDIA-L4", 0), ("h100", 1), ("NVIDIA-H100-80GB-HBM3", 0), ("Tesla-T4", 0)]
)
def test_a_board_is_selected_by_the_name_that_nodes_have(product: str, count: int) -> None:
    selector = {"nvidia.com/gpu.product": product}
    terms = [{"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": [product]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}

    assert (
        len(list(boards_without_their_name(value_forms.pod_specs(_deployment(_container(), nodeSelector=selector)))))
        == count
    )
    assert (
        len(list(boards_without_their_name(value_forms.pod_specs(_deployment(_container(), affinity=affinity)))))
        == count
    )


def test_an_amount_among_the_annotations_is_found() -> None:
    value = yaml.safe_load(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {annotations: "
        "{nvidia.com/gpumem: '3000', hami.io/vgpu-mode: a}}, spec: {containers: [{name: a, image: a}]}}}}"
    )

    assert _found(value) == [
        ("/spec/template/metadata/annotations/nvidia.com~1gpumem", "write nvidia.com/gpumem in limits of the container")
    ]


@pytest.mark.parametrize(
    ("container", "probe", "remedies"),
    [
        ({"image": "vllm/vllm-openai:v0.11.0"}, {"path": "/health", "port": 8000}, []),
        ({"image": "vllm/vllm-openai:v0.11.0"}, {"path": "/health", "port": 8080}, ["ask port 8000"]),
        ({"image": "vllm/vllm-openai:v0.11.0"}, {"path": "/ready", "port": 8000}, ["ask /health"]),
        ({"image": "vllm/vllm-openai:v0.11.0", "command": ["/run.sh"]}, {"path": "/ready", "port": 1}, []),
        ({"image": "vllm/vllm-openai:v0.11.0", "args": ["--port=$(P)"]}, {"path": "/health", "port": 1}, []),
        (
            {"command": ["python", "-m", "sglang.launch_server", "--host=0.0.0.0"]},
            {"path": "/health", "port": 8000},
            ["ask port 30000"],
        ),
        ({"command": ["tritonserver", "--model-repository=/m"]}, {"path": "/v2/health/ready", "port": 8000}, []),
        ({"command": ["tritonserver", "--model-repository=/m"]}, {"path": "/", "port": 8000}, ["ask /v2/health/ready"]),
        (
            {"command": ["sh", "-c", "ray start --head --port=6379 --num-gpus 8\nvllm serve a/b --port 80"]},
            {"path": "/health", "port": 80},
            [],
        ),
        ({"image": "ollama/ollama:0.11"}, {"path": "/", "port": 11434}, []),
        ({"image": "ghcr.io/ggml-org/llama.cpp:server-cuda"}, {"path": "/health", "port": 80}, ["ask port 8080"]),
    ],
)
def test_a_probe_asks_what_the_server_answers(container: _Json, probe: _Json, remedies: list[str]) -> None:
    value = _deployment(_container(**container, readinessProbe={"httpGet": probe}))

    assert [remedy for _, remedy in _found(value)] == remedies


@pytest.mark.parametrize(
    ("command", "port", "remedies"),
    [
        ("vllm serve m", 8000, []),
        ("vllm serve m", 80, ["declare port 8000, or set --port to 80"]),
        ("vllm serve m --port 80", 80, []),
        ("ollama serve", 8000, ["declare port 11434, or set OLLAMA_HOST to 0.0.0.0:8000"]),
        ("python -m sglang.launch_server --host 0.0.0.0", 30000, []),
        ("python -m sglang.launch_server", 30000, ["add --host 0.0.0.0"]),
        ("trtllm-serve m", 8000, ["add --host 0.0.0.0"]),
    ],
)
def test_a_server_listens_where_others_reach_it(command: str, port: int, remedies: list[str]) -> None:
    value = _deployment({**_container(command=command.split()), "ports": [{"containerPort": port}]})

    assert [remedy for _, remedy in _found(value)] == remedies


@pytest.mark.parametrize(
    ("flags", "spec", "count"),
    [
        ("--nnodes=2", {}, 1),
        ("--nnodes=1", {}, 0),
        ("--nnodes=2 --node_rank=$RANK", {}, 0),
        ("--nnodes=2 --rdzv_backend=c10d", {}, 0),
        ("--nnodes=2", {"elasticPolicy": {}}, 0),
    ],
)
def test_torchrun_on_several_nodes_needs_a_rank_or_a_rendezvous(flags: str, spec: _Json, count: int) -> None:
    container = {**_container(command=["torchrun", *flags.split(), "a.py"]), "name": "pytorch"}
    roles = {"Worker": {"replicas": 2, "template": {"spec": {"containers": [container]}}}}
    value = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": roles, **spec},
    }

    assert len(_found(value)) == count


def test_former_labels_of_kai_scheduler_are_found_on_its_pods() -> None:
    text = (
        "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {runai/queue: test}}, spec: {schedulerName: %s, "
        "containers: [{name: a, image: a}]}}"
    )

    job = (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a, labels: {runai/queue: b}}, spec: {template: {spec: %s}}}"
    )
    pods = "{schedulerName: kai-scheduler, restartPolicy: Never, containers: [{name: a, image: a}]}"

    assert _remedies(text % "kai-scheduler") == ["write kai.scheduler/queue"]
    assert _remedies(job % pods) == ["write kai.scheduler/queue"]
    assert _remedies(text % "default-scheduler") == []


def test_probes_of_pods_with_several_containers_are_not_compared() -> None:
    server = {**_container(), "image": "vllm/vllm-openai:v0.11.0", "readinessProbe": {"httpGet": {"port": 1}}}
    value = _deployment(server)
    value["spec"]["template"]["spec"]["containers"].append(_container())

    assert _found(value) == []


def _ranked(kind: str, command: str, **env: str) -> _Json:
    """A workload of 2 pods on 2 nodes that starts a command in each."""
    container = _container(
        command=["bash", "-c", command], env=[{"name": name, "value": text} for name, text in env.items()]
    )
    template = {"spec": {"subdomain": "train", "containers": [container]}}
    specs: dict[str, tuple[str, _Json]] = {
        "StatefulSet": ("apps/v1", {"replicas": 2, "serviceName": "train", "template": template}),
        "Job": ("batch/v1", {"parallelism": 2, "template": template}),
        "JobSet": (
            "jobset.x-k8s.io/v1alpha2",
            {
                "replicatedJobs": [
                    {"name": "a", "template": {"spec": {"parallelism": 2, "completions": 2, "template": template}}}
                ]
            },
        ),
        "LeaderWorkerSet": (
            "leaderworkerset.x-k8s.io/v1",
            {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
        ),
    }
    version, spec = specs[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "train", "namespace": "team"}, "spec": spec}


@pytest.mark.parametrize("kind", ["StatefulSet", "Job", "JobSet", "LeaderWorkerSet"])
@pytest.mark.parametrize(
    ("flags", "remedy"),
    [
        ("--nnodes=2 --node_rank=$RANK --master_addr=train-0", None),
        ("--nnodes 4 --rdzv_backend c10d --rdzv_endpoint train-0:29500", None),
        (
            "--nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500",
            "name the first pod, for example by a headless Service",
        ),
        (
            "--nnodes=2 --node_rank=$RANK --master_addr=localhost",
            "name the first pod, for example by a headless Service",
        ),
    ],
)
def test_torchrun_waits_only_for_nodes_that_come(kind: str, flags: str, remedy: str | None) -> None:
    remedies = [each for _, each in _found(_ranked(kind, f"torchrun {flags} a.py"))]

    assert remedies == ([] if remedy is None else [remedy])


def test_one_rank_for_all_pods_is_found_in_commands_and_variables() -> None:
    command = _ranked("Job", "torchrun --nnodes=2 --node_rank=0 --master_addr=train-0.train a.py")
    variable = _ranked("StatefulSet", "python a.py", RANK="0", WORLD_SIZE="2")

    assert [each for _, each in _found(command)] == ["write --node_rank=$JOB_COMPLETION_INDEX in the script of a shell"]
    assert [each for _, each in _found(variable)] == ["set it in the script of a shell: export RANK=${HOSTNAME##*-}"]
    assert _found(_ranked("StatefulSet", "python a.py", RANK="0", WORLD_SIZE="1")) == []


def test_ranks_of_accelerate_are_those_of_torchrun() -> None:
    flags = "--num_machines 2 --main_process_ip train-0.train a.py"

    assert _remedies_of_start(f"accelerate launch --machine_rank 0 {flags}") == [
        "write --machine_rank=$JOB_COMPLETION_INDEX in the script of a shell"
    ]
    assert _remedies_of_start(f"accelerate launch --machine_rank $RANK {flags}") == []
    assert _remedies_of_start(f"accelerate launch --config_file a.yaml {flags}") == []


def test_ranks_of_servers_are_those_of_their_pods() -> None:
    start = "python3 -m sglang.launch_server --model-path m --tp 16 --nnodes 2 --dist-init-addr a:1 --node-rank "

    assert _remedies_of_start(f"{start}0") == ["write --node-rank=$JOB_COMPLETION_INDEX in the script of a shell"]
    assert _remedies_of_start(f"{start}$RANK") == []
    assert _remedies_of_start(f"{start}0".replace("--nnodes 2", "--nnodes 1")) == []


def _remedies_of_start(command: str) -> list[str]:
    return [remedy for _, remedy in _found(_ranked("Job", command))]


def test_a_leader_has_a_rank_of_its_own() -> None:
    job = _ranked("LeaderWorkerSet", "torchrun --nnodes=2 --node_rank=1 --master_addr=$LWS_LEADER_ADDRESS a.py")
    leader = _container(
        command=["torchrun", "--nnodes=2", "--node_rank=0", "--master_addr=$(LWS_LEADER_ADDRESS)", "a.py"]
    )
    job["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = {"spec": {"containers": [leader]}}

    assert _found(job) == []


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("torchrun --master_addr=train-0.train.other.svc.cluster.local --node_rank=$RANK a.py", 1),
        ("ray start --address=head.other.svc:6379 --block", 1),
        ("torchrun --master_addr=train-0.train.team.svc --node_rank=$RANK a.py", 0),
        ("ray start --address=head:6379 --block", 0),
    ],
)
def test_the_first_rank_is_in_the_namespace_of_its_pods(command: str, count: int) -> None:
    text = _found(_ranked("Job", command))

    assert [each for _, each in text] == ["use the namespace of the pods, or a name without a namespace"] * count


def test_an_address_may_follow_its_option() -> None:
    job = _ranked("Job", "")
    container = job["spec"]["template"]["spec"]["containers"][0]
    container["command"] = ["python", "-m", "sglang.launch_server", "--dist-init-addr", "a-0.a.other.svc:20000"]

    assert [path for path, _ in _found(job)] == ["/spec/template/spec/containers/0/command/3"]
    assert _found(_ranked("Job", "true", PET_MASTER_ADDR="a-0.a.other.svc"))


@pytest.mark.parametrize(
    ("word", "remedies"),
    [
        ("--model=$(MODEL_ID)", ["did you mean MODEL_IDS?"]),
        ("--size=$(GPU_COUNT)", ["add GPU_COUNT to env"]),
        ("run $(Leader_Node_Address)", ["add Leader_Node_Address to env"]),
        ("$$(GPU_COUNT) $(MODEL_IDS) $(nproc) $(date +%s) ${GPU_COUNT} $(WEB_SERVICE_HOST) $(TPU_WORKER_ID)", []),
    ],
)
def test_a_reference_names_a_variable_of_the_container(word: str, remedies: list[str]) -> None:
    container = _container(args=[word], env=[{"name": "MODEL_IDS", "value": "a"}])

    assert [each for _, each in _found(_deployment(container))] == remedies


def test_references_that_others_may_set_pass() -> None:
    listed = _container(args=["$(GPU_COUNT)"], envFrom=[{"configMapRef": {"name": "all"}}])
    volcano = {"tasks": [{"template": {"spec": {"containers": [_container(args=["$(GPU_COUNT)"])]}}}]}

    assert _found(_deployment(listed)) == []
    assert _found({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {}, "spec": volcano}) == []


@pytest.mark.parametrize(
    ("term", "old"),
    [
        ({"alias": "al2@latest"}, True),
        ({"name": "amazon-eks-gpu-node-1.32-*"}, True),
        ({"ssmParameter": "/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id"}, True),
        ({"alias": "al2023@v20251101"}, False),
        ({"name": "amazon-eks-node-al2023-x86_64-nvidia-1.33-v*"}, False),
        ({"ssmParameter": "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/nvidia/recommended"}, False),
    ],
)
def test_images_of_amazon_linux_2_are_found(term: _Json, old: bool) -> None:
    family = {} if "alias" in term else {"amiFamily": "AL2023"}
    spec = {**family, "amiSelectorTerms": [term]}

    assert bool(_found({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "spec": spec})) == old


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("DCGM_FI_DEV_FB_USED gauge, Framebuffer used.", True),
        ("DCGM_FI_DEV_FB_USED, guage, Framebuffer used.", True),
        ("DCGM_FI_DEV_FB_USED, gauge, Used, in MiB.", True),
        ('DCGM_FI_DEV_FB_USED, gauge, "Used, in MiB."', False),
        ("# DCGM_FI_DEV_FB_USED", False),
    ],
)
def test_a_line_of_counters_has_a_field_a_type_and_a_help(line: str, wrong: bool) -> None:
    value: _Json = {"data": {"dcgm-metrics.csv": f"DCGM_FI_DEV_GPU_UTIL, gauge, Use.\n\n{line}\n"}}

    assert bool(list(refused_values.metrics_of_dcgm(value))) == wrong


def _parts(value: _Json, *beside: _Json) -> list[str]:
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    return [each.path for each in value_forms.refused_parts(value, key, Objects(beside))]


@pytest.mark.parametrize(
    ("fields", "driver", "count"),
    [
        ({}, "ebs.csi.aws.com", 1),
        ({}, "efs.csi.aws.com", 0),
        ({"volumeMode": "Block"}, "ebs.csi.aws.com", 0),
        ({"accessModes": ["ReadWriteOnce"]}, "ebs.csi.aws.com", 0),
        ({"storageClassName": "premium-rwo"}, "efs.csi.aws.com", 1),
        ({"storageClassName": "other"}, "ebs.csi.aws.com", 0),
        ({"accessModes": 7, "storageClassName": [7]}, "ebs.csi.aws.com", 0),
    ],
)
def test_a_disk_of_one_node_is_not_shared(fields: _Json, driver: str, count: int) -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": driver,
    }
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": "fast", **fields}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "models"}, "spec": spec}
    ranks = {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"volumeClaimTemplates": [{"spec": spec}]}}

    assert len(_parts(claim, storage)) == len(_parts(ranks, storage)) == count


@pytest.mark.parametrize(("chosen", "count"), [("llm", 0), ("lllm", 1), ("$APP", 0)])
def test_pods_are_spread_by_their_own_labels(chosen: str, count: int) -> None:
    value = _deployment(_container(), topologySpreadConstraints=[{"labelSelector": {"matchLabels": {"app": chosen}}}])
    value["spec"]["template"]["metadata"] = {"labels": {"app": "llm"}}

    assert len(_parts(value)) == count
