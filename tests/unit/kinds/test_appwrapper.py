"""AppWrapper (docs/domain/kinds.md#appwrapper; project-codeflare/appwrapper 1.2)."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading.values import Objects

STRANGER = "unrecognised kind Simulation (example.com/v1) holds a pod spec, which is not judged"


def component(value: paths.Json, *pod_sets: tuple[builders.JsonValue, builders.JsonValue]) -> builders.JsonValue:
    """One object, with declared pod sets as path and replicas."""
    declared: builders.JsonValue = [{"path": path, "replicas": replicas} for path, replicas in pod_sets]
    return {"template": value, **({"podSets": declared} if pod_sets else {})}


def app_wrapper(*components: builders.JsonValue, suspend: builders.JsonValue = None) -> paths.Object:
    spec = {"suspend": suspend, "components": list(components)}
    return builders.custom("workload.codeflare.dev/v1beta2", "AppWrapper", spec)


def simulation(*templates: paths.Object) -> paths.Object:
    """An object of a kind that nobody knows."""
    parts: builders.JsonValue = [{"template": template} for template in templates]
    return builders.custom("example.com/v1", "Simulation", {"parts": parts}, name="sim")


def test_the_objects_inside_are_counted_as_they_count_themselves() -> None:
    value = app_wrapper(
        component(builders.job(parallelism=4, name="train")),
        component(builders.pytorch_job(workers=3, master=builders.template(), name="bert")),
    )

    assert counts(value) == [
        ("train", "/spec/components/0/template/spec/template", 4, 4),
        ("bert-Master", "/spec/components/1/template/spec/pytorchReplicaSpecs/Master/template", 1, 1),
        ("bert-Worker", "/spec/components/1/template/spec/pytorchReplicaSpecs/Worker/template", 3, 3),
    ]


def test_a_pod_inside_is_its_own_template() -> None:
    found = pod_set(app_wrapper(component(builders.pod(builders.container(gpus=2)))))

    assert (found.path, found.spec_path) == ("/spec/components/0/template", "/spec/components/0/template/spec")
    assert found.containers[0].path == "/spec/components/0/template/spec/containers/0"


def test_declared_pod_sets_do_not_change_the_pods_of_a_component() -> None:
    value = app_wrapper(component(builders.job(parallelism=4), ("template.spec.template", 1)))

    assert readable_workload(value).pods == model.Count(minimum=4, maximum=4)


def test_objects_that_make_no_pods_have_no_pod_sets() -> None:
    config_map: paths.Json = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}

    assert counts(app_wrapper(component(config_map))) == []


def test_templates_for_others_to_refer_to_make_no_pods() -> None:
    pod_template: paths.Json = {"apiVersion": "v1", "kind": "PodTemplate", "template": builders.template()}

    assert counts(app_wrapper(component(pod_template))) == [("", "/spec/components/0/template/template", 0, 0)]


def test_what_an_object_inside_refers_to_is_looked_up() -> None:
    claim = builders.custom(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
        name="gpus",
    )
    pod = builders.pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}])

    assert totals(app_wrapper(component(pod)), objects=Objects([claim])) == {"gpu.nvidia.com": ("1", "1")}


def test_an_object_of_an_unknown_kind_is_counted_by_the_declared_pod_sets() -> None:
    value = app_wrapper(
        component(
            simulation(builders.template(builders.container(gpus=8)), builders.template()),
            ("template.spec.parts[0].template", 3),
            ("template.spec.parts[1].template", None),
        )
    )

    assert counts(value) == [
        ("sim", "/spec/components/0/template/spec/parts/0/template", 3, 3),
        ("sim", "/spec/components/0/template/spec/parts/1/template", 1, 1),
    ]
    assert totals(value) == {builders.GPU: ("24", "24")}


def test_a_whole_object_may_be_the_declared_template() -> None:
    stranger = {**builders.pod(), "kind": "Simulation"}

    assert counts(app_wrapper(component(stranger, ("template", 2)))) == [
        ("example", "/spec/components/0/template", 2, 2)
    ]


def test_an_object_of_an_unknown_kind_without_declared_pod_sets_is_unknown_where_it_holds_a_pod_spec() -> None:
    value = app_wrapper(component(simulation(builders.template())))

    assert unknowns(value) == [("/spec/components/0/template/spec/parts/0/template/spec", STRANGER)]


def test_an_object_of_an_unknown_kind_that_asks_for_accelerators_is_unknown() -> None:
    asks = builders.custom("example.com/v1", "Trainer", {"each": {"limits": {builders.GPU: 8}}})
    plain = builders.custom("example.com/v1", "Trainer", {"each": {"limits": {"cpu": 8}}})

    assert [path for path, _ in unknowns(app_wrapper(component(asks)))] == ["/spec/components/0/template/spec/each"]
    assert unknowns(app_wrapper(component(plain))) == []


def test_so_is_a_pod_spec_that_no_declared_pod_set_leads_to() -> None:
    value = app_wrapper(
        component(simulation(builders.template(), builders.template()), ("template.spec.parts[0].template", 1))
    )

    assert unknowns(value) == [("/spec/components/0/template/spec/parts/1/template/spec", STRANGER)]


def test_a_kind_in_an_unknown_version_is_reported_with_its_versions() -> None:
    job = {**builders.job(), "apiVersion": "batch/v9"}

    assert unknowns(app_wrapper(component(job))) == [
        (
            "/spec/components/0/template/spec/template/spec",
            "Job is known in v1, not as batch/v9: its pod spec is not judged",
        )
    ]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "spec.parts[0].template",
        "template.spec.parts[7].template",
        "template.spec.parts[-1].template",
        "template.spec.parts.0.template.x",
        "template.spec..parts",
        "template.spec.parts",
        "template.metadata.name",
        None,
    ],
)
def test_a_declared_path_that_leads_to_no_template_is_unknown(path: builders.JsonValue) -> None:
    value = app_wrapper(component(simulation(), (path, 1)))

    assert unknowns(value) == [
        (
            "/spec/components/0/podSets/0/path",
            "it leads to no pod template of the object, as in template.spec.template",
        )
    ]


def test_two_declared_pod_sets_of_one_template_are_one() -> None:
    value = app_wrapper(
        component(
            simulation(builders.template()),
            ("template.spec.parts[0].template", 1),
            ("template.spec.parts[00].template", 5),
        )
    )

    assert workload(value).pods == model.Count(minimum=1, maximum=1)
    assert unknowns(value) == [
        ("/spec/components/0/podSets/1/path", "another pod set of the component has the same path")
    ]


@pytest.mark.costly
@pytest.mark.usefixtures("any_size")
def test_an_object_that_is_too_large_to_be_searched_is_unknown() -> None:
    large: paths.Json = {"apiVersion": "example.com/v1", "kind": "Simulation", "parts": [{} for _ in range(100_001)]}

    assert unknowns(app_wrapper(component(large))) == [
        (
            "/spec/components/0/template",
            "Simulation (example.com/v1) is too large to be searched for pod specs: not judged",
        )
    ]


def nested(depth: int) -> paths.Object:
    value = builders.job(builders.template(builders.container(gpus=1)), name="train")
    for _ in range(depth):
        value = app_wrapper(component(value))
    return value


def test_wrappers_in_wrappers_are_read_down_to_some_depth() -> None:
    assert totals(nested(3)) == {builders.GPU: ("1", "1")}

    deep = workload(nested(40))

    assert deep.pod_sets == ()
    assert [unknown.reason for unknown in deep.unknowns] == ["it stands too deep in other objects to be judged"]


def test_an_error_in_a_component_is_reported_at_its_place_in_the_wrapper() -> None:
    assert unknowns(app_wrapper(component(builders.job(parallelism="four")))) == [
        ("/spec/components/0/template/spec/parallelism", "expected a whole number, found a string")
    ]


def test_an_error_in_a_referenced_object_is_reported_at_the_reference_in_the_wrapper() -> None:
    api = "trainer.kubeflow.org/v1alpha1"
    job = builders.custom(api, "TrainJob", {"runtimeRef": {"name": "torch"}})
    container: paths.Json = {"name": "node", "resources": {"limits": {builders.GPU: "eight"}}}
    replicated = builders.replicated_job("node", {"spec": {"containers": [container]}})
    runtime = builders.custom(
        api, "ClusterTrainingRuntime", {"template": {"spec": {"replicatedJobs": [replicated]}}}, name="torch"
    )

    ((path, reason),) = unknowns(app_wrapper(component(job)), objects=Objects([runtime]))

    assert path == "/spec/components/0/template/spec/runtimeRef/name"
    assert reason.startswith("ClusterTrainingRuntime torch, spec.template.spec.replicatedJobs[0].")


def test_kueue_governs_the_wrapper_which_can_be_suspended() -> None:
    found = readable_workload(app_wrapper(component(builders.job()), suspend=True))

    assert (found.suspended, found.queue_label_path, found.role) == (True, "/metadata", model.Role.BATCH)


# Gangs


def gang(*components: builders.JsonValue) -> model.Gang:
    return readable_workload(app_wrapper(*components)).gang


def test_the_object_inside_decides_whether_the_pods_wait_for_each_other() -> None:
    waiting = gang(component(builders.pytorch_job(workers=4)))

    assert (waiting.wanted, waiting.waits, waiting.formed_by) == (True, True, "")
    assert not gang(component(builders.job(parallelism=4))).wanted


def test_jobs_of_one_pod_each_do_not_wait_for_each_other() -> None:
    assert not gang(*(component(builders.pytorch_job(workers=1, name=name)) for name in ("a", "b"))).wanted


def test_the_object_with_the_most_accelerator_pods_decides() -> None:
    components = [component(builders.pytorch_job(workers=workers, name=f"of-{workers}")) for workers in (1, 4)]

    assert gang(*components).wanted


@pytest.mark.parametrize(
    ("value", "formed_by", "minimum"),
    [
        (builders.replaced(builders.volcano_job(), "/spec/minAvailable", 3), "its kind, Job", 3),
        (
            builders.pytorch_job(workers=4, run_policy={"schedulingPolicy": {"minAvailable": 3}}),
            "its operator, if it is configured to",
            3,
        ),
        (
            builders.job(parallelism=4, annotations={"scheduling.volcano.sh/group-min-member": "4"}),
            "a PodGroup that Volcano makes for the owner",
            None,
        ),
    ],
)
def test_what_forms_the_gang_is_said_by_the_object_inside(
    value: paths.Object, formed_by: str, minimum: int | None
) -> None:
    found = gang(component(value))

    assert (found.wanted, found.formed_by, found.minimum) == (True, formed_by, minimum)


def test_a_minimum_of_a_wrong_type_is_unknown_at_its_place() -> None:
    wrong = builders.replaced(builders.volcano_job(), "/spec/minAvailable", "three")

    assert unknowns(app_wrapper(component(wrong)))[0][0] == "/spec/components/0/template/spec/minAvailable"


def test_an_app_wrapper_in_another_is_read_at_its_place() -> None:
    inner = app_wrapper(component(builders.replaced(builders.volcano_job(), "/spec/minAvailable", 3)))

    assert gang(component(inner)).minimum == 3
