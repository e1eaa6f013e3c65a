"""Pod specs that are read at a glance have no value of a wrong form, and ordinary GPU pods are among them."""

import itertools
from typing import Any

import pytest

from usher.kinds.reading import value_forms

PORTS: list[Any] = [None, [], [{"containerPort": 8080}], [{"containerPort": 0}], [{"containerPort": 70_000}]]
PORTS += [[{"containerPort": "http"}], [{"hostPort": -1, "containerPort": 80}], [{}], "odd", [{"containerPort": None}]]
MEDIA: list[Any] = [None, "", "Memory", "memory", "HugePages-2Mi", 1]
SOURCES: list[Any] = [None, {"secretKeyRef": {"name": "a", "key": "b"}}, {"fieldRef": {"fieldPath": "metadata.nam"}}]
SOURCES += [{"fieldRef": {"fieldPath": "metadata.name"}}, {"fieldRef": None}, "odd"]
WEIGHTS: list[Any] = [None, {}, {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}]
WEIGHTS += [{"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": each}]}} for each in (1, 0)]
WEIGHTS += [{"podAffinity": None}, "odd"]


def spec(ports: Any, medium: Any, source: Any, affinity: Any) -> dict[str, Any]:
    container = {"name": "a", "image": "registry.example.com/a", "ports": ports, "env": [{"valueFrom": source}]}
    return {
        "containers": [container],
        "volumes": [{"name": "shm", "emptyDir": {"medium": medium}}],
        "affinity": affinity,
    }


def refused(value: dict[str, Any]) -> list[str]:
    pod: dict[str, Any] = {"metadata": {"name": "a"}, "spec": value}
    return [each.path for each in value_forms.refused_forms(pod, ("", "Pod"), [(value, "/spec", ())])]


def test_a_glance_finds_what_the_rows_find(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [spec(*each) for each in itertools.product(PORTS, MEDIA, SOURCES, WEIGHTS)]
    glances = [refused(each) for each in specs]

    monkeypatch.setattr(value_forms, "_is_usual", lambda _: False)

    assert glances == [refused(each) for each in specs]


def test_a_pod_with_ports_shared_memory_secrets_and_required_affinity_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_forms, "_OF_POD_SPECS", (("odd", None),))  # a row that cannot be read

    assert refused(spec(PORTS[2], "Memory", SOURCES[1], WEIGHTS[2])) == []
