"""A RuntimeClass adds overhead and constraints to the pods that name it."""

import builders
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities import authority
from usher.kinds.reading.values import Absence

KATA: paths.Object = {"overhead": {"podFixed": {"cpu": "250m"}}}


def overhead(value: paths.Object) -> dict[str, str]:
    (found,) = authority.with_overhead(workload(value), {"kata": KATA}).pod_sets
    return {name: str(amount) for name, amount in found.overhead.items()}


def test_pods_get_the_overhead_of_the_class_that_they_name() -> None:
    assert overhead(builders.pod(runtimeClassName="kata")) == {"cpu": "250m"}
    assert overhead(builders.pod(runtimeClassName="gone")) == {}
    assert overhead(builders.pod()) == {}


def test_pods_that_say_their_overhead_keep_it() -> None:
    assert overhead(builders.pod(runtimeClassName="kata", overhead={"cpu": "1"})) == {"cpu": "1"}


def test_where_nothing_is_known_of_runtime_classes_nothing_is_added() -> None:
    found = workload(builders.pod(runtimeClassName="kata"))

    assert authority.with_overhead(found, Absence.NOT_KNOWN) is found
