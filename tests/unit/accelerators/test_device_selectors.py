"""Selectors of devices: what CEL selects, what fails in the scheduler too, and what usher does not evaluate.

Rows with a number are from k8s.io/dynamic-resource-allocation 0.36.3, cel/compile_test.go, at that line.
"""

import time

import pytest

from usher import quantities
from usher.accelerators.device_selectors import Subject, compiled
from usher.documents.cel import EvaluationError, NotEvaluated
from usher.quantities import Version

D = 'device.attributes["dra.example.com"]'
C = 'device.capacity["dra.example.com"]'


def subject(**attributes: object) -> Subject:
    return Subject(
        "dra.example.com",
        {("dra.example.com", name): value for name, value in attributes.items()},
        {("dra.example.com", "memory"): quantities.parse("80Gi"), ("dra.example.com", "name"): quantities.parse("1Mi")},
    )


DEVICE = subject(
    name="fish",
    size=4,
    ready=True,
    version=Version.parse("1.2.3"),
    services="example.com,example.org",
    type="gpu",
    names=["fish", "bird"],
    ids=[1, 2],
    versions=[Version.parse("1.0.0")],
    many=[f"value-{number}" for number in range(1, 50)],
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
        ('"no-such-domain" in device.attributes', False),  # 93
        ('"dra.example.com" in device.attributes', True),  # 98
        ('has(device.attributes["other"].x) || size(device.attributes["other"]) == 0', True),
        (f"{D}.names.size() == 2", True),  # 199
        (f"{D}.ids.exists(x, x > 1) && !{D}.ids.all(x, x > 1)", True),  # 227
        (f'{D}.names.all(x, x != "")', True),  # 234
        (f'{D}.versions.all(x, x.isGreaterThan(semver("0.0.1")))', True),  # 241
        (f'{D}.name.includes("fish") && !{D}.name.includes("bird")', True),  # 323
        (f'{D}.names.includes("bird") && !{D}.names.includes("cat")', True),  # 337
        (f"{D}.ready.includes(true) && {D}.ids.includes(1) && !{D}.ids.includes(3)", True),  # 267, 309
        (f'{D}.versions.includes(semver("1.0.0"))', True),  # 365
        (f'{D}.many.includes("value-48")', True),  # 379
        (f"1 in {D}.ids", True),  # 412
        (f'{D}.version.isGreaterThan(semver("v0.1", true)) && isSemver("v1.0", true)', True),  # 427
        ('isSemver("v1.0") || isSemver("1.0-rc", true)', False),
        ('device.attributes.exists_one(x, x == "dra.example.com")', True),  # 498
        (f'{D}.exists_one(x, x == "services")', True),  # 505
        (f'{D}.services.split("example").size() >= 2', True),  # 512
        (f'{C}.exists_one(x, x == "memory")', True),  # 533
        (f'{D}.names.filter(x, x.startsWith("b")).map(x, x.size())[0] == 4', True),
        (f'{D}.names.exists(index, name, index == 1 && name == "bird")', True),
        (f'{D}.exists(key, value, key == "size" && value == 4)', True),
        # As in `||`, an error is void beside a value that decides.
        (f'{D}.names.exists(x, x == "bird" || x > 1)', True),
        (f"{D}.size % 3 == 1 && {D}.size / 3 == 1 && {D}.size * 2 - 1 == 7 && -7 / 2 == -3 && -7 % 2 == -1", True),
        (f'int("40") + {D}.size == 44 && string({D}.size) + "!" == "4!"', True),
        (f'{D}.services.substring(0, {D}.services.indexOf(",")).trim() == "example.com"', True),
        (f'{D}.names.join("-") == "fish-bird"', True),
        (f'{D}.name.matches("^(fish|bird)$") && {D}.name.matches("(?i)FISH")', True),
        (r"""'it\'s' == "it's" // a comment""", True),
        # Optional values (cel-go/cel/library.go).
        (f'{D}.?profile.or({D}.?name).value() == "fish"', True),
        (f'!{D}.?profile.optMap(x, x + "!").hasValue() && {D}.?name.optMap(x, x.size()).orValue(0) == 4', True),
        (f'{D}.?name.optFlatMap(x, x == "fish" ? optional.of(1) : optional.none()).value() == 1', True),
        ('optional.ofNonZeroValue("").hasValue() || optional.ofNonZeroValue(0).hasValue()', False),
        # Sets (cel-go/ext/sets.go).
        (f'sets.contains({D}.names, ["bird"]) && !sets.contains({D}.names, ["cat", "bird"])', True),
        (f'sets.intersects({D}.names, ["cat", "bird"]) && !sets.intersects({D}.names, [])', True),
        (f"sets.equivalent({D}.ids, [2, 1, 1]) && !sets.equivalent({D}.ids, [2])", True),
        # Texts (cel-go/ext/strings.go, version 2) and patterns (apiserver/pkg/cel/library/regex.go).
        (f'{D}.name.charAt(0) == "f" && {D}.name.charAt(4) == ""', True),
        (f'{D}.services.replace("example.", "") == "com,org" && "aaa".replace("a", "b", 2) == "bba"', True),
        ('"a.b.c".split(".", 2) == ["a", "b.c"] && "a.b".split(".", 0).size() == 0', True),
        (f'{D}.services.indexOf("example", 1) == 12 && {D}.services.lastIndexOf("example", 11) == 0', True),
        (f'{D}.services.find("[a-z]+[.]org") == "example.org" && {D}.name.find("[0-9]") == ""', True),
        (f'{D}.services.findAll("[.][a-z]+") == [".com", ".org"] && {D}.services.findAll("e", 1) == ["e"]', True),
        # Lists (apiserver/pkg/cel/library/lists.go) and loops with two variables (cel-go/ext/comprehensions.go).
        (f"{D}.ids.sum() == 3 && {D}.ids.max() == 2 && {D}.ids.min() == 1 && {D}.ids.isSorted()", True),
        (f'{D}.names.indexOf("bird") == 1 && ["a", "b", "a"].lastIndexOf("a") == 2 && !{D}.names.isSorted()', True),
        (f"({D}.ids + [3]).size() == 3 && [[1]] == [[1]] && [1] != [2]", True),
        (f"{D}.ids.transformList(i, v, v > 1, i + v) == [3] && {D}.ids.transformList(i, v, i * v) == [0, 2]", True),
        (f'{D}.existsOne(key, value, key == "size")', True),
        # Numbers with a point.
        (f"double({D}.size) * 0.5 == 2.0 && int(2.9) == 2 && 1.0 / 0.0 > 1.0", True),
        ("0.5 + 0.25 == 0.75 && -1.5 < -1.0 && int(-2.9) == -2", True),
        (f"{C}.memory.asApproximateFloat() / 1000000000.0 > 85.8", True),
        # Quantities (quantity.go), addresses (ip.go, cidr.go).
        (f'{C}.memory.sub(quantity("40Gi")).compareTo(quantity("40Gi")) == 0', True),
        (f'{C}.memory.add(1).isGreaterThan({C}.memory) && isQuantity("1Gi") && !isQuantity("1GB")', True),
        ('cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))', True),
        ('isIP("::1") && !isIP("010.0.0.1") && !isIP("::ffff:1.2.3.4") && ip("::1").family() == 6', True),
        ('isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/255.0.0.0")', True),
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
        (f"{D}.names", "neither true nor false"),  # 185
        (f"{D}.size.exists(x, x > 0)", "a list or a map"),  # 164
        (f'{D}.many.includes("value-50")', "at most 48 values"),  # 393
        (f'{D}.names.exists(x, x == "cat" || x > 1)', "no order"),
        ("1 / 0 == 1", "division by zero"),
        ("9223372036854775807 + 1 > 0", "too large"),
        ('"a" + 1 == "a1"', "these values"),
        ('int("x") == 1', "int"),
        (f"{D}.name.substring(9)", "beyond the text"),
        (f"{D}.name.charAt(5) == ''", "beyond the text"),
        (f"{D}.?profile.value() == 1", "empty optional"),
        (f"{D}.size + 0.5 == 4.5", "these values"),
        ("[].max() == 1", "empty"),
        ("[1, 'a'].isSorted()", "no order"),
        ("int(0.0 / 0.0) == 1", "int"),
        ('cidr("10.0.0.0/8").containsIP("x")', "not an address"),
        (f"sets.contains({D}.name, [1])", "does not take"),
    ],
)
def test_an_error_is_not_an_answer(expression: str, reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        compiled(expression).matches(DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        "?!",  # 75
        "math.greatest(1, 2) == 2",
        f'{D}.name.format([]) == ""',
        f'"{"a" * 200}".replace("", "{"b" * 200}").size() > 0',
        f'{D}.name.findAll("[a-z]*").size() > 0',
        "device.other == 1",
        f'{D}.name.matches("(a+)+$")',
        f'{D}.name.matches("a*b*c*d*")',
        "type(1) == int",
        'cel.bind(a, "' + "x" * 900 + '", cel.bind(b, a + a, b == ""))',
        '("' + "a" * 300 + '").matches("a*a*b")',
        f'{D}.name.matches("(a|b)(a|b)(a|b)")',
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
    loop = f"{[*range(20)]}.all(a, {[*range(20)]}.all(b, {[*range(20)]}.all(c, a + b + c >= 0)))"
    with pytest.raises(NotEvaluated, match="steps"):
        compiled(loop).matches(DEVICE)
    for text in (nested, " && ".join([f"({nested})"] * 12), " && ".join([f'{D}.name != "x"'] * 190)):
        assert compiled(text).matches(DEVICE) is True

    assert time.process_time() - start < 1
