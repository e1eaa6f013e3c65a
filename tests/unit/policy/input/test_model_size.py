"""The size of a model stands in an annotation, which to the API server may hold any text."""

import pytest

from usher.policy.input.pod_sets import model_size


def test_the_quantity_of_the_annotation_is_an_amount() -> None:
    annotations = {"other": "2Gi", "gpu-usher.io/model-size": "1Ki"}

    assert model_size(annotations) == {"text": "1024", "value": 1024, "milli": 1024000, "whole": True}


def test_nothing_is_a_size_too() -> None:
    assert model_size({"gpu-usher.io/model-size": "0"}) == {"text": "0", "value": 0, "milli": 0, "whole": True}


@pytest.mark.parametrize("text", ["", "large", "14 GB", "-1Gi", "1" * 65])
def test_a_text_that_is_not_a_quantity_gives_no_size(text: str) -> None:
    assert model_size({"gpu-usher.io/model-size": text}) is None


def test_other_annotations_give_no_size() -> None:
    assert model_size({"gpu-usher.io/role": "1", "model-size": "4096"}) is None
