"""An LLMInferenceService takes fields from its configurations; these are read as well (docs/domain/kinds.md#kserve)."""

from typing import cast

import pytest

import builders
from builders import JsonValue
from unit.kinds.kserve.llm_services import config, first_of, pod_spec
from unit.workloads.normalised import counts, readable_workload, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects


def based(*names: str, **spec: JsonValue) -> paths.Object:
    refs = {"baseRefs": [{"name": name} for name in names]}
    return builders.custom("serving.kserve.io/v1alpha2", "LLMInferenceService", {**refs, **spec})


def test_what_the_service_does_not_say_its_configurations_say_and_the_last_one_wins() -> None:
    known = [
        config(
            "one", replicas=2, template=pod_spec(gpus=1, schedulerName="volcano", nodeSelector={"a": "1", "b": "1"})
        ),
        config("two", template=pod_spec(gpus=4, nodeSelector={"b": "2", "c": "2"})),
    ]
    found = first_of(based("one", "two", template={"nodeSelector": {"c": "3"}}), *known)

    assert (found.count.minimum, found.count.maximum, found.path) == (2, 3, "/spec/template")
    assert {name: str(quantity) for name, quantity in found.accelerators.items()} == {builders.GPU: "4"}
    assert (found.scheduler_name, found.node_selector) == ("volcano", {"a": "1", "b": "2", "c": "3"})


def test_the_service_has_the_last_word() -> None:
    known = config(replicas=8, template=pod_spec(gpus=8, tolerations=[builders.toleration("theirs")]))
    found = first_of(
        based("base", replicas=1, template=pod_spec(gpus=1, tolerations=[builders.toleration("own")])), known
    )

    assert (found.count.minimum, str(found.accelerators[builders.GPU])) == (1, "1")
    assert [each["key"] for each in found.tolerations] == ["own"]


