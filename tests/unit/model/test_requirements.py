"""Label selectors take what the API server says they take."""

import pytest

from builders import expression
from usher import paths
from usher.model.placement import selector_matches

LABELS = {"team": "research", "tier": ""}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": None, "matchExpressions": None}, True),
        ({"matchLabels": {"team": "research"}}, True),
        ({"matchLabels": {"team": "serving"}}, False),
        ({"matchLabels": {"zone": ""}}, False),
        ({"matchLabels": {"tier": None}}, True),
        ({"matchExpressions": [expression("team", "In", "research", "serving")]}, True),
        ({"matchExpressions": [expression("team", "NotIn", "research")]}, False),
        ({"matchExpressions": [expression("zone", "NotIn", "a")]}, True),
        ({"matchExpressions": [expression("team", "Exists")]}, True),
        ({"matchExpressions": [expression("zone", "DoesNotExist")]}, True),
        ({"matchLabels": {"team": "research"}, "matchExpressions": [expression("zone", "Exists")]}, False),
    ],
)
def test_all_conditions_must_hold(selector: paths.Json, expected: bool) -> None:
    assert selector_matches(selector, LABELS) is expected


@pytest.mark.parametrize(
    "selector",
    [
        "team=research",
        {"matchLabels": ["team"]},
        {"matchLabels": {"team": 1}},
        {"matchExpressions": {"key": "team"}},
        {"matchExpressions": 7},
        {"matchExpressions": ["team"]},
        {"matchExpressions": [expression("team", "In")]},
        {"matchExpressions": [expression("team", "Gt", "1")]},
        {"matchExpressions": [expression("team", "Like", "r*")]},
    ],
)
def test_an_invalid_selector_gives_no_answer(selector: paths.Json) -> None:
    assert selector_matches(selector, LABELS) is None
