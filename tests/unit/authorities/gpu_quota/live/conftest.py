from collections.abc import Iterator

import pytest

from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, gpu_quota


@pytest.fixture
def api() -> MemoryApi:
    """An API server with two namespaces and a GPUQuota of 16 GPUs for all."""
    made = MemoryApi()
    for namespace in ("ml", "other"):
        made.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    made.apply(gpu_quota())
    return made


@pytest.fixture
def replica(api: MemoryApi) -> Iterator[Replica]:
    """A process that charges and has seen all of that."""
    made = Replica(api)
    made.watch()
    yield made
    made.close()
