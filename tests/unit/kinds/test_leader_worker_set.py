"""LeaderWorkerSet and DisaggregatedSet (docs/domain/kinds.md#leaderworkerset; kubernetes-sigs/lws 0.10)."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns
from usher import model, paths

PATH = "/spec/leaderWorkerTemplate"
ROLE = "/spec/roles/0/spec/leaderWorkerTemplate/workerTemplate"


def spec(
    *,
    size: builders.JsonValue = None,
    replicas: builders.JsonValue = None,
    leader: paths.Object | None = None,
    worker: paths.Object | None = None,
    rolling: builders.JsonValue = None,
) -> dict[str, builders.JsonValue]:
    templates: dict[str, builders.JsonValue] = {"workerTemplate": worker or builders.template()}
    if leader is not None:
        templates["leaderTemplate"] = leader
    if size is not None:
        templates["size"] = size
    strategy: builders.JsonValue = {"rollingUpdateConfiguration": rolling}
    return {"replicas": replicas, "leaderWorkerTemplate": templates, "rolloutStrategy": strategy}


def leader_worker_set(value: dict[str, builders.JsonValue]) -> paths.Object:
    return builders.custom("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", value)


def disaggregated_set(
    *roles: dict[str, builders.JsonValue], slices: builders.JsonValue = None, mode: builders.JsonValue = None
) -> paths.Object:
    named: builders.JsonValue = [
        {"name": f"role-{index}", "scaling": {"mode": mode}, "spec": role} for index, role in enumerate(roles)
    ]
    return builders.custom("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"slices": slices, "roles": named})


def most(value: paths.Object) -> int | None:
    return readable_workload(value).pods.maximum


def test_leader_and_workers_have_templates_of_their_own() -> None:
    assert counts(leader_worker_set(spec(size=4, replicas=3, leader=builders.template()))) == [
        ("leader", f"{PATH}/leaderTemplate", 3, 3),
        ("worker", f"{PATH}/workerTemplate", 9, 9),
    ]


def test_without_a_template_of_its_own_the_leader_is_one_more_of_the_workers() -> None:
    assert counts(leader_worker_set(spec(size=4, replicas=3))) == [("worker", f"{PATH}/workerTemplate", 12, 12)]


def test_one_group_of_one_pod_is_the_default() -> None:
    assert counts(leader_worker_set(spec())) == [("worker", f"{PATH}/workerTemplate", 1, 1)]
    assert counts(leader_worker_set(spec(leader=builders.template()))) == [
        ("leader", f"{PATH}/leaderTemplate", 1, 1),
        ("worker", f"{PATH}/workerTemplate", 0, 0),
    ]


@pytest.mark.parametrize(
    ("surge", "groups"), [(None, 4), (0, 4), (1, 5), (9, 8), ("25%", 5), ("30%", 6), ("100%", 8), ("0%", 4)]
)
def test_a_rollout_makes_more_groups_but_never_more_than_twice_as_many(surge: builders.JsonValue, groups: int) -> None:
    value = leader_worker_set(spec(size=2, replicas=4, rolling={"maxSurge": surge}))

    assert counts(value) == [("worker", f"{PATH}/workerTemplate", 8, 2 * groups)]


def test_the_reason_says_how_many_groups_more_there_are() -> None:
    def reason(surge: int) -> str:
        return readable_workload(leader_worker_set(spec(size=2, replicas=4, rolling={"maxSurge": surge}))).pods.reason

    assert [reason(0), reason(1), reason(2)] == [
        "",
        "1 more group during a rollout",
        "2 more groups during a rollout",
    ]


def test_a_surge_that_is_neither_number_nor_percentage_is_unknown() -> None:
    value = leader_worker_set(spec(rolling={"maxSurge": "some"}))

    assert unknowns(value) == [
        (
            "/spec/rolloutStrategy/rollingUpdateConfiguration/maxSurge",
            "expected a whole number or a percentage, for example 25%",
        )
    ]


def test_each_pod_of_a_group_asks_for_what_its_template_says() -> None:
    value = leader_worker_set(
        spec(
            size=4,
            replicas=2,
            leader=builders.template(builders.container(gpus=1)),
            worker=builders.template(builders.container(gpus=8)),
        )
    )

    assert totals(value) == {builders.GPU: ("50", "50")}


def test_the_gang_is_one_group() -> None:
    found = readable_workload(leader_worker_set(spec(size=4, replicas=2)))

    assert found.gang == model.Gang(wanted=True, formed_by="its operator, if it is configured to", minimum=4)


def test_the_variables_of_the_operator_and_those_for_tpus_are_known() -> None:
    assert pod_set(leader_worker_set(spec())).operator_environment == {"LWS_*", "TPU_*"}


def test_kueue_reads_the_labels_of_a_leader_worker_set() -> None:
    found = readable_workload(leader_worker_set(spec()))

    assert (found.role, found.queue_label_path) == (model.Role.INFERENCE, "/metadata")


def test_the_roles_of_a_disaggregated_set_are_groups_in_every_slice() -> None:
    value = disaggregated_set(
        spec(size=2, replicas=4, leader=builders.template(), rolling={}), spec(replicas=3, rolling={}), slices=2
    )
    path = "/spec/roles/{}/spec/leaderWorkerTemplate/{}Template"

    assert counts(value) == [
        ("role-0-leader", path.format(0, "leader"), 8, 8),
        ("role-0-worker", path.format(0, "worker"), 8, 8),
        ("role-1-worker", path.format(1, "worker"), 6, 6),
    ]


@pytest.mark.parametrize(
    ("rolling", "groups"),
    [
        (None, 5),
        ({}, 4),
        ({"maxSurge": 2}, 6),
        ({"maxSurge": 9}, 13),
        ({"maxUnavailable": 0}, 5),
        ({"maxUnavailable": "20%"}, 5),
        ({"maxUnavailable": "25%"}, 4),
        ({"maxUnavailable": 0, "maxSurge": "50%"}, 6),
    ],
)
def test_a_role_has_one_group_more_in_a_rollout_unless_its_settings_say_otherwise(
    rolling: builders.JsonValue, groups: int
) -> None:
    assert most(disaggregated_set(spec(replicas=4, rolling=rolling))) == groups


def test_a_role_without_groups_makes_no_pods_in_a_rollout() -> None:
    assert most(disaggregated_set(spec(replicas=0))) == 0


def test_what_an_autoscaler_sets_has_no_bound() -> None:
    found = pod_set(disaggregated_set(spec(replicas=4), mode="External"))

    assert found.count == model.Count(minimum=0, maximum=None, reason="an autoscaler sets the replicas of the role")
    assert counts(disaggregated_set(spec(replicas=4), mode="Static")) == [("role-0-worker", ROLE, 4, 5)]
