"""Variables whose value comes from a ConfigMap keep its name and its key, and never more."""

import pytest

from usher import paths
from usher.kinds.reading.environment import variables, with_config_maps
from usher.kinds.reading.values import Context, Objects, Reading


def config_map(source: paths.Json) -> tuple[str, str] | None:
    value: paths.Json = [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": source}]
    (found,) = variables(value, "/env", Reading())
    assert found.value is None
    return found.config_map


def test_a_value_of_a_config_map_names_it_with_its_key() -> None:
    assert config_map({"configMapKeyRef": {"name": "shared-gpu-0", "key": "devices"}}) == ("shared-gpu-0", "devices")


@pytest.mark.parametrize(
    "source",
    [
        {"fieldRef": {"fieldPath": "metadata.annotations['devices']"}},
        {"secretKeyRef": {"name": "token", "key": "devices"}},
        {"configMapKeyRef": {"name": "shared-gpu-0"}},
        {"configMapKeyRef": {"name": 5, "key": "devices"}},
        {"configMapKeyRef": ["shared-gpu-0"]},
        ["configMapKeyRef"],
    ],
)
def test_all_other_values_name_no_config_map(source: paths.Json) -> None:
    assert config_map(source) is None


def test_texts_of_config_maps_of_the_same_files_are_variables_of_a_server() -> None:
    shared: paths.Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "server", "namespace": "llm"},
        "data": {"NUM_SHARD": "4", "model": "70B"},
    }
    reading = Reading(Context(objects=Objects([shared]), namespace="llm"))
    own: paths.Json = [
        {"name": "MODEL", "valueFrom": {"configMapKeyRef": {"name": "server", "key": "model"}}},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
    ]

    found = with_config_maps({"envFrom": [{"prefix": "A_", "configMapRef": {"name": "server"}}], "env": own}, reading)

    assert found["env"] == [
        {"name": "A_NUM_SHARD", "value": "4"},
        {"name": "A_model", "value": "70B"},
        {"name": "MODEL", "value": "70B"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
    ]
