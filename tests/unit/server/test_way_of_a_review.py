"""A review is a short way, and docs/architecture.md shows it."""

import asyncio
import re
from collections.abc import Iterator
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
from usher.policy.input import document
from usher.policy.mutation import merge
from usher.review import webhooks
from usher.server.metrics import Metrics
from usher.server.reloading import Current
from usher.server.reviews import Reviews

ROOT = Path(__file__).parents[3]
LIKE, FIRST = 25, 48
"""The most modules that a review of a Pod may enter: of one like a Pod before, and of a first one."""

_DETAILS = {
    document.cluster_input.__code__,
    merge.merge.__code__,
    merge.verified.__code__,
    webhooks.forgive_missed_mutations.__code__,
}
"""What depends on the facts of the cluster, on the mutations that a Pod needs, and on those that it missed."""


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    """One that knows usher.yaml of the example and a cluster, and has decided about other Pods."""
    made = assembly.embedded(load.load(ROOT / "examples/usher.yaml"), facts=alike_pods.everything())
    yield made
    made.engine.close()


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


@pytest.mark.parametrize("endpoint", ["validate", "mutate"])
def test_the_way_is_the_one_that_the_docs_show_and_it_is_short(evaluator: Evaluator, endpoint: str) -> None:
    first, like = ways(evaluator, f"/{endpoint}")
    text = (ROOT / "docs/architecture.md").read_text()
    entered = {"a like": like, "also a first": [name for name in first if name not in like]}
    lines = {
        f"* `/{endpoint}`, {way} Pod: {', '.join(f'`{name}`' for name in names)}." for way, names in entered.items()
    }

    assert lines <= set(re.sub(r"\n  (?=`)", " ", text).splitlines())
    assert len(like) <= LIKE
    assert len(first) <= FIRST
