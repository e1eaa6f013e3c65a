"""Mutations of the pods of a TrainJob: their template stands in its runtime, and a patch overrides it."""

from typing import Any

import pytest

from unit.policy.mutation.manifests import (
    IN_THE_WAY,
    affinity,
    at,
    container,
    intent,
    merged,
    refusals,
    runtime,
    train_job,
)
from usher import model, paths
from usher.kinds.reading.values import Objects
from usher.policy.mutation import editing, merge, pod_fields

TEMPLATE = "/spec/runtimeRef/name/spec/template/spec/replicatedJobs/0/template/spec/template"
NODE = TEMPLATE + "/spec/containers/0"
KUEUE = "kueue.x-k8s.io/manager"
OURS = "gpu-usher.io/usher"

TOLERATION: paths.Object = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
THEIRS: paths.Object = {"key": "team", "operator": "Exists"}
ON_H100: paths.Object = {"key": "product", "operator": "In", "values": ["H100"]}
IN_ZONE: paths.Object = {"key": "zone", "operator": "In", "values": ["b"]}
DEBUG: paths.Object = {"name": "NCCL_DEBUG", "value": "WARN"}


def patch(manager: str, *, metadata: Any = None, **spec: Any) -> paths.Object:
    """An entry of runtimePatches for the pods of the job `node`."""
    template: paths.Object = {"spec": spec} if metadata is None else {"metadata": metadata}
    job: paths.Object = {"name": "node", "template": {"spec": {"template": template}}}
    return {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}


def mutated(job: paths.Object, *intents: model.Intent, known: paths.Object | None = None) -> merge.Merged:
    return merged(job, *intents, objects=Objects([known or runtime()]))


def tolerating(job: paths.Object, *, known: paths.Object | None = None) -> merge.Merged:
    return mutated(job, intent("toleration", TOLERATION, at=TEMPLATE), known=known)


def requiring(job: paths.Object, *, known: paths.Object | None = None) -> merge.Merged:
    return mutated(job, intent("nodeRequirement", ON_H100, at=TEMPLATE), known=known)


def patches(result: merge.Merged) -> Any:
    return at(result, "/spec/runtimePatches")


def test_a_toleration_stands_in_a_patch_of_our_own() -> None:
    assert patches(tolerating(train_job())) == [patch(OURS, tolerations=[TOLERATION])]


def test_it_is_written_with_those_of_the_runtime_because_a_list_takes_the_place_of_another() -> None:
    assert patches(tolerating(train_job(), known=runtime(tolerations=[THEIRS]))) == [
        patch(OURS, tolerations=[THEIRS, TOLERATION])
    ]


def test_the_patch_of_kueue_and_its_values_are_kept() -> None:
    kueue = patch(KUEUE, tolerations=[THEIRS])

    assert patches(tolerating(train_job(runtimePatches=[kueue]))) == [
        kueue,
        patch(OURS, tolerations=[THEIRS, TOLERATION]),
    ]


def test_what_the_runtime_tolerates_is_not_tolerated_again() -> None:
    assert refusals(tolerating(train_job(), known=runtime(tolerations=[{"operator": "Exists"}]))) == [
        editing.ALREADY_THERE
    ]


def test_a_second_toleration_joins_the_first_in_one_patch() -> None:
    second: paths.Object = {"key": "team", "operator": "Exists", "effect": "NoExecute"}
    result = mutated(
        train_job(),
        intent("toleration", TOLERATION, at=TEMPLATE),
        intent("toleration", second, at=TEMPLATE),
        known=runtime(tolerations=[THEIRS | {"effect": "NoSchedule"}]),
    )

    assert patches(result) == [
        patch(OURS, tolerations=[THEIRS | {"effect": "NoSchedule"}, TOLERATION, second]),
    ]


def test_what_a_later_patch_says_is_not_written_into_ours_again_and_again() -> None:
    ours, kueue = patch(OURS, tolerations=[TOLERATION]), patch(KUEUE, tolerations=[THEIRS])

    assert refusals(tolerating(train_job(runtimePatches=[ours, kueue]))) == [pod_fields.TAKEN_OVER]


def test_a_requirement_goes_into_every_term_of_the_runtime() -> None:
    known = runtime(affinity=affinity({"matchExpressions": [IN_ZONE]}, {"matchFields": [IN_ZONE]}, {}))

    assert patches(requiring(train_job(), known=known)) == [
        patch(
            OURS,
            affinity=affinity(
                {"matchExpressions": [IN_ZONE, ON_H100]}, {"matchFields": [IN_ZONE], "matchExpressions": [ON_H100]}, {}
            ),
        )
    ]


