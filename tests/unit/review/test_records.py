"""Records hold no secrets, and what rules read of an object stays."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from usher import errors, paths
from usher.documents import reader
from usher.review import redaction
from usher.review.redaction import REDACTED

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
        {"args": ["-p" + SECRET]},
        {"args": ["--pass", SECRET]},
        {"args": [f"--{SECRET}"]},
        {"args": ["login", "-u", "me", "-p", SECRET]},
        {"command": ["sh", "-c", f"curl -H 'X-Key: {SECRET}' https://example.com/?key={SECRET}"]},
        {"command": ["sh", "-c", f"echo {SECRET} | docker login --password-stdin"]},
        {"command": ["sh", "-c", f"# {SECRET}"]},
        {"command": [f"/opt/{SECRET}/run.sh"]},
        {"script": f"#!/bin/sh\nexport lower={SECRET}\n"},
        {"metadata": {"annotations": {"note": SECRET, "example.com/contact": SECRET}}},
        {"metadata": {"labels": {"owner": SECRET, "example.com/note": SECRET}}},
        {"env": [f"TOKEN={SECRET}"]},
        {"description": SECRET},
        {"message": SECRET},
        {"config": {"any": {"where": [SECRET]}}},
        {"sparkConf": {"spark.hadoop.fs.s3a.access.key": SECRET}},
        {"params": [{"name": "key", "value": SECRET}]},
        {"params": [{"name": "key", "value": [SECRET]}]},
        {"parameters": [{"name": "key", "default": SECRET}]},
        {"parameters": [{"name": "key", "default": f"the key is {SECRET}"}]},
        {"livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]}}},
        {"image": f"https://me:{SECRET}@registry.example.com/a"},
        {"storageUri": f"s3://me:{SECRET}@bucket"},
        {"hostAliases": [{"ip": "10.0.0.1", "hostnames": [SECRET]}]},
    ],
)
def test_a_secret_is_not_recorded_wherever_it_stands(place: paths.Object) -> None:
    assert SECRET not in texts(redaction.without_secrets({"kind": "Job", "spec": {"template": [place]}, **place}))


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_the_values_of_secrets_and_config_maps_are_not_recorded(kind: str) -> None:
    kept = redaction.without_secrets({"kind": kind, "data": {"key": SECRET}, "stringData": {"key": SECRET}})

    assert kept == {"kind": kind, "data": {"key": REDACTED}, "stringData": {"key": REDACTED}}


@pytest.mark.parametrize(
    "place",
    [
        {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}, {"name": "EMPTY", "value": ""}]},
        {"env": [{"name": "NIM_TENSOR_PARALLEL_SIZE", "value": "4"}]},
        {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]},
        {"command": ["bash", "-c", "NCCL_DEBUG=INFO torchrun --nproc-per-node=8 train.py"]},
        {"args": ["--max-num-seqs", "8", "--tensor-parallel-size=8", "-tp", "4"]},
        {"command": ["sh", "-c", "while true; do sleep 30; done"]},
        {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "research"}}},
        {"metadata": {"annotations": {"scheduling.volcano.sh/group-name": "group"}}},
        {"imagePullSecrets": [{"name": "registry"}], "automountServiceAccountToken": False},
        {"volumes": [{"name": "token", "secret": {"secretName": "hub"}}]},
        {"resources": {"limits": {"nvidia.com/gpu": 8, "memory": "64Gi"}}},
    ],
)
def test_the_fields_that_rules_read_stay_as_they_are(place: Any) -> None:
    assert redaction.without_secrets({"spec": {"template": place}}) == {"spec": {"template": place}}


def _objects() -> Iterator[paths.Object]:
    for file in sorted((Path(__file__).parents[2] / "data/corpus").rglob("*.yaml")):
        with contextlib.suppress(errors.UsherError):
            for document in reader.parse(file.read_bytes(), source=file.name):
                if isinstance(document.value, dict) and isinstance(document.value.get("kind"), str):
                    yield document.value


_KINDS: Final = {f"{value.get('apiVersion')} {value['kind']}": value for value in _objects()}
"""An object of each kind."""

_NEVER_READ: Final = frozenset(
    {"note", "description", "message", "password", "data", "stringData", "annotations", "comment", "extra", "text"}
)


def _planted(value: paths.Json) -> paths.Json:
    """A copy with a secret in every text that holds more than one word, in variables, and beside every field."""
    if isinstance(value, dict):
        kept = {name: _planted(each) for name, each in value.items()}
        return {**kept, **dict.fromkeys(_NEVER_READ - kept.keys(), f"the secret {SECRET}"), "env": _variables()}
    if isinstance(value, list):
        return [_planted(each) for each in value]
    return f"{value} {SECRET}" if isinstance(value, str) else value


def _variables() -> list[paths.Json]:
    return [{"name": "A", "value": SECRET}, {"name": "NVIDIA_TOKEN", "value": SECRET}, f"A={SECRET}"]


@pytest.mark.parametrize("kind", sorted(_KINDS))
def test_no_secret_in_any_field_of_any_kind_is_recorded(kind: str) -> None:
    value = _planted(_KINDS[kind])
    assert isinstance(value, dict)

    assert SECRET not in texts(redaction.without_secrets({**value, "kind": _KINDS[kind]["kind"]}))


def test_the_object_of_the_review_is_not_changed() -> None:
    value = builders.pod(builders.container(env={"TOKEN": SECRET}))
    before = texts(value)

    redaction.without_secrets(value)

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
    once = redaction.without_secrets(value)

    assert redaction.without_secrets(once) == once


def test_of_a_trigger_the_names_of_metrics_and_the_times_stay() -> None:
    metadata: paths.Object = {
        "query": 'sum(vllm:num_requests_waiting{model="of a tenant"}) or vector(0)',
        "start": "0 8 * * *",
    }
    value: paths.Object = {"kind": "ScaledObject", "spec": {"triggers": [{"type": "cron", "metadata": metadata}]}}

    assert redaction.without_secrets(value)["spec"] == {
        "triggers": [{"type": "cron", "metadata": {"query": "vllm:num_requests_waiting vector(", "start": "0 8 * * *"}}]
    }
