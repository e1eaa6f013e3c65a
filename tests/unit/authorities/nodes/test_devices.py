"""Which devices serve claims, for how many pods of a node at once, and which faults end the search.

Rows with a number are tables of k8s.io/dynamic-resource-allocation 0.36.3,
structured/internal/allocatortesting/allocator_testing.go, at that line.
"""

import time
from collections.abc import Sequence
from typing import Any, Final

import pytest

import builders
from unit.policy.agreeing import NAMESPACE, looked_at
from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes.devices import Claims, _Classes, _read_claims
from usher.authorities.verdict import Answer, Room
from usher.check.devices import of_workload
from usher.cluster.facts.device_slices import DeviceTable, InUse, shared_memory
from usher.cluster.facts.store import Store
from usher.config import models

DRIVER: Final = "driver-a"
NODE: Final = "node-1"
A: Final = 'device.attributes["driver-a"]'


def device(name: str, *, memory: Any = None, **fields: Any) -> paths.Object:
    attributes = fields.pop("attributes", {})
    capacity = {"memory": memory if isinstance(memory, dict) else {"value": memory}} if memory else {}
    return {"name": name, "attributes": attributes, "capacity": capacity, **fields}


def slice_of(*devices: paths.Object, name: str = "s", pool: str = "pool-1", **spec: Any) -> paths.Object:
    generation, count = spec.pop("generation", 1), spec.pop("count", 1)
    where = {} if {"allNodes", "nodeSelector", "perDeviceNodeSelection"} & spec.keys() else {"nodeName": NODE}
    return {
        "apiVersion": f"resource.k8s.io/{spec.pop('version', 'v1')}",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": DRIVER,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            "devices": list(devices),
            **where,
            **spec,
        },
    }


CLASS: Final[paths.Object] = {
    "metadata": {"name": "class-a"},
    "spec": {
        "selectors": [{"cel": {"expression": 'device.driver == "driver-a"'}}],
        "extendedResourceName": "a.com/gpu",
    },
}


def request(name: str = "r", *, select: str = "", **fields: Any) -> paths.Object:
    selectors: paths.Object = {"selectors": [{"cel": {"expression": select}}]} if select else {}
    return {"name": name, "exactly": {"deviceClassName": "class-a", **selectors, **fields}}


def claims(slices: Sequence[paths.Object], *requests: paths.Object, shared: bool = False, **devices: Any) -> Claims:
    claim = model.DeviceClaim(
        title="ResourceClaimTemplate t",
        spec={"devices": {"requests": list(requests), **devices}},
        shared="t" if shared else "",
    )
    return of_claims(slices, claim)


def of_claims(slices: Sequence[paths.Object], *asked: model.DeviceClaim) -> Claims:
    classes = _Classes({"class-a": CLASS})
    return Claims(DeviceTable(slices), classes, [classes.claim(each) for each in asked])


def room(found: Claims, *, pods: int = 1, node: str = NODE) -> Room:
    return found.room(node, {"zone": "a"}, {}, pods=pods)


ONE: Final = device("1")
SIZES: Final = [device("small", memory="1Gi"), device("large", memory="2Gi")]
AT_LEAST_1: Final = 'device.capacity["driver-a"].memory.compareTo(quantity("1Gi")) >= 0'
AT_LEAST_2: Final = 'device.capacity["driver-a"].memory.compareTo(quantity("2Gi")) >= 0'
TAINT: Final = {"key": "ill", "value": "yes", "effect": "NoSchedule"}


def many(number: int, **fields: Any) -> list[paths.Object]:
    return [device(str(index), **fields) for index in range(number)]


def counting(name: str, amount: str, counter_set: str = "gpu-0", **fields: Any) -> paths.Object:
    return device(name, consumesCounters=[{"counterSet": counter_set, "counters": {"m": {"value": amount}}}], **fields)


def counter_slice(*amounts: str) -> paths.Object:
    sets = [{"name": f"gpu-{index}", "counters": {"m": {"value": each}}} for index, each in enumerate(amounts)]
    return slice_of(name="counters", count=2, sharedCounters=sets)


def equal(attribute: str, *requests: str, form: str = "matchAttribute") -> list[paths.Object]:
    return [{form: attribute, "requests": list(requests)}]


def number(value: int) -> paths.Object:
    return {"number": {"int": value}}


