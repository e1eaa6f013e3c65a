"""Tests of the rows of the tables about tokens, and about metrics by which autoscalers scale."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from usher.kinds.reading import inner_names, refused_values
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]


def _objects(text: str) -> list[_Json]:
    return [each for each in yaml.safe_load_all(text) if each]


def _key(value: Mapping[str, Any]) -> tuple[str, str]:
    group = value["apiVersion"].rpartition("/")[0]
    return group, value["kind"]


def _found(text: str) -> list[str]:
    """The words before the first comma of each finding about the objects of a text."""
    values = _objects(text)
    others = Objects(values)
    found = [
        each
        for value in values
        for each in (
            *refused_values.wrong_values(value, _key(value)),
            *refused_values.beside_others(value, _key(value), others),
        )
    ]
    return [each.text.partition(",")[0] for each in found]


_TOKEN_OF = "{apiVersion: v1, kind: Secret, metadata: {name: s}, %s: {token: %s}}"
_PLAIN_TOKEN = "hf_Abcdefghijklmnopqrstuvwxyzabcdefgh"
_RULE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: adapter, namespace: monitoring}
data:
  config.yaml: |
    rules:
    - {seriesQuery: 'vllm:num_requests_waiting{pod!=""}'%s, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (x)'}
"""
_OVERRIDES = ", resources: {overrides: {pod: {resource: pod}}}"
_HPA = """
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h, namespace: n}, spec: {metrics:
  [{type: Pods, pods: {metric: {name: '%s'}}}]}}
"""


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (_TOKEN_OF % ("data", _encoded(_PLAIN_TOKEN)), []),
        (_TOKEN_OF % ("data", _PLAIN_TOKEN), ["holds a token as it is below data"]),
        (_TOKEN_OF % ("stringData", _PLAIN_TOKEN), []),
        (_TOKEN_OF % ("stringData", _encoded(_PLAIN_TOKEN)), ["holds a token in base64 below stringData"]),
        (_RULE % "", ["has a rule of the Prometheus adapter without resources"]),
        (_RULE % _OVERRIDES, []),
        (
            _RULE % f"{_OVERRIDES}, name: {{as: waiting}}" + _HPA % "vllm_waiting",
            ["scales by vllm_waiting"],
        ),
        (_RULE % f"{_OVERRIDES}, name: {{as: waiting}}" + _HPA % "waiting", []),
        (_RULE % f"{_OVERRIDES}, name: {{matches: '(.*)', as: '${{1}}_x'}}" + _HPA % "vllm_waiting", []),
        (_RULE % _OVERRIDES + _HPA % "vllm:num_requests_waiting", []),
    ],
)
def test_tokens_and_rules_of_an_adapter(text: str, found: list[str]) -> None:
    assert _found(text) == found


_WATCHED = """
{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: m, namespace: n}, spec: {selector:
  {matchLabels: {app: a}}, endpoints: [{port: http}]%s}}
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: n, labels: {%s}}, spec: {selector: {app: a}, ports:
  [{port: 80, name: http}]}}
"""


@pytest.mark.parametrize(
    ("more", "labels", "found"),
    [
        ("", "", ["add them to metadata.labels of the Service"]),
        ("", "app: a", []),
        (", namespaceSelector: {any: true}", "", []),
        (", namespaceSelector: {matchNames: [o]}", "", []),
    ],
)
def test_a_monitor_selects_services_by_their_own_labels(more: str, labels: str, found: list[str]) -> None:
    values = _objects(_WATCHED % (more, labels))
    files = inner_names.Files("n", Objects(values), Objects(values), None)

    assert [
        each.remedy
        for each in inner_names.names_of_nothing(values[0], _key(values[0]), [], files)
        if each.topic == "agent"
    ] == found
