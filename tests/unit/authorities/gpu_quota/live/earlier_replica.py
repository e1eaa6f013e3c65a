"""A replica of a release that knew no parts of accounts: all entries are in the status, in version 1."""

from collections.abc import Callable
from typing import Any

from unit.authorities.gpu_quota.live.memory_api import QUOTAS, MemoryApi

RESERVATION = 70


class EarlierReplica:
    """Charges Jobs as that release did. It refuses to read, and so to write, any other version than 1."""

    def __init__(self, api: MemoryApi, *, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock

    def ask(self, name: str, gpus: int) -> bool:
        """Whether a Job is let in; neither where the quota is full nor where the account cannot be read."""
        value: Any = self._api.get(f"{QUOTAS}/research").value
        status = value.get("status", {})
        if status.get("version", 1) != 1:
            return False
        key = f"Job.batch/ml/{name}"
        charges = {each["object"]: each for each in status.get("charges", [])}
        others = sum(each["amounts"]["gpus"] for object_, each in charges.items() if object_ != key)
        gpus = max(gpus, charges.get(key, {"amounts": {"gpus": 0}})["amounts"]["gpus"])
        if others + gpus > value["spec"]["limits"][0]["hard"]["gpus"]:
            return False
        charges[key] = {"object": key, "amounts": {"gpus": gpus}, "until": int(self._clock()) + RESERVATION}
        used = [{"gpus": others + gpus}]
        new = {**status, "version": 1, "used": used, "charges": [charges[each] for each in sorted(charges)]}
        return self._api.put(f"{QUOTAS}/research/status", {**value, "status": new}).status == 200
