"""The facts that the observer keeps about existing objects."""

from typing import Any

import pytest

import builders
from unit.authorities.gpu_quota.live.memory_api import owned
from usher import paths
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.live import holdings as live_holdings
from usher.authorities.gpu_quota.live import observer as live_observer
from usher.authorities.gpu_quota.live.holdings import Holdings
from usher.authorities.gpu_quota.live.observer import HoldingsSink

G = 10**9
EIGHT: ByClasses = {("",): {"gpus": 8 * G}}


class Flat:
    """Everything takes eight GPUs; counts what it is asked about."""

    def __init__(self, charge: ByClasses = EIGHT) -> None:
        self.charge = charge
        self.asked = 0

    def __call__(self, value: paths.Object) -> ByClasses:  # noqa: ARG002 - the protocol's
        self.asked += 1
        return self.charge


def identified(value: paths.Object, uid: str = "u") -> paths.Object:
    metadata: Any = value["metadata"]
    return {**value, "metadata": {**metadata, "uid": uid}}


def pod(*, gpus: int | None = 8, **fields: Any) -> paths.Object:
    return identified({**builders.pod(builders.container(gpus=gpus), name="p", namespace="ml"), **fields})


def job() -> paths.Object:
    return identified(builders.gpu_job(name="j", namespace="ml"), "job")


def test_identity_owner_and_charge_of_an_object_are_kept() -> None:
    found = live_observer.held(live_observer.kept(owned(pod(), job()), Flat()))

    assert found is not None
    assert (found.owner, found.is_pod) == ("job", True)
    holding = found.holding
    assert (holding.uid, holding.group, holding.kind, holding.namespace, holding.name) == ("u", "", "Pod", "ml", "p")
    assert holding.charge == EIGHT
    assert not holding.finished


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_is_finished(phase: str) -> None:
    found = live_observer.held(live_observer.kept(pod(status={"phase": phase}), Flat()))

    assert found is not None
    assert found.holding.finished


def test_a_pod_that_asks_for_no_accelerator_is_not_looked_at() -> None:
    charge_of = Flat()

    assert live_observer.held(live_observer.kept(pod(gpus=None), charge_of)) is None
    assert charge_of.asked == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"spec": {"containers": [], "resourceClaims": [{"name": "gpu"}]}},
        {"spec": {"containers": [], "initContainers": [{"resources": {"requests": {"amd.com/gpu": 1}}}]}},
        {"metadata": {"name": "p", "namespace": "ml", "uid": "u", "annotations": {"gpu-fraction": "0.5"}}},
    ],
)
def test_every_way_to_ask_for_an_accelerator_is_recognised(fields: Any) -> None:
    charge_of = Flat()
    live_observer.kept(pod(gpus=None, **fields), charge_of)

    assert charge_of.asked == 1


def test_an_object_without_a_charge_is_kept_if_it_has_an_owner() -> None:
    nothing = Flat({})

    assert live_observer.held(live_observer.kept(job(), nothing)) is None
    between = live_observer.held(live_observer.kept(owned(job(), pod()), nothing))
    assert between is not None
    assert between.holding.charge == {}


@pytest.mark.parametrize(
    "metadata",
    [None, 7, [], {}, {"uid": 7}, {"uid": "u", "ownerReferences": 7}, {"uid": "u", "ownerReferences": [7, {"uid": 1}]}],
)
def test_objects_of_any_shape_are_taken(metadata: Any) -> None:
    value: paths.Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [None, 7]}}

    assert live_observer.held(live_observer.kept(value, Flat())) is None
    assert live_holdings.owner_uid(value) == ""


def test_only_the_controller_is_an_owner() -> None:
    value = owned(pod(), job())
    references: Any = value["metadata"]["ownerReferences"]  # type: ignore[call-overload, index]  # as made
    references[0]["controller"] = False

    assert live_holdings.owner_uid(value) == ""


def test_objects_missing_from_a_list_are_removed() -> None:
    holdings = Holdings()
    sink = HoldingsSink(holdings)
    sink.replace([live_observer.kept(identified(pod(), uid), Flat()) for uid in ("a", "b")])

    sink.replace([live_observer.kept(identified(pod(), "b"), Flat())])
    assert [root.uid for root in holdings.roots()] == ["b"]
    sink.lacks()
    assert len(holdings) == 0


def test_a_pod_that_no_longer_holds_anything_is_removed() -> None:
    holdings = Holdings()
    sink = HoldingsSink(holdings)
    sink.put(live_observer.kept(pod(), Flat()))
    sink.put(live_observer.kept(pod(), Flat({})))

    assert len(holdings) == 0


def test_a_list_from_before_a_clear_changes_nothing() -> None:
    """A watch that is slow to end must not leave what nobody would ever take out."""
    holdings = Holdings()
    late = HoldingsSink(holdings)
    holdings.clear()
    late.put(live_observer.kept(pod(), Flat()))
    assert len(holdings) == 0

    HoldingsSink(holdings).put(live_observer.kept(pod(), Flat()))
    late.remove(live_observer.kept(pod(), Flat()))
    assert len(holdings) == 1


def test_only_the_uid_of_a_pod_without_accelerators_is_kept() -> None:
    """Most pods of a cluster are such, and tens of thousands are in memory while they are listed."""
    pod = builders.replaced(builders.pod(builders.container(requests={"cpu": 1})), "/metadata/uid", "a")

    kept = live_observer.kept(pod, Flat())

    assert kept == {"kind": "Pod", "metadata": {"uid": "a"}}
    assert live_observer.held(kept) is None