def test_containers_are_merged_by_name_and_variables_too() -> None:
    known = config(
        template=dict(
            builders.pod_spec(
                builders.container("proxy", gpus=1),
                builders.container("main", gpus=2, env={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"}),
            )
        )
    )
    own = dict(builders.pod_spec(builders.container("main", limits={"cpu": 4}, env={"NCCL_DEBUG": "WARN"})))
    found = first_of(based("base", template=own), known)

    assert [(each.name, each.path) for each in found.containers] == [
        ("main", "/spec/template/containers/0"),
        ("proxy", "/spec/baseRefs/0/name/spec/template/containers/0"),
    ]
    assert {name: str(quantity) for name, quantity in found.containers[0].limits.items()} == {
        builders.GPU: "2",
        "cpu": "4",
    }
    assert {variable.name: variable.value for variable in found.containers[0].environment} == {
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_HCA": "mlx5",
    }
    assert str(found.accelerators[builders.GPU]) == "3"


def test_a_template_of_a_configuration_alone_stands_at_its_name_and_is_not_changed() -> None:
    found = first_of(based("base"), config(template=pod_spec(gpus=2)))

    assert found.path == "/spec/baseRefs/0/name/spec/template"
    assert not found.changeable


def test_prefill_workers_and_scheduler_may_all_come_from_a_configuration() -> None:
    known = config(
        worker=pod_spec(gpus=8),
        parallelism={"data": 16, "dataLocal": 8},
        prefill={"replicas": 2, "template": pod_spec(gpus=8)},
        router={"scheduler": {}},
    )
    found = readable_workload(based("base", template=pod_spec(gpus=8)), objects=Objects([known]))

    assert [(each.name, each.count.minimum, each.count.maximum) for each in found.pod_sets] == [
        ("decode leader", 1, 1),
        ("decode worker", 1, 1),
        ("prefill", 2, 3),
        ("scheduler", 1, 1),
    ]


def test_a_configuration_of_the_namespace_comes_before_one_of_kserves_own() -> None:
    own = config(template=pod_spec(gpus=1))
    shared = config(namespace="kserve", template=pod_spec(gpus=8))

    assert str(first_of(based("base"), own, shared).accelerators[builders.GPU]) == "1"
    assert str(first_of(based("base"), shared).accelerators[builders.GPU]) == "8"


def test_a_configuration_that_is_not_known_is_unknown_at_its_name() -> None:
    value = based("base", template=pod_spec(gpus=1))
    where = "not known here, neither in ml-research nor in kserve"

    assert unknowns(value) == [
        ("/spec/baseRefs/0/name", f"LLMInferenceServiceConfig base is {where}: what it adds is not judged")
    ]
    assert not workload(value).pod_sets[0].changeable


def test_an_error_in_a_configuration_is_reported_at_its_name() -> None:
    known = Objects([config(replicas="two", template=pod_spec(tolerations="all"))])

    assert unknowns(based("base"), objects=known) == [
        (
            "/spec/baseRefs/0/name",
            "LLMInferenceServiceConfig ml-research/base, spec.replicas: expected a whole number, found a string",
        ),
        (
            "/spec/baseRefs/0/name",
            "LLMInferenceServiceConfig ml-research/base, spec.template.tolerations: expected a list, found a string",
        ),
    ]


def test_configurations_that_a_configuration_names_are_not_followed() -> None:
    loop = config(baseRefs=[{"name": "base"}], template=pod_spec(gpus=1))

    assert len(readable_workload(based("base"), objects=Objects([loop])).pod_sets) == 1


def test_a_configuration_that_is_named_twice_counts_where_it_is_named_last() -> None:
    known = [config("one", replicas=1), config("two", replicas=2)]

    assert first_of(based("one", "two", "one"), *known).count.minimum == 1


def test_there_is_an_end_to_configurations() -> None:
    found = workload(based(*["base"] * 1000), objects=Objects([config()]))

    assert [unknown.path for unknown in found.unknowns] == ["/spec/baseRefs"]


def test_a_placeholder_is_what_only_kserve_fills_in() -> None:
    name = "{{ .ObjectMeta.Name }}"
    container = builders.container("main", env={"NCCL_TOPO_FILE": name, "NCCL_DEBUG": "INFO"})
    known = Objects([config(template={"containers": [container], "nodeSelector": {"model": name}})])
    found = workload(based("base"), objects=known)
    variables = {variable.name: variable.value for variable in found.pod_sets[0].containers[0].environment}

    assert variables == {"NCCL_TOPO_FILE": None, "NCCL_DEBUG": "INFO"}
    assert found.pod_sets[0].node_selector == {}
    assert [unknown.path for unknown in found.unknowns] == ["/spec/baseRefs/0/name"]
    assert "placeholder" in found.unknowns[0].reason


@pytest.mark.parametrize(
    ("own", "theirs", "changeable"),
    [
        (pod_spec(), {}, True),
        (pod_spec(), {"template": pod_spec(nodeSelector={"a": "b"})}, True),
        (pod_spec(), {"template": pod_spec(tolerations=[builders.toleration("gpu")])}, False),
        (
            pod_spec(tolerations=[builders.toleration("own")]),
            {"template": pod_spec(tolerations=[builders.toleration("gpu")])},
            True,
        ),
        (
            pod_spec(),
            {"template": pod_spec(affinity=builders.node_affinity(builders.term(builders.expression("a", "Exists"))))},
            False,
        ),
    ],
)
def test_only_what_takes_nothing_from_a_configuration_is_changed(
    own: dict[str, JsonValue], theirs: dict[str, JsonValue], changeable: bool
) -> None:
    known = builders.custom("serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig", theirs, name="base")

    assert first_of(based("base", template=own), known).changeable is changeable


# The configurations themselves


def test_a_configuration_is_a_template_that_has_the_pods_that_it_holds() -> None:
    assert counts(config()) == []
    value = config(template=pod_spec(gpus=1), prefill={"template": pod_spec()}, router={"scheduler": {}})

    assert counts(value) == [("decode", "/spec/template", 1, 2), ("prefill", "/spec/prefill/template", 1, 2)]
    assert readable_workload(value).is_template


def test_workers_of_a_configuration_are_as_many_as_the_service_needs() -> None:
    sized = config(template=pod_spec(), worker=pod_spec(), parallelism={"pipeline": 4})

    assert counts(config(template=pod_spec(), worker=pod_spec())) == [
        ("leader", "/spec/template", 1, 1),
        ("worker", "/spec/worker", 0, None),
    ]
    assert counts(sized)[1] == ("worker", "/spec/worker", 3, 3)


def preset(name: str, *, namespace: str = "kserve", **spec: JsonValue) -> paths.Object:
    return config(f"kserve-config-llm-{name}", namespace=namespace, **spec)


def with_status(status: JsonValue) -> paths.Object:
    return {**based(), "status": cast(paths.Json, status)}


def test_presets_that_a_site_has_changed_come_beneath_all_others() -> None:
    tolerations = [builders.toleration("theirs")]
    known = [
        preset("template", template=pod_spec(gpus=1, nodeSelector={"a": "1", "b": "1"}, tolerations=tolerations)),
        config("base", template={"nodeSelector": {"b": "2"}}),
    ]
    found = first_of(based("base", template={"nodeSelector": {"c": "3"}}), *known)

    assert (found.node_selector, str(found.accelerators[builders.GPU])) == ({"a": "1", "b": "2", "c": "3"}, "1")
    assert [each["key"] for each in found.tolerations] == ["theirs"]
    assert first_of(based(), preset("template", namespace="other", template=pod_spec(gpus=1))).accelerators == {}


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("template", {}),
        ("worker-data-parallel", {"worker": {}, "parallelism": {"data": 16, "dataLocal": 8}}),
        ("worker-pipeline-parallel", {"worker": {}, "parallelism": {"pipeline": 2}}),
        ("decode-template", {"prefill": {"worker": {}, "parallelism": {"pipeline": 2}}}),
        ("decode-worker-data-parallel", {"prefill": {}, "worker": {}, "parallelism": {"data": 2}}),
    ],
)
def test_the_form_of_a_service_decides_about_its_preset(name: str, spec: paths.Object) -> None:
    """KS:pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig."""
    field = "worker" if "worker" in name else "template"
    known = config(f"kserve-config-llm-{name}", namespace="kserve", worker={}, template={})
    known["spec"] = {field: cast(paths.Json, pod_spec(gpus=8))}
    found = readable_workload(based(**spec), objects=Objects([known]))

    assert [str(each.accelerators.get(builders.GPU, 0)) for each in found.pod_sets].count("8") == 1


