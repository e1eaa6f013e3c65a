"""Traces that an API server begins: the spans of both reviews belong to its own trace."""

from pathlib import Path

import pytest

import builders
import collector
from collector import Collector
from e2e import api_server_alone
from e2e.cluster import ApiError, wait_until
from e2e.registration import registered, serving

TRACING = """\
apiVersion: apiserver.config.k8s.io/v1
kind: TracingConfiguration
endpoint: 127.0.0.1:1
samplingRatePerMillion: 1000000
"""
"""Nothing listens there: its own spans get lost, and it goes on."""


def test_both_reviews_of_a_creation_are_in_the_trace_of_the_api_server(tmp_path: Path) -> None:
    (tmp_path / "tracing.yaml").write_text(TRACING)
    more = (f"--tracing-config-file={tmp_path / 'tracing.yaml'}",)
    with (
        collector.collecting() as collected,
        api_server_alone.prepared(tmp_path, more=more) as alone,
        serving(tmp_path / "usher", env=collected.variables) as server,
    ):
        alone.start()
        cluster = alone.cluster
        account = {"name": "default", "namespace": "default"}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        with registered(cluster, server):
            pod = builders.pod(
                builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="greedy", namespace="default"
            )
            with pytest.raises(ApiError, match="USH201"):
                cluster.create(pod, dry_run=True)
            (shared, *_) = wait_until(
                lambda: traces(collected, "mutate") & traces(collected, "validate"),
                description="the collector has both reviews of a creation",
            )

    reviews = [span for span in collected.spans if span.trace_id == shared and span.name.startswith("POST ")]
    assert {span.name for span in reviews} == {"POST /mutate", "POST /validate"}
    assert {len(span.parent_span_id) for span in reviews} == {8}


def traces(collected: Collector, endpoint: str) -> set[bytes]:
    return {span.trace_id for span in collected.reviews(endpoint)}
