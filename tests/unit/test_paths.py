"""JSON Pointers: whatever the keys are, a pointer leads back to the very value that it was made for."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import paths

KEYS = st.text(alphabet=st.characters() | st.sampled_from("~/01.")) | st.text("0123456789")

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
)


def places(value: paths.Json, pointer: str = paths.ROOT) -> Iterator[tuple[str, paths.Json]]:
    yield pointer, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, paths.join(pointer, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, paths.join(pointer, index))


@given(st.lists(KEYS))
def test_the_keys_of_a_pointer_are_those_that_it_was_joined_of(keys: list[str]) -> None:
    assert paths.split(paths.join(paths.ROOT, *keys)) == keys


@given(DOCUMENTS)
def test_every_place_of_a_document_resolves_to_its_value(document: paths.Json) -> None:
    for pointer, value in places(document):
        assert paths.resolve(document, pointer) is value


@given(DOCUMENTS, st.text() | st.lists(KEYS).map(lambda keys: paths.join(paths.ROOT, *keys)))
def test_a_pointer_to_nothing_is_a_lookup_error_and_nothing_else(document: paths.Json, pointer: str) -> None:
    found = dict(places(document))
    try:
        value = paths.resolve(document, pointer)
    except LookupError:
        assert pointer not in found
    else:
        assert value is found[pointer]


@given(st.text())
def test_any_text_can_be_written_readably_on_one_line(pointer: str) -> None:
    readable = paths.readable(paths.join(paths.ROOT, pointer))

    assert readable
    assert readable.isascii()
    assert readable.isprintable()


@pytest.mark.parametrize(
    ("key", "escaped"), [("a", "a"), ("", ""), ("a/b", "a~1b"), ("a~b", "a~0b"), ("~1", "~01"), ("/~", "~1~0")]
)
def test_keys_are_escaped_as_in_rfc_6901(key: str, escaped: str) -> None:
    assert paths.escape(key) == escaped
    assert paths.split("/" + escaped) == [key]


def test_joining_goes_on_from_a_pointer() -> None:
    assert paths.join("/spec", "containers", 0, "env") == "/spec/containers/0/env"
    assert paths.join("/spec") == "/spec"


@pytest.mark.parametrize(
    "pointer",
    [
        "/list/2",
        "/list/-1",
        "/list/-",
        "/list/01",
        "/list/+1",
        "/list/ 1",
        "/list/\u0661",  # an Arabic one
        "/list/\u00b9",  # a superscript one
        "/list/" + "9" * 5000,
        "/list/0/deeper",
        "/map/other",
        "/map/a/deeper",
        "/missing",
        "/",
    ],
)
def test_a_missing_place_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        paths.resolve({"list": ["a", "b"], "map": {"a": None}}, pointer)


@pytest.mark.parametrize(
    ("pointer", "readable"),
    [
        ("", "."),
        ("/spec", "spec"),
        ("/spec/containers/0/env/12", "spec.containers[0].env[12]"),
        ("/0/spec", "[0].spec"),
        ("/metadata/labels/app", "metadata.labels.app"),
        ("/metadata/labels/kueue.x-k8s.io~1queue-name", 'metadata.labels["kueue.x-k8s.io/queue-name"]'),
        ("/spec/pytorchReplicaSpecs/Worker", "spec.pytorchReplicaSpecs.Worker"),
        ("/spec//x", 'spec[""].x'),
        ("/spec/a b", 'spec["a b"]'),
        ('/spec/a"]', r'spec["a\"]"]'),
        ("/spec/a\nerror: ", r'spec["a\nerror: "]'),
        ("spec.template", '["spec.template"]'),  # no pointer, but a site's own check may say so
        ("/spec/\u202egpj", r'spec["\u202egpj"]'),
    ],
)
def test_a_pointer_is_shown_as_people_write_field_paths(pointer: str, readable: str) -> None:
    assert paths.readable(pointer) == readable
