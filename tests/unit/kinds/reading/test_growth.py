"""Setting the number of replicas of an object."""

import pytest

import builders
from usher import paths
from usher.kinds.reading.counts import with_number_at


def test_a_number_is_set_in_a_copy() -> None:
    value = builders.deployment(replicas=2)

    changed = with_number_at(value, "/spec/replicas", 9)

    assert changed == builders.deployment(replicas=9)
    assert value == builders.deployment(replicas=2)


def test_a_number_that_is_missing_is_added() -> None:
    assert with_number_at(builders.deployment(), "/spec/replicas", 9) == builders.deployment(replicas=9)


@pytest.mark.parametrize(
    "value",
    [{}, {"spec": None}, {"spec": []}, {"spec": {"pytorchReplicaSpecs": {"worker": {"replicas": 1}}}}],
)
def test_nothing_is_added_around_a_number(value: paths.Object) -> None:
    assert with_number_at(value, "/spec/pytorchReplicaSpecs/Worker/replicas", 9) is value


def test_no_pointer_changes_nothing() -> None:
    value: paths.Object = {"": 1}

    assert with_number_at(value, "", 9) is value
