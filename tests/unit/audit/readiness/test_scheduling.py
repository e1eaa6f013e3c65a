"""The checklist: gang schedulers, queues, priorities, topology, operators."""

from typing import Any

import pytest

from builders import custom, queues
from builders.checklists import checklist, definitions
from builders.estates import entry, estate, running
from usher import model, paths
from usher.audit.document import Standing
from usher.audit.estate import Workload
from usher.audit.readiness.wanted import HYPER_NODE
from usher.kinds.kind import DEFINITION, Key

LOCAL_QUEUE: Key = ("kueue.x-k8s.io", "LocalQueue")
TOPOLOGY: Key = ("kueue.x-k8s.io", "Topology")


@pytest.mark.parametrize(
    "name",
    [
        "workloads.kueue.x-k8s.io",
        "podgroups.scheduling.volcano.sh",
        "podgroups.scheduling.run.ai",
        "podgroups.scheduling.x-k8s.io",
    ],
)
def test_a_gang_scheduler_is_known_by_its_kinds(name: str) -> None:
    found = checklist(estate(), definitions(name))["gang-scheduler"]

    assert (found.standing, found.conformance) == (Standing.PASS, "gang_scheduling")


def test_without_a_gang_scheduler_or_without_knowing() -> None:
    assert checklist(estate(), definitions("x.example.com"))["gang-scheduler"].standing is Standing.FAIL
    assert checklist(estate())["gang-scheduler"].standing is Standing.NOT_KNOWN


@pytest.mark.parametrize(
    ("scheduler", "standing"),
    [
        ("default-scheduler", Standing.FAIL),
        ("gke.io/optimize-utilization-scheduler", Standing.FAIL),
        ("yunikorn", Standing.NOT_KNOWN),
    ],
)
def test_a_scheduler_that_workloads_name_may_start_gangs(scheduler: str, standing: Standing) -> None:
    seen = estate(workloads=[entry(scheduler=scheduler)])

    assert checklist(seen, definitions("x.example.com"))["gang-scheduler"].standing is standing


def test_where_no_queueing_system_is_installed_no_queue_is_missing_alone() -> None:
    found = checklist(estate(workloads=[entry()]), definitions("x.example.com"), without=[LOCAL_QUEUE])["queues"]

    assert (found.standing, found.evidence) == (
        Standing.FAIL,
        ("the kinds of Kueue, Volcano and KAI are not there, so no workload has a queue",),
    )


def test_each_namespace_of_a_tenant_needs_a_queue() -> None:
    seen = estate(workloads=[entry(), entry(namespace="cv"), entry(namespace="gpu-operator")])
    mine = queues.local_queue("a", namespace="ml-research")

    found = checklist(seen, [mine])["queues"]
    assert (found.standing, found.evidence) == (Standing.FAIL, ("namespaces without a LocalQueue: cv",))
    assert checklist(seen, [mine, queues.local_queue("b", namespace="cv")])["queues"].standing is Standing.PASS
    assert checklist(seen)["queues"].standing is Standing.NOT_KNOWN
    assert checklist(estate(), without=[LOCAL_QUEUE])["queues"].standing is Standing.NOT_APPLICABLE


def test_a_queue_of_volcano_beside_its_own_passes() -> None:
    seen = estate(workloads=[entry()])

    assert checklist(seen, [queues.volcano_queue("research")])["queues"].standing is Standing.PASS
    only = checklist(seen, [queues.volcano_queue("default")], without=[LOCAL_QUEUE])
    assert only["queues"].standing is Standing.FAIL


def test_a_queue_of_kai_beside_those_of_its_chart_passes() -> None:
    served = definitions("queues.scheduling.run.ai")

    def with_queues(*names: str) -> Standing:
        made = [custom("scheduling.run.ai/v2", "Queue", {}, name=name, namespace=None) for name in names]
        return checklist(estate(workloads=[entry()], objects=made), served)["queues"].standing

    assert with_queues("default-queue", "research") is Standing.PASS
    assert with_queues("default-queue", "default-parent-queue") is Standing.FAIL
    assert checklist(estate(workloads=[entry()]), served)["queues"].standing is Standing.NOT_KNOWN


def priority(name: str, value: int) -> paths.Object:
    made = custom("scheduling.k8s.io/v1", "PriorityClass", {}, name=name, namespace=None)
    return {**made, "value": value}