@pytest.mark.parametrize(
    ("line", "expected", "found"),
    [
        (979, True, claims([slice_of(ONE)], request())),
        (1004, True, claims([slice_of(*SIZES)], request("a", select=AT_LEAST_1), request("b", select=AT_LEAST_2))),
        (
            1034,
            True,
            claims([slice_of(*SIZES[::-1])], request("a", select=AT_LEAST_1), request("b", select=AT_LEAST_2)),
        ),
        (
            1103,
            True,
            claims(
                [slice_of(ONE, name="a", count=2), slice_of(device("2"), name="b", count=2)], request("a"), request("b")
            ),
        ),
        (1125, False, claims([slice_of(ONE), slice_of(name="new", generation=2, nodeName="node-2")], request())),
        (1167, False, claims([], request())),
        (1175, False, claims([slice_of(ONE)], request(count=2))),
        (1211, True, of_claims([])),
        (1219, True, claims([slice_of(ONE)], request(allocationMode="All"))),
        (1273, True, claims([slice_of(*many(3))], request(allocationMode="All"))),
        (1317, False, claims([slice_of(ONE)], request("a", allocationMode="All"), request("b"))),
        (1548, False, claims([], request(allocationMode="All"))),
        (1787, True, claims([slice_of(ONE, allNodes=True)], request())),
        (
            1798,
            False,
            claims(
                [
                    slice_of(
                        ONE,
                        nodeSelector={
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
                            ]
                        },
                    )
                ],
                request(),
            ),
        ),
        (
            1919,
            True,
            claims(
                [slice_of(device("1", attributes=number(1)), device("2", attributes=number(1)))],
                request("a"),
                request("b"),
                constraints=equal("driver-a/number"),
            ),
        ),
        (1955, False, claims([slice_of(ONE)], request(), constraints=equal("driver-a/other"))),
        (
            1965,
            False,
            claims(
                [slice_of(device("1", attributes=number(1)), device("2", attributes=number(2)))],
                request(count=2),
                constraints=equal("driver-a/number"),
            ),
        ),
        (
            2111,
            True,
            claims(
                [slice_of(device("1", attributes=number(1)), device("2", attributes=number(2)), device("3"))],
                request("a"),
                request("b"),
                constraints=equal("driver-a/number", "a"),
            ),
        ),
        (2345, False, claims([slice_of(*many(40))], request(count=33))),
        (2351, True, claims([slice_of(*many(40))], request(count=32))),
        (2355, False, claims([slice_of(*many(40))], request("a", count=32), request("b"))),
        (
            2374,
            True,
            claims(
                [slice_of(*SIZES)],
                {
                    "name": "r",
                    "firstAvailable": [
                        {"name": "a", "deviceClassName": "class-a", "count": 3},
                        {"name": "b", "deviceClassName": "class-a"},
                    ],
                },
            ),
        ),
        (2874, True, claims([counter_slice("4"), slice_of(counting("1", "4"), count=2)], request())),
        (
            3588,
            False,
            claims([counter_slice("4"), slice_of(counting("1", "3"), counting("2", "3"), count=2)], request(count=2)),
        ),
        (
            3754,
            False,
            claims([slice_of(device("1", nodeName="node-2"), perDeviceNodeSelection=True)], request()),
        ),
        (
            3754,
            True,
            claims([slice_of(device("1", nodeName=NODE), perDeviceNodeSelection=True)], request()),
        ),
        (
            5946,
            False,
            claims([slice_of(ONE)], request(), constraints=equal("driver-a/other", form="distinctAttribute")),
        ),
        (
            5895,
            False,
            claims(
                [slice_of(device("1", attributes=number(1)), device("2", attributes=number(1)))],
                request(count=2),
                constraints=equal("driver-a/number", form="distinctAttribute"),
            ),
        ),
    ],
)
def test_a_node_serves_a_claim_as_the_allocator_does(line: int, *, expected: bool, found: Claims) -> None:
    answer = room(found)

    assert (answer.sure, answer.most) == (int(expected), int(expected)), f"{line}: {answer}"
    assert bool(answer.reason) is not expected


def policy(**fields: Any) -> paths.Object:
    return {"value": "80Gi", "requestPolicy": fields}


RANGE: Final = {"default": "10Gi", "validRange": {"min": "4Gi", "max": "40Gi", "step": "4Gi"}}