def test_prefill_pods_and_the_scheduler_have_presets_of_their_own() -> None:
    known = [
        preset("prefill-template", prefill={"template": pod_spec(gpus=2)}),
        preset("scheduler", router={"scheduler": {"template": pod_spec(nodeSelector={"pool": "cpu"})}}),
    ]
    found = readable_workload(based(prefill={}, router={"scheduler": {}}), objects=Objects(known)).pod_sets

    assert [(each.name, str(each.accelerators.get(builders.GPU, 0))) for each in found[:2]] == [
        ("decode", "0"),
        ("prefill", "2"),
    ]
    assert found[2].node_selector == {"pool": "cpu"}


def test_the_preset_is_the_one_whose_name_kserve_has_pinned() -> None:
    pinned: JsonValue = {"annotations": {"serving.kserve.io/config-llm-template": "kserve-v0-19-0-config-llm-template"}}
    known = [
        preset("template", template=pod_spec(gpus=1)),
        config("kserve-v0-19-0-config-llm-template", namespace="kserve", template=pod_spec(gpus=4)),
    ]

    assert str(first_of(with_status(pinned), *known).accelerators[builders.GPU]) == "4"


def test_a_preset_that_a_service_names_is_known_as_kserve_ships_it() -> None:
    found = first_of(based("kserve-config-llm-template", template=pod_spec(gpus=1)))

    assert found.changeable
    assert unknowns(based("kserve-config-llm-mine"))[0][0] == "/spec/baseRefs/0/name"


@pytest.mark.parametrize("damaged", [None, 7, [], {"annotations": 7}, {"annotations": {"serving.kserve.io/x": None}}])
def test_a_damaged_status_names_no_preset(damaged: JsonValue) -> None:
    known = Objects([preset("template", template=pod_spec(gpus=1))])

    assert workload(with_status(damaged), objects=known).pod_sets
