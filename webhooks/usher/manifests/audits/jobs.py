"""The CronJob or Job of audits.

A Job of several shards is Indexed: a failed index is tried again alone, and the others go on. Source of the fields:
https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from typing import Final

from usher import paths
from usher.manifests.audits import pods
from usher.manifests.audits.settings import NAME, POD_LABEL, Settings

RETRIES: Final = 2
"""How often a run, or one shard, is tried again."""

LONGEST: Final = 4 * 3600
"""Seconds for a run with all its retries."""

KEPT: Final = 7 * 24 * 3600
"""Seconds for which a finished Job stays, so that its log can be read."""


def scheduled(settings: Settings) -> paths.Object:
    """The CronJob, or the Job if there is no schedule."""
    metadata: paths.Object = {"name": NAME, "namespace": settings.namespace}
    if not settings.schedule:
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": _job(settings)}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata,
        "spec": {
            "schedule": settings.schedule,
            "timeZone": "Etc/UTC",
            # Two audits at once would only slow the API server.
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {"spec": _job(settings)},
        },
    }


def _job(settings: Settings) -> paths.Object:
    return {
        **(_of_shards(settings) if settings.is_sharded else {"backoffLimit": RETRIES}),
        "activeDeadlineSeconds": LONGEST,
        "ttlSecondsAfterFinished": KEPT,
        "podFailurePolicy": {"rules": _rules(settings)},
        "template": {"metadata": {"labels": {POD_LABEL: NAME}}, "spec": pods.spec(settings)},
    }


def _of_shards(settings: Settings) -> paths.Object:
    return {
        "completionMode": "Indexed",
        "completions": settings.shards,
        "parallelism": min(settings.shards, settings.parallel),
        "backoffLimitPerIndex": RETRIES,
        # More failures than this have a common cause, which retries do not remove.
        "maxFailedIndexes": settings.shards // 2,
    }


def _rules(settings: Settings) -> list[paths.Json]:
    """Rules for failed pods: an eviction is no failure, and findings of --fail-on (exit code 1) are final."""
    given_up = "FailIndex" if settings.is_sharded else "FailJob"
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": given_up, "onExitCodes": {"containerName": pods.CONTAINER, "operator": "In", "values": [1]}},
    ]