@pytest.mark.parametrize(
    ("line", "memory", "asked", "pods"),
    [
        (5022, {"value": "80Gi"}, None, 1),
        (5066, {"value": "80Gi"}, "20Gi", 4),
        (5092, policy(default="8Gi"), None, 10),
        (5163, policy(**RANGE), "4Gi", 20),
        (5163, policy(**RANGE), "1Gi", 20),
        (5191, policy(**RANGE), "5Gi", 10),
        (5191, policy(**RANGE), None, 8),
        (5213, policy(default="8Gi", validValues=["8Gi", "16Gi"]), "16Gi", 5),
        (5235, policy(default="8Gi", validValues=["8Gi", "16Gi"]), "9Gi", 5),
        (5257, {"value": "80Gi"}, "81Gi", 0),
        (5275, policy(**RANGE), "41Gi", 0),
    ],
)
def test_shares_of_a_device_are_rounded_up_by_its_policy(line: int, memory: Any, asked: str | None, pods: int) -> None:
    shared = slice_of(device("1", memory=memory, allowMultipleAllocations=True))
    capacity: Any = {"capacity": {"requests": {"memory": asked}}} if asked else {}
    answer = room(claims([shared], request(**capacity)), pods=pods + 1)

    assert (answer.sure, answer.most) == (pods, pods), f"{line}: {answer}"


def test_a_request_for_capacity_only_selects_devices_that_are_taken_whole() -> None:
    whole = [slice_of(*many(2, memory="80Gi"))]
    small: Any = {"capacity": {"requests": {"memory": "4Gi"}}}

    assert room(claims(whole, request(**small)), pods=3)[:2] == (2, 2)
    assert room(claims(whole, request(capacity={"requests": {"cores": "1"}}))).most == 0, "line 4964"
    assert room(claims(whole, request(capacity={"requests": {"memory": "81Gi"}}))).most == 0


def test_partitions_of_one_gpu_count_by_the_counters_they_take() -> None:
    parts = [counting("whole", "8"), *(counting(f"half-{index}", "4") for index in range(3))]
    found = claims([counter_slice("8"), slice_of(*parts, count=2)], request(select="!has(device.attributes['x'].y)"))

    assert room(found, pods=9)[:2] == (1, 2), "the first pod takes the whole GPU, though two would find halves"


@pytest.mark.parametrize(
    ("line", "slices", "asked", "reason"),
    [
        (1193, [slice_of(ONE)], request(deviceClassName="other"), "DeviceClass other does not exist"),
        (
            2298,
            [slice_of(ONE)],
            request(select=f"{A}.other == 1"),
            "on device 1 of pool-1: the map lacks the key other",
        ),
        (
            1984,
            [slice_of(device("1", attributes=number(1)), device("2", attributes=number(2)))],
            request(allocationMode="All"),
            "a constraint of t forbids to take all class-a",
        ),
        (2328, [slice_of(ONE)], request(select=f"{A}.other == 1", allocationMode="All"), "the map lacks the key other"),
    ],
)
def test_an_error_ends_the_search_for_the_whole_pod(
    line: int, slices: list[paths.Object], asked: paths.Object, reason: str
) -> None:
    spec: Any = {"devices": {"requests": [asked], "constraints": equal("driver-a/number") if line == 1984 else []}}
    claim = model.DeviceClaim(title="t", spec=spec)
    pod_set = _pod_set(claim)
    answer = room(_read_claims(pod_set, frozenset(), DeviceTable(slices), _Classes({"class-a": CLASS})))

    assert answer.stops, line
    assert answer.most == 0
    assert reason in answer.reason


def _pod_set(*asked: model.DeviceClaim) -> Any:
    class Claiming:
        claims = asked
        device_claims = len(asked)
        requests = ()

    return Claiming()


def test_an_error_on_a_device_that_is_not_needed_is_never_seen() -> None:
    plain = device("1", attributes=number(1))

    assert room(claims([slice_of(plain, device("2"))], request(select=f"{A}.number == 1"))).sure == 1
    assert room(claims([slice_of(device("2"), plain)], request(select=f"{A}.number == 1"))).stops


