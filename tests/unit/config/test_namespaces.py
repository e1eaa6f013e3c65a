"""Patterns of namespaces, in which nothing but `*` is special."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.config import selection

NAMES = st.text("ab-", max_size=6)


@pytest.mark.parametrize(
    ("namespace", "patterns", "fits"),
    [
        ("research", ["research"], True),
        ("research", ["research-*"], False),
        ("research-a", ["research-*"], True),
        ("research-", ["research-*"], True),
        ("research-a", ["*"], True),
        ("", ["*"], True),
        ("", [], False),
        ("", ["a"], False),
        ("a", ["b", "a"], True),
        ("team-a-prod", ["team-*-prod"], True),
        ("team-a-production", ["team-*-prod"], False),
        ("xteam-a-prod", ["team-*-prod"], False),
        ("aXb", ["a.b"], False),
        ("a\nb", ["a*b"], True),
    ],
)
def test_a_namespace_fits_a_pattern_as_a_whole(namespace: str, patterns: list[str], fits: bool) -> None:
    assert selection.matches_pattern(namespace, patterns) is fits


@given(NAMES, NAMES, NAMES)
def test_a_star_stands_for_anything(before: str, between: str, after: str) -> None:
    assert selection.matches_pattern(before + between + after, [f"{before}*{after}"])


@given(NAMES, NAMES)
def test_a_pattern_without_a_star_is_a_name(namespace: str, pattern: str) -> None:
    assert selection.matches_pattern(namespace, [pattern]) is (namespace == pattern)
