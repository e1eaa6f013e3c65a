"""Objects written in short, and the findings of rows about them, for the tests of several tables."""

from collections.abc import Mapping
from typing import Any

import yaml

from usher.kinds.reading import chosen_boards, device_stack, refused_values, value_forms
from usher.kinds.reading.values import Objects


def key_of(value: Mapping[str, Any]) -> tuple[str, str]:
    group = str(value["apiVersion"]).rpartition("/")[0]
    return group, str(value["kind"])


def findings(*texts: str) -> list[str]:
    """Messages and remedies about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = key_of(value)
    specs = value_forms.pod_specs(value) if value["kind"] == "Pod" else ()
    found = [
        *refused_values.wrong_values(value, key),
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, objects, None, specs),
        *device_stack.disagreements(value, key, objects),
    ]
    return [f"{each.text}: {each.remedy}" for each in found]


def objects_of(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


def first_words(text: str) -> list[str]:
    """The words before the first comma of each finding about the objects of a text."""
    values = objects_of(text)
    others = Objects(values)
    found = [
        each
        for value in values
        for each in (
            *refused_values.wrong_values(value, key_of(value)),
            *refused_values.beside_others(value, key_of(value), others),
        )
    ]
    return [each.text.partition(",")[0] for each in found]


def written(version: str, kind: str, spec: str, metadata: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def pod_of(image: str = "lab/c:1", spec: str = "", gpus: int = 1) -> str:
    container = f"{{name: c, image: '{image}', resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}"
    return written("v1", "Pod", f"{spec}containers: [{container}]", "name: p, namespace: a")


def node_of(labels: str = "", offers: str = "nvidia.com/gpu: 8") -> str:
    status = f"status: {{allocatable: {{{offers}}}}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {{{labels}}}}}, {status}}}"