def test_a_part_that_usher_does_not_evaluate_leaves_the_answer_open() -> None:
    answer = room(claims([slice_of(ONE)], request(select=f'{A}.name.reverse() == "x"')))

    assert (answer.sure, answer.most) == (0, 1)
    assert answer.reason == "a selector of class-a has reverse(), which usher does not evaluate"
    assert room(claims([slice_of(ONE)], request(select=f"{A}.name.reverse() == 1", count=2))).most == 0


def test_a_selector_that_no_device_meets_is_named_with_the_values_there_are() -> None:
    slices = [slice_of(device("1", attributes={"profile": {"string": "1g.10gb"}}), device("2"))]
    selector = f'has({A}.profile) && {A}.profile == "1g.5gb"'

    assert room(claims(slices, request(select=selector))).reason == (
        f"ResourceClaimTemplate t asks for 1 class-a, and its 2 devices do not meet {selector} (profile is 1g.10gb)"
    )


@pytest.mark.parametrize(
    ("slices", "most"),
    [
        ([slice_of(ONE, count=2)], 2**62),
        ([slice_of(ONE, count=2, driver="driver-b")], 0),
        ([slice_of(ONE, device("1"))], 2**62),
        ([slice_of(device("1", attributes={"x": {"version": "new"}}))], 2**62),
        ([slice_of(counting("1", "1"))], 2**62),
        ([slice_of(device("1", memory="many"))], 2**62),
    ],
)
def test_pools_that_are_incomplete_or_unreadable_prove_nothing(slices: list[paths.Object], most: int) -> None:
    answer = room(claims(slices, request()))

    assert (answer.sure, answer.most) == (0, most)
    assert ("pool" in answer.reason) is bool(most)


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1", "v1alpha3"])
def test_slices_of_older_versions_are_read(version: str) -> None:
    found = device("1", memory="80Gi", attributes=number(1))
    if version != "v1beta2":
        capacity: Any = {"memory": "80Gi"} if version == "v1alpha3" else found["capacity"]
        found = {"name": "1", "basic": {"attributes": found["attributes"], "capacity": capacity}}
    asked: paths.Object = {
        "name": "r",
        "deviceClassName": "class-a",
        "selectors": [{"cel": {"expression": f"{A}.number == 1"}}],
    }

    assert room(claims([slice_of(found, version=version)], asked)).sure == 1


def test_taints_and_devices_in_use_hold_pods_back_now_and_not_for_ever() -> None:
    ill = slice_of(device("1", taints=[TAINT]), device("2", taints=[{**TAINT, "effect": "None"}]))
    both, tolerating = (
        claims([ill], request(count=2)),
        request(count=2, tolerations=[{"key": "ill", "operator": "Exists"}]),
    )
    nothing = InUse(())
    result = {"driver": DRIVER, "pool": "pool-1", "device": "1", "request": "r"}

    def used(**fields: Any) -> InUse:
        return InUse([{"status": {"allocation": {"devices": {"results": [{**result, **fields}]}}}}])

    assert room(both).sure == 1
    assert (
        both.why_taken(nothing, NODE, {}, {}) == "class-a does not tolerate the taint ill=yes:NoSchedule of device 1"
    )  # 3937
    assert claims([ill], tolerating).why_taken(nothing, NODE, {}, {}) == ""  # 3960
    assert claims([slice_of(ONE)], request()).why_taken(used(), NODE, {}, {}) == "device 1 is in use"  # 1870
    assert claims([slice_of(ONE)], request()).why_taken(used(adminAccess=True), NODE, {}, {}) == ""
    assert claims([slice_of(ONE)], request(adminAccess=True)).why_taken(used(), NODE, {}, {}) == ""  # 1623
    shared = claims(
        [slice_of(device("1", memory="80Gi", allowMultipleAllocations=True))],
        request(capacity={"requests": {"memory": "20Gi"}}),
    )
    assert shared.why_taken(used(shareID="x", consumedCapacity={"memory": "60Gi"}), NODE, {}, {}) == ""  # 5292
    assert shared.why_taken(used(shareID="x", consumedCapacity={"memory": "61Gi"}), NODE, {}, {})  # 5409
    halves = claims([counter_slice("8"), slice_of(counting("1", "8"), counting("2", "4"), count=2)], request())
    assert halves.why_taken(used(), NODE, {}, {}), "the whole GPU is in use, and so are its halves"


