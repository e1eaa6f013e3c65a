"""Kinds by description: the format, its expressions, the refusals, and the kinds that ship in it."""

from collections.abc import Sequence
from typing import Any

import compile_tables
import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

import builders
from unit.workloads.normalised import workload
from usher import model, paths
from usher.config.described_kinds import DescribedKind
from usher.kinds import described, registry
from usher.kinds.kind import key_of
from usher.kinds.reading.expressions import ExpressionError, Found, Scope, UnusableError, Value, compiled
from usher.kinds.reading.values import Reading

ADAPTER: TypeAdapter[list[DescribedKind]] = TypeAdapter(list[DescribedKind])


def read(text: str) -> list[DescribedKind]:
    return ADAPTER.validate_python(yaml.safe_load(text))


def result(text: str, value: paths.Object, *, steps: int = 1000) -> tuple[Value, tuple[model.Unknown, ...]]:
    reading = Reading()
    scope = Scope({"object": Found(value, "")}, reading, [steps])
    return compiled(text, ["object"])(scope), reading.found()


def counts(kind: str, value: paths.Object) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
    """The pods of each template, and the places of what could not be read."""
    reading = Reading()
    group, name = key_of(kind)
    templates = list(registry.PODS[group, name].templates(value, reading))
    return {each.name: (each.count.minimum, each.count.maximum) for each in templates}, [
        unknown.path for unknown in reading.found()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("at(object, 'spec.replicas', 7)", 3),
        ("at(object, 'spec.other', 7) + 1", 8),
        ("max1(at(object, 'spec.none', 0))", 1),
        ("min(at(object, 'spec.replicas'), 2)", 2),
        ("at(object, 'spec.size') - 10", 0),
        ("size(at(object, 'spec.groups').filter(g, 'a' in g.names))", 2),
        ("at(object, 'spec.groups').filter(g, 'b' in g.names)[0].name", "two"),
        ("at(object, 'spec.groups').exists(g, g.name == 'two') ? 5 : 6", 5),
        ("has(object.spec.replicas) && !has(object.spec.other) ? 'yes' : 'no'", "yes"),
        ("share(10, at(object, 'spec.surge'), '25%')", 3),
        ("part(10, at(object, 'spec.surge'), '25%')", 2),
        ("largest(at(object, 'spec.sizes'))", 8),
        ("largest(at(object, 'spec.none'))", 0),
        ("object.spec.groups[0].name + '-x'", "one-x"),
        ("at(object, 'spec.replicas') >= 3 || false", True),
        ("entry(at(object, 'spec.least'), 'a', 5) + entry(at(object, 'spec.least'), 'b', 5)", 7),
        ("entry(at(object, 'spec.none'), 'a', 5) + 1", 6),
        ("int(entry(at(object, 'metadata.annotations'), 'example.com/pods', '1')) + 1", 5),
        ("int(entry(at(object, 'metadata.annotations'), 'example.com/none', '2')) + 1", 3),
        ("int(at(object, 'spec.replicas', '2')) + int('4')", 7),
    ],
)
def test_an_expression_has_the_result_of_cel(text: str, expected: object) -> None:
    value: Any = {
        "spec": {
            "replicas": 3,
            "size": 4,
            "sizes": [2, 8, 4],
            "least": {"a": 2},
            "groups": [{"name": "one", "names": ["a"]}, {"name": "two", "names": ["a", "b"]}],
        },
        "metadata": {"annotations": {"example.com/pods": "4"}},
    }
    found, unknowns = result(text, value)

    assert (found.value if isinstance(found, Found) else found) == expected
    assert unknowns == ()


def test_a_value_of_a_wrong_type_is_unknown_at_its_place_and_its_default_counts() -> None:
    found, unknowns = result("at(object, 'spec.replicas', 2) * 3", {"spec": {"replicas": "many"}})

    assert found == 6
    assert [(each.path, each.reason) for each in unknowns] == [
        ("/spec/replicas", "expected a whole number, found a string")
    ]


