"""A review is a short way, and docs/architecture.md shows it."""

import asyncio
import re
from pathlib import Path

import pytest

import builders
from reviews import body
from unit.policy import alike_pods
from unit.server.asgi import call, chunks
from unit.server.modules_entered import modules_entered
from usher.config import load
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.policy.input import document as input_document
from usher.policy.mutation import merge
from usher.review import webhooks
from usher.server.metrics import Metrics
from usher.server.reloading import Current
from usher.server.reviews import Reviews

ROOT = Path(__file__).parents[3]
LIKE, FIRST = 21, 36
"""The most modules that a review of a Pod may enter: of one like a Pod before, and of a first one."""

_DETAILS = {
    input_document.cluster_input.__code__,
    merge.merge.__code__,
    merge.verified.__code__,
    webhooks.forgive_missed_mutations.__code__,
}
"""Functions that depend on the facts of the cluster, on the mutations that a Pod needs, and on those that it missed."""


def ways(evaluator: Evaluator, path: str) -> tuple[list[str], list[str]]:
    """The modules that a review of a first Pod enters, and those of one like it."""
    current = Current(evaluator, file=None, make=lambda _: evaluator)
    app = Reviews(current=current, metrics=Metrics(engine="wasm", revision="test"), stopping=lambda: False)

    def entered(number: int, image: str) -> list[str]:
        value = builders.replaced(alike_pods.worker(number), "/spec/containers/0/image", f"{path}:{image}")
        review = call(app, path, chunks(body(value)))
        return modules_entered(lambda: asyncio.run(review), without=_DETAILS)

    entered(0, "other")
    first, _, like = (entered(number, "this") for number in range(1, 4))
    return first, like


@pytest.fixture
def entered() -> dict[str, tuple[list[str], list[str]]]:
    """By endpoint, the modules of a like Pod, and those that a first Pod enters as well.

    The evaluator of each knows usher.yaml of the example and a cluster, and has decided about other Pods.
    """
    found = {}
    for endpoint in ("validate", "mutate"):
        evaluator = assembly.embedded(load.load(ROOT / "examples/usher.yaml"), facts=alike_pods.everything())
        first, like = ways(evaluator, f"/{endpoint}")
        evaluator.engine.close()
        assert len(like) <= LIKE
        assert len(first) <= FIRST
        found[endpoint] = like, [name for name in first if name not in like]
    return found


def test_the_way_is_the_one_that_the_docs_show_and_it_is_short(
    entered: dict[str, tuple[list[str], list[str]]],
) -> None:
    """A line of the page is for both endpoints, or for what one of them enters and the other does not."""
    text = (ROOT / "docs/architecture.md").read_text()
    shown = re.findall(r"^\* (.+? Pod), (.+?): (`.+)\.$", re.sub(r"\n  (?=`)", " ", text), flags=re.MULTILINE)
    expected = []
    for number, pod in enumerate(("A like Pod", "Also a first Pod")):
        validate, mutate = (entered[endpoint][number] for endpoint in ("validate", "mutate"))
        lists = {
            "both endpoints": [name for name in validate if name in mutate],
            "`/validate` alone": [name for name in validate if name not in mutate],
            "`/mutate` alone": [name for name in mutate if name not in validate],
        }
        expected += [(pod, way, ", ".join(f"`{name}`" for name in names)) for way, names in lists.items() if names]

    assert shown == expected
