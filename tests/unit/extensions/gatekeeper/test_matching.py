"""Which objects a constraint is about: each criterion as Gatekeeper documents it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors, paths
from usher.extensions.gatekeeper import constraints
from usher.extensions.gatekeeper.constraint_templates import Written, top_fields


def match(**criteria: Any) -> constraints.Match:
    return constraints.read_match(top_fields(Written(value=criteria, source="constraint.yaml")))


def thing(
    api_version: str = "v1", kind: str = "Pod", *, name: str = "web", namespace: str = "shop", **metadata: Any
) -> paths.Object:
    within = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **within, **metadata}}


def namespace(name: str = "shop", **labels: str) -> paths.Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels)}}


def matches(value: paths.Object, *, within: paths.Object | None = None, **criteria: Any) -> bool | None:
    return constraints.matches(match(**criteria), constraints.Subject(value=value, namespace=within))


NODE = thing(kind="Node", name="a", namespace="")


def test_without_criteria_every_object_matches() -> None:
    assert matches(thing()) is True
    assert matches(NODE) is True
    assert matches(namespace()) is True


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([{"apiGroups": [""], "kinds": ["Pod"]}], True),
        ([{"apiGroups": ["apps"], "kinds": ["Pod"]}], False),
        ([{"apiGroups": ["apps"], "kinds": ["Deployment"]}, {"apiGroups": [""], "kinds": ["Pod"]}], True),
        ([{"apiGroups": ["*"], "kinds": ["Pod"]}], True),
        ([{"apiGroups": [""], "kinds": ["*"]}], True),
        ([{"kinds": ["Pod"]}], True),
        ([{"apiGroups": [""]}], True),
        ([{}], True),
        ([], True),
        ([{"kinds": ["pod"]}], False),
    ],
)
def test_one_entry_of_the_kinds_must_fit(kinds: list[dict[str, Any]], *, expected: bool) -> None:
    assert matches(thing(), kinds=kinds) is expected


@pytest.mark.parametrize(
    ("scope", "of_pod", "of_node", "of_namespace"),
    [("Namespaced", True, False, False), ("Cluster", False, True, True), ("*", True, True, True)],
)
def test_the_scope_says_whether_objects_are_in_a_namespace(
    scope: str, *, of_pod: bool, of_node: bool, of_namespace: bool
) -> None:
    assert matches(thing(), scope=scope) is of_pod
    assert matches(NODE, scope=scope) is of_node
    assert matches(namespace(), scope=scope) is of_namespace


def test_an_object_without_a_namespace_is_in_that_of_the_request() -> None:
    assert matches(thing(namespace=""), within=namespace("shop"), scope="Namespaced") is True
    assert matches(thing(namespace=""), within=namespace("shop"), namespaces=["shop"]) is True
    assert matches(thing(namespace=""), within=namespace("shop"), excludedNamespaces=["shop"]) is False


def test_namespaces_are_for_objects_in_them_and_for_the_namespaces_themselves() -> None:
    assert matches(thing(), namespaces=["shop"]) is True
    assert matches(thing(), namespaces=["bank"]) is False
    assert matches(namespace("shop"), namespaces=["shop"]) is True
    assert matches(namespace("bank"), namespaces=["shop"]) is False


def test_no_list_of_namespaces_leaves_out_an_object_of_the_cluster() -> None:
    assert matches(NODE, namespaces=["shop"]) is True
    assert matches(NODE, excludedNamespaces=["*"]) is True


def test_an_excluded_namespace_wins_over_a_listed_one() -> None:
    assert matches(thing(), namespaces=["shop"], excludedNamespaces=["sh*"]) is False
    assert matches(namespace("shop"), excludedNamespaces=["shop"]) is False


NAMES = st.text("abc-", max_size=6)


@given(pattern=NAMES, name=NAMES)
def test_an_asterisk_stands_for_any_text_at_the_start_or_the_end(pattern: str, name: str) -> None:
    assert constraints.fits_pattern(pattern, name) is (pattern == name)
    assert constraints.fits_pattern(f"{pattern}*", name) is name.startswith(pattern)
    assert constraints.fits_pattern(f"*{pattern}", name) is name.endswith(pattern)
    assert constraints.fits_pattern(f"*{pattern}*", name) is (pattern in name)


def test_an_asterisk_inside_is_only_itself() -> None:
    assert constraints.fits_pattern("a*b", "axb") is False


def test_a_name_is_that_of_the_object_or_a_prefix_of_the_generated_one() -> None:
    generated = thing(name="", generateName="web-")

    assert matches(thing(), name="web") is True
    assert matches(thing(), name="db") is False
    assert matches(generated, name="web-*") is True
    assert matches(generated, name="web-") is False
    assert matches(thing(), name="") is True


def test_labels_are_those_of_the_object() -> None:
    value = thing(labels={"team": "a"})

    assert matches(value, labelSelector={"matchLabels": {"team": "a"}}) is True
    assert matches(value, labelSelector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}) is False
    assert matches(thing(), labelSelector={"matchLabels": {"team": "a"}}) is False
    assert matches(thing(), labelSelector={}) is True


PROD = {"matchLabels": {"env": "prod"}}


def test_a_namespace_selector_asks_for_the_labels_of_the_namespace() -> None:
    assert matches(thing(), within=namespace(env="prod"), namespaceSelector=PROD) is True
    assert matches(thing(), within=namespace(env="test"), namespaceSelector=PROD) is False
    assert matches(namespace(env="prod"), namespaceSelector=PROD) is True
    assert matches(NODE, namespaceSelector=PROD) is True


def test_the_labels_of_a_namespace_that_is_not_known_are_not_guessed() -> None:
    assert matches(thing(), namespaceSelector=PROD) is None


def test_what_another_criterion_excludes_is_certain_even_then() -> None:
    assert matches(thing(), namespaceSelector=PROD, kinds=[{"kinds": ["Service"]}]) is False
    assert matches(thing(), namespaceSelector=PROD, name="db") is False


@pytest.mark.parametrize(("value", "expected"), [("shop", False), ("bank", True)])
def test_the_label_with_the_name_of_a_namespace_is_always_known(value: str, *, expected: bool) -> None:
    selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [value]}]}

    assert matches(thing(), namespaceSelector=selector) is expected
    assert matches(thing(), within=namespace(), namespaceSelector=selector) is expected


def test_the_source_tells_written_objects_from_generated_ones() -> None:
    written, generated = (constraints.Subject(value=thing(), generated=each) for each in (False, True))

    assert constraints.matches(match(source="Original"), written) is True
    assert constraints.matches(match(source="Original"), generated) is False
    assert constraints.matches(match(source="Generated"), generated) is True
    assert constraints.matches(match(source="All"), generated) is True


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ({"kind": ["Pod"]}, "constraint.yaml: kind: usher does not know this criterion"),
        ({"kinds": ["Pod"]}, r"kinds\[0\]: must be a mapping, and is a text"),
        ({"kinds": [{"kinds": "Pod"}]}, r"kinds\[0\].kinds: must be a list, and is a text"),
        ({"namespaces": [1]}, r"namespaces\[0\]: must be a text, and is a number"),
        ({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}, "labelSelector: is not a label"),
        ({"namespaceSelector": "env=prod"}, "namespaceSelector: is not a label selector"),
        ({"source": "Somewhere"}, "source: must be one of All, Generated, Original"),
        ({"name": 3}, "name: must be a text, and is a number"),
    ],
)
def test_a_criterion_that_cannot_be_read_is_an_error_that_names_it(criteria: Any, message: str) -> None:
    with pytest.raises(errors.InputError, match=message):
        match(**criteria)


KEYS = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(KEYS, st.sampled_from(["x", "y"]), max_size=2)


@given(labels=LABELS, wanted=LABELS, kind=st.sampled_from(["Pod", "Service"]), scope=st.sampled_from(["*", "Cluster"]))
def test_an_object_matches_if_and_only_if_it_fulfils_every_criterion(
    labels: dict[str, str], wanted: dict[str, str], kind: str, scope: str
) -> None:
    criteria: dict[str, Any] = {
        "kinds": [{"kinds": ["Pod"]}],
        "scope": scope,
        "labelSelector": {"matchLabels": wanted},
    }
    value = thing(kind=kind, labels=labels)

    alone = [matches(value, **{name: criterion}) for name, criterion in criteria.items()]

    assert matches(value, **criteria) is all(alone)