def test_a_text_that_says_no_number_is_unknown_at_its_place() -> None:
    text = "int(entry(at(object, 'metadata.annotations'), 'example.com/pods', '3'))"
    found, unknowns = result(text, {"metadata": {"annotations": {"example.com/pods": "four"}}})

    assert found == 3
    assert [each.path for each in unknowns] == ["/metadata/annotations/example.com~1pods"]


@pytest.mark.parametrize("least", [["a"], {"a": "many"}, {"a": {}}, {"a": True}])
def test_an_unusable_entry_of_a_map_is_unknown_at_its_place(least: paths.Json) -> None:
    found, unknowns = result("min(entry(at(object, 'spec.least'), 'a', 3), 9)", {"spec": {"least": least}})

    assert found == 3
    assert [each.path for each in unknowns] == ["/spec/least" if isinstance(least, list) else "/spec/least/a"]


def test_a_missing_number_of_a_list_is_unknown_at_its_place() -> None:
    found, unknowns = result("largest(at(object, 'spec.sizes'))", {"spec": {"sizes": [2, None]}})

    assert found == 2
    assert [each.path for each in unknowns] == ["/spec/sizes/1"]


_LEADERS = """
- kind: Team.example.com
  versions: [v1]
  podSets:
  - each: [spec.roles]
    name: item.name + '-leader'
    servesAs: item.name
    podTemplate: leader
    inherits: "false"
  - alternates: true
    name: item.name + '-worker'
    podTemplate: worker
    pods: at(item, 'workers', 1)
    most: "at(item, 'scaled', false) ? unbounded : at(item, 'workers', 1)"
"""


_COPIED = """
- kind: Server.example.com
  versions: [v1]
  podSets:
  - podSpec: spec
    place: spec.main
    servesAs: at(object, 'spec.type')
    without: [schedulerName]
    container: {at: spec.main, named: "at(object, 'metadata.name', '') + '-ctr'"}
"""


@pytest.mark.parametrize(
    ("spec", "names"), [({"main": {"image": "x"}, "schedulerName": "other", "type": 1}, ["a-ctr"]), ({}, [])]
)
def test_an_operator_leaves_fields_out_and_names_its_container(spec: paths.Object, names: list[str]) -> None:
    (kind,) = described.kinds_of(read(_COPIED))
    assert kind.pods is not None
    value: paths.Object = {"apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": spec}
    reading = Reading()
    (found,) = kind.pods.templates(value, reading)

    assert (found.path, found.serves_as, reading.found()) == ("/spec/main", "", ())
    assert [each.name for each in found.containers or ()] == names
    assert found.fields["schedulerName"].value is None


def test_pod_sets_of_one_entry_stand_together_and_some_have_no_bound() -> None:
    (kind,) = described.kinds_of(read(_LEADERS))
    roles: list[paths.Json] = [{"name": "a", "workers": 2, "scaled": True}, {"name": "b", "workers": 3}]
    assert kind.pods is not None
    found = list(kind.pods.templates({"apiVersion": "example.com/v1", "spec": {"roles": roles}}, Reading()))

    assert [(each.name, each.count.minimum, each.count.maximum) for each in found] == [
        ("a-leader", 1, 1),
        ("a-worker", 2, None),
        ("b-leader", 1, 1),
        ("b-worker", 3, 3),
    ]
    assert [each.traits.ranks_inherit_environment for each in found] == [False, True, False, True]
    assert [each.serves_as for each in found] == ["a", "", "b", ""]
    assert kind.pods.serves_in_parts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("at(object, 'status.replicas')", "not a path of fields of a spec"),
        ("object.status", "the operator"),
        ("at(object, 'spec' + 'x')", "expected ','|expected '\\)'|before"),
        ("replicas", "unknown name replicas; known are object"),
        ("sum(1)", "unknown function sum; known are at, entry, has"),
        ("max(1)", "takes 2 to 4 values"),
        ("2 *", "ends too early"),
        ("1 1", "does not end before '1'"),
        ("#", "cannot read '#'"),
        ("(" * 40 + "1" + ")" * 40, "levels of parentheses"),
        ("1" + " + 1" * 200, "more than 120 words"),
        ("object.a.filter(x, object.b.filter(y, true))", "stands in another"),
    ],
)
def test_an_expression_that_cannot_be_read_or_bounded_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason):
        compiled(text, ["object"])


