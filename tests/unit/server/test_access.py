"""Metrics are for clients that the API server knows and lets read them; other clients learn and cost nothing."""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import pytest

from clocks import Clock
from usher import errors, paths
from usher.cluster.api import Answer
from usher.server.serve import READ_METRICS, Access

USER = {"username": "prometheus", "uid": "1", "groups": ["system:authenticated"], "extra": {"pod": ["a"]}}


@dataclass
class ApiServer:
    """Knows the tokens `good` and `weak`; only the owner of the first may read metrics."""

    asked: list[tuple[str, Any]] = field(default_factory=list)
    away: bool = False

    def post(self, path: str, value: paths.Object) -> Answer:
        if self.away:
            raise errors.ClusterError("the test cluster cannot be reached")
        spec: Any = value["spec"]
        self.asked.append((path.rpartition("/")[2], spec))
        if path.endswith("tokenreviews"):
            known = spec["token"] in ("good", "weak")
            status: paths.Object = {"authenticated": known, **({"user": _user(spec["token"])} if known else {})}
        else:
            status = {"allowed": spec["user"] == "prometheus"}
        return Answer(status=201, value={"status": status})


def _user(token: str) -> Any:
    return USER if token == "good" else {**USER, "username": "ada"}


@pytest.fixture
def api() -> ApiServer:
    return ApiServer()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(api: ApiServer, clock: Clock) -> Access:
    return Access(api, clock=clock)


def status(access: Access, authorization: str) -> HTTPStatus:
    return asyncio.run(access.status(authorization, READ_METRICS))


def test_a_client_with_the_right_reads_them(access: Access, api: ApiServer) -> None:
    assert status(access, "Bearer good") == 200

    assert [name for name, _ in api.asked] == ["tokenreviews", "subjectaccessreviews"]
    rights = api.asked[1][1]
    assert rights.pop("nonResourceAttributes") == {"path": "/metrics", "verb": "get"}
    assert rights == {"user": "prometheus", "uid": "1", "groups": ["system:authenticated"], "extra": {"pod": ["a"]}}


def test_others_do_not(access: Access) -> None:
    assert status(access, "Bearer weak") == 403
    assert status(access, "Bearer unknown") == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic good", "good", "Bearer \u00e9", f"Bearer {'x' * 20000}"]
)
def test_a_malformed_token_costs_the_api_server_nothing(access: Access, api: ApiServer, header: str) -> None:
    assert status(access, header) == 401
    assert api.asked == []


def test_a_right_is_remembered_for_a_minute(access: Access, api: ApiServer, clock: Clock) -> None:
    for _ in range(5):
        assert status(access, "Bearer good") == 200
    assert len(api.asked) == 2

    clock.now += 61
    assert status(access, "Bearer good") == 200
    assert len(api.asked) == 4


def test_strangers_cannot_push_it_out(access: Access, api: ApiServer) -> None:
    status(access, "Bearer good")
    for number in range(200):
        status(access, f"Bearer wrong-{number}")
    before = len(api.asked)

    assert status(access, "Bearer good") == 200
    assert len(api.asked) == before


def test_without_an_answer_no_client_reads_them(access: Access, api: ApiServer) -> None:
    api.away = True
    assert status(access, "Bearer good") == 503

    assert status(Access(None), "Bearer good") == 503


def test_many_strangers_at_once_ask_the_api_server_two_questions_at_a_time(api: ApiServer) -> None:
    access = Access(api)

    async def all_at_once() -> list[HTTPStatus]:
        return await asyncio.gather(*(access.status(f"Bearer wrong-{number}", READ_METRICS) for number in range(50)))

    found = asyncio.run(all_at_once())
    assert found.count(HTTPStatus.UNAUTHORIZED) == 2
    assert found.count(HTTPStatus.SERVICE_UNAVAILABLE) == 48
