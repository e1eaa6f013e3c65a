"""Limits and rules of definitions, as an API server keeps them: required fields, bounds, patterns, keys, CEL."""

import copy
from typing import Any, Final

import pytest

from usher import paths
from usher.kinds.reading import fields
from usher.kinds.reading.fields import Definitions
from usher.kinds.reading.values import Objects
from usher.model import UnreadKey
from usher.workloads.unread_keys import with_unread_keys

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["gpus", "mode"],
    "properties": {
        "gpus": {"type": "integer", "minimum": 1, "maximum": 8},
        "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1},
        "mode": {"type": "string", "default": "whole"},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "level": {"type": "integer", "enum": [1, 2, 4]},
        "least": {"type": "integer"},
        "most": {"type": "integer", "default": 4},
        "ports": {
            "type": "array",
            "maxItems": 3,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "required": ["port"],
                "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
            },
        },
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.least) || self.least <= self.most", "message": "least must not be above most"},
        {"rule": "self.mode == oldSelf.mode", "message": "mode is immutable"},
        {"rule": "!has(self.share) || self.share * 2.0 <= 1.5"},
    ],
}
_GOOD: Final[dict[str, Any]] = {"gpus": 8, "share": 0.5, "name": "train", "level": 2, "least": 1}


def definition(schema: Any = _SCHEMA) -> dict[str, Any]:
    """The CustomResourceDefinition of a Train, whose spec has the schema."""
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "trains.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Train"}, "versions": [version]},
    }


def train(**spec: Any) -> paths.Object:
    return {"apiVersion": "example.com/v1", "kind": "Train", "metadata": {"name": "one"}, "spec": {**_GOOD, **spec}}


def found(value: paths.Object, *beside: paths.Object) -> tuple[UnreadKey, ...]:
    workload = with_unread_keys(None, value, beside=Objects(beside))
    return () if workload is None else workload.unread_keys


@pytest.mark.parametrize(
    ("spec", "path", "text"),
    [
        ({"gpus": 9}, "/spec/gpus", "has 9 at spec.gpus, where the API server takes at most 8"),
        ({"gpus": 0}, "/spec/gpus", "has 0 at spec.gpus, where the API server takes at least 1"),
        ({"share": 0}, "/spec/share", "has 0.0 at spec.share, where the API server takes at least 0, without it"),
        ({"level": 3}, "/spec/level", "has '3' at spec.level, where the API server takes 1, 2, 4"),
        ({"name": "a1"}, "/spec/name", "has 'a1' at spec.name, where the API server takes texts that match ^[a-z]+$"),
        ({"name": "trains"}, "/spec/name", "has 6 characters at spec.name, where the API server takes at most 5"),
        (
            {"ports": [{"port": each} for each in range(4)]},
            "/spec/ports",
            "has 4 entries at spec.ports, where the API server takes at most 3",
        ),
        (
            {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]},
            "/spec/ports",
            "has two entries 1 TCP at spec.ports, where the API server takes one",
        ),
        ({"ports": [{}]}, "/spec/ports/0", "lacks port at spec.ports[0], which the API server requires"),
        ({"least": 5}, "/spec", "breaks a rule of the API server at spec: least must not be above most"),
        (
            {"share": 0.8},
            "/spec",
            "breaks a rule of the API server at spec: it demands !has(self.share) || self.share * 2.0 <= 1.5",
        ),
    ],
)
def test_a_value_that_breaks_a_limit_or_a_rule_of_its_definition_is_named(
    spec: dict[str, Any], path: str, text: str
) -> None:
    assert [(each.path, each.text, each.topic) for each in found(train(**spec), definition())] == [
        (path, text, "definition")
    ]


def test_a_good_object_has_no_finding() -> None:
    assert found(train(), definition()) == ()
    assert found(train(ports=[{"port": 1}, {"port": 1, "protocol": "UDP"}]), definition()) == ()


@pytest.mark.parametrize(("metadata", "number"), [({"generateName": "train-"}, 0), ({}, 0), ({"name": "7"}, 1)])
def test_a_rule_about_the_name_sees_the_name_that_the_api_server_makes(metadata: paths.Object, number: int) -> None:
    rule = {"rule": "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"}
    made = definition({"x-kubernetes-preserve-unknown-fields": True})
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = [rule]
    assert len(found({**train(), "metadata": metadata}, made)) == number


def test_an_object_without_any_of_several_required_fields_may_be_a_patch() -> None:
    schema = _SCHEMA | {"required": ["gpus", "level"]}
    whole = train()
    assert found(whole | {"spec": {"name": "a"}}, definition(schema)) == ()
    assert [each.path for each in found(whole | {"spec": {"gpus": 1}}, definition(schema))] == ["/spec"]


@pytest.mark.parametrize("text", ["${GPUS}", "{{ .Values.name }}", "<name>", "JOB_NAME"])
def test_a_placeholder_breaks_no_limit_and_no_rule(text: str) -> None:
    of_text = copy.deepcopy(_SCHEMA)
    of_text["x-kubernetes-validations"].append({"rule": "self.name == 'train'"})
    assert found(train(name=text), definition(of_text)) == ()


def test_null_and_an_object_of_the_cluster_are_not_compared() -> None:
    stored = train(gpus=9)
    stored["metadata"] = {"name": "one", "uid": "5d0f"}
    assert found(stored, definition()) == ()
    assert found(train(share=None, least=None), definition()) == ()


