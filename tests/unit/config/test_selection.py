"""Which entry of a list in usher.yaml is for a workload."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import readable_workload
from usher.config import selection
from usher.config.sections import Queue
from usher.config.selection import Subject

GPU = builders.GPU


def entry(name: str = "research", **selector: Any) -> Queue:
    return Queue.model_validate({"namespaces": ["*"], "localQueue": name, **selector})


def subject(**facts: Any) -> Subject:
    usual = {"namespace": "ml-research", "group": "kubeflow.org", "kind": "PyTorchJob", "role": "training"}
    return Subject(**{**usual, "accelerators": 8, **facts})


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ({}, True),
        ({"namespaces": ["ml-*"]}, True),
        ({"namespaces": ["web", "ml-research"]}, True),
        ({"namespaces": ["ml"]}, False),
        ({"roles": ["training"]}, True),
        ({"roles": ["batch", "inference"]}, False),
        ({"kinds": ["PyTorchJob"]}, True),
        ({"kinds": ["kubeflow.org/PyTorchJob"]}, True),
        ({"kinds": ["batch/PyTorchJob"]}, False),
        ({"kinds": ["Job"]}, False),
        ({"minAccelerators": 8}, True),
        ({"minAccelerators": 9}, False),
        ({"maxAccelerators": 8}, True),
        ({"maxAccelerators": 7}, False),
        ({"namespaces": ["ml-*"], "roles": ["training"], "kinds": ["Job"]}, False),
    ],
    ids=str,
)
def test_an_entry_fits_when_all_that_it_says_does(selector: dict[str, Any], fits: bool) -> None:
    assert selection.entry_fits(entry(**selector), subject()) is fits


def test_a_group_tells_kinds_of_one_name_apart() -> None:
    of_volcano = entry(kinds=["batch.volcano.sh/Job"])

    assert selection.entry_fits(of_volcano, subject(group="batch.volcano.sh", kind="Job"))
    assert not selection.entry_fits(of_volcano, subject(group="batch", kind="Job"))


def test_the_core_group_has_no_name() -> None:
    assert selection.entry_fits(entry(kinds=["Pod"]), subject(group="", kind="Pod"))
    assert selection.entry_fits(entry(kinds=["/Pod"]), subject(group="", kind="Pod"))


def test_what_has_no_bound_is_larger_than_any_number() -> None:
    unbounded = subject(accelerators=None)

    assert selection.entry_fits(entry(minAccelerators=1_000), unbounded)
    assert not selection.entry_fits(entry(maxAccelerators=1_000), unbounded)


def test_the_first_entry_that_fits_decides() -> None:
    small, large = entry("small", maxAccelerators=7), entry("large")

    assert selection.first_match([small, large], subject()) == large
    assert selection.first_match([large, small], subject()) == large
    assert selection.first_match([small], subject()) is None
    assert selection.first_match([], subject()) is None


def test_the_size_is_that_of_all_pods_together_whatever_they_ask_for() -> None:
    worker = builders.template(builders.container(gpus=4))
    master = builders.template(builders.container(limits={"nvidia.com/mig-1g.10gb": 2}))

    assert selection.largest_size(readable_workload(builders.pytorch_job(worker, workers=3, master=master))) == 14
    assert selection.largest_size(readable_workload(builders.pytorch_job(workers=3))) == 0


def test_the_size_is_that_at_the_most() -> None:
    group = builders.ray_group("gpu", builders.template(builders.container(gpus=2)), min_replicas=1, max_replicas=5)

    assert selection.largest_size(readable_workload(builders.ray_cluster(group, autoscaling=True))) == 10


def test_without_a_bound_there_is_no_size() -> None:
    assert (
        selection.largest_size(readable_workload(builders.cron_job(builders.template(builders.container(gpus=1)))))
        is None
    )
