"""`sprintf` as OPA computes it. The expected texts are those of `opa eval` 1.22; tests/integration compares more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.policy.engines import host_functions, rego_values


@pytest.mark.parametrize(
    ("form", "arguments", "expected"),
    [
        ("container <%v> has no %s", '["web","limit"]', "container <web> has no limit"),
        ("%v", '[{"b":1,"a":[2,"x"]}]', '{"a": [2, "x"], "b": 1}'),
        ("%v %v", '[{"y","x"},set()]', '{"x", "y"} set()'),
        ("%v %v %v", "[null,true,[]]", "null true []"),
        ("%d of %d", "[3,-4]", "3 of -4"),
        ("%5d|%-5d|%05d|%+d", "[42,42,42,42]", "   42|42   |00042|+42"),
        ("%x %X %o %b", "[255,255,8,5]", "ff FF 10 101"),
        ("%v %v %v %v", "[1.5,100000.0,1000000.0,0.00001]", "1.5 100000 1e+06 1e-05"),
        ("%.2f %8.3f %e", "[1.005,2.5,12345.678]", "1.00    2.500 1.234568e+04"),
        ("%q %x", '["a\\n\\"b\\"","hi"]', '"a\\n\\"b\\"" 6869'),
        ("%10s|%-6s|%.2s", '["right","left","cut"]', "     right|left  |cu"),
        ("%v", "[12345678901234567890123]", "12345678901234567890123"),
        ("100%%", "[]", "100%"),
        ("%d", '["text"]', "%!d(string=text)"),
        ("%s", "[3]", "%!s(int64=3)"),
        ("%d", "[1.5]", "%!d(float64=1.5)"),
        ("%s %s", '["one"]', "one %!s(MISSING)"),
        ("%s", '["one",2,3.5]', "one%!(EXTRA int64=2, float64=3.5)"),
        ("half a %", "[]", "half a %!(NOVERB)"),
        ("%T %T %T", '["a",1,1.5]', "string int64 float64"),
    ],
)
def test_the_text_is_that_of_opa(form: str, arguments: str, expected: str) -> None:
    assert host_functions.sprintf(form, rego_values.parse_value(arguments)) == expected


@pytest.mark.parametrize("form", ["%[1]d", "%*d", "%#v", "%99999d", "% x", "%c"])
def test_what_usher_does_not_know_is_an_error_and_never_another_text(form: str) -> None:
    with pytest.raises(NotImplementedError):
        host_functions.sprintf(form, (rego_values.Number("1"), rego_values.Number("2")))


def test_without_a_text_and_an_array_the_answer_is_undefined() -> None:
    for form, arguments in ((None, ()), ("%v", "text"), (rego_values.Number("1"), ())):
        with pytest.raises(rego_values.UndefinedError):
            host_functions.sprintf(form, arguments)


# Values

TEXTS = st.text(max_size=8)
NUMBERS = st.integers().map(lambda number: rego_values.Number(str(number)))
VALUES: st.SearchStrategy[rego_values.Value] = st.recursive(
    st.none() | st.booleans() | TEXTS | NUMBERS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3, unique_by=rego_values.sort_key).map(
            lambda items: rego_values.Set(tuple(sorted(items, key=rego_values.sort_key)))
        )
        | st.lists(st.tuples(inner, inner), max_size=3, unique_by=lambda pair: rego_values.sort_key(pair[0])).map(
            lambda pairs: rego_values.Object(tuple(sorted(pairs, key=lambda pair: rego_values.sort_key(pair[0]))))
        )
    ),
    max_leaves=8,
)


@given(value=VALUES)
def test_a_written_value_is_read_again(value: rego_values.Value) -> None:
    if value != rego_values.Object(()):
        assert rego_values.parse_value(rego_values.write_value(value)) == value


@given(
    value=st.recursive(st.none() | st.booleans() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner))
)
def test_json_is_read(value: object) -> None:
    text = rego_values.print_value(rego_values.parse_value(json.dumps(value)))

    assert "set()" not in text or "set()" in json.dumps(value)


@pytest.mark.parametrize("text", ["", "[", "[1", '{"a":1', "[1 2]", "nul", "set(", "1 2", '"', "{1,", "[1;2]"])
def test_text_that_does_not_hold_a_value_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        rego_values.parse_value(text)
