"""The pods of Argo's templates: their containers, and which of several places a field is taken from."""

import pytest

import builders
from unit.kinds.argo.argo_objects import Fields, library, pod, steps, workflow
from unit.workloads.normalised import readable_workload, unknowns
from usher import model, paths
from usher.kinds.reading import values

TOLERATION = builders.toleration("gpu", operator="Exists", effect="NoSchedule")
OTHER = builders.toleration("spot", operator="Exists")
H100: Fields = {"pool": "h100"}
A100: Fields = {"pool": "a100"}
NEEDS_H100 = builders.node_affinity(builders.term(builders.expression("pool", "In", "h100")))
NEEDS_A100 = builders.node_affinity(builders.term(builders.expression("pool", "In", "a100")))


def only(value: paths.Object, *others: paths.Object) -> model.PodSet:
    (found,) = readable_workload(value, objects=values.Objects(others)).pod_sets
    return found


def of_template(template: Fields, **spec: Fields) -> model.PodSet:
    return only(workflow(template, entrypoint="train", **spec))


def containers(found: model.PodSet) -> list[tuple[str, str, str]]:
    return [(container.name, container.type.value, container.path) for container in found.containers]


def test_the_main_container_is_called_main_whatever_it_says() -> None:
    found = of_template({"name": "train", "container": builders.container("other", gpus=8)})

    assert containers(found) == [("main", "container", "/spec/templates/0/container")]
    assert found.containers[0].trains


def test_a_script_is_a_container_too() -> None:
    found = of_template({"name": "train", "script": builders.container(gpus=1, source="print()")})

    assert containers(found) == [("main", "container", "/spec/templates/0/script")]
    assert str(found.accelerators[builders.GPU]) == "1"


def test_containers_of_a_set_share_a_pod() -> None:
    both: Fields = {"containers": [builders.container("a", gpus=1), builders.container("b", gpus=2)]}
    found = of_template({"name": "train", "containerSet": both})

    assert [name for name, *_ in containers(found)] == ["a", "b"]
    assert str(found.accelerators[builders.GPU]) == "3"


def test_init_containers_and_sidecars_stand_beside_the_main_one() -> None:
    found = of_template(
        pod(
            gpus=1,
            initContainers=[builders.container("fetch", gpus=4), builders.sidecar("proxy")],
            sidecars=[builders.container("monitor", gpus=1)],
        )
    )

    assert containers(found) == [
        ("fetch", "init container", "/spec/templates/0/initContainers/0"),
        ("proxy", "sidecar", "/spec/templates/0/initContainers/1"),
        ("main", "container", "/spec/templates/0/container"),
        ("monitor", "sidecar", "/spec/templates/0/sidecars/0"),
    ]
    assert str(found.accelerators[builders.GPU]) == "4"


@pytest.mark.parametrize("kind", [{"resource": {"action": "get"}}, {"data": {"source": {}}}])
def test_the_executor_is_the_main_container_of_other_types(kind: dict[str, Fields]) -> None:
    (name,) = kind
    found = of_template({"name": "train", **kind})

    assert containers(found) == [("main", "container", f"/spec/templates/0/{name}")]


@pytest.mark.parametrize("action", ["create", "apply", "replace", "patch"])
@pytest.mark.parametrize("field", ["manifest", "manifestFrom"])
def test_an_object_that_a_template_makes_is_not_judged_here(action: str, field: str) -> None:
    made: Fields = {"action": action, field: "kind: Job"}

    assert unknowns(workflow({"name": "train", "resource": made}, entrypoint="train")) == [
        (f"/spec/templates/0/resource/{field}", "the object that this makes is not judged here, but when it is made")
    ]


def test_an_object_that_is_only_looked_at_is_not_unknown() -> None:
    of_template({"name": "train", "resource": {"action": "delete", "manifest": "kind: Job"}})


def test_a_patch_of_the_pod_may_change_anything() -> None:
    patched = workflow(pod(podSpecPatch="{}"), entrypoint="train", podSpecPatch="containers: []")
    reason = "podSpecPatch may change anything in the pods: what it changes is not judged"

    assert unknowns(patched) == [("/spec/podSpecPatch", reason), ("/spec/templates/0/podSpecPatch", reason)]
    assert unknowns(workflow(pod(), entrypoint="train", templateDefaults={"podSpecPatch": "x"})) == [
        ("/spec/templateDefaults/podSpecPatch", reason)
    ]


