"""Records hold no secrets, and what rules read of an object stays."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from usher import paths
from usher.review import records
from usher.review.records import REDACTED

SECRET: Final = "hunter2hunter2"


def texts(value: paths.Json) -> str:
    return str(value)


@pytest.mark.parametrize(
    "place",
    [
        {"env": [{"name": "HF_TOKEN", "value": SECRET}]},
        {"env": [{"name": "NVIDIA_API_KEY", "value": SECRET}]},
        {"command": ["bash", "-c", f"NVIDIA_API_KEY={SECRET} python serve.py"]},
        {"env": {"HF_TOKEN": SECRET}},
        {"envVars": {"PASSWORD": SECRET}},
        {"runtimeEnv": {"env_vars": {"WANDB_API_KEY": SECRET}}},
        {"runtimeEnvYAML": f"env_vars:\n  WANDB_API_KEY: {SECRET}\n"},
        {"manifest": f"env:\n- name: TOKEN\n  value: {SECRET}\n"},
        {"manifest": f'{{"env":[{{"name":"TOKEN","value":"{SECRET}"}}]}}'},
        {"command": ["bash", "-c", f"export TOKEN={SECRET}; python train.py"]},
        {"command": ["bash", "-c", f'TOKEN="{SECRET} {SECRET}" python train.py']},
        {"args": ["--hf-token", SECRET]},
        {"args": [f"--api-key={SECRET}"]},
        {"args": [f"python serve.py --api-key {SECRET}"]},
        {"args": [f"git clone https://me:{SECRET}@example.com/repo"]},
        {"sparkConf": {"spark.hadoop.fs.s3a.secret": SECRET}},
        {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET}}},
        {"metadata": {"managedFields": [{"manager": SECRET}]}},
        {"script": "x" * 20_000 + SECRET},
    ],
)
def test_a_secret_is_not_recorded_wherever_it_stands(place: paths.Object) -> None:
    assert SECRET not in texts(records.without_secrets({"kind": "Job", "spec": {"template": [place]}, **place}))


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_the_values_of_secrets_and_config_maps_are_not_recorded(kind: str) -> None:
    kept = records.without_secrets({"kind": kind, "data": {"key": SECRET}, "stringData": {"key": SECRET}})

    assert kept == {"kind": kind, "data": {"key": REDACTED}, "stringData": {"key": REDACTED}}


@pytest.mark.parametrize(
    "place",
    [
        {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}, {"name": "EMPTY", "value": ""}]},
        {"env": [{"name": "NIM_TENSOR_PARALLEL_SIZE", "value": "4"}]},
        {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]},
        {"command": ["bash", "-c", "NCCL_DEBUG=INFO torchrun --nproc-per-node=8 train.py --lr=0.1"]},
        {"args": ["--tokenizer", "llama", "--max-num-batched-tokens", "8192", "--tensor-parallel-size=8"]},
        {"imagePullSecrets": [{"name": "registry"}], "automountServiceAccountToken": False},
        {"volumes": [{"name": "token", "secret": {"secretName": "hub"}}]},
        {"resources": {"limits": {"nvidia.com/gpu": 8, "memory": "64Gi"}}},
        {"model": "https://huggingface.co/org/model@main"},
    ],
)
def test_the_fields_that_rules_read_stay_as_they_are(place: Any) -> None:
    assert records.without_secrets({"spec": {"template": place}}) == {"spec": {"template": place}}


def test_the_object_of_the_review_is_not_changed() -> None:
    value = builders.pod(builders.container(env={"TOKEN": SECRET}))
    before = texts(value)

    records.without_secrets(value)

    assert texts(value) == before


JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["A=b", "--token x", "value: x", "a://b:c@d"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=4) | st.sampled_from(["env", "data", "args", "name", "value"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=6) | st.sampled_from(["env", "spec", "kind", "data"]), JSON, max_size=4))
def test_any_json_is_redacted_and_once_is_enough(value: Any) -> None:
    once = records.without_secrets(value)

    assert records.without_secrets(once) == once
