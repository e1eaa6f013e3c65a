"""Which webhooks a real API server would call about a request: its own code evaluates our match conditions."""

import atexit
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from usher.config import models
from usher.install.manifests import conditions
from usher.install.manifests.webhooks import Calls, Client, configurations
from usher.kinds.registry import WORKLOADS
from usher.policy.checks import catalogue

SCRIPT: Final = Path(__file__).parents[1] / "scripts" / "conditions"

needs_go: Final = pytest.mark.skipif(shutil.which("go") is None, reason="needs Go, to ask the API server's own code")

ACCELERATORS: Final = "accelerators.gpu-usher.io"
OTHERS: Final = "validate.gpu-usher.io"
CALLED: Final = "called"

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The results of the match conditions of each webhook; a text is the error of a condition."""

    webhooks: Mapping[str, str]
    unreadable: str = ""
    """Why no API server takes the Pod; empty if it does."""

    @property
    def fails_closed(self) -> bool:
        """Whether the API server refuses the request while usher does not answer; a failing condition refuses too."""
        return self.webhooks[ACCELERATORS] != "skipped"

    @property
    def judged(self) -> list[str]:
        """The webhooks about workloads that are called."""
        return [name for name in (ACCELERATORS, OTHERS) if self.webhooks[name] == CALLED]


def creation(value: Object, **changed: Any) -> Object:
    """A request to create an object, by a tenant, where nothing else is said."""
    group = value["apiVersion"].rpartition("/")[0]
    request = {"operation": "CREATE", "resource": WORKLOADS[group, value["kind"]].plural, "object": value}
    return {**request, "namespace": "team-a", "user": "ada", "groups": ["devs"], **changed}


def update(before: Object, after: Object, **changed: Any) -> Object:
    return creation(after, **{"operation": "UPDATE", "oldObject": before, **changed})


def configuration(config: models.Config | None = None) -> Object:
    """The validating configuration of a site where Pods with accelerators fail closed."""
    site = config or models.Config()
    failing = conditions.fail_closed_conditions(site, catalogue.load().catalogue)
    calls = Calls(validate_failure_policy="Fail")
    _, validating = configurations(client=Client(), config=site, calls=calls, failing=failing)
    return validating


def answers(requests: Iterable[Object], *, of: Object | None = None) -> Sequence[Answer]:
    process = _process(json.dumps(of or configuration()))
    assert process.stdin is not None
    assert process.stdout is not None
    found = []
    for request in requests:
        process.stdin.write(f"{json.dumps(request)}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, f"{SCRIPT} ended; it says why on standard error"
        found.append(json.loads(line))
    return [Answer(webhooks=one.get("webhooks", {}), unreadable=one.get("unreadable", "")) for one in found]


_running: Final[dict[str, subprocess.Popen[str]]] = {}
_MOST: Final = 4


def _process(webhooks: str) -> subprocess.Popen[str]:
    """A process that has these webhooks: to compile their conditions takes most of the time of a test."""
    if webhooks not in _running:
        while len(_running) >= _MOST:
            _end(_running.pop(next(iter(_running))))
        process = subprocess.Popen([SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        process.stdin.write(f"{webhooks}\n")
        _running[webhooks] = process
    return _running[webhooks]


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.kill()


@atexit.register
def _end_all() -> None:
    for process in _running.values():
        _end(process)


def answer(request: Object, *, of: Object | None = None) -> Answer:
    (found,) = answers([request], of=of)
    assert not found.unreadable, found.unreadable
    return found