def served(*, inference: str, training: str) -> list[Workload]:
    return [
        entry("Deployment", "serve", role=model.Role.INFERENCE, priority=inference),
        entry("PyTorchJob", "train", role=model.Role.TRAINING, priority=training),
    ]


CLASSES = [priority("high", 1000), priority("low", 10), priority("system-node-critical", 2_000_001_000)]


def test_services_come_before_training() -> None:
    right = estate(workloads=served(inference="high", training="low"))
    wrong = estate(workloads=served(inference="low", training="high"))

    assert checklist(right, CLASSES)["priorities"].standing is Standing.PASS
    found = checklist(wrong, CLASSES)["priorities"]
    assert (found.standing, found.evidence) == (Standing.FAIL, ("services use low", "training uses high"))


def test_without_workloads_of_both_roles_the_classes_count() -> None:
    assert checklist(estate(), CLASSES)["priorities"].evidence == ("PriorityClasses: high (1,000), low (10)",)
    assert checklist(estate(), CLASSES[1:])["priorities"].standing is Standing.FAIL
    assert checklist(estate())["priorities"].standing is Standing.NOT_KNOWN


def test_classes_of_kueue_order_queues_and_no_pods() -> None:
    made = custom("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", {}, name="high", namespace=None)
    high: paths.Object = {**made, "value": 10}
    low: paths.Object = {**made, "metadata": {"name": "low"}, "value": 1}

    found = checklist(estate(), [*CLASSES[1:], high, low])["priorities"]
    assert (found.standing, found.evidence) == (
        Standing.NOT_KNOWN,
        ("pods have one priority; WorkloadPriorityClasses of Kueue order its queues: high, low",),
    )


def test_gangs_on_several_nodes_want_a_topology() -> None:
    gangs = [entry("PyTorchJob", pods=[running("a"), running("b")])]
    seen = estate(workloads=gangs, without=[HYPER_NODE.key])
    node = custom("topology.volcano.sh/v1alpha1", "HyperNode", {}, name="rack", namespace=None)

    assert checklist(seen, [queues.topology("racks", "rack")])["topology"].standing is Standing.PASS
    assert checklist(estate(workloads=gangs, objects=[node]))["topology"].standing is Standing.PASS
    assert checklist(seen, without=[TOPOLOGY])["topology"].standing is Standing.FAIL
    assert checklist(estate(workloads=gangs))["topology"].standing is Standing.NOT_KNOWN
    assert checklist(estate(workloads=[entry()]))["topology"].standing is Standing.NOT_APPLICABLE


def test_the_topology_manager_is_never_known() -> None:
    found = checklist(estate(nodes=None))["topology-manager"]

    assert found.standing is Standing.NOT_KNOWN
    assert "kubectl get --raw /api/v1/nodes/NODE/proxy/configz" in found.evidence[0]
    assert checklist(estate())["topology-manager"].standing is Standing.NOT_APPLICABLE


def test_an_operator_works_if_one_of_its_workloads_has_pods() -> None:
    ray = definitions("rayclusters.ray.io")
    works = estate(workloads=[entry("RayCluster", "ray", pods=[running()])])

    found = checklist(works, ray)["ai-operator"]
    assert (found.standing, found.evidence) == (Standing.PASS, ("RayCluster ml-research/ray has pods on nodes",))
    assert checklist(estate(), ray)["ai-operator"].standing is Standing.NOT_KNOWN
    assert checklist(estate(), without=[DEFINITION])["ai-operator"].standing is Standing.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("names", "role", "standing"),
    [
        (("gateways", "httproutes"), model.Role.TRAINING, Standing.PASS),
        (("gateways",), model.Role.INFERENCE, Standing.FAIL),
        (("gateways",), model.Role.SERVICE, Standing.NOT_KNOWN),
        ((), model.Role.TRAINING, Standing.NOT_APPLICABLE),
    ],
)
def test_the_gateway_api_for_services(names: Any, role: model.Role, standing: Standing) -> None:
    facts = definitions(*(f"{name}.gateway.networking.k8s.io" for name in names))
    seen = estate(workloads=[entry(role=role)])

    assert checklist(seen, facts, without=[] if facts else [DEFINITION])["inference-gateway"].standing is standing
