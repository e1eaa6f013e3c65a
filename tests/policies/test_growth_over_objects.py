"""The work of `usher check` grows with the number of objects beside each other, not with the number of their pairs.

Calls of functions are counted, which are the same on every machine. A function that is called for each pair shows with
few objects already.
"""

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest
import record_findings
import yaml

import generated_examples
from usher.check import findings, judging, runner, sources
from usher.config import models

OBJECTS: Final = Path(__file__).parents[1] / "data" / "growth" / "objects.yaml"
"""Objects that rules look at together, each with `{i}` where it differs from the others of its kind."""

GROUPS: Final[dict[str, str]] = {
    "ports of services and routes": "deployment service ingress",
    "ports that monitors scrape": "deployment service monitor",
    "configurations and nodes": "config-map node",
    "daemons and nodes": "daemon node",
    "jobs and nodes": "job node",
    "gangs beside deployments": "pytorch-job deployment",
    "pods and volumes": "pod volume-claim",
    "claims, classes and slices": "pod claim class slice",
    "queues, flavors and jobs": "job local-queue cluster-queue flavor",
    "node pools and jobs": "job node-pool",
    "autoscalers": "deployment autoscaler scaled-object",
    "budgets": "deployment budget",
    "webhooks": "deployment service webhook",
    "groups of kubernetes": "grouped-job pod-group",
    "groups of volcano": "volcano-job volcano-queue priority-class",
    "runtimes of services": "inference-service serving-runtime volume-claim",
    "runtimes of jobs": "train-job training-runtime",
    "quotas": "job quota",
}

SIZES: Final = (6, 12, 24)
FOR_EACH_PAIR: Final = 3.5
"""The growth of calls from the second to the third size, by that from the first to the second: 2 for calls that each
object causes, 4 for those of pairs."""
FEW: Final = 100
"""Calls between the first and the second size; pairs of one kind with another are 108. With fewer, what is remembered
after some objects decides."""

KNOWN: Final = frozenset({
    # Each class counts for each group; there are few of both.
    "authorities/priority.py",
    # Pods of any flavor of a queue may get any node: flavors and node pools are few as well.
    "nodes/places.py", "nodes/selected_pools.py", "nodes/several.py",
    # Lines of documents that are not remembered yet; a file is read once.
    "documents/plain.py",
})  # fmt: skip
"""The files of functions that may be called for each pair."""


@cache
def texts() -> dict[str, str]:
    named: dict[str, Any] = yaml.safe_load(OBJECTS.read_text())
    return {name: yaml.dump(value, Dumper=yaml.CSafeDumper) for name, value in named.items()}


def work(kinds: str, number: int) -> Counter[str]:
    """The calls of each function of usher for so many objects of each kind."""
    content = "---\n".join(texts()[name].replace("{i}", str(i)) for i in range(number) for name in kinds.split())
    evaluator = record_findings.evaluator_with(models.Config())
    settings = judging.Settings(command=findings.Command.CHECK, mutated=True)
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    sys.setprofile(note)
    try:
        batch = sources.parse_content(content.encode(), source="a.yaml", explicit=True)
        runner.run([batch], evaluator=evaluator, settings=settings)
    finally:
        sys.setprofile(None)
    found: Counter[str] = Counter()
    for code, number_of_calls in calls.items():
        if "/usher/" in code.co_filename:
            name = f"{code.co_filename.rpartition('/usher/')[2]}:{code.co_firstlineno} {code.co_name}"
            found[name] += number_of_calls
    return found


@pytest.mark.costly
@pytest.mark.parametrize("kinds", generated_examples.in_turn(GROUPS.values(), every=6), ids=str)
def test_no_function_is_called_for_each_pair_of_objects(kinds: str) -> None:
    small, middle, large = (work(kinds, number) for number in SIZES)

    steep = {
        name: (middle[name] - small[name], large[name] - middle[name])
        for name in large
        if middle[name] - small[name] > FEW
        and large[name] - middle[name] > FOR_EACH_PAIR * (middle[name] - small[name])
        and not any(name.partition(":")[0].endswith(known) for known in KNOWN)
    }

    assert steep == {}


@pytest.mark.thorough
@pytest.mark.parametrize("kinds", GROUPS.values(), ids=str)
def test_four_times_the_objects_take_four_times_the_work(kinds: str) -> None:
    few, many = (work(kinds, number) for number in (75, 300))

    assert sum(many.values()) < (6 if "quota" in kinds else 4.6) * sum(few.values())