def test_expressions_end_when_the_steps_of_the_object_are_used_up() -> None:
    with pytest.raises(UnusableError, match="steps"):
        result("size(at(object, 'spec.all').filter(x, true))", {"spec": {"all": [{}] * 2000}})


@pytest.mark.costly
def test_a_long_list_costs_at_most_the_steps_of_one_object() -> None:
    roles: Any = [{"name": str(number), "template": {}} for number in range(3000)]
    value: paths.Object = {"apiVersion": "example.com/v1", "kind": "Bomb", "spec": {"roles": roles}}
    (kind,) = described.kinds_of(
        read(
            """
            - kind: Bomb.example.com
              versions: [v1]
              podSets:
              - each: [spec.roles]
                podTemplate: template
                pods: size(at(object, 'spec.roles').filter(x, x.name == item.name))
            """
        )
    )
    reading = Reading()
    assert kind.pods is not None

    assert len(list(kind.pods.templates(value, reading))) < 50
    assert "more than 100,000 steps" in reading.found()[0].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"podTemplate": "status.template"}, "the operator writes status"),
        ({"podTemplate": "metadata.finalizers"}, "labels and annotations alone"),
        ({"podTemplate": "spec.a[0]"}, "fields with dots between them"),
        ({"podTemplate": ".spec.template"}, "fields with dots between them"),
        ({"podTemplate": "spec.a b"}, "pattern"),
        ({"podTemplate": None}, "where the pods stand"),
        ({"podSpec": "spec"}, "leave out podSpec"),
        ({"pods": "1" * 501}, "at most 500"),
        ({"extra": 1}, "Extra inputs"),
    ],
)
def test_a_description_outside_the_format_is_refused(change: dict[str, Any], reason: str) -> None:
    pods = {"podTemplate": "spec.template", **change}

    with pytest.raises(ValidationError, match=reason):
        ADAPTER.validate_python([{"kind": "Team.example.com", "versions": ["v1"], "podSets": [pods]}])


def test_problems_name_the_place_and_the_remedy() -> None:
    found = read(
        """
        - {kind: Deployment.apps, versions: [v1], podSets: [{podTemplate: spec.template}]}
        - {kind: Team.example.com, versions: [v1], makes: [Gone.a.com], podSets: [{podTemplate: t, pods: replicas}]}
        - {kind: Team.example.com, versions: [v1], embedded: {object: spec.o, kind: Nothing.example.com, times: "#"}}
        """
    )

    assert [
        (each.path, each.reason.partition(";")[0].partition(" (")[0])
        for each in described.problems(found, registry.SHIPPED)
    ] == [
        ("/0/kind", "usher knows Deployment.apps itself"),
        ("/1/makes/0", "Gone.a.com is unknown to usher"),
        ("/1/podSets/0/pods", "unknown name replicas"),
        ("/2/versions/0", "another entry describes Team.example.com in v1"),
        ("/2/embedded/kind", "Nothing.example.com is unknown to usher"),
        ("/2/embedded/times", "cannot read '#'"),
    ]


def test_the_tables_of_the_package_are_compiled() -> None:
    results = compile_tables.results()

    assert {path: path.read_bytes() for path in results} == results, "run scripts/generate"


def test_the_shipped_descriptions_have_no_problems() -> None:
    own = {key_of(each.kind) for each in described.SHIPPED}
    assert list(described.problems(described.SHIPPED, registry.SHIPPED - own)) == []