def test_admin_access_takes_no_device_from_others() -> None:
    found = claims([slice_of(ONE)], request(adminAccess=True))

    assert room(found, pods=5).sure == 5
    assert room(claims([slice_of(ONE)], request("a", adminAccess=True), request("b", adminAccess=True))).most == 0


def test_pods_that_share_a_claim_share_its_devices_and_their_node() -> None:
    found = claims([slice_of(ONE)], request(), shared=True)

    assert room(found, pods=5).sure == 5
    assert found.share_a_node
    assert not claims([slice_of(ONE, allNodes=True)], request(), shared=True).share_a_node


def test_a_claim_with_devices_ties_its_pods_to_their_nodes() -> None:
    term: Any = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}]}
    claim = model.DeviceClaim(
        title="c", spec={}, shared="c", allocated=True, node_selector={"nodeSelectorTerms": [term]}
    )
    found, nothing = of_claims([], claim), InUse(())

    assert found.why_taken(nothing, NODE, {}, {}) == ""
    assert found.why_taken(nothing, "node-2", {}, {}) == "c has its devices on other nodes already"
    assert room(found, node="node-2").sure == 1, "it may lose them again"


def test_an_extended_resource_is_served_by_its_class() -> None:
    found = of_claims([slice_of(*many(2))])

    assert found.room(NODE, {}, {"a.com/gpu": 2}).sure == 1
    assert found.room(NODE, {}, {"a.com/gpu": 3}).most == 0
    assert found.room(NODE, {}, {"deviceclass.resource.kubernetes.io/class-a": 2}).sure == 1
    assert found.room(NODE, {}, {"deviceclass.resource.kubernetes.io/class-b": 1}).stops


@pytest.mark.costly
def test_a_claim_over_a_thousand_devices_ends_in_time() -> None:
    devices = [device(str(index), attributes=number(index % 7)) for index in range(1_000)]
    slices = [slice_of(*devices[start : start + 100], name=str(start), count=10) for start in range(0, 1_000, 100)]
    hard = claims(
        slices,
        *(request(f"r{index}", count=4, select=f"{A}.number != {index}") for index in range(8)),
        constraints=equal("driver-a/number", form="distinctAttribute"),
    )
    start = time.process_time()
    answer = room(hard)

    assert time.process_time() - start < 3
    assert answer.sure == 0
    assert answer.reason


def test_selectors_that_loop_cost_no_more_on_a_thousand_devices() -> None:
    """Each evaluation stays below its own bound; no two devices are equal for the selectors, which want the last."""
    numbers = [*range(30)]
    devices = [device(str(index), attributes=number(index)) for index in range(1_000)]
    slices = [slice_of(*devices[start : start + 100], name=str(start), count=10) for start in range(0, 1_000, 100)]
    loops = [f"{numbers}.all(a, {numbers}.all(b, a + b >= 0)) && {A}.number == {999 - index}" for index in range(8)]
    asked = claims(slices, *(request(f"r{index}", select=each) for index, each in enumerate(loops)))
    start = time.process_time()
    answer, again = room(asked), room(asked, node="node-2")

    assert time.process_time() - start < 2
    assert answer.sure == 0
    assert answer.most > 0
    assert "more than 2,000,000 steps on all devices" in answer.reason
    assert again.sure == 0
    assert room(claims(slices, request(select=f"{A}.number == 999"))).sure == 1


def _job(pods: int, *, minimum: int, **asked: Any) -> tuple[paths.Object, list[paths.Object]]:
    """A Job whose pods each claim one device, or what is asked, and the facts about it but for nodes and slices."""
    spec: Any = {
        "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "one"}],
        "schedulingGroup": {"podGroupName": "group"},
    }
    template = builders.template(builders.container(limits={"cpu": 1}), **spec)
    job = builders.job(template, name="train", namespace=NAMESPACE, parallelism=pods, completions=pods)
    named = {"namespace": NAMESPACE}
    claim: Any = {"spec": {"devices": {"requests": [request(**asked)]}}}
    return job, [
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", **CLASS},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "one", **named},
            "spec": claim,
        },
        {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": {"name": "group", **named},
            "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}},
        },
    ]


