"""However a manifest spells it, the floor says what the checks say: paths, variables and amounts, one by one."""

from typing import Any, Final

import pytest
import record_findings

import builders
from integration.test_floor import denied, denied_by_usher
from match_conditions import Object, creation, needs_go
from usher.config import models

pytestmark = [needs_go, pytest.mark.process]

_PATHS: Final = (
    *("/dev/nvidia0", "dev/nvidia0", "//dev//./nvidia0", "/dev/nvidiactl/", "/dev/dri", "/dev/dri/card0", "/dev/drive"),
    *("/dev/shm", "/var/run/nvidia/driver", "/run/nvidia", "/sys/devices/pci0000:00", "/data"),
    *("/proc/1/root/dev/kfd", "/proc/self/cwd/dev/kfd", "/proc/1/rootdev/kfd"),
)  # fmt: skip
_REFERENCE: Final = {"valueFrom": {"configMapKeyRef": {"name": "mine", "key": "x"}}}
_VARIABLES: Final[tuple[tuple[Any, ...], ...]] = (
    *(("all",), ("void",), ("",), ("none",), ("$(X)",), (_REFERENCE,), ("void", "all"), ("all", "void")),
    *((_REFERENCE, "void"), ("void", _REFERENCE)),
)  # fmt: skip
_AMOUNTS: Final[tuple[tuple[Any, Any], ...]] = (
    *((None, 1), (None, "1"), (None, 0.5), (None, "0.5"), (None, "500m"), (None, "1000m"), (None, "1500m")),
    *((None, "1.0"), (None, "2k"), (None, "1e3"), (None, 0), (None, "x"), (None, "-1"), (None, None)),
    *((1, 1), ("1", 1), (1, "1000m"), (1, 2), (1, None), (0, None), (0, 1), (2, 0), ("0.5", "0.5"), (2.0, 2)),
)  # fmt: skip
"""Requests and limits; None where there is not one."""


def host_path(path: str) -> Object:
    return dict(builders.pod(volumes=[{"name": "v", "hostPath": {"path": path}}]))


def variable(*values: Any) -> Object:
    entries: Any = [
        {"name": "NVIDIA_VISIBLE_DEVICES", **(each if isinstance(each, dict) else {"value": each})} for each in values
    ]
    return dict(builders.replaced(builders.pod(), "/spec/containers/0/env", entries))


def job(request: Any, limit: Any, name: str = "nvidia.com/gpu") -> Object:
    """A job of an operator, whose amounts no API server checks."""
    given: Any = {"requests": request, "limits": limit}
    lists: Any = {key: {name: value} for key, value in given.items() if value is not None}
    template = builders.template(builders.container("pytorch", **lists))
    spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "x"}, "spec": spec}


SPELLINGS: Final[dict[str, Object]] = {
    **{path: host_path(path) for path in _PATHS},
    **{f"variable {values}": variable(*values) for values in _VARIABLES},
    **{f"amounts {amounts}": job(*amounts) for amounts in _AMOUNTS},
    "amounts of MIG": job(1, 2, "nvidia.com/mig-1g.10gb"),
    "amounts of a share": job(None, "0.5", "aliyun.com/gpu-mem"),
    "amounts of a network card": job(1, None, "rdma/hca"),
    "amounts of a look-alike": job(1, None, "example.com/my-gpu"),
}


def test_every_spelling_gets_the_verdict_of_the_checks() -> None:
    evaluator = record_findings.evaluator_with(models.Config())
    found = denied([creation(value) for value in SPELLINGS.values()], models.Config())
    seen = dict(zip(SPELLINGS, found, strict=True))

    assert seen == {name: denied_by_usher(evaluator, value) for name, value in SPELLINGS.items()}


@pytest.mark.parametrize("paths", [["/dev/video*"], []], ids=["other paths", "without paths"])
def test_paths_that_no_namespaces_share_refuse_nothing(paths: list[str]) -> None:
    """Nearly every Pod has a volume, with its token."""
    parameters = [{"check": "host-path-to-devices", "namespaces": ["edge"], "values": {"paths": paths}}]
    token: Any = {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    ordinary: Any = [dict(builders.pod(volumes=[token])), host_path("/data")]

    found = denied([creation(each) for each in ordinary], models.Config.model_validate({"parameters": parameters}))

    assert list(found) == [set(), set()]


def test_paths_that_all_namespaces_share_are_still_refused() -> None:
    parameters = [
        {"check": "host-path-to-devices", "namespaces": ["edge"], "values": {"paths": ["/dev/kfd", "/dev/video*"]}}
    ]
    asked = [creation(host_path(path)) for path in ("/dev/kfd", "/dev/video0")]

    assert list(denied(asked, models.Config.model_validate({"parameters": parameters}))) == [{"USH204"}, set()]
