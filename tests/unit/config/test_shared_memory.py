"""usher.yaml bounds shared memory, and rules see it."""

import pydantic
import pytest

from usher import paths
from usher.config import models, sections


def test_training_gets_it_unless_usher_yaml_names_other_roles() -> None:
    settings = models.Config().shared_memory

    assert settings.roles == ["training"]
    assert settings.size is None
    assert settings.fallback is None


@pytest.mark.parametrize(("size", "mebibytes"), [("16Gi", 16384), ("65Mi", 65), ("1G", 953), ("1.5Gi", 1536)])
def test_a_size_is_rounded_down_to_mebibytes(size: str, mebibytes: int) -> None:
    config = models.Config.model_validate({"sharedMemory": {"size": size}})

    assert config.shared_memory.size is not None
    assert sections.size_in_mebibytes(config.shared_memory.size) == mebibytes


@pytest.mark.parametrize("size", ["64Mi", "0", "-1Gi", "much", ""])
def test_a_size_that_brings_nothing_or_is_not_a_quantity_is_refused(size: paths.Json) -> None:
    with pytest.raises(pydantic.ValidationError):
        models.Config.model_validate({"sharedMemory": {"fallback": size}})
