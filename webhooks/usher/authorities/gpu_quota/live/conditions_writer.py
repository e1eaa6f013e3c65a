"""Says in the status of each GPUQuota whether it can be used; written only where that has changed."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import structlog

from usher import errors, paths
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota import conditions as gpu_quota_conditions
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.conditions import Condition
from usher.authorities.gpu_quota.live.account_store import PATH, Api
from usher.authorities.gpu_quota.live.metering import NOBODY, Action, Meter
from usher.facts.store import Store
from usher.policy.evaluator import Evaluator
from usher.reading.lookup import Absence


class Describing:
    """Compares what quotas say of themselves with how they are."""

    def __init__(
        self,
        api: Api,
        evaluator: Callable[[], Evaluator],
        *,
        clock: Callable[[], float],
        meter: Meter = NOBODY,
    ) -> None:
        """Takes the API server, what gives the evaluator in service, a clock in seconds since 1970, and what counts."""
        self._api = api
        self._evaluator = evaluator
        self._clock = clock
        self._meter = meter
        self._told: dict[str, str] = {}
        """Quotas that cannot be written, as far as it has been logged."""

    def describe(self) -> int:
        """Looks at every quota of the cluster. Returns how many conditions were changed; what fails is logged once."""
        found = self._facts.objects(gpu_quota_definitions.GROUP, gpu_quota_definitions.KIND)
        if isinstance(found, Absence):
            return 0
        overlaps = self._overlaps()
        changed, problems = 0, dict[str, str]()
        for name, value in found.items():
            overlap = overlaps.get(name, "")
            if gpu_quota_conditions.find(value.get("status")) == _condition(value, overlap):
                continue
            try:
                changed += self._write(name, overlap)
            except errors.ClusterError as error:
                problems[name] = str(error)
        for name, reason in problems.items():
            if self._told.get(name) != reason:
                structlog.get_logger().warning("quota_not_described", quota=name, reason=reason)
        self._told = problems
        return changed

    def _write(self, name: str, overlap: str) -> bool:
        """Writes the condition of a quota as it is now; not where another wrote it meanwhile, who may have done it."""
        answer = self._api.get(f"{PATH}/{name}")
        if answer.status == 404:
            return False
        if answer.status != 200:
            raise errors.ClusterError(f"{PATH}/{name} cannot be read: {answer.message}")
        said, condition = answer.value.get("status"), _condition(answer.value, overlap)
        if gpu_quota_conditions.find(said) == condition:
            return False
        now = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = gpu_quota_conditions.put(said, condition, now=now)
        written = self._api.put(f"{PATH}/{name}/status", {**answer.value, "status": new})
        if written.status == 409:
            self._meter.conflicted()
            return False
        if written.status != 200:
            raise errors.ClusterError(f"{PATH}/{name}/status cannot be written: {written.message}")
        self._meter.reconciled(Action.CONDITION)
        structlog.get_logger().info("quota_described", quota=name, reason=condition.reason, message=condition.message)
        return True

    def _overlaps(self) -> Mapping[str, str]:
        evaluator = self._evaluator()
        quotas = assignment.quotas(self._facts, evaluator.config)
        labels = assignment.labels_of_namespaces(self._facts) or {}
        return gpu_quota_conditions.overlaps(
            quotas, {name: known for name, known in labels.items() if known is not None}
        )

    @property
    def _facts(self) -> Store:
        return self._evaluator().facts


def _condition(value: paths.Object, overlap: str) -> Condition:
    return gpu_quota_conditions.of_quota(
        gpu_quota_definitions.of_object(value), gpu_quota_status.decode(value.get("status")), overlap
    )
