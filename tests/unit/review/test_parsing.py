"""The exact values that are read from a body, and refusals that give the reason."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import container, pod
from reviews import UID, as_go_writes, body, review
from usher import paths
from usher.errors import ReviewError
from usher.policy.decision import Operation, User
from usher.review.admission_review import Resource, Review, parse


def with_object(text: str | bytes) -> bytes:
    """A review whose object is this text, letter for letter."""
    raw = text if isinstance(text, bytes) else text.encode()
    return body({"stands": "here"}).replace(b'{"stands":"here"}', raw)


def test_what_an_api_server_sends_is_read() -> None:
    before, after = pod(name="trainer"), pod(name="trainer", labels={"team": "a<b"})

    assert parse(body(after, operation="UPDATE", old_value=before, subResource="status", dryRun=True)) == Review(
        uid=UID,
        operation=Operation.UPDATE,
        kind="Pod",
        resource=Resource(group="", version="", plural=""),
        name="trainer",
        namespace="ml-research",
        sub_resource="status",
        dry_run=True,
        user=User(name="alice", groups=("system:authenticated",)),
        value=after,
        old_value=before,
    )


def test_a_review_with_no_more_than_it_needs_is_read() -> None:
    request = {"uid": "1", "operation": "CREATE", "object": {}}
    minimal = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}

    assert parse(orjson.dumps(minimal)) == Review(
        uid="1",
        operation=Operation.CREATE,
        kind="",
        resource=Resource(group="", version="", plural=""),
        name="",
        namespace="",
        sub_resource="",
        dry_run=False,
        user=None,
        value={},
        old_value=None,
    )


def test_fields_that_later_versions_may_bring_change_nothing() -> None:
    known = review(pod())
    later: Any = {**known, "metadata": {"future": [1]}}
    later["request"] = {**later["request"], "future": {"uid": "another"}}

    assert parse(orjson.dumps(later)) == parse(orjson.dumps(known))


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_only_what_has_no_object_may_come_without_one(operation: str) -> None:
    assert parse(body(None, operation=operation)).value is None


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_what_has_an_object_may_not_come_without_it(operation: str) -> None:
    with pytest.raises(ReviewError, match=f"request.object is missing: {operation} needs an object"):
        parse(body(None, operation=operation))


def test_an_old_version_of_reviews_is_refused_with_the_remedy() -> None:
    old = review(pod()) | {"apiVersion": "admission.k8s.io/v1beta1"}
    with pytest.raises(ReviewError) as refused:
        parse(orjson.dumps(old))

    assert str(refused.value) == (
        "apiVersion is 'admission.k8s.io/v1beta1'; list admission.k8s.io/v1 alone in admissionReviewVersions"
    )
    assert refused.value.status == 400


NOT_A_REVIEW: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not JSON"),
    "blank": (b" \n", "not JSON"),
    "text": (b"hello", "not JSON"),
    "YAML": (b"kind: AdmissionReview\n", "not JSON"),
    "cut short": (body(pod())[:-1], "not JSON"),
    "two documents": (body(pod()) * 2, "not JSON"),
    "followed by NUL": (body(pod()) + b"\0", "not JSON"),
    "byte order mark": (b"\xef\xbb\xbf" + body(pod()), "BOM"),
    "UTF-16": (body(pod()).decode().encode("utf-16"), "not JSON"),
    "list": (b"[]", "not an AdmissionReview"),
    "null": (b"null", "not an AdmissionReview"),
    "string": (b'"AdmissionReview"', "not an AdmissionReview"),
    "another kind": (orjson.dumps(pod()), "not an AdmissionReview"),
    "no version": (b'{"kind":"AdmissionReview"}', "apiVersion is None"),
    "no request": (b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', "request: expected an object"),
    "a response": (
        b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"1","allowed":true}}',
        "request: expected an object",
    ),
}


@pytest.mark.parametrize(("raw", "message"), NOT_A_REVIEW.values(), ids=NOT_A_REVIEW)
def test_a_body_that_is_not_a_review_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(ReviewError, match=message):
        parse(raw)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("uid", 7, "request.uid: expected a text, found 7"),
        ("uid", "", "request.uid: expected a text, found ''"),
        ("uid", None, "request.uid: expected a text, found None"),
        ("operation", "PATCH", "request.operation: 'PATCH' is not one of CREATE, UPDATE, DELETE, CONNECT"),
        ("operation", "create", "request.operation: 'create' is not one of"),
        ("operation", None, "request.operation: expected a text, found None"),
        ("object", [], "request.object: expected an object or null"),
        ("object", "{}", "request.object: expected an object or null"),
        ("oldObject", [pod()], "request.oldObject: expected an object or null"),
        ("name", 7, "request.name: expected a text, found 7"),
        ("namespace", ["a"], r"request.namespace: expected a text, found \['a'\]"),
        ("subResource", {}, "request.subResource: expected a text"),
        ("kind", {"kind": 7}, "request.kind.kind: expected a text, found 7"),
    ],
)
def test_a_request_that_is_not_as_it_must_be_is_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(ReviewError, match=message):
        parse(body(pod(), **{field: value}))


@pytest.mark.parametrize("field", ["uid", "operation"])
def test_a_request_that_lacks_what_we_need_is_refused(field: str) -> None:
    without: Any = review(pod())
    del without["request"][field]
    with pytest.raises(ReviewError, match=f"request.{field}: expected a text, found None"):
        parse(orjson.dumps(without))


def test_what_a_stranger_sent_is_shown_shortly_and_on_one_line() -> None:
    with pytest.raises(ReviewError) as refused:
        parse(body(pod(), operation="\n\x1b[31m" + "x" * 5000))

    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        '{"n":NaN}',
        '{"n":Infinity}',
        '{"n":-Infinity}',
        '{"n":1e999}',
        '{"n":-1e400}',
        '{"s":"\\ud800"}',
        '{"s":"\\udc00\\ud800"}',
        '{"s":"\\x00"}',
        '{"s":"tab\tstop"}',
        '{"s":"\0"}',
        '{"a":1,}',
        "{a:1}",
        "{'a':1}",
        '{"n":01}',
        '{"n":+1}',
        '{"n":.5}',
        '{"n":0x10}',
        '{"a":1/* comment */}',
        b'{"s":"\xff"}',
        b'{"s":"\xed\xa0\x80"}',
        b'{"s":"\xc0\xaf"}',
    ],
)  # fmt: skip
def test_what_only_some_parsers_take_is_refused(text: str | bytes) -> None:
    with pytest.raises(ReviewError, match="not JSON"):
        parse(with_object(text))


@pytest.mark.parametrize("depth", [300, 1_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
def test_of_an_object_that_is_nested_too_deeply_the_rest_is_read(depth: int, opening: str, closing: str) -> None:
    """An error would let it in where `failurePolicy` is Ignore."""
    nested = opening * depth + '"\\"]}"' + closing * depth

    def found(place: str, value: str) -> Review:
        return parse(body({"kind": "Pod", place: "nested"}).replace(b'"nested"', value.encode()))

    deep = found("spec", nested)
    assert deep.uid == UID
    assert deep.excess is not None
    assert deep.excess.text.startswith("more than 250 levels of lists and maps")
    assert deep.excess.path.startswith("/spec/")
    assert found("status", nested).excess is None
    assert found("spec", opening * 100 + "1" + closing * 100).excess is None


def test_an_object_that_is_nested_as_deeply_as_any_schema_is_read() -> None:
    value = parse(with_object('{"a":' + "[" * 200 + "]" * 200 + "}")).value
    assert value is not None
    assert json.dumps(value) == '{"a": ' + "[" * 200 + "]" * 200 + "}"


@pytest.mark.parametrize(
    "number", [0, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)], ids=hex
)
def test_an_integer_of_64_bits_is_read_exactly(number: int) -> None:
    assert parse(with_object(f'{{"n":{number}}}')).value == {"n": number}


@pytest.mark.parametrize(
    "digits",
    [f"{2**64}", f"{2**64 + 1}", f"{-(2**63) - 1}", "9" * 22, "1" + "0" * 308, "7" * 5000, "-" + "7" * 5000],
    ids=lambda digits: f"{len(digits)} digits",
)
def test_a_larger_integer_is_refused_and_not_rounded(digits: str) -> None:
    with pytest.raises(ReviewError, match=r"beyond 64 bits|infinity"):
        parse(with_object(f'{{"n":{digits}}}'))


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.5", 0.5), ("1.0", 1.0), ("1e3", 1000.0), ("-0.0", -0.0), ("0.1000", 0.1), ("1E-7", 1e-7), ("5e-324", 5e-324)],
)
def test_a_decimal_is_the_double_nearest_to_it(text: str, number: float) -> None:
    value = parse(with_object(f'{{"n":{text}}}')).value
    assert repr(value) == repr({"n": number})


def test_minus_zero_is_zero() -> None:
    assert repr(parse(with_object('{"n":-0}')).value) == "{'n': 0}"


def test_an_object_that_other_parsers_take_for_a_number_stays_an_object() -> None:
    value: paths.Object = {"$serde_json::private::Number": "1"}
    assert parse(body(value)).value == value


def test_an_escaped_nul_is_a_character_like_others() -> None:
    assert parse(with_object('{"s":"a\\u0000b"}')).value == {"s": "a\0b"}


DUPLICATES = {
    "in the review": (b'{"kind":"AdmissionReview",', b'{"kind":"AdmissionReview","kind":"AdmissionReview",', "kind"),
    "in the request": (b'"uid":', b'"uid":"another","uid":', "uid"),
    "in the metadata": (b'"name":"example"', b'"name":"example","name":"example"', "name"),
    "in the spec": (b'"containers":[', b'"containers":[],"containers":[', "containers"),
    "in a container": (b'"image":', b'"image":"another","image":', "image"),
    "spelt with an escape": (b'"image":', b'"\\u0069mage":"another","image":', "image"),
    "both spelt with Go's escapes": (b'"image":', b'"\\u0026":1,"\\u0026":2,"image":', "&"),
    "one spelt with Go's escape": (b'"image":', b'"&":1,"\\u0026":2,"image":', "&"),
    "beside Go's escapes": (b'"image":', b'"\\u003c\\u003e":"\\u0026","image":1,"image":', "image"),
    "beside an escaped backslash": (b'"image":', b'"\\\\u0026":"\\\\u003c","image":1,"image":', "image"),
    "beside white space": (b'"image":', b' "image" : "another",\n\t"image":', "image"),
    "of the empty key": (b'"image":', b'"":1,"":2,"image":', ""),
}


@pytest.mark.parametrize(("place", "text", "key"), DUPLICATES.values(), ids=DUPLICATES)
@pytest.mark.parametrize("end", [b"", b"\n", b" "], ids=["", "line feed", "blank"])
def test_a_key_that_stands_twice_is_refused_and_named(place: bytes, text: bytes, key: str, end: bytes) -> None:
    raw = body(pod(container()))
    assert place in raw
    with pytest.raises(ReviewError, match=f"key '{key}' stands twice in one object"):
        parse(raw.replace(place, text, 1) + end)


@dataclass(frozen=True, slots=True)
class Pairs:
    """An object as it stands in a text: keys in order, and maybe twice."""

    items: tuple[tuple[str, Any], ...]


Spelling = Callable[[str], str]


def escaped(text: str) -> str:
    """Every character as its escape."""
    units = text.encode("utf-16-be").hex()
    return '"' + "".join(f"\\u{units[index : index + 4]}" for index in range(0, len(units), 4)) + '"'


SPELLINGS: list[tuple[Spelling, str]] = [
    (lambda text: orjson.dumps(text).decode(), ","),
    (lambda text: as_go_writes(text).decode(), ","),
    (lambda text: as_go_writes(text).decode(), " , "),
    (json.dumps, ",\n  "),
    (escaped, ","),
]


def written(value: Any, spell: Spelling, comma: str) -> str:
    if isinstance(value, Pairs):
        return "{" + comma.join(f"{spell(key)}:{written(item, spell, comma)}" for key, item in value.items) + "}"
    if isinstance(value, list):
        return "[" + comma.join(written(item, spell, comma) for item in value) + "]"
    return spell(value) if isinstance(value, str) else json.dumps(value)


def has_duplicate(value: Any) -> bool:
    if isinstance(value, Pairs):
        keys = [key for key, _ in value.items]
        return len(set(keys)) < len(keys) or any(has_duplicate(item) for _, item in value.items)
    return isinstance(value, list) and any(has_duplicate(item) for item in value)


def as_dictionaries(value: Any) -> Any:
    if isinstance(value, Pairs):
        return {key: as_dictionaries(item) for key, item in value.items}
    return [as_dictionaries(item) for item in value] if isinstance(value, list) else value


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["<", "&amp;", "\\u0026", "\\", "\u2028", "😀"])
)
KEYS = st.sampled_from(["a", "b", "&", "<a>", "\\u0026", "\\", "é", "\u2028", ""])
OBJECTS = st.lists(
    st.tuples(
        KEYS,
        st.recursive(
            SCALARS,
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.lists(st.tuples(KEYS, inner), max_size=3).map(lambda items: Pairs(tuple(items)))
            ),
            max_leaves=6,
        ),
    ),
    max_size=4,
).map(lambda items: Pairs(tuple(items)))


@given(value=OBJECTS, spelling=st.sampled_from(SPELLINGS))
def test_however_an_object_is_spelt_it_is_read_exactly_and_no_duplicate_is_missed(
    value: Pairs, spelling: tuple[Spelling, str]
) -> None:
    raw = with_object(written(value, *spelling))
    if has_duplicate(value):
        with pytest.raises(ReviewError, match="stands twice"):
            parse(raw)
    else:
        assert repr(parse(raw).value) == repr(as_dictionaries(value))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=st.dictionaries(st.text(max_size=3), ANY_JSON, max_size=3))
def test_any_object_is_read_as_it_is_or_refused(value: dict[str, Any]) -> None:
    try:
        read = parse(with_object(json.dumps(value))).value
    except ReviewError:
        return
    assert repr(read) == repr(value)


@given(raw=st.binary(max_size=64))
def test_any_bytes_are_a_review_or_refused(raw: bytes) -> None:
    with pytest.raises(ReviewError):
        parse(raw)


@given(start=st.integers(0, 1000), length=st.integers(0, 30), instead=st.binary(max_size=12))
def test_a_damaged_review_is_a_review_or_refused(start: int, length: int, instead: bytes) -> None:
    whole = body(pod(container(env={"A": "1"})))
    at = start % len(whole)
    try:
        read = parse(whole[:at] + instead + whole[at + length :])
    except ReviewError:
        return
    assert isinstance(read, Review)
