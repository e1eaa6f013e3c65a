"""Writes the condition `Ready` into the status of each GPUQuota. It writes only changes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from usher import errors, paths
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota import conditions as gpu_quota_conditions
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.conditions import Condition
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.live.account_heads import Account
from usher.authorities.gpu_quota.live.account_store import PATH
from usher.authorities.gpu_quota.live.accounts import Accounts
from usher.authorities.gpu_quota.live.metering import NO_METER, Action, Meter
from usher.authorities.gpu_quota.live.objects_api import Api
from usher.authorities.knowledge import Knowledge
from usher.kinds.reading.values import Absence


class ConditionsWriter:
    """Compares the condition of each GPUQuota with its state."""

    def __init__(
        self,
        api: Api,
        accounts: Accounts,
        knowledge: Callable[[], Knowledge],
        *,
        clock: Callable[[], float],
        meter: Meter = NO_METER,
    ) -> None:
        """Takes the API server, the accounts, the knowledge in service, a clock in seconds since 1970, and a meter."""
        self._api = api
        self._accounts = accounts
        self._knowledge = knowledge
        self._clock = clock
        self._meter = meter
        self._logged: dict[str, str] = {}
        """Errors of quotas that could not be written at the last look, by name."""

    def write(self) -> int:
        """Looks at every GPUQuota. Returns how many conditions have changed; a failure is logged once."""
        known = self._knowledge()
        found = known.facts.objects(gpu_quota_definitions.GROUP, gpu_quota_definitions.KIND)
        if isinstance(found, Absence):
            return 0
        overlaps = _overlaps(known)
        changed, problems = 0, dict[str, str]()
        for name, value in found.items():
            overlap = overlaps.get(name, "")
            try:
                if gpu_quota_conditions.find(value.get("status")) == self._condition(value, overlap):
                    continue
                changed += self._write(name, overlap)
            except errors.ClusterError as error:
                problems[name] = str(error)
        for name, reason in problems.items():
            if self._logged.get(name) != reason:
                structlog.get_logger().warning("quota_not_described", quota=name, reason=reason)
        self._logged = problems
        return changed

    def _write(self, name: str, overlap: str) -> bool:
        """Writes the current condition of a quota; after a conflict, the next look decides again."""
        answer = self._api.get(f"{PATH}/{name}")
        if answer.status == 404:
            return False
        if answer.status != 200:
            raise errors.ClusterError(f"{PATH}/{name} cannot be read: {answer.message}")
        status, condition = answer.value.get("status"), self._condition(answer.value, overlap)
        if gpu_quota_conditions.find(status) == condition:
            return False
        now = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        new = gpu_quota_conditions.put(status, condition, now=now)
        written = self._api.put(f"{PATH}/{name}/status", {**answer.value, "status": new})
        if written.status == 409:
            self._meter.conflicted()
            return False
        if written.status != 200:
            raise errors.ClusterError(f"{PATH}/{name}/status cannot be written: {written.message}")
        self._meter.reconciled(Action.CONDITION)
        structlog.get_logger().info("quota_described", quota=name, reason=condition.reason, message=condition.message)
        return True

    def _condition(self, value: paths.Object, overlap: str) -> Condition:
        """The condition of a quota; the parts of a large account are read for it."""
        quota, found = gpu_quota_definitions.of_object(value), gpu_quota_status.decode(value.get("status"))
        if isinstance(quota, Quota) and found.parts and found.writable:
            account = self._accounts.store(quota).read().state
            found = replace(found, ledger=account.ledger, problems=(*found.problems, *_problems(account)))
        return gpu_quota_conditions.of_quota(quota, found, overlap)


def _problems(account: Account) -> Iterator[tuple[str, str]]:
    if account.unread_in_parts:
        yield "/status/parts", f"{account.unread_in_parts} entries cannot be read"


def _overlaps(known: Knowledge) -> Mapping[str, str]:
    labels = assignment.labels_of_namespaces(known.facts) or {}
    return gpu_quota_conditions.overlaps(
        assignment.quotas(known), {name: each for name, each in labels.items() if each is not None}
    )
