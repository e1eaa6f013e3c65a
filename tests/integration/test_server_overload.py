"""A running server survives too large bodies, too many bytes, too many reviews and slow clients."""

import concurrent.futures
import contextlib
import ssl
from pathlib import Path

import orjson
import pytest

from builders import container, job, pod, template
from e2e.cluster import wait_until
from integration.served_reviews import head, received
from reviews import body
from server_process import BOUND, JSON, ServerProcess

pytestmark = pytest.mark.process

CONTENT = "Content-Type: application/json"
MEBIBYTES = 2**20


def resident(server: ServerProcess, field: str) -> int:
    """Mebibytes: `VmHWM` at most so far, `VmRSS` now."""
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) // 1024


def large_review(number: int) -> bytes:
    """6.9 MB that say nothing: an object of 3.4 MB, before and after."""
    value = pod(name=f"large-{number}", annotations={f"a{index}": "x" * 100 for index in range(31_500)})
    request = body(value, operation="UPDATE", old_value=value)
    assert 6.5 * MEBIBYTES < len(request) < 8 * MEBIBYTES
    return request


def test_a_job_of_3000_containers_is_denied_with_its_number(server: ServerProcess) -> None:
    value = job(template(*(container(f"c{number}", gpus=1) for number in range(3000))))

    answer = server.ask("POST", "/validate?timeout=3s", body=body(value), headers=JSON)

    assert answer.status == 200
    assert "3000 containers" in answer.response["status"]["message"]


def test_twenty_large_bodies_at_once_stay_below_the_memory_limit_and_small_ones_are_answered(
    server: ServerProcess,
) -> None:
    requests = [large_review(number) for number in range(20)]
    failed = len(server.log("review_failed"))

    def ask(request: bytes) -> tuple[int, str | None]:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            answer = server.ask("POST", "/validate?timeout=3s", body=request, headers=JSON)
            return answer.status, answer.headers.get("retry-after")
        return 0, None  # the server ended the connection before it took the whole body

    with concurrent.futures.ThreadPoolExecutor(20) as threads:
        asked = [threads.submit(ask, request) for request in requests]
        small = [server.ask("POST", "/validate", body=body(pod(name=f"small-{n}")), headers=JSON) for n in range(20)]
        answers = [each.result(timeout=BOUND) for each in asked]

    assert {answer.status for answer in small} <= {200, 500, 503}
    assert sum(answer.status == 200 for answer in small) > 0
    # On a busy machine the three seconds end while policies are evaluated.
    assert {status for status, _ in answers} <= {0, 200, 408, 500, 503}
    assert {line["error"] for line in server.log("review_failed")[failed:]} <= {"DeadlineError"}
    assert all(later == "1" for status, later in answers if status == 503)
    assert resident(server, "VmHWM:") < 450
    wait_until(
        lambda: server.metrics()["usher_review_bytes{}"] == 0, description="it gave back what it took", timeout=BOUND
    )
    wait_until(lambda: resident(server, "VmRSS:") < 280, description="it gave back what it took", timeout=BOUND)


def test_slow_clients_end_by_themselves_and_leave_nothing_taken(server: ServerProcess) -> None:
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.socket()) for _ in range(6)]
        for connection in connections:
            connection.sendall(head("/validate?timeout=1s", CONTENT, f"Content-Length: {7 * MEBIBYTES}") + b"{" * 1000)
        assert server.ask("POST", "/validate", body=body(pod()), headers=JSON).status == 200
        assert all(received(connection).startswith(b"HTTP/1.1 408 ") for connection in connections)
    wait_until(
        lambda: server.metrics()["usher_review_bytes{}"] == 0, description="it gave back what it took", timeout=BOUND
    )


def test_a_stranger_gets_no_call_at_most_one_line_in_the_log_and_no_bytes(server: ServerProcess) -> None:
    """One refused request in ten seconds leaves a line; which one, depends on what was refused before."""

    def lines() -> int:
        # Reviews that an earlier test gave up may end now, and are logged then.
        return sum(line["status"] in (400, 404) for line in server.log("request_refused"))

    before = lines()
    for path in ("/", "/metrics", "/validate/..", "/" + "x" * 5000):
        assert server.ask("POST", path, body=b"x" * 100_000, headers=JSON).status == 404
    for _ in range(20):
        assert server.ask("POST", "/validate", body=b"x" * 100_000, headers=JSON).status == 400

    assert lines() <= before + 1
    wait_until(lambda: server.metrics()["usher_review_bytes{}"] == 0, description="nothing is taken", timeout=BOUND)


def test_many_times_what_the_server_can_do_is_answered_or_refused_with_a_time_to_come_back(
    server: ServerProcess,
) -> None:
    def one(number: int) -> list[tuple[int, str | None, bool]]:
        outcomes = []
        for round_number in range(4):
            value = pod(container(f"c-{number}-{round_number}", gpus=1), name=f"pod-{number}-{round_number}")
            answer = server.ask("POST", "/validate?timeout=1s", body=body(value), headers=JSON)
            right = answer.status != 200 or orjson.loads(answer.body)["response"]["allowed"] is True
            outcomes.append((answer.status, answer.headers.get("retry-after"), right))
        return outcomes

    with concurrent.futures.ThreadPoolExecutor(48) as threads:
        outcomes = [each for found in threads.map(one, range(48)) for each in found]

    assert {status for status, _, _ in outcomes} <= {200, 503}
    assert all(later == "1" for status, later, _ in outcomes if status == 503)
    assert all(right for _, _, right in outcomes)
    assert sum(status == 200 for status, _, _ in outcomes) > 0
    # No collapse: it serves at once afterwards.
    assert server.ask("POST", "/validate?timeout=3s", body=body(pod()), headers=JSON).status == 200


def test_a_decision_says_where_its_time_went(server: ServerProcess) -> None:
    server.ask("POST", "/validate", body=body(pod(), uid="timed"), headers=JSON)

    decision = server.decision("timed")
    assert decision["phases"].keys() == {"queued", "read", "decided"}
    assert sum(decision["phases"].values()) == pytest.approx(decision["milliseconds"], abs=0.1)
    assert server.metrics()["usher_review_queue_seconds_count{}"] > 0
    # The lag is measured ten times a second, and a new server may not have done it yet.
    wait_until(
        lambda: server.metrics()["usher_event_loop_lag_seconds_count{}"] > 0, description="the lag has been measured"
    )
