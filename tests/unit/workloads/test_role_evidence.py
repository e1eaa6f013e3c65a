"""Programs and images decide about a role where usher.yaml does not."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import readable_workload
from usher import model, paths
from usher.config import selection as config_selection
from usher.workloads import model_servers

TRAINING, INFERENCE = model.Role.TRAINING, model.Role.INFERENCE
BATCH, INTERACTIVE, SERVICE = model.Role.BATCH, model.Role.INTERACTIVE, model.Role.SERVICE


def template(*command: str, image: str = "", args: tuple[str, ...] = (), gpus: int = 8) -> paths.Object:
    fields: dict[str, Any] = {"image": image} if image else {}
    fields |= {"command": list(command)} if command else {}
    fields |= {"args": list(args)} if args else {}
    return builders.template(builders.container("app", gpus=gpus or None, **fields))


def role(value: paths.Object) -> model.Role:
    return readable_workload(value).role


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.10.0",
        "registry.example.com/mirror/vllm/vllm-openai",
        "ghcr.io/huggingface/text-generation-inference:3.3",
        "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8",
        "lmsysorg/sglang:latest",
        "nvcr.io/nvidia/tritonserver:25.01-py3",
        "ghcr.io/huggingface/text-embeddings-inference:89-1.7",
        "ollama/ollama:0.9",
        "ghcr.io/ggml-org/llama.cpp:server-cuda",
        "registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.0.0",
        "registry.redhat.io/rhoai/odh-vllm-rocm-rhel9@sha256:0123",
        "quay.io/modh/vllm:rhoai-2.25-cuda",
        "quay.io/rh-aiservices-bu/vllm-openai-ubi9:0.4.2",
        "rocm/vllm:rocm7.0_vllm_0.11",
        "nvcr.io/nvidia/vllm:25.10-py3",
        "opea/vllm-gaudi:1.3",
        "public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.29.0",
        "ghcr.io/llm-d/llm-d-xpu:v0.4.0",
        "ghcr.io/huggingface/tgi-gaudi:2.3.1",
        "ghcr.io/huggingface/tei-gaudi:1.5.0",
    ],
)
def test_a_deployment_of_a_model_server_infers(image: str) -> None:
    assert role(builders.deployment(template(image=image, args=("--model", "x")))) is INFERENCE
    assert role(builders.stateful_set(template(image=image))) is INFERENCE
    assert role(builders.pod(*_containers(template(image=image)))) is INFERENCE


def _containers(value: paths.Object) -> list[paths.Object]:
    found = paths.resolve(value, "/spec/containers")
    assert isinstance(found, list)
    return [each for each in found if isinstance(each, dict)]


def test_a_command_says_more_than_the_image() -> None:
    found = readable_workload(builders.deployment(template("python3", "-m", "sglang.launch_server", image="nginx")))

    assert (found.role, found.role_reason) == (INFERENCE, "container app runs python -m sglang.launch_server: SGLang")
    assert role(builders.deployment(template("sh", "-c", "vllm serve x", image="team/app"))) is INFERENCE


@pytest.mark.parametrize(
    "command",
    [
        ("torchrun", "--nnodes=2", "train.py"),
        ("accelerate", "launch", "main.py"),
        ("deepspeed", "main.py"),
        ("horovodrun", "-np", "8", "python", "main.py"),
        ("python3", "-m", "torch.distributed.run", "main.py"),
        ("mpirun", "-np", "8", "-x", "PATH", "python3", "/work/train_gpt.py"),
        ("bash", "-c", "nvidia-smi && torchrun main.py"),
        ("python", "finetune_llama.py"),
    ],
)
def test_a_job_that_runs_a_trainer_trains(command: tuple[str, ...]) -> None:
    assert role(builders.job(template(*command))) is TRAINING
    assert role(builders.pod(*_containers(template(*command)))) is TRAINING


def test_a_job_that_serves_for_a_while_stays_batch() -> None:
    assert role(builders.job(template("vllm", "serve", "x", image="vllm/vllm-openai"))) is BATCH
    assert role(builders.job(template("python", "evaluate.py"))) is BATCH


def test_a_ray_cluster_trains_if_its_image_does() -> None:
    group = builders.ray_group("workers", template(image="verlai/verl:vllm011.latest"), replicas=2)
    found = readable_workload(builders.ray_cluster(group))

    assert found.role is TRAINING
    assert found.gang.wanted
    assert role(builders.ray_cluster(builders.ray_group("workers", template(image="rayproject/ray:2.52")))) is BATCH


@pytest.mark.parametrize(
    ("launcher", "image"),
    [
        (("mpirun", "-np", "4", "--map-by", "ppr:2:node", "nvbandwidth", "-t", "x"), ""),
        (("mpirun", "-np", "16", "/opt/nccl_tests/build/all_reduce_perf", "-b", "8"), ""),
        (("mpirun", "./start.sh"), "example.com/nccl-tests:12"),
        (("bash", "-c", "ssh worker exit; mpirun all_reduce_perf"), "example.com/rccl-tests:rocm-7.1"),
    ],
)
def test_a_test_of_the_network_does_not_train(launcher: tuple[str, ...], image: str) -> None:
    value = builders.mpi_job(template("sshd", image=image), workers=2, launcher=template(*launcher, gpus=0))

    found = readable_workload(value)
    assert found.role is BATCH
    assert found.gang.wanted  # its pods still wait for each other


def test_training_that_first_tests_the_devices_trains() -> None:
    assert role(builders.pytorch_job(template("sh", "-c", "nvidia-smi; python main.py"))) is TRAINING
    assert role(builders.pod(*_containers(template("sh", "-c", "nvidia-smi; sleep 9")))) is BATCH


def test_a_server_does_not_hide_a_trainer() -> None:
    assert role(builders.deployment(template("sh", "-c", "vllm serve x & torchrun main.py"))) is TRAINING
    both = builders.template(
        builders.container("a", gpus=1, command=["vllm", "serve"]),
        builders.container("b", gpus=7, command=["torchrun", "main.py"]),
    )
    assert role(builders.deployment(both)) is TRAINING


def test_the_image_of_a_server_does_not_decide_for_trainers_and_other_programs() -> None:
    image = "vllm/vllm-openai:v1"

    assert (
        role(builders.job_set(builders.replicated_job(pod_template=template("python", "rl.py", image=image))))
        is TRAINING
    )
    assert role(builders.pod(*_containers(template("python", "bench.py", image=image)))) is model.Role.UNKNOWN
    assert role(builders.deployment(template("sleep", "infinity", image=image))) is SERVICE


def test_a_job_set_that_starts_a_server_infers() -> None:
    value = builders.job_set(builders.replicated_job(pod_template=template("vllm", "serve", "x"), parallelism=2))

    assert role(value) is INFERENCE


def test_editors_in_the_browser_are_interactive() -> None:
    assert role(builders.stateful_set(template(image="tensorflow/tensorflow:2.13.0-gpu-jupyter"))) is INTERACTIVE
    assert role(builders.pod(*_containers(template("jupyter", "lab")))) is INTERACTIVE
    assert role(builders.job(template("code-server"))) is INTERACTIVE


def test_without_accelerators_the_kind_says_enough() -> None:
    assert role(builders.deployment(template("vllm", "serve", gpus=0))) is SERVICE
    assert role(builders.job(template("torchrun", "main.py", gpus=0))) is BATCH


def test_a_daemon_set_stays_part_of_the_system_unless_it_trains_or_serves() -> None:
    assert role(builders.daemon_set(template("dcgmproftester12"))) is model.Role.SYSTEM
    assert role(builders.daemon_set(template("jupyter", "lab"))) is model.Role.SYSTEM
    assert role(builders.daemon_set(template("torchrun", "main.py"))) is TRAINING


@pytest.mark.parametrize(
    ("flags", "together"),
    [
        (("--nnodes=2",), True),
        (("--nnodes", "$NNODES"), True),
        (("--nnodes=1:4",), True),
        (("--master_addr", "a"), True),
        (("--nnodes=1",), False),
        (("--nnodes", "1"), False),
        (("--standalone", "--nnodes=2"), False),
        (("--nproc-per-node=8",), False),
    ],
)
def test_the_pods_of_a_job_form_a_gang_only_if_its_launcher_joins_them(flags: tuple[str, ...], together: bool) -> None:
    found = readable_workload(builders.job(template("torchrun", *flags, "train.py"), parallelism=4))

    assert found.role is TRAINING
    assert found.gang.wanted is together


def test_every_family_matches_by_something_and_has_a_source() -> None:
    for family in model_servers.ALL:
        assert family.commands or family.images, family.name
        assert family.source, family.name
        for image in family.images:
            assert config_selection.image_fits(image.replace("*", "x"), image)


def test_families_that_get_less_stand_first() -> None:
    roles = list(dict.fromkeys(family.role for family in model_servers.ALL))

    assert roles == [TRAINING, INTERACTIVE, INFERENCE, BATCH]
