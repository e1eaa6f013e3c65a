"""Selectors of devices: what CEL selects, what fails in the scheduler too, and what usher does not evaluate.

Rows with a number are from k8s.io/dynamic-resource-allocation 0.36.3, cel/compile_test.go, at that line.
"""

import time

import pytest

from usher import quantities
from usher.accelerators.device_selectors import NotEvaluated, SelectorError, Subject, Version, compiled

D = 'device.attributes["dra.example.com"]'
C = 'device.capacity["dra.example.com"]'


def subject(**attributes: object) -> Subject:
    return Subject(
        "dra.example.com",
        {("dra.example.com", name): value for name, value in attributes.items()},
        {("dra.example.com", "memory"): quantities.parse("80Gi"), ("dra.example.com", "name"): quantities.parse("1Mi")},
    )


DEVICE = subject(
    name="fish", size=4, ready=True, version=Version.parse("1.2.3"), services="example.com,example.org", type="gpu"
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", True),  # 67
        ("false", False),  # 71
        ('device.driver == ""', False),  # 104
        ('device.driver == "dra.example.com"', True),  # 109
        (f"{D}.ready", True),  # 115
        (f'{D}["ready"]', True),  # 122
        (f"cel.bind(dra, {D}, dra.ready)", True),  # 129
        (f"{D}.size > 0", True),  # 150
        (f'{D}.name == "fish"', True),  # 157
        (f'{D}.version.isGreaterThan(semver("0.0.1"))', True),  # 461
        (f'{C}.name.isGreaterThan(quantity("1Ki"))', True),  # 485
        (f'"name" in {C} && {C}.name.isGreaterThan(quantity("1Ki"))', True),  # 492
        (f'!("other" in {C}) || {C}.other.isGreaterThan(quantity("1Ki"))', True),  # 499
        (f"{D}.ready && {D}.ready && {D}.ready", True),  # 531
        (f'{D}.services.matches("[^a]?org")', True),  # 563
        ("device.allowMultipleAllocations == false", True),  # 617
        # An error beside a part that decides is void, on either side.
        (f'{D}.profile == "1g.10gb" || {D}.type == "gpu"', True),
        (f'{D}.type == "mig" && {D}.profile == "1g.10gb"', False),
        (f'{D}.profile == "1g.10gb" && {D}.type == "mig"', False),
        (f"has({D}.profile)", False),
        ('has(device.attributes["other.example.com"].profile)', False),
        (f'{D}.?profile.orValue("whole") == "whole"', True),
        (f'{D}.?name.hasValue() && {D}[?"name"].orValue("") == "fish"', True),
        (f'{D}.type == "mig" ? {D}.profile == "1g.10gb" : true', True),
        (f'{D}.name in ["bird", "fish"]', True),
        (f'{D}.name.upperAscii().startsWith("FI") && {D}.name.endsWith("sh") && {D}.name.size() == 4', True),
        (f'{C}.memory.compareTo(quantity("80Gi")) == 0 && {C}.memory.isLessThan(quantity("81Gi"))', True),
        (f"{C}.name.asInteger() == 1048576", True),
        (f'{D}.version == semver("1.2.3") && {D}.version.major() == 1', True),
        (f'semver("1.2.3-rc.2").isLessThan({D}.version)', True),
        ('"a" == 1', False),
        ("1 < 2 && 2.5 > 2 && -1 < 0", True),
        (r"""'it\'s' == "it's" // a comment""", True),
    ],
)
def test_an_expression_selects_what_the_allocator_selects(expression: str, expected: bool) -> None:
    assert compiled(expression).matches(DEVICE) is expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (
            'device.attributes["no-such-domain"].noSuchAttr.isGreaterThan(quantity("0"))',
            "the map lacks the key noSuchAttr",
        ),  # 83
        ('device.attributes["no-such-domain"]["noSuchAttr"].isGreaterThan(quantity("0"))', "noSuchAttr"),  # 88
        ("1", "neither true nor false"),  # 79
        (f'{D}.profile == "1g.10gb"', "the map lacks the key profile"),
        (f"{D}.name < 1", "no order"),
        (f"!{D}.name", "neither true nor false"),
        ('semver("1.2") == semver("1.2.0")', "not a semantic version"),
        ('quantity("many").isGreaterThan(quantity("1"))', "many"),
        (f'{D}.size.startsWith("4")', "does not take"),
        (f"{D}[{D}]", "the map lacks the key"),
    ],
)
def test_an_error_is_not_an_answer(expression: str, reason: str) -> None:
    with pytest.raises(SelectorError, match=reason):
        compiled(expression).matches(DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        "?!",  # 75
        '"no-such-domain" in device.attributes',  # 93
        f"{D}.names.exists(x, x > 0)",  # 237
        f'{D}.name.includes("fish")',  # 267
        'device.attributes.exists_one(x, x == "dra.example.com")',  # 542
        f"{D}.size + 1 == 5",
        "device.other == 1",
        f'{D}.name.matches("(a+)+$")',
        f'{D}.name.matches("a*b*c*d*")',
        "type(1) == int",
        "unknown",
        "true true",
        "(" * 100 + "true" + ")" * 100,
        "!" * 200 + "true",
        "true" + " || true" * 2_000,
        "cel.bind(device, 1, device == 1)",
        f"{D}.",
    ],
)
def test_what_usher_does_not_evaluate_is_said(expression: str) -> None:
    with pytest.raises(NotEvaluated, match=r".+"):
        compiled(expression).matches(DEVICE)


def test_equal_values_of_several_types_differ_where_answers_are_kept() -> None:
    selector = compiled(f"{D}.ready == true")

    assert selector.matches(subject(ready=True)) is True
    assert selector.matches(subject(ready=1)) is False
    assert selector.matches(subject(ready=True)) is True


def test_the_longest_expression_takes_a_moment() -> None:
    nested = "true"
    for index in range(30):
        nested = f"cel.bind(v{index}, {nested}, v{index})"
    start = time.process_time()
    for text in (nested, " && ".join([f"({nested})"] * 12), " && ".join([f'{D}.name != "x"'] * 190)):
        assert compiled(text).matches(DEVICE) is True

    assert time.process_time() - start < 1
