"""How many GPUs a NIM uses, by its variables."""

import pytest

import builders
from unit.workloads.normalised import pod_set
from usher import model, paths

NIM = "nvcr.io/nim/meta/llama-3.1-70b-instruct:1.8"


def parallelism(env: paths.Json, image: str = NIM) -> model.ModelParallelism | None:
    """The parallelism of a container with GPUs."""
    container: dict[str, paths.Json] = {**builders.container(gpus=8), "image": image, "env": env}
    (found,) = pod_set(builders.pod(container)).containers
    return found.parallelism


def variables(**values: str) -> list[paths.Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        (variables(NIM_TENSOR_PARALLEL_SIZE="4"), (4, 1)),
        (variables(NIM_TENSOR_PARALLEL_SIZE="4", NIM_PIPELINE_PARALLEL_SIZE="2"), (4, 2)),
        (variables(NIM_MODEL_PROFILE="vllm-bf16-tp2"), (2, 1)),
        (variables(NIM_MODEL_PROFILE="tensorrt_llm-h100-fp8-tp8-pp2-throughput"), (8, 2)),
        (variables(NIM_MODEL_PROFILE="vllm-bf16-tp2-pp1", NIM_TENSOR_PARALLEL_SIZE="2"), (2, 1)),
        ([*variables(NIM_TENSOR_PARALLEL_SIZE="2"), *variables(NIM_TENSOR_PARALLEL_SIZE="4")], (4, 1)),
    ],
)
def test_sizes_and_the_name_of_the_profile_count(env: paths.Json, expected: tuple[int, int]) -> None:
    found = parallelism(env)

    assert found is not None
    assert (found["server"], found["tensor"], found["pipeline"], found["data"]) == ("NIM", *expected, 1)


@pytest.mark.parametrize(
    "env",
    [
        pytest.param([], id="the NIM chooses for its GPUs"),
        pytest.param(variables(NIM_PIPELINE_PARALLEL_SIZE="2"), id="half of the sizes"),
        pytest.param(variables(NIM_MODEL_PROFILE="0f1e2d3c4b5a"), id="a digest"),
        pytest.param(variables(NIM_MODEL_PROFILE="vllm-bf16-tp2x"), id="another word"),
        pytest.param(variables(NIM_MODEL_PROFILE="vllm-bf16-tp2", NIM_TENSOR_PARALLEL_SIZE="4"), id="two answers"),
        pytest.param(variables(NIM_TENSOR_PARALLEL_SIZE="0"), id="zero"),
        pytest.param(variables(NIM_TENSOR_PARALLEL_SIZE="$(GPUS)"), id="a reference"),
        pytest.param(variables(NIM_TENSOR_PARALLEL_SIZE="8", NIM_MULTI_NODE="1"), id="several pods"),
        pytest.param([{"name": "NIM_TENSOR_PARALLEL_SIZE", "valueFrom": {}}], id="a value from elsewhere"),
    ],
)
def test_usher_concludes_nothing_from_other_variables(env: paths.Json) -> None:
    assert parallelism(env) is None


def test_the_variables_of_other_images_mean_nothing() -> None:
    assert parallelism(variables(NIM_TENSOR_PARALLEL_SIZE="4"), image="registry.example.com/llama:1") is None


def test_the_place_is_the_value() -> None:
    found = parallelism(variables(NGC_API_KEY="", NIM_TENSOR_PARALLEL_SIZE="4"))

    assert found is not None
    assert found["path"] == "/spec/containers/0/env/1/value"


def test_a_nim_on_one_gpu_has_the_model_of_its_image() -> None:
    container: dict[str, paths.Json] = {**builders.container(gpus=1), "image": NIM}
    (found,) = pod_set(builders.pod(container)).containers

    assert found.parallelism is not None
    assert found.parallelism["gpus"] == 1
    assert (found.parallelism["model"]["name"], found.parallelism["model"]["gigabytes"]) == ("70B", 70)