@pytest.mark.parametrize(
    ("minimum", "slices", "expected"),
    [
        (4, [slice_of(*many(2)), slice_of(*many(2), name="2", pool="pool-2", nodeName="node-2")], Answer.COULD),
        (5, [slice_of(*many(2)), slice_of(*many(2), name="2", pool="pool-2", nodeName="node-2")], Answer.NEVER),
        (3, [slice_of(*many(3), allNodes=True)], Answer.COULD),
        (4, [slice_of(*many(3), allNodes=True)], Answer.NEVER),
        (1, [], Answer.UNKNOWN),
    ],
)
def test_a_gang_needs_devices_for_all_its_pods_at_once(
    minimum: int, slices: list[paths.Object], expected: Answer
) -> None:
    job, facts = _job(6, minimum=minimum)
    nodes = [builders.node(name, labels={"pool": "all"}) for name in (NODE, "node-2")]
    pools: paths.Json = [
        {"name": "all", "nodeSelector": {"pool": "all"}, "resources": ["a.com/gpu"], "scalesFromZero": False}
    ]
    (outlook,), _ = looked_at([job], [*nodes, *slices, *facts], pools=pools)

    assert outlook.answer is expected, outlook.sections


@pytest.mark.parametrize(("minimum", "expected"), [(2, Answer.UNKNOWN), (3, Answer.NEVER)])
def test_each_pod_of_a_gang_that_asks_for_all_devices_takes_those_of_one_node(minimum: int, expected: Answer) -> None:
    job, facts = _job(6, minimum=minimum, allocationMode="All")
    nodes = [builders.node(name, labels={"pool": "all"}) for name in (NODE, "node-2")]
    slices = [slice_of(*many(20)), slice_of(*many(20), name="2", pool="pool-2", nodeName="node-2")]
    network = slice_of(ONE, name="net", pool="net", driver="net.example.com", allNodes=True)
    pools: paths.Json = [
        {"name": "all", "nodeSelector": {"pool": "all"}, "resources": ["a.com/gpu"], "scalesFromZero": False}
    ]
    (outlook,), _ = looked_at([job], [*nodes, *slices, network, *facts], pools=pools)

    assert outlook.answer is expected, outlook.sections


def test_shares_count_as_their_memory_and_not_as_gpus() -> None:
    shared = device("1", memory=policy(**RANGE), allowMultipleAllocations=True)
    classes: dict[str, Any] = {"class-a": CLASS, "class-b": {"spec": {"selectors": [{"cel": {"expression": "true"}}]}}}

    gib = 2**30
    assert shared_memory(DeviceTable([slice_of(shared)]), classes) == {
        "class-a": (4 * gib, 10 * gib),
        "class-b": (4 * gib, 10 * gib),
    }
    mixed = [slice_of(shared), slice_of(device("2", memory="80Gi"), name="2", pool="pool-2", driver="driver-b")]
    assert shared_memory(DeviceTable(mixed), classes) == {"class-a": (4 * gib, 10 * gib)}
    assert shared_memory(DeviceTable([slice_of(ONE)]), classes) == {}


def test_a_share_is_a_share_in_sums_and_for_quotas_and_not_a_gpu() -> None:
    shared = slice_of(device("1", memory=policy(**RANGE), allowMultipleAllocations=True), driver="gpu.nvidia.com")
    whole = slice_of(device("1", memory="80Gi"), driver="gpu.nvidia.com")
    chosen: Any = {"selectors": [{"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}]}
    job, facts = _job(3, minimum=1)
    claim = request(capacity={"requests": {"memory": "4Gi"}}, deviceClassName="gpu.nvidia.com")
    facts[0] = {**facts[0], "metadata": {"name": "gpu.nvidia.com"}, "spec": chosen}
    facts[1] = {**facts[1], "spec": {"spec": {"devices": {"requests": [claim]}}}}

    def read(found: paths.Object) -> tuple[list[str], int | None]:
        store = Store.of([found, *facts])
        known = Knowledge(facts=store, config=models.Config(), vocabulary=VOCABULARY)
        workload = known.workload(job, namespace=NAMESPACE)
        assert workload is not None
        step = known.vocabulary_of_cluster.device_class_meaning("gpu.nvidia.com").memory_step
        return [f"{amount.number} {name}" for name, amount in of_workload(workload).items()], step

    assert read(shared) == (["3 shares of gpu.nvidia.com"], 4 * 2**30)
    assert read(whole) == (["3 gpu.nvidia.com"], None)
