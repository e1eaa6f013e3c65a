from collections.abc import Iterator

import pytest

from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    """An evaluator with the defaults."""
    made = assembly.embedded(models.Config())
    yield made
    made.engine.close()