def test_fields_of_the_template_count_over_those_of_the_workflow() -> None:
    own: dict[str, Fields] = {
        "nodeSelector": H100,
        "tolerations": [TOLERATION],
        "affinity": NEEDS_H100,
        "schedulerName": "volcano",
        "priorityClassName": "high",
        "podResources": {"limits": {"memory": "1Gi"}},
    }
    of_workflow: dict[str, Fields] = {
        "nodeSelector": {"zone": "a"},
        "tolerations": [OTHER],
        "affinity": NEEDS_A100,
        "schedulerName": "kai",
        "podPriorityClassName": "low",
        "podResources": {"limits": {"memory": "2Gi"}},
    }
    alone = of_template(pod(), **of_workflow)
    found = of_template(pod(**own), **of_workflow)

    assert (alone.node_selector, alone.tolerations) == ({"zone": "a"}, (OTHER,))
    assert (alone.scheduler_name, alone.priority_class_name) == ("kai", "low")
    assert [str(quantity) for quantity in alone.pod_limits.values()] == ["2147483648"]
    assert (found.node_selector, found.tolerations) == (H100, (TOLERATION,))
    assert (found.scheduler_name, found.priority_class_name) == ("volcano", "high")
    assert found.required_terms == (builders.term(builders.expression("pool", "In", "h100")),)
    assert [str(quantity) for quantity in found.pod_limits.values()] == ["1073741824"]


def test_fields_with_nothing_in_them_count_as_missing() -> None:
    found = of_template(
        pod(tolerations=[], nodeSelector={}, schedulerName=""), tolerations=[TOLERATION], nodeSelector=H100
    )

    assert (found.tolerations, found.node_selector) == ((TOLERATION,), H100)


def test_an_affinity_without_a_required_one_still_takes_the_place_of_the_workflows() -> None:
    assert not of_template(pod(affinity={"podAffinity": {}}), affinity=NEEDS_H100).has_required_affinity


def test_where_a_pod_may_run_is_also_taken_from_the_template_that_calls_it() -> None:
    calling = steps(
        {"name": "a", "template": "train"}, nodeSelector=H100, tolerations=[TOLERATION], schedulerName="kai"
    )
    found = only(workflow(pod(), calling, nodeSelector=A100))

    assert (found.node_selector, found.tolerations, found.scheduler_name) == (H100, (TOLERATION,), "")
    assert only(workflow(pod(nodeSelector=A100), calling)).node_selector == A100


def test_callers_that_disagree_are_reported() -> None:
    def calling(name: str, selector: Fields) -> Fields:
        return steps({"name": "a", "template": "train"}, name=name, nodeSelector=selector)

    main = steps({"name": "one", "template": "one"}, {"name": "two", "template": "two"})

    only(workflow(pod(), calling("one", H100), calling("two", H100), main))
    assert unknowns(workflow(pod(), calling("one", H100), calling("two", A100), main)) == [
        (
            "/spec/templates/0",
            "the templates that run it give its pods different values of nodeSelector: judged with those of the first",
        )
    ]


def test_a_mutation_would_take_the_place_of_what_comes_from_elsewhere() -> None:
    assert of_template(pod()).changeable
    assert of_template(pod(tolerations=[TOLERATION]), tolerations=[OTHER]).changeable
    assert of_template(pod(), nodeSelector=H100).changeable
    elsewhere: dict[str, Fields] = {
        "tolerations": [OTHER],
        "affinity": NEEDS_H100,
        "schedulerName": "kai",
        "podPriorityClassName": "high",
        "templateDefaults": {"tolerations": [OTHER]},
    }
    for field, value in elsewhere.items():
        assert not of_template(pod(), **{field: value}).changeable, field


def test_labels_of_the_template_count_over_those_of_podmetadata() -> None:
    of_all: Fields = {"labels": {"team": "a", "app": "bert"}, "annotations": {"gpu-fraction": "0.5"}}
    found = of_template(pod(metadata={"labels": {"team": "b"}}), podMetadata=of_all)

    assert found.labels == {"team": "b", "app": "bert"}
    assert [request.name for request in found.requests] == ["gpu-fraction"]
    assert found.metadata_path == "/spec/templates/0/metadata"
    assert of_template(pod(), podMetadata=of_all).metadata_path == "/spec/podMetadata"
    assert of_template(pod()).metadata_path == "/spec/templates/0/metadata"


