"""A starting server logs a few lines of information, and no warnings without a cause."""

import time
from pathlib import Path

from e2e import quota_site
from e2e.cluster import Cluster
from e2e.registration import CONFIG


def test_a_start_in_a_cluster_without_other_operators_logs_what_happens_and_no_problem(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Kueue, Volcano, KServe and most kinds of workloads are not installed: nobody needs to hear of it."""
    with quota_site.account(cluster) as account, quota_site.replica(tmp_path, 0, account, config=CONFIG) as server:
        time.sleep(3)  # in which two looks for problems find them
        lines = [(line["level"], line["event"], line.get("kind", "")) for line in server.log()]

    assert lines == [
        ("info", "started", ""),
        ("info", "facts_left_out", "configmaps"),
        ("info", "facts_ready", ""),
    ]
