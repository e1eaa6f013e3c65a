"""Any quantity of the grammar is its number; sums and comparisons are those of numbers."""

import json
import re
from fractions import Fraction

from hypothesis import assume, example, given
from hypothesis import strategies as st

from unit.quantity_numbers import number
from usher import errors, quantities
from usher.quantities import MAX_INT64, parse

NUMBERS = st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)
SUFFIXES = st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e3", "E-3", "e+12", "e-12"])
TEXTS = st.builds(lambda digits, suffix: digits + suffix, NUMBERS, SUFFIXES)
MULTIPLIERS = {
    **dict(zip(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], (Fraction(1024**power) for power in range(1, 7)), strict=True)),
    **dict(zip("num", (Fraction(1, 10**power) for power in (9, 6, 3)), strict=True)),
    **dict(zip("kMGTPE", (Fraction(10**power) for power in (3, 6, 9, 12, 15, 18)), strict=True)),
}


def by_definition(text: str) -> Fraction:
    """The number by the documentation of resource.Quantity, worked out in fractions."""
    digits = text.rstrip("KMGTPEinumk") if text[-1] in "KMGTPEinumk" else text
    suffix = text[len(digits) :]
    exact = Fraction(digits) * MULTIPLIERS.get(suffix, Fraction(1))
    nanos = abs(exact) * 10**9
    rounded = Fraction(-(-nanos.numerator // nanos.denominator), 10**9)
    if suffix.endswith("i"):
        rounded = min(rounded, Fraction(MAX_INT64))
    return -rounded if exact < 0 else rounded


@given(TEXTS)
def test_any_text_of_the_grammar_is_its_number_rounded_up_to_a_nano(text: str) -> None:
    assert number(parse(text)) == by_definition(text)


@given(TEXTS)
def test_a_quantity_written_out_is_read_back_as_itself(text: str) -> None:
    assert parse(str(parse(text))) == parse(text)


@given(TEXTS)
def test_the_canonical_form_is_the_same_number_and_stays_as_it_is(text: str) -> None:
    canonical = quantities.canonical(text)

    assert parse(canonical) == parse(text)
    assert quantities.canonical(canonical) == canonical
    assert re.fullmatch(r"0|-?[1-9][0-9]*([numkMGTPE]|[KMGTPE]i|e-?[1-9][0-9]*)?", canonical)


LARGEST = parse("999999999999E")
"""About as much as any text may say; a sum of texts may be more."""


@given(st.lists(TEXTS, max_size=5))
@example(["9000Pi", "1"])
@example(["1Ki", "-10000P"])
@example(["500000000000E", "600000000000E"])
def test_the_text_of_a_sum_is_the_sum(texts: list[str]) -> None:
    """Kubernetes reads no binary text as more than an int64 holds, so `8Ei` is one less than it says."""
    text, total = quantities.canonical_sum(texts), sum(map(parse, texts), quantities.ZERO)
    assume(abs(total.nanos) <= LARGEST.nanos)
    least, most = parse(f"-{quantities.MAX_INT64}"), parse(str(quantities.MAX_INT64))

    assert parse(text) == (max(least, min(total, most)) if text.endswith("i") else total)


@given(TEXTS, TEXTS, TEXTS)
def test_sums_do_not_depend_on_order_or_grouping(first: str, second: str, third: str) -> None:
    a, b, c = parse(first), parse(second), parse(third)

    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + quantities.ZERO == a


@given(TEXTS, TEXTS, TEXTS)
def test_the_order_of_quantities_is_total_and_kept_by_sums(first: str, second: str, third: str) -> None:
    a, b, c = parse(first), parse(second), parse(third)

    assert [a < b, a == b, a > b].count(True) == 1
    assert not (a <= b <= c) or a <= c
    assert (a < b) == (a + c < b + c)


@given(st.lists(TEXTS, min_size=2, max_size=5), st.integers(0, 1000))
def test_quantities_add_multiply_and_compare_as_numbers(texts: list[str], factor: int) -> None:
    parsed = [parse(text) for text in texts]

    assert number(sum(parsed, quantities.ZERO)) == sum(map(number, parsed))
    assert number(parsed[0] * factor) == number(parsed[0]) * factor
    assert number(max(parsed)) == max(map(number, parsed))
    assert bool(parsed[0]) == (number(parsed[0]) != 0)


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**60)
    | st.floats()
    | st.text()
    | st.text(alphabet="0123456789.+-eEKMGTPinumk _"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(ANY_JSON)
def test_any_json_value_is_either_a_quantity_or_refused(value: object) -> None:
    try:
        quantity = parse(value)
    except errors.QuantityError:
        return
    assert parse(str(quantity)) == quantity
    assert -MAX_INT64 <= quantity.value <= MAX_INT64
    assert json.loads(json.dumps(quantity.milli)) == quantity.milli
