"""The benchmark of reviews beside Gatekeeper and Kyverno: equal rules, and the parts of a review."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import structlog

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def loaded() -> Iterator[tuple[ModuleType, ModuleType]]:
    """`fresh` and `review_parts`, which find each other in their folder, as scripts/bench runs them.

    The second configures the log, as a server does.
    """
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("fresh"), importlib.import_module("review_parts")
    structlog.reset_defaults()
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == BENCHMARKS:
            del sys.modules[name]


@pytest.mark.parametrize("kind", ["read", "names", "job"])
def test_the_five_rules_of_usher_find_the_wrong_pods_and_no_other(
    loaded: tuple[ModuleType, ModuleType], kind: str
) -> None:
    fresh, _ = loaded
    evaluator = fresh.assembly.embedded(fresh.configuration("benchmarks/peers/usher.yaml"))
    bodies = fresh.bodies("", "ml-research", "", kind, 40)["/validate"]

    found = [place for place, body in enumerate(bodies) if fresh.webhooks.validate(body, evaluator).outcomes]

    evaluator.engine.close()
    assert found == [9, 19, 29, 39]


def test_each_part_of_a_fresh_review_takes_time_and_a_remembered_one_asks_no_engine(
    loaded: tuple[ModuleType, ModuleType],
) -> None:
    fresh, review_parts = loaded
    bodies = fresh.bodies("", "ml-research", "", "read", fresh.WARM + 4)["/validate"]

    taken = review_parts.measured("", "/validate", bodies, remembered=False)
    again = review_parts.measured("", "/validate", bodies, remembered=True)

    assert [part for part, milliseconds in taken.items() if not milliseconds] == []
    assert [part for part, milliseconds in again.items() if not milliseconds] == ["document", "engine"]
