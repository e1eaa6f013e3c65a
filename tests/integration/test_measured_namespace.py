"""A real Prometheus with the series of all namespaces: an audit of one of them measures its own."""

import pytest
from msgspec.structs import replace

from integration import test_measured_usage
from integration.test_measured_usage import a_cluster, measure_all, measured, prometheus, source
from usher.audit.gather.estate import OneNamespace
from usher.audit.prometheus.promql_source import PrometheusSource
from usher.audit.usage import usage_metrics
from usher.audit.usage.usage_amounts import Measured

__all__ = ["measured", "prometheus", "source"]

pytestmark = test_measured_usage.pytestmark


@pytest.mark.parametrize("namespace", ["red", "blue"])
def test_one_namespace_has_the_numbers_of_its_row(source: PrometheusSource, measured: Measured, namespace: str) -> None:
    """Its estate has the pods of the namespace alone, and Prometheus has the series of all."""
    (table,) = [table for table in measured.groups if table.by == "namespace"]
    (row,) = [row for row in table.rows if row.name == namespace]
    scope, whole = OneNamespace(name=namespace), a_cluster()
    own = tuple(each for each in whole.workloads if each.identity.namespace == namespace)

    found = measure_all(usage_metrics.source_of_part(source, scope), replace(whole, workloads=own, scope=scope))

    assert found.total == row.usage
    assert found.not_held.free is found.not_held.out_of_use is found.queue_wait_p95_seconds is None
    said = [text for text in found.measurement.problems if "whose workload" in text or "have no series" in text]
    assert said == (
        [] if namespace == "red" else [text for text in measured.measurement.problems if "whose workload" in text]
    )
