"""The objects that `parse` gives are those that kubectl sends."""

import json
import string
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from generated_examples import in_turn
from unit.documents import kubectl
from usher import errors
from usher.documents import composing, reader

TRUE = ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]
FALSE = ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]
NULL = ["", "~", "null", "Null", "NULL", "!!null ~", "!!null ''"]
INTEGERS = {
    "0777": 511,
    "0o777": 511,
    "0O17": 15,
    "-017": -15,
    "00": 0,
    "0x1F": 31,
    "0X1f": 31,
    "+0x10": 16,
    "0b101": 5,
    "0B11": 3,
    "-0b11": -3,
    "0b+1": 1,
    "0b-11": -3,
    "1_000": 1000,
    "1__0_": 10,
    "-_1": -1,
    "0x_1F": 31,
    "0_7": 7,
    "08": 8,
    "09_9": 99,
    "-0": 0,
    "+12": 12,
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808": -(2**63),
    "0x7fffffffffffffff": 2**63 - 1,
    "1e3": 1000,
    "1.": 1,
    "1.0": 1,
    "-0.0": 0,
    "1e-400": 0,
    "1.2345678901234567e18": 1234567890123456800,
    "!!int '12'": 12,
    "!!int 0x10": 16,
    "!!float 1": 1,
    "!<tag:yaml.org,2002:int> 1": 1,
}
FLOATS = {
    "1.5": 1.5,
    ".5": 0.5,
    "+.5": 0.5,
    "-.5e1": -5,
    ".1_5": 0.15,
    "1_0.5_0": 10.5,
    "6.02e23": 6.02e23,
    "1e21": 1e21,
    "9223372036854775808": 2.0**63,
    "18446744073709551616": 2.0**64,
    "-9223372036854777856": -9223372036854777856.0,
    "1e20": 1e20,
    "!!float 0x10": 16,
    "!!float '1.5'": 1.5,
}
TEXTS = {
    "1:30": "1:30",
    "190:20:30": "190:20:30",
    "2001-01-01": "2001-01-01",
    "2001-12-14t21:59:43.10-05:00": "2001-12-14t21:59:43.10-05:00",
    "1e400": "1e400",
    "-1e400": "-1e400",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "nULL": "nULL",
    "tRUE": "tRUE",
    "0b": "0b",
    "0x": "0x",
    "0xg": "0xg",
    "0x1ffffffffffffffff": "0x1ffffffffffffffff",
    "._1": "._1",
    ".5e": ".5e",
    ".": ".",
    "1.2.3": "1.2.3",
    "500m": "500m",
    "<<": "<<",
    "=": "=",
    "a#b": "a#b",
    "'0777'": "0777",
    '"yes"': "yes",
    "!!str 0777": "0777",
    "!!str yes": "yes",
    "!!str": "",
    "!!binary aGk=": "hi",
    '"\\0\\x41\\u00e9\\U0001f600"': "\0Aé😀",
    "[x:y]": ["x:y"],
    "{a: b:c}": {"a": "b:c"},
    "[http://x:80/]": ["http://x:80/"],
    "[a: b]": [{"a": "b"}],
}
SCALARS: list[tuple[str, Any]] = [
    *((text, True) for text in TRUE),
    *((text, False) for text in FALSE),
    *((text, None) for text in NULL),
    *INTEGERS.items(),
    *FLOATS.items(),
    *TEXTS.items(),
]
KEYS = {
    "on": "true",
    "n": "false",
    "0777": "511",
    "1_0": "10",
    "1.10": "1.1",
    "1e3": "1000",
    "1e6": "1e+06",
    "123456.7": "123456.7",
    "0.0001": "0.0001",
    "0.00001": "1e-05",
    "1e39": ".inf",
    "-1e39": "-.inf",
    ".inf": ".inf",
    "-.inf": "-.inf",
    ".nan": ".nan",
    "-0.0": "-0",
    "2001-01-01": "2001-01-01",
    "1:30": "1:30",
    "''": "",
    "'1'": "1",
    "!!str 1": "1",
    "!!int 1": "1",
    "? |\n  a\n": "a\n",
    "x ": "x",
    "' x '": " x ",
    "Kind": "Kind",
    "'<<'": "<<",
}

