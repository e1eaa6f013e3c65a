"""`envFrom` brings variables that are known only of ConfigMaps in the same files."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import workload
from usher import model, paths
from usher.kinds.reading.values import NO_OBJECTS, Lookup, Objects


def config_map(name: str = "settings", namespace: str = "ml-research", **fields: paths.Json) -> paths.Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        **fields,
    }


def sources(*entries: paths.Json, objects: Lookup = NO_OBJECTS) -> tuple[model.EnvironmentSource, ...]:
    value = builders.replaced(builders.pod(), "/spec/containers/0/envFrom", [*entries])
    return workload(value, objects=objects).pod_sets[0].containers[0].environment_sources


SETTINGS: Any = {"configMapRef": {"name": "settings"}}
DEVICES: paths.Json = {"NVIDIA_VISIBLE_DEVICES": "all", "TOKEN": "secret"}


def test_a_config_map_of_the_same_files_brings_the_variables_that_rules_read() -> None:
    (found,) = sources(SETTINGS, objects=Objects([config_map(data=DEVICES)]))

    assert found.path == "/spec/containers/0/envFrom/0"
    assert found.variables == {"NVIDIA_VISIBLE_DEVICES": "all"}


def test_a_prefix_comes_before_every_name() -> None:
    known = Objects([config_map(data={"VISIBLE_DEVICES": "all", "NVIDIA_VISIBLE_DEVICES": "0"})])
    (found,) = sources({"prefix": "NVIDIA_", **SETTINGS}, objects=known)

    assert found.prefix == "NVIDIA_"
    assert found.variables == {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_NVIDIA_VISIBLE_DEVICES": "0"}


def test_references_in_a_config_map_are_not_replaced() -> None:
    (found,) = sources(SETTINGS, objects=Objects([config_map(data={"NCCL_DEBUG": "$(LEVEL)"})]))

    assert found.variables == {"NCCL_DEBUG": "$(LEVEL)"}


@pytest.mark.parametrize(
    "known",
    [
        NO_OBJECTS,
        Objects([config_map(namespace="elsewhere", data=DEVICES)]),
        Objects([config_map(name="other", data=DEVICES)]),
        Objects([config_map()]),
        Objects([config_map(data="wrong")]),
    ],
    ids=["nothing", "another namespace", "another name", "a name alone, as of a cluster", "data of a wrong type"],
)
def test_another_config_map_brings_unknown_variables(known: Lookup) -> None:
    (found,) = sources(SETTINGS, objects=known)

    assert found.variables is None


def test_a_secret_is_never_read() -> None:
    secret = {**config_map(data=DEVICES), "kind": "Secret"}
    (found,) = sources({"secretRef": {"name": "settings"}}, objects=Objects([secret]))

    assert found.variables is None


@pytest.mark.parametrize(
    "entry", ["text", {}, {"prefix": 1}, {"configMapRef": "settings"}, {"configMapRef": {"name": 1}}]
)
def test_an_entry_of_a_wrong_type_brings_unknown_variables(entry: paths.Json) -> None:
    (found,) = sources(entry, objects=Objects([config_map(data=DEVICES)]))

    assert (found.variables, found.prefix) == (None, "")


def test_texts_of_a_wrong_type_are_left_out() -> None:
    (found,) = sources(SETTINGS, objects=Objects([config_map(data={"NVIDIA_VISIBLE_DEVICES": 0})]))

    assert found.variables == {}
