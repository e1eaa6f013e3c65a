"""Measures the embedded engine for one document with every check on, and compares it with our own limit.

Machines differ and are shared, so a loop in plain Python, timed in the same rounds, measures the speed of this machine.
"""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

import objects
import sections
import yardstick
from usher.config.load import load
from usher.policy import assembly
from usher.policy.checks import catalogue
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.wasm import WasmEngine
from usher.review import admission_review
from usher.workloads.normalise import normalise

ROOT = Path(__file__).parents[1]
ROUNDS = 60

LIMIT = 0.30
"""Milliseconds for the findings about a GPU pod of 4 kB."""


def main() -> None:
    sections.publish("engine", lambda: "\n".join(report()), description=__doc__)


def report() -> list[str]:
    policies = catalogue.load()
    engine = WasmEngine(policies.module)
    document = input_document()
    findings = f"findings of {len(policies.catalogue.checks)} checks about a GPU pod, {len(document)} bytes of input"
    cases: dict[str, Callable[[], object]] = {
        findings: partial(engine.evaluate, Entrypoint.FINDINGS, document),
        f"intents of {len(policies.catalogue.mutations)} mutations about it": partial(
            engine.evaluate, Entrypoint.INTENTS, document
        ),
        yardstick.NAME: yardstick.add_up,
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, call in cases.items():
            taken[name].append(yardstick.measured(call))
    unit = statistics.median(taken[yardstick.NAME])
    lines = ["| evaluation | processor ms: median (min-max) | of the yardstick |", "| --- | ---: | ---: |"]
    for name, values in taken.items():
        median = statistics.median(values)
        lines.append(f"| {name} | {median:.3f} ({min(values):.3f}-{max(values):.3f}) | {median / unit:.2f} |")
    share = statistics.median(taken[findings]) / LIMIT
    return [*lines, "", f"The limit for the findings is {LIMIT:.2f} ms: the median is {share:.2f} of it."]


def input_document() -> bytes:
    """The input document that the webhook makes for the pod of the other benchmarks."""
    evaluator = assembly.embedded(load(ROOT / "examples" / "usher.yaml"))
    request = admission_review.request_of(admission_review.parse(objects.review(objects.gpu_pod())))
    workload = normalise(request.value, vocabulary=evaluator.vocabulary, namespace=request.namespace)
    assert workload is not None
    return evaluator.documents.build(workload, review={"operation": "CREATE", "subResource": "", "by": []})


if __name__ == "__main__":
    main()