# Whole streams; every object has a kind, because kubectl wants one.
STREAMS: dict[str, tuple[str | bytes, list[Any]]] = {
    "several documents": ("kind: X\n---\nkind: Z\n", [{"kind": "X"}, {"kind": "Z"}]),
    "empty documents": ("---\n# none\n---\n---\n~\n---\nnull\n---\nkind: X\n---\n", [{"kind": "X"}]),
    "comments after a separator": ("kind: X\n--- # next\nkind: Z\n---#\n", [{"kind": "X"}, {"kind": "Z"}]),
    "an ended document": ("kind: X\n...\n---\nkind: Z\n", [{"kind": "X"}, {"kind": "Z"}]),
    "a separator within text": ("kind: X\na: |\n  x\n  ---\n  y\n", [{"kind": "X", "a": "x\n---\ny\n"}]),
    "a separator after text": ("kind: X\na: |+\n  x\n\n---\n", [{"kind": "X", "a": "x\n\n"}]),
    "no line feed at the end": ("kind: X\na: |\n  x", [{"kind": "X", "a": "x\n"}]),
    "carriage returns": (
        "kind: X\r\na: |\r\n  x\r\n  y\r\n---\r\nkind: Z",
        [{"kind": "X", "a": "x\ny\n"}, {"kind": "Z"}],
    ),
    "a byte order mark": ("\ufeffkind: X\n---\n\ufeffkind: Z\n", [{"kind": "X"}, {"kind": "Z"}]),
    "a byte order mark in a value": ("kind: X\na: x\ufeffy\n", [{"kind": "X", "a": "x\ufeffy"}]),
    "bytes": ("kind: X\na: é\n".encode(), [{"kind": "X", "a": "é"}]),
    "other line breaks": ("kind: X\na: 'x\x85y\u2028z'\n", [{"kind": "X", "a": "x y\u2028z"}]),
    "folded text": ("kind: X\na: >-\n  x\n  y\n\n  z\nb: x\n  y\n", [{"kind": "X", "a": "x y\nz", "b": "x y"}]),
    "an alias": (
        "kind: X\na: &a {b: [1]}\nc: *a\nd: [*a, &a 0777, *a]\n",
        [{"kind": "X", "a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}, 511, 511]}],
    ),
    "an alias as a key": ("kind: X\na: &a 1.10\n*a : x\n", [{"kind": "X", "a": 1.1, "1.1": "x"}]),
    "an anchor inside its own name": ("kind: X\na: &a {b: &a 1}\nc: *a\n", [{"kind": "X", "a": {"b": 1}, "c": 1}]),
    "a merge before": ("kind: X\n<<: {a: 2, b: 3}\na: 1\n", [{"kind": "X", "a": 1, "b": 3}]),
    "a merge after": ("kind: X\na: 1\n<<: {a: 2, b: 3}\n", [{"kind": "X", "a": 2, "b": 3}]),
    "a merge of several": (
        "kind: X\na: &a {x: 1}\nb: &b {<<: *a, x: 2, z: 2}\nc: {<<: [*a, *b]}\nd: {<<: [*b, *a]}\n",
        [{"kind": "X", "a": {"x": 1}, "b": {"x": 2, "z": 2}, "c": {"x": 1, "z": 2}, "d": {"x": 2, "z": 2}}],
    ),
    "two merges": ("kind: X\n<<: {a: 1}\n!!merge '<<': {b: 1}\n", [{"kind": "X", "a": 1, "b": 1}]),
    "an alias of the merge key": ("kind: X\na: &a <<\n*a : {b: 1}\n", [{"kind": "X", "a": "<<", "<<": {"b": 1}}]),
    "JSON": ('\n {"kind": "X", "a": [1.0, 1e3, -0.0, 1.5]}', [{"kind": "X", "a": [1, 1000, 0, 1.5]}]),
    "JSON lines": ('{"kind":"X"}\n{"kind":"Z"}{"kind":"W"}\n', [{"kind": "X"}, {"kind": "Z"}, {"kind": "W"}]),
    "JSON escapes": (r'{"kind":"X","a":"\ud83d\ude00\u0000\/"}', [{"kind": "X", "a": "😀\0/"}]),
    "JSON control characters": ('{"kind":"X","a":"\x7f\x9b\u2028"}', [{"kind": "X", "a": "\x7f\x9b\u2028"}]),
    "JSON large numbers": (
        '{"kind":"X","a":[9223372036854775807,9223372036854775808,1e20,1.2345678901234567e18]}',
        [{"kind": "X", "a": [2**63 - 1, 2.0**63, 1e20, 1234567890123456800]}],
    ),
    "JSON with a long key": ('{"kind":"X","' + "k" * 2000 + '":1}', [{"kind": "X", "k" * 2000: 1}]),
    "JSON but for a comma": ('{"kind": "X", "a": [1,],}', [{"kind": "X", "a": [1]}]),
    "JSON but for a comment": ('{"kind": "X", # here\n "a": yes}', [{"kind": "X", "a": True}]),
    "JSON but for a tab": ('{"kind": "X", "a": "x\ty"}', [{"kind": "X", "a": "x\ty"}]),
    "JSON but for NaN": ('{"kind": "X", "a": NaN}', [{"kind": "X", "a": "NaN"}]),
    "JSON, then YAML": ('{"kind":"X"}\n---\nkind: Z\n', [{"kind": "X"}, {"kind": "Z"}]),
    "mapping in brackets": ("{kind: X, a: {b}, c: [d, ]}\n", [{"kind": "X", "a": {"b": None}, "c": ["d"]}]),
}


def values(content: str | bytes) -> list[Any]:
    return [document.value for document in reader.parse(content, source="test.yaml")]


def refused(content: str | bytes) -> errors.ManifestError | None:
    try:
        json.dumps(values(content), allow_nan=False, ensure_ascii=False).encode()
    except errors.ManifestError as error:
        return error
    return None


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_value_is_what_kubectl_sends(text: str, value: Any) -> None:
    (document,) = values(f"value: {text}\n")
    assert document == {"value": value}
    assert type(document["value"]) is type(value) or isinstance(value, float)


@kubectl.needs_kubectl
def test_the_table_of_values_agrees_with_kubectl(tmp_path: Path) -> None:
    content = "kind: X\nvalues:\n" + "".join(f"- v: {text}\n" for text, _ in SCALARS)
    (document,) = kubectl.sent_of(content, tmp_path)
    for (text, value), item in zip(SCALARS, document["values"], strict=True):
        assert kubectl.same(item, {"v": value}), text


@pytest.mark.parametrize(("text", "key"), KEYS.items())
def test_a_key_is_what_kubectl_makes_of_it(text: str, key: str) -> None:
    assert values(f"{text}: x\n") == [{key: "x"}]


@kubectl.needs_kubectl
def test_the_table_of_keys_agrees_with_kubectl(tmp_path: Path) -> None:
    content = "---\n".join(f"kind: X\n{text}: x\n" for text in KEYS)
    documents = kubectl.sent_of(content, tmp_path)
    assert documents == [{"kind": "X", key: "x"} for key in KEYS.values()]


@pytest.mark.parametrize(("content", "expected"), STREAMS.values(), ids=STREAMS)
def test_a_stream_holds_what_kubectl_sends(content: str | bytes, expected: list[Any]) -> None:
    assert kubectl.same(values(content), expected)


@kubectl.needs_kubectl
@pytest.mark.parametrize("name", in_turn(STREAMS, every=6))
def test_the_table_of_streams_agrees_with_kubectl(name: str, tmp_path: Path) -> None:
    content, expected = STREAMS[name]
    assert kubectl.same(kubectl.sent_of(content, tmp_path), expected)


def test_integers_are_exact_and_are_not_floats() -> None:
    (value,) = values(f"a: [{2**53 + 1}, {2**63 - 1}, 1.0, 1e3, 9007199254740993]\n")
    assert [(type(item), item) for item in value["a"]] == [
        (int, 2**53 + 1),
        (int, 2**63 - 1),
        (int, 1),
        (int, 1000),
        (int, 2**53 + 1),
    ]


def test_a_list_kind_stays_one_document() -> None:
    assert values("kind: List\nitems: [{kind: Pod}]\n") == [{"kind": "List", "items": [{"kind": "Pod"}]}]


def test_documents_know_their_number_and_their_first_line() -> None:
    documents = reader.parse(
        '# none\n---\n\n# first\nkind: X\n---\n{"a": 1}\n\n {"b": 2}{"c": 3}', source="stream.yaml"
    )
    assert [(each.source, each.index, each.line) for each in documents] == [
        ("stream.yaml", 0, 5),
        ("stream.yaml", 1, 7),
        ("stream.yaml", 2, 9),
        ("stream.yaml", 3, 9),
    ]


def test_a_file_without_documents_gives_an_empty_list() -> None:
    assert [values(content) for content in ("", "\n", "# only\n", "---\n", b"", "\ufeff", "null", "~\n---\n")] == [
        []
    ] * 8


def test_what_an_alias_stands_for_is_not_shared() -> None:
    (document,) = values("a: &a {b: [1]}\nc: *a\nd: {<<: *a}\n")
    document["c"]["b"].append(2)
    assert document == {"a": {"b": [1]}, "c": {"b": [1, 2]}, "d": {"b": [1]}}


# What JSON can carry and what Go neither rounds nor prints with an exponent: the rest is in the tables.
json_texts = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-(2.0**53), 2.0**53, allow_nan=False)
    | json_texts,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(json_texts, children, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_every_json_value_comes_back(value: Any) -> None:
    assert values(json.dumps(value)) == ([] if value is None else [value])


@given(json_values)
def test_json_needs_no_escapes(value: Any) -> None:
    assert values(json.dumps(value, ensure_ascii=False).encode()) == ([] if value is None else [value])


def _is_text_to_go_too(text: str) -> bool:
    """PyYAML leaves unquoted some texts that go-yaml takes for something else, such as `y`, `0o7` and `1e3`."""
    return composing.resolve_scalar(text) == text or yaml.safe_dump(text)[0] in "'\""


yaml_texts = st.text(st.characters(codec="utf-8")).filter(_is_text_to_go_too)
yaml_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-(2.0**53), 2.0**53, allow_nan=False)
    | yaml_texts
    | st.text(string.ascii_letters + string.digits + " _-:#.\n").filter(_is_text_to_go_too),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(yaml_texts, children, max_size=4),
    max_leaves=20,
)


