"""The file of a baseline."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors
from usher.check import changes
from usher.check.changes import KnownFinding

texts = st.text(max_size=8)
amounts = st.dictionaries(texts, st.sampled_from(["1", "80", "0.5", "80+"]), max_size=2).map(
    lambda found: tuple(sorted(found.items()))
)
keys = st.builds(KnownFinding, *[texts] * 8, amounts)


@given(st.dictionaries(keys, st.integers(1, 5), max_size=6))
def test_a_file_holds_what_was_written(known: dict[KnownFinding, int]) -> None:
    assert changes.read_baseline(changes.baseline_bytes(Counter(known)), source="b.json") == known


def test_the_order_of_a_file_does_not_follow_from_the_order_of_findings() -> None:
    first, second = (KnownFinding("c", "v1", "Pod", "n", name, "/spec", "m", "", (("pods", "1"),)) for name in "ab")

    assert changes.baseline_bytes(Counter([first, second])) == changes.baseline_bytes(Counter([second, first]))


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
        changes.read_baseline(content, source="b.json")


@pytest.mark.parametrize(
    ("known", "found", "covered"),
    [
        ("80", "80", True),
        ("80", "8", True),
        ("80", "81", False),
        ("80", "80000", False),
        ("0.5", "0.25", True),
        ("80", "80+", False),
        ("80+", "80000", True),
        ("80+", "80000+", False),
        ("80+", "80+", True),
    ],
)
def test_an_entry_covers_a_finding_about_no_more(known: str, found: str, covered: bool) -> None:
    entry, other = (KnownFinding("c", "v1", "Job", "n", "a", "", "m", "", (("pods", text),)) for text in (known, found))

    assert entry.covers(other) is covered


def test_an_entry_covers_no_finding_about_other_accelerators() -> None:
    entry = KnownFinding("c", "v1", "Job", "n", "a", "", "m", "", (("nvidia.com/gpu", "8"),))

    assert not entry.covers(entry._replace(amounts=(("amd.com/gpu", "1"), ("nvidia.com/gpu", "8"))))
    assert entry.covers(entry._replace(amounts=()))