def test_fields_from_another_list_and_patches_make_a_template() -> None:
    (kind,) = described.kinds_of(
        read(
            """
            - kind: Group.example.com
              versions: [v1]
              podSets:
              - each: [spec.roles]
                name: item.name
                podTemplate: template
                templateFrom: {list: spec.templates, name: ref.name, podTemplate: template, patch: ref.patch}
                pods: at(item, 'replicas', 1)
            """
        )
    )
    container: Any = {"name": "main", "image": "a", "env": [{"name": "A", "value": "1"}]}
    value: paths.Object = {
        "apiVersion": "example.com/v1",
        "spec": {
            "templates": [{"name": "base", "template": {"spec": {"containers": [container]}}}],
            "roles": [
                {
                    "name": "one",
                    "ref": {
                        "name": "base",
                        "patch": {"spec": {"containers": [{"name": "main", "env": [{"name": "A", "value": "2"}]}]}},
                    },
                },
                {"name": "two", "ref": {"name": "none"}},
            ],
        },
    }
    reading = Reading()
    assert kind.pods is not None
    (found,) = kind.pods.templates(value, reading)

    assert found.spec.path == "/spec/templates/0/template/spec"
    assert found.spec.value == {"containers": [{**container, "env": [{"name": "A", "value": "2"}]}]}
    assert not found.traits.changeable
    assert [(each.path, each.reason) for each in reading.found()] == [
        ("/spec/roles/1", "its description cannot count its pods: spec.templates has no entry none")
    ]


def test_a_container_devices_and_a_map_are_read_where_they_stand() -> None:
    (kind,) = described.kinds_of(
        read(
            """
            - kind: Graph.example.com
              versions: [v1]
              podSets:
              - each: [spec.services.*]
                name: key
                podSpec: extraPodSpec
                container: {name: main, at: extraPodSpec.mainContainer}
                devices: {nvidia.com/gpu: resources.limits.gpu}
                pods: at(item, 'replicas', 1)
                most: at(item, 'maxReplicas', 0)
            """
        )
    )
    service: Any = {
        "replicas": 2,
        "maxReplicas": 4,
        "resources": {"limits": {"gpu": "8"}},
        "extraPodSpec": {"mainContainer": {"image": "a"}},
    }
    assert kind.pods is not None
    (found,) = kind.pods.templates(
        {"apiVersion": "example.com/v1", "spec": {"services": {"decode": service}}}, Reading()
    )

    assert (found.name, found.count.minimum, found.count.maximum) == ("decode", 2, 4)
    assert [(each.name, each.path) for each in found.containers or ()] == [
        ("main", "/spec/services/decode/extraPodSpec/mainContainer")
    ]
    assert [(each.name, str(each.maximum), each.path) for each in found.requests] == [
        ("nvidia.com/gpu", "8", "/spec/services/decode/resources/limits/gpu")
    ]