@given(yaml_values, st.sampled_from([{}, {"default_flow_style": True}, {"default_style": '"'}, {"default_style": "|"}]))
def test_every_value_that_pyyaml_writes_comes_back(value: Any, style: dict[str, Any]) -> None:
    assert values(yaml.safe_dump(value, **style)) == ([] if value is None else [value])


@given(st.text(st.characters(codec="utf-8")) | st.binary())
def test_any_text_is_parsed_or_refused_with_a_reason(content: str | bytes) -> None:
    refusal = refused(content)
    assert refusal is None or refusal.reason


@given(
    st.lists(st.sampled_from([*"ab:-?{}[],&*!|>'\"%@#", "\n", "  ", ": ", "- ", "<<: ", "&a ", "*a", "\t", "---\n"]))
)
def test_any_yaml_like_text_is_parsed_or_refused_with_its_place(pieces: list[str]) -> None:
    refusal = refused("".join(pieces))
    assert refusal is None or (refusal.line >= 1 and refusal.column >= 1)


ODD_JSON = [
    *('"a":1', '"a":[]', '"b":{}', '"\\u0061":2', '"\\u0022":3', '"c":"\\u0022"', '"d":"\\ud83d\\ude00"'),
    *('"e":"\\ude00"', '"f":1.0', '"g":1.5', '"h":1e3', '"i":-0', '"j":9007199254740993', '"k":9223372036854775808'),
    *('"l":123456789e999', '"m":"\\"\\""', '"n":"\\n    "', '"o":tru', '"p":"q', "{", "}", "[", "]", ",", "\n"),
    *(" ", "\n\n", "\t", "1", "null"),
]


