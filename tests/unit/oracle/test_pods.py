"""A pod asks for what the scheduler counts, with any containers, overhead and pod-level resources."""

from typing import Any

from unit.oracle import golden
from unit.workloads.normalised import VOCABULARY, pod_set
from usher import quantities
from usher.workloads import pod_sets

CASES = golden.cases("pods")


def ours(case: Any, *, only: frozenset[str] | None = None) -> dict[str, quantities.Quantity]:
    found = pod_set({"apiVersion": "v1", "kind": "Pod", "spec": case["spec"]})
    return pod_sets.requests_of_pod(
        found.containers,
        overhead=found.overhead,
        pod_requests=found.pod_requests,
        pod_limits=found.pod_limits,
        only=only,
    )


def theirs(case: Any) -> dict[str, quantities.Quantity]:
    return {name: quantities.parse(text) for name, text in case["requests"].items()}


def test_every_pod_asks_for_what_the_scheduler_looks_for_on_a_node() -> None:
    golden.assert_none((ours(case), case) for case in CASES if ours(case) != theirs(case))


def test_a_selection_of_resources_gives_the_same_amounts() -> None:
    only = frozenset({"cpu", "hugepages-1Gi", "nvidia.com/gpu"})

    golden.assert_none(
        (ours(case, only=only), case)
        for case in CASES
        if ours(case, only=only) != {name: amount for name, amount in theirs(case).items() if name in only}
    )


def test_the_accelerators_of_a_pod_set_are_those_of_its_requests() -> None:
    def accelerators(case: Any) -> dict[str, quantities.Quantity]:
        return {name: amount for name, amount in theirs(case).items() if amount and VOCABULARY.contains(name)}

    golden.assert_none(
        case
        for case in CASES
        if pod_set({"apiVersion": "v1", "kind": "Pod", "spec": case["spec"]}).accelerators != accelerators(case)
    )
