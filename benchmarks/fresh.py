"""Measures first reviews of three kinds of GPU pods, a tenth of them wrong, with two configurations, in this process.

From the bytes of a review to the bytes of its answer; without TLS, HTTP, log and metrics, which `review` measures. The
webhook `/mutate` gets the pods as users send them, and `/validate` as they come out of it, except for the wrong ones:
their mutations were missed. Each round begins with new evaluators, so nothing is remembered from an earlier one. The
rows take turns, so a busy machine slows all of them.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import objects
import sections
import yardstick
from usher import paths
from usher.config import models
from usher.config.load import load
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.review import admission_review, webhooks
from usher.review.admission_review import Answer

ROOT = Path(__file__).parents[1]
ROUNDS = 4
REVIEWS = 200
WARM = 20

PODS = {
    "read": "pods that differ in what rules read",
    "names": "pods that differ in names, images and variables",
    "job": "pods of one job",
}
SITES = {
    "no configuration": ("", "ml-research", ""),
    "`examples/usher.yaml`": ("examples/usher.yaml", "ml-research", ""),
    "the same, in a queue that takes no Pods": ("examples/usher.yaml", "research-nlp", "research"),
}
"""Configuration, namespace and queue of the pods."""


ANSWERS: Mapping[str, Callable[[bytes, Evaluator], Answer]] = {
    "/validate": webhooks.validate,
    "/mutate": webhooks.mutate,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    pods: str
    site: str
    path: str
    config: models.Config
    bodies: Sequence[bytes]

    def measure(self) -> tuple[float, int]:
        """Milliseconds of processor time for a review, and the number of denials."""
        evaluator = assembly.embedded(self.config)
        answer = ANSWERS[self.path]
        for body in self.bodies[:WARM]:
            answer(body, evaluator)
        gc.collect()
        before = time.process_time()
        denied = sum(not answer(body, evaluator).allowed for body in self.bodies[WARM:])
        taken = (time.process_time() - before) / (len(self.bodies) - WARM) * 1000
        evaluator.engine.close()
        return taken, denied


def main() -> None:
    sections.publish("fresh", lambda: "\n".join(report(list(rows()))), description=__doc__)


def rows() -> list[Row]:
    found = []
    for site, (file, namespace, queue) in SITES.items():
        config = configuration(file)
        for kind, pods in PODS.items():
            by_path = bodies(file, namespace, queue, kind, REVIEWS + WARM)
            found += [
                Row(pods=pods, site=site, path=path, config=config, bodies=by_path[path])
                for path in ("/validate", "/mutate")
            ]
    return found


def configuration(file: str) -> models.Config:
    return load(ROOT / file) if file else models.Config()


def bodies(file: str, namespace: str, queue: str, kind: str, number: int) -> dict[str, list[bytes]]:
    """The reviews that each webhook gets about that many pods of a kind, by its path."""
    evaluator = assembly.embedded(configuration(file))
    sent = objects.review_pods(kind, number, namespace=namespace, queue=queue)
    mutated = [value if objects.is_wrong(place) else mutate(evaluator, value) for place, value in enumerate(sent)]
    evaluator.engine.close()
    return {
        path: [objects.review(value, namespace=namespace) for value in values]
        for path, values in (("/mutate", sent), ("/validate", mutated))
    }


def mutate(evaluator: Evaluator, value: paths.Object) -> paths.Object:
    review = admission_review.parse(objects.review(value, namespace=str(paths.metadata(value).get("namespace"))))
    return evaluator.mutate(admission_review.request_of(review)).value


def report(measured: Sequence[Row]) -> list[str]:
    taken: list[list[float]] = [[] for _ in measured]
    denied = [0 for _ in measured]
    unit = []
    for _ in range(ROUNDS):
        unit.append(yardstick.measured(yardstick.add_up))
        for number, row in enumerate(measured):
            milliseconds, denied[number] = row.measure()
            taken[number].append(milliseconds)
    sizes = [len(body) for row in measured for body in row.bodies]
    lines = [
        f"{REVIEWS} reviews of {min(sizes)} to {max(sizes)} bytes in each row, every tenth pod wrong; {ROUNDS} rounds.",
        "",
        "| reviews | configuration | denied | processor ms: least | median | least, of the yardstick |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row, values, number in zip(measured, taken, denied, strict=True):
        figures = f"{min(values):.3f} | {statistics.median(values):.3f} | {min(values) / min(unit):.1f}"
        lines.append(f"| `{row.path}`, {row.pods} | {row.site} | {number} | {figures} |")
    return [*lines, "", f"The yardstick: 3,000 additions in a loop of Python took {min(unit):.3f} ms at least."]


if __name__ == "__main__":
    main()