ROLE: Any = {"name": "decode", "replicas": 2, "entryTemplate": {}, "workerTemplate": {}, "workerReplicas": 3}


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        (
            "ModelServing.workload.serving.volcano.sh/v1alpha1",
            {"replicas": 2, "template": {"roles": [ROLE]}},
            {"decode-entry": (4, 4), "decode-worker": (12, 12)},
        ),
        (
            "StormService.orchestration.aibrix.ai/v1alpha1",
            {"replicas": 2, "template": {"spec": {"roles": [{"name": "a", "replicas": 3, "podGroupSize": 2}]}}},
            {"a": (12, 12)},
        ),
        (
            "StormService.orchestration.aibrix.ai/v1alpha1",
            {"template": {"spec": {"roles": [{"name": "a", "replicas": 3}]}}},
            {"a": (0, 0)},
        ),
        (
            "ModelBooster.workload.serving.volcano.sh/v1alpha1",
            {"backend": {"replicas": 2, "workers": [{"replicas": 1, "pods": 4}, {"type": "decode", "replicas": 9}]}},
            {"server": (8, 8)},
        ),
        (
            "ModelBooster.workload.serving.volcano.sh/v1alpha1",
            {
                "backend": {
                    "type": "vLLMDisaggregated",
                    "replicas": 1,
                    "workers": [
                        {"type": "prefill", "replicas": 2, "pods": 4},
                        {"type": "decode"},
                        {"type": "controller"},
                    ],
                }
            },
            {"prefill": (2, 2), "decode": (0, 0)},
        ),
        (
            "RoleSet.orchestration.aibrix.ai/v1alpha1",
            {"roles": [{"name": "a", "replicas": 3, "podGroupSize": 2}]},
            {"a": (6, 6)},
        ),
        ("KVCache.orchestration.aibrix.ai/v1alpha1", {"cache": {"replicas": 3, "template": {}}}, {"cache": (3, 3)}),
        ("KVCache.orchestration.aibrix.ai/v1alpha1", {"cache": {"image": "i"}}, {"cache": (1, 1)}),
        ("Sandbox.agents.x-k8s.io/v1beta1", {"podTemplate": {}, "operatingMode": "Suspended"}, {"": (0, 0)}),
        ("Sandbox.agents.x-k8s.io/v1beta1", {"podTemplate": {}, "replicas": 0}, {"": (1, 1)}),
        ("Sandbox.agents.x-k8s.io/v1alpha1", {"podTemplate": {}, "replicas": 0}, {"": (0, 0)}),
        (
            "HyperJob.training.volcano.sh/v1alpha1",
            {
                "replicatedJobs": [
                    {"name": "j", "replicas": 2, "templateSpec": {"tasks": [{"name": "t", "replicas": 4}]}}
                ]
            },
            {"j-t": (8, 8)},
        ),
        ("MiniCluster.flux-framework.org/v1alpha2", {"size": 2, "maxSize": 10, "containers": []}, {"": (2, 10)}),
        (
            "ModelBooster.workload.serving.volcano.sh/v1alpha1",
            {
                "backend": {
                    "minReplicas": 1,
                    "maxReplicas": 3,
                    "workers": [{"type": "server", "replicas": 2, "pods": 2}],
                }
            },
            {"server": (4, 12)},
        ),
        (
            "ModelBooster.workload.serving.volcano.sh/v1alpha1",
            {"backends": [{"name": "b", "minReplicas": 2, "maxReplicas": 2, "workers": [{"replicas": 3}]}]},
            {"b-server": (6, 6)},
        ),
        ("PodSet.orchestration.aibrix.ai/v1alpha1", {"podGroupSize": 4, "template": {}}, {"": (4, 4)}),
        (
            "InstanceSet.workloads.x-k8s.io/v1alpha1",
            {"replicas": 2, "instanceTemplate": {"components": [{"name": "w", "size": 3, "template": {}}]}},
            {"w": (6, 6)},
        ),
        (
            "Instance.workloads.x-k8s.io/v1alpha1",
            {"components": [{"name": "leader", "template": {}}, {"name": "w", "size": 3, "template": {}}]},
            {"leader": (1, 1), "w": (3, 3)},
        ),
        ("CloneSet.apps.kruise.io/v1alpha1", {"replicas": 4, "updateStrategy": {"maxSurge": "30%"}}, {"": (4, 6)}),
        (
            "CloneSet.apps.kruise.io/v1beta1",
            {"replicas": 4, "updateStrategy": {"rollingUpdate": {"maxSurge": 1}}},
            {"": (4, 5)},
        ),
        ("StatefulSet.apps.kruise.io/v1beta1", {"replicas": 3}, {"": (3, 3)}),
        ("DaemonSet.apps.kruise.io/v1alpha1", {}, {"": (0, None)}),
        ("BroadcastJob.apps.kruise.io/v1alpha1", {"parallelism": 2}, {"": (0, None)}),
        (
            "AdvancedCronJob.apps.kruise.io/v1alpha1",
            {"template": {"jobTemplate": {"spec": {"parallelism": 4, "completions": 2}}}},
            {"": (2, 2)},
        ),
        (
            "AdvancedCronJob.apps.kruise.io/v1alpha1",
            {"template": {"broadcastJobTemplate": {"spec": {"template": {}}}}},
            {"": (0, None)},
        ),
        (
            "UnitedDeployment.apps.kruise.io/v1alpha1",
            {"replicas": 5, "template": {"deploymentTemplate": {"spec": {"template": {}}}}},
            {"": (5, 5)},
        ),
    ],
)
def test_shipped_kinds_count_their_pods_as_their_operators_do(
    kind: str, spec: paths.Object, expected: dict[str, Sequence[int]]
) -> None:
    name, _, version = kind.partition("/")

    assert counts(name, {"apiVersion": f"{key_of(name)[0]}/{version}", "spec": spec}) == (expected, [])


