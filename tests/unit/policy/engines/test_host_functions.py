"""Built-ins of Rego that usher answers itself, alone and from a compiled policy."""

import orjson
import pytest

import opa_server
from usher.policy.engines import host_functions, rego_values


def call(name: str, *arguments: str) -> rego_values.Value:
    return host_functions.PURE[name](*map(rego_values.parse_value, arguments))


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [
        ('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"c":2}}', True),
        ('{"a":1}', '{"a":2}', False),
        ('{"a":1}', '{"b":1}', False),
        ('{"a":[1,2,3]}', '{"a":[2,3]}', True),
        ('{"a":[1,2,3]}', '{"a":[1,3]}', False),
        ("[1,2,3]", "[2,3]", True),
        ("[1,2]", "[]", True),
        ("{1,2}", "{2}", True),
        ("{1,2}", "{3}", False),
        ("[1,2]", "{2,1}", True),
        ("[1,1.0]", "[1.0,1]", True),
    ],
)
def test_a_subset_is_found_at_every_level(whole: str, part: str, *, expected: bool) -> None:
    assert call("object.subset", whole, part) is expected


def test_texts_are_compared_with_one_or_many() -> None:
    assert call("strings.any_prefix_match", '"docker.io/a"', '["ghcr.io/","docker.io/"]') is True
    assert call("strings.any_prefix_match", '{"a","b"}', '"c"') is False
    assert call("strings.any_suffix_match", '["a:latest"]', '{":latest"}') is True
    assert call("strings.count", '"banana"', '"an"') == rego_values.Number("2")
    assert call("trace", '"note"') is True


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("object.subset", ("{}", "[]")),
        ("strings.any_prefix_match", ("1", '"a"')),
        ("strings.any_suffix_match", ('"a"', "[1]")),
        ("strings.count", ('"a"', "1")),
    ],
)
def test_arguments_of_a_wrong_type_give_no_answer(name: str, arguments: tuple[str, ...]) -> None:
    with pytest.raises(rego_values.UndefinedError):
        call(name, *arguments)


def test_every_function_is_a_built_in_that_opa_does_not_compile() -> None:
    capabilities = orjson.loads((opa_server.POLICIES / "capabilities.json").read_bytes())

    assert not set(host_functions.PURE) & {each["name"] for each in capabilities["builtins"]}
