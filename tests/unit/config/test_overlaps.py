"""Whether two entries of usher.yaml are for the same workloads."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.config.selection import Selector, entries_overlap, entry_covers

patterns = st.text(alphabet="ab*", min_size=1, max_size=5)
names = st.text(alphabet="ab", min_size=1, max_size=5)


def entry(*namespaces: str, **fields: object) -> Selector:
    return Selector.model_validate({"namespaces": list(namespaces), **fields})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (entry("*"), entry("ml-*")),
        (entry("ml-*"), entry("ml-a", "ml-b*")),
        (entry("a", "b"), entry("b")),
        (entry("*"), entry("*", kinds=["Job"])),
        (entry("*", kinds=["Job", "JobSet"]), entry("*", kinds=["Job"], roles=["training"])),
        (entry("*", min_accelerators=2), entry("*", min_accelerators=8, max_accelerators=16)),
        (entry("*", max_accelerators=8), entry("*", max_accelerators=8)),
    ],
)
def test_an_entry_that_is_for_all_of_another_covers_it(first: Selector, second: Selector) -> None:
    assert entry_covers(first, second)
    assert entries_overlap(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (entry("ml-a"), entry("ml-*")),
        (entry("*", kinds=["Job"]), entry("*")),
        (entry("*", roles=["training"]), entry("*", roles=["training", "batch"])),
        (entry("*", min_accelerators=8), entry("*")),
        (entry("*", max_accelerators=8), entry("*")),
        (entry("*-a"), entry("ml-*")),
    ],
)
def test_an_entry_that_is_for_some_of_another_overlaps_it(first: Selector, second: Selector) -> None:
    assert not entry_covers(first, second)
    assert entries_overlap(first, second)
    assert entries_overlap(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (entry("ml-*"), entry("web-*")),
        (entry("*", kinds=["Job"]), entry("*", kinds=["JobSet"])),
        (entry("*", roles=["training"]), entry("*", roles=["batch"])),
        (entry("*", max_accelerators=7), entry("*", min_accelerators=8)),
    ],
)
def test_entries_for_different_workloads_do_not_overlap(first: Selector, second: Selector) -> None:
    assert not entries_overlap(first, second)
    assert not entries_overlap(second, first)


@given(first=patterns, second=patterns, name=names)
def test_a_name_that_fits_a_covered_pattern_fits_the_covering_pattern(first: str, second: str, name: str) -> None:
    if entry_covers(entry(first), entry(second)) and fnmatchcase(name, second):
        assert fnmatchcase(name, first)


@given(first=patterns, second=patterns, name=names)
def test_patterns_with_a_name_in_common_overlap(first: str, second: str, name: str) -> None:
    if fnmatchcase(name, first) and fnmatchcase(name, second):
        assert entries_overlap(entry(first), entry(second))


@given(first=patterns, second=patterns)
def test_patterns_that_overlap_have_a_name_in_common(first: str, second: str) -> None:
    """Looked for among all names of these characters that are no longer than both patterns together."""
    if entries_overlap(entry(first), entry(second)):
        longest = len(first.replace("*", "")) + len(second.replace("*", ""))
        every = [""]
        for _ in range(longest):
            every += [name + letter for name in every[-(2 ** len(every[-1])) :] for letter in "ab"]
        assert any(fnmatchcase(name, first) and fnmatchcase(name, second) for name in every)
