"""Events on controllers whose pods are denied: few, bounded, and never on an owner that does not exist."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from builders import container, pod, replaced
from clocks import Clock
from e2e.cluster import wait_until
from reviews import body
from usher import errors, paths
from usher.cluster.api import Answer as ApiAnswer
from usher.config import models
from usher.policy import assembly
from usher.review.admission_review import Answer
from usher.review.webhooks import validate
from usher.server.live_cluster import Events, denials

OWNER: paths.Object = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u-1", "controller": True}
PATH = "/apis/batch/v1/namespaces/ml-research/jobs/train"
QUOTA = "/apis/gpu-usher.io/v1alpha1/gpuquotas/research"


@dataclass
class ApiServer:
    name: str = "test"
    uid: str = "u-1"
    status: int = 201
    away: bool = False
    asked: list[str] = field(default_factory=list)
    applied: list[tuple[str, Any]] = field(default_factory=list)

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = "") -> ApiAnswer:
        del query, accept
        if self.away:
            raise errors.ClusterError("the test cluster cannot be reached")
        self.asked.append(path)
        found = path in (PATH, QUOTA)
        return ApiAnswer(status=200 if found else 404, value={"metadata": {"uid": self.uid}} if found else {})

    def apply(self, path: str, value: paths.Object) -> ApiAnswer:
        self.applied.append((path, value))
        return ApiAnswer(status=self.status, value={"message": "forbidden"})


@pytest.fixture
def api() -> ApiServer:
    return ApiServer()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def results() -> Counter[str]:
    return Counter()


@pytest.fixture
def events(api: ApiServer, clock: Clock, results: Counter[str]) -> Iterator[Events]:
    made = Events(api, count=lambda result: results.update([result]), clock=clock, pause=0)
    made.start()
    yield made
    made.stop(within=5)


Answering = Callable[..., Answer]


@pytest.fixture(scope="module")
def answer() -> Iterator[Answering]:
    """The answer to a pod that names an owner."""
    evaluator = assembly.embedded(models.Config())

    def made(owner: paths.Json = OWNER, *, name: str = "train-x", bad: bool = True, **request: Any) -> Answer:
        value = pod(container(env={"NVIDIA_VISIBLE_DEVICES": "all"} if bad else {}), name=name)
        if owner is not None:
            value = replaced(value, "/metadata/ownerReferences", [owner])
        return validate(body(value, **request), evaluator)

    with contextlib.closing(evaluator.engine):
        yield made


def test_a_denied_pod_of_a_job_makes_an_event_on_the_job(
    answer: Answering, events: Events, api: ApiServer, results: Counter[str]
) -> None:
    events.tell(answer())
    wait_until(lambda: results["written"] == 1, description="the Event is written")

    ((path, event),) = api.applied
    assert path.startswith("/api/v1/namespaces/ml-research/events/train.")
    assert event["involvedObject"]["uid"] == "u-1"
    assert (event["type"], event["reason"], event["count"]) == ("Warning", "DeniedByUsher", 1)
    assert "USH201" in event["message"]
    assert len(event["message"]) <= 1024


def test_a_refused_charge_makes_an_event_on_the_quota_too(
    answer: Answering, events: Events, api: ApiServer, results: Counter[str]
) -> None:
    events.tell(replace(answer(), quota="research"))
    wait_until(lambda: results["written"] == 2, description="both Events are written")

    (_, of_owner), (path, of_quota) = api.applied
    assert of_owner["involvedObject"]["kind"] == "Job"
    assert path.startswith("/api/v1/namespaces/default/events/research.")
    assert of_quota["involvedObject"] == {
        "apiVersion": "gpu-usher.io/v1alpha1",
        "kind": "GPUQuota",
        "name": "research",
        "uid": "u-1",
    }
    assert of_quota["reason"] == "ChargeRefused"
    assert "ml-research/train-x" in of_quota["message"]


def test_refusals_in_one_namespace_are_one_event_on_the_quota(
    answer: Answering, events: Events, api: ApiServer, results: Counter[str]
) -> None:
    for number in range(20):
        events.tell(replace(answer(None, name=f"train-{number}"), quota="research"))
    wait_until(lambda: results["written"] == 1, description="the Event is written")
    wait_until(events._waiting.empty, description="all were looked at")

    assert len(api.applied) == 1


@pytest.mark.parametrize(
    "denied",
    [
        {"bad": False},
        {"dryRun": True},
        {"owner": None},
        {"owner": {**OWNER, "controller": False}},
        {"owner": {**OWNER, "name": ["train"]}},
        {"owner": {**OWNER, "uid": "x" * 300}},
        {"owner": "Job/train"},
    ],
    ids=["let in", "a dry run", "no owner", "no controller", "a list as name", "a long uid", "a text"],
)
def test_other_answers_make_no_event(answer: Answering, denied: dict[str, Any]) -> None:
    assert list(denials(answer(**denied))) == []


@pytest.mark.parametrize(
    "owner",
    [
        {**OWNER, "uid": "u-2"},
        {**OWNER, "name": "other"},
        {**OWNER, "name": "../../secrets/x"},
        {**OWNER, "kind": "Secret", "apiVersion": "v1"},
        {**OWNER, "apiVersion": "batch/v1/../../x"},
    ],
    ids=["another uid", "another name", "a path", "no workload", "a path as version"],
)
def test_a_forged_owner_gets_no_event(
    answer: Answering, events: Events, api: ApiServer, results: Counter[str], owner: paths.Object
) -> None:
    events.tell(answer(owner))
    wait_until(lambda: results["no_owner"] == 1, description="the owner was looked for")

    assert api.applied == []
    assert all(path.startswith(("/apis/batch/v1/namespaces/ml-research/jobs/", "/apis/")) for path in api.asked)
    assert not any("/secrets/" in path or "/../" in path for path in api.asked)


def test_twenty_denials_in_a_minute_are_one_event_and_the_next_has_their_number(
    answer: Answering, events: Events, api: ApiServer, clock: Clock, results: Counter[str]
) -> None:
    for number in range(20):
        events.tell(answer(name=f"train-{number}"))
    wait_until(lambda: results["written"] == 1, description="the Event is written")
    wait_until(events._waiting.empty, description="all were looked at")
    clock.now += 61
    events.tell(answer())
    wait_until(lambda: results["written"] == 2, description="it is written again")

    assert [event["count"] for _, event in api.applied] == [1, 21]
    assert len({path for path, _ in api.applied}) == 1


def test_without_the_right_it_is_counted(
    answer: Answering, events: Events, api: ApiServer, results: Counter[str]
) -> None:
    api.status = 403
    events.tell(answer())
    wait_until(lambda: results["failed"] == 1, description="the failure is counted")


def test_it_goes_on_when_the_api_server_is_back(
    answer: Answering, events: Events, api: ApiServer, clock: Clock, results: Counter[str]
) -> None:
    api.away = True
    events.tell(answer())
    wait_until(lambda: results["failed"] == 1, description="the failure is counted")
    api.away = False
    clock.now += 61
    events.tell(answer())
    wait_until(lambda: results["written"] == 1, description="the Event is written")


def test_a_storm_is_dropped_and_counted(answer: Answering, api: ApiServer, results: Counter[str]) -> None:
    waiting = Events(api, count=lambda result: results.update([result]))
    told = answer()
    for _ in range(150):
        waiting.tell(told)

    assert results["dropped"] == 50
    assert orjson.loads(told.body)["response"]["allowed"] is False
