"""Quantities mean what the API server takes them for; whatever it would not take is refused, and cheaply."""

from fractions import Fraction

import pytest

from unit.quantity_numbers import number
from usher import errors, quantities
from usher.quantities import MAX_INT64, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Fraction(0)),
        ("1", Fraction(1)),
        ("+1", Fraction(1)),
        ("-1", Fraction(-1)),
        ("-0", Fraction(0)),
        ("007", Fraction(7)),
        ("1.", Fraction(1)),
        (".5", Fraction(1, 2)),
        ("-.5", Fraction(-1, 2)),
        ("1.50", Fraction(3, 2)),
        ("1n", Fraction(1, 10**9)),
        ("1u", Fraction(1, 10**6)),
        ("1500m", Fraction(3, 2)),
        ("1k", Fraction(10**3)),
        ("1M", Fraction(10**6)),
        ("1G", Fraction(10**9)),
        ("1T", Fraction(10**12)),
        ("1P", Fraction(10**15)),
        ("1E", Fraction(10**18)),
        ("1Ki", Fraction(2**10)),
        ("1Mi", Fraction(2**20)),
        ("1.5Gi", Fraction(3 * 2**29)),
        ("1Ti", Fraction(2**40)),
        ("1Pi", Fraction(2**50)),
        ("1Ei", Fraction(2**60)),
        ("0.1Ki", Fraction(1024, 10)),
        ("1e0", Fraction(1)),
        ("1e3", Fraction(1000)),
        ("1E3", Fraction(1000)),
        ("1e+05", Fraction(100_000)),
        ("25e-1", Fraction(5, 2)),
        ("1e30", Fraction(10**30)),
    ],
)
def test_a_text_is_the_number_that_kubernetes_takes_it_for(text: str, expected: Fraction) -> None:
    assert number(parse(text)) == expected


@pytest.mark.parametrize(
    "spelling",
    ["1", 1, 1.0, "1000m", "1e0", "1.0", "0.001k", "1000000000n", " 1 ", "\u00a01", "+1", "01", "10e-1"],
)
def test_all_spellings_of_one_are_one_and_the_same(spelling: str | float) -> None:
    assert parse(spelling) == parse("1")
    assert hash(parse(spelling)) == hash(parse("1"))


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("0.1n", 1),
        ("0.0000000001", 1),
        ("1.0000000001", 10**9 + 1),
        ("-0.1n", -1),
        ("1e-10", 1),
        ("0.0000000000001Ki", 1),
        ("1e-30", 1),
    ],
)
def test_an_amount_finer_than_a_nano_is_rounded_away_from_zero(text: str, nanos: int) -> None:
    assert parse(text).nanos == nanos


@pytest.mark.parametrize("text", ["9223372036854775807Ki", "8Ei", "9.5Ei"])
def test_binary_numbers_are_capped_at_64_bits(text: str) -> None:
    assert number(parse(text)) == MAX_INT64
    assert number(parse("-" + text)) == -MAX_INT64


def test_decimal_numbers_are_not_capped_but_their_integer_values_are() -> None:
    hundred_exa = parse("100E")

    assert number(hundred_exa) == 10**20
    assert hundred_exa.value == MAX_INT64
    assert hundred_exa.milli == MAX_INT64
    assert parse("-100E").value == -MAX_INT64


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("1", 1, 1000),
        ("1m", 1, 1),
        ("1n", 1, 1),
        ("1001m", 2, 1001),
        ("1000.1m", 2, 1001),
        ("0", 0, 0),
        ("-1500m", -2, -1500),
    ],
)
def test_integers_are_rounded_away_from_zero(text: str, value: int, milli: int) -> None:
    assert (parse(text).value, parse(text).milli) == (value, milli)


@pytest.mark.parametrize(("text", "whole"), [("2", True), ("2000m", True), ("0", True), ("500m", False), ("1n", False)])
def test_a_quantity_knows_whether_it_is_whole(text: str, whole: bool) -> None:
    assert parse(text).is_whole is whole


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("1000m", "1"), ("0.5", "500m"), ("1e-6", "1u"), ("1500n", "1500n"), ("16Gi", "17179869184"), ("-500m", "-500m")],
)
def test_equal_quantities_are_written_alike(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("0.5", "500m"),
        (0.5, "500m"),
        ("1000m", "1"),
        ("1000", "1k"),
        (10_000, "10k"),
        ("0.0000005", "500n"),
        ("1500M", "1500M"),
        ("2000E", "2000E"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("1023Ki", "1023Ki"),
        ("-2Ti", "-2Ti"),
        ("0.5Ki", "512"),  # too small for a binary suffix
        ("1.0001Ki", "1024102400u"),  # no binary suffix without losing something
        ("9Ei", "9223372036854775807"),
        ("1e3", "1e3"),
        ("1e4", "10e3"),
        ("1e0", "1"),
        ("5E-1", "500e-3"),
        (1e-7, "100e-9"),
        (" 1Gi ", "1Gi"),
    ],
)
def test_the_canonical_form_is_the_text_that_the_api_server_writes(value: str | float, canonical: str) -> None:
    assert quantities.canonical(value) == canonical


