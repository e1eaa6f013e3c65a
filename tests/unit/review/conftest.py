"""Shared fixtures of the tests of reviews."""

from collections.abc import Iterator

import pytest

from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    evaluator = assembly.embedded(models.Config())
    yield evaluator
    evaluator.engine.close()