def test_without_terms_in_the_runtime_one_is_made() -> None:
    assert patches(requiring(train_job())) == [patch(OURS, affinity=affinity({"matchExpressions": [ON_H100]}))]


def test_two_requirements_stand_in_one_term_of_one_patch() -> None:
    result = mutated(
        train_job(),
        intent("nodeRequirement", ON_H100, at=TEMPLATE),
        intent("nodeRequirement", IN_ZONE, at=TEMPLATE),
    )

    assert patches(result) == [patch(OURS, affinity=affinity({"matchExpressions": [ON_H100, IN_ZONE]}))]


def test_a_requirement_of_the_runtime_is_not_repeated() -> None:
    known = runtime(affinity=affinity({"matchExpressions": [ON_H100]}))

    assert refusals(requiring(train_job(), known=known)) == [editing.ALREADY_THERE]


def test_a_requirement_that_a_later_patch_drops_is_not_written_again_and_again() -> None:
    ours = patch(OURS, affinity=affinity({"matchExpressions": [ON_H100]}))
    theirs = patch("team", affinity=affinity({"matchExpressions": [IN_ZONE]}))

    assert refusals(requiring(train_job(runtimePatches=[ours, theirs]))) == [pod_fields.TAKEN_OVER]


def test_an_affinity_that_matches_no_node_still_matches_no_node() -> None:
    assert refusals(requiring(train_job(), known=runtime(affinity=affinity()))) == [editing.MATCHES_NOTHING]


def annotated(job: paths.Object, *, known: paths.Object | None = None) -> merge.Merged:
    return mutated(job, intent("annotation", {"key": "a/b", "value": "true"}, at=TEMPLATE), known=known)


def test_an_annotation_of_the_pods_stands_in_the_patch() -> None:
    assert patches(annotated(train_job())) == [patch(OURS, metadata={"annotations": {"a/b": "true"}})]


@pytest.mark.parametrize(("text", "reason"), [("true", editing.ALREADY_THERE), ("no", editing.USER_DECIDES)])
def test_an_annotation_of_the_runtime_stays(text: str, reason: str) -> None:
    assert refusals(annotated(train_job(), known=runtime(metadata={"annotations": {"a/b": text}}))) == [reason]


@pytest.mark.parametrize("field", ["schedulerName", "priorityClass"])
def test_no_patch_has_a_place_for_a_scheduler_or_a_priority_class(field: str) -> None:
    assert refusals(mutated(train_job(), intent(field, {"name": "a"}, at=TEMPLATE))) == [editing.NOT_CHANGEABLE]


@pytest.mark.parametrize(
    "spec",
    [
        {"podTemplateOverrides": []},
        {"podSpecOverrides": [{"targetJobs": [{"name": "node"}]}]},
        {"runtimePatches": [patch(f"manager-{number}") for number in range(16)]},
    ],
    ids=["version 2.1", "version 2.0", "full"],
)
def test_no_patch_is_written_without_a_place_for_it(spec: dict[str, Any]) -> None:
    for result in (tolerating(train_job(**spec)), requiring(train_job(**spec)), annotated(train_job(**spec))):
        assert refusals(result) == [editing.NOT_CHANGEABLE]


def test_a_patch_of_our_own_is_room_enough() -> None:
    full = [patch(OURS), *(patch(f"manager-{number}") for number in range(15))]

    assert patches(tolerating(train_job(runtimePatches=full)))[0] == patch(OURS, tolerations=[TOLERATION])


@pytest.mark.parametrize(
    "broken",
    [
        "text",
        {"manager": OURS},
        [{"manager": OURS, "trainingRuntimeSpec": "text"}],
        [{"manager": OURS, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": {}}}}}],
        [
            patch(OURS)
            | {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{"name": "node", "template": 7}]}}}}
        ],
        [patch(OURS, tolerations="text", affinity="text")],
    ],
)
def test_a_patch_with_a_wrong_type_is_not_changed(broken: Any) -> None:
    job = train_job(runtimePatches=broken)

    for result in (tolerating(job), requiring(job)):
        assert refusals(result)[0].startswith(IN_THE_WAY)
        assert result.value == job


def given(job: paths.Object, name: str = "NCCL_DEBUG", *, node: paths.Object | None = None) -> merge.Merged:
    wanted = intent("environment", {"name": name, "value": "WARN"}, at=NODE)
    return mutated(job, wanted, known=runtime(node=node))


