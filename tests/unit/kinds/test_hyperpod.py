"""HyperPodPyTorchJob (aws/sagemaker-hyperpod-cli)."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns
from usher import model, paths


def job(
    *replicas: dict[str, builders.JsonValue],
    elastic: dict[str, builders.JsonValue] | None = None,
    suspend: builders.JsonValue = None,
) -> paths.Object:
    specs: builders.JsonValue = [
        {"template": builders.template(builders.container(gpus=8)), **each} for each in replicas
    ]
    spec = {"replicaSpecs": specs, "elasticPolicy": elastic, "runPolicy": {"suspend": suspend}}
    return builders.custom("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob", spec)


def test_every_replica_spec_has_a_template_and_a_number() -> None:
    value = job({"name": "pods", "replicas": 4}, {"name": "others", "replicas": 2}, {"name": "none"})

    assert counts(value) == [
        ("pods", "/spec/replicaSpecs/0/template", 4, 4),
        ("others", "/spec/replicaSpecs/1/template", 2, 2),
        ("none", "/spec/replicaSpecs/2/template", 0, 0),
    ]
    assert totals(value) == {builders.GPU: ("48", "48")}


def test_spares_ask_for_as_much_as_the_pods_that_they_stand_in_for() -> None:
    found = pod_set(job({"replicas": 4, "spares": 2}))

    assert found.count == model.Count(minimum=4, maximum=6, reason="2 spares")


@pytest.mark.parametrize(
    ("replica", "elastic", "expected"),
    [
        ({"replicas": 4}, {"minReplicas": 2, "maxReplicas": 8}, (2, 8)),
        ({"replicas": 4, "maxReplicas": 6}, {"minReplicas": 2, "maxReplicas": 8}, (2, 6)),
        ({"replicas": 4}, {"replicaDiscreteValues": [2, 16, 8]}, (4, 16)),
        ({"replicas": 4}, {"minReplicas": 8}, (4, 4)),
        ({"replicas": 4}, {"maxReplicas": 2}, (4, 4)),
        ({"replicas": 4, "maxReplicas": 6}, None, (4, 6)),
    ],
)
def test_elastic_training_runs_between_two_bounds(
    replica: dict[str, builders.JsonValue],
    elastic: dict[str, builders.JsonValue] | None,
    expected: tuple[int, int],
) -> None:
    found = pod_set(job(replica, elastic=elastic)).count

    assert (found.minimum, found.maximum) == expected
    assert found.reason == ("elastic training" if expected[0] != expected[1] else "")


def test_a_placeholder_for_a_number_is_unknown() -> None:
    assert unknowns(job({"replicas": "$NUM_NODES"})) == [
        (
            "/spec/replicaSpecs/0/replicas",
            "expected a whole number, found a placeholder; fill it in first, for example with envsubst",
        )
    ]
    assert unknowns(job({"replicas": 1}, elastic={"replicaDiscreteValues": [None]})) == [
        ("/spec/elasticPolicy/replicaDiscreteValues/0", "expected a whole number, found null")
    ]


def test_it_trains_as_a_gang_and_can_be_suspended() -> None:
    found = readable_workload(job({"replicas": 4}, suspend=True))

    assert (found.role, found.suspended, found.queue_label_path) == (model.Role.TRAINING, True, "/metadata")
    assert found.gang.wanted
