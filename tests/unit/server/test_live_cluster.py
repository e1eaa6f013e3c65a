"""A server that watches no cluster says which quotas it does not charge."""

from typing import Any

import pytest
from structlog.testing import capture_logs

import engines
from usher.config import models
from usher.server.live_cluster import Cluster
from usher.server.metrics import Metrics

QUOTAS: Any = {"quotas": [{"name": "ci", "namespaces": ["*"], "limits": [{"hard": {"gpus": 8}}]}]}


@pytest.mark.parametrize(("config", "events"), [(QUOTAS, ["quotas_not_charged"]), ({}, [])])
def test_quotas_of_usher_yaml_without_a_cluster_are_logged_as_not_charged(config: Any, events: list[str]) -> None:
    engine = engines.ScriptedEngine(lambda _entrypoint: engines.result())
    evaluator = engines.evaluator(engine, config=models.Config.model_validate(config))
    cluster = Cluster(None, lambda: evaluator, Metrics(engine="scripted", revision="1"))

    with capture_logs() as logs:
        cluster.start(interval=1.0)

    assert [each["event"] for each in logs] == events