@pytest.mark.parametrize(
    ("values", "canonical"),
    [
        ([], "0"),
        (["512Mi", "512Mi"], "1Gi"),
        (["512Mi", "1M"], "537870912"),
        (["1M", "512Mi"], "537870912"),
        (["1G", "1Gi"], "2073741824"),
        (["1Gi", "1G"], "2073741824"),
        (["0", "1Gi", "1024M"], "2048576Ki"),
        (["0", "1024M", "1Gi"], "2097741824"),
        (["1e3", "2k"], "3e3"),
        (["1", "-1", "1e3"], "1e3"),
    ],
)
def test_a_sum_has_the_format_of_its_first_addend_that_is_not_zero(values: list[object], canonical: str) -> None:
    assert quantities.canonical_sum(values) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "aoeu",
        "1.1.M",
        "1+1.0M",
        "--1",
        "1 000",
        "1,5",
        "0x10",
        "1_000",
        "NaN",
        "Infinity",
        "-inf",
        "\u0661\u0662",  # Arabic digits
        "\uff11",  # a full-width digit
        "1\u00b5",  # a micro sign
        "1K",
        "1ki",
        "1KI",
        "1mi",
        "100mi",
        "1gi",
        "1i",
        ".5i",
        "1ni",
        "1g",
        "1e",
        "1e+",
        "-3.01e-",
        "1e3k",
        "1Ee3",
        "1Gi5",
        "{{ gpus }}",
        "$(GPUS)",
        "1\t",  # JSON escapes these, and Go trims before it would undo the escapes
        "1\n",
        "\u20281",
        "1\x1c",  # a space to Python only
        "1\x00",
    ],
)
def test_what_the_api_server_refuses_is_refused(text: str) -> None:
    with pytest.raises(errors.QuantityError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        ".",  # 0 to Go, though no number by its own grammar
        "+",
        "E",
        "e5",
        "m",
        "Ki",
        "1e31",
        "1e-31",
        "1e300",
        "2e30",
        "9999999999999E",
        "1e4294967296",  # wraps around to 1 in Go
        "1E3000000",
        "1e" + "9" * 62,
        "9" * 5000,
        "0." + "0" * 5000 + "1",
        "1" + " " * 5000,
    ],
)
def test_texts_that_go_accepts_but_no_author_means_are_refused(text: str) -> None:
    with pytest.raises(errors.QuantityError):
        parse(text)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        [],
        ["1"],
        {},
        {"$serde_json::private::Number": "1"},
        float("nan"),
        float("inf"),
        float("-inf"),
        1e300,
        5e-324,
        10**5000,
        -(10**5000),
        10**31,
    ],
    ids=lambda value: type(value).__name__,
)
def test_json_values_that_are_not_quantities_are_refused(value: object) -> None:
    with pytest.raises(errors.QuantityError):
        parse(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, Fraction(0)),
        (-0.0, Fraction(0)),
        (8, Fraction(8)),
        (-1, Fraction(-1)),
        (0.1, Fraction(1, 10)),
        (1e22, Fraction(10**22)),
        (2**53 + 1, Fraction(2**53 + 1)),
        (2**64, Fraction(2**64)),
        (1.5e-07, Fraction(15, 10**8)),
    ],
)
def test_bare_numbers_are_taken_as_they_are_written_in_json(value: float, expected: Fraction) -> None:
    assert number(parse(value)) == expected


def test_a_refusal_quotes_what_it_refuses_and_never_all_of_a_long_text() -> None:
    with pytest.raises(
        errors.QuantityError, match=r"'1 gpu' is not a quantity; write a number, for example 1, 500m or 16Gi"
    ):
        parse("1 gpu")
    with pytest.raises(errors.QuantityError) as refusal:
        parse("\u202e" + "9" * 1_000_000)
    assert len(str(refusal.value)) < 100
    assert "\u202e" not in str(refusal.value)