@pytest.mark.parametrize(
    ("kind", "strategy", "most"),
    [
        ("RayClusterReplicaSet", {}, 3),
        ("RayClusterFleet", {}, 3),
        ("RayClusterFleet", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}, 4),
        ("RayClusterFleet", {"type": "Recreate", "rollingUpdate": {"maxSurge": "25%"}}, 3),
    ],
)
def test_an_embedded_object_may_exist_more_often_for_a_time(kind: str, strategy: paths.Object, most: int) -> None:
    head: paths.Json = {"template": {"spec": builders.pod_spec()}, "rayStartParams": {}}
    spec: dict[str, Any] = {"replicas": 3, "template": {"spec": {"headGroupSpec": head}}, "strategy": strategy}
    found = workload(builders.custom("orchestration.aibrix.ai/v1alpha1", kind, spec)).pods

    assert (found.minimum, found.maximum) == (3, most)
    assert found.reason == (f"{most} RayClusters during a rollout" if most > 3 else "")


def test_one_damaged_role_does_not_hide_the_others() -> None:
    found, unknowns = counts(
        "ModelServing.workload.serving.volcano.sh",
        {
            "apiVersion": "workload.serving.volcano.sh/v1alpha1",
            "spec": {"template": {"roles": [7, {**ROLE, "replicas": "two"}, {**ROLE, "name": "other"}]}},
        },
    )

    assert found == {
        "decode-entry": (1, 1),
        "other-entry": (2, 2),
        "decode-worker": (3, 3),
        "other-worker": (6, 6),
    }
    assert unknowns == ["/spec/template/roles/0", "/spec/template/roles/1/replicas"]


def test_kinds_of_a_site_are_known_while_its_usher_yaml_is_in_use() -> None:
    team = read(
        """
        - kind: Team.example.com
          versions: [v1]
          scale: spec.members
          makes: [Job.batch]
          podSets: [{podTemplate: spec.template, pods: "at(object, 'spec.members', 1)"}]
        """
    )
    key = ("example.com", "Team")
    registry.use(team)
    try:
        assert registry.SCALES[key] == "/spec/members"
        assert registry.scaled("example.com", "teams") is registry.BY_KEY[key]
        assert key in registry.WORKLOADS
        assert registry.BY_KEY[key] in registry.LISTED
        assert key in registry.BY_KEY["batch", "Job"].owned_by
    finally:
        registry.use(())

    assert key not in registry.BY_KEY
    assert key not in registry.WORKLOADS
    assert key not in registry.PODS
    assert key not in registry.BY_KEY["batch", "Job"].owned_by
    assert registry.scaled("example.com", "teams") is None


def test_an_object_that_names_pods_elsewhere_is_unknown_there() -> None:
    def experiment(**template: builders.JsonValue) -> model.Workload:
        return workload(builders.custom("kubeflow.org/v1beta1", "Experiment", {"trialTemplate": template}))

    inline = experiment(trialSpec=builders.job(builders.template(builders.container(gpus=1))))
    named = experiment(configMap={"configMapName": "trial"})

    assert ([each.count.minimum for each in inline.pod_sets], inline.unknowns) == ([3], ())
    assert [each.path for each in named.unknowns] == ["/spec/trialTemplate/configMap"]
