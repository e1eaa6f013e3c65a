"""The file of a baseline."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors
from usher.check import baseline
from usher.check.findings import Fingerprint

texts = st.text(max_size=8)
keys = st.builds(Fingerprint, texts, texts, texts, texts, texts, texts, texts)


@given(st.dictionaries(keys, st.integers(1, 5), max_size=6))
def test_a_file_holds_what_was_written(known: dict[Fingerprint, int]) -> None:
    assert baseline.loads(baseline.dumps(Counter(known)), source="b.json") == known


def test_the_order_of_a_file_does_not_follow_from_the_order_of_findings() -> None:
    first, second = (Fingerprint("c", "v1", "Pod", "n", name, "/spec", "m") for name in "ab")

    assert baseline.dumps(Counter([first, second])) == baseline.dumps(Counter([second, first]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"apiVersion": "v1", "kind": "Baseline", "findings": []}',
        b'{"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Baseline", "findings": [{"check": 1}]}',
        b'{"apiVersion": "gpu-usher.io/v1alpha1", "kind": "Baseline", "findings": [], "more": 1}',
        b"\xff",
    ],
)
def test_another_file_is_refused_with_its_name(content: bytes) -> None:
    with pytest.raises(errors.InputError, match=r"^b\.json: not a baseline .* make one with --write-baseline$"):
        baseline.loads(content, source="b.json")
