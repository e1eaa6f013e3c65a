"""A server that exports the traces of its reviews to a collector: one that answers, and one that does not."""

import time
from pathlib import Path

import pytest

import collector
import server_process
from e2e.cluster import wait_until
from integration.served_reviews import BAD_JOB
from reviews import UID, body
from server_process import BOUND, JSON

pytestmark = pytest.mark.process

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}


def test_a_collector_gets_a_review_with_its_phases_as_a_child_of_the_span_of_the_api_server(tmp_path: Path) -> None:
    with collector.collecting() as collected, server_process.running(tmp_path, env=collected.variables) as server:
        answer = server.ask("POST", "/validate?timeout=3s", body=body(BAD_JOB), headers={**JSON, **PARENT})
        wait_until(collected.reviews, description="the collector has the review", timeout=BOUND)
        line = server.decision(UID)

    (review,) = collected.reviews()
    assert answer.response["allowed"] is False
    assert (review.trace_id.hex(), review.parent_span_id.hex(), line["traceId"]) == (TRACE, SPAN, TRACE)
    assert collector.attributes(review)["usher.uid"] == UID
    assert collector.attributes(review)["usher.allowed"] is False
    assert "decided" in {span.name for span in collected.spans if span.parent_span_id == review.span_id}
    assert collected.service_names == {"gpu-usher"}


def test_a_collector_that_never_answers_delays_neither_a_review_nor_the_end(tmp_path: Path) -> None:
    with collector.collecting(answers=False) as collected:
        with server_process.running(tmp_path, env=collected.variables) as server:
            for _ in range(3):
                answer = server.ask("POST", "/validate?timeout=3s", body=body(BAD_JOB), headers={**JSON, **PARENT})
                assert answer.response["allowed"] is False
                time.sleep(0.3)  # a batch is on its way meanwhile
        assert server.running.process.returncode == 0
        assert all(line["event"] != "review_failed" for line in server.log())