@pytest.mark.parametrize("trainer", [None, {}, {"env": None}, {"env": []}])
def test_variables_are_those_of_the_trainer(trainer: Any) -> None:
    assert at(given(train_job(trainer=trainer)), "/spec/trainer/env") == [DEBUG]


def test_a_variable_of_the_runtime_stays_of_whichever_family() -> None:
    variables: list[paths.Json] = [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "HOME", "value": "/"}]
    node = container(name="node", env=variables)

    assert refusals(given(train_job(), node=node)) == [editing.USER_DECIDES]
    assert refusals(given(train_job(), "HOME", node=node)) == [editing.USER_DECIDES]


def test_what_env_from_of_the_runtime_may_bring_is_not_overruled() -> None:
    node = container(name="node", envFrom=[{"configMapRef": {"name": "settings"}, "prefix": "APP_"}])

    assert refusals(given(train_job(), node=node))[0].startswith("what its envFrom brings")


def test_variables_of_the_operator_are_left_to_it() -> None:
    assert refusals(given(train_job(), "PET_NNODES")) == ["the operator sets PET_NNODES itself"]


def test_another_container_of_the_runtime_takes_no_variables() -> None:
    sidecar = container(name="logger")
    wanted = intent("environment", DEBUG, at=TEMPLATE + "/spec/containers/0")

    assert refusals(mutated(train_job(), wanted, known=runtime(node=sidecar))) == [editing.NOT_CHANGEABLE]


def test_resources_are_those_of_a_node() -> None:
    wanted = intent("resource", {"name": "rdma/hca", "amount": 8}, at=NODE)
    own = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}

    assert at(mutated(train_job(trainer=own), wanted), "/spec/trainer/resourcesPerNode") == {
        "limits": {"nvidia.com/gpu": 8, "rdma/hca": "8"}
    }


@pytest.mark.parametrize("trainer", [{}, {"resourcesPerNode": {}}])
def test_a_device_is_written_with_all_resources_of_the_runtime(trainer: paths.Object) -> None:
    """Trainer counts the ranks by the GPUs of resourcesPerNode, if the TrainJob has any."""
    node = container(name="node", resources={"limits": {"nvidia.com/gpu": 8}})
    device = intent("resource", {"name": "rdma/hca", "amount": 8}, at=NODE)

    result = mutated(train_job(trainer=trainer), device, known=runtime(node=node))

    assert at(result, "/spec/trainer/resourcesPerNode") == {"limits": {"nvidia.com/gpu": 8, "rdma/hca": "8"}}


def test_resources_of_the_runtime_stay() -> None:
    node = container(name="node", resources={"limits": {"rdma/hca": 1}})
    wanted = intent("resource", {"name": "rdma/hca", "amount": 8}, at=NODE)

    assert refusals(mutated(train_job(), wanted, known=runtime(node=node))) == [editing.USER_DECIDES]


UNKNOWN_NODE = "/spec/trainer"


def test_without_its_runtime_a_train_job_takes_variables_and_joins_its_own_resources() -> None:
    job = train_job(trainer={"numNodes": 4, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}})
    result = merged(
        job,
        intent("environment", DEBUG, at=UNKNOWN_NODE),
        intent("resource", {"name": "rdma/hca", "amount": 8}, at=UNKNOWN_NODE),
    )

    assert at(result, "/spec/trainer") == {
        "numNodes": 4,
        "env": [DEBUG],
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8, "rdma/hca": "8"}},
    }


@pytest.mark.parametrize("name", ["PET_NNODES", "DMLC_ROLE", "OMPI_MCA_plm_rsh_args", "JAX_PROCESS_ID"])
def test_usher_sets_no_variable_of_any_framework_under_an_unknown_runtime(name: str) -> None:
    wanted = intent("environment", {"name": name, "value": "1"}, at=UNKNOWN_NODE)

    assert refusals(merged(train_job(trainer={}), wanted)) == [f"the operator sets {name} itself"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("toleration", TOLERATION),
        ("nodeRequirement", ON_H100),
        ("annotation", {"key": "a", "value": "b"}),
        ("network", {"name": "rail"}),
        ("schedulerName", {"name": "volcano"}),
    ],
)
def test_nothing_is_patched_over_an_unknown_runtime(field: str, value: paths.Object) -> None:
    """A list would take the place of what the runtime holds."""
    assert refusals(merged(train_job(trainer={}), intent(field, value, at=UNKNOWN_NODE))) == [editing.NOT_CHANGEABLE]