def test_an_unreadable_annotation_is_reported_at_its_place() -> None:
    of_all: Fields = {"annotations": {"gpu-fraction": "much"}}
    value = workflow(pod(metadata={"labels": {"team": "b"}}), entrypoint="train", podMetadata=of_all)

    assert [path for path, _ in unknowns(value)] == ["/spec/podMetadata/annotations/gpu-fraction"]


def test_device_claims_of_the_template_replace_those_of_the_workflow() -> None:
    claim: Fields = {"name": "gpu", "resourceClaimName": "gpus"}
    gpus = builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
        name="gpus",
    )

    of_workflow = workflow(pod(), entrypoint="train", resourceClaims=[claim])
    both: Fields = [claim, {"name": "other", "resourceClaimName": "gpus"}]
    own = workflow(pod(resourceClaims=both), entrypoint="train", resourceClaims=[claim])

    assert [request.name for request in only(of_workflow, gpus).requests] == ["gpu.nvidia.com"]
    assert only(own, gpus).device_claims == 2


def test_defaults_are_merged_into_templates_of_their_type() -> None:
    defaults: Fields = {
        "container": builders.container(
            gpus=2, limits={"memory": "1Gi"}, env={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"}
        ),
        "script": builders.container(gpus=8),
        "nodeSelector": {"zone": "a", "pool": "a100"},
        "tolerations": [OTHER, {**TOLERATION, "effect": "NoExecute"}],
        "sidecars": [builders.container("monitor", limits={"cpu": 1}), builders.container("proxy")],
    }
    template = pod(
        gpus=1,
        nodeSelector=H100,
        tolerations=[TOLERATION],
        sidecars=[builders.container("monitor", limits={"memory": "1Gi"})],
    )
    template["container"]["env"] = [{"name": "NCCL_DEBUG", "value": "WARN"}]  # type: ignore[index,call-overload]  # built above
    found = of_template(template, templateDefaults=defaults)
    main, monitor, proxy = found.containers

    assert {name: str(quantity) for name, quantity in main.limits.items()} == {
        "nvidia.com/gpu": "1",
        "memory": "1073741824",
    }
    assert main.resource_path("limits", "memory") == "/spec/templates/0/container/resources/limits/memory"
    assert [(each.name, each.value) for each in main.environment][-1] == ("NCCL_DEBUG", "WARN")
    assert "/spec/templateDefaults/container/env/1" in [each.path for each in main.environment]
    assert (set(monitor.limits), proxy.path) == ({"memory", "cpu"}, "/spec/templateDefaults/sidecars/1")
    assert found.node_selector == {"zone": "a", "pool": "h100"}
    assert sorted(found.tolerations, key=str) == sorted([OTHER, TOLERATION], key=str)


def test_defaults_of_the_workflow_count_for_templates_of_other_objects_as_well() -> None:
    ref: Fields = {"name": "library", "template": "train"}
    main = steps({"name": "a", "templateRef": ref})
    theirs = library(
        pod(), podMetadata={"labels": {"from": "library"}}, nodeSelector=A100, templateDefaults={"nodeSelector": A100}
    )
    found = only(workflow(main, templateDefaults={"nodeSelector": H100}), theirs)

    assert found.node_selector == H100
    assert found.labels == {"from": "library"}


def test_a_workflow_made_from_a_template_gets_the_fields_of_both() -> None:
    theirs = library(
        pod(), entrypoint="train", nodeSelector=A100, tolerations=[OTHER], podMetadata={"labels": {"a": "b"}}
    )
    value = builders.custom(
        "argoproj.io/v1alpha1",
        "Workflow",
        {"workflowTemplateRef": {"name": "library"}, "nodeSelector": {"zone": "a"}, "tolerations": [TOLERATION]},
    )
    found = only(value, theirs)

    assert found.node_selector == {"zone": "a", "pool": "a100"}
    assert sorted(found.tolerations, key=str) == sorted([OTHER, TOLERATION], key=str)
    assert found.labels == {"a": "b"}


@pytest.mark.usefixtures("any_size")
def test_what_many_templates_share_is_not_read_without_end() -> None:
    many: Fields = [builders.toleration(f"key-{n}") for n in range(2000)]
    value = workflow(*(pod(f"pod-{n}") for n in range(500)), entrypoint="pod-0", tolerations=many)

    assert unknowns(value) == [("/spec", "too many templates share too large a workflow: not all of them are judged")]