def test_rules_wait_until_the_limits_are_kept() -> None:
    """As in an API server, which evaluates no rule of an object that breaks its schema."""
    assert [each.path for each in found(train(gpus=9, least=5), definition())] == ["/spec/gpus"]


def test_a_rule_about_an_earlier_object_or_that_usher_does_not_read_is_left_out() -> None:
    assert [
        fields.can_evaluate(rule)
        for rule in (
            "self.all(x, x > 1)",
            "self == oldSelf",
            "duration(self.a) > duration('1s')",
            "self.__if__",
            "(",
            3,
        )
    ] == [True, False, False, False, False, False]


def test_all_recorded_rules_are_evaluated() -> None:
    known = fields.recorded_limits()
    rules = {rule for each in known.found for rule, _ in each.get("rules", ())}
    assert len(rules) > 150
    assert all(map(fields.can_evaluate, rules))


def test_a_recorded_definition_is_named_with_its_commit_and_only_assumed() -> None:
    pool: paths.Object = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {
            "weight": 200,
            "template": {"spec": {"requirements": [], "nodeClassRef": {"group": "a.b", "kind": "C", "name": "d"}}},
        },
    }
    (only,) = found(pool)
    assert only.topic == "recorded definition"
    assert only.text == (
        "has 200 at spec.weight, where the API server takes at most 100 (kubernetes-sigs/karpenter@2266468)"
    )


def test_a_definition_in_the_facts_wins_over_the_recorded_one() -> None:
    pool: paths.Object = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {}, "spec": {"weight": 200}}
    newer = definition({"type": "object", "properties": {"weight": {"type": "integer", "maximum": 500}}})
    newer["spec"] |= {"group": "karpenter.sh", "names": {"kind": "NodePool"}}
    workload = with_unread_keys(None, pool, facts=Definitions([newer]))
    assert workload is None


def _job(**pod: Any) -> paths.Object:
    container: paths.Object = {"name": "train", "image": "train:1"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container], **pod}}},
    }


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (
            {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone"}]},
            "lacks whenUnsatisfiable at spec.template.spec.topologySpreadConstraints[0], which the API server requires",
        ),
        (
            {"activeDeadlineSeconds": 0},
            "has 0 at spec.template.spec.activeDeadlineSeconds, where the API server takes at least 1",
        ),
        (
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "b", "defaultMode": 644}}]},
            "has 644 at spec.template.spec.volumes[1].configMap.defaultMode, where the API server takes at most 511",
        ),
    ],
)
def test_kubernetes_own_kinds_have_the_limits_that_an_api_server_was_seen_to_keep(
    pod: dict[str, Any], text: str
) -> None:
    assert [(each.text, each.topic) for each in found(_job(**pod))] == [(text, "definition")]


@pytest.mark.parametrize("value", [None, [], {}, "x", 5, 10**18, float("nan"), float("inf"), True, [None], {"a": None}])
def test_damaged_values_and_definitions_never_raise(value: Any) -> None:
    for name in ("gpus", "share", "name", "level", "ports", "least"):
        found(train(**{name: value}), definition())
    found(train() | {"spec": value}, definition())
    for key in (*_SCHEMA, "pattern", "minimum", "enum", "maxItems", "items", "allOf"):
        found(train(), definition(_SCHEMA | {key: value}))
        properties = {**_SCHEMA["properties"], "gpus": {"type": "integer", key: value}}
        found(train(), definition(_SCHEMA | {"properties": properties}))


def test_a_rule_of_a_stranger_takes_bounded_time() -> None:
    large = {"rule": " + ".join(["self.gpus"] * 3000) + " > 0"}
    loops = {"rule": "self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a + b + c + d >= 0))))"}
    schema = {"properties": {"l": {"items": {"type": "integer"}}}, "x-kubernetes-validations": [large, loops]}
    assert found(train(l=[*range(500)]), definition(schema | {"x-kubernetes-preserve-unknown-fields": True})) == ()


def test_a_pattern_of_a_stranger_that_could_search_for_hours_is_left_out() -> None:
    schema = {"properties": {"name": {"type": "string", "pattern": "^(a+)+$"}, **_SCHEMA["properties"]}}
    schema["properties"]["name"] = {"type": "string", "pattern": "^(a+)+$"}
    assert found(train(name="a" * 60 + "!"), definition(schema)) == ()


def test_an_unknown_operator_may_add_volumes_to_its_pods() -> None:
    containers = [{"name": "proxy", "image": "a", "volumeMounts": [{"name": "secret-tls"}]}]
    value: dict[str, Any] = {"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus", "metadata": {"name": "p"}}
    value["spec"] = {"containers": containers, "secrets": ["tls"], "ruleSelector": {}}
    assert not found(value)


@pytest.mark.parametrize(
    ("head", "field"),
    [
        ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration", "extenders"),
        ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration", "percentageOfNodesToScore"),
        ("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy", "maxNoOfPodsToEvictPerNode"),
        ("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy", "gracePeriodSeconds"),
    ],
)
def test_a_configuration_has_all_fields_of_its_reader(head: str, field: str) -> None:
    def texts(name: str) -> list[str]:
        data: paths.Object = {"policy": f"{head}\nprofiles: []\n{name}: 1\n"}
        value: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": data}
        return [each.text for each in found(value)]

    assert not any(field in each for each in texts(field))
    assert any(f"{field}s" in each for each in texts(f"{field}s"))
