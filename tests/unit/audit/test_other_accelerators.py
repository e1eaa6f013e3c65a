"""Accelerators other than GPUs: each resource has its capacity, the amounts that pods hold and want, and the rest."""

from typing import Any

import pytest
from msgspec.structs import replace

from builders import audit_documents, estates
from builders.estates import devices, entry, estate, gpu_node
from unit.check.formats import made
from usher.audit import document_assembly
from usher.audit.document import AcceleratorEntry, Subject
from usher.audit.gather.estate import Estate, Node, Pod
from usher.check import findings
from usher.config.models import Config

TPU, GAUDI, CORES, SHARES = "google.com/tpu", "habana.ai/gaudi", "aws.amazon.com/neuroncore", "aliyun.com/gpu-count"


def node(name: str, *, offers: int | None = None, resource: str = TPU, **fields: Any) -> Node:
    """A node with 4 devices, all of them healthy unless `offers` says otherwise."""
    allocatable = devices(**{resource: 4 if offers is None else offers})
    return gpu_node(name, capacity=devices(**{resource: 4}), allocatable_devices=allocatable, **fields)


def pod(name: str, node: str, resource: str = TPU, number: int = 4) -> Pod:
    return estates.running(name, node=node, devices=devices(**{resource: number}))


def waiting(name: str, resource: str = TPU, number: int = 4) -> Pod:
    return estates.waiting(name, devices=devices(**{resource: number}))


def asking(name: str, *pods: Pod, resource: str = TPU, number: int = 4, **fields: Any) -> Any:
    return entry("Job", name, pods=pods, asks=devices(**{resource: number}), **fields)


def only(found: Estate) -> AcceleratorEntry:
    [result] = document_assembly.accelerator_entries(found, ())
    return result


def test_each_device_is_held_or_free_or_out_of_use() -> None:
    nodes = [node("a"), node("b", offers=3), node("c", cordoned=True), node("d", ready=False)]
    found = only(estate(nodes=nodes, workloads=[asking("train", pod("train-0", "a"), pod("train-1", "c", number=1))]))

    assert found == AcceleratorEntry(
        resource=TPU,
        nodes=4,
        capacity=16,
        usable=4 + 3,
        allocated=4 + 1,
        free=3,
        out_of_use=1 + 3 + 4,
        waiting=0,
        never=0,
        asked=4,
    )


def test_what_waits_are_pods_without_a_node_and_the_rest_of_suspended_workloads() -> None:
    pending = asking("pending", pod("pending-0", "a"), waiting("pending-1"), number=8)
    suspended = asking("suspended", pod("suspended-0", "b", number=1), number=12, suspended=True)
    ending = asking("ending", estates.waiting("ending-0", devices=devices(**{TPU: 4}), terminating=True))

    assert only(estate(nodes=[node("a")], workloads=[pending, suspended, ending])).waiting == 4 + 11


def test_what_can_never_run_counts_once_for_each_workload() -> None:
    about = Subject(api_version="batch/v1", kind="Job", namespace="ml-research", name="large")
    never = audit_documents.finding(subject=about, never=True, other_accelerators={TPU: 64.0})
    cluster = estate(nodes=[node("a")], workloads=[asking("large", waiting("large-0", number=64), number=64)])

    [found] = document_assembly.accelerator_entries(cluster, [never, never])

    assert found.never == 64


def test_gpus_are_in_no_entry_and_each_other_resource_is_in_one() -> None:
    nodes = [gpu_node("gpus"), node("a"), node("b", resource=GAUDI)]
    cores = asking("inference", waiting("inference-0", CORES, 2), resource=CORES, number=2)
    found = document_assembly.accelerator_entries(estate(nodes=nodes, workloads=[cores]), ())

    assert [(each.resource, each.capacity, each.waiting) for each in found] == [
        (CORES, 0, 2),
        (TPU, 4, 0),
        (GAUDI, 4, 0),
    ]


def test_access_to_the_metrics_of_devices_counts_as_0_devices() -> None:
    assert (
        document_assembly.accelerator_entries(estate(nodes=[node("a", resource="gpu.intel.com/i915_monitoring")]), ())
        == ()
    )


def test_without_nodes_their_numbers_are_not_known() -> None:
    found = only(estate(nodes=None, workloads=[asking("train", pod("train-0", "a"), waiting("train-1"), number=8)]))

    assert found == AcceleratorEntry(resource=TPU, allocated=4, waiting=4, asked=8)


def test_without_pods_nothing_is_known_of_what_they_hold() -> None:
    given = replace(estate(nodes=[node("a")], workloads=[asking("train")]), pods_known=False)
    report = made.made(command=findings.Command.AUDIT)

    [found] = document_assembly.document(
        report=report, estate=given, config=Config(), cluster="prod", now=estates.NOW
    ).other_accelerators

    assert found == AcceleratorEntry(resource=TPU, nodes=1, capacity=4, usable=4, asked=4, never=None)


@pytest.mark.parametrize("state", [pod("share-0", "a", SHARES, 1), waiting("share-0", SHARES, 1)])
def test_shares_that_no_node_reports_have_no_capacity_of_0(state: Pod) -> None:
    found = only(estate(nodes=[gpu_node("a")], workloads=[asking("share", state, resource=SHARES, number=1)]))

    assert (found.nodes, found.capacity, found.free, found.out_of_use) == (None, None, None, None)


def test_a_resource_that_pods_hold_and_no_node_reports_is_not_0() -> None:
    """The node that the pod is on has gone, or reports the resource no more."""
    assert only(estate(nodes=[gpu_node("a")], workloads=[asking("train", pod("train-0", "a"))])).capacity is None