@given(st.lists(st.sampled_from(["{", "}", ",", "\n", "{}\n", *(f"{{{each}}}\n" for each in ODD_JSON), *ODD_JSON])))
def test_json_that_is_read_at_once_is_read_as_by_the_exact_reader(pieces: list[str]) -> None:
    _assert_read_alike("{" + "".join(pieces))


@pytest.mark.parametrize(
    "depth", in_turn([1, 126, 127, 128, 129, 130, 253, 254, 255, 300, 2000], every=3, others=pytest.mark.costly)
)
@pytest.mark.parametrize("inner", ["", "1", "[]", '"\\n"'])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_json_that_is_read_at_once_is_read_as_by_the_exact_reader(depth: int, inner: str, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    _assert_read_alike(opening * depth + (inner or "null") + closing * depth + "\n")


def _assert_read_alike(text: str) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(reader, "_decode_exactly", lambda _text, _start: None)
        exact = reader.parse_each(text, source="x")
    found = reader.parse_each(text, source="x")
    assert repr(found.documents) == repr(exact.documents)
    assert list(map(str, found.errors)) == list(map(str, exact.errors))


def test_plain_json_is_read_at_once() -> None:
    for indent in None, 2, 4:
        text = json.dumps({"kind": "X", "a": [{"b": 1, "c": "d"}]}, indent=indent)
        assert reader._decode_exactly(text + "\n", 0) == (json.loads(text), len(text))
