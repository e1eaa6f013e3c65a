"""Entries of usher.yaml that would never do anything, or not what they seem to."""

from collections.abc import Collection

import yaml

from usher.config import models
from usher.policy import site_problems


def config(text: str) -> models.Config:
    return models.Config.model_validate(yaml.safe_load(text))


def problems(text: str) -> list[tuple[str, str]]:
    return list(site_problems.problems(config(text)))


def warnings(text: str, known: Collection[str] | None = None) -> list[tuple[str, str]]:
    return list(site_problems.warnings(config(text), known))


def test_an_entry_behind_one_for_the_same_workloads_is_never_reached() -> None:
    assert problems("queues: [{namespaces: ['ml-*'], localQueue: a}, {namespaces: [ml-nlp], localQueue: b}]") == [
        ("/queues/1", "never reached: entry 0 before it is for the same workloads")
    ]
    assert problems("routing: [{queue: a}, {queue: b, namespaces: [x]}]") == [
        ("/routing/1", "never reached: entry 0 before it is for the same workloads")
    ]


def test_an_exception_before_a_rule_is_good() -> None:
    text = "queues: [{namespaces: [ml-nlp], localQueue: a}, {namespaces: ['ml-*'], localQueue: b}]"

    assert problems(text) == []
    assert warnings(text) == []


def test_a_kind_that_nobody_knows_is_a_problem() -> None:
    assert problems("routing: [{kinds: [PyTorchJobs, batch/Job, kubeflow.org/PyTorchJob]}]") == [
        ("/routing/0/kinds/0", "PyTorchJobs is no kind of workload that gpu-usher knows")
    ]


def test_two_routes_for_some_of_the_same_workloads_are_warned_about() -> None:
    text = "routing: [{namespaces: ['ml-*'], queue: a}, {kinds: [PyTorchJob, JobSet], queue: b}]"

    assert warnings(text) == [("/routing/1", "some workloads fit entry 0 as well, which decides about them")]


def test_a_pattern_for_exempt_namespaces_alone_is_without_effect() -> None:
    assert warnings("queues: [{namespaces: [kube-system, 'kube-*'], localQueue: a}]") == [
        ("/queues/0/namespaces/0", "kube-system is among exemptNamespaces, in which nothing is changed")
    ]


def test_a_pattern_that_fits_no_namespace_is_told_where_they_are_known() -> None:
    text = "priorities: {classes: [{namespaces: [reserch-*, web], priorityClass: low}]}"

    assert warnings(text) == []
    assert warnings(text, {"research-nlp", "web"}) == [
        ("/priorities/classes/0/namespaces/0", "reserch-* fits none of the 2 namespaces that are known")
    ]
